//! Zooming a chart: a box that is drawn with the mouse, Ctrl+scroll, keys while the chart has the focus, and a
//! button for all of it. The application keeps what is seen; this asks for changes of it.

use std::sync::Arc;

use eframe::egui::{
    Context, CornerRadius, EventFilter, Id, InputState, Key, Modifiers, PointerButton, Pos2, Rect,
    Response, Stroke, StrokeKind, Ui, UiBuilder, pos2, vec2,
};

use super::button;
use super::chart_canvas::ChartCanvas;
use crate::icon;
use crate::theme;
use powerband_app::action::Charts;
use powerband_app::charts::Views;
use powerband_findings::chart::spec::ChartSpec;
use powerband_findings::chart::view::{ChartView, Zoom};

/// A box that is thinner than this along an axis leaves that axis as it is.
const THIN: f32 = 10.0;
/// Where the button for all of it is: left of the two of the figure.
const BUTTON: f32 = 76.0;
/// What the keys of a chart with the focus do.
const KEYS: [(Key, Zoom); 9] = [
    (Key::Plus, Zoom::In),
    (Key::Equals, Zoom::In),
    (Key::Minus, Zoom::Out),
    (Key::Num0, Zoom::Whole),
    (Key::ArrowLeft, Zoom::Left),
    (Key::ArrowRight, Zoom::Right),
    (Key::ArrowUp, Zoom::Up),
    (Key::ArrowDown, Zoom::Down),
    (Key::Home, Zoom::Whole),
];

/// State of zooming between two frames.
#[derive(Clone, Default)]
struct ZoomMemory {
    /// What is seen of the charts of the screen.
    views: Arc<Views>,
    /// The chart last under the pointer or with the focus, and the first one of this frame.
    last: Option<Id>,
    first: Option<Id>,
    /// Whether the last one was shown in this frame.
    has_last: bool,
    /// A step for the nearest one.
    wanted: Option<Zoom>,
    actions: Vec<Charts>,
}

fn with_memory<R>(ctx: &Context, change: impl FnOnce(&mut ZoomMemory) -> R) -> R {
    let id = Id::unique("zoomed charts");
    ctx.data_mut(|data| change(data.get_temp_mut_or_default::<ZoomMemory>(id)))
}

/// Before a frame: what is seen of the charts of the screen.
pub(crate) fn lay_out(ctx: &Context, views: Arc<Views>) {
    with_memory(ctx, |desk| desk.views = views);
}

/// A step for the nearest chart with the next frame.
pub(crate) fn want(ctx: &Context, zoom: Zoom) {
    with_memory(ctx, |desk| desk.wanted = Some(zoom));
    ctx.request_repaint();
}

/// After a frame: what was asked for, and whether there is a chart that can be zoomed.
pub(crate) fn take(ctx: &Context) -> (Vec<Charts>, bool) {
    with_memory(ctx, |desk| {
        let is_any = desk.first.take().is_some();
        if !std::mem::take(&mut desk.has_last) {
            desk.last = None;
        }
        (std::mem::take(&mut desk.actions), is_any)
    })
}

/// What is seen of a chart; nothing where that is all of it.
pub(super) fn view(ctx: &Context, chart: &str, spec: &ChartSpec) -> Option<ChartView> {
    let view = with_memory(ctx, |desk| desk.views.get(chart).cloned())?;
    if !view.fits(spec) {
        ask(ctx, chart, None);
        return None;
    }
    view.within(spec)
}

fn ask(ctx: &Context, chart: &str, view: Option<ChartView>) {
    let look = Charts::Look(chart.to_owned(), view);
    with_memory(ctx, |desk| desk.actions.push(look));
}

/// Takes in what the user does with a chart. `whole` is all of it, the canvas has what is seen.
pub(super) fn react(
    ui: &mut Ui,
    chart: &str,
    whole: &ChartSpec,
    canvas: &ChartCanvas<'_>,
    plot: &Response,
) {
    let seen = ChartView::whole_chart(canvas.spec);
    let step = stepped(ui, plot);
    let view = if plot.double_clicked() {
        Some(ChartView::whole_chart(whole))
    } else if let Some(zoom) = step {
        Some(match zoom {
            Zoom::Whole => ChartView::whole_chart(whole),
            zoom => seen.clone().stepped(zoom),
        })
    } else {
        moved(ui, canvas, plot, &seen).or_else(|| boxed(ui, canvas, plot, &seen))
    };
    let before = seen.within(whole);
    if before.is_some() && reset_button(ui, canvas, plot.rect) {
        return ask(ui.ctx(), chart, None);
    }
    if let Some(view) = view {
        let view = view.within(whole);
        if view != before {
            ask(ui.ctx(), chart, view);
        }
    }
}

