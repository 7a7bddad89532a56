//! Sessions and timelines without what says whose they are: paths, and the names of users and machines.

use std::collections::{BTreeMap, BTreeSet};
use std::env;

use serde_json::{Map, Value};

use super::path_texts::{each_path, is_of_system, is_separator, last_part, user_of_path};
use super::session::Session;
use super::session_texts::{FieldPath, each_session_text, has_free_keys, is_file, is_fixed};
use super::slice_args::{self, ArgsText};
use super::trace::{MemoryEvent, Slice, Trace, Track};
use crate::base::humanize;

/// Shorter names are parts of too many words, and common ones name no person.
const LEAST_LETTERS: usize = 3;
const COMMON: [&str; 8] = [
    "root",
    "user",
    "users",
    "localhost",
    "ubuntu",
    "public",
    "shared",
    "default",
];
/// What profilers call users and machines, in lower case and without signs.
const USER_KEYS: [&str; 3] = ["user", "username", "login"];
const MACHINE_KEYS: [&str; 5] = [
    "host",
    "hostname",
    "nodename",
    "machinename",
    "computername",
];

/// What is known to say whose a session is.
#[derive(Clone, Debug, Default)]
pub struct PrivateNames {
    /// What stands in place of each name, by the name in lower case.
    names: BTreeMap<String, String>,
    n_users: usize,
    n_machines: usize,
}

impl PrivateNames {
    /// Those of the user of this process and of a machine.
    pub fn of_user(machine: &str) -> Self {
        let mut names = Self::default();
        for variable in ["USER", "LOGNAME", "USERNAME"] {
            if let Ok(user) = env::var(variable) {
                names.add_user(&user);
            }
        }
        for variable in ["HOME", "USERPROFILE"] {
            let home = env::var(variable);
            if let Some(user) = home.ok().as_deref().and_then(user_of_path) {
                names.add_user(user);
            }
        }
        names.add_machine(machine);
        names
    }

    /// Takes in those of a session.
    pub fn learn(&mut self, session: &Session) {
        for machine in &session.machines {
            self.add_user(&machine.user);
            self.add_machine(&machine.host);
            let place = machine.name.rsplit(':').next().unwrap_or_default();
            let (user, host) = place.split_once('@').unwrap_or(("", place));
            self.add_user(user);
            self.add_machine(host);
        }
        each_session_text(session, |key, text| self.learn_text(key, text));
    }

    /// Takes in those of a timeline.
    pub fn learn_timeline(&mut self, trace: &Trace) {
        each_trace_text(trace, |key, text| self.learn_text(key, text));
    }

    fn learn_text(&mut self, key: &str, text: &str) {
        let key: String = key.chars().filter(|sign| sign.is_alphanumeric()).collect();
        let key = key.to_ascii_lowercase();
        if USER_KEYS.contains(&key.as_str()) {
            self.add_user(text.trim());
        } else if MACHINE_KEYS.contains(&key.as_str()) {
            self.add_machine(text.trim());
        }
        each_path(text, |path| {
            if let Some(user) = user_of_path(path) {
                self.add_user(user);
            }
        });
    }

