//! The metrics of a comparison side by side, as text.

mod outputs;
mod readings;

use super::break_even;
use super::case_pair::CasePair;
use super::case_rows::CaseRow;
use super::device_readings;
use super::energy::{self, Energy};
use super::generation::RequestFigures;
use super::side::ComparedSide;
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_core::domain::setup_report::SetupReport;
use powerband_core::domain::telemetry::Quantity;
use powerband_core::stats::percentiles::ELIGIBLE;
use powerband_core::stats::summary::Summary;

/// The clocks of two sides differ by so much more than their settings and the sensor explain: it is said.
pub(super) const CLOCKS_SAID: f64 = 0.01;

const ENERGY_PER_ITEM: &str = "Energy per item";
const ENERGY_PER_TOKEN: &str = "Energy per token";
const ITEMS_PER_JOULE: &str = "Items per joule";
const MEAN_POWER: &str = "Mean power";
const WORST_COSINE: &str = "Worst cosine";
const SAME_CHOICE: &str = "Same choice";
const TOP_1: &str = "Top-1";
/// What is known only where cases were measured for their energy.
pub(super) const OF_ENERGY: [&str; 4] = [
    ENERGY_PER_ITEM,
    ITEMS_PER_JOULE,
    MEAN_POWER,
    ENERGY_PER_TOKEN,
];
/// What is known only where outputs were compared with a reference.
pub(super) const OF_ACCURACY: [&str; 3] = [WORST_COSINE, SAME_CHOICE, TOP_1];

/// Which direction is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is better: times.
    Lower,
    /// More is better: rates.
    Higher,
    /// Neither is.
    Neither,
}

/// A metric before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedMetric {
    /// What it is, without the batch size: `Latency`.
    pub name: String,
    /// At which batch size, where it belongs to one.
    pub point: Option<Point>,
    pub before: Option<String>,
    pub after: Option<String>,
    /// How many times as good it became: `6.71 ×`.
    pub change: Option<String>,
    /// Which direction is good.
    pub better: Better,
    /// The same as a number; above 1 is better.
    pub gain: Option<f64>,
    /// Why something is not known.
    pub note: Option<String>,
}

impl ComparedMetric {
    /// Its name with its batch size: `Latency, batch 8`.
    pub fn title(&self) -> String {
        match self.point {
            Some(point) => format!("{}, {point}", self.name),
            None => self.name.clone(),
        }
    }
}

/// The metrics of each pair, then those of the setups as a whole.
pub fn compared_metrics(
    before: &ComparedSide<'_>,
    after: &ComparedSide<'_>,
    pairs: &[CasePair],
) -> Vec<ComparedMetric> {
    let mut metrics: Vec<ComparedMetric> = pairs.iter().flat_map(pair_metrics).collect();
    // What must not be compared has its numbers side by side and no change between them.
    if pairs.iter().any(|pair| pair.ratio.is_none()) {
        for metric in &mut metrics {
            (metric.change, metric.gain) = (None, None);
        }
    }
    metrics.extend(readings::metrics_of_readings(before, after, pairs));
    metrics.extend(readings::others_metric(before, after, pairs));
    metrics.extend(setup_metrics(before, after));
    metrics.extend(outputs::accuracy_metrics(before, after));
    if let Some(smallest) = pairs.first().filter(|pair| !pair.is_per_item()) {
        metrics.push(first_run(before, after, smallest.before_point));
        metrics.push(ready_after(before, after, smallest));
    }
    if let Some(largest) = pairs.last().filter(|pair| !pair.is_per_item()) {
        metrics.push(scaling(before, after, largest.before_point));
    }
    metrics
}

/// Two numbers, either of which may be unknown.
type BeforeAfter = (Option<f64>, Option<f64>);

fn metric(
    name: &str,
    point: Option<Point>,
    better: Better,
    values: BeforeAfter,
    text: fn(f64) -> String,
) -> ComparedMetric {
    let gain = values.0.zip(values.1).and_then(|(before, after)| {
        let gain = match better {
            Better::Lower => before / after,
            Better::Higher => after / before,
            Better::Neither => return None,
        };
        (gain.is_finite() && gain > 0.0).then_some(gain)
    });
    ComparedMetric {
        name: name.to_owned(),
        point,
        before: values.0.map(text),
        after: values.1.map(text),
        change: gain.map(humanize::ratio),
        better,
        gain,
        note: None,
    }
}

