//! Where the time went: kernels, operators and copies added up, from a run of its own or from another
//! tool's file. A profiled run is never a benchmark.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::case::CaseKey;
use super::examination;
use super::network::Network;
use super::ranks::JobTimes;
use super::trace::SliceKind;
use super::work::Work;

/// The program that wrote a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name: `rocprofv3`, `trtexec`.
    pub name: String,
    /// Its version, where the file reports it.
    #[serde(default)]
    pub version: Option<String>,
    /// The command line, where the file reports it.
    #[serde(default)]
    pub command: Option<String>,
}

/// Everything of one name, added up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Total {
    /// What it is.
    pub kind: SliceKind,
    /// Its whole name.
    pub name: String,
    /// The operator that it carries out; empty where it is not known.
    #[serde(default)]
    pub op: String,
    /// Where it ran: a device in words or an execution provider; empty where it is not known.
    #[serde(default)]
    pub place: String,
    /// How often.
    pub calls: u64,
    /// All its times together, in nanoseconds. For operators without those within them.
    pub total_ns: u64,
    /// The shortest; nothing where the file does not report it.
    #[serde(default)]
    pub min_ns: Option<u64>,
    /// The longest.
    #[serde(default)]
    pub max_ns: Option<u64>,
    /// What all calls together had to do, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
}

/// A hardware counter, added up over the launches of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// The kernel.
    pub kernel: String,
    /// What was counted, as the tool calls it.
    pub name: String,
    /// Its unit; empty where the tool has none.
    #[serde(default)]
    pub unit: String,
    /// Launches that it was counted for.
    pub launches: u64,
    /// The sum over them.
    pub sum: f64,
}

impl Counter {
    /// What a launch adds to it.
    pub fn a_launch(&self) -> f64 {
        self.sum / self.launches.max(1) as f64
    }
}

/// How busy a device was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceTime {
    /// The device in words.
    pub device: String,
    /// Time in which at least one kernel, copy or set ran, in nanoseconds.
    pub busy_ns: u64,
    /// Time in which at least one kernel ran, in nanoseconds.
    #[serde(default)]
    pub kernels_ns: u64,
    /// From its first to its last, in nanoseconds.
    pub span_ns: u64,
    /// Its longest pauses between the two: start, counted from the first slice of the file, and length.
    pub gaps: Vec<(u64, u64)>,
    /// What the time without computing went to; nothing where it was added up without looking at that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_computing: Option<IdleCauses>,
}

/// Time of a device in which it did not compute, by cause, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleCauses {
    /// Kernels that exchange data between devices ran, and no other kernel.
    pub communication_ns: u64,
    /// Nothing ran, and what ran next was launched only after the pause had begun.
    pub launched_late_ns: u64,
    /// Nothing ran, although what ran next had been launched: it waited for something before it.
    pub waited_ns: u64,
    /// Nothing ran, and it is not known when what ran next was launched.
    pub other_ns: u64,
}

/// What launching took.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launches {
    /// Launches whose kernel is known.
    pub count: u64,
    /// Their calls together, in nanoseconds: the host's side.
    pub calls_ns: u64,
    /// The median time from the start of a launch to the start of its kernel, in nanoseconds.
    pub delay_ns: u64,
}

/// What is known of memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// A device in words, or `host`.
    pub device: String,
    /// The most that was in use, in bytes.
    pub peak_bytes: u64,
    /// Time since the timeline begins, in nanoseconds, and bytes in use; thinned out, with every peak kept.
    #[serde(default)]
    pub over_time: Vec<(u64, u64)>,
    /// The largest allocations: the operator that asked, and bytes.
    #[serde(default)]
    pub largest: Vec<(String, u64)>,
    /// Bytes allocated by each operator, given back or not, most first.
    #[serde(default)]
    pub by_op: Vec<(String, u64)>,
    /// What was in use at the peak: the stack that asked, and bytes, most first; empty where it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_peak: Vec<(String, u64)>,
}

/// Several kinds of devices, or one that is not known.
const DEVICE: &str = "Device";

/// The kind of a device by its name: nodes of a runtime have that of their provider, kernels that of a device, which is
/// a card where it does not say otherwise.
fn device_kind(name: &str) -> String {
    const KINDS: [&str; 6] = ["CPU", "TPU", "NPU", "HPU", "XPU", "MTIA"];
    if name.ends_with(examination::PROVIDER_ENDING) {
        return examination::provider_name(name);
    }
    // The only engine whose profiles name it in place of a device; it computes on the processor alone.
    if name == "rten" {
        return "CPU".to_owned();
    }
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let kind = KINDS.into_iter().find(|kind| words.contains(kind));
    kind.unwrap_or("GPU").to_owned()
}

