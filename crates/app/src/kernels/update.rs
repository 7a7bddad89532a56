//! Actions on kernels, and the sums for them.

use super::menu::exact_search;
use super::work::{self, RuleChange};
use super::{ProfileRef, Request};
use crate::action::{Action, Curves, Kernels};
use crate::doors::ProfileDoor;
use crate::notices::NoticeLevel;
use crate::parts::layer::Layer;
use crate::screen::Screen;
use crate::shared::Shared;
use crate::timeline::Seek;
use powerband_core::domain::profile::Counter;
use powerband_findings::analysis::breakdown::{BreakdownLevel, Filter};
use powerband_findings::analysis::profile_runs::Times;
use powerband_findings::analysis::timeline::stretch::TimeRange;
use powerband_findings::tables::{collectives, counters, kernel_changes, kernels, ranks};

impl ProfileDoor {
    pub(crate) fn kernels(&mut self, change: Kernels, shared: &mut Shared) {
        let state = &mut self.kernels;
        match change {
            Kernels::Look(pick) => {
                state.looking = Some(pick);
                state.is_chosen = true;
                self.why.is_chosen = false;
            }
            Kernels::Before(pick) => {
                state.before = pick;
                // The profile on the screen stays, even where the user did not choose it.
                state.is_chosen = true;
                self.read_network_if_wanted(shared);
            }
            Kernels::Swap => state.swap(),
            Kernels::Level(level) => state.set_level(level),
            Kernels::Times(times) => state.times = times,
            Kernels::Runs(pick, runs) => self.type_runs(pick, runs, shared),
            Kernels::Select(selected) => {
                state.selected = selected;
                state.instances.wanted = None;
                self.kernel_selected(shared);
            }
            Kernels::Graph => return self.show_graph_of_profile(shared),
            Kernels::Instance(which) => return self.show_instance(which, shared),
            Kernels::Within(within) => state.set_within(within),
            Kernels::Shape(shape) => state.shape = shape,
            Kernels::Filter(words) => {
                let filter = state.filter().clone();
                state.set_filter(Filter { words, ..filter });
            }
            Kernels::Over(share) if share.is_finite() => {
                let filter = state.filter().clone();
                let over = share.clamp(0.0, 1.0);
                state.set_filter(Filter { over, ..filter });
            }
            Kernels::Over(_) => {}
            Kernels::AllRows => state.set_filter(Filter::NONE),
            Kernels::Categorise(category, pattern) => {
                Self::change_rules(RuleChange::Add(category, pattern), shared);
            }
            Kernels::Forget(place) => Self::change_rules(RuleChange::Forget(place), shared),
            Kernels::Find(name) => {
                let seek = Seek::Search(exact_search(&name));
                return self.show_timeline_of_profile(Some(seek), shared);
            }
            Kernels::Timeline => return self.show_timeline_of_profile(None, shared),
            Kernels::Gap(start_ns, length_ns) => {
                let gap = TimeRange::new(start_ns as f64, (start_ns + length_ns) as f64);
                return self.show_timeline_of_profile(Some(Seek::Stretch(gap)), shared);
            }
        }
        self.add_up_if_wanted(shared);
        self.find_limits_if_wanted(shared);
    }

    /// Clears the selection; then the words of the filter, then the row within which others are shown.
    pub(crate) fn clear_kernel_choices(&mut self, layer: Layer, shared: &mut Shared) -> bool {
        if shared.screen != Screen::Kernels {
            return false;
        }
        let filter = self.kernels.filter();
        let change = match layer {
            Layer::Selection if self.kernels.selected_kernel().is_some() => Kernels::Select(None),
            Layer::Filter if !filter.words.is_empty() => Kernels::Filter(String::new()),
            Layer::Filter if filter.within.is_some() => Kernels::Within(None),
            _ => return false,
        };
        self.kernels(change, shared);
        true
    }

    /// Shows the graph of the setup that was profiled.
    fn show_graph_of_profile(&self, shared: &mut Shared) {
        if let Some(id) = self.graph_of_profile(shared) {
            shared.then(Action::Go(Screen::Network));
            shared.then(Action::Curves(Curves::Examined(id)));
        }
    }

