//! Where the names of points and curves stand: beside them, where they cover nothing and name no other one.

use super::room::LabelSpace;
use super::words::{LabelKind, MeasuredLabel, PlacedLabel};
use super::{HorizontalAnchor, PlotSurface, VerticalAnchor};
use crate::chart::area::{Area, Position};
use crate::chart::spec::{AxisScale, ChartSpec, Mark, Series, SeriesId, Stroke};
use powerband_core::base::humanize;

/// Curves that are named beside them; more are identified by shape and legend alone.
const MOST: usize = 5;
/// Between the parts of a name: a setup and its session.
const BETWEEN: &str = " · ";
/// Letters of a name.
const LETTERS: usize = 24;
/// From the middle of a point to a name, in heights of a name.
const GAP: f64 = 0.55;
/// How far other curves are kept from a name, in heights of a name.
const CLEAR: f64 = 0.5;
/// How far points and rings reach, in heights of a name.
const POINT: f64 = 0.3;
const RING: f64 = 0.85;
/// Which part of a name is at its point, along both axes, the best first: over it, under it, before it,
/// behind it.
const BESIDE: [(f64, f64); 6] = [
    (0.5, 1.0),
    (0.5, 0.0),
    (1.0, 1.0),
    (0.0, 0.0),
    (1.0, 0.0),
    (0.0, 1.0),
];

/// From the middle of a point to its own name.
const FROM_POINT: f64 = 7.0;
/// Where the name of a point may stand, the best first: how far it is shifted, and which part of it is there.
const BESIDE_POINT: [(f64, f64, HorizontalAnchor, VerticalAnchor); 6] = [
    (1.0, 0.0, HorizontalAnchor::Start, VerticalAnchor::Middle),
    (-1.0, 0.0, HorizontalAnchor::End, VerticalAnchor::Middle),
    (0.7, -0.4, HorizontalAnchor::Start, VerticalAnchor::Bottom),
    (0.7, 0.4, HorizontalAnchor::Start, VerticalAnchor::Top),
    (-0.7, -0.4, HorizontalAnchor::End, VerticalAnchor::Bottom),
    (-0.7, 0.4, HorizontalAnchor::End, VerticalAnchor::Top),
];

/// Adds the names of points: each where it covers nothing, or not at all.
pub(super) fn place_point_names(plot: &dyn PlotSurface, room: &mut LabelSpace) {
    let spec = plot.spec();
    let names = spec.marks.iter().filter_map(|mark| match mark {
        Mark::Name { at, series, text } => Some((*at, *series, text)),
        _ => None,
    });
    if names.clone().next().is_none() {
        return;
    }
    let mut taken = room.areas();
    taken.extend(occupied_areas(plot));
    for (at, series, text) in names {
        let text = MeasuredLabel::new(plot, text, LabelKind::Name, Some(series));
        let (x, y) = plot.place(at.0, at.1);
        let mut places = BESIDE_POINT
            .map(|(across, down, side, height)| {
                text.placed_at(
                    (x + across * FROM_POINT, y + down * FROM_POINT),
                    side,
                    height,
                )
            })
            .to_vec();
        // Over and under an interval there may be room where beside it there is none; but not where the name
        // could be that of a point next to it.
        let own = spec.series.iter().flat_map(|series| &series.points);
        let own = own.filter(|point| (point.x, point.y) == at);
        if let Some((low, high)) = own.clone().next().and_then(|point| point.band) {
            let over = (x, plot.place(at.0, high).1 - 0.5 * FROM_POINT);
            let under = (x, plot.place(at.0, low).1 + 0.5 * FROM_POINT);
            let ends = [
                text.placed_at(over, HorizontalAnchor::Middle, VerticalAnchor::Bottom),
                text.placed_at(under, HorizontalAnchor::Middle, VerticalAnchor::Top),
            ];
            let next = taken
                .iter()
                .filter(|other| x < other.left || other.right < x);
            let is_clear = |words: &PlacedLabel| {
                let (top, bottom) = (words.area.top, words.area.bottom);
                let around = Area {
                    top: top - 2.0 * FROM_POINT,
                    bottom: bottom + 2.0 * FROM_POINT,
                    ..words.area
                };
                !next.clone().any(|other| other.overlaps(around))
            };
            places.extend(ends.into_iter().filter(is_clear));
        }
        let is_free = |words: &PlacedLabel| {
            room.is_free(words) && !taken.iter().any(|other| other.overlaps(words.area))
        };
        if let Some(words) = places.into_iter().find(is_free) {
            taken.push(words.area);
            room.try_place(words);
        }
    }
}

