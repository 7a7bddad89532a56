//! How often a change that is suggested made a case faster before.

use powerband_core::base::paths::Paths;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::limits::experiments::{self, TriedExperiments};
use powerband_store::changes_tally::{self, ChangesTally};

/// Remembers whether changes made the case of a session faster, which was measured here just now.
pub fn remember(paths: &Paths, session: &Session) {
    let Some(tried) = experiments::tried_experiments(session) else {
        return;
    };
    if session.made_up || session.machine_of(tried.case.setup).is_some() {
        return;
    }
    let brought = tried.brought();
    let brought = brought.map(|(change, held)| (change.id().to_owned(), held));
    // A count that is missing costs a sentence, and is no reason to stop.
    let case = case_name(session, &tried);
    changes_tally::remember(paths, &case, brought.collect()).unwrap_or_default();
}

/// Says of changes that can still be tried how many other cases of this machine they made faster.
pub fn add_counts(paths: &Paths, session: &Session, tried: &mut TriedExperiments) {
    let case = case_name(session, tried);
    let tally = ChangesTally::read(paths);
    tried.add_counts(&|change| tally.count(change.id(), &case));
}

/// The same for every session of a case.
fn case_name(session: &Session, tried: &TriedExperiments) -> String {
    let model = &session.model_of(tried.case.setup).sha256;
    format!("{model} {} {}", tried.label, tried.case.point)
}
