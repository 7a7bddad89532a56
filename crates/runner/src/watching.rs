//! The samplers' part of a run, of this machine's devices and of those of other machines: what they caught, as events
//! in the run's own time.

use std::time::Duration;

use powerband_core::base::cancel::CancelToken;
use powerband_core::base::clock;
use powerband_core::domain::event::RunEvent;
use powerband_core::domain::telemetry::{
    DeviceLoss, DeviceReading, MissingSource, Telemetry, TimeSpan, WatchedDevice,
};
use powerband_devices::sampler::{SampledReadings, Sampler};
use powerband_devices::survey;
use powerband_store::installation::WatchRequest;
use powerband_worker::remote::sampling::RemoteSampler;

/// How often readings are handed on. The reader of the events has other work in between.
const HANDED_ON: Duration = Duration::from_millis(500);
/// Readings for the power of an idle machine.
const IDLE_READINGS: f64 = 20.0;
/// An idle machine is watched at least, and at most, for so long.
const IDLE_S: (f64, f64) = (2.0, 5.0);
/// How often reading the devices of another machine is begun in a run.
const MOST_STARTS: u32 = 4;

/// Watches while a run goes on.
pub(crate) struct Watcher {
    machines: Vec<SampledMachine>,
    /// Sources that are not available, of every machine.
    missing: Vec<MissingSource>,
    /// When the session's time began, on the monotonic clock.
    began_ns: u64,
    handed_on_ns: u64,
    rate_hz: f64,
}

/// The devices of one machine.
struct SampledMachine {
    sampler: AnySampler,
    devices: Vec<WatchedDevice>,
    /// Each device's place in the session.
    places: Vec<usize>,
    /// Since when the session knows of them, on the monotonic clock: what was read before that belongs to nothing.
    known_since_ns: Option<u64>,
    /// How often reading them was begun.
    starts: u32,
}

/// A sampler of this machine, or of another one.
enum AnySampler {
    Here(Sampler),
    There(Box<RemoteSampler>),
}

impl SampledMachine {
    fn here(request: &WatchRequest) -> (Self, Vec<MissingSource>) {
        let survey = survey::survey(&request.places);
        let (devices, missing) = (survey.devices.clone(), survey.missing.clone());
        let sampler = AnySampler::Here(Sampler::start(survey, request.rate_hz));
        (Self::new(sampler, devices), missing)
    }

    fn there(sampler: RemoteSampler) -> Self {
        let devices = sampler.devices.clone();
        Self::new(AnySampler::There(Box::new(sampler)), devices)
    }

    fn new(sampler: AnySampler, devices: Vec<WatchedDevice>) -> Self {
        Self {
            sampler,
            devices,
            places: Vec::new(),
            known_since_ns: None,
            starts: 1,
        }
    }

    /// What the session calls the machine; nothing for this one.
    fn name(&self) -> Option<&str> {
        match &self.sampler {
            AnySampler::Here(_) => None,
            AnySampler::There(sampler) => Some(&sampler.name),
        }
    }

    fn set_workers(&mut self, pids: &[u32]) {
        match &mut self.sampler {
            AnySampler::Here(sampler) => sampler.set_workers(pids.to_vec()),
            AnySampler::There(sampler) => sampler.set_workers(pids.to_vec()),
        }
    }

    fn tells_power(&self) -> bool {
        self.devices.iter().any(WatchedDevice::may_report_power)
    }

    fn find_places(&mut self, telemetry: &Telemetry) {
        let devices = self.devices.iter();
        let places = devices.filter_map(|device| telemetry.place(device));
        self.places = places.collect();
        self.known_since_ns.get_or_insert_with(clock::monotonic_ns);
    }
}

impl Watcher {
    /// Opens the sources that are available on this machine, where setups run here, and begins to read them, beside
    /// those of other machines.
    pub(crate) fn begin(
        request: &WatchRequest,
        watches_here: bool,
        there: Vec<RemoteSampler>,
        began_ns: u64,
    ) -> Self {
        let (here, mut missing) = if watches_here {
            let (here, missing) = SampledMachine::here(request);
            (Some(here), missing)
        } else {
            (None, Vec::new())
        };
        missing.extend(there.iter().flat_map(|there| there.missing.clone()));
        let there = there.into_iter().map(SampledMachine::there);
        Self {
            machines: here.into_iter().chain(there).collect(),
            missing,
            began_ns,
            handed_on_ns: 0,
            rate_hz: request.rate_hz,
        }
    }

