//! How often a network is right: the labels against the order of its outputs.
//!
//! Top-1 and top-5 accuracy as `ImageNet`'s challenge defines them (Russakovsky et al., 2015, §4.1): an
//! item counts where its label is among the one or five classes with the largest values. Among equal
//! values the class that comes first goes first, as `numpy.argmax` and a stable sort have it, so that an
//! output that is all alike is right about the first class and no other.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::share::Share;

/// Why outputs and labels cannot be taken in.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LabelError {
    /// Values that do not part into rows.
    #[error(
        "{values} values do not part into rows for {labels} labels. Give one label for each item of \
         the batch"
    )]
    Rows {
        /// How many values.
        values: usize,
        /// How many labels.
        labels: usize,
    },
    /// Rows of another length than before.
    #[error(
        "a row has {found} values, and those before it had {before}. Rank one output at a time"
    )]
    Classes {
        /// Values of a row now.
        found: usize,
        /// Values of a row before.
        before: usize,
    },
    /// A class that the network does not have.
    #[error(
        "an item has class {label}, counted from 0, and the network has {classes} classes. Use inputs \
         that are sorted into the classes of this network"
    )]
    Label {
        /// The label.
        label: usize,
        /// How many classes there are.
        classes: usize,
    },
}

/// How often a network is right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelAccuracy {
    /// How many items were looked at.
    pub items: u64,
    /// How many classes there are.
    pub classes: u64,
    /// Items with an output that is not a number somewhere; they count as wrong.
    pub not_a_number: u64,
    /// The share of items whose label has the largest value, with Wilson's interval; nothing for no
    /// items, or one class only.
    pub top1: Option<Share>,
    /// The share of items whose label is among the five largest, with Wilson's interval; nothing where
    /// there are no more than five classes.
    pub top5: Option<Share>,
}

/// Counts right answers batch by batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccuracyCounter {
    classes: Option<usize>,
    rows: u64,
    not_a_number: u64,
    first: u64,
    among_five: u64,
}

impl AccuracyCounter {
    /// Takes in the outputs of a batch, a row an item, and the items' labels. Nothing is taken in
    /// where they do not fit.
    pub fn add(&mut self, logits: &[f64], labels: &[usize]) -> Result<(), LabelError> {
        if logits.is_empty() && labels.is_empty() {
            return Ok(());
        }
        let is_whole = !labels.is_empty() && logits.len().is_multiple_of(labels.len());
        if logits.is_empty() || !is_whole {
            return Err(LabelError::Rows {
                values: logits.len(),
                labels: labels.len(),
            });
        }
        let classes = logits.len() / labels.len();
        if let Some(before) = self.classes.filter(|&before| before != classes) {
            let found = classes;
            return Err(LabelError::Classes { found, before });
        }
        if let Some(&label) = labels.iter().find(|&&label| label >= classes) {
            return Err(LabelError::Label { label, classes });
        }
        self.classes = Some(classes);
        for (row, &label) in logits.chunks(classes).zip(labels) {
            self.rows += 1;
            let Some(place) = place(row, label) else {
                self.not_a_number += 1;
                continue;
            };
            self.first += u64::from(place == 0);
            self.among_five += u64::from(place < 5);
        }
        Ok(())
    }

    /// What has come in so far.
    pub fn finish(&self) -> LabelAccuracy {
        let classes = self.classes.unwrap_or_default() as u64;
        LabelAccuracy {
            items: self.rows,
            classes,
            not_a_number: self.not_a_number,
            top1: Share::wilson(self.first, self.rows).filter(|_| classes > 1),
            top5: Share::wilson(self.among_five, self.rows).filter(|_| classes > 5),
        }
    }
}

/// How many classes an output of this shape has scores for.
///
/// There is one row of at least two scores for each of so many items, whatever dimensions of size 1 stand
/// between and behind. Nothing for maps, sequences and single numbers, whose largest value is no choice
/// between classes.
pub fn classes_of(dims: &[usize], items: usize) -> Option<usize> {
    let (first, rest) = dims.split_first()?;
    let mut long = rest.iter().filter(|&&size| size != 1);
    let classes = *long.next()?;
    let is_row = *first == items && classes >= 2 && long.next().is_none();
    is_row.then_some(classes)
}

