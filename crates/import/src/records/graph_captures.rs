//! Captures of graphs in a trace: the calls between the beginning and the end of a capture launch nothing, each makes a
//! node.

use rustc_hash::{FxHashMap, FxHashSet};

use super::nesting::innermost_around;
use powerband_core::domain::trace::{Slice, SliceKind, Trace};

/// What calls that begin and end a capture have in their names.
const BOUNDS: [&str; 2] = ["StreamBeginCapture", "StreamEndCapture"];

/// A call that made a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CapturedLaunch {
    /// What the node is.
    kind: SliceKind,
    /// The operator around it, by number; 0 for none.
    pub op: u32,
}

/// The nodes of a graph, in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Capture {
    pub launches: Vec<CapturedLaunch>,
}

impl Capture {
    pub(super) fn kinds(&self) -> impl Iterator<Item = SliceKind> {
        self.launches.iter().map(|launch| launch.kind)
    }
}

/// What the node of a call is; nothing for calls that make no node which runs on a device.
fn node_kind(call: &str) -> Option<SliceKind> {
    if call.contains("Launch") && call.contains("Kernel") {
        Some(SliceKind::Kernel)
    } else if call.contains("Memcpy") && call.contains("Async") {
        Some(SliceKind::Copy)
    } else if call.contains("Memset") && call.contains("Async") {
        Some(SliceKind::Set)
    } else {
        None
    }
}

/// All captures, by their end.
pub(super) fn captures(trace: &Trace) -> Vec<Capture> {
    let windows = windows(trace);
    let Some(begin_ns) = windows.iter().map(|window| window.0).min() else {
        return Vec::new();
    };
    let numbers = 0..trace.names.len() as u32;
    let kinds: Vec<Option<SliceKind>> = numbers
        .map(|number| node_kind(trace.names.get(number)))
        .collect();
    let of_work = trace.slices().filter(|slice| slice.kind.is_work());
    let launched: FxHashSet<u64> = of_work.map(|slice| slice.link).collect();
    let mut calls: Vec<(i64, u32, i64, SliceKind)> = Vec::new();
    for slice in trace.slices() {
        // Other threads may launch kernels during the capture.
        if slice.kind == SliceKind::Call
            && slice.start_ns >= begin_ns
            && !launched.contains(&slice.link)
            && let Some(kind) = kinds[slice.name as usize]
        {
            calls.push((slice.start_ns, slice.track, slice.end_ns(), kind));
        }
    }
    calls.sort_unstable();
    leave_out_inner(&mut calls);
    let moments = calls.iter().enumerate();
    let moments = moments.map(|(place, call)| (call.1, call.0, place as u32));
    let is_operator = |slice: &Slice| slice.kind == SliceKind::Operator;
    let mut ops = vec![0; calls.len()];
    for (place, op) in innermost_around(trace, moments.collect(), is_operator) {
        ops[place as usize] = op;
    }
    let mut captures = Vec::new();
    for (begin_ns, end_ns) in windows {
        let first = calls.partition_point(|call| call.0 < begin_ns);
        let last = calls.partition_point(|call| call.0 < end_ns);
        let launches = calls[first..last.max(first)].iter().zip(&ops[first..]);
        let launches = launches.map(|(call, op)| CapturedLaunch {
            kind: call.3,
            op: *op,
        });
        captures.push(Capture {
            launches: launches.collect(),
        });
    }
    captures
}

/// When captures began and ended.
fn windows(trace: &Trace) -> Vec<(i64, i64)> {
    let numbers = 0..trace.names.len() as u32;
    let bounds: Vec<Option<usize>> = numbers
        .map(|number| {
            let name = trace.names.get(number);
            BOUNDS.iter().position(|bound| name.contains(bound))
        })
        .collect();
    let mut calls = Vec::new();
    for slice in trace.slices() {
        if slice.kind == SliceKind::Call
            && let Some(bound) = bounds[slice.name as usize]
        {
            calls.push((slice.start_ns, bound, slice.track, slice.end_ns()));
        }
    }
    calls.sort_unstable();
    let mut open: FxHashMap<u32, i64> = FxHashMap::default();
    let mut found = Vec::new();
    for (start_ns, bound, track, end_ns) in calls {
        if bound == 0 {
            open.insert(track, end_ns);
        } else if let Some(begin_ns) = open.remove(&track) {
            found.push((begin_ns, start_ns));
        }
    }
    found
}

/// Leaves out calls that lie in another one: a runtime calls its driver.
fn leave_out_inner(calls: &mut Vec<(i64, u32, i64, SliceKind)>) {
    let mut ends: FxHashMap<u32, i64> = FxHashMap::default();
    calls.retain(|(start_ns, track, end_ns, _)| {
        let last = ends.entry(*track).or_insert(i64::MIN);
        let is_inner = *start_ns < *last;
        *last = (*last).max(*end_ns);
        !is_inner
    });
}
