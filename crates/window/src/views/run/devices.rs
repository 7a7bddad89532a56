//! Device telemetry of a run: newest readings, and readings over time.

use eframe::egui::{self, Rect, Sense, Ui, WidgetInfo, accesskit::Role, pos2, vec2};

use crate::theme::{self, space, text};
use crate::widgets::{label, lanes};
use powerband_app::run::LiveRun;
use powerband_core::base::humanize;
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::{
    DeviceKind, DeviceTelemetry, MissingSource, Quantity, Telemetry,
};
use powerband_findings::analysis::device_readings;

/// Tiles beside each other.
const COLUMNS: usize = 4;
/// Height of the cores' columns.
const CORES: f32 = 22.0;

/// The newest readings of each device.
pub(super) fn tiles(ui: &mut Ui, run: &LiveRun) {
    label::card_title(ui, "Devices");
    let Some(session) = &run.session else {
        label::quiet(ui, "Readings start with the run.");
        return;
    };
    let telemetry = &session.telemetry;
    let has_begun = session.cases.iter().any(|case| case.opening.is_some());
    if telemetry.tracks.is_empty() {
        let words = match (
            telemetry.missing.is_empty(),
            run.stage.is_going_on() && !has_begun,
        ) {
            (false, _) => "No device readings are available.",
            (true, true) => "Looking for devices…",
            (true, false) => "No device was read in this run.",
        };
        label::quiet(ui, words);
        return missing(ui, telemetry);
    }
    for track in &telemetry.tracks {
        ui.add_space(space::TINY);
        device(ui, session, track);
    }
    let may_tell_power = |track: &DeviceTelemetry| track.device.may_report_power();
    if run.stage.is_going_on() && !has_begun && telemetry.tracks.iter().any(may_tell_power) {
        label::faint(ui, "Reading the power of the idle machine first.");
    }
    missing(ui, telemetry);
}

fn device(ui: &mut Ui, session: &Session, track: &DeviceTelemetry) {
    let (telemetry, device) = (&session.telemetry, &track.device);
    let name = device.short_name();
    let title = if device.name == name {
        name
    } else {
        format!("{name} · {}", device.name)
    };
    label::quiet_line_about(ui, &title, device_tooltip(session, track));
    if let Some(lost) = &track.lost {
        let roles = theme::roles(ui);
        let words = format!(
            "Not available since {} s: {}",
            humanize::significant(lost.at_ns as f64 / 1e9, 3),
            lost.why
        );
        ui.label(
            egui::RichText::new(words)
                .size(text::CAPTION)
                .color(roles.bad),
        );
        return;
    }
    let shown: Vec<(Quantity, f64)> = of_kind(device.kind)
        .iter()
        .filter_map(|quantity| {
            Some((
                *quantity,
                device_readings::newest_value(telemetry, track, *quantity)?,
            ))
        })
        .take(COLUMNS)
        .collect();
    let width = ui.available_width() / COLUMNS as f32;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        for (quantity, value) in shown {
            ui.allocate_ui(vec2(width, 0.0), |ui| {
                ui.vertical(|ui| {
                    ui.set_width(width);
                    ui.spacing_mut().item_spacing.y = 0.0;
                    label::number(
                        ui,
                        &device_readings::reading_text(quantity, value),
                        text::BODY,
                    );
                    label::faint(ui, short_title(quantity));
                });
            });
        }
    });
    cores(ui, telemetry, track);
}

/// Quantities of a device, in this order.
fn of_kind(kind: DeviceKind) -> &'static [Quantity] {
    match kind {
        DeviceKind::Nvidia | DeviceKind::Amd => &[
            Quantity::Busy,
            Quantity::Power,
            Quantity::Temperature,
            Quantity::MemoryUsed,
        ],
        DeviceKind::Host => &[
            Quantity::Busy,
            Quantity::Clock,
            Quantity::Temperature,
            Quantity::MemoryUsed,
            Quantity::WorkerMemory,
        ],
        DeviceKind::Package => &[Quantity::Power, Quantity::Energy],
    }
}

