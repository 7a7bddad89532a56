//! The graph of a trace of PyTorch: the outermost operators of one step, in the modules of the network that they lie
//! in, in the order in which they ran.
//!
//! Operators of one name are one sum in the profile, so each node has its time itself: that of what it launched on a
//! device, or, where nothing was launched, its own on the host.

use rustc_hash::FxHashMap;

use crate::reading::by_id::ById;
use crate::records::nesting;
use powerband_core::base::humanize;
use powerband_core::domain::names::Names;
use powerband_core::domain::network::{Network, NetworkNode};
use powerband_core::domain::trace::{Slice, SliceKind, Trace};

/// What names of modules begin with.
const MODULE: &str = "nn.Module: ";
/// What marks of steps begin with.
const STEP: &str = "ProfilerStep#";
/// What marks of runs begin with where Powerband had PyTorch watch itself.
const RUN: &str = "run ";
/// Nodes that are drawn; the time of further ones is that of one node.
const MOST_NODES: usize = 20_000;

/// The graph of a trace, and what is to be said where it is not drawn.
pub(crate) fn module_network(trace: &Trace) -> (Option<Network>, Option<String>) {
    let is_mark = names_of_marks(&trace.names);
    let step = drawn_step(trace, &is_mark);
    let n_operators = trace
        .kinds()
        .iter()
        .filter(|kind| **kind == SliceKind::Operator)
        .count();
    if step.is_none() && n_operators > MOST_NODES {
        let note = format!(
            "The network is not drawn: nothing divides the {} of the trace into steps. Call the profiler's step() after each one, or record with with_stack=True",
            humanize::pluralised(n_operators as u64, "operator")
        );
        return (None, Some(note));
    }
    let mut found = StepOperators::read(trace, &is_mark, step.as_ref());
    let has_modules = found.paths.len() > 1;
    let is_of_device = found.add_device_times(trace, step.is_none());
    let nodes = found.into_nodes(trace, is_of_device);
    if nodes.is_empty() {
        return (None, None);
    }
    let mut network = Network::in_order(nodes);
    network.notes.extend(step.map(|step| step.note));
    if !has_modules {
        network.notes.push(
            "The trace has no modules of the network: record it with with_stack=True".to_owned(),
        );
    }
    let times = if is_of_device {
        "Times are those of the kernels and copies that an operator launched"
    } else {
        "Times are those of operators on the host"
    };
    network.notes.push(times.to_owned());
    (Some(network), None)
}

/// The part of a trace that is drawn.
struct DrawnStep {
    start_ns: i64,
    end_ns: i64,
    note: String,
}

impl DrawnStep {
    fn begins_within(&self, slice: &Slice) -> bool {
        slice.start_ns >= self.start_ns && slice.start_ns < self.end_ns
    }
}

/// The step of median length: by the profiler's marks, else by the outermost module that ran first.
fn drawn_step(trace: &Trace, is_mark: &[bool]) -> Option<DrawnStep> {
    let marks = trace.slices().filter(|slice| {
        is_mark[slice.name as usize] && slice.kind != SliceKind::Script && is_of_host(trace, slice)
    });
    let mut steps: Vec<Slice> = marks.collect();
    if steps.is_empty() {
        steps = outermost_modules(trace);
    }
    let n_steps = steps.len();
    steps.sort_unstable_by_key(|slice| slice.duration_ns);
    let step = steps.get(n_steps / 2)?;
    let name = trace.names.get(step.name);
    Some(DrawnStep {
        start_ns: step.start_ns,
        end_ns: step.end_ns(),
        note: format!(
            "One step is drawn, {}: that of median length of {n_steps}",
            name.strip_prefix(MODULE).unwrap_or(name)
        ),
    })
}

