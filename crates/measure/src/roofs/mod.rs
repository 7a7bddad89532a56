//! Roofs: what this machine's devices reach, measured here, and kept for later runs.

pub mod devices;
pub mod kept;
