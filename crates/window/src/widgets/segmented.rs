//! A row of choices, one of them selected.

use eframe::egui::{Button, Color32, CornerRadius, RichText, Stroke, Ui, vec2};

use crate::theme::{self, CONTROL_RADIUS};
use powerband_core::base::humanize;

/// Shows the choices; returns a newly selected one.
pub(crate) fn show<T: Copy + PartialEq>(
    ui: &mut Ui,
    name: &str,
    chosen: T,
    choices: &[(T, String, &str)],
) -> Option<T> {
    let capital = |title: &str| humanize::capitalised(title);
    row(ui, name, chosen, choices, &capital)
}

/// The same with names that are spelled as they are: of dimensions and setups.
pub(crate) fn exact<T: Copy + PartialEq>(
    ui: &mut Ui,
    name: &str,
    chosen: T,
    choices: &[(T, String, &str)],
) -> Option<T> {
    row(ui, name, chosen, choices, &ToOwned::to_owned)
}

fn row<T: Copy + PartialEq>(
    ui: &mut Ui,
    name: &str,
    chosen: T,
    choices: &[(T, String, &str)],
    spell: &dyn Fn(&str) -> String,
) -> Option<T> {
    let roles = theme::roles(ui);
    let mut taken = None;
    eframe::egui::Frame::new()
        .fill(roles.panel)
        .stroke(Stroke::new(1.0, roles.line))
        .corner_radius(CornerRadius::same(CONTROL_RADIUS))
        .inner_margin(1)
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 0.0;
                // Only the selected choice is raised, not the focused one. All have an edge of one width, so that none
                // moves when another is chosen.
                let widgets = &mut ui.visuals_mut().widgets;
                widgets.active.weak_bg_fill = roles.panel;
                widgets.inactive.weak_bg_fill = Color32::TRANSPARENT;
                for visuals in [
                    &mut widgets.inactive,
                    &mut widgets.hovered,
                    &mut widgets.active,
                ] {
                    visuals.bg_stroke = Stroke::new(1.0, Color32::TRANSPARENT);
                }
                // A row that fills from the right would reverse the choices.
                let turned = ui.layout().prefer_right_to_left();
                for place in 0..choices.len() {
                    let place = if turned {
                        choices.len() - 1 - place
                    } else {
                        place
                    };
                    let (value, title, help) = &choices[place];
                    let is_on = *value == chosen;
                    let color = if is_on { roles.text } else { roles.quiet };
                    let words = RichText::new(spell(title)).color(color);
                    let button = Button::new(words)
                        .selected(is_on)
                        .min_size(vec2(34.0, 26.0));
                    let button = if is_on {
                        let edge = Stroke::new(1.0, roles.line);
                        button.fill(roles.raised).stroke(edge)
                    } else {
                        button
                    };
                    let response = ui.add(button).accessible_name(format!("{name}: {title}"));
                    let response = if help.is_empty() {
                        response
                    } else {
                        response.on_hover_text(*help)
                    };
                    if response.clicked() && !is_on {
                        taken = Some(*value);
                    }
                }
            });
        });
    taken
}
