//! Paints a [`ChartSpec`]: hairlines, words at the axes, lines, bands, markers, and the line to drag.
//!
//! The plot widget keeps the view (what part is seen, dragging, zooming) and draws lines and bands; axes,
//! markers and marks are ours, because its own are not the look.

use std::sync::Arc;

use eframe::egui::{
    Align2, Color32, CursorIcon, Galley, Id, Mesh, Pos2, Rangef, Rect, Response, Sense, Shape,
    Stroke, Ui, UiBuilder, Vec2, pos2, vec2,
};
use egui_plot::{Bar, BarChart, HLine, Line, LineStyle, Plot, PlotPoints, PlotTransform, PlotUi};

use super::chart_canvas::{ChartCanvas, REACH, faded, pos};
use super::sketch::{Sketch, with_letters};
use super::{figure, marker, zoom};
use crate::theme::{self, Roles, text};
use powerband_findings::chart::axis;
use powerband_findings::chart::figure::Drawing as Figure;
use powerband_findings::chart::layout::bands::{self, BAND, Slice};
use powerband_findings::chart::layout::failures::failure_marks;
use powerband_findings::chart::layout::labels::{OmittedLabel, labels, limit_line};
use powerband_findings::chart::layout::series::{COLUMN, HOLLOW, column_intervals, dots, is_crowd};
use powerband_findings::chart::layout::words::PlacedLabel;
use powerband_findings::chart::layout::{Font, Letters, PlotSurface as _, marks, ticks};
use powerband_findings::chart::palette;
use powerband_findings::chart::spec::{
    Axis, ChartPoint, ChartSpec, Mark, Series, SeriesId, Stroke as Drawing, Tick,
};

/// Room above the plot for what the y axis measures.
const HEAD: f32 = 20.0;
/// Room below for the ticks, and for what the x axis measures where that takes one line.
const FOOT: f32 = 34.0;

/// Options of a shown chart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChartOptions {
    /// Height of all of it.
    pub height: f32,
    /// The highlighted series.
    pub highlighted: Option<SeriesId>,
    /// Whether a part of it can be seen alone: a box, Ctrl+scroll and keys zoom.
    pub zooms: bool,
    /// Whether its x axis is the batch size, and the one under the pointer is marked on all such charts.
    pub crosshair: bool,
}

/// The batch size under the pointer, and when it was there.
#[derive(Clone, Copy)]
struct Crosshair {
    tag: u64,
    pass: u64,
}

/// The user's input.
pub(crate) struct ChartInput {
    /// The whole chart.
    pub response: Response,
    /// The point under the pointer: its series and its tag.
    pub hovered: Option<(SeriesId, u64)>,
    /// The point that was clicked.
    pub clicked: Option<(SeriesId, u64)>,
    /// The failures at the pointer, with their reasons.
    pub failed: Option<String>,
    /// The coordinate to which the limit is being dragged, which may be beyond the axis.
    pub limit: Option<f64>,
    /// Whether the drag of the limit ended.
    pub let_go: bool,
    /// The visible x axis, where the user has moved it.
    pub moved: Option<Axis>,
}

impl ChartInput {
    /// What comes of a chart that is out of sight.
    fn none(response: Response) -> Self {
        Self {
            response,
            hovered: None,
            clicked: None,
            failed: None,
            limit: None,
            let_go: false,
            moved: None,
        }
    }
}

