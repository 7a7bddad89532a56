//! The screens. To add one: a file here, a variant of `Screen` behind a door, and a line in [`ALL`].

mod answer;
mod compare;
mod curves;
mod fleet;
mod history;
#[cfg(unix)]
mod home;
#[cfg(unix)]
mod home_roofs;
mod journey;
mod kernels;
#[cfg(unix)]
mod library;
mod limit_line;
mod network;
#[cfg(unix)]
mod plan;
#[cfg(unix)]
mod run;
mod settings;
mod tabs;
mod timeline;
mod why;

use eframe::egui::{Align, Layout, Margin, ScrollArea, Ui, vec2};

use super::theme::{self, space};
use super::widgets::handle::{self, Grows};
use super::widgets::label;
use powerband_app::App;
use powerband_app::action::Action;
use powerband_app::screen::Screen;
use powerband_app::shell::layout;

/// What shows a screen.
type View = fn(&mut Ui, &App, &mut Vec<Action>);

/// What shows each screen.
const ALL: &[(Screen, View)] = &[
    #[cfg(unix)]
    (Screen::Home, home::show),
    #[cfg(unix)]
    (Screen::Plan, plan::show),
    #[cfg(unix)]
    (Screen::Run, run::show),
    (Screen::Curves, curves::show),
    (Screen::Compare, compare::show),
    (Screen::Fleet, fleet::show),
    (Screen::History, history::show),
    (Screen::Journey, journey::show),
    (Screen::Kernels, kernels::show),
    (Screen::Network, network::show),
    (Screen::Why, why::show),
    (Screen::Timeline, timeline::show),
    #[cfg(unix)]
    (Screen::Library, library::show),
    (Screen::Settings, settings::show),
];

/// Shows a screen, with the others behind its door above it.
pub(super) fn show(ui: &mut Ui, app: &App, screen: Screen, actions: &mut Vec<Action>) {
    if let Some((_, view)) = ALL.iter().find(|(shown, _)| *shown == screen) {
        ui.push_id(screen.title(), |ui| {
            tabs::show(ui, app, screen, actions);
            view(ui, app, actions);
        });
    }
}

pub(crate) use settings::holds_size;
pub(crate) use tabs::take_dropped;

/// Height of a title with its sentence.
const HEAD: f32 = 42.0;
/// Up to this width few buttons stand below the title.
const NARROW_HEAD: f32 = 640.0;

/// The head of a screen: its title, and its buttons at the right. It ends where the cards below it end.
/// Up to a width of `narrow` the buttons stand below the title.
///
/// `doing` orders the buttons with [`in_order`], because a row at the right fills from its end.
fn screen_header(
    ui: &mut Ui,
    title: &str,
    sentence: &str,
    narrow: f32,
    doing: impl FnOnce(&mut Ui),
) {
    ui.scope(|ui| {
        ui.set_max_width(ui.available_width() - space::EDGE);
        if ui.available_width() <= narrow {
            label::screen_title(ui, title, sentence);
            ui.horizontal_wrapped(doing);
            return;
        }
        let size = vec2(ui.available_width(), HEAD);
        ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
            ui.set_min_height(HEAD);
            doing(ui);
            // Last, so that a long sentence is cut at the buttons.
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                label::screen_title(ui, title, sentence);
            });
        });
    });
}

/// Adds this many items from left to right, whichever way the row fills.
fn in_order(ui: &mut Ui, count: usize, mut add: impl FnMut(&mut Ui, usize)) {
    let turned = ui.layout().prefer_right_to_left();
    for place in 0..count {
        add(ui, if turned { count - 1 - place } else { place });
    }
}

/// A main column, and at its right one whose width the user chooses; `add` fills either.
fn columns(
    ui: &mut Ui,
    app: &App,
    actions: &mut Vec<Action>,
    mut add: impl FnMut(&mut Ui, bool, &mut Vec<Action>),
) {
    let side = app.shared.size_of(&layout::SIDE);
    let side = side.min(ui.available_width() / 2.0);
    let shown = ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::MEDIUM;
        let width = ui.available_width() - side - space::MEDIUM;
        ui.allocate_ui(vec2(width, 0.0), |ui| {
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = space::MEDIUM;
                add(ui, false, actions);
            });
        });
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = space::MEDIUM;
            ui.set_width(side);
            add(ui, true, actions);
        });
    });
    let whole = shown.response.rect;
    let side = whole.with_min_x(whole.right() - side - space::MEDIUM / 2.0);
    handle::of_part(ui, app, &layout::SIDE, Grows::Left, side, actions);
}

/// The scrolling part of a screen. It stays clear of its own edge, which would cut cards.
fn scrolled(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.set_max_width(ui.available_width() - space::EDGE);
            content(ui);
        });
}

/// A card over the width that there is, its lines close together.
fn card(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    theme::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = theme::space::TINY;
        ui.vertical(content);
    });
}

/// A card over the width that there is, of rows that reach nearly to its edges.
fn rows_card<T>(ui: &mut Ui, content: impl FnOnce(&mut Ui) -> T) -> T {
    let card = theme::card(ui).inner_margin(Margin::symmetric(6, 6));
    let shown = card.show(ui, |ui| {
        ui.set_width(ui.available_width());
        content(ui)
    });
    shown.inner
}

/// Actions made of one kind of change.
fn each<T>(changes: Vec<T>, wrap: fn(T) -> Action, actions: &mut Vec<Action>) {
    actions.extend(changes.into_iter().map(wrap));
}
