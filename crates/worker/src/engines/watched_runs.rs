//! The runs of a profile: a few that only warm up, and a few that are kept; fewer of both where a run takes seconds.

use std::time::{Duration, Instant};

use super::EngineError;
use powerband_core::base::clock;

/// So many runs are kept, and so many come first and only warm up.
pub const WATCHED_RUNS: u64 = 10;
pub const WATCHED_WARM_UP: u64 = 3;
/// No further run begins after this time, but for the least of them.
const RUNS_LIMIT: Duration = Duration::from_secs(20);
const WARM_UP_LIMIT: Duration = Duration::from_secs(5);
const LEAST_RUNS: u64 = 2;
const LEAST_WARM_UP: u64 = 1;

/// Runs that were watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchedRuns {
    /// How many came first and only warmed up.
    pub warm_up: u64,
    /// When the first of the others began, on the machine's monotonic clock, in nanoseconds.
    pub began_ns: u64,
}

/// Calls `run` as often as a profile has runs.
pub fn watch_runs(
    run: impl FnMut() -> Result<(), EngineError>,
) -> Result<WatchedRuns, EngineError> {
    watch_at_most(WATCHED_WARM_UP, WATCHED_RUNS, run)
}

/// Calls `run` so often at most, of which the first ones warm up.
pub(super) fn watch_at_most(
    most_warm_up: u64,
    most_runs: u64,
    mut run: impl FnMut() -> Result<(), EngineError>,
) -> Result<WatchedRuns, EngineError> {
    let mut repeat = |least, most, limit| {
        let began = Instant::now();
        let mut done = 0;
        while done < least || (done < most && began.elapsed() < limit) {
            run()?;
            done += 1;
        }
        Ok(done)
    };
    let warm_up = repeat(LEAST_WARM_UP, most_warm_up, WARM_UP_LIMIT)?;
    let began_ns = clock::monotonic_ns();
    repeat(LEAST_RUNS, most_runs, RUNS_LIMIT)?;
    Ok(WatchedRuns { warm_up, began_ns })
}
