//! The ranges of values that a network's tensors take, gathered run by run.
//!
//! The caller runs the network of `observe` and hands over what comes out; `int8` takes the result.

use std::collections::BTreeMap;

/// Into how many steps a range is divided for percentiles.
const BINS: usize = 2048;

/// How a range follows from the values that were seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// From the smallest to the largest.
    MinMax,
    /// The range in the middle that holds this share of the values, in percent; 50 at least.
    Percentile(f64),
}

impl Method {
    /// The percentile that cuts off rare extremes and nothing else.
    pub(crate) const PERCENTILE: Self = Self::Percentile(99.99);
}

/// Gathers ranges, by the name of the tensor.
#[derive(Clone, Debug)]
pub struct Ranges {
    method: Method,
    seen: BTreeMap<String, TensorRange>,
}

impl Ranges {
    /// Nothing seen yet.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            seen: BTreeMap::new(),
        }
    }

    /// Takes in the values of a tensor from one run. Those that are not finite are left out.
    pub fn add(&mut self, name: &str, values: &[f32]) {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let low = finite().fold(f32::INFINITY, f32::min);
        let high = finite().fold(f32::NEG_INFINITY, f32::max);
        if low > high {
            return;
        }
        if !self.seen.contains_key(name) {
            self.seen
                .insert(name.to_owned(), TensorRange::new(low, high));
        }
        let Some(seen) = self.seen.get_mut(name) else {
            return;
        };
        seen.low = seen.low.min(low);
        seen.high = seen.high.max(high);
        if let Method::Percentile(_) = self.method {
            seen.bins.make_room(low, high);
            finite().for_each(|value| seen.bins.add(value));
        }
    }

    /// The lower and upper end for each tensor.
    pub fn finish(&self) -> BTreeMap<String, (f32, f32)> {
        let range = |seen: &TensorRange| match self.method {
            Method::MinMax => (seen.low, seen.high),
            Method::Percentile(percent) => {
                let (low, high) = seen.bins.central_range(percent);
                (low.max(seen.low), high.min(seen.high))
            }
        };
        self.seen
            .iter()
            .map(|(name, seen)| (name.clone(), range(seen)))
            .collect()
    }
}

/// Observed range of one tensor.
#[derive(Clone, Debug)]
struct TensorRange {
    low: f32,
    high: f32,
    bins: Bins,
}

impl TensorRange {
    fn new(low: f32, high: f32) -> Self {
        Self {
            low,
            high,
            bins: Bins::new(low, high),
        }
    }
}

/// A histogram that grows with its values, by putting two bins into one.
#[derive(Clone, Debug)]
struct Bins {
    start: f64,
    step: f64,
    counts: Vec<u64>,
}

impl Bins {
    fn new(low: f32, high: f32) -> Self {
        let step = (f64::from(high) - f64::from(low)) / BINS as f64;
        Self {
            start: f64::from(low),
            // All values alike still need a width that can double.
            step: step.max(f64::from(f32::MIN_POSITIVE)),
            counts: vec![0; BINS],
        }
    }

    /// Doubles the range until both values are in it.
    fn make_room(&mut self, low: f32, high: f32) {
        while f64::from(high) > self.start + self.step * BINS as f64 {
            self.counts = pairs(&self.counts);
            self.counts.resize(BINS, 0);
            self.step *= 2.0;
        }
        while f64::from(low) < self.start {
            let mut counts = vec![0; BINS / 2];
            counts.extend(pairs(&self.counts));
            self.counts = counts;
            self.start -= self.step * BINS as f64;
            self.step *= 2.0;
        }
    }

    fn add(&mut self, value: f32) {
        let bin = (f64::from(value) - self.start) / self.step;
        self.counts[(bin as usize).min(BINS - 1)] += 1;
    }

    /// The range that holds this share of the values, with as many left out on either side.
    fn central_range(&self, percent: f64) -> (f32, f32) {
        let total: u64 = self.counts.iter().sum();
        let out = (total as f64 * (100.0 - percent.clamp(50.0, 100.0)) / 200.0) as u64;
        let first = bins_within(self.counts.iter(), out);
        let last = BINS - bins_within(self.counts.iter().rev(), out);
        let edge = |bin: usize| (self.start + self.step * bin as f64) as f32;
        (edge(first), edge(last))
    }
}

/// Number of leading bins that together hold at most `out` values.
fn bins_within<'a>(counts: impl Iterator<Item = &'a u64>, out: u64) -> usize {
    let mut sum = 0;
    counts
        .take_while(|&&count| {
            sum += count;
            sum <= out
        })
        .count()
}

fn pairs(counts: &[u64]) -> Vec<u64> {
    counts.chunks(2).map(|pair| pair.iter().sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_range_is_from_smallest_to_largest() {
        let mut ranges = Ranges::new(Method::MinMax);
        ranges.add("a", &[1.0, -2.0, f32::NAN]);
        ranges.add("a", &[0.0, 5.0, f32::INFINITY]);
        ranges.add("b", &[f32::NAN]);
        assert_eq!(
            ranges.finish().into_iter().collect::<Vec<_>>(),
            [("a".to_owned(), (-2.0, 5.0))]
        );
    }

    #[test]
    fn percentiles_cut_off_rare_extremes() {
        let mut ranges = Ranges::new(Method::Percentile(99.0));
        // The range grows upwards and downwards on the way.
        ranges.add("a", &[0.5]);
        let even: Vec<f32> = (0..10_000).map(|i| i as f32 / 10_000.0).collect();
        ranges.add("a", &even);
        ranges.add("a", &[100.0, -50.0]);
        let (low, high) = ranges.finish()["a"];
        assert!((low - 0.005).abs() < 0.3, "{low}");
        assert!((high - 0.995).abs() < 0.3, "{high}");
        let mut same = Ranges::new(Method::PERCENTILE);
        same.add("a", &[3.0; 9]);
        assert_eq!(same.finish()["a"], (3.0, 3.0));
    }
}
