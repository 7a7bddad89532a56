//! Twice the batch.

use super::derivation::Derivation;
use super::subject::{DerivedSetup, ExperimentSubject};
use powerband_core::domain::experiment::ExperimentChange;
use powerband_core::domain::point::BATCH;

/// What every run costs, however many items it has, is shared by twice as many.
pub(super) const TWICE_BATCH: Derivation = Derivation {
    change: ExperimentChange::TwiceBatch,
    derive,
};

fn derive(subject: &ExperimentSubject<'_>) -> Result<DerivedSetup, String> {
    if subject.option("fixed_batch").is_some() {
        return Err(
            "fixed_batch= holds it to one batch; ask about the setup without it".to_owned(),
        );
    }
    let twice = subject.point.with(BATCH, 2 * subject.point.batch());
    Ok(DerivedSetup {
        point: Some(twice),
        ..DerivedSetup::without_control(subject.setup.clone())
    })
}
