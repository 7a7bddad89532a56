//! What is around every screen: rail, library, strip, palette, notices.

pub mod closing;
pub mod library;
pub mod log;
pub mod notices;
pub mod palette;
pub mod path_field;
pub mod rail;
pub mod strip;
