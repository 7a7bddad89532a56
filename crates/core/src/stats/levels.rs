//! The levels of a series: where its values changed, and stayed changed.
//!
//! Circular binary segmentation (Olshen, Venkatraman, Lucito & Wigler, 2004): of all stretches of a series, the one whose
//! mean lies furthest from the mean of the rest, in errors of that difference, is held against the same in shuffled
//! values. A step up and the step back down are found together, which a search for one step at a time misses. The
//! ends are then put where the absolute deviations from the medians are least, and a step is taken back unless its
//! whole 99 % interval lies beyond a floor, by the deviation within all levels.
//!
//! One value that is off is no level, and hides none: it is drawn near its neighbours, and a level has at least three. Assumes values that could be exchanged within a
//! level; a slow drift becomes several steps.

use std::ops::Range;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::sequential::{Centre, Look};
use super::student;
use super::summary::{mean, median};

/// A level has so many values at least.
pub const FEWEST_IN_LEVEL: usize = 3;
/// How often a series is shuffled.
const SHUFFLES: u32 = 199;
/// A stretch is taken where shuffled values have one as far off no more often than this.
const MOST_BY_CHANCE: f64 = 0.03;
/// A value is held against so many on either side,
const HALF_WINDOW: usize = 2;
/// and drawn near if it is further from their median than so many times the usual distance.
const FAR: f64 = 6.0;
/// Of fewer values it is not known which distance is usual.
const FEWEST_TO_TELL: usize = 5;
/// In longer series the ends of stretches are looked for at so many places.
const MOST_PLACES: usize = 256;

/// A step from one level to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Place of the first value of the new level.
    pub at: usize,
    /// The new level less the one before.
    pub difference: f64,
    /// Half the 99 % interval of the difference.
    pub half_width: f64,
}

/// The steps of a series, in its order; each is beyond the floor.
pub fn steps(values: &[f64], floor: f64) -> Vec<Step> {
    let mut starts = Vec::new();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(values.len() as u64);
    let values = &drawn_near(values);
    add_level_starts(values, 0, &mut rng, &mut starts);
    starts.sort_unstable();
    let reach = 2 * stride(values.len()).max(FEWEST_IN_LEVEL);
    loop {
        let steps = steps_at(values, &starts);
        // The weakest goes first, because its going changes its neighbours.
        let excess = |step: &Step| (step.difference.abs() - floor) / step.half_width;
        let weakest = steps.iter().enumerate().min_by(|(_, a), (_, b)| {
            let (a, b) = (excess(a), excess(b));
            a.total_cmp(&b)
        });
        match weakest {
            Some((index, step)) if step.difference.abs() - floor <= step.half_width => {
                starts.remove(index);
            }
            _ if move_starts(values, &mut starts, reach) => {}
            _ => return steps,
        }
    }
}

/// The levels between steps: which values, and their mean, which single values that are off do not pull.
pub fn levels(values: &[f64], steps: &[Step]) -> Vec<(Range<usize>, f64)> {
    let values = drawn_near(values);
    let starts: Vec<usize> = steps.iter().map(|step| step.at).collect();
    let ranges = ranges(&starts, values.len()).into_iter();
    ranges
        .filter_map(|range| Some((range.clone(), centre(values.get(range)?)?.mean)))
        .collect()
}

