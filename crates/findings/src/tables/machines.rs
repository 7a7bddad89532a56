//! The machines of a session with their circumstances.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::machine_lines::MachineLine;
use powerband_core::base::humanize;
use powerband_core::domain::environment::Environment;

type MachineColumn = Column<MachineLine>;

/// The machines of a session.
pub fn of_machines(lines: Vec<MachineLine>) -> Table {
    Table::new(COLUMNS, lines)
}

/// The columns of machines.
pub const COLUMNS: &[MachineColumn] = &[
    MachineColumn::text("machine", "Machine", |line| Some(Cell::text(&line.name))),
    MachineColumn::text("address", "Address", |line| text_cell(&line.address))
        .help("What the machine calls itself, and the user of the workers there"),
    MachineColumn::text("setups", "Setups", |line| {
        Some(Cell::text(line.setups.join("; ")))
    }),
    MachineColumn::text("processor", "Processor", |line| {
        Some(Cell::text(line.processor()?))
    })
    .why(why_unknown),
    MachineColumn::number("memory", "Memory", "B", |line| {
        let bytes = line.environment.as_ref()?.memory.total_bytes;
        (bytes > 0).then(|| Cell::bytes(bytes as f64))
    })
    .why(why_unknown),
    MachineColumn::text("cards", "Graphics", |line| Some(Cell::text(line.cards()?)))
        .why(why_unknown),
    MachineColumn::text("driver", "Driver", |line| Some(Cell::text(line.drivers()?)))
        .why(why_unknown),
    MachineColumn::text("settings", "Card settings", |line| {
        text_cell(&line.card_settings)
    })
    .why(why_unknown),
    MachineColumn::text("system", "System", |line| {
        text_cell(&line.environment.as_ref()?.os)
    })
    .why(why_unknown),
    MachineColumn::text("kernel", "Kernel", |line| {
        text_cell(&line.environment.as_ref()?.kernel)
    })
    .why(why_unknown),
    MachineColumn::text("governor", "Governor", |line| {
        text_cell(line.environment.as_ref()?.cpu.governor.as_ref()?)
    })
    .why(why_unknown),
    MachineColumn::number("load_before", "Load average at the start", "", |line| {
        let load = line.environment.as_ref()?.load_before?;
        Some(Cell::shown(format!("{load:.2}"), load))
    })
    .why(why_unknown),
    MachineColumn::text("program", "Powerband", |line| {
        let environment: &Environment = line.environment.as_ref()?;
        text_cell(&environment.program)
    })
    .why(why_unknown),
    MachineColumn::text("clock", "Clock", |line| text_cell(line.clock.as_ref()?))
        .help("How far moments of its clock may be off on this machine's"),
    MachineColumn::text("warnings", "Warnings", |line| {
        let many = humanize::pluralised(line.warnings.len() as u64, "warning");
        (!line.warnings.is_empty()).then(|| Cell::text(many).noted(line.warnings.join("\n")))
    })
    .help("Warnings of the run about this machine"),
];

fn text_cell(text: &str) -> Option<Cell> {
    (!text.is_empty()).then(|| Cell::text(text))
}

fn why_unknown(line: &MachineLine) -> String {
    match line.environment {
        None => "the machine was not reached".to_owned(),
        Some(_) => "the machine does not report it".to_owned(),
    }
}
