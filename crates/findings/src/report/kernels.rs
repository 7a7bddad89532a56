//! The time of a profile as `kernels` prints it, alone or against another profile.

use super::document::{Block, ReportText};
use super::in_short;
use super::job;
use crate::analysis::breakdown::{Breakdown, FilteredRows};
use crate::analysis::counters;
use crate::analysis::kernel_comparison::{KernelComparison, KernelEntry};
use crate::analysis::limits::Limits;
use crate::tables::{self, view::TableView};
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::profile::{Counter, Profile};

/// Longest name in a table, in characters.
const NAME: usize = 52;
/// Gaps that are listed.
const GAPS: usize = 3;
/// Removed or added names that are listed.
const NAMES: usize = 5;

/// One profile: its sums, the rows that are shown, these hardware counters, and what limits it.
pub fn breakdown(
    profile: &Profile,
    found: &Breakdown,
    shown: &FilteredRows,
    counters: Vec<Block>,
    limits: &Limits,
) -> Vec<Vec<Block>> {
    let version = profile.tool.version.as_deref().unwrap_or_default();
    let tool = format!("{} {version}", profile.tool.name);
    let name = format!("{}, {}", profile.name, tool.trim());
    let head = vec![Block::paragraph(name), Block::Facts(sums(found))];
    let (mut rows, mut counters) = (rows(found, shown), counters);
    // Behind the last table.
    let last = if counters.is_empty() {
        &mut rows
    } else {
        &mut counters
    };
    last.extend(Block::list(&profile.notes));
    vec![
        head,
        job::blocks(profile),
        rows,
        counters,
        in_short::profile_limits(limits),
    ]
}

/// The rows that are shown, and how many are not.
fn rows(found: &Breakdown, shown: &FilteredRows) -> Vec<Block> {
    if shown.rows.is_empty() {
        return nothing_matches(shown.hidden);
    }
    let view = TableView::new(tables::kernels::of_breakdown(found, &shown.rows));
    let view = view.without_empty_columns().shortened(NAME);
    let share = humanize::percent(found.share_of_all(shown.total_ns as f64));
    let left_out = left_out(shown.hidden, "row", &format!("; those above are {share}"));
    [view.to_block()].into_iter().chain(left_out).collect()
}

/// The hardware counters, a row for each kernel and counter: those that have the words, at most so many.
pub fn counters(profile: &Profile, words: &str, top: usize) -> Vec<Block> {
    let counters = profile.counters.iter();
    let fitting: Vec<Counter> = counters
        .filter(|counter| counters::matches_text(counter, words))
        .cloned()
        .collect();
    if fitting.is_empty() {
        return Vec::new();
    }
    let shown = &fitting[..top.min(fitting.len())];
    let view = TableView::new(tables::counters::of_counters(shown)).shortened(NAME);
    let left_out = left_out(fitting.len() - shown.len(), "counter", "");
    [view.to_block()].into_iter().chain(left_out).collect()
}

fn left_out(hidden: usize, what: &str, more: &str) -> Option<Block> {
    let hidden = (hidden > 0).then(|| humanize::pluralised(hidden as u64, what))?;
    Some(Block::paragraph(format!("{hidden} left out{more}")))
}

/// What stands in place of a table without rows, where there are rows.
fn nothing_matches(hidden: usize) -> Vec<Block> {
    if hidden == 0 {
        return Vec::new();
    }
    let hidden = humanize::pluralised(hidden as u64, "row");
    let text = format!("Nothing matches the filter; {hidden} left out.");
    vec![Block::paragraph(text)]
}

