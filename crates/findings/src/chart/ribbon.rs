//! The ribbon of difference between two timelines: what each operator gained or lost, where it ran, and the running sum.

use crate::analysis::timeline::stretch::TimeRange;
use crate::analysis::timeline_comparison::{MergedTraces, WorkMatchedBy, WorkPair};
use powerband_core::base::humanize;

/// How much a difference says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RibbonStanding {
    /// More than two starts of one program usually differ by.
    BeyondStarts,
    /// Settled by the interval over the recorded steps, and no more than two starts may differ by.
    BeyondSteps,
    /// Not settled: within the interval, on one side only, matched uncertainly, or without several steps.
    Open,
}

impl RibbonStanding {
    fn from_pair(pair: &WorkPair) -> Self {
        // What may be matched wrongly differs from something else.
        let steps = pair
            .steps
            .filter(|_| pair.matched_by != Some(WorkMatchedBy::Order));
        match steps {
            Some(steps) if steps.recorded.is_change() && steps.is_beyond_starts => {
                Self::BeyondStarts
            }
            Some(steps) if steps.recorded.is_change() => Self::BeyondSteps,
            _ => Self::Open,
        }
    }

    /// One word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::BeyondStarts => "beyond-starts",
            Self::BeyondSteps => "beyond-steps",
            Self::Open => "open",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::BeyondStarts => "settled, and more than two starts usually differ by",
            Self::BeyondSteps => "settled over the recorded steps; another start may differ",
            Self::Open => "not settled",
        }
    }
}

/// What an operator gained or lost.
#[derive(Clone, Debug, PartialEq)]
pub struct RibbonBar {
    /// The row of the comparison.
    pub row: usize,
    /// Where it ran.
    pub time: TimeRange,
    pub difference_ns: f64,
    pub standing: RibbonStanding,
    /// Apart from it, so that thousands of bars are gone through in every frame.
    pub pair: Box<WorkPair>,
}

impl RibbonBar {
    /// `aten::conv2d: 1.20 ms → 1.10 ms, −100 µs (operator)`.
    pub fn tooltip(&self) -> String {
        let pair = &self.pair;
        let time = |ns: u64| humanize::duration_ns(ns as f64);
        let times = match (&pair.before, &pair.after) {
            (Some(before), Some(after)) => format!(
                "{} → {}, {}",
                time(before.time_ns),
                time(after.time_ns),
                humanize::time_change(self.difference_ns)
            ),
            (Some(work), None) | (None, Some(work)) => time(work.time_ns),
            (None, None) => String::new(),
        };
        format!("{}: {times} ({})", pair.title, pair.match_title())
    }
}

/// Bars from left to right.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ribbon {
    pub bars: Vec<RibbonBar>,
    /// Where bars end, in order, with the sum of all differences up to there.
    pub sums: Vec<(f64, f64)>,
    /// The difference of all device time of the two steps.
    pub total_ns: f64,
    /// Whether steps say which differences count.
    pub has_steps: bool,
    /// The standings that occur, the strongest first.
    pub standings: Vec<RibbonStanding>,
    /// The longest of the bars.
    longest_ns: f64,
}

fn running_sums(bars: &[RibbonBar]) -> Vec<(f64, f64)> {
    let ends = bars.iter().map(|bar| (bar.time.to, bar.difference_ns));
    let mut ends: Vec<(f64, f64)> = ends.collect();
    ends.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut sum = 0.0;
    for (_, difference_ns) in &mut ends {
        sum += *difference_ns;
        *difference_ns = sum;
    }
    ends
}

impl Ribbon {
    pub fn new(merged: &MergedTraces, is_aligned: bool) -> Self {
        let comparison = &merged.comparison;
        let rows = comparison.rows.iter().enumerate();
        let bars = rows.filter_map(|(row, pair)| {
            Some(RibbonBar {
                row,
                time: merged.extent(row, is_aligned)?,
                difference_ns: pair.difference_ns() as f64,
                standing: RibbonStanding::from_pair(pair),
                pair: Box::new(pair.clone()),
            })
        });
        let mut bars: Vec<RibbonBar> = bars.collect();
        bars.sort_by(|one, other| one.time.from.total_cmp(&other.time.from));
        let lengths = bars.iter().map(|bar| bar.time.length());
        Self {
            longest_ns: lengths.fold(0.0, f64::max),
            standings: standings(&bars),
            sums: running_sums(&bars),
            bars,
            total_ns: comparison.difference_ns() as f64,
            has_steps: comparison.has_steps(),
        }
    }

    /// The bars of which some part is within a time.
    pub fn seen(&self, time: TimeRange) -> impl Iterator<Item = &RibbonBar> {
        let starts_before = |ns: f64| self.bars.partition_point(|bar| bar.time.from < ns);
        let first = starts_before(time.from - self.longest_ns);
        let bars = self.bars[first..].iter();
        let bars = bars.take_while(move |bar| bar.time.from <= time.to);
        bars.filter(move |bar| bar.time.to >= time.from)
    }
}

fn standings(bars: &[RibbonBar]) -> Vec<RibbonStanding> {
    use RibbonStanding::{BeyondStarts, BeyondSteps, Open};
    let occurs = |standing: &RibbonStanding| {
        let mut bars = bars.iter();
        bars.any(|bar| bar.standing == *standing && bar.difference_ns != 0.0)
    };
    let all = [BeyondStarts, BeyondSteps, Open].into_iter();
    all.filter(occurs).collect()
}
