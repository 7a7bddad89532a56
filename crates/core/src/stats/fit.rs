//! A straight line through times: a fixed cost and a cost per item.

/// Below this share of explained spread the line says little, and nothing is claimed from it.
const LEAST_R_SQUARED: f64 = 0.9;

/// A fixed cost and a cost per item, in the unit of the times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearFit {
    /// What no item at all would take.
    pub fixed: f64,
    /// What each item adds.
    pub per_item: f64,
    /// Share of the (weighted) spread of the times that the line explains.
    pub r_squared: f64,
}

impl LinearFit {
    /// Weighted least squares through `(items, time)`, with weights of 1 ÷ time², so that a relative
    /// error counts the same at a small and at a large time. Neither cost may be below zero: where the
    /// best line has one that is, the best line without it is taken.
    ///
    /// Nothing for fewer than three different numbers of items, for times that are not above zero, or
    /// where the line explains less than nine tenths of the spread: a curve is then not a line, and a
    /// flat one says nothing of the cost per item.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let usable = |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite() && y > 0.0;
        if !points.iter().all(usable) || different(points) < 3 {
            return None;
        }
        let sum = |term: &dyn Fn(f64, f64) -> f64| -> f64 {
            points.iter().map(|&(x, y)| term(x, y) / (y * y)).sum()
        };
        let (w, wx, wy) = (sum(&|_, _| 1.0), sum(&|x, _| x), sum(&|_, y| y));
        let (mean_x, mean_y) = (wx / w, wy / w);
        let mut per_item =
            sum(&|x, y| (x - mean_x) * (y - mean_y)) / sum(&|x, _| (x - mean_x).powi(2));
        let mut fixed = mean_y - per_item * mean_x;
        if per_item < 0.0 {
            (fixed, per_item) = (mean_y, 0.0);
        } else if fixed < 0.0 {
            (fixed, per_item) = (0.0, sum(&|x, y| x * y) / sum(&|x, _| x * x));
        }
        let left = sum(&|x, y| (y - fixed - per_item * x).powi(2));
        let whole = sum(&|_, y| (y - mean_y).powi(2));
        let r_squared = 1.0 - left / whole;
        (r_squared >= LEAST_R_SQUARED && per_item > 0.0).then_some(Self {
            fixed,
            per_item,
            r_squared,
        })
    }
}

/// How many different numbers of items there are.
fn different(points: &[(f64, f64)]) -> usize {
    let mut items: Vec<f64> = points.iter().map(|point| point.0).collect();
    items.sort_by(f64::total_cmp);
    items.dedup();
    items.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(batches: &[i32], time: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let point = |&batch: &i32| (f64::from(batch), time(f64::from(batch)));
        batches.iter().map(point).collect()
    }

    #[test]
    fn a_line_is_found_again() {
        let line = LinearFit::through(&times(&[1, 2, 4, 8, 64, 256], |b| 12.3 + 1.46 * b)).unwrap();
        assert!((line.fixed - 12.3).abs() < 1e-9 && (line.per_item - 1.46).abs() < 1e-9);
        assert!(line.r_squared > 0.999_999);
    }

    #[test]
    fn relative_errors_count() {
        // The largest is 10 % off; unweighted, the fixed cost would be far below zero.
        let mut points = times(&[1, 2, 4, 8, 16, 32, 64, 128], |b| 1.0 + b);
        points[7].1 *= 1.1;
        let line = LinearFit::through(&points).unwrap();
        assert!((0.8..1.1).contains(&line.fixed), "{line:?}");
    }

    #[test]
    fn no_cost_is_below_zero() {
        let line = LinearFit::through(&times(&[1, 2, 4, 8], |b| 2.0 * b.powf(1.1))).unwrap();
        assert_eq!(line.fixed, 0.0);
        assert!(line.per_item > 2.0);
    }

    #[test]
    fn nothing_is_claimed_from_too_little() {
        assert_eq!(LinearFit::through(&times(&[1, 2], |b| b)), None);
        assert_eq!(LinearFit::through(&times(&[1, 1, 2, 2], |b| b)), None);
        assert_eq!(
            LinearFit::through(&times(&[1, 2, 4], |_| 7.0)),
            None,
            "flat"
        );
        assert_eq!(
            LinearFit::through(&times(&[1, 2, 4], |b| 9.0 / b)),
            None,
            "falling"
        );
        assert_eq!(
            LinearFit::through(&times(&[1, 2, 4], |b| b - 1.0)),
            None,
            "zero"
        );
    }
}
