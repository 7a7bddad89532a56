//! The values of a constant of a network: their histogram, and what they are in a few numbers.
//!
//! `onnx` reads them; the card of a node shows them.

use super::axis;
use super::spec::{ChartPoint, ChartSpec, Series, SeriesId, Stroke};
use crate::analysis::network::facts::Fact;
use powerband_core::base::humanize;
use powerband_core::stats::histogram::Histogram;

/// The values of a constant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightFigure {
    pub facts: Vec<Fact>,
    /// The histogram of what is finite.
    pub histogram: ChartSpec,
}

impl WeightFigure {
    /// Of a constant by its name, with as many of its values as were read.
    pub fn new(name: &str, count: u64, values: &[f64]) -> Self {
        let finite = values.iter().copied().filter(|value| value.is_finite());
        let finite: Vec<f64> = finite.collect();
        let n_read = values.len() as u64;
        let mut facts = Vec::new();
        let mut say = |name: &str, value: String| {
            let name = name.to_owned();
            facts.push(Fact { name, value });
        };
        say(
            "Values",
            if n_read < count {
                let (all, read) = (humanize::count(count), humanize::count(n_read));
                format!("{all}, of which {read} are counted here, evenly spread")
            } else {
                humanize::count(count)
            },
        );
        if !finite.is_empty() {
            let least = finite.iter().copied().fold(f64::INFINITY, f64::min);
            let most = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mean = finite.iter().sum::<f64>() / finite.len() as f64;
            let range = format!("{} to {}", humanize::value(least), humanize::value(most));
            say("Range", range);
            say("Mean", humanize::value(mean));
            let n_zero = finite.iter().filter(|value| **value == 0.0).count();
            let zeros = n_zero as f64 / finite.len() as f64;
            say("Zeros", humanize::percent(zeros));
        }
        let n_nan = values.iter().filter(|value| value.is_nan()).count() as u64;
        let n_infinite = n_read - n_nan - finite.len() as u64;
        if n_nan + n_infinite > 0 {
            let (nan, infinite) = (humanize::count(n_nan), humanize::count(n_infinite));
            say("Not finite", format!("{nan} NaN, {infinite} infinite"));
        }
        Self {
            facts,
            histogram: histogram(name, &finite),
        }
    }
}

fn histogram(name: &str, values: &[f64]) -> ChartSpec {
    let title = format!("Values of {name}");
    let Some(counted) = Histogram::from_values(values) else {
        return ChartSpec {
            title,
            ..ChartSpec::default()
        };
    };
    let points = (0_u64..).zip(&counted.counts).map(|(column, count)| {
        let middle = counted.start + (column as f64 + 0.5) * counted.width;
        ChartPoint::new(middle, *count as f64, column)
    });
    let most = counted.counts.iter().copied().max().unwrap_or_default();
    let n_beyond = counted.underflow + counted.overflow;
    let beyond = match n_beyond {
        0 => String::new(),
        _ => format!("; outer columns: also {} beyond", humanize::count(n_beyond)),
    };
    let series = Series::new(SeriesId::ONLY, "values", 0, Stroke::Bars, points.collect());
    ChartSpec {
        title,
        x: axis::between(&format!("value{beyond}"), counted.start, counted.end()),
        y: axis::counts_from_zero("values", most),
        series: vec![series],
        bar_width: counted.width,
        ..ChartSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(count: u64, values: &[f64]) -> Vec<String> {
        let facts = WeightFigure::new("w", count, values).facts.into_iter();
        facts
            .map(|fact| format!("{} {}", fact.name, fact.value))
            .collect()
    }

    #[test]
    fn what_is_not_finite_is_counted_apart() {
        let values = [0.0, 1.0, -2.0, f64::NAN, f64::INFINITY, 3.0];
        let expect = [
            "Values 6",
            "Range -2.00 to 3.00",
            "Mean 0.500",
            "Zeros 25.0 %",
            "Not finite 1 NaN, 1 infinite",
        ];
        assert_eq!(facts(6, &values), expect);
        let drawn = WeightFigure::new("w", 6, &values).histogram;
        let columns = drawn.series[0].points.iter();
        assert!((columns.map(|point| point.y).sum::<f64>() - 4.0).abs() < 1e-9);
        assert_eq!(
            facts(1, &[f64::NAN]),
            ["Values 1", "Not finite 1 NaN, 0 infinite"]
        );
    }

    #[test]
    fn of_a_large_constant_it_says_how_many_are_counted() {
        let first = facts(9000, &[1.0; 10]).remove(0);
        assert_eq!(
            first,
            "Values 9,000, of which 10 are counted here, evenly spread"
        );
    }
}
