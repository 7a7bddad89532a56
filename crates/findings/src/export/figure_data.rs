//! The numbers of a figure, as a table and as a document: what is drawn, and not where.

use serde_json::{Map, Value, json};

use super::csv::{CsvCell, CsvTable};
use crate::analysis::limits::lines::{LineUnit, RoofLine};
use crate::analysis::network::compared::TimeBlock;
use crate::analysis::network::modules::{Item, ModuleKind};
use crate::analysis::timeline_comparison::StepWork;
use crate::chart::axis::TimeUnit;
use crate::chart::breakdown::{Bar, ChangeBar};
use crate::chart::figure::Drawing;
use crate::chart::heat_map::{Content, HeatMap};
use crate::chart::lanes::Lanes;
use crate::chart::network::NetworkFigure;
use crate::chart::ribbon::Ribbon;
use crate::chart::roofline::Roofline;
use crate::chart::spec::{Axis, AxisScale, ChartPoint as Spot, ChartSpec, Mark};
use crate::chart::timeline_figure::TimelineFigure;
use crate::chart::treemap::{Region, Tile};
use crate::chart::wall_time::{WallBar, WallBarPart};
use powerband_core::domain::network::NodeKind;
use powerband_core::domain::point::Point;

/// Digits of a number: logarithms and back again leave noise in the last ones.
const DIGITS: usize = 12;

/// The numbers of a figure as a table.
pub fn table(drawing: &Drawing) -> CsvTable {
    match drawing {
        Drawing::Chart(spec) => of_chart(spec),
        Drawing::Lanes(lanes) => of_lanes(lanes),
        Drawing::Bars(bars) => of_bars(&bars.bars),
        Drawing::Changes(changes) => of_changes(&changes.steps),
        Drawing::Treemap(map) => of_regions(&map.regions),
        Drawing::HeatMap(map) => of_cells(map),
        Drawing::Timeline(traced) => match &traced.ribbon {
            Some(ribbon) => of_ribbon(ribbon),
            None => of_timeline(traced),
        },
        Drawing::Network(picture) => of_network(picture),
        Drawing::Roofline(chart) => of_roofline(chart),
        Drawing::WallTime(bar) => of_wall_time(bar),
    }
}

/// The numbers of a figure as a document.
pub fn document(drawing: &Drawing, about: &str) -> Value {
    let mut document = json!({ "title": drawing.title() });
    if !about.is_empty() {
        document["about"] = about.into();
    }
    let fields = match drawing {
        Drawing::Chart(spec) => chart_fields(spec),
        Drawing::Lanes(lanes) => lane_fields(lanes),
        Drawing::HeatMap(map) => {
            let mut fields = rows(drawing);
            fields["value"] = in_milliseconds(&map.scale.title)
                .map_or_else(|| map.scale.title.clone(), |(_, title)| title)
                .into();
            fields["limit"] = map.limit.as_deref().into();
            fields
        }
        Drawing::Roofline(chart) => {
            let mut fields = rows(drawing);
            let line = |roof: &RoofLine| {
                let unit = match roof.unit {
                    LineUnit::OperationsPerS => "operations_per_s",
                    LineUnit::BytesPerS => "bytes_per_s",
                };
                json!({
                    "kind": roof.kind.title(),
                    "title": roof.title,
                    "unit": unit,
                    "per_s": round(roof.per_s),
                })
            };
            fields["lines"] = chart.roofs.iter().map(line).collect();
            fields
        }
        Drawing::Bars(_)
        | Drawing::Changes(_)
        | Drawing::Treemap(_)
        | Drawing::Timeline(_)
        | Drawing::Network(_)
        | Drawing::WallTime(_) => rows(drawing),
    };
    if let (Some(whole), Value::Object(fields)) = (document.as_object_mut(), fields) {
        whole.extend(fields);
    }
    document
}

fn rows(drawing: &Drawing) -> Value {
    let table = table(drawing);
    let rows: Vec<Value> = table.rows.iter().map(|row| named(&table, row)).collect();
    json!({ "rows": rows })
}

fn named(table: &CsvTable, row: &[CsvCell]) -> Value {
    let cells = table.header.iter().zip(row);
    let fields: Map<String, Value> = cells
        .map(|(name, cell)| (name.clone(), cell.value()))
        .collect();
    Value::Object(fields)
}

