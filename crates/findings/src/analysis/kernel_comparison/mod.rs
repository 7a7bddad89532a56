//! Two profiles side by side: what got faster, what was added and what was removed.
//!
//! Names are matched in four steps: by the whole name, by what it is without sizes and types, by the
//! operator, by the category. What one step matches, the next ones do not see, so that every unit of time
//! of either side is in exactly one row and the differences add up to the whole.

mod memory_changes;
mod wall_changes;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

pub use wall_changes::WallChange;
use wall_changes::wall_changes;

use super::breakdown::Filter;
use super::breakdown::{self, BreakdownLevel, Scope};
use super::category::{Category, Rules, has_all_words};
use super::kernel_name::{self, KernelName};
use super::profile_runs::{ProfileRuns, Times};
use powerband_core::domain::profile::{Profile, Total};
use powerband_core::domain::trace::SliceKind;

/// The whole difference has to be this share of either side before rows are given shares of it.
const WORTH_SHARING: f64 = 0.005;

/// How the two sides of a row were matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matched {
    /// By the whole name.
    Name,
    /// By the name without sizes and types.
    Base,
    /// By the operator that they carry out.
    Operator,
    /// By the category.
    Category,
    /// Not at all: it is on one side only.
    Alone,
}

impl Matched {
    pub fn title(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Base => "base name",
            Self::Operator => "operator",
            Self::Category => "category",
            Self::Alone => "nothing",
        }
    }
}

/// How a row changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelChange {
    /// It is on both sides.
    Changed,
    /// It is on the after side only.
    #[serde(rename = "appeared")]
    Added,
    /// It is on the before side only.
    #[serde(rename = "went")]
    Removed,
}

impl KernelChange {
    pub fn title(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

/// A kernel or an operator on one side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelEntry {
    /// Its whole name.
    pub name: String,
    /// What people read of it.
    #[serde(skip)]
    pub short: String,
    /// How often, for each run where both sides know their runs.
    pub calls: f64,
    /// Its time, for each run where both sides know their runs, in nanoseconds.
    #[serde(rename = "total_ns")]
    pub ns: f64,
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelDiffRow {
    /// What its two sides have in common.
    pub title: String,
    /// Its category; of several, that of most of its time.
    pub category: Category,
    /// The rows of operators that its time is in.
    pub op_rows: Vec<String>,
    pub matched: Matched,
    /// What is on the before side, most time first.
    pub before: Vec<KernelEntry>,
    /// What is on the after side, most time first.
    pub after: Vec<KernelEntry>,
}

impl KernelDiffRow {
    /// The time before, in nanoseconds.
    pub fn before_ns(&self) -> f64 {
        self.before.iter().map(|member| member.ns).sum()
    }

    /// The time after, in nanoseconds.
    pub fn after_ns(&self) -> f64 {
        self.after.iter().map(|member| member.ns).sum()
    }

    /// The time after without the time before, in nanoseconds.
    pub fn difference_ns(&self) -> f64 {
        self.after_ns() - self.before_ns()
    }

    pub fn change(&self) -> KernelChange {
        match (self.before.is_empty(), self.after.is_empty()) {
            (true, _) => KernelChange::Added,
            (_, true) => KernelChange::Removed,
            _ => KernelChange::Changed,
        }
    }
}

/// Two profiles side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelComparison {
    /// Rows, those that make most of the difference first.
    pub rows: Vec<KernelDiffRow>,
    /// All time before, in nanoseconds; nothing where that profile has no times.
    pub before_ns: Option<f64>,
    /// All time after, in nanoseconds; nothing where that profile has no times.
    pub after_ns: Option<f64>,
    /// The runs or steps that times are divided by, before and after; nothing where they are those of the
    /// whole profiles.
    pub runs: Option<[ProfileRuns; 2]>,
    /// Where the difference of the wall time went; none where that of one side cannot be taken apart.
    pub wall: Vec<WallChange>,
    /// Warnings about the comparison.
    pub notes: Vec<String>,
    /// Removed names, most time first.
    pub removed: Vec<KernelEntry>,
    /// Added names, most time first.
    pub added: Vec<KernelEntry>,
}

impl KernelComparison {
    /// Places of the rows that have the filter's words in a name of either side, and on either side at
    /// least its share of the larger whole.
    pub fn shown(&self, filter: &Filter) -> Vec<usize> {
        let least = filter.over * self.larger_ns();
        let passes = |row: &KernelDiffRow| {
            let members = row.before.iter().chain(&row.after);
            let names: Vec<&str> = members.map(|member| member.name.as_str()).collect();
            let text = format!("{} {} {}", row.title, row.category.title(), names.join(" "));
            row.before_ns().max(row.after_ns()) >= least
                && filter.admits(row.category, &row.op_rows)
                && has_all_words(&text, &filter.words)
        };
        let rows = self.rows.iter().enumerate();
        let places = rows.filter(|(_, row)| passes(row)).map(|(place, _)| place);
        places.take(filter.top.unwrap_or(usize::MAX)).collect()
    }

