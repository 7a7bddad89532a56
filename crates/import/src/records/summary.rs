//! A trace added up: each name with its times, each device with its pauses, launches, memory.

use std::cmp::Reverse;
use std::panic::resume_unwind;
use std::thread;

use rustc_hash::FxHashMap;

use crate::Imported;
use crate::nvidia::trtexec_layers::facts_of_layers;
use crate::records::device_time::{calls, devices, launches};
use crate::records::module_network::module_network;
use crate::records::nesting;
use crate::records::node_work::{self, SliceWork};
use powerband_core::base::humanize;
use powerband_core::domain::profile::{MemoryUse, Profile, Total};
use powerband_core::domain::ranks::rank_of_track;
use powerband_core::domain::trace::{SliceKind, Trace, Track};
use powerband_core::domain::work::Work;

/// Allocations listed.
const LARGEST: usize = 20;
/// Points that a curve of memory has at most.
const POINTS: usize = 1000;
/// Names with times of their own that a profile has at most; the others are added up.
const NAMES: usize = 20_000;

/// The time of a file, added up.
pub fn profile(imported: &Imported, name: &str) -> Profile {
    let trace = &imported.trace;
    let ((mut totals, left_out), (devices, launches)) = run_side_by_side(
        || {
            let work = node_work::of_trace(trace, imported.format);
            totals(trace, &work, NAMES)
        },
        || {
            let calls = calls(trace);
            (devices(trace, &calls), launches(trace, &calls))
        },
    );
    let mut notes = imported.notes.clone();
    notes.extend(left_out.note(NAMES));
    let mut network = imported.network.clone();
    if network.is_none() && imported.format == "pytorch" {
        let (drawn, note) = module_network(trace);
        network = drawn;
        notes.extend(note);
    }
    totals.extend(imported.totals.iter().cloned());
    totals.sort_by(|a, b| {
        b.total_ns
            .cmp(&a.total_ns)
            .then_with(|| a.name.cmp(&b.name))
    });
    let mut memory = memory(trace);
    for more in &imported.memory {
        match memory.iter_mut().find(|known| known.device == more.device) {
            Some(known) => known.at_peak.clone_from(&more.at_peak),
            None => memory.push(more.clone()),
        }
    }
    Profile {
        name: name.to_owned(),
        format: imported.format.to_owned(),
        tool: imported.tool.clone(),
        case: None,
        runs: imported.runs,
        totals,
        span_ns: trace.extent().map(|(first, last)| last.abs_diff(first)),
        devices,
        launches,
        job: imported.job.clone(),
        counters: imported.counters.clone(),
        memory,
        facts: [imported.facts.clone(), facts_of_layers(imported)].concat(),
        notes,
        trace_file: None,
        network,
        began_ns: None,
        starts: Vec::new(),
    }
}

/// The results of two functions, of which the second one runs on another thread where the system has one.
fn run_side_by_side<A, B: Send>(one: impl FnOnce() -> A, other: impl Fn() -> B + Sync) -> (A, B) {
    thread::scope(|scope| {
        let started = thread::Builder::new()
            .name("add-up".to_owned())
            .spawn_scoped(scope, &other);
        let one = one();
        let other = started.map_or_else(
            |_| other(),
            |thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
        );
        (one, other)
    })
}

/// Whether a kind is added up: sums of scripts and of spans over everything are meaningless.
fn is_added_up(kind: SliceKind) -> bool {
    !matches!(kind, SliceKind::Script | SliceKind::Other)
}

/// Times of one name, one operator and one place, by their numbers.
#[derive(Clone, Copy)]
struct Sum {
    kind: SliceKind,
    name: u32,
    op: u32,
    place: u32,
    /// How many names are in it.
    names: u64,
    calls: u64,
    total_ns: u64,
    min_ns: u64,
    max_ns: u64,
    /// The work of all calls; nothing where that of one is not known.
    work: Option<Work>,
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.names += other.names;
        self.calls += other.calls;
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        let both = self.work.zip(other.work);
        self.work = both.and_then(|(one, other)| one.plus(other));
    }
}

