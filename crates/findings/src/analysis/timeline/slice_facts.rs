//! Everything about one slice that its card shows: its arguments in a sensible order, what it lies within, the
//! module of the network that it belongs to, and its place among the slices of its name.

use super::Timeline;
use super::alike::SameNameSlices;
use powerband_core::domain::trace::{SliceKind, Trace};
use powerband_core::domain::trace_steps::MODULE;

/// The argument that has the path of modules where the profiler was asked for it.
const HIERARCHY: &str = "Module Hierarchy";

/// Facts of a slice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SliceFacts {
    /// The slice, by the trace's index.
    pub slice: usize,
    /// Its arguments, those that are asked for most often first.
    pub arguments: Vec<(String, String)>,
    /// Slices that it lies within, the outermost first; for work of a device those around its launch.
    pub within: Vec<usize>,
    /// Modules of the network that it lies within, the outermost first.
    pub modules: Vec<String>,
    /// Its place among the slices of its name.
    pub same_name: SameNameSlices,
}

impl SliceFacts {
    /// Collects the facts of a slice.
    pub fn from_slice(timeline: &Timeline, trace: &Trace, slice: usize) -> Self {
        let within = enclosing(timeline, trace, slice);
        let arguments = arguments(trace, slice);
        Self {
            slice,
            modules: modules(trace, &within, &arguments),
            arguments,
            within,
            same_name: SameNameSlices::find(timeline, trace, slice),
        }
    }

    /// The arguments as text with tabs.
    pub fn arguments_text(&self) -> String {
        let lines = self.arguments.iter();
        let lines = lines.map(|(key, value)| format!("{key}\t{}\n", value.replace('\n', " ")));
        lines.collect()
    }
}

/// Slices around a slice, the outermost first.
fn enclosing(timeline: &Timeline, trace: &Trace, slice: usize) -> Vec<usize> {
    let own = trace.slice(slice);
    let on_track = on_track(timeline, slice);
    if !own.kind.is_work() {
        return on_track;
    }
    let partners = timeline.partners(trace, slice).into_iter();
    let mut calls = partners.filter(|partner| !trace.slice(*partner).kind.is_work());
    match calls.next() {
        Some(call) => {
            let mut all = self::on_track(timeline, call);
            all.push(call);
            all
        }
        None => on_track,
    }
}

