//! The graph of a trace of PyTorch: the outermost operators of one step, in the modules of the network that they lie
//! in, in the order in which they ran.
//!
//! Operators of one name are one sum in the profile, so each node has its time itself: that of what it launched on a
//! device, or, where nothing was launched, its own on the host.

use rustc_hash::FxHashMap;

use powerband_core::base::humanize;
use powerband_core::domain::network::{Network, NetworkNode};
use powerband_core::domain::trace::{SliceKind, Trace};
use powerband_core::domain::trace_operators::TraceOperators;
use powerband_core::domain::trace_steps::{median_step, trace_steps};

/// Nodes that are drawn; the time of further ones is that of one node.
const MOST_NODES: usize = 20_000;

/// The graph of a trace, and what is to be said where it is not drawn.
pub(crate) fn module_network(trace: &Trace) -> (Option<Network>, Option<String>) {
    let steps = trace_steps(trace);
    let step = median_step(&steps);
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
    let found = TraceOperators::read(trace, step.as_ref());
    let times = OperatorTimes::read(trace, &found, step.is_none());
    let nodes = nodes(trace, &found, &times);
    if nodes.is_empty() {
        return (None, None);
    }
    let mut network = Network::in_order(nodes);
    network.notes.extend(step.map(|step| {
        format!(
            "One step is drawn, {}: that of median length of {}",
            step.title(trace),
            steps.len()
        )
    }));
    if found.paths.is_empty() {
        network.notes.push(
            "The trace has no modules of the network: record it with with_stack=True".to_owned(),
        );
    }
    let note = if times.is_of_device {
        "Times are those of the kernels and copies that an operator launched"
    } else {
        "Times are those of operators on the host"
    };
    network.notes.push(note.to_owned());
    (Some(network), None)
}

/// What operators took.
struct OperatorTimes {
    /// Of each operator, in nanoseconds.
    by_operator: Vec<u64>,
    /// Of what was launched by no operator.
    unowned_ns: u64,
    /// Whether they are those of what was launched.
    is_of_device: bool,
}

impl OperatorTimes {
    fn read(trace: &Trace, found: &TraceOperators, takes_unlinked: bool) -> Self {
        let mut times = Self {
            by_operator: vec![0; found.operators.len()],
            unowned_ns: 0,
            is_of_device: false,
        };
        for slice in trace.slices().filter(|slice| slice.kind.is_work()) {
            let call = found.launch_call(slice.link);
            let operator = call.and_then(|call| call.operator);
            let sum = match operator {
                Some(operator) => &mut times.by_operator[operator as usize],
                None if call.is_some() || takes_unlinked => &mut times.unowned_ns,
                None => continue,
            };
            *sum = sum.saturating_add(slice.duration_ns);
            times.is_of_device |= operator.is_some();
        }
        if !times.is_of_device {
            let host = found.operators.iter().map(|operator| operator.host_ns);
            times.by_operator = host.collect();
            times.unowned_ns = 0;
        }
        times
    }
}

fn nodes(trace: &Trace, found: &TraceOperators, times: &OperatorTimes) -> Vec<NetworkNode> {
    let start_ns = |place: &usize| trace.slice(found.operators[*place].slice as usize).start_ns;
    let mut order: Vec<usize> = (0..found.operators.len()).collect();
    order.sort_by_key(start_ns);
    let (drawn, further) = order.split_at(order.len().min(MOST_NODES));
    let mut counts: FxHashMap<(u32, u32), u64> = FxHashMap::default();
    let mut nodes: Vec<NetworkNode> = Vec::with_capacity(drawn.len());
    for &place in drawn {
        let operator = &found.operators[place];
        let name = trace.slice(operator.slice as usize).name;
        let op = trace.names.get(name);
        let plain = format!("{}{op}", found.modules(operator));
        let count = counts.entry((operator.path, name)).or_default();
        *count += 1;
        nodes.push(NetworkNode {
            name: match *count {
                1 => plain,
                count => format!("{plain} ({count})"),
            },
            is_named: operator.path != 0,
            op: op.to_owned(),
            time_ns: Some(times.by_operator[place] as f64),
            ..NetworkNode::default()
        });
    }
    let more = humanize::pluralised(further.len() as u64, "further operator");
    let further_ns = further.iter().map(|place| times.by_operator[*place]).sum();
    nodes.extend((!further.is_empty()).then(|| rest_node(more, further_ns)));
    let unowned = "launched by no operator".to_owned();
    nodes.extend((times.unowned_ns > 0).then(|| rest_node(unowned, times.unowned_ns)));
    nodes
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
    use powerband_core::domain::trace::{Slice, Track};

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
        let runs = trace_steps(&trace);
        assert_eq!(runs.len(), 3);
        assert!(sum_ns(&network) < runs.iter().map(|run| run.duration_ns() as f64).sum::<f64>());
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
