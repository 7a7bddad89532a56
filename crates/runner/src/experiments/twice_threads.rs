//! Twice the threads, for a case with one, which cannot be halved.

use super::derivation::Derivation;
use super::subject::{DerivedSetup, ExperimentSubject};
use powerband_core::domain::experiment::ExperimentChange;

/// Work that can be shared takes half the time.
pub(super) const TWICE_THREADS: Derivation = Derivation {
    change: ExperimentChange::TwiceThreads,
    derive,
};

fn derive(subject: &ExperimentSubject<'_>) -> Result<DerivedSetup, String> {
    let threads = subject.shared_among()?;
    if threads > 1 {
        return Err("half the threads tells the same".to_owned());
    }
    if subject.here.cores.physical() < 2 {
        return Err("there is one core".to_owned());
    }
    if subject.option("cores").is_some() {
        return Err(
            "cores= holds the case to its cores; ask about the setup without it".to_owned(),
        );
    }
    subject
        .with("threads", "2")
        .map(DerivedSetup::without_control)
}
