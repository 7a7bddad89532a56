//! The card *Roofs* of *Home*: what this machine and its engines reach, and the button that measures it.

use eframe::egui::{Align, Layout, RichText, Ui};

use crate::icon;
use crate::shell::strip;
use crate::theme::{self, space, text};
use crate::widgets::{button, label};
use powerband_app::App;
use powerband_app::action::{Action, Roofs};
use powerband_app::roofs::{self, MeasuringRoofs, RoofsState};
use powerband_core::base::humanize;
use powerband_core::domain::roofs::Roofs as DeviceRoofs;
use powerband_findings::analysis::roof_facts::{RoofFact, roof_facts};

/// Least room of a fact.
const FACT: f32 = 168.0;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    super::card(ui, |ui| {
        ui.set_width(ui.available_width());
        match (&app.settings.roofs.kept, &app.settings.roofs.measuring) {
            (None, _) => {
                label::quiet(ui, "Looking…");
            }
            (Some(kept), measuring) => {
                for roofs in kept {
                    device(ui, roofs);
                    ui.add_space(space::SMALL);
                }
                if kept.is_empty() && measuring.is_none() {
                    label::quiet(
                        ui,
                        &RoofsState::invitation(
                            app.shared.machine.n_engines(),
                            &*app.shared.backend,
                        ),
                    );
                    ui.add_space(space::SMALL);
                }
                for warning in app.settings.roofs.warnings() {
                    label::trouble(ui, &warning);
                    ui.add_space(space::TINY);
                }
                foot(ui, app, actions);
            }
        }
    });
}

/// A device: its name and when it was measured, and its facts side by side.
fn device(ui: &mut Ui, roofs: &DeviceRoofs) {
    let measured = format!("measured {}", humanize::moment(&roofs.measured));
    ui.horizontal(|ui| {
        label::card_title(ui, &roofs.name);
        label::faint(ui, &measured);
    });
    ui.add_space(space::TINY);
    let facts = roof_facts(roofs);
    let columns = (ui.available_width() / FACT).floor().max(1.0) as usize;
    let width = ui.available_width() / columns.min(facts.len().max(1)) as f32;
    for line in facts.chunks(columns) {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            for one in line {
                ui.vertical(|ui| {
                    ui.set_width(width);
                    fact(ui, one);
                });
            }
        });
        ui.add_space(space::TINY);
    }
}

fn fact(ui: &mut Ui, fact: &RoofFact) {
    label::quiet_line_about(ui, &fact.name, &fact.note);
    let roles = theme::roles(ui);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::SMALL;
        let color = if fact.is_noisy { roles.bad } else { roles.text };
        let value = RichText::new(&fact.value).font(theme::numbers(text::CARD));
        ui.label(value.color(color)).on_hover_text(&fact.note);
        if fact.is_noisy {
            label::pill(ui, "noisy", roles.bad).on_hover_text(&fact.note);
        }
    });
}

fn foot(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if let Some(measuring) = &app.settings.roofs.measuring {
        progress(ui, measuring, actions);
        return;
    }
    buttons(ui, app, actions);
}

/// The button that measures, and why it cannot where it cannot.
pub(super) fn buttons(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let (name, action) = if app.settings.roofs.has_any() {
        ("Measure roofs again", Roofs::Again)
    } else {
        ("Measure roofs", Roofs::Measure)
    };
    let allowed = roofs::commands::can_measure(&app.settings, &app.shared);
    if button::plain_if(ui, allowed, Some(icon::TIMER), name).clicked() {
        actions.push(Action::Roofs(action));
    }
}

fn progress(ui: &mut Ui, measuring: &MeasuringRoofs, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        strip::progress_bar(ui, measuring.share);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if button::labelled(ui, Some(icon::STOP), "Stop measuring").clicked() {
                actions.push(Action::Roofs(Roofs::Stop));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                label::quiet_line(ui, &measuring.what);
            });
        });
    });
}
