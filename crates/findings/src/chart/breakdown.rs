//! Where the time went, as bars; a treemap of it is in `treemap.rs`.

use super::colours::{Depth, Fill};
use crate::analysis::breakdown::{Breakdown, FilteredRows};
use crate::analysis::category::Category;
use crate::analysis::kernel_comparison::KernelComparison;
use crate::analysis::profile_runs::Times;

/// Most bars; what is left is one more.
const BARS: usize = 12;
/// Rows of a comparison that are drawn.
const CHANGES: usize = 12;

/// The fill of a category. All differ; the most frequent categories have unchanged hues.
pub fn category_fill(category: Category) -> Fill {
    match category {
        Category::Convolution => Fill::from_hue(0),
        Category::Copies => Fill::with_depth(0, Depth::Soft),
        Category::Reduction => Fill::with_depth(0, Depth::Strong),
        Category::Attention => Fill::from_hue(1),
        Category::Softmax => Fill::with_depth(1, Depth::Soft),
        Category::Collective => Fill::with_depth(1, Depth::Strong),
        Category::BatchNorm => Fill::from_hue(2),
        Category::Gather => Fill::with_depth(2, Depth::Soft),
        Category::Norm => Fill::with_depth(2, Depth::Strong),
        Category::Elementwise => Fill::from_hue(3),
        Category::Pooling => Fill::with_depth(3, Depth::Soft),
        Category::Layout => Fill::with_depth(3, Depth::Strong),
        Category::Gemm => Fill::from_hue(4),
        Category::Optimiser => Fill::with_depth(4, Depth::Soft),
        Category::Other => Fill::GREY,
    }
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Index of its row; nothing for the bar of all remaining rows.
    pub row: Option<usize>,
    pub name: String,
    /// Its length, as a share of the longest, from 0 to 1; 0 for the one of all that is left.
    pub length: f64,
    /// Its share of everything, from 0 to 1.
    pub share: f64,
    /// Its time, of a run or a step or in total, in nanoseconds.
    pub ns: f64,
    /// What it is filled with.
    pub colour: Fill,
}

/// Bars of the rows that are shown, and one for the others.
pub fn bars(breakdown: &Breakdown, shown: &FilteredRows, times: Times) -> Vec<Bar> {
    let divided = |ns: f64| breakdown.shown_ns(ns, times);
    let mut bars: Vec<Bar> = shown
        .rows
        .iter()
        .filter_map(|&place| Some((place, breakdown.rows.get(place)?)))
        .take(BARS)
        .map(|(place, row)| Bar {
            row: Some(place),
            name: row.short.clone(),
            length: 0.0,
            share: row.share,
            ns: divided(row.total_ns as f64),
            colour: category_fill(row.category),
        })
        .collect();
    let drawn: f64 = bars.iter().map(|bar| bar.ns).sum();
    let left = divided(shown.total_ns as f64) - drawn;
    let number = shown.rows.len() - bars.len();
    if number > 0 {
        bars.push(Bar {
            row: None,
            name: format!("{number} more"),
            length: 0.0,
            share: breakdown.share_of_all(left * times.divisor(breakdown.runs)),
            ns: left,
            colour: Fill::GREY,
        });
    }
    // What is left would be the longest, and says nothing by its length.
    let of_rows = || bars.iter().filter(|bar| bar.row.is_some());
    let longest = of_rows().map(|bar| bar.ns).fold(0.0, f64::max);
    for bar in bars.iter_mut().filter(|bar| bar.row.is_some()) {
        bar.length = share(bar.ns, longest);
    }
    bars
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// A row of a comparison as a bar to either side.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeBar {
    /// The row.
    pub row: usize,
    pub name: String,
    /// From -1, the largest gain, to 1, the largest loss.
    pub length: f64,
    /// The difference, in nanoseconds.
    pub ns: f64,
}

/// Bars for the rows with the largest differences. Rows must be sorted by falling difference.
pub fn changes(comparison: &KernelComparison, rows: &[usize]) -> Vec<ChangeBar> {
    let rows = rows
        .iter()
        .filter_map(|&place| Some((place, comparison.rows.get(place)?)))
        .take(CHANGES);
    let largest = rows
        .clone()
        .map(|(_, row)| row.difference_ns().abs())
        .fold(0.0, f64::max);
    rows.filter(|(_, row)| row.difference_ns() != 0.0)
        .map(|(place, row)| ChangeBar {
            row: place,
            name: row.title.clone(),
            length: share(row.difference_ns().abs(), largest) * row.difference_ns().signum(),
            ns: row.difference_ns(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::breakdown::{self, BreakdownLevel, Filter};
    use crate::analysis::category::Rules;
    use crate::analysis::kernel_comparison;
    use crate::analysis::kernel_fixtures::{RESNET_MI210, RESNET_V100, profile};

    #[test]
    fn bars_of_a_real_profile_stand_for_all_of_it() {
        let profile = profile(RESNET_V100);
        let found =
            breakdown::profile_breakdown(&profile, &Rules::default(), BreakdownLevel::Kernel);
        let shown = found.filtered_rows(&Filter::default());
        let bars = bars(&found, &shown, Times::Total);
        assert_eq!(bars.len(), BARS + 1);
        let rest = bars.last().unwrap();
        assert_eq!((rest.row, rest.length), (None, 0.0));
        let whole: f64 = bars.iter().map(|bar| bar.share).sum();
        assert!((whole - 1.0).abs() < 1e-9);
        assert!(bars.iter().all(|bar| bar.length <= 1.0));
    }

    #[test]
    fn no_two_categories_share_a_colour() {
        use crate::chart::colours::{Colours, DARK, LIGHT, Rgb};

        let apart = |one: Rgb, other: Rgb| {
            let parts = [(one.0, other.0), (one.1, other.1), (one.2, other.2)];
            let apart = parts.map(|(a, b)| u32::from(a.abs_diff(b)));
            apart.into_iter().sum::<u32>()
        };
        let check = |colours: &Colours| {
            for (place, one) in Category::ALL.into_iter().enumerate() {
                for other in &Category::ALL[place + 1..] {
                    let found = apart(
                        colours.fill(category_fill(one)),
                        colours.fill(category_fill(*other)),
                    );
                    assert!(found >= 48, "{one:?} and {other:?}: {found}");
                }
            }
        };
        check(&DARK);
        check(&LIGHT);
        // On paper hatchings distinguish hues, and their grounds depths.
        let fills: std::collections::HashSet<_> =
            Category::ALL.into_iter().map(category_fill).collect();
        assert_eq!(fills.len(), Category::ALL.len());
    }

    #[test]
    fn changes_go_to_either_side() {
        let (before, after) = (profile(RESNET_V100), profile(RESNET_MI210));
        let found = kernel_comparison::compare_profiles(&before, &after, &Rules::default());
        let all: Vec<usize> = (0..found.rows.len()).collect();
        let steps = changes(&found, &all);
        assert_eq!(steps[0].length.abs(), 1.0);
        assert!(steps.iter().all(|step| (-1.0..=1.0).contains(&step.length)));
        assert!(
            steps
                .iter()
                .all(|step| step.ns.signum() == step.length.signum())
        );
        // The longest of those that are asked for has the whole length.
        let few = changes(&found, &[3, 5]);
        assert_eq!(few.iter().map(|step| step.row).collect::<Vec<_>>(), [3, 5]);
        assert_eq!(few[0].length.abs(), 1.0);
    }
}
