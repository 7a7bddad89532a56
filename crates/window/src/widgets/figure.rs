//! Copying and saving a figure: two small buttons at its corner under the pointer; keys do the same for the
//! figure last under the pointer.

use std::sync::Arc;

use eframe::egui::{Align, Context, CornerRadius, Id, Layout, Rect, Ui, UiBuilder, pos2, vec2};

use super::button;
use crate::icon;
use crate::theme;
use powerband_app::FigureWish;
use powerband_app::action::FigureAction;
use powerband_app::figures::ShownFigure;
use powerband_findings::chart::figure::Drawing;

/// Size of the two buttons together.
const BUTTONS: (f32, f32) = (50.0, 22.0);

/// State of figures between two frames.
#[derive(Clone, Default)]
struct FigureMemory {
    /// The figure last under the pointer, and the first one of this frame.
    last: Option<Id>,
    first: Option<Id>,
    /// Whether the last one was shown in this frame.
    has_last: bool,
    /// The request for the nearest one.
    wanted: Option<FigureWish>,
    actions: Vec<FigureAction>,
}

fn with_memory<R>(ctx: &Context, change: impl FnOnce(&mut FigureMemory) -> R) -> R {
    let id = Id::unique("figures");
    ctx.data_mut(|data| change(data.get_temp_mut_or_default::<FigureMemory>(id)))
}

/// Shows the buttons at the upper right corner of a figure. The picture is made only when it is
/// requested.
pub(crate) fn offer(ui: &mut Ui, name: &str, place: Rect, make: impl Fn() -> Drawing) {
    // Where results are only looked at, there are no files, and nothing that makes pictures is built.
    if cfg!(not(unix)) {
        return;
    }
    let id = ui.scope_id().with((name, "figure"));
    let is_under = ui.rect_contains_pointer(place);
    let wanted = with_memory(ui.ctx(), |desk| {
        if is_under {
            desk.last = Some(id);
        }
        desk.first = desk.first.or(Some(id));
        desk.has_last |= desk.last == Some(id);
        let is_near = desk.last.or(desk.first) == Some(id);
        desk.wanted.take_if(|_| is_near)
    });
    let clicked = if is_under { buttons(ui, place) } else { None };
    let Some(request) = clicked.or(wanted) else {
        return;
    };
    let shown = Arc::new(ShownFigure {
        drawing: make(),
        is_dark: ui.visuals().dark_mode,
        about: String::new(),
    });
    let figures = match request {
        FigureWish::Copy => FigureAction::Copy(shown),
        FigureWish::Save => FigureAction::Save(shown, None),
    };
    with_memory(ui.ctx(), |desk| desk.actions.push(figures));
}

fn buttons(ui: &mut Ui, place: Rect) -> Option<FigureWish> {
    let size = vec2(BUTTONS.0, BUTTONS.1);
    let corner = Rect::from_min_size(pos2(place.right() - size.x, place.top()), size);
    if place.width() < 2.0 * size.x {
        return None;
    }
    let ground = theme::roles(ui).panel;
    ui.painter()
        .rect_filled(corner, CornerRadius::same(theme::CONTROL_RADIUS), ground);
    let builder = UiBuilder::new()
        .max_rect(corner)
        .layout(Layout::right_to_left(Align::Center));
    let mut inner = ui.new_child(builder);
    inner.spacing_mut().item_spacing.x = 2.0;
    let save = button::small_icon(&mut inner, icon::SAVE, "Save the figure as…").clicked();
    let copy = button::small_icon(&mut inner, icon::COPY, "Copy the picture").clicked();
    match (copy, save) {
        (true, _) => Some(FigureWish::Copy),
        (_, true) => Some(FigureWish::Save),
        _ => None,
    }
}

/// Has the nearest figure copied or saved with the next frame.
pub(crate) fn want(ctx: &Context, request: FigureWish) {
    with_memory(ctx, |desk| desk.wanted = Some(request));
    ctx.request_repaint();
}

/// The request of this frame, and whether there is a figure.
pub(crate) fn take(ctx: &Context) -> (Vec<FigureAction>, bool) {
    with_memory(ctx, |desk| {
        let is_any = desk.first.take().is_some();
        if !std::mem::take(&mut desk.has_last) {
            // It is on another screen, or closed.
            desk.last = None;
        }
        (std::mem::take(&mut desk.actions), is_any)
    })
}
