//! Threads sleep while they wait.

use super::derivation::Derivation;
use super::subject::{Derived, Subject};
use powerband_core::domain::experiment::Change;

/// What waking threads up costs: much, where there are many short nodes.
pub(super) const UNSPUN_THREADS: Derivation = Derivation {
    change: Change::UnspunThreads,
    derive,
};

fn derive(subject: &Subject<'_>) -> Result<Derived, String> {
    if subject.shared_among()? < 2 {
        return Err("it runs with one thread, which waits for no other".to_owned());
    }
    if subject.option("spinning") == Some("off") {
        return Err("they sleep already".to_owned());
    }
    subject.with("spinning", "off").map(Derived::of)
}
