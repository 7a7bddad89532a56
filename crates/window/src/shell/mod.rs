//! The parts around every screen: rail, library, strip, palette, notices.

pub(super) mod closing;
#[cfg(unix)]
pub(super) mod guide;
#[cfg(unix)]
pub(super) mod library;
pub(super) mod log;
pub(super) mod notices;
#[cfg(unix)]
pub(super) mod page_offer;
pub(super) mod palette;
pub(super) mod path_field;
pub(super) mod programs;
pub(super) mod rail;
pub(super) mod strip;
