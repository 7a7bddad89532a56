//! Traces of XLA, which JAX and `TensorFlow` write for `XProf` and `TensorBoard` (`*.trace.json.gz`).
//!
//! A process is a device, `/device:GPU:0`, or the host, `/host:CPU`. What a device executed is on its streams
//! (`Stream #13(Compute)`), or on the row `XLA Ops` where it has none. `XProf` derives the other rows of a device
//! from these (modules, steps, name scopes, lines of source): they lie over the work and are ranges.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use super::{Dialect, TrackTitles};
use crate::amd::rpd::op_kind;
use crate::reading::head::FileHead;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::trace::{SliceKind, Trace};

/// What names of devices have in them.
const DEVICE: &str = "/device:";
/// What names of streams begin with.
const STREAM: &str = "Stream #";
/// The rows of instructions, of devices without streams.
const INSTRUCTIONS: [&str; 2] = ["XLA Ops", "Sparse Core Ops"];
/// `XProf` writes no more events than this into such a file.
const MOST_EVENTS: usize = 1_000_000;
/// The program that makes both files of a run.
pub(crate) const TOOL: &str = "XProf";

/// The plug-in of `XProf` and `TensorBoard`.
pub(crate) const FORMAT: Format = Format {
    id: "xla",
    title: "a trace of XLA (JAX, TensorFlow)",
    tool: TOOL,
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    let names = ["\"/device:GPU:", "\"/device:TPU:", "\"/host:CPU\""];
    head.has_key("traceEvents")
        && head.json().is_some_and(|text| {
            text.contains("process_name") && names.iter().any(|name| text.contains(name))
        })
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let before = into.trace.len();
    super::read(source, watch, Dialect::Xla, FORMAT.title, into)?;
    if into.trace.len() - before >= MOST_EVENTS {
        into.note(format!(
            "{} has a million events, which is the most that XProf writes: the rest of the run is not in it. Profile fewer steps",
            source.name()
        ));
    }
    Ok(())
}

/// What an event is if its row is one of the host: with the instruction that it carries out or launches, and with what
/// links it to a kernel if it is a launch.
pub(crate) fn host_kind(name: &str, instruction: &str, link: Option<u64>) -> SliceKind {
    if link.is_some() {
        SliceKind::Call
    } else if !instruction.is_empty() {
        SliceKind::Operator
    } else if name.starts_with('$') {
        // The tracer of Python: `$file.py:12 function`.
        SliceKind::Script
    } else {
        SliceKind::Range
    }
}

/// The instruction that an event carries out (`hlo_op`), without the number that distinguishes it from others of its
/// kind. `TensorFlow` without XLA has operators in place of instructions (`tf_op`): `name:Type`.
pub(crate) fn operator<'a>(instruction: &'a str, operator: &'a str) -> &'a str {
    if instruction.is_empty() {
        return operator.rsplit(':').next().unwrap_or_default();
    }
    let mut instruction = instruction;
    while let Some((stem, number)) = instruction.rsplit_once('.')
        && !stem.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        instruction = stem;
    }
    instruction
}

/// Kind of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowKind {
    /// What the host did.
    Host,
    /// Kernels, copies and sets, in the order in which a stream executed them.
    Stream,
    /// Instructions, with those of a loop within the loop.
    Instructions,
    /// What is derived from the other rows of a device.
    Derived,
}

/// Names tracks and sorts what is on them.
pub(crate) fn sort(trace: &mut Trace, names: &TrackTitles) {
    let rows = name_rows(trace, names);
    let mut has_work = rows.iter().any(|row| *row != RowKind::Host);
    let row_of = |track: u32| rows.get(track as usize).copied().unwrap_or(RowKind::Host);
    for index in 0..trace.len() {
        let slice = trace.slice(index);
        let kind = match row_of(slice.track) {
            RowKind::Host => {
                has_work |= slice.kind == SliceKind::Operator;
                continue;
            }
            RowKind::Derived => SliceKind::Range,
            RowKind::Stream => work(trace.names.get(slice.name)),
            RowKind::Instructions => SliceKind::Kernel,
        };
        trace.set_kind(index, kind);
        if kind == SliceKind::Range {
            trace.set_op(index, 0);
        }
    }
    for index in holders(trace, |track| row_of(track) == RowKind::Instructions) {
        trace.set_kind(index, SliceKind::Range);
    }
    // Without instructions there is still the work of the host and its nesting.
    if !has_work {
        trace.relabel(SliceKind::Operator, |slice, _| {
            slice.kind == SliceKind::Range
        });
    }
}