/// The unit that an axis of times has, how many milliseconds that is, and the rest of its title: axes take
/// the unit that reads well, and numbers are always in milliseconds, so that they can be laid side by side.
fn in_milliseconds(title: &str) -> Option<(f64, String)> {
    let (unit, rest) = title.split_once(' ')?;
    let unit = TimeUnit::ALL.into_iter().find(|one| one.name == unit)?;
    rest.starts_with("per batch")
        .then(|| (unit.ns / 1e6, format!("ms {rest}")))
}

/// What the numbers of an axis are.
fn title(axis: &Axis) -> String {
    in_milliseconds(&axis.title).map_or_else(|| axis.title.clone(), |(_, title)| title)
}

/// A number without the noise behind its last digit.
fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value)
}

/// The number that a coordinate stands for.
fn number(axis: &Axis, place: f64) -> f64 {
    let factor = in_milliseconds(&axis.title).map_or(1.0, |(factor, _)| factor);
    round(axis.value(place) * factor)
}

fn cell(axis: &Axis, place: f64) -> CsvCell {
    let number = number(axis, place);
    if axis.scale == AxisScale::Log2 && number.fract() == 0.0 {
        CsvCell::Whole(number as u64)
    } else {
        CsvCell::Number(number)
    }
}

/// What a place on the axis is called, where that is more than its number.
fn label(axis: &Axis, place: f64) -> Option<&str> {
    let tick = axis.ticks.iter().find(|tick| tick.at == place)?;
    let is_named = tick.text.chars().any(char::is_alphabetic);
    is_named.then_some(tick.text.as_str())
}

fn has_labels(spec: &ChartSpec) -> bool {
    let ticks = spec.x.ticks.iter();
    ticks.clone().any(|tick| label(&spec.x, tick.at).is_some())
}

fn of_chart(spec: &ChartSpec) -> CsvTable {
    let (x, y) = (&spec.x, &spec.y);
    let mut table = CsvTable::new(&["series", &title(x)]);
    let has_labels = has_labels(spec);
    if has_labels {
        table.header.push("label".to_owned());
    }
    table.header.push(title(y));
    table
        .header
        .extend(["low", "high", "note"].map(ToOwned::to_owned));
    let row = |series: &str, at: f64, rest: [CsvCell; 4]| {
        let label = label(x, at).map_or(CsvCell::Empty, CsvCell::text);
        let label = has_labels.then_some(label);
        let head = [CsvCell::text(series), cell(x, at)].into_iter();
        head.chain(label).chain(rest).collect::<Vec<CsvCell>>()
    };
    for series in &spec.series {
        for point in &series.points {
            let end = |end: Option<f64>| end.map_or(CsvCell::Empty, |end| cell(y, end));
            let rest = [
                cell(y, point.y),
                end(point.band.map(|band| band.0)),
                end(point.band.map(|band| band.1)),
                CsvCell::Empty,
            ];
            table.rows.push(row(&series.name, point.x, rest));
        }
    }
    for (name, at, reason) in failures(spec) {
        let note = CsvCell::text(reason);
        let rest = [CsvCell::Empty, CsvCell::Empty, CsvCell::Empty, note];
        table.rows.push(row(name, at, rest));
    }
    table
}

/// Cases that failed: whose, where and why.
fn failures(spec: &ChartSpec) -> impl Iterator<Item = (&str, f64, &str)> {
    spec.marks.iter().filter_map(|mark| match mark {
        Mark::Failed {
            x, series, reason, ..
        } => {
            let mut all = spec.series.iter();
            let name = all.find(|other| other.id == *series);
            let name = name.map_or("", |series| series.name.as_str());
            Some((name, *x, reason.as_str()))
        }
        _ => None,
    })
}

