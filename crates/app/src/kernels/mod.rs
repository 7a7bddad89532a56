//! Where the time of an open session's profile went, and what is different in another one.

pub(crate) mod action;
pub(crate) mod commands;
pub(crate) mod palette;
mod update;
pub mod words;
mod work;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

pub use commands::timeline_of_profile;

use super::sessions::{OpenSessions, SessionId};
use powerband_core::base::humanize::UNKNOWN;
use powerband_core::domain::profile::{Counter, Profile};
use powerband_core::domain::session::Session;
use powerband_findings::analysis::breakdown::{Breakdown, Filter, Level, Row, Shown};
use powerband_findings::analysis::kernel_comparison::{self as comparison, Comparison};
use powerband_findings::chart::breakdown::{self as chart, Bar, Step};

/// What is shown of a profile until somebody says something else.
static ALL_ROWS: Filter = Filter::NONE;

/// A profile of an open session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pick {
    /// Which session.
    pub session: SessionId,
    /// The place of the profile in it.
    pub profile: usize,
}

/// How the time is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// A bar for each row.
    #[default]
    Bars,
    /// Areas.
    Treemap,
}

/// What is looked for: a profile, another one before it, and by which rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The profile.
    pub after: Pick,
    /// The one that it is compared with.
    pub before: Option<Pick>,
    /// How often the rules have changed.
    pub rules: u32,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// What was looked for.
    pub wanted: Wanted,
    /// The session of the profile, as it was then.
    pub session: Arc<Session>,
    /// The session of the one before, as it was then.
    pub before: Option<Arc<Session>>,
    /// By category, by operator, by kernel.
    pub breakdowns: [Breakdown; 3],
    /// Against the one before.
    pub comparison: Option<Comparison>,
    /// The user's own rules.
    pub own: Vec<(String, String)>,
    /// What of them made no sense.
    pub objections: Vec<String>,
}

impl Found {
    /// The profile.
    pub fn profile(&self) -> Option<&Profile> {
        self.session.profiles.get(self.wanted.after.profile)
    }

    /// At a level.
    pub fn at(&self, level: Level) -> &Breakdown {
        let place = Level::ALL.iter().position(|known| *known == level);
        &self.breakdowns[place.unwrap_or(0)]
    }
}

/// Where the timeline of a profile lies, or why there is none to be opened.
pub(crate) fn trace_path(sessions: &OpenSessions, pick: Pick) -> Result<PathBuf, &'static str> {
    let trace = profile(sessions, pick).and_then(|profile| profile.trace_file.as_ref());
    let trace = trace.ok_or("the profile has sums alone, and no timeline")?;
    let session = sessions
        .get(pick.session)
        .and_then(|open| open.path.as_ref());
    let beside = session.map_or_else(|| PathBuf::from(trace), |path| path.with_file_name(trace));
    if beside.is_file() {
        Ok(beside)
    } else {
        Err("the timeline's file is gone; it lay beside the session")
    }
}

/// The kernels screen.
#[derive(Debug, Default)]
pub struct KernelsState {
    /// The profile that is shown.
    pub looking: Option<Pick>,
    /// The one that it is compared with.
    pub before: Option<Pick>,
    /// Whether the user chose the profile; until then it is the first.
    pub is_chosen: bool,
    /// What a row stands for.
    pub level: Level,
    /// How the time is drawn.
    pub shape: Shape,
    /// Which rows are shown of each profile that not all are shown of.
    filters: BTreeMap<Pick, Filter>,
    /// The column that the table is sorted by, and whether it falls.
    pub sort: Option<(usize, bool)>,
    /// The same of the counters.
    pub counter_sort: Option<(usize, bool)>,
    /// What was found, once it was.
    pub result: Option<Found>,
    /// What is looked for now.
    pub busy: Option<Wanted>,
    /// How often the rules have changed.
    pub rules: u32,
    /// What is drawn of it.
    pub drawn: Drawn,
}

