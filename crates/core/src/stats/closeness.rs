//! How close one output of a network is to another: the same inputs, other numbers inside.
//!
//! Takes rows of values, one row an item, batch by batch, and keeps sums only. The caller runs
//! the networks, and decides how far off is too far. How well either output fits known labels is the
//! work of `ranking`.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::share::Share;

/// Why outputs cannot be taken in.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ClosenessError {
    /// One has more values than the other.
    #[error(
        "the reference gave {reference} values and the other {other}. Compare outputs of the same \
         name, for the same inputs"
    )]
    Lengths {
        /// Values of the reference.
        reference: usize,
        /// Values of the other.
        other: usize,
    },
    /// Values that do not part into rows.
    #[error("{values} values do not part into {rows} rows. Give the number of items in the batch")]
    Rows {
        /// How many values.
        values: usize,
        /// How many rows they were said to be.
        rows: usize,
    },
    /// Rows of another length than before.
    #[error(
        "a row has {found} values, and those before it had {before}. Compare one output at a time"
    )]
    Classes {
        /// Values of a row now.
        found: usize,
        /// Values of a row before.
        before: usize,
    },
}

/// What a comparison of two outputs comes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// How many rows were compared.
    pub items: u64,
    /// How many values a row has.
    pub classes: u64,
    /// Values of the reference that are infinite or not a number.
    pub reference_not_finite: u64,
    /// Values of the other that are infinite or not a number.
    pub other_not_finite: u64,
    /// How far they are apart; nothing where a value is not finite, because then they cannot be
    /// compared, and nothing for no items.
    pub figures: Option<ClosenessFigures>,
}

/// Figures of how close two outputs are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClosenessFigures {
    /// The largest difference of two values, without its sign; the maximum norm.
    pub max_error: f64,
    /// The mean of the differences of all values, without their signs.
    pub mean_error: f64,
    /// The largest difference as a share of the reference's largest magnitude over all items, so that
    /// outputs of different scale can be held to one limit; nothing where the reference is all zeros.
    pub relative_error: Option<f64>,
    /// The lowest cosine of the angle between a row and its reference: 1 where they point the same
    /// way. A row of zeros has no direction; it counts 1 beside another such row and 0 otherwise.
    pub worst_cosine: f64,
    /// The mean of the rows' cosines.
    pub mean_cosine: f64,
    /// The share of rows whose largest value is in the same place, with Wilson's interval; nothing
    /// where a row has one value. Where several values are largest, one place in common is enough,
    /// but a row that is all alike prefers nothing and agrees only with another such row.
    pub top1: Option<Share>,
    /// Rows of the other in which several values are largest, as few bits make them.
    pub ties: u64,
}

/// Compares outputs batch by batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Closeness {
    classes: Option<usize>,
    rows: u64,
    reference_not_finite: u64,
    other_not_finite: u64,
    max_error: f64,
    sum_error: f64,
    largest: f64,
    worst_cosine: f64,
    sum_cosine: f64,
    agreeing: u64,
    ties: u64,
}

impl Closeness {
    /// Takes in both outputs of a batch, row by row in the same order. Nothing is taken in where they
    /// do not fit.
    pub fn add(
        &mut self,
        reference: &[f64],
        other: &[f64],
        rows: usize,
    ) -> Result<(), ClosenessError> {
        if reference.len() != other.len() {
            return Err(ClosenessError::Lengths {
                reference: reference.len(),
                other: other.len(),
            });
        }
        let values = reference.len();
        if rows == 0 && values == 0 {
            return Ok(());
        }
        if rows == 0 || values == 0 || !values.is_multiple_of(rows) {
            return Err(ClosenessError::Rows { values, rows });
        }
        let found = values / rows;
        match self.classes {
            Some(before) if before != found => {
                return Err(ClosenessError::Classes { found, before });
            }
            _ => self.classes = Some(found),
        }
        let pairs = reference.chunks(found).zip(other.chunks(found));
        pairs.for_each(|(reference, other)| self.add_row(reference, other));
        Ok(())
    }