fn chart_fields(spec: &ChartSpec) -> Value {
    let axis = |axis: &Axis| {
        let is_linear = axis.scale == AxisScale::Linear;
        json!({
            "title": title(axis),
            "scale": if is_linear { "linear" } else { "logarithmic" },
        })
    };
    let point = |point: &Spot| {
        let band = point.band;
        let end = |end: f64| cell(&spec.y, end).value();
        let mut fields = json!({
            "x": cell(&spec.x, point.x).value(),
            "y": cell(&spec.y, point.y).value(),
            "low": band.map(|band| end(band.0)),
            "high": band.map(|band| end(band.1)),
        });
        if let (Some(label), Some(fields)) = (label(&spec.x, point.x), fields.as_object_mut()) {
            fields.insert("label".to_owned(), Value::from(label));
        }
        fields
    };
    let series = spec.series.iter().map(|series| {
        let points: Vec<Value> = series.points.iter().map(point).collect();
        json!({ "name": series.name, "points": points })
    });
    let failed = failures(spec).map(|(name, at, reason)| {
        json!({ "series": name, "x": cell(&spec.x, at).value(), "reason": reason })
    });
    json!({
        "x": axis(&spec.x),
        "y": axis(&spec.y),
        "series": series.collect::<Vec<_>>(),
        "failed": failed.collect::<Vec<_>>(),
        "limit": spec.limit.as_ref().map(|limit| number(&spec.y, limit.y)),
    })
}

fn of_lanes(lanes: &Lanes) -> CsvTable {
    let mut table = CsvTable::new(&["device", "quantity", &lanes.x.title, "value"]);
    for lane in &lanes.lanes {
        let quantity = lane.quantity.full_key();
        let row = |(at, value): &(f64, f64)| {
            vec![
                CsvCell::text(lane.device.as_str()),
                CsvCell::text(quantity.as_str()),
                CsvCell::Number(round(*at)),
                CsvCell::Number(round(*value)),
            ]
        };
        table.rows.extend(lane.points.iter().map(row));
    }
    table
}

fn lane_fields(lanes: &Lanes) -> Value {
    let lane = |lane: &crate::chart::lanes::Lane| {
        let points = lane.points.iter();
        let points = points.map(|(at, value)| json!([round(*at), round(*value)]));
        json!({
            "device": lane.device,
            "quantity": lane.quantity.full_key(),
            "points": points.collect::<Vec<_>>(),
        })
    };
    let cases = lanes
        .stretches
        .iter()
        .map(|stretch| json!({ "from": stretch.from, "to": stretch.to, "batch": stretch.text }));
    json!({
        "x": { "title": lanes.x.title, "scale": "linear" },
        "lanes": lanes.lanes.iter().map(lane).collect::<Vec<_>>(),
        "cases": cases.collect::<Vec<_>>(),
        "lost": lanes.cuts.iter().map(|(at, why)| json!({ "at": at, "why": why })).collect::<Vec<_>>(),
    })
}

fn of_bars(bars: &[Bar]) -> CsvTable {
    let mut table = CsvTable::new(&["name", "share", "time_ns"]);
    let row = |bar: &Bar| {
        vec![
            CsvCell::text(bar.name.as_str()),
            CsvCell::Number(bar.share),
            CsvCell::Number(bar.ns),
        ]
    };
    table.rows.extend(bars.iter().map(row));
    table
}

fn of_roofline(chart: &Roofline) -> CsvTable {
    let mut table = CsvTable::new(&[
        "name",
        "bound",
        "share",
        "operations_per_byte_low",
        "operations_per_byte_high",
        "operations_per_s",
    ]);
    for dot in &chart.dots {
        let class = chart.classes.get(dot.class);
        table.rows.push(vec![
            CsvCell::text(dot.name.as_str()),
            CsvCell::text(class.map_or("", |class| class.title.as_str())),
            CsvCell::Number(dot.share),
            CsvCell::Number(dot.intensity.0),
            CsvCell::Number(dot.intensity.1),
            CsvCell::Number(dot.per_s),
        ]);
    }
    table
}

fn of_wall_time(bar: &WallBar) -> CsvTable {
    let mut table = CsvTable::new(&["part", "share", "time_ns"]);
    let row = |part: &WallBarPart| {
        vec![
            CsvCell::text(part.name.as_str()),
            CsvCell::Number(part.share),
            CsvCell::Number(part.ns),
        ]
    };
    table.rows.extend(bar.parts.iter().map(row));
    table
}

