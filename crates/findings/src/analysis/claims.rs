//! What a document publishes as tables, ready to be shown: every figure as it was written.

use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::claim::{
    ClaimMetric, ClaimedChange, ClaimedCurve, ClaimedExtreme, ClaimedFigure, ClaimedPhases,
    ClaimedRanking, ClaimedShares, ClaimedTable, Published, with_unit,
};
use powerband_core::domain::written::Written;

/// The mark of published numbers.
pub const PUBLISHED_MARK: &str = "published, not measured";

/// A published table as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedTable {
    /// What it shows.
    pub title: String,
    /// Names of its columns.
    pub columns: Vec<String>,
    /// Number of text columns, which are the leftmost; the others are numbers.
    pub text_columns: usize,
    /// Its cells, row by row; a blank one is a dash.
    pub rows: Vec<Vec<String>>,
}

/// Where the numbers are from, as pairs of what and which.
pub fn source_facts(published: &Published) -> Vec<(&'static str, String)> {
    let source = &published.source;
    let licence = source.licence.iter().cloned();
    let fields = [
        ("Source", source.title.clone()),
        ("Where", source.place.clone()),
    ];
    fields
        .into_iter()
        .chain(licence.map(|licence| ("Licence", licence)))
        .chain([("Hardware", published.hardware.clone())])
        .chain(
            published
                .conditions
                .iter()
                .map(|one| ("Stated", one.clone())),
        )
        .filter(|(_, words)| !words.is_empty())
        .collect()
}

/// Every table of a document, in its order.
pub fn published_tables(published: &Published) -> Vec<PublishedTable> {
    let curves = groups(&published.curves)
        .into_iter()
        .map(|group| curve_sheet(&group));
    let changes = changes(published);
    let steps = steps(published);
    let rankings = published.rankings.iter().map(ranking);
    let tables = published.tables.iter().map(table);
    let phases = published.phases.iter().map(phases);
    let shares = published.shares.iter().map(shares);
    curves
        .chain([changes, steps])
        .chain(rankings)
        .chain(tables)
        .chain(phases)
        .chain(shares)
        .chain([figures(published)])
        .filter(|sheet| !sheet.rows.is_empty())
        .collect()
}

/// Tables that were measured on the same hardware stand side by side.
fn groups(curves: &[ClaimedCurve]) -> Vec<Vec<&ClaimedCurve>> {
    let mut groups: Vec<Vec<&ClaimedCurve>> = Vec::new();
    for curve in curves {
        let same = groups.iter_mut().find(|group| {
            group
                .iter()
                .all(|other| other.hardware == curve.hardware && other.devices == curve.devices)
        });
        match same {
            Some(group) => group.push(curve),
            None => groups.push(vec![curve]),
        }
    }
    groups
}

fn curve_sheet(group: &[&ClaimedCurve]) -> PublishedTable {
    let hardware = group.first().map_or_else(String::new, |curve| {
        match (curve.hardware.is_empty(), curve.devices) {
            (true, _) => String::new(),
            (false, 0 | 1) => format!(", {}", curve.hardware),
            (false, devices) => format!(", {devices} × {}", curve.hardware),
        }
    });
    let mut batches: Vec<usize> = group
        .iter()
        .flat_map(|curve| curve.points.iter().map(|point| point.batch))
        .collect();
    batches.sort_unstable();
    batches.dedup();
    let mut columns = vec!["Batch".to_owned()];
    let mut rows: Vec<Vec<String>> = batches
        .iter()
        .map(|batch| vec![batch.to_string()])
        .collect();
    for curve in group {
        let has_efficiency = curve.points.iter().any(|point| point.efficiency.is_some());
        columns.push(format!("{}, ms", curve.setup));
        columns.push(format!("{}, {}", curve.setup, curve.per_s));
        if has_efficiency {
            columns.push("Efficiency".to_owned());
        }
        for (row, batch) in rows.iter_mut().zip(&batches) {
            let point = curve.points.iter().find(|point| point.batch == *batch);
            row.push(cell(point.and_then(|point| point.latency_ms.as_ref()), ""));
            row.push(cell(point.and_then(|point| point.throughput.as_ref()), ""));
            if has_efficiency {
                row.push(cell(point.and_then(|point| point.efficiency.as_ref()), "%"));
            }
        }
    }
    PublishedTable {
        title: format!("Over the batch size{hardware}"),
        columns,
        text_columns: 0,
        rows,
    }
}

