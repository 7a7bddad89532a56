//! Roofs as throughputs: the items a second at which a setup's arithmetic alone would reach each line.

use powerband_core::domain::roofs::{Roofs, numbers_of};
use powerband_core::domain::session::Session;

use super::against;
use super::lines::{LineKind, LineUnit};

/// Operations of a multiply-accumulate.
const OPERATIONS_A_MAC: f64 = 2.0;

/// A roof as a throughput.
#[derive(Clone, Debug, PartialEq)]
pub struct ThroughputRoof {
    /// Where it comes from.
    pub kind: LineKind,
    /// What it is: `best fp32 GEMM of ONNX Runtime 1.31.0, 2 threads`.
    pub title: String,
    /// Items a second.
    pub per_s: f64,
}

/// The lines for arithmetic of some setups; none where the operations of an item or the roofs are not known.
pub fn throughput_roofs(
    session: &Session,
    setups: impl IntoIterator<Item = usize>,
    roofs: &[Roofs],
) -> Vec<ThroughputRoof> {
    let mut found: Vec<ThroughputRoof> = Vec::new();
    for setup in setups {
        for roof in of_setup(session, setup, roofs).unwrap_or_default() {
            if !found.contains(&roof) {
                found.push(roof);
            }
        }
    }
    found
}

fn of_setup(session: &Session, setup: usize, roofs: &[Roofs]) -> Option<Vec<ThroughputRoof>> {
    let spec = session.plan.setups.get(setup)?;
    // A step of training does more than the operations that are counted.
    let is_inference = spec.options.get("task").is_none_or(|task| task == "infer");
    let macs = session.model_of(setup).macs?;
    if !is_inference || macs == 0 {
        return None;
    }
    let references = against::references_for_setup(session, setup, None, roofs).ok()?;
    let lines = references.all(&[numbers_of(spec)]).into_iter();
    let arithmetic = lines.filter(|line| line.unit == LineUnit::OperationsPerS);
    Some(
        arithmetic
            .map(|line| ThroughputRoof {
                kind: line.kind,
                title: line.title,
                per_s: line.per_s / (OPERATIONS_A_MAC * macs as f64),
            })
            .collect(),
    )
}
