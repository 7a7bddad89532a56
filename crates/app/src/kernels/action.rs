//! Actions on the kernels of a profile.

use super::instances::InstanceChoice;
use super::profile_ref::ProfileRef;
use powerband_findings::analysis::breakdown::{BreakdownLevel, FilterGroup};
use powerband_findings::analysis::category::Category;
use powerband_findings::analysis::profile_runs::Times;

/// Actions on the kernels of a profile.
#[derive(Clone, Debug, PartialEq)]
pub enum Kernels {
    /// Which profile is shown.
    Look(ProfileRef),
    /// Which one it is compared with; nothing for none.
    Before(Option<ProfileRef>),
    /// Before becomes after, and after before.
    Swap,
    /// What a row stands for.
    Level(BreakdownLevel),
    /// How the time is drawn.
    Shape(BreakdownChart),
    /// Shows times of a run or a step, or those of whole profiles.
    Times(Times),
    /// How many runs a profile covers that does not state it; nothing where that is not known.
    Runs(ProfileRef, Option<u64>),
    /// Selects a row; a kernel shows its instances.
    Select(Option<SelectedRow>),
    /// Shows an instance of the selected kernel on the timeline.
    Instance(InstanceChoice),
    /// Shows the graph that the engine made of the profiled setup, with its nodes.
    Graph,
    /// Lists the kernels of a category or an operator alone, or goes back to its row.
    Within(Option<FilterGroup>),
    /// Shows rows with these words only, of the profile that is shown.
    Filter(String),
    /// Shows rows of at least this share only, from 0 to 1, of the profile that is shown.
    Over(f64),
    /// Shows all rows of the profile that is shown.
    AllRows,
    /// Another pattern for a category, before all others.
    Categorise(Category, String),
    /// Takes one of the user's patterns away, by its place.
    Forget(usize),
    /// Shows the timeline of the profile that is shown.
    Timeline,
    /// Lights every slice of a kernel on it, by its whole name.
    Find(String),
    /// Shows a pause on it: its start, counted from the first slice, and its length, in nanoseconds.
    Gap(u64, u64),
}

/// What the selected row stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectedRow {
    /// A category.
    Category(Category),
    /// An operator, by the name of its row.
    Operator(String),
    /// A kernel, a node or a copy, by its whole name.
    Kernel(String),
}

/// The chart of the breakdown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BreakdownChart {
    /// A bar for each row.
    #[default]
    Bars,
    /// Areas.
    Treemap,
}
