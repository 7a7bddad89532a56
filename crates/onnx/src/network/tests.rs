//! Graphs of built-in networks and of files that are made up here.

use super::*;
use crate::pb::attribute_proto::AttributeType;
use crate::pb::{AttributeProto, FunctionProto, GraphProto, NodeProto, ValueInfoProto};
use powerband_core::domain::event::RunStart;
use powerband_core::domain::network::{NetworkNode, NodeKind};
use powerband_core::domain::profile::Profile;

fn node(op: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        op_type: op.to_owned(),
        input: inputs.iter().map(ToString::to_string).collect(),
        output: vec![output.to_owned()],
        ..NodeProto::default()
    }
}

fn value(name: &str) -> ValueInfoProto {
    ValueInfoProto {
        name: name.to_owned(),
        ..Default::default()
    }
}

/// A function from `x` to `y`.
fn function(name: &str, nodes: Vec<NodeProto>) -> FunctionProto {
    FunctionProto {
        name: Some(name.to_owned()),
        domain: Some("own".to_owned()),
        input: vec!["x".to_owned()],
        output: vec!["y".to_owned()],
        node: nodes,
        ..FunctionProto::default()
    }
}

fn call(name: &str, input: &str, output: &str) -> NodeProto {
    NodeProto {
        domain: "own".to_owned(),
        ..node(name, &[input], output)
    }
}

/// A file from `in` to `out` with functions.
fn with_functions(nodes: Vec<NodeProto>, functions: Vec<FunctionProto>) -> Network {
    let model = ModelProto {
        graph: Some(GraphProto {
            node: nodes,
            input: vec![value("in")],
            output: vec![value("out")],
            ..GraphProto::default()
        }),
        functions,
        ..ModelProto::default()
    };
    with_shapes(&model, "functions", &[])
}

fn ops(network: &Network) -> Vec<&str> {
    let nodes = network.nodes.iter();
    nodes.map(|node| node.op.as_str()).collect()
}

fn edges(network: &Network) -> Vec<(usize, usize)> {
    let edges = network.edges.iter();
    edges.map(|edge| (edge.from, edge.to)).collect()
}

fn drawn(name: &str) -> Network {
    let model = zoo::outline(zoo::find(name).unwrap());
    at_point(&model, name, Point::of_batch(1), &InputSizes::default())
}

#[test]
fn a_network_has_its_nodes_edges_shapes_and_weights() {
    let network = drawn("resnet18");
    let ops = |op: &str| network.nodes.iter().filter(|node| node.op == op).count();
    assert_eq!((ops("Conv"), ops("Add"), ops("Gemm")), (20, 8, 1));
    assert_eq!(network.nodes[0].kind, NodeKind::Input);
    assert_eq!(network.nodes.last().unwrap().kind, NodeKind::Output);
    let conv = network.nodes.iter().position(|node| node.op == "Conv");
    let conv = &network.nodes[conv.unwrap()];
    assert_eq!(conv.outputs, ["1×64×112×112"]);
    assert_eq!(conv.weights[0].shape, "float 64×3×7×7");
    assert_eq!(conv.weights[0].bytes, 64 * 3 * 49 * 4);
    assert!(conv.attributes.contains(&("strides".into(), "2, 2".into())));
    // Every edge runs forward, and has its size.
    assert!(network.edges.iter().all(|edge| edge.from < edge.to));
    let first = &network.edges[0];
    assert_eq!(first.shape.as_deref(), Some("1×3×224×224"));
    assert_eq!(first.bytes, Some(3 * 224 * 224 * 4));
    assert!(network.notes.is_empty(), "{:?}", network.notes);
}

#[test]
fn bodies_belong_to_the_node_that_holds_them() {
    let body = GraphProto {
        node: vec![node("Neg", &["x"], "inner")],
        output: vec![value("inner")],
        ..GraphProto::default()
    };
    let mut choice = node("If", &["is_it"], "y");
    choice.attribute.push(AttributeProto {
        name: "then_branch".to_owned(),
        r#type: AttributeType::Graph as i32,
        g: Some(body),
        ..AttributeProto::default()
    });
    let model = ModelProto {
        graph: Some(GraphProto {
            node: vec![node("Relu", &["in"], "x"), choice],
            input: vec![value("in"), value("is_it")],
            output: vec![value("y")],
            ..GraphProto::default()
        }),
        ..ModelProto::default()
    };
    let network = with_shapes(&model, "choice", &[]);
    assert_eq!(ops(&network), ["", "", "Relu", "Neg", "If", ""]);
    assert_eq!(network.nodes[3].body, Some((4, "then_branch".to_owned())));
    // The body reads a value from outside of it, and returns its own to the node around it.
    assert_eq!(edges(&network), [(0, 2), (2, 3), (1, 4), (3, 4), (4, 5)]);
}

