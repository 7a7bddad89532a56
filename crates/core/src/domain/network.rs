//! The graph of a network as plain data: its nodes with what people ask about them, and the tensors between them.
//!
//! `onnx` makes it of a file, `import` of what another tool wrote, which a profile then carries; `findings` joins it
//! with times and lays it out.

use serde::{Deserialize, Serialize};

/// The graph of a network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Network {
    pub name: String,
    /// Inputs first, then nodes in the order of the file, each after the nodes inside of it, then outputs.
    pub nodes: Vec<NetworkNode>,
    /// In the order of the nodes that read them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<NetworkEdge>,
    /// What is not drawn, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What a node of a graph is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeKind {
    Input,
    #[default]
    Operator,
    Output,
}

/// A node of a graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkNode {
    #[serde(skip_serializing_if = "NodeKind::is_operator")]
    pub kind: NodeKind,
    /// Its name in the file; where it has none, the one that engines are given for it.
    pub name: String,
    /// Whether the file names it: then scopes in its name are modules.
    pub is_named: bool,
    /// Its operator; empty for inputs and outputs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub op: String,
    /// Its settings with their values, shortened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<(String, String)>,
    /// Shapes of its outputs, as far as they are known: `1×64×56×56`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// The constants that it reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<NetworkWeight>,
    /// The node that it is inside of, and the name of that body or function: `then_branch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<(usize, String)>,
    /// Its time in a run, in nanoseconds, where the profile's sums by name cannot give it: in a trace, all operators of
    /// one kind have one name. Where a node has one, all times of the network are such times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<f64>,
}

/// A constant that a node reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkWeight {
    pub name: String,
    /// Type and shape: `float 64×3×7×7`.
    pub shape: String,
    pub bytes: u64,
}

/// A tensor from the node that makes it to one that reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkEdge {
    /// The place of the node that makes it.
    pub from: usize,
    /// The place of the node that reads it.
    pub to: usize,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tensor: String,
    /// Its shape, where it is known: `1×64×56×56`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl NodeKind {
    fn is_operator(&self) -> bool {
        *self == Self::Operator
    }
}

impl Network {
    /// Nodes of which no edges are known, each below the one that ran before it.
    pub fn in_order(nodes: Vec<NetworkNode>) -> Self {
        let edge = |to: usize| NetworkEdge {
            from: to - 1,
            to,
            ..NetworkEdge::default()
        };
        Self {
            edges: (1..nodes.len()).map(edge).collect(),
            nodes,
            notes: vec![
                "The file does not say which node reads what: nodes stand in the order in which they ran"
                    .to_owned(),
            ],
            ..Self::default()
        }
    }
}

/// A shape as people read it: `1×64×56×56`.
pub fn shape_text(dims: &[u64]) -> String {
    let sizes: Vec<String> = dims.iter().map(ToString::to_string).collect();
    if sizes.is_empty() {
        "scalar".to_owned()
    } else {
        sizes.join("×")
    }
}

impl Network {
    /// Without edges and bodies whose ends are none of its nodes: a file may have any.
    #[must_use]
    pub fn without_loose_ends(mut self) -> Self {
        let n_nodes = self.nodes.len();
        self.edges
            .retain(|edge| edge.from < n_nodes && edge.to < n_nodes);
        for (place, node) in self.nodes.iter_mut().enumerate() {
            node.body
                .take_if(|(owner, _)| *owner >= n_nodes || *owner == place);
        }
        self
    }
}

impl NetworkNode {
    /// Bytes of the constants that it reads.
    pub fn weight_bytes(&self) -> u64 {
        let bytes = self.weights.iter().map(|weight| weight.bytes);
        bytes.fold(0, u64::saturating_add)
    }
}
