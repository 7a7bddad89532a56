//! What the machine is and does. Here: the host; graphics processors come later.

pub mod host;
pub mod process;
