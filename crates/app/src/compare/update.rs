//! Actions on the comparison, and its results.

use std::sync::Arc;

use super::{CompareState, Pick};
use crate::App;
use crate::action::Compare;
use crate::inbox::{FindingMessage, Message};
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::comparison::{self, Comparison, Side};
use powerband_findings::tables::fleet_effects::of_all;
use powerband_findings::tables::metrics::of_metrics;
use powerband_findings::tables::pairs::of_pairs;

impl App {
    pub(crate) fn compare(&mut self, change: &Compare) {
        self.compare.is_chosen = true;
        match change {
            Compare::Before(pick) => self.compare.choose(true, *pick, &self.sessions),
            Compare::After(pick) => self.compare.choose(false, *pick, &self.sessions),
            Compare::Swap => {
                let CompareState { before, after, .. } = &mut self.compare;
                std::mem::swap(before, after);
            }
        }
        self.compare_if_wanted();
    }

    pub(crate) fn compare_if_wanted(&mut self) {
        self.compare.settle(&self.sessions);
        self.compare_tables();
        let Some((before, after)) = self.compare.wanted() else {
            return;
        };
        let side = |pick: Pick| {
            let open = self.sessions.get(pick.session)?;
            Some((Arc::clone(&open.session), Arc::clone(&open.findings.rows)))
        };
        let (Some(b), Some(a)) = (side(before), side(after)) else {
            return;
        };
        self.compare.busy = Some((before, after));
        self.jobs.spawn("compare", move |outlet| {
            let (first, second) = ((b.0, b.1, before), (a.0, a.1, after));
            let compare = if before.whole {
                comparison::compare_sessions
            } else {
                comparison::compare_setups
            };
            let result = compare(&as_side(&first), &as_side(&second));
            outlet.send(Message::Finding(FindingMessage::Compared(
                before,
                after,
                Arc::new(result),
            )));
        });
    }

    /// The tables of what is compared; two setups are named by their pickers.
    fn compare_tables(&mut self) {
        let Some((before, _, found)) = &self.compare.result else {
            self.tables.remove("pairs");
            self.tables.remove("metrics");
            self.tables.remove("parts");
            return;
        };
        let pairs = of_pairs(&found.pairs);
        let pairs = if before.whole {
            pairs
        } else {
            pairs.hiding(&["before", "after", "rounds"])
        };
        self.tables.put("pairs", pairs);
        if found.effects.is_empty() {
            self.tables.remove("parts");
        } else {
            self.tables.put("parts", of_all(&found.effects));
        }
        self.tables.put("metrics", of_metrics(&found.metrics));
    }

    /// Two sides were compared.
    pub(crate) fn compared(&mut self, before: Pick, after: Pick, comparison: Arc<Comparison>) {
        if self.compare.busy == Some((before, after)) {
            self.compare.busy = None;
        }
        self.compare.result = Some((before, after, comparison));
        self.compare_if_wanted();
        self.compare
            .redraw(&self.sessions, &self.curves.options, self.curves.pin);
    }
}

type Held = (Arc<Session>, Arc<Vec<CaseRow>>, Pick);

fn as_side((session, rows, pick): &Held) -> Side<'_> {
    Side {
        session,
        rows,
        setup: pick.setup,
        point: pick.point,
    }
}