fn ranges(starts: &[usize], n_values: usize) -> Vec<Range<usize>> {
    let ends = starts.iter().copied().chain([n_values]);
    let starts = std::iter::once(0).chain(starts.iter().copied());
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

/// The mean of a level; of eight values and more without a seventh at either end.
fn centre(level: &[f64]) -> Option<Centre> {
    Look::Later.centre(level)
}

/// Values with those that are far from their neighbours drawn near, to where they do not hide a step (Hampel's
/// identifier: the median of five around each, and how far values lie from it on the whole).
fn drawn_near(values: &[f64]) -> Vec<f64> {
    let around = |place: usize| {
        let reach = HALF_WINDOW.min(place).min(values.len() - 1 - place);
        // At an end, the three values there.
        let middle = place.clamp(1, values.len().saturating_sub(2).max(1));
        let reach = reach.max(1);
        let range = middle.saturating_sub(reach)..(middle + reach + 1).min(values.len());
        values.get(range).and_then(median).unwrap_or(0.0)
    };
    let medians: Vec<f64> = (0..values.len()).map(around).collect();
    let pairs = || values.iter().zip(&medians);
    let distances: Vec<f64> = pairs()
        .map(|(value, centre)| (value - centre).abs())
        .collect();
    let most = FAR * median(&distances).unwrap_or(0.0);
    let near = pairs().map(|(value, centre)| value.clamp(centre - most, centre + most));
    near.collect()
}

/// The places of the values of a level that are not far off: no further from its median than six times the usual distance,
/// or a floor. All of them where there are too few to say what is usual.
pub fn near_places(level: &[f64], floor: f64) -> Vec<usize> {
    let centre = median(level).unwrap_or(0.0);
    let distances: Vec<f64> = level.iter().map(|value| (value - centre).abs()).collect();
    let most = if level.len() < FEWEST_TO_TELL {
        f64::INFINITY
    } else {
        (FAR * median(&distances).unwrap_or(0.0)).max(floor)
    };
    let places = distances.iter().enumerate();
    places
        .filter(|(_, distance)| **distance <= most)
        .map(|(place, _)| place)
        .collect()
}

/// Adds the places where levels of a part of a series begin.
fn add_level_starts(
    values: &[f64],
    offset: usize,
    rng: &mut Xoshiro256PlusPlus,
    starts: &mut Vec<usize>,
) {
    let Some((found, ends)) = furthest_stretch(values) else {
        return;
    };
    // The same values in another order add up to nearly the same.
    let least = found * (1.0 - 1e-9);
    let mut shuffled = values.to_vec();
    let mut as_far = 0;
    for _ in 0..SHUFFLES {
        shuffle(&mut shuffled, rng);
        as_far += u32::from(furthest_stretch(&shuffled).is_some_and(|(far, _)| far >= least));
        if f64::from(as_far + 1) > MOST_BY_CHANCE * f64::from(SHUFFLES + 1) {
            return;
        }
    }
    let mut from = 0;
    for end in [ends.start, ends.end, values.len()] {
        if end == from {
            continue;
        }
        if from > 0 {
            starts.push(offset + from);
        }
        if let Some(part) = values.get(from..end) {
            add_level_starts(part, offset + from, rng, starts);
        }
        from = end;
    }
}

fn shuffle(values: &mut [f64], rng: &mut Xoshiro256PlusPlus) {
    for last in (1..values.len()).rev() {
        let other = (rng.next_u64() % (last as u64 + 1)) as usize;
        values.swap(last, other);
    }
}

/// The ends of stretches are multiples of this.
fn stride(n_values: usize) -> usize {
    n_values.div_ceil(MOST_PLACES).max(1)
}

/// The stretch whose mean is furthest from that of all other values, and how far that is, up to a factor that
/// shuffling does not change. Nothing where there is no room for two levels.
fn furthest_stretch(values: &[f64]) -> Option<(f64, Range<usize>)> {
    let n = values.len();
    let centre = mean(values).filter(|_| n >= 2 * FEWEST_IN_LEVEL)?;
    // At each place, the sum of what lies before it.
    let places = (0..n).step_by(stride(n)).chain([n]);
    let mut sum = 0.0;
    let mut summed = 0;
    let sums: Vec<(usize, f64)> = places
        .map(|place| {
            sum += values[summed..place]
                .iter()
                .map(|value| value - centre)
                .sum::<f64>();
            summed = place;
            (place, sum)
        })
        .collect();
    let is_room = |from: usize, to: usize| from == to || to - from >= FEWEST_IN_LEVEL;
    let mut furthest: Option<(f64, Range<usize>)> = None;
    for (index, &(start, before)) in sums.iter().enumerate() {
        if !is_room(0, start) {
            continue;
        }
        for &(end, after) in &sums[index + 1..] {
            let inside = end - start;
            if inside < FEWEST_IN_LEVEL || inside == n || !is_room(end, n) {
                continue;
            }
            let (inside, all) = (inside as f64, n as f64);
            let far = (after - before).powi(2) / (inside * (all - inside));
            if furthest.as_ref().is_none_or(|(most, _)| far > *most) {
                furthest = Some((far, start..end));
            }
        }
    }
    furthest
}

/// The steps at these places, with their intervals by the deviation within all levels.
fn steps_at(values: &[f64], starts: &[usize]) -> Vec<Step> {
    let ranges = ranges(starts, values.len()).into_iter();
    let centres: Vec<Centre> = ranges
        .filter_map(|range| centre(values.get(range)?))
        .collect();
    // An error is that of `freedom + 1` values.
    let squares = centres
        .iter()
        .map(|one| one.error.powi(2) * one.freedom * (one.freedom + 1.0));
    let freedom: f64 = centres.iter().map(|one| one.freedom).sum();
    let variance = squares.sum::<f64>() / freedom.max(1.0);
    let reach = student::t995(freedom);
    let pairs = starts.iter().zip(centres.windows(2));
    let steps = pairs.map(|(&at, pair)| {
        let shares = 1.0 / (pair[0].freedom + 1.0) + 1.0 / (pair[1].freedom + 1.0);
        Step {
            at,
            difference: pair[1].mean - pair[0].mean,
            half_width: reach * (variance * shares).sqrt(),
        }
    });
    steps.collect()
}

/// Moves each start by no more than `reach` to where both levels lie closest around their medians; whether one moved.
fn move_starts(values: &[f64], starts: &mut [usize], reach: usize) -> bool {
    let mut has_moved = false;
    for index in 0..starts.len() {
        let low = index.checked_sub(1).map_or(0, |before| starts[before]);
        let high = starts.get(index + 1).copied().unwrap_or(values.len());
        let now = starts[index];
        let first = (low + FEWEST_IN_LEVEL).max(now.saturating_sub(reach));
        let last = (high - FEWEST_IN_LEVEL).min(now + reach);
        let scatter =
            |start: usize| deviations(&values[low..start]) + deviations(&values[start..high]);
        let own = scatter(now);
        let best = (first..=last).map(|start| (scatter(start), start));
        let best = best.min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, start)) = best.filter(|(least, _)| *least < own) {
            starts[index] = start;
            has_moved = true;
        }
    }
    has_moved
}

