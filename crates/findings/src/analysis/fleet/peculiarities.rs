//! What one machine of a fleet has that no other has: conditions, readings and flags.

use serde::Serialize;

use super::runs::FleetRun;
use crate::analysis::conditions;
use crate::analysis::device_readings::{self, ReadingRange};
use powerband_core::domain::telemetry::Quantity;

/// Readings: what they are called, and how far one has to be from those of all other machines, as a share of them
/// and in their unit.
const READINGS: [(Quantity, &str, f64, f64); 3] = [
    (Quantity::Clock, "Mean clock", 0.05, 0.0),
    (Quantity::Temperature, "Highest temperature", 0.0, 5.0),
    (Quantity::Power, "Mean power", 0.1, 0.0),
];
/// A condition or a reading that differs from those of all other machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Peculiarity {
    /// Which: `Governor`.
    pub what: &'static str,
    /// What it is on this machine.
    pub here: String,
    /// What it is on the others, each value once.
    pub others: String,
}

impl Peculiarity {
    /// In words: `Governor: powersave (others: performance)`.
    pub fn full_text(&self) -> String {
        let Self { what, here, others } = self;
        format!("{what}: {here} (others: {others})")
    }
}

/// What one machine has that no other has.
pub(super) fn peculiarities(group: &[&FleetRun<'_>], place: usize) -> Vec<Peculiarity> {
    let own = conditions_of(group[place]);
    let others: Vec<Vec<_>> = others(group, place).map(conditions_of).collect();
    let mut found = Vec::new();
    for (what, value) in own {
        let Some(here) = value.filter(|value| !value.is_empty()) else {
            continue;
        };
        let mut there: Vec<String> = Vec::new();
        for list in &others {
            let same = list.iter().find(|(other, _)| *other == what);
            let value = same.and_then(|(_, value)| value.clone());
            there.extend(value.filter(|value| !value.is_empty() && !there.contains(value)));
        }
        if !there.is_empty() && !there.contains(&here) {
            found.push(Peculiarity {
                what,
                here,
                others: there.join("; "),
            });
        }
    }
    for (quantity, what, share, distance) in READINGS {
        found.extend(
            peculiar_reading(group, place, quantity, |low, high, own| {
                own < low * (1.0 - share) - distance || own > high * (1.0 + share) + distance
            })
            .map(|(here, others)| Peculiarity { what, here, others }),
        );
    }
    let has = |name: &str| others_have_flag(group, place, name);
    let flags = group[place].row.flags.iter().map(|flag| flag.name);
    let flags: Vec<&str> = flags.filter(|name| !has(name)).collect();
    if !flags.is_empty() {
        found.push(Peculiarity {
            what: "Flags",
            here: flags.join(", "),
            others: "none of these".to_owned(),
        });
    }
    found
}

fn others<'a, 'b>(
    group: &'b [&'a FleetRun<'a>],
    place: usize,
) -> impl Iterator<Item = &'a FleetRun<'a>> + 'b {
    let places = group.iter().enumerate();
    places
        .filter(move |(other, _)| *other != place)
        .map(|(_, run)| *run)
}

fn others_have_flag(group: &[&FleetRun<'_>], place: usize, name: &str) -> bool {
    others(group, place).any(|run| run.row.flags.iter().any(|flag| flag.name == name))
}

/// What is recorded of a run's machine and engine. The load average is another at every moment, and is left out.
fn conditions_of(run: &FleetRun<'_>) -> conditions::Conditions {
    if !run.is_reached {
        return Vec::new();
    }
    let setup = run.row.setup;
    let mut list = conditions::machine_conditions((run.session, setup));
    list.retain(|(what, _)| *what != "Load average at the start");
    let report = run.session.reports.get(setup).and_then(Option::as_ref);
    let threads = report.and_then(|report| report.threads);
    let program = &run.session.environment_of(setup).program;
    list.push(("Engine", report.map(|report| report.engine.clone())));
    list.push(("Threads", threads.map(|threads| threads.to_string())));
    list.push(("Powerband", Some(program.clone())));
    list
}

/// A reading of the device that computed where it is apart from those of all other machines, with those.
fn peculiar_reading(
    group: &[&FleetRun<'_>],
    place: usize,
    quantity: Quantity,
    is_apart: impl Fn(f64, f64, f64) -> bool,
) -> Option<(String, String)> {
    let own = reading(group[place], quantity)?;
    let all: Vec<f64> = others(group, place)
        .filter_map(|run| reading(run, quantity))
        .collect();
    let low = all.iter().copied().reduce(f64::min)?;
    let high = all.iter().copied().reduce(f64::max)?;
    let words = |value| device_readings::reading_text(quantity, value);
    let range = if all.len() == 1 {
        words(low)
    } else {
        format!("{} to {}", words(low), words(high))
    };
    is_apart(low, high, own).then(|| (words(own), range))
}

/// What was read of the device that computed: the highest temperature, the mean of anything else.
fn reading(run: &FleetRun<'_>, quantity: Quantity) -> Option<f64> {
    let devices = device_readings::devices_of_setup(run.session, run.row.setup);
    let watched = run.row.device_readings.iter();
    let value = |extent: ReadingRange| match quantity {
        Quantity::Temperature => extent.max,
        _ => extent.mean,
    };
    watched
        .filter(|device| devices.contains(&device.device))
        .find_map(|device| device.extent(quantity).map(value))
}
