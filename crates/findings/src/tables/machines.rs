//! The machines of a session with their circumstances.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::machine_lines::MachineLine;
use powerband_core::base::humanize;
use powerband_core::domain::environment::Environment;

type Of = Column<MachineLine>;

/// The machines of a session.
pub fn of_machines(lines: Vec<MachineLine>) -> Table {
    Table::new(COLUMNS, lines)
}

/// The columns of machines.
pub const COLUMNS: &[Of] = &[
    Of::words("machine", "Machine", |line| Some(Cell::words(&line.name))),
    Of::words("address", "Address", |line| words(&line.address))
        .help("What the machine calls itself, and the user of the workers there"),
    Of::words("setups", "Setups", |line| {
        Some(Cell::words(line.setups.join("; ")))
    }),
    Of::words("processor", "Processor", |line| {
        Some(Cell::words(line.processor()?))
    })
    .why(why_unknown),
    Of::number("memory", "Memory", "B", |line| {
        let bytes = line.environment.as_ref()?.memory.total_bytes;
        (bytes > 0).then(|| Cell::bytes(bytes as f64))
    })
    .why(why_unknown),
    Of::words("cards", "Graphics", |line| Some(Cell::words(line.cards()?))).why(why_unknown),
    Of::words("driver", "Driver", |line| {
        Some(Cell::words(line.drivers()?))
    })
    .why(why_unknown),
    Of::words("settings", "Card settings", |line| {
        words(&line.card_settings)
    })
    .why(why_unknown),
    Of::words("system", "System", |line| {
        words(&line.environment.as_ref()?.os)
    })
    .why(why_unknown),
    Of::words("kernel", "Kernel", |line| {
        words(&line.environment.as_ref()?.kernel)
    })
    .why(why_unknown),
    Of::words("governor", "Governor", |line| {
        words(line.environment.as_ref()?.cpu.governor.as_ref()?)
    })
    .why(why_unknown),
    Of::number("load_before", "Load average before", "", |line| {
        let load = line.environment.as_ref()?.load_before?;
        Some(Cell::shown(format!("{load:.2}"), load))
    })
    .why(why_unknown),
    Of::words("program", "Powerband", |line| {
        let environment: &Environment = line.environment.as_ref()?;
        words(&environment.program)
    })
    .why(why_unknown),
    Of::words("clock", "Clock", |line| words(line.clock.as_ref()?))
        .help("How far moments of its clock may be off on this machine's"),
    Of::words("warnings", "Warnings", |line| {
        let many = humanize::of_many(line.warnings.len() as u64, "warning");
        (!line.warnings.is_empty()).then(|| Cell::words(many).noted(line.warnings.join("\n")))
    })
    .help("Warnings of the run about this machine"),
];

fn words(text: &str) -> Option<Cell> {
    (!text.is_empty()).then(|| Cell::words(text))
}

fn why_unknown(line: &MachineLine) -> String {
    match line.environment {
        None => "the machine was not reached".to_owned(),
        Some(_) => "the machine does not report it".to_owned(),
    }
}
