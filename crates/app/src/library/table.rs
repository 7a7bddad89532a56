//! The table of the library: a row for each session that has the words of the search.

use std::path::PathBuf;

use super::{LibraryState, ScannedFile, SessionEntry};
use powerband_core::domain::session::Completion;
use powerband_findings::tables::cell::{Cell, Tone};
use powerband_findings::tables::{Column, Table};

/// A row: a file of the library, and what is in it or why it cannot be read.
type LibraryRow = (PathBuf, ScannedFile);

type LibraryColumn = Column<LibraryRow>;

/// The columns of sessions.
const COLUMNS: &[LibraryColumn] = &[
    LibraryColumn::text("name", "Session", |(path, scanned)| {
        Some(match &scanned.entry {
            Ok(entry) => Cell::text(&entry.name),
            Err(reason) => {
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                Cell::text(format!("{file}, cannot be read"))
                    .toned(Tone::Bad)
                    .noted(reason)
            }
        })
    }),
    LibraryColumn::text("model", "Model", |line| {
        Some(Cell::text(&entry(line)?.model))
    })
    .why(why_unreadable),
    LibraryColumn::text("machine", "Machine", |line| {
        let machine = &entry(line)?.machine;
        (!machine.is_empty()).then(|| Cell::text(machine))
    })
    .help("Its graphics processors, or its processor where it has none")
    .why(why_no_machine),
    LibraryColumn::text("engines", "Engines", |line| {
        let engines = &entry(line)?.engines;
        (!engines.is_empty()).then(|| Cell::text(engines.join(", ")))
    })
    .why(why_not_planned),
    LibraryColumn::number("setups", "Setups", "", |line| {
        planned(line, |entry| entry.setups.len())
    })
    .why(why_not_planned)
    .hidden(),
    LibraryColumn::number("batches", "Points", "", |line| {
        planned(line, |entry| entry.points.len())
    })
    .why(why_not_planned)
    .hidden(),
    LibraryColumn::text("cases", "Cases", |line| {
        let entry = entry(line).filter(|entry| !entry.is_published_only())?;
        let text = format!("{} × {}", entry.setups.len(), entry.points.len());
        Some(Cell::text(text))
    })
    .help("Setups times points of the sweep")
    .why(why_not_planned),
    LibraryColumn::text("state", "State", |line| {
        let entry = entry(line).filter(|entry| !entry.is_published_only())?;
        Some(Cell::text(entry.state_name()))
    })
    .why(why_not_planned),
    LibraryColumn::text("measured", "Measured", |line| {
        Some(Cell::moment(entry(line)?.measured()?))
    })
    .why(why_no_moment),
    LibraryColumn::text("tags", "Tags", |line| {
        let tags: Vec<String> = entry(line)?
            .tags
            .iter()
            .map(|tag| format!("#{tag}"))
            .collect();
        Some(Cell::text(tags.join(" ")))
    })
    .why(why_unreadable),
    LibraryColumn::text("notes", "Notes", |line| {
        let notes = &entry(line)?.notes;
        Some(Cell::text(notes.lines().next().unwrap_or_default()).noted(notes))
    })
    .hidden(),
    LibraryColumn::text("file", "File", |(path, _)| {
        Some(Cell::text(path.display().to_string()))
    })
    .hidden(),
];

fn entry(line: &LibraryRow) -> Option<&SessionEntry> {
    line.1.entry.as_ref().ok()
}

fn planned(line: &LibraryRow, count: fn(&SessionEntry) -> usize) -> Option<Cell> {
    let entry = entry(line).filter(|entry| !entry.is_published_only())?;
    Some(Cell::count(count(entry) as u64))
}

fn why_not_planned(line: &LibraryRow) -> String {
    match &line.1.entry {
        Ok(_) => "its numbers were published: there is no plan".to_owned(),
        Err(reason) => reason.clone(),
    }
}

fn why_no_machine(line: &LibraryRow) -> String {
    match &line.1.entry {
        Ok(_) => "its file does not say it".to_owned(),
        Err(reason) => reason.clone(),
    }
}

fn why_unreadable(line: &LibraryRow) -> String {
    let reason = line.1.entry.as_ref().err();
    reason.map(ToString::to_string).unwrap_or_default()
}

fn why_no_moment(line: &LibraryRow) -> String {
    match &line.1.entry {
        Ok(_) => "its numbers were published or imported".to_owned(),
        Err(_) => why_unreadable(line),
    }
}

impl LibraryState {
    /// The sessions that have the words of the search, in the order of [`LibraryState::listed`].
    pub(crate) fn table(&self) -> Table {
        let lines = self
            .listed()
            .map(|(path, scanned)| (path.clone(), scanned.clone()));
        let lines: Vec<LibraryRow> = lines.collect();
        let is_incomplete = |line: &LibraryRow| {
            let state = entry(line).map(SessionEntry::state_name);
            state.is_some_and(|state| state != Completion::Complete.title())
        };
        let all_complete = !lines.iter().any(is_incomplete);
        let table = Table::new(COLUMNS, lines);
        if all_complete {
            table.hiding(&["state"])
        } else {
            table
        }
    }
}