    /// The user knows how many runs a profile covers, or takes that back.
    fn type_runs(&mut self, pick: ProfileRef, runs: Option<u64>, shared: &mut Shared) {
        let key = self.runs_key(pick, shared);
        let kept = &mut shared.remembered.profile_runs;
        if let Some(runs) = runs.filter(|runs| *runs > 0) {
            self.kernels.typed_runs.insert(pick, runs);
            kept.extend(key.map(|key| (key, runs)));
        } else {
            self.kernels.typed_runs.remove(&pick);
            if let Some(key) = key {
                kept.remove(&key);
            }
        }
    }

    /// A name for a profile that is the same when the window is open the next time.
    fn runs_key(&self, pick: ProfileRef, shared: &Shared) -> Option<String> {
        let saved = shared.sessions.get(pick.session)?.path.as_ref();
        let path = saved.or_else(|| self.timeline.sources.get(&pick.session))?;
        Some(format!("{}#{}", path.display(), pick.profile + 1))
    }

    /// The runs that the user typed when the profiles on the screen were open before.
    fn recall_runs(&mut self, shared: &Shared) {
        let picks = [self.kernels.before, self.kernels.looking];
        for pick in picks.into_iter().flatten() {
            let key = self.runs_key(pick, shared);
            let kept = key.and_then(|key| shared.remembered.profile_runs.get(&key).copied());
            if let Some(runs) = kept {
                self.kernels.typed_runs.entry(pick).or_insert(runs);
            }
        }
    }

    fn change_rules(change: RuleChange, shared: &Shared) {
        let paths = shared.place.paths.clone();
        let work = move || work::change_rules(&paths, change);
        shared
            .jobs
            .spawn_for("categories", work, Self::rules_changed);
    }

    fn rules_changed(&mut self, changed: Result<(), String>, shared: &mut Shared) {
        match changed {
            Ok(()) => {
                shared.category_rules += 1;
                self.add_up_if_wanted(shared);
            }
            Err(reason) => shared.notify(NoticeLevel::Trouble, reason),
        }
    }

    /// Profiles are added up while their screen is shown.
    pub(crate) fn add_up_if_wanted(&mut self, shared: &mut Shared) {
        self.kernels.drop_missing_profiles(&shared.sessions);
        self.recall_runs(shared);
        let wanted = self.kernels.wanted(&shared.sessions, shared.category_rules);
        if let Some(request) = wanted.filter(|_| shared.shows(Screen::Kernels)) {
            let paths = shared.place.paths.clone();
            let work = move |request: &Request| work::add_up(request, &paths);
            shared.derive(
                self,
                "kernels",
                |door| &mut door.kernels.found,
                request,
                work,
                Self::add_up_if_wanted,
            );
        }
        self.kernels.redraw();
        self.kernel_tables(shared);
        self.look_for_instances(shared);
        self.list_instances(shared);
        self.mark_node();
    }

    fn kernel_tables(&self, shared: &mut Shared) {
        for id in [
            "kernels",
            "categories",
            "changes",
            "counters",
            "ranks",
            "collectives",
        ] {
            shared.tables.remove(id);
        }
        let state = &self.kernels;
        let Some(found) = &state.found.result else {
            return;
        };
        let rows = &state.drawn.rows;
        if let Some(comparison) = &found.comparison {
            let table = kernel_changes::of_comparison(comparison, rows);
            return shared.tables.set_table("changes", table);
        }
        let id = match state.level {
            BreakdownLevel::Category => "categories",
            BreakdownLevel::Operator | BreakdownLevel::Kernel => "kernels",
        };
        let breakdown = found.breakdown(state.level);
        let other = match (state.times, breakdown.runs) {
            (Times::PerRun, Some(_)) => "total_ms",
            _ => "per_run_ms",
        };
        let table = kernels::of_breakdown(breakdown, rows).hiding(&[other]);
        shared.tables.set_table(id, table);
        if let Some(job) = found.profile().and_then(|profile| profile.job.as_ref()) {
            shared.tables.set_table("ranks", ranks::of_ranks(job));
            let collectives = collectives::of_collectives(job);
            shared.tables.set_table("collectives", collectives);
        }
        let counters = found.profile().map_or(&[][..], |profile| &profile.counters);
        let places = state.drawn.counters.iter();
        let shown: Vec<Counter> = places
            .filter_map(|place| counters.get(*place).cloned())
            .collect();
        if !shown.is_empty() {
            shared
                .tables
                .set_table("counters", counters::of_counters(&shown));
        }
    }
}
