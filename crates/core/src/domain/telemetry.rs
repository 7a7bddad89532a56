//! What the machine's devices said of themselves while a run went on.
//!
//! A reading that could not be had is a gap: there is no number for it, never a zero.

use serde::{Deserialize, Serialize};

pub use super::quantity::{Quantity, Throttle};
use crate::base::humanize;

/// What kind of device is watched; together with its number, what a setup's device means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DeviceKind {
    /// The machine as a whole: its processors and its main memory.
    Host,
    /// The energy meter of one processor package.
    Package,
    /// An NVIDIA graphics processor.
    Nvidia,
    /// An AMD graphics processor.
    Amd,
}

impl DeviceKind {
    /// Its name in documents for machines.
    pub fn key(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Package => "package",
            Self::Nvidia => "nvidia",
            Self::Amd => "amd",
        }
    }

    /// Whether it is a card with memory of its own.
    pub fn is_gpu(self) -> bool {
        matches!(self, Self::Nvidia | Self::Amd)
    }
}

/// A setting of a device that decides what can be measured, and how the user could change it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// What it is: `Power limit`.
    pub name: String,
    /// What it is now: `300 W of at most 350 W`.
    pub value: String,
    /// The command that would set it; Powerband never runs it.
    pub command: Option<String>,
}

/// Characters of a machine's name beside that of a device.
const MACHINE_NAME: usize = 20;

/// The source of what is played back.
pub const PLAYED_BACK: &str = "replay";

/// A device that is watched, with what of it does not change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchedDevice {
    /// The source that reads it: `nvml`, `rocm-smi`, `amdgpu`, `host`, `rapl`, `replay`.
    pub source: String,
    /// Its address, the same at every start: `0000:43:00.0` for a card.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What it is.
    pub kind: DeviceKind,
    /// Its number among those of its kind, from 0: what `cuda:0` means.
    pub number: usize,
    /// All of its memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// The highest clock of what computes, in MHz.
    pub max_clock_mhz: Option<f64>,
    /// The highest clock of its memory, in MHz.
    pub max_memory_clock_mhz: Option<f64>,
    /// The most power that it may draw, in watts.
    pub power_limit_w: Option<f64>,
    /// The driver's version.
    pub driver: Option<String>,
    /// What decides over its speed, and the commands that would change it.
    pub settings: Vec<Setting>,
    /// The machine that it is of, as the session calls it; nothing for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

impl WatchedDevice {
    /// A device of which only the address is known.
    pub fn new(source: &str, kind: DeviceKind, number: usize, id: &str, name: &str) -> Self {
        Self {
            source: source.to_owned(),
            id: id.to_owned(),
            name: name.to_owned(),
            kind,
            number,
            memory_bytes: None,
            max_clock_mhz: None,
            max_memory_clock_mhz: None,
            power_limit_w: None,
            driver: None,
            settings: Vec::new(),
            machine: None,
        }
    }

    /// Whether both are the same device of the same machine.
    fn is(&self, other: &Self) -> bool {
        self.id == other.id && self.machine == other.machine
    }

    /// Whether what it says was said in another run.
    pub fn is_played_back(&self) -> bool {
        self.source == PLAYED_BACK
    }

    /// Whether it may report the power that it draws.
    pub fn may_report_power(&self) -> bool {
        self.kind != DeviceKind::Host
    }

    /// How it is called in a list of several: `GPU 0`, `Host`, `GPU 0 on rack`.
    pub fn short_name(&self) -> String {
        let name = match self.kind {
            DeviceKind::Host => "Host".to_owned(),
            DeviceKind::Package => self.name.clone(),
            DeviceKind::Nvidia | DeviceKind::Amd => format!("GPU {}", self.number),
        };
        self.with_machine(&name)
    }

    /// A name of it, with that of its machine where that is another one.
    pub fn with_machine(&self, name: &str) -> String {
        match &self.machine {
            Some(machine) => {
                let machine = humanize::shorten(machine, MACHINE_NAME);
                format!("{name} on {machine}")
            }
            None => name.to_owned(),
        }
    }
}

/// A source that is not available here, why, and what would help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingSource {
    /// Which source.
    pub source: String,
    /// Why it is not available.
    pub why: String,
    /// What to install or to do.
    pub remedy: String,
}

impl MissingSource {
    /// Which source, why it is not available, and what helps.
    pub fn sentence(&self) -> String {
        let Self {
            source,
            why,
            remedy,
        } = self;
        if remedy.is_empty() {
            format!("{source}: {why}.")
        } else {
            format!("{source}: {why}. What helps: {remedy}.")
        }
    }
}

/// Values of one device at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceReading {
    /// Which device, by its place in the session's list.
    pub device: usize,
    /// When, in nanoseconds since the run began.
    pub at_ns: u64,
    /// What could be read.
    pub values: Vec<(Quantity, f64)>,
}

/// One quantity of one device over the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    /// What was read.
    pub quantity: Quantity,
    /// One value for each of the device's times; nothing where it could not be read.
    #[serde(with = "crate::base::serde_optional_f64_list")]
    pub values: Vec<Option<f64>>,
}

