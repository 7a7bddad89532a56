//! A heat map of the cases of sessions: one quantity over two dimensions of the sweep.

use std::fmt;

use super::{ColourScale, Content, HeatMap, MapAxis, MapCell, Panel};
use crate::analysis::batch_curve::{Efficiency, Statistic};
use crate::analysis::case_rounds::JointDraws;
use crate::analysis::case_rows::CaseRow;
use crate::analysis::dimensions::{self, Dimension};
use crate::analysis::energy::EnergyKind;
use crate::chart::axis::TimeUnit;
use crate::chart::curves::CurveOptions;
use powerband_core::base::humanize;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::point::Point;

/// What a heat map shows of each case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapQuantity {
    /// The time of a run.
    #[default]
    Latency,
    /// Items a second.
    Throughput,
    /// Tokens a second that a language model makes after the first.
    TokensPerS,
    /// The chosen efficiency.
    Efficiency,
    /// The chosen energy.
    Energy,
    /// The latency as a share of the limit.
    OfLimit,
}

impl MapQuantity {
    /// Every one, in the order in which they are offered.
    pub const ALL: [Self; 6] = [
        Self::Latency,
        Self::Throughput,
        Self::TokensPerS,
        Self::Efficiency,
        Self::Energy,
        Self::OfLimit,
    ];

    /// What it is in a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Latency => "The time of a run",
            Self::Throughput => "Items a second",
            Self::TokensPerS => "Tokens a second after the first one, of all sequences of a batch",
            Self::Efficiency => "The efficiency that is chosen above",
            Self::Energy => "The energy of an item",
            Self::OfLimit => "Which points are within the latency limit",
        }
    }
}

impl fmt::Display for MapQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Latency => "latency",
            Self::Throughput => "throughput",
            Self::TokensPerS => "tokens/s",
            Self::Efficiency => "efficiency",
            Self::Energy => "energy",
            Self::OfLimit => "within limit",
        })
    }
}

/// The cases of one setup.
#[derive(Clone, Debug)]
pub struct SetupCases<'a> {
    /// The caller's number of the setup.
    pub tag: u64,
    pub name: String,
    /// Its palette index.
    pub colour: usize,
    /// Its cases.
    pub rows: Vec<&'a CaseRow>,
}

/// Which dimensions stand along the sides, and the sizes of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapDimensions {
    /// Left to right.
    pub x: &'static str,
    /// Bottom to top.
    pub y: &'static str,
    /// A point that has the sizes of all other dimensions.
    pub at: Point,
}

impl MapDimensions {
    /// Those of some points: the dimensions with the most sizes, one of them the batch where it varies, at the
    /// first point. Nothing where fewer than two dimensions vary.
    pub fn from_points(points: &[Point]) -> Option<Self> {
        let varying = dimensions::varying_dimensions(points);
        let is_batch = |one: &&Dimension| one.name == powerband_core::domain::point::BATCH;
        let mut others: Vec<&Dimension> = varying.iter().filter(|one| !is_batch(one)).collect();
        others.sort_by_key(|one| std::cmp::Reverse(one.sizes.len()));
        let batch = varying.iter().find(is_batch);
        let y = *others.first()?;
        let x = batch.or_else(|| others.get(1).copied())?;
        Some(Self {
            x: x.name,
            y: y.name,
            at: *points.iter().min()?,
        })
    }

    /// Whether a point is among the cells.
    fn contains(&self, point: Point) -> bool {
        let is_other = |(name, _): &(&str, usize)| *name != self.x && *name != self.y;
        let own = self.at.bindings().filter(is_other);
        own.eq(point.bindings().filter(is_other))
            && [self.x, self.y]
                .iter()
                .all(|name| point.get(name).is_some())
    }
}

/// Whether any case has a number of a quantity.
pub fn has_values(rows: &[&CaseRow], quantity: MapQuantity, options: &CurveOptions) -> bool {
    rows.iter()
        .any(|row| value(row, rows, quantity, options).is_some())
}