/// The runs of the outermost module that ran first, where it ran more than once.
fn outermost_modules(trace: &Trace) -> Vec<Slice> {
    let mut outermost: Vec<Slice> = Vec::new();
    let is_module = |slice: &Slice| is_module(trace, slice);
    nesting::each_within(trace, is_module, |index, outer: Option<&()>| {
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
    outermost
}

/// Which names, by their number, are those of a step or a run: `ProfilerStep#5`, `run 2`.
fn names_of_marks(names: &Names) -> Vec<bool> {
    let is_mark = |name: &str| {
        let number = name.strip_prefix(STEP).or_else(|| name.strip_prefix(RUN));
        number
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()))
    };
    let numbers = 0..names.len() as u32;
    numbers.map(|number| is_mark(names.get(number))).collect()
}

fn is_of_host(trace: &Trace, slice: &Slice) -> bool {
    let track = trace.tracks.get(slice.track as usize);
    track.is_some_and(|track| track.device.is_none())
}

fn is_module(trace: &Trace, slice: &Slice) -> bool {
    slice.kind == SliceKind::Script && trace.names.get(slice.name).starts_with(MODULE)
}

/// An operator that lies in no other of its module.
struct OuterOperator {
    name: u32,
    /// The number of the modules around it.
    path: u32,
    start_ns: i64,
    /// Its time on the host, without that of the nodes in modules within it.
    host_ns: u64,
    device_ns: u64,
}

/// What a slice is part of.
#[derive(Clone, Copy, Default)]
struct Surroundings {
    path: u32,
    /// The node that it is part of.
    operator: Option<u32>,
    /// The node that the module around it lies in.
    outer_operator: Option<u32>,
}

#[derive(Default)]
struct StepOperators {
    operators: Vec<OuterOperator>,
    /// Modules within modules, the outermost first: `Net_0/Block_1/`.
    paths: Names,
    /// The nodes of calls that launch something, by their links; nothing for a call outside of operators.
    launches: ById<Option<u32>>,
    /// Time of what was launched by no operator.
    unowned_ns: u64,
}

impl StepOperators {
    fn read(trace: &Trace, is_mark: &[bool], step: Option<&DrawnStep>) -> Self {
        let mut found = Self::default();
        let mut launches = Vec::new();
        let is_wanted = |slice: &Slice| {
            let is_part = match slice.kind {
                SliceKind::Operator | SliceKind::Call => is_of_host(trace, slice),
                SliceKind::Script => is_module(trace, slice),
                _ => false,
            };
            is_part
                && step.is_none_or(|step| step.begins_within(slice))
                && !is_mark[slice.name as usize]
        };
        nesting::each_within(trace, is_wanted, |index, around: Option<&Surroundings>| {
            let around = around.copied().unwrap_or_default();
            let slice = trace.slice(index as usize);
            if slice.kind == SliceKind::Call && slice.link != 0 {
                let operator = around.operator.or(around.outer_operator);
                launches.push((slice.link as i64, operator));
            }
            found.take(trace, &slice, around)
        });
        found.launches = ById::of_last(launches);
        found
    }

    /// Takes a slice in, and says what lies within it.
    fn take(&mut self, trace: &Trace, slice: &Slice, around: Surroundings) -> Surroundings {
        let name = trace.names.get(slice.name);
        match slice.kind {
            SliceKind::Script => {
                let name = name.strip_prefix(MODULE).unwrap_or(name);
                let path = format!("{}{name}/", self.paths.get(around.path));
                Surroundings {
                    path: self.paths.number(&path),
                    operator: None,
                    outer_operator: around.operator.or(around.outer_operator),
                }
            }
            SliceKind::Operator if around.operator.is_none() => {
                if let Some(outer) = around.outer_operator {
                    let outer = &mut self.operators[outer as usize].host_ns;
                    *outer = outer.saturating_sub(slice.duration_ns);
                }
                self.operators.push(OuterOperator {
                    name: slice.name,
                    path: around.path,
                    start_ns: slice.start_ns,
                    host_ns: slice.duration_ns,
                    device_ns: 0,
                });
                Surroundings {
                    operator: Some(self.operators.len() as u32 - 1),
                    ..around
                }
            }
            _ => around,
        }
    }

