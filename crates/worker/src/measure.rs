//! The loops that warm up and measure, inside the worker.
//!
//! Nothing is allocated, written or decided inside a timed run; samples go into memory that was
//! set aside before.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use super::cpu_contention::Counters;
use super::protocol::{MeasuredRound, RoundRule};
use crate::engines::{EngineError, Runnable};
use powerband_core::base::clock;
use powerband_core::domain::case::WarmUp;
use powerband_core::domain::generation::Generation;
use powerband_core::domain::plan::{Load, WarmUpRule};
use powerband_core::domain::tensor::Tensor;
use powerband_core::schedule::warm_up::WarmUpLimit;
use powerband_core::stats::summary::median;

/// A warm-up ends after so many runs, however short they are.
const MOST_RUNS: u64 = 1_000_000;
/// Before a request is due the worker sleeps, and for this last bit of the wait it looks at the clock,
/// because a sleep ends late.
const LOOK_OUT: Duration = Duration::from_micros(200);
/// Readings of the clock whose time is taken.
const CLOCK_READINGS: u32 = 1_000;

/// Runs until the medians of several windows in a row agree, or a limit is reached.
pub fn warm_up(
    model: &mut dyn Runnable,
    rule: &WarmUpRule,
    limit: Option<WarmUpLimit>,
) -> Result<WarmUp, EngineError> {
    if !model.needs_warm_up() {
        return Ok(WarmUp {
            runs: 0,
            spent_ns: 0,
            settled: true,
        });
    }
    let window_ns = (rule.min_time_ms * 1_000_000 / 5).max(1);
    let most_ns = rule.max_time_ms * 1_000_000;
    // The least runs are one window after the other.
    let runs_a_window = (rule.min_runs / u64::from(rule.windows.max(1))).max(1) as usize;
    let is_over = |runs: u64, spent_ns: u64| {
        let reaches = |limit: WarmUpLimit| runs >= limit.runs && spent_ns >= limit.least_ns;
        spent_ns >= most_ns || limit.is_some_and(reaches)
    };
    let mut medians: Vec<f64> = Vec::new();
    let (mut runs, mut spent_ns) = (0, 0);
    loop {
        let mut window: Vec<f64> = Vec::with_capacity(64);
        let mut in_window_ns = 0;
        while window.len() < runs_a_window || in_window_ns < window_ns {
            let sample = model.timed_run()?;
            window.push(sample as f64);
            in_window_ns += sample;
            let so_far = runs + window.len() as u64;
            if is_over(so_far, spent_ns + in_window_ns) || window.len() >= 100_000 {
                break;
            }
        }
        runs += window.len() as u64;
        spent_ns += in_window_ns;
        medians.extend(median(&window));
        let settled = medians_agree(&medians, rule);
        let enough = runs >= rule.min_runs && spent_ns >= rule.min_time_ms * 1_000_000;
        // Runs too short for the clock never add up to the limit, so they are counted as well.
        if (settled && enough) || is_over(runs, spent_ns) || runs >= MOST_RUNS {
            return Ok(WarmUp {
                runs,
                spent_ns,
                settled,
            });
        }
    }
}

/// Whether the last windows' medians lie within the allowed share of each other.
fn medians_agree(medians: &[f64], rule: &WarmUpRule) -> bool {
    let windows = rule.windows as usize;
    let Some(last) = medians
        .len()
        .checked_sub(windows)
        .and_then(|from| medians.get(from..))
    else {
        return false;
    };
    let low = last.iter().copied().fold(f64::INFINITY, f64::min);
    let high = last.iter().copied().fold(0.0, f64::max);
    high <= low * (1.0 + rule.agree_within)
}

/// Measures one round.
pub fn round(model: &mut dyn Runnable, rule: &RoundRule) -> Result<MeasuredRound, EngineError> {
    wake_up(model, rule)?;
    if let Some(at) = rule.starts_at_ns {
        wait(Duration::from_nanos(
            at.saturating_sub(clock::monotonic_ns()),
        ));
    }
    // What warmed up is no part of the round.
    model.take_generation();
    let counters = Counters::now();
    let measured = match rule.load.offered_per_s() {
        None => closed_loop(model, rule),
        Some(per_s) => open_loop(model, rule, per_s),
    }?;
    let company = counters.and_then(|counters| counters.since());
    Ok(MeasuredRound {
        company,
        generation: model
            .take_generation()
            .map(|tokens| from_arrival(tokens, &measured.samples_ns)),
        ..measured
    })
}

