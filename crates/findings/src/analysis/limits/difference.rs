//! Where the difference between two times comes from: the least time of the nodes at the roofs, their time above that,
//! starting them, and waiting.
//!
//! The parts of a time add up to it, so their differences add up to the difference.

use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use serde::Serialize;

use super::slowed;
use super::wall::WallKind;
use super::{Limits, profile_limits};

/// What a part of a time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimePartKind {
    /// The least time of the nodes' arithmetic and bytes at the roofs.
    Work,
    /// The time of the nodes above that.
    AboveRoofs,
    /// The time of the nodes, where no roofs are known.
    Nodes,
    /// Starting nodes or kernels.
    Starts,
    /// Everything else in which no node runs.
    Waiting,
}

impl TimePartKind {
    pub fn title(self) -> &'static str {
        match self {
            Self::Work => "Work at the roofs",
            Self::AboveRoofs => "Time above the roofs",
            Self::Nodes => "Time of the nodes",
            Self::Starts => "Starting nodes",
            Self::Waiting => "Waiting",
        }
    }

    /// What it means that a part became shorter, or longer.
    fn change_text(self, is_shorter: bool) -> &'static str {
        match (self, is_shorter) {
            (Self::Work, true) => "less at the roofs",
            (Self::Work, false) => "more at the roofs",
            (Self::AboveRoofs, true) => "better use of the cores",
            (Self::AboveRoofs, false) => "worse use of the cores",
            (Self::Nodes, true) => "faster nodes",
            (Self::Nodes, false) => "slower nodes",
            (Self::Starts, true) => "fewer or cheaper starts",
            (Self::Starts, false) => "more or dearer starts",
            (Self::Waiting, true) => "less waiting",
            (Self::Waiting, false) => "more waiting",
        }
    }
}

/// A part of the time on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimePart {
    pub kind: TimePartKind,
    pub before_ns: f64,
    pub after_ns: f64,
}

impl TimePart {
    /// How much longer it is after.
    fn more_ns(&self) -> f64 {
        self.after_ns - self.before_ns
    }
}

/// Where the difference between two cases comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeDifference {
    /// How the setup after is called.
    pub label: String,
    pub before_point: Point,
    pub after_point: Point,
    /// The parts; on each side they add up to its time.
    pub parts: Vec<TimePart>,
}

/// A smaller part of the difference gets no words.
const WORTH_TELLING: f64 = 0.05;

impl TimeDifference {
    /// Of two cases that were profiled; nothing where one was not, or where its profiled run was not like the others.
    pub fn between(
        (before, before_case): (&Session, CaseKey),
        (after, after_case): (&Session, CaseKey),
    ) -> Option<Self> {
        let is_profiled = |session: &Session, case| {
            let mut profiles = session.profiles.iter();
            profiles.any(|profile| profile.case == Some(case))
        };
        if !is_profiled(before, before_case) || !is_profiled(after, after_case) {
            return None;
        }
        let first = CaseTime::of_case(before, before_case)?;
        let second = CaseTime::of_case(after, after_case)?;
        let part = |kind, before_ns: f64, after_ns: f64| TimePart {
            kind,
            before_ns,
            after_ns,
        };
        let mut parts = match (first.work_ns, second.work_ns) {
            (Some(one), Some(other)) => vec![
                part(TimePartKind::Work, one, other),
                part(
                    TimePartKind::AboveRoofs,
                    first.nodes_ns - one,
                    second.nodes_ns - other,
                ),
            ],
            _ => vec![part(TimePartKind::Nodes, first.nodes_ns, second.nodes_ns)],
        };
        parts.push(part(
            TimePartKind::Starts,
            first.starts_ns,
            second.starts_ns,
        ));
        parts.push(part(
            TimePartKind::Waiting,
            first.waiting_ns,
            second.waiting_ns,
        ));
        Some(Self {
            label: after.setup_label(after_case.setup),
            before_point: before_case.point,
            after_point: after_case.point,
            parts,
        })
    }

    /// How much longer the run takes after, in nanoseconds.
    pub fn more_ns(&self) -> f64 {
        self.parts.iter().map(TimePart::more_ns).sum()
    }

    /// The difference in words: `3.10 ms less: 2.80 ms better use of the cores, 0.30 ms fewer or cheaper starts`.
    pub fn sentence(&self) -> String {
        let all = self.more_ns();
        let largest = self.parts.iter().map(|part| part.more_ns().abs());
        let largest = largest.fold(0.0, f64::max);
        let mut parts: Vec<&TimePart> = self
            .parts
            .iter()
            .filter(|part| part.more_ns().abs() >= WORTH_TELLING * largest.max(all.abs()))
            .filter(|part| part.more_ns() != 0.0)
            .collect();
        parts.sort_by(|a, b| b.more_ns().abs().total_cmp(&a.more_ns().abs()));
        let each = parts.iter().map(|part| {
            let more = part.more_ns();
            format!(
                "{} {}",
                humanize::duration_ns(more.abs()),
                part.kind.change_text(more < 0.0)
            )
        });
        let each: Vec<String> = each.collect();
        let whole = humanize::duration_ns(all.abs());
        let direction = if all < 0.0 { "less" } else { "more" };
        if each.is_empty() {
            return "No part of the time differs.".to_owned();
        }
        format!("{whole} {direction}: {}.", each.join(", "))
    }
}