/// What an event on a stream is.
fn work(name: &str) -> SliceKind {
    if name.starts_with("Memcpy") {
        SliceKind::Copy
    } else if name.starts_with("Memset") {
        SliceKind::Set
    } else {
        // Those of AMD's are called as its other tools call them.
        match op_kind(name) {
            SliceKind::Other => SliceKind::Kernel,
            known => known,
        }
    }
}

/// Names every track, and says what is on it.
fn name_rows(trace: &mut Trace, names: &TrackTitles) -> Vec<RowKind> {
    let of_device = |process: &str| names.process(process).contains(DEVICE);
    let with_streams: FxHashSet<String> = trace
        .tracks
        .iter()
        .filter(|track| names.thread(&track.group, &track.name).starts_with(STREAM))
        .map(|track| track.group.clone())
        .collect();
    let mut rows = Vec::with_capacity(trace.tracks.len());
    for track in &mut trace.tracks {
        let thread = names.thread(&track.group, &track.name);
        let is_device = of_device(&track.group);
        let has_streams = with_streams.contains(&track.group);
        rows.push(if !is_device {
            RowKind::Host
        } else if thread.starts_with(STREAM) {
            RowKind::Stream
        } else if !has_streams && INSTRUCTIONS.contains(&thread) {
            RowKind::Instructions
        } else {
            RowKind::Derived
        });
        let process = names.process(&track.group);
        if is_device {
            let (group, number) = device(process);
            track.group = group;
            track.device = Some(number);
        } else if process.is_empty() {
            track.group = format!("process {}", track.group);
        } else {
            process.clone_into(&mut track.group);
        }
        if thread.is_empty() {
            track.name = format!("thread {}", track.name);
        } else {
            thread.clone_into(&mut track.name);
        }
    }
    rows
}

/// A device in words, and its number: `/device:TPU:1 SparseCore 0` is `TPU 1 SparseCore 0`. Where several
/// machines are in one file, their names stand before it.
fn device(process: &str) -> (String, u32) {
    let (machine, device) = process.split_once(DEVICE).unwrap_or(("", process));
    let words = device.replacen(':', " ", 1);
    let digits = words.split(' ').nth(1).unwrap_or_default();
    let number = digits.parse().unwrap_or_default();
    (format!("{machine}{words}").trim().to_owned(), number)
}

