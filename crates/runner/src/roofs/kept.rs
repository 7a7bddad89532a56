//! Roofs that were measured before: which of them still hold, and which go with a run.

use super::devices::{self, RoofDevice};
use powerband_core::base::paths::Paths;
use powerband_core::domain::roofs::{
    ComputeRoof, EngineRoof, MeasuredValue, MemoryRoof, NOISY, PROCESSOR, Roofs, is_here,
    roof_setup,
};
use powerband_core::domain::setup::Setup;
use powerband_core::domain::telemetry_paths::TelemetryPaths;
use powerband_store::installation::Installation;
use powerband_store::roofs_file::{self, KnownRoofs};

/// What is kept of these devices.
pub fn read(paths: &Paths, devices: &[RoofDevice]) -> KnownRoofs {
    let found = roofs_file::read(&paths.roofs);
    let mut kept = KnownRoofs {
        warnings: found.warnings,
        ..KnownRoofs::default()
    };
    for mut roofs in found.roofs {
        let Some(device) = devices.iter().find(|device| device.is_of(&roofs)) else {
            continue;
        };
        roofs.device.clone_from(&device.device);
        match stale_reason(&roofs, device) {
            Some(reason) => kept.stale.push((roofs, reason)),
            None => kept.fresh.push(roofs),
        }
    }
    kept
}

/// Why roofs of a device have to be measured again; nothing where they hold.
pub fn stale_reason(roofs: &Roofs, device: &RoofDevice) -> Option<String> {
    roofs.conditions.changed(&device.conditions)
}

/// Keeps figures of an earlier measuring under the same conditions where the new ones are noisy and those are not,
/// or are lower: load beside a second measuring takes nothing back of what was reached.
pub(super) fn keep_better_of(now: &mut Roofs, before: &Roofs) {
    for roof in &mut now.compute {
        let alike =
            |then: &&ComputeRoof| (then.numbers, then.threads) == (roof.numbers, roof.threads);
        if let Some(then) = before.compute.iter().find(alike) {
            better(&mut roof.per_s, then.per_s);
        }
    }
    for roof in &mut now.memory {
        let alike = |then: &&MemoryRoof| {
            (then.level, then.access, then.threads) == (roof.level, roof.access, roof.threads)
        };
        if let Some(then) = before.memory.iter().find(alike) {
            better(&mut roof.per_s, then.per_s);
        }
    }
    for engine in &mut now.engines {
        let alike =
            |then: &&EngineRoof| (&then.setup, &then.version) == (&engine.setup, &engine.version);
        let Some(then) = before.engines.iter().find(alike) else {
            continue;
        };
        for (now, then) in [
            (&mut engine.product_per_s, then.product_per_s),
            (&mut engine.copy_per_s, then.copy_per_s),
        ] {
            match (now, then) {
                (Some(now), Some(then)) => better(now, then),
                (now @ None, then) => *now = then,
                (Some(_), None) => {}
            }
        }
    }
}

/// Takes the earlier figure where it is quiet and higher, or about as high as a noisy one.
fn better(now: &mut MeasuredValue, then: MeasuredValue) {
    let is_better = match (then.is_noisy(), now.is_noisy()) {
        (false, true) => then.value >= now.value * (1.0 - NOISY),
        (false, false) => then.value > now.value,
        (true, _) => false,
    };
    if is_better {
        *now = then;
    }
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
        let places = watched.unwrap_or_else(TelemetryPaths::of_user);
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
    use powerband_core::domain::work::NumberFormat;

    #[test]
    fn roofs_hold_until_something_changes() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::under(home.path());
        let processor = RoofDevice::processor();
        let devices = std::slice::from_ref(&processor);
        assert_eq!(read(&paths, devices), KnownRoofs::default());
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
        assert_eq!(read(&paths, &[other]), KnownRoofs::default());
    }

    #[test]
    fn measuring_again_beside_load_takes_nothing_back() {
        let product = |value: f64, low: f64| EngineRoof {
            engine: "torch".to_owned(),
            version: "PyTorch 2".to_owned(),
            setup: "torch:cpu".to_owned(),
            threads: 2,
            numbers: NumberFormat::F32,
            product_per_s: Some(MeasuredValue {
                value,
                low,
                high: value,
                repetitions: 3,
            }),
            copy_per_s: None,
            launch_ns: None,
        };
        let roofs = |engine: EngineRoof| Roofs {
            engines: vec![engine],
            ..RoofDevice::processor().unmeasured()
        };
        let kept = |before: EngineRoof, after: EngineRoof| {
            let mut now = roofs(after);
            keep_better_of(&mut now, &roofs(before));
            now.engines[0].product_per_s.unwrap().value
        };
        let quiet = product(282.0, 280.0);
        assert_eq!(kept(quiet.clone(), product(150.0, 149.0)), 282.0);
        assert_eq!(kept(quiet.clone(), product(290.0, 200.0)), 282.0);
        assert_eq!(kept(quiet.clone(), product(300.0, 299.0)), 300.0);
        assert_eq!(kept(product(282.0, 100.0), product(150.0, 149.0)), 150.0);
        let newer = EngineRoof {
            version: "PyTorch 3".to_owned(),
            ..product(150.0, 149.0)
        };
        assert_eq!(kept(quiet, newer), 150.0, "another version is another roof");
    }
}
