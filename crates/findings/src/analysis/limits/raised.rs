//! Lines that nodes of the profile itself lie above: a roof is at least what was seen, so the fastest node raises it
//! for all.
//!
//! What counts too many operations is no roof: a convolution may do fewer than are counted (Winograd), so it raises a
//! line by a quarter at most, and nothing goes beyond what is published of a card. What lies above that stays a node
//! of which the model is wrong.

use std::collections::BTreeMap;

use powerband_core::base::humanize;
use powerband_core::domain::profile::Total;

use super::lines::{References, RoofLine};

/// A node that is shorter than this says little of a rate: clocks of profilers count microseconds.
const SHORTEST_NS: f64 = 20e3;
/// A node raises a line by so much at most.
const MOST: f64 = 1.25;
/// A matrix product, which does what is counted, raises a line by so much at most: as far as a roof is too low that was
/// measured beside as much other load.
const MOST_OF_PRODUCT: f64 = 2.0;

/// What takes the place of lines, by their titles.
#[derive(Clone, Debug, Default)]
pub(super) struct RaisedLines(BTreeMap<String, RoofLine>);

impl RaisedLines {
    /// What these nodes of a profile reached beyond the lines that they are measured against; names as people read
    /// them.
    pub(super) fn from_nodes<'a>(
        nodes: impl Iterator<Item = (&'a Total, &'a str)>,
        references: &References<'_>,
    ) -> Self {
        let mut raised = Self::default();
        for (node, name) in nodes {
            let calls = node.calls.max(1);
            let Some(work) = node.work else { continue };
            if (node.total_ns as f64) < SHORTEST_NS * calls as f64 {
                continue;
            }
            let per_s = |amount: u64| amount as f64 * 1e9 / node.total_ns as f64;
            let most = if is_product(&node.op) {
                MOST_OF_PRODUCT
            } else {
                MOST
            };
            if let Some(line) = references.compute(work.numbers) {
                let published = references.published_peak(work.numbers);
                let known = [Some(line.clone()), references.peak(work.numbers)];
                let known = known.into_iter().flatten().map(|line| line.per_s);
                let ceiling = published.map_or_else(
                    || known.fold(0.0, f64::max) * most,
                    |published| published.per_s,
                );
                raised.raise_line(line, per_s(work.operations), ceiling, name);
            }
            if let Some(line) = references.memory(work.low_bytes / calls) {
                let ceiling = line.per_s * MOST;
                raised.raise_line(line, per_s(work.low_bytes), ceiling, name);
            }
        }
        raised
    }

    fn raise_line(&mut self, line: RoofLine, reached: f64, ceiling: f64, node: &str) {
        let known = self.0.get(&line.title).unwrap_or(&line).per_s;
        if reached <= known || reached > ceiling {
            return;
        }
        let raised = RoofLine {
            per_s: reached,
            title: format!("{}, raised to what {node} reached", line.title),
            // How far the repetitions of the line itself lie apart stays what it was.
            ..line.clone()
        };
        self.0.insert(line.title, raised);
    }

    /// The line that is used in place of one.
    pub(super) fn raised_or_same(&self, line: Option<RoofLine>) -> Option<RoofLine> {
        let line = line?;
        Some(self.0.get(&line.title).cloned().unwrap_or(line))
    }

    /// The raised lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = &RoofLine> {
        self.0.values()
    }

    /// What to know of it.
    pub(super) fn note(&self) -> Option<String> {
        let lines: Vec<String> = self.0.values().map(|line| line.name()).collect();
        (!lines.is_empty()).then(|| {
            format!(
                "Nodes of this profile were faster than {} measured before, raised to what they reached: {}. Roofs that are measured again on a quiet machine are higher.",
                humanize::pluralised(lines.len() as u64, "roof"),
                lines.join("; ")
            )
        })
    }
}

/// Whether an operator multiplies matrices as they are.
fn is_product(op: &str) -> bool {
    let name = op.rsplit("::").next().unwrap_or(op);
    [
        "MatMul", "Gemm", "matmul", "linear", "addmm", "bmm", "baddbmm", "gemm",
    ]
    .iter()
    .any(|known| name.contains(known))
        || name == "mm"
}

#[cfg(test)]
mod tests {
    use super::is_product;

    #[test]
    fn products_are_told_from_convolutions() {
        for op in [
            "MatMul",
            "FusedMatMul",
            "Gemm",
            "aten::mm",
            "aten::addmm",
            "aten::linear",
        ] {
            assert!(is_product(op), "{op}");
        }
        for op in ["Conv", "aten::conv2d", "Add", "aten::comm", ""] {
            assert!(!is_product(op), "{op}");
        }
    }
}
