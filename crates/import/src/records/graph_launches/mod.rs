//! Operators of what graphs of CUDA and HIP launched.
//!
//! One call launches a whole graph, so what lies around the call says little of the kernels in it. The operator is the
//! one that made the node of the kernel, where the file has nodes and their making; else that of the same kernels in the
//! same order outside of graphs; else what lies around the launch. A note says how many are which.

#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use super::graph_captures::{Capture, captures};
use super::launch_order::{NamedLaunch, name_by_order};
use super::nesting::{innermost_around, is_graph_launch};
use crate::Imported;
use crate::reading::by_id::ById;
use powerband_core::base::humanize;
use powerband_core::domain::names::Names;
use powerband_core::domain::slice_args::{fill, pairs};
use powerband_core::domain::trace::{Slice, SliceKind, Trace};
use powerband_core::domain::trace_operators::LAUNCHED_IN;
use powerband_core::domain::trace_steps::is_step_mark;

/// What profilers call the node of a kernel in its arguments: Kineto, and Nsight Systems.
const NODE: [&str; 2] = ["graph node id", "graphNodeId"];
/// The argument that `export_chrome_trace(cuda_graph_annotations=…)` of PyTorch adds to kernels of graphs.
const ANNOTATION: &str = "name";
/// What PyTorch writes behind the name of an operator in a range of NVTX.
const NVTX_DETAILS: [&str; 3] = [", seq = ", ", op_id = ", ", sizes = "];
/// So many copies of copies of a node are followed back: a graph is captured, copied and instantiated.
const GENERATIONS: usize = 8;

/// When a node of a graph was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// The process, as the upper half of links has it.
    pub process: u64,
    pub node: u64,
    /// The node that it is a copy of.
    pub original: Option<u64>,
    /// The thread that made it.
    pub track: u32,
    pub at_ns: i64,
}

/// Where the operator of a kernel of a graph is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum OperatorSource {
    /// What lies around the launch of the graph.
    #[default]
    Launch,
    /// The file names it beside the kernel.
    File,
    /// What made its node.
    Node,
    /// The same kernels in the same order outside of graphs.
    Order,
}

/// A slice that a graph launched. The slices of a launch are in the order of their nodes, else of their start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LaunchedSlice {
    link: u64,
    /// 0 where the file has none.
    node: u64,
    start_ns: i64,
    slice: u32,
    /// What the program called it during the capture, by number; 0 for nothing.
    annotation: u32,
}

/// A slice of a graph.
#[derive(Clone, Copy, Debug)]
struct GraphStep {
    node: u64,
    kind: SliceKind,
    named: NamedLaunch,
    source: OperatorSource,
}

impl GraphStep {
    fn set_op(&mut self, op: u32, source: OperatorSource) {
        if self.named.op == 0 && op != 0 {
            self.named.op = op;
            self.source = source;
        }
    }
}

/// What a graph launches each time.
#[derive(Debug)]
struct GraphSequence {
    process: u64,
    steps: Vec<GraphStep>,
}

/// The process of a link, where the file has several.
fn process_of(link: u64) -> u64 {
    link >> 32
}