/// What the names of points may not cover: the sides of fronts, points and their intervals.
fn occupied_areas(plot: &dyn PlotSurface) -> Vec<Area> {
    let mut taken = Vec::new();
    for mark in &plot.spec().marks {
        if let Mark::Edge { through } = mark {
            let corners: Vec<Position> = through.iter().map(|(x, y)| plot.place(*x, *y)).collect();
            let sides = corners.windows(2);
            taken.extend(sides.map(|ends| Area::between(ends[0], ends[1]).expanded(1.0)));
        }
    }
    for point in plot.spec().series.iter().flat_map(|series| &series.points) {
        let (low, high) = point.band.unwrap_or((point.y, point.y));
        let [low, high] = [low, high].map(|y| plot.place(point.x, y));
        taken.push(Area::between(low, high).expanded(1.0));
        taken.push(Area::square_around(
            plot.place(point.x, point.y),
            plot.marker(),
        ));
    }
    taken
}

/// Adds the names of a few curves, where they run.
pub(super) fn place_curve_names(plot: &dyn PlotSurface, room: &mut LabelSpace) {
    let names = named(plot.spec()).into_iter();
    let names: Vec<(SeriesId, MeasuredLabel)> = names
        .map(|(id, name)| {
            (
                id,
                MeasuredLabel::new(plot, &name, LabelKind::Name, Some(id)),
            )
        })
        .collect();
    let sizes: Vec<_> = names.iter().map(|(id, text)| (*id, text.size)).collect();
    let taken = room.areas();
    let place = |x, y| plot.place(x, y);
    let areas = places(plot.spec(), &sizes, plot.inner(), &taken, place);
    let found = names.iter().zip(areas).filter_map(|((_, text), area)| {
        let area = area?;
        Some(text.placed_at(
            (area.left, area.top),
            HorizontalAnchor::Start,
            VerticalAnchor::Top,
        ))
    });
    for words in found {
        room.try_place(words);
    }
}

/// The curves over batch sizes that are named where they run: several, and few enough.
fn named(spec: &ChartSpec) -> Vec<(SeriesId, String)> {
    let is_curve = |series: &&Series| series.stroke == Stroke::Curve && !series.points.is_empty();
    let curves = spec.series.iter().filter(is_curve);
    let is_few = (2..=MOST).contains(&curves.clone().count());
    if spec.x.scale != AxisScale::Log2 || !is_few {
        return Vec::new();
    }
    let whole: Vec<&str> = curves.clone().map(|series| series.name.as_str()).collect();
    let told = distinguishing_parts(&whole);
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    let names = humanize::shorten_apart(&told, LETTERS);
    let are_apart = (1..names.len()).all(|place| !names[..place].contains(&names[place]));
    if !are_apart {
        return Vec::new();
    }
    curves.map(|series| series.id).zip(names).collect()
}

/// The names without the parts that all of them have: sessions differ in their setups, or setups in their
/// sessions.
fn distinguishing_parts(names: &[&str]) -> Vec<String> {
    let parts: Vec<Vec<&str>> = names
        .iter()
        .map(|name| name.split(BETWEEN).collect())
        .collect();
    let is_even = parts.iter().all(|own| own.len() == parts[0].len());
    let tells = |place: usize| !is_even || parts.iter().any(|own| own[place] != parts[0][place]);
    let of_one = |own: &Vec<&str>| {
        let told = own.iter().enumerate().filter(|(place, _)| tells(*place));
        let told: Vec<&str> = told.map(|(_, part)| *part).collect();
        told.join(BETWEEN)
    };
    parts.iter().map(of_one).collect()
}

