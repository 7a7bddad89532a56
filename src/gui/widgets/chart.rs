//! Paints a [`ChartSpec`]: hairlines, words at the axes, lines, bands, markers, and the line to drag.
//!
//! The plot widget keeps the view (what part is seen, dragging, zooming) and draws lines and bands; axes,
//! markers and marks are ours, because its own are not the look.

use std::sync::Arc;

use eframe::egui::epaint::TextShape;
use eframe::egui::{
    Align2, Color32, CursorIcon, FontId, Galley, Pos2, Rangef, Rect, Response, Sense, Shape,
    Stroke, Ui, UiBuilder, Vec2b, pos2, vec2,
};
use egui_plot::{
    Bar, BarChart, FilledArea, HLine, Line, LineStyle, Plot, PlotPoints, PlotTransform, PlotUi,
};

use super::chart_canvas::{Canvas, REACH, faded};
use super::{figure, marker, marks, names};
use crate::gui::theme::{self, Roles, text};
use powerband_findings::chart::axis;
use powerband_findings::chart::figure::Drawing as Figure;
use powerband_findings::chart::palette;
use powerband_findings::chart::spec::{
    Axis, ChartSpec, Point, Series, SeriesId, Stroke as Drawing,
};

/// Room above the plot for what the y axis measures.
const HEAD: f32 = 20.0;
/// Room below for the ticks, and for what the x axis measures where that takes one line.
const FOOT: f32 = 34.0;

/// How a chart is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Height of all of it.
    pub height: f32,
    /// The series that is brought forward.
    pub highlighted: Option<SeriesId>,
    /// Whether the view can be dragged and zoomed.
    pub zooms: bool,
}

/// What the hand did.
pub(crate) struct Touched {
    /// The whole chart.
    pub response: Response,
    /// The point under the hand: its series and its tag.
    pub hovered: Option<(SeriesId, u64)>,
    /// The point that was clicked.
    pub clicked: Option<(SeriesId, u64)>,
    /// What failed where the hand is, and why.
    pub failed: Option<String>,
    /// The coordinate to which the limit is being dragged, which may be beyond the axis.
    pub limit: Option<f64>,
    /// Whether the limit was let go of.
    pub let_go: bool,
    /// The x axis as it is seen, where the user has moved it.
    pub moved: Option<Axis>,
}

/// Shows the chart over the width that there is.
pub(crate) fn show(ui: &mut Ui, id: &str, spec: &ChartSpec, look: Look) -> Touched {
    let size = vec2(ui.available_width(), look.height);
    let (outer, whole) = ui.allocate_exact_size(size, Sense::hover());
    let sees = format!("{} chart, {} series", spec.title, spec.series.len());
    let whole = whole.accessible_name(sees);
    let roles = theme::roles(ui);
    let left = label_width(ui, &spec.y) + 10.0;
    let title = x_title(ui, spec, outer.width() - 12.0);
    let line = title.size().y / title.rows.len().max(1) as f32;
    let foot = FOOT + title.size().y - line;
    let inner = Rect::from_min_max(outer.min + vec2(left, HEAD), outer.max - vec2(12.0, foot));
    if inner.width() < 20.0 || inner.height() < 20.0 || !ui.is_rect_visible(outer) {
        return Touched {
            response: whole,
            hovered: None,
            clicked: None,
            failed: None,
            limit: None,
            let_go: false,
            moved: None,
        };
    }
    let mut child = ui.new_child(UiBuilder::new().max_rect(inner).id_salt(id));
    let (transform, plot) = plot(&mut child, id, spec, look, roles);
    let canvas = Canvas {
        painter: ui.painter_at(outer.expand(1.0)),
        transform,
        inner,
        roles,
        highlighted: look.highlighted,
    };
    canvas.axes(spec, outer, title);
    names::edges(&canvas, spec);
    for series in &spec.series {
        canvas.markers(series, spec.aside(series));
        canvas.whiskers(series);
    }
    let said = marks::show(&canvas, spec);
    names::of_curves(&canvas, spec, &said);
    names::show(&canvas, spec, said);
    let grip = canvas.limit(ui, id, spec);
    let limit = grip.as_ref().and_then(|grip| canvas.dragged_to(grip));
    let hand = plot.hover_pos().filter(|_| limit.is_none());
    let nearest = hand.and_then(|hand| canvas.nearest(spec, hand));
    let hovered = nearest.map(|(series, point)| (series.id, point.tag));
    if let Some((series, point)) = nearest {
        canvas.halo(series, point, spec.aside(series));
    }
    let moved = canvas.moved(&spec.x);
    let seen = || moved.clone().map_or_else(|| spec.clone(), |x| spec.seen(x));
    figure::offer(ui, id, outer, || Figure::Chart(Box::new(seen())));
    Touched {
        clicked: hovered.filter(|_| plot.clicked()),
        failed: hand.and_then(|hand| marks::failed_at(&canvas, spec, hand)),
        response: plot,
        hovered,
        limit,
        let_go: grip.is_some_and(|grip| grip.drag_stopped()),
        moved,
    }
}

