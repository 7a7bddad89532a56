//! The edge of a part of the window that is dragged to resize it: by pointer, or with the focus on it by the
//! arrow keys. A double click gives the usual size back.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    CursorIcon, EventFilter, Id, Key, Modifiers, Rangef, Rect, Response, Sense, Stroke, Ui,
    WidgetInfo, vec2,
};

use crate::theme;
use powerband_app::App;
use powerband_app::action::{Action, Shell};
use powerband_app::shell::layout::LayoutPart;

/// How far from the edge the pointer takes hold of it.
const REACH: f32 = 3.0;
/// What an arrow key does.
const STEP: f32 = 16.0;

/// A change of a part's size by its edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Resized {
    /// The part has a new size.
    To(f32),
    /// It has its usual size again.
    Usual,
}

impl Resized {
    /// The size that the user chose; nothing for the usual one.
    pub(crate) fn chosen(self) -> Option<f32> {
        match self {
            Self::To(size) => Some(size),
            Self::Usual => None,
        }
    }
}

/// On which side of its edge a part lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grows {
    /// To the right: the part is at the left of its edge.
    Right,
    /// To the left.
    Left,
    /// Downwards: the part is above its edge.
    Down,
    /// Upwards.
    Up,
}

impl Grows {
    fn is_level(self) -> bool {
        matches!(self, Self::Left | Self::Right)
    }
}

/// The edge of a part of the window, which stands at the end of `part_at`.
pub(crate) fn of_part(
    ui: &Ui,
    app: &App,
    part: &LayoutPart,
    grows: Grows,
    part_at: Rect,
    actions: &mut Vec<Action>,
) {
    let now = app.shared.size_of(part);
    let name = format!("Size of {}", part.title);
    if let Some(size) = show(ui, part.id, &name, grows, part_at, now) {
        actions.push(Action::Shell(Shell::Resize(
            part.id.to_owned(),
            size.chosen(),
        )));
    }
}

/// The edge of something else; the answer is its new size.
pub(crate) fn show(
    ui: &Ui,
    id: &str,
    name: &str,
    grows: Grows,
    part_at: Rect,
    now: f32,
) -> Option<Resized> {
    let edge = edge(grows, part_at);
    let across = if grows.is_level() {
        vec2(REACH, 0.0)
    } else {
        vec2(0.0, REACH)
    };
    let hand = ui.interact(
        edge.expand2(across),
        ui.scope_id().with(("handle", id)),
        Sense::click_and_drag(),
    );
    hand.widget_info(|| WidgetInfo::labeled(Role::Splitter, true, name));
    let cursor = if grows.is_level() {
        CursorIcon::ResizeHorizontal
    } else {
        CursorIcon::ResizeVertical
    };
    let hand = hand.on_hover_and_drag_cursor(cursor);
    paint(ui, &hand, grows, edge);
    if hand.double_clicked() {
        return Some(Resized::Usual);
    }
    let dragged = match grows {
        Grows::Right => hand.drag_delta().x,
        Grows::Left => -hand.drag_delta().x,
        Grows::Down => hand.drag_delta().y,
        Grows::Up => -hand.drag_delta().y,
    };
    let by = dragged + by_keys(ui, &hand, grows);
    (by != 0.0).then_some(Resized::To(now + by))
}

/// The right edge of a column, in its head. It is no stop of the keyboard, because a table has many; the
/// palette widens columns.
pub(crate) fn of_column(ui: &Ui, id: Id, head: Rect, now: f32) -> Option<Resized> {
    let edge = edge(Grows::Right, head);
    let sense = Sense::CLICK | Sense::DRAG;
    let hand = ui.interact(edge.expand2(vec2(REACH, 0.0)), id, sense);
    let hand = hand.on_hover_and_drag_cursor(CursorIcon::ResizeHorizontal);
    paint(ui, &hand, Grows::Right, edge);
    if hand.double_clicked() {
        return Some(Resized::Usual);
    }
    let by = hand.drag_delta().x;
    (by != 0.0).then_some(Resized::To(now + by))
}

fn edge(grows: Grows, part: Rect) -> Rect {
    match grows {
        Grows::Right => part.with_min_x(part.right()),
        Grows::Left => part.with_max_x(part.left()),
        Grows::Down => part.with_min_y(part.bottom()),
        Grows::Up => part.with_max_y(part.top()),
    }
}

/// Arrow keys move the edge while it has the focus.
fn by_keys(ui: &Ui, hand: &Response, grows: Grows) -> f32 {
    if !hand.has_focus() {
        return 0.0;
    }
    let filter = EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        ..EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(hand.id, filter));
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let (more, less) = match grows {
        Grows::Right => (Key::ArrowRight, Key::ArrowLeft),
        Grows::Left => (Key::ArrowLeft, Key::ArrowRight),
        Grows::Down => (Key::ArrowDown, Key::ArrowUp),
        Grows::Up => (Key::ArrowUp, Key::ArrowDown),
    };
    let steps = f32::from(pressed(more)) - f32::from(pressed(less));
    steps * STEP
}

/// The edge shows under the pointer and with the focus.
fn paint(ui: &Ui, hand: &Response, grows: Grows, edge: Rect) {
    if !(hand.hovered() || hand.dragged() || hand.has_focus()) {
        return;
    }
    let roles = theme::roles(ui);
    let color = if hand.dragged() || hand.has_focus() {
        roles.accent
    } else {
        roles.faint
    };
    let stroke = Stroke::new(2.0, color);
    let whole = |range: Rangef| range.shrink(6.0_f32.min(range.span() / 4.0));
    if grows.is_level() {
        ui.painter()
            .vline(edge.center().x, whole(edge.y_range()), stroke);
    } else {
        ui.painter()
            .hline(whole(edge.x_range()), edge.center().y, stroke);
    }
}
