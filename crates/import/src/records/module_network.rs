//! The graph of a trace of PyTorch: the outermost operators of one step, in the modules of the network that they lie
//! in, in the order in which they ran.
//!
//! Operators of one name are one sum in the profile, so each node has its time itself: that of what it launched on a
//! device, or, where nothing was launched, its own on the host.

use rustc_hash::FxHashMap;

use crate::records::nesting;
use powerband_core::base::humanize;
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

/// The graph of a trace; nothing where it has no operators.
pub(crate) fn module_network(trace: &Trace) -> Option<Network> {
    trace
        .kinds()
        .iter()
        .find(|kind| **kind == SliceKind::Operator)?;
    let step = drawn_step(trace);
    let mut found = StepOperators::read(trace, step.as_ref());
    let has_modules = found
        .operators
        .iter()
        .any(|operator| !operator.path.is_empty());
    let is_of_device = found.add_device_times(trace, step.is_none());
    let nodes = found.into_nodes(trace, is_of_device);
    if nodes.is_empty() {
        return None;
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
    Some(network)
}

/// The part of a trace that is drawn.
struct DrawnStep {
    start_ns: i64,
    end_ns: i64,
    note: String,
}

/// The step of median length: by the profiler's marks, else by the outermost module that ran first.
fn drawn_step(trace: &Trace) -> Option<DrawnStep> {
    let marks: Vec<Slice> = trace
        .slices()
        .filter(|slice| {
            slice.kind != SliceKind::Script
                && is_of_host(trace, slice)
                && is_mark(trace.names.get(slice.name))
        })
        .collect();
    let mut steps = if marks.is_empty() {
        outermost_modules(trace)
    } else {
        marks
    };
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
    nesting::each_within(trace, is_module, |index, outer| {
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

/// Whether a name is that of a step or a run: `ProfilerStep#5`, `run 2`.
fn is_mark(name: &str) -> bool {
    let number = name.strip_prefix(STEP).or_else(|| name.strip_prefix(RUN));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()))
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
    slice: Slice,
    /// Modules around it, the outermost first.
    path: String,
    /// Its time on the host, without that of the nodes in modules within it.
    host_ns: u64,
    device_ns: u64,
}

/// What a slice is part of.
#[derive(Clone, Default)]
struct Surroundings {
    path: String,
    /// The node that it is part of.
    operator: Option<usize>,
    /// The node that the module around it lies in.
    outer_operator: Option<usize>,
}

#[derive(Default)]
struct StepOperators {
    operators: Vec<OuterOperator>,
    /// The nodes of calls that launch something, by their links; nothing for a call outside of operators.
    launches: FxHashMap<u64, Option<usize>>,
    /// Time of what was launched by no operator.
    unowned_ns: u64,
}

impl StepOperators {
    fn read(trace: &Trace, step: Option<&DrawnStep>) -> Self {
        let mut found = Self::default();
        let mut known: FxHashMap<u32, Surroundings> = FxHashMap::default();
        let is_wanted = |slice: &Slice| {
            let is_inside = step
                .is_none_or(|step| slice.start_ns >= step.start_ns && slice.start_ns < step.end_ns);
            let is_part = match slice.kind {
                SliceKind::Operator | SliceKind::Call => is_of_host(trace, slice),
                SliceKind::Script => is_module(trace, slice),
                _ => false,
            };
            is_inside && is_part && !is_mark(trace.names.get(slice.name))
        };
        nesting::each_within(trace, is_wanted, |index, outer| {
            let around = outer.and_then(|outer| known.get(&outer));
            let around = around.cloned().unwrap_or_default();
            let slice = trace.slice(index as usize);
            let own = found.take(trace, slice, around);
            known.insert(index, own);
        });
        found
    }

    /// Takes a slice in, and says what lies within it.
    fn take(&mut self, trace: &Trace, slice: Slice, around: Surroundings) -> Surroundings {
        match slice.kind {
            SliceKind::Script => {
                let name = trace.names.get(slice.name);
                let name = name.strip_prefix(MODULE).unwrap_or(name);
                Surroundings {
                    path: format!("{}{name}/", around.path),
                    operator: None,
                    outer_operator: around.operator.or(around.outer_operator),
                }
            }
            SliceKind::Operator if around.operator.is_none() => {
                if let Some(outer) = around.outer_operator {
                    let outer = &mut self.operators[outer].host_ns;
                    *outer = outer.saturating_sub(slice.duration_ns);
                }
                self.operators.push(OuterOperator {
                    slice,
                    path: around.path.clone(),
                    host_ns: slice.duration_ns,
                    device_ns: 0,
                });
                Surroundings {
                    operator: Some(self.operators.len() - 1),
                    ..around
                }
            }
            SliceKind::Call if slice.link != 0 => {
                let operator = around.operator.or(around.outer_operator);
                self.launches.insert(slice.link, operator);
                around
            }
            _ => around,
        }
    }

    /// Adds the times of what was launched to the operators. Returns whether there are any.
    fn add_device_times(&mut self, trace: &Trace, takes_unlinked: bool) -> bool {
        let mut is_any = false;
        for slice in trace.slices().filter(|slice| slice.kind.is_work()) {
            let launch = self.launches.get(&slice.link).copied();
            let sum = match launch {
                Some(Some(operator)) => &mut self.operators[operator].device_ns,
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
        self.operators
            .sort_by_key(|operator| operator.slice.start_ns);
        let mut seen: FxHashMap<String, u64> = FxHashMap::default();
        let mut nodes: Vec<NetworkNode> = Vec::new();
        for operator in self.operators.iter().take(MOST_NODES) {
            let op = trace.names.get(operator.slice.name);
            let plain = format!("{}{op}", operator.path);
            let count = seen.entry(plain.clone()).or_default();
            *count += 1;
            nodes.push(NetworkNode {
                name: match *count {
                    1 => plain,
                    count => format!("{plain} ({count})"),
                },
                is_named: !operator.path.is_empty(),
                op: op.to_owned(),
                time_ns: Some(by_kind(operator) as f64),
                ..NetworkNode::default()
            });
        }
        let further = self.operators.iter().skip(MOST_NODES);
        let further_ns: u64 = further.clone().map(by_kind).sum();
        let n_further = further.count() as u64;
        let more = humanize::pluralised(n_further, "further operator");
        nodes.extend((n_further > 0).then(|| rest_node(more, further_ns)));
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
        let network = module_network(&imported.trace).unwrap();
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
        let network = module_network(&testing::fixture(file).trace).unwrap();
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
        let network = module_network(&trace).unwrap();
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
        let network = module_network(&trace).unwrap();
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
        assert!(module_network(&Trace::default()).is_none());
    }
}
