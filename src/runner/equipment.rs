//! What this machine can run networks with: the engines that are here, and fetching one that is not.
//!
//! The work is `worker`'s; the window may not use it directly, because it starts no processes.

pub use crate::engines::EngineInfo;
pub use crate::engines::install::{FLAVORS, Flavor, InstallRequest};
pub use crate::engines::runtimes::{FoundRuntime, python_candidates};
pub use crate::worker::fetch::{FetchStep, Installed, install};
pub use crate::worker::probe::{Found, survey};
pub use crate::worker::process::open_outside;
