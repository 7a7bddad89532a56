//! A gate: what was held against which limit, and what came of it.

use super::document::{Block, Document, NoteLevel, ReportCell, ReportTable};
use crate::analysis::gate::{Gate, GateResult, GateRow, is_kernel, signed_percent};
use crate::tables::cell::Tone;
use powerband_core::base::humanize;
use powerband_core::domain::session::Session;

/// So many rows are shown; the rest is folded.
const MOST_ROWS: usize = 10;

/// In one sentence: `Failed: 1 of 3 got worse by more than its limit.`
pub fn headline(gate: &Gate) -> String {
    let count = |wanted| gate.rows.iter().filter(|row| row.result == wanted).count();
    let all = gate.rows.len();
    let is_unmeasured = |row: &&GateRow| row.loss_percent.is_none();
    let unmeasured = gate.rows.iter().filter(is_unmeasured).count();
    let (failed, open) = (count(GateResult::Failed), count(GateResult::Open));
    match gate.result {
        GateResult::Failed => {
            format!("Failed: {failed} of {all} got worse by more than the limit.")
        }
        GateResult::Open if unmeasured > 0 => {
            format!("Not measured: {unmeasured} of {all} cannot be held against the limit.")
        }
        GateResult::Open => {
            format!("Not settled: {open} of {all} may be within the limit or beyond it.")
        }
        GateResult::Passed => {
            format!("Passed: {all} of {all} did not get worse by more than the limit.")
        }
    }
}

/// What the terminal shows.
pub fn sections(gate: &Gate) -> Vec<Vec<Block>> {
    let remarks = gate.remarks.iter();
    let remarks = remarks.map(|remark| Block::Note(NoteLevel::Remark, remark.as_str().into()));
    vec![
        remarks.collect(),
        vec![Block::Table(table(gate.rows.iter()))],
        vec![Block::paragraph(headline(gate))],
        Vec::from_iter(Block::list(reasons(&gate.rows))),
        Vec::from_iter(Block::list(footnotes(&gate.rows))),
    ]
}

/// The summary of a job, or a comment: what failed first.
pub fn document(gate: &Gate, session: &Session, footer: &str) -> Document {
    let mut rows: Vec<&GateRow> = gate.rows.iter().collect();
    rows.sort_by_key(|row| match row.result {
        GateResult::Failed => 0,
        GateResult::Open => 1,
        GateResult::Passed => 2,
    });
    let sides: Vec<String> = (0..session.plan.setups.len())
        .map(|setup| session.setup_label(setup))
        .collect();
    let (shown, folded) = rows.split_at(rows.len().min(MOST_ROWS));
    let mut blocks = vec![Block::Table(table(shown.iter().copied()))];
    if !folded.is_empty() {
        let title = format!("{} more", folded.len());
        let lines: Vec<String> = folded.iter().map(|row| line(row)).collect();
        blocks.push(Block::Folded(title, "", lines.join("\n")));
    }
    blocks.extend(Block::list(reasons(&gate.rows)));
    blocks.extend(Block::list(&gate.remarks));
    blocks.extend(Block::list(footnotes(&gate.rows)));
    Document {
        title: headline(gate),
        subtitle: format!(
            "{}: {}, on {}",
            session.model.name,
            sides.join(" against "),
            session.environment.cpu.model
        ),
        page: None,
        blocks,
        footer: footer.to_owned(),
    }
}

fn table<'a>(rows: impl Iterator<Item = &'a GateRow>) -> ReportTable {
    let numbers = [
        ("Base", ""),
        ("New", ""),
        ("Worse by", ""),
        ("Interval", ""),
        ("Limit", ""),
    ];
    let table = ReportTable::new(&["Metric", "Point"], &numbers).and_words("Result");
    let rows = rows.map(|row| {
        let known = |text: Option<String>| ReportCell::known(text, "");
        vec![
            ReportCell::new(capitalised(&row.metric)),
            known(row.point.clone()),
            known(row.base.clone()),
            known(row.new.clone()),
            known(row.loss_percent.map(signed_percent)),
            known(interval(row)),
            ReportCell::new(format!("{} %", humanize::significant(row.limit_percent, 3))),
            ReportCell::new(row.result.name()).toned(tone(row.result)),
        ]
    });
    ReportTable {
        rows: rows.collect(),
        ..table
    }
}

fn interval(row: &GateRow) -> Option<String> {
    let [least, most] = row.loss_interval?;
    // Beyond ten times either way nothing is known.
    let is_known = least > -90.0 && most < 900.0;
    Some(if is_known {
        format!("{} to {}", signed_percent(least), signed_percent(most))
    } else {
        humanize::NOT_KNOWN.to_owned()
    })
}

fn tone(result: GateResult) -> Tone {
    match result {
        GateResult::Passed => Tone::Good,
        GateResult::Failed => Tone::Bad,
        GateResult::Open => Tone::Plain,
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

fn title(row: &GateRow) -> String {
    let metric = capitalised(&row.metric);
    match &row.point {
        Some(point) => format!("{metric}, {point}"),
        None => metric,
    }
}

fn line(row: &GateRow) -> String {
    let change = row.loss_percent.map(signed_percent);
    let change = change.map_or_else(String::new, |change| format!(", {change}"));
    format!("{}: {}{change}", title(row), row.result.name())
}

/// How the numbers came about.
fn footnotes(rows: &[GateRow]) -> Vec<&'static str> {
    let has_interval = rows.iter().any(|row| row.loss_interval.is_some());
    let has_kernel = rows.iter().any(|row| is_kernel(&row.metric));
    let ratio = "Worse by: the geometric mean over the rounds that both sides took turns in; it may differ from the quotient of the two numbers beside it.";
    let kernel = "A kernel's time is that of a run under the profiler, which slows it down.";
    let ratio = has_interval.then_some(ratio);
    ratio
        .into_iter()
        .chain(has_kernel.then_some(kernel))
        .collect()
}

/// Why rows are open, or what to know of their numbers.
fn reasons(rows: &[GateRow]) -> Vec<String> {
    let reasons = rows.iter().filter_map(|row| {
        let reason = row.reason.as_ref()?;
        Some(format!("{}: {reason}.", title(row)))
    });
    reasons.collect()
}