/// Names left out of the list, because there are too many.
#[derive(Debug, Default, PartialEq, Eq)]
struct OmittedNames {
    names: u64,
    total_ns: u64,
}

impl OmittedNames {
    fn note(&self, most: usize) -> Option<String> {
        (self.names > 0).then(|| {
            format!(
                "{} have no rows of their own, since a profile lists the {} with most time: {} in all are added up in rows that say how many they stand for. The timeline has every name",
                humanize::pluralised(self.names, "further name"),
                humanize::count(most as u64),
                humanize::duration_ns(self.total_ns as f64)
            )
        })
    }
}

/// Every name with its times, at most so many, and one row for each kind and place of those left out.
fn totals(trace: &Trace, work: &SliceWork, most: usize) -> (Vec<Total>, OmittedNames) {
    // Tracks of one device or one process are one place.
    let mut places: Vec<&str> = Vec::new();
    let place_of: Vec<u32> = trace
        .tracks
        .iter()
        .map(|track| {
            let found = places.iter().position(|place| *place == track.group);
            found.unwrap_or_else(|| {
                places.push(&track.group);
                places.len() - 1
            }) as u32
        })
        .collect();
    let mut sums = sums(trace, work, &place_of);
    let (left_out, rest) = keep_largest(&mut sums, most);
    let total = |sum: &Sum| Total {
        work: sum.work,
        kind: sum.kind,
        name: match sum.names {
            1 => trace.names.get(sum.name).to_owned(),
            names => humanize::pluralised(names, &format!("other {}", sum.kind.title())),
        },
        op: trace.names.get(sum.op).to_owned(),
        place: places
            .get(sum.place as usize)
            .map_or_else(String::new, |place| (*place).to_owned()),
        calls: sum.calls,
        total_ns: sum.total_ns,
        min_ns: Some(sum.min_ns),
        max_ns: Some(sum.max_ns),
    };
    let mut totals: Vec<Total> = sums.iter().chain(&rest).map(total).collect();
    // The order of a table is arbitrary.
    totals.sort_by(|a, b| {
        (&a.name, &a.op, &a.place, a.kind).cmp(&(&b.name, &b.op, &b.place, b.kind))
    });
    (totals, left_out)
}

/// Slices added up.
fn sums(trace: &Trace, work: &SliceWork, place_of: &[u32]) -> Vec<Sum> {
    let own = [SliceKind::Operator, SliceKind::Kernel].map(|kind| nesting::self_times(trace, kind));
    let mut rows: FxHashMap<(SliceKind, u32, u32, u32), u32> = FxHashMap::default();
    let mut sums: Vec<Sum> = Vec::new();
    for (index, slice) in trace.slices().enumerate() {
        if !is_added_up(slice.kind) {
            continue;
        }
        let index = index as u32;
        let time = match slice.kind {
            SliceKind::Operator => own[0].get(&index),
            SliceKind::Kernel => own[1].get(&index),
            _ => None,
        };
        let time = time.copied().unwrap_or(slice.duration_ns);
        let place = place_of.get(slice.track as usize).copied();
        let place = place.unwrap_or_default();
        let sum = Sum {
            kind: slice.kind,
            name: slice.name,
            op: slice.op,
            place,
            names: 1,
            calls: 1,
            total_ns: time,
            min_ns: time,
            max_ns: time,
            work: work.get(&index).copied(),
        };
        let row = *rows
            .entry((slice.kind, slice.name, slice.op, place))
            .or_insert(sums.len() as u32);
        match sums.get_mut(row as usize) {
            Some(known) => {
                known.add(&sum);
                known.names = 1;
            }
            None => sums.push(sum),
        }
    }
    sums
}