    /// Whether times are those of a run or a step; else of the whole profile.
    pub fn is_per_run(&self) -> bool {
        self.runs.is_some()
    }

    /// The unit of its times: per run, per step, or nothing for those of whole profiles.
    pub fn per(&self) -> Option<&'static str> {
        let [before, after] = self.runs?;
        Some(if before.per() == after.per() {
            after.per()
        } else {
            "per run or step"
        })
    }

    /// The whole difference, in nanoseconds, where both sides have times.
    pub fn difference_ns(&self) -> Option<f64> {
        Some(self.after_ns? - self.before_ns?)
    }

    /// The time of the side that has more, in nanoseconds.
    pub fn larger_ns(&self) -> f64 {
        let sides = [self.before_ns, self.after_ns];
        sides.into_iter().flatten().fold(0.0, f64::max)
    }

    /// What a row contributes to the whole difference, as a share of it: below zero where it goes the
    /// other way. Nothing where the two are as good as equal.
    pub fn contribution(&self, row: &KernelDiffRow) -> Option<f64> {
        let whole = self.difference_ns()?;
        let is_much = whole.abs() >= WORTH_SHARING * self.larger_ns();
        (is_much && whole != 0.0).then(|| row.difference_ns() / whole)
    }
}

/// Compares two profiles: a run or a step of each, where both know how many they cover.
pub fn compare_profiles(before: &Profile, after: &Profile, rules: &Rules) -> KernelComparison {
    let runs = [
        ProfileRuns::from_profile(before),
        ProfileRuns::from_profile(after),
    ];
    compare_over_runs((before, after), rules, runs, Times::PerRun)
}

/// The same with a row for each category, operator or kernel of either side.
pub fn compare_by_level(
    before: &Profile,
    after: &Profile,
    rules: &Rules,
    level: BreakdownLevel,
) -> KernelComparison {
    let runs = [
        ProfileRuns::from_profile(before),
        ProfileRuns::from_profile(after),
    ];
    compare_rows((before, after), rules, runs, Times::PerRun, &|parts| {
        rows_by(level, parts)
    })
}

/// Compares two profiles that cover these runs, before and after.
pub fn compare_over_runs(
    profiles: (&Profile, &Profile),
    rules: &Rules,
    runs: [Option<ProfileRuns>; 2],
    times: Times,
) -> KernelComparison {
    compare_rows(profiles, rules, runs, times, &|mut parts| {
        let steps = [
            Matched::Name,
            Matched::Base,
            Matched::Operator,
            Matched::Category,
            Matched::Alone,
        ];
        let rows = steps.map(|matched| match_by(matched, &mut parts));
        rows.into_iter().flatten().collect()
    })
}