#[test]
fn a_profile_with_a_graph_needs_neither_case_nor_file() {
    let node = NetworkNode {
        name: "conv".to_owned(),
        ..NetworkNode::default()
    };
    let own = Network::in_order(vec![node.clone(), node]);
    let mut session = Session::from_start(RunStart::default());
    session.profiles = vec![Profile {
        name: "theirs".to_owned(),
        network: Some(own.clone()),
        ..Profile::default()
    }];
    let named = Network {
        name: "theirs".to_owned(),
        ..own
    };
    assert_eq!(of_profile(&session, 0, Path::new("none")), Ok(named));
    session.profiles[0].network = None;
    let refused = of_profile(&session, 0, Path::new("none")).unwrap_err();
    assert!(refused.contains("of no case"), "{refused}");
}

#[test]
fn a_file_without_a_graph_says_so() {
    let network = with_shapes(&ModelProto::default(), "empty", &[]);
    assert_eq!(network.notes, ["The file has no graph"]);
}

#[test]
fn a_function_is_opened_as_often_as_it_is_called() {
    let mut pair = call("Pair", "in", "a");
    pair.attribute.push(AttributeProto {
        name: "steps".to_owned(),
        r#type: AttributeType::Int as i32,
        i: Some(7),
        ..AttributeProto::default()
    });
    let mut inner = node("Neg", &["x"], "mid");
    inner.attribute.push(AttributeProto {
        name: "count".to_owned(),
        r#type: AttributeType::Int as i32,
        ref_attr_name: "steps".to_owned(),
        ..AttributeProto::default()
    });
    let pair_nodes = vec![inner, call("Single", "mid", "y")];
    // What it reads and is not given is not the value of that name outside.
    let single_nodes = vec![node("Abs", &["x", "in"], "y")];
    let network = with_functions(
        vec![pair, call("Pair", "a", "out")],
        vec![
            function("Pair", pair_nodes),
            function("Single", single_nodes),
        ],
    );
    let opened = ["Neg", "Abs", "Single", "Pair"];
    let all: Vec<&str> = [""]
        .into_iter()
        .chain(opened)
        .chain(opened)
        .chain([""])
        .collect();
    assert_eq!(ops(&network), all);
    let bodies: Vec<Option<(usize, String)>> =
        network.nodes.iter().map(|node| node.body.clone()).collect();
    assert_eq!(bodies[1], Some((4, "Pair".to_owned())));
    assert_eq!(bodies[2], Some((3, "Single".to_owned())));
    assert_eq!(bodies[6], Some((7, "Single".to_owned())));
    assert_eq!(bodies[8], None);
    let first = [(0, 1), (1, 2), (1, 3), (2, 3), (0, 4), (3, 4)];
    let second = [(4, 5), (5, 6), (5, 7), (6, 7), (4, 8), (7, 8), (8, 9)];
    let expect: Vec<(usize, usize)> = first.into_iter().chain(second).collect();
    assert_eq!(edges(&network), expect);
    assert_eq!(network.edges[0].tensor, "in");
    let setting = ("count".to_owned(), "7".to_owned());
    assert_eq!(network.nodes[1].attributes, [setting]);
    assert_eq!(network.nodes[5].attributes, []);
    assert_eq!(network.notes, [""; 0]);
}

#[test]
fn a_function_has_shapes_and_constants_of_what_it_is_given() {
    let mut model = zoo::outline(zoo::find("resnet18").unwrap());
    let graph = model.graph.as_mut().unwrap();
    let conv = &mut graph.node[0];
    assert_eq!(conv.op_type, "Conv");
    let inputs = conv.input.clone();
    let inside = NodeProto {
        input: inputs.iter().map(|name| format!("{name} inside")).collect(),
        output: vec!["y".to_owned()],
        ..conv.clone()
    };
    (conv.op_type, conv.domain) = ("Own".to_owned(), "own".to_owned());
    model.functions.push(FunctionProto {
        input: inside.input.clone(),
        ..function("Own", vec![inside])
    });
    let network = at_point(&model, "own", Point::of_batch(1), &InputSizes::default());
    let conv = network.nodes.iter().find(|node| node.op == "Conv").unwrap();
    let names: Vec<&String> = conv.weights.iter().map(|weight| &weight.name).collect();
    assert_eq!(names, inputs[1..].iter().collect::<Vec<_>>());
    assert_eq!(network.edges[0].shape.as_deref(), Some("1×3×224×224"));
}

#[test]
fn functions_that_call_themselves_or_double_come_to_an_end() {
    let twice = |name: &str| vec![call(name, "x", "m"), call(name, "m", "y")];
    let network = with_functions(
        vec![call("A", "in", "out")],
        vec![function("A", twice("B")), function("B", twice("A"))],
    );
    assert_eq!(network.nodes.len(), 9);
    assert_eq!(
        network.notes,
        ["4 calls of functions inside of themselves are not opened"]
    );
    let functions = (0..25).map(|number| {
        let next = twice(&format!("F{}", number + 1));
        function(&format!("F{number}"), next)
    });
    let network = with_functions(vec![call("F0", "in", "out")], functions.collect());
    let operators = network
        .nodes
        .iter()
        .filter(|node| node.kind == NodeKind::Operator);
    assert_eq!(operators.count(), 100_001);
    let notes = &network.notes;
    assert!(
        notes[0].starts_with("Functions are opened up to 100,000 nodes: "),
        "{notes:?}"
    );
}