fn pair_metrics(pair: &CasePair) -> Vec<ComparedMetric> {
    let (point, divisors, suffix) = if pair.is_per_item() {
        let sizes = (
            pair.before_point.batch() as f64,
            pair.after_point.batch() as f64,
        );
        (None, sizes, " per item")
    } else {
        (Some(pair.before_point), (1.0, 1.0), "")
    };
    let time = |name: &str, pick: fn(&Summary) -> Option<f64>| {
        let values = (
            pair.before
                .latency_ns
                .as_ref()
                .and_then(pick)
                .map(|ns| ns / divisors.0),
            pair.after
                .latency_ns
                .as_ref()
                .and_then(pick)
                .map(|ns| ns / divisors.1),
        );
        let name = format!("{name}{suffix}");
        metric(&name, point, Better::Lower, values, humanize::duration_ns)
    };
    let rates = (pair.before.throughput_per_s, pair.after.throughput_per_s);
    let latency = time("Latency", |summary| Some(summary.median));
    let mut metrics = vec![
        latency,
        ComparedMetric {
            note: why_no_p99(pair),
            ..time("Latency p99", |summary| summary.p99)
        },
        metric("Throughput", point, Better::Higher, rates, humanize::rate),
    ];
    metrics.extend(of_requests(pair, point));
    metrics.extend(of_resources(pair, point));
    metrics
}

/// Requests to a language model, where either side has them. Sequences of several batch sizes are not compared by
/// the rates of the whole batch.
fn of_requests(pair: &CasePair, point: Option<Point>) -> Vec<ComparedMetric> {
    let both = |pick: fn(&RequestFigures) -> Option<f64>| {
        let of = |row: &CaseRow| row.requests.as_ref().and_then(pick);
        (of(&pair.before), of(&pair.after))
    };
    let first = both(|requests| Some(requests.first_token_ns.as_ref()?.median));
    let later = both(|requests| Some(requests.later_token_ns.as_ref()?.median));
    let p99 = both(|requests| requests.later_token_ns.as_ref()?.p99);
    let (lower, higher) = (Better::Lower, Better::Higher);
    let ns: fn(f64) -> String = humanize::duration_ns;
    let rate: fn(f64) -> String = humanize::rate;
    let bytes: fn(f64) -> String = |bytes| humanize::bytes(bytes as u64);
    let metrics = [
        metric("Time to first token", point, lower, first, ns),
        metric("Time per output token", point, lower, later, ns),
        metric("Time per output token p99", point, lower, p99, ns),
        metric(
            "Prefill tokens",
            point,
            higher,
            both(|found| found.prefill_per_s),
            rate,
        ),
        metric(
            "Decode tokens",
            point,
            higher,
            both(|found| found.decode_per_s),
            rate,
        ),
        metric(
            "Cache",
            point,
            lower,
            both(|found| Some(found.cache_bytes? as f64)),
            bytes,
        ),
        metric(
            ENERGY_PER_TOKEN,
            point,
            lower,
            joules_per_token(pair),
            energy::joules_text,
        ),
    ];
    let is_known = |metric: &ComparedMetric| metric.before.is_some() || metric.after.is_some();
    metrics.into_iter().filter(is_known).collect()
}

fn joules_per_token(pair: &CasePair) -> BeforeAfter {
    let of = |row: &CaseRow| {
        let energy = row.energy.as_ref().ok()?;
        row.requests.as_ref()?.joules_per_token(energy)
    };
    (of(&pair.before), of(&pair.after))
}

/// Energy, power and memory of the two cases, as far as at least one side has them.
fn of_resources(pair: &CasePair, point: Option<Point>) -> Vec<ComparedMetric> {
    let both = |pick: &dyn Fn(&CaseRow) -> Option<f64>| (pick(&pair.before), pick(&pair.after));
    let of_energy =
        |pick: fn(&Energy) -> f64| both(&|row: &CaseRow| row.energy.as_ref().ok().map(pick));
    let per_joule = |rate: f64| format!("{} /J", humanize::significant(rate, 3));
    let watts = |watts: f64| device_readings::reading_text(Quantity::Power, watts);
    let bytes = |bytes: f64| humanize::bytes(bytes as u64);
    let why = [&pair.before, &pair.after]
        .into_iter()
        .find_map(|row| row.energy.as_ref().err().cloned());
    let told_by = |row: &CaseRow| {
        let energy = row.energy.as_ref().ok()?;
        Some((energy.devices.clone(), energy.method))
    };
    let (first, second) = (told_by(&pair.before), told_by(&pair.after));
    let is_alike = first.is_none() || second.is_none() || first == second;
    let of_energy = [
        metric(
            ENERGY_PER_ITEM,
            point,
            Better::Lower,
            of_energy(Energy::gross_j_per_item),
            energy::joules_text,
        ),
        metric(
            ITEMS_PER_JOULE,
            point,
            Better::Higher,
            of_energy(Energy::items_per_j),
            per_joule,
        ),
        metric(
            MEAN_POWER,
            point,
            Better::Neither,
            of_energy(Energy::mean_w),
            watts,
        ),
    ]
    .map(|metric| ComparedMetric {
        note: why.clone(),
        ..metric
    })
    .map(|metric| {
        let apart = "measured of different devices, or in different ways";
        compared_if(is_alike, metric, apart)
    });
    let needs = both(&|row: &CaseRow| row.memory.map(|need| need.bytes));
    let memory = metric("Peak memory", point, Better::Lower, needs, bytes);
    let is_known = |metric: &ComparedMetric| metric.before.is_some() || metric.after.is_some();
    let metrics = of_energy.into_iter().chain([memory]);
    metrics.filter(is_known).collect()
}

