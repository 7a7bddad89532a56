//! One case on several machines: the median of each with its interval, and the fleet's median as a line.

use super::axis::{self, TimeUnit};
use super::spec::{Axis, ChartPoint, ChartSpec, Mark, Series, SeriesId, Stroke};
use crate::analysis::fleet::{FleetCase, FleetMachine};
use powerband_core::base::humanize;

/// Most machines whose names stand below the axis.
const MOST_TICKS: usize = 10;
/// Longer names are cut, in characters.
const LONGEST_NAME: usize = 16;
/// The axis reaches at least this share of the fleet's median to both sides, so that small differences look small.
const LEAST_REACH: f64 = 0.05;
/// The palette index of the odd one out.
const ODD: usize = 4;

/// The median of each machine, in their order.
pub fn medians(case: &FleetCase) -> ChartSpec {
    let highest = case.machines.iter().filter_map(median);
    let unit = TimeUnit::for_largest(highest.fold(0.0, f64::max));
    let mut series = [
        one_series(0, "median", 0),
        one_series(1, "odd one out", ODD),
    ];
    let mut marks = Vec::new();
    for (place, machine) in case.machines.iter().enumerate() {
        let x = place as f64;
        if machine.ratio.is_none() {
            marks.extend(failed(machine, x));
            continue;
        }
        let Some(median) = median(machine) else {
            continue;
        };
        let y = median / unit.ns;
        if machine.is_odd {
            marks.push(Mark::Name {
                at: (x, y),
                series: SeriesId(1),
                text: "odd one out".to_owned(),
            });
        }
        series[usize::from(machine.is_odd)].points.push(
            ChartPoint::new(x, y, place as u64).with_band(
                machine
                    .row
                    .ci95_ns
                    .map(|ci95| (ci95.low / unit.ns, ci95.high / unit.ns)),
            ),
        );
    }
    let series: Vec<Series> = series
        .into_iter()
        .filter(|series| !series.points.is_empty())
        .collect();
    let fleet = case.median_ns.map(|ns| ns / unit.ns);
    marks.extend(fleet.map(|y| Mark::Level {
        y,
        text: "median of the fleet".to_owned(),
    }));
    ChartSpec {
        title: "Medians of machines".to_owned(),
        x: names(case),
        y: times(&series, fleet, unit),
        marks: if series.is_empty() { Vec::new() } else { marks },
        series,
        ..ChartSpec::default()
    }
}

fn median(machine: &FleetMachine) -> Option<f64> {
    Some(machine.row.latency_ns.as_ref()?.median)
}

fn one_series(id: u64, name: &str, colour: usize) -> Series {
    Series::new(
        SeriesId(id),
        name.to_owned(),
        colour,
        Stroke::Dots,
        Vec::new(),
    )
}

/// A machine without a number, where the reason is known.
fn failed(machine: &FleetMachine, x: f64) -> Option<Mark> {
    let reason = machine.row.outcome.sentence()?;
    Some(Mark::Failed {
        x,
        series: SeriesId(0),
        colour: 0,
        reason: format!("{}: {reason}", machine.name),
    })
}

/// An axis around the medians, the fleet's, and their intervals.
fn times(series: &[Series], fleet: Option<f64>, unit: TimeUnit) -> Axis {
    let points = || series.iter().flat_map(|series| &series.points);
    let ends = |pick: fn((f64, f64)) -> f64| points().filter_map(move |one| one.band.map(pick));
    let values = || points().map(|one| one.y).chain(fleet);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(0.0, f64::max);
    let low = axis::lower_end(low, ends(|band| band.0).fold(low, f64::min));
    let high = axis::upper_end(high, ends(|band| band.1).fold(high, f64::max));
    let around = |share: f64| fleet.map(|fleet| fleet * share);
    let low = around(1.0 - LEAST_REACH).map_or(low, |least| low.min(least));
    let high = around(1.0 + LEAST_REACH).map_or(high, |most| high.max(most));
    let title = format!("{} per batch", unit.name);
    if points().next().is_none() {
        return axis::from_zero(&title, 1.0);
    }
    axis::between(&title, low, high)
}

fn names(case: &FleetCase) -> Axis {
    let names = case.machines.iter();
    let names = names.map(|machine| humanize::shorten(&machine.name, LONGEST_NAME));
    axis::places("machines", 0, names, MOST_TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fleet::compare_machines;
    use crate::analysis::fleet::tests::fleet;
    use crate::analysis::testing::{end_case, failed};

    fn chart(micros: &[u64]) -> ChartSpec {
        medians(&compare_machines(&[("a", &fleet(micros))]).cases[0])
    }

    #[test]
    fn a_dot_for_each_machine_and_a_line_for_the_fleet() {
        let spec = chart(&[1_000, 1_010, 990, 1_800]);
        let of: Vec<(&str, usize)> = spec
            .series
            .iter()
            .map(|series| (series.name.as_str(), series.points.len()))
            .collect();
        assert_eq!(of, [("median", 3), ("odd one out", 1)]);
        assert_eq!(spec.series[1].points[0].tag, 3);
        assert!(spec.series[0].points.iter().all(|one| one.band.is_some()));
        let [Mark::Name { at, .. }, Mark::Level { y, .. }] = spec.marks.as_slice() else {
            panic!("{:?}", spec.marks)
        };
        assert!((at.0, at.1 > 1.39) == (3.0, true), "{at:?}");
        assert!((y / 1.005 - 1.0).abs() < 0.01, "{y}");
        let names: Vec<&str> = spec.x.ticks.iter().map(|tick| tick.text.as_str()).collect();
        assert_eq!(names, ["n0", "n1", "n2", "n3"]);
        assert!(spec.y.high > 1.4 && spec.y.low < 0.99 && spec.y.low > 0.0);
    }

    #[test]
    fn small_differences_look_small() {
        let spec = chart(&[1_000, 1_001, 1_002]);
        assert!(spec.y.low < 0.96 && spec.y.high > 1.04, "{:?}", spec.y);
    }

    #[test]
    fn a_machine_without_a_number_says_why() {
        let mut session = fleet(&[1_000, 1_001, 1_002]);
        session.cases[1].rounds.clear();
        end_case(&mut session, 1, 1, failed());
        let spec = medians(&compare_machines(&[("a", &session)]).cases[0]);
        assert_eq!(spec.failures().len(), 1);
        let reason = spec.marks.iter().find_map(|mark| match mark {
            Mark::Failed { reason, x, .. } => Some((reason.as_str(), *x)),
            _ => None,
        });
        let (reason, x) = reason.unwrap();
        assert!(reason.starts_with("n1: ") && x == 1.0, "{reason}");
    }

    #[test]
    fn many_machines_have_some_of_their_names() {
        let micros: Vec<u64> = (0..40).map(|n| 1_000 + n).collect();
        let spec = chart(&micros);
        assert_eq!(spec.x.ticks.len(), 10);
        assert_eq!(spec.series[0].points.len(), 40);
    }
}
