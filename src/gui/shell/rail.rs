//! The rail at the left: one icon for each screen.

use eframe::egui::{self, Align2, CornerRadius, FontId, Rect, Sense, Stroke, Ui, pos2, vec2};

use crate::app::App;
use crate::app::action::{Action, Shell};
use crate::app::command;
use crate::app::screen::Screen;
use crate::gui::icon;
use crate::gui::theme::{self, size, space};
use crate::gui::views;

/// Shows it.
pub fn show(ui: &mut Ui, app: &App, wishes: &mut Vec<Action>) {
    let roles = theme::roles(ui);
    ui.vertical_centered(|ui| {
        ui.spacing_mut().item_spacing.y = 6.0;
        ui.add_space(space::SMALL);
        mark(ui);
        ui.add_space(space::SMALL);
        for view in views::ALL
            .iter()
            .filter(|view| view.screen != Screen::Settings)
        {
            if entry(ui, app, view.screen, view.icon) {
                wishes.push(Action::Go(view.screen));
            }
        }
        ui.with_layout(egui::Layout::bottom_up(egui::Align::Center), |ui| {
            ui.add_space(space::SMALL);
            if entry(ui, app, Screen::Settings, icon::SETTINGS) {
                wishes.push(Action::Go(Screen::Settings));
            }
            let name = if app.shows_library() {
                "Hide the library"
            } else {
                "Show the library"
            };
            if square(ui, icon::PANEL, roles.faint, name, "", false) {
                wishes.push(Action::Shell(Shell::ToggleLibrary));
            }
        });
    });
}

/// The program's sign: a curve that rises and flattens.
fn mark(ui: &mut Ui) {
    let (rect, _) = ui.allocate_exact_size(vec2(28.0, 28.0), Sense::hover());
    let roles = theme::roles(ui);
    let at = |x: f32, y: f32| {
        pos2(
            rect.left() + x * rect.width(),
            rect.bottom() - y * rect.height(),
        )
    };
    let curve = (0..=20).map(|i| {
        let x = i as f32 / 20.0;
        at(0.1 + 0.8 * x, 0.16 + 0.62 * (1.0 - (-3.4 * x).exp()))
    });
    ui.painter().add(egui::Shape::line(
        curve.collect(),
        Stroke::new(2.4, roles.accent),
    ));
    ui.painter().circle(
        at(0.46, 0.66),
        3.6,
        roles.rail,
        Stroke::new(2.0, roles.accent),
    );
}

fn entry(ui: &mut Ui, app: &App, screen: Screen, glyph: icon::Icon) -> bool {
    let roles = theme::roles(ui);
    let is_on = app.screen == screen;
    let color = if is_on { roles.accent } else { roles.quiet };
    let keys = command::ALL
        .iter()
        .find(|command| command.title.strip_prefix("Go to ") == Some(screen.title()))
        .and_then(|command| command::keys(command, &app.remembered.shortcuts));
    let keys = keys.map(|keys| format!("  {keys}")).unwrap_or_default();
    let help = format!("{}{keys}\n{}", screen.title(), screen.purpose());
    let clicked = square(ui, glyph, color, screen.title(), &help, is_on);
    if screen == Screen::Run && app.is_running() {
        let at = ui.min_rect().center_bottom() + vec2(12.0, -30.0);
        ui.painter().circle_filled(at, 3.5, roles.accent);
    }
    clicked
}

fn square(
    ui: &mut Ui,
    glyph: icon::Icon,
    color: egui::Color32,
    name: &str,
    help: &str,
    is_on: bool,
) -> bool {
    let roles = theme::roles(ui);
    let (rect, response) =
        ui.allocate_exact_size(vec2(size::RAIL - 18.0, size::RAIL - 20.0), Sense::click());
    let response = response.accessible_name(name);
    response.widget_info(|| {
        egui::WidgetInfo::selected(egui::accesskit::Role::Button, true, is_on, name)
    });
    if is_on || response.hovered() || response.has_focus() {
        ui.painter()
            .rect_filled(rect, CornerRadius::same(8), roles.raised);
    }
    if response.has_focus() {
        let edge = Stroke::new(1.0, roles.accent);
        ui.painter()
            .rect_stroke(rect, CornerRadius::same(8), edge, egui::StrokeKind::Inside);
    }
    let color = if response.hovered() && !is_on {
        roles.text
    } else {
        color
    };
    let font = FontId::new(18.0, theme::icons());
    ui.painter().text(
        Rect::center(&rect),
        Align2::CENTER_CENTER,
        glyph,
        font,
        color,
    );
    let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
    let clicked = response.clicked();
    response.on_hover_text(if help.is_empty() { name } else { help });
    clicked
}
