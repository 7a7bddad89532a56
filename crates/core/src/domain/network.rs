//! The graph of a network as plain data: its nodes with what people ask about them, and the tensors between them.
//!
//! `onnx` makes it of a file, `findings` joins it with times and lays it out.

/// The graph of a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    pub name: String,
    /// Inputs first, then nodes in the order of the file, each after the nodes inside of it, then outputs.
    pub nodes: Vec<NetworkNode>,
    /// In the order of the nodes that read them.
    pub edges: Vec<NetworkEdge>,
    /// What is not drawn, and why.
    pub notes: Vec<String>,
}

/// What a node of a graph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    Input,
    Operator,
    Output,
}

/// A node of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkNode {
    pub kind: NodeKind,
    /// Its name in the file; where it has none, the one that engines are given for it.
    pub name: String,
    /// Whether the file names it.
    pub is_named: bool,
    /// Its operator; empty for inputs and outputs.
    pub op: String,
    /// Its settings with their values, shortened.
    pub attributes: Vec<(String, String)>,
    /// Shapes of its outputs, as far as they are known: `1×64×56×56`.
    pub outputs: Vec<String>,
    /// The constants that it reads.
    pub weights: Vec<NetworkWeight>,
    /// The node that it is inside of, and the name of that body or function: `then_branch`.
    pub body: Option<(usize, String)>,
}

/// A constant that a node reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkWeight {
    pub name: String,
    /// Type and shape: `float 64×3×7×7`.
    pub shape: String,
    pub bytes: u64,
}

/// A tensor from the node that makes it to one that reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkEdge {
    /// The place of the node that makes it.
    pub from: usize,
    /// The place of the node that reads it.
    pub to: usize,
    pub tensor: String,
    /// Its shape, where it is known: `1×64×56×56`.
    pub shape: Option<String>,
    pub bytes: Option<u64>,
}

impl NetworkNode {
    /// Bytes of the constants that it reads.
    pub fn weight_bytes(&self) -> u64 {
        let bytes = self.weights.iter().map(|weight| weight.bytes);
        bytes.fold(0, u64::saturating_add)
    }
}
