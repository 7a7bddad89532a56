//! What can be read from the shape of each curve: fixed and per-item time, saturation, knee, and how large a
//! batch could be.

use super::cell::{Cell, Tone};
use super::{Column, Table};
use crate::analysis::batch_curve::{BatchCurve, CurvePoint, FEWEST_POINTS, Failure, knees_text};
use powerband_core::base::humanize;
use powerband_core::stats::joint::Statement;

type ShapeColumn = Column<ShapeLine>;

/// Why there is nothing, where they are fewer.
const TOO_FEW: &str =
    "Fewer than three batch sizes were measured: too few for the shape of a curve";

/// A row: a curve, under the name that it has beside others.
#[derive(Clone, Debug)]
pub struct ShapeLine {
    /// What the setup is called.
    pub name: String,
    /// The curve.
    pub curve: BatchCurve,
}

/// Whether any shape can be read, or any batch failed that was larger than all that ran.
pub fn has_content(curve: &BatchCurve) -> bool {
    has_shape(curve) || failed(curve).is_some()
}

/// Whether anything of a curve was tried.
pub fn is_tried(curve: &BatchCurve) -> bool {
    !curve.points.is_empty() || !curve.failures.is_empty()
}

/// The shapes of curves.
pub fn of_curves(lines: Vec<ShapeLine>) -> Table {
    Table::new(COLUMNS, lines)
}

/// The columns of shapes.
pub const COLUMNS: &[ShapeColumn] = &[
    ShapeColumn::text("label", "Setup", |line| Some(Cell::text(&line.name)))
        .help("One way to run the model: engine, device and options"),
    ShapeColumn::number("fixed_ms", "Fixed time", "ms", |line| {
        of_line(&line.curve, line.curve.line?.fixed)
    })
    .help("What a batch takes however small it is: where the straight line through the median times begins")
    .why(|line| why_no_line(&line.curve)),
    ShapeColumn::number("per_item_ms", "Time per item", "ms", |line| {
        of_line(&line.curve, line.curve.line?.per_item)
    })
    .help("What each item adds to the time of a batch: how steep the same line is")
    .why(|line| why_no_line(&line.curve)),
    ShapeColumn::number("saturation_per_s", "Saturation", "/s", |line| saturation(&line.curve))
        .help("Items a second that ever larger batches tend to: one divided by the time per item; named only where half of it was reached")
        .why(|line| why_no_saturation(&line.curve)),
    ShapeColumn::number("knee", "Knee", "", |line| knee(&line.curve))
        .help("The smallest batch that reaches 90 % of the best throughput of its curve: larger ones gain little and take longer")
        .why(|_| TOO_FEW.to_owned()),
    ShapeColumn::number("largest", "Largest batch", "", |line| {
        Some(Cell::count(line.curve.largest? as u64))
    })
    .help("The largest batch that was measured"),
    ShapeColumn::text("larger", "Larger ones", |line| Some(larger(&line.curve)))
        .help("The first larger batch that failed, or that was planned and not measured"),
];

fn has_shape(curve: &BatchCurve) -> bool {
    curve.points.len() >= FEWEST_POINTS
}

fn why_no_line(curve: &BatchCurve) -> String {
    let why = if has_shape(curve) {
        "The times do not follow a straight line"
    } else {
        TOO_FEW
    };
    why.to_owned()
}

/// A time of the line, and how much the line is worth.
fn of_line(curve: &BatchCurve, time_ns: f64) -> Option<Cell> {
    let explained = humanize::percent(curve.line?.r_squared);
    let note = format!("The line explains {explained} of how the times differ");
    Some(Cell::time(time_ns).noted(note))
}

fn saturation(curve: &BatchCurve) -> Option<Cell> {
    let limit = curve.saturation_per_s?;
    let rates = curve.points.iter().map(CurvePoint::rate_or_zero);
    let share = humanize::percent(rates.fold(0.0, f64::max) / limit);
    Some(Cell::rate(limit).noted(format!("The best that was measured is {share} of it")))
}

fn why_no_saturation(curve: &BatchCurve) -> String {
    if curve.line.is_some() {
        "Less than half of the limit of the line was reached, so the limit is uncertain".to_owned()
    } else {
        why_no_line(curve)
    }
}

fn knee(curve: &BatchCurve) -> Option<Cell> {
    let first = curve.points.first().map(|point| point.size);
    let largest = curve.largest?;
    match curve.knee.as_ref()? {
        Statement::Settled(Some(knee)) if first == Some(*knee) => Some(
            Cell::count(*knee as u64)
                .noted("The smallest batch that was measured: no larger one gains much"),
        ),
        Statement::Settled(Some(knee)) => Some(Cell::count(*knee as u64)),
        Statement::Settled(None) => {
            let text = format!("≥ {}", humanize::count(largest as u64));
            let note = "The throughput still rises at the largest batch that was measured";
            Some(Cell::shown(text, largest as f64).noted(note))
        }
        Statement::NotSettled(candidates) => {
            let text = knees_text(candidates);
            Some(Cell::text("not settled").noted(format!(
                "The rounds do not settle which batch is the first to reach 90 % of the best throughput: {text}"
            )))
        }
    }
}

