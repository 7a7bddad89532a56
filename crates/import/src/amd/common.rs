//! Shared code of AMD's profilers: tracks, names of agents, and rows that repeat another file of the same
//! run.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Imported;
use powerband_core::domain::profile::Total;
use powerband_core::domain::slice_args::ArgsText;
use powerband_core::domain::trace::{Slice, SliceKind, Track};

/// Where on a device, or on the host, something ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// A stream of a device: its agent and its number.
    Stream(u64, u64),
    /// A queue of a device: its agent and its number.
    Queue(u64, u64),
    /// Copies of a device without a known stream.
    Copies(u64),
    /// Barriers of a device.
    Barriers(u64),
    /// Copies without a known device.
    HostCopies,
    /// A thread of the host: its process, where that is known, and its number.
    Thread(Option<u64>, u64),
}

impl Lane {
    /// The device that it belongs to.
    pub fn device(self) -> Option<u32> {
        match self {
            Self::Stream(agent, _)
            | Self::Queue(agent, _)
            | Self::Copies(agent)
            | Self::Barriers(agent) => Some(agent as u32),
            Self::HostCopies | Self::Thread(..) => None,
        }
    }

    /// The track of this lane, with its names.
    fn track(self) -> Track {
        let (group, name) = match self {
            Self::Stream(agent, stream) => (format!("GPU {agent}"), format!("stream {stream}")),
            Self::Queue(agent, queue) => (format!("GPU {agent}"), format!("queue {queue}")),
            Self::Copies(agent) => (format!("GPU {agent}"), "copies".to_owned()),
            Self::Barriers(agent) => (format!("GPU {agent}"), "barriers".to_owned()),
            Self::HostCopies => ("copies".to_owned(), "copies".to_owned()),
            Self::Thread(process, thread) => (
                process.map_or_else(|| "process".to_owned(), |id| format!("process {id}")),
                // Ranges that are begun in one thread and ended in another belong to none.
                if thread == 0 {
                    "all threads".to_owned()
                } else {
                    format!("thread {thread}")
                },
            ),
        };
        Track {
            device: self.device(),
            group,
            name,
        }
    }
}

/// An agent as tables name it: `4`, `Agent 4`, `GPU 0`, `CPU 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent {
    pub number: u64,
    /// It reports that it is a processor.
    pub is_cpu: bool,
}

impl Agent {
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        Some(Self {
            number: text.get(digits..)?.parse().ok()?,
            is_cpu: text.to_lowercase().starts_with("cpu"),
        })
    }
}

/// Where a copy is shown: on the device that takes part, and not on the host.
pub(crate) fn copy_agent(direction: &str, from: Option<Agent>, to: Option<Agent>) -> Option<u64> {
    let direction = direction.to_uppercase();
    let device = |agent: Option<Agent>| agent.filter(|agent| !agent.is_cpu);
    let agent = if direction.contains("HOST_TO_HOST") || direction.contains("HOSTTOHOST") {
        None
    } else if direction.contains("HOST_TO_DEVICE") || direction.contains("HOSTTODEVICE") {
        device(to)
    } else if direction.contains("DEVICE_TO") || direction.contains("DEVICETO") {
        device(from)
    } else {
        device(to).or_else(|| device(from))
    };
    agent.map(|agent| agent.number)
}

/// A process in front of a number that only counts within it: some files hold several processes.
pub fn link(correlation: u64, process: &str) -> u64 {
    if correlation == 0 || process.is_empty() {
        return correlation;
    }
    let hash = process.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    correlation ^ (u64::from(hash) << 32)
}

/// The note where a file of sums and one of launches belong to the same run.
const SUMS_LEFT_OUT: &str =
    "sums of the same run are left out where the times of each launch or call are there";

/// Kinds for which times of each event take the place of sums.
const SUMMED: [SliceKind; 4] = [
    SliceKind::Kernel,
    SliceKind::Copy,
    SliceKind::Set,
    SliceKind::Call,
];

/// Takes sums in, without those that repeat the trace.
pub(crate) fn take_sums(mut totals: Vec<Total>, into: &mut Imported) {
    let before = totals.len();
    let timed = SUMMED.map(|kind| into.trace.kinds().contains(&kind).then_some(kind));
    totals.retain(|total| !timed.contains(&Some(total.kind)));
    if totals.len() < before {
        into.note(SUMS_LEFT_OUT);
    }
    into.totals.append(&mut totals);
}