/// Where the time went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// What the user calls it; the file's name at first.
    pub name: String,
    /// The identifier of the importer, or of our own kind of profile.
    pub format: String,
    /// Who wrote it.
    pub tool: Tool,
    /// The case that was profiled, where it is one of this session's.
    #[serde(default)]
    pub case: Option<CaseKey>,
    /// Runs of the network that it covers, where that is known.
    #[serde(default)]
    pub runs: Option<u64>,
    /// Names with their times, longest first.
    pub totals: Vec<Total>,
    /// Time of everything that ran, from first to last, in nanoseconds; nothing where there are no times.
    #[serde(default)]
    pub span_ns: Option<u64>,
    /// Each device, where there is a timeline.
    #[serde(default)]
    pub devices: Vec<DeviceTime>,
    /// Launches, where calls and kernels are linked.
    #[serde(default)]
    pub launches: Option<Launches>,
    /// What the ranks did, where files of several ranks of one job were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobTimes>,
    /// Counters.
    #[serde(default)]
    pub counters: Vec<Counter>,
    /// Memory, each device for itself.
    #[serde(default)]
    pub memory: Vec<MemoryUse>,
    /// Particulars as the file names them: cards, flags, versions.
    #[serde(default)]
    pub facts: Vec<(String, String)>,
    /// What the user should know: what was missing, what was left out.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The timeline, as a file beside the session's.
    #[serde(default)]
    pub trace_file: Option<String>,
    /// The graph of what ran, where the tool's file has it: then no file of the network is needed to draw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// When the timeline begins, in nanoseconds since the run began; nothing where the two have no clock in
    /// common.
    #[serde(default)]
    pub began_ns: Option<u64>,
    /// What each name took in each start, where several were profiled in turns; its totals are those of the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<ProfiledStart>,
}

/// What was profiled in one start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfiledStart {
    /// Runs that it covers.
    pub runs: u64,
    /// Names of work with their times in all runs, in nanoseconds.
    pub totals: Vec<(String, u64)>,
}

impl Profile {
    /// What each name of work took, as one start of several.
    pub fn as_start(&self) -> ProfiledStart {
        let work = self.totals.iter().filter(|total| total.kind.is_work());
        ProfiledStart {
            runs: self.runs.unwrap_or(1),
            totals: work
                .map(|total| (total.name.clone(), total.total_ns))
                .collect(),
        }
    }

    /// Names of one kind.
    pub fn of_kind(&self, kind: SliceKind) -> impl Iterator<Item = &Total> {
        self.totals.iter().filter(move |total| total.kind == kind)
    }

    /// The sum over a kind, in nanoseconds.
    pub fn summed_ns(&self, kind: SliceKind) -> u64 {
        self.of_kind(kind).map(|total| total.total_ns).sum()
    }

    /// Whether it has the host's times for starting nodes on a card, and no times of the card itself: ONNX Runtime
    /// writes these where it is built without a profiler of the card.
    pub fn has_starts_only(&self) -> bool {
        let is_start = |total: &Total| examination::only_starts_nodes(&total.place);
        // Nodes have the name of a provider where kernels have that of a device.
        let is_node = |total: &Total| total.place.ends_with(examination::PROVIDER_ENDING);
        self.totals.iter().any(is_start) && self.of_kind(SliceKind::Kernel).all(is_node)
    }

    /// The sum over the kernels, in nanoseconds; nothing where kernels were counted and not timed.
    pub fn kernels_ns(&self) -> Option<u64> {
        let has_times = self.of_kind(SliceKind::Kernel).next().is_some();
        (has_times || self.counters.is_empty()).then(|| self.summed_ns(SliceKind::Kernel))
    }

    /// What ran the work, for people: `GPU`, `CPU`, or the provider; `Device` where there are several kinds, or nothing is
    /// known of it.
    pub fn device_kind(&self) -> String {
        let devices = self.devices.iter().map(|device| device.device.as_str());
        let work = self.totals.iter().filter(|total| total.kind.is_work());
        let places = work.map(|total| total.place.as_str());
        let places = places.filter(|place| self.devices.is_empty() && !place.is_empty());
        let kinds: BTreeSet<String> = devices.chain(places).map(device_kind).collect();
        let mut kinds = kinds.into_iter();
        match (kinds.next(), kinds.next()) {
            (Some(only), None) => only,
            _ => DEVICE.to_owned(),
        }
    }

    /// Time in which any device was busy, all devices together, in nanoseconds.
    pub fn busy_ns(&self) -> Option<u64> {
        let times = self.devices.iter().map(|device| device.busy_ns);
        (!self.devices.is_empty()).then(|| times.sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_that_ran_the_work_has_its_name() {
        let kind = |names: &[&str]| {
            let device = |name: &&str| DeviceTime {
                device: (*name).to_owned(),
                ..DeviceTime::default()
            };
            let profile = Profile {
                devices: names.iter().map(device).collect(),
                ..Profile::default()
            };
            profile.device_kind()
        };
        assert_eq!(kind(&["rten"]), "CPU");
        assert_eq!(kind(&["CPUExecutionProvider"]), "CPU");
        assert_eq!(kind(&["GPU 0", "worker1 GPU 1"]), "GPU");
        assert_eq!(kind(&["TPU 1 SparseCore 0"]), "TPU");
        assert_eq!(kind(&["DnnlExecutionProvider"]), "oneDNN");
        assert_eq!(kind(&["GPU 0", "CPUExecutionProvider"]), "Device");
        assert_eq!(kind(&["Tesla V100 (0)"]), "GPU");
        assert_eq!(kind(&[]), "Device");
    }
}