/// A request that had to wait has its first token so much later: its sample counts from the arrival, and the
/// tokens of a request add up to its sample.
fn from_arrival(mut tokens: Generation, samples_ns: &[u64]) -> Generation {
    let requests = tokens.first_token_ns.len().max(1);
    let later = tokens.later_token_ns.len() / requests;
    for (place, (first_ns, sample_ns)) in
        tokens.first_token_ns.iter_mut().zip(samples_ns).enumerate()
    {
        let own = tokens.later_token_ns.iter().skip(place * later).take(later);
        *first_ns = sample_ns.saturating_sub(own.sum());
    }
    tokens
}

/// Runs that are not measured: caches and clocks wake up, and the system spreads the threads over the
/// cores again, which it had put to sleep on one.
fn wake_up(model: &mut dyn Runnable, rule: &RoundRule) -> Result<(), EngineError> {
    if !model.needs_warm_up() {
        return Ok(());
    }
    let start = Instant::now();
    let (mut runs, mut sum_ns) = (0, 0);
    while runs < rule.wake_up_runs || sum_ns < rule.wake_up_ns {
        // Made-up times do not pass on the clock, and may be none at all.
        sum_ns = (sum_ns + model.timed_run()?).max(start.elapsed().as_nanos() as u64);
        runs += 1;
    }
    Ok(())
}

/// Each run as soon as the one before is over.
fn closed_loop(model: &mut dyn Runnable, rule: &RoundRule) -> Result<MeasuredRound, EngineError> {
    let mut samples_ns = Vec::with_capacity(rule.max_samples.min(1 << 20) as usize);
    let mut sum_ns = 0;
    let is_told = model.reports_own_times();
    let started_monotonic_ns = clock::monotonic_ns();
    let start = Instant::now();
    loop {
        let sample = model.timed_run()?;
        samples_ns.push(sample);
        sum_ns += sample;
        let n = samples_ns.len() as u64;
        // Figures of another program say little about the time that it takes to get them.
        let so_far_ns = if is_told {
            start.elapsed().as_nanos() as u64
        } else {
            sum_ns
        };
        let enough = n >= rule.min_samples && so_far_ns >= rule.min_ns;
        if enough || n >= rule.max_samples || so_far_ns >= rule.max_ns {
            break;
        }
    }
    // Made-up times do not pass on any clock; for real ones the clock is never behind their sum.
    let spent_ns = if is_told {
        sum_ns
    } else {
        (start.elapsed().as_nanos() as u64).max(sum_ns)
    };
    Ok(MeasuredRound {
        started_monotonic_ns,
        spent_ns,
        samples_ns,
        ..MeasuredRound::default()
    })
}

/// Each run as soon as its request has arrived and the run before is over. A sample counts from the
/// arrival, so that a run which had to wait for a slow one before it shows that it did.
fn open_loop(
    model: &mut dyn Runnable,
    rule: &RoundRule,
    per_s: f64,
) -> Result<MeasuredRound, EngineError> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(rule.seed);
    let mut gap_ns = || {
        let share: f64 = match rule.load {
            Load::Poisson { .. } => Exp1.sample(&mut rng),
            Load::Closed | Load::Constant { .. } => 1.0,
        };
        share * 1e9 / per_s
    };
    let mut samples_ns = Vec::with_capacity(rule.max_samples.min(1 << 20) as usize);
    let started_monotonic_ns = clock::monotonic_ns();
    let start = Instant::now();
    // Made-up times do not pass on the clock; how far they are ahead of it.
    let mut ahead_ns = 0;
    let now_ns = |ahead_ns: u64| start.elapsed().as_nanos() as u64 + ahead_ns;
    let mut due_ns = 0.0;
    loop {
        wait(Duration::from_nanos(
            (due_ns as u64).saturating_sub(now_ns(ahead_ns)),
        ));
        let began_ns = now_ns(ahead_ns);
        let run_ns = model.timed_run()?;
        ahead_ns += run_ns.saturating_sub(now_ns(ahead_ns) - began_ns);
        let spent_ns = now_ns(ahead_ns);
        samples_ns.push(spent_ns.saturating_sub(due_ns as u64));
        let n = samples_ns.len() as u64;
        let enough = n >= rule.min_samples && spent_ns >= rule.min_ns;
        if enough || n >= rule.max_samples || spent_ns >= rule.max_ns {
            return Ok(MeasuredRound {
                started_monotonic_ns,
                spent_ns,
                samples_ns,
                ..MeasuredRound::default()
            });
        }
        due_ns += gap_ns();
    }
}

