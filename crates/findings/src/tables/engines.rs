//! What each engine reported of itself, and how long it took to start.

use super::cell::Cell;
use super::{Column, Table};
use powerband_core::domain::session::Session;

type Of = Column<EngineLine>;

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
pub const COLUMNS: &[Of] = &[
    Of::words("setup", "Setup", |line| Some(Cell::words(&line.setup))),
    Of::words("machine", "Machine", |line| {
        Some(Cell::words(&line.machine))
    }),
    Of::words("engine", "Engine", |line| Some(Cell::words(&line.engine))),
    Of::number("threads", "Threads", "", |line| {
        let chosen = line.threads.map(|threads| Cell::count(threads as u64));
        Some(chosen.unwrap_or_else(|| Cell::words("its choice")))
    }),
    Of::number("start_ms", "Start", "ms", |line| line.time(0)),
    Of::number("library_ms", "Library", "ms", |line| line.time(1)),
    Of::number("load_ms", "Loading", "ms", |line| line.time(2)),
    Of::number("empty_run_ms", "Empty run", "ms", |line| line.time(3)),
    Of::number("clock_ms", "Clock", "ms", |line| line.time(4)),
];
