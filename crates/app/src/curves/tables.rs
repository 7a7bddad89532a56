//! The tables of the curves screen: cases, shapes, speed and accuracy, and what an engine made of a network.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::CurvesState;
use super::LegendEntry;
use super::row_refs::{CaseRef, SeriesRef};
use super::trade_off;
use crate::sessions::{self, OpenSession, Pin};
use crate::shared::Shared;
use powerband_core::domain::case::CaseKey;
use powerband_findings::analysis::batch_curve::{BatchCurve, Statistic};
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::tables::cases::{self, CaseLine, DrawnNumbers};
use powerband_findings::tables::shapes::{self, ShapeLine};
use powerband_findings::tables::{Table, graph};

impl CurvesState {
    /// Makes the table of cases anew, from the legend as it stands.
    pub(super) fn cases_table(&mut self, shared: &mut Shared) {
        let drawn = DrawnNumbers {
            statistic: self.options.statistic,
            efficiency: self.options.efficiency,
        };
        let mut refs = Vec::new();
        let mut lines = Vec::new();
        for (entry, open, row) in self.shown_cases(shared) {
            let curves = open.findings.curves.iter();
            let has_row = |curve: &&BatchCurve| {
                curve.setup == row.setup && curve.others == row.point.without(curve.along)
            };
            let curve = curves.into_iter().find(has_row);
            let name = shared.sessions.series_name(open.id, row.setup);
            lines.push(CaseLine::new(&open.session, row, curve, &name, drawn));
            let case = CaseKey {
                setup: row.setup,
                point: row.point,
            };
            refs.push(CaseRef {
                pin: Pin {
                    session: open.id,
                    case,
                },
                colour: entry.colour,
            });
        }
        Arc::make_mut(&mut self.drawn).cases = refs;
        let unit = match drawn.statistic {
            Statistic::Median => "ms, median",
            Statistic::Mean => "ms, mean",
            Statistic::P90 => "ms, p90",
            Statistic::P99 => "ms, p99",
        };
        let table = cases::of_lines(lines).with_unit("latency_ms", unit);
        shared.tables.set_table("cases", table);
        self.shapes_table(shared);
    }

    fn shown_cases<'a>(
        &'a self,
        shared: &'a Shared,
    ) -> impl Iterator<Item = (&'a LegendEntry, &'a OpenSession, &'a CaseRow)> {
        // Each setup once, with all of its cases: those of sizes that are not drawn are listed too.
        let mut known = BTreeSet::new();
        let shown = self.drawn.legend.iter().filter(|entry| entry.shown);
        let shown = shown.filter(move |entry| known.insert(sessions::of_series(entry.id)));
        shown.flat_map(|entry| {
            let (session, setup) = sessions::of_series(entry.id);
            let open = shared.sessions.get(session).into_iter();
            open.flat_map(move |open| {
                let rows = open.findings.rows.iter();
                let own = rows.filter(move |row| row.setup == setup);
                own.map(move |row| (entry, open, row))
            })
        })
    }

    /// A row for each curve with a tried batch; no table where no shape is known and no larger batch
    /// failed.
    fn shapes_table(&mut self, shared: &mut Shared) {
        let shown = self.drawn.legend.iter().filter(|entry| entry.shown);
        let tried = shown.filter_map(|entry| {
            let curve = self.curve(&shared.sessions, entry.id)?;
            shapes::is_tried(curve).then(|| (entry, curve.clone()))
        });
        let (mut refs, mut lines) = (Vec::new(), Vec::new());
        for (entry, curve) in tried {
            refs.push(SeriesRef {
                id: entry.id,
                colour: entry.colour,
                pin: None,
            });
            lines.push(ShapeLine {
                name: entry.name.clone(),
                curve,
            });
        }
        if lines.iter().any(|line| shapes::has_content(&line.curve)) {
            shared.tables.set_table("shapes", shapes::of_curves(lines));
        } else {
            refs.clear();
            shared.tables.remove("shapes");
        }
        Arc::make_mut(&mut self.drawn).shapes = refs;
    }

    /// Makes the tables of the cards anew: speed and accuracy, and an engine's graph.
    pub(super) fn card_tables(&self, shared: &mut Shared) {
        let drawn = &self.drawn;
        match &drawn.trade_off {
            card if card.rows.is_empty() => shared.tables.remove("trade-off"),
            card => shared.tables.set_table("trade-off", trade_off::table(card)),
        }
        let graph = drawn.graph.shown.as_ref().map(|_| &drawn.graph.graph);
        for (id, make) in [
            ("patterns", graph::patterns as fn(&_) -> Table),
            ("operators", graph::operators),
            ("providers", graph::providers),
            ("slowest", graph::slowest),
        ] {
            match graph
                .map(|graph| make(graph))
                .filter(|table| !table.is_empty())
            {
                Some(table) => shared.tables.set_table(id, table),
                None => shared.tables.remove(id),
            }
        }
    }

    /// The case before (`by` below 0) or after a pinned one in the table; the first where none is pinned.
    pub(super) fn next_pin(&self, pinned: Option<Pin>, by: i8, shared: &Shared) -> Option<Pin> {
        let view = shared.tables.view("cases")?;
        let cases = &self.drawn.cases;
        let source = pinned.and_then(|pin| cases.iter().position(|case| case.pin == pin));
        let next = match source.and_then(|source| view.shown(source)) {
            None => 0,
            Some(place) => place
                .saturating_add_signed(isize::from(by))
                .min(view.len().saturating_sub(1)),
        };
        Some(cases.get(view.source(next)?)?.pin)
    }
}