/// Sets the operators of what graphs launched, and notes where they are from.
pub fn name_ops(imported: &mut Imported) {
    let trace = &mut imported.trace;
    let graph_calls = calls_that(trace, is_graph_launch);
    let launched = launched_slices(trace, &graph_calls);
    if launched.is_empty() {
        return;
    }
    if !trace.kinds().contains(&SliceKind::Operator) {
        name_by_range(trace);
    }
    let around = names_around(trace, &graph_calls);
    let (mut sequences, launches) = sequences(trace, &launched);
    let mut makers = makers_of_nodes(trace, &imported.graph_nodes);
    name_by_capture(&mut sequences, &captures(trace), &mut makers);
    for sequence in &mut sequences {
        for step in &mut sequence.steps {
            let maker = makers.get(&(sequence.process, step.node)).copied();
            step.set_op(maker.unwrap_or_default(), OperatorSource::Node);
        }
    }
    let mut named: Vec<Vec<NamedLaunch>> = (sequences.iter())
        .map(|sequence| sequence.steps.iter().map(|step| step.named).collect())
        .collect();
    name_by_order(&launches_outside(trace, &graph_calls), &mut named);
    for (sequence, named) in sequences.iter_mut().zip(&named) {
        for (step, named) in sequence.steps.iter_mut().zip(named) {
            step.set_op(named.op, OperatorSource::Order);
        }
    }
    let mut counts = OperatorCounts::default();
    let same_launch = |one: &LaunchedSlice, other: &LaunchedSlice| one.link == other.link;
    for (slices, &sequence) in launched.chunk_by(same_launch).zip(&launches) {
        let steps = sequences
            .get(sequence)
            .map_or(&[][..], |found| &found.steps);
        for (launched, step) in slices.iter().zip(steps) {
            let fallback = around.get(&launched.link).copied().unwrap_or_default();
            let op = Some(step.named.op).filter(|op| *op != 0);
            imported
                .trace
                .set_op(launched.slice as usize, op.unwrap_or(fallback));
            counts.add(step.source);
        }
    }
    if let Some(note) = counts.note() {
        imported.note(note);
    }
}

/// How many slices have their operator from where.
#[derive(Debug, Default)]
struct OperatorCounts {
    node: u64,
    order: u64,
    launch: u64,
}

impl OperatorCounts {
    fn add(&mut self, source: OperatorSource) {
        match source {
            OperatorSource::File => {}
            OperatorSource::Node => self.node += 1,
            OperatorSource::Order => self.order += 1,
            OperatorSource::Launch => self.launch += 1,
        }
    }

    fn note(&self) -> Option<String> {
        let parts = [
            (self.node, "the operator that made their node"),
            (
                self.order,
                "that of the same kernels in the same order outside of graphs",
            ),
            (self.launch, "what lies around the launch of the graph"),
        ];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, operator)| format!("{} have {operator}", humanize::count(count)))
            .collect();
        (!parts.is_empty()).then(|| {
            format!(
                "Operators of kernels, copies and sets that graphs launched: {}",
                parts.join(", ")
            )
        })
    }
}

/// Calls with a link and such a name, by their link.
fn calls_that(trace: &Trace, is_such: impl Fn(&str) -> bool) -> ById<Slice> {
    let numbers = 0..trace.names.len() as u32;
    let is_such: Vec<bool> = numbers
        .map(|number| is_such(trace.names.get(number)))
        .collect();
    if !is_such.contains(&true) {
        return ById::default();
    }
    let calls = trace.slices().filter(|slice| {
        slice.kind == SliceKind::Call && slice.link != 0 && is_such[slice.name as usize]
    });
    ById::of_last(calls.map(|call| (call.link as i64, call)).collect())
}

/// What graphs launched, with nodes where the arguments have them.
fn launched_slices(trace: &mut Trace, calls: &ById<Slice>) -> Vec<LaunchedSlice> {
    if calls.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<LaunchedSlice> = Vec::new();
    for (index, slice) in trace.slices().enumerate() {
        if slice.kind.is_work() && calls.get(slice.link as i64).is_some() {
            found.push(LaunchedSlice {
                link: slice.link,
                node: 0,
                start_ns: slice.start_ns,
                slice: index as u32,
                annotation: 0,
            });
        }
    }
    let mut annotations = Names::default();
    let mut packed = trace.args().packed_from(0);
    let (mut next, mut text) = (0, String::new());
    for launched in &mut found {
        let mut number = 0;
        while next <= launched.slice {
            number = packed.step();
            next += 1;
        }
        text.clear();
        fill(
            trace.args().text_with_holes(number),
            packed.numbers(),
            &mut text,
        );
        let mut annotation = "";
        for (key, value) in pairs(&text) {
            if NODE.contains(&key) {
                launched.node = value.parse().unwrap_or_default();
            } else if key == ANNOTATION {
                annotation = value;
            }
        }
        if launched.node != 0 {
            launched.annotation = annotations.number(annotation);
        }
    }
    for launched in &mut found {
        launched.annotation = trace.names.number(annotations.get(launched.annotation));
    }
    found.sort_unstable();
    found
}

