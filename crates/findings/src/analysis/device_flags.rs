//! Flags from device readings: throttling, and other programs on the device.

use super::device_readings::{self, readings_within};
use super::flag::{Flag, FlagSeverity};
use powerband_core::base::humanize;
use powerband_core::domain::case::Case;
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::{
    DeviceKind, DeviceLoss, DeviceTelemetry, Quantity, Throttle, TimeSpan,
};

/// A device that was slowed down in a smaller share of the readings gets no flag.
const LEAST_SHARE: f64 = 0.1;
/// Below this share of its highest clock a busy card is slow.
const LOW_CLOCK: f64 = 0.75;
/// A card that computes less than this share of the time may lower its clock as it likes, in percent.
const BUSY: f64 = 50.0;
/// From this share of its limit on, power is at the limit.
const AT_LIMIT: f64 = 0.98;

/// Every flag of a case from the devices of its setup.
pub fn case_device_flags(session: &Session, case: &Case) -> Vec<Flag> {
    let own = device_readings::devices_of_setup(session, case.setup);
    let tracks = own
        .into_iter()
        .filter_map(|device| session.telemetry.tracks.get(device));
    let mut flags = Vec::new();
    for track in tracks {
        // The first reason that is found is the strongest.
        let throttled = throttling_reported(track, case)
            .or_else(|| power_limited(track, case))
            .or_else(|| clock_lowered(track, case))
            .or_else(|| too_hot(track, case));
        flags.extend(throttled);
        flags.extend(contended(track, case));
        flags.extend(lost(track, case));
    }
    flags
}

/// That a device of the case was slowed down, where it says so itself or its clock shows it.
pub fn slowed_down(session: &Session, case: &Case) -> Option<Flag> {
    let own = device_readings::devices_of_setup(session, case.setup);
    let mut tracks = own
        .into_iter()
        .filter_map(|device| session.telemetry.tracks.get(device));
    tracks.find_map(|track| throttling_reported(track, case).or_else(|| clock_lowered(track, case)))
}

fn throttled(weight: FlagSeverity, evidence: String, advice: String) -> Flag {
    Flag {
        name: "throttled",
        weight,
        evidence,
        advice,
        excess: None,
    }
}

/// A quantity's readings within the rounds of the case.
fn readings<'a>(
    track: &'a DeviceTelemetry,
    case: &'a Case,
    quantity: Quantity,
) -> impl Iterator<Item = (u64, f64)> + 'a {
    device_readings::round_spans(case).flat_map(move |span| readings_within(track, quantity, span))
}

/// The readings for which a condition holds, and the number of readings examined.
struct MatchingReadings {
    among: usize,
    seen: Vec<(u64, f64)>,
}

impl MatchingReadings {
    fn from_readings(
        readings: impl Iterator<Item = (u64, f64)>,
        is_so: impl Fn(u64, f64) -> bool,
    ) -> Self {
        let mut seen = Self {
            among: 0,
            seen: Vec::new(),
        };
        for (at_ns, value) in readings {
            seen.among += 1;
            if is_so(at_ns, value) {
                seen.seen.push((at_ns, value));
            }
        }
        seen
    }

    fn is_frequent(&self) -> bool {
        !self.seen.is_empty() && self.seen.len() as f64 >= LEAST_SHARE * self.among as f64
    }

    /// `in 12 of 40 readings, first at 3.20 s`
    fn evidence_text(&self) -> String {
        let first = self.seen.first().map_or(0, |(at_ns, _)| *at_ns);
        format!(
            "in {} of {} readings, first at {} s",
            self.seen.len(),
            self.among,
            humanize::significant(first as f64 / 1e9, 3)
        )
    }
}

/// Flag of a device that reports throttling, with the reasons that it gives.
fn throttling_reported(track: &DeviceTelemetry, case: &Case) -> Option<Flag> {
    let seen =
        MatchingReadings::from_readings(readings(track, case, Quantity::Throttle), |_, bits| {
            bits > 0.0
        });
    if !seen.is_frequent() {
        return None;
    }
    let bits = seen
        .seen
        .iter()
        .fold(0, |all, (_, bits)| all | *bits as u32);
    let reasons: Vec<Throttle> = Throttle::reasons_in(f64::from(bits)).collect();
    let words: Vec<String> = reasons.iter().map(ToString::to_string).collect();
    let only_power = reasons == [Throttle::Power];
    let name = track.device.short_name();
    Some(throttled(
        if only_power {
            FlagSeverity::Amber
        } else {
            FlagSeverity::Red
        },
        format!(
            "{name} was slowed down by {} {}",
            words.join(" and "),
            seen.evidence_text()
        ),
        if only_power {
            about_power(track)
        } else {
            "cool the machine, or lock the clock at one that it can hold".to_owned()
        },
    ))
}

