//! What each engine reported of itself, and how long it took to start.

use super::cell::Cell;
use super::{Column, Table};
use powerband_core::domain::session::Session;

type EngineColumn = Column<EngineLine>;

/// A row: a setup whose engine started.
#[derive(Clone, Debug)]
pub struct EngineLine {
    setup: String,
    machine: String,
    engine: String,
    threads: Option<usize>,
    /// Start of the worker, loading of the library, loading of the model, an empty run, the clock.
    times_ns: [u64; 5],
}

impl EngineLine {
    fn time(&self, place: usize) -> Option<Cell> {
        Some(Cell::time(*self.times_ns.get(place)? as f64))
    }
}

/// The engines of a session.
pub fn of_session(session: &Session) -> Table {
    let reports = session.reports.iter().enumerate();
    let lines = reports.filter_map(|(setup, report)| {
        let report = report.as_ref()?;
        Some(EngineLine {
            setup: session.setup_label(setup),
            machine: session
                .machine_of(setup)
                .map_or_else(|| "this machine".to_owned(), |machine| machine.name.clone()),
            engine: report.engine.clone(),
            threads: report.threads,
            times_ns: [
                report.start_ns,
                report.library_ns,
                report.load_ns,
                report.empty_run_ns,
                report.clock_ns,
            ],
        })
    });
    let table = Table::new(COLUMNS, lines.collect());
    if session.machines.is_empty() {
        return table.hiding(&["machine"]);
    }
    table
}

/// The columns of engines.
pub const COLUMNS: &[EngineColumn] = &[
    EngineColumn::text("setup", "Setup", |line| Some(Cell::text(&line.setup))),
    EngineColumn::text("machine", "Machine", |line| Some(Cell::text(&line.machine))),
    EngineColumn::text("engine", "Engine", |line| Some(Cell::text(&line.engine))),
    EngineColumn::number("threads", "Threads", "", |line| {
        let chosen = line.threads.map(|threads| Cell::count(threads as u64));
        Some(chosen.unwrap_or_else(|| Cell::text("its choice")))
    }),
    EngineColumn::number("start_ms", "Start", "ms", |line| line.time(0)),
    EngineColumn::number("library_ms", "Library", "ms", |line| line.time(1)),
    EngineColumn::number("load_ms", "Loading", "ms", |line| line.time(2)),
    EngineColumn::number("empty_run_ms", "Empty run", "ms", |line| line.time(3)),
    EngineColumn::number("clock_ms", "Clock", "ms", |line| line.time(4)),
];
