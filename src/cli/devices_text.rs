//! A machine and its devices, as text and as documents.

use serde_json::{Map, Value};

use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::device::Cpu;
use powerband_core::domain::telemetry::{
    DeviceTelemetry, MissingSource, Quantity, Telemetry, WatchedDevice,
};
use powerband_findings::analysis::device_readings;
use powerband_findings::export::json;

/// The processor in lines of a name and a value.
pub(super) fn processor(cpu: &Cpu) -> String {
    let or_unknown = |text: Option<String>| text.unwrap_or_else(|| "not known".to_owned());
    let cores = cpu
        .cores
        .map(|cores| format!("{cores} cores, "))
        .unwrap_or_default();
    let boost = cpu.boost.map(|on| if on { "on" } else { "off" }.to_owned());
    let clock = cpu
        .max_mhz
        .map(|mhz| format!("up to {} MHz", humanize::significant(mhz, 4)));
    let features = if cpu.features.is_empty() {
        "none that matter here".to_owned()
    } else {
        cpu.features.join(", ")
    };
    format!(
        "Processor  {}, {cores}{} threads\nVectors    {features}\nClock      {}, governor {}, boost {}\n",
        cpu.model,
        cpu.threads,
        or_unknown(clock),
        or_unknown(cpu.governor.clone()),
        or_unknown(boost),
    )
}

/// Every device: what it is, its readings, and the settings that limit its speed.
pub(super) fn devices(telemetry: &Telemetry) -> String {
    let devices: Vec<String> = telemetry
        .tracks
        .iter()
        .map(|t| device(telemetry, t))
        .collect();
    devices.join("\n")
}

fn device(telemetry: &Telemetry, track: &DeviceTelemetry) -> String {
    let about = &track.device;
    let mut text = format!("{}\n", title(about));
    let mut line = |name: &str, value: &str| text.push_str(&format!("  {name:<22} {value}\n"));
    line(
        "Address",
        &format!("{}, read by {}", about.id, about.source),
    );
    for (name, value) in constants(about) {
        line(name, &value);
    }
    for setting in &about.settings {
        line(&setting.name, &setting.value);
        if let Some(command) = &setting.command {
            line("", &format!("to change it: {command}"));
        }
    }
    let values: Vec<String> = newest(telemetry, track)
        .iter()
        .map(|(quantity, value)| {
            let title = quantity.title().to_lowercase();
            format!(
                "{title} {}",
                device_readings::reading_text(*quantity, *value)
            )
        })
        .collect();
    let now = match &track.lost {
        Some(lost) => format!("does not respond: {}", lost.why),
        None if values.is_empty() => "no readings".to_owned(),
        None => values.join(", "),
    };
    line("Now", &now);
    text
}

fn title(device: &WatchedDevice) -> String {
    let short = device.short_name();
    if short == device.name {
        short
    } else {
        format!("{short}, {}", device.name)
    }
}

fn constants(device: &WatchedDevice) -> Vec<(&'static str, String)> {
    let mhz = |mhz: f64| {
        format!(
            "up to {}",
            device_readings::reading_text(Quantity::Clock, mhz)
        )
    };
    let mut constants = Vec::new();
    if device.kind.is_gpu() {
        constants.extend(
            device
                .memory_bytes
                .map(|bytes| ("Memory", humanize::bytes(bytes))),
        );
        constants.extend(device.max_clock_mhz.map(|clock| ("Clock", mhz(clock))));
        constants.extend(
            device
                .max_memory_clock_mhz
                .map(|clock| ("Memory clock", mhz(clock))),
        );
    }
    constants.extend(device.driver.clone().map(|driver| ("Driver", driver)));
    constants
}

/// What was read last, single cores and totals of counters left out.
fn newest(telemetry: &Telemetry, track: &DeviceTelemetry) -> Vec<(Quantity, f64)> {
    let is_told = |quantity: &Quantity| *quantity != Quantity::Energy;
    Quantity::ALL
        .into_iter()
        .filter(is_told)
        .filter_map(|quantity| {
            Some((
                quantity,
                device_readings::newest_value(telemetry, track, quantity)?,
            ))
        })
        .collect()
}

/// Sources that are not available, why, and what helps.
pub(super) fn missing(missing: &[MissingSource]) -> String {
    let lines: Vec<String> = missing
        .iter()
        .map(|missing| {
            let remedy = match missing.remedy.as_str() {
                "" => String::new(),
                remedy => format!("\n{:<12} what helps: {remedy}", ""),
            };
            format!(
                "{:<12} not available: {}{remedy}\n",
                missing.source, missing.why
            )
        })
        .collect();
    lines.concat()
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
pub(crate) fn line_head() -> String {
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
pub(super) fn line(telemetry: &Telemetry, track: &DeviceTelemetry, at_ns: u64) -> String {
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

/// The devices as a document.
pub(super) fn document(telemetry: &Telemetry) -> Value {
    let devices = telemetry.tracks.iter().map(|track| {
        let mut device = json::device(&track.device);
        device["now"] = values(telemetry, track);
        device["lost"] = track.lost.as_ref().map(json::lost).into();
        device
    });
    devices.collect()
}

fn values(telemetry: &Telemetry, track: &DeviceTelemetry) -> Value {
    let read = Quantity::ALL.into_iter().filter_map(|quantity| {
        let value = device_readings::newest_value(telemetry, track, quantity)?;
        Some((quantity.key().to_owned(), Value::from(value)))
    });
    let mut values: Map<String, Value> = read.collect();
    let cores: Vec<f64> = (0..)
        .map_while(|core| device_readings::newest_value(telemetry, track, Quantity::Core(core)))
        .collect();
    if !cores.is_empty() {
        values.insert("cores_percent".to_owned(), Value::from(cores));
    }
    Value::Object(values)
}
