//! Execution graphs of `OpenVINO` (`benchmark_app -exec_graph_path`): what ran with its times and edges, as XML.

use std::collections::HashMap;

use roxmltree::{Document, Node, ParsingOptions};

use crate::benchmarks::common::Sums;
use crate::reading::head::FileHead;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::records::tensor_size::tensor_bytes;
use crate::{Format, ImportError, Imported};
use powerband_core::base::humanize;
use powerband_core::domain::network::{
    Network, NetworkEdge, NetworkNode, NetworkWeight, NodeKind, shape_text,
};
use powerband_core::domain::profile::Total;
use powerband_core::domain::trace::SliceKind;

/// Elements and texts that a file may have.
const MOST_XML_NODES: u32 = 20_000_000;
/// Characters of a setting before it is cut.
const LONGEST: usize = 120;
/// What is no setting of a node.
const NO_SETTINGS: [&str; 4] = ["execOrder", "execTimeMcs", "shape", "element_type"];

pub(crate) const FORMAT: Format = Format {
    id: "openvino-exec-graph",
    title: "an execution graph of OpenVINO",
    tool: "OpenVINO",
    name_ends: &[],
    recognises: |head: &FileHead| {
        head.any_text()
            .is_some_and(|text| text.contains("<net ") && text.contains("execTimeMcs=\""))
    },
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: MOST_XML_NODES,
    };
    let document = Document::parse_with_options(&text, options).map_err(|error| {
        source.unusable_error(
            FORMAT.title,
            format!("its XML cannot be read: {error}; write it again"),
        )
    })?;
    watch.tick(source.bytes())?;
    let net = document.root_element();
    let mut graph = ExecutionGraph::default();
    let mut layers: Vec<ExecutedLayer<'_, '_>> = children(net, "layers", "layer")
        .filter_map(ExecutedLayer::new)
        .collect();
    layers.sort_by_key(|layer| layer.order);
    into.fact("nodes", layers.len().to_string());
    for layer in &layers {
        graph.layer(layer);
    }
    for edge in children(net, "edges", "edge") {
        graph.edge(edge, &layers);
    }
    let totals = graph.sums.into_list();
    if totals.is_empty() {
        into.note(format!(
            "no node of {} has a time: it is written with times by benchmark_app -pc -exec_graph_path",
            source.name()
        ));
    } else {
        into.runs = into.runs.or(Some(1));
        into.note("times are averages over the inferences, in whole microseconds");
        into.totals.extend(totals);
    }
    graph.network.edges.sort_by_key(|edge| (edge.to, edge.from));
    into.network = into.network.take().or(Some(graph.network));
    Ok(())
}

/// Elements of a name in the first element of another.
fn children<'a, 'input>(
    node: Node<'a, 'input>,
    list: &'static str,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    let list = node.children().find(move |child| child.has_tag_name(list));
    let children = list.into_iter().flat_map(|list| list.children());
    children.filter(move |child| child.has_tag_name(name))
}

/// A node of the graph as the file has it.
struct ExecutedLayer<'a, 'input> {
    id: &'a str,
    name: &'a str,
    op: &'a str,
    order: u64,
    element: Node<'a, 'input>,
    data: Option<Node<'a, 'input>>,
}

impl<'a, 'input> ExecutedLayer<'a, 'input> {
    fn new(element: Node<'a, 'input>) -> Option<Self> {
        let data = element.children().find(|child| child.has_tag_name("data"));
        let order = data.and_then(|data| data.attribute("execOrder"));
        Some(Self {
            id: element.attribute("id")?,
            name: element.attribute("name")?,
            op: element.attribute("type")?,
            order: order
                .and_then(|order| order.parse().ok())
                .unwrap_or(u64::MAX),
            element,
            data,
        })
    }

