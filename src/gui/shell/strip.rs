//! The strip at the foot: the run, what the machine is doing, the newest news, and the way to every command.

use eframe::egui::accesskit::Role;
use eframe::egui::{Align, Label, Layout, RichText, Sense, Ui, WidgetInfo, vec2};

use crate::analysis::watched;
use crate::app::App;
use crate::app::action::{Action, Shell};
use crate::app::run::{LiveRun, Stage};
use crate::app::screen::Screen;
use crate::base::{clock, humanize};
use crate::domain::telemetry::{DeviceKind, Quantity, Track};
use crate::gui::icon;
use crate::gui::theme::{self, text};
use crate::gui::widgets::{button, label};

/// Devices whose load is told in the strip.
const MOST_DEVICES: usize = 4;

/// Shows it.
pub fn show(ui: &mut Ui, app: &App, wishes: &mut Vec<Action>) {
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        state(ui, app, wishes);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let keys = app.keys_of("palette");
            let hint = format!("{keys} for every command");
            let words = Label::new(
                RichText::new(&hint)
                    .size(12.0)
                    .color(theme::roles(ui).quiet),
            );
            let response = ui.add(words.sense(Sense::click()));
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Find a command"));
            if response.clicked() {
                wishes.push(Action::Shell(Shell::Palette(true)));
            }
            if button::small_icon(ui, icon::LOG, "Show the log").clicked() {
                wishes.push(Action::Shell(Shell::Log(!app.log_open)));
            }
            if let Some(installing) = &app.machine.installing {
                label::quiet_line(ui, &installing.step);
            }
        });
    });
}

fn state(ui: &mut Ui, app: &App, wishes: &mut Vec<Action>) {
    let roles = theme::roles(ui);
    let (color, words) = match &app.run {
        Some(run) if run.stage.is_going_on() => (roles.accent, running_words(run)),
        _ if app.machine.is_looking => (roles.faint, "Looking at this machine…".to_owned()),
        _ => (roles.good, "Idle".to_owned()),
    };
    let (dot, _) = ui.allocate_exact_size(vec2(8.0, 8.0), Sense::hover());
    ui.painter().circle_filled(dot.center(), 3.5, color);
    let response =
        ui.add(Label::new(RichText::new(words).size(12.0).color(roles.text)).sense(Sense::click()));
    if response.clicked() && app.run.is_some() {
        wishes.push(Action::Go(Screen::Run));
    }
    let Some(run) = app.run.as_ref().filter(|run| run.stage.is_going_on()) else {
        return;
    };
    if let Some(progress) = &run.progress {
        progress_bar(ui, progress.share as f32);
        number(ui, &format!("{:.0} %", progress.share * 100.0));
        if let Some(left) = progress.remaining_s {
            let words = format!("about {} left", humanize::clock_time(left));
            ui.label(RichText::new(words).size(12.0).color(roles.quiet));
        }
    }
    for words in busy_words(run) {
        number(ui, &words);
    }
}

/// How busy each device is: `GPU 0 97 %`.
fn busy_words(run: &LiveRun) -> Vec<String> {
    let Some(session) = &run.session else {
        return Vec::new();
    };
    let telemetry = &session.telemetry;
    let of_track = |track: &Track| {
        let busy = watched::newest(telemetry, track, Quantity::Busy)?;
        let name = match track.device.kind {
            DeviceKind::Host => "CPU".to_owned(),
            _ => track.device.short_name(),
        };
        Some(format!("{name} {}", watched::text(Quantity::Busy, busy)))
    };
    let all = telemetry.tracks.iter().filter_map(of_track);
    all.take(MOST_DEVICES).collect()
}

fn running_words(run: &LiveRun) -> String {
    let elapsed = humanize::clock_time(run.elapsed_ns(clock::monotonic_ns()) as f64 / 1e9);
    match &run.stage {
        Stage::Preparing => format!("Preparing {}", run.title),
        Stage::Paused => format!("{} paused, {elapsed}", run.title),
        Stage::Stopping => format!("Stopping {}", run.title),
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

/// How far something is.
pub fn progress_bar(ui: &mut Ui, share: f32) {
    let roles = theme::roles(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(120.0, 4.0), Sense::hover());
    ui.painter().rect_filled(rect, 2.0, roles.line);
    let done = eframe::egui::Rect::from_min_size(
        rect.min,
        vec2(rect.width() * share.clamp(0.0, 1.0), rect.height()),
    );
    ui.painter().rect_filled(done, 2.0, roles.accent);
}
