//! A node or kernel against its floor: the least time in which its work can be done.

use powerband_core::base::humanize;
use powerband_core::domain::examination::NodeRun;
use powerband_core::domain::work::Work;
use serde::Serialize;

use super::bound::{Bound, bound_or_reason};
use super::lines::{LaunchCost, MOST_SPREAD, References, RoofLine, bytes_per_s};

/// A node whose floors lie below this share of its time is limited by none of them.
pub const NEITHER_BELOW: f64 = 0.35;
/// A node that takes less than its floor by more than this shows that the model is wrong.
pub const WRONG_ABOVE: f64 = 1.05;
/// Two floors whose ratio lies within these explain a time equally well.
pub const ALIKE: (f64, f64) = (0.75, 1.25);

/// The least time of a node by each roof, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Floor {
    /// Its operations at the line for arithmetic.
    pub compute_ns: f64,
    /// The fewest bytes that it can move, at the line for bytes.
    pub memory_ns: f64,
    /// Starting it, as often as it was started.
    pub launch_ns: f64,
    /// How far the repetitions of each of these lines lie apart, as shares of them.
    pub spread: FloorSpread,
}

/// How far the lines of a floor may be too low, as shares of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FloorSpread {
    pub compute: f64,
    pub memory: f64,
    pub launch: f64,
}

impl Floor {
    /// The greatest of them.
    pub fn ns(self) -> f64 {
        self.compute_ns.max(self.memory_ns).max(self.launch_ns)
    }

    /// Whether starting the node is the greatest of them.
    pub fn is_of_launch(self) -> bool {
        self.launch_ns > 0.0 && self.launch_ns >= self.compute_ns.max(self.memory_ns)
    }
}

/// A node or kernel with what limits it. Times and work are those of one run where the profile's runs are
/// known, else of the whole profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeLimit {
    /// Its place among the profile's totals.
    #[serde(skip)]
    pub total: usize,
    /// Its whole name.
    pub name: String,
    /// What people read of it.
    #[serde(skip)]
    pub short: String,
    /// The operator that it carries out; empty where that is not known.
    #[serde(rename = "operator")]
    pub op: String,
    /// Where it ran.
    pub place: String,
    /// How often it was started.
    pub calls: u64,
    /// Its time, in nanoseconds.
    pub time_ns: f64,
    /// Its shortest and its longest call, in nanoseconds, where the profile has both.
    #[serde(skip)]
    pub call_range_ns: Option<(u64, u64)>,
    /// Its share of all times, from 0 to 1.
    pub share: f64,
    /// Work of the node.
    #[serde(skip)]
    pub work: Option<Work>,
    /// The least that its time can be.
    #[serde(skip)]
    pub floor: Option<Floor>,
    /// What limits it, or why that is not said.
    #[serde(flatten, serialize_with = "bound_or_reason")]
    pub bound: Result<Bound, String>,
    /// Whether its bytes fit into a cache, so that its line for bytes is that of the cache.
    #[serde(skip)]
    pub is_cached: bool,
    /// The floor as a share of the time; never clipped.
    pub share_of_floor: Option<f64>,
    /// Operations per byte, where most and where fewest bytes are moved.
    #[serde(skip)]
    pub intensity: Option<(f64, f64)>,
    /// Operations a second that it reached.
    #[serde(skip)]
    pub achieved_per_s: Option<f64>,
    /// How many times faster it can become at most.
    pub at_most_here: Option<f64>,
    /// How many times faster the run then becomes.
    pub at_most_overall: Option<f64>,
    /// The line that its greatest floor is measured against.
    pub line: String,
    /// How the floor is computed.
    pub formula: String,
}

impl NodeLimit {
    /// A node whose time is known, and nothing of what limits it.
    pub(crate) fn without_profile(node: &NodeRun, total_ns: f64) -> Self {
        Self {
            place: node.provider.clone(),
            bound: Err("no profile was taken".to_owned()),
            ..Self::with_time_alone(&node.name, &node.op, node.time_ns as f64, total_ns)
        }
    }

    /// A node of a trace, where its time is known, and not its work.
    pub(crate) fn with_time_alone(name: &str, op: &str, time_ns: f64, total_ns: f64) -> Self {
        Self {
            total: 0,
            name: name.to_owned(),
            short: name.to_owned(),
            op: op.to_owned(),
            place: String::new(),
            calls: 1,
            time_ns,
            call_range_ns: None,
            share: time_ns / total_ns.max(f64::MIN_POSITIVE),
            work: None,
            floor: None,
            bound: Err("the work of a node is not known from a trace".to_owned()),
            is_cached: false,
            share_of_floor: None,
            intensity: None,
            achieved_per_s: None,
            at_most_here: None,
            at_most_overall: None,
            line: String::new(),
            formula: String::new(),
        }
    }
}

