//! Device telemetry: a lane for each quantity over one axis of time.

use super::axis;
use super::spec::Axis;
use crate::analysis::device_readings;
use powerband_core::domain::case::Case;
use powerband_core::domain::point::Point;
use powerband_core::domain::profile::Profile;
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::{
    DeviceKind, DeviceTelemetry, Quantity, Telemetry, TimeSpan,
};
use powerband_core::stats::downsample;

/// Stretches of time into which a lane is divided at most: two points are drawn of each.
const BUCKETS: usize = 400;
/// A quantity that is read more seldom than its device has a gap where it misses this many of its own
/// readings.
const MISSED: f64 = 2.5;
/// The lanes of a graphics card, in this order.
const CARD_QUANTITIES: [Quantity; 6] = [
    Quantity::Busy,
    Quantity::MemoryUsed,
    Quantity::Power,
    Quantity::Clock,
    Quantity::Temperature,
    Quantity::HotSpot,
];
/// What is shown beneath a timeline, where there is less room.
const TIMELINE_QUANTITIES: [Quantity; 5] = [
    Quantity::Busy,
    Quantity::Power,
    Quantity::Clock,
    Quantity::MemoryUsed,
    Quantity::Temperature,
];
/// The lanes of the host.
const HOST_QUANTITIES: [Quantity; 5] = [
    Quantity::Busy,
    Quantity::WorkerMemory,
    Quantity::Clock,
    Quantity::Temperature,
    Quantity::Stolen,
];

/// One quantity of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// Which device.
    pub device: String,
    /// The quantity's name.
    pub title: String,
    /// The newest value.
    pub newest: String,
    /// The lowest and the highest value.
    pub range: String,
    /// The value at the bottom.
    pub low: f64,
    /// The value at the top.
    pub high: f64,
    /// Readings: coordinate along the time axis, and value.
    pub points: Vec<(f64, f64)>,
    /// Indices of points after which the line is broken.
    pub gap_after: Vec<usize>,
    pub quantity: Quantity,
}

/// A stretch of time in which a case was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseSpan {
    /// Its beginning, as a coordinate.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// Palette index of the setup.
    pub colour: usize,
    /// The case's name.
    pub text: String,
}

/// Several lanes over one axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lanes {
    /// The time.
    pub x: Axis,
    /// The lanes, device by device.
    pub lanes: Vec<Lane>,
    /// When which case was measured.
    pub stretches: Vec<CaseSpan>,
    /// When and why a device stopped responding.
    pub cuts: Vec<(f64, String)>,
    /// The setups whose cases are marked, with their palette indices.
    pub setups: Vec<(usize, String)>,
}

impl Lanes {
    /// Whether there is anything to see.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// What is seen of them once their time has been moved to this axis. Lines go on to the point beyond
    /// either end.
    pub fn seen(&self, x: Axis) -> Self {
        let lanes = self.lanes.iter().map(|lane| lane.between(x.low, x.high));
        let stretches = self.stretches.iter();
        let stretches = stretches.filter(|stretch| stretch.from <= x.high && stretch.to >= x.low);
        let cuts = self.cuts.iter();
        let cuts = cuts.filter(|(at, _)| (x.low..=x.high).contains(at));
        Self {
            lanes: lanes.collect(),
            stretches: stretches
                .map(|stretch| CaseSpan {
                    from: stretch.from.max(x.low),
                    to: stretch.to.min(x.high),
                    ..stretch.clone()
                })
                .collect(),
            cuts: cuts.cloned().collect(),
            setups: self.setups.clone(),
            x,
        }
    }
}

impl Lane {
    /// How far a value is from the bottom to the top, from 0 to 1.
    pub fn share(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low).max(1e-9);
        share.clamp(0.0, 1.0)
    }

    /// Its unbroken pieces.
    pub fn runs(&self) -> impl Iterator<Item = &[(f64, f64)]> {
        super::spec::runs(&self.points, &self.gap_after)
    }

    /// Its points between two coordinates, and one more at either side.
    fn between(&self, low: f64, high: f64) -> Self {
        let from = self.points.partition_point(|point| point.0 < low);
        let to = self.points.partition_point(|point| point.0 <= high);
        let (from, to) = (from.saturating_sub(1), (to + 1).min(self.points.len()));
        let gaps = self.gap_after.iter();
        let gaps = gaps.filter(|&&gap| (from..to).contains(&gap));
        Self {
            points: self.points[from..to].to_vec(),
            gap_after: gaps.map(|gap| gap - from).collect(),
            ..self.clone()
        }
    }
}

