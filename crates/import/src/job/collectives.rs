//! Collectives of one rank: calls in which ranks exchange data, on a device or, where none is there, on the host.

use crate::records::device_time::{self, union};
use crate::records::tensor_size::tensor_bytes;
use powerband_core::base::humanize;
use powerband_core::domain::slice_args::pairs;
use powerband_core::domain::trace::{Slice, SliceKind, Trace};
use powerband_core::domain::trace_steps::trace_steps;
use rustc_hash::FxHashMap;

/// What names of calls begin with that block a thread of the host until data is exchanged.
const HOST: [&str; 4] = ["gloo:", "mpi:", "ucc:", "mpi_"];
/// What names of ranges begin with that PyTorch puts around calls of NCCL and RCCL.
const NAMED_CALL: &str = "nccl:";
/// Collectives that no rank leaves before the last one has begun, and what they are called.
const WAIT_FOR_ALL: [(&str, &str); 5] = [
    ("allreduce", "all-reduce"),
    ("allgather", "all-gather"),
    ("reducescatter", "reduce-scatter"),
    ("alltoall", "all-to-all"),
    ("barrier", "barrier"),
];

/// Longest name of a kernel, in characters.
const LONGEST_NAME: usize = 60;

/// A collective that a rank took part in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Collective {
    /// What is the same on all ranks: what it is, the group, the size, or the kernel where these are not known.
    pub(super) name: String,
    /// Ranks that take part, where the file names them.
    pub(super) members: Option<Vec<u32>>,
    /// Its step: the name, and the number of steps of that name before it; nothing outside of steps.
    pub(super) step: Option<(String, u32)>,
    pub(super) start_ns: i64,
    pub(super) end_ns: i64,
}

/// What a rank did.
#[derive(Clone, Debug, Default)]
pub(super) struct RankWork {
    /// Those that wait for all ranks, in the order in which they were called.
    pub(super) collectives: Vec<Collective>,
    /// Further calls that exchange data, and of which nothing says that all ranks wait in them.
    pub(super) n_others: u64,
    /// Lengths of steps.
    pub(super) steps_ns: Vec<u64>,
    pub(super) collective_ns: u64,
    pub(super) exposed_ns: u64,
}

impl RankWork {
    pub(super) fn read(trace: &Trace) -> Self {
        let steps = trace_steps(trace);
        let mut by_name: FxHashMap<u32, u32> = FxHashMap::default();
        let names: Vec<(String, u32)> = steps
            .iter()
            .map(|step| {
                let count = by_name.entry(step.name).or_default();
                *count += 1;
                (step.title(trace).to_owned(), *count - 1)
            })
            .collect();
        let calls = device_time::calls(trace);
        let ranges = NamedCalls::read(trace);
        let mut work = Self {
            steps_ns: steps.iter().map(|step| step.duration_ns()).collect(),
            ..Self::default()
        };
        let mut found: Vec<(i64, Collective)> = Vec::new();
        for index in exchanges(trace) {
            let slice = trace.slice(index);
            // A kernel may run after its step has ended on the host, so the call counts that launched it.
            let call = calls.get(slice.link as i64).filter(|_| slice.link != 0);
            let called_ns = call.map_or(slice.start_ns, |(start_ns, _)| *start_ns);
            let place = steps.partition_point(|step| step.start_ns <= called_ns);
            let step = place
                .checked_sub(1)
                .filter(|step| steps[*step].contains(called_ns));
            let range = ranges.name_at(called_ns);
            match described(trace, index, &slice, range) {
                Some((name, members)) => found.push((
                    called_ns,
                    Collective {
                        name,
                        members,
                        step: step.map(|step| names[step].clone()),
                        start_ns: slice.start_ns,
                        end_ns: slice.end_ns(),
                    },
                )),
                None => work.n_others += 1,
            }
        }
        found.sort_by_key(|(called_ns, collective)| (*called_ns, collective.start_ns));
        work.collectives = found
            .into_iter()
            .map(|(_, collective)| collective)
            .collect();
        (work.collective_ns, work.exposed_ns) = exchange_times(trace);
        work
    }
}

/// Slices that exchange data: kernels where a device has some, else calls of the host.
fn exchanges(trace: &Trace) -> Vec<usize> {
    let [kernels, calls] = exchange_names(trace);
    let such = |kinds: &[SliceKind], names: &[bool]| -> Vec<usize> {
        let slices = trace.slices().enumerate();
        slices
            .filter(|(_, slice)| kinds.contains(&slice.kind) && names[slice.name as usize])
            .map(|(index, _)| index)
            .collect()
    };
    let on_device = such(&[SliceKind::Kernel], &kernels);
    if on_device.is_empty() {
        let kinds = [SliceKind::Range, SliceKind::Operator, SliceKind::Call];
        such(&kinds, &calls)
    } else {
        on_device
    }
}