fn power_limited(track: &DeviceTelemetry, case: &Case) -> Option<Flag> {
    let limit = track.device.power_limit_w.filter(|limit| *limit > 0.0)?;
    let seen =
        MatchingReadings::from_readings(readings(track, case, Quantity::Power), |_, watts| {
            watts >= AT_LIMIT * limit
        });
    seen.is_frequent().then(|| {
        let name = track.device.short_name();
        throttled(
            FlagSeverity::Amber,
            format!(
                "{name} was at its power limit of {limit:.0} W {}",
                seen.evidence_text()
            ),
            about_power(track),
        )
    })
}

fn about_power(track: &DeviceTelemetry) -> String {
    let settings = &track.device.settings;
    let limit = settings
        .iter()
        .find(|setting| setting.name == "Power limit");
    let command = limit.and_then(|limit| limit.command.as_ref());
    let how = command.map(|command| format!(": {command}"));
    format!(
        "compare only with runs under the same power limit, or change it{}",
        how.unwrap_or_default()
    )
}

fn clock_lowered(track: &DeviceTelemetry, case: &Case) -> Option<Flag> {
    let device = &track.device;
    let highest = device.max_clock_mhz.filter(|_| device.kind.is_gpu())?;
    // A card without reported utilisation counts as busy.
    let is_busy = |at_ns: u64| {
        let busy = track.values(Quantity::Busy);
        let index = track.times_ns.partition_point(|time| *time < at_ns);
        busy.get(index)
            .copied()
            .flatten()
            .is_none_or(|busy| busy >= BUSY)
    };
    let seen =
        MatchingReadings::from_readings(readings(track, case, Quantity::Clock), |at_ns, mhz| {
            mhz < LOW_CLOCK * highest && is_busy(at_ns)
        });
    seen.is_frequent().then(|| {
        let lowest = seen
            .seen
            .iter()
            .map(|(_, mhz)| *mhz)
            .fold(f64::INFINITY, f64::min);
        throttled(
            FlagSeverity::Amber,
            format!(
                "{} ran as low as {lowest:.0} MHz of {highest:.0} MHz though it was busy, {}",
                device.short_name(),
                seen.evidence_text()
            ),
            "look at temperature and power in the lanes, and lock the clock for comparisons"
                .to_owned(),
        )
    })
}

/// The processor counts how often it became too hot.
fn too_hot(track: &DeviceTelemetry, case: &Case) -> Option<Flag> {
    // It is read once a second, which may be more seldom than rounds come.
    let counts: Vec<(u64, f64)> = track.readings(Quantity::TooHot).collect();
    let rise = device_readings::round_spans(case)
        .filter_map(|span| {
            let before = counts.iter().rfind(|(at_ns, _)| *at_ns <= span.from_ns);
            let after = counts.iter().find(|(at_ns, _)| *at_ns >= span.to_ns);
            let (first, last) = (
                before.or_else(|| counts.first())?,
                after.or_else(|| counts.last())?,
            );
            Some((last.1 - first.1).max(0.0))
        })
        .fold(0.0, |sum, rise| sum + rise);
    (rise > 0.0).then(|| {
        throttled(
            FlagSeverity::Red,
            format!(
                "the processor became too hot {} while it was measured",
                humanize::pluralised(rise as u64, "time")
            ),
            "cool the machine, or lower its clocks to a sustainable value".to_owned(),
        )
    })
}

/// Other programs computed on the card.
fn contended(track: &DeviceTelemetry, case: &Case) -> Option<Flag> {
    if track.device.kind == DeviceKind::Host {
        return None;
    }
    let seen =
        MatchingReadings::from_readings(readings(track, case, Quantity::OtherProcesses), |_, n| {
            n > 0.0
        });
    seen.is_frequent().then(|| {
        let most = seen.seen.iter().map(|(_, n)| *n).fold(0.0, f64::max);
        Flag {
            name: "contended",
            weight: FlagSeverity::Amber,
            evidence: format!(
                "{} more computed on {} {}",
                if most > 1.0 {
                    format!("{most:.0} processes")
                } else {
                    "one process".to_owned()
                },
                track.device.short_name(),
                seen.evidence_text()
            ),
            advice: "end all other programs on the card; nvidia-smi lists them".to_owned(),
            excess: None,
        }
    })
}

