//! Several threads that do the same at once, each on its own core, timed from where the first begins to where the
//! last ends.

use std::io;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::cores;
use powerband_core::domain::roofs::MeasuredValue;

/// How long things are done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// At least so long before anything counts.
    pub(super) warm_up: Duration,
    /// At least about so long is a repetition.
    pub(super) repetition: Duration,
    /// How many repetitions.
    pub(super) repetitions: usize,
}

/// For telling which code is the best: each several times, in turns with the others.
pub(super) const BRIEF: Timing = Timing {
    warm_up: Duration::from_millis(3),
    repetition: Duration::from_millis(4),
    repetitions: 1,
};
/// For figures that are taken several times.
pub(super) const SHORT: Timing = Timing {
    warm_up: Duration::from_millis(15),
    repetition: Duration::from_millis(12),
    repetitions: 4,
};
/// For figures that are taken once.
pub(super) const FULL: Timing = Timing {
    warm_up: Duration::from_millis(25),
    repetition: Duration::from_millis(12),
    repetitions: 8,
};
/// For caches, which are full after a pass.
pub(super) const CACHED: Timing = Timing {
    warm_up: Duration::from_millis(15),
    repetition: Duration::from_millis(8),
    repetitions: 8,
};

/// How often each code is tried to tell which is the best.
const TRIALS: usize = 2;

/// The best of several, which take turns so that a moment in which the machine is slow hits all alike.
pub(super) fn best_of<C: Copy>(
    codes: &[C],
    mut rate: impl FnMut(C) -> io::Result<f64>,
) -> io::Result<Option<C>> {
    if let [only] = codes {
        return Ok(Some(*only));
    }
    let mut highest = vec![0.0_f64; codes.len()];
    for _ in 0..TRIALS {
        for (highest, &code) in highest.iter_mut().zip(codes) {
            *highest = highest.max(rate(code)?);
        }
    }
    let ranked = codes.iter().zip(highest);
    let best = ranked.max_by(|(_, a), (_, b)| a.total_cmp(b));
    Ok(best.map(|(code, _)| *code))
}

/// How long repetitions took.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    /// Passes of each thread in each repetition.
    pub(super) passes: u64,
    /// Seconds of each repetition.
    pub(super) seconds: Vec<f64>,
}

impl Timed {
    /// What was done in a second of each repetition, where all threads together do so much in a pass.
    pub(super) fn rates(&self, of_a_pass: f64) -> Vec<f64> {
        let all = of_a_pass * self.passes as f64;
        self.seconds.iter().map(|seconds| all / seconds).collect()
    }

    /// The highest of them.
    pub(super) fn best(&self, of_a_pass: f64) -> f64 {
        self.rates(of_a_pass).into_iter().fold(0.0, f64::max)
    }
}

/// The figure of repetitions: the median of their faster half, because whatever else runs on a machine can only slow
/// a loop down.
pub(super) fn faster_half(mut rates: Vec<f64>) -> MeasuredValue {
    rates.sort_by(f64::total_cmp);
    let kept = &rates[rates.len() / 2..];
    MeasuredValue {
        value: median(kept),
        low: kept.first().copied().unwrap_or(0.0),
        high: kept.last().copied().unwrap_or(0.0),
        repetitions: kept.len() as u32,
    }
}