    /// What has come in so far.
    pub fn finish(&self) -> Agreement {
        let classes = self.classes.unwrap_or_default() as u64;
        let comparable =
            self.rows > 0 && self.reference_not_finite == 0 && self.other_not_finite == 0;
        let figures = comparable.then(|| ClosenessFigures {
            max_error: self.max_error,
            mean_error: self.sum_error / (self.rows * classes) as f64,
            relative_error: (self.largest > 0.0).then(|| self.max_error / self.largest),
            worst_cosine: self.worst_cosine,
            mean_cosine: self.sum_cosine / self.rows as f64,
            top1: Share::wilson(self.agreeing, self.rows).filter(|_| classes > 1),
            ties: self.ties,
        });
        Agreement {
            items: self.rows,
            classes,
            reference_not_finite: self.reference_not_finite,
            other_not_finite: self.other_not_finite,
            figures,
        }
    }

    fn add_row(&mut self, reference: &[f64], other: &[f64]) {
        let not_finite = |row: &[f64]| row.iter().filter(|value| !value.is_finite()).count() as u64;
        self.reference_not_finite += not_finite(reference);
        self.other_not_finite += not_finite(other);
        self.rows += 1;
        for (a, b) in reference.iter().zip(other) {
            let error = (a - b).abs();
            self.max_error = self.max_error.max(error);
            self.sum_error += error;
            self.largest = self.largest.max(a.abs());
        }
        let cosine = cosine(reference, other);
        let is_first = self.rows == 1;
        self.worst_cosine = if is_first {
            cosine
        } else {
            self.worst_cosine.min(cosine)
        };
        self.sum_cosine += cosine;
        let (theirs, ours) = (RowMaximum::of_row(reference), RowMaximum::of_row(other));
        let in_common = reference
            .iter()
            .zip(other)
            .any(|(&a, &b)| a == theirs.largest && b == ours.largest);
        self.agreeing += u64::from(in_common && theirs.is_flat(reference) == ours.is_flat(other));
        self.ties += u64::from(ours.places > 1);
    }
}

/// The largest value of a row, and how often it is there.
#[derive(Clone, Copy, Debug)]
struct RowMaximum {
    largest: f64,
    places: usize,
}

impl RowMaximum {
    fn of_row(row: &[f64]) -> Self {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let places = row.iter().filter(|&&value| value == largest).count();
        Self { largest, places }
    }

    /// Whether all values are alike, so that the row prefers nothing.
    fn is_flat(self, row: &[f64]) -> bool {
        self.places == row.len()
    }
}

