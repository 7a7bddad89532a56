//! Slices within slices of the same thread.

use std::cmp::Reverse;

use super::trace::{Slice, SliceKind, Trace};

/// Calls `visit` with each slice that is wanted, thread by thread, and with what it returned for the one of these that
/// this one lies within.
pub fn each_within<T>(
    trace: &Trace,
    is_wanted: impl Fn(&Slice) -> bool,
    mut visit: impl FnMut(u32, Option<&T>) -> T,
) {
    let mut open: Vec<(T, u32, i64)> = Vec::new();
    for index in in_order(trace, is_wanted) {
        let slice = trace.slice(index as usize);
        // Who begins where another ends lies behind it, unless that one takes no time at all.
        while let Some(&(_, track, end_ns)) = open.last()
            && (track != slice.track || slice.end_ns() > end_ns || slice.start_ns >= end_ns)
        {
            open.pop();
        }
        let own = visit(index, open.last().map(|(outer, ..)| outer));
        open.push((own, slice.track, slice.end_ns()));
    }
}

/// Indices of some slices, thread by thread, sorted by start, then the longer first.
pub fn in_order(trace: &Trace, is_wanted: impl Fn(&Slice) -> bool) -> Vec<u32> {
    let slices = trace.slices().enumerate();
    let mut order: Vec<u32> = slices
        .filter(|(_, slice)| is_wanted(slice))
        .map(|(index, _)| index as u32)
        .collect();
    let key = |index: &u32| {
        let slice = trace.slice(*index as usize);
        (slice.track, slice.start_ns, Reverse(slice.duration_ns))
    };
    if !order.is_sorted_by_key(key) {
        order.sort_by_cached_key(key);
    }
    order
}

/// Whether a slice is an operator, or a call that it makes.
pub fn is_operator_or_call(slice: &Slice) -> bool {
    matches!(slice.kind, SliceKind::Operator | SliceKind::Call)
}
