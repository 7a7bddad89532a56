//! The tools of `powerband mcp`: each is one of our own commands with `--json`, run as a process of its own.
//!
//! So a tool answers with the numbers, intervals and reasons of that command, and no session can harm the server. None
//! starts a run but `bench`, which is offered only where that was allowed.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::super::Context;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::setup::Setup;
use powerband_planning::engine_options::program_lines;
use powerband_store::library::{self, SessionEntry};
use powerband_worker::process;

/// A command that only reads ends within this time.
const READING_LIMIT: Duration = Duration::from_mins(2);
const RUN_LIMIT: Duration = Duration::from_hours(24);
/// Sessions that are listed where no number is given.
const USUAL_SESSIONS: u64 = 50;

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolKind {
    /// Lists the library.
    Library,
    /// Shows what is stored.
    Reads,
    /// Measures.
    Runs,
}

/// A tool.
#[derive(Debug)]
struct Tool {
    name: &'static str,
    help: &'static str,
    kind: ToolKind,
    /// Our command, without the words that parameters are.
    command: &'static [&'static str],
    parameters: &'static [Parameter],
    /// Fields of the command's document that are left out: they are long and answer nothing.
    without: &'static [&'static str],
}

/// A parameter of a tool.
#[derive(Debug)]
struct Parameter {
    name: &'static str,
    help: &'static str,
    takes: ParameterType,
    /// The option of the command; nothing for an argument, which is required.
    option: Option<&'static str>,
    is_required: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParameterType {
    Text,
    Count,
    Texts,
}

const fn argument(name: &'static str, help: &'static str) -> Parameter {
    Parameter {
        name,
        help,
        takes: ParameterType::Text,
        option: None,
        is_required: true,
    }
}

const fn option(
    name: &'static str,
    option: &'static str,
    takes: ParameterType,
    help: &'static str,
) -> Parameter {
    Parameter {
        name,
        help,
        takes,
        option: Some(option),
        is_required: false,
    }
}

const SESSION: Parameter = argument(
    "session",
    "Path of a session, as the tool sessions lists it",
);
const SETUP: Parameter = option(
    "setup",
    "--setup",
    ParameterType::Text,
    "One setup: its spelling, its label, or its number from 1",
);
const BATCH: Parameter = option("batch", "--batch", ParameterType::Count, "One batch size");

/// What `show` prints of the machine and of what is in other tools.
const BESIDE_NUMBERS: &[&str] = &["environment", "plan", "roofs", "sittings", "limits"];

const ALL: &[Tool] = &[
    Tool {
        name: "sessions",
        help: "List the sessions of the library, the newest first: path, name, model, setups, batch sizes, machine",
        kind: ToolKind::Library,
        command: &[],
        parameters: &[
            option(
                "search",
                "",
                ParameterType::Text,
                "Only those with this text in their name, model, setups, tags, machine or notes",
            ),
            option(
                "limit",
                "",
                ParameterType::Count,
                "At most so many [default: 50]",
            ),
        ],
        without: &[],
    },
    Tool {
        name: "summary",
        help: "The numbers of a session: of each setup and batch size the latency with its interval, throughput, memory, energy, flags; the verdict of each setup against the first; warnings",
        kind: ToolKind::Reads,
        command: &["show", "--json"],
        parameters: &[SESSION],
        without: BESIDE_NUMBERS,
    },
    Tool {
        name: "compare",
        help: "Did it get faster? Two sessions, or the setups of one: speed-up, 95 % interval and verdict of each case, and what else differs",
        kind: ToolKind::Reads,
        command: &["compare", "--json"],
        parameters: &[
            argument(
                "before",
                "Path of the session before; alone, its setups are compared with each other",
            ),
            Parameter {
                is_required: false,
                ..argument("after", "Path of the session after")
            },
            option(
                "before_setup",
                "--before",
                ParameterType::Text,
                "The setup before: its spelling, its label, or its number from 1",
            ),
            option(
                "after_setup",
                "--after",
                ParameterType::Text,
                "The setup after",
            ),
            BATCH,
        ],
        without: &[],
    },
    Tool {
        name: "kernels",
        help: "The time of a session's profile by category, operator or kernel, alone or against the profile of another session",
        kind: ToolKind::Reads,
        command: &["kernels", "--json"],
        parameters: &[
            SESSION,
            option(
                "by",
                "--by",
                ParameterType::Text,
                "category, operator or kernel",
            ),
            option(
                "against",
                "--against",
                ParameterType::Text,
                "Path of a session whose profile is before",
            ),
            option(
                "profile",
                "--profile",
                ParameterType::Text,
                "Which profile: its name, or its number from 1",
            ),
            option(
                "filter",
                "--filter",
                ParameterType::Text,
                "Only rows with these words",
            ),
            option("top", "--top", ParameterType::Count, "At most so many rows"),
        ],
        without: &[],
    },
    Tool {
        name: "why",
        help: "What limits a case, by the experiments or the profile that a session has; measures nothing",
        kind: ToolKind::Reads,
        command: &["why", "--show", "--json"],
        parameters: &[SESSION, SETUP, BATCH],
        without: &[],
    },
    Tool {
        name: "history",
        help: "Each case of a session through the sessions of the library: where its level changed and what changed then",
        kind: ToolKind::Reads,
        command: &["history", "--json"],
        parameters: &[SESSION, SETUP, BATCH],
        without: &[],
    },
    Tool {
        name: "bench",
        help: "Measure a model on this machine, which takes from half a minute to many; saves a session in the library and answers as summary does",
        kind: ToolKind::Runs,
        command: &["bench", "--json"],
        parameters: &[
            argument(
                "model",
                "A built-in network such as resnet50, or the path of an ONNX file",
            ),
            option(
                "setups",
                "--setup",
                ParameterType::Texts,
                "Ways to run it, each ENGINE[:DEVICE][,key=value]…, such as ort:cpu,threads=2 [default: every engine there is]",
            ),
            option(
                "batch",
                "--batch",
                ParameterType::Text,
                "Batch sizes: 1,2,4 or 1..64 [default: 1,2,4,8,16]",
            ),
            option(
                "preset",
                "--preset",
                ParameterType::Text,
                "quick, standard or publish [default: standard]",
            ),
            option("name", "--name", ParameterType::Text, "Name of the session"),
        ],
        without: BESIDE_NUMBERS,
    },
];

/// The tools as a client gets them.
pub(super) fn documents(allow_runs: bool) -> Vec<Value> {
    offered(allow_runs).map(Tool::document).collect()
}

fn offered(allow_runs: bool) -> impl Iterator<Item = &'static Tool> {
    ALL.iter()
        .filter(move |tool| allow_runs || tool.kind != ToolKind::Runs)
}

