//! Each thread stays on a core of its own.

use super::derivation::Derivation;
use super::subject::{DerivedSetup, ExperimentSubject};
use powerband_core::domain::experiment::ExperimentChange;

/// What it costs that threads wander and find their caches empty.
pub(super) const PINNED_THREADS: Derivation = Derivation {
    change: ExperimentChange::PinnedThreads,
    derive,
};

fn derive(subject: &ExperimentSubject<'_>) -> Result<DerivedSetup, String> {
    let threads = subject.shared_among()?;
    if subject.option("cores").is_some() {
        return Err("cores= holds its threads to their cores already".to_owned());
    }
    if threads == 1 {
        return subject.leaving_cores(1).map(DerivedSetup::without_control);
    }
    if subject.option("pinning") == Some("on") {
        return Err("they are pinned already".to_owned());
    }
    if threads > subject.here.cores.usable() {
        return Err(format!(
            "{threads} threads are more than the {} processors that they may use",
            subject.here.cores.usable()
        ));
    }
    subject.has_key("pinning")?;
    let setup = subject.setup.clone().with("pinning", "on");
    Ok(DerivedSetup::without_control(
        setup.with("threads", threads.to_string()),
    ))
}
