//! Actions on sessions that go out as a page.

use std::path::PathBuf;

use super::PageOffer;
use crate::sessions::SessionId;

/// Actions on the page of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageAction {
    /// Shows what a page of these sessions would have in it.
    Offer(Vec<SessionId>),
    /// Whether paths and names are left out.
    Anonymous(bool),
    /// Asks where the page goes.
    Choose,
    /// Writes it.
    Write(PageOffer, PathBuf),
    /// Writes none.
    Dismiss,
}
