//! Whether what was timed several times on both sides differs by more than it differs from one time to the next.

use super::verdict::{Call, LEAST_FLOOR};
use powerband_core::stats::session_spread::NARROW_RATIO;
use powerband_core::stats::student;

/// How often a verdict may be wrong of all that are given together.
const WRONG: f64 = 0.05;
/// More samples are not suggested.
const MOST_SAMPLES: f64 = 1_000.0;

/// When the two sides were timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleOrder {
    /// Both sides took turns, or only what was recorded is compared.
    InTurns,
    /// In two sessions: the machine may have been in another state.
    Apart,
}

/// How the times after differ from those before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledDifference {
    pub call: Call,
    /// Time after over time before.
    pub ratio: f64,
    /// The interval of the ratio, so wide that of all that are made together, one of twenty times one is wrong.
    pub interval: (f64, f64),
    /// Times of each side that would settle it, where more would.
    pub samples_needed: Option<u64>,
}

impl SampledDifference {
    /// Compares times, one of so many comparisons; nothing where a side has fewer than two, or one takes no time.
    pub fn new(
        before: &[f64],
        after: &[f64],
        order: SampleOrder,
        n_compared: usize,
    ) -> Option<Self> {
        let logarithms = |times: &[f64]| {
            let times = times.iter().filter(|time| **time > 0.0);
            times.map(|time| time.ln()).collect::<Vec<f64>>()
        };
        let sides = [logarithms(before), logarithms(after)];
        if sides[0].len() < before.len() || sides[1].len() < after.len() {
            return None;
        }
        let outside = WRONG / n_compared.max(1) as f64;
        let (difference, half) = student::difference(&sides[0], &sides[1], outside)?;
        // As between sessions whose rounds come from one stretch of time.
        let half = match order {
            SampleOrder::InTurns => half,
            SampleOrder::Apart => half.max(NARROW_RATIO.ln()),
        };
        let floor = LEAST_FLOOR.ln_1p();
        let call = if difference - half > floor {
            Call::Slower
        } else if difference + half < -floor {
            Call::Faster
        } else if difference.abs() + half <= floor {
            Call::Same
        } else {
            Call::Inconclusive
        };
        let beyond = (difference.abs() - floor).abs();
        let n_samples = before.len().min(after.len()) as f64 * (half / beyond).powi(2);
        let needs_more = call == Call::Inconclusive
            && order == SampleOrder::InTurns
            && n_samples <= MOST_SAMPLES;
        Some(Self {
            call,
            ratio: difference.exp(),
            interval: ((difference - half).exp(), (difference + half).exp()),
            samples_needed: needs_more.then(|| n_samples.ceil() as u64),
        })
    }

    /// Whether it is called faster or slower.
    pub fn is_change(&self) -> bool {
        matches!(self.call, Call::Faster | Call::Slower)
    }
}

#[cfg(test)]
mod tests {
    use super::SampleOrder::InTurns;
    use super::*;
    use powerband_core::stats::joint;

    #[test]
    fn five_per_cent_are_found_and_nothing_else() {
        let n_operators = 40;
        let mut n_right = 0;
        for trial in 0..100 {
            // Twenty starts of each side with a noise of 2 %.
            let seeds = trial * 100..(trial + 1) * 100;
            let noise = seeds.flat_map(joint::normals).take(40 * n_operators);
            let noise: Vec<f64> = noise.collect();
            let sides = noise.chunks(20);
            let sides: Vec<&[f64]> = sides.collect();
            let calls = sides.chunks(2).enumerate().map(|(operator, sides)| {
                let by = if operator == 7 { 1.05 } else { 1.0 };
                let starts = |noise: &[f64], time_ns: f64| {
                    let starts = noise.iter().map(|one| time_ns * (1.0 + 0.02 * one));
                    starts.collect::<Vec<f64>>()
                };
                let (before, after) = (starts(sides[0], 1e5), starts(sides[1], 1e5 * by));
                let found = SampledDifference::new(&before, &after, InTurns, n_operators);
                found.expect("a difference").call
            });
            let coloured: Vec<usize> = calls
                .enumerate()
                .filter(|(_, call)| matches!(call, Call::Slower | Call::Faster))
                .map(|(operator, _)| operator)
                .collect();
            n_right += u32::from(coloured == [7]);
        }
        assert!(n_right >= 95, "{n_right} of 100");
    }

    #[test]
    fn more_starts_are_named_where_they_would_settle_it() {
        let found =
            SampledDifference::new(&[100.0, 104.0, 97.0], &[106.0, 110.0, 103.0], InTurns, 1)
                .unwrap();
        assert_eq!(found.call, Call::Inconclusive);
        assert!(found.samples_needed.is_some_and(|starts| starts > 3));
        assert!(found.interval.0 < found.ratio && found.ratio < found.interval.1);
        assert_eq!(
            SampledDifference::new(&[1.0], &[1.0, 2.0], InTurns, 1),
            None
        );
        assert_eq!(
            SampledDifference::new(&[0.0, 1.0], &[1.0, 2.0], InTurns, 1),
            None
        );
    }

    #[test]
    fn sessions_that_took_no_turns_differ_by_more() {
        let (before, after) = ([100.0, 101.0, 99.0], [140.0, 141.0, 139.0]);
        let call = |order| {
            SampledDifference::new(&before, &after, order, 1)
                .unwrap()
                .call
        };
        assert_eq!(call(InTurns), Call::Slower);
        assert_eq!(call(SampleOrder::Apart), Call::Inconclusive);
        let twice = [201.0, 202.0, 200.0];
        let found = SampledDifference::new(&before, &twice, SampleOrder::Apart, 1).unwrap();
        assert_eq!(found.call, Call::Slower);
    }
}