/// Shows the chart over the width that there is.
pub(crate) fn show(ui: &mut Ui, id: &str, spec: &ChartSpec, look: ChartOptions) -> ChartInput {
    let view = if look.zooms {
        zoom::view(ui.ctx(), id, spec)
    } else {
        None
    };
    let whole_spec = spec;
    let viewed = view.map(|view| spec.viewed(&view));
    let spec = viewed.as_ref().unwrap_or(spec);
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
        return ChartInput::none(whole);
    }
    let mut child = ui.new_child(UiBuilder::new().max_rect(inner).id_salt(id));
    let behind = child.painter().add(Shape::Noop);
    let (transform, plot) = plot(&mut child, id, spec, look, roles);
    let canvas = ChartCanvas {
        spec,
        painter: ui.painter_at(outer.expand(1.0)),
        transform,
        inner,
        roles,
        highlighted: look.highlighted,
    };
    ui.painter_at(inner).set(behind, canvas.bands());
    canvas.axes(outer, title);
    let inside = canvas.painter.with_clip_rect(inner.expand(1.0));
    let behind = with_letters(&inside, |letters| marks::behind(&canvas, letters));
    Sketch::new(ui, &inside, Vec2::ZERO).paint(&behind);
    for series in &spec.series {
        canvas.markers(series);
    }
    let labels = labels(&canvas);
    let sketch = Sketch::new(ui, &canvas.painter, Vec2::ZERO).highlighting(look.highlighted);
    let on_top = |letters: &Letters<'_>| marks::on_top(&canvas, &labels, letters);
    sketch.paint(&with_letters(&canvas.painter, on_top));
    leave_out(ui, id, labels.left_out);
    let grip = canvas.limit(ui, id, labels.limit.as_ref());
    let limit = grip.as_ref().and_then(|grip| canvas.dragged_to(grip));
    if look.zooms {
        let name = format!("Plot of {}", spec.title);
        let plot = plot.clone().accessible_name(name);
        zoom::react(ui, id, whole_spec, &canvas, &plot);
    }
    let is_free = limit.is_none() && !plot.dragged();
    let hand = plot.hover_pos().filter(|_| is_free);
    let nearest = hand.and_then(|hand| canvas.nearest(hand));
    let hovered = nearest.map(|(series, point)| (series.id, point.tag));
    if let Some((series, point)) = nearest {
        canvas.halo(series, point);
    }
    if look.crosshair {
        canvas.crosshair(ui, hovered.map(|(_, tag)| tag));
    }
    let moved = axis::moved(&whole_spec.x, spec.x.low, spec.x.high);
    figure::offer(ui, id, outer, || Figure::Chart(Box::new(spec.clone())));
    ChartInput {
        clicked: hovered.filter(|_| plot.clicked()),
        failed: hand.and_then(|hand| canvas.failed_at(hand)),
        response: plot,
        hovered,
        limit,
        let_go: grip.is_some_and(|grip| grip.drag_stopped()),
        moved,
    }
}

/// What a chart had no room for when it was shown last, for its legend.
pub(crate) fn left_out(ui: &Ui, id: &str) -> Vec<OmittedLabel> {
    let known = ui.data(|data| data.get_temp(left_out_id(id)));
    known.unwrap_or_default()
}

fn leave_out(ui: &Ui, id: &str, left_out: Vec<OmittedLabel>) {
    let before: Option<Vec<OmittedLabel>> = ui.data(|data| data.get_temp(left_out_id(id)));
    if before.unwrap_or_default() != left_out {
        ui.data_mut(|data| data.insert_temp(left_out_id(id), left_out));
        ui.ctx().request_repaint();
    }
}

fn left_out_id(id: &str) -> Id {
    Id::unique("left out").with(id)
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
    let font = theme::text_font(text::CAPTION);
    ui.painter()
        .layout(spec.x.title.clone(), font, color, width)
}

