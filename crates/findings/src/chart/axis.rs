//! Axes: how far they reach, and where they are labelled with round numbers.

use std::collections::BTreeSet;

use super::spec::{Axis, AxisScale, Tick};
use powerband_core::base::humanize;
use powerband_core::domain::point::BATCH;

/// What a batch axis has beyond its first and last batch, in doublings.
const BATCH_PADDING: f64 = 0.25;
/// What a linear axis of sizes has beyond its ends, as a share of the largest size.
const LINEAR_PADDING: f64 = 0.04;
/// With more batch sizes, some labels are left out.
const MOST_BATCH_LABELS: usize = 12;
/// Fewest and most labels of other axes.
const LABELS: (usize, usize) = (4, 7);
/// A logarithmic axis is at least so long, in decades: a few percent must not fill a chart.
const LEAST_DECADES: f64 = 0.5;
/// What an axis has beyond its data, as a share of its length.
const PADDING: f64 = 0.05;

/// Intervals make an axis longer than values need, but no more than this many times: one that says nothing
/// must not flatten what does.
const MOST_FOR_INTERVALS: f64 = 1.6;

/// An axis with a place for each of some things, counted from `first`; of more than `most_labels` some have none.
pub(super) fn places(
    title: &str,
    first: u32,
    names: impl ExactSizeIterator<Item = String>,
    most_labels: usize,
) -> Axis {
    let count = names.len();
    let step = count.div_ceil(most_labels.max(1)).max(1);
    let ticks = (first..).zip(names).step_by(step);
    let low = f64::from(first) - 0.5;
    Axis {
        title: title.to_owned(),
        scale: AxisScale::Linear,
        low,
        high: low + count.max(1) as f64,
        ticks: ticks
            .map(|(place, text)| Tick {
                at: f64::from(place),
                text,
            })
            .collect(),
    }
}

/// The upper end of an axis over values and their intervals.
pub fn upper_end(highest: f64, highest_end: f64) -> f64 {
    highest.max(highest_end).min(highest * MOST_FOR_INTERVALS)
}

