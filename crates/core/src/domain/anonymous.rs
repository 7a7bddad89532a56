//! Sessions and timelines without what says whose they are: paths, and the names of users and machines.

use std::collections::{BTreeMap, BTreeSet};
use std::env;

use serde_json::Value;

use super::session::Session;
use super::slice_args::ArgsText;
use super::trace::{MemoryEvent, Slice, Trace, Track};
use crate::base::humanize;

/// What paths of files begin with. Names of nodes in a network look like paths, too.
const ROOTS: [&str; 26] = [
    "Users", "bin", "data", "dev", "etc", "gpfs", "home", "lib", "lib64", "lustre", "media", "mnt",
    "net", "nfs", "nix", "opt", "private", "proc", "root", "run", "scratch", "srv", "sys", "tmp",
    "usr", "var",
];
/// Folders of users.
const HOMES: [&str; 2] = ["home", "Users"];
/// Names so short are in too many words, and names that anybody may have.
const LEAST_LETTERS: usize = 3;
const COMMON: [&str; 4] = ["root", "user", "localhost", "ubuntu"];

/// What is known to say whose a session is.
#[derive(Clone, Debug, Default)]
pub struct PrivateNames {
    /// What stands in place of each name.
    names: BTreeMap<String, String>,
    n_users: usize,
    n_machines: usize,
}

impl PrivateNames {
    /// Those of the user of this process and of a machine.
    pub fn of_user(machine: &str) -> Self {
        let mut names = Self::default();
        for variable in ["USER", "LOGNAME"] {
            if let Ok(user) = env::var(variable) {
                names.add_user(&user);
            }
        }
        if let Some(user) = env::var("HOME").ok().as_deref().and_then(user_of_path) {
            names.add_user(user);
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
        for user in paths_of(session)
            .iter()
            .filter_map(|path| user_of_path(path))
        {
            self.add_user(user);
        }
    }

    /// What of it sessions have: `2 paths, such as /home/me/net.onnx; users and machines: me, gpu1`.
    pub fn in_sessions(&self, sessions: &[Session]) -> String {
        let paths: BTreeSet<String> = sessions.iter().flat_map(paths_of).collect();
        let paths_text = paths.first().map_or_else(
            || "no path".to_owned(),
            |first| {
                let many = humanize::pluralised(paths.len() as u64, "path");
                format!("{many}, such as {first}")
            },
        );
        let values: Vec<Value> = sessions
            .iter()
            .filter_map(|it| serde_json::to_value(it).ok())
            .collect();
        let mut texts = Vec::new();
        for value in &values {
            collect(value, &mut texts);
        }
        let has = |name: &str| {
            texts
                .iter()
                .any(|text| replace_name(text, name, "") != **text)
        };
        let named: Vec<&str> = self
            .names
            .keys()
            .map(String::as_str)
            .filter(|name| has(name))
            .collect();
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
        self.clean(&mut value);
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

    fn clean(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text_without(text),
            Value::Array(items) => {
                for item in items {
                    self.clean(item);
                }
            }
            Value::Object(entries) => {
                let cleaned = std::mem::take(entries).into_iter().map(|(key, mut value)| {
                    self.clean(&mut value);
                    (self.text_without(&key), value)
                });
                *entries = cleaned.collect();
            }
            _ => {}
        }
    }

    /// A text without it: of a path its last part alone.
    fn text_without(&self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        let mut done = 0;
        each_path(text, |path| {
            let start = path.as_ptr() as usize - text.as_ptr() as usize;
            clean.push_str(&text[done..start]);
            let last = path
                .trim_end_matches(is_separator)
                .rsplit(is_separator)
                .next();
            clean.push_str(last.unwrap_or_default());
            done = start + path.len();
        });
        clean.push_str(&text[done..]);
        // Of two names that begin alike the longer one goes first.
        for (name, instead) in self.names.iter().rev() {
            clean = replace_name(&clean, name, instead);
        }
        clean
    }

    fn add_user(&mut self, name: &str) {
        if self.is_new(name) {
            self.n_users += 1;
            self.names
                .insert(name.to_owned(), numbered("user", self.n_users));
        }
    }

    fn add_machine(&mut self, name: &str) {
        if self.is_new(name) {
            self.n_machines += 1;
            let instead = numbered("machine", self.n_machines);
            // A short name of it may stand elsewhere.
            let short = name.split('.').next().unwrap_or_default().to_owned();
            self.names.insert(name.to_owned(), instead.clone());
            if self.is_new(&short) {
                self.names.insert(short, instead);
            }
        }
    }

    fn is_new(&self, name: &str) -> bool {
        name.len() >= LEAST_LETTERS && !COMMON.contains(&name) && !self.names.contains_key(name)
    }
}

/// Every name that stands for one of several has its number.
fn numbered(kind: &str, number: usize) -> String {
    format!("{kind}{number}")
}

fn is_separator(sign: char) -> bool {
    matches!(sign, '/' | '\\')
}

/// The user whose folder a path is in.
fn user_of_path(path: &str) -> Option<&str> {
    let mut parts = path.split(is_separator).filter(|part| !part.is_empty());
    parts.find(|part| HOMES.contains(part))?;
    parts.next()
}

/// The paths in a session.
fn paths_of(session: &Session) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    if let Ok(value) = serde_json::to_value(session) {
        let mut texts = Vec::new();
        collect(&value, &mut texts);
        for text in texts {
            each_path(text, |path| {
                paths.insert(path.to_owned());
            });
        }
    }
    paths
}