/// The plot itself.
fn plot(
    ui: &mut Ui,
    id: &str,
    spec: &ChartSpec,
    look: ChartOptions,
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
        .allow_drag(false)
        .allow_zoom(false)
        .allow_double_click_reset(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .label_formatter(|_| None)
        .default_x_bounds(spec.x.low, spec.x.high)
        .default_y_bounds(spec.y.low, spec.y.high);
    let shown = view.show(ui, |plot| {
        plot.set_plot_bounds_x(spec.x.low..=spec.x.high);
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

fn bar(point: &ChartPoint, width: f64, color: Color32) -> Bar {
    Bar::new(point.x, point.y)
        .width(width * COLUMN)
        .fill(color.gamma_multiply(0.75))
        .stroke(Stroke::NONE)
}

/// A band as triangles whose strength falls to nothing where it fades.
fn band(slices: &[Slice], color: Color32) -> Mesh {
    let mut mesh = Mesh::default();
    for slice in slices {
        let ends = [slice.low, slice.high];
        let [low, high] = ends.map(|end| (end.at, if end.is_inside { BAND } else { 0.0 }));
        for (at, strength) in [low, (slice.middle, BAND), high] {
            mesh.colored_vertex(pos(at), color.gamma_multiply(strength as f32));
        }
    }
    for first in (3..).step_by(3).take(slices.len().saturating_sub(1)) {
        for side in [first, first + 1] {
            mesh.add_triangle(side - 3, side - 2, side);
            mesh.add_triangle(side - 2, side, side + 1);
        }
    }
    mesh
}

impl ChartCanvas<'_> {
    /// Words at both axes.
    fn axes(&self, outer: Rect, title: Arc<Galley>) {
        let y_title = self.galley(&self.spec.y.title, Font::Words);
        let color = self.roles.faint;
        self.painter.galley(outer.min, y_title, color);
        let foot = pos2(self.inner.right(), outer.bottom()) - title.size();
        let foot = pos2(foot.x.max(outer.left()), foot.y);
        self.painter.galley(foot, title, color);
        for tick in &self.spec.y.ticks {
            let y = self.pos(self.spec.x.low, tick.at).y;
            if self.inner.y_range().expand(1.0).contains(y) {
                let at = pos2(self.inner.left() - 8.0, y);
                let galley = self.galley(&tick.text, Font::Numbers);
                let place = Align2::RIGHT_CENTER.anchor_size(at, galley.size());
                self.painter.galley(place.min, galley, self.roles.quiet);
            }
        }
        self.x_words();
    }

    /// The words below the x axis that have room.
    fn x_words(&self) {
        let ticks = &self.spec.x.ticks;
        let place = |tick: &Tick| {
            let (x, _) = self.place(tick.at, self.spec.y.low);
            (x, self.size(&tick.text, Font::Numbers).0)
        };
        let places: Vec<(f64, f64)> = ticks.iter().map(place).collect();
        let ends = (self.inner.left().into(), self.inner.right().into());
        for place in ticks::with_room(&places, ends) {
            let (middle, width) = places[place];
            let at = (middle - width / 2.0, (self.inner.bottom() + 7.0).into());
            let galley = self.galley(&ticks[place].text, Font::Numbers);
            self.painter.galley(pos(at), galley, self.roles.quiet);
        }
    }

    /// The interval bands of curves, which lie behind everything.
    fn bands(&self) -> Shape {
        let is_curve = |series: &&Series| !matches!(series.stroke, Drawing::Bars | Drawing::Dots);
        let curves = self.spec.series.iter().filter(is_curve);
        let bands = curves.flat_map(|series| {
            let color = self.faded(self.roles.series(series.colour), series.id);
            let runs = series.runs().map(|run| bands::band(self, run));
            runs.filter(|slices| !slices.is_empty())
                .map(move |slices| Shape::mesh(band(&slices, color)))
        });
        Shape::Vec(bands.collect())
    }

    /// Markers and intervals.
    fn markers(&self, series: &Series) {
        let stroke = Stroke::new(1.5, self.faded(self.roles.text, series.id));
        for line in column_intervals(self, series) {
            self.line(line, stroke);
        }
        let color = self.faded(self.roles.series(series.colour), series.id);
        let stroke = Stroke::new(1.5, color);
        for dot in dots(self, series) {
            let at = pos(dot.at);
            if is_crowd(series) {
                self.painter.circle_filled(at, 1.4, color);
                continue;
            }
            for line in dot.interval {
                self.line(line, stroke);
            }
            marker::paint(&self.painter, at, series.colour, marker::RADIUS, color);
            if series.stroke == Drawing::Published {
                let inner = marker::RADIUS * HOLLOW as f32;
                marker::paint(&self.painter, at, series.colour, inner, self.roles.panel);
            }
        }
    }

    /// The line to drag, where there is one. The cursor changes over it.
    fn limit(&self, ui: &Ui, id: &str, words: Option<&PlacedLabel>) -> Option<Response> {
        let limit = self.spec.limit.as_ref()?;
        let y = limit_line(self)? as f32;
        let grip = Rect::from_x_y_ranges(self.inner.x_range(), Rangef::new(y - 5.0, y + 5.0));
        let hand = ui
            .interact(grip, ui.scope_id().with((id, "limit")), Sense::drag())
            .accessible_name(format!("Latency {}", limit.text))
            .on_hover_and_drag_cursor(CursorIcon::ResizeVertical);
        let is_held = hand.hovered() || hand.dragged();
        let width = if is_held { 2.0 } else { 1.2 };
        let items = with_letters(&self.painter, |letters| {
            marks::limit(self, words, width, letters)
        });
        Sketch::new(ui, &self.painter, Vec2::ZERO).paint(&items);
        Some(hand)
    }

    /// The coordinate at the dragging pointer, also beyond the axis, which stays fixed during the drag.
    fn dragged_to(&self, grip: &Response) -> Option<f64> {
        let at = grip.interact_pointer_pos().filter(|_| grip.dragged())?;
        Some(self.transform.value_from_position(at).y)
    }

    /// Whether a point is not beyond the edge of what is seen.
    fn is_seen(&self, point: &ChartPoint) -> bool {
        let (x, y) = (&self.spec.x, &self.spec.y);
        (x.low..=x.high).contains(&point.x) && (y.low..=y.high).contains(&point.y)
    }

    /// The failures at the mark under the pointer, with their reasons.
    fn failed_at(&self, hand: Pos2) -> Option<String> {
        let near = failure_marks(self)
            .into_iter()
            .map(|failed| (pos(failed.at).distance(hand), failed.mark))
            .filter(|(distance, _)| *distance < REACH);
        let Mark::Failed { x, .. } = near.min_by(|a, b| a.0.total_cmp(&b.0))?.1 else {
            return None;
        };
        Some(self.spec.failures_at(*x))
    }

    fn nearest(&self, hand: Pos2) -> Option<(&Series, &ChartPoint)> {
        let mut best: Option<(f32, &Series, &ChartPoint)> = None;
        let series = self.spec.series.iter();
        for series in series.filter(|series| series.stroke != Drawing::Thin) {
            let aside = self.spec.aside(series);
            for point in series.points.iter().filter(|point| self.is_seen(point)) {
                let (reach, most) = if series.stroke == Drawing::Bars {
                    let x = self.pos(point.x, 0.0).x;
                    let half = self.pos(point.x + self.spec.bar_width / 2.0, 0.0).x - x;
                    ((x - hand.x).abs(), half.max(REACH))
                } else {
                    let at = self.pos(point.x + aside, point.y);
                    (at.distance(hand), REACH)
                };
                if reach < most && best.is_none_or(|(least, ..)| reach < least) {
                    best = Some((reach, series, point));
                }
            }
        }
        best.map(|(_, series, point)| (series, point))
    }

    /// Marks the batch size under the pointer, be that over this chart or over one beside it.
    fn crosshair(&self, ui: &Ui, hovered: Option<u64>) {
        let memory = Id::unique("crosshair");
        let pass = ui.ctx().cumulative_pass_nr();
        let known: Option<Crosshair> = ui.data(|data| data.get_temp(memory));
        if let Some(tag) = hovered {
            ui.data_mut(|data| data.insert_temp(memory, Crosshair { tag, pass }));
            if known.is_none_or(|known| known.tag != tag) {
                ui.ctx().request_repaint();
            }
        }
        let known = known.filter(|known| known.pass + 1 >= pass);
        let Some(tag) = hovered.or_else(|| known.map(|known| known.tag)) else {
            return;
        };
        let points = self.spec.points_at(tag);
        let points: Vec<(&Series, &ChartPoint)> =
            points.filter(|one| self.is_seen(one.1)).collect();
        if let Some((_, first)) = points.first() {
            let x = self.pos(first.x, 0.0).x;
            let stroke = Stroke::new(1.0, self.roles.faint.gamma_multiply(0.6));
            self.painter.vline(x, self.inner.y_range(), stroke);
        }
        for (series, point) in points {
            self.halo(series, point);
        }
    }

    fn halo(&self, series: &Series, point: &ChartPoint) {
        if series.stroke != Drawing::Bars {
            let color = self.roles.series(series.colour).gamma_multiply(0.35);
            let at = self.pos(point.x + self.spec.aside(series), point.y);
            self.painter.circle_stroke(at, 7.0, Stroke::new(3.0, color));
        }
    }
}