/// The lines that one node's work is measured against.
#[derive(Clone, Debug, Default)]
pub struct NodeLines {
    /// For arithmetic with its numbers.
    pub compute: Option<RoofLine>,
    /// For bytes at its footprint.
    pub memory: Option<RoofLine>,
    /// What starting it costs.
    pub launch: Option<LaunchCost>,
}

impl NodeLines {
    /// Those for some work with so many bytes at a time.
    pub fn for_work(references: &References<'_>, work: Work, footprint: u64) -> Self {
        Self {
            compute: references.compute(work.numbers),
            memory: references.memory(footprint),
            launch: references.launch(),
        }
    }
}

/// Duration of a node, without and with the launch pause before it.
#[derive(Clone, Copy, Debug)]
pub struct NodeDuration {
    /// Its own time, in nanoseconds.
    pub own_ns: f64,
    /// Its own time with its part of the pauses between nodes, where those are known: starting a node happens
    /// before its own time begins.
    pub with_pause_ns: Option<f64>,
}

impl NodeDuration {
    /// The time that a floor is a share of: with the pause before it where starting it takes longest; nothing where
    /// that pause is needed and not known.
    pub fn comparable_ns(self, floor: Floor) -> Option<f64> {
        if !floor.is_of_launch() {
            return Some(self.own_ns);
        }
        let own = Some(self.own_ns).filter(|own| floor.launch_ns <= *own);
        self.with_pause_ns.or(own)
    }
}

/// The floor of some work, or why there is none.
pub fn floor_of(work: Work, calls: f64, lines: &NodeLines) -> Result<Floor, String> {
    let seconds = |amount: u64, line: &Option<RoofLine>, what: &str| match (amount, line) {
        (0, _) => Ok(0.0),
        (_, None) => Err(format!("no roof for {what} is known")),
        (amount, Some(line)) => Ok(1e9 * amount as f64 / line.per_s),
    };
    let spread = |line: &Option<RoofLine>| line.as_ref().and_then(|line| line.spread);
    Ok(Floor {
        compute_ns: seconds(
            work.operations,
            &lines.compute,
            &format!("{} arithmetic", work.numbers),
        )?,
        memory_ns: seconds(work.low_bytes, &lines.memory, "memory")?,
        launch_ns: lines.launch.map_or(0.0, |launch| launch.ns * calls),
        spread: FloorSpread {
            compute: spread(&lines.compute).unwrap_or_default(),
            memory: spread(&lines.memory).unwrap_or_default(),
            launch: lines.launch.map_or(0.0, |launch| launch.spread),
        },
    })
}

/// What limits a node, where that is the same wherever its lines lie within their repetitions; else which line lies too
/// far apart for it.
///
/// A roof is at least what was reached, so a noisy one may be higher, and its floor lower.
pub fn classify_within_spread(
    floor: Floor,
    most_memory_ns: f64,
    took: NodeDuration,
    lines: &NodeLines,
) -> Result<Bound, String> {
    let ends = |spread: f64| {
        let low = (spread > MOST_SPREAD).then_some(1.0 / (1.0 + spread));
        [Some(1.0), low].into_iter().flatten()
    };
    let FloorSpread {
        compute,
        memory,
        launch,
    } = floor.spread;
    let mut found: Vec<Bound> = Vec::new();
    for compute in ends(compute) {
        for memory in ends(memory) {
            for launch in ends(launch) {
                let floor = Floor {
                    compute_ns: floor.compute_ns * compute,
                    memory_ns: floor.memory_ns * memory,
                    launch_ns: floor.launch_ns * launch,
                    ..floor
                };
                found.push(classify(floor, most_memory_ns * memory, took));
            }
        }
    }
    // That it took less than its floor shows nothing where the floor may be lower.
    if found.iter().any(|bound| *bound != Bound::ModelWrong) {
        found.retain(|bound| *bound != Bound::ModelWrong);
    }
    match found.as_slice() {
        [first, rest @ ..] if rest.iter().all(|other| other == first) => Ok(*first),
        _ => Err(widest_line(floor.spread, lines)),
    }
}

