//! A machine and its devices, as `devices` prints them.

use super::document::{Block, ReportText};
use crate::analysis::device_readings::{newest_value, reading_text};
use powerband_core::base::humanize;
use powerband_core::domain::device::Cpu;
use powerband_core::domain::environment::Environment;
use powerband_core::domain::telemetry::{
    DeviceTelemetry, MissingSource, Quantity, Telemetry, WatchedDevice,
};

type Facts = Vec<(String, ReportText)>;

/// The machine, then each device with its readings and the settings that limit its speed, then what is not available.
pub fn sections(environment: &Environment, telemetry: &Telemetry) -> Vec<Vec<Block>> {
    let load = environment.load_before;
    let load = load.map_or_else(|| "unknown".to_owned(), |load| format!("{load:.2}"));
    let memory = &environment.memory;
    let memory = [memory.total_bytes, memory.available_bytes].map(humanize::bytes);
    let system = format!("{}, kernel {}", environment.os, environment.kernel);
    let mut machine = processor(&environment.cpu);
    machine.extend([
        fact("Memory", format!("{}, {} available", memory[0], memory[1])),
        fact("System", system),
        fact("Load avg", format!("{load} over the last minute")),
    ]);
    let devices = telemetry.tracks.iter();
    let devices = devices.map(|track| device(telemetry, track));
    let machine = vec![Block::Facts(machine)];
    let missing = vec![missing_sources(&telemetry.missing)];
    [machine]
        .into_iter()
        .chain(devices)
        .chain([missing])
        .collect()
}

/// The processor.
pub fn processor(cpu: &Cpu) -> Facts {
    let or_unknown = |text: Option<String>| text.unwrap_or_else(|| "not known".to_owned());
    let cores = cpu.cores.map(|cores| format!("{cores} cores, "));
    let cores = cores.unwrap_or_default();
    let boost = cpu.boost.map(|on| if on { "on" } else { "off" }.to_owned());
    let clock = cpu
        .max_mhz
        .map(|mhz| format!("up to {} MHz", humanize::significant(mhz, 4)));
    let features = if cpu.features.is_empty() {
        "none that matter here".to_owned()
    } else {
        cpu.features.join(", ")
    };
    let clock = format!(
        "{}, governor {}, boost {}",
        or_unknown(clock),
        or_unknown(cpu.governor.clone()),
        or_unknown(boost)
    );
    vec![
        fact(
            "Processor",
            format!("{}, {cores}{} threads", cpu.model, cpu.threads),
        ),
        fact("Vectors", features),
        fact("Clock", clock),
    ]
}

fn fact(name: &str, text: impl Into<ReportText>) -> (String, ReportText) {
    (name.to_owned(), text.into())
}

fn device(telemetry: &Telemetry, track: &DeviceTelemetry) -> Vec<Block> {
    let about = &track.device;
    let title = match about.short_name() {
        short if short == about.name => short,
        short => format!("{short}, {}", about.name),
    };
    let address = format!("{}, read by {}", about.id, about.source);
    let mut facts = vec![fact("Address", address)];
    facts.extend(constants(about));
    for setting in &about.settings {
        facts.push(fact(&setting.name, &setting.value));
        let command = setting.command.as_ref();
        facts.extend(command.map(|command| fact("", format!("to change it: {command}"))));
    }
    // Totals of counters say nothing by themselves.
    let quantities = Quantity::ALL.into_iter();
    let quantities = quantities.filter(|quantity| *quantity != Quantity::Energy);
    let readings = quantities.filter_map(|quantity| {
        let value = newest_value(telemetry, track, quantity)?;
        let title = quantity.title().to_lowercase();
        Some(format!("{title} {}", reading_text(quantity, value)))
    });
    let readings: Vec<String> = readings.collect();
    let now = match &track.lost {
        Some(lost) => format!("does not respond: {}", lost.why),
        None if readings.is_empty() => "no readings".to_owned(),
        None => readings.join(", "),
    };
    facts.push(fact("Now", now));
    vec![Block::Heading(3, title), Block::Facts(facts)]
}

/// What of a card does not change, and the driver of any device.
fn constants(device: &WatchedDevice) -> impl Iterator<Item = (String, ReportText)> {
    let is_gpu = device.kind.is_gpu();
    let clock = |mhz: f64| format!("up to {}", reading_text(Quantity::Clock, mhz));
    let facts = [
        (
            "Memory",
            device.memory_bytes.map(humanize::bytes).filter(|_| is_gpu),
        ),
        ("Clock", device.max_clock_mhz.map(clock).filter(|_| is_gpu)),
        (
            "Memory clock",
            device.max_memory_clock_mhz.map(clock).filter(|_| is_gpu),
        ),
        ("Driver", device.driver.clone()),
    ];
    facts
        .into_iter()
        .filter_map(|(name, text)| Some(fact(name, text?)))
}

/// Sources that are not available, why, and what helps.
pub fn missing_sources(missing: &[MissingSource]) -> Block {
    let facts = missing.iter().flat_map(|missing| {
        let why = fact(&missing.source, format!("not available: {}", missing.why));
        let remedy = Some(&missing.remedy).filter(|remedy| !remedy.is_empty());
        let remedy = remedy.map(|remedy| fact("", format!("what helps: {remedy}")));
        [why].into_iter().chain(remedy)
    });
    Block::Facts(facts.collect())
}