/// Compares two profiles, whose parts become rows in some way.
fn compare_rows(
    (before, after): (&Profile, &Profile),
    rules: &Rules,
    runs: [Option<ProfileRuns>; 2],
    times: Times,
    rows_of: &dyn Fn([Vec<SideTotal>; 2]) -> Vec<KernelDiffRow>,
) -> KernelComparison {
    let known = runs[0].zip(runs[1]).map(|(before, after)| [before, after]);
    let both = known.filter(|_| times == Times::PerRun);
    let divisors = [0, 1].map(|side| both.map_or(1, |runs| runs[side].count));
    let parts = [
        parts(before, rules, divisors[0]),
        parts(after, rules, divisors[1]),
    ];
    let [before_ns, after_ns] = [0, 1].map(|side| total_ns(&parts[side]));
    if before_ns.is_none() || after_ns.is_none() {
        return KernelComparison {
            before_ns,
            after_ns,
            runs: both,
            notes: match memory_changes::memory_changes(before, after) {
                changes if changes.is_empty() => vec![without_times(before, before_ns, after)],
                changes => changes,
            },
            ..KernelComparison::default()
        };
    }
    let names = [0, 1].map(|side| members(&parts[side]));
    let [went, appeared] = [(0, 1), (1, 0)].map(|(side, other)| {
        let is_gone = |member: &&KernelEntry| !names[other].iter().any(|m| m.name == member.name);
        names[side].iter().filter(is_gone).cloned().collect()
    });
    let mut rows = rows_of(parts);
    rows.sort_by(|a, b| {
        let by_size = b.difference_ns().abs().total_cmp(&a.difference_ns().abs());
        by_size.then_with(|| a.title.cmp(&b.title))
    });
    KernelComparison {
        rows,
        before_ns,
        after_ns,
        runs: both,
        wall: wall_changes([before, after], divisors.map(|runs| runs as f64)),
        notes: notes(before, after, known.is_some()),
        removed: went,
        added: appeared,
    }
}

/// Everything of one name, category and operator on one side.
#[derive(Clone, Debug)]
struct SideTotal {
    kind: SliceKind,
    name: String,
    family: String,
    op: String,
    op_row: String,
    category: Category,
    calls: f64,
    ns: f64,
}

fn parts(profile: &Profile, rules: &Rules, runs: u64) -> Vec<SideTotal> {
    let scope = Scope::from_profile(profile);
    let totals = profile.totals.iter();
    let totals = totals.filter(|total| scope.includes(total.kind));
    totals
        .map(|total| part(total, rules, runs as f64))
        .collect()
}

fn part(total: &Total, rules: &Rules, runs: f64) -> SideTotal {
    SideTotal {
        kind: total.kind,
        name: total.name.clone(),
        family: KernelName::parse(&total.name).family(),
        op: breakdown::operator_name(total).to_owned(),
        op_row: breakdown::operator_row(total).to_owned(),
        category: rules.categorise(total),
        calls: total.calls as f64 / runs,
        ns: total.total_ns as f64 / runs,
    }
}

/// All time of a side; nothing where it has no times.
fn total_ns(parts: &[SideTotal]) -> Option<f64> {
    (!parts.is_empty()).then(|| parts.iter().map(|part| part.ns).sum())
}

/// Names the side without times: its tool only counted, or recorded memory alone.
fn without_times(before: &Profile, before_ns: Option<f64>, after: &Profile) -> String {
    let which = if before_ns.is_none() { before } else { after };
    format!(
        "{} has no times, so there is nothing to compare.",
        which.name
    )
}