    /// What is watched. [`Self::find_places`] comes after it.
    pub(crate) fn watched(&self) -> RunEvent {
        let devices = self.machines.iter().flat_map(|machine| &machine.devices);
        RunEvent::Watched {
            rate_hz: self.rate_hz,
            devices: devices.cloned().collect(),
            missing: self.missing.clone(),
        }
    }

    /// Finds each device's place among those of the session.
    pub(crate) fn find_places(&mut self, telemetry: &Telemetry) {
        for machine in &mut self.machines {
            machine.find_places(telemetry);
        }
    }

    /// Readings a second that a machine's devices are to be read at again, because reading them ended.
    pub(crate) fn restart_rate(&self, name: &str) -> Option<f64> {
        let of_name = |machine: &&SampledMachine| machine.name() == Some(name);
        let machine = self.machines.iter().find(of_name)?;
        match &machine.sampler {
            AnySampler::There(sampler) if sampler.has_ended() => {
                (machine.starts < MOST_STARTS).then_some(self.rate_hz)
            }
            _ => None,
        }
    }

    /// A machine's devices are read again, or cannot be: that was one of the tries.
    pub(crate) fn again(&mut self, name: &str, sampler: Option<RemoteSampler>) -> Option<RunEvent> {
        let of_name = |machine: &&mut SampledMachine| machine.name() == Some(name);
        let machine = self.machines.iter_mut().find(of_name)?;
        machine.starts += 1;
        let sampler = sampler?;
        machine.known_since_ns = None;
        machine.devices.clone_from(&sampler.devices);
        let devices = sampler.devices.clone();
        machine.sampler = AnySampler::There(Box::new(sampler));
        Some(RunEvent::Watched {
            rate_hz: self.rate_hz,
            devices,
            missing: self.missing.clone(),
        })
    }

    /// How long to watch the idle machines before the first worker starts; nothing where no device
    /// reports its power.
    pub(crate) fn idle_time(&self) -> Option<Duration> {
        let seconds = (IDLE_READINGS / self.rate_hz).clamp(IDLE_S.0, IDLE_S.1);
        self.machines
            .iter()
            .any(SampledMachine::tells_power)
            .then(|| Duration::from_millis((seconds * 1e3) as u64))
    }

    /// The warning for a run with replayed telemetry.
    pub(crate) fn replay_warning(&self) -> Option<RunEvent> {
        let mut devices = self.machines.iter().flat_map(|machine| &machine.devices);
        devices
            .any(WatchedDevice::is_played_back)
            .then(|| RunEvent::Warned {
                text: "What the devices say is played back from another run, and says nothing of this one."
                    .to_owned(),
            })
    }

    /// A warning for each machine without a source that measures power, where energies are wanted.
    pub(crate) fn without_meter(&self, request: &WatchRequest) -> Vec<RunEvent> {
        let machines = self.machines.iter();
        let without = machines.filter(|machine| request.for_energy && !machine.tells_power());
        without
            .map(|machine| {
                let (of, on) = match machine.name() {
                    None => ("here".to_owned(), String::new()),
                    // Words in front of a command are no name for --on.
                    Some(name) if name.contains(' ') => (format!("of {name}"), String::new()),
                    Some(name) => (format!("of {name}"), format!(" --on {name}")),
                };
                RunEvent::Warned {
                    text: format!(
                        "No device {of} reports its power, so no energy will be known; powerband devices{on} says what would help."
                    ),
                }
            })
            .collect()
    }

    /// How long until every device was read once more.
    pub(crate) fn one_more_reading(&self) -> Duration {
        Duration::from_millis((1.3e3 / self.rate_hz.max(1.0)) as u64)
    }

    /// A stretch that ends now, in the session's time.
    pub(crate) fn span_since(&self, from_ns: u64) -> TimeSpan {
        let relative = |at_ns: u64| at_ns.saturating_sub(self.began_ns);
        TimeSpan {
            from_ns: relative(from_ns),
            to_ns: relative(clock::monotonic_ns()),
        }
    }

