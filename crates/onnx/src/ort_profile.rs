//! ONNX Runtime's profile: which nodes ran, where, and for how long.
//!
//! The file is a list of events, one a line. Times are whole microseconds, rounded down. A node's
//! event ends in `_kernel_time`; `model_run` comes behind the nodes of each run. ONNX Runtime does
//! not escape the names it writes, cuts the list after a million events, and leaves the end out
//! when it is killed; so what cannot be read as one list is read line by line.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use powerband_core::base::humanize;
use powerband_core::domain::examination::{NodeRun, provider_name};

/// What a node's event ends in.
const KERNEL: &str = "_kernel_time";
/// The event behind the nodes of a run.
const RUN: &str = "model_run";

/// Why a profile gave nothing.
#[derive(Debug, Error)]
pub enum ProfileError {
    /// The operating system reported an error.
    #[error("cannot read ONNX Runtime's profile ({source}): {}. Examine the network again", path.display())]
    Io { source: io::Error, path: PathBuf },
    /// Nothing written, as by a process that was killed.
    #[error(
        "ONNX Runtime's profile is empty: {}. It is written when the session ends, so that a \
         session that was killed leaves nothing: examine the network again", path.display()
    )]
    Empty { path: PathBuf },
    /// Something else altogether.
    #[error("not a profile of ONNX Runtime, which is a list of events in JSON: {}. Name the file that enable_profiling wrote", path.display())]
    NotAProfile { path: PathBuf },
    /// Events, but no whole run.
    #[error(
        "ONNX Runtime's profile holds no finished run: {}. The run failed, or the file is cut off: \
         examine the network again", path.display()
    )]
    NoRun { path: PathBuf },
    /// All runs were warm-up.
    #[error(
        "ONNX Runtime's profile holds {runs} runs, and the first {skipped} are to be left out: {}. \
         Examine the network with more runs", path.display()
    )]
    TooFewRuns {
        /// Finished runs in the file.
        runs: u32,
        /// Runs to leave out.
        skipped: u32,
        path: PathBuf,
    },
}

/// What a profile says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Runs that the times are means of.
    pub runs: u32,
    /// Nodes in the order in which they first started. Those of a subgraph follow the node that
    /// holds it, whose time is without theirs, so that all times add up to the work of a run.
    pub nodes: Vec<NodeRun>,
    /// What was missing in the file.
    pub notes: Vec<String>,
}

/// Reads a profile and leaves out its first runs, which warm up.
pub fn read(path: &Path, skip_runs: u32) -> Result<Profile, ProfileError> {
    let bytes = std::fs::read(path).map_err(|source| ProfileError::Io {
        source,
        path: path.to_owned(),
    })?;
    parse(path, &bytes, skip_runs)
}

/// Reads a profile's bytes; the path is for messages.
pub fn parse(path: &Path, bytes: &[u8], skip_runs: u32) -> Result<Profile, ProfileError> {
    let path_buf = || path.to_owned();
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(ProfileError::Empty { path: path_buf() });
    }
    let mut notes = Vec::new();
    let events = events(bytes, &mut notes);
    if events.is_empty() {
        return Err(ProfileError::NotAProfile { path: path_buf() });
    }
    let (spans, runs) = spans(&events, &mut notes);
    if runs == 0 {
        return Err(ProfileError::NoRun { path: path_buf() });
    }
    if skip_runs >= runs {
        return Err(ProfileError::TooFewRuns {
            runs,
            skipped: skip_runs,
            path: path_buf(),
        });
    }
    let kept = spans.into_iter().filter(|span| span.run >= skip_runs);
    let runs = runs - skip_runs;
    Ok(Profile {
        runs,
        nodes: means(kept.collect(), runs),
        notes,
    })
}

/// An event, as far as it is read. Text is borrowed where it holds no escapes.
#[derive(Deserialize)]
struct ProfileEvent<'a> {
    #[serde(borrow)]
    cat: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(default)]
    tid: u64,
    #[serde(default)]
    ts: u64,
    #[serde(default)]
    dur: u64,
    #[serde(borrow, default)]
    args: Args<'a>,
}

/// What an event says of its node.
#[derive(Default, Deserialize)]
struct Args<'a> {
    #[serde(borrow, default)]
    op_name: Cow<'a, str>,
    #[serde(borrow, default)]
    provider: Cow<'a, str>,
    /// In older versions `exec_plan_index`, which nothing here needs.
    #[serde(borrow, default)]
    node_index: Cow<'a, str>,
}

