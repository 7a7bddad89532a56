//! Paints shapes, and shows two figures that are made of them: a roofline, whose points are met by the pointer and
//! by arrow keys, and the bar of wall time.

use std::sync::Arc;

use eframe::egui::epaint::TextShape;
use eframe::egui::{
    Color32, CursorIcon, EventFilter, Galley, Id, Key, Mesh, Modifiers, Painter, Pos2, Rect,
    Response, Sense, Shape, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, accesskit::Role, vec2,
};

use super::chart_canvas::{FADED, pos, rect};
use super::{figure, marker};
use crate::theme::{self, text};
use powerband_findings::chart::area::{Area, Position};
use powerband_findings::chart::colours::Colours;
use powerband_findings::chart::figure::Drawing;
use powerband_findings::chart::layout::cell_words::hatching;
use powerband_findings::chart::layout::roofline::{self, NodeTarget, RooflineLayout};
use powerband_findings::chart::layout::{Font, Letters, wall_time};
use powerband_findings::chart::roofline::Roofline;
use powerband_findings::chart::sketch::{Ink, SketchShape};
use powerband_findings::chart::spec::SeriesId;
use powerband_findings::chart::wall_time::WallBar;

/// Width of a line and a hairline, and how far from a point the pointer meets it.
const LINE: f32 = 2.0;
const HAIR: f32 = 1.0;
/// The size of type of names in bars, as in exported pictures.
const BODY: f64 = 12.5;
const REACH: f64 = 8.0;
/// Height of a roofline.
const ROOFLINE: f32 = 400.0;
/// Between a point and the ring around it.
const RING: f32 = 3.0;
/// Half the width of the mark on the line that a node is held against.
const LINE_MARK: f32 = 2.5;

/// The user's input on a roofline.
pub(crate) struct SketchInput {
    /// The whole figure.
    pub response: Response,
    /// The node under the pointer.
    pub hovered: Option<usize>,
    /// The node that was clicked, or chosen by Enter.
    pub clicked: Option<usize>,
    /// Whether the ground beside all points was clicked.
    pub is_left: bool,
}

/// Shows a roofline over the width that there is.
pub(crate) fn roofline(ui: &mut Ui, id: &str, chart: &Roofline) -> SketchInput {
    let shapes = ui.scope_id().with((id, "shapes"));
    let laid_out = laid_out(ui, shapes, chart, |width, letters| {
        let area = Area::new(0.0, 0.0, width, ROOFLINE.into());
        roofline::lay_out(chart, area, letters)
    });
    let placed = &laid_out.placed;
    let size = vec2(ui.available_width(), ROOFLINE);
    let (outer, response) = ui.allocate_exact_size(size, Sense::click());
    let painter = ui.painter_at(outer.expand(1.0));
    let sketch = Sketch::new(ui, &painter, outer.min.to_vec2());
    sketch.paint(&placed.items);
    let at = response.hover_pos();
    let hovered = at.and_then(|at| placed.node_at(sketch.place(at), REACH));
    let is_focused = response.has_focus();
    let cursor = cursor(ui, response.id, chart, placed, is_focused);
    let ring = hovered.or_else(|| cursor.filter(|_| is_focused));
    if let Some(spot) = ring.and_then(|node| spot_of(placed, node)) {
        let radius = spot.radius as f32 + RING;
        let stroke = Stroke::new(1.5, theme::roles(ui).text);
        painter.circle_stroke(sketch.pos(spot.at), radius, stroke);
        if let Some(on_line) = spot.held_against {
            painter.line_segment([sketch.pos(spot.at), sketch.pos(on_line)], stroke);
            painter.circle_filled(sketch.pos(on_line), LINE_MARK, stroke.color);
        }
    }
    let said = cursor.and_then(|node| chart.node_text(node));
    let said = said.unwrap_or_default().replace('\n', ", ");
    response.widget_info(|| {
        let name = format!("{}. {said}", chart.title);
        WidgetInfo::labeled(Role::Button, true, name)
    });
    figure::offer(ui, id, outer, || Drawing::Roofline(Box::new(chart.clone())));
    let is_clicked = response.clicked();
    let clicked = match at {
        Some(_) => hovered,
        None => cursor,
    };
    let response = if hovered.is_some() {
        response.on_hover_cursor(CursorIcon::PointingHand)
    } else {
        response
    };
    SketchInput {
        hovered: ring,
        clicked: clicked.filter(|_| is_clicked),
        is_left: is_clicked && clicked.is_none(),
        response,
    }
}

fn spot_of(placed: &RooflineLayout, node: usize) -> Option<&NodeTarget> {
    placed.spots.iter().find(|spot| spot.node == node)
}