    /// Says which processes of the run are on a machine, the measuring one first; on the other machines none is.
    pub(crate) fn set_workers(&mut self, name: Option<&str>, pids: &[u32]) {
        for machine in &mut self.machines {
            let pids = if machine.name() == name { pids } else { &[] };
            machine.set_workers(pids);
        }
    }

    /// Says which processes of the run are on one machine, while others are measured at the same time.
    pub(crate) fn set_workers_of(&mut self, name: Option<&str>, pids: &[u32]) {
        let of_name = |machine: &&mut SampledMachine| machine.name() == name;
        if let Some(machine) = self.machines.iter_mut().find(of_name) {
            machine.set_workers(pids);
        }
    }

    /// What was caught, where it is time to hand it on.
    pub(crate) fn events(&mut self) -> Vec<RunEvent> {
        let now_ns = clock::monotonic_ns();
        if now_ns.saturating_sub(self.handed_on_ns) < HANDED_ON.as_nanos() as u64 {
            return Vec::new();
        }
        self.all_events()
    }

    /// Events of all readings so far.
    pub(crate) fn all_events(&mut self) -> Vec<RunEvent> {
        self.handed_on_ns = clock::monotonic_ns();
        self.events_of(|sampler| match sampler {
            AnySampler::Here(sampler) => sampler.fetch(),
            AnySampler::There(sampler) => sampler.fetch(),
        })
    }

    /// Events of the last readings, after sampling has ended.
    pub(crate) fn last_events(&mut self, cancel: &CancelToken) -> Vec<RunEvent> {
        self.events_of(|sampler| match sampler {
            AnySampler::Here(sampler) => sampler.fetch(),
            AnySampler::There(sampler) => sampler.finish(cancel),
        })
    }

    fn events_of(
        &mut self,
        mut fetch: impl FnMut(&mut AnySampler) -> SampledReadings,
    ) -> Vec<RunEvent> {
        let began_ns = self.began_ns;
        let machines = self.machines.iter_mut();
        machines
            .flat_map(|machine| {
                let mut caught = fetch(&mut machine.sampler);
                let since_ns = machine.known_since_ns.unwrap_or(u64::MAX);
                caught.readings.retain(|reading| reading.at_ns >= since_ns);
                events_in(caught, &machine.places, began_ns)
            })
            .collect()
    }
}

/// What was caught, in the time and with the devices of the session.
fn events_in(caught: SampledReadings, places: &[usize], began_ns: u64) -> Vec<RunEvent> {
    let SampledReadings {
        readings,
        lost,
        warnings,
    } = caught;
    let mut events = Vec::new();
    let readings: Vec<DeviceReading> = readings
        .into_iter()
        .filter_map(|reading| {
            Some(DeviceReading {
                device: *places.get(reading.device)?,
                at_ns: reading.at_ns.saturating_sub(began_ns),
                values: reading.values,
            })
        })
        .collect();
    if !readings.is_empty() {
        events.push(RunEvent::Read { readings });
    }
    for (device, at_ns, why) in lost {
        if let Some(place) = places.get(device) {
            let at_ns = at_ns.saturating_sub(began_ns);
            events.push(RunEvent::DeviceLost {
                device: *place,
                lost: DeviceLoss { at_ns, why },
            });
        }
    }
    let warnings = warnings.into_iter();
    events.extend(warnings.map(|text| RunEvent::Warned { text }));
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::telemetry_paths::TelemetryPaths;

    /// Watches a machine on which no source is available.
    fn warned(for_energy: bool) -> usize {
        let empty = tempfile::tempdir().unwrap();
        let nothing = Some(empty.path().join("nothing.so"));
        let request = WatchRequest {
            rate_hz: 10.0,
            places: TelemetryPaths {
                root: empty.path().to_path_buf(),
                nvml: nothing.clone(),
                rocm_smi: nothing,
                replay: None,
            },
            for_energy,
        };
        let watcher = Watcher::begin(&request, true, Vec::new(), 0);
        watcher.without_meter(&request).len()
    }

    #[test]
    fn a_run_for_energies_without_a_meter_warns_at_once() {
        assert_eq!((warned(true), warned(false)), (1, 0));
    }
}
