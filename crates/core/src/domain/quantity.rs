//! What can be read of a device, with its names and the values that can be believed.

use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// Something of a device that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Quantity {
    /// Share of the time in which it computed, in percent.
    Busy,
    /// The same of the busiest core, in percent.
    BusiestCore,
    /// Share of the time in which its memory was read or written, in percent.
    MemoryBusy,
    /// Memory that all processes together use, in bytes.
    MemoryUsed,
    /// Memory that the worker has now, in bytes.
    WorkerMemory,
    /// The most memory that the worker ever had, in bytes.
    WorkerPeak,
    /// Clock of what computes, in MHz.
    Clock,
    /// Clock of its memory, in MHz.
    MemoryClock,
    /// Power, in watts.
    Power,
    /// Energy since some moment in the past, by a counter in the hardware, in joules.
    Energy,
    /// Temperature, in degrees Celsius.
    Temperature,
    /// Temperature of the hottest spot, in degrees Celsius.
    HotSpot,
    /// Temperature of the memory, in degrees Celsius.
    MemoryTemperature,
    /// Voltage of what computes, in volts.
    Voltage,
    /// What came over the bus, in bytes per second.
    BusReceived,
    /// What went over the bus, in bytes per second.
    BusSent,
    /// Why it runs slower than it could, as a sum of [`Throttle`] bits; zero for no reason.
    Throttle,
    /// How often it became too hot so far.
    TooHot,
    /// Errors of memory that could not be corrected, so far.
    MemoryErrors,
    /// Processes other than the worker that compute on it.
    OtherProcesses,
    /// Processor time that a hypervisor gave to other machines, in percent of all.
    Stolen,
    /// How often a second the worker had to make way, though it wanted to go on.
    Switches,
    /// Share of the time in which one core computed, in percent.
    Core(u16),
}

impl Quantity {
    /// Every one but the single cores, in the order in which people look at them.
    pub const ALL: [Self; 22] = [
        Self::Busy,
        Self::BusiestCore,
        Self::MemoryBusy,
        Self::MemoryUsed,
        Self::WorkerMemory,
        Self::WorkerPeak,
        Self::Clock,
        Self::MemoryClock,
        Self::Power,
        Self::Energy,
        Self::Temperature,
        Self::HotSpot,
        Self::MemoryTemperature,
        Self::Voltage,
        Self::BusReceived,
        Self::BusSent,
        Self::Throttle,
        Self::TooHot,
        Self::MemoryErrors,
        Self::OtherProcesses,
        Self::Stolen,
        Self::Switches,
    ];

