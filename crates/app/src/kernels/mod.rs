//! Where the time of an open session's profile went, and what is different in another one.

pub(crate) mod action;
pub mod commands;
mod find_instances;
pub mod instances;
pub(crate) mod menu;
pub(crate) mod palette;
mod profile_ref;
mod selected;
pub(crate) mod trace_path;
mod update;
pub mod words;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use action::{BreakdownChart, SelectedRow};
use instances::InstancesState;
pub use profile_ref::ProfileRef;
pub(crate) use work::add_up;

use super::derived::Derived;
use super::sessions::{OpenSession, OpenSessions, Snapshot};
use powerband_core::domain::profile::Profile;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::breakdown::{Breakdown, BreakdownLevel, Filter, FilteredRows};
use powerband_findings::analysis::category::Category;
use powerband_findings::analysis::counters::matches_text as has_words;
use powerband_findings::analysis::kernel_comparison::KernelComparison;
use powerband_findings::analysis::profile_runs::{ProfileRuns, Times};
use powerband_findings::chart::breakdown::{self as chart, Bar, ChangeBar};
use powerband_findings::chart::memory;
use powerband_findings::chart::spec::ChartSpec;
use powerband_findings::chart::treemap::{self, Region};

/// What is shown of a profile by default.
static ALL_ROWS: Filter = Filter::NONE;

/// A request: a profile, its baseline, the rules, and by what times are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelsRequest {
    /// The profile.
    pub after: ProfileRef,
    /// The one that it is compared with.
    pub before: Option<ProfileRef>,
    /// How often the rules have changed.
    pub rules: u32,
    /// The runs that the user typed for profiles that do not state them, before and after.
    pub typed_runs: [Option<u64>; 2],
    /// Whether times are those of a run or in total.
    pub times: Times,
}

/// A request, with the sessions of the profile and of its baseline as they are now.
pub type Request = (KernelsRequest, [Option<Snapshot>; 2]);

/// What was found.
#[derive(Clone, Debug)]
pub struct KernelsResult {
    /// What was looked for.
    pub wanted: KernelsRequest,
    /// The session of the profile, as it was then.
    pub session: Arc<Session>,
    /// The session of the baseline, as it was then.
    pub before: Option<Arc<Session>>,
    /// By category, by operator, by kernel.
    pub breakdowns: [Breakdown; 3],
    /// Against the baseline.
    pub comparison: Option<KernelComparison>,
    /// The user's own rules.
    pub own: Vec<(String, String)>,
    /// Rules that cannot be read.
    pub objections: Vec<String>,
}

impl KernelsResult {
    /// The profile.
    pub fn profile(&self) -> Option<&Profile> {
        self.session.profiles.get(self.wanted.after.profile)
    }

    /// The breakdown at a level.
    pub fn breakdown(&self, level: BreakdownLevel) -> &Breakdown {
        let place = BreakdownLevel::ALL.iter().position(|known| *known == level);
        &self.breakdowns[place.unwrap_or(0)]
    }
}

/// The kernels screen.
#[derive(Debug, Default)]
pub struct KernelsState {
    /// The profile that is shown.
    pub looking: Option<ProfileRef>,
    /// The one that it is compared with.
    pub before: Option<ProfileRef>,
    /// Whether the user chose the profile; until then it is the first.
    pub is_chosen: bool,
    /// What a row stands for.
    pub level: BreakdownLevel,
    /// The chart of the breakdown.
    pub shape: BreakdownChart,
    /// Whether times are those of a run or a step, or in total.
    pub times: Times,
    /// The runs that the user typed for profiles that do not state them.
    pub(crate) typed_runs: BTreeMap<ProfileRef, u64>,
    /// The selected row.
    pub(crate) selected: Option<SelectedRow>,
    /// The instances of the selected kernel.
    pub instances: InstancesState,
    /// Which rows are shown of each profile that not all are shown of.
    filters: BTreeMap<ProfileRef, Filter>,
    /// The sums, with the sessions as they were then.
    pub found: Derived<Request, KernelsResult>,
    /// What is drawn of it.
    pub drawn: KernelsDrawing,
}

/// What is drawn, made when there is something new and not for each frame.
#[derive(Debug, Default)]
pub struct KernelsDrawing {
    /// What the filter leaves, by falling time.
    pub shown: FilteredRows,
    /// Bars of that.
    pub bars: Vec<Bar>,
    /// A treemap of that, without places.
    pub regions: Vec<Region>,
    /// Places of the rows that are shown; of the comparison where there is one.
    pub rows: Vec<usize>,
    /// The selected one, by its place among these rows.
    pub selected: Option<usize>,
    /// Bars of the comparison.
    pub changes: Vec<ChangeBar>,
    /// Places of the counters that have the words.
    pub counters: Vec<usize>,
    /// The memory in use over time, of each device; empty where it is not known.
    pub memory: Vec<ChartSpec>,
}