/// How many classes come before the label's; nothing where a value is not a number.
fn place(row: &[f64], label: usize) -> Option<usize> {
    if row.iter().any(|value| value.is_nan()) {
        return None;
    }
    let own = *row.get(label)?;
    let is_before = |&(class, &value): &(usize, &f64)| value > own || value == own && class < label;
    Some(row.iter().enumerate().filter(is_before).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_is_first_or_among_five() {
        let row = [0.1, 0.9, 0.3, 0.2, 0.5, 0.4, 0.0];
        let mut ranking = AccuracyCounter::default();
        // In falling order: 1, 4, 5, 2, 3, 0, 6.
        ranking.add(&[row, row, row].concat(), &[1, 3, 0]).unwrap();
        ranking.add(&row, &[6]).unwrap();
        let found = ranking.finish();
        let (top1, top5) = (found.top1.unwrap(), found.top5.unwrap());
        assert_eq!((top1.hits, top5.hits, top5.of), (1, 2, 4));
        assert_eq!((found.items, found.classes), (4, 7));
        // Wilson's interval of 1 in 4.
        assert!(
            (top1.low - 0.045_587_260_809_700_6).abs() < 1e-12,
            "{top1:?}"
        );
        assert!(
            (top1.high - 0.699_358_157_417_598_2).abs() < 1e-12,
            "{top1:?}"
        );
    }

    #[test]
    fn among_equals_the_first_class_goes_first() {
        let mut ranking = AccuracyCounter::default();
        ranking.add(&[0.0; 24], &[0, 1, 4, 5]).unwrap();
        let found = ranking.finish();
        assert_eq!((found.top1.unwrap().hits, found.top5.unwrap().hits), (1, 3));
    }

    #[test]
    fn few_classes_have_fewer_figures() {
        let mut few = AccuracyCounter::default();
        few.add(&[0.0, 1.0, 1.0, 0.0, 0.0, 0.0], &[1, 2]).unwrap();
        let found = few.finish();
        assert_eq!((found.top1.unwrap().hits, found.top5), (1, None));
        let mut one = AccuracyCounter::default();
        one.add(&[0.5], &[0]).unwrap();
        assert_eq!(one.finish().top1, None);
        let none = AccuracyCounter::default().finish();
        assert_eq!((none.items, none.top1, none.top5), (0, None, None));
    }

    #[test]
    fn what_is_not_a_number_is_wrong_and_counted() {
        let mut ranking = AccuracyCounter::default();
        ranking
            .add(&[f64::NAN, 0.0, 0.0, f64::INFINITY], &[1, 1])
            .unwrap();
        let found = ranking.finish();
        assert_eq!((found.not_a_number, found.top1.unwrap().hits), (1, 1));
    }

    #[test]
    fn scores_are_one_row_an_item() {
        let cases: [(&[usize], Option<usize>); 12] = [
            (&[8, 1_000], Some(1_000)),
            (&[8, 2], Some(2)),
            (&[8, 10, 1, 1], Some(10)),
            (&[8, 1, 10], Some(10)),
            // One score says nothing between classes.
            (&[8, 1], None),
            (&[8], None),
            (&[], None),
            // Maps, a row for each word, and a map of one class.
            (&[8, 21, 64, 64], None),
            (&[8, 128, 30_522], None),
            (&[8, 1, 64, 64], None),
            // Rows that are not those of the batch.
            (&[4, 1_000], None),
            (&[8, 0], None),
        ];
        for (dims, expect) in cases {
            assert_eq!(classes_of(dims, 8), expect, "{dims:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_whole() {
        let mut ranking = AccuracyCounter::default();
        assert_eq!(ranking.add(&[], &[]), Ok(()));
        ranking.add(&[0.0, 1.0], &[1]).unwrap();
        let before = ranking.clone();
        let mut refuse = |logits: &[f64], labels: &[usize], expect: &str| {
            let message = ranking.add(logits, labels).unwrap_err().to_string();
            assert!(message.contains(expect), "{message}");
        };
        refuse(
            &[0.0; 3],
            &[0, 0],
            "3 values do not part into rows for 2 labels",
        );
        refuse(&[0.0; 3], &[], "for 0 labels");
        refuse(&[], &[0], "0 values");
        refuse(&[0.0; 3], &[0], "those before it had 2");
        refuse(
            &[0.0; 4],
            &[0, 2],
            "class 2, counted from 0, and the network has 2",
        );
        assert_eq!(ranking, before);
    }
}