/// The device stopped responding before the case was over.
fn lost(track: &DeviceTelemetry, case: &Case) -> Option<Flag> {
    let spans: Vec<TimeSpan> = device_readings::round_spans(case).collect();
    // Within the rounds, or before them without an end.
    let from_ns = spans.iter().map(|span| span.from_ns).min()?;
    let to_ns = spans.iter().map(|span| span.to_ns).max()?;
    let is_seen = |lost: &&DeviceLoss| {
        let is_last = track.lost.as_ref() == Some(*lost);
        lost.at_ns < to_ns && (is_last || lost.at_ns >= from_ns)
    };
    let lost = track.losses().find(is_seen)?;
    Some(Flag {
        name: "device-lost",
        weight: FlagSeverity::Red,
        evidence: format!(
            "{} stopped responding at {} s: {}",
            track.device.short_name(),
            humanize::significant(lost.at_ns as f64 / 1e9, 3),
            lost.why
        ),
        advice: "check the system log with sudo dmesg, and measure again".to_owned(),
        excess: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing;

    /// One round of four seconds on a card that says this.
    fn flags(
        setup: &str,
        kind: DeviceKind,
        change: impl FnOnce(&mut DeviceTelemetry),
        read: impl Fn(f64) -> Vec<(Quantity, f64)>,
    ) -> Vec<Flag> {
        let mut session = testing::session(&[setup], &[1]);
        testing::measure(&mut session, 0, 1, &[&[1_000_000_000; 4]]);
        testing::add_telemetry(&mut session, kind, 10.0, 6.0, read);
        let track = &mut session.telemetry.tracks[0];
        track.device.max_clock_mhz = Some(2_000.0);
        track.device.power_limit_w = Some(300.0);
        change(track);
        case_device_flags(&session, &session.cases[0])
    }

    fn on_card(read: impl Fn(f64) -> Vec<(Quantity, f64)>) -> Vec<Flag> {
        flags("ort:cuda:0", DeviceKind::Nvidia, |_| (), read)
    }

    #[test]
    fn a_card_that_does_its_best_has_none() {
        let found = on_card(|at_s| {
            let is_late = at_s > 4.0;
            vec![
                (Quantity::Throttle, if is_late { 2.0 } else { 0.0 }),
                (Quantity::Power, 250.0),
                (Quantity::Clock, 1_800.0),
                (Quantity::Busy, 97.0),
            ]
        });
        assert_eq!(found, [], "what comes after the last sample does not count");
    }

    #[test]
    fn each_reason_is_told_with_its_readings() {
        let heat = on_card(|at_s| vec![(Quantity::Throttle, if at_s >= 2.0 { 2.0 } else { 0.0 })]);
        assert_eq!(
            (heat[0].name, heat[0].weight),
            ("throttled", FlagSeverity::Red)
        );
        assert_eq!(
            heat[0].evidence,
            "GPU 0 was slowed down by heat in 21 of 41 readings, first at 2.00 s"
        );
        let capped = on_card(|_| vec![(Quantity::Throttle, 1.0)]);
        assert_eq!(capped[0].weight, FlagSeverity::Amber);
        let at_limit = on_card(|_| vec![(Quantity::Power, 299.0)]);
        assert!(at_limit[0].evidence.contains("power limit of 300 W"));
        let slow = on_card(|_| vec![(Quantity::Clock, 900.0), (Quantity::Busy, 99.0)]);
        assert!(slow[0].evidence.contains("900 MHz of 2000 MHz"));
        let shared = on_card(|_| vec![(Quantity::OtherProcesses, 2.0)]);
        assert_eq!(shared[0].name, "contended");
        assert!(
            shared[0]
                .evidence
                .starts_with("2 processes more computed on GPU 0")
        );
    }

    #[test]
    fn an_idle_card_may_be_slow_and_another_card_does_not_matter() {
        let idle = on_card(|_| vec![(Quantity::Clock, 300.0), (Quantity::Busy, 3.0)]);
        assert_eq!(idle, []);
        let other = flags(
            "ort:cpu",
            DeviceKind::Nvidia,
            |_| (),
            |_| vec![(Quantity::Throttle, 2.0)],
        );
        assert_eq!(other, []);
    }

    #[test]
    fn a_processor_that_became_too_hot_is_told() {
        let found = flags(
            "ort:cpu",
            DeviceKind::Host,
            |_| (),
            |at_s| vec![(Quantity::TooHot, if at_s > 2.0 { 9.0 } else { 7.0 })],
        );
        assert!(found[0].evidence.contains("too hot 2 times"), "{found:?}");
    }

    #[test]
    fn a_lost_card_has_a_flag() {
        let lose = |track: &mut DeviceTelemetry| {
            track.lost = Some(DeviceLoss {
                at_ns: 3_000_000_000,
                why: "it fell off the bus".to_owned(),
            });
        };
        let found = flags("ort:cuda:0", DeviceKind::Nvidia, lose, |_| Vec::new());
        assert_eq!(found[0].name, "device-lost");
        assert!(
            found[0].evidence.contains("stopped responding at 3.00 s"),
            "{found:?}"
        );
    }
}