/// Every profile of the open sessions.
pub fn profile_refs(open: &OpenSessions) -> Vec<ProfileRef> {
    open.iter()
        .flat_map(|open| {
            (0..open.session.profiles.len()).map(|profile| ProfileRef {
                session: open.id,
                profile,
            })
        })
        .collect()
}

fn memory_charts(profile: &Profile) -> Vec<ChartSpec> {
    let charts = profile.memory.iter().map(|device| ChartSpec {
        title: format!("Memory of {} in use", device.device),
        ..memory::over_time(std::slice::from_ref(device))
    });
    charts.collect()
}

/// The profile that is meant.
pub fn profile(open: &OpenSessions, pick: ProfileRef) -> Option<&Profile> {
    open.get(pick.session)?.session.profiles.get(pick.profile)
}

impl KernelsState {
    /// Drops profiles that are no longer open; the default is the first.
    pub fn drop_missing_profiles(&mut self, open: &OpenSessions) {
        let exists = |pick: &ProfileRef| profile(open, *pick).is_some();
        self.filters.retain(|pick, _| exists(pick));
        self.typed_runs.retain(|pick, _| exists(pick));
        self.before = self.before.filter(exists);
        let chosen = self.looking.filter(exists);
        self.is_chosen &= chosen.is_some();
        self.looking = chosen
            .filter(|_| self.is_chosen)
            .or_else(|| profile_refs(open).first().copied());
        if self.before == self.looking {
            self.before = None;
        }
        let shown = (self.looking, self.before);
        self.found
            .keep_if(|(of, _)| (Some(of.after), of.before) == shown);
    }

    /// The runs that the user typed for a profile.
    pub fn typed(&self, pick: ProfileRef) -> Option<u64> {
        self.typed_runs.get(&pick).copied()
    }

    /// The runs of a profile, where they are known.
    pub fn runs(&self, open: &OpenSessions, pick: ProfileRef) -> Option<ProfileRuns> {
        ProfileRuns::from_profile_or_user(profile(open, pick)?, self.typed(pick))
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
        self.found.result.is_some() && self.drawn.rows.is_empty()
    }

    /// The request to make now, where the sessions or the choice changed.
    pub fn wanted(&self, open: &OpenSessions, rules: u32) -> Option<Request> {
        let wanted = KernelsRequest {
            after: self.looking?,
            before: self.before,
            rules,
            typed_runs: [self.before, self.looking].map(|pick| self.typed(pick?)),
            times: self.times,
        };
        let snapshot = |pick: ProfileRef| open.get(pick.session).map(OpenSession::snapshot);
        let sessions = [Some(wanted.after), wanted.before].map(|pick| snapshot(pick?));
        let request = (wanted, sessions);
        self.found.needs(&request).then_some(request)
    }

    /// Makes what is drawn anew.
    pub(crate) fn redraw(&mut self) {
        let Some(found) = &self.found.result else {
            self.drawn = KernelsDrawing::default();
            return;
        };
        let breakdown = found.breakdown(self.level);
        let shown = breakdown.filtered_rows(self.filter());
        let regions = self.regions(found, &shown);
        let rows = match &found.comparison {
            None => shown.rows.clone(),
            Some(comparison) => comparison.shown(self.filter()),
        };
        let changes = match &found.comparison {
            None => Vec::new(),
            Some(comparison) => chart::changes(comparison, &rows),
        };
        self.drawn = KernelsDrawing {
            bars: chart::bars(breakdown, &shown, self.times),
            changes,
            regions,
            selected: self.row_among(found, &rows),
            rows,
            shown,
            counters: self.counters(found),
            memory: found.profile().map_or_else(Vec::new, memory_charts),
        };
    }

    /// What the tiles of a treemap stand for: categories have their kernels in them.
    pub fn map_level(&self) -> BreakdownLevel {
        match self.level {
            BreakdownLevel::Category => BreakdownLevel::Kernel,
            level => level,
        }
    }

    /// The treemap of the rows that are shown.
    fn regions(&self, found: &KernelsResult, shown: &FilteredRows) -> Vec<Region> {
        let rows = found.breakdown(self.map_level());
        if self.map_level() == self.level {
            return treemap::regions(rows, shown);
        }
        let categories = &found.breakdown(self.level).rows;
        let categories = shown.rows.iter().filter_map(|row| categories.get(*row));
        let categories: BTreeSet<Category> = categories.map(|row| row.category).collect();
        treemap::regions(rows, &rows.rows_of_categories(&categories))
    }

    /// Places of the counters that have the words.
    fn counters(&self, found: &KernelsResult) -> Vec<usize> {
        let words = &self.filter().words;
        let counters = found.profile().map_or(&[][..], |profile| &profile.counters);
        let places = counters.iter().enumerate();
        let fitting = places.filter(|(_, counter)| has_words(counter, words));
        fitting.map(|(place, _)| place).collect()
    }
}