/// Of sorted figures; the higher of the two in the middle.
fn median(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// Has a thread on each of these cores do something so often that it can be timed.
///
/// `prepare` is called on each thread and returns what it does: so many passes.
pub(super) fn timed<W: FnMut(u64)>(
    cores: &[usize],
    timing: Timing,
    prepare: impl Fn(usize) -> W + Sync,
) -> io::Result<Timed> {
    let barrier = Barrier::new(cores.len());
    let passes = AtomicU64::new(1);
    let threads = each(cores, |index| {
        let mut work = prepare(index);
        barrier.wait();
        let needed = warm_up(timing, &mut work);
        if index == 0 {
            passes.store(needed, Ordering::Relaxed);
        }
        let repetitions = 0..timing.repetitions;
        let spans = repetitions.map(|_| {
            barrier.wait();
            let start = Instant::now();
            work(passes.load(Ordering::Relaxed));
            (start, Instant::now())
        });
        spans.collect::<Vec<_>>()
    })?;
    let wall = |repetition: usize| {
        let spans = threads.iter().filter_map(|spans| spans.get(repetition));
        let start = spans.clone().map(|(start, _)| *start).min()?;
        let end = spans.map(|(_, end)| *end).max()?;
        Some((end - start).as_secs_f64().max(1e-9))
    };
    Ok(Timed {
        passes: passes.into_inner(),
        seconds: (0..timing.repetitions).filter_map(wall).collect(),
    })
}

/// Does something on a thread of each of these cores, kept there where the system lets it.
pub(super) fn each<T: Send>(
    cores: &[usize],
    work: impl Fn(usize) -> T + Sync,
) -> io::Result<Vec<T>> {
    let one = |index: usize, core: usize| {
        cores::pin(core);
        work(index)
    };
    thread::scope(|scope| {
        let started: io::Result<Vec<_>> = cores
            .iter()
            .enumerate()
            .map(|(index, &core)| {
                let one = &one;
                thread::Builder::new()
                    .name(format!("roof-{index}"))
                    .spawn_scoped(scope, move || one(index, core))
            })
            .collect();
        let joined = started?.into_iter().map(|thread| {
            let broken = |_| io::Error::other("a measuring thread panicked");
            thread.join().map_err(broken)
        });
        joined.collect()
    })
}

/// Works for as long as warming up takes, and returns how many passes fill a repetition.
fn warm_up(timing: Timing, work: &mut impl FnMut(u64)) -> u64 {
    let begun = Instant::now();
    let mut passes = 1;
    loop {
        let start = Instant::now();
        work(passes);
        let spent = start.elapsed();
        let is_long = spent >= timing.repetition / 8;
        if is_long && begun.elapsed() >= timing.warm_up {
            let share = timing.repetition.as_secs_f64() / spent.as_secs_f64().max(1e-9);
            return ((passes as f64 * share).round() as u64).max(1);
        }
        if !is_long {
            passes = passes.saturating_mul(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn the_faster_half_is_kept() {
        let timed = Timed {
            passes: 10,
            seconds: vec![1.0, 2.0, 1.25, 10.0],
        };
        let rate = faster_half(timed.rates(5.0));
        assert_eq!((rate.low, rate.value, rate.high), (40.0, 50.0, 50.0));
        assert_eq!(rate.repetitions, 2);
        assert_eq!(timed.best(5.0), 50.0);
    }

    #[test]
    fn the_best_is_found_though_the_machine_is_slow_at_times() {
        let mut calls = 0;
        let best = best_of(&[3.0, 5.0, 4.0], |code| {
            calls += 1;
            // At first all are slow.
            Ok(if calls <= 3 { 0.1 } else { code })
        });
        assert_eq!((best.unwrap(), calls), (Some(5.0), 6));
        assert_eq!(best_of::<u8>(&[], |_| Ok(1.0)).unwrap(), None);
        assert_eq!(best_of(&[7], |_| Ok(0.0)).unwrap(), Some(7));
    }

    #[test]
    fn every_thread_does_the_same_passes_at_once() {
        let timing = Timing {
            warm_up: Duration::from_millis(1),
            repetition: Duration::from_millis(2),
            repetitions: 3,
        };
        let prepared = AtomicUsize::new(0);
        let timed = timed(&[0, 0, 0], timing, |_| {
            prepared.fetch_add(1, Ordering::Relaxed);
            |passes: u64| thread::sleep(Duration::from_micros(50 * passes))
        })
        .unwrap();
        assert_eq!(prepared.into_inner(), 3);
        assert_eq!(timed.seconds.len(), 3);
        let least = 50e-6 * timed.passes as f64;
        assert!(
            timed.seconds.iter().all(|&seconds| seconds >= least),
            "{timed:?}"
        );
    }
}
