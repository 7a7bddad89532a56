//! `powerband devices`: this machine and the readings of its devices.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::bail;
use serde_json::{Map, Value, json};

use super::args::DevicesArgs;
use super::{Context, output};
use powerband_core::base::clock;
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::telemetry::{
    DeviceLoss, DeviceReading, DeviceTelemetry, Quantity, Telemetry, Throttle,
};
use powerband_core::domain::telemetry_paths::RATES_HZ;
use powerband_core::domain::telemetry_paths::TelemetryPaths;
use powerband_devices::sampler::Sampler;
use powerband_devices::{machine, survey};
use powerband_findings::analysis::device_readings;
use powerband_findings::export::{self, terminal};
use powerband_findings::report;
use powerband_store::session_file;

/// Readings a second for one look.
const LOOK_HZ: f64 = 20.0;
/// How long one look takes: load is what happened between two readings.
const LOOK: Duration = Duration::from_millis(250);
/// How often what was read is printed.
const PRINTED: Duration = Duration::from_millis(500);

pub(super) fn run(context: &Context, args: &DevicesArgs) -> anyhow::Result<ExitCode> {
    if let Some(host) = &args.on {
        return on(context, args, host);
    }
    let places = places(args.replay.as_deref())?;
    if args.watch {
        return watch(args, &places);
    }
    let environment = machine::environment();
    let mut watching = Watching::begin(&places, LOOK_HZ);
    thread::sleep(LOOK);
    let (_, warnings) = watching.fetch();
    for warning in warnings {
        output::note(&warning);
    }
    let telemetry = &watching.telemetry;
    if args.json {
        output::document(&json!({
            "cpu": environment.cpu,
            "memory": environment.memory,
            "os": environment.os,
            "kernel": environment.kernel,
            "arch": environment.arch,
            "load": environment.load_before,
            "devices": export::json::devices_now(telemetry),
            "missing": telemetry.missing,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    output::sections(&report::machine::sections(&environment, telemetry))?;
    Ok(ExitCode::SUCCESS)
}

/// The same of another machine, by its own Powerband.
fn on(context: &Context, args: &DevicesArgs, host: &str) -> anyhow::Result<ExitCode> {
    let mut words = vec!["devices".to_owned()];
    if args.watch {
        rate(args.rate, "--rate")?;
        words.extend(["--watch".to_owned(), format!("--rate={}", args.rate)]);
    }
    words.extend(args.seconds.map(|seconds| format!("--seconds={seconds}")));
    words.extend(args.json.then(|| "--json".to_owned()));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    super::machines::run_on(context, host, &words)
}

/// The sources of readings, or the session to play back.
pub(super) fn places(replay: Option<&Path>) -> anyhow::Result<TelemetryPaths> {
    let mut places = TelemetryPaths::of_user();
    if let Some(path) = replay {
        let recorded = session_file::read(path)?.session.telemetry;
        if recorded.tracks.is_empty() {
            bail!("{} has no telemetry to play back", path.display());
        }
        places.replay = Some(Arc::new(recorded));
    }
    Ok(places)
}

/// What stands in the way of measuring on the devices of this machine.
pub(super) struct DeviceState {
    /// The graphics cards, each with the share of the time in which it computed.
    pub cards: Vec<(String, f64)>,
    /// Devices that heat slows down.
    pub hot: Vec<String>,
}

/// Watches the devices of this machine for so long.
pub(super) fn device_state(watched_for: Duration) -> DeviceState {
    let mut watching = Watching::begin(&TelemetryPaths::of_user(), LOOK_HZ);
    thread::sleep(watched_for);
    watching.fetch();
    let telemetry = &watching.telemetry;
    let cards = telemetry
        .tracks
        .iter()
        .filter(|track| track.device.kind.is_gpu());
    let busy = cards.filter_map(|track| {
        let busy = device_readings::newest_value(telemetry, track, Quantity::Busy)?;
        Some((track.device.short_name(), busy / 100.0))
    });
    let hot = telemetry
        .tracks
        .iter()
        .filter(|track| is_slowed_by_heat(track));
    DeviceState {
        cards: busy.collect(),
        hot: hot.map(|track| track.device.short_name()).collect(),
    }
}

/// Whether its driver says so, or it became too hot while it was watched.
fn is_slowed_by_heat(track: &DeviceTelemetry) -> bool {
    let heat = Throttle::Heat.bit() | Throttle::Hardware.bit();
    let last = track.readings(Quantity::Throttle).last();
    let is_told = last.is_some_and(|(_, bits)| bits as u32 & heat != 0);
    let mut counts = track.readings(Quantity::TooHot).map(|(_, count)| count);
    let first = counts.next();
    is_told
        || first
            .zip(counts.last())
            .is_some_and(|(first, last)| last > first)
}

/// A rate that devices can be read at.
pub(super) fn rate(hz: f64, argument: &str) -> anyhow::Result<f64> {
    if !RATES_HZ.contains(&hz) {
        let (low, high) = (RATES_HZ.start(), RATES_HZ.end());
        bail!("{argument} takes readings a second, from {low} to {high}, and not {hz}");
    }
    Ok(hz)
}

/// Devices that are read, and their latest readings.
struct Watching {
    sampler: Sampler,
    telemetry: Telemetry,
    began_ns: u64,
}

impl Watching {
    fn begin(places: &TelemetryPaths, rate_hz: f64) -> Self {
        let survey = survey::survey(places);
        let mut telemetry = Telemetry::default();
        telemetry.watch(0, rate_hz, survey.devices.clone(), survey.missing.clone());
        Self {
            sampler: Sampler::start(survey, rate_hz),
            telemetry,
            began_ns: clock::monotonic_ns(),
        }
    }

    /// Takes in readings, and gives them with other messages.
    fn fetch(&mut self) -> (Vec<DeviceReading>, Vec<String>) {
        let caught = self.sampler.fetch();
        let relative = |at_ns: u64| at_ns.saturating_sub(self.began_ns);
        let readings: Vec<DeviceReading> = caught
            .readings
            .into_iter()
            .map(|reading| DeviceReading {
                at_ns: relative(reading.at_ns),
                ..reading
            })
            .collect();
        self.telemetry.take(&readings);
        for (device, at_ns, why) in caught.lost {
            let at_ns = relative(at_ns);
            self.telemetry.lose(device, DeviceLoss { at_ns, why });
        }
        (readings, caught.warnings)
    }

    fn passed_ns(&self) -> u64 {
        clock::monotonic_ns().saturating_sub(self.began_ns)
    }

    /// Forgets all but the last moments: a watch of days needs no more.
    fn forget(&mut self) {
        for track in &mut self.telemetry.tracks {
            track.keep_last(KEPT);
        }
    }
}

/// Readings that are kept of each device while watching.
const KEPT: usize = 1_000;

fn watch(args: &DevicesArgs, places: &TelemetryPaths) -> anyhow::Result<ExitCode> {
    let rate_hz = rate(args.rate, "--rate")?;
    let cancel = super::signals::listen()?.token();
    let mut watching = Watching::begin(places, rate_hz);
    if watching.telemetry.tracks.is_empty() {
        let missing = &watching.telemetry.missing;
        bail!(
            "no device can be read:\n{}",
            terminal::write(&[report::machine::missing_sources(missing)])
        );
    }
    let end_ns = args
        .seconds
        .map_or(u64::MAX, |seconds| (seconds.max(0.0) * 1e9) as u64);
    let mut screen = (!args.json).then(Screen::begin);
    while !cancel.is_cancelled() && watching.passed_ns() < end_ns {
        let left_ns = end_ns.saturating_sub(watching.passed_ns());
        thread::sleep(PRINTED.min(Duration::from_nanos(left_ns)));
        let (readings, warnings) = watching.fetch();
        if let Some(screen) = screen.as_mut().filter(|_| !warnings.is_empty()) {
            screen.leave();
        }
        for warning in warnings {
            output::note(&warning);
        }
        match &mut screen {
            Some(screen) => screen.show(&watching.telemetry, watching.passed_ns())?,
            None => print_lines(&watching.telemetry, &readings)?,
        }
        watching.forget();
    }
    Ok(ExitCode::SUCCESS)
}

/// One document a reading.
fn print_lines(telemetry: &Telemetry, readings: &[DeviceReading]) -> anyhow::Result<()> {
    for reading in readings {
        let Some(track) = telemetry.tracks.get(reading.device) else {
            continue;
        };
        let values: Map<String, Value> = reading
            .values
            .iter()
            .map(|(quantity, value)| (quantity.full_key(), Value::from(*value)))
            .collect();
        let line = json!({
            "at_s": reading.at_ns as f64 / 1e9,
            "device": track.device.id,
            "values": values,
        });
        output::answer(&line.to_string())?;
    }
    Ok(())
}

/// Lines that are written over on a terminal, and one below the other elsewhere.
struct Screen {
    is_terminal: bool,
    /// Lines that were written last.
    lines: usize,
    has_head: bool,
}

impl Screen {
    fn begin() -> Self {
        Self {
            is_terminal: io::stdout().is_terminal(),
            lines: 0,
            has_head: false,
        }
    }

    /// Lets what stands there stand, and begins below it.
    fn leave(&mut self) {
        self.lines = 0;
    }

    fn show(&mut self, telemetry: &Telemetry, at_ns: u64) -> anyhow::Result<()> {
        if self.is_terminal && self.lines > 0 {
            output::go_back(self.lines)?;
        }
        let mut lines: Vec<String> = telemetry
            .tracks
            .iter()
            .map(|track| line(telemetry, track, at_ns))
            .collect();
        if self.is_terminal || !self.has_head {
            lines.insert(0, line_head());
        }
        self.has_head = true;
        self.lines = lines.len();
        output::answer(&lines.join("\n"))?;
        io::stdout().flush()?;
        Ok(())
    }
}

/// The columns of a device during a watch.
const COLUMNS: [(Quantity, usize); 7] = [
    (Quantity::Busy, 7),
    (Quantity::Power, 9),
    (Quantity::Clock, 10),
    (Quantity::Temperature, 7),
    (Quantity::HotSpot, 9),
    (Quantity::MemoryUsed, 11),
    (Quantity::Throttle, 16),
];

/// The head of the lines that [`line()`] makes.
fn line_head() -> String {
    let columns = COLUMNS.iter().map(|(quantity, width)| {
        let title = match quantity {
            Quantity::Temperature => "Temp.",
            quantity => quantity.title(),
        };
        format!("{title:>width$}")
    });
    format!(
        "{:>8}  {:<16}{}",
        "Time",
        "Device",
        columns.collect::<String>()
    )
}

/// One device in one line.
fn line(telemetry: &Telemetry, track: &DeviceTelemetry, at_ns: u64) -> String {
    let seconds = at_ns as f64 / 1e9;
    let name = humanize::shorten(&track.device.short_name(), 15);
    if let Some(lost) = &track.lost {
        return format!("{seconds:>7.1}s  {name:<16} lost: {}", lost.why);
    }
    let values = COLUMNS.iter().map(|(quantity, width)| {
        let value = device_readings::newest_value(telemetry, track, *quantity);
        let words = value.map_or_else(
            || UNKNOWN.to_owned(),
            |v| device_readings::reading_text(*quantity, v),
        );
        format!("{words:>width$}")
    });
    format!("{seconds:>7.1}s  {name:<16}{}", values.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::telemetry::{DeviceKind, WatchedDevice};

    #[test]
    fn heat_is_told_by_the_driver_or_by_a_count_that_grows() {
        let is_hot = |quantity, values: [f64; 2]| {
            let mut telemetry = Telemetry::default();
            let device = WatchedDevice::new("test", DeviceKind::Nvidia, 0, "0", "A card");
            telemetry.watch(0, LOOK_HZ, vec![device], Vec::new());
            let readings = values
                .into_iter()
                .zip(1..)
                .map(|(value, at)| DeviceReading {
                    device: 0,
                    at_ns: at * 50_000_000,
                    values: vec![(quantity, value)],
                });
            telemetry.take(&readings.collect::<Vec<_>>());
            is_slowed_by_heat(&telemetry.tracks[0])
        };
        assert!(is_hot(Quantity::Throttle, [0.0, 2.0]));
        assert!(!is_hot(Quantity::Throttle, [2.0, 0.0]), "no more");
        assert!(!is_hot(Quantity::Throttle, [0.0, 1.0]), "power is no heat");
        assert!(is_hot(Quantity::TooHot, [7.0, 8.0]));
        assert!(!is_hot(Quantity::TooHot, [7.0, 7.0]), "hot before");
    }
}
