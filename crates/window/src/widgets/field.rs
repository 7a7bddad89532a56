//! Text fields without state: they show the application's value and return the user's text.

use eframe::egui::{
    Context, EventFilter, Id, Key, Modifiers, Response, RichText, Stroke, TextEdit, Ui,
};

use crate::theme;

/// Most passes until a field appears on the screen.
const PATIENCE: u64 = 8;

/// Puts the cursor into the field of this name, as soon as it is on the screen.
pub(crate) fn request_focus(ctx: &Context, name: String) {
    let until = ctx.cumulative_pass_nr() + PATIENCE;
    ctx.data_mut(|data| data.insert_temp(wanted(), (name, until)));
    ctx.request_repaint();
}

fn wanted() -> Id {
    Id::unique("wanted-field")
}

/// The cursor goes where it is wanted.
pub(super) fn take_cursor(ui: &Ui, name: &str, response: &Response) {
    let request: Option<(String, u64)> = ui.data(|data| data.get_temp(wanted()));
    let Some((_, until)) = request.filter(|(field, _)| field == name) else {
        return;
    };
    ui.data_mut(|data| data.remove::<(String, u64)>(wanted()));
    if ui.ctx().cumulative_pass_nr() <= until {
        response.request_focus();
        response.scroll_to_me(None);
    }
}

/// A check box with an edge that is visible on a card while it is empty.
pub(crate) fn check(ui: &mut Ui, is_on: &mut bool, words: &str) -> Response {
    ui.scope(|ui| {
        let edge = Stroke::new(1.0, theme::roles(ui).faint);
        ui.visuals_mut().widgets.inactive.bg_stroke = edge;
        ui.checkbox(is_on, words)
    })
    .inner
}

/// Shows a choice that is no wider than this: it would take the width of its text, and push what follows out.
pub(crate) fn within<T>(ui: &mut Ui, width: f32, add: impl FnOnce(&mut Ui) -> T) -> T {
    ui.scope(|ui| {
        ui.set_max_width(width);
        add(ui)
    })
    .inner
}

/// The kind of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Words.
    Words,
    /// Words on several lines.
    Lines,
    /// Numbers and spellings.
    Code,
    /// Search text.
    Search,
}

/// A field's response, and its new text where it changed.
type Edited = (Response, Option<String>);

/// A one-line field.
pub(crate) fn line(ui: &mut Ui, name: &str, value: &str, hint: &str, width: f32) -> Edited {
    edit(ui, name, value, hint, width, Purpose::Words)
}

/// A one-line search field: Escape clears it, and leaves it once it is empty.
pub(crate) fn search(ui: &mut Ui, name: &str, value: &str, hint: &str, width: f32) -> Edited {
    edit(ui, name, value, hint, width, Purpose::Search)
}

/// A one-line field for numbers and spellings.
pub(crate) fn code(ui: &mut Ui, name: &str, value: &str, hint: &str, width: f32) -> Edited {
    edit(ui, name, value, hint, width, Purpose::Code)
}

/// A field of several lines.
pub(crate) fn lines(ui: &mut Ui, name: &str, value: &str, hint: &str, width: f32) -> Edited {
    edit(ui, name, value, hint, width, Purpose::Lines)
}

fn edit(ui: &mut Ui, name: &str, value: &str, hint: &str, width: f32, purpose: Purpose) -> Edited {
    let roles = theme::roles(ui);
    let mut typed = value.to_owned();
    let edit = if purpose == Purpose::Lines {
        TextEdit::multiline(&mut typed).desired_rows(3)
    } else {
        TextEdit::singleline(&mut typed)
    };
    let mut edit = edit
        .desired_width(width)
        .hint_text(RichText::new(hint).color(roles.faint))
        .margin(eframe::egui::Margin::symmetric(8, 5));
    if purpose == Purpose::Code {
        edit = edit.font(theme::numbers(12.5));
    }
    let response = ui.add(edit).accessible_name(name);
    take_cursor(ui, name, &response);
    if purpose == Purpose::Search && is_cleared(ui, &response, &typed) {
        return (response, Some(String::new()));
    }
    let news = response.changed().then_some(typed);
    (response, news)
}

/// Whether Escape clears the field. egui takes the cursor out of a field on Escape before the frame
/// begins, unless the field requested the key in the previous frame.
pub(crate) fn is_cleared(ui: &Ui, response: &Response, typed: &str) -> bool {
    let has_cursor = ui.memory(|memory| memory.has_focus(response.id));
    if !has_cursor || typed.is_empty() {
        return false;
    }
    let wanted = EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        tab: false,
        escape: true,
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, wanted));
    ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape))
}

/// A field over the available width, finished by Enter or by leaving it; Escape restores its text. The
/// typed text lives in the window until then.
///
/// With `is_leaving` it is finished although the cursor is still in it: the screen may be gone in the next
/// frame.
pub(crate) fn draft(
    ui: &mut Ui,
    id: Id,
    name: &str,
    value: &str,
    hint: &str,
    rows: usize,
    is_leaving: bool,
) -> Option<String> {
    let pass = ui.ctx().cumulative_pass_nr();
    let kept = ui.data(|data| data.get_temp::<(u64, String)>(id));
    // Text typed before the field was hidden was never finished, so it is dropped.
    let kept = kept.filter(|(last, _)| last + 1 >= pass);
    let mut typed = kept.map_or_else(|| value.to_owned(), |(_, typed)| typed);
    let roles = theme::roles(ui);
    let edit = if rows > 1 {
        TextEdit::multiline(&mut typed).desired_rows(rows)
    } else {
        TextEdit::singleline(&mut typed)
    };
    let response = ui
        .add(
            edit.desired_width(ui.available_width())
                .hint_text(RichText::new(hint).color(roles.faint))
                .margin(eframe::egui::Margin::symmetric(8, 5)),
        )
        .accessible_name(name);
    take_cursor(ui, name, &response);
    // The response's own flag is false while another window is in front.
    let has_cursor = ui.memory(|memory| memory.has_focus(response.id));
    if has_cursor {
        ui.data_mut(|data| data.insert_temp(id, (pass, typed.clone())));
    }
    let is_left = response.lost_focus();
    if is_left {
        ui.data_mut(|data| data.remove::<(u64, String)>(id));
    }
    let is_given_up = is_left && ui.input(|input| input.key_pressed(Key::Escape));
    let is_finished = (is_left && !is_given_up) || (has_cursor && is_leaving);
    (is_finished && typed != value).then_some(typed)
}
