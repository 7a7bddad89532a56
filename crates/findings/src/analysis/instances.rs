//! The instances of one kernel in a trace: how long each took, and what they take in each step or run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::breakdown::Scope;
use super::timeline::slice_facts;
use powerband_core::domain::trace::{Slice, SliceKind, Trace};
use powerband_core::domain::trace_steps::{PROFILER_STEP, is_numbered};
use powerband_core::stats::percentiles::quantile_sorted;

/// So many instances are listed.
pub const MOST_LISTED: usize = 1_000;
/// What ONNX Runtime calls a whole run.
const RUN: &str = "model_run";

/// Quantiles of durations. All instances are known, so every quantile is exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub count: u64,
    /// All together, in nanoseconds.
    pub total_ns: f64,
    /// The shortest, in nanoseconds.
    pub min_ns: f64,
    /// The middle one, in nanoseconds.
    pub median_ns: f64,
    /// Nine of ten take at most as long, in nanoseconds.
    pub p90_ns: f64,
    /// The longest, in nanoseconds.
    pub max_ns: f64,
}

impl Spread {
    fn from_durations(values_ns: &[f64]) -> Option<Self> {
        let mut sorted = values_ns.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            count: sorted.len() as u64,
            total_ns: sorted.iter().sum(),
            min_ns: *sorted.first()?,
            median_ns: quantile_sorted(&sorted, 0.5)?,
            p90_ns: quantile_sorted(&sorted, 0.9)?,
            max_ns: *sorted.last()?,
        })
    }
}

/// Time of the instances in each step or run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerStep {
    /// What one is called: a step or a run.
    pub word: &'static str,
    /// Of each step, all of its instances together; nothing counts as zero.
    pub spread: Spread,
    /// In the first step, in nanoseconds.
    pub first_ns: f64,
    /// The median of the steps after the first one, in nanoseconds.
    pub later_ns: Option<f64>,
    /// Instances in no step.
    pub outside: u64,
}

impl PerStep {
    /// The unit of its times.
    pub fn title(&self) -> &'static str {
        match self.word {
            "step" => "per step",
            _ => "per run",
        }
    }
}

/// The instances of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Instances {
    /// The duration of each, in the order of the file, in nanoseconds.
    pub durations_ns: Vec<f64>,
    /// The durations in a few numbers.
    pub spread: Spread,
    /// When the first one starts, counted from the first slice, in nanoseconds.
    pub first_ns: u64,
    /// When the longest one starts, counted from the first slice, in nanoseconds.
    pub longest_ns: u64,
    /// What they take in each step, where the file marks steps or runs.
    pub per_step: Option<PerStep>,
    /// The longest of them, the longest first.
    pub longest: Vec<KernelInstance>,
}

/// One instance of a kernel. A text is empty where the file does not state it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInstance {
    /// Counted from the first slice, in nanoseconds.
    pub start_ns: u64,
    pub duration_ns: u64,
    pub grid: String,
    pub block: String,
    /// The operator that it carries out.
    pub operator: String,
    /// Types and sizes of its inputs and outputs.
    pub shapes: String,
    /// The track that it ran on.
    pub stream: String,
}

impl KernelInstance {
    fn from_slice(trace: &Trace, slice: usize, origin: i64) -> Self {
        let own = trace.slice(slice);
        let arguments = slice_facts::arguments(trace, slice);
        let argument = |keys: [&str; 2]| {
            let found = arguments
                .iter()
                .find(|(key, _)| keys.contains(&key.as_str()));
            found.map_or_else(String::new, |(_, value)| value.clone())
        };
        let track = trace.tracks.get(own.track as usize);
        Self {
            start_ns: own.start_ns.abs_diff(origin),
            duration_ns: own.duration_ns,
            grid: argument(["grid", "grid_size"]),
            block: argument(["block", "workgroup"]),
            operator: trace.names.get(own.op).to_owned(),
            shapes: trace.shapes(own.shapes).to_owned(),
            stream: track.map_or_else(String::new, |track| track.name.clone()),
        }
    }
}