/// That the line whose repetitions lie farthest apart decides.
fn widest_line(spread: FloorSpread, lines: &NodeLines) -> String {
    let title = |line: &Option<RoofLine>| {
        line.as_ref()
            .map_or_else(String::new, |line| line.title.clone())
    };
    let all = [
        (spread.compute, title(&lines.compute)),
        (spread.memory, title(&lines.memory)),
        (spread.launch, "cost of a node that does nothing".to_owned()),
    ];
    let widest = all.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let (spread, title) = widest.unwrap_or_default();
    format!(
        "the {title} varies by {}, which decides what limits it; measure it again on a quiet machine",
        humanize::percent(spread)
    )
}

/// What limits a node that took so long, by its floor and by the most bytes that it may have moved.
pub fn classify(floor: Floor, most_memory_ns: f64, took: NodeDuration) -> Bound {
    let time_ns = took.own_ns;
    let is_alike = |a: f64, b: f64| b > 0.0 && (ALIKE.0..=ALIKE.1).contains(&(a / b));
    let work_ns = floor.compute_ns.max(floor.memory_ns);
    let started_too_fast = took
        .with_pause_ns
        .is_some_and(|whole| floor.launch_ns > WRONG_ABOVE * whole);
    if work_ns > WRONG_ABOVE * time_ns || started_too_fast {
        return Bound::ModelWrong;
    }
    if floor.ns().max(most_memory_ns) < NEITHER_BELOW * time_ns {
        return Bound::Neither;
    }
    // More bytes than can be moved in the time were not moved.
    let most_ns = most_memory_ns
        .min(WRONG_ABOVE * time_ns)
        .max(floor.memory_ns);
    if floor.launch_ns > ALIKE.1 * floor.compute_ns.max(most_ns) {
        return Bound::Launch;
    }
    if is_alike(floor.launch_ns, work_ns) || floor.launch_ns > work_ns {
        return Bound::CannotTell;
    }
    let spans_ridge = floor.memory_ns < floor.compute_ns && floor.compute_ns < most_ns;
    if spans_ridge
        || is_alike(floor.compute_ns, floor.memory_ns)
        || is_alike(floor.compute_ns, most_ns)
    {
        return Bound::CannotTell;
    }
    let (bound, low_ns, most_ns) = if floor.compute_ns > most_ns {
        (Bound::Compute, floor.compute_ns, floor.compute_ns)
    } else {
        (Bound::Memory, floor.memory_ns, most_ns)
    };
    let limit_ns = NEITHER_BELOW * time_ns;
    if most_ns < limit_ns {
        Bound::Neither
    } else if low_ns < limit_ns {
        // Whether bytes explain the time depends on how many were moved.
        Bound::CannotTell
    } else {
        bound
    }
}

/// How the floor of some work is computed, in symbols and numbers.
pub fn formula(work: Work, calls: f64, floor: Floor, lines: &NodeLines) -> String {
    let mut parts = Vec::new();
    if let Some(line) = lines.compute.as_ref().filter(|_| work.operations > 0) {
        parts.push(format!(
            "{} ÷ {} = {}",
            operations(work),
            work.numbers.rate_text(line.per_s),
            humanize::duration_ns(floor.compute_ns)
        ));
    }
    if let Some(line) = lines.memory.as_ref().filter(|_| work.low_bytes > 0) {
        parts.push(format!(
            "{} ÷ {} = {}",
            bytes(work.low_bytes),
            bytes_per_s(line.per_s),
            humanize::duration_ns(floor.memory_ns)
        ));
    }
    if let Some(launch) = lines.launch {
        parts.push(format!(
            "{} × {} = {}",
            humanize::pluralised(calls.round() as u64, "start"),
            humanize::duration_ns(launch.ns),
            humanize::duration_ns(floor.launch_ns)
        ));
    }
    format!(
        "floor = max({}) = {}",
        parts.join(", "),
        humanize::duration_ns(floor.ns())
    )
}

/// The operations of some work.
pub fn operations(work: Work) -> String {
    humanize::with_prefix(work.operations as f64, work.numbers.operation_unit())
}

/// An amount of bytes, in powers of ten as bandwidths have them.
pub fn bytes(amount: u64) -> String {
    humanize::with_prefix(amount as f64, "B")
}

#[cfg(test)]
mod tests {
    use super::super::lines::{LineKind, LineUnit};
    use super::*;
    use powerband_core::domain::work::NumberFormat;

