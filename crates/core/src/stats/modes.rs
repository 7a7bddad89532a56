//! The modes of a sample: values around which it piles up, with nearly nothing between.
//!
//! The logarithms are split in two where the variance between the parts is largest (Otsu, 1979), and the parts again.
//! Then neighbours are joined whose means do not lie far apart for their own widths (Ashman's D, 1994). One half of a
//! uniform, a normal or an exponential sample is no mode of its own, and neither is a handful of outliers.

use std::ops::Range;

use super::summary::{mean, median, standard_deviation};

/// A mode has at least this share of the sample,
const LEAST_SHARE: f64 = 0.05;
/// and so many values.
const FEWEST: usize = 5;
/// Two modes are so far apart, by Ashman's D: the difference of their means over the root mean square of their deviations. A
/// sample split at its middle has 3.5 if it is uniform and 2.7 if it is normal.
const LEAST_APART: f64 = 5.0;
/// Modes nearer to each other than this share are one: timers and clocks have steps.
const LEAST_RATIO: f64 = 1.02;
/// A sample is split so many times before parts are joined: into eight parts.
const DEPTH: u32 = 3;

/// A part of a sample that piles up around a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The median of its values.
    pub centre: f64,
    /// Its share of the sample.
    pub share: f64,
    /// Its least value.
    pub low: f64,
    /// Its largest value.
    pub high: f64,
}

impl Mode {
    /// Whether a value is one of its own.
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// The modes of positive values in any order, the least first; one where they do not fall apart, none for no values.
pub fn modes(values: &[f64]) -> Vec<Mode> {
    let mut sorted: Vec<f64> = values
        .iter()
        .copied()
        .filter(|value| *value > 0.0)
        .collect();
    sorted.sort_by(f64::total_cmp);
    let logarithms: Vec<f64> = sorted.iter().map(|value| value.ln()).collect();
    let fewest = FEWEST.max((sorted.len() as f64 * LEAST_SHARE).ceil() as usize);
    let mut parts = Vec::new();
    add_parts(&logarithms, 0..sorted.len(), fewest, DEPTH, &mut parts);
    join_neighbours(&logarithms, &mut parts);
    let mode = |part: Range<usize>| {
        let own = sorted.get(part)?;
        Some(Mode {
            centre: median(own)?,
            share: own.len() as f64 / sorted.len() as f64,
            low: *own.first()?,
            high: *own.last()?,
        })
    };
    parts.into_iter().filter_map(mode).collect()
}

/// Adds a part of sorted logarithms, split so many times.
fn add_parts(
    logarithms: &[f64],
    part: Range<usize>,
    fewest: usize,
    depth: u32,
    parts: &mut Vec<Range<usize>>,
) {
    let place = best_split(&logarithms[part.clone()], fewest).filter(|_| depth > 0);
    match place {
        Some(place) => {
            let middle = part.start + place;
            add_parts(logarithms, part.start..middle, fewest, depth - 1, parts);
            add_parts(logarithms, middle..part.end, fewest, depth - 1, parts);
        }
        None => parts.push(part),
    }
}

/// Joins neighbours that are no modes of their own, the nearest first.
fn join_neighbours(logarithms: &[f64], parts: &mut Vec<Range<usize>>) {
    loop {
        let pairs = parts.windows(2).enumerate();
        let apart = pairs.map(|(index, pair)| {
            let [low, high] = [&pair[0], &pair[1]].map(|part| &logarithms[part.clone()]);
            (index, distance(low, high))
        });
        let nearest = apart.min_by(|(_, one), (_, other)| one.total_cmp(other));
        let Some((index, _)) = nearest.filter(|(_, distance)| *distance < LEAST_APART) else {
            return;
        };
        let second = parts.remove(index + 1);
        parts[index].end = second.end;
    }
}

/// Where the variance between two parts of enough values is largest.
fn best_split(sorted: &[f64], fewest: usize) -> Option<usize> {
    let total: f64 = sorted.iter().sum();
    let n = sorted.len() as f64;
    let mut below = 0.0;
    let mut best: Option<(f64, usize)> = None;
    for (index, value) in sorted.iter().enumerate() {
        below += value;
        let place = index + 1;
        if place < fewest || sorted.len() - place < fewest {
            continue;
        }
        let (left, right) = (place as f64, n - place as f64);
        let between = left * right * (below / left - (total - below) / right).powi(2);
        if best.is_none_or(|(most, _)| between > most) {
            best = Some((between, place));
        }
    }
    best.map(|(_, place)| place)
}

/// Ashman's D of two parts; zero where they are too near for two modes.
fn distance(low: &[f64], high: &[f64]) -> f64 {
    let moments = |part: &[f64]| {
        let centre = mean(part)?;
        Some((centre, standard_deviation(part, centre)?))
    };
    let (Some((low, narrow)), Some((high, wide))) = (moments(low), moments(high)) else {
        return 0.0;
    };
    let apart = high - low;
    if apart < LEAST_RATIO.ln() {
        return 0.0;
    }
    apart * 2_f64.sqrt() / narrow.hypot(wide)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution as _, Exp1, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

    fn normal(n: usize, centre: f64, width: f64, seed: u64) -> Vec<f64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut one = || -> f64 { StandardNormal.sample(&mut rng) };
        (0..n).map(|_| centre * (1.0 + width * one())).collect()
    }

    #[test]
    fn each_mode_has_its_centre_and_its_share() {
        let values = [
            normal(620, 8.0, 0.01, 1),
            normal(300, 12.0, 0.02, 2),
            normal(80, 20.0, 0.01, 3),
        ]
        .concat();
        let found = modes(&values);
        assert_eq!(found.len(), 3, "{found:?}");
        for (mode, (centre, share)) in found.iter().zip([(8.0, 0.62), (12.0, 0.3), (20.0, 0.08)]) {
            assert!((mode.centre / centre - 1.0).abs() < 0.01, "{mode:?}");
            assert!((mode.share - share).abs() < 0.001, "{mode:?}");
            assert!(mode.holds(centre));
        }
    }

    #[test]
    fn what_is_one_pile_is_not_split() {
        for seed in 0..20 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let uniform: Vec<f64> = (0..400)
                .map(|_| 1.0 + (rng.next_u64() % 1_000) as f64 / 1_000.0)
                .collect();
            assert_eq!(modes(&uniform).len(), 1);
            assert_eq!(modes(&normal(400, 5.0, 0.1, seed)).len(), 1);
            let tail: Vec<f64> = (0..400)
                .map(|_| -> f64 { Exp1.sample(&mut rng) })
                .map(|tail| 10.0 + 3.0 * tail)
                .collect();
            assert_eq!(modes(&tail).len(), 1);
        }
        // A few outliers are no mode, and neither are two steps of a timer.
        let mut outliers = normal(300, 5.0, 0.01, 9);
        outliers.extend([9.0; 4]);
        assert_eq!(modes(&outliers).len(), 1);
        assert_eq!(modes(&[[1.0; 30], [1.01; 30]].concat()).len(), 1);
        assert_eq!(modes(&[[1.0; 30], [1.05; 30]].concat()).len(), 2);
        assert_eq!(modes(&[3.0]).len(), 1);
        assert!(modes(&[]).is_empty());
    }
}