    fn setting(&self, name: &str) -> Option<&'a str> {
        self.data?.attribute(name)
    }

    /// Sizes and type of an output, of the first where no port is named.
    fn output(&self, port: Option<&str>) -> Option<(Vec<u64>, &'a str)> {
        let mut ports = children(self.element, "output", "port");
        let port = ports.find(|found| port.is_none() || found.attribute("id") == port)?;
        let dims = port.children().filter(|child| child.has_tag_name("dim"));
        let dims: Option<Vec<u64>> = dims.map(|dim| dim.text()?.trim().parse().ok()).collect();
        Some((dims?, port.attribute("precision").unwrap_or_default()))
    }

    fn kind(&self) -> NodeKind {
        match self.op {
            "Input" | "Parameter" => NodeKind::Input,
            "Output" | "Result" => NodeKind::Output,
            _ => NodeKind::Operator,
        }
    }

    fn node(&self) -> NetworkNode {
        let settings = self.data.into_iter().flat_map(|data| data.attributes());
        let settings = settings.filter(|setting| {
            !NO_SETTINGS.contains(&setting.name()) && !setting.value().is_empty()
        });
        let is_operator = self.kind() == NodeKind::Operator;
        // Copies that OpenVINO puts between two nodes have the names of both.
        let is_of_file = self
            .setting("originalLayersNames")
            .is_some_and(|names| !names.is_empty());
        NetworkNode {
            kind: self.kind(),
            name: self.name.to_owned(),
            is_named: is_of_file,
            op: if is_operator {
                self.op.to_owned()
            } else {
                String::new()
            },
            attributes: settings
                .map(|setting| {
                    let value = humanize::shorten(setting.value(), LONGEST);
                    (setting.name().to_owned(), value)
                })
                .collect(),
            outputs: self
                .output(None)
                .map(|(dims, _)| shape_text(&dims))
                .into_iter()
                .collect(),
            ..NetworkNode::default()
        }
    }

    fn total(&self) -> Option<Total> {
        let us = lines::number(self.setting("execTimeMcs")?)?;
        Some(Total {
            work: None,
            kind: SliceKind::Kernel,
            name: self.name.to_owned(),
            op: self.op.to_owned(),
            place: self.setting("primitiveType").unwrap_or_default().to_owned(),
            calls: 1,
            total_ns: lines::ns(us, 1e3),
            min_ns: None,
            max_ns: None,
        })
    }
}

#[derive(Default)]
struct ExecutionGraph<'a> {
    network: Network,
    sums: Sums,
    /// Where a layer stands among all of them, by its number in the file.
    layers: HashMap<&'a str, usize>,
    n_layers: usize,
    /// Its node; constants have none.
    nodes: HashMap<&'a str, usize>,
}

impl<'a> ExecutionGraph<'a> {
    fn layer(&mut self, layer: &ExecutedLayer<'a, '_>) {
        self.layers.insert(layer.id, self.n_layers);
        self.n_layers += 1;
        let total = layer.total();
        // A constant is listed with the nodes that read it.
        if layer.op != "Const" || total.is_some() {
            self.nodes.insert(layer.id, self.network.nodes.len());
            self.network.nodes.push(layer.node());
        }
        if let Some(total) = total {
            self.sums.add(total);
        }
    }

    fn edge(&mut self, edge: Node<'a, '_>, layers: &[ExecutedLayer<'a, '_>]) {
        let ends = ["from-layer", "to-layer"].map(|end| edge.attribute(end).unwrap_or_default());
        let [from, to] = ends.map(|end| self.nodes.get(end).copied());
        let (Some(to), Some(maker)) = (to, self.layers.get(ends[0]).map(|place| &layers[*place]))
        else {
            return;
        };
        let output = maker.output(edge.attribute("from-port"));
        let shape = output.as_ref().map(|(dims, _)| shape_text(dims));
        let bytes = output
            .as_ref()
            .and_then(|(dims, kind)| tensor_bytes(dims, kind));
        match from {
            Some(from) => self.network.edges.push(NetworkEdge {
                from,
                to,
                tensor: maker.name.to_owned(),
                shape,
                bytes,
            }),
            None => self.network.nodes[to].weights.push(NetworkWeight {
                name: maker.name.to_owned(),
                shape: match output {
                    Some((dims, kind)) => format!("{kind} {}", shape_text(&dims)),
                    None => String::new(),
                },
                bytes: bytes.unwrap_or_default(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "openvino/block-exec-graph.xml";

    #[test]
    fn a_real_graph_has_times_edges_shapes_and_weights() {
        let imported = testing::fixture(FILE);
        let names = testing::names_of_nodes(&imported);
        let network = imported.network.as_ref().unwrap();
        let sum: u64 = imported.totals.iter().map(|total| total.total_ns).sum();
        assert_eq!((names.len(), network.edges.len()), (12, 12));
        assert_eq!((imported.totals.len(), sum), (7, 276_000));
        let conv = names
            .iter()
            .position(|name| *name == "/block/conv2/Conv")
            .unwrap();
        let node = &network.nodes[conv];
        assert_eq!(
            (node.op.as_str(), &node.outputs[..]),
            ("Convolution", &["1×32×32×32".to_owned()][..])
        );
        assert_eq!(
            (node.weights[0].name.as_str(), node.weights[0].bytes),
            ("w2", 32 * 32 * 9 * 4)
        );
        let fused = "/block/conv2/Conv,/block/Add,/block/relu2/Relu";
        assert!(
            node.attributes
                .contains(&("originalLayersNames".into(), fused.into()))
        );
        let read: Vec<&str> = network
            .edges
            .iter()
            .filter(|edge| edge.to == conv)
            .map(|edge| names[edge.from])
            .collect();
        assert_eq!(read, ["/stem/conv/Conv", "/block/conv1/Conv"]);
        assert_eq!(network.edges[0].bytes, Some(3 * 64 * 64 * 4));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE)[..6000]);
    }
}