/// When and why a device stopped answering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceLoss {
    /// When, in nanoseconds since the run began.
    pub at_ns: u64,
    /// What was seen.
    pub why: String,
}

/// All readings of one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceTelemetry {
    /// The device.
    pub device: WatchedDevice,
    /// When it was read, in nanoseconds since the run began.
    #[serde(with = "crate::base::serde_u64_list")]
    pub times_ns: Vec<u64>,
    /// What was read.
    pub channels: Vec<Channel>,
    /// Where it stopped to answer before the end.
    pub lost: Option<DeviceLoss>,
    /// Losses in earlier runs of the session.
    #[serde(default)]
    pub lost_before: Vec<DeviceLoss>,
}

impl DeviceTelemetry {
    /// A device that has said nothing yet.
    pub fn new(device: WatchedDevice) -> Self {
        Self {
            device,
            times_ns: Vec::new(),
            channels: Vec::new(),
            lost: None,
            lost_before: Vec::new(),
        }
    }

    /// The values of a quantity, in the order of the times; empty where it was never read.
    pub fn values(&self, quantity: Quantity) -> &[Option<f64>] {
        let channel = self.channels.iter().find(|c| c.quantity == quantity);
        channel.map_or(&[], |channel| &channel.values)
    }

    /// A quantity's readings with their times, gaps left out.
    pub fn readings(&self, quantity: Quantity) -> impl Iterator<Item = (u64, f64)> + '_ {
        let times = self.times_ns.iter().copied();
        let pairs = times.zip(self.values(quantity));
        pairs.filter_map(|(at_ns, value)| Some((at_ns, (*value)?)))
    }

    /// Every time that it stopped to answer.
    pub fn losses(&self) -> impl Iterator<Item = &DeviceLoss> {
        self.lost_before.iter().chain(&self.lost)
    }

    /// Whether a quantity was read at least once.
    pub fn has_quantity(&self, quantity: Quantity) -> bool {
        self.channels.iter().any(|c| c.quantity == quantity)
    }

    /// Forgets all but the last so many readings.
    pub fn keep_last(&mut self, count: usize) {
        let surplus = self.times_ns.len().saturating_sub(count);
        self.times_ns.drain(..surplus);
        for channel in &mut self.channels {
            channel.values.drain(..surplus);
        }
    }

    fn push(&mut self, at_ns: u64, values: &[(Quantity, f64)]) {
        let before = self.times_ns.len();
        self.times_ns.push(at_ns);
        for (quantity, value) in values {
            let known = self.channels.iter_mut().find(|c| c.quantity == *quantity);
            if let Some(channel) = known {
                channel.values.resize(before, None);
                channel.values.push(Some(*value));
            } else {
                let mut values = vec![None; before];
                values.push(Some(*value));
                self.channels.push(Channel {
                    quantity: *quantity,
                    values,
                });
                self.channels.sort_by_key(|channel| channel.quantity);
            }
        }
        for channel in &mut self.channels {
            channel.values.resize(before + 1, None);
        }
    }
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeSpan {
    /// Its beginning, in nanoseconds since the run began.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
}

impl TimeSpan {
    /// How long it is, in nanoseconds.
    pub fn length_ns(self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }

    /// Whether a moment is within it.
    pub fn contains(self, at_ns: u64) -> bool {
        (self.from_ns..=self.to_ns).contains(&at_ns)
    }
}

/// Sampling rate from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamplingRate {
    /// Since when, in nanoseconds since the run began.
    pub from_ns: u64,
    /// Readings a second.
    pub rate_hz: f64,
}

/// What all devices said during a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Telemetry {
    /// How often they were asked, in readings a second; zero where they were not read.
    pub rate_hz: f64,
    /// The same for each sitting: readings of two sittings have nothing to do with each other.
    #[serde(default)]
    pub asked: Vec<SamplingRate>,
    /// The devices, with what they said.
    pub tracks: Vec<DeviceTelemetry>,
    /// Sources that were not available.
    pub missing: Vec<MissingSource>,
    /// When nothing was running yet, so that power was that of an idle machine.
    pub idle: Vec<TimeSpan>,
}

impl Telemetry {
    /// Begins to watch, or goes on in a later sitting: devices that were there before keep their place.
    pub fn watch(
        &mut self,
        from_ns: u64,
        rate_hz: f64,
        devices: Vec<WatchedDevice>,
        missing: Vec<MissingSource>,
    ) {
        self.asked.retain(|asked| asked.from_ns < from_ns);
        self.asked.push(SamplingRate { from_ns, rate_hz });
        self.rate_hz = rate_hz;
        self.missing = missing;
        for device in devices {
            if let Some(track) = self.tracks.iter_mut().find(|t| t.device.is(&device)) {
                track.device = device;
                track.lost_before.extend(track.lost.take());
            } else {
                self.tracks.push(DeviceTelemetry::new(device));
            }
        }
    }

    /// The place of a device in the list.
    pub fn place(&self, device: &WatchedDevice) -> Option<usize> {
        self.tracks.iter().position(|track| track.device.is(device))
    }