/// The sizes of a point, the batch first: `8`, `8×128`.
fn sizes(point: Point) -> String {
    let sizes: Vec<String> = point.bindings().map(|(_, size)| size.to_string()).collect();
    sizes.join("×")
}

/// The lanes of a run, or of the last part of it, with the cases marked in the colours of their setups.
pub fn of_run(session: &Session, window: TimeSpan, colour: impl Fn(usize) -> usize) -> Lanes {
    let seconds = |at_ns: u64| at_ns as f64 / 1e9;
    let place = |at_ns: u64| window.contains(at_ns).then(|| seconds(at_ns));
    let stretches = session.cases.iter().flat_map(|case| {
        let colour = colour(case.setup);
        device_readings::round_spans(case).filter_map(move |span| {
            let is_seen = span.to_ns >= window.from_ns && span.from_ns <= window.to_ns;
            is_seen.then(|| CaseSpan {
                from: seconds(span.from_ns.max(window.from_ns)),
                to: seconds(span.to_ns.min(window.to_ns)),
                colour,
                text: sizes(case.point),
            })
        })
    });
    let mut stretches: Vec<CaseSpan> = stretches.collect();
    // From left to right, so that a word is left out only where there is no room for it.
    stretches.sort_by(|a, b| a.from.total_cmp(&b.from));
    let is_marked = |index: usize| stretches.iter().any(|stretch| stretch.colour == index);
    let setups = (0..session.plan.setups.len())
        .map(|setup| (colour(setup), session.setup_label(setup)))
        .filter(|(index, _)| is_marked(*index))
        .collect();
    let mut x = axis::between("s", seconds(window.from_ns), seconds(window.to_ns));
    (x.low, x.high) = (seconds(window.from_ns), seconds(window.to_ns));
    let (low, high) = (x.low, x.high);
    x.ticks.retain(|tick| (low..=high).contains(&tick.at));
    "s since the run began".clone_into(&mut x.title);
    Lanes {
        setups,
        stretches,
        lanes: lanes(
            &session.telemetry,
            session.telemetry.tracks.iter(),
            window,
            &place,
        ),
        cuts: cuts(session.telemetry.tracks.iter(), &place),
        x,
    }
}

/// The lanes of one case: its rounds put end to end, as in the strip of its samples.
pub fn of_case(session: &Session, case: &Case) -> Lanes {
    let mut offset_ns = 0;
    let mut rounds: Vec<(TimeSpan, u64)> = Vec::new();
    for span in device_readings::round_spans(case) {
        rounds.push((span, offset_ns));
        offset_ns += span.length_ns();
    }
    let place = |at_ns: u64| {
        let (span, offset_ns) = rounds.iter().find(|(span, _)| span.contains(at_ns))?;
        Some((offset_ns + at_ns - span.from_ns) as f64 / 1e9)
    };
    let own = device_readings::devices_of_setup(session, case.setup);
    let mut x = axis::from_zero("s of measuring", offset_ns as f64 / 1e9);
    x.high = offset_ns as f64 / 1e9;
    let end = x.high;
    x.ticks.retain(|tick| tick.at <= end);
    let stretches = rounds.iter().skip(1).map(|(_, offset_ns)| CaseSpan {
        from: *offset_ns as f64 / 1e9,
        to: *offset_ns as f64 / 1e9,
        colour: 0,
        text: String::new(),
    });
    let whole = TimeSpan {
        from_ns: rounds.first().map_or(0, |(span, _)| span.from_ns),
        to_ns: rounds.iter().map(|(span, _)| span.to_ns).max().unwrap_or(0),
    };
    // Its machine matters to every setup; a card that the setup does not use does not.
    let is_shown = |(device, track): &(usize, &DeviceTelemetry)| {
        own.contains(device) || !track.device.kind.is_gpu()
    };
    let beside = session.devices_beside(case.setup);
    let shown = beside.filter(is_shown).map(|(_, track)| track);
    Lanes {
        setups: Vec::new(),
        lanes: lanes(&session.telemetry, shown, whole, &place),
        stretches: stretches.collect(),
        cuts: cuts(
            session.devices_beside(case.setup).map(|(_, track)| track),
            &place,
        ),
        x,
    }
}