fn of_network(picture: &NetworkFigure) -> CsvTable {
    const OWN: [&str; 8] = [
        "module", "name", "operator", "fate", "place", "share", "time_ns", "limit",
    ];
    const COMPARED: [&str; 5] = [
        "before",
        "matched_by",
        "before_ns",
        "difference_ns",
        "verdict",
    ];
    let network = &picture.network;
    let comparison = network.comparison.as_deref();
    let header: Vec<&str> = match comparison {
        Some(_) => OWN.into_iter().chain(COMPARED).collect(),
        None => OWN.to_vec(),
    };
    let mut table = CsvTable::new(&header);
    let row = |item: Item, module: usize, name: &str, op: &str, fate: &str| {
        let time = network.own_time(item);
        let number = |number: Option<f64>| number.map_or(CsvCell::Empty, CsvCell::Number);
        let bound = time.and_then(|time| time.bound.as_ref().ok());
        let mut row = vec![
            CsvCell::text(network.tree.path(module)),
            CsvCell::text(name),
            CsvCell::text(op),
            CsvCell::text(fate),
            CsvCell::text(time.map_or("", |time| time.place.as_str())),
            number(time.map(|time| time.share)),
            number(time.map(|time| time.time_ns)),
            CsvCell::text(bound.map_or("", |bound| bound.title())),
        ];
        row.extend(comparison.into_iter().flat_map(|comparison| {
            let block = comparison.block(item);
            let starts = block.and_then(|block| block.starts);
            let (names, by) = comparison.names_before(item);
            [
                CsvCell::text(names),
                CsvCell::text(by),
                number(block.map(|block| block.before_ns)),
                number(block.map(TimeBlock::difference_ns)),
                CsvCell::text(starts.map_or("", |starts| starts.call.name())),
            ]
        }));
        row
    };
    for (place, module) in network.tree.modules.iter().enumerate() {
        if let ModuleKind::Fused(time) = module.kind {
            let op = &module.name;
            let name = time.map_or(op, |time| &network.times[time].name);
            let item = Item::Module(place);
            table.rows.push(row(item, place, name, op, "fused"));
        }
    }
    for (place, shown) in network.nodes.iter().enumerate() {
        let (module, node) = (network.tree.parent_of[place], &shown.node);
        if node.kind == NodeKind::Operator {
            let fate = shown.fate.title();
            let row = row(Item::Node(place), module, &node.name, &node.op, fate);
            table.rows.push(row);
        }
    }
    table
}

fn of_changes(steps: &[ChangeBar]) -> CsvTable {
    let mut table = CsvTable::new(&["name", "difference_ns"]);
    let row = |step: &ChangeBar| vec![CsvCell::text(step.name.as_str()), CsvCell::Number(step.ns)];
    table.rows.extend(steps.iter().map(row));
    table
}

fn of_regions(regions: &[Region]) -> CsvTable {
    let mut table = CsvTable::new(&["category", "name", "share"]);
    for region in regions {
        let row = |tile: &Tile| {
            vec![
                CsvCell::text(region.category.title()),
                CsvCell::text(tile.name.as_str()),
                CsvCell::Number(tile.share),
            ]
        };
        table.rows.extend(region.tiles.iter().map(row));
    }
    table
}

/// The cells of a heat map, with a column for each dimension.
fn of_cells(map: &HeatMap) -> CsvTable {
    let mut table = CsvTable::new(&["setup"]);
    let others = map.at.into_iter().flat_map(Point::bindings);
    let is_side = |name: &str| name == map.x.name || name == map.y.name;
    let others: Vec<(&str, usize)> = others.filter(|(name, _)| !is_side(name)).collect();
    table
        .header
        .extend([map.x.name.clone(), map.y.name.clone()]);
    table
        .header
        .extend(others.iter().map(|(name, _)| (*name).to_owned()));
    let (factor, title) =
        in_milliseconds(&map.scale.title).unwrap_or_else(|| (1.0, map.scale.title.clone()));
    table.header.push(title);
    let last = ["verdict", "within_limit", "note"];
    table.header.extend(last.map(ToOwned::to_owned));
    let columns = map.x.sizes.len().max(1);
    for panel in &map.panels {
        for (number, cell) in panel.cells.iter().enumerate() {
            let (x, y) = (number % columns, number / columns);
            let (Some(x), Some(y)) = (map.x.sizes.get(x), map.y.sizes.get(y)) else {
                continue;
            };
            let (value, note) = match &cell.content {
                Content::Outside => continue,
                Content::Value(value) => (CsvCell::Number(round(*value * factor)), CsvCell::Empty),
                Content::Missing { reason, .. } => (CsvCell::Empty, CsvCell::text(reason.as_str())),
            };
            let mut row = vec![CsvCell::text(panel.name.as_str())];
            let sizes = [*x, *y].into_iter();
            let sizes = sizes.chain(others.iter().map(|(_, size)| *size));
            row.extend(sizes.map(|size| CsvCell::Whole(size as u64)));
            let within = cell
                .is_within
                .map(|is_within| if is_within { "yes" } else { "no" });
            row.extend([
                value,
                cell.call
                    .map_or(CsvCell::Empty, |call| CsvCell::text(call.name())),
                within.map_or(CsvCell::Empty, CsvCell::text),
                note,
            ]);
            table.rows.push(row);
        }
    }
    table
}