/// The cosine of the angle between two rows.
fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let largest = |row: &[f64]| {
        row.iter()
            .fold(0.0, |most: f64, value| most.max(value.abs()))
    };
    let (a_scale, b_scale) = (largest(a), largest(b));
    if a_scale == 0.0 || b_scale == 0.0 {
        return f64::from(u8::from(a_scale == b_scale));
    }
    // Squares of values as large or small as floats go would leave their range.
    let (mut product, mut a_squares, mut b_squares) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (x / a_scale, y / b_scale);
        product += x * y;
        a_squares += x * x;
        b_squares += y * y;
    }
    (product / (a_squares.sqrt() * b_squares.sqrt())).clamp(-1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(reference: &[f64], other: &[f64], rows: usize) -> ClosenessFigures {
        let mut closeness = Closeness::default();
        closeness.add(reference, other, rows).unwrap();
        closeness.finish().figures.unwrap()
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }

    #[test]
    fn figures_equal_numpys() {
        // numpy: abs(a - b).max(), .mean(), / abs(a).max(); (a * b).sum(1) over the norms.
        let reference = [1.0, 2.0, 3.0, -4.0, 0.5, 0.25, 0.0, 1.0, 0.0];
        let other = [1.1, 2.0, 2.8, -4.5, 0.5, 0.75, 0.0, 0.9, 0.1];
        let mut closeness = Closeness::default();
        closeness.add(&reference[..6], &other[..6], 2).unwrap();
        closeness.add(&reference[6..], &other[6..], 1).unwrap();
        let found = closeness.finish();
        assert_eq!((found.items, found.classes), (3, 3));
        let figures = found.figures.unwrap();
        close(figures.max_error, 0.5);
        close(figures.mean_error, 0.166_666_666_666_666_66);
        close(figures.relative_error.unwrap(), 0.125);
        close(figures.worst_cosine, 0.993_883_734_673_618_9);
        close(figures.mean_cosine, 0.995_779_765_156_386_9);
        let top1 = figures.top1.unwrap();
        assert_eq!((top1.hits, top1.of, figures.ties), (2, 3, 0));
    }

    #[test]
    fn what_is_the_same_is_as_close_as_can_be() {
        let row = [0.1, 0.2, 0.7];
        let same = figures(&row, &row, 1);
        assert_eq!((same.max_error, same.mean_error), (0.0, 0.0));
        assert_eq!(same.relative_error, Some(0.0));
        close(same.worst_cosine, 1.0);
        assert_eq!(same.top1.unwrap().value(), 1.0);
        close(figures(&row, &row.map(|x| -x), 1).worst_cosine, -1.0);
        close(
            figures(&[1e300, 1e-300], &[1e300, 1e-300], 1).mean_cosine,
            1.0,
        );
    }

    #[test]
    fn ties_are_resolved_fairly() {
        let agree = |reference: &[f64], other: &[f64]| {
            let found = figures(reference, other, 1);
            (found.top1.unwrap().hits, found.ties)
        };
        assert_eq!(agree(&[1.0, 3.0, 2.0], &[0.0, 5.0, 5.0]), (1, 1));
        assert_eq!(agree(&[1.0, 2.0, 3.0], &[5.0, 5.0, 0.0]), (0, 1));
        assert_eq!(agree(&[3.0, 3.0, 2.0], &[0.0, 5.0, 1.0]), (1, 0));
        // All alike is no answer, unless that is the reference's as well.
        assert_eq!(agree(&[1.0, 2.0, 3.0], &[0.0, 0.0, 0.0]), (0, 1));
        assert_eq!(agree(&[2.0, 2.0], &[1.0, 1.0]), (1, 1));
    }

    #[test]
    fn zeros_have_no_direction() {
        let gone = figures(&[1.0, 2.0], &[0.0, 0.0], 1);
        assert_eq!((gone.worst_cosine, gone.relative_error), (0.0, Some(1.0)));
        let never = figures(&[0.0, 0.0], &[0.0, 1.0], 1);
        assert_eq!((never.worst_cosine, never.relative_error), (0.0, None));
        let both = figures(&[0.0, 0.0], &[0.0, 0.0], 1);
        assert_eq!((both.worst_cosine, both.relative_error), (1.0, None));
    }

    #[test]
    fn one_value_a_row_has_no_first_place() {
        let single = figures(&[1.0, 2.0], &[1.0, 2.5], 2);
        assert_eq!((single.top1, single.max_error), (None, 0.5));
    }

    #[test]
    fn what_is_not_finite_cannot_be_compared() {
        let mut closeness = Closeness::default();
        closeness
            .add(&[1.0, 2.0], &[f64::NAN, f64::INFINITY], 1)
            .unwrap();
        closeness.add(&[1.0, f64::NAN], &[1.0, 2.0], 1).unwrap();
        let found = closeness.finish();
        assert_eq!((found.reference_not_finite, found.other_not_finite), (1, 2));
        assert_eq!((found.items, found.figures), (2, None));
    }

    #[test]
    fn what_does_not_fit_is_refused_whole() {
        let mut closeness = Closeness::default();
        assert_eq!(closeness.finish().figures, None);
        assert_eq!(closeness.add(&[], &[], 0), Ok(()));
        closeness.add(&[1.0, 2.0], &[1.0, 2.0], 1).unwrap();
        let before = closeness.clone();
        let mut refuse = |reference: &[f64], other: &[f64], rows, expect: &str| {
            let message = closeness
                .add(reference, other, rows)
                .unwrap_err()
                .to_string();
            assert!(message.contains(expect), "{message}");
        };
        refuse(&[1.0], &[1.0, 2.0], 1, "gave 1 values and the other 2");
        refuse(&[1.0; 3], &[1.0; 3], 2, "3 values do not part into 2 rows");
        refuse(&[1.0], &[1.0], 0, "into 0 rows");
        refuse(&[], &[], 2, "0 values");
        refuse(&[1.0; 3], &[1.0; 3], 1, "those before it had 2");
        assert_eq!(closeness, before);
    }
}