fn short_title(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::WorkerMemory => "Worker",
        Quantity::Temperature => "Temperature",
        quantity => quantity.title(),
    }
}

/// One column for each core.
fn cores(ui: &mut Ui, telemetry: &Telemetry, track: &DeviceTelemetry) {
    let mut cores: Vec<(u16, f64)> = track
        .channels
        .iter()
        .filter_map(|channel| match channel.quantity {
            Quantity::Core(core) => Some((
                core,
                device_readings::newest_value(telemetry, track, channel.quantity)?,
            )),
            _ => None,
        })
        .collect();
    if cores.is_empty() {
        return;
    }
    cores.sort_unstable_by_key(|(core, _)| *core);
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), CORES), Sense::hover());
    let count = cores.len();
    response.widget_info(|| {
        let words = format!(
            "Utilisation of {}",
            humanize::pluralised(count as u64, "core")
        );
        WidgetInfo::labeled(Role::Image, true, words)
    });
    let roles = theme::roles(ui);
    let step = (rect.width() / count as f32).min(26.0);
    for (place, (_, percent)) in cores.iter().enumerate() {
        let left = rect.left() + place as f32 * step;
        let right = left + (step - 2.0).max(1.0);
        let whole = Rect::from_min_max(pos2(left, rect.top()), pos2(right, rect.bottom()));
        let top = rect.bottom() - rect.height() * (*percent as f32 / 100.0).clamp(0.0, 1.0);
        ui.painter().rect_filled(whole, 1.0, roles.raised);
        let busy = Rect::from_min_max(pos2(left, top), whole.max);
        ui.painter().rect_filled(busy, 1.0, roles.series(0));
    }
    let words: Vec<String> = cores
        .iter()
        .map(|(core, percent)| format!("core {core}: {percent:.0} %"))
        .collect();
    response.on_hover_text(words.join("\n"));
}

/// Settings of a device, and the commands that would change them.
fn device_tooltip(session: &Session, track: &DeviceTelemetry) -> String {
    let device = &track.device;
    let mut lines = vec![format!("{}, from {}", device.name, device.source)];
    let mut machines = session.machines.iter();
    let machine = machines.find(|machine| device.machine.as_ref() == Some(&machine.name));
    lines.extend(machine.map(|machine| {
        let clock = machine.clock.uncertainty();
        format!(
            "Read on {}, on its own clock; converted to this machine's, {clock}",
            machine.host
        )
    }));
    lines.extend(
        device
            .driver
            .iter()
            .map(|driver| format!("Driver {driver}")),
    );
    for setting in &device.settings {
        lines.push(format!("{}: {}", setting.name, setting.value));
        lines.extend(
            setting
                .command
                .iter()
                .map(|command| format!("    {command}")),
        );
    }
    if device
        .settings
        .iter()
        .any(|setting| setting.command.is_some())
    {
        lines.push("Powerband changes no settings; these commands do.".to_owned());
    }
    lines.join("\n")
}

/// Sources that are not available, and how to enable them.
fn missing(ui: &mut Ui, telemetry: &Telemetry) {
    if telemetry.missing.is_empty() {
        return;
    }
    let names: Vec<&str> = telemetry
        .missing
        .iter()
        .map(|m| m.source.as_str())
        .collect();
    let lines: Vec<String> = telemetry
        .missing
        .iter()
        .map(MissingSource::sentence)
        .collect();
    ui.add_space(space::TINY);
    label::faint(ui, &format!("Not available: {}", names.join(", ")))
        .on_hover_text(lines.join("\n"));
}

/// Readings over time, with the cases marked.
pub(super) fn over_time(ui: &mut Ui, run: &LiveRun) {
    ui.horizontal(|ui| {
        label::card_title(ui, "Devices over time");
        let words = if run.stage.is_going_on() {
            "The last two minutes; colours mark when which case was measured"
        } else {
            "The whole run; colours mark when which case was measured"
        };
        label::faint(ui, words);
    });
    lanes::show(ui, &run.lanes, None);
}
