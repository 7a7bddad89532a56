//! Slices of rocprofv3 (`--output-format pftrace`) and ROCm Systems Profiler in traces of Perfetto: what their categories
//! mean, and where they belong. `google/perfetto/` reads the file.

use crate::amd::common::{self, Agent, AmdEvent, EventWriter, Lane};
use crate::amd::rocprofv3_memory::{copy_lane, copy_words};
use crate::reading::lines;
use powerband_core::domain::slice_args::{ArgsText, pairs};
use powerband_core::domain::trace::SliceKind;

/// What tracks of streams are called; those of queues are called otherwise.
const STREAMS: [&str; 2] = ["STREAM [", "Activity Stream"];
/// ROCm Systems Profiler does not write where the kernels of a stream ran.
const UNKNOWN_AGENT: &str =
    "the file does not have the GPU of its kernels; they are shown on GPU 0, whichever it was";

/// A slice of one of these programs.
pub(crate) struct RocprofSlice<'a> {
    pub kind: SliceKind,
    pub name: &'a str,
    pub args: &'a ArgsText,
    /// What its track is called, and the thread that it belongs to, if it does.
    pub track: &'a str,
    pub thread: Option<u64>,
    /// The process that wrote it, and whether the file has another one before it.
    pub process: Option<u64>,
    pub is_later_process: bool,
    pub start_ns: i64,
    pub end_ns: i64,
}

/// What a category means; nothing where it is none of theirs.
pub(crate) fn kind(category: &str) -> Option<SliceKind> {
    match category.strip_prefix("rocm_").unwrap_or(category) {
        "kernel_dispatch" => Some(SliceKind::Kernel),
        "memory_copy" => Some(SliceKind::Copy),
        "marker_api" => Some(SliceKind::Range),
        "hip_api" | "hsa_api" | "rccl_api" | "rocdecode_api" | "rocjpeg_api" | "hipfile_api" => {
            Some(SliceKind::Call)
        }
        _ => None,
    }
}

/// The program that has a category.
pub(crate) fn tool(category: &str) -> &'static str {
    if category.starts_with("rocm_") {
        "ROCm Systems Profiler"
    } else {
        "rocprofv3"
    }
}

/// The arguments that matter, as texts; empty where there are none. Both programs have names of their own for them.
#[derive(Default)]
struct RocprofArgs<'a> {
    correlation: &'a str,
    thread: &'a str,
    agent: &'a str,
    queue: &'a str,
    stream: &'a str,
    from: &'a str,
    to: &'a str,
    bytes: &'a str,
    /// Grid, workgroup, LDS, scratch.
    sizes: [&'a str; 4],
}

impl<'a> RocprofArgs<'a> {
    fn new(args: &'a ArgsText) -> Self {
        let mut found = Self::default();
        for (key, value) in pairs(args.text()) {
            let place = match key {
                "corr_id" => &mut found.correlation,
                "tid" => &mut found.thread,
                "agent" => &mut found.agent,
                "queue" => &mut found.queue,
                "stream_ID" | "stream_id" => &mut found.stream,
                "src_agent" | "src_agent_id" => &mut found.from,
                "dst_agent" | "dst_agent_id" => &mut found.to,
                "copy_bytes" | "bytes" => &mut found.bytes,
                "grid_size" => &mut found.sizes[0],
                "workgroup_size" => &mut found.sizes[1],
                "LDS_Block_Size" | "group_segment_size" => &mut found.sizes[2],
                "Scratch_Size" | "private_segment_size" => &mut found.sizes[3],
                _ => continue,
            };
            *place = value;
        }
        found
    }

    fn copy_lane(&self, name: &str, is_on_stream: bool) -> Lane {
        let (from, to) = (Agent::parse(self.from), Agent::parse(self.to));
        copy_lane(
            common::copy_agent(name, from, to),
            self.stream(is_on_stream),
        )
    }

    /// Where a kernel ran. Where no argument has the agent, the name of the track may have it: `GPU Kernel Dispatch [0]
    /// Queue 1`.
    fn agent(&self, track: &str) -> Option<u64> {
        let agent = Agent::parse(self.agent);
        let agent = agent.or_else(|| Agent::parse(track.split(['[', ']']).nth(1)?));
        agent.map(|agent| agent.number)
    }

    fn kernel_lane(&self, agent: u64, is_on_stream: bool) -> Lane {
        match self.stream(is_on_stream) {
            Some(stream) => Lane::Stream(agent, stream),
            None => Lane::Queue(agent, number(self.queue).unwrap_or_default()),
        }
    }

    /// The stream, unless the tracks are those of queues.
    fn stream(&self, is_on_stream: bool) -> Option<u64> {
        number(self.stream).filter(|_| is_on_stream)
    }

    /// The size of a launch.
    fn launch_words(&self) -> String {
        let titles = ["grid", "workgroup", "LDS", "scratch"].iter();
        let sizes = titles.zip(self.sizes);
        let sizes = sizes.filter(|(_, size)| !matches!(*size, "" | "0"));
        let words: Vec<String> = sizes
            .map(|(title, size)| format!("{title} {size}"))
            .collect();
        words.join(", ")
    }
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

impl RocprofSlice<'_> {
    /// Writes it; whether it was not known from another file of the run.
    pub(crate) fn write(&self, events: &mut EventWriter<'_>) -> bool {
        let before = events.len();
        let args = RocprofArgs::new(self.args);
        let is_on_stream = STREAMS.iter().any(|word| self.track.contains(word));
        let (lane, detail) = match self.kind {
            SliceKind::Kernel => {
                let agent = args.agent(self.track).unwrap_or_else(|| {
                    events.into.note(UNKNOWN_AGENT);
                    0
                });
                let lane = args.kernel_lane(agent, is_on_stream);
                (lane, args.launch_words())
            }
            SliceKind::Copy => {
                let lane = args.copy_lane(self.name, is_on_stream);
                (lane, copy_words(args.from, args.to, number(args.bytes)))
            }
            _ => {
                let thread = number(args.thread).or(self.thread).unwrap_or_default();
                (Lane::Thread(self.process, thread), String::new())
            }
        };
        let process = self.process.filter(|_| self.is_later_process);
        let process = process.map_or_else(String::new, |id| id.to_string());
        events.push(&AmdEvent {
            kind: self.kind,
            name: lines::kernel_name(self.name),
            lane,
            start: self.start_ns.max(0) as u64,
            end: self.end_ns.max(0) as u64,
            link: common::link(number(args.correlation).unwrap_or_default(), &process),
            detail: &detail,
        });
        events.len() > before
    }
}
