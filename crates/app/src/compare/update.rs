//! Actions on the comparison, and its results.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::{CompareState, SideChoice, profiles};
use crate::action::Compare;
use crate::doors::CompareDoor;
use crate::kernels;
use crate::screen::Screen;
use crate::sessions::{LIVE, SessionId};
use crate::shared::Shared;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::breakdown::Filter;
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::closing_in;
use powerband_findings::analysis::comparison::{self, ComparedSide};
use powerband_findings::analysis::earlier_sessions::EarlierSessions;
use powerband_findings::tables::fleet_effects::of_all;
use powerband_findings::tables::kernel_changes;
use powerband_findings::tables::metrics::of_metrics;
use powerband_findings::tables::pairs::of_pairs;
use powerband_store::library::{self, ScannedFile};

impl CompareDoor {
    pub(crate) fn compare(&mut self, change: &Compare, shared: &mut Shared) {
        self.sides.is_chosen = true;
        match change {
            Compare::Before(pick) => self.sides.choose(true, *pick, &shared.sessions),
            Compare::After(pick) => self.sides.choose(false, *pick, &shared.sessions),
            Compare::Swap => {
                let CompareState { before, after, .. } = &mut self.sides;
                std::mem::swap(before, after);
            }
        }
        self.compare_if_wanted(shared);
    }

    /// Whether a comparison within the run that goes on is shown, and none is computed by now.
    fn wants_run(&self, shared: &Shared) -> bool {
        let is_run = |side: Option<SideChoice>| side.is_some_and(|side| side.session == LIVE);
        let sides = &self.sides;
        let is_shown = shared.shows(Screen::Compare) && is_run(sides.before) && is_run(sides.after);
        is_shown && sides.found.busy().is_none()
    }

    /// Compares within the run that goes on, as far as it was measured by now.
    pub(crate) fn run_grew(&mut self, measured: Option<Arc<Session>>, shared: &mut Shared) {
        self.compare_steps_if_wanted(shared);
        if measured.is_some() && self.wants_run(shared) {
            self.sides.run = measured;
            self.sides.found.outdate();
            self.compare_if_wanted(shared);
        }
        if shared.shows(Screen::Fleet) {
            self.compare_machines_if_wanted(shared);
        }
    }

    /// The run became an open session, of which the first two setups may be compared.
    pub(crate) fn run_is_over(&mut self, id: SessionId, is_compared: bool) {
        self.sides.forget_run();
        self.sides.found.forget();
        self.journey.run_is_over(id);
        self.sides.last_run = Some(id);
        if is_compared {
            self.sides.choose_pair(id);
        }
    }

    pub(crate) fn compare_if_wanted(&mut self, shared: &mut Shared) {
        self.sides.drop_missing_sides(&shared.sessions);
        self.compare_tables(shared);
        self.compare_profiles_if_wanted(shared);
        let Some((before, after)) = self.sides.wanted() else {
            return;
        };
        let side = |pick: SideChoice| {
            let open = shared.sessions.get(pick.session)?;
            let session = self.sides.session_of(open);
            let rows = open.comparable_rows();
            Some((Arc::clone(session), Arc::clone(rows)))
        };
        let (Some(b), Some(a)) = (side(before), side(after)) else {
            return;
        };
        let earlier = shared.earlier(&b.0, &a.0);
        let work = move |_: &_| {
            let (first, second) = ((b.0, b.1, before), (a.0, a.1, after));
            let compare = if before.whole {
                comparison::compare_sessions_with_earlier
            } else {
                comparison::compare_setups_with_earlier
            };
            let earlier = earlier.read(&first.0, &second.0);
            let mut compared = compare(&as_side(&first), &as_side(&second), &earlier);
            if before.session == after.session {
                let goes_on = before.session == LIVE;
                if goes_on {
                    closing_in::withhold_early_verdicts(&first.0, &mut compared.pairs);
                }
                compared.by_round = closing_in::ratios_of_pairs(&first.0, &compared.pairs, goes_on);
            }
            Some((before, after, Arc::new(compared)))
        };
        shared.derive(
            self,
            "compare",
            |door| &mut door.sides.found,
            (before, after),
            work,
            Self::renew_comparison,
        );
    }