/// What is drawn, made when there is something new and not for each frame.
#[derive(Debug, Default)]
pub struct Drawn {
    /// What the filter leaves, by falling time.
    pub shown: Shown,
    /// Bars of that.
    pub bars: Vec<Bar>,
    /// Places of rows in the order of the table; of the comparison where there is one.
    pub table: Vec<usize>,
    /// Bars of the comparison.
    pub changes: Vec<Step>,
    /// Places of counters in the order of their table.
    pub counters: Vec<usize>,
}

/// Every profile of the open sessions.
pub fn picks(open: &OpenSessions) -> Vec<Pick> {
    open.iter()
        .flat_map(|open| {
            (0..open.session.profiles.len()).map(|profile| Pick {
                session: open.id,
                profile,
            })
        })
        .collect()
}

/// The profile that is meant.
pub fn profile(open: &OpenSessions, pick: Pick) -> Option<&Profile> {
    open.get(pick.session)?.session.profiles.get(pick.profile)
}

impl KernelsState {
    /// Keeps to profiles that are there: the one chosen, or the first.
    pub fn settle(&mut self, open: &OpenSessions) {
        let exists = |pick: &Pick| profile(open, *pick).is_some();
        self.filters.retain(|pick, _| exists(pick));
        self.before = self.before.filter(exists);
        let chosen = self.looking.filter(exists);
        self.is_chosen &= chosen.is_some();
        self.looking = chosen
            .filter(|_| self.is_chosen)
            .or_else(|| picks(open).first().copied());
        if self.before == self.looking {
            self.before = None;
        }
        let is_of = |found: &Found| {
            Some(found.wanted.after) == self.looking && found.wanted.before == self.before
        };
        if !self.result.as_ref().is_some_and(is_of) {
            self.result = None;
        }
    }

    /// Which rows of the profile that is shown are shown.
    pub fn filter(&self) -> &Filter {
        let own = self.looking.and_then(|pick| self.filters.get(&pick));
        own.unwrap_or(&ALL_ROWS)
    }

    /// Shows other rows of the profile that is shown. Other profiles keep what is shown of them.
    pub(crate) fn set_filter(&mut self, filter: Filter) {
        let Some(pick) = self.looking else {
            return;
        };
        if filter == Filter::NONE {
            self.filters.remove(&pick);
        } else {
            self.filters.insert(pick, filter);
        }
    }

    /// Before becomes after, and after before: the same two, so that the same rows stay shown.
    pub fn swap(&mut self) {
        let Some(before) = self.before else {
            return;
        };
        let filter = self.filter().clone();
        self.before = self.looking;
        self.looking = Some(before);
        self.is_chosen = true;
        self.set_filter(filter);
    }

    /// Whether no row is shown of what was found: the filter leaves none, or there are none.
    pub fn shows_nothing(&self) -> bool {
        self.result.is_some() && self.drawn.table.is_empty()
    }

    /// What ought to be looked for and is not yet: the sessions may be other ones by now.
    pub fn wanted(&self, open: &OpenSessions) -> Option<Wanted> {
        let wanted = Wanted {
            after: self.looking?,
            before: self.before,
            rules: self.rules,
        };
        let session = |pick: Pick| open.get(pick.session).map(|open| &open.session);
        let is_same = |held: Option<&Arc<Session>>, pick: Option<Pick>| match (
            held,
            pick.and_then(session),
        ) {
            (Some(held), Some(now)) => Arc::ptr_eq(held, now),
            (None, None) => true,
            _ => false,
        };
        let is_found = self.result.as_ref().is_some_and(|found| {
            found.wanted == wanted
                && is_same(Some(&found.session), Some(wanted.after))
                && is_same(found.before.as_ref(), wanted.before)
        });
        (!is_found && self.busy != Some(wanted)).then_some(wanted)
    }

    /// The next way of sorting after a click on a column.
    pub fn sort_by(&mut self, column: usize) {
        self.sort = next_sort(self.sort, column);
    }

    /// The same for the counters.
    pub(crate) fn sort_counters_by(&mut self, column: usize) {
        self.counter_sort = next_sort(self.counter_sort, column);
    }