impl Instances {
    /// The instances of a kernel, by its whole name; nothing where the trace has none.
    pub fn of_kernel(trace: &Trace, name: &str, scope: Scope) -> Option<Self> {
        let number = trace.names.find(name)?;
        let is_one = |slice: &Slice| slice.name == number && scope.includes(slice.kind);
        let places = trace.slices().enumerate();
        let places = places.filter(|(_, slice)| is_one(slice));
        let (mut places, slices): (Vec<usize>, Vec<Slice>) = places.unzip();
        let first = slices.iter().min_by_key(|slice| slice.start_ns)?;
        let longest = slices
            .iter()
            .max_by_key(|slice| (slice.duration_ns, -slice.start_ns))?;
        let (origin, _) = trace.extent()?;
        let durations_ns: Vec<f64> = slices.iter().map(|one| one.duration_ns as f64).collect();
        Some(Self {
            spread: Spread::from_durations(&durations_ns)?,
            first_ns: first.start_ns.abs_diff(origin),
            longest_ns: longest.start_ns.abs_diff(origin),
            per_step: MarkedSteps::from_trace(trace)
                .and_then(|steps| steps.per_step(trace, &slices)),
            longest: {
                places.sort_by_key(|slice| Reverse(trace.slice(*slice).duration_ns));
                places.truncate(MOST_LISTED);
                let listed = places.into_iter();
                listed
                    .map(|slice| KernelInstance::from_slice(trace, slice, origin))
                    .collect()
            },
            durations_ns,
        })
    }
}

/// The instance of a kernel that starts at a time, counted from the first slice in nanoseconds: its index.
pub fn instance_at(trace: &Trace, name: &str, start_ns: u64) -> Option<usize> {
    let number = trace.names.find(name)?;
    let (origin, _) = trace.extent()?;
    let is_it = |slice: &Slice| slice.name == number && slice.start_ns.abs_diff(origin) == start_ns;
    let mut slices = trace.slices();
    slices.position(|slice| is_it(&slice))
}

/// A step or a run on one side: of the host, or of a device.
struct StepSpan {
    from_ns: i64,
    to_ns: i64,
    step: usize,
}

/// The steps or runs that a trace marks.
struct MarkedSteps {
    word: &'static str,
    count: usize,
    host: Vec<StepSpan>,
    devices: BTreeMap<u32, Vec<StepSpan>>,
}

impl MarkedSteps {
    /// Marks of steps, else whole runs.
    fn from_trace(trace: &Trace) -> Option<Self> {
        Self::marked(trace, "step", |_, name| is_numbered(name, PROFILER_STEP)).or_else(|| {
            Self::marked(trace, "run", |kind, name| {
                kind == SliceKind::Range && name == RUN
            })
        })
    }

    fn marked(
        trace: &Trace,
        word: &'static str,
        is_mark: impl Fn(SliceKind, &str) -> bool,
    ) -> Option<Self> {
        let marks = trace.slices();
        let mut marks: Vec<Slice> = marks
            .filter(|slice| is_mark(slice.kind, trace.names.get(slice.name)))
            .collect();
        marks.sort_by_key(|mark| mark.start_ns);
        let mut found = Self {
            word,
            count: 0,
            host: Vec::new(),
            devices: BTreeMap::new(),
        };
        // A step has one name on the host and on the devices; runs all have the same one.
        let mut known: HashMap<u32, usize> = HashMap::default();
        for mark in marks {
            let step = if word == "run" {
                found.count
            } else {
                known.get(&mark.name).copied().unwrap_or(found.count)
            };
            known.insert(mark.name, step);
            found.count = found.count.max(step + 1);
            let device = trace.tracks.get(mark.track as usize)?.device;
            let side = match device {
                Some(device) => found.devices.entry(device).or_default(),
                None => &mut found.host,
            };
            side.push(StepSpan {
                from_ns: mark.start_ns,
                to_ns: mark.end_ns(),
                step,
            });
        }
        (found.count > 0).then_some(found)
    }

    /// Which step is at a time on a side.
    fn step_at(spans: &[StepSpan], time_ns: i64) -> Option<usize> {
        let after = spans.partition_point(|span| span.from_ns <= time_ns);
        let span = spans.get(after.checked_sub(1)?)?;
        (time_ns < span.to_ns).then_some(span.step)
    }

    fn per_step(&self, trace: &Trace, slices: &[Slice]) -> Option<PerStep> {
        let launches = launches(trace, slices);
        let mut sums = vec![0.0; self.count];
        let mut outside = 0;
        for slice in slices {
            let step = self.step_of(trace, slice, &launches);
            match step.and_then(|step| sums.get_mut(step)) {
                Some(sum) => *sum += slice.duration_ns as f64,
                None => outside += 1,
            }
        }
        let later = Spread::from_durations(sums.get(1..)?);
        Some(PerStep {
            word: self.word,
            spread: Spread::from_durations(&sums)?,
            first_ns: *sums.first()?,
            later_ns: later.map(|later| later.median_ns),
            outside,
        })
    }

