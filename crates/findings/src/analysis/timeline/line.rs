//! A value over time beneath the slices: memory in use. A session's readings of devices could be lines as
//! well, once a trace and a session have a clock in common.

use std::collections::BTreeMap;
use std::ops::Range;

use super::detail::{TimelineView, gallop};
use powerband_core::domain::trace::Trace;

/// Values of which the highest is kept.
const BLOCK: usize = 64;

/// Bytes in use over time, in steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryLine {
    /// Name of the device, or the host.
    pub title: String,
    /// The most of all.
    pub highest: u64,
    at: Vec<i64>,
    value: Vec<u64>,
    highest_of_block: Vec<u64>,
}

/// A part of a line as it is drawn: from left to right in pixels, and the highest value there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineStep {
    pub left: f32,
    pub right: f32,
    /// The highest value between them.
    pub value: u64,
}

impl MemoryLine {
    fn from_steps(title: String, steps: impl Iterator<Item = (i64, u64)>) -> Self {
        let (at, value): (Vec<i64>, Vec<u64>) = steps.unzip();
        let blocks = value.chunks(BLOCK);
        Self {
            title,
            highest: value.iter().copied().max().unwrap_or_default(),
            highest_of_block: blocks
                .map(|block| block.iter().copied().max().unwrap_or_default())
                .collect(),
            at,
            value,
        }
    }

    /// The value at a time; nothing before the first one.
    pub fn value_at(&self, time_ns: f64) -> Option<u64> {
        let after = self.at.partition_point(|at| *at as f64 <= time_ns);
        self.value.get(after.checked_sub(1)?).copied()
    }

    /// What is to be drawn: one step for every pixel in which something changes, one for all between.
    pub fn visible(&self, look: TimelineView, steps: &mut Vec<LineStep>) {
        steps.clear();
        let pixels = f64::from(look.pixels);
        let mut next = self
            .at
            .partition_point(|at| *at as f64 <= look.stretch.from);
        let mut value = next.checked_sub(1).map(|before| self.value[before]);
        let mut x = 0.0;
        while x < pixels {
            let change = self.at.get(next).map_or(pixels, |at| look.x(*at as f64));
            let pixel = change.floor().clamp(x, pixels);
            if let Some(value) = value.filter(|_| pixel > x) {
                steps.push(LineStep {
                    left: x as f32,
                    right: pixel as f32,
                    value,
                });
            }
            if pixel >= pixels {
                return;
            }
            let limit = look.time(pixel + 1.0);
            let after = gallop(&self.at, next, |at| (at as f64) < limit).max(next + 1);
            let highest = self.highest_within(next..after.min(self.value.len()));
            steps.push(LineStep {
                left: pixel as f32,
                right: (pixel + 1.0) as f32,
                value: highest.max(value.unwrap_or_default()),
            });
            value = self.value.get(after - 1).copied();
            next = after;
            x = pixel + 1.0;
        }
    }

    fn highest_within(&self, range: Range<usize>) -> u64 {
        let first = range.start.div_ceil(BLOCK);
        let last = range.end / BLOCK;
        let of = |values: &[u64]| values.iter().copied().max().unwrap_or_default();
        if first >= last {
            return of(&self.value[range]);
        }
        of(&self.value[range.start..first * BLOCK])
            .max(of(&self.highest_of_block[first..last]))
            .max(of(&self.value[last * BLOCK..range.end]))
    }
}

/// Time, change, and the memory in use where it is recorded.
type MemoryChange = (i64, i64, Option<u64>);

/// Memory of each device in the trace, and of the host.
pub fn memory_lines(trace: &Trace, origin_ns: i64, end_ns: i64) -> Vec<MemoryLine> {
    let mut devices: BTreeMap<Option<u32>, Vec<MemoryChange>> = BTreeMap::new();
    for event in &trace.memory {
        let at = event.at_ns.clamp(origin_ns, end_ns).abs_diff(origin_ns);
        let at = i64::try_from(at).unwrap_or(i64::MAX);
        let events = devices.entry(event.device).or_default();
        events.push((at, event.change, event.total));
    }
    let lines = devices.into_iter().map(|(device, mut events)| {
        events.sort_by_key(|(at, ..)| *at);
        let mut used = 0_i64;
        let totals: Vec<i64> = events
            .iter()
            .map(|(_, change, total)| {
                let told = total.and_then(|total| i64::try_from(total).ok());
                used = told.unwrap_or_else(|| used.saturating_add(*change));
                used
            })
            .collect();
        // What was taken before the profiler began is given back below zero.
        let lowest = totals.iter().copied().min().unwrap_or_default().min(0);
        let steps = events.iter().zip(totals);
        let steps = steps.map(|((at, ..), total)| (*at, total.abs_diff(lowest)));
        MemoryLine::from_steps(title(trace, device), steps)
    });
    let mut lines: Vec<MemoryLine> = lines.collect();
    // Devices first, as the tracks are.
    if trace.memory.iter().any(|event| event.device.is_none()) {
        lines.rotate_left(1);
    }
    lines
}

fn title(trace: &Trace, device: Option<u32>) -> String {
    let Some(number) = device else {
        return "Host".to_owned();
    };
    let track = trace.tracks.iter().find(|track| track.device == device);
    track.map_or_else(|| format!("GPU {number}"), |track| track.group.clone())
}