    /// Takes readings in. Those of a device that is not in the list are ignored.
    pub fn take(&mut self, readings: &[DeviceReading]) {
        for reading in readings {
            if let Some(track) = self.tracks.get_mut(reading.device) {
                track.push(reading.at_ns, &reading.values);
            }
        }
    }

    /// A device stopped to answer.
    pub fn lose(&mut self, device: usize, lost: DeviceLoss) {
        if let Some(track) = self.tracks.get_mut(device) {
            track.lost = Some(lost);
        }
    }

    /// How often devices were asked at a moment.
    pub fn rate_at(&self, at_ns: u64) -> f64 {
        let sitting = self.asked.iter().rfind(|asked| asked.from_ns <= at_ns);
        sitting.map_or(self.rate_hz, |asked| asked.rate_hz)
    }

    /// The sitting that a moment belongs to.
    pub fn sitting_at(&self, at_ns: u64) -> TimeSpan {
        let next = self.asked.partition_point(|asked| asked.from_ns <= at_ns);
        let begin = next.checked_sub(1).and_then(|index| self.asked.get(index));
        TimeSpan {
            from_ns: begin.map_or(0, |asked| asked.from_ns),
            to_ns: self
                .asked
                .get(next)
                .map_or(u64::MAX, |asked| asked.from_ns.saturating_sub(1)),
        }
    }

    /// Longest time between two readings near a moment that is no gap, in nanoseconds.
    pub fn longest_step_ns(&self, at_ns: u64) -> u64 {
        let rate_hz = self.rate_at(at_ns);
        if rate_hz <= 0.0 {
            return 0;
        }
        // Three readings in a row may come late on a machine that is busy.
        (4e9 / rate_hz).max(500e6) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> WatchedDevice {
        WatchedDevice::new("host", DeviceKind::Host, 0, "host", "This machine")
    }

    fn reading(at_ns: u64, values: &[(Quantity, f64)]) -> DeviceReading {
        DeviceReading {
            device: 0,
            at_ns,
            values: values.to_vec(),
        }
    }

    #[test]
    fn what_was_not_read_is_a_gap() {
        let mut telemetry = Telemetry::default();
        telemetry.watch(0, 10.0, vec![host()], Vec::new());
        telemetry.take(&[
            reading(1, &[(Quantity::Busy, 50.0)]),
            reading(2, &[(Quantity::Power, 9.0)]),
            reading(3, &[(Quantity::Busy, 0.0), (Quantity::Power, 8.5)]),
            reading(4, &[]),
            DeviceReading {
                device: 7,
                at_ns: 5,
                values: Vec::new(),
            },
        ]);
        let track = &telemetry.tracks[0];
        assert_eq!(track.times_ns, [1, 2, 3, 4]);
        assert_eq!(
            track.values(Quantity::Busy),
            [Some(50.0), None, Some(0.0), None]
        );
        assert_eq!(
            track.values(Quantity::Power),
            [None, Some(9.0), Some(8.5), None]
        );
        assert!(track.values(Quantity::Clock).is_empty());
        let busy: Vec<(u64, f64)> = track.readings(Quantity::Busy).collect();
        assert_eq!(busy, [(1, 50.0), (3, 0.0)]);
    }

    #[test]
    fn devices_of_two_machines_with_one_address_are_two() {
        let there = WatchedDevice {
            machine: Some("rack".to_owned()),
            ..host()
        };
        let mut telemetry = Telemetry::default();
        telemetry.watch(0, 10.0, vec![host(), there.clone()], Vec::new());
        assert_eq!(telemetry.place(&host()), Some(0));
        assert_eq!(telemetry.place(&there), Some(1));
        assert_eq!(there.short_name(), "Host on rack");
    }

    #[test]
    fn a_later_sitting_goes_on_in_the_same_track() {
        let mut telemetry = Telemetry::default();
        telemetry.watch(0, 10.0, vec![host()], Vec::new());
        telemetry.take(&[reading(1, &[(Quantity::Busy, 1.0)])]);
        telemetry.lose(
            0,
            DeviceLoss {
                at_ns: 2,
                why: "gone".to_owned(),
            },
        );
        let card = WatchedDevice::new("nvml", DeviceKind::Nvidia, 0, "0000:01:00.0", "Card");
        telemetry.watch(9, 20.0, vec![card.clone(), host()], Vec::new());
        assert_eq!(telemetry.place(&host()), Some(0));
        assert_eq!(telemetry.place(&card), Some(1));
        assert_eq!(telemetry.tracks[0].times_ns, [1]);
        assert_eq!(telemetry.tracks[0].lost, None);
        assert_eq!(
            telemetry.tracks[0].losses().count(),
            1,
            "nothing is forgotten"
        );
        assert_eq!((telemetry.rate_at(5), telemetry.rate_at(9)), (10.0, 20.0));
        let first = TimeSpan {
            from_ns: 0,
            to_ns: 8,
        };
        assert_eq!(telemetry.sitting_at(8), first);
        assert_eq!(telemetry.sitting_at(9).to_ns, u64::MAX);
    }
}