/// By how much a value changed, as a share; nothing where it was none.
pub(super) fn change((before, after): (f64, f64)) -> Option<f64> {
    (before > 0.0 && after > 0.0).then(|| after / before - 1.0)
}

/// A metric with its change where both sides measured it in the same way, else with the reason and without a change.
fn compared_if(is_alike: bool, metric: ComparedMetric, note: &str) -> ComparedMetric {
    if is_alike {
        return metric;
    }
    ComparedMetric {
        change: None,
        gain: None,
        note: Some(note.to_owned()),
        ..metric
    }
}

/// Why a 99th percentile is not known.
fn why_no_p99(pair: &CasePair) -> Option<String> {
    let needed = ELIGIBLE.iter().find(|(percent, _)| *percent == 99.0)?.1;
    let is_known = |row: &CaseRow| {
        let times = row.latency_ns.as_ref();
        times.is_some_and(|times| times.p99.is_some())
    };
    let lacks = |row: &CaseRow| row.is_stated_only() && !is_known(row);
    if lacks(&pair.before) || lacks(&pair.after) {
        return Some("the imported file does not state it".to_owned());
    }
    // What is known already needs no more samples.
    let counted = |row: &CaseRow| {
        if is_known(row) {
            needed.max(row.samples)
        } else {
            row.samples
        }
    };
    let counts = (counted(&pair.before), counted(&pair.after));
    let samples = |count: u64| humanize::pluralised(count, "sample");
    let seen = match (counts.0 < needed, counts.1 < needed) {
        (false, false) => return None,
        (true, true) if counts.0 != counts.1 => {
            format!("{} and {}", humanize::count(counts.0), samples(counts.1))
        }
        (true, _) => samples(counts.0),
        (false, true) => samples(counts.1),
    };
    Some(format!("{seen}; p99 needs {}", humanize::count(needed)))
}

fn setup_metrics(before: &ComparedSide<'_>, after: &ComparedSide<'_>) -> Vec<ComparedMetric> {
    let value = |side: &ComparedSide<'_>, pick: fn(&SetupReport) -> u64| {
        let report = side
            .session
            .reports
            .get(side.setup)
            .and_then(Option::as_ref);
        report.map(|report| pick(report) as f64)
    };
    let time = |name: &str, pick: fn(&SetupReport) -> u64| {
        let values = (value(before, pick), value(after, pick));
        ComparedMetric {
            note: (values.0.is_none() || values.1.is_none())
                .then(|| "the model was not loaded".to_owned()),
            ..metric(name, None, Better::Lower, values, humanize::duration_ns)
        }
    };
    vec![
        time("Load", |report| report.load_ns),
        time("Library start", |report| report.library_ns),
    ]
}

fn first_run(before: &ComparedSide<'_>, after: &ComparedSide<'_>, point: Point) -> ComparedMetric {
    let value = |side: &ComparedSide<'_>| {
        let case = side.session.case(CaseKey {
            setup: side.setup,
            point,
        })?;
        Some(case.opening.as_ref()?.first_run_ns as f64)
    };
    let values = (value(before), value(after));
    metric(
        "First run",
        Some(point),
        Better::Lower,
        values,
        humanize::duration_ns,
    )
}

/// Set-up time: loading, compiling and the first run together, with the break-even where it got longer.
fn ready_after(
    before: &ComparedSide<'_>,
    after: &ComparedSide<'_>,
    pair: &CasePair,
) -> ComparedMetric {
    let point = pair.before_point;
    let value = |side: &ComparedSide<'_>| {
        let case = CaseKey {
            setup: side.setup,
            point,
        };
        break_even::preparation_ns(side.session, case)
    };
    let values = (value(before), value(after));
    let pays = values.0.zip(values.1);
    let pays = pays.and_then(|(before, after)| break_even::pays_after(pair, before, after));
    let made = metric(
        "Set-up time",
        Some(point),
        Better::Lower,
        values,
        humanize::duration_ns,
    );
    ComparedMetric {
        note: pays.map(|runs| {
            let runs = humanize::pluralised(runs as u64, "run");
            format!("break-even after {runs}")
        }),
        ..made
    }
}

