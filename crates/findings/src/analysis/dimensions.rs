//! Which dimensions vary among the points of sweeps, and with which sizes.

use std::collections::BTreeSet;

use powerband_core::base::humanize;
use powerband_core::domain::point::{self, Point};

/// A dimension with every size that it has among some points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// What it is called.
    pub name: &'static str,
    /// Its sizes, ascending.
    pub sizes: Vec<usize>,
}

/// Every dimension of some points, the batch first and the others by name.
pub fn dimensions(points: &[Point]) -> Vec<Dimension> {
    let names = point::dimensions(points.iter().copied()).into_iter();
    names
        .map(|name| {
            let sizes: BTreeSet<usize> = points.iter().filter_map(|one| one.get(name)).collect();
            Dimension {
                name,
                sizes: sizes.into_iter().collect(),
            }
        })
        .collect()
}

/// Those that have more than one size.
pub fn varying_dimensions(points: &[Point]) -> Vec<Dimension> {
    let mut all = dimensions(points);
    all.retain(|dimension| dimension.sizes.len() > 1);
    all
}

/// The sizes of a point in some dimensions, in words: `past 0, sequence 128`.
pub fn sizes_text(point: Point, is_wanted: impl Fn(&str) -> bool) -> String {
    let wanted = point.bindings().filter(|(name, _)| is_wanted(name));
    let words: Vec<String> = wanted
        .map(|(name, size)| format!("{name} {}", humanize::count(size as u64)))
        .collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_with_one_size_do_not_vary() {
        let point = |batch: usize, sequence: usize| {
            Point::new([("batch", batch), ("past", 0), ("sequence", sequence)])
        };
        let points = [point(8, 128), point(1, 128), point(1, 2_048)];
        let found = varying_dimensions(&points);
        let names: Vec<&str> = found.iter().map(|one| one.name).collect();
        assert_eq!(names, ["batch", "sequence"]);
        assert_eq!((found[0].sizes[..].len(), found[1].sizes[1]), (2, 2_048));
        assert_eq!(dimensions(&points).len(), 3);
        let words = sizes_text(points[2], |name| name != "batch");
        assert_eq!(words, "past 0, sequence 2,048");
    }
}
