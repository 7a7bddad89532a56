//! Help beside a setup's field: options of its engine. Options that the setup has are explained in full,
//! the rest in a line each, on at most half of the window.

use eframe::egui::{Align, Layout, Ui, vec2};

use crate::theme::{self, space, text};
use crate::widgets::{label, table};
use powerband_app::plan::{self, SetupHelp};
use powerband_core::base::humanize;

/// Width of the help.
const WIDTH: f32 = 440.0;
/// Width of the column of the keys.
const NAMES: f32 = 112.0;
/// Height of a line.
const LINE: f32 = 17.0;
/// Lines have this share of the window's height at the most.
const SHARE: f32 = 0.45;

/// Shows it, in a tooltip.
pub(super) fn help(ui: &mut Ui, spec: &str) {
    ui.set_width(WIDTH);
    ui.spacing_mut().item_spacing.y = space::HAIR;
    let Some(help) = plan::setup_help(spec) else {
        let known: Vec<&str> = plan::offered_ids().collect();
        label::quiet(ui, &format!("Engines: {}", known.join(", ")));
        return;
    };
    label::card_title(ui, help.engine);
    for key in &help.named {
        label::number(ui, &format!("{}={}", key.name, key.values()), text::CAPTION);
        label::quiet(ui, &key.full_help());
    }
    others(ui, &help);
}

fn others(ui: &mut Ui, help: &SetupHelp) {
    if !help.named.is_empty() && !help.others.is_empty() {
        ui.add_space(space::TINY);
        label::caption(ui, "Other options");
    }
    let room = ui.ctx().content_rect().height() * SHARE / LINE;
    let most = (room as usize).saturating_sub(2 * help.named.len());
    for key in help.others.iter().take(most) {
        line(ui, key.name, key.help);
    }
    ui.add_space(space::TINY);
    let unseen = help.others.len().saturating_sub(most);
    let more = if unseen == 0 {
        String::new()
    } else {
        let keys = humanize::pluralised(unseen as u64, "key");
        format!("{keys} more: `powerband engines` lists them. ")
    };
    label::quiet(
        ui,
        &format!("{more}Type a key to see its values here: engine:device,key=value"),
    );
}

/// A key and what it does, as far as it fits.
fn line(ui: &mut Ui, name: &str, words: &str) {
    let size = vec2(ui.available_width(), LINE);
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        ui.set_min_height(LINE);
        let (rect, _) = ui.allocate_exact_size(vec2(NAMES, LINE), eframe::egui::Sense::hover());
        let color = theme::roles(ui).text;
        table::paint_words(ui, rect.left_center(), name, text::CAPTION, color);
        label::faint(ui, words);
    });
}
