//! What a case cost in energy: by a counter in the hardware where there is one, else by the area under
//! the power that was read.

use std::fmt;

use serde::Serialize;

use super::device_readings::{self, readings_within};
use powerband_core::base::humanize;
use powerband_core::domain::case::Case;
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::{DeviceTelemetry, Quantity, Telemetry, TimeSpan};
use powerband_core::stats::integral;

/// Less time than this gives no reliable energy.
const LEAST_S: f64 = 10.0;
/// Neither do fewer readings.
const FEWEST_READINGS: usize = 20;

/// How energy was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The hardware counted it.
    Counter,
    /// Power was read from time to time, and straight lines drawn between.
    Integral,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counter => "energy counter",
            Self::Integral => "integral of power",
        })
    }
}

/// Which number stands for energy. It has a name, and the name is always shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EnergyKind {
    /// Joules of an item, all of them.
    #[default]
    Gross,
    /// Joules of an item, without what an idle machine would have drawn anyway.
    Net,
    /// Items for a joule.
    PerJoule,
}

impl EnergyKind {
    /// Every one, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Gross, Self::Net, Self::PerJoule];

    /// Its definition in one sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Gross => {
                "All energy while the case was measured, divided by the items that were done."
            }
            Self::Net => {
                "The same without the energy that the idle machine would have drawn in that time."
            }
            Self::PerJoule => "Items that were done, divided by all energy.",
        }
    }
}

impl fmt::Display for EnergyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gross => "gross",
            Self::Net => "net",
            Self::PerJoule => "per joule",
        })
    }
}

/// The energy of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Energy {
    /// Which devices it is of: those that the setup computes on.
    pub devices: String,
    /// How it was measured.
    #[serde(skip)]
    pub method: Method,
    /// Readings a second.
    pub rate_hz: f64,
    /// Time over which it was counted, in seconds.
    pub seconds: f64,
    /// Readings behind it.
    pub readings: usize,
    /// Items that were done in that time.
    #[serde(skip)]
    pub items: f64,
    /// Total energy, in joules.
    pub gross_j: f64,
    /// What the devices drew before anything ran, in watts, where that was read.
    pub idle_w: Option<f64>,
}

impl Energy {
    /// Without what would have been drawn anyway, in joules.
    pub(crate) fn net_j(&self) -> Option<f64> {
        Some(self.gross_j - self.idle_w? * self.seconds)
    }

    /// Gross energy of one item, in joules.
    pub fn gross_j_per_item(&self) -> f64 {
        self.gross_j / self.items
    }

    /// The same without what would have been drawn anyway.
    pub fn net_j_per_item(&self) -> Option<f64> {
        Some(self.net_j()? / self.items)
    }

    /// Items for one joule.
    pub fn items_per_j(&self) -> f64 {
        self.items / self.gross_j
    }

    /// Mean power, in watts.
    pub fn mean_w(&self) -> f64 {
        self.gross_j / self.seconds
    }

    /// How it was measured, in a sentence.
    pub fn sentence(&self) -> String {
        let idle = self.idle_w.map_or_else(
            || "idle power was not read".to_owned(),
            |watts| format!("{} W when idle", humanize::significant(watts, 3)),
        );
        format!(
            "{} of {}, {} readings at {} Hz over {} s; {idle}",
            self.method,
            self.devices,
            humanize::count(self.readings as u64),
            humanize::significant(self.rate_hz, 3),
            humanize::significant(self.seconds, 3),
        )
    }
}

/// An energy as people read it: `312 mJ`, `4.10 J`.
pub fn joules_text(joules: f64) -> String {
    if joules.abs() < 1.0 {
        format!("{} mJ", humanize::significant(joules * 1e3, 3))
    } else {
        format!("{} J", humanize::significant(joules, 3))
    }
}

/// The energy of a case, or why it is not known.
pub fn case_energy(session: &Session, case: &Case) -> Result<Energy, String> {
    let telemetry = &session.telemetry;
    let tracks = counted_tracks(session, case)?;
    let Some((method, rounds)) = rounds_counted(telemetry, case, &tracks) else {
        return Err(why_no_energy(&tracks));
    };
    let counted: EnergySum = rounds.into_iter().flatten().collect();
    let rate_hz = case.rounds.first().map_or(telemetry.rate_hz, |round| {
        telemetry.rate_at(round.started_ns)
    });
    if counted.seconds < LEAST_S || counted.readings < FEWEST_READINGS {
        return Err(format!(
            "{} s and {} were recorded; energy needs {LEAST_S:.0} s and {FEWEST_READINGS} readings, so measure longer, as a plan with energies does, or read more often than {} times a second",
            humanize::value(counted.seconds),
            humanize::pluralised(counted.readings as u64, "reading"),
            humanize::significant(rate_hz, 3),
        ));
    }
    let names: Vec<String> = tracks.iter().map(|t| t.device.short_name()).collect();
    Ok(Energy {
        devices: names.join(", "),
        method,
        rate_hz,
        seconds: counted.seconds,
        readings: counted.readings,
        items: counted.items,
        gross_j: counted.gross_j,
        idle_w: idle_w(telemetry, &tracks),
    })
}

