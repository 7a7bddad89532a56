//! Actions on the question why a case is slow.

use super::WhySubject;

/// Actions on the question why a case is slow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// What is asked about.
    Look(WhySubject),
    /// Selects a node by its place: on *Kernels* and on the timeline, too.
    Select(Option<usize>),
}
