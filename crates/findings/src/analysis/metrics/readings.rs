//! What the devices of two sides said while they were measured.

use super::super::case_pair::CasePair;
use super::super::case_rows::CaseRow;
use super::super::device_readings;
use super::super::side::ComparedSide;
use super::{BeforeAfter, Better, CLOCKS_SAID, ComparedMetric, change, metric};
use powerband_core::base::humanize;
use powerband_core::domain::case::{CaseKey, CpuContention};
use powerband_core::domain::point::Point;
use powerband_core::domain::telemetry::Quantity;
use powerband_core::stats::summary;

/// Clock, temperature, power and utilisation of the device of each side while the compared cases were measured, on average over
/// them: what else was different. A difference of clocks that times may come from is noted.
pub(super) fn metrics_of_readings(
    before: &ComparedSide<'_>,
    after: &ComparedSide<'_>,
    pairs: &[CasePair],
) -> Vec<ComparedMetric> {
    let Some([own, other]) = like_devices(before, after) else {
        return Vec::new();
    };
    // Only of cases that were read on both sides.
    let means_of = |quantity: Quantity| -> BeforeAfter {
        let both = pairs.iter().filter_map(|pair| {
            let first = reading(&pair.before, own, quantity)?;
            Some((first, reading(&pair.after, other, quantity)?))
        });
        let (first, second): (Vec<f64>, Vec<f64>) = both.unzip();
        (summary::mean(&first), summary::mean(&second))
    };
    let names = [
        ("Clock while measuring", Quantity::Clock),
        ("Temperature while measuring", Quantity::Temperature),
        ("Power while measuring", Quantity::Power),
        ("Utilisation while measuring", Quantity::Busy),
    ];
    let metrics = names.into_iter().map(|(name, quantity)| {
        let (first, second) = means_of(quantity);
        let text = |value: f64| device_readings::reading_text(quantity, value);
        let share = first.zip(second).and_then(change);
        let is_clock = quantity == Quantity::Clock;
        let apart = share.filter(|share| is_clock && share.abs() > CLOCKS_SAID);
        ComparedMetric {
            before: first.map(text),
            after: second.map(text),
            note: apart.map(|share| {
                let size = humanize::percent(share.abs());
                let direction = if share > 0.0 { "higher" } else { "lower" };
                format!(
                    "{size} {direction} after: part of the difference of the times may come from it"
                )
            }),
            ..metric(name, None, Better::Neither, (None, None), humanize::value)
        }
    });
    let is_known = |metric: &ComparedMetric| metric.before.is_some() && metric.after.is_some();
    metrics.filter(is_known).collect()
}

/// How many cores other programs used while the compared cases were measured, where the system reports it of both sides.
pub(super) fn others_metric(
    before: &ComparedSide<'_>,
    after: &ComparedSide<'_>,
    pairs: &[CasePair],
) -> Option<ComparedMetric> {
    let cores = |side: &ComparedSide<'_>, points: &[Point]| {
        let setup = side.setup;
        let cases = points
            .iter()
            .filter_map(|&point| side.session.case(CaseKey { setup, point }));
        let company: Vec<CpuContention> = cases
            .flat_map(|case| &case.rounds)
            .filter_map(|round| round.company)
            .collect();
        let sum = |pick: fn(&CpuContention) -> u64| company.iter().map(pick).sum::<u64>() as f64;
        let counted_ns = sum(|one| one.counted_ns);
        (counted_ns > 0.0).then(|| sum(|one| one.others_ns + one.stolen_ns) / counted_ns)
    };
    let points: (Vec<Point>, Vec<Point>) = pairs
        .iter()
        .map(|pair| (pair.before_point, pair.after_point))
        .unzip();
    let values = (cores(before, &points.0), cores(after, &points.1));
    let text: fn(f64) -> String = |cores| format!("{cores:.2} cores");
    values.0.zip(values.1)?;
    Some(metric(
        "Other programs while measuring",
        None,
        Better::Neither,
        values,
        text,
    ))
}

/// The device of each side that its setup computes on, where both are of one kind: the clock of a processor is nothing
/// beside that of a card.
fn like_devices(before: &ComparedSide<'_>, after: &ComparedSide<'_>) -> Option<[usize; 2]> {
    let [own, other] = [before, after].map(|side| {
        let own = device_readings::devices_of_setup(side.session, side.setup);
        let device = *own.first()?;
        let track = side.session.telemetry.tracks.get(device)?;
        Some((device, track.device.kind))
    });
    let (own, other) = (own?, other?);
    (own.1 == other.1).then_some([own.0, other.0])
}

/// The mean of a quantity of a device while a case was measured.
fn reading(row: &CaseRow, device: usize, quantity: Quantity) -> Option<f64> {
    let mut readings = row.device_readings.iter();
    let own = readings.find(|one| one.device == device)?;
    Some(own.extent(quantity)?.mean)
}