/// The node that the arrow keys are on: the selected one to begin with, else the one with most time. Points
/// follow each other from left to right.
fn cursor(
    ui: &Ui,
    id: Id,
    chart: &Roofline,
    placed: &RooflineLayout,
    is_focused: bool,
) -> Option<usize> {
    let memory = id.with("cursor");
    let known: Option<usize> = ui.data(|data| data.get_temp(memory));
    let is_drawn = |node: &usize| spot_of(placed, *node).is_some();
    let first = placed.spots.first().map(|spot| spot.node);
    let selected = || chart.drawn_as(chart.selected?).filter(is_drawn);
    let now = known.filter(is_drawn).or_else(selected);
    let now = now.or(first)?;
    if !is_focused {
        return Some(now);
    }
    let filter = EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        ..EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
    let pressed = |key: Key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let by = i32::from(pressed(Key::ArrowRight)) - i32::from(pressed(Key::ArrowLeft));
    let up = i32::from(pressed(Key::ArrowUp)) - i32::from(pressed(Key::ArrowDown));
    let mut order: Vec<&NodeTarget> = placed.spots.iter().collect();
    if up != 0 {
        order.sort_by(|a, b| b.at.1.total_cmp(&a.at.1));
    } else {
        order.sort_by(|a, b| a.at.0.total_cmp(&b.at.0));
    }
    let place = order.iter().position(|spot| spot.node == now)?;
    let to = place.saturating_add_signed((by + up) as isize);
    let to = order[to.min(order.len() - 1)].node;
    if known != Some(to) {
        ui.data_mut(|data| data.insert_temp(memory, to));
    }
    Some(to)
}

/// Shows a bar of wall time over the width that there is; the answer is the part under the pointer.
pub(crate) fn wall(ui: &mut Ui, id: &str, bar: &WallBar) -> (Response, Option<usize>) {
    let shapes = ui.scope_id().with((id, "shapes"));
    let laid_out = laid_out(ui, shapes, bar, |width, letters| {
        let area = Area::new(0.0, 0.0, width, wall_time::height(bar, letters));
        (area.bottom as f32, wall_time::lay_out(bar, area, letters))
    });
    let (height, (items, places)) = &laid_out.placed;
    let size = vec2(ui.available_width(), *height);
    let (outer, response) = ui.allocate_exact_size(size, Sense::hover());
    let painter = ui.painter_at(outer.expand(1.0));
    let sketch = Sketch::new(ui, &painter, outer.min.to_vec2());
    sketch.paint(items);
    let parts: Vec<String> = bar.parts.iter().map(|part| part.summary_text()).collect();
    let name = format!("{}. {}", bar.title, parts.join("; "));
    let response = response.accessible_name(name);
    figure::offer(ui, id, outer, || Drawing::WallTime(Box::new(bar.clone())));
    let hand = response.hover_pos();
    let is_in = |place: &Area| hand.is_some_and(|at| place.contains(sketch.place(at)));
    let part = places.iter().position(is_in);
    (response, part)
}

/// A figure as it was laid out last, from the origin on.
pub(crate) struct LaidOut<F, P> {
    figure: F,
    /// For which width, and how large a pixel.
    size: (f32, f32),
    pub(crate) placed: P,
}

/// Lays a figure out over the width that there is; where nothing changed, it is that of the frame before.
pub(crate) fn laid_out<F, P>(
    ui: &Ui,
    id: Id,
    figure: &F,
    lay_out: impl FnOnce(f64, &Letters<'_>) -> P,
) -> Arc<LaidOut<F, P>>
where
    F: Clone + PartialEq + Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    let size = (ui.available_width(), ui.pixels_per_point());
    let known: Option<Arc<LaidOut<F, P>>> = ui.data(|data| data.get_temp(id));
    if let Some(known) = known.filter(|known| known.size == size && known.figure == *figure) {
        return known;
    }
    let fresh = Arc::new(LaidOut {
        figure: figure.clone(),
        size,
        placed: with_letters(ui.painter(), |letters| lay_out(size.0.into(), letters)),
    });
    ui.data_mut(|data| data.insert_temp(id, Arc::clone(&fresh)));
    fresh
}

/// The sizes and widths of words in the window.
pub(super) fn with_letters<T>(painter: &Painter, then: impl FnOnce(&Letters<'_>) -> T) -> T {
    let measure = |text: &str, font, size| f64::from(galley(painter, text, font, size).size().x);
    then(&Letters {
        size: text::CAPTION.into(),
        body: BODY,
        marker: marker::RADIUS.into(),
        line: LINE.into(),
        hair: HAIR.into(),
        is_print: false,
        measure: &measure,
    })
}

fn galley(painter: &Painter, words: &str, font: Font, size: f64) -> Arc<Galley> {
    let font = match font {
        Font::Words => theme::text_font(size as f32),
        Font::Numbers => theme::numbers(size as f32),
    };
    painter.layout_no_wrap(words.to_owned(), font, Color32::PLACEHOLDER)
}

/// Paints shapes that were laid out elsewhere.
pub(crate) struct Sketch<'a> {
    pub(crate) painter: &'a Painter,
    colours: &'a Colours,
    /// From where they were laid out to where they are painted.
    by: Vec2,
    /// The series under the pointer: all others fade.
    highlighted: Option<SeriesId>,
    is_faded: bool,
}

