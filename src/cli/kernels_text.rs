//! The time of a profile, as text.

use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::profile::{Counter, Profile};
use powerband_findings::analysis::breakdown::{Breakdown, FilteredRows};
use powerband_findings::analysis::counters;
use powerband_findings::analysis::kernel_comparison::{KernelComparison, KernelEntry};
use powerband_findings::tables::{self, view::TableView};

/// Longest name in a table, in characters.
const NAME: usize = 52;
/// Gaps that are listed.
const GAPS: usize = 3;
/// Removed or added names that are listed.
const NAMES: usize = 5;

/// One profile, with its hardware counters.
pub(super) fn breakdown(
    profile: &Profile,
    found: &Breakdown,
    shown: &FilteredRows,
    counters: &str,
) -> String {
    let mut text = header_text(profile, found);
    if shown.rows.is_empty() && shown.hidden > 0 {
        text.push_str(&nothing_matches(shown.hidden));
    } else if !found.rows.is_empty() {
        text.push_str(&rows_table(found, shown));
    }
    if !counters.is_empty() && !found.rows.is_empty() {
        text.push('\n');
    }
    text.push_str(counters);
    text.push_str(&notes(profile));
    text
}

/// The rows that are shown, and how many are not.
fn rows_table(found: &Breakdown, shown: &FilteredRows) -> String {
    let table = tables::kernels::of_breakdown(found, &shown.rows);
    let mut text = TableView::new(table)
        .without_empty_columns()
        .shortened(NAME)
        .to_text();
    if shown.hidden > 0 {
        let share = found.share_of_all(shown.total_ns as f64);
        text.push_str(&format!(
            "{} left out; those above are {}\n",
            humanize::pluralised(shown.hidden as u64, "row"),
            humanize::percent(share)
        ));
    }
    text
}

/// The hardware counters, a row for each kernel and counter: those that have the words, at most so many.
pub(super) fn counters(profile: &Profile, words: &str, top: usize) -> String {
    let fitting: Vec<&Counter> = (profile.counters.iter())
        .filter(|counter| counters::matches_text(counter, words))
        .collect();
    if fitting.is_empty() {
        return String::new();
    }
    let told: Vec<Counter> = fitting.iter().take(top).copied().cloned().collect();
    let mut text = TableView::new(tables::counters::of_counters(&told))
        .shortened(NAME)
        .to_text();
    let hidden = fitting.len() - told.len();
    if hidden > 0 {
        let hidden = humanize::pluralised(hidden as u64, "counter");
        text.push_str(&format!("{hidden} left out\n"));
    }
    text
}

fn notes(profile: &Profile) -> String {
    let mut text = String::new();
    for note in &profile.notes {
        text.push_str(&format!("· {note}\n"));
    }
    text
}

/// The text in place of a table without rows.
fn nothing_matches(hidden: usize) -> String {
    format!(
        "Nothing matches the filter; {} left out.\n",
        humanize::pluralised(hidden as u64, "row")
    )
}

