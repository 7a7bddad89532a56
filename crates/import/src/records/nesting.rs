//! Slices within slices of the same thread: which operator launched a kernel, and how long an operator
//! took without those within it.

use rustc_hash::FxHashMap;

use crate::reading::by_id::ById;
use powerband_core::domain::trace::{Slice, SliceKind, Trace};
use powerband_core::domain::trace_nesting::{each_within, in_order, is_operator_or_call};

/// The time of each slice of the host that has others of its kind within it, without theirs; by its
/// index. Operators lie within operators, and the nodes of a subgraph within the node that holds it.
pub(crate) fn self_times(trace: &Trace, kind: SliceKind) -> FxHashMap<u32, u64> {
    let mut times = FxHashMap::default();
    let is_host: Vec<bool> = trace
        .tracks
        .iter()
        .map(|track| track.device.is_none())
        .collect();
    let is_own = |slice: &Slice| {
        let is_host = is_host.get(slice.track as usize).copied();
        slice.kind == kind && is_host.unwrap_or_default()
    };
    each_within(trace, is_own, |index, outer| {
        if let Some(&outer) = outer {
            let whole = trace.slice(outer as usize).duration_ns;
            let within = trace.slice(index as usize).duration_ns;
            let time = times.entry(outer).or_insert(whole);
            *time = u64::saturating_sub(*time, within);
        }
        index
    });
    times
}

/// Sets the operator of each memory event.
pub(crate) fn name_memory(trace: &mut Trace) {
    let mut waiting: Vec<(u32, i64, u32)> = Vec::new();
    for (index, event) in trace.memory.iter().enumerate() {
        if let (Some(track), 0) = (event.track, event.op) {
            waiting.push((track, event.at_ns, index as u32));
        }
    }
    let found = innermost_around(trace, waiting, |slice| slice.kind == SliceKind::Operator);
    for (index, name) in found {
        trace.memory[index as usize].op = name;
    }
}

/// The name of the innermost slice that is wanted around each moment of a track, by the number that came with the
/// moment. A moment without one is left out.
pub(crate) fn innermost_around(
    trace: &Trace,
    mut moments: Vec<(u32, i64, u32)>,
    is_wanted: impl Fn(&Slice) -> bool,
) -> Vec<(u32, u32)> {
    let mut found = Vec::with_capacity(moments.len());
    if moments.is_empty() {
        return found;
    }
    moments.sort_unstable();
    let order = in_order(trace, is_wanted);
    let mut open: Vec<Slice> = Vec::new();
    let mut next = order
        .iter()
        .map(|&index| trace.slice(index as usize))
        .peekable();
    for (track, at_ns, index) in moments {
        while let Some(slice) =
            next.next_if(|slice| (slice.track, slice.start_ns) <= (track, at_ns))
        {
            open.retain(|outer| outer.track == slice.track && outer.end_ns() > slice.start_ns);
            open.push(slice);
        }
        let holder = open
            .iter()
            .rev()
            .find(|slice| slice.track == track && slice.end_ns() >= at_ns);
        if let Some(holder) = holder {
            found.push((index, holder.name));
        }
    }
    found
}

/// Whether a call launches a whole graph, of CUDA or HIP.
pub(crate) fn is_graph_launch(name: &str) -> bool {
    name.contains("GraphLaunch")
}

/// Sets the operator of each kernel and copy: the one whose call launched it. That of a call that launches a graph says
/// little of the kernels in it, which [`super::graph_launches`] names.
pub(crate) fn name_ops(trace: &mut Trace) {
    let launched = |kind: SliceKind| kind.is_work();
    let has_links = trace
        .slices()
        .any(|slice| launched(slice.kind) && slice.link != 0 && slice.op == 0);
    if !has_links {
        return;
    }
    let mut ops: Vec<(i64, u32)> = Vec::new();
    each_within(
        trace,
        is_operator_or_call,
        |index, outer: Option<&Slice>| {
            let slice = trace.slice(index as usize);
            if slice.kind == SliceKind::Call
                && slice.link != 0
                && let Some(outer) = outer
                && outer.kind == SliceKind::Operator
                && !is_graph_launch(trace.names.get(slice.name))
            {
                ops.push((slice.link as i64, outer.name));
            }
            slice
        },
    );
    let ops = ById::of_last(ops);
    for index in 0..trace.len() {
        let slice = trace.slice(index);
        if launched(slice.kind)
            && slice.op == 0
            && let Some(&op) = ops.get(slice.link as i64)
        {
            trace.set_op(index, op);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::trace::{MemoryEvent, Track};

    #[test]
    fn kernels_know_the_operator_that_launched_them() {
        let mut trace = Trace::default();
        let host = trace.track(Track::default());
        let gpu = trace.track(Track {
            device: Some(0),
            ..Track::default()
        });
        let mut put = |kind, name: &str, track, start, duration, link| {
            let name = trace.names.number(name);
            trace.push(Slice {
                link,
                ..Slice::new(kind, name, track, start, duration)
            });
        };
        put(SliceKind::Kernel, "sgemm", gpu, 500, 40, 7);
        put(SliceKind::Operator, "aten::conv2d", host, 100, 100, 0);
        put(SliceKind::Operator, "aten::mm", host, 120, 50, 0);
        put(SliceKind::Call, "cudaLaunchKernel", host, 130, 10, 7);
        put(SliceKind::Operator, "aten::relu", host, 200, 30, 0);
        name_ops(&mut trace);
        assert_eq!(trace.names.get(trace.slice(0).op), "aten::mm");
        let own = self_times(&trace, SliceKind::Operator);
        assert_eq!(own.get(&1), Some(&50));
        assert_eq!(own.get(&4), None);
    }

    #[test]
    fn memory_knows_the_operator_that_asked() {
        let mut trace = Trace::default();
        let host = trace.track(Track::default());
        for (name, start, duration) in [("outer", 0, 100), ("inner", 10, 20), ("last", 200, 5)] {
            let name = trace.names.number(name);
            trace.push(Slice::new(SliceKind::Operator, name, host, start, duration));
        }
        for at_ns in [203, 15, 50, 150] {
            trace.memory.push(MemoryEvent {
                at_ns,
                device: None,
                change: 1,
                total: None,
                track: Some(host),
                op: 0,
            });
        }
        name_memory(&mut trace);
        let ops: Vec<&str> = trace
            .memory
            .iter()
            .map(|event| trace.names.get(event.op))
            .collect();
        assert_eq!(ops, ["last", "inner", "outer", ""]);
    }
}
