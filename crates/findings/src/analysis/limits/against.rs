//! Which lines a case or a profile is measured against: the roofs of its device, or what is published of its card;
//! or why against none.

use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::profile::Profile;
use powerband_core::domain::quantity::Quantity;
use powerband_core::domain::roofs::{PROCESSOR, Roofs, roof_setup};
use powerband_core::domain::session::Session;

use super::lines::References;
use crate::analysis::device_readings;
use crate::analysis::peak::{self, PublishedPeaks};

/// The clocks of a roof and of a run that differ by more than this share are not compared.
const CLOCKS_WITHIN: f64 = 0.03;

/// What the nodes of a profile are measured against.
pub(super) fn references_for_profile<'a>(
    session: &'a Session,
    profile: &Profile,
    roofs: &'a [Roofs],
) -> Result<References<'a>, String> {
    match profile.case {
        Some(case) if case.setup < session.plan.setups.len() => {
            references_for_setup(session, case.setup, Some(case), roofs)
        }
        _ => references_for_card(profile, roofs),
    }
}

/// What a profile of another program is measured against, by what it calls its card.
fn references_for_card<'a>(
    profile: &Profile,
    roofs: &'a [Roofs],
) -> Result<References<'a>, String> {
    let devices = profile.devices.iter().map(|device| device.device.as_str());
    let facts = profile.facts.iter().map(|(_, value)| value.as_str());
    let names: Vec<&str> = facts.chain(devices).collect();
    let published = names.iter().find_map(|name| peak::published_peaks(name));
    let cards = roofs.iter().filter(|roofs| roofs.device != PROCESSOR);
    let measured = cards
        .into_iter()
        .find(|roofs| names.contains(&roofs.name.as_str()));
    if let Some(roofs) = measured {
        return Ok(References::new(roofs, None, 0).or_published(published));
    }
    published.map(References::published).ok_or_else(|| {
        "another program measured it, on a device of which no roofs are known".to_owned()
    })
}

/// What a setup is measured against; in one case, or in any of its cases.
pub(super) fn references_for_setup<'a>(
    session: &'a Session,
    setup: usize,
    case: Option<CaseKey>,
    roofs: &'a [Roofs],
) -> Result<References<'a>, String> {
    let spec = session.plan.setups.get(setup);
    let spec = spec.ok_or("there is no such setup")?;
    for (key, what) in [("copies", "replicas"), ("streams", "streams")] {
        let several = spec
            .options
            .get(key)
            .and_then(|text| text.parse::<usize>().ok());
        if let Some(several) = several.filter(|several| *several > 1) {
            return Err(format!(
                "its {several} {what} ran side by side, and roofs are those of one"
            ));
        }
    }
    let device = roof_setup(spec).device;
    let is_cpu = device == PROCESSOR;
    let card = if is_cpu {
        None
    } else {
        card_of(session, setup)
    };
    let published = card.as_deref().and_then(peak::published_peaks);
    let roofs = session.roofs_of(setup, roofs);
    if let Some(machine) = session.machine_of(setup).filter(|_| roofs.is_empty()) {
        let reason = || {
            format!(
                "it ran on {}, and the session has no roofs of that machine; powerband roofs measures them over there",
                machine.name
            )
        };
        return published.map(References::published).ok_or_else(reason);
    }
    let found = roofs.iter().find(|roofs| roofs.device == device);
    let Some(found) = found else {
        return no_roofs(&device, published);
    };
    let ran_on = if is_cpu {
        Some(session.environment_of(setup).cpu.model.clone())
    } else {
        card
    };
    if let Some(ran_on) = ran_on.filter(|name| *name != found.name) {
        return match published {
            Some(card) => Ok(References::published(card)),
            None => Err(format!(
                "the roofs are those of {}, and the run was on {}",
                or_unknown(&found.name),
                or_unknown(&ran_on)
            )),
        };
    }
    if let Some(reason) = clocks_differ(session, setup, case, found) {
        return Err(reason);
    }
    let threads = if is_cpu {
        threads_of(session, setup)
    } else {
        0
    };
    Ok(References::new(found, Some(spec), threads).or_published(published))
}

fn no_roofs<'a>(device: &str, published: Option<PublishedPeaks>) -> Result<References<'a>, String> {
    published
        .map(References::published)
        .ok_or_else(|| format!("no roofs of {device} were measured; Measure roofs in the window, or powerband roofs, measures them"))
}

fn or_unknown(name: &str) -> &str {
    if name.is_empty() {
        "an unknown device"
    } else {
        name
    }
}

