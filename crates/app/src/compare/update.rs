//! Actions on the comparison, and its results.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::{CompareState, SideChoice};
use crate::App;
use crate::action::Compare;
use crate::sessions::LIVE;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::comparison::{self, ComparedSide};
use powerband_findings::analysis::earlier_sessions::EarlierSessions;
use powerband_findings::tables::fleet_effects::of_all;
use powerband_findings::tables::metrics::of_metrics;
use powerband_findings::tables::pairs::of_pairs;
use powerband_store::library::{self, ScannedFile};

impl App {
    pub(crate) fn compare(&mut self, change: &Compare) {
        self.compare.sides.is_chosen = true;
        match change {
            Compare::Before(pick) => self
                .compare
                .sides
                .choose(true, *pick, &self.shared.sessions),
            Compare::After(pick) => self
                .compare
                .sides
                .choose(false, *pick, &self.shared.sessions),
            Compare::Swap => {
                let CompareState { before, after, .. } = &mut self.compare.sides;
                std::mem::swap(before, after);
            }
        }
        self.compare_if_wanted();
    }

    pub(crate) fn compare_if_wanted(&mut self) {
        self.compare.sides.drop_missing_sides(&self.shared.sessions);
        self.compare_tables();
        let Some((before, after)) = self.compare.sides.wanted() else {
            return;
        };
        let side = |pick: SideChoice| {
            let open = self.shared.sessions.get(pick.session)?;
            Some((Arc::clone(&open.session), Arc::clone(&open.findings.rows)))
        };
        let (Some(b), Some(a)) = (side(before), side(after)) else {
            return;
        };
        let earlier = self.earlier(&b.0, &a.0);
        let work = move |_: &_| {
            let (first, second) = ((b.0, b.1, before), (a.0, a.1, after));
            let compare = if before.whole {
                comparison::compare_sessions_with_earlier
            } else {
                comparison::compare_setups_with_earlier
            };
            let earlier = earlier.read(&first.0, &second.0);
            let compared = compare(&as_side(&first), &as_side(&second), &earlier);
            Some((before, after, Arc::new(compared)))
        };
        self.derive(
            "compare",
            |app| &mut app.compare.sides.found,
            (before, after),
            work,
            Self::renew_comparison,
        );
    }

    /// The tables of what is compared; two setups are named by their pickers.
    fn compare_tables(&mut self) {
        let Some((before, _, found)) = &self.compare.sides.found.result else {
            self.shared.tables.remove("pairs");
            self.shared.tables.remove("metrics");
            self.shared.tables.remove("parts");
            return;
        };
        let pairs = of_pairs(&found.pairs);
        let pairs = if before.whole {
            pairs
        } else {
            pairs.hiding(&["before", "after", "rounds"])
        };
        self.shared.tables.set_table("pairs", pairs);
        if found.effects.is_empty() {
            self.shared.tables.remove("parts");
        } else {
            self.shared
                .tables
                .set_table("parts", of_all(&found.effects));
        }
        self.shared
            .tables
            .set_table("metrics", of_metrics(&found.metrics));
    }

    /// The comparison and its charts, after something changed.
    pub(crate) fn renew_comparison(&mut self) {
        self.compare_if_wanted();
        self.compare
            .sides
            .redraw(&self.shared.sessions, &self.curves.options, self.curves.pin);
    }
}

/// Where earlier sessions are found, which show by how much sessions differ where nothing was changed.
pub(crate) struct EarlierSource {
    open: Vec<Arc<Session>>,
    /// The library with what is known of it; nothing where no file is to be read.
    library: Option<(PathBuf, BTreeMap<PathBuf, ScannedFile>)>,
}

impl App {
    /// Earlier sessions for a comparison. None are read during a run, or for sessions measured in turns.
    pub(crate) fn earlier(&self, before: &Session, after: &Session) -> EarlierSource {
        let is_apart = !before.is_of_one_run_with(after);
        let saved = self.shared.sessions.iter().filter(|open| open.id != LIVE);
        let folder = &self.shared.place.paths.library;
        EarlierSource {
            open: saved
                .filter(|_| is_apart)
                .map(|open| Arc::clone(&open.session))
                .collect(),
            library: (is_apart && !self.is_running())
                .then(|| (folder.clone(), self.library.found.clone())),
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
