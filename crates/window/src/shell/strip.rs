//! The strip at the foot: the run, the devices, the newest problem, and the command palette.

use eframe::egui::accesskit::Role;
use eframe::egui::{Align, Label, Layout, RichText, Sense, Ui, WidgetInfo, vec2};

use crate::icon;
use crate::theme::{self, text};
use crate::widgets::{button, label};
use powerband_app::App;
use powerband_app::action::{Action, Shell};
use powerband_app::notices::NoticeLevel;
use powerband_app::run::{LiveRun, Stage};
use powerband_app::screen::Screen;
use powerband_core::base::humanize;
use powerband_core::domain::telemetry::{DeviceKind, DeviceTelemetry, Quantity};
use powerband_findings::analysis::device_readings;

/// Most devices with their utilisation in the strip.
const MOST_DEVICES: usize = 4;
/// Width of the progress bar.
const BAR: f32 = 120.0;
/// Up to this width the button of the palette shows only its keys.
const NARROW: f32 = 720.0;

/// A part of the progress of a run.
enum StripItem {
    /// The progress, as a bar.
    Bar(f32),
    /// Something with a number in it.
    Number(String),
    /// Words.
    Words(String),
    /// Between the run and the devices.
    Line,
}

pub(crate) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    // The right side first, so that the rest knows the remaining width.
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        commands(ui, app, actions);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            state(ui, app, actions);
        });
    });
}

/// The buttons of the palette and of the log.
fn commands(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let keys = app.shared.keys_of("palette");
    let hint = match (keys.is_empty(), ui.available_width() > NARROW) {
        (true, _) => "Every command".to_owned(),
        (false, true) => format!("{keys} for every command"),
        (false, false) => keys,
    };
    let words = Label::new(RichText::new(hint).size(12.0).color(theme::roles(ui).quiet));
    let response = ui.add(words.sense(Sense::click()));
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Find a command"));
    if response.clicked() {
        actions.push(Action::Shell(Shell::Palette(true)));
    }
    if button::small_icon(ui, icon::LOG, "Show the log").clicked() {
        actions.push(Action::Shell(Shell::Log(!app.shared.window.log_open)));
    }
    if !app.shared.window.log_open {
        troubles(ui, app, actions);
    }
    if let Some(installing) = &app.shared.machine.installing {
        label::quiet_line(ui, &installing.step);
    }
}

/// The number of problems since the window opened, dismissed or not.
fn troubles(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let all = app.shared.notices.all().iter();
    let troubles = all.filter(|notice| notice.weight == NoticeLevel::Trouble);
    let Some(newest) = troubles.clone().next_back() else {
        return;
    };
    let words = humanize::pluralised(troubles.count() as u64, "problem");
    let color = theme::roles(ui).bad;
    let label = Label::new(RichText::new(&words).size(12.0).color(color));
    let response = ui.add(label.sense(Sense::click()));
    let name = format!("{words}, show the log");
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    if response.on_hover_text(&newest.text).clicked() {
        actions.push(Action::Shell(Shell::Log(true)));
    }
}

fn state(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if !app.shared.has_machine() {
        return;
    }
    let roles = theme::roles(ui);
    let (color, words) = match &app.bench.run {
        Some(run) if run.stage.is_going_on() => (roles.accent, running_words(run)),
        _ => match app.bench.elsewhere_words() {
            Some(words) => (roles.unsure, words),
            None if app.shared.machine.is_looking => {
                (roles.faint, "Looking at this machine…".to_owned())
            }
            None => (roles.good, "Idle".to_owned()),
        },
    };
    let (dot, _) = ui.allocate_exact_size(vec2(8.0, 8.0), Sense::hover());
    ui.painter().circle_filled(dot.center(), 3.5, color);
    let words = Label::new(RichText::new(words).size(12.0).color(roles.text)).truncate();
    let response = ui.add(words.sense(Sense::click()));
    if response.clicked() && (app.bench.run.is_some() || app.bench.elsewhere_words().is_some()) {
        actions.push(Action::Go(Screen::Run));
    }
    let Some(run) = app.bench.run.as_ref().filter(|run| run.stage.is_going_on()) else {
        return;
    };
    let mut parts = parts(run);
    fit(ui, &mut parts, ui.available_width());
    for part in parts {
        match part {
            StripItem::Bar(share) => progress_bar(ui, share),
            StripItem::Number(words) => number(ui, &words),
            StripItem::Words(words) => {
                ui.label(RichText::new(words).size(12.0).color(roles.quiet));
            }
            StripItem::Line => line(ui),
        }
    }
}

