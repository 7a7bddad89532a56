//! Where the time of a profile went: by category, by operator, by kernel.
//!
//! What is added up is kernels, copies and sets where there are any, else operators without those within
//! them. Sums are not busy time: streams overlap.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::category::{Category, Rules, has_all_words};
use super::kernel_name;
use super::limits::bound::{Bound, bound_or_reason};
use super::profile_runs::{ProfileRuns, Times};
use powerband_core::domain::profile::{Launches, Profile, Total};
use powerband_core::domain::trace::SliceKind;

/// The name of the row of kernels without a known operator, in documents.
pub(crate) const UNKNOWN_OPERATOR: &str = "operator not told";
/// Longest gaps that are listed.
const GAPS: usize = 10;

/// Whether a row is a category, an operator or a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BreakdownLevel {
    /// A row for each category.
    #[default]
    Category,
    /// A row for each operator.
    Operator,
    /// A row for each kernel by its whole name.
    Kernel,
}

impl BreakdownLevel {
    pub const ALL: [Self; 3] = [Self::Category, Self::Operator, Self::Kernel];

    pub fn title(self) -> &'static str {
        match self {
            Self::Category => "category",
            Self::Operator => "operator",
            Self::Kernel => "kernel",
        }
    }
}

/// The kinds of slices that are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Kernels, copies and sets.
    Work,
    /// Operators, each without those within it.
    Operators,
    /// Host time for launching nodes that run on a card.
    NodeLaunches,
}

impl Scope {
    /// The finest scope that a profile has times for.
    pub fn from_profile(profile: &Profile) -> Self {
        let mut totals = profile.totals.iter();
        if profile.has_starts_only() {
            Self::NodeLaunches
        } else if totals.any(|total| total.kind.is_work()) {
            Self::Work
        } else {
            Self::Operators
        }
    }

    /// Whether something of this kind is added up.
    pub fn includes(self, kind: SliceKind) -> bool {
        match self {
            Self::Work => kind.is_work(),
            Self::Operators => kind == SliceKind::Operator,
            Self::NodeLaunches => matches!(kind, SliceKind::Operator | SliceKind::Kernel),
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Work => "kernels, copies and sets",
            Self::Operators => "operators, each without those within it",
            Self::NodeLaunches => {
                "the host's time for nodes, of those on a card for starting them: that of the card is not in this profile"
            }
        }
    }

    /// What the sum is called.
    pub fn sum_title(self) -> &'static str {
        match self {
            Self::Work | Self::Operators => "Kernel time (sum)",
            Self::NodeLaunches => "Host time (sum)",
        }
    }
}

/// One category, operator or kernel with its time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BreakdownRow {
    /// Its whole name.
    pub name: String,
    /// Shortened name, as displayed.
    pub short: String,
    /// The category; of an operator with several, that of most of its time.
    pub category: Category,
    /// The operators, most time first; empty where they are not known.
    #[serde(rename = "operators")]
    pub ops: Vec<String>,
    /// The rows of operators that its time is in, most time first.
    #[serde(skip)]
    pub op_rows: Vec<String>,
    /// Where it ran, each place once.
    pub places: Vec<String>,
    /// How many names of kernels it stands for.
    pub names: usize,
    /// Number of calls.
    pub calls: u64,
    /// All their times together, in nanoseconds.
    pub total_ns: u64,
    /// The share of everything that is added up, from 0 to 1.
    pub share: f64,
    /// The shortest call, where it is known of all.
    pub min_ns: Option<u64>,
    /// The longest call, where it is known of all.
    pub max_ns: Option<u64>,
    /// The limit of this row, where limits were computed.
    pub limit: Option<RowLimit>,
}

/// What limits a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowLimit {
    /// What limits most of its time, or why that is not said.
    #[serde(flatten, serialize_with = "bound_or_reason")]
    pub bound: Result<Bound, String>,
    /// Upper bound of the speed-up.
    #[serde(rename = "at_most_here")]
    pub max_speed_up: Option<f64>,
    /// How that is computed: the formula of its one node, or the sum of several floors.
    pub formula: String,
}

impl BreakdownRow {
    /// The mean of a call, in nanoseconds.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.total_ns as f64 / self.calls as f64)
    }

    /// Whether its names contain every word of a filter text.
    pub fn matches_text(&self, words: &str) -> bool {
        let places = self.places.join(" ");
        let text = [
            &self.name,
            &self.short,
            self.category.title(),
            &self.ops.join(" "),
            &places,
        ];
        has_all_words(&text.join(" "), words)
    }
}

