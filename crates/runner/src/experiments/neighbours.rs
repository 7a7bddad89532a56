//! A neighbour beside the case, on cores that the case leaves idle.

use super::derivation::Derivation;
use super::subject::{DerivedSetup, ExperimentSubject};
use powerband_core::domain::experiment::ExperimentChange;
use powerband_core::domain::setup::NEIGHBOUR_KEY;

/// What waits for memory waits longer where another streams it.
pub(super) const STREAMING: Derivation = Derivation {
    change: ExperimentChange::StreamingNeighbour,
    derive: |subject| with_load(subject, "stream"),
};

/// What the same neighbour costs without memory: heat, clocks, and what cores share beside memory.
pub(super) const COMPUTING: Derivation = Derivation {
    change: ExperimentChange::ComputingNeighbour,
    derive: |subject| with_load(subject, "compute"),
};

fn with_load(subject: &ExperimentSubject<'_>, does: &str) -> Result<DerivedSetup, String> {
    if !subject.is_on_processor() {
        return Err(format!(
            "{} has memory of its own, which a neighbour on the processor does not touch",
            subject.setup.device
        ));
    }
    let control = subject.with_idle_cores()?;
    Ok(DerivedSetup {
        setup: control.clone().with(NEIGHBOUR_KEY, does),
        control: Some(control),
        point: None,
    })
}