/// All events that can be read.
fn events<'a>(bytes: &'a [u8], notes: &mut Vec<String>) -> Vec<ProfileEvent<'a>> {
    if let Ok(events) = serde_json::from_slice(bytes) {
        return events;
    }
    let mut events = Vec::new();
    let mut unread = 0_u64;
    for line in bytes.split(|&byte| byte == b'\n') {
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"[").unwrap_or(line);
        let line = line.strip_suffix(b"]").unwrap_or(line).trim_ascii();
        let line = line.strip_suffix(b",").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(event) => events.push(event),
            Err(_) => unread += 1,
        }
    }
    if unread > 0 && !events.is_empty() {
        notes.push(format!(
            "{} of ONNX Runtime's profile could not be read: it is cut off, or a name in it holds quotation marks",
            humanize::pluralised(unread, "line")
        ));
    }
    events
}

/// One execution of a node.
struct NodeSpan<'a> {
    key: Key<'a>,
    provider: &'a str,
    run: u32,
    thread: u64,
    start: u64,
    time: u64,
}

/// What identifies a node: subgraphs count their own nodes, so that no one of these is enough.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key<'a> {
    name: &'a str,
    op: &'a str,
    index: &'a str,
}

/// The nodes of all finished runs, and how many those are.
fn spans<'a>(events: &'a [ProfileEvent<'a>], notes: &mut Vec<String>) -> (Vec<NodeSpan<'a>>, u32) {
    let mut spans = Vec::new();
    let mut runs = 0;
    for event in events {
        match (&*event.cat, event.name.strip_suffix(KERNEL)) {
            ("Session", _) if event.name == RUN => runs += 1,
            ("Node", Some(name)) => spans.push(NodeSpan {
                key: Key {
                    name,
                    op: &event.args.op_name,
                    index: &event.args.node_index,
                },
                provider: &event.args.provider,
                run: runs,
                thread: event.tid,
                start: event.ts,
                time: event.dur,
            }),
            _ => {}
        }
    }
    let written = spans.len();
    spans.retain(|span| span.run < runs);
    let cut = written - spans.len();
    if cut > 0 && runs > 0 {
        notes.push(format!(
            "the last run of ONNX Runtime's profile is cut off; its {cut} nodes are left out"
        ));
    }
    (spans, runs)
}

