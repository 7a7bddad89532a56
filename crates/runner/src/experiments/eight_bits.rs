//! Eight-bit integers.

use super::derivation::Derivation;
use super::subject::{DerivedSetup, ExperimentSubject};
use powerband_core::domain::experiment::ExperimentChange;

/// A quarter of the bytes, and on most processors and cards several times the arithmetic.
pub(super) const EIGHT_BITS: Derivation = Derivation {
    change: ExperimentChange::EightBits,
    derive,
};

fn derive(subject: &ExperimentSubject<'_>) -> Result<DerivedSetup, String> {
    if let Some(precision) = subject
        .option("precision")
        .filter(|p| !["fp32", "float"].contains(p))
    {
        return Err(format!("it computes in {precision} already"));
    }
    subject
        .with("precision", "int8")
        .map(DerivedSetup::without_control)
}
