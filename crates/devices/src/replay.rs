//! What devices said in an earlier run, said once more at the same pace: to see a card that is not
//! here, or a run as it was.

use std::sync::Arc;
use std::time::Instant;

use super::source::{DeviceGone, DeviceReader, TelemetrySource, Values};
use powerband_core::domain::telemetry::{
    DeviceTelemetry, MissingSource, PLAYED_BACK, Telemetry, WatchedDevice,
};
use powerband_core::domain::telemetry_paths::TelemetryPaths;

/// The telemetry of a session.
#[derive(Debug)]
pub(crate) struct Replay;

impl TelemetrySource for Replay {
    fn id(&self) -> &'static str {
        "replay"
    }

    fn title(&self) -> &'static str {
        "Replay"
    }

    fn open(&self, places: &TelemetryPaths) -> Result<Box<dyn DeviceReader>, MissingSource> {
        let recorded = places.replay.clone();
        let Some(recorded) = recorded.filter(|recorded| !recorded.tracks.is_empty()) else {
            return Err(self.missing(
                "there is nothing to play back",
                "name a session that has telemetry",
            ));
        };
        Ok(Box::new(Tape::new(recorded, Instant::now())))
    }
}

struct Tape {
    devices: Vec<WatchedDevice>,
    recorded: Arc<Telemetry>,
    /// When the first reading was made.
    from_ns: u64,
    began: Instant,
}

impl Tape {
    fn new(recorded: Arc<Telemetry>, began: Instant) -> Self {
        let tracks = recorded.tracks.iter();
        let devices = tracks.clone().map(|track| WatchedDevice {
            source: PLAYED_BACK.to_owned(),
            ..track.device.clone()
        });
        let first = tracks.filter_map(|track| track.times_ns.first()).min();
        Self {
            devices: devices.collect(),
            from_ns: first.copied().unwrap_or(0),
            recorded,
            began,
        }
    }

    fn values_at(&self, device: usize, at_ns: u64) -> Result<Values, DeviceGone> {
        let Some(track) = self.recorded.tracks.get(device) else {
            return Ok(Values::new());
        };
        if let Some(lost) = track.lost.as_ref().filter(|lost| lost.at_ns <= at_ns) {
            return Err(DeviceGone(lost.why.clone()));
        }
        Ok(newest(track, at_ns, self.recorded.longest_step_ns(at_ns)))
    }
}

impl DeviceReader for Tape {
    fn devices(&self) -> &[WatchedDevice] {
        &self.devices
    }

    fn read(&mut self, device: usize, _workers: &[u32]) -> Result<Values, DeviceGone> {
        let passed_ns = self.began.elapsed().as_nanos() as u64;
        self.values_at(device, self.from_ns + passed_ns)
    }
}

/// The last reading before a moment, as long as it is not older than a step.
fn newest(track: &DeviceTelemetry, at_ns: u64, step_ns: u64) -> Values {
    let Some(index) = track
        .times_ns
        .partition_point(|time| *time <= at_ns)
        .checked_sub(1)
    else {
        return Vec::new();
    };
    if track.times_ns[index] + step_ns < at_ns {
        return Vec::new();
    }
    let channels = track.channels.iter();
    let values = channels.filter_map(|channel| {
        let value = channel.values.get(index).copied().flatten();
        Some((channel.quantity, value?))
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::telemetry::{DeviceKind, DeviceLoss, DeviceReading, Quantity};

    fn recorded() -> Arc<Telemetry> {
        let mut telemetry = Telemetry::default();
        let card = WatchedDevice::new("nvml", DeviceKind::Nvidia, 0, "0000:01:00.0", "Card");
        telemetry.watch(0, 10.0, vec![card], Vec::new());
        let reading = |at_ms: u64, watts: f64| DeviceReading {
            device: 0,
            at_ns: at_ms * 1_000_000,
            values: vec![(Quantity::Power, watts)],
        };
        telemetry.take(&[
            reading(1_000, 50.0),
            reading(1_100, 60.0),
            reading(1_900, 70.0),
        ]);
        let lost = DeviceLoss {
            at_ns: 2_000_000_000,
            why: "it fell off the bus".to_owned(),
        };
        telemetry.lose(0, lost);
        Arc::new(telemetry)
    }

    #[test]
    fn readings_come_back_at_their_pace_with_their_gaps() {
        let tape = Tape::new(recorded(), Instant::now());
        assert_eq!(tape.from_ns, 1_000_000_000);
        assert_eq!(tape.devices()[0].source, "replay");
        let at = |ms: u64| tape.values_at(0, ms * 1_000_000);
        assert_eq!(at(1_050), Ok(vec![(Quantity::Power, 50.0)]));
        assert_eq!(at(1_199), Ok(vec![(Quantity::Power, 60.0)]));
        assert_eq!(at(1_700), Ok(vec![]), "a gap stays a gap");
        assert_eq!(at(1_950), Ok(vec![(Quantity::Power, 70.0)]));
        assert_eq!(at(2_000), Err(DeviceGone("it fell off the bus".to_owned())));
    }

    #[test]
    fn nothing_to_play_is_said() {
        assert!(Replay.open(&TelemetryPaths::default()).is_err());
    }
}