/// Writes events into the trace of an import, each once.
#[derive(Debug)]
pub(crate) struct EventWriter<'a> {
    pub into: &'a mut Imported,
    tracks: FxHashMap<Lane, u32>,
    known: FxHashSet<(i64, u64, Option<u32>)>,
    pushed: Vec<SliceKind>,
    backwards: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct AmdEvent<'a> {
    pub kind: SliceKind,
    pub name: &'a str,
    /// Where it ran.
    pub lane: Lane,
    /// From when, in nanoseconds.
    pub start: u64,
    /// Until when, in nanoseconds.
    pub end: u64,
    /// What it has in common with its launch; 0 for nothing.
    pub link: u64,
    /// More of it.
    pub detail: &'a str,
}

impl<'a> EventWriter<'a> {
    /// A writer that knows the launches which the import already has.
    pub(crate) fn new(into: &'a mut Imported) -> Self {
        let mut events = Self {
            into,
            tracks: FxHashMap::default(),
            known: FxHashSet::default(),
            pushed: Vec::new(),
            backwards: 0,
        };
        events.collect_known_launches();
        events
    }

    /// Looks up known launches. Counters and kernels of one run come in two lists or files with the same
    /// launches.
    pub(crate) fn collect_known_launches(&mut self) {
        let trace = &self.into.trace;
        let work = trace.slices().filter(|slice| slice.kind.is_work());
        self.known = work
            .map(|slice| {
                let track = trace.tracks.get(slice.track as usize);
                let device = track.and_then(|track| track.device);
                (slice.start_ns, slice.duration_ns, device)
            })
            .collect();
    }

    /// Takes one in, unless an earlier file had it.
    pub(crate) fn push(&mut self, event: &AmdEvent<'_>) {
        let start_ns = i64::try_from(event.start).unwrap_or(i64::MAX);
        let duration_ns = event.end.checked_sub(event.start).unwrap_or_else(|| {
            self.backwards += 1;
            0
        });
        let known = (start_ns, duration_ns, event.lane.device());
        if event.kind.is_work() && self.known.contains(&known) {
            return;
        }
        let track = self.track(event.lane);
        let name = self.into.trace.names.number(event.name);
        let mut slice = Slice::new(event.kind, name, track, start_ns, duration_ns);
        slice.link = event.link;
        slice.detail = self.into.trace.names.number(event.detail);
        self.into.trace.push(slice);
        if !self.pushed.contains(&event.kind) {
            self.pushed.push(event.kind);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.into.trace.len()
    }

    /// Gives the slice that was taken in last its arguments.
    pub(crate) fn put_args(&mut self, args: &ArgsText) {
        self.into.trace.put_args(args);
    }

    /// The number of a track.
    fn track(&mut self, lane: Lane) -> u32 {
        if let Some(&track) = self.tracks.get(&lane) {
            return track;
        }
        let track = self.into.trace.track(lane.track());
        self.tracks.insert(lane, track);
        track
    }

    /// Notes errors, and drops sums that repeat launches.
    pub(crate) fn finish(self, file: &str) {
        self.finish_into(file);
    }

    /// The same, and gives the import back.
    pub(crate) fn finish_into(self, file: &str) -> &'a mut Imported {
        let fate = "had the end before the beginning; counted as 0 ns";
        self.into.note_some(self.backwards, "row", file, fate);
        let before = self.into.totals.len();
        self.into
            .totals
            .retain(|total| !(SUMMED.contains(&total.kind) && self.pushed.contains(&total.kind)));
        if self.into.totals.len() < before {
            self.into.note(SUMS_LEFT_OUT);
        }
        self.into
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_numbers_or_words() {
        let number = |text| Agent::parse(text).map(|agent| (agent.number, agent.is_cpu));
        assert_eq!(number("4"), Some((4, false)));
        assert_eq!(number("Agent 4"), Some((4, false)));
        assert_eq!(number("CPU 0"), Some((0, true)));
        assert_eq!(number(""), None);
        assert_eq!(number("é"), None);
    }

    #[test]
    fn copies_belong_to_the_device_that_takes_part() {
        let (host, device) = (Agent::parse("Agent 0"), Agent::parse("Agent 4"));
        assert_eq!(
            copy_agent("MEMORY_COPY_HOST_TO_DEVICE", host, device),
            Some(4)
        );
        assert_eq!(copy_agent("DEVICE_TO_HOST", device, host), Some(4));
        assert_eq!(copy_agent("MEMORY_COPY_HOST_TO_HOST", host, host), None);
        assert_eq!(
            copy_agent("CopyDeviceToDevice", Agent::parse("GPU 1"), device),
            Some(1)
        );
    }

    #[test]
    fn links_of_two_processes_are_not_mixed_up() {
        assert_eq!(link(7, ""), 7);
        assert_eq!(link(0, "a"), 0);
        assert_ne!(link(7, "a"), link(7, "b"));
    }
}