impl<'a> Sketch<'a> {
    pub(crate) fn new(ui: &Ui, painter: &'a Painter, by: Vec2) -> Self {
        Self {
            painter,
            colours: theme::colours(ui),
            by,
            highlighted: None,
            is_faded: false,
        }
    }

    pub(super) fn highlighting(self, highlighted: Option<SeriesId>) -> Self {
        Self {
            highlighted,
            ..self
        }
    }

    fn color(&self, ink: Ink) -> Color32 {
        let color = theme::color(ink.rgb(self.colours));
        if self.is_faded && ink != Ink::Panel {
            return color.gamma_multiply(FADED);
        }
        color
    }

    fn pos(&self, at: Position) -> Pos2 {
        pos(at) + self.by
    }

    /// The place of a position on the screen, as it was laid out.
    pub(crate) fn place(&self, at: Pos2) -> Position {
        let at = at - self.by;
        (at.x.into(), at.y.into())
    }

    /// Where an area is painted.
    pub(crate) fn rect(&self, area: Area) -> Rect {
        rect(area).translate(self.by)
    }

    pub(crate) fn paint(&self, items: &[SketchShape]) {
        for item in items {
            self.item(item);
        }
    }

    /// Paints shapes of which most are plain areas: these first, all as one mesh.
    pub(crate) fn paint_areas_first(&self, items: &[SketchShape]) {
        let mut areas = Mesh::default();
        let others = items.iter().filter(|item| !self.add_area(&mut areas, item));
        let others: Vec<&SketchShape> = others.collect();
        self.painter.add(Shape::mesh(areas));
        for item in others {
            self.item(item);
        }
    }

    /// Adds an area with sharp corners, or a group of these; returns whether it is one.
    fn add_area(&self, mesh: &mut Mesh, item: &SketchShape) -> bool {
        match item {
            SketchShape::Ground {
                area,
                ink,
                strength,
                radius: 0.0,
            } => {
                let color = self.color(*ink).gamma_multiply(*strength as f32);
                mesh.add_colored_rect(self.rect(*area), color);
                true
            }
            SketchShape::Group { items, .. } => {
                let is_area = |item| matches!(item, &SketchShape::Ground { radius: 0.0, .. });
                items.iter().all(is_area) && items.iter().all(|item| self.add_area(mesh, item))
            }
            _ => false,
        }
    }

    fn item(&self, item: &SketchShape) {
        match item {
            SketchShape::Line {
                from,
                to,
                thickness,
                dashes,
                ink,
                ..
            } => {
                let stroke = self.stroke(*thickness, *ink);
                let ends = [self.pos(*from), self.pos(*to)];
                if let [dash, gap, ..] = **dashes {
                    let (dash, gap) = (dash as f32, gap as f32);
                    self.painter
                        .extend(Shape::dashed_line(&ends, stroke, dash, gap));
                } else {
                    self.painter.line_segment(ends, stroke);
                }
            }
            SketchShape::Path {
                points,
                thickness,
                ink,
                ..
            } => {
                let stroke = self.stroke(*thickness, *ink);
                let points = points.iter().map(|at| self.pos(*at)).collect();
                self.painter.add(Shape::line(points, stroke));
            }
            SketchShape::Under { points, foot, ink } => {
                let mut mesh = Mesh::default();
                for ends in points.windows(2) {
                    let (a, b) = (ends[0], ends[1]);
                    let corners = [a, (a.0, *foot), b, (b.0, *foot)].map(|at| self.pos(at));
                    add_strip(&mut mesh, corners, self.color(*ink));
                }
                self.painter.add(Shape::mesh(mesh));
            }
            SketchShape::Dot { .. } | SketchShape::Ring { .. } | SketchShape::Marker { .. } => {
                self.round(item);
            }
            SketchShape::Text { .. } => self.paint_text(item),
            SketchShape::OfSeries { series, items } => {
                let is_faded = self.highlighted.zip(*series).is_some_and(|(a, b)| a != b);
                Self { is_faded, ..*self }.paint(items);
            }
            SketchShape::Group { items, .. } => self.paint(items),
            surface => self.surface(surface),
        }
    }

