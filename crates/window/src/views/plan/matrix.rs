//! The matrix: values of several keys, how many setups they make, and the button that adds them.

use eframe::egui::{Align, Button, ComboBox, Frame, Layout, RichText, Stroke, Ui, vec2};

use super::below;
use crate::icon;
use crate::theme::{self, CONTROL_RADIUS, space, text};
use crate::widgets::{button, field, label};
use powerband_app::App;
use powerband_app::plan::{Combination, MatrixEdit, MatrixRow, PlanEdit, fields};
use powerband_core::base::humanize;

/// Width of the titles of the rows.
const TITLES: f32 = 124.0;
/// Most combinations that are named as left out.
const NAMED: usize = 4;
/// Height of a row.
const LINE: f32 = 30.0;

/// Shows it while it is open.
pub(super) fn show(ui: &mut Ui, app: &App, edits: &mut Vec<PlanEdit>) {
    if app.bench.planner.matrix.is_none() {
        return;
    }
    let edge = Stroke::new(1.0, theme::roles(ui).faint);
    let frame = Frame::new()
        .stroke(edge)
        .corner_radius(CONTROL_RADIUS)
        .inner_margin(space::SMALL);
    let mut changes = Vec::new();
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = space::TINY;
        header(ui, app, &mut changes);
        for row in app.bench.matrix_rows(&app.shared) {
            values(ui, &row, &mut changes);
        }
        another(ui, app, &mut changes);
        result(ui, app, &mut changes);
    });
    edits.extend(changes.into_iter().map(PlanEdit::Matrix));
}

/// The setup that is varied.
fn header(ui: &mut Ui, app: &App, changes: &mut Vec<MatrixEdit>) {
    ui.horizontal(|ui| {
        label::card_title(ui, "Matrix");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if button::small_icon(ui, icon::CLOSE, "Close the matrix").clicked() {
                changes.push(MatrixEdit::Close);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                base(ui, app, changes);
            });
        });
    });
}

/// Which setup is varied.
fn base(ui: &mut Ui, app: &App, changes: &mut Vec<MatrixEdit>) {
    let base = app.bench.matrix_base(&app.shared);
    let base = base.map(|setup| setup.to_string());
    let base = base.unwrap_or_else(|| "a setup with a fault".to_owned());
    let setups = &app.bench.planner.draft.setups;
    if setups.len() < 2 {
        label::quiet_line(ui, &format!("of {base}"));
        return;
    }
    label::quiet_line(ui, "of");
    let combo = ComboBox::from_id_salt("matrix-of")
        .width((ui.available_width() - 12.0).clamp(80.0, 300.0))
        .truncate()
        .selected_text(base);
    let shown = combo.show_ui(ui, |ui| {
        for (place, setup) in setups.iter().enumerate() {
            if ui.selectable_label(false, &setup.spec).clicked() {
                changes.push(MatrixEdit::Base(place));
            }
        }
    });
    shown
        .response
        .accessible_name("Setup that the matrix varies");
}

/// The values of one key.
fn values(ui: &mut Ui, row: &MatrixRow, changes: &mut Vec<MatrixEdit>) {
    ui.horizontal(|ui| {
        ui.set_min_height(LINE);
        let size = vec2(TITLES, LINE);
        let title = ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
            ui.set_min_width(TITLES);
            label::quiet_line(ui, &row.title)
        });
        if !row.help.is_empty() {
            title.inner.on_hover_text(&row.help);
        }
        if row.choices.is_empty() {
            let name = fields::of_matrix(&row.title);
            let width = ui.available_width() - 18.0;
            let (_, typed) = field::code(ui, &name, &row.typed, "1, 2, 4", width.min(260.0));
            let values = |typed| MatrixEdit::Values(row.key.clone(), typed);
            changes.extend(typed.map(values));
            return;
        }
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(space::TINY, space::TINY);
            let roles = theme::roles(ui);
            for choice in &row.choices {
                let is_on = row.contains(&choice.value);
                let color = match (is_on, &choice.why_not) {
                    (true, _) => roles.accent,
                    (false, None) => roles.quiet,
                    (false, Some(_)) => roles.faint,
                };
                let words = RichText::new(&choice.title).color(color);
                let response = ui.add(Button::new(words).min_size(vec2(44.0, 26.0)));
                let doing = if is_on { "take out" } else { "add" };
                let name = format!("{} {}, {doing}", row.title, choice.title);
                let response = response.accessible_name(name);
                let why = choice
                    .why_not
                    .as_deref()
                    .map(|reason| format!("Not available: {reason}"));
                let response = match why {
                    Some(why) => response.on_hover_text(why),
                    None => response,
                };
                if response.clicked() {
                    let value = choice.value.clone();
                    changes.push(MatrixEdit::Toggle(row.key.clone(), value));
                }
            }
        });
    });
}

/// Another key.
fn another(ui: &mut Ui, app: &App, changes: &mut Vec<MatrixEdit>) {
    let combo = ComboBox::from_id_salt("matrix-key")
        .width(TITLES)
        .selected_text("Another key…");
    let shown = combo.show_ui(ui, |ui| {
        for key in app.bench.matrix_keys(&app.shared) {
            if ui.selectable_label(false, key).clicked() {
                changes.push(MatrixEdit::Row(key.to_owned()));
            }
        }
    });
    shown.response.accessible_name("Another key of the matrix");
}

/// How many setups it makes, what is left out, and the button.
fn result(ui: &mut Ui, app: &App, changes: &mut Vec<MatrixEdit>) {
    let roles = theme::roles(ui);
    let all = match app.bench.combinations(&app.shared) {
        Ok(all) => all,
        Err(reason) => {
            below(ui, &humanize::capitalised(&reason), roles.bad);
            return;
        }
    };
    let (out, added): (Vec<Combination>, Vec<Combination>) =
        all.into_iter().partition(|one| one.left_out.is_some());
    for one in out.iter().take(NAMED) {
        let reason = one.left_out.as_deref().unwrap_or_default();
        let words = format!("Left out: {}: {reason}", one.spec);
        below(ui, &words, roles.quiet);
    }
    if out.len() > NAMED {
        let words = format!("and {} more", out.len() - NAMED);
        ui.label(RichText::new(words).size(text::CAPTION).color(roles.quiet));
    }
    let setups = match added.len() {
        0 => "setups".to_owned(),
        n => humanize::pluralised(n as u64, "setup"),
    };
    let allowed = if added.is_empty() {
        Err("choose values first")
    } else {
        Ok(())
    };
    if button::plain_if(ui, allowed, Some(icon::ADD), &format!("Add {setups}")).clicked() {
        changes.push(MatrixEdit::Add);
    }
}