impl Tool {
    fn document(&self) -> Value {
        let properties = self.parameters.iter().map(|parameter| {
            let schema = match parameter.takes {
                ParameterType::Text => json!({ "type": "string" }),
                ParameterType::Count => json!({ "type": "integer", "minimum": 1 }),
                ParameterType::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            };
            let mut schema = schema;
            schema["description"] = parameter.help.into();
            (parameter.name.to_owned(), schema)
        });
        let required = self.parameters.iter().filter(|one| one.is_required);
        let required: Vec<&str> = required.map(|one| one.name).collect();
        json!({
            "name": self.name,
            "description": self.help,
            "inputSchema": {
                "type": "object",
                "properties": properties.collect::<Map<String, Value>>(),
                "required": required,
                "additionalProperties": false,
            },
            "annotations": { "readOnlyHint": self.kind != ToolKind::Runs, "openWorldHint": false },
        })
    }
}

/// A tool with what it is called with.
pub(super) struct ToolCall {
    tool: &'static Tool,
    arguments: Map<String, Value>,
}

impl ToolCall {
    /// What `tools/call` asks for; or why there is no such tool. What is wrong with its arguments is an answer.
    pub(super) fn read(params: &Value, allow_runs: bool) -> Result<Self, String> {
        let name = params["name"].as_str().unwrap_or_default();
        let tool = offered(allow_runs).find(|tool| tool.name == name);
        let Some(tool) = tool else {
            let is_hidden = ALL.iter().any(|tool| tool.name == name);
            return Err(if is_hidden {
                format!("{name} starts a run, which is allowed by powerband mcp --allow-runs alone")
            } else {
                let names: Vec<&str> = offered(allow_runs).map(|tool| tool.name).collect();
                format!("there is no tool {name:?}; there are {}", names.join(", "))
            });
        };
        let arguments = match &params["arguments"] {
            Value::Null => Map::new(),
            Value::Object(arguments) => arguments.clone(),
            _ => return Err("the arguments of a tool are an object".to_owned()),
        };
        Ok(Self { tool, arguments })
    }

    /// Whether it measures.
    pub(super) fn is_run(&self) -> bool {
        self.tool.kind == ToolKind::Runs
    }

    /// The answer, or why there is none, in the form of the protocol.
    pub(super) fn result(&self, context: &Context, cancel: &CancelToken) -> Value {
        let answer = self.command_line().and_then(|words| match self.tool.kind {
            ToolKind::Library => Ok(self.sessions(context)),
            _ => self.run(context, words, cancel),
        });
        let is_error = answer.is_err();
        let texts = answer.unwrap_or_else(|reason| vec![reason]).into_iter();
        let content = texts.map(|text| json!({ "type": "text", "text": text }));
        json!({ "content": content.collect::<Vec<_>>(), "isError": is_error })
    }

