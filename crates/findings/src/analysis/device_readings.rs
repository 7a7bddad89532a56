//! Readings of the devices while a case was measured, as lowest, mean and highest value.

use powerband_core::base::humanize;
use powerband_core::domain::case::Case;
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::{
    DeviceKind, DeviceTelemetry, Quantity, Telemetry, Throttle, TimeSpan,
};

/// Minimum, mean and maximum of a quantity over all rounds of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadingRange {
    pub min: f64,
    pub mean: f64,
    pub max: f64,
    pub readings: usize,
}

/// One device while a case was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseReadings {
    /// Index in the session's list of devices.
    pub device: usize,
    /// What was read at least once.
    pub extents: Vec<(Quantity, ReadingRange)>,
}

impl CaseReadings {
    /// A quantity's extent, where it was read.
    pub fn extent(&self, quantity: Quantity) -> Option<ReadingRange> {
        let found = self.extents.iter().find(|(of, _)| *of == quantity);
        found.map(|(_, extent)| *extent)
    }
}

/// When a case was measured: its rounds.
pub fn round_spans(case: &Case) -> impl Iterator<Item = TimeSpan> + '_ {
    case.rounds.iter().map(|round| TimeSpan {
        from_ns: round.started_ns,
        to_ns: round.started_ns + round.spent_ns,
    })
}

/// The readings of every device of the case's machine while the case was measured. Single cores are left out.
pub fn case_readings(session: &Session, case: &Case) -> Vec<CaseReadings> {
    let watched = session.devices_beside(case.setup).map(|(device, track)| {
        let spans: Vec<TimeSpan> = round_spans(case).collect();
        let channels = track.channels.iter();
        let extents = channels
            .filter(|channel| !matches!(channel.quantity, Quantity::Core(_)))
            .filter_map(|channel| {
                let values = spans
                    .iter()
                    .flat_map(|span| readings_within(track, channel.quantity, *span))
                    .map(|(_, value)| value);
                Some((channel.quantity, extent(values)?))
            });
        CaseReadings {
            device,
            extents: extents.collect(),
        }
    });
    watched
        .filter(|device| !device.extents.is_empty())
        .collect()
}

/// The readings of a quantity within a stretch of time.
pub fn readings_within(
    track: &DeviceTelemetry,
    quantity: Quantity,
    span: TimeSpan,
) -> impl Iterator<Item = (u64, f64)> + '_ {
    let times = &track.times_ns;
    let from = times.partition_point(|at_ns| *at_ns < span.from_ns);
    let to = times.partition_point(|at_ns| *at_ns <= span.to_ns);
    let values = track.values(quantity);
    let range = from..to.min(values.len()).max(from);
    range.filter_map(move |index| Some((times[index], (*values.get(index)?)?)))
}

/// The last value of a quantity, where it is of the last moments before the device was read last.
pub fn newest_value(
    telemetry: &Telemetry,
    track: &DeviceTelemetry,
    quantity: Quantity,
) -> Option<f64> {
    // What is read once a second is still new at the next reading but one.
    let newest_ns = *track.times_ns.last()?;
    let window = TimeSpan {
        from_ns: newest_ns.saturating_sub(telemetry.longest_step_ns(newest_ns).max(2_500_000_000)),
        to_ns: newest_ns,
    };
    readings_within(track, quantity, window)
        .last()
        .map(|(_, value)| value)
}

/// The devices that a setup computes on, of its own machine.
pub fn devices_of_setup(session: &Session, place: usize) -> Vec<usize> {
    let Some(setup) = session.plan.setups.get(place) else {
        return Vec::new();
    };
    let (word, number) = setup.device.split_once(':').unwrap_or((&setup.device, "0"));
    // Replicas may have devices of their own.
    let numbers = setup.options.get("devices").map_or(number, String::as_str);
    let numbers: Vec<usize> = numbers
        .split([',', '+'])
        .filter_map(|number| number.trim().parse().ok())
        .collect();
    let is_one = |track: &DeviceTelemetry| {
        let device = &track.device;
        match word {
            "cuda" | "tensorrt" => {
                device.kind == DeviceKind::Nvidia && numbers.contains(&device.number)
            }
            "rocm" | "migraphx" => {
                device.kind == DeviceKind::Amd && numbers.contains(&device.number)
            }
            _ => !device.kind.is_gpu(),
        }
    };
    session
        .devices_beside(place)
        .filter(|(_, track)| is_one(track))
        .map(|(device, _)| device)
        .collect()
}

/// The utilisation of the device that a setup computes on.
pub(crate) fn busy_share(session: &Session, setup: usize, watched: &[CaseReadings]) -> Option<f64> {
    let own = devices_of_setup(session, setup);
    let of_own = watched.iter().filter(|device| own.contains(&device.device));
    let busy = of_own.filter_map(|device| device.extent(Quantity::Busy));
    busy.map(|extent| extent.mean / 100.0).reduce(f64::max)
}

