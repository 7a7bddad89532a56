//! What each device of a trace did with its time: computing, copies, communication, and pauses by their cause.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::reading::by_id::ById;
use powerband_core::domain::profile::{DeviceTime, IdleCauses, Launches};
use powerband_core::domain::trace::{SliceKind, Trace};

/// Pauses listed of each device.
const GAPS: usize = 10;

/// Calls that launch something: when each began and how long it took, by what links it to that.
pub(crate) type LaunchCalls = ById<(i64, u64)>;

/// What names of kernels have that exchange data between devices: those of NCCL, RCCL, oneCCL and MSCCL.
const COMMUNICATION: [&str; 4] = ["nccl", "rccl", "oneccl", "msccl"];

pub(crate) fn is_communication(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    COMMUNICATION.iter().any(|word| name.contains(word))
}

/// Times at which one device was busy.
#[derive(Default)]
struct Spans<'a> {
    device: &'a str,
    /// Kernels that compute.
    kernels: Vec<(i64, i64)>,
    /// Kernels that exchange data between devices.
    communication: Vec<(i64, i64)>,
    all: Vec<(i64, i64)>,
    /// When something began, and when it was launched.
    launched: Vec<(i64, i64)>,
}

/// Busy time of each device, and of the processor in place of one where nodes ran there.
pub(crate) fn devices(trace: &Trace, calls: &LaunchCalls) -> Vec<DeviceTime> {
    let origin = trace.extent().map_or(0, |(first, _)| first);
    let mut devices: Vec<Spans<'_>> = Vec::new();
    let mut place_of: Vec<Option<usize>> = vec![None; trace.tracks.len()];
    let mut communicates: FxHashMap<u32, bool> = FxHashMap::default();
    for slice in trace.slices().filter(|slice| slice.kind.is_work()) {
        let at = slice.track as usize;
        let (Some(track), Some(place)) = (trace.tracks.get(at), place_of.get_mut(at)) else {
            continue;
        };
        let place = *place.get_or_insert_with(|| {
            let found = devices.iter().position(|spans| spans.device == track.group);
            found.unwrap_or_else(|| {
                devices.push(Spans {
                    device: &track.group,
                    ..Spans::default()
                });
                devices.len() - 1
            })
        });
        let Some(spans) = devices.get_mut(place) else {
            continue;
        };
        let span = (slice.start_ns, slice.end_ns());
        spans.all.push(span);
        if slice.kind == SliceKind::Kernel {
            let communicates = *communicates
                .entry(slice.name)
                .or_insert_with(|| is_communication(trace.names.get(slice.name)));
            if communicates {
                spans.communication.push(span);
            } else {
                spans.kernels.push(span);
            }
        }
        if let Some((called, _)) = calls.get(slice.link as i64).filter(|_| slice.link != 0) {
            spans.launched.push((slice.start_ns, *called));
        }
    }
    devices.sort_by_key(|spans| spans.device);
    devices
        .into_iter()
        .map(|spans| spans.time(origin))
        .collect()
}

impl Spans<'_> {
    fn time(mut self, origin: i64) -> DeviceTime {
        let length = |spans: &[(i64, i64)]| -> u64 {
            spans.iter().map(|(from, to)| to.abs_diff(*from)).sum()
        };
        let all = union(self.all);
        let computing = union(self.kernels);
        let computing_ns = length(&computing);
        let kernels_ns = if self.communication.is_empty() {
            computing_ns
        } else {
            length(&union([computing, self.communication].concat()))
        };
        let mut not_computing = IdleCauses {
            communication_ns: kernels_ns.saturating_sub(computing_ns),
            ..IdleCauses::default()
        };
        self.launched.sort_unstable();
        let mut gaps: Vec<(u64, u64)> = Vec::with_capacity(all.len());
        for pair in all.windows(2) {
            let [(_, end), (start, _)] = pair else {
                continue;
            };
            let length = start.abs_diff(*end);
            gaps.push((end.abs_diff(origin), length));
            // The earliest launch of what ended the pause.
            let at = self.launched.partition_point(|(begun, _)| begun < start);
            let launch = self.launched.get(at).filter(|(begun, _)| begun == start);
            let cause = match launch {
                Some((_, called)) if called > end => &mut not_computing.launched_late_ns,
                Some(_) => &mut not_computing.waited_ns,
                None => &mut not_computing.other_ns,
            };
            *cause += length;
        }
        let rank = |(at, length): &(u64, u64)| (Reverse(*length), *at);
        if gaps.len() > GAPS {
            gaps.select_nth_unstable_by_key(GAPS, rank);
            gaps.truncate(GAPS);
        }
        gaps.sort_by_key(rank);
        let ends = all.first().zip(all.last());
        DeviceTime {
            device: self.device.to_owned(),
            busy_ns: length(&all),
            kernels_ns,
            span_ns: ends.map_or(0, |((first, _), (_, last))| last.abs_diff(*first)),
            gaps,
            not_computing: (!all.is_empty()).then_some(not_computing),
        }
    }
}

