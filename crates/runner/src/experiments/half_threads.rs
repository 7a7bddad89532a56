//! Half the threads.

use super::derivation::Derivation;
use super::subject::{DerivedSetup, ExperimentSubject};
use powerband_core::domain::experiment::ExperimentChange;

/// Computing that is shared among threads takes twice as long; waiting for memory does not.
pub(super) const HALF_THREADS: Derivation = Derivation {
    change: ExperimentChange::HalfThreads,
    derive,
};

fn derive(subject: &ExperimentSubject<'_>) -> Result<DerivedSetup, String> {
    let threads = subject.shared_among()?;
    if threads < 2 {
        return Err("it runs with one thread, which cannot be halved".to_owned());
    }
    let half = threads / 2;
    // On processors of their own where neighbours come beside them: one setup then serves for both.
    let apart = match subject.with_idle_cores() {
        Ok(control) if control.options.get("threads") == Some(&half.to_string()) => Ok(control),
        _ => subject.with("threads", &half.to_string()),
    };
    apart.map(DerivedSetup::without_control)
}