/// The joules of an item in each round; nothing for one in which readings are missing, and none at all where energy is
/// not known.
pub(super) fn joules_of_item_by_round(session: &Session, case: &Case) -> Vec<Option<f64>> {
    let tracks = counted_tracks(session, case).unwrap_or_default();
    let found = rounds_counted(&session.telemetry, case, &tracks);
    let rounds = found.map_or_else(Vec::new, |(_, rounds)| rounds);
    let of_item = |sum: EnergySum| (sum.gross_j > 0.0).then(|| sum.gross_j / sum.items);
    rounds
        .into_iter()
        .map(|round| round.and_then(of_item))
        .collect()
}

/// The devices whose energy is that of a case, or why there are none.
fn counted_tracks<'a>(
    session: &'a Session,
    case: &Case,
) -> Result<Vec<&'a DeviceTelemetry>, String> {
    let telemetry = &session.telemetry;
    if case.rounds.is_empty() {
        let here = if case.stated.is_empty() { "" } else { " here" };
        return Err(format!("it was not measured{here}"));
    }
    if telemetry.tracks.is_empty() {
        return Err("no device was watched".to_owned());
    }
    let own: Vec<&DeviceTelemetry> = device_readings::devices_of_setup(session, case.setup)
        .into_iter()
        .filter_map(|device| telemetry.tracks.get(device))
        .collect();
    if own.iter().any(|track| track.device.is_played_back()) {
        return Err("the readings are played back from another run".to_owned());
    }
    let tracks: Vec<&DeviceTelemetry> =
        own.into_iter().filter(|track| tells_power(track)).collect();
    if tracks.is_empty() {
        return Err("the device that it ran on reports no power".to_owned());
    }
    Ok(tracks)
}

/// Why no round counts.
fn why_no_energy(tracks: &[&DeviceTelemetry]) -> String {
    let lost = tracks.iter().find_map(|track| {
        let lost = track.losses().last()?;
        let name = track.device.short_name();
        let at_s = humanize::significant(lost.at_ns as f64 / 1e9, 3);
        Some(format!("{name} stopped responding at {at_s} s"))
    });
    lost.unwrap_or_else(|| "the power readings have gaps in every round".to_owned())
}

fn tells_power(track: &DeviceTelemetry) -> bool {
    track.has_quantity(Quantity::Power) || track.has_quantity(Quantity::Energy)
}

/// The ways to measure it, the better one first.
fn methods(tracks: &[&DeviceTelemetry]) -> Vec<Method> {
    let all = |quantity: Quantity| tracks.iter().all(|track| track.has_quantity(quantity));
    let mut methods = Vec::new();
    if all(Quantity::Energy) {
        methods.push(Method::Counter);
    }
    if all(Quantity::Power) {
        methods.push(Method::Integral);
    }
    methods
}

/// What was counted in a round, or in several.
#[derive(Clone, Copy, Default)]
struct EnergySum {
    seconds: f64,
    readings: usize,
    items: f64,
    gross_j: f64,
}

impl FromIterator<Self> for EnergySum {
    fn from_iter<T: IntoIterator<Item = Self>>(rounds: T) -> Self {
        rounds.into_iter().fold(Self::default(), |sum, round| Self {
            seconds: sum.seconds + round.seconds,
            readings: sum.readings + round.readings,
            items: sum.items + round.items,
            gross_j: sum.gross_j + round.gross_j,
        })
    }
}

/// What each round counted, and how; nothing for a round in which readings are missing.
fn rounds_counted(
    telemetry: &Telemetry,
    case: &Case,
    tracks: &[&DeviceTelemetry],
) -> Option<(Method, Vec<Option<EnergySum>>)> {
    // A counter that stands still or begins anew is worth less than the power.
    methods(tracks).into_iter().find_map(|method| {
        let rounds = case.rounds.iter().zip(device_readings::round_spans(case));
        let counted: Vec<Option<EnergySum>> = rounds
            .map(|(round, span)| {
                let counted = energy_within(telemetry, tracks, span, method)?;
                let items = round.samples_ns.len() as f64 * case.point.batch() as f64;
                Some(EnergySum { items, ..counted })
            })
            .collect();
        let sum: EnergySum = counted.iter().copied().flatten().collect();
        (sum.items > 0.0 && sum.gross_j > 0.0).then_some((method, counted))
    })
}

