//! The picture of a network, which is moved, zoomed and walked through: by the pointer, and along its edges by arrow
//! keys.

use std::sync::Arc;

use eframe::egui::{
    EventFilter, Id, Key, Modifiers, Pos2, Rect, Response, Sense, Stroke, StrokeKind, Ui, Vec2,
    WidgetInfo, accesskit::Role, vec2,
};

use super::figure;
use super::sketch::{Sketch, with_letters};
use crate::theme;
use powerband_findings::analysis::network::TimedNetwork;
use powerband_findings::analysis::network::modules::Item;
use powerband_findings::chart::area::Area;
use powerband_findings::chart::figure::Drawing;
use powerband_findings::chart::layout::network::shapes::{self, NetworkWindow};
use powerband_findings::chart::layout::network::{NetworkLayout, PlacedItem, Wire};
use powerband_findings::chart::network::NetworkFigure;

/// How small and how large the picture can be made.
const SCALES: (f32, f32) = (0.001, 3.0);
/// A picture that is shown for the first time is no smaller than this.
const READABLE: f32 = 0.8;
/// What is selected is made no larger than this.
const LARGE: f32 = 1.5;
/// The most of the height and width that the small picture of all takes.
const MAP: (f32, f32) = (110.0, 0.5);
/// Radius of the corners of the room.
const RADIUS: f32 = 4.0;
/// Between the picture and the edge of its room.
const EDGE: f32 = 12.0;

/// How often what is selected had to come into view, and how often it had to fill the room.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ViewRequests {
    pub n_shown: u32,
    pub n_zoomed: u32,
}

/// The user's input on the picture.
pub(crate) struct NetworkInput {
    pub response: Response,
    pub hovered: Option<Item>,
    /// The item that was clicked, or walked to.
    pub selected: Option<Item>,
    /// Whether the ground beside all items was clicked.
    pub is_left: bool,
    /// The module that is to be opened or closed.
    pub toggled: Option<usize>,
}

/// What of the picture was seen in the last frame.
#[derive(Clone)]
struct CanvasMemory {
    scale: f32,
    /// Where the corner of the network is, from the corner of the picture on.
    origin: Vec2,
    layout: Arc<NetworkLayout>,
    network: Arc<TimedNetwork>,
    requests: ViewRequests,
}

/// The legend of the colours, in as many lines as it needs.
pub(crate) fn legend(ui: &mut Ui, figure: &NetworkFigure) {
    let width = ui.available_width();
    let area = Area::new(0.0, 0.0, width.into(), 1.0);
    let (items, height) = with_letters(ui.painter(), |letters| {
        shapes::legend(&figure.colours.legend, area, letters)
    });
    let (place, response) = ui.allocate_exact_size(vec2(width, height as f32), Sense::hover());
    Sketch::new(ui, ui.painter(), place.min.to_vec2()).paint(&items);
    let lines = figure.colours.legend.iter();
    let lines: Vec<&str> = lines.map(|line| line.text.as_str()).collect();
    let name = format!("{}: {}", figure.colours.colouring.title(), lines.join("; "));
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &name));
}