/// What the driver calls the card of a setup, where it was read or there is one alone.
fn card_of(session: &Session, setup: usize) -> Option<String> {
    let tracks = device_readings::devices_of_setup(session, setup).into_iter();
    let mut names = tracks.filter_map(|track| session.telemetry.tracks.get(track));
    if let Some(track) = names.find(|track| track.device.kind.is_gpu()) {
        return Some(track.device.name.clone());
    }
    match session.environment_of(setup).gpus.as_slice() {
        [card] => Some(card.name.clone()),
        _ => None,
    }
}

/// The threads that a setup computed with: those that its engine reports, else those that it was given.
pub(super) fn threads_of(session: &Session, setup: usize) -> usize {
    let report = session.reports.get(setup).and_then(Option::as_ref);
    let given = session.plan.setups.get(setup);
    let given = given.and_then(|spec| spec.options.get("threads")?.parse().ok());
    let reported = report.and_then(|report| report.threads);
    reported
        .or(given)
        .unwrap_or_else(|| session.environment_of(setup).cpu.threads)
}

/// Why roofs at one clock say nothing of a run at another.
fn clocks_differ(
    session: &Session,
    setup: usize,
    case: Option<CaseKey>,
    roofs: &Roofs,
) -> Option<String> {
    let at_roof = roofs.clock_mhz.filter(|mhz| *mhz > 0.0)?;
    let is_cpu = roofs.device == PROCESSOR;
    // What is read of a processor is the mean of its cores, and idle ones are slow.
    if is_cpu && threads_of(session, setup) < session.environment_of(setup).cpu.threads {
        return None;
    }
    let own = device_readings::devices_of_setup(session, setup);
    let cases = session.cases.iter().filter(|measured| {
        measured.setup == setup && case.is_none_or(|case| case == measured.key())
    });
    let readings = cases.flat_map(|case| device_readings::case_readings(session, case));
    let clocks = readings
        .filter(|watched| own.contains(&watched.device))
        .filter_map(|watched| watched.extent(Quantity::Clock))
        .map(|extent| if is_cpu { extent.max } else { extent.mean });
    let at_run = clocks.reduce(f64::max)?;
    ((at_run / at_roof - 1.0).abs() > CLOCKS_WITHIN).then(|| {
        format!(
            "the roofs were measured at {} MHz and the run was at {} MHz; measure the roofs again",
            humanize::value(at_roof),
            humanize::value(at_run)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{add_telemetry, measure, session};
    use powerband_core::domain::roofs::RoofConditions;
    use powerband_core::domain::telemetry::DeviceKind;

    fn roofs(device: &str, name: &str, clock_mhz: Option<f64>) -> Roofs {
        Roofs {
            device: device.to_owned(),
            name: name.to_owned(),
            card: None,
            measured: String::new(),
            conditions: RoofConditions::default(),
            clock_mhz,
            temperature_c: None,
            compute: Vec::new(),
            memory: Vec::new(),
            engines: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn roofs_at_another_clock_are_no_measure() {
        let mut session = session(&["torch:cuda:0"], &[1]);
        measure(&mut session, 0, 1, &[&[2_000_000_000], &[2_000_000_000]]);
        add_telemetry(&mut session, DeviceKind::Nvidia, 10.0, 4.0, |_| {
            vec![(Quantity::Clock, 1500.0)]
        });
        let at = |mhz| {
            references_for_setup(&session, 0, None, &[roofs("cuda:0", "Test device", mhz)]).err()
        };
        assert_eq!((at(None), at(Some(1530.0))), (None, None));
        let reason = at(Some(1600.0)).unwrap();
        assert!(
            reason.contains("1,600 MHz") && reason.contains("1,500 MHz"),
            "{reason}"
        );
    }

    #[test]
    fn a_card_without_roofs_has_what_is_published() {
        let mut session = session(&["torch:cuda:0", "ort:cpu,copies=2", "ort:cpu"], &[1]);
        assert!(
            references_for_setup(&session, 0, None, &[])
                .unwrap_err()
                .contains("powerband roofs")
        );
        session.environment.gpus = vec![powerband_core::domain::device::Gpu {
            name: "NVIDIA A10".to_owned(),
            memory_bytes: None,
            driver: None,
        }];
        let published = references_for_setup(&session, 0, None, &[]).unwrap();
        let line = published.memory(1).unwrap();
        assert!(
            line.title.contains("published") && line.per_s > 5e11,
            "{line:?}"
        );
        let of_other = [roofs("cuda:0", "NVIDIA L4", None)];
        let other = references_for_setup(&session, 0, None, &of_other).unwrap();
        assert_eq!(other.memory(1), Some(line));
        assert!(
            references_for_setup(&session, 1, None, &[])
                .unwrap_err()
                .contains("2 replicas")
        );
        let foreign =
            references_for_setup(&session, 2, None, &[roofs("cpu", "another", None)]).unwrap_err();
        assert!(foreign.contains("those of another"), "{foreign}");
    }
}
