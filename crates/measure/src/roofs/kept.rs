//! Roofs that were measured before: which of them still hold, and which go with a run.

use super::devices::{self, RoofDevice};
use crate::runner::installation::Installation;
use crate::telemetry::source::Places;
use powerband_core::base::paths::Paths;
use powerband_core::domain::roofs::{PROCESSOR, Roofs, is_here, roof_setup};
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;
use powerband_store::roofs_file;

/// What is kept of some devices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Roofs that hold, with the numbers that their devices have now.
    pub fresh: Vec<Roofs>,
    /// Roofs that no longer hold, and why.
    pub stale: Vec<(Roofs, String)>,
    /// A sentence for each file that cannot be used.
    pub warnings: Vec<String>,
}

/// What is kept of these devices.
pub fn read(paths: &Paths, devices: &[RoofDevice]) -> Kept {
    let found = roofs_file::read(&paths.roofs);
    let mut kept = Kept {
        warnings: found.warnings,
        ..Kept::default()
    };
    for mut roofs in found.roofs {
        let Some(device) = devices.iter().find(|device| device.is_of(&roofs)) else {
            continue;
        };
        roofs.device.clone_from(&device.device);
        match stale(&roofs, device) {
            Some(reason) => kept.stale.push((roofs, reason)),
            None => kept.fresh.push(roofs),
        }
    }
    kept
}

/// The roofs that a session's limits are found with: its own, else those that are kept of this machine. That
/// they are of the session's device is looked at where they are used.
pub fn for_session(session: &Session, paths: &Paths) -> Vec<Roofs> {
    if session.roofs.is_empty() {
        roofs_file::read(&paths.roofs).roofs
    } else {
        session.roofs.clone()
    }
}

/// Why roofs of a device have to be measured again; nothing where they hold.
pub fn stale(roofs: &Roofs, device: &RoofDevice) -> Option<String> {
    roofs.conditions.changed(&device.conditions)
}

/// The roofs that hold of the devices that setups name. Cards are asked only where a setup names one.
pub fn for_setups(place: &Installation, setups: &[Setup]) -> Vec<Roofs> {
    let named: Vec<String> = setups
        .iter()
        .filter(|setup| is_here(setup))
        .map(|setup| roof_setup(setup).device)
        .collect();
    let has_cards = named.iter().any(|device| device != PROCESSOR);
    let devices = if has_cards {
        let watched = place.watch.as_ref().map(|watch| watch.places.clone());
        let places = watched.unwrap_or_else(Places::of_user);
        devices::all(&places)
    } else {
        vec![RoofDevice::processor()]
    };
    let mut fresh = read(&place.paths, &devices).fresh;
    fresh.retain(|roofs| named.contains(&roofs.device));
    fresh
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::roofs::METHOD;

    #[test]
    fn roofs_hold_until_something_changes() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::under(home.path());
        let processor = RoofDevice::processor();
        let devices = std::slice::from_ref(&processor);
        assert_eq!(read(&paths, devices), Kept::default());
        let mut roofs = processor.unmeasured();
        roofs_file::write(&paths.roofs, &roofs).unwrap();
        assert_eq!(read(&paths, devices).fresh.len(), 1);
        roofs.conditions.method = METHOD + 1;
        roofs_file::write(&paths.roofs, &roofs).unwrap();
        let kept = read(&paths, devices);
        assert!(kept.fresh.is_empty());
        assert!(kept.stale[0].1.contains("method"), "{kept:?}");
        // Another processor in the same folder.
        let other = RoofDevice {
            name: "another".to_owned(),
            ..processor
        };
        assert_eq!(read(&paths, &[other]), Kept::default());
    }
}