/// Shows the picture over the width that there is. Whenever the requests have changed, what is selected comes into view;
/// they are none while a picture with what is selected is on its way.
pub(crate) fn show(
    ui: &mut Ui,
    id: &str,
    figure: &NetworkFigure,
    height: f32,
    requests: Option<ViewRequests>,
) -> NetworkInput {
    let size = vec2(ui.available_width(), height);
    let (room, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let memory_id = ui.scope_id().with((id, "canvas"));
    let mut seen = seen(ui, memory_id, figure, room, requests);
    let is_touched = move_by_hand(ui, &response, room, &mut seen);
    let window = window(&seen, room);
    let painter = ui.painter_at(room);
    let items = with_letters(&painter, |letters| shapes::shapes(figure, &window, letters));
    Sketch::new(ui, &painter, Vec2::ZERO).paint(&items);
    let line = Stroke::new(1.0, theme::roles(ui).line);
    painter.rect_stroke(room, RADIUS, line, StrokeKind::Inside);
    let map = small_map(ui, &response, room, figure, &mut seen);
    ui.data_mut(|data| data.insert_temp(memory_id, seen));
    let at = response.hover_pos().filter(|_| !map);
    let at = at.map(|at| window.within((at.x.into(), at.y.into())));
    let hovered = at.and_then(|at| figure.layout.item_at(at));
    let item = hovered.map(|placed| placed.item);
    let (walked, entered) = walk(ui, response.id, figure, response.has_focus());
    let is_clicked = response.clicked() && at.is_some() && !is_touched;
    if is_clicked {
        response.request_focus();
    }
    let toggled = match item {
        Some(Item::Module(module)) if response.double_clicked() => Some(module),
        _ => entered,
    };
    let is_chosen = is_clicked && toggled.is_none();
    let selected = item.filter(|_| is_chosen).or(walked);
    let is_left = is_chosen && item.is_none();
    describe(&response, figure);
    figure::offer(ui, id, room, || Drawing::Network(Box::new(figure.clone())));
    NetworkInput {
        hovered: item,
        selected,
        is_left,
        toggled,
        response,
    }
}

fn describe(response: &Response, figure: &NetworkFigure) {
    response.widget_info(|| {
        let selected = figure.selected.map_or_else(String::new, |item| {
            let facts = figure.network.facts(item).into_iter();
            let facts: Vec<String> = facts
                .map(|fact| format!("{} {}", fact.name, fact.value))
                .collect();
            format!(" {}: {}", figure.network.item_name(item), facts.join(", "))
        });
        WidgetInfo::labeled(
            Role::Button,
            true,
            format!("{}{selected}", figure.sentence()),
        )
    });
}

fn window(seen: &CanvasMemory, room: Rect) -> NetworkWindow {
    let corner = room.min + seen.origin;
    NetworkWindow {
        area: Area::new(
            room.left().into(),
            room.top().into(),
            room.right().into(),
            room.bottom().into(),
        ),
        scale: seen.scale.into(),
        origin: (corner.x.into(), corner.y.into()),
    }
}

/// What is seen: as in the last frame; where the layout changed, what is selected stays where it was.
fn seen(
    ui: &Ui,
    id: Id,
    figure: &NetworkFigure,
    room: Rect,
    requests: Option<ViewRequests>,
) -> CanvasMemory {
    let known: Option<CanvasMemory> = ui.data(|data| data.get_temp(id));
    let known = known.filter(|known| Arc::ptr_eq(&known.network, &figure.network));
    let Some(mut seen) = known else {
        let mut first = first_view(figure, room, requests.unwrap_or_default());
        let selected = figure.selected;
        let area = selected.and_then(|item| figure.layout.area_of(&figure.network, item));
        if let Some(area) = area {
            first.scale = first.scale.max(READABLE);
            show_area(&mut first, area, room);
        }
        return first;
    };
    if !Arc::ptr_eq(&seen.layout, &figure.layout) {
        let anchor = figure.selected.unwrap_or(Item::Module(0));
        let before = seen.layout.area_of(&figure.network, anchor);
        let after = figure.layout.area_of(&figure.network, anchor);
        if let (Some(before), Some(after)) = (before, after) {
            let by = vec2(
                (before.left - after.left) as f32,
                (before.top - after.top) as f32,
            );
            seen.origin += by * seen.scale;
        }
        seen.layout = Arc::clone(&figure.layout);
    }
    if let Some(requests) = requests.filter(|requests| *requests != seen.requests) {
        let selected = figure.selected;
        let area = selected.and_then(|item| figure.layout.area_of(&figure.network, item));
        if let Some(area) = area {
            seen.scale = if requests.n_zoomed == seen.requests.n_zoomed {
                seen.scale.max(READABLE)
            } else {
                filling_scale(area, room)
            };
            show_area(&mut seen, area, room);
        }
        seen.requests = requests;
    }
    seen
}

/// The whole width from the top on, as large as can be read.
fn first_view(figure: &NetworkFigure, room: Rect, requests: ViewRequests) -> CanvasMemory {
    let layout = &figure.layout;
    let (width, height) = (layout.width.max(1.0) as f32, layout.height.max(1.0) as f32);
    let inner = room.size() - Vec2::splat(2.0 * EDGE);
    let all = (inner.x / width).min(inner.y / height);
    let scale = all.max(READABLE.min(inner.x / width)).min(1.0);
    let left = ((room.width() - width * scale) / 2.0).max(EDGE);
    CanvasMemory {
        scale,
        origin: vec2(left, EDGE),
        layout: Arc::clone(layout),
        network: Arc::clone(&figure.network),
        requests,
    }
}

/// The scale at which an area fills the room, but for what is small.
fn filling_scale(area: Area, room: Rect) -> f32 {
    let inner = room.size() - Vec2::splat(2.0 * EDGE);
    let width = (area.right - area.left).max(1.0) as f32;
    let height = (area.bottom - area.top).max(1.0) as f32;
    let scale = (inner.x / width).min(inner.y / height);
    scale.clamp(SCALES.0, LARGE)
}

/// Moves an area into the middle of the room.
fn show_area(seen: &mut CanvasMemory, area: Area, room: Rect) {
    let middle = vec2(
        f64::midpoint(area.left, area.right) as f32,
        f64::midpoint(area.top, area.bottom) as f32,
    );
    seen.origin = room.size() / 2.0 - middle * seen.scale;
}

/// Moves and zooms the picture; whether it was dragged.
fn move_by_hand(ui: &Ui, response: &Response, room: Rect, seen: &mut CanvasMemory) -> bool {
    if response.dragged() {
        seen.origin += response.drag_delta();
    }
    if let Some(at) = response.hover_pos() {
        let (zoom, turned) = ui.input(|input| (input.zoom_delta(), input.smooth_scroll_delta()));
        seen.origin += turned;
        let scale = (seen.scale * zoom).clamp(SCALES.0, SCALES.1);
        let at = at - room.min;
        seen.origin = at - (at - seen.origin) * (scale / seen.scale);
        seen.scale = scale;
    }
    keep_in_sight(seen, room);
    response.dragged()
}

/// Some of the picture stays within its room.
fn keep_in_sight(seen: &mut CanvasMemory, room: Rect) {
    let size = vec2(seen.layout.width as f32, seen.layout.height as f32) * seen.scale;
    let least = vec2(60.0, 60.0).min(room.size());
    seen.origin = seen.origin.max(least - size).min(room.size() - least);
}

/// All of the network in small at the lower right corner, where it is larger than its room: what is seen of it is
/// framed, and a click there moves the picture. Returns whether the pointer is on it.
fn small_map(
    ui: &Ui,
    response: &Response,
    room: Rect,
    figure: &NetworkFigure,
    seen: &mut CanvasMemory,
) -> bool {
    let whole = vec2(
        figure.layout.width.max(1.0) as f32,
        figure.layout.height.max(1.0) as f32,
    );
    let is_all_seen =
        (whole * seen.scale).x <= room.width() && (whole * seen.scale).y <= room.height();
    let most = vec2(MAP.0, room.height() * MAP.1);
    if is_all_seen || room.width() < 3.0 * MAP.0 {
        return false;
    }
    let scale = (most.x / whole.x).min(most.y / whole.y);
    let size = (whole * scale).max(vec2(8.0, 8.0));
    let place = Rect::from_min_size(room.max - size - Vec2::splat(EDGE), size);
    let roles = theme::roles(ui);
    let painter = ui.painter_at(room);
    painter.rect_filled(place.expand(4.0), RADIUS, roles.raised);
    let area = |area: Area| {
        let corner = |x: f64, y: f64| place.min + vec2(x as f32, y as f32) * scale;
        Rect::from_two_pos(corner(area.left, area.top), corner(area.right, area.bottom))
    };
    let mut last = f32::MIN;
    for child in &figure.layout.whole.children {
        let drawn = area(child.area);
        // Neighbours that share a pixel are one.
        if drawn.bottom() - last >= 0.5 {
            painter.rect_filled(drawn, 0.0, roles.faint);
            last = drawn.bottom();
        }
    }
    let corner = |at: Pos2| place.min + (at - room.min - seen.origin) / seen.scale * scale;
    let view = Rect::from_two_pos(corner(room.min), corner(room.max)).intersect(place.expand(3.0));
    painter.rect_stroke(
        view,
        1.0,
        Stroke::new(1.5, roles.accent),
        StrokeKind::Inside,
    );
    let at = response
        .interact_pointer_pos()
        .or_else(|| response.hover_pos());
    let Some(at) = at.filter(|at| place.expand(4.0).contains(*at)) else {
        return false;
    };
    if response.is_pointer_button_down_on() {
        let middle = (at - place.min) / scale;
        seen.origin = room.size() / 2.0 - middle * seen.scale;
        keep_in_sight(seen, room);
        ui.request_repaint();
    }
    true
}

/// Arrow keys go along the edges, and between neighbours of a row; Enter opens and closes modules.
fn walk(
    ui: &Ui,
    id: Id,
    figure: &NetworkFigure,
    is_focused: bool,
) -> (Option<Item>, Option<usize>) {
    if !is_focused {
        return (None, None);
    }
    let filter = EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        ..EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
    let pressed = |key: Key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let entered = match figure.selected {
        Some(Item::Module(module)) if pressed(Key::Enter) => Some(module),
        _ => None,
    };
    let keys = [
        Key::ArrowDown,
        Key::ArrowUp,
        Key::ArrowRight,
        Key::ArrowLeft,
    ];
    let Some(key) = keys.into_iter().find(|key| pressed(*key)) else {
        return (None, entered);
    };
    let layout = &figure.layout;
    let Some(selected) = figure.selected else {
        let first = layout.whole.children.first();
        return (first.map(|placed| placed.item), entered);
    };
    let next = match key {
        Key::ArrowDown => follow_edge(layout, selected, |wire| (wire.from, wire.to)),
        Key::ArrowUp => follow_edge(layout, selected, |wire| (wire.to, wire.from)),
        Key::ArrowRight => nearest_in_row(layout, selected, 1.0),
        _ => nearest_in_row(layout, selected, -1.0),
    };
    (next, entered)
}

/// The first item that an edge leads to from another one.
fn follow_edge(
    layout: &NetworkLayout,
    from: Item,
    ends: impl Fn(&Wire) -> (Option<Item>, Option<Item>),
) -> Option<Item> {
    let mut open = vec![&layout.whole];
    while let Some(module) = open.pop() {
        let mut wires = module.wires.iter().map(&ends);
        if let Some((_, to)) = wires.find(|(start, end)| *start == Some(from) && end.is_some()) {
            return to;
        }
        open.extend(
            module
                .children
                .iter()
                .filter_map(|child| child.inside.as_ref()),
        );
    }
    None
}

/// The nearest item on one side in the same row.
fn nearest_in_row(layout: &NetworkLayout, from: Item, side: f64) -> Option<Item> {
    let mut open = vec![&layout.whole];
    while let Some(module) = open.pop() {
        if let Some(placed) = module.children.iter().find(|child| child.item == from) {
            let top = placed.area.top;
            let distance = |child: &&PlacedItem| (child.area.left - placed.area.left) * side;
            let same_row = module
                .children
                .iter()
                .filter(|child| (child.area.top - top).abs() < 0.5 && distance(child) > 0.5);
            let nearest = same_row.min_by(|one, two| distance(one).total_cmp(&distance(two)));
            return nearest.map(|child| child.item);
        }
        open.extend(
            module
                .children
                .iter()
                .filter_map(|child| child.inside.as_ref()),
        );
    }
    None
}