/// The sums of a profile, each with its name.
fn sums(found: &Breakdown) -> Vec<(String, ReportText)> {
    let time = |ns: u64| humanize::duration_ns(ns as f64);
    let sum = match found.summed_ns.zip(found.calls) {
        Some((summed_ns, calls)) => format!(
            "{} in {} ({})",
            time(summed_ns),
            humanize::pluralised(calls, "call"),
            found.scope.title()
        ),
        None => format!("{UNKNOWN} (the profile has no times)"),
    };
    let per_run = found.summed_ns.and_then(|ns| found.per_run(ns as f64));
    let per_run = per_run.zip(found.runs).map(|(ns, runs)| {
        let (per, count) = (runs.per(), humanize::pluralised(runs.count, runs.word()));
        format!(", {} {per} of {count}", humanize::duration_ns(ns))
    });
    let busy = found.busy.map(|busy| {
        let idle = or_unknown(busy.idle_share(), humanize::percent);
        format!(
            "{} of {}, {} {idle}",
            time(busy.busy_ns),
            time(busy.span_ns),
            found.idle_title()
        )
    });
    let gaps = found.gaps.iter().take(GAPS).map(|gap| {
        let (length, start) = (time(gap.length_ns), time(gap.start_ns));
        format!("{length} at {start} on {}", gap.device)
    });
    let launches = found.launches.as_ref().map(|launches| {
        format!(
            "{}, {} CPU time, launch delay {}",
            humanize::count(launches.count),
            time(launches.calls_ns),
            time(launches.delay_ns)
        )
    });
    let between = found.between_nodes_ns;
    let between = between.map(|ns| format!("{} of the runs is between nodes", time(ns)));
    let host = found.host.iter();
    let host = host.map(|(kind, ns)| format!("{} {}", kind.title(), time(*ns)));
    let joined =
        |texts: Vec<String>, separator: &str| (!texts.is_empty()).then(|| texts.join(separator));
    let busy_title = found.busy_title();
    let facts = [
        (
            found.scope.sum_title(),
            Some(sum + &per_run.unwrap_or_default()),
        ),
        (&*busy_title, busy),
        ("Gaps", joined(gaps.collect(), "; ")),
        ("Launches", launches),
        ("CPU time", between),
        ("CPU time", joined(host.collect(), ", ")),
    ];
    let facts = facts.into_iter();
    facts
        .filter_map(|(name, text)| Some((name.to_owned(), text?.into())))
        .collect()
}

/// Two profiles, with the rows in these places.
pub fn comparison(
    before: &Profile,
    after: &Profile,
    found: &KernelComparison,
    rows: &[usize],
) -> Vec<Vec<Block>> {
    let per = found.per().map(|per| format!(" {per}"));
    let names = format!("{} → {}", before.name, after.name);
    let times = format!(
        "{} → {}{}, {}",
        or_unknown(found.before_ns, humanize::duration_ns),
        or_unknown(found.after_ns, humanize::duration_ns),
        per.unwrap_or_default(),
        or_unknown(found.difference_ns(), humanize::time_change)
    );
    let hidden = found.rows.len() - rows.len();
    let table = if rows.is_empty() {
        nothing_matches(hidden)
    } else {
        let table = tables::kernel_changes::of_comparison(found, rows);
        let view = TableView::new(table).columns(&tables::kernel_changes::ON_TERMINAL);
        let table = view.shortened(NAME).to_block();
        [table]
            .into_iter()
            .chain(left_out(hidden, "row", ""))
            .collect()
    };
    let wall = (!found.wall.is_empty()).then(|| {
        let table = tables::wall_changes::of_wall_changes(found);
        TableView::new(table).to_block()
    });
    let names_changed = [("Removed", &found.removed), ("Added", &found.added)];
    let names_changed = names_changed
        .into_iter()
        .filter_map(|(title, entries)| entry_names(title, entries));
    vec![
        [names, times].map(Block::paragraph).to_vec(),
        wall.into_iter().collect(),
        table,
        names_changed.chain(Block::list(&found.notes)).collect(),
    ]
}

fn entry_names(title: &str, entries: &[KernelEntry]) -> Option<Block> {
    let some = entries.iter().take(NAMES).map(|entry| {
        let name = humanize::shorten(&entry.short, NAME);
        format!("{name} ({})", humanize::duration_ns(entry.ns))
    });
    let some: Vec<String> = some.collect();
    let more = match entries.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let count = humanize::pluralised(entries.len() as u64, "name");
    let text = format!("{title}: {count}: {}{more}", some.join(", "));
    (!entries.is_empty()).then(|| Block::paragraph(text))
}

fn or_unknown(value: Option<f64>, in_words: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), in_words)
}
