//! Steps of a trace: the profiler's own marks, runs that Powerband marked, sessions of a runtime, named ranges that
//! recur, or the runs of the outermost module.

use super::trace::{Slice, SliceKind, Trace};
use super::trace_nesting::each_within;
use rustc_hash::FxHashMap;

/// What names of modules begin with.
pub const MODULE: &str = "nn.Module: ";
/// What PyTorch's profiler calls a step, before its number.
pub const PROFILER_STEP: &str = "ProfilerStep#";
/// What names of numbered steps and runs begin with: those of PyTorch's profiler, and those that Powerband marks.
const NUMBERED: [&str; 2] = [PROFILER_STEP, "run "];
/// What a run of ONNX Runtime is called.
const RUNTIME_RUN: &str = "model_run";
/// Ranges that recur are steps where they cover this share of the trace.
const LEAST_COVERED: f64 = 0.5;

/// A step or a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// What the file calls it, by number.
    pub name: u32,
    pub start_ns: i64,
    pub end_ns: i64,
}

impl TraceStep {
    fn from_slice(slice: &Slice) -> Self {
        Self {
            name: slice.name,
            start_ns: slice.start_ns,
            end_ns: slice.end_ns(),
        }
    }

    pub fn duration_ns(&self) -> u64 {
        self.end_ns.abs_diff(self.start_ns)
    }

    /// Whether something begins within it.
    pub fn contains(&self, start_ns: i64) -> bool {
        start_ns >= self.start_ns && start_ns < self.end_ns
    }

    /// Its name as people read it.
    pub fn title<'a>(&self, trace: &'a Trace) -> &'a str {
        let name = trace.names.get(self.name);
        name.strip_prefix(MODULE).unwrap_or(name)
    }
}

/// The steps of a trace in their order, none within another; empty where nothing divides it.
pub fn trace_steps(trace: &Trace) -> Vec<TraceStep> {
    let is_mark = names_that(trace, |name| is_step_mark(name) || name == RUNTIME_RUN);
    let is_of_host = |slice: &Slice| is_of_host(trace, slice);
    let marks = trace.slices().filter(|slice| {
        is_mark[slice.name as usize] && slice.kind != SliceKind::Script && is_of_host(slice)
    });
    let mut found = apart(marks.collect());
    if found.is_empty() {
        found = recurring_ranges(trace);
    }
    if found.is_empty() {
        found = outermost_modules(trace);
    }
    found.iter().map(TraceStep::from_slice).collect()
}

/// The step of median length.
pub fn median_step(steps: &[TraceStep]) -> Option<TraceStep> {
    let mut by_length: Vec<&TraceStep> = steps.iter().collect();
    by_length.sort_by_key(|step| (step.duration_ns(), step.start_ns));
    by_length.get(by_length.len() / 2).map(|step| **step)
}

/// Whether a name is that of a numbered step or run: `ProfilerStep#5`, `run 2`.
pub fn is_step_mark(name: &str) -> bool {
    NUMBERED.iter().any(|start| is_numbered(name, start))
}

/// Whether a name begins so, and has nothing but a number behind that.
pub fn is_numbered(name: &str, start: &str) -> bool {
    let number = name.strip_prefix(start);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()))
}

/// Which names are such, by their number.
pub(super) fn names_that(trace: &Trace, is_such: impl Fn(&str) -> bool) -> Vec<bool> {
    let numbers = 0..trace.names.len() as u32;
    numbers
        .map(|number| is_such(trace.names.get(number)))
        .collect()
}

/// Whether a slice is on a thread of the host.
pub(super) fn is_of_host(trace: &Trace, slice: &Slice) -> bool {
    let track = trace.tracks.get(slice.track as usize);
    track.is_some_and(|track| track.device.is_none())
}

/// Whether a slice is a module of a network at work.
pub(super) fn is_module(trace: &Trace, slice: &Slice) -> bool {
    slice.kind == SliceKind::Script && trace.names.get(slice.name).starts_with(MODULE)
}

/// Slices by their start, without those that begin before the one before them ends: threads may all mark a step.
fn apart(mut slices: Vec<Slice>) -> Vec<Slice> {
    slices.sort_by_key(|slice| (slice.start_ns, std::cmp::Reverse(slice.duration_ns)));
    let mut end_ns = i64::MIN;
    slices.retain(|slice| {
        let is_after = slice.start_ns >= end_ns;
        if is_after {
            end_ns = slice.end_ns();
        }
        is_after
    });
    slices
}

