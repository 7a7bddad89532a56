//! Names beside the points of a chart, where there is room, and the edge behind them.

use eframe::egui::{Align2, Pos2, Rect, Shape, Stroke, Vec2, pos2, vec2};

use super::chart_canvas::{Canvas, faded};
use super::marker;
use crate::gui::theme::{self, text};
use powerband_findings::chart::area::Area;
use powerband_findings::chart::naming;
use powerband_findings::chart::spec::{ChartSpec, Mark, SeriesId};

/// From a point to its name.
const GAP: f32 = 7.0;
/// Where a name may stand beside its point, the best first: how far it is shifted, and which end of it is
/// there.
const BESIDE: [(f32, f32, Align2); 6] = [
    (1.0, 0.0, Align2::LEFT_CENTER),
    (-1.0, 0.0, Align2::RIGHT_CENTER),
    (0.7, -0.4, Align2::LEFT_BOTTOM),
    (0.7, 0.4, Align2::LEFT_TOP),
    (-0.7, -0.4, Align2::RIGHT_BOTTOM),
    (-0.7, 0.4, Align2::RIGHT_TOP),
];

/// The edges, which lie behind everything.
pub(super) fn edges(canvas: &Canvas<'_>, spec: &ChartSpec) {
    for corners in corners(canvas, spec) {
        let stroke = Stroke::new(1.0, canvas.roles.faint);
        canvas.painter.add(Shape::line(corners, stroke));
    }
}

fn corners(canvas: &Canvas<'_>, spec: &ChartSpec) -> Vec<Vec<Pos2>> {
    let edge = |mark: &Mark| match mark {
        Mark::Edge { through } => {
            let places = through.iter().map(|(x, y)| canvas.place(*x, *y));
            Some(places.collect())
        }
        _ => None,
    };
    spec.marks.iter().filter_map(edge).collect()
}

/// The names: each where it covers nothing, or not at all. `taken` has the places of other words.
pub(super) fn show(canvas: &Canvas<'_>, spec: &ChartSpec, mut taken: Vec<Rect>) {
    for corners in corners(canvas, spec) {
        let sides = corners.windows(2);
        taken.extend(sides.map(|ends| Rect::from_two_pos(ends[0], ends[1]).expand(1.0)));
    }
    let points = spec.series.iter().flat_map(|series| &series.points);
    for point in points.clone() {
        let (low, high) = point.band.unwrap_or((point.y, point.y));
        let ends = [low, high].map(|y| canvas.place(point.x, y));
        let at = canvas.place(point.x, point.y);
        taken.push(Rect::from_two_pos(ends[0], ends[1]).expand(1.0));
        taken.push(Rect::from_center_size(
            at,
            Vec2::splat(2.0 * marker::RADIUS),
        ));
    }
    for mark in &spec.marks {
        let Mark::Name { at, series, text } = mark else {
            continue;
        };
        let color = faded(canvas.roles.quiet, *series, canvas.highlighted);
        let font = theme::words(text::CAPTION);
        let galley = canvas.painter.layout_no_wrap(text.clone(), font, color);
        let middle = canvas.place(at.0, at.1);
        let mut places: Vec<Rect> = BESIDE
            .iter()
            .map(|(x, y, anchor)| {
                let by = vec2(*x, *y) * GAP;
                anchor.anchor_size(middle + by, galley.size())
            })
            .collect();
        // Over and under an interval there may be room where beside it there is none; but not where it
        // could be the name of one next to it.
        let own = points.clone().find(|point| (point.x, point.y) == *at);
        if let Some((low, high)) = own.and_then(|point| point.band) {
            let over = canvas.place(at.0, high) - vec2(0.0, 0.5 * GAP);
            let under = canvas.place(at.0, low) + vec2(0.0, 0.5 * GAP);
            let ends = [(over, Align2::CENTER_BOTTOM), (under, Align2::CENTER_TOP)];
            let ends = ends.map(|(end, anchor)| anchor.anchor_size(end, galley.size()));
            let is_clear = |place: &Rect| {
                let around = place.expand2(vec2(0.0, 2.0 * GAP));
                let next = |other: &&Rect| !other.x_range().contains(middle.x);
                !taken
                    .iter()
                    .filter(next)
                    .any(|other| other.intersects(around))
            };
            places.extend(ends.into_iter().filter(is_clear));
        }
        let is_free = |place: &Rect| {
            canvas.inner.expand(6.0).contains_rect(*place)
                && !taken.iter().any(|other| other.intersects(*place))
        };
        if let Some(place) = places.into_iter().find(is_free) {
            let ground = canvas.roles.panel.gamma_multiply(0.8);
            canvas.painter.rect_filled(place, 2.0, ground);
            canvas.painter.galley(place.min, galley, color);
            taken.push(place);
        }
    }
}

/// The names of a few curves, where they run. `taken` has the places of other words.
pub(super) fn of_curves(canvas: &Canvas<'_>, spec: &ChartSpec, taken: &[Rect]) {
    let font = theme::words(text::CAPTION);
    let laid_out = |(id, name): (SeriesId, String)| {
        let color = faded(canvas.roles.quiet, id, canvas.highlighted);
        let galley = canvas.painter.layout_no_wrap(name, font.clone(), color);
        (id, galley, color)
    };
    let names: Vec<_> = naming::named(spec).into_iter().map(laid_out).collect();
    let sizes: Vec<_> = names
        .iter()
        .map(|(id, galley, _)| (*id, (galley.size().x.into(), galley.size().y.into())))
        .collect();
    let taken: Vec<Area> = taken.iter().map(|rect| area(*rect)).collect();
    let place = |x, y| {
        let at = canvas.place(x, y);
        (at.x.into(), at.y.into())
    };
    let places = naming::places(spec, &sizes, area(canvas.inner), &taken, place);
    for ((_, galley, color), area) in names.into_iter().zip(places) {
        if let Some(area) = area {
            let at = pos2(area.left as f32, area.top as f32);
            let ground = canvas.roles.panel.gamma_multiply(0.8);
            canvas
                .painter
                .rect_filled(Rect::from_min_size(at, galley.size()), 2.0, ground);
            canvas.painter.galley(at, galley, color);
        }
    }
}

fn area(rect: Rect) -> Area {
    let [left, top, right, bottom] =
        [rect.left(), rect.top(), rect.right(), rect.bottom()].map(f64::from);
    Area::new(left, top, right, bottom)
}