/// Adds every text of a document, keys included.
fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => {
            for item in items {
                collect(item, texts);
            }
        }
        Value::Object(entries) => {
            for (key, value) in entries {
                texts.push(key);
                collect(value, texts);
            }
        }
        _ => {}
    }
}

/// Calls `take` with each path of files in a text, in order.
fn each_path<'a>(text: &'a str, mut take: impl FnMut(&'a str)) {
    let mut end = 0;
    for (at, _) in text.char_indices() {
        if at < end || !is_path_at(text, at) {
            continue;
        }
        let path = &text[at..];
        let path = path.split(ends_path).next().unwrap_or(path);
        end = at + path.len();
        take(path);
    }
}

/// Whether a path of a file begins at a place of a text.
fn is_path_at(text: &str, at: usize) -> bool {
    let (before, here) = text.split_at(at);
    let is_within_word =
        |sign: char| sign.is_alphanumeric() || matches!(sign, '/' | '.' | '_' | '-' | '\\');
    if before.chars().next_back().is_some_and(is_within_word) {
        return false;
    }
    let is_drive = here
        .strip_prefix(|letter: char| letter.is_ascii_alphabetic())
        .is_some_and(|rest| rest.starts_with(":\\"));
    if here.starts_with("~/") || is_drive {
        return true;
    }
    let below = here
        .strip_prefix('/')
        .and_then(|below| below.split_once('/'));
    below.is_some_and(|(root, _)| ROOTS.contains(&root))
}

fn ends_path(sign: char) -> bool {
    sign.is_whitespace()
        || matches!(
            sign,
            '"' | '\'' | '`' | ',' | ';' | ')' | ']' | '}' | '>' | '|' | '\u{1f}' | '\u{1e}'
        )
}

/// A text with a word in place of a name, wherever the name is no part of a longer word.
fn replace_name(text: &str, name: &str, instead: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut done = 0;
    for (at, found) in text.match_indices(name) {
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
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (
                "ort:cpu,lib=/opt/ort/lib/libonnxruntime.so",
                "ort:cpu,lib=libonnxruntime.so",
            ),
            ("C:\\Users\\alice\\a.onnx is read", "a.onnx is read"),
            (
                "where=ssh:alice@gpu1.lab.example",
                "where=ssh:user1@machine1",
            ),
            ("gpu1 was busy", "machine1 was busy"),
            // Names of nodes, rates and other words are none of these.
            ("/conv1/Conv", "/conv1/Conv"),
            ("/layer4/layer4.1/relu/Relu", "/layer4/layer4.1/relu/Relu"),
            ("12 GB/s", "12 GB/s"),
            ("malice, gpu10", "malice, gpu10"),
            ("", ""),
        ] {
            assert_eq!(names().text_without(text), clean, "{text}");
        }
    }
}
