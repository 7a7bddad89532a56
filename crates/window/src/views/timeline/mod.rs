//! Timeline: a profiler's trace over time.

mod compared;
mod legend;
mod notes;
mod parts;
mod slice;
mod span;
mod tools;

use eframe::egui::{self, Align, Layout, ProgressBar, ScrollArea, Ui, vec2};

use crate::icon;
use crate::theme::{self, space};
use crate::widgets::timeline_canvas::{self, TimelineContent};
use crate::widgets::{button, figure, label, menu, ribbon};
use powerband_app::App;
use powerband_app::action::{Action, Timeline};
use powerband_app::figures;
use powerband_app::items::MenuTarget;
use powerband_app::kernels::ProfileRef;
use powerband_app::screen::Screen;
use powerband_app::timeline::{OpenTrace, TimelineSelection, TraceId, TraceReading, TraceView};
use powerband_findings::chart::figure::Drawing;

/// Width of the card at the right.
const CARD: f32 = 272.0;
/// Below this width the card of the selection stands below the timeline.
const NARROW: f32 = 760.0;
/// Width of the buttons for a report.
const REPORT: f32 = 240.0;
/// Its height there.
const BELOW: f32 = 190.0;
/// Height of the table of a measured stretch, and the least that the timeline keeps above it.
const TABLE: f32 = 236.0;
const ABOVE_TABLE: f32 = 220.0;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let mut changes = Vec::new();
    match app.profile.timeline.current() {
        Some(current) => {
            super::tabs::with_buttons(ui, super::NARROW_HEAD, |ui| {
                super::in_order(ui, 2, |ui, place| match place {
                    0 => {
                        ui.scope(|ui| {
                            ui.set_max_width((ui.available_width() - REPORT).max(80.0));
                            tools::title(ui, app, current, &mut changes);
                        });
                    }
                    _ => super::answer::report_button(ui, app, Screen::Timeline, actions),
                });
            });
            tools::show(ui, app, current, &mut changes);
            ui.add_space(space::TINY);
            let is_said = app.shared.shows(Screen::Kernels);
            if let Some((session, profile)) = current.1.owner.filter(|_| !is_said) {
                let profile = ProfileRef { session, profile };
                super::limit_line::show(ui, app, profile, actions);
            }
            ui.add_space(space::TINY);
            reading(ui, app, &mut changes);
            body(ui, app, current, &mut changes, actions);
        }
        None => empty(ui, app, &mut changes),
    }
    super::each(changes, Action::Timeline, actions);
}

fn empty(ui: &mut Ui, app: &App, changes: &mut Vec<Timeline>) {
    super::tabs::leave_room(ui);
    ui.add_space(space::MEDIUM);
    if !app.profile.timeline.reading.is_empty() {
        return reading(ui, app, changes);
    }
    ui.add_space(ui.available_height() * 0.2);
    ui.vertical_centered(|ui| {
        if !app.shared.has_machine() {
            let sentence = "Kernels shows a profile, and leads to its timeline where it has one.";
            return label::empty(ui, icon::TIMELINE, "No timeline is shown", sentence);
        }
        let sentence = "Device streams and host threads over time, with every kernel, copy and launch. Open a profiler's file, or drop one on the window.";
        label::empty(ui, icon::TIMELINE, "No trace is open", sentence);
        let button = button::primary(ui, Some(icon::OPEN), "Open a trace…");
        if button.on_hover_text(app.shared.keys_of("open-trace")).clicked() {
            changes.push(Timeline::Choose);
        }
    });
}