    /// The title on screens.
    pub fn title(self) -> &'static str {
        match self {
            Self::Busy => "Utilisation",
            Self::BusiestCore => "Busiest core",
            Self::MemoryBusy => "Memory utilisation",
            Self::MemoryUsed => "Memory",
            Self::WorkerMemory => "Worker's memory",
            Self::WorkerPeak => "Worker's peak memory",
            Self::Clock => "Clock",
            Self::MemoryClock => "Memory clock",
            Self::Power => "Power",
            Self::Energy => "Energy",
            Self::Temperature => "Temperature",
            Self::HotSpot => "Hot spot",
            Self::MemoryTemperature => "Memory temperature",
            Self::Voltage => "Voltage",
            Self::BusReceived => "Bus, in",
            Self::BusSent => "Bus, out",
            Self::Throttle => "Throttled by",
            Self::TooHot => "Times too hot",
            Self::MemoryErrors => "Memory errors",
            Self::OtherProcesses => "Other processes",
            Self::Stolen => "Stolen",
            Self::Switches => "Made way",
            Self::Core(_) => "Core",
        }
    }

    /// Its name in documents for machines.
    pub fn key(self) -> &'static str {
        match self {
            Self::Busy => "busy_percent",
            Self::BusiestCore => "busiest_core_percent",
            Self::MemoryBusy => "memory_busy_percent",
            Self::MemoryUsed => "memory_used_bytes",
            Self::WorkerMemory => "worker_memory_bytes",
            Self::WorkerPeak => "worker_peak_bytes",
            Self::Clock => "clock_mhz",
            Self::MemoryClock => "memory_clock_mhz",
            Self::Power => "power_w",
            Self::Energy => "energy_j",
            Self::Temperature => "temperature_c",
            Self::HotSpot => "hot_spot_c",
            Self::MemoryTemperature => "memory_temperature_c",
            Self::Voltage => "voltage_v",
            Self::BusReceived => "bus_received_bytes_per_s",
            Self::BusSent => "bus_sent_bytes_per_s",
            Self::Throttle => "throttle",
            Self::TooHot => "too_hot",
            Self::MemoryErrors => "memory_errors",
            Self::OtherProcesses => "other_processes",
            Self::Stolen => "stolen_percent",
            Self::Switches => "switches_per_s",
            Self::Core(_) => "core_percent",
        }
    }

    /// Its name in documents for machines, with the number of the core.
    pub fn full_key(self) -> String {
        match self {
            Self::Core(core) => format!("core_{core}_percent"),
            quantity => quantity.key().to_owned(),
        }
    }

    /// Values that can be believed. A value outside is left out, with a warning.
    pub fn plausible(self) -> RangeInclusive<f64> {
        match self {
            Self::Busy | Self::BusiestCore | Self::MemoryBusy | Self::Stolen | Self::Core(_) => {
                0.0..=100.0
            }
            // A petabyte.
            Self::MemoryUsed | Self::WorkerMemory | Self::WorkerPeak => 0.0..=1e15,
            Self::Clock | Self::MemoryClock => 0.0..=20_000.0,
            Self::Power => 0.0..=5_000.0,
            Self::Temperature | Self::HotSpot | Self::MemoryTemperature => -50.0..=150.0,
            Self::Voltage => 0.0..=20.0,
            Self::BusReceived | Self::BusSent => 0.0..=1e13,
            Self::Throttle => 0.0..=255.0,
            Self::Energy
            | Self::TooHot
            | Self::MemoryErrors
            | Self::OtherProcesses
            | Self::Switches => 0.0..=1e18,
        }
    }

    /// Whether it only ever grows, so that a mean of it says nothing.
    pub fn is_counter(self) -> bool {
        matches!(self, Self::Energy | Self::TooHot | Self::MemoryErrors)
    }
}

/// Why a device runs slower than it could. The bits of [`Quantity::Throttle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Throttle {
    /// It draws as much power as it may.
    Power = 1,
    /// It is as hot as it may be, and its software slows it down.
    Heat = 2,
    /// It is too hot or draws too much, and its hardware slows it down.
    Hardware = 4,
    /// The power supply asks it to slow down.
    PowerBrake = 8,
    /// It waits for other devices that run in step with it.
    Sync = 16,
    /// It says that it is slowed down and not why.
    Unnamed = 32,
}

impl Throttle {
    /// Every reason.
    pub const ALL: [Self; 6] = [
        Self::Power,
        Self::Heat,
        Self::Hardware,
        Self::PowerBrake,
        Self::Sync,
        Self::Unnamed,
    ];

    /// The bit of this reason in a reading.
    pub fn bit(self) -> u32 {
        self as u32
    }

    /// The reasons in a reading.
    pub fn reasons_in(value: f64) -> impl Iterator<Item = Self> {
        let bits = value as u32;
        Self::ALL
            .into_iter()
            .filter(move |reason| bits & reason.bit() != 0)
    }
}

impl fmt::Display for Throttle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Power => "power limit",
            Self::Heat => "heat",
            Self::Hardware => "hardware slowdown",
            Self::PowerBrake => "power brake",
            Self::Sync => "synchronous boost",
            Self::Unnamed => "the driver, for a reason that it does not name",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut keys: Vec<&str> = Quantity::ALL.iter().map(|q| q.key()).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), Quantity::ALL.len());
        let reasons: Vec<Throttle> = Throttle::reasons_in(9.0).collect();
        assert_eq!(reasons, [Throttle::Power, Throttle::PowerBrake]);
    }
}