/// The lower end of an axis that does not begin at zero.
pub(crate) fn lower_end(lowest: f64, lowest_end: f64) -> f64 {
    lowest.min(lowest_end).max(lowest / MOST_FOR_INTERVALS)
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeUnit {
    /// As it is written: `ms`.
    pub name: &'static str,
    /// How many nanoseconds it has.
    pub ns: f64,
}

impl TimeUnit {
    /// Every unit, smallest first.
    pub(crate) const ALL: [Self; 4] = [
        Self {
            name: "ns",
            ns: 1.0,
        },
        Self {
            name: "µs",
            ns: 1e3,
        },
        Self {
            name: "ms",
            ns: 1e6,
        },
        Self { name: "s", ns: 1e9 },
    ];

    /// The unit in which the largest of some times reads well; milliseconds for no time.
    pub(crate) fn for_largest(largest_ns: f64) -> Self {
        let [nanoseconds, _, milliseconds, _] = Self::ALL;
        if !largest_ns.is_finite() || largest_ns <= 0.0 {
            return milliseconds;
        }
        let fitting = Self::ALL
            .into_iter()
            .rev()
            .find(|unit| unit.ns <= largest_ns);
        fitting.unwrap_or(nanoseconds)
    }

    /// The unit that an axis title begins with; milliseconds where it begins with none.
    pub(crate) fn of_title(title: &str) -> Self {
        let name = title.split(' ').next().unwrap_or_default();
        let [_, _, milliseconds, _] = Self::ALL;
        let named = Self::ALL.into_iter().find(|unit| unit.name == name);
        named.unwrap_or(milliseconds)
    }
}

/// The axis of a dimension of the sweep. Sizes that begin at 0, as those of a cache do, are on a linear one: 0 has
/// no place among doublings.
pub fn sizes(dimension: &str, sizes: impl IntoIterator<Item = usize>) -> Axis {
    let sizes: Vec<usize> = sizes.into_iter().collect();
    if dimension == BATCH {
        return batches(sizes);
    }
    let title = dimension.to_owned();
    if !sizes.contains(&0) {
        return Axis {
            title,
            ..batches(sizes)
        };
    }
    let largest = sizes.iter().copied().max().unwrap_or(0).max(1) as f64;
    let closest = largest / MOST_BATCH_LABELS as f64;
    let mut ascending = sizes;
    ascending.sort_unstable();
    let mut kept: Vec<usize> = Vec::new();
    for size in ascending {
        if kept
            .last()
            .is_none_or(|last| (size - last) as f64 >= closest)
        {
            kept.push(size);
        }
    }
    let tick = |size: &usize| Tick {
        at: *size as f64,
        text: humanize::count(*size as u64),
    };
    Axis {
        title,
        scale: AxisScale::Linear,
        low: -LINEAR_PADDING * largest,
        high: (1.0 + LINEAR_PADDING) * largest,
        ticks: kept.iter().map(tick).collect(),
    }
}

/// The batch axis: doublings, labelled at the given batch sizes and nowhere else.
pub fn batches(batches: impl IntoIterator<Item = usize>) -> Axis {
    let mut sizes: Vec<usize> = batches.into_iter().filter(|batch| *batch > 0).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let place = |size: &usize| AxisScale::Log2.to_coordinate(*size as f64);
    let (low, high) = (
        sizes.first().map_or(0.0, place),
        sizes.last().map_or(0.0, place),
    );
    Axis {
        title: "batch size".to_owned(),
        scale: AxisScale::Log2,
        low: low - BATCH_PADDING,
        high: high + BATCH_PADDING,
        ticks: at_sizes(&spread_out(&sizes, high - low)),
    }
}

/// Batch sizes whose labels do not touch each other, powers of two first.
fn spread_out(sizes: &[usize], length: f64) -> Vec<usize> {
    // A few labels may stand closer together than many.
    let places = if sizes.len() > MOST_BATCH_LABELS {
        1
    } else {
        3
    };
    let closest = length / (places * MOST_BATCH_LABELS) as f64;
    let mut kept: Vec<usize> = Vec::new();
    let (powers, others): (Vec<usize>, Vec<usize>) =
        sizes.iter().partition(|size| size.is_power_of_two());
    for size in [powers, others].concat() {
        let apart = |other: &usize| (size as f64 / *other as f64).log2().abs() >= closest;
        if kept.iter().all(apart) {
            kept.push(size);
        }
    }
    kept.sort_unstable();
    kept
}

/// An axis from zero to somewhat beyond the highest value, with 4 to 6 round labels.
pub(crate) fn from_zero(title: &str, highest: f64) -> Axis {
    from_zero_by(title, highest, 0.0)
}

/// The same for counts, which have no fractions.
pub(crate) fn counts_from_zero(title: &str, highest: u64) -> Axis {
    from_zero_by(title, highest as f64, 1.0)
}

fn from_zero_by(title: &str, highest: f64, least_step: f64) -> Axis {
    let highest = if highest.is_finite() && highest > 0.0 {
        highest * (1.0 + PADDING)
    } else {
        1.0
    };
    let step = round_step(highest, 6.0).max(least_step);
    // Steps of 2 and 5 are so far apart that some axes need to be a little longer for a fourth label.
    let fewest = (LABELS.0 - 1) as f64;
    let high = highest.max(fewest * step);
    Axis {
        title: title.to_owned(),
        scale: AxisScale::Linear,
        low: 0.0,
        high,
        ticks: labelled(multiples(step, 0.0, high)),
    }
}

/// An axis around values, with round labels inside.
pub fn between(title: &str, lowest: f64, highest: f64) -> Axis {
    let (low, high) = padded(lowest, highest);
    Axis {
        title: title.to_owned(),
        scale: AxisScale::Linear,
        low,
        high,
        ticks: labelled(round_numbers(low, high)),
    }
}

/// An axis whose ends were moved by hand; nothing where they are the axis's own.
pub fn moved(axis: &Axis, low: f64, high: f64) -> Option<Axis> {
    let by = (low - axis.low).abs() + (high - axis.high).abs();
    let is_view = low.is_finite() && high.is_finite() && low < high;
    if !is_view || by <= 1e-9 * (axis.high - axis.low).abs() {
        return None;
    }
    let ticks = if axis.scale == AxisScale::Linear {
        labelled(round_numbers(low, high))
    } else {
        axis.ticks.clone()
    };
    let is_seen = |tick: &Tick| (low..=high).contains(&tick.at);
    Some(Axis {
        title: axis.title.clone(),
        scale: axis.scale,
        low,
        high,
        ticks: ticks.into_iter().filter(is_seen).collect(),
    })
}

/// A part of an axis, with labels for it; `sizes` are the batch sizes that a batch axis may be labelled at.
pub(super) fn zoomed(axis: &Axis, (low, high): (f64, f64), sizes: &BTreeSet<u64>) -> Axis {
    let is_seen = |at: f64| (low..=high).contains(&at);
    let is_number = |tick: &Tick| tick.text == tick_text(axis.scale.to_number(tick.at));
    let kept = || axis.ticks.iter().filter(|tick| is_seen(tick.at)).cloned();
    let ticks: Vec<Tick> = match axis.scale {
        AxisScale::Linear if axis.ticks.iter().all(is_number) => labelled(round_numbers(low, high)),
        AxisScale::Log10 => at_logarithms(logarithmic_labels(low, high)),
        AxisScale::Log2 => {
            let sizes = sizes.iter().map(|size| *size as usize);
            let seen = sizes.filter(|size| *size > 0 && is_seen((*size as f64).log2()));
            let mut seen: Vec<usize> = seen.collect();
            let round = round_numbers(low.exp2(), high.exp2()).into_iter();
            let whole = round.filter(|size| size.fract() == 0.0 && *size > 0.0);
            if seen.is_empty() {
                seen.extend(whole.map(|size| size as usize));
            }
            at_sizes(&spread_out(&seen, high - low))
        }
        AxisScale::Linear | AxisScale::FromOne => kept().collect(),
    };
    Axis {
        title: axis.title.clone(),
        scale: axis.scale,
        low,
        high,
        ticks,
    }
}

fn at_sizes(sizes: &[usize]) -> Vec<Tick> {
    let tick = |size: &usize| Tick {
        at: AxisScale::Log2.to_coordinate(*size as f64),
        text: humanize::count(*size as u64),
    };
    sizes.iter().map(tick).collect()
}

fn at_logarithms(values: Vec<f64>) -> Vec<Tick> {
    let tick = |value: f64| Tick {
        at: value.log10(),
        text: tick_text(value),
    };
    values.into_iter().map(tick).collect()
}

/// A logarithmic axis around values above zero, with 4 to 7 labels at 1, at 1 and 3, or at 1, 2 and 5
/// of each decade; finer where it is shorter than a decade, coarser where it is long.
pub fn logarithmic(title: &str, lowest: f64, highest: f64) -> Axis {
    let valid = lowest.is_finite() && highest.is_finite() && lowest > 0.0 && highest >= lowest;
    let (lowest, highest) = if valid {
        (lowest, highest)
    } else {
        (1.0, 100.0)
    };
    let (low, high) = (lowest.log10(), highest.log10());
    let short_of = (LEAST_DECADES - (high - low)).max(0.0) / 2.0;
    let (low, high) = padded(low - short_of, high + short_of);
    Axis {
        title: title.to_owned(),
        scale: AxisScale::Log10,
        low,
        high,
        ticks: at_logarithms(logarithmic_labels(low, high)),
    }
}

fn logarithmic_labels(low: f64, high: f64) -> Vec<f64> {
    const FINER: [&[f64]; 4] = [
        &[1.0],
        &[1.0, 3.0],
        &[1.0, 2.0, 5.0],
        &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
    ];
    let in_decades = |steps: &[f64], every: i32| -> Vec<f64> {
        let decades =
            (low.floor() as i32..=high.ceil() as i32).filter(|n| n.rem_euclid(every) == 0);
        decades
            .flat_map(|n| steps.iter().map(move |step| step * 10_f64.powi(n)))
            .filter(|value| (low..=high).contains(&value.log10()))
            .collect()
    };
    let coarse = (1..=20).rev().map(|every| in_decades(FINER[0], every));
    let fine = FINER[1..].iter().map(|steps| in_decades(steps, 1));
    let enough = coarse.chain(fine).find(|values| values.len() >= LABELS.0);
    enough.unwrap_or_else(|| round_numbers(10_f64.powf(low), 10_f64.powf(high)))
}

/// Multiples of the smallest of 1, 2, 5 × 10ⁿ that gives no more labels than there may be.
fn round_numbers(low: f64, high: f64) -> Vec<f64> {
    let decade = 10_f64.powf((high - low).log10().floor() - 1.0);
    [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
        .into_iter()
        .map(|step| multiples(step * decade, low, high))
        .find(|values| values.len() <= LABELS.1)
        .unwrap_or_default()
}

/// The range with padding on both sides; an empty range gets a length.
fn padded(low: f64, high: f64) -> (f64, f64) {
    if !(low.is_finite() && high.is_finite() && low <= high) {
        return (0.0, 1.0);
    }
    let length = high - low;
    let padding = if length > 0.0 {
        length * PADDING
    } else {
        (low.abs() * PADDING).max(PADDING)
    };
    (low - padding, high + padding)
}

/// The smallest of 1, 2, 5 × 10ⁿ that fits into a length fewer than `most` times.
fn round_step(length: f64, most: f64) -> f64 {
    let decade = 10_f64.powf((length / most).log10().floor());
    [1.0, 2.0, 5.0, 10.0, 20.0]
        .into_iter()
        .map(|step| step * decade)
        .find(|step| length / step < most)
        .unwrap_or(length)
}

fn labelled(values: Vec<f64>) -> Vec<Tick> {
    let tick = |at| Tick {
        at,
        text: tick_text(at),
    };
    values.into_iter().map(tick).collect()
}

fn multiples(step: f64, low: f64, high: f64) -> Vec<f64> {
    // A hair of tolerance, so that rounding does not lose the ends.
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|n| n as f64 * step).collect()
}

/// A round number without needless digits: `0.3`, `1`, `16,000`.
fn tick_text(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    let size = value.abs();
    if size >= 1_000.0 {
        return format!("{sign}{}", humanize::count(size.round() as u64));
    }
    let text = format!("{size:.9}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "0" {
        return text.to_owned();
    }
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.text.as_str()).collect()
    }

    #[test]
    fn batches_are_labelled_where_they_are() {
        let axis = batches([8, 1, 3, 2, 8]);
        assert_eq!(texts(&axis), ["1", "2", "3", "8"]);
        assert_eq!(axis.ticks[3].at, 3.0);
        assert_eq!((axis.low, axis.high), (-0.25, 3.25));
        let one = batches([16]);
        assert_eq!((texts(&one), one.low), (vec!["16"], 3.75));
        assert!(batches([]).ticks.is_empty());
    }

    #[test]
    fn crowded_batches_keep_powers_of_two() {
        let axis = batches(1..=64);
        let labels = texts(&axis);
        assert!(labels.len() <= 13, "{labels:?}");
        for power in ["1", "2", "4", "8", "16", "32", "64"] {
            assert!(labels.contains(&power), "{labels:?}");
        }
    }

    #[test]
    fn sizes_from_zero_are_on_a_linear_axis() {
        let lengths = sizes("sequence", [128, 32, 512]);
        assert_eq!(
            (lengths.title.as_str(), lengths.scale),
            ("sequence", AxisScale::Log2)
        );
        assert_eq!(sizes("batch", [1, 2]), batches([1, 2]));
        let past = sizes("past", [1_024, 0, 8, 128, 512]);
        assert_eq!(past.scale, AxisScale::Linear);
        assert_eq!(
            texts(&past),
            ["0", "128", "512", "1,024"],
            "8 has no room beside 0"
        );
        assert!(past.low < 0.0 && past.high > 1_024.0);
        assert!(sizes("past", []).ticks.is_empty());
    }

    #[test]
    fn linear_axes_have_four_to_six_round_labels() {
        assert_eq!(
            texts(&from_zero("", 15_400.0)),
            ["0", "5,000", "10,000", "15,000"]
        );
        let mut highest = 0.001;
        while highest < 1e6 {
            let axis = from_zero("", highest);
            assert!((4..=6).contains(&axis.ticks.len()), "{highest}: {axis:?}");
            assert!(
                axis.high > highest && axis.high < 1.6 * highest,
                "{highest}: {axis:?}"
            );
            highest *= 1.07;
        }
        assert_eq!(
            texts(&from_zero("", 0.0)),
            ["0", "0.2", "0.4", "0.6", "0.8", "1"]
        );
        assert_eq!(texts(&counts_from_zero("", 2)), ["0", "1", "2", "3"]);
    }

    #[test]
    fn logarithmic_axes_have_four_to_seven_labels() {
        assert_eq!(texts(&logarithmic("", 0.5, 48.0)), ["1", "3", "10", "30"]);
        assert_eq!(texts(&logarithmic("", 1.0, 1e4)).len(), 5);
        for length in [1.001, 1.1, 1.7, 3.0, 8.0, 30.0, 1e3, 1e5, 1e9, 1e15] {
            for start in [0.013, 0.4, 7.0, 640.0] {
                let axis = logarithmic("", start, start * length);
                let labels = texts(&axis).len();
                assert!((4..=7).contains(&labels), "{start} × {length}: {axis:?}");
                assert!(
                    axis.ticks
                        .iter()
                        .all(|tick| axis.low <= tick.at && tick.at <= axis.high)
                );
            }
        }
        assert!(!logarithmic("", 0.0, f64::NAN).ticks.is_empty());
    }

    #[test]
    fn axes_between_values_stay_near_them() {
        let axis = between("", 6.70, 7.05);
        assert_eq!(texts(&axis), ["6.7", "6.8", "6.9", "7"]);
        let level = between("", 5.0, 5.0);
        assert!(level.low < 5.0 && 5.0 < level.high && level.ticks.len() >= 3);
        assert_eq!(texts(&between("", -4.0, 0.0)).first(), Some(&"-4"));
    }

    #[test]
    fn the_largest_time_chooses_the_unit() {
        let names = [0.5, 900.0, 1e3, 5e7, 3e10, 0.0].map(|ns| TimeUnit::for_largest(ns).name);
        assert_eq!(names, ["ns", "ns", "µs", "ms", "s", "ms"]);
        assert_eq!(TimeUnit::of_title("µs per batch").ns, 1e3);
    }
}