/// The sum of the absolute deviations from the median.
fn deviations(values: &[f64]) -> f64 {
    let centre = median(values).unwrap_or(0.0);
    values.iter().map(|value| (value - centre).abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution as _, StandardNormal};

    /// Values that scatter by 1 %.
    fn noise(n_values: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        (0..n_values).map(|_| normal() * 0.01).collect()
    }

    fn places(values: &[f64]) -> Vec<usize> {
        steps(values, 0.01).iter().map(|step| step.at).collect()
    }

    #[test]
    fn a_step_up_and_the_step_back_are_found_where_they_are() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut near = 0;
        for start in (10..50).step_by(2) {
            let mut values = noise(60, &mut rng);
            values[start..start + 6]
                .iter_mut()
                .for_each(|value| *value += 0.06);
            let found = places(&values);
            let is_near = |place: usize| found.iter().any(|one| one.abs_diff(place) <= 1);
            near += [start, start + 6]
                .into_iter()
                .filter(|place| is_near(*place))
                .count();
        }
        assert!(near >= 38, "{near} of 40");
    }

    #[test]
    fn a_step_has_its_size_and_an_interval() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut values = noise(40, &mut rng);
        values[25..].iter_mut().for_each(|value| *value += 0.1);
        let found = steps(&values, 0.01);
        let [step] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!(step.at, 25);
        assert!((step.difference - 0.1).abs() < step.half_width, "{step:?}");
        assert!(step.half_width < 0.012, "{step:?}");
        let found = levels(&values, &found);
        let ranges: Vec<Range<usize>> = found.iter().map(|(range, _)| range.clone()).collect();
        assert_eq!(ranges, [0..25, 25..40]);
        assert!((found[1].1 - 0.1).abs() < 0.01, "{found:?}");
        // One value that is off moves neither the step nor the level.
        values[7] += 0.5;
        let found = steps(&values, 0.01);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!((found[0].difference - 0.1).abs() < 0.01, "{found:?}");
        assert!(found[0].half_width < 0.02, "{found:?}");
        // Not at an end either, where the newest one stands.
        for place in [0, 1, 38, 39] {
            let mut values = values.clone();
            values[place] += 0.7;
            assert_eq!(places(&values), [25], "{place}");
        }
    }

    #[test]
    fn short_series_have_a_step_once_no_other_order_is_as_extreme() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(13);
        let mut found_of = |before: usize, after: usize| {
            let found = (0..20).filter(|_| {
                let mut values = noise(before + after, &mut rng);
                values[before..].iter_mut().for_each(|value| *value += 0.3);
                places(&values) == [before]
            });
            found.count()
        };
        assert!(
            found_of(3, 3) <= 2,
            "three and three are found by chance as often"
        );
        assert!(found_of(6, 5) >= 18);
        assert!(found_of(10, 3) >= 16);
    }

    #[test]
    fn what_changes_nothing_and_single_values_that_are_off_are_no_levels() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut wrong = [0, 0];
        for number in 0..100 {
            let mut values = noise(60, &mut rng);
            wrong[0] += usize::from(!places(&values).is_empty());
            values[number % 60] += 0.5;
            values[(number * 7 + 20) % 60] += 0.2;
            wrong[1] += usize::from(!places(&values).is_empty());
        }
        assert!(wrong.iter().all(|wrong| *wrong <= 5), "{wrong:?} of 100");
    }

    #[test]
    fn what_may_begin_the_next_level_is_no_part_of_this_one() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(17);
        let mut values = noise(10, &mut rng);
        values.extend([0.1, 0.11]);
        assert_eq!(near_places(&values, 0.01), (0..10).collect::<Vec<usize>>());
        assert_eq!(near_places(&[1.0, 1.0, 1.0, 2.0], 0.01).len(), 4, "too few");
        assert_eq!(
            near_places(&[1.0, 1.0, 1.005, 1.0, 1.0, 1.2], 0.01).len(),
            5
        );
        assert!(near_places(&[], 0.01).is_empty());
    }

    #[test]
    fn values_that_do_not_scatter_have_levels_too() {
        let values = [[1.0; 4], [1.2; 4], [1.205; 4]].concat();
        // The second step is within the floor.
        assert_eq!(places(&values), [4]);
        assert!(places(&[1.0; 9]).is_empty());
        assert!(
            places(&[1.0, 1.0, 2.0, 2.0]).is_empty(),
            "too few for two levels"
        );
        assert!(places(&[]).is_empty());
    }

    #[test]
    fn long_series_are_searched_at_fewer_places() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        let mut values = noise(5_000, &mut rng);
        values[1_703..2_911]
            .iter_mut()
            .for_each(|value| *value += 0.04);
        let found = places(&values);
        assert!(
            found.iter().any(|place| place.abs_diff(1_703) <= 2),
            "{found:?}"
        );
        assert!(
            found.iter().any(|place| place.abs_diff(2_911) <= 2),
            "{found:?}"
        );
        assert!(found.len() <= 3, "{found:?}");
    }
}
