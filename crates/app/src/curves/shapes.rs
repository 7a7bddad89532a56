//! The table of what can be read from the shapes of the curves: fixed and per-item time, saturation, knee,
//! and how large a batch could be.

use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_findings::analysis::batch_curve::{BatchCurve, CurvePoint, FEWEST_POINTS, Failure};
use powerband_findings::chart::curves::Overlay;
use powerband_findings::chart::spec::SeriesId;

/// Why there is nothing, where they are fewer.
const TOO_FEW: &str =
    "Fewer than three batch sizes were measured: too few for the shape of a curve";

/// Columns of the table, in order.
pub const COLUMNS: [&str; 7] = [
    "Setup",
    "Fixed time",
    "Time per item",
    "Saturation",
    "Knee",
    "Largest batch",
    "Larger ones",
];

/// What each column means, in a sentence.
pub const COLUMN_HELP: [&str; 7] = [
    "One way to run the model: engine, device and options",
    "What a batch takes however small it is: where the straight line through the median times begins",
    "What each item adds to the time of a batch: how steep the same line is",
    "Items a second that ever larger batches tend to: one divided by the time per item; named only where half of it was reached",
    "The smallest batch that reaches 90 % of the best throughput of its curve: larger ones gain little and take longer",
    "The largest batch that was measured",
    "The first larger batch that failed, or that was planned and not measured",
];

/// What a cell says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// In short.
    pub words: String,
    /// More of the same, or why it says nothing; empty for nothing more.
    pub help: String,
}

/// One setup in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Which.
    pub id: SeriesId,
    /// Its palette index.
    pub colour: usize,
    /// What each column says.
    pub cells: [Cell; 7],
    /// Whether a batch failed that was larger than all that ran.
    pub has_failed: bool,
}

/// A row for each curve of which anything was tried; none at all where no shape can be read and no larger
/// batch failed.
pub fn curve_shapes(overlays: &[Overlay<'_>]) -> Vec<Shape> {
    let says_something = |curve: &BatchCurve| has_shape(curve) || failed(curve).is_some();
    if !overlays.iter().any(|overlay| says_something(overlay.curve)) {
        return Vec::new();
    }
    let is_tried = |overlay: &&Overlay<'_>| {
        let curve = overlay.curve;
        !curve.points.is_empty() || !curve.failures.is_empty()
    };
    overlays.iter().filter(is_tried).map(shape).collect()
}

fn shape(overlay: &Overlay<'_>) -> Shape {
    let curve = overlay.curve;
    let largest = curve.largest_batch.map(|batch| batch as u64);
    Shape {
        id: overlay.id,
        colour: overlay.colour,
        cells: [
            plain(overlay.name.clone()),
            of_line(curve, curve.line.map(|line| line.fixed)),
            of_line(curve, curve.line.map(|line| line.per_item)),
            saturation(curve),
            knee(curve),
            plain(largest.map_or_else(|| UNKNOWN.to_owned(), humanize::count)),
            larger(curve),
        ],
        has_failed: failed(curve).is_some(),
    }
}

fn plain(words: String) -> Cell {
    Cell {
        words,
        help: String::new(),
    }
}

fn unknown(why: &str) -> Cell {
    Cell {
        words: UNKNOWN.to_owned(),
        help: why.to_owned(),
    }
}

fn has_shape(curve: &BatchCurve) -> bool {
    curve.points.len() >= FEWEST_POINTS
}

/// Why there is no line.
fn no_line(curve: &BatchCurve) -> &'static str {
    if has_shape(curve) {
        "The times do not follow a straight line"
    } else {
        TOO_FEW
    }
}

/// A time of the line, and how much the line is worth.
fn of_line(curve: &BatchCurve, time_ns: Option<f64>) -> Cell {
    let (Some(line), Some(time_ns)) = (&curve.line, time_ns) else {
        return unknown(no_line(curve));
    };
    let explained = humanize::significant(line.r_squared * 100.0, 3);
    Cell {
        words: humanize::duration_ns(time_ns),
        help: format!("The line explains {explained} % of how the times differ"),
    }
}

fn saturation(curve: &BatchCurve) -> Cell {
    let Some(limit) = curve.saturation_per_s else {
        return unknown(if curve.line.is_some() {
            "Less than half of what the line tends to was reached: to name it would be to guess"
        } else {
            no_line(curve)
        });
    };
    let rates = curve.points.iter().map(CurvePoint::rate_or_zero);
    let share = rates.fold(0.0, f64::max) / limit;
    Cell {
        words: humanize::rate(limit),
        help: format!("The best that was measured is {:.0} % of it", share * 100.0),
    }
}