    fn compare_profiles_if_wanted(&mut self, shared: &Shared) {
        let rules = shared.category_rules;
        let Some(request) = self.sides.wanted_profiles(&shared.sessions, rules) else {
            return;
        };
        let paths = shared.place.paths.clone();
        let work = move |request: &kernels::Request| profiles::compare(request, &paths);
        shared.derive(
            self,
            "compare-profiles",
            |door| &mut door.sides.profiles,
            request,
            work,
            Self::compare_if_wanted,
        );
    }

    /// The tables of what is compared; two setups are named by their pickers.
    fn compare_tables(&self, shared: &mut Shared) {
        match &self.sides.profiles.result {
            Some(found) => {
                let rows: Vec<usize> = found.comparison.shown(&Filter::NONE);
                let table = kernel_changes::of_comparison(&found.comparison, &rows);
                shared.tables.set_table("profile-changes", table);
            }
            None => shared.tables.remove("profile-changes"),
        }
        let Some((before, _, found)) = &self.sides.found.result else {
            shared.tables.remove("pairs");
            shared.tables.remove("metrics");
            shared.tables.remove("parts");
            return;
        };
        let pairs = of_pairs(&found.pairs);
        let pairs = if before.whole {
            pairs
        } else {
            pairs.hiding(&["before", "after", "rounds"])
        };
        shared.tables.set_table("pairs", pairs);
        if found.effects.is_empty() {
            shared.tables.remove("parts");
        } else {
            shared.tables.set_table("parts", of_all(&found.effects));
        }
        shared
            .tables
            .set_table("metrics", of_metrics(&found.metrics));
    }

    /// The comparison and its charts, after something changed.
    pub(crate) fn renew_comparison(&mut self, shared: &mut Shared) {
        self.compare_if_wanted(shared);
        shared.is_comparison_stale = true;
    }
}

/// Where earlier sessions are found, which show by how much sessions differ where nothing was changed.
pub(crate) struct EarlierSource {
    open: Vec<Arc<Session>>,
    /// The library with what is known of it; nothing where no file is to be read.
    library: Option<(PathBuf, Arc<BTreeMap<PathBuf, ScannedFile>>)>,
}

impl Shared {
    /// Earlier sessions for a comparison. None are read during a run, or for sessions measured in turns.
    pub(crate) fn earlier(&self, before: &Session, after: &Session) -> EarlierSource {
        let is_apart = !before.is_of_one_run_with(after);
        let saved = self.sessions.iter().filter(|open| open.id != LIVE);
        let folder = &self.place.paths.library;
        EarlierSource {
            open: saved
                .filter(|_| is_apart)
                .map(|open| Arc::clone(&open.session))
                .collect(),
            library: (is_apart && !self.is_running)
                .then(|| (folder.clone(), Arc::clone(&self.library_files))),
        }
    }
}

impl EarlierSource {
    /// Reads them.
    pub(crate) fn read(&self, before: &Session, after: &Session) -> EarlierSessions {
        let mut earlier = EarlierSessions::from_sessions(self.open.iter().map(AsRef::as_ref));
        if let Some((folder, known)) = &self.library {
            let found = library::earlier_sessions(folder, known, before, after);
            for session in &found {
                earlier.add(session);
            }
        }
        earlier
    }
}

type RowsOfSide = (Arc<Session>, Arc<Vec<CaseRow>>, SideChoice);

fn as_side((session, rows, pick): &RowsOfSide) -> ComparedSide<'_> {
    ComparedSide {
        session,
        rows,
        setup: pick.setup,
        point: pick.point,
    }
}