/// Leaves the sums with most time, at most so many, and adds up the others by kind and place, and by operator
/// too where operators are few.
fn keep_largest(sums: &mut Vec<Sum>, most: usize) -> (OmittedNames, Vec<Sum>) {
    if sums.len() <= most {
        return (OmittedNames::default(), Vec::new());
    }
    let rank = |sum: &Sum| (Reverse(sum.total_ns), sum.name, sum.op, sum.place, sum.kind);
    sums.select_nth_unstable_by_key(most, rank);
    let others = sums.split_off(most);
    sums.shrink_to_fit();
    let by = |tells_op: bool| {
        let mut rest: FxHashMap<(SliceKind, u32, u32), Sum> = FxHashMap::default();
        for other in &others {
            let op = if tells_op { other.op } else { 0 };
            let sum = Sum { op, ..*other };
            rest.entry((sum.kind, op, sum.place))
                .and_modify(|known| known.add(&sum))
                .or_insert(sum);
        }
        rest
    };
    let mut rest = by(true);
    if rest.len() > most {
        rest = by(false);
    }
    let left_out = OmittedNames {
        names: others.len() as u64,
        total_ns: others
            .iter()
            .filter(|sum| sum.kind.is_work())
            .fold(0, |sum, other| sum.saturating_add(other.total_ns)),
    };
    (left_out, rest.into_values().collect())
}

/// Memory, each device for itself.
fn memory(trace: &Trace) -> Vec<MemoryUse> {
    let mut devices: Vec<Option<u32>> = trace.memory.iter().map(|event| event.device).collect();
    devices.sort_unstable();
    devices.dedup();
    devices
        .into_iter()
        .map(|device| memory_of(trace, device))
        .collect()
}

fn memory_of(trace: &Trace, device: Option<u32>) -> MemoryUse {
    let origin = trace.bounds().map_or(0, |(first, _)| first);
    let mut events: Vec<_> = trace
        .memory
        .iter()
        .filter(|event| event.device == device)
        .collect();
    events.sort_by_key(|event| event.at_ns);
    let mut in_use = 0_i64;
    let mut points = Vec::with_capacity(events.len());
    let mut by_op: FxHashMap<u32, u64> = FxHashMap::default();
    for event in &events {
        in_use = match event.total {
            Some(total) => total as i64,
            None => in_use.saturating_add(event.change),
        };
        let at_ns = event.at_ns.saturating_sub(origin).max(0) as u64;
        let bytes = in_use.max(0) as u64;
        match points.last_mut() {
            // What rises at one moment, such as what was there before a recording, is one point.
            Some((at, below)) if *at == at_ns && *below <= bytes => *below = bytes,
            _ => points.push((at_ns, bytes)),
        }
        if event.change > 0 {
            let bytes = by_op.entry(event.op).or_default();
            *bytes = bytes.saturating_add(event.change as u64);
        }
    }
    let name = |op: u32| match trace.names.get(op) {
        "" => "elsewhere".to_owned(),
        name => name.to_owned(),
    };
    let taken = events.iter().filter(|event| event.change > 0);
    let mut largest: Vec<(u32, i64)> = taken.map(|event| (event.op, event.change)).collect();
    largest.sort_by_key(|(op, bytes)| (Reverse(*bytes), trace.names.get(*op)));
    largest.truncate(LARGEST);
    let largest = largest
        .into_iter()
        .map(|(op, bytes)| (name(op), bytes as u64))
        .collect();
    let mut by_op: Vec<(String, u64)> = by_op
        .into_iter()
        .map(|(op, bytes)| (name(op), bytes))
        .collect();
    by_op.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    MemoryUse {
        device: device.map_or_else(|| "host".to_owned(), |device| device_title(trace, device)),
        peak_bytes: points
            .iter()
            .map(|(_, bytes)| *bytes)
            .max()
            .unwrap_or_default(),
        over_time: highest_per_stretch(&points),
        largest,
        by_op,
        at_peak: Vec::new(),
    }
}

/// The device in words; devices of several ranks have numbers of their own.
fn device_title(trace: &Trace, device: u32) -> String {
    let mut tracks = trace.tracks.iter();
    let of_rank = |track: &&Track| track.device == Some(device) && rank_of_track(track).is_some();
    let group = tracks.find(of_rank).map(|track| track.group.clone());
    group.unwrap_or_else(|| format!("GPU {device}"))
}