    /// Makes what is drawn anew.
    pub(crate) fn redraw(&mut self) {
        let Some(found) = &self.result else {
            self.drawn = Drawn::default();
            return;
        };
        let breakdown = found.at(self.level);
        let shown = breakdown.shown(self.filter());
        let mut table = match &found.comparison {
            None => shown.rows.clone(),
            Some(comparison) => self.compared_rows(comparison),
        };
        let changes = match &found.comparison {
            None => Vec::new(),
            Some(comparison) => chart::changes(comparison, &table),
        };
        if let Some((column, falls)) = self.sort {
            table.sort_by(|&a, &b| {
                let order = match &found.comparison {
                    None => order(breakdown, a, b, column),
                    Some(comparison) => compared_order(comparison, a, b, column),
                };
                if falls { order.reverse() } else { order }
            });
        }
        self.drawn = Drawn {
            bars: chart::bars(breakdown, &shown),
            changes,
            table,
            shown,
            counters: self.counters(found),
        };
    }

    /// Counters that have the words, in the order of their table.
    fn counters(&self, found: &Found) -> Vec<usize> {
        let filter = self.filter();
        let counters = found.profile().map_or(&[][..], |profile| &profile.counters);
        let mut places: Vec<usize> = (0..counters.len())
            .filter(|&place| {
                powerband_findings::analysis::counters::has(&counters[place], &filter.words)
            })
            .collect();
        if let Some((column, falls)) = self.counter_sort {
            places.sort_by(|&a, &b| {
                let order = counter_order(&counters[a], &counters[b], column);
                if falls { order.reverse() } else { order }
            });
        }
        places
    }

    /// Rows of a comparison that have the words and are large enough on either side.
    fn compared_rows(&self, comparison: &Comparison) -> Vec<usize> {
        let filter = self.filter();
        let whole = comparison.larger_ns();
        let passes = |row: &comparison::Row| {
            let members = row.before.iter().chain(&row.after);
            let mut text = format!("{} {}", row.title, row.category.title());
            for member in members {
                text.push(' ');
                text.push_str(&member.name);
            }
            let size = row.before_ns().max(row.after_ns());
            powerband_findings::analysis::category::has_all(&text, &filter.words)
                && size >= filter.over * whole
        };
        let rows = comparison.rows.iter().enumerate();
        rows.filter(|(_, row)| passes(row))
            .map(|(at, _)| at)
            .collect()
    }

    /// The table as text with tabs, which spreadsheets take.
    pub fn table_text(&self) -> Option<String> {
        let found = self.result.as_ref()?;
        let rows = self.drawn.table.iter();
        let lines: Vec<String> = match &found.comparison {
            None => {
                let breakdown = found.at(self.level);
                let cells = rows.filter_map(|at| breakdown.rows.get(*at));
                let cells = cells.map(|row| cells_of(breakdown, row).join("\t"));
                std::iter::once(HEADER.join("\t")).chain(cells).collect()
            }
            Some(comparison) => {
                let cells = rows.filter_map(|at| comparison.rows.get(*at));
                let cells = cells.map(|row| compared_cells(comparison, row).join("\t"));
                std::iter::once(COMPARED.join("\t")).chain(cells).collect()
            }
        };
        Some(lines.join("\n") + "\n")
    }
}

fn by_time(a: Option<f64>, b: Option<f64>) -> Ordering {
    a.unwrap_or(-1.0).total_cmp(&b.unwrap_or(-1.0))
}

/// By a column of the screen's table: name, category, share, total, per run, calls, mean, shortest,
/// longest.
fn order(breakdown: &Breakdown, a: usize, b: usize, column: usize) -> Ordering {
    let (Some(a), Some(b)) = (breakdown.rows.get(a), breakdown.rows.get(b)) else {
        return Ordering::Equal;
    };
    let ns = |value: Option<u64>| value.map(|ns| ns as f64);
    match column {
        0 => b.short.to_lowercase().cmp(&a.short.to_lowercase()),
        1 => b.category.title().cmp(a.category.title()),
        5 => a.calls.cmp(&b.calls),
        6 => by_time(a.mean_ns(), b.mean_ns()),
        7 => by_time(ns(a.min_ns), ns(b.min_ns)),
        8 => by_time(ns(a.max_ns), ns(b.max_ns)),
        _ => a.total_ns.cmp(&b.total_ns),
    }
}