/// Spans that neither touch nor lie over each other, in order.
pub(crate) fn union(mut spans: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    if !spans.is_sorted() {
        spans.sort_unstable();
    }
    let mut union: Vec<(i64, i64)> = Vec::new();
    for (start, end) in spans {
        match union.last_mut() {
            Some((_, last)) if start <= *last => *last = end.max(*last),
            _ => union.push((start, end)),
        }
    }
    union
}

/// Every call that launches something.
pub(crate) fn calls(trace: &Trace) -> LaunchCalls {
    let calls = trace.slices();
    let calls = calls.filter(|slice| slice.kind == SliceKind::Call && slice.link != 0);
    let calls = calls.map(|slice| (slice.link as i64, (slice.start_ns, slice.duration_ns)));
    ById::of_last(calls.collect())
}

/// Launches with what they launched.
pub(crate) fn launches(trace: &Trace, calls: &LaunchCalls) -> Option<Launches> {
    if calls.is_empty() {
        return None;
    }
    let kernels = trace.slices();
    let kernels = kernels.filter(|slice| slice.kind == SliceKind::Kernel && slice.link != 0);
    let mut starts: Vec<(u64, i64)> = kernels.map(|slice| (slice.link, slice.start_ns)).collect();
    // The first kernel of each call.
    starts.sort_unstable();
    starts.dedup_by_key(|(link, _)| *link);
    let launched: Vec<(u64, u64)> = starts
        .into_iter()
        .filter_map(|(link, start)| {
            let (called, duration) = calls.get(link as i64)?;
            Some((start.saturating_sub(*called).max(0) as u64, *duration))
        })
        .collect();
    let mut delays: Vec<u64> = launched.iter().map(|(delay, _)| *delay).collect();
    let calls_ns = launched.iter().map(|(_, duration)| duration).sum();
    let middle = delays.len() / 2;
    if delays.is_empty() {
        return None;
    }
    let (_, delay_ns, _) = delays.select_nth_unstable(middle);
    Some(Launches {
        delay_ns: *delay_ns,
        count: launched.len() as u64,
        calls_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixture;

    #[test]
    fn pauses_lie_between_the_unions() {
        let time = Spans {
            device: "GPU 0",
            kernels: vec![(100, 200), (150, 180)],
            all: vec![(100, 200), (150, 180), (500, 510), (190, 300)],
            ..Spans::default()
        }
        .time(40);
        assert_eq!(
            (time.busy_ns, time.kernels_ns, time.span_ns),
            (210, 100, 410)
        );
        assert_eq!(time.gaps, [(260, 200)]);
        assert_eq!(Spans::default().time(0), DeviceTime::default());
    }

    #[test]
    fn pauses_have_causes_and_communication_counts_where_nothing_computes() {
        let time = Spans {
            device: "GPU 0",
            kernels: vec![(0, 100), (150, 200), (260, 300)],
            communication: vec![(180, 240)],
            all: vec![(0, 100), (150, 200), (180, 240), (260, 300), (310, 320)],
            // The second was launched when the first had ended, the fourth while it ran; the last by an
            // unknown call.
            launched: vec![(0, -10), (150, 120), (260, 90)],
        }
        .time(0);
        assert_eq!(
            time.not_computing,
            Some(IdleCauses {
                communication_ns: 40,
                launched_late_ns: 50,
                waited_ns: 20,
                other_ns: 10,
            })
        );
        assert_eq!(
            (time.busy_ns, time.kernels_ns, time.span_ns),
            (240, 230, 320)
        );
        assert!(is_communication("ncclDevKernel_AllReduce_Sum_f32"));
        assert!(!is_communication("accla_kernel"));
    }

    #[test]
    fn the_parts_of_a_real_trace_add_up_to_its_span() {
        let imported = fixture("kineto/resnet50-v100-train.pt.trace.json.gz");
        let calls = calls(&imported.trace);
        for device in devices(&imported.trace, &calls) {
            let idle = device.not_computing.unwrap();
            let gaps = idle.launched_late_ns + idle.waited_ns + idle.other_ns;
            assert_eq!(device.busy_ns + gaps, device.span_ns, "{device:?}");
            assert!(idle.communication_ns <= device.kernels_ns);
            assert!(idle.launched_late_ns > 0 && idle.waited_ns > 0, "{idle:?}");
        }
    }
}