/// A pause of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The device in words.
    pub device: String,
    /// When it begins, from the first slice of the file, in nanoseconds.
    pub start_ns: u64,
    /// How long it is, in nanoseconds.
    pub length_ns: u64,
}

/// The time of a profile by category, operator or kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    /// The kinds of slices that are added up.
    pub scope: Scope,
    /// Whether a row is a category, an operator or a kernel.
    pub level: BreakdownLevel,
    /// Rows, most time first.
    pub rows: Vec<BreakdownRow>,
    /// All of it, in nanoseconds; nothing where the profile has no times, as where a tool only counted.
    pub summed_ns: Option<u64>,
    /// How often anything ran; nothing where the profile does not record it.
    pub calls: Option<u64>,
    /// What ran it, for people: `GPU`, `CPU`; `Device` where that is not known or differs.
    pub device_kind: String,
    /// When something ran, and when nothing did.
    pub busy: Option<Busy>,
    /// The longest pauses of the devices, the longest first.
    pub gaps: Vec<Gap>,
    /// What launching took.
    pub launches: Option<Launches>,
    /// Time of the host by kind: operators, calls, waits, scripts and the profiler itself, which overlap
    /// and are never added.
    pub host: Vec<(SliceKind, u64)>,
    /// The host's part of whole runs: their time without that of the nodes in them, in nanoseconds, where
    /// the profile has both.
    pub between_nodes_ns: Option<u64>,
    /// Runs of the network or steps that it covers.
    pub runs: Option<ProfileRuns>,
    /// Whether any operator is known.
    pub has_operators: bool,
}

/// Busy time of the devices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Busy {
    /// Time in which at least one kernel, copy or set ran, of all devices together, in nanoseconds.
    pub busy_ns: u64,
    /// From first to last, of all devices together, in nanoseconds.
    pub span_ns: u64,
}

impl Busy {
    /// The share of the time in which nothing ran, from 0 to 1.
    pub fn idle_share(self) -> Option<f64> {
        let idle = self.span_ns.saturating_sub(self.busy_ns);
        (self.span_ns > 0).then(|| idle as f64 / self.span_ns as f64)
    }
}

/// A category or operator whose kernels are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterGroup {
    Category(Category),
    /// Of an operator, by the name of its row.
    Operator(String),
}

impl FilterGroup {
    /// What it is called: its level, and its name.
    pub fn title(&self) -> String {
        match self {
            Self::Category(category) => format!("Category: {}", category.title()),
            Self::Operator(name) => format!("Operator: {}", operator_title(name)),
        }
    }

    fn holds(&self, category: Category, op_rows: &[String]) -> bool {
        match self {
            Self::Category(own) => *own == category,
            Self::Operator(name) => op_rows.contains(name),
        }
    }
}

/// Which rows are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Rows of this category or operator alone.
    pub within: Option<FilterGroup>,
    /// Words that a row has to have, with stars for anything; empty for all rows.
    pub words: String,
    /// The least share, from 0 to 1.
    pub over: f64,
    /// At most so many rows.
    pub top: Option<usize>,
}

impl Filter {
    /// All rows.
    pub const NONE: Self = Self {
        within: None,
        words: String::new(),
        over: 0.0,
        top: None,
    };

    /// Whether it leaves all rows.
    pub fn is_none(&self) -> bool {
        self.words.trim().is_empty()
            && self.over <= 0.0
            && self.top.is_none()
            && self.within.is_none()
    }

    /// Whether it leaves what is of a category and in some rows of operators.
    pub(crate) fn admits(&self, category: Category, op_rows: &[String]) -> bool {
        let within = self.within.as_ref();
        within.is_none_or(|within| within.holds(category, op_rows))
    }
}

/// The rows that pass a filter, and the number of hidden ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FilteredRows {
    /// Places among the rows, in their order.
    pub rows: Vec<usize>,
    /// Their time together, in nanoseconds.
    pub total_ns: u64,
    /// How many rows are left out.
    pub hidden: usize,
}

impl Breakdown {
    /// The rows that pass a filter.
    pub fn filtered_rows(&self, filter: &Filter) -> FilteredRows {
        let passes = |row: &BreakdownRow| {
            row.share >= filter.over
                && filter.admits(row.category, &row.op_rows)
                && row.matches_text(&filter.words)
        };
        let rows = self.rows.iter().enumerate();
        let rows = rows.filter(|(_, row)| passes(row)).map(|(place, _)| place);
        self.filtered_from(rows.take(filter.top.unwrap_or(usize::MAX)).collect())
    }