    /// What of it sessions and timelines have: `2 paths, such as /home/me/net.onnx; users and machines by name: me, gpu1`.
    /// Paths that every machine has do not count.
    pub fn found_in<'a>(
        &self,
        sessions: &[Session],
        timelines: impl Iterator<Item = &'a Trace>,
    ) -> String {
        let mut paths = BTreeSet::new();
        let mut unseen: BTreeSet<&str> = self.names.keys().map(String::as_str).collect();
        let mut see = |_: &str, text: &str| {
            each_path(text, |path| {
                if !is_of_system(path) {
                    paths.insert(path.to_owned());
                }
            });
            unseen.retain(|name| replaced(text, name, "").is_none());
        };
        for session in sessions {
            each_session_text(session, &mut see);
        }
        for timeline in timelines {
            each_trace_text(timeline, &mut see);
        }
        let in_home = |path: &&String| user_of_path(path).is_some();
        let example = paths.iter().find(in_home).or_else(|| paths.first());
        let paths_text = example.map_or_else(
            || "no path".to_owned(),
            |example| {
                let many = humanize::pluralised(paths.len() as u64, "path");
                format!("{many}, such as {example}")
            },
        );
        let names = self.names.keys().map(String::as_str);
        let named: Vec<&str> = names.filter(|name| !unseen.contains(name)).collect();
        if named.is_empty() {
            return format!("{paths_text}, and no user or machine by name");
        }
        format!(
            "{paths_text}; users and machines by name: {}",
            named.join(", ")
        )
    }

    /// A session without any of it.
    pub fn session_without(&self, session: &Session) -> Result<Session, serde_json::Error> {
        let mut value = serde_json::to_value(session)?;
        self.clean(&mut value, [""; 3]);
        serde_json::from_value(value)
    }

    /// A timeline without any of it.
    pub fn trace_without(&self, trace: &Trace) -> Trace {
        let mut clean = Trace::default();
        let names: Vec<u32> = (0..trace.names.len() as u32)
            .map(|number| {
                clean
                    .names
                    .number(&self.text_without(trace.names.get(number)))
            })
            .collect();
        let renamed = |number: u32| names.get(number as usize).copied().unwrap_or_default();
        let tracks = trace.tracks.iter().map(|track| Track {
            device: track.device,
            group: self.text_without(&track.group),
            name: self.text_without(&track.name),
        });
        clean.tracks = tracks.collect();
        let memory = trace.memory.iter().map(|event| MemoryEvent {
            op: renamed(event.op),
            ..*event
        });
        clean.memory = memory.collect();
        for (place, slice) in trace.slices().enumerate() {
            let shapes = self.text_without(trace.shapes(slice.shapes));
            let slice = Slice {
                name: renamed(slice.name),
                op: renamed(slice.op),
                detail: renamed(slice.detail),
                shapes: clean.shapes_number(&shapes),
                ..slice
            };
            let mut arguments = ArgsText::default();
            for (key, value) in trace.args().get(place) {
                arguments.add(&self.text_without(&key), &self.text_without(&value));
            }
            clean.push_with(slice, &arguments);
        }
        clean
    }

    fn clean(&self, value: &mut Value, at: FieldPath<'_>) {
        match value {
            Value::String(text) if !is_fixed(at) => {
                *text = if is_file(at) {
                    self.names_replaced(last_part(text))
                } else {
                    self.text_without(text)
                };
            }
            Value::Array(items) => {
                for item in items {
                    self.clean(item, at);
                }
            }
            Value::Object(entries) => {
                for (key, value) in entries.iter_mut() {
                    self.clean(value, [at[1], at[2], key]);
                }
                if has_free_keys(at) {
                    self.clean_keys(entries);
                }
            }
            _ => {}
        }
    }

    fn clean_keys(&self, entries: &mut Map<String, Value>) {
        for (key, value) in std::mem::take(entries) {
            let clean = self.text_without(&key);
            let mut key = clean.clone();
            let mut number = 1;
            while entries.contains_key(&key) {
                number += 1;
                key = numbered(&clean, number);
            }
            entries.insert(key, value);
        }
    }

    /// A text without it: of a path its last part alone.
    fn text_without(&self, text: &str) -> String {
        if !text.contains(char::is_alphabetic) {
            return text.to_owned();
        }
        let mut clean = String::with_capacity(text.len());
        let mut done = 0;
        each_path(text, |path| {
            let start = path.as_ptr() as usize - text.as_ptr() as usize;
            clean.push_str(&text[done..start]);
            clean.push_str(last_part(path));
            done = start + path.len();
        });
        clean.push_str(&text[done..]);
        self.names_replaced(&clean)
    }

    fn names_replaced(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        // Of two names that begin alike the longer one goes first.
        for (name, instead) in self.names.iter().rev() {
            if let Some(replaced) = replaced(&clean, name, instead) {
                clean = replaced;
            }
        }
        clean
    }

    fn add_user(&mut self, name: &str) {
        if self.is_new(name) {
            self.n_users += 1;
            self.names
                .insert(name.to_ascii_lowercase(), numbered("user", self.n_users));
        }
    }

    fn add_machine(&mut self, name: &str) {
        if self.is_new(name) {
            self.n_machines += 1;
            let instead = numbered("machine", self.n_machines);
            self.names
                .insert(name.to_ascii_lowercase(), instead.clone());
            // A short name of it may stand elsewhere.
            let short = name.split('.').next().unwrap_or_default();
            if self.is_new(short) {
                self.names.insert(short.to_ascii_lowercase(), instead);
            }
        }
    }

    fn is_new(&self, name: &str) -> bool {
        let lower = name.to_ascii_lowercase();
        name.len() >= LEAST_LETTERS
            && name.contains(char::is_alphabetic)
            && !name.contains(|sign: char| sign.is_whitespace() || is_separator(sign))
            && !COMMON.contains(&lower.as_str())
            && !self.names.contains_key(&lower)
    }
}