/// A value as text with its unit.
pub fn reading_text(quantity: Quantity, value: f64) -> String {
    let number =
        |digits: usize, unit: &str| format!("{} {unit}", humanize::significant(value, digits));
    match quantity {
        Quantity::Busy
        | Quantity::BusiestCore
        | Quantity::MemoryBusy
        | Quantity::Stolen
        | Quantity::Core(_) => format!("{value:.0} %"),
        Quantity::MemoryUsed | Quantity::WorkerMemory | Quantity::WorkerPeak => {
            humanize::bytes(value as u64)
        }
        Quantity::BusReceived | Quantity::BusSent => {
            format!("{}/s", humanize::bytes(value as u64))
        }
        Quantity::Clock | Quantity::MemoryClock => {
            if value >= 1e3 {
                format!("{:.2} GHz", value / 1e3)
            } else {
                format!("{value:.0} MHz")
            }
        }
        Quantity::Power => number(3, "W"),
        Quantity::Energy => number(4, "J"),
        Quantity::Temperature | Quantity::HotSpot | Quantity::MemoryTemperature => {
            format!("{value:.0} °C")
        }
        Quantity::Voltage => number(3, "V"),
        Quantity::Switches => number(2, "/s"),
        Quantity::Throttle => {
            let reasons: Vec<String> = Throttle::reasons_in(value).map(|r| r.to_string()).collect();
            if reasons.is_empty() {
                "nothing".to_owned()
            } else {
                reasons.join(", ")
            }
        }
        Quantity::TooHot | Quantity::MemoryErrors | Quantity::OtherProcesses => {
            humanize::count(value as u64)
        }
    }
}

fn extent(values: impl Iterator<Item = f64>) -> Option<ReadingRange> {
    let (mut min, mut max, mut sum, mut readings) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0);
    for value in values {
        (min, max) = (min.min(value), max.max(value));
        sum += value;
        readings += 1;
    }
    (readings > 0).then(|| ReadingRange {
        min,
        mean: sum / readings as f64,
        max,
        readings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing;
    use powerband_core::domain::machine::RemoteMachine;

    #[test]
    fn only_what_was_read_within_the_rounds_counts() {
        let mut session = testing::session(&["ort:cpu"], &[1, 2]);
        let second = 1_000_000_000;
        testing::measure(&mut session, 0, 1, &[&[second / 2], &[second / 2]]);
        testing::add_telemetry(&mut session, DeviceKind::Amd, 10.0, 3.0, |at_s| {
            vec![
                (Quantity::Power, 100.0 + 10.0 * at_s),
                (Quantity::Core(0), 5.0),
            ]
        });
        let watched = case_readings(&session, &session.cases[0]);
        let power = watched[0].extent(Quantity::Power).unwrap();
        // Rounds from 0 to 0.5 s and from 1 to 1.5 s, six readings each.
        assert_eq!((power.readings, power.min, power.max), (12, 100.0, 115.0));
        assert!((power.mean - 107.5).abs() < 1e-9);
        assert_eq!(watched[0].extents.len(), 1, "single cores are left out");
        assert!(case_readings(&session, &session.cases[1]).is_empty());
    }

    #[test]
    fn setups_find_their_devices() {
        let setups = ["ort:cpu", "ort:cuda:1", "ort:migraphx", "ort:rocm:0"];
        let mut session = testing::session(&setups, &[1]);
        for kind in [DeviceKind::Host, DeviceKind::Nvidia, DeviceKind::Amd] {
            testing::add_telemetry(&mut session, kind, 10.0, 0.0, |_| Vec::new());
        }
        assert_eq!(devices_of_setup(&session, 0), [0]);
        assert!(
            devices_of_setup(&session, 1).is_empty(),
            "there is one card only"
        );
        assert_eq!(devices_of_setup(&session, 2), [2]);
        assert_eq!(devices_of_setup(&session, 3), [2]);
        assert!(devices_of_setup(&session, 9).is_empty());
    }

    #[test]
    fn a_case_has_the_readings_of_its_own_machine_alone() {
        let mut session = testing::session(&["ort:rocm", "ort:rocm,where=rack"], &[1]);
        session.machines.push(RemoteMachine {
            name: "rack".to_owned(),
            setups: vec![1],
            ..RemoteMachine::default()
        });
        let second = 1_000_000_000;
        for setup in 0..2 {
            testing::measure(&mut session, setup, 1, &[&[second]]);
            let watts = 100.0 + setup as f64;
            testing::add_telemetry(&mut session, DeviceKind::Amd, 10.0, 2.0, |_| {
                vec![(Quantity::Power, watts)]
            });
        }
        session.telemetry.tracks[1].device.machine = Some("rack".to_owned());
        for (setup, watts) in [(0, 100.0), (1, 101.0)] {
            assert_eq!(devices_of_setup(&session, setup), [setup]);
            let watched = case_readings(&session, &session.cases[setup]);
            assert_eq!(watched.len(), 1, "{watched:?}");
            let power = watched[0].extent(Quantity::Power).unwrap();
            assert_eq!((power.min, power.max), (watts, watts));
        }
    }
}
