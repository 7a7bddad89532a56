//! Waiting until no other program uses the processors.

use std::thread;
use std::time::{Duration, Instant};

use super::{output, signals};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::humanize;
use powerband_worker::cpu_contention::Counters;

/// How long the processors are watched at a time.
const WINDOW: Duration = Duration::from_secs(1);
/// The share of all processors that others may use.
const IDLE: f64 = 0.05;
/// So many windows in a row are idle.
const IN_A_ROW: u32 = 3;

/// Waits so long at most, where that is asked for; says where others still use the processors then. Nothing where that
/// cannot be read.
pub(super) fn wait_if_asked(limit: Option<Duration>) -> anyhow::Result<()> {
    if let Some(limit) = limit {
        wait(limit, &signals::listen()?.token());
    }
    Ok(())
}

fn wait(limit: Duration, stop: &CancelToken) {
    let end = Instant::now() + limit;
    let (mut idle, mut is_said) = (0, false);
    while let Some(busy) = busy_share().filter(|_| !stop.is_cancelled()) {
        idle = if busy <= IDLE { idle + 1 } else { 0 };
        if idle >= IN_A_ROW {
            return;
        }
        if Instant::now() >= end {
            output::note(&format!(
                "Other programs still use {} of the processors; the numbers suffer.",
                humanize::percent(busy)
            ));
            return;
        }
        if idle == 0 && !is_said {
            is_said = true;
            output::note(&format!(
                "Other programs use {} of the processors; waiting for up to {}.",
                humanize::percent(busy),
                humanize::clock_time(limit.as_secs_f64())
            ));
        }
    }
}

/// The share of all processors that other programs used in a second.
fn busy_share() -> Option<f64> {
    let before = Counters::now()?;
    thread::sleep(WINDOW);
    let passed = before.since()?;
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let all_ns = passed.counted_ns as f64 * processors as f64;
    Some((passed.others_ns + passed.stolen_ns) as f64 / all_ns.max(1.0))
}