/// Every name that stands for one of several has its number.
fn numbered(kind: &str, number: usize) -> String {
    format!("{kind}{number}")
}

/// Calls `take` with the texts of a timeline, those of arguments with their keys. Arguments that differ in large
/// numbers alone come once, unless these may be part of a name.
fn each_trace_text(trace: &Trace, mut take: impl FnMut(&str, &str)) {
    for number in 0..trace.names.len() as u32 {
        take("", trace.names.get(number));
    }
    for track in &trace.tracks {
        take("", &track.group);
        take("", &track.name);
    }
    for number in 0..trace.n_shape_texts() as u32 {
        take("", trace.shapes(number));
    }
    // Whether a text is to be taken again.
    let mut seen: BTreeMap<u32, bool> = BTreeMap::new();
    let mut arguments = trace.args().packed_from(0);
    let mut text = String::new();
    for _ in 0..trace.len() {
        let number = arguments.step();
        if number == 0 || seen.get(&number) == Some(&false) {
            continue;
        }
        let template = trace.args().text_with_holes(number);
        seen.entry(number)
            .or_insert_with(|| has_numbered_name(template));
        text.clear();
        slice_args::fill(template, arguments.numbers(), &mut text);
        for (key, value) in slice_args::pairs(&text) {
            take("", key);
            take(key, value);
        }
    }
}

/// Whether a name of a user or a machine in arguments has one of the numbers that each slice keeps itself.
fn has_numbered_name(template: &str) -> bool {
    let names_with = |digit: &str| {
        let mut names = PrivateNames::default();
        for (key, value) in slice_args::pairs(&template.replace(slice_args::HOLE, digit)) {
            names.learn_text(key, value);
        }
        names.names
    };
    template.contains(slice_args::HOLE) && names_with("0") != names_with("1")
}