    /// Adds the times of what was launched to the operators. Returns whether there are any.
    fn add_device_times(&mut self, trace: &Trace, takes_unlinked: bool) -> bool {
        let mut is_any = false;
        for slice in trace.slices().filter(|slice| slice.kind.is_work()) {
            let launch = self.launches.get(slice.link as i64).copied();
            let sum = match launch {
                Some(Some(operator)) => &mut self.operators[operator as usize].device_ns,
                Some(None) => &mut self.unowned_ns,
                None if takes_unlinked => &mut self.unowned_ns,
                None => continue,
            };
            *sum = sum.saturating_add(slice.duration_ns);
            is_any |= matches!(launch, Some(Some(_)));
        }
        is_any
    }

    fn into_nodes(mut self, trace: &Trace, is_of_device: bool) -> Vec<NetworkNode> {
        let by_kind = |operator: &OuterOperator| {
            if is_of_device {
                operator.device_ns
            } else {
                operator.host_ns
            }
        };
        self.operators.sort_by_key(|operator| operator.start_ns);
        let n_drawn = self.operators.len().min(MOST_NODES);
        let (drawn, further) = self.operators.split_at(n_drawn);
        let mut counts: FxHashMap<(u32, u32), u64> = FxHashMap::default();
        let mut nodes: Vec<NetworkNode> = Vec::with_capacity(drawn.len());
        for operator in drawn {
            let op = trace.names.get(operator.name);
            let plain = format!("{}{op}", self.paths.get(operator.path));
            let count = counts.entry((operator.path, operator.name)).or_default();
            *count += 1;
            nodes.push(NetworkNode {
                name: match *count {
                    1 => plain,
                    count => format!("{plain} ({count})"),
                },
                is_named: operator.path != 0,
                op: op.to_owned(),
                time_ns: Some(by_kind(operator) as f64),
                ..NetworkNode::default()
            });
        }
        let more = humanize::pluralised(further.len() as u64, "further operator");
        let further_ns = further.iter().map(by_kind).sum();
        nodes.extend((!further.is_empty()).then(|| rest_node(more, further_ns)));
        let unowned = is_of_device && self.unowned_ns > 0;
        nodes.extend(
            unowned.then(|| rest_node("launched by no operator".to_owned(), self.unowned_ns)),
        );
        nodes
    }
}