/// A place for each name of a size, if there is one inside: near the end of its curve rather than its
/// beginning. `taken` has the places of other words.
fn places(
    spec: &ChartSpec,
    names: &[(SeriesId, (f64, f64))],
    inside: Area,
    taken: &[Area],
    place: impl Fn(f64, f64) -> Position,
) -> Vec<Option<Area>> {
    let Some(height) = names.first().map(|(_, size)| size.1) else {
        return Vec::new();
    };
    let lines = lines(spec, &place);
    let mut taken = taken.to_vec();
    taken.extend(marks(spec, inside, height, &place));
    let mut found = Vec::new();
    for (id, size) in names {
        let is_free = |area: &Area| {
            let from_others = area.expanded(CLEAR * height);
            let is_met = |(owner, line): &(SeriesId, (Position, Position))| {
                let kept = if owner == id { *area } else { from_others };
                kept.crosses_line(*line)
            };
            inside.contains_area(*area)
                && !taken.iter().any(|other| other.overlaps(*area))
                && !lines.iter().any(is_met)
        };
        let series = spec.series.iter().find(|series| series.id == *id);
        let points = series.iter().flat_map(|series| series.points.iter().rev());
        let area = points
            .flat_map(|point| name_areas(place(point.x, point.y), *size, inside))
            .find(is_free);
        taken.extend(area);
        found.push(area);
    }
    found
}

/// Places for a name around a point, moved along the chart where they would reach over its side.
fn name_areas(
    at: Position,
    (width, height): (f64, f64),
    inside: Area,
) -> impl Iterator<Item = Area> {
    BESIDE.into_iter().map(move |(along, across)| {
        let gap = GAP * height;
        let left = at.0 - along * width + (0.5 - along) * gap;
        let most = (inside.right - width).max(inside.left);
        let left = left.clamp(inside.left, most);
        let top = at.1 - across * height + (1.0 - 2.0 * across) * gap;
        Area::new(left, top, left + width, top + height)
    })
}

/// Every stretch of every curve, and points that stand alone.
fn lines(
    spec: &ChartSpec,
    place: impl Fn(f64, f64) -> Position,
) -> Vec<(SeriesId, (Position, Position))> {
    let mut lines = Vec::new();
    for series in &spec.series {
        for run in series.runs() {
            let corners: Vec<Position> = run.iter().map(|point| place(point.x, point.y)).collect();
            let first = corners.first().map(|first| (*first, *first));
            let stretches = corners.windows(2).map(|pair| (pair[0], pair[1]));
            lines.extend(
                first
                    .into_iter()
                    .chain(stretches)
                    .map(|line| (series.id, line)),
            );
        }
    }
    lines
}