/// A text with a word in place of a name in lower case, wherever the name is no part of a longer word; nothing where it
/// does not have the name.
fn replaced(text: &str, name: &str, instead: &str) -> Option<String> {
    let mut clean = String::new();
    let mut done = 0;
    for (at, found) in text.to_ascii_lowercase().match_indices(name) {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        let in_word = |sign: Option<char>| sign.is_some_and(char::is_alphanumeric);
        if !in_word(before) && !in_word(after) {
            clean.push_str(&text[done..at]);
            clean.push_str(instead);
            done = at + found.len();
        }
    }
    clean.push_str(&text[done..]);
    (done > 0).then_some(clean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::RunStart;
    use crate::domain::machine::RemoteMachine;
    use crate::domain::plan::{AccuracyCheck, Plan};
    use crate::domain::setup::Setup;
    use crate::domain::trace::SliceKind;

    fn names() -> PrivateNames {
        let mut names = PrivateNames::default();
        names.add_user("alice");
        names.add_machine("gpu1.lab.example");
        names
    }

    #[test]
    fn paths_and_names_go_and_the_rest_stays() {
        for (text, clean) in [
            ("/home/alice/nets/resnet.onnx", "resnet.onnx"),
            ("samples=~/pictures/cats, batch 8", "samples=cats, batch 8"),
            ("C:\\Users\\alice\\a.onnx is read", "a.onnx is read"),
            (
                "where=ssh:alice@gpu1.lab.example",
                "where=ssh:user1@machine1",
            ),
            ("GPU1 was busy, Alice", "machine1 was busy, user1"),
            ("/conv1/Conv", "/conv1/Conv"),
            ("12 GB/s", "12 GB/s"),
            ("malice, gpu10", "malice, gpu10"),
            ("", ""),
        ] {
            assert_eq!(names().text_without(text), clean, "{text}");
        }
    }

    fn session_of(plan: Plan) -> Session {
        Session::from_start(RunStart {
            plan,
            ..RunStart::default()
        })
    }

    /// A session of a user and a machine whose names are words of its document, too.
    fn session() -> Session {
        let mut plan = Plan {
            model: "/elsewhere/max/nets".to_owned(),
            setups: vec![
                "ort:cpu,library=/elsewhere/max/ort,where=gpu"
                    .parse()
                    .expect("a setup"),
            ],
            judging: Some(AccuracyCheck {
                inputs: 8,
                samples: Some("/elsewhere/max/my cats".to_owned()),
            }),
            ..Plan::default()
        };
        plan.shapes.insert("/home/max/ids.npy".to_owned(), vec![1]);
        plan.shapes.insert("/home/eve/ids.npy".to_owned(), vec![2]);
        let mut session = session_of(plan);
        session.notes = "read by Max on CPU from \\\\fs1\\team\\max\\net.onnx".to_owned();
        session.model.file = "/elsewhere/max/My Nets/net".to_owned();
        session.machines.push(RemoteMachine {
            name: "ssh:max@cpu".to_owned(),
            host: "cpu".to_owned(),
            user: "max".to_owned(),
            ..RemoteMachine::default()
        });
        session
    }

    #[test]
    fn a_session_keeps_its_fields_and_loses_names_and_paths() {
        let session = session();
        let mut names = PrivateNames::default();
        names.learn(&session);
        let clean = names.session_without(&session).expect("a session");
        assert_eq!(clean.plan.model, "nets");
        assert_eq!(clean.model.file, "net");
        assert_eq!(clean.notes, "read by user1 on machine1 from net.onnx");
        let samples = clean.plan.judging.and_then(|judging| judging.samples);
        assert_eq!(samples.as_deref(), Some("my cats"));
        let setup: Setup = "ort:cpu,library=ort,where=gpu".parse().expect("a setup");
        assert_eq!(clean.plan.setups, [setup]);
        assert_eq!(clean.plan.measure, session.plan.measure);
        assert_eq!(clean.machines[0].name, "ssh:user1@machine1");
        // Two names that become one stay two.
        let inputs: Vec<&String> = clean.plan.shapes.keys().collect();
        assert_eq!(inputs, ["ids.npy", "ids.npy2"]);
    }

    /// A timeline with a secret wherever it has a text.
    fn trace() -> Trace {
        let mut trace = Trace::default();
        let track = trace.track(Track {
            device: None,
            group: "python of bobby".to_owned(),
            name: "/home/bobby/run.sh".to_owned(),
        });
        let name = trace.names.number("/home/bobby/proj/train.py(3): f");
        let stack =
            "file:///home/bobby/x; ../thesis_bobby/model.py; /workspace/bobby-company/net.py";
        for host in ["gpu-node70001.corp", "gpu-node70002.corp"] {
            let mut slice = Slice::new(SliceKind::Script, name, track, 5, 7);
            slice.op = trace.names.number("op of Bobby");
            slice.detail = trace.names.number("on gpu-node70002");
            slice.shapes = trace.shapes_number("f32 ~/shapes.txt");
            let mut arguments = ArgsText::default();
            arguments.add("Call stack", stack);
            arguments.add("host", host);
            arguments.add("node", "/layer1/conv/Conv");
            trace.push_with(slice, &arguments);
        }
        trace
    }

    #[test]
    fn a_timeline_is_learnt_from_and_loses_names_and_paths() {
        let trace = trace();
        let mut names = PrivateNames::default();
        names.learn_timeline(&trace);
        let found = names.found_in(&[], std::iter::once(&trace));
        assert!(found.contains("such as /home/bobby/"), "{found}");
        for name in ["bobby", "gpu-node70001.corp", "gpu-node70002"] {
            assert!(found.contains(name), "{found}");
        }
        let clean = names.trace_without(&trace);
        let text = |number: u32| clean.names.get(number);
        let slice = clean.slice(1);
        assert_eq!(text(slice.name), "train.py(3): f");
        assert_eq!(text(slice.op), "op of user1");
        assert_eq!(text(slice.detail), "on machine2");
        assert_eq!(clean.shapes(slice.shapes), "f32 shapes.txt");
        assert_eq!(clean.tracks[0].group, "python of user1");
        assert_eq!(clean.tracks[0].name, "run.sh");
        let expected = [
            ("Call stack", "x; model.py; net.py"),
            ("host", "machine2"),
            ("node", "/layer1/conv/Conv"),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(clean.args().get(1), expected);
        assert_eq!((clean.len(), slice.start_ns, slice.duration_ns), (2, 5, 7));
    }

    #[test]
    fn paths_that_every_machine_has_do_not_count() {
        let mut session = session_of(Plan::default());
        session.notes = "/sys/class/hwmon, /usr/lib/x.so, /lib/y.so".to_owned();
        let found = |session: &Session| {
            let mut names = PrivateNames::default();
            names.learn(session);
            names.found_in(std::slice::from_ref(session), std::iter::empty())
        };
        assert_eq!(found(&session), "no path, and no user or machine by name");
        session.notes.push_str(", /data/a, /home/eve/b");
        let text = "2 paths, such as /home/eve/b; users and machines by name: eve";
        assert_eq!(found(&session), text);
    }
}