/// The map of a quantity.
pub fn map(
    mapped: &[SetupCases<'_>],
    sides: &MapDimensions,
    quantity: MapQuantity,
    options: &CurveOptions,
) -> HeatMap {
    let points = mapped.iter().flat_map(|one| one.rows.iter());
    let points: Vec<Point> = points
        .map(|row| point_of(row))
        .filter(|point| sides.contains(*point))
        .collect();
    let side = |name: &str| {
        let mut all = dimensions::dimensions(&points).into_iter();
        MapAxis {
            name: name.to_owned(),
            sizes: all
                .find(|one| one.name == name)
                .map_or_else(Vec::new, |one| one.sizes),
        }
    };
    let mut map = HeatMap {
        title: title(quantity, options),
        x: side(sides.x),
        y: side(sides.y),
        fixed: dimensions::sizes_text(sides.at, |name| name != sides.x && name != sides.y),
        at: Some(sides.at),
        scale: ColourScale::default(),
        limit: limit(options).map(|limit| {
            let statistic = options.statistic.noun();
            format!("limit {}, {statistic}", humanize::duration_ns(limit))
        }),
        panels: Vec::new(),
    };
    map.panels = mapped
        .iter()
        .map(|one| panel(one, &map, quantity, options))
        .collect();
    scale(&mut map, quantity, options);
    map
}

fn limit(options: &CurveOptions) -> Option<f64> {
    options.limit_ns.filter(|limit| *limit > 0.0)
}

fn title(quantity: MapQuantity, options: &CurveOptions) -> String {
    match quantity {
        MapQuantity::Latency => "Latency".to_owned(),
        MapQuantity::Throughput => "Throughput".to_owned(),
        MapQuantity::TokensPerS => "Tokens per second".to_owned(),
        MapQuantity::Efficiency => format!("Efficiency, {}", options.efficiency),
        MapQuantity::Energy => "Energy".to_owned(),
        MapQuantity::OfLimit => "Within the latency limit".to_owned(),
    }
}

/// The point of a case.
pub fn point_of(row: &CaseRow) -> Point {
    row.point
}

fn panel(
    mapped: &SetupCases<'_>,
    map: &HeatMap,
    quantity: MapQuantity,
    options: &CurveOptions,
) -> Panel {
    let columns = map.x.sizes.len();
    let mut joint = JointDraws::default();
    let mut cells = vec![MapCell::default(); columns * map.y.sizes.len()];
    for row in &mapped.rows {
        let Some((column, place)) = map.cell_of_point(point_of(row)) else {
            continue;
        };
        cells[place * columns + column] = MapCell {
            is_within: is_within(row, options, &mut joint),
            ..cell(row, &mapped.rows, quantity, options)
        };
    }
    Panel {
        name: mapped.name.clone(),
        colour: Some(mapped.colour),
        tag: mapped.tag,
        cells,
    }
}

fn cell(row: &CaseRow, all: &[&CaseRow], quantity: MapQuantity, options: &CurveOptions) -> MapCell {
    if row.outcome.is_trouble() || row.latency_ns.is_none() {
        return missing(&row.outcome);
    }
    let Some(value) = value(row, all, quantity, options) else {
        let name = title(quantity, options).to_lowercase();
        let reason = format!("{name} is not known of this case");
        return MapCell::missing("not known", reason);
    };
    MapCell {
        content: Content::Value(value),
        ..MapCell::default()
    }
}

/// Whether a case is within the limit, to the end of its interval; nothing without a limit or a time.
fn is_within(row: &CaseRow, options: &CurveOptions, joint: &mut JointDraws) -> Option<bool> {
    let limit = limit(options)?;
    let latency = latency_ns(row, options.statistic).filter(|_| !row.outcome.is_trouble())?;
    if latency > limit {
        return Some(false);
    }
    let end = joint.upper_end(&row.by_round, options.statistic.round_statistic(), latency);
    Some(end.is_some_and(|end| end <= limit))
}

/// A case without a time.
fn missing(outcome: &Outcome) -> MapCell {
    match outcome {
        Outcome::Pending | Outcome::Finished => {
            MapCell::missing("not measured", "not measured yet")
        }
        other => {
            let word = other.name().replace('-', " ");
            let reason = other.sentence().unwrap_or_else(|| word.clone());
            MapCell::missing(word, reason)
        }
    }
}

fn latency_ns(row: &CaseRow, statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::Median => row.latency_ns.as_ref().map(|times| times.median),
        Statistic::Mean => row.mean_ns(),
        Statistic::P90 => row.latency_ns.as_ref().and_then(|times| times.p90),
        Statistic::P99 => row.latency_ns.as_ref().and_then(|times| times.p99),
    }
}