fn scaling(before: &ComparedSide<'_>, after: &ComparedSide<'_>, point: Point) -> ComparedMetric {
    let (first, second) = (before.scaling(point), after.scaling(point));
    let shares = (
        first.map(|(share, _)| share),
        second.map(|(share, _)| share),
    );
    let made = metric(
        "Scaling",
        Some(point),
        Better::Higher,
        shares,
        humanize::percent,
    );
    match (first, second) {
        (Some((_, from)), Some((_, other))) if from != other => ComparedMetric {
            change: None,
            gain: None,
            note: Some(format!(
                "relative to batch {from} before and batch {other} after"
            )),
            ..made
        },
        (Some(_), Some(_)) => made,
        _ => ComparedMetric {
            note: Some("needs a smaller batch to be relative to".to_owned()),
            ..made
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::comparison::{self, Comparison};
    use crate::analysis::testing::{measure, measure_near, session};
    use powerband_core::domain::session::Session;

    fn compare(session: &Session, batches: [Option<usize>; 2]) -> Comparison {
        let rows = case_rows::case_rows(session);
        let side = |setup: usize| ComparedSide {
            session,
            rows: &rows,
            setup,
            point: batches[setup].map(Point::of_batch),
        };
        comparison::compare_setups(&side(0), &side(1))
    }

    fn find<'a>(comparison: &'a Comparison, title: &str) -> &'a ComparedMetric {
        let found = comparison
            .metrics
            .iter()
            .find(|metric| metric.title() == title);
        found.unwrap()
    }

    fn example() -> Session {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1, 4]);
        measure_near(&mut session, 0, 1, 6_710);
        measure_near(&mut session, 0, 4, 13_420);
        measure_near(&mut session, 1, 1, 1_000);
        measure(&mut session, 1, 4, &[&[4_000_000; 350], &[4_000_000; 350]]);
        session.reports[0] = Some(SetupReport {
            load_ns: 410_000_000,
            ..SetupReport::default()
        });
        session.reports[1] = Some(SetupReport {
            load_ns: 680_000_000,
            ..SetupReport::default()
        });
        session
    }

    #[test]
    fn changes_are_above_one_when_better() {
        let comparison = compare(&example(), [None, None]);
        let latency = find(&comparison, "Latency, batch 1");
        assert_eq!(latency.before.as_deref(), Some("6.71 ms"));
        assert_eq!(latency.change.as_deref(), Some("6.71 ×"));
        let throughput = find(&comparison, "Throughput, batch 1");
        assert_eq!(throughput.after.as_deref(), Some("1,000 /s"));
        assert!(throughput.gain.unwrap() > 6.0);
        let load = find(&comparison, "Load");
        assert_eq!(load.change.as_deref(), Some("0.603 ×"));
        let scaling = find(&comparison, "Scaling, batch 4");
        assert_eq!(scaling.before.as_deref(), Some("50.0 %"));
        assert_eq!(scaling.after.as_deref(), Some("25.0 %"));
    }

    #[test]
    fn what_is_not_known_says_why() {
        let comparison = compare(&example(), [None, None]);
        let p99 = find(&comparison, "Latency p99, batch 4");
        assert_eq!((&p99.before, &p99.change), (&None, &None));
        assert_eq!(p99.after.as_deref(), Some("4.00 ms"));
        assert_eq!(
            p99.note.as_deref(),
            Some(concat!(
                "30 samples; p99 needs ",
                powerband_core::domain::plan::p99_samples!()
            ))
        );
        assert!(
            ELIGIBLE.contains(&(99.0, powerband_core::domain::plan::p99_samples!())),
            "the publish preset and the help texts go by it"
        );
        let start = find(&comparison, "Library start");
        assert_eq!(
            (start.before.as_deref(), &start.change),
            (Some("0 ns"), &None)
        );
        let first = find(&comparison, "First run, batch 1");
        assert_eq!(first.before, None);
    }

    #[test]
    fn different_batches_are_compared_per_item() {
        let comparison = compare(&example(), [Some(1), Some(4)]);
        let latency = find(&comparison, "Latency per item");
        assert_eq!(latency.after.as_deref(), Some("1.00 ms"));
        assert_eq!(latency.point, None);
        assert!(
            comparison
                .metrics
                .iter()
                .all(|metric| metric.name != "Scaling")
        );
    }
}