/// The readings of the devices while a profile was taken, the ones that it ran on first. Coordinates are
/// nanoseconds of its timeline; there is nothing where its clock is another one.
pub fn of_profile(session: &Session, profile: &Profile, length_ns: u64) -> Vec<Lane> {
    let Some(began_ns) = profile.began_ns else {
        return Vec::new();
    };
    // Readings of another program are of no case: all of them are shown.
    let setup = profile.case.map_or(0, |case| case.setup);
    let telemetry = &session.telemetry;
    // Lines come in from readings before, and go on to those after.
    let beside_ns = telemetry.longest_step_ns(began_ns);
    let window = TimeSpan {
        from_ns: began_ns.saturating_sub(beside_ns),
        to_ns: began_ns.saturating_add(length_ns).saturating_add(beside_ns),
    };
    let place = |at_ns: u64| {
        let is_within = window.contains(at_ns);
        is_within.then_some(at_ns as f64 - began_ns as f64)
    };
    let own = device_readings::devices_of_setup(session, setup);
    let is_own = |device: &usize| profile.case.is_none() || own.contains(device);
    let is_card = |track: &DeviceTelemetry| track.device.kind.is_gpu();
    let tracks = session.devices_beside(setup);
    let (cards, rest): (Vec<_>, Vec<_>) = tracks
        .filter(|(device, track)| is_own(device) || !is_card(track))
        .partition(|(_, track)| is_card(track));
    let tracks = cards.into_iter().chain(rest).map(|(_, track)| track);
    let lanes = tracks.flat_map(|track| {
        // What the worker needed of the machine's memory is in the profile itself.
        let is_told = |quantity: &&Quantity| is_card(track) || **quantity != Quantity::MemoryUsed;
        TIMELINE_QUANTITIES
            .iter()
            .filter(is_told)
            .filter_map(|quantity| lane(telemetry, track, *quantity, window, &place))
    });
    lanes.map(|lane| with_own_range(lane, length_ns)).collect()
}

/// Lanes are labelled with the readings within the time, where there are any.
fn with_own_range(mut lane: Lane, length_ns: u64) -> Lane {
    let within = lane
        .points
        .iter()
        .filter(|(at, _)| (0.0..=length_ns as f64).contains(at));
    let values: Vec<f64> = within.map(|(_, value)| *value).collect();
    let lowest = values.iter().copied().reduce(f64::min);
    if let Some((low, high)) = lowest.zip(values.iter().copied().reduce(f64::max)) {
        let [low, high] =
            [low, high].map(|value| device_readings::reading_text(lane.quantity, value));
        lane.range = range(&low, &high);
    }
    lane
}

fn cuts<'a>(
    tracks: impl Iterator<Item = &'a DeviceTelemetry>,
    place: &dyn Fn(u64) -> Option<f64>,
) -> Vec<(f64, String)> {
    let cuts = tracks.flat_map(|track| {
        track.losses().filter_map(|lost| {
            let words = format!("{} lost: {}", track.device.short_name(), lost.why);
            Some((place(lost.at_ns)?, words))
        })
    });
    cuts.collect()
}

fn lanes<'a>(
    telemetry: &Telemetry,
    tracks: impl Iterator<Item = &'a DeviceTelemetry>,
    window: TimeSpan,
    place: &dyn Fn(u64) -> Option<f64>,
) -> Vec<Lane> {
    tracks
        .flat_map(|track| {
            shown_quantities(track.device.kind)
                .iter()
                .filter_map(|quantity| lane(telemetry, track, *quantity, window, place))
        })
        .collect()
}

fn shown_quantities(kind: DeviceKind) -> &'static [Quantity] {
    match kind {
        DeviceKind::Nvidia | DeviceKind::Amd => &CARD_QUANTITIES,
        DeviceKind::Host => &HOST_QUANTITIES,
        DeviceKind::Package => &[Quantity::Power],
    }
}

