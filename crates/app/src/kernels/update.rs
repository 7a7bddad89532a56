//! Actions on kernels, and the sums for them.

use super::menu::exact_search;
use super::work::{self, RuleChange};
use super::{ProfileRef, Request};
use crate::App;
use crate::action::{Action, Curves, Kernels};
use crate::notices::NoticeLevel;
use crate::parts::part::Layer;
use crate::screen::Screen;
use crate::timeline::Seek;
use powerband_core::domain::profile::Counter;
use powerband_findings::analysis::breakdown::{BreakdownLevel, Filter};
use powerband_findings::analysis::profile_runs::Times;
use powerband_findings::analysis::timeline::stretch::TimeRange;
use powerband_findings::tables::{counters, kernel_changes, kernels};

impl App {
    pub(crate) fn kernels(&mut self, change: Kernels) {
        let state = &mut self.profile.kernels;
        match change {
            Kernels::Look(pick) => {
                state.looking = Some(pick);
                state.is_chosen = true;
            }
            Kernels::Before(pick) => {
                state.before = pick;
                // The profile on the screen stays, even where the user did not choose it.
                state.is_chosen = true;
            }
            Kernels::Swap => state.swap(),
            Kernels::Level(level) => state.set_level(level),
            Kernels::Times(times) => state.times = times,
            Kernels::Runs(pick, runs) => self.type_runs(pick, runs),
            Kernels::Select(selected) => {
                state.selected = selected;
                state.instances.wanted = None;
                self.kernel_selected();
            }
            Kernels::Graph => return self.show_graph_of_profile(),
            Kernels::Instance(which) => return self.show_instance(which),
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
                self.change_rules(RuleChange::Add(category, pattern));
            }
            Kernels::Forget(place) => self.change_rules(RuleChange::Forget(place)),
            Kernels::Find(name) => {
                let seek = Seek::Search(exact_search(&name));
                return self.show_timeline_of_profile(Some(seek));
            }
            Kernels::Timeline => return self.show_timeline_of_profile(None),
            Kernels::Gap(start_ns, length_ns) => {
                let gap = TimeRange::new(start_ns as f64, (start_ns + length_ns) as f64);
                return self.show_timeline_of_profile(Some(Seek::Stretch(gap)));
            }
        }
        self.add_up_if_wanted();
    }

    /// Clears the selection; then the words of the filter, then the row within which others are shown.
    pub(crate) fn clear_kernel_choices(&mut self, layer: Layer) -> bool {
        if self.shared.screen != Screen::Kernels {
            return false;
        }
        let filter = self.profile.kernels.filter();
        let change = match layer {
            Layer::Selection if self.profile.kernels.selected_kernel().is_some() => {
                Kernels::Select(None)
            }
            Layer::Filter if !filter.words.is_empty() => Kernels::Filter(String::new()),
            Layer::Filter if filter.within.is_some() => Kernels::Within(None),
            _ => return false,
        };
        self.kernels(change);
        true
    }

    /// Shows the graph of the setup that was profiled.
    fn show_graph_of_profile(&mut self) {
        if let Some(id) = self.graph_of_profile() {
            self.act(Action::Go(Screen::Curves));
            self.act(Action::Curves(Curves::Examined(id)));
        }
    }

    /// The user knows how many runs a profile covers, or takes that back.
    fn type_runs(&mut self, pick: ProfileRef, runs: Option<u64>) {
        let key = self.runs_key(pick);
        let kept = &mut self.shared.remembered.profile_runs;
        if let Some(runs) = runs.filter(|runs| *runs > 0) {
            self.profile.kernels.typed_runs.insert(pick, runs);
            kept.extend(key.map(|key| (key, runs)));
        } else {
            self.profile.kernels.typed_runs.remove(&pick);
            if let Some(key) = key {
                kept.remove(&key);
            }
        }
    }

    /// A name for a profile that is the same when the window is open the next time.
    fn runs_key(&self, pick: ProfileRef) -> Option<String> {
        let saved = self.shared.sessions.get(pick.session)?.path.as_ref();
        let path = saved.or_else(|| self.profile.timeline.sources.get(&pick.session))?;
        Some(format!("{}#{}", path.display(), pick.profile + 1))
    }

    /// The runs that the user typed when the profiles on the screen were open before.
    fn recall_runs(&mut self) {
        let picks = [self.profile.kernels.before, self.profile.kernels.looking];
        for pick in picks.into_iter().flatten() {
            let key = self.runs_key(pick);
            let kept = key.and_then(|key| self.shared.remembered.profile_runs.get(&key).copied());
            if let Some(runs) = kept {
                self.profile.kernels.typed_runs.entry(pick).or_insert(runs);
            }
        }
    }

    fn change_rules(&self, change: RuleChange) {
        let paths = self.shared.place.paths.clone();
        let work = move || work::change_rules(&paths, change);
        self.shared
            .jobs
            .spawn_then("categories", work, Self::rules_changed);
    }

    fn rules_changed(&mut self, changed: Result<(), String>) {
        match changed {
            Ok(()) => {
                self.profile.kernels.rules += 1;
                self.add_up_if_wanted();
            }
            Err(reason) => self.shared.notify(NoticeLevel::Trouble, reason),
        }
    }

    /// Profiles are added up while their screen is shown.
    pub(crate) fn add_up_if_wanted(&mut self) {
        self.profile
            .kernels
            .drop_missing_profiles(&self.shared.sessions);
        self.recall_runs();
        let wanted = self.profile.kernels.wanted(&self.shared.sessions);
        if let Some(request) = wanted.filter(|_| self.shows(Screen::Kernels)) {
            let paths = self.shared.place.paths.clone();
            let work = move |request: &Request| work::add_up(request, &paths);
            self.derive(
                "kernels",
                |app| &mut app.profile.kernels.found,
                request,
                work,
                Self::add_up_if_wanted,
            );
        }
        self.profile.kernels.redraw();
        self.kernel_tables();
        self.look_for_instances();
        self.mark_node();
    }

    fn kernel_tables(&mut self) {
        for id in ["kernels", "categories", "changes", "counters"] {
            self.shared.tables.remove(id);
        }
        let state = &self.profile.kernels;
        let Some(found) = &state.found.result else {
            return;
        };
        let rows = &state.drawn.rows;
        if let Some(comparison) = &found.comparison {
            let table = kernel_changes::of_comparison(comparison, rows);
            return self.shared.tables.set_table("changes", table);
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
        self.shared.tables.set_table(id, table);
        let counters = found.profile().map_or(&[][..], |profile| &profile.counters);
        let places = state.drawn.counters.iter();
        let shown: Vec<Counter> = places
            .filter_map(|place| counters.get(*place).cloned())
            .collect();
        if !shown.is_empty() {
            self.shared
                .tables
                .set_table("counters", counters::of_counters(&shown));
        }
    }
}