/// The key by which totals match in a matching step; `None` where they have none. Copies match copies only,
/// except by category.
fn key(part: &SideTotal, matched: Matched) -> Option<String> {
    let place = if matches!(part.kind, SliceKind::Copy | SliceKind::Set) {
        "moved"
    } else {
        "worked"
    };
    let word = match matched {
        Matched::Name | Matched::Alone => part.name.clone(),
        Matched::Base => part.family.clone(),
        Matched::Operator => plain_operator(&part.op),
        Matched::Category if part.category == Category::Other => String::new(),
        Matched::Category => return Some(part.category.title().to_owned()),
    };
    // A name may be empty; a base name or an operator without letters matches nothing.
    let tells = matches!(matched, Matched::Name | Matched::Alone) || !word.is_empty();
    tells.then(|| format!("{place} {word}"))
}

/// An operator without the library that it comes from: `aten::add_` and `Add` are one.
pub(crate) fn plain_operator(op: &str) -> String {
    let last = op.rsplit("::").next().unwrap_or(op);
    let letters = last.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Rows of the parts that both sides have in common in a step; they are taken out. The last step takes all
/// that is left.
fn match_by(matched: Matched, parts: &mut [Vec<SideTotal>; 2]) -> Vec<KernelDiffRow> {
    let mut groups: BTreeMap<String, [Vec<SideTotal>; 2]> = BTreeMap::new();
    for (side, parts) in parts.iter_mut().enumerate() {
        let mut left = Vec::new();
        for part in parts.drain(..) {
            match key(&part, matched) {
                Some(key) => groups.entry(key).or_default()[side].push(part),
                None => left.push(part),
            }
        }
        *parts = left;
    }
    let mut rows = Vec::new();
    for group in groups.into_values() {
        let is_matched = group.iter().all(|side| !side.is_empty());
        if is_matched || matched == Matched::Alone {
            rows.push(row(matched, &group));
        } else {
            for (side, left) in parts.iter_mut().zip(group) {
                side.extend(left);
            }
        }
    }
    rows
}

/// A row for each category, operator or kernel.
fn rows_by(level: BreakdownLevel, parts: [Vec<SideTotal>; 2]) -> Vec<KernelDiffRow> {
    let mut groups: BTreeMap<String, [Vec<SideTotal>; 2]> = BTreeMap::new();
    for (side, parts) in parts.into_iter().enumerate() {
        for part in parts {
            let key = match level {
                BreakdownLevel::Category => part.category.title().to_owned(),
                BreakdownLevel::Operator if part.op.is_empty() => part.op_row.clone(),
                BreakdownLevel::Operator => plain_operator(&part.op),
                BreakdownLevel::Kernel => part.name.clone(),
            };
            groups.entry(key).or_default()[side].push(part);
        }
    }
    let row_of = |group: [Vec<SideTotal>; 2]| {
        let is_matched = group.iter().all(|side| !side.is_empty());
        let first = group.iter().flatten().next();
        let operator = first.map_or("", |part| part.op_row.as_str());
        let mut row = row(Matched::Name, &group);
        (row.matched, row.title) = match level {
            BreakdownLevel::Category => (Matched::Category, row.category.title().to_owned()),
            BreakdownLevel::Operator => (
                Matched::Operator,
                breakdown::operator_title(operator).to_owned(),
            ),
            BreakdownLevel::Kernel => (Matched::Name, row.title),
        };
        if !is_matched {
            row.matched = Matched::Alone;
        }
        row
    };
    groups.into_values().map(row_of).collect()
}

fn row(matched: Matched, group: &[Vec<SideTotal>; 2]) -> KernelDiffRow {
    let [before, after] = [0, 1].map(|side| members(&group[side]));
    let mut categories: BTreeMap<Category, f64> = BTreeMap::new();
    for part in group.iter().flatten() {
        *categories.entry(part.category).or_default() += part.ns;
    }
    let most = categories.iter().max_by(|a, b| a.1.total_cmp(b.1));
    let category = most.map_or(Category::Other, |(category, _)| *category);
    let first = group.iter().flatten().next();
    let title = first.map_or_else(String::new, |part| match matched {
        Matched::Name | Matched::Alone => KernelName::parse(&part.name).short(),
        Matched::Base => base_title(part),
        Matched::Operator => part.op.clone(),
        Matched::Category => category.title().to_owned(),
    });
    let op_rows = group.iter().flatten().map(|part| part.op_row.clone());
    let op_rows: BTreeSet<String> = op_rows.collect();
    KernelDiffRow {
        title,
        category,
        op_rows: op_rows.into_iter().collect(),
        matched,
        before,
        after,
    }
}

/// A base name as people read it.
fn base_title(part: &SideTotal) -> String {
    let name = KernelName::parse(&part.name);
    if name.inner.is_some() {
        return name.short();
    }
    let last = part.family.rsplit("::").next();
    last.unwrap_or_default().to_owned()
}

/// Parts added up by name, most time first.
fn members(parts: &[SideTotal]) -> Vec<KernelEntry> {
    let mut found: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for part in parts {
        let (calls, ns) = found.entry(&part.name).or_default();
        *calls += part.calls;
        *ns += part.ns;
    }
    let names: Vec<&str> = found.keys().copied().collect();
    let shorts = kernel_name::short_names(&names);
    let mut members: Vec<KernelEntry> = found
        .into_iter()
        .zip(shorts)
        .map(|((name, (calls, ns)), short)| KernelEntry {
            name: name.to_owned(),
            short,
            calls,
            ns,
        })
        .collect();
    members.sort_by(|a, b| b.ns.total_cmp(&a.ns).then_with(|| a.name.cmp(&b.name)));
    members
}

/// What the times of a profile are times of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimesOrigin {
    /// Kernels on a timeline.
    Kernels,
    /// Nodes, layers or instructions of a runtime.
    Nodes,
    /// Kernels one by one, each played again and again.
    OneByOne,
    /// Operators of a framework, on the host.
    Operators,
}