    /// Rows of some categories.
    pub fn rows_of_categories(&self, categories: &BTreeSet<Category>) -> FilteredRows {
        let rows = self.rows.iter().enumerate();
        let rows = rows.filter(|(_, row)| categories.contains(&row.category));
        self.filtered_from(rows.map(|(place, _)| place).collect())
    }

    fn filtered_from(&self, rows: Vec<usize>) -> FilteredRows {
        let total = |place: &usize| self.rows.get(*place).map_or(0, |row| row.total_ns);
        FilteredRows {
            total_ns: rows.iter().map(total).sum(),
            hidden: self.rows.len() - rows.len(),
            rows,
        }
    }

    /// The share of some categories together, from 0 to 1; only where rows are categories or kernels.
    pub fn share_of(&self, categories: &[Category]) -> f64 {
        let rows = self.rows.iter();
        let found = rows.filter(|row| categories.contains(&row.category));
        found.map(|row| row.share).sum()
    }

    /// The title of the time in which something ran: `CPU busy`.
    pub fn busy_title(&self) -> String {
        format!("{} busy", self.device_kind)
    }

    /// The title of the time in which nothing ran: `CPU idle`.
    pub fn idle_title(&self) -> String {
        format!("{} idle", self.device_kind)
    }

    /// The share of everything that some of its time is, from 0 to 1.
    pub fn share_of_all(&self, ns: f64) -> f64 {
        ns / self.summed_ns.unwrap_or(0).max(1) as f64
    }

    /// A time for each run, where it is known how many there were.
    pub fn per_run(&self, ns: f64) -> Option<f64> {
        Some(ns / self.runs?.count as f64)
    }

    /// A time as it is shown: of a run or a step, or in total.
    pub fn shown_ns(&self, ns: f64, times: Times) -> f64 {
        ns / times.divisor(self.runs)
    }

    /// The host's time of a kind, in nanoseconds.
    pub fn host_ns(&self, kind: SliceKind) -> Option<u64> {
        let found = self.host.iter().find(|(known, _)| *known == kind);
        found.map(|(_, ns)| *ns)
    }
}

/// Where the time of a profile went.
pub fn profile_breakdown(profile: &Profile, rules: &Rules, level: BreakdownLevel) -> Breakdown {
    let scope = Scope::from_profile(profile);
    // What lies between starts says nothing of when the card computed.
    let is_of_card = scope != Scope::NodeLaunches;
    let totals = || {
        profile
            .totals
            .iter()
            .filter(|total| scope.includes(total.kind))
    };
    let summed_ns: u64 = totals().map(|total| total.total_ns).sum();
    let mut groups: BTreeMap<(String, Category, SliceKind), Group<'_>> = BTreeMap::new();
    for total in totals() {
        let category = rules.categorise(total);
        match groups.entry(key(total, category, level)) {
            Entry::Vacant(place) => {
                place.insert(Group::default()).add(total, category);
            }
            Entry::Occupied(mut place) => place.get_mut().add(total, category),
        }
    }
    let mut rows: Vec<BreakdownRow> = groups
        .into_iter()
        .map(|((name, ..), group)| group.row(name, summed_ns))
        .collect();
    rows.sort_by(|a, b| {
        b.total_ns
            .cmp(&a.total_ns)
            .then_with(|| a.name.cmp(&b.name))
    });
    if level == BreakdownLevel::Kernel {
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        let shorts = kernel_name::short_names(&names);
        for (row, short) in rows.iter_mut().zip(shorts) {
            row.short = short;
        }
    }
    Breakdown {
        scope,
        level,
        summed_ns: (!rows.is_empty()).then_some(summed_ns),
        calls: (!rows.is_empty()).then(|| totals().map(|total| total.calls).sum()),
        device_kind: profile.device_kind(),
        busy: busy(profile).filter(|_| is_of_card),
        gaps: if is_of_card {
            gaps(profile)
        } else {
            Vec::new()
        },
        launches: profile.launches.clone(),
        host: host(profile, scope),
        between_nodes_ns: between_nodes(profile).filter(|_| is_of_card),
        runs: ProfileRuns::from_profile(profile),
        has_operators: totals().any(|total| !operator_name(total).is_empty()),
        rows,
    }
}

/// What runtimes call a whole run, with its nodes in it.
pub(crate) const MODEL_RUN: &str = "model_run";

/// What is left of whole runs beside their nodes. Nodes side by side may take longer than their run, and
/// then nothing is left.
fn between_nodes(profile: &Profile) -> Option<u64> {
    let mut ranges = profile.of_kind(SliceKind::Range);
    let runs = ranges.find(|total| total.name == MODEL_RUN)?;
    Some(
        runs.total_ns
            .saturating_sub(profile.summed_ns(SliceKind::Kernel)),
    )
}