/// Where points, rings, knees, failed cases and the limit are.
fn marks(
    spec: &ChartSpec,
    inside: Area,
    height: f64,
    place: impl Fn(f64, f64) -> Position,
) -> Vec<Area> {
    let points = spec.series.iter().flat_map(|series| &series.points);
    let points = points.map(|point| Area::square_around(place(point.x, point.y), POINT * height));
    let marks = spec.marks.iter().filter_map(|mark| match mark {
        Mark::Ring { at, .. } | Mark::Pin { at, .. } => {
            Some(Area::square_around(place(at.0, at.1), RING * height))
        }
        Mark::Drop { at, .. } => {
            let top = place(at.0, at.1);
            Some(Area::between(top, (top.0, inside.bottom)).expanded(1.0))
        }
        Mark::Failed { x, .. } => {
            let foot = (place(*x, spec.y.low).0, inside.bottom);
            Some(Area::square_around(foot, RING * height))
        }
        _ => None,
    });
    // The limit's own words are over it or under it.
    let limit = spec.limit.as_ref().map(|limit| {
        let y = place(spec.x.low, limit.y).1;
        let y = y.clamp(inside.top, inside.bottom);
        Area::new(inside.left, y, inside.right, y).expanded(1.5 * height)
    });
    points.chain(marks).chain(limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::spec::{Axis, ChartPoint, Limit};

    const INSIDE: Area = Area {
        left: 0.0,
        top: 0.0,
        right: 400.0,
        bottom: 200.0,
    };
    const SIZE: (f64, f64) = (60.0, 12.0);

    /// Curves over batches 1 to 16 at these heights, drawn 100 wide a step and as high as they say.
    fn chart(curves: &[[f64; 5]]) -> ChartSpec {
        let series = curves.iter().enumerate().map(|(place, heights)| Series {
            id: SeriesId(place as u64),
            name: format!("setup {place}"),
            colour: place,
            points: (0..5)
                .zip(heights)
                .map(|(x, y)| ChartPoint {
                    x: f64::from(x),
                    y: *y,
                    band: None,
                    tag: 1 << x,
                })
                .collect(),
            gap_after: Vec::new(),
            stroke: Stroke::Curve,
        });
        ChartSpec {
            series: series.collect(),
            x: Axis {
                scale: AxisScale::Log2,
                ..Axis::default()
            },
            ..ChartSpec::default()
        }
    }

    fn placed(spec: &ChartSpec, taken: &[Area]) -> Vec<Option<Area>> {
        let names: Vec<_> = named(spec).iter().map(|(id, _)| (*id, SIZE)).collect();
        places(spec, &names, INSIDE, taken, |x, y| (x * 100.0, 200.0 - y))
    }

    #[test]
    fn a_few_curves_over_batches_are_named_and_no_others() {
        let level = [100.0; 5];
        assert_eq!(named(&chart(&[level; 2])).len(), 2);
        assert!(named(&chart(&[level])).is_empty(), "the title says which");
        assert!(named(&chart(&[level; 6])).is_empty(), "too many");
        let mut over_time = chart(&[level; 2]);
        over_time.x.scale = AxisScale::Linear;
        assert!(named(&over_time).is_empty());
    }

    #[test]
    fn a_name_has_what_tells_its_curve_from_the_others() {
        let words = |names: &[&str]| {
            let mut spec = chart(&vec![[100.0; 5]; names.len()]);
            for (series, name) in spec.series.iter_mut().zip(names) {
                (*name).clone_into(&mut series.name);
            }
            named(&spec)
                .into_iter()
                .map(|(_, name)| name)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            words(&["ort · Monday", "ort · Friday"]),
            ["Monday", "Friday"]
        );
        assert_eq!(words(&["ort · Monday", "tract · Monday"]), ["ort", "tract"]);
        let both = ["ort · Monday", "tract · Friday"];
        assert_eq!(words(&both), both);
        assert_eq!(words(&["ort", "tract · Friday"]), ["ort", "tract · Friday"]);
        let cut = words(&[
            "ort:cpu,threads=1,opt=all,precision=int8",
            "ort:cpu,threads=2,opt=all,precision=int8",
        ]);
        assert_eq!(cut.len(), 2);
        assert_ne!(cut[0], cut[1], "as long as they may be, and still apart");
        assert!(words(&["ort", "ort"]).is_empty());
    }

    #[test]
    fn a_name_stands_at_the_end_of_its_curve_and_covers_none() {
        let spec = chart(&[[20.0, 60.0, 90.0, 110.0, 120.0], [10.0; 5]]);
        let found = placed(&spec, &[]);
        let lines = lines(&spec, |x, y| (x * 100.0, 200.0 - y));
        for area in found.iter().flatten() {
            assert!(INSIDE.contains_area(*area), "{area:?}");
            assert!(area.right > 300.0, "near the end: {area:?}");
            assert!(!lines.iter().any(|(_, line)| area.crosses_line(*line)));
        }
        assert_eq!(found.iter().flatten().count(), 2);
    }

    #[test]
    fn where_curves_lie_close_a_name_would_be_anybodys() {
        let spec = chart(&[[100.0; 5], [112.0; 5], [88.0; 5]]);
        let found = placed(&spec, &[]);
        assert_eq!(found[0], None, "between the two others");
        let above = found[1].expect("there is room over the highest");
        assert!(above.bottom < 200.0 - 112.0);
        let below = found[2].expect("there is room under the lowest");
        assert!(below.top > 200.0 - 88.0);
    }

    #[test]
    fn names_keep_off_other_words_each_other_and_the_limit() {
        let mut spec = chart(&[[100.0; 5], [30.0; 5]]);
        let free = placed(&spec, &[]);
        let first = free[0].expect("there is room");
        let moved = placed(&spec, &[first])[0].expect("there is room elsewhere");
        assert!(!moved.overlaps(first));
        spec.limit = Some(Limit {
            y: 100.0,
            text: String::new(),
        });
        assert_eq!(placed(&spec, &[])[0], None, "the limit lies on the curve");
        assert_eq!(placed(&spec, &[])[1], free[1]);
    }
}