/// The time of a case in parts, in nanoseconds.
struct CaseTime {
    nodes_ns: f64,
    /// The least time of the nodes, where roofs of all of them are known.
    work_ns: Option<f64>,
    starts_ns: f64,
    waiting_ns: f64,
}

/// Nodes with this share of the time have a floor, or the work is not known.
const MOST_KNOWN: f64 = 0.8;

impl CaseTime {
    fn of_case(session: &Session, case: CaseKey) -> Option<Self> {
        let mut profiles = session.profiles.iter();
        let profile = profiles.position(|profile| profile.case == Some(case))?;
        let limits = profile_limits(session, profile, &session.roofs);
        let wall = limits.wall.as_ref().ok()?;
        let median_ns = slowed::median_ns(session, case)?;
        if limits.is_slowed {
            return None;
        }
        // The parts of the profiled run as shares of a run without the profiler.
        let scale = median_ns / wall.wall_ns;
        let nodes_ns = median_ns - scale * wall.pauses_ns();
        let late_ns = wall
            .parts
            .iter()
            .filter(|part| part.kind == WallKind::LaunchedLate)
            .map(|part| scale * part.ns)
            .sum::<f64>();
        let pauses_ns = scale * wall.pauses_ns();
        let by_cost = limits.launch.map_or(0.0, |cost| cost.ns * limits.starts());
        let starts_ns = if limits.is_of_processor {
            by_cost.min(pauses_ns)
        } else {
            late_ns
        };
        Some(Self {
            nodes_ns,
            work_ns: work_share(&limits).map(|share| share * nodes_ns),
            starts_ns,
            waiting_ns: pauses_ns - starts_ns,
        })
    }
}

/// The floors of the nodes as a share of their times, without what starting them costs.
fn work_share(limits: &Limits) -> Option<f64> {
    let all: f64 = limits.nodes.iter().map(|node| node.time_ns).sum();
    let known = limits.nodes.iter().filter_map(|node| {
        let floor = node.floor?;
        let work_ns = floor.compute_ns.max(floor.memory_ns).min(node.time_ns);
        Some((work_ns, node.time_ns))
    });
    let (work, times) = known.fold((0.0, 0.0), |(work, times), (one, time)| {
        (work + one, times + time)
    });
    (all > 0.0 && times >= MOST_KNOWN * all).then(|| work / times)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{node, roofs};
    use super::*;
    use crate::analysis::testing::{measure_near, session};
    use powerband_core::domain::profile::Profile;

    /// A case with a node that computes for so long, in a run that takes so long, in microseconds.
    fn measured(node_us: u64, run_us: u64) -> (Session, CaseKey) {
        let mut session = session(&["ort:cpu,threads=1"], &[1]);
        measure_near(&mut session, 0, 1, run_us);
        let case = session.cases[0].key();
        session.roofs = vec![roofs(0.01)];
        session.profiles = vec![Profile {
            case: Some(case),
            runs: Some(1),
            totals: vec![node(
                "product",
                node_us * 1_000,
                80_000_000,
                (2_000_000, 2_000_000),
            )],
            span_ns: Some(run_us * 1_000),
            ..Profile::default()
        }];
        (session, case)
    }

    fn between(before: &(Session, CaseKey), after: &(Session, CaseKey)) -> TimeDifference {
        TimeDifference::between((&before.0, before.1), (&after.0, after.1)).unwrap()
    }

    #[test]
    fn parts_add_up_to_each_time_and_to_the_difference() {
        let (slow, fast) = (measured(3_000, 3_400), measured(1_500, 1_700));
        let found = between(&slow, &fast);
        let sum = |of: fn(&TimePart) -> f64| found.parts.iter().map(of).sum::<f64>();
        let median = |(session, case): &(Session, CaseKey)| {
            super::super::slowed::median_ns(session, *case).unwrap()
        };
        assert!(
            (sum(|part| part.before_ns) - median(&slow)).abs() < 1.0,
            "{found:?}"
        );
        assert!(
            (sum(|part| part.after_ns) - median(&fast)).abs() < 1.0,
            "{found:?}"
        );
        assert!((found.more_ns() - (median(&fast) - median(&slow))).abs() < 1.0);
        // The same work in half the time is better use.
        let sentence = found.sentence();
        assert!(sentence.contains("better use of the cores"), "{sentence}");
        assert!(sentence.contains("less waiting"), "{sentence}");
        assert!(!sentence.contains("work,"), "{sentence}");
    }

    #[test]
    fn without_roofs_nodes_are_one_part_and_without_profiles_there_is_none() {
        let (mut slow, fast) = (measured(3_000, 3_400), measured(1_500, 1_700));
        slow.0.roofs.clear();
        let found = between(&slow, &fast);
        assert_eq!(found.parts[0].kind, TimePartKind::Nodes);
        assert!(
            found.sentence().contains("faster nodes"),
            "{}",
            found.sentence()
        );
        slow.0.profiles.clear();
        let none = TimeDifference::between((&slow.0, slow.1), (&fast.0, fast.1));
        assert_eq!(none, None);
    }

    #[test]
    fn a_case_against_itself_differs_in_nothing() {
        let one = measured(3_000, 3_400);
        assert_eq!(
            between(&one, &one).sentence(),
            "No part of the time differs."
        );
    }
}
