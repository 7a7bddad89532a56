//! The clock and the temperature of a card while its roofs are measured, as its driver reports them.

use powerband_core::domain::telemetry::Quantity;
use powerband_core::domain::telemetry_paths::TelemetryPaths;
use powerband_core::stats::summary::median;
use powerband_devices::sampler::Sampler;
use powerband_devices::survey;

/// Readings a second.
const RATE_HZ: f64 = 10.0;
/// Below this utilisation, in percent, a reading says nothing of the clock while computing.
const BUSY: f64 = 50.0;

/// A card that is read until this is finished.
pub(super) struct Readings {
    sampler: Sampler,
    /// The card's place among the devices.
    device: usize,
}

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Conditions {
    /// The median clock while it computed, in MHz.
    pub clock_mhz: Option<f64>,
    /// The highest temperature, in °C.
    pub temperature_c: Option<f64>,
}

impl Readings {
    /// Begins to read the card at an address.
    pub(super) fn begin(places: &TelemetryPaths, card: &str) -> Option<Self> {
        let survey = survey::survey(places);
        let device = survey
            .devices
            .iter()
            .position(|device| device.kind.is_gpu() && device.id == card)?;
        Some(Self {
            sampler: Sampler::start(survey, RATE_HZ),
            device,
        })
    }

    /// What was read since then.
    pub(super) fn finish(mut self) -> Conditions {
        let readings = self.sampler.fetch().readings;
        let own = readings.iter().filter(|one| one.device == self.device);
        conditions(own.map(|reading| reading.values.as_slice()))
    }
}

fn conditions<'a>(readings: impl Iterator<Item = &'a [(Quantity, f64)]>) -> Conditions {
    let mut clocks = Vec::new();
    let mut temperature_c: Option<f64> = None;
    for values in readings {
        let of = |wanted: Quantity| {
            let found = values.iter().find(|(quantity, _)| *quantity == wanted);
            found.map(|(_, value)| *value)
        };
        if of(Quantity::Busy).is_none_or(|busy| busy >= BUSY) {
            clocks.extend(of(Quantity::Clock));
        }
        temperature_c = match (temperature_c, of(Quantity::Temperature)) {
            (Some(known), Some(now)) => Some(known.max(now)),
            (known, now) => known.or(now),
        };
    }
    Conditions {
        clock_mhz: median(&clocks),
        temperature_c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_clock_does_not_count() {
        let reading = |busy: f64, clock: f64, celsius: f64| {
            vec![
                (Quantity::Busy, busy),
                (Quantity::Clock, clock),
                (Quantity::Temperature, celsius),
            ]
        };
        let all = [
            reading(0.0, 210.0, 40.0),
            reading(99.0, 1700.0, 61.0),
            reading(98.0, 1710.0, 60.0),
            reading(97.0, 1720.0, 59.0),
        ];
        let found = conditions(all.iter().map(Vec::as_slice));
        assert_eq!(
            (found.clock_mhz, found.temperature_c),
            (Some(1710.0), Some(61.0))
        );
        assert_eq!(conditions(std::iter::empty()), Conditions::default());
    }
}