/// The number of a case, in base units.
fn value(
    row: &CaseRow,
    all: &[&CaseRow],
    quantity: MapQuantity,
    options: &CurveOptions,
) -> Option<f64> {
    let found = match quantity {
        MapQuantity::Latency => latency_ns(row, options.statistic),
        MapQuantity::Throughput => row.throughput_per_s,
        MapQuantity::TokensPerS => tokens_per_s(row),
        MapQuantity::Efficiency => {
            let share = match options.efficiency {
                Efficiency::OfBest => row.of_best,
                Efficiency::Scaling => scaling(row, all),
                Efficiency::Busy => row.busy,
                Efficiency::OfPeak => row.of_peak,
            };
            share.map(|share| share * 100.0)
        }
        MapQuantity::Energy => {
            let energy = row.energy.as_ref().ok()?;
            match options.energy {
                EnergyKind::Gross => Some(energy.gross_j_per_item()),
                EnergyKind::Net => energy.net_j_per_item(),
                EnergyKind::PerJoule => Some(energy.items_per_j()),
            }
        }
        MapQuantity::OfLimit => Some(latency_ns(row, options.statistic)? / limit(options)?),
    };
    found.filter(|value| value.is_finite())
}

/// Tokens a second while each follows from the one before, of the whole batch.
fn tokens_per_s(row: &CaseRow) -> Option<f64> {
    row.requests.as_ref()?.decode_per_s
}

/// Throughput as a share of batch × throughput at the smallest batch, where all other dimensions are the same.
fn scaling(row: &CaseRow, all: &[&CaseRow]) -> Option<f64> {
    let point = point_of(row);
    let alike = all
        .iter()
        .filter(|other| point_of(other).with_batch(point.batch()) == point);
    let first = alike
        .filter(|other| other.throughput_per_s.is_some() && !other.outcome.is_trouble())
        .min_by_key(|other| point_of(other).batch())?;
    let smallest = point_of(first).batch();
    let ideal = first.throughput_per_s? / smallest as f64 * point.batch() as f64;
    // A stand-in for batch 1 is no measure of itself.
    let is_stand_in = smallest > 1 && point.batch() == smallest;
    (ideal > 0.0 && !is_stand_in).then_some(row.throughput_per_s? / ideal)
}

