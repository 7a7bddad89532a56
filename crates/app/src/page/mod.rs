//! Sessions as one page that any browser shows: what would be in it, before it is written.

pub mod action;
mod update;

use crate::backend::{PageFacts, PageSource};
use crate::sessions::SessionId;

/// A page that is not written yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageOffer {
    pub sessions: Vec<SessionId>,
    /// The same with the timelines that are open, or were read for the facts.
    pub sources: Vec<PageSource>,
    /// Whether paths and the names of users and machines are left out.
    pub is_anonymous: bool,
    /// What would be in it, or why there can be no page; nothing while that is not known.
    pub facts: Option<Result<PageFacts, String>>,
}