/// Which names are of kernels that exchange data, and which of calls of the host.
fn exchange_names(trace: &Trace) -> [Vec<bool>; 2] {
    let names = || (0..trace.names.len() as u32).map(|number| trace.names.get(number));
    [
        names().map(device_time::is_communication).collect(),
        names()
            .map(|name| {
                let name = name.to_ascii_lowercase();
                HOST.iter().any(|start| name.starts_with(start))
            })
            .collect(),
    ]
}

/// For how long data was exchanged, and for how long of that nothing computed.
fn exchange_times(trace: &Trace) -> (u64, u64) {
    let exchanges = exchanges(trace);
    let Some(first) = exchanges.first() else {
        return (0, 0);
    };
    let is_of_device = trace.kinds()[*first] == SliceKind::Kernel;
    let [kernels, calls] = exchange_names(trace);
    let span = |slice: Slice| (slice.start_ns, slice.end_ns());
    let exchanging = union(
        exchanges
            .iter()
            .map(|index| span(trace.slice(*index)))
            .collect(),
    );
    let computes = |slice: &Slice| {
        if is_of_device {
            slice.kind == SliceKind::Kernel && !kernels[slice.name as usize]
        } else {
            let name = trace.names.get(slice.name);
            slice.kind == SliceKind::Operator
                && !calls[slice.name as usize]
                && !name.starts_with("c10d::")
                // What autograd evaluates may wait in a hook.
                && !name.starts_with("autograd::")
                && !name.starts_with("torch::autograd::")
        }
    };
    let computing = union(trace.slices().filter(computes).map(span).collect());
    let length =
        |spans: &[(i64, i64)]| -> u64 { spans.iter().map(|(from, to)| to.abs_diff(*from)).sum() };
    let (exchanging_ns, computing_ns) = (length(&exchanging), length(&computing));
    let either_ns = length(&union([exchanging, computing].concat()));
    (exchanging_ns, either_ns - computing_ns)
}

/// Ranges of the host by which PyTorch names collectives: kernels may have names that say less.
struct NamedCalls<'a> {
    /// By their start.
    ranges: Vec<(i64, i64, &'a str)>,
}

impl<'a> NamedCalls<'a> {
    fn read(trace: &'a Trace) -> Self {
        let names = (0..trace.names.len() as u32).map(|number| trace.names.get(number));
        let is_such: Vec<bool> = names.map(|name| name.starts_with(NAMED_CALL)).collect();
        let slices = trace.slices();
        let ranges = slices.filter(|slice| is_such[slice.name as usize]);
        let mut ranges: Vec<(i64, i64, &str)> = ranges
            .map(|slice| (slice.start_ns, slice.end_ns(), trace.names.get(slice.name)))
            .collect();
        ranges.sort_unstable();
        Self { ranges }
    }

    /// The name of the range that a call began in.
    fn name_at(&self, called_ns: i64) -> Option<&'a str> {
        let place = self
            .ranges
            .partition_point(|(start, ..)| *start <= called_ns);
        let (_, end, name) = self.ranges.get(place.checked_sub(1)?)?;
        (called_ns < *end).then_some(*name)
    }
}

/// What a collective is called and who takes part, where all of these wait in it for the last one.
fn described(
    trace: &Trace,
    index: usize,
    slice: &Slice,
    range: Option<&str>,
) -> Option<(String, Option<Vec<u32>>)> {
    let args = trace.args().text_of(index);
    let args: FxHashMap<&str, &str> = pairs(args.text()).collect();
    let arg = |key: &str| args.get(key).map(|value| value.trim().trim_matches('"'));
    let name = trace.names.get(slice.name);
    let called = arg("Collective name").or(range).unwrap_or(name);
    let letters: String = called
        .chars()
        .filter(|c| c.is_ascii_alphabetic())
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let (_, title) = WAIT_FOR_ALL
        .iter()
        .find(|(word, _)| letters.contains(word))?;
    let elements = arg("In msg nelems").and_then(|text| text.parse::<u64>().ok());
    let bytes = match elements {
        Some(elements) => arg("dtype").and_then(|dtype| tensor_bytes(&[elements], dtype)),
        None => input_bytes(trace.shapes(slice.shapes)),
    };
    let group = arg("Process Group Description").or_else(|| arg("Process Group Name"));
    let mut text = (*title).to_owned();
    match (bytes, elements) {
        (Some(bytes), _) => text.push_str(&format!(" of {}", humanize::bytes(bytes))),
        (None, Some(elements)) => text.push_str(&format!(" of {elements} elements")),
        // Without a size, kernels tell calls apart.
        (None, None) => {
            let kernel = name.split('(').next().unwrap_or(name);
            text.push_str(&format!(", {}", humanize::shorten(kernel, LONGEST_NAME)));
        }
    }
    if let Some(group) = group.filter(|group| !group.is_empty()) {
        text.push_str(&format!(", {group}"));
    }
    Some((text, arg("Process Group Ranks").and_then(rank_list)))
}