/// The progress of a run, and the utilisation of devices.
fn parts(run: &LiveRun) -> Vec<StripItem> {
    let mut parts = Vec::new();
    if let Some(progress) = &run.progress {
        parts.push(StripItem::Bar(progress.share as f32));
        parts.push(StripItem::Number(progress.time_text()));
        parts.extend(run.left_words().map(StripItem::Words));
        parts.push(StripItem::Line);
    }
    parts.extend(busy_words(run).into_iter().map(StripItem::Number));
    parts
}

/// Drops parts that do not fit: the bar first, then from the end.
fn fit(ui: &Ui, parts: &mut Vec<StripItem>, room: f32) {
    if taken(ui, parts) > room {
        parts.retain(|part| !matches!(part, StripItem::Bar(_)));
    }
    while !parts.is_empty() && taken(ui, parts) > room {
        parts.pop();
    }
    if matches!(parts.last(), Some(StripItem::Line)) {
        parts.pop();
    }
}

/// Width of the parts with their gaps.
fn taken(ui: &Ui, parts: &[StripItem]) -> f32 {
    let apart = ui.spacing().item_spacing.x;
    parts.iter().map(|part| width(ui, part) + apart).sum()
}

fn width(ui: &Ui, part: &StripItem) -> f32 {
    let (words, font) = match part {
        StripItem::Bar(_) => return BAR,
        StripItem::Line => return 1.0,
        StripItem::Number(words) => (words, theme::numbers(text::CAPTION)),
        StripItem::Words(words) => (words, theme::text_font(12.0)),
    };
    let color = theme::roles(ui).quiet;
    let galley = ui.painter().layout_no_wrap(words.clone(), font, color);
    galley.size().x
}

fn line(ui: &mut Ui) {
    let (rect, _) = ui.allocate_exact_size(vec2(1.0, 12.0), Sense::hover());
    let color = theme::roles(ui).line;
    ui.painter().rect_filled(rect, 0.0, color);
}

/// Utilisation of each device: `GPU 0 97 %`.
fn busy_words(run: &LiveRun) -> Vec<String> {
    let Some(session) = &run.session else {
        return Vec::new();
    };
    let telemetry = &session.telemetry;
    let of_track = |track: &DeviceTelemetry| {
        let busy = device_readings::newest_value(telemetry, track, Quantity::Busy)?;
        let name = match track.device.kind {
            DeviceKind::Host => track.device.with_machine("CPU"),
            _ => track.device.short_name(),
        };
        Some(format!(
            "{name} {}",
            device_readings::reading_text(Quantity::Busy, busy)
        ))
    };
    let all = telemetry.tracks.iter().filter_map(of_track);
    all.take(MOST_DEVICES).collect()
}

fn running_words(run: &LiveRun) -> String {
    let elapsed = humanize::clock_time(run.elapsed_ns() as f64 / 1e9);
    match &run.stage {
        Stage::Preparing => format!("Preparing {}", run.title),
        Stage::Paused => format!("{} paused, {elapsed}", run.title),
        Stage::Stopping => format!("Stopping {}", run.title),
        _ if run.is_pausing() => format!("{} pauses after this round, {elapsed}", run.title),
        _ => format!("Measuring {}, {elapsed}", run.title),
    }
}

fn number(ui: &mut Ui, words: &str) {
    let roles = theme::roles(ui);
    ui.label(
        RichText::new(words)
            .font(theme::numbers(text::CAPTION))
            .color(roles.quiet),
    );
}

pub(crate) fn progress_bar(ui: &mut Ui, share: f32) {
    let roles = theme::roles(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(BAR, 4.0), Sense::hover());
    ui.painter().rect_filled(rect, 2.0, roles.line);
    let done = eframe::egui::Rect::from_min_size(
        rect.min,
        vec2(rect.width() * share.clamp(0.0, 1.0), rect.height()),
    );
    ui.painter().rect_filled(done, 2.0, roles.accent);
}
