//! What this machine can run networks with: the engines that are here, and fetching one that is not.
//!
//! The work is `worker`'s; the window may not use it directly, because it starts no processes.

pub use crate::engines::EngineInfo;
pub use crate::engines::install::{FLAVORS, Flavor, InstallRequest};
pub use crate::engines::runtimes::{EnvironmentRoots, FoundRuntime, Offer, python_candidates};
pub use crate::worker::fetch::{FetchStep, Installed, install};
pub use crate::worker::probe::{Found, survey};
pub use crate::worker::process::open_outside;
use crate::worker::profilers::{self, Wrapper};
use powerband_core::domain::plan::Profiler;

/// Profilers that are programs of their own and not here, each with what to do.
pub fn missing_profilers() -> Vec<(Profiler, String)> {
    let missing = |wrapper: &&dyn Wrapper| {
        let reason = profilers::program(*wrapper).err()?;
        Some((wrapper.profiler(), reason))
    };
    profilers::ALL.iter().filter_map(missing).collect()
}