fn cell(value: Option<&Written>, unit: &str) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), |value| with_unit(value, unit))
}

fn columns(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A figure with the batch that it belongs to.
fn side(figure: Option<&ClaimedFigure>) -> String {
    let Some(figure) = figure else {
        return UNKNOWN.to_owned();
    };
    match figure.batch {
        Some(batch) => format!("{} at batch {batch}", figure.value_text()),
        None => figure.value_text(),
    }
}

fn change_cells(change: &ClaimedChange) -> [String; 4] {
    let claimed = change.claimed.as_ref();
    [
        change.metric.title().to_owned(),
        side(change.before.as_ref()),
        side(change.after.as_ref()),
        claimed.map_or_else(|| UNKNOWN.to_owned(), |claimed| claimed.gain_text()),
    ]
}

fn changes(published: &Published) -> PublishedTable {
    let has_subjects = published
        .changes
        .iter()
        .any(|change| !change.subject.is_empty());
    let skipped = usize::from(!has_subjects);
    let rows = published.changes.iter().map(|change| {
        let subject = if change.subject.is_empty() {
            UNKNOWN
        } else {
            &change.subject
        };
        let cells = [subject.to_owned()].into_iter().chain(change_cells(change));
        cells.skip(skipped).collect()
    });
    let names = ["Of", "What", "Before", "After", "Stated gain"];
    PublishedTable {
        title: "Before and after".to_owned(),
        columns: columns(&names[skipped..]),
        text_columns: 2 - skipped,
        rows: rows.collect(),
    }
}

fn steps(published: &Published) -> PublishedTable {
    let mut rows = Vec::new();
    for step in &published.steps {
        let unknown = || UNKNOWN.to_owned();
        if step.changes.is_empty() {
            rows.push(vec![
                step.title.clone(),
                unknown(),
                unknown(),
                unknown(),
                unknown(),
                unknown(),
            ]);
        }
        for change in &step.changes {
            let [what, before, after, claimed] = change_cells(change);
            let over = if step.over.is_empty() {
                unknown()
            } else {
                step.over.clone()
            };
            rows.push(vec![step.title.clone(), what, over, before, after, claimed]);
        }
    }
    PublishedTable {
        title: "Steps".to_owned(),
        columns: columns(&["Step", "What", "Over", "Before", "After", "Stated gain"]),
        text_columns: 3,
        rows,
    }
}

fn ranking(ranking: &ClaimedRanking) -> PublishedTable {
    let rows = (1..).zip(&ranking.best_first);
    PublishedTable {
        title: format!("{}, by {}", ranking.title, ranking.metric.title()),
        columns: columns(&["Rank", "Step"]),
        text_columns: 2,
        rows: rows
            .map(|(rank, name)| vec![rank.to_string(), name.clone()])
            .collect(),
    }
}

/// One column for each thing that some row has a figure of.
fn table(table: &ClaimedTable) -> PublishedTable {
    let title = |figure: &ClaimedFigure| match (&figure.metric, figure.note.as_str()) {
        (metric, "") => humanize::capitalised(metric.title()),
        (metric, note) => format!("{}, {note}", humanize::capitalised(metric.title())),
    };
    let mut names: Vec<String> = Vec::new();
    for figure in table.rows.iter().flat_map(|row| &row.figures) {
        let name = title(figure);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let rows = table.rows.iter().map(|row| {
        let cells = names.iter().map(|name| {
            let figure = row.figures.iter().find(|figure| title(figure) == *name);
            figure.map_or_else(|| UNKNOWN.to_owned(), ClaimedFigure::value_text)
        });
        [row.name.clone()].into_iter().chain(cells).collect()
    });
    let rows = rows.collect();
    let batch = table.batch.map(|batch| format!(", batch {batch}"));
    PublishedTable {
        title: format!("{}{}", table.title, batch.unwrap_or_default()),
        columns: [String::new()].into_iter().chain(names).collect(),
        text_columns: 1,
        rows,
    }
}

fn phases(phases: &ClaimedPhases) -> PublishedTable {
    let whole = ("the whole", &phases.total);
    let parts = phases
        .parts
        .iter()
        .map(|part| (part.name.as_str(), &part.value));
    let rows = parts
        .chain([whole])
        .map(|(name, value)| vec![name.to_owned(), with_unit(value, &phases.unit)]);
    let batch = phases.batch.map(|batch| format!(", batch {batch}"));
    PublishedTable {
        title: format!("Phases of a {}{}", phases.of, batch.unwrap_or_default()),
        columns: columns(&["Phase", "Time"]),
        text_columns: 1,
        rows: rows.collect(),
    }
}

fn shares(shares: &ClaimedShares) -> PublishedTable {
    let rows = shares
        .parts
        .iter()
        .map(|part| vec![part.name.clone(), with_unit(&part.value, "%")]);
    PublishedTable {
        title: format!("Shares of {}", shares.of),
        columns: columns(&["Part", "Share"]),
        text_columns: 1,
        rows: rows.collect(),
    }
}

fn figures(published: &Published) -> PublishedTable {
    let rows = published.figures.iter().map(|figure| {
        let extreme = match figure.extreme {
            None => String::new(),
            Some(ClaimedExtreme::Best) => ", the best".to_owned(),
            Some(ClaimedExtreme::Worst) => ", the worst".to_owned(),
        };
        let what = match figure.note.as_str() {
            "" => humanize::capitalised(figure.metric.title()),
            note => format!("{}, {note}", humanize::capitalised(figure.metric.title())),
        };
        let subject = if figure.subject.is_empty() {
            "all"
        } else {
            &figure.subject
        };
        let batch = figure.batch.map(|batch| batch.to_string());
        vec![
            format!("{what}{extreme}"),
            subject.to_owned(),
            batch.unwrap_or_else(|| UNKNOWN.to_owned()),
            figure.value_text(),
        ]
    });
    PublishedTable {
        title: "Figures".to_owned(),
        columns: columns(&["What", "Of", "Batch", "Figure"]),
        text_columns: 2,
        rows: rows.collect(),
    }
}

/// One published point of a curve, in plain units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedPoint {
    /// Batch size.
    pub batch: usize,
    /// Time of a batch, in nanoseconds.
    pub latency_ns: Option<f64>,
    /// Items a second.
    pub throughput_per_s: Option<f64>,
}

/// A published curve, or the few points that a document states of a setup.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedCurve {
    /// Name, without the mark *published*.
    pub label: String,
    /// Its points, ascending in batch size, with blanks where the document has none.
    pub points: Vec<PublishedPoint>,
}