/// The operators of two timelines, with what each gained or lost.
fn of_ribbon(ribbon: &Ribbon) -> CsvTable {
    let mut table = CsvTable::new(&[
        "operator",
        "modules",
        "category",
        "matched_by",
        "start_ns",
        "duration_ns",
        "before_ns",
        "after_ns",
        "difference_ns",
        "ratio",
        "ratio_low",
        "ratio_high",
        "standing",
    ]);
    for bar in &ribbon.bars {
        let pair = &bar.pair;
        let side = |work: &Option<StepWork>| {
            let work = work.as_ref();
            work.map_or(CsvCell::Empty, |work| CsvCell::Whole(work.time_ns))
        };
        let number = |value: Option<f64>| {
            value.map_or(CsvCell::Empty, |value| CsvCell::Number(round(value)))
        };
        let steps = pair.steps.map(|steps| steps.recorded);
        table.rows.push(vec![
            CsvCell::text(&pair.title),
            CsvCell::text(&pair.modules),
            CsvCell::text(pair.category.title()),
            CsvCell::text(pair.match_title()),
            CsvCell::Number(round(bar.time.from)),
            pair.after
                .as_ref()
                .or(pair.before.as_ref())
                .map_or(CsvCell::Empty, |work| {
                    CsvCell::Whole(work.end_ns.abs_diff(work.start_ns))
                }),
            side(&pair.before),
            side(&pair.after),
            CsvCell::Number(bar.difference_ns),
            number(steps.map(|steps| steps.ratio)),
            number(steps.map(|steps| steps.interval.0)),
            number(steps.map(|steps| steps.interval.1)),
            CsvCell::text(bar.standing.name()),
        ]);
    }
    table
}

/// Slices, memory and readings of a timeline. Slices too short to draw separately have no name.
fn of_timeline(traced: &TimelineFigure) -> CsvTable {
    let mut table = CsvTable::new(&[
        "group",
        "track",
        "depth",
        "kind",
        "name",
        "start_ns",
        "duration_ns",
        "value",
    ]);
    let text = |text: &str| CsvCell::text(text);
    for track in &traced.tracks {
        let runs = (0_u64..).zip(&track.rows);
        let runs = runs.flat_map(|(depth, row)| row.iter().map(move |run| (depth, run)));
        table.rows.extend(runs.map(|(depth, run)| {
            let name = run.name.as_ref();
            vec![
                text(&track.group),
                text(&track.name),
                CsvCell::Whole(depth),
                text(run.kind.title()),
                name.map_or(CsvCell::Empty, |(_, whole)| text(whole)),
                CsvCell::Number(round(run.from_ns)),
                CsvCell::Number(round(run.to_ns - run.from_ns)),
                CsvCell::Empty,
            ]
        }));
    }
    for memory in &traced.memory {
        table
            .rows
            .extend(memory.steps.iter().map(|(from, to, bytes)| {
                vec![
                    text(&memory.title),
                    CsvCell::Empty,
                    CsvCell::Empty,
                    text("memory in use"),
                    CsvCell::Empty,
                    CsvCell::Number(*from as f64),
                    CsvCell::Number((to - from) as f64),
                    CsvCell::Whole(*bytes),
                ]
            }));
    }
    for lane in &traced.lanes {
        let within = |(at, _): &&(f64, f64)| traced.stretch.contains(*at);
        table
            .rows
            .extend(lane.points.iter().filter(within).map(|(at, value)| {
                vec![
                    text(&lane.device),
                    CsvCell::Empty,
                    CsvCell::Empty,
                    text(&lane.quantity.full_key()),
                    CsvCell::Empty,
                    CsvCell::Number(round(*at)),
                    CsvCell::Empty,
                    CsvCell::Number(round(*value)),
                ]
            }));
    }
    table
}
