//! Which sessions durations were learned from.

use std::path::PathBuf;

use powerband_store::library::Stamp;

/// Sessions as they were when they were looked into.
pub(crate) type Sources = Vec<(PathBuf, Stamp)>;