fn lane(
    telemetry: &Telemetry,
    track: &DeviceTelemetry,
    quantity: Quantity,
    window: TimeSpan,
    place: &dyn Fn(u64) -> Option<f64>,
) -> Option<Lane> {
    let readings: Vec<(u64, f64)> =
        device_readings::readings_within(track, quantity, window).collect();
    let placed: Vec<(f64, f64)> = readings
        .iter()
        .filter_map(|(at_ns, value)| Some((place(*at_ns)?, *value)))
        .collect();
    let newest = placed.last()?.1;
    let lowest = placed
        .iter()
        .map(|point| point.1)
        .fold(f64::INFINITY, f64::min);
    let highest = placed
        .iter()
        .map(|point| point.1)
        .fold(f64::NEG_INFINITY, f64::max);
    // Most machines have no stolen time: an empty lane is not worth its room.
    if quantity == Quantity::Stolen && highest < 1.0 {
        return None;
    }
    let longest_s = longest_step_s(&readings, telemetry);
    // Readings of different rounds are not connected.
    let sittings: Vec<f64> = telemetry
        .asked
        .iter()
        .filter_map(|asked| place(asked.from_ns))
        .collect();
    let points = if placed.len() > 2 * BUCKETS {
        downsample::min_max(&placed, BUCKETS)
    } else {
        placed
    };
    // Where points were left out, neighbours are further apart without a gap.
    let step = points.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let usual = median_step(step.clone().collect());
    let is_divided = |index: usize| {
        let (from, to) = (points[index].0, points[index + 1].0);
        sittings.iter().any(|at| from < *at && *at <= to)
    };
    let gaps = step
        .enumerate()
        .filter(|(index, step)| *step > longest_s.max(4.0 * usual) || is_divided(*index));
    let text = |value: f64| device_readings::reading_text(quantity, value);
    let (low, high) = bounds(track, quantity, lowest, highest);
    Some(Lane {
        device: track.device.short_name(),
        title: quantity.title().to_owned(),
        newest: text(newest),
        range: range(&text(lowest), &text(highest)),
        low,
        high,
        gap_after: gaps.map(|(index, _)| index).collect(),
        points,
        quantity,
    })
}