/// Slices of the same track in which a slice lies.
fn on_track(timeline: &Timeline, slice: usize) -> Vec<usize> {
    let Some(place) = timeline.place(slice) else {
        return Vec::new();
    };
    let strand = timeline.track_of_row(place.row as usize);
    let strand = strand.and_then(|strand| timeline.tracks.get(strand));
    let (Some(strand), Some((start, end))) = (strand, timeline.times(place)) else {
        return Vec::new();
    };
    let mut found: Vec<(i64, std::cmp::Reverse<i64>, usize)> = Vec::new();
    for row in strand.rows.clone().filter(|row| *row != place.row as usize) {
        let row = &timeline.rows[row];
        let at = row.start.partition_point(|other| *other <= start);
        let Some(at) = at.checked_sub(1) else {
            continue;
        };
        let (from, to) = row.times(at);
        if to >= end && to - from > end - start {
            found.push((from, std::cmp::Reverse(to), row.slice(at)));
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(.., slice)| slice).collect()
}

fn modules(trace: &Trace, within: &[usize], arguments: &[(String, String)]) -> Vec<String> {
    let names = within.iter().map(|slice| trace.slice(*slice));
    let names = names.filter(|slice| slice.kind == SliceKind::Script);
    let mut modules: Vec<String> = names
        .filter_map(|slice| trace.names.get(slice.name).strip_prefix(MODULE))
        .map(str::to_owned)
        .collect();
    if modules.is_empty() {
        let own = [arguments.to_vec()].concat();
        let around = within.iter().rev().map(|slice| trace.args().get(*slice));
        let path = std::iter::once(own)
            .chain(around)
            .find_map(|args| args.into_iter().find(|(key, _)| key == HIERARCHY));
        modules.extend(path.into_iter().flat_map(|(_, path)| {
            let parts = path.split(['.', '/']).filter(|part| !part.is_empty());
            parts.map(str::to_owned).collect::<Vec<_>>()
        }));
    }
    modules
}

/// The arguments of a slice in the order in which people ask for them.
pub fn arguments(trace: &Trace, slice: usize) -> Vec<(String, String)> {
    let own = trace.slice(slice);
    let [op, detail] = [own.op, own.detail].map(|number| trace.names.get(number));
    let mut found = trace.args().get(slice);
    // Those that the card shows as operator, and what we wrote ourselves for want of arguments.
    found.retain(|(key, value)| {
        let is_op = key == "op_name" && value == op;
        let is_detail = key == "detail" && value == detail;
        !is_op && !is_detail
    });
    let plain = |value: &str| value.replace('x', "×");
    match pairs_of(detail) {
        Some(pairs) => {
            for (key, value) in pairs {
                if found.iter().all(|(_, known)| plain(known) != plain(&value)) {
                    found.push((key, value));
                }
            }
        }
        None if found.is_empty() && !detail.is_empty() => {
            found.push(("Detail".to_owned(), detail.to_owned()));
        }
        None => {}
    }
    found.sort_by_key(|(key, _)| rank(key));
    found
}

/// `grid 4×1×1, block 64×1×1` as pairs.
fn pairs_of(detail: &str) -> Option<Vec<(String, String)>> {
    let pair = |part: &str| {
        if let Some((number, unit @ ("bytes" | "byte"))) = part.split_once(' ') {
            return Some((unit.to_owned(), number.to_owned()));
        }
        let (key, value) = part.rsplit_once(' ')?;
        let is_number = value.starts_with(|sign: char| sign.is_ascii_digit());
        is_number.then(|| (key.to_owned(), value.to_owned()))
    };
    detail.split(", ").map(pair).collect()
}

/// What is asked for most often, in its order: parts of keys in small letters without blanks and underscores.
const ORDER: [&[&str]; 9] = [
    &["inputdims", "inputtypeshape", "inputshape"],
    &[
        "outputdims",
        "outputtypeshape",
        "inputtype",
        "outputtype",
        "concreteinputs",
        "inputstrides",
    ],
    &["grid", "workgroup"],
    &["block"],
    &["bytes", "bandwidth", "size"],
    &[
        "register",
        "vgpr",
        "sgpr",
        "sharedmemory",
        "lds",
        "scratch",
        "localmemory",
        "segment",
    ],
    &["occupancy", "warpspersm", "blockspersm"],
    &[
        "stream", "queue", "device", "agent", "context", "provider", "gpuid",
    ],
    &["callstack", "stack", "module"],
];

fn rank(key: &str) -> usize {
    let plain = key.to_lowercase();
    let plain: String = plain
        .chars()
        .filter(|sign| sign.is_alphanumeric())
        .collect();
    let ends = [" id", "_id", "Id", "cid", "cbid"];
    let is_id = key == "id" || ends.iter().any(|end| key.ends_with(end));
    let is_place = ORDER[7].iter().any(|known| plain.contains(known));
    if is_id && !is_place || plain.contains("correlation") || plain.contains("idx") {
        return ORDER.len() + 1;
    }
    let known = ORDER.iter().position(|keys| {
        // The block is the size of a launch, and `blocks per SM` is not.
        keys.iter()
            .any(|known| plain.starts_with(known) || known.len() > 5 && plain.contains(known))
            && !(keys[0] == "block" && plain != "block" && !plain.starts_with("blockdim"))
    });
    known.unwrap_or(ORDER.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::slice_args::ArgsText;
    use powerband_core::domain::trace::{Slice, Track};

    /// A module that calls an operator that launches a kernel, twice.
    fn trace() -> Trace {
        let mut trace = Trace::default();
        let on = |trace: &mut Trace, device, name: &str| {
            trace.track(Track {
                device,
                group: "group".to_owned(),
                name: name.to_owned(),
            })
        };
        let (main, stream) = (
            on(&mut trace, None, "main"),
            on(&mut trace, Some(0), "stream 7"),
        );
        for round in 0..2 {
            let at = round * 1_000;
            for (kind, name, track, from, to, link) in [
                (SliceKind::Script, "nn.Module: Net_0", main, 0, 900, 0),
                (SliceKind::Script, "nn.Module: Conv2d_3", main, 10, 800, 0),
                (SliceKind::Operator, "aten::conv2d", main, 20, 700, 0),
                (
                    SliceKind::Call,
                    "cudaLaunchKernel",
                    main,
                    30,
                    40,
                    round as u64 + 1,
                ),
                (
                    SliceKind::Kernel,
                    "gemm",
                    stream,
                    100,
                    300,
                    round as u64 + 1,
                ),
            ] {
                let name = trace.names.number(name);
                let slice = Slice::new(kind, name, track, at + from, (to - from) as u64);
                let mut args = ArgsText::default();
                if kind == SliceKind::Kernel {
                    args.add("correlation", "4711");
                    args.add("registers per thread", "32");
                    args.add("blocks per SM", "4");
                    args.add("anything", "new");
                    args.add("block", "64×1×1");
                    args.add("grid", "512×1×1");
                }
                trace.push_with(Slice { link, ..slice }, &args);
            }
        }
        trace
    }

    #[test]
    fn a_kernel_lies_within_what_surrounds_its_launch() {
        let trace = trace();
        let timeline = Timeline::from_trace(&trace);
        let facts = SliceFacts::from_slice(&timeline, &trace, 9);
        assert_eq!(facts.within, [5, 6, 7, 8]);
        assert_eq!(facts.modules, ["Net_0", "Conv2d_3"]);
        let keys: Vec<&str> = facts
            .arguments
            .iter()
            .map(|(key, _)| key.as_str())
            .collect();
        assert_eq!(
            keys,
            [
                "grid",
                "block",
                "registers per thread",
                "blocks per SM",
                "anything",
                "correlation"
            ]
        );
        assert!(facts.arguments_text().starts_with("grid\t512×1×1\nblock\t"));
        let op = SliceFacts::from_slice(&timeline, &trace, 2);
        assert_eq!((op.within, op.arguments.len()), (vec![0, 1], 0));
    }

    #[test]
    fn slices_of_a_name_come_one_after_the_other() {
        let trace = trace();
        let timeline = Timeline::from_trace(&trace);
        let first = SliceFacts::from_slice(&timeline, &trace, 4).same_name;
        let second = SliceFacts::from_slice(&timeline, &trace, 9).same_name;
        assert_eq!((first.count, first.before), (2, 0));
        assert_eq!((first.previous, first.next), (None, Some(9)));
        assert_eq!((second.previous, second.next), (Some(4), None));
        assert_eq!(second.before, 1);
    }

    #[test]
    fn a_path_that_the_profiler_wrote_is_taken_too() {
        let mut trace = Trace::default();
        let track = trace.track(Track::default());
        let mut args = ArgsText::default();
        args.add(HIERARCHY, "net.layer1.conv");
        trace.push_with(Slice::new(SliceKind::Operator, 0, track, 0, 100), &args);
        let kernel = Slice::new(SliceKind::Operator, 0, track, 10, 20);
        trace.push(kernel);
        let timeline = Timeline::from_trace(&trace);
        for slice in [0, 1] {
            let facts = SliceFacts::from_slice(&timeline, &trace, slice);
            assert_eq!(facts.modules, ["net", "layer1", "conv"]);
        }
    }

    #[test]
    fn details_become_arguments_where_a_file_has_none() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(
            pairs_of("grid 4×1×1, block 64×1×1"),
            Some(vec![pair("grid", "4×1×1"), pair("block", "64×1×1")])
        );
        assert_eq!(pairs_of("128 bytes"), Some(vec![pair("bytes", "128")]));
        assert_eq!(pairs_of("anything else"), None);
        assert_eq!(pairs_of(""), None);
    }
}
