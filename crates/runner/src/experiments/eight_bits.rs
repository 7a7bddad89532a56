//! Eight-bit integers.

use super::derivation::Derivation;
use powerband_core::domain::experiment::ExperimentChange;

/// A quarter of the bytes, and on most processors and cards several times the arithmetic.
pub(super) const EIGHT_BITS: Derivation = Derivation {
    change: ExperimentChange::EightBits,
    derive: |subject| subject.with_precision("int8"),
};
