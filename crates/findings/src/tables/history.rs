//! One case through the sessions of the library, and the changes of its level.

use std::sync::Arc;

use super::cell::Cell;
use super::pairs::interval;
use super::{Column, Table};
use crate::analysis::history::{History, HistoryPoint};
use crate::analysis::history_levels::LevelChange;

type HistoryColumn = Column<HistoryPoint>;
type ChangeColumn = Column<DatedChange>;

/// A change of the level, and when it was.
pub struct DatedChange {
    change: LevelChange,
    session: String,
    created: String,
}

/// The points of a history.
pub fn of_history(history: &History) -> Table {
    let table = Table::shared(COLUMNS, Arc::clone(&history.points));
    let has_commits = history.points.iter().any(|point| point.commit.is_some());
    if has_commits {
        table
    } else {
        table.hiding(&["commit"])
    }
}

/// The changes of the level of a history, oldest first.
pub fn of_changes(history: &History) -> Table {
    let dated = history.changes.iter().map(|change| {
        let point = &history.points[change.place];
        DatedChange {
            change: change.clone(),
            session: point.name.clone(),
            created: point.created.clone(),
        }
    });
    Table::shared(CHANGE_COLUMNS, Arc::new(dated.collect()))
}

/// The columns of changes of a level.
pub const CHANGE_COLUMNS: &[ChangeColumn] = &[
    ChangeColumn::text("since", "Since", |one| Some(Cell::moment(&one.created))),
    ChangeColumn::text("session", "First session", |one| {
        Some(Cell::text(&one.session))
    }),
    ChangeColumn::text("call", "Level", |one| {
        Some(Cell::text(one.change.call.name()))
    }),
    ChangeColumn::number("ratio", "vs. level before", "×", |one| {
        Some(Cell::ratio(one.change.ratio.speed_up))
    })
    .help("Mean latency of the level before, divided by that of the new level: above 1 is faster"),
    ChangeColumn::number("interval", "Interval", "×", |one| {
        interval(&one.change.ratio)
    })
    .help("99 %, by how much sessions differ within levels"),
    ChangeColumn::text("sessions", "Sessions", |one| {
        let (before, after) = one.change.sessions;
        Some(Cell::text(format!("{before}, then {after}")))
    })
    .help("At the level before, and at the new one"),
    ChangeColumn::text("differing", "What changed", |one| {
        let differing = &one.change.differing;
        let names: Vec<&str> = differing.iter().map(|one| one.what).collect();
        Some(Cell::text(names.join(", ")).noted(one.change.differing_text()))
    })
    .why(|_| "no recorded condition changed".to_owned()),
];

/// The columns of a history.
pub const COLUMNS: &[HistoryColumn] = &[
    HistoryColumn::text("session", "Session", |point| Some(Cell::text(&point.name))),
    HistoryColumn::text("created", "When", |point| Some(Cell::moment(&point.created))),
    HistoryColumn::text("commit", "Commit", |point| {
        Some(Cell::text(point.commit.as_ref()?))
    })
    .help("The commit of the project that was measured, as it was told to the run")
    .why(|_| "no commit was told to the run".to_owned()),
    HistoryColumn::number("median_ms", "Median", "ms", |point| {
        Some(Cell::time(point.row.latency_ns.as_ref()?.median).flagged(&point.row.flags))
    })
    .help("Half of the runs were faster")
    .why(|_| "it was not measured".to_owned()),
    HistoryColumn::number("uncertainty", "± 95 %", "%", |point| {
        let text = point.row.uncertainty_text()?;
        Some(Cell::shown(text, point.row.ci95_rel()? * 100.0))
    })
    .help("Measured again, the median would most likely lie within; from resampling whole starts, or rounds where there was one, with Student's t for their small number")
    .why(|_| "an interval needs two rounds".to_owned()),
    HistoryColumn::number("since_earlier", "vs. earlier", "×", |point| {
        Some(Cell::ratio(point.vs_earlier.as_ref()?.ratio.speed_up))
    })
    .help("The mean of the earlier sessions at the same level, or at the level before for the first three of a level, divided by this one: above 1 is faster. With the same load and profiler on the same machine. Sessions are not interleaved, so it includes any change of the machine")
    .why(why_no_earlier),
    HistoryColumn::number("since_earlier_interval", "Interval", "×", |point| {
        interval(&point.vs_earlier.as_ref()?.ratio)
    })
    .help("As wide as the earlier sessions differ from each other, at 99 %; or as is assumed where they are fewer than five")
    .why(why_no_earlier)
    .hidden(),
    HistoryColumn::text("verdict", "Verdict", |point| {
        Some(Cell::verdict(&point.vs_earlier.as_ref()?.verdict))
    })
    .help("Against the mean of the earlier sessions at its level: faster or slower where the whole interval lies beyond the noise floor")
    .why(why_no_earlier),
    HistoryColumn::number("since_last", "vs. previous", "×", |point| {
        Some(Cell::ratio(point.vs_previous.as_ref()?.ratio?.speed_up))
    })
    .help("Latency in the session before divided by this one: above 1 is faster. The sessions were not interleaved, so it includes any change of the machine; it is over the rounds, and may differ from the quotient of the two medians")
    .why(why_no_ratio)
    .hidden(),
    HistoryColumn::number("since_last_interval", "Interval vs. previous", "×", |point| {
        interval(&point.vs_previous.as_ref()?.ratio?)
    })
    .why(why_no_ratio)
    .hidden(),
    HistoryColumn::number("since_first", "vs. first", "×", |point| {
        Some(Cell::ratio(point.vs_first.as_ref()?.ratio?.speed_up))
    })
    .why(why_no_ratio)
    .hidden(),
    HistoryColumn::text("changed", "What changed", |point| {
        let names: Vec<&str> = point.changed.iter().map(|changed| changed.what).collect();
        let details = point.changed.iter().map(|changed| {
            format!("{}: {} → {}", changed.what, changed.before, changed.after)
        });
        let details = details.collect::<Vec<_>>().join("\n");
        Some(Cell::text(names.join(", ")).noted(details))
    }),
    HistoryColumn::text("notes", "Notes", |point| {
        (!point.notes.is_empty()).then(|| Cell::text(&point.notes))
    })
    .why(|_| "the session has no notes".to_owned())
    .hidden(),
];

fn why_no_earlier(_: &HistoryPoint) -> String {
    "no session before it was measured in the same way on the same machine".to_owned()
}

fn why_no_ratio(point: &HistoryPoint) -> String {
    match &point.vs_previous {
        None => "no session before it has this case".to_owned(),
        Some(pair) => pair.verdict.reason.clone().unwrap_or_default(),
    }
}