/// The energy of devices within a stretch of time; nothing where readings are missing.
fn energy_within(
    telemetry: &Telemetry,
    tracks: &[&DeviceTelemetry],
    span: TimeSpan,
    method: Method,
) -> Option<EnergySum> {
    let parts: Option<Vec<(f64, usize)>> = tracks
        .iter()
        .map(|track| joules_within(telemetry, track, span, method))
        .collect();
    let (joules, readings): (Vec<f64>, Vec<usize>) = parts?.into_iter().unzip();
    Some(EnergySum {
        seconds: span.length_ns() as f64 / 1e9,
        readings: readings.into_iter().min().unwrap_or(0),
        items: 0.0,
        gross_j: joules.iter().sum(),
    })
}

/// One device's energy within a stretch of time, and how many readings are in it.
fn joules_within(
    telemetry: &Telemetry,
    track: &DeviceTelemetry,
    span: TimeSpan,
    method: Method,
) -> Option<(f64, usize)> {
    let step_ns = telemetry.longest_step_ns(span.from_ns);
    let sitting = telemetry.sitting_at(span.from_ns);
    let around = TimeSpan {
        from_ns: span.from_ns.saturating_sub(step_ns).max(sitting.from_ns),
        to_ns: span.to_ns.saturating_add(step_ns).min(sitting.to_ns),
    };
    let quantity = match method {
        Method::Counter => Quantity::Energy,
        Method::Integral => Quantity::Power,
    };
    let seconds = |at_ns: u64| at_ns as f64 / 1e9;
    let readings: Vec<(f64, f64)> = readings_within(track, quantity, around)
        .map(|(at_ns, value)| (seconds(at_ns), value))
        .collect();
    let (from, to, step) = (seconds(span.from_ns), seconds(span.to_ns), seconds(step_ns));
    // One reading may come late at either end.
    let hold = 1.5 / telemetry.rate_at(span.from_ns).max(0.1);
    let inside = readings_within(track, quantity, span).count();
    let joules = match method {
        Method::Counter => integral::growth(&readings, from, to, step)?,
        Method::Integral => integral::area(&readings, from, to, (step, hold))?,
    };
    Some((joules, inside))
}

