//! Values counted in columns of equal width, with a few far-off values kept from squeezing the rest.

use super::percentiles::quantile_sorted;

/// Fewest columns: below that a shape cannot be seen.
const FEWEST: f64 = 8.0;
/// Most columns: beyond that the eye sees a comb.
const MOST: f64 = 60.0;
/// Tukey's outer fences lie this many interquartile ranges beyond the quartiles.
const FAR: f64 = 3.0;
/// The interquartile range counts as at least this share of the median, so that values which are
/// nearly all the same do not make fences of everything else.
const LEAST_SPREAD: f64 = 0.001;

/// Values counted in columns of equal width.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Where the first column begins, in the unit of the values.
    pub start: f64,
    /// How wide each column is.
    pub width: f64,
    /// How many values are in each column; the first and the last also hold what lies beyond them.
    pub counts: Vec<u64>,
    /// How many values in the first column lie below where it begins.
    pub underflow: u64,
    /// How many values in the last column lie above where it ends.
    pub overflow: u64,
}

impl Histogram {
    /// Counts values in any order; nothing for none, or where one is not a number.
    ///
    /// The width follows Freedman & Diaconis (1981), twice the interquartile range over the cube root
    /// of n, within 8 to 60 columns. The range ends at Tukey's outer fences where values lie beyond.
    pub fn from_values(values: &[f64]) -> Option<Self> {
        if values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&least, &most) = (sorted.first()?, sorted.last()?);
        let quantile = |q| quantile_sorted(&sorted, q);
        let (q1, median, q3) = (quantile(0.25)?, quantile(0.5)?, quantile(0.75)?);
        let spread = (q3 - q1).max(median.abs() * LEAST_SPREAD);
        let mut start = least.max(q1 - FAR * spread);
        let mut end = most.min(q3 + FAR * spread);
        if end <= start {
            // All the same: one column in the middle of a few empty ones.
            let half = if spread > 0.0 { spread } else { 0.5 };
            (start, end) = (start - half, start + half);
        }
        let ideal = 2.0 * spread / (sorted.len() as f64).cbrt();
        let columns = ((end - start) / ideal).ceil().clamp(FEWEST, MOST);
        let columns = if columns.is_finite() { columns } else { FEWEST };
        let width = (end - start) / columns;
        let mut counts = vec![0; columns as usize];
        for value in &sorted {
            let column = ((value - start) / width).floor().clamp(0.0, columns - 1.0);
            if let Some(count) = counts.get_mut(column as usize) {
                *count += 1;
            }
        }
        let beyond = |is: &dyn Fn(f64) -> bool| sorted.iter().filter(|&&v| is(v)).count() as u64;
        Some(Self {
            start,
            width,
            counts,
            underflow: beyond(&|value| value < start),
            overflow: beyond(&|value| value > end),
        })
    }

    /// Where the last column ends.
    pub fn end(&self) -> f64 {
        self.start + self.width * self.counts.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_counted_once() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i % 100)).collect();
        let histogram = Histogram::from_values(&values).unwrap();
        assert_eq!(histogram.counts.iter().sum::<u64>(), 1000);
        // Quartiles 25 and 74 or so: 2 × 49.5 ÷ 10 = 9.9 wide, so ten columns.
        assert_eq!(histogram.counts.len(), 10);
        assert_eq!((histogram.start, histogram.overflow), (0.0, 0));
        assert!((histogram.end() - 99.0).abs() < 1e-9);
    }

    #[test]
    fn a_far_value_does_not_squeeze_the_rest() {
        let mut values: Vec<f64> = (0..100).map(f64::from).collect();
        values.push(1e9);
        let histogram = Histogram::from_values(&values).unwrap();
        assert!(histogram.end() < 300.0, "{histogram:?}");
        assert_eq!(histogram.overflow, 1);
        assert_eq!(histogram.counts.last(), Some(&1));
        assert!(histogram.counts.iter().filter(|n| **n > 0).count() > 3);
    }

    #[test]
    fn odd_samples() {
        assert_eq!(Histogram::from_values(&[]), None);
        assert_eq!(Histogram::from_values(&[1.0, f64::NAN]), None);
        for same in [0.0, 5.0] {
            let histogram = Histogram::from_values(&[same; 20]).unwrap();
            assert_eq!(histogram.counts.iter().sum::<u64>(), 20);
            assert!(histogram.start < same && same < histogram.end());
            assert_eq!((histogram.underflow, histogram.overflow), (0, 0));
        }
        let stuck = [[7.0; 50].as_slice(), &[9.0]].concat();
        assert_eq!(Histogram::from_values(&stuck).unwrap().overflow, 1);
    }
}