    fn floor(compute_ns: f64, memory_ns: f64, launch_ns: f64) -> Floor {
        Floor {
            compute_ns,
            memory_ns,
            launch_ns,
            spread: FloorSpread::default(),
        }
    }

    fn took(own_ns: f64) -> NodeDuration {
        NodeDuration {
            own_ns,
            with_pause_ns: None,
        }
    }

    #[test]
    fn what_leads_by_far_is_the_cause() {
        let cases = [
            (floor(80.0, 10.0, 0.1), 20.0, Bound::Compute),
            (floor(5.0, 70.0, 0.1), 80.0, Bound::Memory),
            (floor(0.1, 0.2, 60.0), 0.2, Bound::Launch),
            (floor(0.1, 0.2, 600.0), 0.2, Bound::Launch),
            (floor(5.0, 3.0, 0.1), 6.0, Bound::Neither),
            (floor(34.9, 3.0, 0.1), 6.0, Bound::Neither),
            (floor(35.1, 3.0, 0.1), 6.0, Bound::Compute),
            (floor(60.0, 55.0, 0.1), 55.0, Bound::CannotTell),
            (floor(50.0, 10.0, 0.1), 90.0, Bound::CannotTell),
            (floor(1.0, 20.0, 0.1), 90.0, Bound::CannotTell),
            (floor(105.1, 10.0, 0.1), 20.0, Bound::ModelWrong),
            (floor(104.9, 10.0, 0.1), 20.0, Bound::Compute),
            (floor(1.0, 40.0, 45.0), 41.0, Bound::CannotTell),
            (floor(0.0, 0.0, 0.0), 0.0, Bound::Neither),
        ];
        for (floor, most, expect) in cases {
            assert_eq!(
                classify(floor, most, took(100.0)),
                expect,
                "{floor:?} {most}"
            );
        }
    }

    #[test]
    fn bytes_that_cannot_have_moved_in_the_time_do_not_count() {
        // High bytes would take ten times as long as it took, so at most the whole time was spent on them.
        let bound = classify(floor(2.0, 60.0, 0.0), 1000.0, took(100.0));
        assert_eq!(bound, Bound::Memory);
    }

    #[test]
    fn starting_a_node_is_held_against_its_time_with_the_pause_before_it() {
        let with_pause = |with_pause_ns| NodeDuration {
            own_ns: 100.0,
            with_pause_ns: Some(with_pause_ns),
        };
        let starts = floor(1.0, 1.0, 300.0);
        assert_eq!(classify(starts, 1.0, with_pause(400.0)), Bound::Launch);
        assert_eq!(classify(starts, 1.0, with_pause(150.0)), Bound::ModelWrong);
    }

    fn line(per_s: f64, spread: f64) -> RoofLine {
        RoofLine {
            kind: LineKind::Measured,
            unit: LineUnit::OperationsPerS,
            title: "measured".to_owned(),
            per_s,
            spread: Some(spread),
            numbers: None,
        }
    }

    #[test]
    fn a_noisy_roof_matters_where_it_decides() {
        let work = Work {
            operations: 1_000_000,
            numbers: NumberFormat::F32,
            low_bytes: 1_000_000,
            high_bytes: 1_000_000,
        };
        // A run of a millisecond and a half.
        let found = |compute: RoofLine, memory: Option<RoofLine>| {
            let lines = NodeLines {
                compute: Some(compute),
                memory,
                launch: None,
            };
            let floor = floor_of(work, 1.0, &lines)?;
            let took = NodeDuration {
                own_ns: 1.5e6,
                with_pause_ns: None,
            };
            classify_within_spread(floor, floor.memory_ns, took, &lines)
        };
        let quiet = Some(line(1e10, 0.01));
        assert_eq!(
            found(line(1e9, 0.01), Some(line(1e10, 0.2))),
            Ok(Bound::Compute)
        );
        // A floor of 67 % may be one of 63 %, and is the limit all the same.
        assert_eq!(found(line(1e9, 0.06), quiet.clone()), Ok(Bound::Compute));
        let noisy = found(line(1e9, 1.5), quiet).unwrap_err();
        assert!(noisy.contains("varies by 150 %"), "{noisy}");
        assert!(found(line(1e9, 0.01), Some(line(1.2e9, 0.5))).is_err());
        assert!(
            found(line(1e9, 0.01), None)
                .unwrap_err()
                .contains("no roof for memory")
        );
    }
}
