//! How often a change that is suggested held before.

use powerband_core::base::paths::Paths;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::limits::experiments::TriedExperiments;
use powerband_store::changes_tally::{self, ChangesTally};

/// Remembers what changes to the case came to, and says of those that can still be tried how often they held before.
pub fn remember_and_count(paths: &Paths, session: &Session, tried: &mut TriedExperiments) {
    let case = format!("{} {} {}", session.created, tried.label, tried.case.point);
    let brought = tried.brought();
    let brought = brought.map(|(change, held)| (change.id().to_owned(), held));
    // A count that is missing costs a sentence, and is no reason to stop.
    changes_tally::remember(paths, &case, brought.collect()).unwrap_or_default();
    let tally = ChangesTally::read(paths);
    tried.add_counts(&|change| tally.count(change.id(), &case));
}