/// Ranges of one thread whose names differ by numbers alone, recur without lying over each other, and cover most of the
/// trace; of several such names those that cover most.
fn recurring_ranges(trace: &Trace) -> Vec<Slice> {
    let Some((first, last)) = trace.extent() else {
        return Vec::new();
    };
    let mut by_stem: FxHashMap<(u32, String), Vec<Slice>> = FxHashMap::default();
    let mut stems: FxHashMap<u32, String> = FxHashMap::default();
    for slice in trace.slices() {
        if slice.kind == SliceKind::Range && is_of_host(trace, &slice) {
            let stem = stems.entry(slice.name).or_insert_with(|| {
                let name = trace.names.get(slice.name);
                name.chars().filter(|c| !c.is_ascii_digit()).collect()
            });
            let key = (slice.track, stem.clone());
            by_stem.entry(key).or_default().push(slice);
        }
    }
    let covered = |slices: &[Slice]| -> u64 { slices.iter().map(|slice| slice.duration_ns).sum() };
    let least = LEAST_COVERED * last.abs_diff(first) as f64;
    let mut found: Vec<Vec<Slice>> = by_stem
        .into_values()
        .filter(|slices| slices.len() > 1)
        .filter_map(|slices| {
            let n_slices = slices.len();
            let steps = apart(slices);
            (steps.len() == n_slices && covered(&steps) as f64 >= least).then_some(steps)
        })
        .collect();
    found.sort_by_key(|steps| (covered(steps), steps.first().map(|step| step.name)));
    found.pop().unwrap_or_default()
}

/// The runs of the outermost module that ran first, where it ran more than once.
fn outermost_modules(trace: &Trace) -> Vec<Slice> {
    let mut outermost: Vec<Slice> = Vec::new();
    let is_module = |slice: &Slice| is_module(trace, slice);
    each_within(trace, is_module, |index, outer: Option<&()>| {
        if outer.is_none() {
            outermost.push(trace.slice(index as usize));
        }
    });
    let first = outermost.iter().min_by_key(|slice| slice.start_ns);
    let first = first.map(|slice| slice.name);
    outermost.retain(|slice| Some(slice.name) == first);
    if outermost.len() < 2 {
        outermost.clear();
    }
    apart(outermost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::trace::Track;

    fn trace(slices: &[(SliceKind, &str, i64, u64)]) -> Trace {
        let mut trace = Trace::default();
        let main = trace.track(Track::default());
        for (kind, name, start_ns, duration_ns) in slices {
            let name = trace.names.number(name);
            trace.push(Slice::new(*kind, name, main, *start_ns, *duration_ns));
        }
        trace
    }

    fn titles(trace: &Trace) -> Vec<&str> {
        let steps = trace_steps(trace);
        steps.iter().map(|step| step.title(trace)).collect()
    }

    #[test]
    fn marks_come_before_ranges_and_these_before_modules() {
        let module = [
            (SliceKind::Script, "nn.Module: Net_0", 0, 40),
            (SliceKind::Script, "nn.Module: Conv2d_0", 5, 10),
            (SliceKind::Script, "nn.Module: Net_0", 50, 40),
        ];
        assert_eq!(titles(&trace(&module)), ["Net_0", "Net_0"]);
        let ranges = [
            (SliceKind::Range, "iteration 1", 0, 45),
            (SliceKind::Range, "iteration 2", 46, 45),
            (SliceKind::Range, "forward", 0, 20),
            (SliceKind::Range, "forward", 46, 20),
        ];
        let both = [ranges.as_slice(), &module].concat();
        assert_eq!(titles(&trace(&both)), ["iteration 1", "iteration 2"]);
        let mark = [(SliceKind::Range, "ProfilerStep#7", 0, 90)];
        let all = [mark.as_slice(), &both].concat();
        assert_eq!(titles(&trace(&all)), ["ProfilerStep#7"]);
    }

    #[test]
    fn ranges_that_cover_little_or_lie_over_each_other_are_no_steps() {
        let little = [
            (SliceKind::Range, "load 1", 0, 10),
            (SliceKind::Range, "load 2", 20, 10),
            (SliceKind::Operator, "aten::mm", 30, 70),
        ];
        assert!(titles(&trace(&little)).is_empty());
        let nested = [
            (SliceKind::Range, "level 1", 0, 100),
            (SliceKind::Range, "level 2", 10, 80),
        ];
        assert!(titles(&trace(&nested)).is_empty());
        assert!(titles(&Trace::default()).is_empty());
    }

    #[test]
    fn the_median_step_is_one_that_ran() {
        let steps = [
            (SliceKind::Range, "run 1", 0, 90),
            (SliceKind::Range, "run 2", 100, 50),
            (SliceKind::Range, "run 3", 200, 60),
        ];
        let trace = trace(&steps);
        let median = median_step(&trace_steps(&trace)).unwrap();
        assert_eq!((median.title(&trace), median.duration_ns()), ("run 3", 60));
        assert_eq!(median_step(&[]), None);
    }
}