/// What the devices drew together before anything ran.
fn idle_w(telemetry: &Telemetry, tracks: &[&DeviceTelemetry]) -> Option<f64> {
    let mean = |track: &&DeviceTelemetry| {
        let readings = telemetry
            .idle
            .iter()
            .flat_map(|span| readings_within(track, Quantity::Power, *span));
        let watts: Vec<f64> = readings.map(|(_, watts)| watts).collect();
        (!watts.is_empty()).then(|| watts.iter().sum::<f64>() / watts.len() as f64)
    };
    tracks.iter().map(mean).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing;
    use powerband_core::domain::telemetry::{DeviceKind, DeviceReading};

    const SECOND: u64 = 1_000_000_000;

    /// Six rounds of four samples of half a second, at batch 2, a round every other second.
    fn session(setup: &str) -> Session {
        let mut session = testing::session(&[setup], &[2]);
        let samples = [SECOND / 2; 4];
        let rounds = [samples.as_slice(); 6];
        testing::measure(&mut session, 0, 2, &rounds);
        for (round, start) in session.cases[0].rounds.iter_mut().zip((3..).step_by(2)) {
            round.started_ns = start * SECOND;
        }
        session
    }

    fn energy(session: &Session) -> Result<Energy, String> {
        case_energy(session, &session.cases[0])
    }

    #[test]
    fn power_is_integrated_and_idle_power_taken_off() {
        let mut session = session("ort:rocm:0");
        testing::add_telemetry(&mut session, DeviceKind::Amd, 10.0, 20.0, |at_s| {
            vec![(Quantity::Power, if at_s < 2.0 { 40.0 } else { 240.0 })]
        });
        session.telemetry.idle.push(TimeSpan {
            from_ns: 0,
            to_ns: 19 * SECOND / 10,
        });
        let energy = energy(&session).unwrap();
        assert_eq!(energy.method, Method::Integral);
        assert_eq!((energy.seconds, energy.items), (12.0, 48.0));
        assert!((energy.gross_j - 2880.0).abs() < 1e-6);
        assert!((energy.net_j().unwrap() - 2400.0).abs() < 1e-6);
        assert!((energy.gross_j_per_item() - 60.0).abs() < 1e-9);
        assert!((energy.net_j_per_item().unwrap() - 50.0).abs() < 1e-9);
        assert!((energy.mean_w() - 240.0).abs() < 1e-9);
        assert!(energy.sentence().contains("integral of power of GPU 0"));
    }

    #[test]
    fn a_counter_goes_before_power() {
        let mut session = session("ort:cuda:0");
        testing::add_telemetry(&mut session, DeviceKind::Nvidia, 10.0, 20.0, |at_s| {
            vec![
                (Quantity::Power, 9_999.0),
                (Quantity::Energy, 1e6 + 100.0 * at_s),
            ]
        });
        let energy = energy(&session).unwrap();
        assert_eq!(energy.method, Method::Counter);
        assert!((energy.gross_j - 1200.0).abs() < 1e-6, "{}", energy.gross_j);
        assert_eq!(energy.net_j(), None, "idle power was not read");
    }

    #[test]
    fn rounds_with_gaps_do_not_count() {
        let mut session = session("ort:rocm:0");
        testing::add_telemetry(&mut session, DeviceKind::Amd, 10.0, 20.0, |at_s| {
            if (3.5..4.5).contains(&at_s) {
                Vec::new()
            } else {
                vec![(Quantity::Power, 100.0)]
            }
        });
        let energy = energy(&session).unwrap();
        assert_eq!((energy.seconds, energy.items), (10.0, 40.0));
        assert!((energy.gross_j_per_item() - 25.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_known_has_its_reason() {
        let bare = session("ort:cpu");
        assert!(energy(&bare).unwrap_err().contains("no device was watched"));
        let mut host = session("ort:cpu");
        testing::add_telemetry(&mut host, DeviceKind::Host, 10.0, 20.0, |_| {
            vec![(Quantity::Busy, 50.0)]
        });
        assert!(energy(&host).unwrap_err().contains("reports no power"));
        let mut short = session("ort:rocm:0");
        short.cases[0].rounds.truncate(2);
        let steady = |_| vec![(Quantity::Power, 100.0)];
        testing::add_telemetry(&mut short, DeviceKind::Amd, 10.0, 20.0, steady);
        assert!(energy(&short).unwrap_err().contains("energy needs 10 s"));
        let mut lost = session("ort:rocm:0");
        testing::add_telemetry(&mut lost, DeviceKind::Amd, 10.0, 1.0, steady);
        assert!(energy(&lost).unwrap_err().contains("gaps in every round"));
    }

    #[test]
    fn the_energy_of_other_devices_is_none_of_the_case() {
        let mut session = session("ort:cpu");
        testing::add_telemetry(&mut session, DeviceKind::Amd, 10.0, 20.0, |_| {
            vec![(Quantity::Power, 100.0)]
        });
        assert!(energy(&session).unwrap_err().contains("reports no power"));
    }

    #[test]
    fn a_counter_that_stands_still_or_begins_anew_yields_to_power() {
        let stuck = |_: f64| 7.0;
        let anew = |at_s: f64| {
            if at_s < 9.0 {
                100.0 * at_s
            } else {
                100.0 * (at_s - 9.0)
            }
        };
        for (counter, seconds) in [(&stuck as &dyn Fn(f64) -> f64, 12.0), (&anew, 10.0)] {
            let mut session = session("ort:rocm:0");
            testing::add_telemetry(&mut session, DeviceKind::Amd, 10.0, 20.0, |at_s| {
                vec![(Quantity::Power, 100.0), (Quantity::Energy, counter(at_s))]
            });
            let energy = energy(&session).unwrap();
            assert_eq!(energy.seconds, seconds, "{energy:?}");
            assert!((energy.mean_w() - 100.0).abs() < 1e-6, "{energy:?}");
        }
    }

    #[test]
    fn sittings_are_not_counted_across() {
        let mut session = session("ort:rocm:0");
        testing::add_telemetry(&mut session, DeviceKind::Amd, 10.0, 6.95, |_| {
            vec![(Quantity::Power, 100.0)]
        });
        let device = session.telemetry.tracks[0].device.clone();
        session
            .telemetry
            .watch(7 * SECOND, 1.0, vec![device], Vec::new());
        let readings: Vec<DeviceReading> = (7..=16)
            .map(|second| DeviceReading {
                device: 0,
                at_ns: second * SECOND,
                values: vec![(Quantity::Power, 50.0)],
            })
            .collect();
        session.telemetry.take(&readings);
        let tracks = [&session.telemetry.tracks[0]];
        let found = rounds_counted(&session.telemetry, &session.cases[0], &tracks);
        let (_, rounds) = found.unwrap();
        let counted: EnergySum = rounds.into_iter().flatten().collect();
        // Two rounds before 7 s and four from there on, whatever rate each run had.
        assert_eq!(counted.seconds, 12.0);
        assert!(
            (counted.gross_j - 4.0 * 100.0 - 8.0 * 50.0).abs() < 1e-6,
            "{}",
            counted.gross_j
        );
    }
}
