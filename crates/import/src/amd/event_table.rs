//! Tables of AMD's profilers with an event in each row: the columns that all of them have, and the loop over
//! their rows.

use crate::amd::common::{Agent, EventWriter, Lane, link};
use crate::reading::source::ImportSource;
use crate::reading::table::{TableRow, TextTable};
use crate::{ImportError, Imported};
use powerband_core::domain::slice_args::ArgsText;

/// Where a table of events has what every one of them has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventColumns {
    pub agent: Option<usize>,
    pub queue: Option<usize>,
    pub stream: Option<usize>,
    pub process: Option<usize>,
    pub thread: Option<usize>,
    pub correlation: Option<usize>,
    pub guid: Option<usize>,
    pub start: Option<usize>,
    pub end: Option<usize>,
}

impl EventColumns {
    pub(crate) fn find(table: &TextTable<'_>) -> Self {
        Self {
            agent: table.place(&["gpu_id", "agent_id"]),
            queue: table.place(&["queue_id"]),
            stream: table.place(&["stream_id"]),
            process: table.place(&["process_id"]),
            thread: table.place(&["thread_id"]),
            correlation: table.place(&["correlation_id"]),
            guid: table.place(&["guid"]),
            start: table.place(&["beginns", "start_timestamp"]),
            end: table.place(&["endns", "end_timestamp"]),
        }
    }

    /// Whether the table has times of its events.
    pub(crate) fn have_times(&self) -> bool {
        self.start.is_some() && self.end.is_some()
    }

    /// When a row begins and ends. A number that is cut off is smaller than it was.
    pub(crate) fn span(&self, row: &TableRow<'_>) -> Option<(u64, u64)> {
        let (start, end) = (row.whole_number(self.start)?, row.whole_number(self.end)?);
        (!row.is_open || end >= start).then_some((start, end))
    }

    /// Whether a row's times were rounded until nothing is left between them, as spreadsheets do: `1.62068E+14`.
    pub(crate) fn is_rounded(&self, row: &TableRow<'_>) -> bool {
        let (start, end) = (row.text(self.start), row.text(self.end));
        let has_power = |text: &str| text.contains(['e', 'E']);
        row.whole_number(self.start) == row.whole_number(self.end)
            || has_power(start)
            || has_power(end)
    }

    /// What a row has in common with its launch; 0 for nothing.
    pub(crate) fn link(&self, row: &TableRow<'_>) -> u64 {
        link(
            row.whole_number(self.correlation).unwrap_or(0),
            row.text(self.guid),
        )
    }

    /// The queue that a row ran on.
    pub(crate) fn queue(&self, row: &TableRow<'_>) -> Lane {
        let agent = Agent::parse(row.text(self.agent)).map_or(0, |agent| agent.number);
        Lane::Queue(agent, row.whole_number(self.queue).unwrap_or(0))
    }

    /// The thread that a row ran in.
    pub(crate) fn thread(&self, row: &TableRow<'_>) -> Lane {
        Lane::Thread(
            row.whole_number(self.process),
            row.whole_number(self.thread).unwrap_or(0),
        )
    }
}

/// Columns that are no arguments: what a slice has anyway.
const PASSED_OVER: [&str; 9] = [
    "kernel_name",
    "kernelname",
    "function",
    "name",
    "start_timestamp",
    "end_timestamp",
    "beginns",
    "endns",
    "guid",
];

/// Every column of a row that says more about it, by its title; sizes in three columns become one.
fn write_args(titles: &[String], row: &TableRow<'_>, args: &mut ArgsText) {
    args.clear();
    for (place, title) in titles.iter().enumerate() {
        let plain = title.to_ascii_lowercase();
        if PASSED_OVER.contains(&plain.as_str()) {
            continue;
        }
        let at = |place: usize| row.text(Some(place));
        let is_part = |place: usize, end: &str| {
            let stem = title.get(..title.len().saturating_sub(2));
            let part = titles.get(place).map(|title| title.to_ascii_lowercase());
            part.zip(stem)
                .is_some_and(|(part, stem)| part == format!("{}{end}", stem.to_ascii_lowercase()))
        };
        if plain.ends_with("_x") && is_part(place + 1, "_y") && is_part(place + 2, "_z") {
            let size = format!("{}×{}×{}", at(place), at(place + 1), at(place + 2));
            args.add(title.get(..title.len() - 2).unwrap_or(title), &size);
            continue;
        }
        let is_later = plain.ends_with("_y") && place > 0 && is_part(place - 1, "_x")
            || plain.ends_with("_z") && place > 1 && is_part(place - 2, "_x");
        if !is_later {
            args.add(title, at(place));
        }
    }
}

/// Reads every row of a table; `take` makes an event of one, or nothing of one that cannot be read.
pub(crate) fn read_rows(
    mut table: TextTable<'_>,
    source: &ImportSource,
    into: &mut Imported,
    mut take: impl FnMut(&TableRow<'_>, &mut EventWriter<'_>) -> Option<()>,
) -> Result<(), ImportError> {
    let titles = table.titles.clone();
    let mut events = EventWriter::new(into);
    let mut args = ArgsText::default();
    let mut unread = 0;
    while let Some(row) = table.next_row()? {
        let before = events.len();
        unread += u64::from(take(&row, &mut events).is_none());
        if events.len() > before {
            write_args(&titles, &row, &mut args);
            events.put_args(&args);
        }
    }
    events.finish(&source.name());
    table.finish(unread, into);
    Ok(())
}