/// Chooses the unit, and brings the values into it.
fn scale(map: &mut HeatMap, quantity: MapQuantity, options: &CurveOptions) {
    let cells = map.panels.iter().flat_map(|panel| &panel.cells);
    let values: Vec<f64> = cells.filter_map(MapCell::value).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let (title, factor) = match quantity {
        MapQuantity::Latency => {
            let unit = TimeUnit::for_largest(most);
            let title = match options.statistic {
                Statistic::Median => format!("{} per batch", unit.name),
                other => format!("{} per batch, {other}", unit.name),
            };
            (title, 1.0 / unit.ns)
        }
        MapQuantity::Throughput => ("items per second".to_owned(), 1.0),
        MapQuantity::TokensPerS => ("tokens per second".to_owned(), 1.0),
        MapQuantity::Efficiency => {
            let title = match options.efficiency {
                Efficiency::OfBest => "% of best",
                Efficiency::Scaling => "% of perfect scaling",
                Efficiency::Busy => "% of the time",
                Efficiency::OfPeak => "% of the peak",
            };
            (title.to_owned(), 1.0)
        }
        MapQuantity::Energy => {
            let is_small = options.energy != EnergyKind::PerJoule && most > 0.0 && most < 1.0;
            let title = match options.energy {
                EnergyKind::PerJoule => "items per joule",
                EnergyKind::Gross if is_small => "mJ per item, gross",
                EnergyKind::Gross => "J per item, gross",
                EnergyKind::Net if is_small => "mJ per item, net of idle",
                EnergyKind::Net => "J per item, net of idle",
            };
            (title.to_owned(), if is_small { 1e3 } else { 1.0 })
        }
        MapQuantity::OfLimit => {
            map.scale = ColourScale::of_limit("of the limit");
            return;
        }
    };
    for cell in map.panels.iter_mut().flat_map(|panel| &mut panel.cells) {
        if let Content::Value(value) = &mut cell.content {
            *value *= factor;
        }
    }
    map.scale = ColourScale::from_values(&title, values.iter().map(|value| value * factor));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::testing::{measure_near, out_of_memory, session};
    use powerband_core::domain::session::Session;

    /// Two batches by two lengths: 1 ms an item at 32, 4 ms at 128; the largest point did not fit, and one has no
    /// round yet.
    fn swept() -> Session {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1, 2, 101, 102]);
        for batch in [1, 2, 101] {
            let (size, length) = (batch % 100, batch / 100);
            measure_near(
                &mut session,
                0,
                batch,
                size as u64 * (1_000 + 3_000 * length as u64),
            );
        }
        measure_near(&mut session, 1, 1, 2_000);
        let turned = |point: Point| {
            let (batch, length) = (point.batch() % 100, point.batch() / 100);
            Point::of_batch(batch).with("sequence", if length == 1 { 128 } else { 32 })
        };
        for point in &mut session.plan.points {
            *point = turned(*point);
        }
        for case in &mut session.cases {
            case.point = turned(case.point);
            let is_largest = case.point == Point::of_batch(2).with("sequence", 128);
            if is_largest && case.setup == 0 {
                case.outcome = out_of_memory();
            }
        }
        session
    }

    fn mapped(rows: &[CaseRow]) -> Vec<SetupCases<'_>> {
        let setup = |setup: usize| SetupCases {
            tag: setup as u64,
            name: format!("setup {setup}"),
            colour: setup,
            rows: rows.iter().filter(|row| row.setup == setup).collect(),
        };
        vec![setup(0), setup(1)]
    }

    #[test]
    fn a_cell_for_each_point_with_why_there_is_no_number() {
        let session = swept();
        let rows = case_rows::case_rows(&session);
        let points: Vec<Point> = rows.iter().map(point_of).collect();
        let sides = MapDimensions::from_points(&points).unwrap();
        assert_eq!((sides.x, sides.y), ("batch", "sequence"));
        let options = CurveOptions {
            limit_ns: Some(1.5e6),
            ..CurveOptions::default()
        };
        let map = map(&mapped(&rows), &sides, MapQuantity::Latency, &options);
        assert_eq!(map.scale.title, "ms per batch");
        assert_eq!(
            (map.fixed.as_str(), map.limit.as_deref()),
            ("", Some("limit 1.50 ms, median"))
        );
        let cells = &map.panels[0].cells;
        let values: Vec<Option<f64>> = cells.iter().map(MapCell::value).collect();
        assert!((values[0].unwrap() - 1.0).abs() < 1e-4 && (values[2].unwrap() - 4.0).abs() < 1e-4);
        assert_eq!(cells[0].is_within, Some(true));
        assert_eq!(
            (cells[1].is_within, cells[3].is_within),
            (Some(false), None)
        );
        assert!(
            matches!(&cells[3].content, Content::Missing { word, reason }
            if word == "out of memory" && reason.contains("no room"))
        );
        let pending = &map.panels[1].cells[1].content;
        assert!(matches!(pending, Content::Missing { word, .. } if word == "not measured"));
        assert_eq!(map.iso_line(&map.panels[0]).len(), 2);
    }

    #[test]
    fn quantities_have_their_units_and_none_where_nothing_is_known() {
        let session = swept();
        let rows = case_rows::case_rows(&session);
        let all: Vec<&CaseRow> = rows.iter().collect();
        let mut options = CurveOptions::default();
        let known: Vec<MapQuantity> = MapQuantity::ALL
            .into_iter()
            .filter(|quantity| has_values(&all, *quantity, &options))
            .collect();
        assert_eq!(
            known,
            [
                MapQuantity::Latency,
                MapQuantity::Throughput,
                MapQuantity::Efficiency
            ]
        );
        let points: Vec<Point> = rows.iter().map(point_of).collect();
        let sides = MapDimensions::from_points(&points).unwrap();
        let rates = map(&mapped(&rows), &sides, MapQuantity::Throughput, &options);
        let rate = rates.panels[0].cells[2].value().unwrap();
        assert!((rate - 250.0).abs() < 0.1, "{rate}");
        let best = map(&mapped(&rows), &sides, MapQuantity::Efficiency, &options);
        assert_eq!(best.panels[0].cells[1].value(), Some(100.0));
        // Twice the batch in twice the time: half of what would be perfect.
        options.efficiency = Efficiency::Scaling;
        let scaling = map(&mapped(&rows), &sides, MapQuantity::Efficiency, &options);
        let share = scaling.panels[0].cells[1].value().unwrap();
        assert!((share - 50.0).abs() < 0.1, "{share}");
        options.limit_ns = Some(2e6);
        let shares = map(&mapped(&rows), &sides, MapQuantity::OfLimit, &options);
        let share = shares.panels[0].cells[2].value().unwrap();
        assert!((share - 2.0).abs() < 1e-3 && shares.scale.share(share) == 1.0);
        let alone: Vec<Point> = [1, 2].map(Point::of_batch).to_vec();
        assert_eq!(MapDimensions::from_points(&alone), None);
    }
}
