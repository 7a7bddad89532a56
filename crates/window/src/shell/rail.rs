//! The rail at the left: an entry for each door.

use eframe::egui::{
    self, Align2, Context, CornerRadius, FontId, Response, ScrollArea, Sense, Stroke, Ui, pos2,
    vec2,
};

use crate::icon;
use crate::theme::{self, size, space};
use crate::widgets::{menu, tip};
use powerband_app::App;
use powerband_app::action::{Action, Shell};
use powerband_app::command;
use powerband_app::items::MenuTarget;
use powerband_app::screen::Door;

/// Height of an entry: the least, and where there is room.
const ENTRY: (f32, f32) = (22.0, 36.0);
/// Between two entries: the least, and where there is room.
const APART: (f32, f32) = (1.0, 6.0);
/// From an entry to the words about it, which stand beside the rail.
const BESIDE: f32 = 13.0;
/// Height of the program's sign with what is around it, and of what is below the last entry.
const AROUND: f32 = 60.0;

/// From the left of an entry to the middle of its icon, where its name stands beside it.
const GLYPH: f32 = 16.0;
/// From the left of an entry to its name.
const NAME: f32 = 32.0;
/// In a window that is narrower the names are folded away.
const FOLDS: f32 = 760.0;
/// Width of the rail with the names of its doors.
const WITH_NAMES: f32 = 112.0;

/// The icon of each door.
const ICONS: [(Door, icon::Icon); 7] = [
    (Door::Home, icon::HOME),
    (Door::Bench, icon::RUN),
    (Door::Curves, icon::CURVES),
    (Door::Compare, icon::COMPARE),
    (Door::Profile, icon::KERNELS),
    (Door::Library, icon::LIBRARY),
    (Door::Settings, icon::SETTINGS),
];

/// Whether it has names: where the user wants them and the window has room.
fn has_names(ctx: &Context, app: &App) -> bool {
    !app.shared.remembered.rail_icons_only && ctx.content_rect().width() >= FOLDS
}

/// How wide it is.
pub(crate) fn width(ctx: &Context, app: &App) -> f32 {
    if has_names(ctx, app) {
        WITH_NAMES
    } else {
        size::RAIL
    }
}

/// Shows it. In a low window its entries come closer and shrink; where even that is not enough they are
/// scrolled, and the two at the foot stay.
pub(crate) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let roles = theme::roles(ui);
    // Every door, the switch of the library and that of the names.
    let (height, apart) = entry_height_and_gap(ui.available_height(), ICONS.len() + 2);
    ui.vertical_centered(|ui| {
        ui.spacing_mut().item_spacing.y = apart;
        ui.add_space(space::SMALL);
        mark(ui);
        ui.add_space(space::SMALL);
        let foot = 2.0 * (height + apart) + space::SMALL;
        ScrollArea::vertical()
            .id_salt("rail")
            .auto_shrink([false, false])
            .max_height(ui.available_height() - foot)
            .show(ui, |ui| doors(ui, app, height, actions));
        ui.with_layout(egui::Layout::bottom_up(egui::Align::Center), |ui| {
            ui.add_space(space::SMALL);
            let name = if app.shared.shows_library() {
                "Hide the library"
            } else {
                "Show the library"
            };
            let has_names = has_names(ui.ctx(), app);
            let short = has_names.then_some("Sidebar");
            let words = Words {
                name,
                help: "",
                short,
            };
            if app.shared.has_machine()
                && square(ui, icon::PANEL, roles.faint, &words, false, height).clicked()
            {
                actions.push(Action::Shell(Shell::ToggleLibrary));
            }
            if ui.ctx().content_rect().width() >= FOLDS {
                names_switch(ui, has_names, height, actions);
            }
        });
    });
}

/// Height and spacing of this many entries in a rail of this height.
fn entry_height_and_gap(room: f32, count: usize) -> (f32, f32) {
    let least = ENTRY.0 + APART.0;
    let most = ENTRY.1 + APART.1;
    let each = ((room - AROUND) / count as f32).clamp(least, most);
    let apart = (each - ENTRY.0).clamp(APART.0, APART.1);
    (each - apart, apart)
}