/// By a column of the table of a comparison: name, what became of it, matched by, before, after,
/// difference, share of it.
fn compared_order(comparison: &Comparison, a: usize, b: usize, column: usize) -> Ordering {
    let (Some(a), Some(b)) = (comparison.rows.get(a), comparison.rows.get(b)) else {
        return Ordering::Equal;
    };
    match column {
        0 => b.title.to_lowercase().cmp(&a.title.to_lowercase()),
        1 => b.change().title().cmp(a.change().title()),
        2 => b.matched.title().cmp(a.matched.title()),
        3 => a.before_ns().total_cmp(&b.before_ns()),
        4 => a.after_ns().total_cmp(&b.after_ns()),
        5 => a.difference_ns().total_cmp(&b.difference_ns()),
        _ => by_time(
            comparison.contribution(a).map(|share| share + 1e6),
            comparison.contribution(b).map(|share| share + 1e6),
        ),
    }
}

const HEADER: [&str; 11] = [
    "Name",
    "Category",
    "Operators",
    "Share %",
    "Total ms",
    "Per run ms",
    "Calls",
    "Mean µs",
    "Shortest µs",
    "Longest µs",
    "Where",
];

fn digits(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), |value| format!("{value:.6}"))
}

fn cells_of(breakdown: &Breakdown, row: &Row) -> [String; 11] {
    let total = row.total_ns as f64;
    let micros = |ns: Option<u64>| digits(ns.map(|ns| ns as f64 / 1e3));
    [
        row.name.clone(),
        row.category.title().to_owned(),
        row.ops.join(", "),
        format!("{:.4}", row.share * 100.0),
        digits(Some(total / 1e6)),
        digits(breakdown.per_run(total).map(|ns| ns / 1e6)),
        row.calls.to_string(),
        digits(row.mean_ns().map(|ns| ns / 1e3)),
        micros(row.min_ns),
        micros(row.max_ns),
        row.places.join(", "),
    ]
}

const COMPARED: [&str; 10] = [
    "Name",
    "Category",
    "What",
    "Matched by",
    "Before ms",
    "After ms",
    "Difference ms",
    "Share of the difference %",
    "Names before",
    "Names after",
];

fn compared_cells(comparison: &Comparison, row: &comparison::Row) -> [String; 10] {
    let names = |members: &[comparison::Member]| {
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        names.join("; ")
    };
    let has = |members: &[comparison::Member]| !members.is_empty();
    [
        row.title.clone(),
        row.category.title().to_owned(),
        row.change().title().to_owned(),
        row.matched.title().to_owned(),
        digits(has(&row.before).then(|| row.before_ns() / 1e6)),
        digits(has(&row.after).then(|| row.after_ns() / 1e6)),
        digits(Some(row.difference_ns() / 1e6)),
        digits(comparison.contribution(row).map(|share| share * 100.0)),
        names(&row.before),
        names(&row.after),
    ]
}
/// Falling, rising, as it was.
fn next_sort(sort: Option<(usize, bool)>, column: usize) -> Option<(usize, bool)> {
    match sort {
        Some((same, true)) if same == column => Some((column, false)),
        Some((same, false)) if same == column => None,
        _ => Some((column, true)),
    }
}

fn counter_order(a: &Counter, b: &Counter, column: usize) -> Ordering {
    match column {
        0 => a.kernel.cmp(&b.kernel),
        1 => a.name.cmp(&b.name),
        2 => a.launches.cmp(&b.launches),
        3 => a.sum.total_cmp(&b.sum),
        _ => a.a_launch().total_cmp(&b.a_launch()),
    }
}
