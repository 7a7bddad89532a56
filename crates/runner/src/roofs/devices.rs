//! The devices that have roofs: what distinguishes each, and what its roofs hold for now.

use std::path::Path;
use std::thread;

use powerband_core::base::clock;
use powerband_core::domain::roofs::{METHOD, PROCESSOR, RoofConditions, Roofs};
use powerband_core::domain::telemetry::{DeviceKind, WatchedDevice};
use powerband_core::domain::telemetry_paths::TelemetryPaths;
use powerband_devices::{machine, survey};

/// A device whose roofs can be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct RoofDevice {
    /// As setups spell it: `cpu`, `cuda:0`.
    pub device: String,
    /// What its maker calls it.
    pub name: String,
    /// What distinguishes it from another of its kind; nothing for the processor.
    pub card: Option<String>,
    /// What roofs hold for that are measured now.
    pub conditions: RoofConditions,
}

impl RoofDevice {
    /// The processor, as this process may use it.
    pub fn processor() -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Self {
            device: PROCESSOR.to_owned(),
            name: machine::cpu(Path::new("/")).model,
            card: None,
            conditions: RoofConditions {
                method: METHOD,
                threads,
                ..RoofConditions::default()
            },
        }
    }

    /// A card among the devices that telemetry reads.
    pub fn card(watched: &WatchedDevice) -> Option<Self> {
        let kind = match watched.kind {
            DeviceKind::Nvidia => "cuda",
            DeviceKind::Amd => "rocm",
            DeviceKind::Host | DeviceKind::Package => return None,
        };
        Some(Self {
            device: format!("{kind}:{}", watched.number),
            name: watched.name.clone(),
            card: Some(watched.id.clone()),
            conditions: RoofConditions {
                method: METHOD,
                driver: watched.driver.clone(),
                power_limit_w: watched.power_limit_w,
                ..RoofConditions::default()
            },
        })
    }

    /// Roofs of it in which nothing was measured yet.
    pub fn unmeasured(&self) -> Roofs {
        Roofs {
            device: self.device.clone(),
            name: self.name.clone(),
            card: self.card.clone(),
            measured: clock::now_utc(),
            conditions: self.conditions.clone(),
            clock_mhz: None,
            temperature_c: None,
            compute: Vec::new(),
            memory: Vec::new(),
            engines: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Whether roofs were measured of this device, whatever number it had then.
    pub fn is_of(&self, roofs: &Roofs) -> bool {
        let kind = |device: &str| device.split(':').next().map(ToOwned::to_owned);
        kind(&self.device) == kind(&roofs.device)
            && (&self.name, &self.card) == (&roofs.name, &roofs.card)
    }
}

/// The processor, and every card that telemetry finds; takes as long as the drivers do.
pub fn all(places: &TelemetryPaths) -> Vec<RoofDevice> {
    let found = survey::survey(places);
    let cards = found.devices.iter().filter_map(RoofDevice::card);
    std::iter::once(RoofDevice::processor())
        .chain(cards)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_the_same_under_another_number() {
        let watched = |number, id: &str| WatchedDevice {
            driver: Some("550.1".to_owned()),
            ..WatchedDevice::new("nvml", DeviceKind::Nvidia, number, id, "Card")
        };
        let card = |number, id| RoofDevice::card(&watched(number, id)).unwrap();
        let roofs = card(0, "0000:43:00.0").unmeasured();
        assert!(card(1, "0000:43:00.0").is_of(&roofs));
        assert!(!card(0, "0000:44:00.0").is_of(&roofs));
        assert!(!RoofDevice::processor().is_of(&roofs));
        let host = WatchedDevice::new("host", DeviceKind::Host, 0, "host", "Host");
        assert_eq!(RoofDevice::card(&host), None);
        assert!(RoofDevice::processor().conditions.threads > 0);
    }
}