fn doors(ui: &mut Ui, app: &App, height: f32, actions: &mut Vec<Action>) {
    ui.vertical_centered(|ui| {
        let has_machine = app.shared.has_machine();
        let offered = ICONS.into_iter();
        for (door, glyph) in offered.filter(|(door, _)| has_machine || !door.needs_machine()) {
            entry(ui, app, door, glyph, height, actions);
        }
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

/// Shows the names of the doors, or icons alone.
fn names_switch(ui: &mut Ui, has_names: bool, height: f32, actions: &mut Vec<Action>) {
    let (glyph, name, short) = if has_names {
        (icon::LEFT, "Hide the names on the rail", Some("Icons"))
    } else {
        (icon::RIGHT, "Show the names on the rail", None)
    };
    let words = Words {
        name,
        help: "",
        short,
    };
    let faint = theme::roles(ui).faint;
    if square(ui, glyph, faint, &words, false, height).clicked() {
        actions.push(Action::Shell(Shell::RailIconsOnly(has_names)));
    }
}

fn entry(
    ui: &mut Ui,
    app: &App,
    door: Door,
    glyph: icon::Icon,
    height: f32,
    actions: &mut Vec<Action>,
) {
    let roles = theme::roles(ui);
    let is_on = app.shared.screen.door() == door;
    let mut shown = app.shared.shown_screens();
    let color = if shown.any(|screen| screen.door() == door) {
        roles.accent
    } else {
        roles.quiet
    };
    let title = format!("Go to {}", door.title());
    let mut commands = command::ALL.iter();
    let keys = commands
        .find(|command| command.title == title)
        .map(|command| app.shared.keys_of(command.id))
        .unwrap_or_default();
    let named = format!("{}  {keys}", door.title());
    let help = format!("{}\n{}", named.trim_end(), door.purpose());
    let has_names = has_names(ui.ctx(), app);
    let words = Words {
        name: door.title(),
        help: &help,
        short: has_names.then(|| door.title()),
    };
    let response = square(ui, glyph, color, &words, is_on, height);
    if door == Door::Bench && app.bench.is_running() {
        let at = response.rect.center_top() + vec2(12.0, 6.0);
        ui.painter().circle_filled(at, 3.5, roles.accent);
    }
    menu::of_item(&response, app, &MenuTarget::Door(door), actions);
    if response.clicked() {
        actions.push(Action::Go(app.shared.screen_behind(door)));
    }
}

/// What an entry says: to screen readers, on hover, and beside its icon where there is room.
struct Words<'a> {
    name: &'a str,
    help: &'a str,
    short: Option<&'a str>,
}

fn square(
    ui: &mut Ui,
    glyph: icon::Icon,
    color: egui::Color32,
    words: &Words<'_>,
    is_on: bool,
    height: f32,
) -> Response {
    let Words { name, help, short } = words;
    let roles = theme::roles(ui);
    let width = if short.is_some() {
        WITH_NAMES
    } else {
        size::RAIL
    };
    let (rect, response) = ui.allocate_exact_size(vec2(width - 18.0, height), Sense::click());
    let response = response.accessible_name(*name);
    response.widget_info(|| {
        egui::WidgetInfo::selected(egui::accesskit::Role::Button, true, is_on, *name)
    });
    if is_on || response.hovered() {
        ui.painter()
            .rect_filled(rect, CornerRadius::same(8), roles.raised);
    }
    let color = if response.hovered() && !is_on {
        roles.text
    } else {
        color
    };
    let font = FontId::new(18.0, theme::icons());
    let at = match short {
        Some(_) => pos2(rect.left() + GLYPH, rect.center().y),
        None => rect.center(),
    };
    ui.painter()
        .text(at, Align2::CENTER_CENTER, glyph, font, color);
    if let Some(short) = short {
        let at = pos2(rect.left() + NAME, rect.center().y);
        let font = theme::text_font(theme::text::BODY);
        ui.painter()
            .text(at, Align2::LEFT_CENTER, short, font, color);
    }
    let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
    tip::at_the_right(response, if help.is_empty() { name } else { help }, BESIDE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_shrink_with_the_rail_and_not_below_what_can_be_hit() {
        assert_eq!(entry_height_and_gap(900.0, 12), (36.0, 6.0));
        // A window of 900 × 640 at 150 %: all are in sight.
        let (height, apart) = entry_height_and_gap(394.0, 12);
        assert!((22.0..36.0).contains(&height), "{height}");
        assert!(
            12.0 * (height + apart) + AROUND <= 394.1,
            "{height} {apart}"
        );
        assert_eq!(entry_height_and_gap(100.0, 12), (22.0, 1.0));
    }
}