/// Sets the operator of what calls launched to the range around the call, where a file has no operators but ranges.
fn name_by_range(trace: &mut Trace) {
    let calls = calls_that(trace, |name| !is_graph_launch(name));
    let around = around_calls(trace, &calls, operator_of_range);
    for index in 0..trace.len() {
        let slice = trace.slice(index);
        if slice.kind.is_work()
            && slice.op == 0
            && let Some(&op) = around.get(&slice.link)
        {
            trace.set_op(index, op);
        }
    }
}

/// The operator of what was launched in a range: the range, where it is called like an operator, as PyTorch's are.
fn operator_of_range(range: &str) -> String {
    if range.contains("::") {
        range.to_owned()
    } else {
        launched_in(range)
    }
}

/// The operator of what was launched within something that is none.
fn launched_in(around: &str) -> String {
    format!("{LAUNCHED_IN}{around}")
}

/// What launches of graphs lie in, by their link; the call itself where they lie in nothing.
fn names_around(trace: &mut Trace, calls: &ById<Slice>) -> FxHashMap<u64, u32> {
    let mut around: FxHashMap<u64, u32> = FxHashMap::default();
    for (link, call) in calls.iter() {
        let name = launched_in(trace.names.get(call.name));
        around.insert(*link as u64, trace.names.number(&name));
    }
    around.extend(around_calls(trace, calls, launched_in));
    around
}

/// The innermost operator or range around calls, by their link, called as `name` says.
fn around_calls(
    trace: &mut Trace,
    calls: &ById<Slice>,
    name: fn(&str) -> String,
) -> FxHashMap<u64, u32> {
    let calls: Vec<&Slice> = calls.iter().map(|(_, call)| call).collect();
    let moments = calls.iter().enumerate();
    let moments = moments.map(|(place, call)| (call.track, call.start_ns, place as u32));
    let around = around_moments(trace, moments.collect(), name).into_iter();
    around
        .map(|(place, op)| (calls[place as usize].link, op))
        .collect()
}

/// The innermost operator or range around moments of threads, by their numbers; marks of steps are neither.
fn around_moments(
    trace: &mut Trace,
    moments: Vec<(u32, i64, u32)>,
    name: fn(&str) -> String,
) -> Vec<(u32, u32)> {
    let is_wanted = |slice: &Slice| {
        matches!(slice.kind, SliceKind::Operator | SliceKind::Range)
            && !is_step_mark(trace.names.get(slice.name))
    };
    let mut found = innermost_around(trace, moments, is_wanted);
    let mut named: FxHashMap<u32, u32> = FxHashMap::default();
    for (_, around) in &mut found {
        *around = *named.entry(*around).or_insert_with(|| {
            let title = trace.names.get(*around);
            let ends = NVTX_DETAILS.iter().filter_map(|begin| title.find(begin));
            let end = ends.min().unwrap_or(title.len());
            let name = name(title.get(..end).unwrap_or_default());
            trace.names.number(&name)
        });
    }
    found
}

/// The distinct sequences that were launched, and which of them each launch is.
fn sequences(trace: &Trace, launched: &[LaunchedSlice]) -> (Vec<GraphSequence>, Vec<usize>) {
    let mut sequences: Vec<GraphSequence> = Vec::new();
    let mut places: FxHashMap<(u64, Vec<(u64, u32)>), usize> = FxHashMap::default();
    let mut launches = Vec::new();
    for slices in launched.chunk_by(|one, other| one.link == other.link) {
        let steps: Vec<GraphStep> = slices.iter().map(|one| graph_step(trace, one)).collect();
        let key = steps.iter().map(|step| (step.node, step.named.name));
        let process = slices.first().map_or(0, |one| process_of(one.link));
        let place = places.entry((process, key.collect())).or_insert_with(|| {
            sequences.push(GraphSequence { process, steps });
            sequences.len() - 1
        });
        launches.push(*place);
    }
    (sequences, launches)
}