/// The name under which a total is added up. A kernel that two operators of different categories use is two rows.
pub(crate) fn key(
    total: &Total,
    category: Category,
    level: BreakdownLevel,
) -> (String, Category, SliceKind) {
    match level {
        BreakdownLevel::Category => (category.title().to_owned(), category, SliceKind::Other),
        BreakdownLevel::Kernel => (total.name.clone(), category, total.kind),
        BreakdownLevel::Operator => {
            let op = operator_row(total).to_owned();
            (op, Category::Other, SliceKind::Other)
        }
    }
}

/// The name of the row of operators that a name is in.
pub(crate) fn operator_row(total: &Total) -> &str {
    match operator_name(total) {
        "" if total.kind == SliceKind::Copy => "copies",
        "" if total.kind == SliceKind::Set => "sets of memory",
        "" => UNKNOWN_OPERATOR,
        op => op,
    }
}

/// What people read of the name of a row of operators.
pub(crate) fn operator_title(name: &str) -> &str {
    match name {
        UNKNOWN_OPERATOR => "operator not known",
        name => name,
    }
}

/// The operator of a name, which may be one itself.
pub fn operator_name(total: &Total) -> &str {
    if total.op.is_empty() && total.kind == SliceKind::Operator {
        return &total.name;
    }
    &total.op
}

/// Names that make one row.
#[derive(Default)]
struct Group<'a> {
    totals: Vec<&'a Total>,
    categories: BTreeMap<Category, u64>,
}

impl<'a> Group<'a> {
    fn add(&mut self, total: &'a Total, category: Category) {
        *self.categories.entry(category).or_default() += total.total_ns;
        self.totals.push(total);
    }

    fn row(mut self, name: String, summed_ns: u64) -> BreakdownRow {
        self.totals
            .sort_by_key(|total| std::cmp::Reverse(total.total_ns));
        let most = self.categories.iter().max_by_key(|(_, ns)| **ns);
        let total_ns: u64 = self.totals.iter().map(|total| total.total_ns).sum();
        let each_once = |words: &dyn Fn(&'a Total) -> &'a str| {
            let mut found: Vec<String> = Vec::new();
            for word in self.totals.iter().map(|total| words(total)) {
                if !word.is_empty() && !found.iter().any(|known| known == word) {
                    found.push(word.to_owned());
                }
            }
            found
        };
        let ends = |end: &dyn Fn(&Total) -> Option<u64>| -> Option<Vec<u64>> {
            self.totals.iter().map(|total| end(total)).collect()
        };
        BreakdownRow {
            short: operator_title(&name).to_owned(),
            name,
            category: most.map_or(Category::Other, |(category, _)| *category),
            ops: each_once(&operator_name),
            op_rows: each_once(&operator_row),
            places: each_once(&|total| &total.place),
            names: each_once(&|total| &total.name).len(),
            calls: self.totals.iter().map(|total| total.calls).sum(),
            share: share(total_ns, summed_ns),
            total_ns,
            min_ns: ends(&|total| total.min_ns).and_then(|all| all.into_iter().min()),
            max_ns: ends(&|total| total.max_ns).and_then(|all| all.into_iter().max()),
            limit: None,
        }
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    part as f64 / whole as f64
}

fn busy(profile: &Profile) -> Option<Busy> {
    let busy_ns = profile.busy_ns()?;
    let spans = profile.devices.iter().map(|device| device.span_ns);
    Some(Busy {
        busy_ns,
        span_ns: spans.sum(),
    })
}

fn gaps(profile: &Profile) -> Vec<Gap> {
    let devices = profile.devices.iter();
    let mut gaps: Vec<Gap> = devices
        .flat_map(|device| {
            device.gaps.iter().map(|&(start_ns, length_ns)| Gap {
                device: device.device.clone(),
                start_ns,
                length_ns,
            })
        })
        .collect();
    gaps.sort_by_key(|gap| std::cmp::Reverse(gap.length_ns));
    gaps.truncate(GAPS);
    gaps
}

fn host(profile: &Profile, scope: Scope) -> Vec<(SliceKind, u64)> {
    const KINDS: [SliceKind; 5] = [
        SliceKind::Operator,
        SliceKind::Call,
        SliceKind::Wait,
        SliceKind::Script,
        SliceKind::Overhead,
    ];
    KINDS
        .into_iter()
        .filter(|kind| !scope.includes(*kind) && profile.of_kind(*kind).next().is_some())
        .map(|kind| (kind, profile.summed_ns(kind)))
        .collect()
}

#[cfg(test)]
mod tests;