fn wait(time: Duration) {
    let start = Instant::now();
    if let Some(sleep) = time.checked_sub(LOOK_OUT) {
        thread::sleep(sleep);
    }
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// What reading the clock once takes, in nanoseconds.
pub fn clock_ns() -> u64 {
    let start = Instant::now();
    for _ in 0..CLOCK_READINGS {
        black_box(Instant::now());
    }
    start.elapsed().as_nanos() as u64 / u64::from(CLOCK_READINGS)
}

/// What measuring itself costs: the median time of a run that does nothing, through the same loop.
pub fn empty_run_ns() -> u64 {
    let rule = RoundRule {
        wake_up_runs: 100,
        wake_up_ns: 0,
        min_samples: 1_000,
        min_ns: 0,
        max_ns: 100_000_000,
        max_samples: 1_000,
        load: Load::Closed,
        seed: 0,
        starts_at_ns: None,
    };
    let samples: Vec<f64> = round(&mut Nothing, &rule)
        .map(|measured| measured.samples_ns.iter().map(|&ns| ns as f64).collect())
        .unwrap_or_default();
    median(&samples).unwrap_or_default() as u64
}

struct Nothing;

impl Runnable for Nothing {
    fn run(&mut self) -> Result<(), EngineError> {
        black_box(());
        Ok(())
    }

    fn outputs(&mut self) -> Result<Vec<Tensor>, EngineError> {
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives out times from a list, the last one for ever.
    struct Script(Vec<u64>, usize);

    impl Runnable for Script {
        fn run(&mut self) -> Result<(), EngineError> {
            Ok(())
        }

        fn timed_run(&mut self) -> Result<u64, EngineError> {
            let time = self.0[self.1.min(self.0.len() - 1)];
            self.1 += 1;
            Ok(time)
        }

        fn outputs(&mut self) -> Result<Vec<Tensor>, EngineError> {
            Ok(Vec::new())
        }
    }

    fn rule(min_runs: u64, min_time_ms: u64, max_time_ms: u64) -> WarmUpRule {
        WarmUpRule {
            min_runs,
            min_time_ms,
            max_time_ms,
            windows: 3,
            agree_within: 0.05,
        }
    }

    #[test]
    fn warm_up_waits_until_windows_agree() {
        // Ten slow runs, then steady. Windows of three: the fourth is the first whose median is fast,
        // so the fourth to sixth agree, after eighteen runs.
        let mut times = vec![50_000_000; 10];
        times.push(10_000_000);
        let warm = warm_up(&mut Script(times, 0), &rule(10, 50, 30_000), None).unwrap();
        assert!(warm.settled);
        assert_eq!(warm.runs, 18, "{warm:?}");
    }

    #[test]
    fn warm_up_gives_up_and_says_so() {
        let growing: Vec<u64> = (1..2_000).map(|i| 1_000_000 * i).collect();
        let warm = warm_up(&mut Script(growing, 0), &rule(10, 50, 1_000), None).unwrap();
        assert!(!warm.settled);
        assert!(warm.spent_ns >= 1_000_000_000);
    }

    #[test]
    fn warm_up_is_given_up_after_so_many_runs_and_so_much_time() {
        let limit = WarmUpLimit {
            runs: 60,
            least_ns: 2_000_000_000,
        };
        let unsteady = |millis: u64| {
            // Every window takes 1.1 times as long as the one before.
            let growing =
                (0..3_000).map(|run| (millis as f64 * 1e6 * 1.1_f64.powi(run / 3 % 7)) as u64);
            let mut script = Script(growing.collect(), 0);
            warm_up(&mut script, &rule(10, 50, 30_000), Some(limit)).unwrap()
        };
        let (short, long) = (unsteady(1), unsteady(100));
        assert!(!short.settled && !long.settled);
        assert!(
            short.runs > 60 && (2_000_000_000..2_100_000_000).contains(&short.spent_ns),
            "{short:?}"
        );
        assert_eq!(long.runs, 60, "{long:?}");
    }

    #[test]
    fn a_window_is_one_run_where_few_are_asked_for() {
        let later = rule(3, 50, 30_000);
        let steady = warm_up(&mut Script(vec![100_000_000], 0), &later, None).unwrap();
        assert_eq!((steady.runs, steady.settled), (3, true));
    }

    #[test]
    fn runs_that_take_no_time_are_warm_all_the_same() {
        let warm = warm_up(&mut Script(vec![0], 0), &rule(10, 50, 1_000), None).unwrap();
        assert!(warm.settled && warm.spent_ns == 0, "{warm:?}");
    }

    #[test]
    fn a_round_ends_when_it_has_enough() {
        let rule = |min_samples, min_ns, max_ns, max_samples| RoundRule {
            wake_up_runs: 2,
            wake_up_ns: 0,
            min_samples,
            min_ns,
            max_ns,
            max_samples,
            load: Load::Closed,
            seed: 0,
            starts_at_ns: None,
        };
        let count = |rule| {
            round(&mut Script(vec![1_000_000], 0), &rule)
                .unwrap()
                .samples_ns
                .len()
        };
        assert_eq!(count(rule(10, 0, u64::MAX, 1_000)), 10, "samples");
        assert_eq!(count(rule(10, 25_000_000, u64::MAX, 1_000)), 25, "time");
        assert_eq!(
            count(rule(100, 0, 5_000_000, 1_000)),
            5,
            "too slow for the samples"
        );
        assert_eq!(
            count(rule(10, u64::MAX, u64::MAX, 50)),
            50,
            "so fast that the time would take for ever"
        );
    }

    #[test]
    fn the_wake_up_is_not_measured() {
        let rule = RoundRule {
            wake_up_runs: 2,
            wake_up_ns: 0,
            min_samples: 2,
            min_ns: 0,
            max_ns: u64::MAX,
            max_samples: 9,
            load: Load::Closed,
            seed: 0,
            starts_at_ns: None,
        };
        let measured = round(&mut Script(vec![9, 9, 1, 1], 0), &rule).unwrap();
        assert_eq!(measured.samples_ns, [1, 1]);
        let slow_to_wake = RoundRule {
            wake_up_ns: 20_000_000,
            ..rule
        };
        let mut script = Script(vec![9_000_000, 9_000_000, 9_000_000, 1, 1], 0);
        let measured = round(&mut script, &slow_to_wake).unwrap();
        assert_eq!(
            measured.samples_ns,
            [1, 1],
            "three runs until 20 ms are over"
        );
    }

    fn arrivals(load: Load, samples: u64) -> RoundRule {
        RoundRule {
            wake_up_runs: 0,
            wake_up_ns: 0,
            min_samples: samples,
            min_ns: 0,
            max_ns: u64::MAX,
            max_samples: samples,
            load,
            seed: 3,
            starts_at_ns: None,
        }
    }

    #[test]
    fn a_request_that_had_to_wait_shows_it() {
        // One a millisecond; the first run takes ten, the others next to nothing.
        let load = Load::Constant { per_s: 1_000.0 };
        let mut script = Script(vec![10_000_000, 1_000], 0);
        let samples = round(&mut script, &arrivals(load, 20)).unwrap().samples_ns;
        assert!(samples[0] >= 10_000_000);
        // The second was due at 1 ms and could begin at 10 ms, the sixth at 5 ms.
        assert!(
            samples[1] >= 9_000_000 && samples[5] >= 5_000_000,
            "{samples:?}"
        );
        // The last ones came when the queue was empty.
        assert!(samples[19] < 5_000_000, "{samples:?}");
    }

    #[test]
    fn requests_arrive_at_the_rate_that_was_asked_for() {
        for load in [
            Load::Constant { per_s: 2_000.0 },
            Load::Poisson { per_s: 2_000.0 },
        ] {
            let measured = round(&mut Script(vec![0], 0), &arrivals(load, 400)).unwrap();
            let rate = 400.0 * 1e9 / measured.spent_ns as f64;
            // A busy machine may be late, never early; 400 random gaps add up to 200 ms ± 10 ms.
            assert!(rate < 2_000.0 * 1.25, "{load:?}: {rate}");
            assert!(measured.spent_ns > 150_000_000);
        }
    }
}