impl TimesOrigin {
    fn from_profile(profile: &Profile) -> Self {
        let says = format!("{} {}", profile.tool.name, profile.format).to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| says.contains(word));
        if matches!(
            Scope::from_profile(profile),
            Scope::Operators | Scope::NodeLaunches
        ) {
            return Self::Operators;
        }
        if has(&["ncu", "nsight compute", "nsight-compute"]) {
            return Self::OneByOne;
        }
        if has(&[
            "onnx",
            "ort-",
            "tensorrt",
            "trtexec",
            "openvino",
            "migraphx",
            "benchmark_app",
        ]) {
            return Self::Nodes;
        }
        Self::Kernels
    }

    fn title(self) -> &'static str {
        match self {
            Self::Kernels => "kernels on a timeline",
            Self::Nodes => "nodes of a runtime",
            Self::OneByOne => "kernels measured one by one, with locked clocks",
            Self::Operators => "operators on the host",
        }
    }
}

fn notes(before: &Profile, after: &Profile, are_runs_known: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if !are_runs_known {
        notes.push("Times are those of whole profiles, because the number of runs is not known on both sides: a longer profile has more of everything.".to_owned());
    }
    let tools = [&before.tool.name, &after.tool.name].map(|name| name.to_lowercase());
    let is_old = |tool: &str| tool.starts_with("rocprof") && !tool.starts_with("rocprofv");
    let is_new = |tool: &str| tool.starts_with("rocprofv3");
    let [old, new] = &tools;
    if is_old(old) && is_new(new) || is_new(old) && is_old(new) {
        notes.push("One side was profiled by rocprof and one by rocprofv3, which take times differently: differences of a few microseconds per call may come from the tools.".to_owned());
    }
    let natures = [
        TimesOrigin::from_profile(before),
        TimesOrigin::from_profile(after),
    ];
    if natures[0] != natures[1] {
        notes.push(format!(
            "The two sides measure different things: {} before, {} after. At best they share operators and categories.",
            natures[0].title(),
            natures[1].title()
        ));
    }
    notes.extend(memory_changes::memory_changes(before, after));
    notes
}

#[cfg(test)]
mod tests;