fn knee(curve: &BatchCurve) -> Cell {
    let first = curve.points.first().map(|point| point.batch);
    match (curve.knee, curve.largest_batch) {
        (Some(knee), _) => Cell {
            words: humanize::count(knee as u64),
            help: if first == Some(knee) {
                "The smallest batch that was measured: no larger one gains much".to_owned()
            } else {
                String::new()
            },
        },
        (None, Some(largest)) if has_shape(curve) => Cell {
            words: format!("≥ {}", humanize::count(largest as u64)),
            help: "The throughput still rises at the largest batch that was measured".to_owned(),
        },
        _ => unknown(TOO_FEW),
    }
}

/// The first batch that failed beyond all that were measured.
fn failed(curve: &BatchCurve) -> Option<&Failure> {
    let mut failures = curve.failures.iter();
    failures.find(|failure| Some(failure.batch) > curve.largest_batch)
}

fn larger(curve: &BatchCurve) -> Cell {
    if let Some(failure) = failed(curve) {
        let batch = humanize::count(failure.batch as u64);
        return Cell {
            words: format!("{batch}: {}", failure.outcome.name()),
            help: failure.outcome.sentence().unwrap_or_default(),
        };
    }
    let mut missing = curve.missing.iter();
    match missing.find(|batch| Some(**batch) > curve.largest_batch) {
        Some(batch) => Cell {
            words: format!("{}: not measured", humanize::count(*batch as u64)),
            help: "It was planned, and was left out or is still to come".to_owned(),
        },
        None => plain("none planned".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::session::Session;
    use powerband_findings::analysis::testing::{end, measure_near, out_of_memory, session};
    use powerband_findings::analysis::{batch_curve, case_rows};

    fn shapes_of(session: &Session) -> Vec<Shape> {
        let curves = batch_curve::batch_curves(&case_rows::case_rows(session));
        let overlay = |(place, curve)| Overlay {
            id: SeriesId(place as u64),
            name: format!("curve {place}"),
            colour: place,
            curve,
        };
        let overlays: Vec<Overlay<'_>> = curves.iter().enumerate().map(overlay).collect();
        curve_shapes(&overlays)
    }

    fn words(shape: &Shape) -> [&str; 7] {
        shape.cells.each_ref().map(|cell| cell.words.as_str())
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
        end(&mut session, 1, 16, out_of_memory());
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
        assert_eq!(words(&shapes[0]), rising);
        assert!(shapes[0].cells[3].help.contains("80 %"), "{shapes:?}");
        let level = &shapes[1];
        assert_eq!(words(level)[2], "9.00 ms");
        assert_eq!(words(level)[4..], ["1", "8", "16: out-of-memory"]);
        assert!(level.has_failed && level.cells[6].help.starts_with("out of memory"));
        let short = &shapes[2];
        assert_eq!(words(short)[1..5], [UNKNOWN; 4]);
        assert_eq!(words(short)[5..], ["2", "4: not measured"]);
        assert!(short.cells[1..5].iter().all(|cell| cell.help == TOO_FEW));
        assert!(!short.has_failed);
    }

    #[test]
    fn a_throughput_that_was_not_nearly_reached_is_not_named() {
        // At batch 8, less than half of the time is the items'.
        let mut session = session(&["ort:cpu"], &[1, 4, 8]);
        for batch in [1, 4, 8] {
            measure_near(&mut session, 0, batch, 100_000 + 10_000 * batch as u64);
        }
        let shape = shapes_of(&session).remove(0);
        assert_eq!(words(&shape)[3], UNKNOWN);
        assert!(shape.cells[3].help.contains("half"), "{shape:?}");
    }

    #[test]
    fn nothing_is_said_of_two_batch_sizes_unless_a_larger_one_failed() {
        let mut session = session(&["ort:cpu"], &[1, 2, 4]);
        measure_near(&mut session, 0, 1, 1_000);
        measure_near(&mut session, 0, 2, 1_500);
        assert!(shapes_of(&session).is_empty());
        end(&mut session, 0, 4, out_of_memory());
        let shapes = shapes_of(&session);
        assert_eq!(words(&shapes[0])[5..], ["2", "4: out-of-memory"]);
    }
}