/// Bytes of the only input of a call, as PyTorch records its size and type.
fn input_bytes(shapes: &str) -> Option<u64> {
    let shapes: FxHashMap<&str, &str> = pairs(shapes).collect();
    let dims = shapes
        .get("Input Dims")?
        .strip_prefix("[[")?
        .strip_suffix("]]")?;
    let dims: Option<Vec<u64>> = dims.split(',').map(|dim| dim.trim().parse().ok()).collect();
    tensor_bytes(&dims?, shapes.get("Input type")?)
}

/// `[0, 1, 2]`; nothing where the profiler cut the list.
fn rank_list(text: &str) -> Option<Vec<u32>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let ranks = inner.split(',').map(|rank| rank.trim().parse().ok());
    ranks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::slice_args::ArgsText;
    use powerband_core::domain::trace::Track;

    fn device_trace() -> Trace {
        let mut trace = Trace::default();
        let gpu = trace.track(Track {
            device: Some(0),
            group: "GPU 0".to_owned(),
            name: "stream 7".to_owned(),
        });
        let mut kernel = |name: &str, start_ns, duration_ns, args: &[(&str, &str)]| {
            let name = trace.names.number(name);
            let mut text = ArgsText::default();
            for (key, value) in args {
                text.add(key, value);
            }
            let slice = Slice::new(SliceKind::Kernel, name, gpu, start_ns, duration_ns);
            trace.push_with(slice, &text);
        };
        let metadata = [
            ("Collective name", "\"allreduce\""),
            ("In msg nelems", "1000000"),
            ("dtype", "\"Float\""),
            ("Process Group Ranks", "[0, 1]"),
            ("Process Group Description", "\"default_pg\""),
        ];
        kernel(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
            0,
            100,
            &metadata,
        );
        kernel("gemm", 40, 100, &[]);
        kernel(
            "ncclDevKernel_AllGather_RING_LL(ncclDevComm*)",
            200,
            50,
            &[],
        );
        kernel("ncclDevKernel_SendRecv(ncclDevComm*)", 300, 10, &[]);
        trace
    }

    #[test]
    fn what_waits_for_all_ranks_is_described_by_what_they_have_in_common() {
        let work = RankWork::read(&device_trace());
        let names: Vec<&str> = work
            .collectives
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(
            names,
            [
                "all-reduce of 3.81 MiB, default_pg",
                "all-gather, ncclDevKernel_AllGather_RING_LL"
            ]
        );
        assert_eq!(work.collectives[0].members, Some(vec![0, 1]));
        assert_eq!(work.n_others, 1);
        // 40 + 50 + 10 without the gemm.
        assert_eq!((work.collective_ns, work.exposed_ns), (160, 100));
    }

    #[test]
    fn a_kernel_that_says_little_has_the_name_of_the_range_that_launched_it() {
        let mut trace = device_trace();
        let host = trace.track(Track::default());
        let range = trace.names.number("nccl:all_to_all");
        trace.push(Slice::new(SliceKind::Range, range, host, 280, 10));
        let call = trace.names.number("cudaLaunchKernel");
        let call = Slice::new(SliceKind::Call, call, host, 285, 2);
        trace.push(Slice { link: 9, ..call });
        let kernel = trace.names.number("ncclDevKernel_SendRecv(ncclDevComm*)");
        let kernel = Slice::new(SliceKind::Kernel, kernel, 0, 400, 10);
        trace.push(Slice { link: 9, ..kernel });
        let work = RankWork::read(&trace);
        let last = work.collectives.last().map(|one| one.name.as_str());
        assert_eq!(last, Some("all-to-all, ncclDevKernel_SendRecv"));
        assert_eq!((work.collectives.len(), work.n_others), (3, 1));
    }

    #[test]
    fn lists_of_ranks_that_are_cut_are_not_known() {
        assert_eq!(rank_list("[3]"), Some(vec![3]));
        assert_eq!(rank_list("[0, 1, ..., 30, 31]"), None);
        assert_eq!(rank_list("0, 1"), None);
    }
}