/// A node for what has none of its own, so that all times add up.
fn rest_node(name: String, time_ns: u64) -> NetworkNode {
    NetworkNode {
        op: name.clone(),
        name,
        time_ns: Some(time_ns as f64),
        ..NetworkNode::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use powerband_core::domain::trace::Track;

    fn sum_ns(network: &Network) -> f64 {
        network.nodes.iter().filter_map(|node| node.time_ns).sum()
    }

    #[test]
    fn a_real_trace_is_drawn_by_its_modules_and_its_times_add_up() {
        let imported = testing::fixture("kineto/mi300-vit-nsfw-inference.json.gz");
        let network = module_network(&imported.trace).0.unwrap();
        let work = imported.trace.slices().filter(|slice| slice.kind.is_work());
        let work_ns: u64 = work.map(|slice| slice.duration_ns).sum();
        assert!(
            (sum_ns(&network) - work_ns as f64).abs() < 1.0,
            "{} {work_ns}",
            sum_ns(&network)
        );
        let in_modules = network.nodes.iter().filter(|node| node.is_named);
        assert!(
            in_modules
                .clone()
                .all(|node| node.name.starts_with("ViTModel_0/"))
        );
        let names: std::collections::HashSet<&str> = network
            .nodes
            .iter()
            .map(|node| node.name.as_str())
            .collect();
        assert_eq!((names.len(), network.nodes.len()), (276, 276));
        let conv = "ViTModel_0/ViTEmbeddings_0/ViTPatchEmbeddings_0/Conv2d_0/aten::conv2d";
        assert!(names.contains(conv), "{names:?}");
    }

    #[test]
    fn one_step_of_several_is_drawn() {
        let file = "kineto/resnet50-v100-train.pt.trace.json.gz";
        let network = module_network(&testing::fixture(file).trace).0.unwrap();
        assert!(
            network
                .notes
                .iter()
                .any(|note| note.starts_with("One step is drawn, ProfilerStep#8")),
            "{:?}",
            network.notes
        );
        assert!(network.notes.iter().any(|note| note.contains("no modules")));
        // Everything that calls of that step launched.
        assert!((sum_ns(&network) - 104_622_000.0).abs() < 1.0);
        assert_eq!(network.nodes.len(), 581);
    }

    #[test]
    fn runs_of_the_outermost_module_are_steps_where_none_are_marked() {
        let file = "kineto/torch215-blocks-stack.json.gz";
        let trace = testing::fixture(file).trace;
        let network = module_network(&trace).0.unwrap();
        let note = &network.notes[1];
        assert!(
            note.starts_with("One step is drawn, Net_0") && note.ends_with("of 3"),
            "{note}"
        );
        let convs = network
            .nodes
            .iter()
            .filter(|node| node.op == "aten::conv2d");
        let convs: Vec<&str> = convs.map(|node| node.name.as_str()).collect();
        let expected = [
            "Net_0/Conv2d_0/aten::conv2d",
            "Net_0/Sequential_0/Block_0/Conv2d_1/aten::conv2d",
            "Net_0/Sequential_0/Block_0/Conv2d_2/aten::conv2d",
            "Net_0/Sequential_0/Block_1/Conv2d_3/aten::conv2d",
            "Net_0/Sequential_0/Block_1/Conv2d_4/aten::conv2d",
        ];
        assert_eq!(convs, expected);
        // The outermost operators of all three runs take three times as long, more or less.
        let median = outermost_modules(&trace);
        assert_eq!(median.len(), 3);
        assert!(sum_ns(&network) < median.iter().map(|run| run.duration_ns as f64).sum::<f64>());
    }

    #[test]
    fn an_operator_around_modules_keeps_only_what_is_not_in_them() {
        let mut trace = Trace::default();
        let main = trace.track(Track::default());
        for (kind, name, start_ns, duration_ns) in [
            (SliceKind::Operator, "wrapper", 0, 1000),
            (SliceKind::Script, "nn.Module: Net_0", 100, 700),
            (SliceKind::Operator, "aten::relu", 150, 200),
            (SliceKind::Operator, "aten::clamp_min", 160, 100),
            (SliceKind::Operator, "aten::relu", 400, 50),
        ] {
            let name = trace.names.number(name);
            trace.push(Slice::new(kind, name, main, start_ns, duration_ns));
        }
        let network = module_network(&trace).0.unwrap();
        let nodes = network
            .nodes
            .iter()
            .map(|node| (node.name.as_str(), node.time_ns));
        let expected = [
            ("wrapper", Some(750.0)),
            ("Net_0/aten::relu", Some(200.0)),
            ("Net_0/aten::relu (2)", Some(50.0)),
        ];
        assert_eq!(nodes.collect::<Vec<_>>(), expected);
        assert_eq!(network.edges.len(), 2);
        assert_eq!(module_network(&Trace::default()), (None, None));
    }

    #[test]
    fn many_operators_without_steps_are_no_picture() {
        let mut trace = Trace::default();
        let main = trace.track(Track::default());
        let relu = trace.names.number("aten::relu");
        for index in 0..=MOST_NODES as i64 {
            trace.push(Slice::new(SliceKind::Operator, relu, main, 10 * index, 5));
        }
        let (network, note) = module_network(&trace);
        assert!(network.is_none());
        assert!(
            note.unwrap()
                .contains("the 20,001 operators of the trace into steps")
        );
        // With one step around them, all but the last have a box, and that one's time is kept.
        let step = trace.names.number("ProfilerStep#1");
        let length = 10 * (MOST_NODES as u64 + 1);
        trace.push(Slice::new(SliceKind::Other, step, main, 0, length));
        let network = module_network(&trace).0.unwrap();
        assert_eq!(network.nodes.len(), MOST_NODES + 1);
        assert_eq!(network.nodes.last().unwrap().name, "1 further operator");
        assert!((sum_ns(&network) - 5.0 * (MOST_NODES as f64 + 1.0)).abs() < 1e-6);
    }
}