    /// The words of the command: options first, and arguments where nothing is an option any more.
    fn command_line(&self) -> Result<Vec<String>, String> {
        let known = |name: &str| self.tool.parameters.iter().find(|one| one.name == name);
        for name in self.arguments.keys() {
            known(name).ok_or_else(|| format!("{} takes no {name:?}", self.tool.name))?;
        }
        let mut words: Vec<String> = self.tool.command.iter().map(ToString::to_string).collect();
        let mut last = vec!["--".to_owned()];
        for parameter in self.tool.parameters {
            let texts = match self.arguments.get(parameter.name) {
                None | Some(Value::Null) if parameter.is_required => {
                    return Err(format!("{} needs {}", self.tool.name, parameter.name));
                }
                None | Some(Value::Null) => continue,
                Some(value) => parameter.texts(value)?,
            };
            match parameter.option {
                Some(option) => words.extend(texts.iter().map(|text| format!("{option}={text}"))),
                None => last.extend(texts),
            }
        }
        words.extend(last);
        Ok(words)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name)?.as_str()
    }

    /// Sessions of the library.
    fn sessions(&self, context: &Context) -> Vec<String> {
        let limit = self.arguments.get("limit").and_then(Value::as_u64);
        let search = self.text("search").unwrap_or_default().to_lowercase();
        let entries = library::list(&context.paths).into_iter();
        let found = entries
            .filter_map(|path| library::entry(&path).ok())
            .filter(|entry| has_text(entry, &search))
            .map(|entry| entry_document(&entry))
            .take(limit.unwrap_or(USUAL_SESSIONS) as usize);
        vec![json!({ "sessions": found.collect::<Vec<_>>() }).to_string()]
    }

    /// What the command prints, and beside it what it says on standard error.
    fn run(
        &self,
        context: &Context,
        words: Vec<String>,
        cancel: &CancelToken,
    ) -> Result<Vec<String>, String> {
        let is_run = self.is_run();
        if is_run {
            self.check_setups()?;
        }
        // It ends with this program, however that ends.
        let spec = ProcessSpec::new(&context.program)
            .args(["worker", "exec", "--"])
            .args([&context.program])
            .args(words);
        let limit = if is_run { RUN_LIMIT } else { READING_LIMIT };
        let finished = process::run_to_end(&spec, limit, cancel)
            .map_err(|error| format!("the program cannot be started: {error}"))?;
        let remarks = finished.stderr.trim().to_owned();
        let Ok(mut document) = serde_json::from_str::<Value>(&finished.stdout) else {
            return Err(match remarks.as_str() {
                "" => format!("powerband {} {}", self.tool.name, finished.how),
                reason => reason.to_owned(),
            });
        };
        if let Some(fields) = document.as_object_mut() {
            fields.retain(|name, _| !self.tool.without.contains(&name.as_str()));
        }
        let mut texts = vec![document.to_string()];
        texts.extend(Some(remarks).filter(|remarks| !remarks.is_empty()));
        Ok(texts)
    }

    /// Refuses setups that start commands or load code: a text that a model read may have asked for them.
    fn check_setups(&self) -> Result<(), String> {
        let given = self.arguments.get("setups").and_then(Value::as_array);
        let texts = given.into_iter().flatten().filter_map(Value::as_str);
        let setups: Result<Vec<Setup>, _> = texts.map(str::parse).collect();
        let setups = setups.map_err(|error| error.to_string())?;
        match program_lines(&setups).as_slice() {
            [] => Ok(()),
            lines => Err(format!(
                "not started, because a setup would run or load what it names ({}); a person can do so with powerband bench",
                lines.join("; ")
            )),
        }
    }
}

impl Parameter {
    /// Its value as words.
    fn texts(&self, value: &Value) -> Result<Vec<String>, String> {
        let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
        let count = || value.as_u64().filter(|count| *count > 0);
        let (texts, what) = match self.takes {
            ParameterType::Text => (text(value).map(|text| vec![text]), "a text"),
            ParameterType::Count => (
                count().map(|count| vec![count.to_string()]),
                "a whole number from 1",
            ),
            ParameterType::Texts => (
                value
                    .as_array()
                    .and_then(|all| all.iter().map(text).collect()),
                "a list of texts",
            ),
        };
        texts.ok_or_else(|| format!("{} is {what}, and not {value}", self.name))
    }
}

/// Whether a session has a text, in small letters, where people would look for it.
fn has_text(entry: &SessionEntry, text: &str) -> bool {
    let texts = [&entry.name, &entry.model, &entry.machine, &entry.notes];
    let mut texts = texts.into_iter().chain(&entry.setups).chain(&entry.tags);
    texts.any(|one| one.to_lowercase().contains(text))
}

fn entry_document(entry: &SessionEntry) -> Value {
    json!({
        "path": entry.path,
        "name": entry.name,
        "created": entry.created,
        "state": entry.state_name(),
        "model": entry.model,
        "setups": entry.setups,
        "points": entry.points,
        "machine": entry.machine,
        "tags": entry.tags,
        "notes": entry.notes,
    })
}
