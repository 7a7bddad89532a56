//! Threads sleep while they wait.

use super::derivation::Derivation;
use super::subject::{DerivedSetup, ExperimentSubject};
use powerband_core::domain::experiment::ExperimentChange;

/// What waking threads up costs: much, where there are many short nodes.
pub(super) const UNSPUN_THREADS: Derivation = Derivation {
    change: ExperimentChange::UnspunThreads,
    derive,
};

fn derive(subject: &ExperimentSubject<'_>) -> Result<DerivedSetup, String> {
    if subject.shared_among()? < 2 {
        return Err("it runs with one thread, which waits for no other".to_owned());
    }
    if subject.option("spinning") == Some("off") {
        return Err("they sleep already".to_owned());
    }
    subject
        .with("spinning", "off")
        .map(DerivedSetup::without_control)
}
