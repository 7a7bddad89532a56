//! Flags of a case: a sign in the colour of their weight, with the text on hover.

use eframe::egui::accesskit::Role;
use eframe::egui::{Color32, Label, Ui, WidgetInfo};

use super::button;
use crate::icon;
use crate::theme::{self, Roles};
use powerband_findings::analysis::flags::{Flag, FlagSeverity};

/// A sign for a case's flags; nothing where it has none.
pub(crate) fn mark(ui: &mut Ui, flags: &[Flag]) {
    let Some(weight) = flags.iter().map(|flag| flag.weight).max() else {
        return;
    };
    let names: Vec<&str> = flags.iter().map(|flag| flag.name).collect();
    let words: Vec<String> = flags.iter().map(Flag::full_text).collect();
    sign(ui, weight, &names.join(", "), &words.join("\n\n"));
}

/// The sign alone, with what it stands for.
pub(crate) fn sign(ui: &mut Ui, weight: FlagSeverity, names: &str, words: &str) {
    let color = color(theme::roles(ui), weight);
    let glyph = button::glyph(icon::WARNING).size(12.0).color(color);
    let response = ui.add(Label::new(glyph).selectable(false));
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("Flags: {names}")));
    response.on_hover_text(words);
}

/// How much it matters, as a colour.
pub(crate) fn color(roles: &Roles, weight: FlagSeverity) -> Color32 {
    match weight {
        FlagSeverity::Red => roles.bad,
        FlagSeverity::Amber => roles.unsure,
    }
}