/// Files that are being read, each with a button to stop.
fn reading(ui: &mut Ui, app: &App, changes: &mut Vec<Timeline>) {
    for reading in &app.profile.timeline.reading {
        theme::card(ui).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal(|ui| {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let name = format!("Stop reading {}", reading.name);
                    if button::icon(ui, icon::CLOSE, &name).clicked() {
                        changes.push(Timeline::StopReading(reading.id));
                    }
                    let bar = ProgressBar::new(reading.share()).desired_width(180.0);
                    ui.add(bar.desired_height(6.0));
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        label::quiet_line(ui, &progress(reading));
                    });
                });
            });
        });
        ui.add_space(space::SMALL);
        // Background reading does not repaint by itself.
        let soon = std::time::Duration::from_millis(100);
        ui.request_repaint_after(soon);
    }
}

fn progress(reading: &TraceReading) -> String {
    let name = &reading.name;
    if reading.cancel.is_cancelled() {
        return format!("Stopping the import of {name}…");
    }
    if reading.share() >= 1.0 {
        return format!("Building the timeline of {name}…");
    }
    format!("Reading {name}, {:.0} %", reading.share() * 100.0)
}

type Current<'a> = (TraceId, &'a std::sync::Arc<OpenTrace>, &'a TraceView);

fn body(
    ui: &mut Ui,
    app: &App,
    current: Current<'_>,
    changes: &mut Vec<Timeline>,
    actions: &mut Vec<Action>,
) {
    let (_, open, view) = current;
    let shown = TimelineContent {
        name: &open.name,
        trace: &open.trace,
        timeline: &open.timeline,
        lanes: &open.lanes,
        view,
        tracks: view.shown_tracks(open),
        notes: app
            .profile
            .timeline
            .notebook()
            .map_or(&[], |book| &book.notes),
        hits: app.profile.timeline.hits.as_deref(),
        measures: app.profile.timeline.measures,
        reveals: app.profile.timeline.reveals,
        counterparts: match (&open.compared, app.profile.timeline.selected_slice()) {
            (Some(compared), Some(slice)) => compared.merged.counterparts(slice),
            _ => Vec::new(),
        },
        compared: open.compared.as_ref(),
        hand_ns: app.profile.timeline.hand_ns,
    };
    let room = ui.available_size();
    let has_table = app.shared.tables.view(span::TABLE).is_some();
    let table = if has_table {
        TABLE.min((room.y - ABOVE_TABLE - space::SMALL).max(0.0))
    } else {
        0.0
    };
    let is_wide = room.x >= NARROW;
    if is_wide {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing = vec2(space::MEDIUM, space::SMALL);
            let left = room.x - CARD - space::MEDIUM;
            ui.vertical(|ui| {
                ui.set_max_width(left);
                ui.spacing_mut().item_spacing.y = space::SMALL;
                let below = if has_table { table + space::SMALL } else { 0.0 };
                let size = vec2(left, room.y - below);
                canvas(ui, size, app, &shown, open, changes, actions);
                if has_table {
                    stretch_table(ui, vec2(left, table), app, &shown, actions);
                }
            });
            side(ui, vec2(CARD, room.y), app, &shown, open, changes, actions);
        });
        return;
    }
    let is_noting = app
        .profile
        .timeline
        .notebook()
        .is_some_and(|book| book.editing.is_some());
    let has_card = view.selected.is_some() || is_noting;
    let below = if has_card {
        (BELOW + space::SMALL).min((room.y - 120.0).max(0.0))
    } else {
        0.0
    };
    ui.spacing_mut().item_spacing.y = space::SMALL;
    let size = vec2(room.x, room.y - below);
    canvas(ui, size, app, &shown, open, changes, actions);
    if has_card {
        side(ui, vec2(room.x, BELOW), app, &shown, open, changes, actions);
    }
}

