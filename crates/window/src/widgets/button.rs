//! Buttons: the one primary action, ordinary ones, and icons with a name.

use eframe::egui::{self, Button, Response, RichText, Stroke, Ui, vec2};

use crate::icon::Icon;
use crate::theme::{self, size};

/// The primary button of a screen.
pub(crate) fn primary(ui: &mut Ui, icon: Option<Icon>, name: &str) -> Response {
    let roles = theme::roles(ui);
    let words = RichText::new(name)
        .family(theme::semibold())
        .color(roles.on_accent);
    let button = match icon {
        Some(icon) => Button::new((glyph(icon).color(roles.on_accent), words)),
        None => Button::new(words),
    };
    ui.add(
        button
            .fill(roles.accent_fill)
            .stroke(Stroke::new(1.0, roles.accent_fill)),
    )
    .accessible_name(name)
}

/// An ordinary button with a label, and an icon where given.
pub(crate) fn labelled(ui: &mut Ui, icon: Option<Icon>, name: &str) -> Response {
    let button = match icon {
        Some(icon) => Button::new((glyph(icon), RichText::new(name))),
        None => Button::new(name),
    };
    ui.add(button).accessible_name(name)
}

/// Something that can be done, or a reason why not, which shows on hover.
pub(crate) fn plain_if(
    ui: &mut Ui,
    allowed: Result<(), &str>,
    icon: Option<Icon>,
    name: &str,
) -> Response {
    match allowed {
        Ok(()) => labelled(ui, icon, name),
        Err(reason) => ui
            .add_enabled_ui(false, |ui| labelled(ui, icon, name))
            .inner
            .on_disabled_hover_text(reason),
    }
}

/// A frameless icon; its name is its tooltip.
pub(crate) fn icon(ui: &mut Ui, icon: Icon, name: &str) -> Response {
    let roles = theme::roles(ui);
    let button = Button::new(glyph(icon).color(roles.quiet))
        .frame_when_inactive(false)
        .min_size(vec2(size::CONTROL, size::CONTROL));
    ui.add(button).accessible_name(name).on_hover_text(name)
}

/// A small frameless icon for rows of lists.
pub(crate) fn small_icon(ui: &mut Ui, icon: Icon, name: &str) -> Response {
    let roles = theme::roles(ui);
    ui.scope(|ui| {
        ui.spacing_mut().button_padding = vec2(3.0, 2.0);
        let button = Button::new(glyph(icon).size(13.0).color(roles.quiet))
            .frame_when_inactive(false)
            .min_size(vec2(22.0, 22.0));
        ui.add(button).accessible_name(name).on_hover_text(name)
    })
    .inner
}

/// The icon as text.
pub(crate) fn glyph(icon: Icon) -> RichText {
    RichText::new(icon).font(egui::FontId::new(15.0, theme::icons()))
}
