//! Text fields that a view does not own: they show what the application has and say what the user typed.

use eframe::egui::{Id, Response, RichText, TextEdit, Ui};

use crate::gui::theme;

/// A one-line field; the answer is what the user made of it, where that is something new.
pub fn line(
    ui: &mut Ui,
    name: &str,
    value: &str,
    hint: &str,
    width: f32,
) -> (Response, Option<String>) {
    edit(
        ui,
        name,
        value,
        |text| TextEdit::singleline(text),
        hint,
        width,
        false,
    )
}

/// A one-line field for numbers and spellings.
pub fn code(
    ui: &mut Ui,
    name: &str,
    value: &str,
    hint: &str,
    width: f32,
) -> (Response, Option<String>) {
    edit(
        ui,
        name,
        value,
        |text| TextEdit::singleline(text),
        hint,
        width,
        true,
    )
}

/// A field of several lines.
pub fn lines(
    ui: &mut Ui,
    name: &str,
    value: &str,
    hint: &str,
    width: f32,
) -> (Response, Option<String>) {
    edit(
        ui,
        name,
        value,
        |text| TextEdit::multiline(text).desired_rows(3),
        hint,
        width,
        false,
    )
}

fn edit(
    ui: &mut Ui,
    name: &str,
    value: &str,
    make: impl for<'t> FnOnce(&'t mut String) -> TextEdit<'t>,
    hint: &str,
    width: f32,
    is_code: bool,
) -> (Response, Option<String>) {
    let roles = theme::roles(ui);
    let mut typed = value.to_owned();
    let mut edit = make(&mut typed)
        .desired_width(width)
        .hint_text(RichText::new(hint).color(roles.faint))
        .margin(eframe::egui::Margin::symmetric(8, 5));
    if is_code {
        edit = edit.font(theme::numbers(12.5));
    }
    let response = ui.add(edit).accessible_name(name);
    let news = response.changed().then_some(typed);
    (response, news)
}

/// A field that is finished by Enter or by leaving it: what is typed lives in the window until then.
pub fn draft(
    ui: &mut Ui,
    id: Id,
    name: &str,
    value: &str,
    hint: &str,
    width: f32,
    rows: usize,
) -> Option<String> {
    let mut typed = ui
        .data_mut(|data| data.get_temp::<String>(id))
        .unwrap_or_else(|| value.to_owned());
    let roles = theme::roles(ui);
    let edit = if rows > 1 {
        TextEdit::multiline(&mut typed).desired_rows(rows)
    } else {
        TextEdit::singleline(&mut typed)
    };
    let response = ui
        .add(
            edit.desired_width(width)
                .hint_text(RichText::new(hint).color(roles.faint))
                .margin(eframe::egui::Margin::symmetric(8, 5)),
        )
        .accessible_name(name);
    if response.has_focus() {
        ui.data_mut(|data| data.insert_temp(id, typed.clone()));
    }
    if response.lost_focus() {
        ui.data_mut(|data| data.remove::<String>(id));
        if typed != value {
            return Some(typed);
        }
    }
    None
}