/// A step by key, or by a command where this chart is the nearest.
fn stepped(ui: &Ui, plot: &Response) -> Option<Zoom> {
    let ctx = ui.ctx();
    let id = plot.id;
    let has_focus = plot.has_focus();
    let wanted = with_memory(ctx, |desk| {
        if has_focus || plot.hovered() {
            desk.last = Some(id);
        }
        desk.first = desk.first.or(Some(id));
        desk.has_last |= desk.last == Some(id);
        let is_near = desk.last.or(desk.first) == Some(id);
        desk.wanted.take_if(|_| is_near)
    });
    if !has_focus {
        return wanted;
    }
    let arrows = EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        ..EventFilter::default()
    };
    ctx.memory_mut(|memory| memory.set_focus_lock_filter(id, arrows));
    wanted.or_else(|| ctx.input_mut(key))
}

fn key(input: &mut InputState) -> Option<Zoom> {
    let plain = [Modifiers::NONE, Modifiers::SHIFT];
    let mut keys = KEYS.into_iter();
    let is_pressed =
        |key: Key, input: &mut InputState| plain.iter().any(|held| input.consume_key(*held, key));
    keys.find_map(|(key, zoom)| is_pressed(key, input).then_some(zoom))
}

/// Ctrl+scroll zooms along x; the middle button, or Shift and the first, moves.
fn moved(
    ui: &Ui,
    canvas: &ChartCanvas<'_>,
    plot: &Response,
    seen: &ChartView,
) -> Option<ChartView> {
    let hand = plot.hover_pos();
    let factor = ui.input(|input| input.zoom_delta_2d().x);
    if let Some(hand) = hand.filter(|_| factor != 1.0) {
        let at = canvas.transform.value_from_position(hand).x;
        return Some(seen.clone().scaled_x(at, 1.0 / f64::from(factor)));
    }
    let moves = plot.dragged_by(PointerButton::Middle)
        || (plot.dragged_by(PointerButton::Primary) && ui.input(|input| input.modifiers.shift));
    if !moves {
        return None;
    }
    let share = plot.drag_delta() / canvas.inner.size();
    Some(
        seen.clone()
            .moved_by(-f64::from(share.x), f64::from(share.y)),
    )
}

/// The box that is being drawn is painted; the part of the chart in it once the hand lets go.
fn boxed(
    ui: &Ui,
    canvas: &ChartCanvas<'_>,
    plot: &Response,
    seen: &ChartView,
) -> Option<ChartView> {
    let memory = plot.id.with("box");
    if plot.drag_started_by(PointerButton::Primary) && !ui.input(|input| input.modifiers.shift) {
        let origin = ui.input(|input| input.pointer.press_origin());
        ui.data_mut(|data| data.insert_temp(memory, origin));
    }
    let begun: Option<Option<Pos2>> = ui.data(|data| data.get_temp(memory));
    let begun = begun.flatten()?;
    let Some(hand) = plot.interact_pointer_pos() else {
        ui.data_mut(|data| data.remove::<Option<Pos2>>(memory));
        return None;
    };
    let hand = canvas.inner.clamp(hand);
    let drawn = Rect::from_two_pos(canvas.inner.clamp(begun), hand);
    let (is_wide, is_high) = (drawn.width() >= THIN, drawn.height() >= THIN);
    let around = Rect {
        min: pos2(
            if is_wide {
                drawn.left()
            } else {
                canvas.inner.left()
            },
            if is_high {
                drawn.top()
            } else {
                canvas.inner.top()
            },
        ),
        max: pos2(
            if is_wide {
                drawn.right()
            } else {
                canvas.inner.right()
            },
            if is_high {
                drawn.bottom()
            } else {
                canvas.inner.bottom()
            },
        ),
    };
    if !plot.drag_stopped() {
        if is_wide || is_high {
            let accent = canvas.roles.accent;
            let radius = CornerRadius::same(2);
            canvas
                .painter
                .rect_filled(around, radius, accent.gamma_multiply(0.10));
            let edge = Stroke::new(1.0, accent);
            canvas
                .painter
                .rect_stroke(around, radius, edge, StrokeKind::Inside);
        }
        return None;
    }
    ui.data_mut(|data| data.remove::<Option<Pos2>>(memory));
    if !is_wide && !is_high {
        return None;
    }
    let low = canvas.transform.value_from_position(around.left_bottom());
    let high = canvas.transform.value_from_position(around.right_top());
    Some(seen.clone().with_ranges((low.x, high.x), (low.y, high.y)))
}

/// The button for all of the chart; it is there while only a part is seen.
fn reset_button(ui: &mut Ui, canvas: &ChartCanvas<'_>, plot: Rect) -> bool {
    let corner = pos2(plot.right() + 12.0 - BUTTON, plot.top() - 22.0);
    let place = Rect::from_min_size(corner, vec2(24.0, 22.0));
    let ground = canvas.roles.panel;
    canvas
        .painter
        .rect_filled(place, CornerRadius::same(theme::CONTROL_RADIUS), ground);
    let mut inner = ui.new_child(UiBuilder::new().max_rect(place));
    button::small_icon(&mut inner, icon::FIT, "Reset the zoom").clicked()
}