fn label_width(ui: &Ui, axis: &Axis) -> f32 {
    let font = theme::numbers(text::CAPTION);
    let widths = axis.ticks.iter().map(|tick| {
        let galley = ui
            .painter()
            .layout_no_wrap(tick.text.clone(), font.clone(), Color32::WHITE);
        galley.size().x
    });
    widths.fold(18.0, f32::max)
}

/// What the x axis measures, over as many lines as that needs.
fn x_title(ui: &Ui, spec: &ChartSpec, width: f32) -> Arc<Galley> {
    let color = theme::roles(ui).faint;
    let font = theme::words(text::CAPTION);
    ui.painter()
        .layout(spec.x.title.clone(), font, color, width)
}

/// The plot itself; the view is the spec's until the user moves it.
fn plot(
    ui: &mut Ui,
    id: &str,
    spec: &ChartSpec,
    look: Look,
    roles: &Roles,
) -> (PlotTransform, Response) {
    let view = Plot::new(id)
        .show_axes(false)
        .show_grid(false)
        .show_background(false)
        .show_x(false)
        .show_y(false)
        .show_crosshair(false)
        .set_margin_fraction(vec2(0.0, 0.0))
        .allow_drag(Vec2b::new(look.zooms, false))
        .allow_zoom(Vec2b::new(look.zooms, false))
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .label_formatter(|_| None)
        .default_x_bounds(spec.x.low, spec.x.high)
        .default_y_bounds(spec.y.low, spec.y.high);
    // A view that nobody moved follows its chart; egui keeps it as it was.
    let key = ui.scope_id().with("axis");
    let before: Option<Axis> = if look.zooms {
        ui.data(|data| data.get_temp(key))
    } else {
        None
    };
    if look.zooms && before.as_ref() != Some(&spec.x) {
        ui.data_mut(|data| data.insert_temp(key, spec.x.clone()));
    }
    let shown = view.show(ui, |plot| {
        let seen = plot.plot_bounds();
        let (low, high) = (seen.min()[0], seen.max()[0]);
        let is_own = before.is_some_and(|axis| axis::moved(&axis, low, high).is_none());
        if !look.zooms || is_own {
            plot.set_plot_bounds_x(spec.x.low..=spec.x.high);
        }
        plot.set_plot_bounds_y(spec.y.low..=spec.y.high);
        for tick in &spec.y.ticks {
            plot.hline(
                HLine::new("", tick.at)
                    .stroke(Stroke::new(1.0, roles.line))
                    .allow_hover(false),
            );
        }
        for series in &spec.series {
            draw(plot, series, spec, look.highlighted, roles);
        }
    });
    (shown.transform, shown.response)
}

fn draw(
    plot: &mut PlotUi<'_>,
    series: &Series,
    spec: &ChartSpec,
    highlighted: Option<SeriesId>,
    roles: &Roles,
) {
    let color = faded(roles.series(series.colour), series.id, highlighted);
    if series.stroke == Drawing::Bars {
        let bars = series
            .points
            .iter()
            .map(|p| bar(p, spec.bar_width, color))
            .collect();
        plot.bar_chart(BarChart::new("", bars).allow_hover(false));
        return;
    }
    // Dots have their intervals as bars of their own.
    for run in series.runs().filter(|_| series.stroke != Drawing::Dots) {
        band(plot, run, color);
        let points: Vec<[f64; 2]> = run.iter().map(|point| [point.x, point.y]).collect();
        let is_thin = matches!(series.stroke, Drawing::Thin | Drawing::Published);
        let width = if is_thin { 1.0 } else { 2.0 };
        let mut line = Line::new("", PlotPoints::from(points))
            .stroke(Stroke::new(width, color))
            .allow_hover(false);
        if series.stroke == Drawing::Published {
            line = line.style(LineStyle::dashed_dense());
        } else if palette::is_dashed(series.colour) {
            line = line.style(LineStyle::dashed_loose());
        }
        plot.line(line);
    }
}

fn bar(point: &Point, width: f64, color: Color32) -> Bar {
    Bar::new(point.x, point.y)
        .width(width * 0.92)
        .fill(color.gamma_multiply(0.75))
        .stroke(Stroke::NONE)
}

