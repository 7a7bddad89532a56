//! A sweep as people write it: the points that a plan measures, from lists of sizes by the names of dimensions.

use std::collections::BTreeSet;

use super::point::{BATCH, Point, dimensions};
use super::sizes::{self, SizeError};
use crate::base::humanize;

/// More points than this are a slip of the finger.
const MOST_POINTS: usize = 100_000;

/// A sweep that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    /// Not a name and sizes.
    #[error(
        "cannot read the sweep {0:?}: write a dimension and its sizes, as in seq=128,256 or seq=128..2048, or \
         several dimensions that go together, as in seq=128,256+batch=8,4"
    )]
    Syntax(String),
    /// Sizes that cannot be read.
    #[error(transparent)]
    Sizes(#[from] SizeError),
    /// Dimensions that go together have different numbers of sizes.
    #[error(
        "the dimensions of {text:?} go together, and {first} has {n_first} sizes where {other} has {n_other}; \
         give each the same number, or write them as two sweeps for all combinations"
    )]
    Uneven {
        /// The sweep.
        text: String,
        /// A dimension.
        first: String,
        /// Its sizes.
        n_first: usize,
        /// Another dimension.
        other: String,
        /// Its sizes.
        n_other: usize,
    },
    /// A dimension that has two lists of sizes.
    #[error("the dimension {0} has two lists of sizes; write them as one, as in {0}=128,256")]
    Twice(String),
    /// More points than a plan can have.
    #[error("the sweep has {0} points, more than {MOST_POINTS}; leave sizes out")]
    TooMany(usize),
}

/// The points of several sweeps: each combination of what they say, ascending. Dimensions within one, with `+`
/// between, go together: `seq=128,256+batch=8,4` are two points.
pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Vec<Point>, SweepError> {
    let mut points = vec![Vec::new()];
    let mut named = BTreeSet::new();
    for text in texts {
        let rows = rows_of(text)?;
        for (name, _) in rows.first().into_iter().flatten() {
            if !named.insert(name.clone()) {
                return Err(SweepError::Twice(name.clone()));
            }
        }
        let n_points = points.len().saturating_mul(rows.len());
        if n_points > MOST_POINTS {
            return Err(SweepError::TooMany(n_points));
        }
        let with_rows = |point: &Vec<(String, usize)>| {
            let joined = |row: &Vec<(String, usize)>| point.iter().chain(row).cloned().collect();
            rows.iter().map(joined).collect::<Vec<Vec<_>>>()
        };
        points = points.iter().flat_map(with_rows).collect();
    }
    let mut points: Vec<Point> = points.into_iter().map(Point::new).collect();
    points.sort_unstable();
    points.dedup();
    Ok(points)
}

/// What one sweep binds, point by point.
fn rows_of(text: &str) -> Result<Vec<Vec<(String, usize)>>, SweepError> {
    let parts: Vec<&str> = text.split('+').collect();
    let mut columns: Vec<(String, Vec<usize>)> = Vec::new();
    for part in &parts {
        let syntax = || SweepError::Syntax(text.to_owned());
        let (name, list) = part.split_once('=').ok_or_else(syntax)?;
        let name = Some(name.trim())
            .filter(|name| !name.is_empty())
            .ok_or_else(syntax)?;
        // Those that go together keep their order.
        let sizes = match parts.len() {
            1 => sizes::parse(name, list)?,
            _ => sizes::in_order(name, list)?,
        };
        columns.push((name.to_owned(), sizes));
    }
    if let Some((first, of_first)) = columns.first() {
        let is_uneven = |column: &&(String, Vec<usize>)| column.1.len() != of_first.len();
        if let Some((other, of_other)) = columns.iter().find(is_uneven) {
            return Err(SweepError::Uneven {
                text: text.to_owned(),
                first: first.clone(),
                n_first: of_first.len(),
                other: other.clone(),
                n_other: of_other.len(),
            });
        }
    }
    let n_rows = columns.first().map_or(0, |(_, sizes)| sizes.len());
    let row = |place: usize| {
        let cells = columns.iter();
        cells
            .filter_map(|(name, sizes)| Some((name.clone(), *sizes.get(place)?)))
            .collect()
    };
    Ok((0..n_rows).map(row).collect())
}

