//! The graph of a listing of `migraphx-driver perf`: an instruction has those that it reads in brackets, and behind an
//! arrow the type and shape of its result.

use std::collections::HashMap;

use crate::reading::lines;
use crate::records::tensor_size::tensor_bytes;
use powerband_core::base::humanize;
use powerband_core::domain::network::{Network, NetworkEdge, NetworkNode, shape_text};

/// Characters of a setting before it is cut.
const LONGEST: usize = 60;

/// Instructions as far as they were read.
#[derive(Debug, Default)]
pub(super) struct InstructionGraph {
    network: Network,
    /// Places, and what the result is, by their labels.
    made: HashMap<String, InstructionResult>,
}

#[derive(Clone, Debug)]
struct InstructionResult {
    place: usize,
    shape: Option<String>,
    bytes: Option<u64>,
}

impl InstructionGraph {
    /// Takes in `@5 = gpu::gemm[alpha=1](@4,@2) -> half_type, {1, 128}, {128, 1}`, once, under the name of its time.
    pub(super) fn add(&mut self, label: &str, op: &str, text: &str) {
        if self.made.contains_key(label) {
            return;
        }
        let (left, result) = text.rsplit_once(" -> ").unwrap_or((text, ""));
        let place = self.network.nodes.len();
        for name in arguments(left) {
            if let Some(from) = self.made.get(name) {
                self.network.edges.push(NetworkEdge {
                    from: from.place,
                    to: place,
                    tensor: name.to_owned(),
                    shape: from.shape.clone(),
                    bytes: from.bytes,
                });
            }
        }
        let dims = dims(result);
        let shape = dims.as_deref().map(shape_text);
        self.network.nodes.push(NetworkNode {
            name: format!("{label} {op}"),
            op: op.to_owned(),
            attributes: settings(left, result),
            outputs: shape.iter().cloned().collect(),
            ..NetworkNode::default()
        });
        let bytes = dims.and_then(|dims| tensor_bytes(&dims, result));
        self.made.insert(
            label.to_owned(),
            InstructionResult {
                place,
                shape,
                bytes,
            },
        );
    }

    pub(super) fn into_network(self) -> Option<Network> {
        (!self.network.nodes.is_empty()).then_some(self.network)
    }
}

/// The labels in the brackets behind operator and settings.
fn arguments(left: &str) -> impl Iterator<Item = &str> {
    let inside = left
        .rsplit_once('(')
        .and_then(|(_, rest)| rest.split_once(')'));
    let names = inside.map_or("", |(inside, _)| inside).split(',');
    names.map(str::trim).filter(|name| !name.is_empty())
}

/// The first shape of `float_type, {1, 128}, {128, 1}`.
fn dims(result: &str) -> Option<Vec<u64>> {
    let (_, rest) = result.split_once('{')?;
    let (dims, _) = rest.split_once('}')?;
    let dims = dims.split(',').map(str::trim).filter(|dim| !dim.is_empty());
    dims.map(lines::whole_number).collect()
}

/// The type of the result, and the settings in square brackets, cut at commas that stand in no brackets.
fn settings(left: &str, result: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let kind = result.split(',').next().unwrap_or_default().trim();
    if !kind.is_empty() {
        found.push(("type".to_owned(), kind.to_owned()));
    }
    let inside = left.split_once('[').map_or("", |(_, rest)| rest);
    let (mut depth, mut begin) = (0_i64, 0);
    for (at, sign) in inside.char_indices() {
        match sign {
            '{' | '[' | '(' => depth += 1,
            '}' | ')' => depth -= 1,
            ']' if depth > 0 => depth -= 1,
            ',' | ']' if depth <= 0 => {
                if let Some((key, value)) = inside[begin..at].split_once('=') {
                    let value = humanize::shorten(value.trim(), LONGEST);
                    found.push((key.trim().to_owned(), value));
                }
                begin = at + sign.len_utf8();
                if sign == ']' {
                    break;
                }
            }
            _ => {}
        }
    }
    found
}