fn canvas(
    ui: &mut Ui,
    size: egui::Vec2,
    app: &App,
    shown: &TimelineContent<'_>,
    open: &OpenTrace,
    changes: &mut Vec<Timeline>,
    actions: &mut Vec<Action>,
) {
    framed(ui, size, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        if let Some(compared) = &open.compared {
            let slice = app.profile.timeline.selected_slice();
            let selected = slice.and_then(|slice| compared.merged.row(slice));
            let clicked = ribbon::show(ui, compared.ribbon(), shown.view.stretch, selected);
            let slice = clicked.and_then(|row| compared.merged.slice_of_row(row));
            changes.extend(slice.map(Timeline::GoTo));
        }
        let (response, under) = timeline_canvas::show(ui, shown, changes);
        let selected = app.profile.timeline.selected_slice().map(MenuTarget::Slice);
        let under = under.map(MenuTarget::Slice);
        menu::of_hovered(&response, app, under, selected, actions);
        // The strip at the top can be dragged up to its end.
        let below = response.rect.top() + timeline_canvas::HEAD;
        figure::offer(ui, "timeline", response.rect.with_min_y(below), || {
            Drawing::Timeline(Box::new(figures::of_timeline(open, shown.view)))
        });
    });
}

/// The table of a measured stretch, in a card of its own.
fn stretch_table(
    ui: &mut Ui,
    size: egui::Vec2,
    app: &App,
    shown: &TimelineContent<'_>,
    actions: &mut Vec<Action>,
) {
    let margin = egui::Margin::symmetric(8, 6);
    theme::card(ui).inner_margin(margin).show(ui, |ui| {
        let inner = (size - margin.sum() - vec2(2.0, 2.0)).max(vec2(40.0, 40.0));
        ui.set_min_size(inner);
        ui.set_max_size(inner);
        span::table(ui, app, shown, actions);
    });
}

/// A card without a margin.
fn framed(ui: &mut Ui, size: egui::Vec2, content: impl FnOnce(&mut Ui)) {
    theme::card(ui).inner_margin(1).show(ui, |ui| {
        ui.set_min_size(size - vec2(4.0, 4.0));
        ui.set_max_size(size - vec2(4.0, 4.0));
        content(ui);
    });
}

/// The card of what is selected.
fn side(
    ui: &mut Ui,
    size: egui::Vec2,
    app: &App,
    shown: &TimelineContent<'_>,
    open: &OpenTrace,
    changes: &mut Vec<Timeline>,
    actions: &mut Vec<Action>,
) {
    let margin = egui::Margin::symmetric(14, 12);
    let is_narrow = size.x > CARD;
    theme::card(ui).inner_margin(margin).show(ui, |ui| {
        let inner = (size - margin.sum() - vec2(2.0, 2.0)).max(vec2(40.0, 40.0));
        ui.set_min_size(inner);
        ui.set_max_size(inner);
        let area = ScrollArea::vertical()
            .id_salt("side")
            .auto_shrink([false, false]);
        ui.vertical(|ui| {
            area.show(ui, |ui| {
                ui.spacing_mut().item_spacing = vec2(space::SMALL, space::TINY);
                of_selection(ui, app, shown, open, changes);
                if is_narrow && app.shared.tables.view(span::TABLE).is_some() {
                    narrow_table(ui, app, shown, actions);
                }
            });
        });
    });
}

/// The table below the card of a stretch, where it has no room below the timeline.
fn narrow_table(ui: &mut Ui, app: &App, shown: &TimelineContent<'_>, actions: &mut Vec<Action>) {
    ui.add_space(space::SMALL);
    ui.allocate_ui(vec2(ui.available_width(), TABLE), |ui| {
        span::table(ui, app, shown, actions);
    });
}

fn of_selection(
    ui: &mut Ui,
    app: &App,
    shown: &TimelineContent<'_>,
    open: &OpenTrace,
    changes: &mut Vec<Timeline>,
) {
    if let Some(compared) = &open.compared {
        compared::stretched(ui, compared);
    }
    match &shown.view.selected {
        Some(TimelineSelection::Slice(slice)) => slice::show(ui, app, shown, *slice, changes),
        Some(TimelineSelection::Span(measured)) => span::show(ui, shown, measured, changes),
        None => return legend::show(ui, app, shown, open, changes),
    }
    notes::show(ui, app, changes);
}
