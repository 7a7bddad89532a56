//! The table of a run: how far each case is, and what is known of it so far.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use super::LiveRun;
use crate::doors::BenchDoor;
use crate::option_names::without_options;
use crate::shared::Shared;
use powerband_core::domain::case::Case;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::flags::Flag;
use powerband_findings::tables::cell::{Cell, Tone};
use powerband_findings::tables::{Column, Table};

/// A row: a case of the run.
#[derive(Clone, Debug)]
struct RunRow {
    setup: String,
    point: Point,
    rounds: usize,
    planned: usize,
    median_ns: Option<f64>,
    per_s: Option<f64>,
    state: (String, Tone),
    outcome: Option<String>,
    flags: Vec<Flag>,
}

type RunColumn = Column<RunRow>;

/// The columns of the cases of a run.
const COLUMNS: &[RunColumn] = &[
    RunColumn::text("setup", "Setup", |line| Some(Cell::text(&line.setup)))
        .help("One way to run the model: engine, device and options"),
    RunColumn::number("batch", "Batch", "", |line| Some(Cell::count(line.point.batch() as u64)))
        .help("Items that go through the network in one run"),
    RunColumn::number("rounds", "Rounds", "", |line| {
        let text = format!("{} /{}", line.rounds, line.planned);
        Some(Cell::shown(text, line.rounds as f64))
    })
    .help("Rounds measured so far, of those that are planned, earlier ones included; a case that is still unsure may get more"),
    RunColumn::number("median_ms", "Median", "ms", |line| line.median_ns.map(Cell::time))
        .help("Half of all samples so far are faster")
        .why(not_yet),
    RunColumn::number("throughput_per_s", "Throughput", "/s", |line| line.per_s.map(Cell::rate))
        .help("Items done over time spent, so far")
        .why(not_yet),
    RunColumn::text("outcome", "Outcome", |line| {
        let (words, tone) = &line.state;
        let note = line.outcome.clone().unwrap_or_default();
        Some(Cell::text(words).toned(*tone).noted(note).flagged(&line.flags))
    })
    .help("Progress or end of the case, and its flags"),
];

/// Why a case has no numbers.
fn not_yet(line: &RunRow) -> String {
    let outcome = line.outcome.clone();
    outcome.unwrap_or_else(|| "no round of it has ended yet".to_owned())
}

fn line(run: &LiveRun, session: &Session, case: &Case, row: Option<&CaseRow>) -> RunRow {
    let flags = row.map_or(&[][..], |row| &row.flags);
    RunRow {
        setup: session.setup_label(case.setup),
        point: case.point,
        rounds: case.rounds.len(),
        planned: run.planned_rounds(session, case),
        median_ns: row.and_then(|row| Some(row.latency_ns.as_ref()?.median)),
        per_s: row.and_then(|row| row.throughput_per_s),
        state: run.state(case),
        outcome: case.outcome.sentence().map(without_options),
        flags: flags.to_vec(),
    }
}

impl LiveRun {
    /// The cases that the filter lists, in the order of the session.
    pub(super) fn table(&self, session: &Session) -> Table {
        let rows = &self.findings.rows;
        let listed = self.listed.iter();
        let cases = listed.filter_map(|&place| Some((place, session.cases.get(place)?)));
        let lines = cases.map(|(place, case)| {
            // Rows are made in the order of the cases.
            let row = rows.get(place);
            let row = row.filter(|row| (row.setup, row.point) == (case.setup, case.point));
            line(self, session, case, row)
        });
        let lines: Vec<RunRow> = lines.collect();
        let points = lines.iter().map(|line| line.point).collect();
        Table::new(COLUMNS, lines).with_points(points)
    }

    /// A number that is another one whenever the table is.
    fn mark(&self, session: &Arc<Session>) -> u64 {
        let mut hasher = DefaultHasher::new();
        (Arc::as_ptr(session) as usize).hash(&mut hasher);
        (Arc::as_ptr(&self.findings.rows) as usize).hash(&mut hasher);
        let current = self.current_case().map(|case| (case.setup, case.point));
        (current, self.skipped.len(), self.taken_back.len()).hash(&mut hasher);
        (self.state_words(), self.filter).hash(&mut hasher);
        hasher.finish()
    }
}

impl BenchDoor {
    /// Makes the table of the run anew where anything changed.
    pub(crate) fn run_table(&mut self, shared: &mut Shared) {
        let found = self.run.as_mut().map(|run| (run.session.clone(), run));
        let Some((Some(session), run)) = found else {
            return shared.tables.remove("run");
        };
        let mark = run.mark(&session);
        if shared.tables.mark("run") != mark {
            run.listed = run.places(run.filter);
            let table = run.table(&session);
            shared.tables.put_marked("run", table, mark);
        }
    }
}
