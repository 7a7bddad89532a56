//! A legend that acts: a click shows or hides, a double click shows one alone, the hand brings one forward.

use eframe::egui::{Align, Label, Layout, Response, RichText, Sense, Ui};

use super::marker;
use crate::app::action::Curves;
use crate::app::curves::LegendEntry;
use crate::gui::theme::{self, space};

/// Entries beyond this are said by their number; the table has them all.
const MOST: usize = 24;

/// Shows it; the answers are what the user did.
pub fn show(ui: &mut Ui, entries: &[LegendEntry], wishes: &mut Vec<Curves>) {
    ui.with_layout(
        Layout::left_to_right(Align::Center).with_main_wrap(true),
        |ui| {
            ui.spacing_mut().item_spacing.x = space::MEDIUM;
            let mut hovered = None;
            for item in entries.iter().take(MOST) {
                let response = entry(ui, item);
                if response.hovered() {
                    hovered = Some(item.id);
                }
                if response.double_clicked() {
                    wishes.push(Curves::OnlySeries(item.id));
                } else if response.clicked() {
                    wishes.push(Curves::ToggleSeries(item.id));
                }
            }
            if entries.len() > MOST {
                super::label::faint(ui, &format!("and {} more", entries.len() - MOST));
            }
            if let Some(id) = hovered {
                wishes.push(Curves::Highlight(Some(id)));
            }
        },
    );
}

fn entry(ui: &mut Ui, item: &LegendEntry) -> Response {
    let roles = theme::roles(ui);
    let inner = ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = space::TINY;
        ui.horizontal(|ui| {
            if !item.shown {
                ui.multiply_opacity(0.4);
            }
            marker::inline(ui, item.colour);
            let color = if item.shown { roles.text } else { roles.quiet };
            let short = crate::base::humanize::shorten(&item.name, 44);
            ui.add(Label::new(RichText::new(short).color(color)).sense(Sense::click()))
        })
        .inner
    });
    let doing = if item.shown {
        "click to hide"
    } else {
        "click to show"
    };
    inner
        .inner
        .accessible_name(format!("Series {}", item.name))
        .on_hover_cursor(eframe::egui::CursorIcon::PointingHand)
        .on_hover_text(format!(
            "{}\n{}\n{doing}, double click for this one alone",
            item.name, item.explained
        ))
}