/// The first batch that failed beyond all that were measured.
fn failed(curve: &BatchCurve) -> Option<&Failure> {
    let mut failures = curve.failures.iter();
    failures.find(|failure| Some(failure.size) > curve.largest)
}

fn larger(curve: &BatchCurve) -> Cell {
    if let Some(failure) = failed(curve) {
        let batch = humanize::count(failure.size as u64);
        return Cell::text(format!("{batch}: {}", failure.outcome.name()))
            .toned(Tone::Bad)
            .noted(failure.outcome.sentence().unwrap_or_default());
    }
    let mut missing = curve.missing.iter();
    match missing.find(|batch| Some(**batch) > curve.largest) {
        Some(batch) => Cell::text(format!("{}: not measured", humanize::count(*batch as u64)))
            .noted("It was planned, and was skipped or is still to come"),
        None => Cell::text("none planned"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{end_case, measure_near, out_of_memory, session};
    use crate::analysis::{batch_curve, case_rows};
    use powerband_core::base::humanize::UNKNOWN;
    use powerband_core::domain::session::Session;

    /// The rows of the curves of which anything was tried; none where none says anything.
    fn shapes_of(session: &Session) -> Vec<Vec<Cell>> {
        let curves = batch_curve::batch_curves(&case_rows::case_rows(session));
        if !curves.iter().any(has_content) {
            return Vec::new();
        }
        let tried = curves.into_iter().filter(is_tried).enumerate();
        let lines = tried.map(|(place, curve)| ShapeLine {
            name: format!("curve {place}"),
            curve,
        });
        let table = of_curves(lines.collect());
        let row = |row| {
            (0..COLUMNS.len())
                .map(|column| table.cell(row, column))
                .collect()
        };
        (0..table.len()).map(row).collect()
    }

    fn shown_texts(shape: &[Cell]) -> Vec<&str> {
        shape.iter().map(Cell::shown_text).collect()
    }

    #[test]
    fn every_curve_says_what_its_shape_tells() {
        let mut session = session(
            &["ort:cpu", "tract:cpu", "fake:cpu", "pytorch:cpu"],
            &[1, 2, 4, 8, 16],
        );
        for batch in [1, 2, 4, 8, 16] {
            measure_near(&mut session, 0, batch, 4_000 + 1_000 * batch as u64);
        }
        for batch in [1, 2, 4, 8] {
            measure_near(&mut session, 1, batch, 500 + 9_000 * batch as u64);
        }
        end_case(&mut session, 1, 16, out_of_memory());
        for batch in [1, 2] {
            measure_near(&mut session, 2, batch, 1_000);
        }
        let shapes = shapes_of(&session);
        // The last setup was not tried yet.
        assert_eq!(shapes.len(), 3);
        let rising = [
            "curve 0",
            "4.00 ms",
            "1.00 ms",
            "1,000 /s",
            "≥ 16",
            "16",
            "none planned",
        ];
        assert_eq!(shown_texts(&shapes[0]), rising);
        assert!(shapes[0][3].note.contains("80.0 %"), "{shapes:?}");
        let level = &shapes[1];
        assert_eq!(shown_texts(level)[2], "9.00 ms");
        assert_eq!(shown_texts(level)[4..], ["1", "8", "16: out-of-memory"]);
        assert!(level[6].tone == Tone::Bad && level[6].note.starts_with("out of memory"));
        let short = &shapes[2];
        assert_eq!(shown_texts(short)[1..5], [UNKNOWN; 4]);
        assert_eq!(shown_texts(short)[5..], ["2", "4: not measured"]);
        assert!(short[1..5].iter().all(|cell| cell.note == TOO_FEW));
        assert_eq!(short[6].tone, Tone::Plain);
    }

    #[test]
    fn a_throughput_that_was_not_nearly_reached_is_not_named() {
        // At batch 8, less than half of the time is the items'.
        let mut session = session(&["ort:cpu"], &[1, 4, 8]);
        for batch in [1, 4, 8] {
            measure_near(&mut session, 0, batch, 100_000 + 10_000 * batch as u64);
        }
        let shape = shapes_of(&session).remove(0);
        assert_eq!(shown_texts(&shape)[3], UNKNOWN);
        assert!(shape[3].note.contains("half"), "{shape:?}");
    }

    #[test]
    fn nothing_is_said_of_two_batch_sizes_unless_a_larger_one_failed() {
        let mut session = session(&["ort:cpu"], &[1, 2, 4]);
        measure_near(&mut session, 0, 1, 1_000);
        measure_near(&mut session, 0, 2, 1_500);
        assert!(shapes_of(&session).is_empty());
        end_case(&mut session, 0, 4, out_of_memory());
        let shapes = shapes_of(&session);
        assert_eq!(shown_texts(&shapes[0])[5..], ["2", "4: out-of-memory"]);
    }
}