fn band(plot: &mut PlotUi<'_>, run: &[Point], color: Color32) {
    let with_band: Vec<(f64, f64, f64)> = run
        .iter()
        .filter_map(|point| point.band.map(|(low, high)| (point.x, low, high)))
        .collect();
    if with_band.len() < 2 {
        return;
    }
    let xs: Vec<f64> = with_band.iter().map(|(x, ..)| *x).collect();
    let lows: Vec<f64> = with_band.iter().map(|(_, low, _)| *low).collect();
    let highs: Vec<f64> = with_band.iter().map(|(.., high)| *high).collect();
    let area = FilledArea::new("", &xs, &lows, &highs)
        .fill_color(color.gamma_multiply(0.14))
        .allow_hover(false);
    plot.add(area);
}

impl Canvas<'_> {
    fn words(&self, at: Pos2, anchor: Align2, words: &str, font: FontId, color: Color32) -> Rect {
        self.painter.text(at, anchor, words, font, color)
    }

    /// Words at both axes. Ticks are the spec's, or new ones where the user has zoomed in.
    fn axes(&self, spec: &ChartSpec, outer: Rect, title: Arc<Galley>) {
        let small = theme::words(text::CAPTION);
        let numbers = theme::numbers(text::CAPTION);
        let head = pos2(outer.left(), outer.top());
        self.words(
            head,
            Align2::LEFT_TOP,
            &spec.y.title,
            small,
            self.roles.faint,
        );
        let foot = pos2(self.inner.right(), outer.bottom()) - title.size();
        let foot = pos2(foot.x.max(outer.left()), foot.y);
        self.painter.galley(foot, title, self.roles.faint);
        for tick in &spec.y.ticks {
            let at = pos2(self.inner.left() - 8.0, self.place(spec.x.low, tick.at).y);
            if self.inner.y_range().expand(1.0).contains(at.y) {
                self.words(
                    at,
                    Align2::RIGHT_CENTER,
                    &tick.text,
                    numbers.clone(),
                    self.roles.quiet,
                );
            }
        }
        self.x_words(spec, &numbers);
    }

    /// The words below the x axis: the last one always, the others where there is room.
    fn x_words(&self, spec: &ChartSpec, font: &FontId) {
        let mut taken: Vec<(f32, f32)> = Vec::new();
        let moved = self.moved(&spec.x);
        let ticks = &moved.as_ref().unwrap_or(&spec.x).ticks;
        let order = ticks
            .last()
            .into_iter()
            .chain(ticks.iter().rev().skip(1).rev());
        for tick in order {
            let at = pos2(self.place(tick.at, spec.y.low).x, self.inner.bottom() + 7.0);
            let words = tick.text.clone();
            let galley = self
                .painter
                .layout_no_wrap(words, font.clone(), self.roles.quiet);
            let from = at.x - galley.size().x / 2.0;
            let to = from + galley.size().x;
            let is_free = taken
                .iter()
                .all(|(other_from, other_to)| to + 6.0 < *other_from || from > other_to + 6.0);
            if is_free && self.inner.x_range().expand(2.0).contains(at.x) {
                taken.push((from, to));
                self.galley(pos2(from, at.y), galley);
            }
        }
    }

    fn galley(&self, at: Pos2, galley: Arc<Galley>) {
        self.painter
            .add(Shape::Text(TextShape::new(at, galley, self.roles.quiet)));
    }

    /// The x axis as it is seen, where the user has moved it.
    fn moved(&self, x: &Axis) -> Option<Axis> {
        let bounds = self.transform.bounds();
        axis::moved(x, bounds.min()[0], bounds.max()[0])
    }

    fn markers(&self, series: &Series, aside: f64) {
        let is_published = series.stroke == Drawing::Published;
        if !is_published && !matches!(series.stroke, Drawing::Curve | Drawing::Dots) {
            return;
        }
        let color = faded(
            self.roles.series(series.colour),
            series.id,
            self.highlighted,
        );
        let is_crowd = series.points.len() > 64;
        for (place, point) in series.points.iter().enumerate() {
            let at = self.place(point.x + aside, point.y);
            if !self.inner.expand(6.0).contains(at) {
                continue;
            }
            if is_crowd {
                self.painter.circle_filled(at, 1.4, color);
                continue;
            }
            if let Some((low, high)) = series.whisker(place) {
                let span = Rangef::new(self.place(point.x, low).y, self.place(point.x, high).y);
                let stroke = Stroke::new(1.5, color);
                self.painter.vline(at.x, span, stroke);
                self.open_end(at.x, span.max.min(span.min), stroke);
            }
            marker::paint(&self.painter, at, series.colour, marker::RADIUS, color);
            if is_published {
                let inner = marker::RADIUS * 0.5;
                marker::paint(&self.painter, at, series.colour, inner, self.roles.panel);
            }
        }
    }

    /// The tip of an arrow where an interval goes on above the chart.
    fn open_end(&self, x: f32, high: f32, stroke: Stroke) {
        let top = self.inner.top();
        if high < top {
            for side in [-4.0, 4.0] {
                let ends = [pos2(x + side, top + 4.0), pos2(x, top)];
                self.painter.line_segment(ends, stroke);
            }
        }
    }

    /// The intervals of bars.
    fn whiskers(&self, series: &Series) {
        let points = series.points.iter();
        for point in points.filter(|_| series.stroke == Drawing::Bars) {
            let Some((low, high)) = point.band else {
                continue;
            };
            let color = faded(self.roles.text, series.id, self.highlighted);
            let stroke = Stroke::new(1.5, color);
            let x = self.place(point.x, 0.0).x;
            let inside = self.inner.y_range();
            let [low, high] = [low, high].map(|end| self.place(point.x, end).y);
            let span = Rangef::new(inside.clamp(high), inside.clamp(low));
            self.painter.vline(x, span, stroke);
            self.open_end(x, high, stroke);
            for end in [low, high].into_iter().filter(|end| inside.contains(*end)) {
                let cap = Rangef::new(x - 4.0, x + 4.0);
                self.painter.hline(cap, end, stroke);
            }
        }
    }

    /// The line to drag, where there is one. While the hand is on it the cursor says so.
    fn limit(&self, ui: &Ui, id: &str, spec: &ChartSpec) -> Option<Response> {
        let limit = spec.limit.as_ref()?;
        let y = self
            .place(spec.x.low, limit.y)
            .y
            .clamp(self.inner.top(), self.inner.bottom());
        let above = Rect::from_min_max(self.inner.min, pos2(self.inner.right(), y));
        self.painter
            .rect_filled(above, 0.0, self.roles.bad.gamma_multiply(0.05));
        let grip = Rect::from_x_y_ranges(self.inner.x_range(), Rangef::new(y - 5.0, y + 5.0));
        let hand = ui
            .interact(grip, ui.scope_id().with((id, "limit")), Sense::drag())
            .accessible_name(format!("Latency {}", limit.text))
            .on_hover_and_drag_cursor(CursorIcon::ResizeVertical);
        let is_held = hand.hovered() || hand.dragged();
        let stroke = Stroke::new(if is_held { 2.0 } else { 1.2 }, self.roles.accent);
        let ends = [pos2(self.inner.left(), y), pos2(self.inner.right(), y)];
        self.painter
            .extend(Shape::dashed_line(&ends, stroke, 5.0, 4.0));
        let words = format!("{}, drag", limit.text);
        let room = y - self.inner.top() > 18.0;
        let (shift, anchor) = if room {
            (-4.0, Align2::RIGHT_BOTTOM)
        } else {
            (4.0, Align2::RIGHT_TOP)
        };
        let color = self.roles.accent;
        let galley = self
            .painter
            .layout_no_wrap(words, theme::words(text::CAPTION), color);
        let place = anchor.anchor_size(ends[1] + vec2(-2.0, shift), galley.size());
        let ground = self.roles.panel.gamma_multiply(0.8);
        self.painter.rect_filled(place.expand(2.0), 3.0, ground);
        self.painter.galley(place.min, galley, color);
        Some(hand)
    }

    /// The coordinate at the hand that drags: beyond the axis too, which stays as it is meanwhile.
    fn dragged_to(&self, grip: &Response) -> Option<f64> {
        let at = grip.interact_pointer_pos().filter(|_| grip.dragged())?;
        Some(self.transform.value_from_position(at).y)
    }

    fn nearest<'s>(&self, spec: &'s ChartSpec, hand: Pos2) -> Option<(&'s Series, &'s Point)> {
        let mut best: Option<(f32, &Series, &Point)> = None;
        for series in spec
            .series
            .iter()
            .filter(|series| series.stroke != Drawing::Thin)
        {
            for point in &series.points {
                let (reach, most) = if series.stroke == Drawing::Bars {
                    let x = self.place(point.x, 0.0).x;
                    let half = self.place(point.x + spec.bar_width / 2.0, 0.0).x - x;
                    ((x - hand.x).abs(), half.max(REACH))
                } else {
                    let at = self.place(point.x + spec.aside(series), point.y);
                    (at.distance(hand), REACH)
                };
                if reach < most && best.is_none_or(|(least, ..)| reach < least) {
                    best = Some((reach, series, point));
                }
            }
        }
        best.map(|(_, series, point)| (series, point))
    }

    fn halo(&self, series: &Series, point: &Point, aside: f64) {
        if series.stroke != Drawing::Bars {
            let color = self.roles.series(series.colour).gamma_multiply(0.35);
            let at = self.place(point.x + aside, point.y);
            self.painter.circle_stroke(at, 7.0, Stroke::new(3.0, color));
        }
    }
}