fn graph_step(trace: &Trace, launched: &LaunchedSlice) -> GraphStep {
    let slice = trace.slice(launched.slice as usize);
    let mut step = GraphStep {
        node: launched.node,
        kind: slice.kind,
        named: NamedLaunch {
            name: slice.name,
            op: 0,
        },
        source: OperatorSource::Launch,
    };
    step.set_op(slice.op, OperatorSource::File);
    step.set_op(launched.annotation, OperatorSource::Node);
    step
}

/// Operators and ranges in which nodes were made, by process and node.
fn makers_of_nodes(trace: &mut Trace, nodes: &[GraphNode]) -> FxHashMap<(u64, u64), u32> {
    let moments = nodes.iter().enumerate();
    let moments = moments.map(|(place, node)| (node.track, node.at_ns, place as u32));
    let mut made: FxHashMap<(u64, u64), u32> = FxHashMap::default();
    for (place, op) in around_moments(trace, moments.collect(), operator_of_range) {
        let node = &nodes[place as usize];
        // A copy is made while the graph is instantiated, and belongs to nothing there.
        if node.original.is_none() {
            made.insert((node.process, node.node), op);
        }
    }
    let originals: FxHashMap<(u64, u64), u64> = (nodes.iter())
        .filter_map(|node| Some(((node.process, node.node), node.original?)))
        .collect();
    let mut makers = FxHashMap::default();
    for node in nodes {
        let mut first = node.node;
        for _ in 0..GENERATIONS {
            let Some(&original) = originals.get(&(node.process, first)) else {
                break;
            };
            first = original;
        }
        if let Some(&op) = made.get(&(node.process, first)) {
            makers.insert((node.process, node.node), op);
        }
    }
    makers
}

/// Names the steps of whole graphs by a capture that the trace has: as many launches of the same kinds, in the order in
/// which nodes were made. Captures alike that name the operators differently name nothing.
fn name_by_capture(
    sequences: &mut [GraphSequence],
    captures: &[Capture],
    makers: &mut FxHashMap<(u64, u64), u32>,
) {
    for sequence in sequences {
        let kinds = || sequence.steps.iter().map(|step| step.kind);
        let mut alike = captures
            .iter()
            .filter(|capture| capture.kinds().eq(kinds()));
        let Some(capture) = alike.next() else {
            continue;
        };
        if alike.any(|other| other != capture) {
            continue;
        }
        for (step, launch) in sequence.steps.iter_mut().zip(&capture.launches) {
            step.set_op(launch.op, OperatorSource::Node);
            if step.node != 0 && launch.op != 0 {
                makers.insert((sequence.process, step.node), launch.op);
            }
        }
    }
}

/// What ran outside of graphs, in the order in which it was launched.
fn launches_outside(trace: &Trace, calls: &ById<Slice>) -> Vec<NamedLaunch> {
    let slices = trace.slices();
    let outside = slices.filter(|slice| {
        slice.kind.is_work() && slice.link != 0 && calls.get(slice.link as i64).is_none()
    });
    let mut outside: Vec<(u64, i64, NamedLaunch)> = outside
        .map(|slice| {
            let named = NamedLaunch {
                name: slice.name,
                op: slice.op,
            };
            (slice.link, slice.start_ns, named)
        })
        .collect();
    // Links count up from launch to launch.
    outside.sort_by_key(|(link, start_ns, _)| (*link, *start_ns));
    outside.into_iter().map(|(.., named)| named).collect()
}
