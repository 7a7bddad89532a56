//! The sampler's part of a run: what it caught, as events in the run's own time.

use std::time::Duration;

use crate::telemetry::sampler::{Catch, Sampler};
use crate::telemetry::source::Places;
use crate::telemetry::survey;
use powerband_core::base::clock;
use powerband_core::domain::event::RunEvent;
use powerband_core::domain::telemetry::{Lost, Reading, Span, Telemetry, WatchedDevice};

/// How often readings are handed on. The reader of the events has something else to do meanwhile.
const HANDED_ON: Duration = Duration::from_millis(500);
/// Readings for the power of an idle machine.
const IDLE_READINGS: f64 = 20.0;
/// An idle machine is watched at least, and at most, for so long.
const IDLE_S: (f64, f64) = (2.0, 5.0);

/// How a run is watched.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchRequest {
    /// Readings a second.
    pub rate_hz: f64,
    /// Where sources look.
    pub places: Places,
    /// Whether each case is measured for so long that its energy can be measured.
    pub for_energy: bool,
}

/// Watches while a run goes on.
pub(crate) struct Watcher {
    sampler: Sampler,
    /// Each device's place in the session.
    places: Vec<usize>,
    /// When the session's time began, on the monotonic clock.
    began_ns: u64,
    handed_on_ns: u64,
    rate_hz: f64,
    tells_power: bool,
}

impl Watcher {
    /// Opens the sources that are available, and begins to read them.
    pub(crate) fn begin(
        request: &WatchRequest,
        before: &Telemetry,
        began_ns: u64,
    ) -> (Self, RunEvent) {
        let survey = survey::survey(&request.places);
        let mut telemetry = Telemetry::default();
        let known = before.tracks.iter().map(|track| track.device.clone());
        telemetry.watch(0, request.rate_hz, known.collect(), Vec::new());
        telemetry.watch(0, request.rate_hz, survey.devices.clone(), Vec::new());
        let devices = survey.devices.iter();
        let event = RunEvent::Watched {
            rate_hz: request.rate_hz,
            devices: survey.devices.clone(),
            missing: survey.missing.clone(),
        };
        let watcher = Self {
            places: devices
                .clone()
                .filter_map(|device| telemetry.place(&device.id))
                .collect(),
            tells_power: devices.clone().any(WatchedDevice::may_tell_power),
            sampler: Sampler::start(survey, request.rate_hz),
            began_ns,
            handed_on_ns: 0,
            rate_hz: request.rate_hz,
        };
        (watcher, event)
    }

    /// How long to watch the idle machine before the first worker starts; nothing where no device
    /// reports its power.
    pub(crate) fn idle_time(&self) -> Option<Duration> {
        let seconds = (IDLE_READINGS / self.rate_hz).clamp(IDLE_S.0, IDLE_S.1);
        self.tells_power
            .then(|| Duration::from_millis((seconds * 1e3) as u64))
    }

    /// What is to be said where the devices are not those of this run.
    pub(crate) fn played_back(devices: &[WatchedDevice]) -> Option<RunEvent> {
        devices
            .iter()
            .any(WatchedDevice::is_played_back)
            .then(|| RunEvent::Warned {
                text: "What the devices say is played back from another run, and says nothing of this one."
                    .to_owned(),
            })
    }

    /// The warning where energies are wanted and no source measures power.
    pub(crate) fn without_meter(&self, request: &WatchRequest) -> Option<RunEvent> {
        (request.for_energy && !self.tells_power).then(|| RunEvent::Warned {
            text: "No device here tells its power, so no energy will be known; powerband devices says what would help."
                .to_owned(),
        })
    }

    /// How long until every device was read once more.
    pub(crate) fn one_more_reading(&self) -> Duration {
        Duration::from_millis((1.3e3 / self.rate_hz.max(1.0)) as u64)
    }

    /// A stretch that ends now, in the session's time.
    pub(crate) fn span_since(&self, from_ns: u64) -> Span {
        let relative = |at_ns: u64| at_ns.saturating_sub(self.began_ns);
        Span {
            from_ns: relative(from_ns),
            to_ns: relative(clock::monotonic_ns()),
        }
    }

    /// Says which process is measuring now.
    pub(crate) fn set_worker(&self, pid: Option<u32>) {
        self.sampler.set_worker(pid);
    }

    /// What was caught, where it is time to hand it on.
    pub(crate) fn events(&mut self) -> Vec<RunEvent> {
        let now_ns = clock::monotonic_ns();
        if now_ns.saturating_sub(self.handed_on_ns) < HANDED_ON.as_nanos() as u64 {
            return Vec::new();
        }
        self.all_events()
    }

    /// What was caught until now.
    pub(crate) fn all_events(&mut self) -> Vec<RunEvent> {
        self.handed_on_ns = clock::monotonic_ns();
        let Catch {
            readings,
            lost,
            warnings,
        } = self.sampler.fetch();
        let mut events = Vec::new();
        let readings: Vec<Reading> = readings
            .into_iter()
            .filter_map(|reading| {
                Some(Reading {
                    device: *self.places.get(reading.device)?,
                    at_ns: reading.at_ns.saturating_sub(self.began_ns),
                    values: reading.values,
                })
            })
            .collect();
        if !readings.is_empty() {
            events.push(RunEvent::Read { readings });
        }
        for (device, at_ns, why) in lost {
            if let Some(place) = self.places.get(device) {
                let at_ns = at_ns.saturating_sub(self.began_ns);
                events.push(RunEvent::DeviceLost {
                    device: *place,
                    lost: Lost { at_ns, why },
                });
            }
        }
        let warnings = warnings.into_iter();
        events.extend(warnings.map(|text| RunEvent::Warned { text }));
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Watches a machine on which no source is available.
    fn warned(for_energy: bool) -> Option<RunEvent> {
        let empty = tempfile::tempdir().unwrap();
        let nothing = Some(empty.path().join("nothing.so"));
        let request = WatchRequest {
            rate_hz: 10.0,
            places: Places {
                root: empty.path().to_path_buf(),
                nvml: nothing.clone(),
                rocm_smi: nothing,
                replay: None,
            },
            for_energy,
        };
        let (watcher, _) = Watcher::begin(&request, &Telemetry::default(), 0);
        watcher.without_meter(&request)
    }

    #[test]
    fn a_run_for_energies_without_a_meter_warns_at_once() {
        assert!(warned(true).is_some());
        assert!(warned(false).is_none());
    }
}