/// Indices of slices that have others of their track within them: loops and calls, whose time is that of the
/// instructions in them.
fn holders(trace: &Trace, is_meant: impl Fn(u32) -> bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..trace.len())
        .filter(|index| is_meant(trace.slice(*index).track))
        .collect();
    order.sort_by_key(|index| {
        let slice = trace.slice(*index);
        (slice.track, slice.start_ns, Reverse(slice.duration_ns))
    });
    let mut holders = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for index in order {
        let slice = trace.slice(index);
        while let Some(&outer) = open.last() {
            let outer = trace.slice(outer);
            let holds = outer.track == slice.track
                && outer.end_ns() >= slice.end_ns()
                && outer.end_ns() > slice.start_ns;
            if holds {
                break;
            }
            open.pop();
        }
        holders.extend(open.last().copied());
        open.push(index);
    }
    holders.sort_unstable();
    holders.dedup();
    holders
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{bytes, fixture, sum, sums, survives, text, unpacked};
    use super::*;
    use crate::records::summary;

    const GPU: &str = "xla/jax-gpu.trace.json";
    const TPU: &str = "xla/jax-tpu.trace.json";

    #[test]
    fn kernels_of_a_gpu_are_on_its_streams() {
        let read = fixture(GPU);
        assert_eq!((read.format, read.tool.name.as_str()), ("xla", "XProf"));
        let kernels = sums(&read, SliceKind::Kernel);
        let expected = [
            ("gemm_fusion_dot_1".to_owned(), 2, 36_500),
            ("loop_add_fusion".to_owned(), 2, 9_250),
        ];
        assert_eq!(kernels, expected);
        assert_eq!(sum(&read, SliceKind::Copy), (1, 2_000));
        assert_eq!(sum(&read, SliceKind::Set), (1, 500));
        // Modules, steps, scopes, operators and lines of source lie over them, and are added to nothing.
        assert_eq!(sum(&read, SliceKind::Operator), (0, 0));
        let profile = summary::profile(&read, "jax");
        assert_eq!(profile.summed_ns(SliceKind::Kernel), 45_750);
        let device = &profile.devices[0];
        assert_eq!(
            (device.device.as_str(), device.kernels_ns),
            ("GPU 0", 45_750)
        );
        assert_eq!(profile.devices.len(), 1);
        let ops: Vec<&str> = profile
            .of_kind(SliceKind::Kernel)
            .map(|total| total.op.as_str())
            .collect();
        assert_eq!(ops, ["gemm_fusion_dot", "loop_add_fusion"]);
        // The host's launches are linked with the kernels.
        let launches = profile.launches.expect("launches");
        assert_eq!((launches.count, launches.calls_ns), (4, 12_000));
        let rows: Vec<&str> = read
            .trace
            .tracks
            .iter()
            .map(|row| row.name.as_str())
            .collect();
        assert!(
            rows.contains(&"Stream #13(MemcpyH2D,Memset,Compute)"),
            "{rows:?}"
        );
        assert_eq!(read.notes, [""; 0]);
    }

    #[test]
    fn instructions_of_a_tpu_count_once() {
        let read = fixture(TPU);
        assert_eq!(read.format, "xla");
        // The loop holds the two fusions, and its time is theirs.
        let kernels = sums(&read, SliceKind::Kernel);
        let expected = [
            ("fusion.2".to_owned(), 2, 60_000),
            ("copy.3".to_owned(), 1, 7_500),
        ];
        assert_eq!(kernels, expected);
        let profile = summary::profile(&read, "jax");
        assert_eq!(profile.devices[0].device, "TPU 0");
    }

    #[test]
    fn a_processor_has_operators_where_it_tells_instructions() {
        let host = r#"{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
            {"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},
            {"ph":"M","pid":701,"tid":1,"name":"thread_name","args":{"name":"python"}},
            {"ph":"X","pid":701,"tid":1,"ts":0.0,"dur":90.0,"name":"PjitFunction(f)"},
            {"ph":"X","pid":701,"tid":2,"ts":10.0,"dur":50.0,"name":"dot.3","args":{"hlo_op":"dot.3","hlo_module":"jit_f"}},
            {}]}"#;
        let read = text("host.trace.json", host);
        assert_eq!(sum(&read, SliceKind::Operator), (1, 50_000));
        assert_eq!(sum(&read, SliceKind::Range), (1, 90_000));
        let plain = text("plain.json", &host.replace("hlo_op", "unknown"));
        assert_eq!(sum(&plain, SliceKind::Operator), (2, 140_000));
    }

    #[test]
    fn amd_s_copies_are_copies_and_its_launches_name_their_instruction() {
        let events = r#"{"traceEvents":[
            {"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},
            {"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"Stream #2"}},
            {"ph":"X","pid":1,"tid":2,"ts":50,"dur":2,"name":"fusion.kd","args":{"correlation_id":"7"}},
            {"ph":"X","pid":1,"tid":2,"ts":60,"dur":3,"name":"CopyDeviceToDevice"},
            {"ph":"X","pid":701,"tid":1,"ts":10,"dur":5,"name":"hipModuleLaunchKernel","args":{"correlation_id":"7","hlo_op":"fusion"}},
            {}]}"#;
        let read = text("amd.trace.json", events);
        assert_eq!(
            sums(&read, SliceKind::Kernel),
            [("fusion".to_owned(), 1, 2_000)]
        );
        assert_eq!(sum(&read, SliceKind::Copy), (1, 3_000));
        assert_eq!(sum(&read, SliceKind::Call), (1, 5_000));
        assert_eq!(summary::profile(&read, "jax").launches.unwrap().count, 1);
    }

    #[test]
    fn devices_are_named_as_people_name_them() {
        let named = |name| device(name);
        assert_eq!(named("/device:GPU:3"), ("GPU 3".to_owned(), 3));
        assert_eq!(
            named("/device:TPU:1 SparseCore 0"),
            ("TPU 1 SparseCore 0".to_owned(), 1)
        );
        assert_eq!(
            named("worker1 /device:GPU:0"),
            ("worker1 GPU 0".to_owned(), 0)
        );
        assert_eq!(named("/device:CUSTOM:x"), ("CUSTOM x".to_owned(), 0));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        survives(&FORMAT, &unpacked(GPU));
        assert!(bytes("a.json", b"{\"traceEvents\": [{\"name\": \"process_name\", \"args\": {\"name\": \"/host:CPU\"}}]}").is_ok());
    }
}
