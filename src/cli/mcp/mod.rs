//! `powerband mcp`: sessions for programs that speak the Model Context Protocol, over standard input and output.
//!
//! Messages are lines of JSON-RPC 2.0. What the tools are and do is in `tools`; they answer one at a time, on a thread
//! beside the one that reads, so that a call can be cancelled.

mod tools;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Value, json};

use super::args::McpArgs;
use super::{Context, is_broken_pipe, output};
use powerband_core::base::cancel::CancelToken;
use powerband_devices::version;
use tools::ToolCall;

/// Revisions of the protocol, the newest first; they agree in all that is spoken here.
const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// Calls that wait for the one before; beyond them no further message is read.
const MOST_WAITING: usize = 64;
/// A longer line is no message.
const LONGEST_MESSAGE: u64 = 1 << 20;

const NO_JSON: i32 = -32700;
const NO_REQUEST: i32 = -32600;
const NO_METHOD: i32 = -32601;
const WRONG_PARAMS: i32 = -32602;

const INSTRUCTIONS: &str = "Powerband measures how fast neural networks run. A session is a file with measurements; \
the tool sessions lists those of the library with the paths that the other tools take. Ratios come with a 95 % interval \
and a verdict: faster, slower, same or inconclusive. Pass on an inconclusive verdict as such, and an error as what \
cannot be answered, with its reason.";

/// The calls that were not answered yet, by the identifiers of their requests.
type OpenCalls = Mutex<BTreeMap<String, CancelToken>>;

/// Why a request is not answered: a code of JSON-RPC and a sentence.
struct Refusal(i32, String);

/// A call with the identifier of its request.
struct Asked {
    id: Value,
    call: ToolCall,
    cancel: CancelToken,
}

/// Answers until standard input closes.
pub(super) fn run(context: &Context, args: &McpArgs) -> anyhow::Result<ExitCode> {
    let open = OpenCalls::default();
    let server = Server {
        allow_runs: args.allow_runs,
        runs: CancelToken::default(),
        open: &open,
    };
    let read = thread::scope(|scope| {
        let (calls, waiting) = sync_channel(MOST_WAITING);
        let answering = thread::Builder::new().name("mcp-calls".to_owned());
        let open = &open;
        answering.spawn_scoped(scope, move || answer_calls(context, &waiting, open))?;
        let read = server.read_messages(&calls);
        // What only reads is answered still; no run is waited for any more.
        server.runs.cancel();
        read
    });
    match read {
        Err(error) if !is_broken_pipe(&error) => Err(error),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// The side that reads messages, and answers all but calls.
struct Server<'a> {
    allow_runs: bool,
    /// Ends the runs that go on.
    runs: CancelToken,
    open: &'a OpenCalls,
}

fn lock(open: &OpenCalls) -> MutexGuard<'_, BTreeMap<String, CancelToken>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server<'_> {
    fn read_messages(&self, calls: &SyncSender<Asked>) -> anyhow::Result<()> {
        let mut input = io::stdin().lock();
        while let Some(line) = next_line(&mut input)? {
            if line.as_ref().is_ok_and(|line| line.trim_ascii().is_empty()) {
                continue;
            }
            let message = line.and_then(|line| message(&line));
            let id = message.as_ref().ok().and_then(|message| message.get("id"));
            let id = id.cloned();
            let answer = message.and_then(|message| self.answer(&message, calls));
            match (answer, id) {
                (Ok(Some(result)), Some(id)) => respond(&id, "result", result)?,
                (Err(refusal), id) => {
                    let Refusal(code, reason) = refusal;
                    let error = json!({ "code": code, "message": reason });
                    respond(&id.unwrap_or_default(), "error", error)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The result of a request; nothing for a notification, or where a call answers it later.
    fn answer(&self, message: &Value, calls: &SyncSender<Asked>) -> Result<Option<Value>, Refusal> {
        let Some(method) = message["method"].as_str() else {
            // We ask nothing, so that answers are to nothing.
            let is_answer = ["result", "error"]
                .iter()
                .any(|key| message.get(key).is_some());
            let reason = || "the message names no method".to_owned();
            return if is_answer {
                Ok(None)
            } else {
                Err(Refusal(NO_REQUEST, reason()))
            };
        };
        let params = &message["params"];
        let Some(id) = message.get("id") else {
            if method == "notifications/cancelled"
                && let Some(cancel) = lock(self.open).get(&params["requestId"].to_string())
            {
                cancel.cancel();
            }
            return Ok(None);
        };
        if !id.is_string() && !id.is_number() {
            let reason = "the id of a request is a text or a number".to_owned();
            return Err(Refusal(NO_REQUEST, reason));
        }
        match method {
            "initialize" => Ok(Some(greeting(params))),
            "ping" => Ok(Some(json!({}))),
            "tools/list" => Ok(Some(json!({ "tools": tools::documents(self.allow_runs) }))),
            "tools/call" => {
                let call = ToolCall::read(params, self.allow_runs)
                    .map_err(|reason| Refusal(WRONG_PARAMS, reason))?;
                let cancel = if call.is_run() {
                    self.runs.part()
                } else {
                    CancelToken::default()
                };
                lock(self.open).insert(id.to_string(), cancel.clone());
                let id = id.clone();
                // The other side lives for as long as this one.
                drop(calls.send(Asked { id, call, cancel }));
                Ok(None)
            }
            _ => Err(Refusal(NO_METHOD, format!("there is no method {method}"))),
        }
    }
}

/// The next line; nothing at the end.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Result<Vec<u8>, Refusal>>> {
    let mut line = Vec::new();
    let read = input
        .by_ref()
        .take(LONGEST_MESSAGE + 1)
        .read_until(b'\n', &mut line)?;
    if read as u64 <= LONGEST_MESSAGE {
        return Ok((read > 0).then_some(Ok(line)));
    }
    if line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
    }
    let reason = format!("a message of more than {LONGEST_MESSAGE} bytes");
    Ok(Some(Err(Refusal(NO_REQUEST, reason))))
}

fn message(line: &[u8]) -> Result<Value, Refusal> {
    let message: Value = serde_json::from_slice(line)
        .map_err(|error| Refusal(NO_JSON, format!("this is no JSON: {error}")))?;
    if message.is_object() {
        return Ok(message);
    }
    let reason = "a message is one object; batches are not taken".to_owned();
    Err(Refusal(NO_REQUEST, reason))
}

/// What this server is, in the client's revision of the protocol where that is known.
fn greeting(params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str();
    let known = REVISIONS
        .into_iter()
        .find(|revision| Some(*revision) == asked);
    json!({
        "protocolVersion": known.unwrap_or(REVISIONS[0]),
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "powerband", "title": "Powerband", "version": version::VERSION },
        "instructions": INSTRUCTIONS,
    })
}

/// Answers calls one after the other, so that no run disturbs another one.
fn answer_calls(context: &Context, calls: &Receiver<Asked>, open: &OpenCalls) {
    for Asked { id, call, cancel } in calls {
        let result = call.result(context, &cancel);
        lock(open).remove(&id.to_string());
        if !cancel.is_cancelled() {
            // Where the other side is gone, standard input ends, too.
            respond(&id, "result", result).unwrap_or_default();
        }
    }
}

fn respond(id: &Value, key: &str, value: Value) -> anyhow::Result<()> {
    let mut message = json!({ "jsonrpc": "2.0", "id": id });
    message[key] = value;
    output::document_line(&message)
}