fn header_text(profile: &Profile, found: &Breakdown) -> String {
    let time = |ns: u64| humanize::duration_ns(ns as f64);
    let version = profile.tool.version.as_deref().unwrap_or_default();
    let tool = format!("{} {version}", profile.tool.name);
    let mut text = format!("{}, {}\n", profile.name, tool.trim());
    match found.summed_ns.zip(found.calls) {
        Some((summed_ns, calls)) => text.push_str(&format!(
            "{:<17}  {} in {} ({})",
            found.scope.sum_title(),
            time(summed_ns),
            humanize::pluralised(calls, "call"),
            found.scope.title()
        )),
        None => text.push_str(&format!(
            "{:<17}  {UNKNOWN} (the profile has no times)",
            found.scope.sum_title()
        )),
    }
    let per_run = found.summed_ns.and_then(|ns| found.per_run(ns as f64));
    if let Some((ns, runs)) = per_run.zip(found.runs) {
        let (per, count) = (runs.per(), humanize::pluralised(runs.count, runs.word()));
        text.push_str(&format!(", {} {per} of {count}", humanize::duration_ns(ns)));
    }
    text.push('\n');
    if let Some(busy) = found.busy {
        let idle = busy
            .idle_share()
            .map_or_else(|| UNKNOWN.to_owned(), humanize::percent);
        text.push_str(&format!(
            "{:<17}  {} of {}, {} {idle}\n",
            found.busy_title(),
            time(busy.busy_ns),
            time(busy.span_ns),
            found.idle_title()
        ));
    }
    let gaps: Vec<String> = found
        .gaps
        .iter()
        .take(GAPS)
        .map(|gap| {
            format!(
                "{} at {} on {}",
                time(gap.length_ns),
                time(gap.start_ns),
                gap.device
            )
        })
        .collect();
    if !gaps.is_empty() {
        text.push_str(&format!("Gaps               {}\n", gaps.join("; ")));
    }
    if let Some(launches) = &found.launches {
        text.push_str(&format!(
            "Launches           {}, {} CPU time, launch delay {}\n",
            humanize::count(launches.count),
            time(launches.calls_ns),
            time(launches.delay_ns)
        ));
    }
    let host: Vec<String> = found
        .host
        .iter()
        .map(|(kind, ns)| format!("{} {}", kind.title(), time(*ns)))
        .collect();
    if let Some(ns) = found.between_nodes_ns {
        text.push_str(&format!(
            "CPU time           {} of the runs is between nodes\n",
            humanize::duration_ns(ns as f64)
        ));
    }
    if !host.is_empty() {
        text.push_str(&format!("CPU time           {}\n", host.join(", ")));
    }
    text.push('\n');
    text
}

/// Two profiles.
pub(super) fn comparison(
    before: &Profile,
    after: &Profile,
    found: &KernelComparison,
    rows: &[usize],
) -> String {
    let per = found
        .per()
        .map_or_else(String::new, |per| format!(" {per}"));
    let mut text = format!(
        "{} → {}\n{} → {}{per}, {}\n\n",
        before.name,
        after.name,
        or_unknown(found.before_ns, humanize::duration_ns),
        or_unknown(found.after_ns, humanize::duration_ns),
        or_unknown(found.difference_ns(), humanize::time_change)
    );
    let hidden = found.rows.len() - rows.len();
    if rows.is_empty() && hidden > 0 {
        text.push_str(&nothing_matches(hidden));
    } else if !rows.is_empty() {
        let table = tables::kernel_changes::of_comparison(found, rows);
        let view = TableView::new(table).columns(&tables::kernel_changes::ON_TERMINAL);
        text.push_str(&view.shortened(NAME).to_text());
    }
    if hidden > 0 && !rows.is_empty() {
        text.push_str(&format!(
            "{} left out\n",
            humanize::pluralised(hidden as u64, "row")
        ));
    }
    text.push('\n');
    text.push_str(&names("Removed", &found.removed));
    text.push_str(&names("Added", &found.added));
    for note in &found.notes {
        text.push_str(&format!("· {note}\n"));
    }
    text
}

fn names(title: &str, members: &[KernelEntry]) -> String {
    if members.is_empty() {
        return String::new();
    }
    let some: Vec<String> = members
        .iter()
        .take(NAMES)
        .map(|member| {
            format!(
                "{} ({})",
                humanize::shorten(&member.short, NAME),
                humanize::duration_ns(member.ns)
            )
        })
        .collect();
    let more = members.len().saturating_sub(NAMES);
    let more = if more > 0 {
        format!(", and {more} more")
    } else {
        String::new()
    };
    let count = humanize::pluralised(members.len() as u64, "name");
    format!("{title}: {count}: {}{more}\n", some.join(", "))
}

fn or_unknown(ns: Option<f64>, in_words: impl Fn(f64) -> String) -> String {
    ns.map_or_else(|| UNKNOWN.to_owned(), in_words)
}