/// Takes the time of nodes inside a node off that node's. Nodes of one thread either follow each
/// other or lie within each other, and rounding down never makes followers overlap; so a node
/// that starts before another has ended lies within it.
fn unnest(spans: &mut [NodeSpan<'_>]) {
    spans.sort_by_key(|span| (span.thread, span.start, std::cmp::Reverse(span.time)));
    // Nodes that have not ended yet, and when they do.
    let mut open: Vec<(usize, u64)> = Vec::new();
    for index in 0..spans.len() {
        let (thread, start, time) = {
            let span = &spans[index];
            (span.thread, span.start, span.time)
        };
        while let Some(&(outer, end)) = open.last()
            && (spans[outer].thread != thread || end <= start)
        {
            open.pop();
        }
        if let Some(&(outer, _)) = open.last() {
            spans[outer].time = spans[outer].time.saturating_sub(time);
        }
        open.push((index, start.saturating_add(time)));
    }
}

/// Each node once, with its mean time.
fn means(mut spans: Vec<NodeSpan<'_>>, runs: u32) -> Vec<NodeRun> {
    unnest(&mut spans);
    spans.sort_by_key(|span| span.start);
    let mut places: HashMap<Key<'_>, usize> = HashMap::new();
    let mut nodes: Vec<(&NodeSpan<'_>, u64)> = Vec::new();
    for span in &spans {
        let place = *places.entry(span.key).or_insert(nodes.len());
        match nodes.get_mut(place) {
            Some((_, total)) => *total = total.saturating_add(span.time),
            None => nodes.push((span, span.time)),
        }
    }
    let mean = |total: u64| total.saturating_mul(1000) / u64::from(runs);
    nodes
        .into_iter()
        .map(|(span, total)| NodeRun {
            name: span.key.name.to_owned(),
            op: span.key.op.to_owned(),
            provider: provider_name(span.provider),
            time_ns: mean(total),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node's event, as ONNX Runtime writes it.
    fn node(name: &str, op: &str, ts: u64, dur: u64) -> String {
        format!(
            r#"{{"cat" : "Node","pid" :1,"tid" :7,"dur" :{dur},"ts" :{ts},"ph" : "X","name" :"{name}_kernel_time","args" : {{"op_name" : "{op}","provider" : "CPUExecutionProvider","node_index" : "0","input_type_shape" : [{{"float":[1,3]}}]}}}}"#
        )
    }

    /// An event of the session.
    fn session(name: &str, ts: u64, dur: u64) -> String {
        format!(
            r#"{{"cat" : "Session","pid" :1,"tid" :7,"dur" :{dur},"ts" :{ts},"ph" : "X","name" :"{name}","args" : {{}}}}"#
        )
    }

    fn list(events: &[String]) -> String {
        format!("[\n{}\n]\n", events.join(",\n"))
    }

    fn parsed(text: &str, skip_runs: u32) -> Result<Profile, ProfileError> {
        parse(Path::new("profile.json"), text.as_bytes(), skip_runs)
    }

    fn two_runs() -> Vec<String> {
        vec![
            session("model_loading_uri", 0, 50),
            node("conv", "Conv", 100, 90),
            node("relu", "Relu", 190, 10),
            session(RUN, 99, 120),
            node("conv", "Conv", 300, 30),
            node("relu", "Relu", 330, 2),
            session(RUN, 299, 40),
        ]
    }

    fn times(profile: &Profile) -> Vec<(&str, u64)> {
        let nodes = profile.nodes.iter();
        nodes
            .map(|node| (node.name.as_str(), node.time_ns))
            .collect()
    }

    #[test]
    fn times_are_means_of_the_runs_that_are_kept() {
        let text = list(&two_runs());
        let all = parsed(&text, 0).unwrap();
        assert_eq!(all.runs, 2);
        assert_eq!(times(&all), [("conv", 60_000), ("relu", 6_000)]);
        assert_eq!(all.nodes[0].provider, "CPU");
        let warm = parsed(&text, 1).unwrap();
        assert_eq!(times(&warm), [("conv", 30_000), ("relu", 2_000)]);
        assert_eq!(warm.notes, [""; 0]);
    }

    #[test]
    fn a_file_that_is_cut_off_tells_what_it_holds() {
        let whole = list(&two_runs());
        let cut = &whole[..whole.len() - 60];
        let profile = parsed(cut, 0).unwrap();
        assert_eq!(profile.runs, 1);
        assert_eq!(times(&profile), [("conv", 90_000), ("relu", 10_000)]);
        assert_eq!(profile.notes.len(), 2);
        // Wherever it is cut, it is read or refused in a sentence.
        for length in 0..whole.len() {
            if let Err(error) = parsed(&whole[..length], 0) {
                assert!(error.to_string().contains("profile.json"));
            }
        }
    }

    #[test]
    fn a_name_with_quotation_marks_costs_its_own_line_alone() {
        let mut events = two_runs();
        events[2] = node("re\"lu", "Relu", 190, 10);
        let profile = parsed(&list(&events), 0).unwrap();
        assert_eq!(times(&profile), [("conv", 60_000), ("relu", 1_000)]);
        assert!(profile.notes[0].starts_with("1 line"));
    }

    #[test]
    fn what_lies_within_a_node_is_counted_once() {
        let profile = parsed(
            &list(&[
                node("inner", "MatMul", 110, 20),
                node("deep", "Relu", 141, 9),
                node("nested", "If", 140, 10),
                node("inner", "MatMul", 150, 30),
                node("loop", "Loop", 100, 100),
                node("after", "Relu", 200, 5),
                session(RUN, 99, 110),
            ]),
            0,
        )
        .unwrap();
        assert_eq!(
            times(&profile),
            [
                ("loop", 40_000),
                ("inner", 50_000),
                ("nested", 1_000),
                ("deep", 9_000),
                ("after", 5_000)
            ]
        );
    }

    #[test]
    fn a_real_profile_is_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/ort");
        let profile = read(&folder.join("block.profile.json"), 1).unwrap();
        assert_eq!((profile.runs, profile.notes.len()), (1, 0));
        let ops: Vec<&str> = profile.nodes.iter().map(|node| node.op.as_str()).collect();
        let expect = [
            "Conv",
            "MaxPool",
            "Conv",
            "Conv",
            "Conv",
            "GlobalAveragePool",
            "ReorderOutput",
            "Flatten",
            "Gemm",
        ];
        assert_eq!(ops, expect);
        assert_eq!(profile.nodes[0].name, "relu.out_nchwc");
        assert!(profile.nodes.iter().all(|node| node.provider == "CPU"));
    }

    #[test]
    fn fences_and_other_threads_do_not_count() {
        let elsewhere = node("aside", "Relu", 110, 50).replace("\"tid\" :7", "\"tid\" :8");
        let fence = node("conv", "Conv", 0, 9).replace(KERNEL, "_fence_before");
        let events = [
            fence,
            elsewhere,
            node("conv", "Conv", 100, 90),
            session(RUN, 99, 120),
        ];
        let profile = parsed(&list(&events), 0).unwrap();
        assert_eq!(times(&profile), [("conv", 90_000), ("aside", 50_000)]);
    }

    #[test]
    fn every_wrong_file_has_its_own_sentence() {
        let cases = [
            (String::new(), "is empty"),
            ("hello\n".to_owned(), "not a profile"),
            ("{\"traceEvents\":[]}".to_owned(), "not a profile"),
            (list(&[node("conv", "Conv", 0, 1)]), "no finished run"),
            (list(&two_runs()), "holds 2 runs"),
        ];
        for (text, expect) in cases {
            let message = parsed(&text, 2).unwrap_err().to_string();
            assert!(message.contains(expect), "{message}");
        }
        let missing = read(Path::new("/nowhere/profile.json"), 0);
        assert!(missing.unwrap_err().to_string().contains("cannot read"));
    }
}