/// Every curve that a document has, from its tables over the batch size first, then what its other tables
/// and figures state of a setup at a batch size.
pub fn published_curves(published: &Published) -> Vec<PublishedCurve> {
    let mut curves: Vec<PublishedCurve> = Vec::new();
    for placed in published.placed_figures() {
        let figure = placed.figure;
        let is_speed = figure.metric.is_speed();
        let (Some(batch), Some(scale)) = (figure.batch, figure.scale()) else {
            continue;
        };
        if !is_speed || figure.subject.is_empty() || figure.value.is_range() || batch == 0 {
            continue;
        }
        let place = curves
            .iter()
            .position(|curve| curve.label == figure.subject);
        let place = place.unwrap_or_else(|| {
            curves.push(PublishedCurve {
                label: figure.subject.clone(),
                points: Vec::new(),
            });
            curves.len() - 1
        });
        let Some(curve) = curves.get_mut(place) else {
            continue;
        };
        let value = figure.value.value() * scale;
        let at = curve.points.partition_point(|point| point.batch < batch);
        if curve
            .points
            .get(at)
            .is_none_or(|point| point.batch != batch)
        {
            let blank = PublishedPoint {
                batch,
                latency_ns: None,
                throughput_per_s: None,
            };
            curve.points.insert(at, blank);
        }
        if let Some(point) = curve.points.get_mut(at) {
            match figure.metric {
                ClaimMetric::Latency => point.latency_ns = point.latency_ns.or(Some(value * 1e9)),
                _ => point.throughput_per_s = point.throughput_per_s.or(Some(value)),
            }
        }
    }
    curves
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::claim::{ClaimedPoint, ClaimedRow};

    fn written(text: &str) -> Written {
        text.parse().unwrap()
    }

    fn figure(metric: ClaimMetric, value: &str, unit: &str) -> ClaimedFigure {
        ClaimedFigure {
            metric,
            subject: String::new(),
            value: value.parse().unwrap(),
            unit: unit.to_owned(),
            batch: None,
            extreme: None,
            note: String::new(),
        }
    }

    fn document() -> Published {
        let curve = |setup: &str, devices: usize| ClaimedCurve {
            setup: setup.to_owned(),
            hardware: "card".to_owned(),
            devices,
            per_s: "img/s".to_owned(),
            points: vec![
                ClaimedPoint {
                    batch: 1,
                    ..ClaimedPoint::default()
                },
                ClaimedPoint {
                    batch: 2,
                    latency_ms: Some(written("4.20")),
                    throughput: Some(written("1,730")),
                    efficiency: None,
                },
            ],
            ..ClaimedCurve::default()
        };
        Published {
            curves: vec![curve("a", 1), curve("b", 1), curve("a", 2)],
            tables: vec![ClaimedTable {
                title: "models".to_owned(),
                batch: Some(32),
                rows: vec![
                    ClaimedRow {
                        name: "small".to_owned(),
                        figures: vec![
                            figure(ClaimMetric::Latency, "31.3", "ms"),
                            figure(ClaimMetric::Memory, "~282", "MB"),
                        ],
                    },
                    ClaimedRow {
                        name: "large".to_owned(),
                        figures: vec![figure(ClaimMetric::Throughput, "804", "samples/sec")],
                    },
                ],
            }],
            ..Published::default()
        }
    }

    #[test]
    fn tables_stand_side_by_side_with_blanks_and_digits() {
        let sheets = published_tables(&document());
        let titles: Vec<&str> = sheets.iter().map(|sheet| sheet.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "Over the batch size, card",
                "Over the batch size, 2 × card",
                "models, batch 32"
            ]
        );
        assert_eq!(
            sheets[0].columns,
            ["Batch", "a, ms", "a, img/s", "b, ms", "b, img/s"]
        );
        assert_eq!(sheets[0].rows[0], ["1", "–", "–", "–", "–"]);
        assert_eq!(sheets[0].rows[1][..3], ["2", "4.20", "1,730"]);
        assert_eq!(sheets[2].columns, ["", "Latency", "Memory", "Throughput"]);
        assert_eq!(sheets[2].rows[1], ["large", "–", "–", "804 samples/sec"]);
        for sheet in &sheets {
            let is_even = |row: &Vec<String>| row.len() == sheet.columns.len();
            assert!(sheet.rows.iter().all(is_even), "{sheet:?}");
        }
    }

    #[test]
    fn curves_come_from_every_table_and_keep_their_gaps() {
        let curves = published_curves(&document());
        let labels: Vec<&str> = curves.iter().map(|curve| curve.label.as_str()).collect();
        assert_eq!(
            labels,
            ["a, card", "b, card", "a, 2 × card", "small", "large"]
        );
        assert_eq!(curves[0].points.len(), 1, "a blank row is no point");
        assert_eq!(curves[0].points[0].latency_ns.map(f64::round), Some(4.2e6));
        assert_eq!(
            (
                curves[4].points[0].latency_ns,
                curves[4].points[0].throughput_per_s
            ),
            (None, Some(804.0))
        );
    }
}