    /// What fills or surrounds an area.
    fn surface(&self, item: &SketchShape) {
        match item {
            SketchShape::Block { area, fill } => {
                let color = theme::color(self.colours.fill(*fill)).gamma_multiply(0.85);
                self.filled(*area, 2.0, color);
            }
            SketchShape::Ground {
                area,
                ink,
                strength,
                radius,
            } => {
                let color = self.color(*ink).gamma_multiply(*strength as f32);
                self.filled(*area, *radius as f32, color);
            }
            SketchShape::Edge {
                area,
                thickness,
                ink,
                radius,
            } => {
                let stroke = self.stroke(*thickness, *ink);
                self.edge(*area, *radius as f32, stroke);
            }
            SketchShape::Tile { area, fill } => {
                let color = theme::color(self.colours.fill(*fill));
                self.filled(*area, 3.0, color.gamma_multiply(0.3));
                let edge = Stroke::new(HAIR, color.gamma_multiply(0.7));
                self.edge(*area, 3.0, edge);
            }
            SketchShape::Hatched(area) => self.hatched(*area),
            // Tiles have no hatching here that a text would need room in.
            _ => {}
        }
    }

    /// What stands around a place.
    fn round(&self, item: &SketchShape) {
        match item {
            SketchShape::Dot { at, radius, ink } => {
                let (at, color) = (self.pos(*at), self.color(*ink));
                self.painter.circle_filled(at, *radius as f32, color);
            }
            SketchShape::Ring {
                at,
                radius,
                ground,
                thickness,
                ink,
                ..
            } => {
                let stroke = self.stroke(*thickness, *ink);
                let ground = ground.map_or(Color32::TRANSPARENT, |ink| self.color(ink));
                let (at, radius) = (self.pos(*at), *radius as f32);
                self.painter.circle(at, radius, ground, stroke);
            }
            SketchShape::Marker {
                at,
                shape,
                radius,
                ink,
                strength,
            } => {
                let color = self.color(*ink).gamma_multiply(*strength as f32);
                let (at, radius) = (self.pos(*at), *radius as f32);
                marker::paint(self.painter, at, *shape, radius, color);
            }
            _ => {}
        }
    }

    fn stroke(&self, thickness: f64, ink: Ink) -> Stroke {
        Stroke::new(LINE * thickness as f32, self.color(ink))
    }

    fn filled(&self, area: Area, radius: f32, color: Color32) {
        let place = self.rect(area);
        if place.intersects(self.painter.clip_rect()) {
            self.painter.rect_filled(place, radius, color);
        }
    }

    /// The edge of an area.
    pub(crate) fn edge(&self, area: Area, radius: f32, stroke: Stroke) {
        let place = self.rect(area);
        self.painter
            .rect_stroke(place, radius, stroke, StrokeKind::Middle);
    }

    fn hatched(&self, area: Area) {
        let mut mesh = Mesh::default();
        mesh.add_colored_rect(self.rect(area), self.color(Ink::Raised));
        let color = self.color(Ink::Faint).gamma_multiply(0.7);
        for (from, to) in hatching(area) {
            // A thin parallelogram: a line of its own for each would cost a shape each.
            let (from, to) = (self.pos(from), self.pos(to));
            let aside = vec2(0.35, 0.35);
            let corners = [from - aside, from + aside, to - aside, to + aside];
            add_strip(&mut mesh, corners, color);
        }
        self.painter.add(Shape::mesh(mesh));
    }

    fn paint_text(&self, item: &SketchShape) {
        let SketchShape::Text {
            anchor,
            text,
            font,
            size,
            ink,
            angle,
            ..
        } = item
        else {
            return;
        };
        let (color, angle) = (self.color(*ink), *angle as f32);
        let place = self.pos(anchor.at);
        let seen = self.painter.clip_rect().expand(2.0 * text::CAPTION);
        if angle == 0.0 && !seen.y_range().contains(place.y) {
            return;
        }
        let galley = galley(self.painter, text, *font, *size);
        let size = (galley.size().x.into(), galley.size().y.into());
        let corner = self.rect(anchor.area(size)).min;
        if angle == 0.0 {
            self.painter.galley(corner, galley, color);
            return;
        }
        // Turned around their place, not around their corner.
        let (sin, cos) = angle.sin_cos();
        let off = corner - place;
        let turned = place + vec2(off.x * cos - off.y * sin, off.x * sin + off.y * cos);
        let shape = TextShape::new(turned, galley, color).with_angle(angle);
        self.painter.add(shape);
    }
}

/// Adds two triangles: the first three corners, and the last three.
fn add_strip(mesh: &mut Mesh, corners: [Pos2; 4], color: Color32) {
    let first = mesh.vertices.len() as u32;
    for at in corners {
        mesh.colored_vertex(at, color);
    }
    mesh.add_triangle(first, first + 1, first + 2);
    mesh.add_triangle(first + 1, first + 2, first + 3);
}