/// Sweeps that come to these points: one for each dimension where they are all combinations of some sizes, else one
/// with all dimensions together.
pub fn show(points: &[Point]) -> Vec<String> {
    let dimensions = dimensions(points.iter().copied());
    let sizes_of = |name: &str| -> BTreeSet<usize> {
        points.iter().filter_map(|point| point.get(name)).collect()
    };
    let columns: Vec<(&str, BTreeSet<usize>)> = dimensions
        .iter()
        .map(|&name| (name, sizes_of(name)))
        .collect();
    let product: usize = columns.iter().map(|(_, sizes)| sizes.len()).product();
    let distinct: BTreeSet<Point> = points.iter().copied().collect();
    let compact = |sizes: &[usize]| sizes::show(sizes).replace(", ", ",");
    if product == distinct.len() {
        let column = |(name, sizes): &(&str, BTreeSet<usize>)| {
            let sizes: Vec<usize> = sizes.iter().copied().collect();
            format!("{name}={}", compact(&sizes))
        };
        return columns.iter().map(column).collect();
    }
    let column = |name: &&str| {
        let sizes = distinct
            .iter()
            .map(|point| point.get(name).unwrap_or_default());
        let sizes: Vec<String> = sizes.map(|size| size.to_string()).collect();
        format!("{name}={}", sizes.join(","))
    };
    vec![dimensions.iter().map(column).collect::<Vec<_>>().join("+")]
}

/// The sweep in words: `1, 2, 4`, or `batch 1, 2 × seq 128..2048`.
pub fn points_text(points: &[Point]) -> String {
    let batches: Vec<usize> = points.iter().copied().map(Point::batch).collect();
    if is_of_batches(points) {
        return sizes::show(&batches);
    }
    let sweeps = show(points)
        .into_iter()
        .map(|sweep| sweep.replace('=', " ").replace(',', ", "));
    sweeps.collect::<Vec<_>>().join(" × ")
}

/// How many points there are, in words: `5 batch sizes`; with other dimensions `3 × 4 points` where they are all
/// combinations of several sizes, else `12 points`.
pub fn point_count_text(points: &[Point]) -> String {
    if is_of_batches(points) {
        return humanize::pluralised(points.len() as u64, "batch size");
    }
    let sizes_of = |name: &str| -> BTreeSet<usize> {
        points.iter().filter_map(|point| point.get(name)).collect()
    };
    let counts: Vec<usize> = dimensions(points.iter().copied())
        .into_iter()
        .map(|name| sizes_of(name).len())
        .filter(|count| *count > 1)
        .collect();
    if counts.len() > 1 && counts.iter().product::<usize>() == points.len() {
        let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
        return format!("{} points", counts.join(" × "));
    }
    humanize::pluralised(points.len() as u64, "point")
}

/// Whether the points have no dimension but the batch.
pub fn is_of_batches(points: &[Point]) -> bool {
    dimensions(points.iter().copied()) == [BATCH]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(texts: &[&str]) -> Vec<String> {
        let points = parse(texts.iter().copied()).unwrap();
        points.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_grid_is_counted_by_its_sides() {
        let count = |texts: &[&str]| point_count_text(&parse(texts.iter().copied()).unwrap());
        assert_eq!(count(&["batch=1,2,4"]), "3 batch sizes");
        assert_eq!(count(&["batch=1,2,4", "seq=128,256"]), "3 × 2 points");
        assert_eq!(count(&["batch=1", "seq=128,256"]), "2 points");
        assert_eq!(count(&["seq=128,256+batch=8,4"]), "2 points");
    }

    #[test]
    fn several_sweeps_are_all_combinations() {
        assert_eq!(
            points(&["batch=1,2", "seq=128..256"]),
            [
                "batch 1, seq 128",
                "batch 1, seq 256",
                "batch 2, seq 128",
                "batch 2, seq 256"
            ]
        );
        assert_eq!(
            points(&["past=0,128"]),
            ["batch 1, past 0", "batch 1, past 128"]
        );
    }

    #[test]
    fn dimensions_of_one_sweep_go_together() {
        assert_eq!(
            points(&["seq=128,256+batch=8,4"]),
            ["batch 4, seq 256", "batch 8, seq 128"]
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (texts, says) in [
            (vec!["seq"], "cannot read the sweep"),
            (vec!["=1"], "cannot read the sweep"),
            (vec!["seq=1,x"], "\"x\" is no size of seq"),
            (vec!["batch=0"], "\"0\" is no batch size"),
            (
                vec!["seq=128,256+batch=8"],
                "seq has 2 sizes where batch has 1",
            ),
            (vec!["seq=1", "seq=2"], "seq has two lists of sizes"),
            (
                vec![
                    "a=1..1024",
                    "b=1,2,3,4,5,6,7,8,9",
                    "c=1..65536,3,5,7",
                    "d=1..65536,3,5,7,9",
                    "e=1..999999",
                ],
                "more than",
            ),
        ] {
            let said = parse(texts).unwrap_err().to_string();
            assert!(said.contains(says), "{said}");
        }
    }

    #[test]
    fn points_are_written_as_they_are_read() {
        for texts in [
            vec!["batch=1,2", "seq=128,256"],
            vec!["batch=4,8+seq=256,128"],
            vec!["batch=1..32"],
            vec!["batch=1", "past=0,128"],
        ] {
            let points = parse(texts.iter().copied()).unwrap();
            assert_eq!(show(&points), texts);
        }
    }
}