/// Fewer points, with the highest of each stretch.
fn highest_per_stretch(points: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let stretch = points.len().div_ceil(POINTS).max(1);
    let highest = |points: &[(u64, u64)]| points.iter().copied().max_by_key(|(_, bytes)| *bytes);
    points.chunks(stretch).filter_map(highest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixture;
    use powerband_core::domain::trace::Slice;

    #[test]
    fn the_sums_are_those_of_the_trace() {
        let imported = fixture("kineto/resnet50-v100-train.pt.trace.json.gz");
        let profile = profile(&imported, "resnet50");
        assert_eq!(profile.summed_ns(SliceKind::Kernel), 649_808_000);
        assert_eq!(
            profile.totals[0].kind,
            SliceKind::Range.min(profile.totals[0].kind)
        );
        let device = &profile.devices[0];
        assert_eq!(device.device, "GPU 0");
        assert!(device.busy_ns <= device.span_ns && device.gaps[0].1 >= device.gaps[1].1);
        let launches = profile.launches.unwrap();
        assert_eq!(launches.count, 8712);
    }

    #[test]
    fn operators_count_without_those_within_them() {
        let imported = fixture("kineto/torch113-autograd-profiler-legacy.json");
        let trace = &imported.trace;
        let summed = profile(&imported, "").summed_ns(SliceKind::Operator);
        let (first, last) = trace.extent().unwrap();
        assert!(summed <= last.abs_diff(first), "{summed}");
    }

    #[test]
    fn names_beyond_the_most_are_added_up_and_counted() {
        let mut trace = Trace::default();
        let track = trace.track(Track {
            device: Some(0),
            group: "GPU 0".to_owned(),
            name: "stream 7".to_owned(),
        });
        for number in 0..10_u32 {
            let name = trace.names.number(&format!("kernel_{number}"));
            let time = 100 + u64::from(number);
            trace.push(Slice::new(SliceKind::Kernel, name, track, 0, time));
        }
        let whole = 1_045;
        let summed = |totals: &[Total]| totals.iter().map(|total| total.total_ns).sum::<u64>();
        let (all, left_out) = totals(&trace, &SliceWork::default(), 10);
        assert_eq!((all.len(), summed(&all)), (10, whole));
        assert_eq!(
            (left_out.note(10), left_out),
            (None, OmittedNames::default())
        );
        let (some, left_out) = totals(&trace, &SliceWork::default(), 4);
        assert_eq!((some.len(), summed(&some)), (5, whole));
        let rest = some.iter().find(|total| total.name == "6 other kernels");
        let rest = rest.map(|rest| (rest.calls, rest.total_ns, rest.min_ns, rest.max_ns));
        assert_eq!(rest, Some((6, 615, Some(100), Some(105))));
        assert!(some.iter().any(|total| total.name == "kernel_9"));
        let note = left_out.note(4).unwrap();
        assert!(note.starts_with("6 further names have no rows"), "{note}");
    }

    #[test]
    fn memory_is_told_by_device() {
        let profile = profile(&fixture("kineto/mi300-vit-nsfw-inference.json.gz"), "vit");
        let gpu = profile
            .memory
            .iter()
            .find(|memory| memory.device == "GPU 0")
            .unwrap();
        assert!(gpu.peak_bytes > 180_000_000 && gpu.largest[0].1 >= gpu.largest[1].1);
        assert!(gpu.by_op.iter().any(|(op, _)| op.starts_with("aten::")));
    }

    #[test]
    fn nodes_of_a_processor_have_a_place() {
        let profile = profile(
            &fixture("onnxruntime/squeezenet-cpu-ort1.31.json"),
            "squeezenet",
        );
        assert_eq!(profile.devices[0].device, "CPUExecutionProvider");
        assert_eq!(profile.memory[0].device, "host");
        let slowest = profile.of_kind(SliceKind::Kernel).next().unwrap();
        assert_eq!(
            (slowest.name.as_str(), slowest.total_ns),
            ("r30_nchwc", 9_788_000)
        );
    }
}
