//! The clock while all threads compute: as the system reports it, or counted by additions that take a cycle each.

use std::io;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::together;
use crate::roofs::code::{self, ComputeCode};
use powerband_devices::host;

/// How long is computed before the clock is looked at.
const COMPUTED: Duration = Duration::from_millis(60);
/// Blocks of additions of one look: less than a millisecond.
const BLOCKS: u64 = 100_000;
/// Looks of each thread.
const LOOKS: usize = 5;
/// Passes of a loop between two looks at the time.
const PASSES: u64 = 10_000;

/// A clock in MHz, and how it is known where that needs a word.
pub(super) struct Clock {
    pub(super) mhz: f64,
    pub(super) note: Option<&'static str>,
}

/// Computes with a thread on each of these cores and reads the clock during that.
pub(super) fn while_computing(
    root: &Path,
    code: &ComputeCode,
    cores: &[usize],
) -> io::Result<Option<Clock>> {
    if let Some(mhz) = reported(root, code, cores)? {
        return Ok(Some(Clock { mhz, note: None }));
    }
    let counted = together::each(cores, |_| counted(code))?;
    let mean = counted.iter().sum::<f64>() / counted.len().max(1) as f64;
    let note = "The system does not report the clock: it was counted by additions that wait for each other.";
    Ok((mean > 0.0).then_some(Clock {
        mhz: mean,
        note: Some(note),
    }))
}

fn reported(root: &Path, code: &ComputeCode, cores: &[usize]) -> io::Result<Option<f64>> {
    if host::clock_mhz(root).is_none() {
        return Ok(None);
    }
    thread::scope(|scope| {
        let (sender, looked) = sync_channel::<()>(1);
        let looking = thread::Builder::new()
            .name("roof-clock".to_owned())
            .spawn_scoped(scope, move || {
                let waited = looked.recv_timeout(COMPUTED);
                let is_computing = matches!(waited, Err(RecvTimeoutError::Timeout));
                is_computing.then(|| host::clock_mhz(root)).flatten()
            })?;
        let computed = together::each(cores, |_| compute(code, COMPUTED * 3 / 2));
        drop(sender);
        computed?;
        Ok(looking.join().ok().flatten())
    })
}

fn compute(code: &ComputeCode, limit: Duration) {
    let start = Instant::now();
    while start.elapsed() < limit {
        code.run(PASSES);
    }
}

/// The clock of this thread's core in MHz: the highest of several looks, because what interrupts one makes it lower.
fn counted(code: &ComputeCode) -> f64 {
    compute(code, COMPUTED);
    let looks = (0..LOOKS).map(|_| {
        compute(code, COMPUTED / 20);
        let start = Instant::now();
        let cycles = code::additions(BLOCKS);
        cycles as f64 / start.elapsed().as_secs_f64().max(1e-9) / 1e6
    });
    looks.fold(0.0, f64::max)
}