/// Two values with their unit once, where it is the same; one value, where they are.
fn range(low: &str, high: &str) -> String {
    if low == high {
        return high.to_owned();
    }
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// The longest time between two readings that is no gap, in seconds.
fn longest_step_s(readings: &[(u64, f64)], telemetry: &Telemetry) -> f64 {
    let steps = readings
        .windows(2)
        .map(|pair| (pair[1].0 - pair[0].0) as f64 / 1e9);
    let usual = median_step(steps.collect());
    let at_ns = readings.last().map_or(0, |reading| reading.0);
    (telemetry.longest_step_ns(at_ns) as f64 / 1e9).max(MISSED * usual)
}

fn median_step(mut steps: Vec<f64>) -> f64 {
    steps.sort_by(f64::total_cmp);
    steps.get(steps.len() / 2).copied().unwrap_or(0.0)
}

/// Shares reach to a hundred, amounts begin at nothing; clocks and temperatures show their changes.
fn bounds(track: &DeviceTelemetry, quantity: Quantity, lowest: f64, highest: f64) -> (f64, f64) {
    let device = &track.device;
    match quantity {
        Quantity::Busy | Quantity::Stolen => (0.0, 100.0),
        Quantity::Power => (
            0.0,
            device
                .power_limit_w
                .unwrap_or(0.0)
                .min(2.0 * highest)
                .max(highest),
        ),
        Quantity::Clock => (0.0, device.max_clock_mhz.unwrap_or(0.0).max(highest)),
        Quantity::Temperature | Quantity::HotSpot => {
            ((lowest - 5.0).min(30.0), (highest + 5.0).max(60.0))
        }
        _ => (0.0, highest * 1.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing;
    use powerband_core::domain::telemetry::DeviceLoss;

    const SECOND: u64 = 1_000_000_000;

    fn session() -> Session {
        let mut session = testing::session(&["ort:rocm:0"], &[4]);
        testing::measure(&mut session, 0, 4, &[&[SECOND], &[SECOND]]);
        session.cases[0].rounds[1].started_ns = 3 * SECOND;
        testing::add_telemetry(&mut session, DeviceKind::Amd, 10.0, 6.0, |at_s| {
            let busy = (Quantity::Busy, 50.0 + at_s);
            let power = (Quantity::Power, 200.0);
            if (1.95..3.05).contains(&at_s) {
                vec![busy]
            } else {
                vec![busy, power]
            }
        });
        session
    }

    #[test]
    fn a_run_has_its_lanes_with_gaps_and_cases() {
        let mut session = session();
        session.telemetry.lose(
            0,
            DeviceLoss {
                at_ns: 5 * SECOND,
                why: "it fell off the bus".to_owned(),
            },
        );
        let window = TimeSpan {
            from_ns: SECOND,
            to_ns: 6 * SECOND,
        };
        let lanes = of_run(&session, window, |setup| setup + 3);
        let titles: Vec<&str> = lanes.lanes.iter().map(|lane| lane.title.as_str()).collect();
        assert_eq!(titles, ["Utilisation", "Power"]);
        assert!(lanes.lanes[0].gap_after.is_empty());
        assert_eq!(lanes.lanes[1].gap_after.len(), 1, "a gap is not drawn over");
        assert_eq!(
            lanes.lanes[0].points[0],
            (1.0, 51.0),
            "only what is in the window"
        );
        assert_eq!(lanes.lanes[1].range, "200 W");
        let stretches: Vec<(f64, f64)> = lanes.stretches.iter().map(|s| (s.from, s.to)).collect();
        assert_eq!(stretches, [(1.0, 1.0), (3.0, 4.0)]);
        assert_eq!(
            (lanes.stretches[1].colour, lanes.stretches[1].text.as_str()),
            (3, "4")
        );
        assert_eq!(lanes.cuts[0].0, 5.0);
        assert_eq!((lanes.x.low, lanes.x.high), (1.0, 6.0));
    }

    #[test]
    fn a_case_has_its_rounds_end_to_end() {
        let session = session();
        let lanes = of_case(&session, &session.cases[0]);
        let busy = &lanes.lanes[0];
        assert_eq!(busy.points.len(), 22, "eleven readings in each round");
        assert_eq!(busy.points[0], (0.0, 50.0));
        let (x, value) = busy.points[11];
        assert_eq!(
            (x, value),
            (1.0, 53.0),
            "the second round begins where the first one ended"
        );
        assert_eq!(lanes.x.high, 2.0);
        assert_eq!(lanes.stretches.len(), 1);
    }

    #[test]
    fn a_moved_axis_leaves_what_is_seen_of_the_lanes() {
        let session = session();
        let whole = of_case(&session, &session.cases[0]);
        let axis = |low: f64, high: f64| Axis {
            low,
            high,
            ..whole.x.clone()
        };
        let seen = whole.seen(axis(1.25, 1.75));
        let places: Vec<f64> = seen.lanes[0].points.iter().map(|point| point.0).collect();
        let (first, last) = (places[0], places[places.len() - 1]);
        assert!(places.len() < whole.lanes[0].points.len(), "{places:?}");
        assert!(
            first < 1.25 && last > 1.75,
            "lines reach the edges: {places:?}"
        );
        assert!(seen.stretches.is_empty(), "no round begins here");
        assert_eq!((seen.x.low, seen.x.high), (1.25, 1.75));
        assert_eq!(whole.seen(whole.x.clone()), whole);
    }

    #[test]
    fn a_long_run_keeps_its_peaks() {
        let mut session = testing::session(&["ort:rocm:0"], &[4]);
        testing::add_telemetry(&mut session, DeviceKind::Amd, 100.0, 100.0, |at_s| {
            vec![(
                Quantity::Power,
                if (at_s - 33.0).abs() < 0.001 {
                    400.0
                } else {
                    100.0
                },
            )]
        });
        let window = TimeSpan {
            from_ns: 0,
            to_ns: 100 * SECOND,
        };
        let lanes = of_run(&session, window, |setup| setup);
        let power = &lanes.lanes[0];
        assert!(power.points.len() <= 2 * BUCKETS);
        assert!(power.gap_after.is_empty());
        assert!(power.points.iter().any(|point| point.1 == 400.0));
    }

    #[test]
    fn a_profile_has_what_its_devices_did_meanwhile() {
        let session = session();
        let profile = Profile {
            case: Some(session.cases[0].key()),
            began_ns: Some(4 * SECOND),
            ..Profile::default()
        };
        let lanes = of_profile(&session, &profile, SECOND);
        let titles: Vec<&str> = lanes.iter().map(|lane| lane.title.as_str()).collect();
        assert_eq!(titles, ["Utilisation", "Power"]);
        let points = &lanes[0].points;
        assert!(
            points
                .iter()
                .any(|(at, busy)| *at == 0.0 && (busy - 54.0).abs() < 0.01)
        );
        assert_eq!(
            lanes[0].range, "54 to 55 %",
            "as read during it, and not before"
        );
        // One reading before, at least, and one after, so that lines reach the edges.
        let (first, last) = (points[0].0, points[points.len() - 1].0);
        assert!(first < 0.0 && last > SECOND as f64, "{first} {last}");
        let mut other = profile;
        other.case = None;
        assert_eq!(of_profile(&session, &other, SECOND), lanes);
        other.began_ns = None;
        assert!(of_profile(&session, &other, SECOND).is_empty());
    }
}
