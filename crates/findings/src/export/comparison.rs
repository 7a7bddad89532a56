//! A comparison as the JSON document that `compare --json` prints.

use std::collections::BTreeSet;

use powerband_core::domain::point::Point;
use serde_json::{Value, json};

use crate::analysis::case_rows::CaseRow;
use crate::analysis::comparison::{CasePair, Comparison};

/// The whole document.
pub fn document(comparison: &Comparison) -> Value {
    let differences = comparison.differences.iter();
    let differences = differences.filter(|difference| difference.differs());
    json!({
        "pairs": comparison.pairs.iter().map(pair).collect::<Vec<_>>(),
        "only_before": batches(&comparison.only_before),
        "only_after": batches(&comparison.only_after),
        "only_before_points": comparison.only_before,
        "only_after_points": comparison.only_after,
        "overall_speed_up": comparison.overall.map(|overall| overall.speed_up),
        "more_rounds": comparison.more_rounds().map(|more| more.rounds),
        "differences": differences.collect::<Vec<_>>(),
        "remarks": comparison.remarks,
        "time_differences": comparison.time_differences,
        "effects": comparison.effects.iter().map(super::fleet::effects).collect::<Vec<_>>(),
        "nothing": comparison.nothing,
    })
}

/// The batch sizes of points, each once.
fn batches(points: &[Point]) -> BTreeSet<usize> {
    points.iter().copied().map(Point::batch).collect()
}

/// One pair of cases.
pub fn pair(pair: &CasePair) -> Value {
    json!({
        "before": case(&pair.before),
        "after": case(&pair.after),
        "speed_up": pair.ratio.map(|ratio| ratio.speed_up),
        "ci95": pair.ratio.and_then(|ratio| ratio.ci95),
        "rounds": pair.ratio.map(|ratio| ratio.rounds),
        "per_item": pair.is_per_item(),
        "interleaved": pair.is_interleaved,
        "verdict": pair.verdict.call.name(),
        "noise_floor": pair.verdict.floor,
        "reason": pair.verdict.reason,
        "more_rounds": pair.verdict.more_rounds.map(|more| more.rounds),
        "more_rounds_probability": pair.verdict.more_rounds.map(|more| more.probability),
        "more_rounds_s": pair.verdict.more_rounds.and_then(|more| more.seconds),
    })
}

fn case(row: &CaseRow) -> Value {
    json!({
        "setup": row.setup_spec,
        "batch": row.point.batch(),
        "point": row.point,
        "median_ms": row.latency_ns.as_ref().map(|times| times.median / 1e6),
        "throughput_per_s": row.throughput_per_s,
        "rounds": row.rounds,
        "samples": row.samples,
        "flags": row.flags.iter().map(|flag| flag.name).collect::<Vec<_>>(),
    })
}