    /// The step of an instance: the one of its device at its start, else the one in which the host launched
    /// it, else the one of the host at its start.
    fn step_of(&self, trace: &Trace, slice: &Slice, launches: &HashMap<u64, i64>) -> Option<usize> {
        let device = trace.tracks.get(slice.track as usize)?.device;
        let on_device = device.and_then(|device| self.devices.get(&device));
        if let Some(step) = on_device.and_then(|spans| Self::step_at(spans, slice.start_ns)) {
            return Some(step);
        }
        let launched = launches.get(&slice.link).copied();
        Self::step_at(&self.host, launched.unwrap_or(slice.start_ns))
    }
}

/// When the host launched each of some slices, by their links.
fn launches(trace: &Trace, slices: &[Slice]) -> HashMap<u64, i64> {
    let links = slices.iter().map(|slice| slice.link);
    let mut found: HashMap<u64, i64> = links
        .filter(|link| *link != 0)
        .map(|link| (link, i64::MAX))
        .collect();
    if !found.is_empty() {
        for slice in trace.slices().filter(|slice| !slice.kind.is_work()) {
            if let Some(start) = found.get_mut(&slice.link) {
                *start = slice.start_ns.min(*start);
            }
        }
        found.retain(|_, start| *start < i64::MAX);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::trace::Track;

    /// Three steps of 1 ms on the host; each launches a kernel that runs in the next one.
    fn trace() -> Trace {
        let mut trace = Trace::default();
        let host = trace.track(Track {
            device: None,
            group: "python".to_owned(),
            name: "main".to_owned(),
        });
        let stream = trace.track(Track {
            device: Some(0),
            group: "GPU 0".to_owned(),
            name: "stream 7".to_owned(),
        });
        let [launch, kernel, other] =
            ["launch", "kernel", "other"].map(|name| trace.names.number(name));
        for step in 0..3_i64 {
            let name = trace.names.number(&format!("ProfilerStep#{}", 9 + step));
            let at = 5_000 + step * 1_000_000;
            trace.push(Slice::new(SliceKind::Range, name, host, at, 1_000_000));
            let call = Slice::new(SliceKind::Call, launch, host, at + 10, 5);
            let link = step as u64 + 1;
            trace.push(Slice { link, ..call });
            let length = 400 + 100 * (step as u64);
            let run = Slice::new(SliceKind::Kernel, kernel, stream, at + 1_000_500, length);
            trace.push(Slice { link, ..run });
            trace.push(Slice::new(SliceKind::Kernel, other, stream, at, 7));
        }
        trace
    }

    #[test]
    fn instances_are_counted_in_the_steps_that_launched_them() {
        let trace = trace();
        let found = Instances::of_kernel(&trace, "kernel", Scope::Work).unwrap();
        assert_eq!(found.durations_ns, [400.0, 500.0, 600.0]);
        assert_eq!(
            (found.spread.median_ns, found.spread.p90_ns),
            (500.0, 580.0)
        );
        assert_eq!((found.first_ns, found.longest_ns), (1_000_500, 3_000_500));
        let per_step = found.per_step.unwrap();
        assert_eq!((per_step.word, per_step.spread.count), ("step", 3));
        assert_eq!((per_step.first_ns, per_step.later_ns), (400.0, Some(550.0)));
        assert_eq!(per_step.outside, 0);
        let longest = instance_at(&trace, "kernel", found.longest_ns).unwrap();
        assert_eq!(trace.slice(longest).duration_ns, 600);
        assert_eq!(Instances::of_kernel(&trace, "no kernel", Scope::Work), None);
        assert_eq!(Instances::of_kernel(&trace, "launch", Scope::Work), None);
    }

    #[test]
    fn without_marks_there_are_no_steps_and_runs_count_too() {
        let mut trace = Trace::default();
        let thread = trace.track(Track::default());
        let node = trace.names.number("conv");
        trace.push(Slice::new(SliceKind::Kernel, node, thread, 10, 5));
        let found = Instances::of_kernel(&trace, "conv", Scope::Work).unwrap();
        assert_eq!(found.per_step, None);
        let run = trace.names.number(RUN);
        for at in [0, 100] {
            trace.push(Slice::new(SliceKind::Range, run, thread, at, 50));
        }
        trace.push(Slice::new(SliceKind::Kernel, node, thread, 70, 9));
        let found = Instances::of_kernel(&trace, "conv", Scope::Work).unwrap();
        let per_run = found.per_step.unwrap();
        assert_eq!((per_run.word, per_run.outside), ("run", 1));
        assert_eq!((per_run.first_ns, per_run.later_ns), (5.0, Some(0.0)));
    }
}
