//! Profiles in which the profiler took longer than the nodes: nodes of less than a microsecond or so. Their times say
//! nothing, but the median of the runs without a profiler does, beside what starting the nodes costs.

use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::session::Session;
use powerband_core::stats::summary;

use super::bound::{Basis, Bound};
use super::finding::LimitFinding;
use super::lines::LaunchCost;
use super::node::WRONG_ABOVE;
use super::wall::WallTime;

/// A profiled run that takes this many times the median without a profiler says nothing of its nodes.
const MOST_SLOWED: f64 = 1.5;
/// Starting the nodes is the cause where it takes more than this share of the median.
const LAUNCH_ABOVE: f64 = 0.55;
/// A cost of a node that varies by more than this is none.
const MOST_SPREAD: f64 = 0.25;

/// A profiled run whose times are not those of a run without the profiler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SlowedProfile {
    wall_ns: f64,
    median_ns: f64,
}

/// The median of a case without a profiler, in nanoseconds.
pub(super) fn median_ns(session: &Session, case: CaseKey) -> Option<f64> {
    let samples = session.case(case)?.samples_ns();
    let samples: Vec<f64> = samples.map(|ns| ns as f64).collect();
    summary::median(&samples).filter(|median| *median > 0.0)
}

impl SlowedProfile {
    /// Whether the profile of a case is one; nothing where that cannot be seen.
    pub(super) fn detect(
        session: &Session,
        case: Option<CaseKey>,
        wall: &WallTime,
    ) -> Option<Self> {
        let median_ns = median_ns(session, case?)?;
        let found = Self {
            wall_ns: wall.wall_ns,
            median_ns,
        };
        (wall.wall_ns > MOST_SLOWED * median_ns).then_some(found)
    }

    /// Why no node is judged.
    pub(super) fn reason(self) -> String {
        format!(
            "a run takes {} with the profiler and {} without, so the times of its nodes are not those of a run",
            humanize::duration_ns(self.wall_ns),
            humanize::duration_ns(self.median_ns)
        )
    }

    /// That starting so many nodes is what the time goes to, where it is most of the median.
    pub(super) fn launch_finding(self, nodes: f64, launch: LaunchCost) -> Option<LimitFinding> {
        let floor_ns = nodes * launch.ns;
        let share = floor_ns / self.median_ns;
        let is_cause = (LAUNCH_ABOVE..=WRONG_ABOVE).contains(&share);
        (is_cause && launch.spread <= MOST_SPREAD).then(|| LimitFinding {
            sentence: format!(
                "Starting its {} nodes takes {} of the median without a profiler, {}.",
                humanize::count(nodes.round() as u64),
                humanize::percent(share),
                humanize::duration_ns(self.median_ns)
            ),
            basis: Basis::Model,
            bound: Some(Bound::Launch),
            at_most_here: Some(1.0 / share),
            at_most_overall: Some(1.0 / share),
            line: format!(
                "cost of a node that does nothing ({})",
                humanize::duration_ns(launch.ns)
            ),
            formula: format!(
                "{} × {} = {}",
                humanize::count(nodes.round() as u64),
                humanize::duration_ns(launch.ns),
                humanize::duration_ns(floor_ns)
            ),
            nodes: Vec::new(),
            is_whole: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starting_nodes_is_the_cause_where_it_is_most_of_the_median() {
        let slowed = SlowedProfile {
            wall_ns: 300_000.0,
            median_ns: 24_000.0,
        };
        let launch = |ns, spread| LaunchCost { ns, spread };
        let found = slowed.launch_finding(100.0, launch(200.0, 0.01)).unwrap();
        assert_eq!(found.bound, Some(Bound::Launch));
        assert!(found.sentence.contains("83.3 %"), "{}", found.sentence);
        assert_eq!(slowed.launch_finding(100.0, launch(100.0, 0.01)), None);
        assert_eq!(slowed.launch_finding(100.0, launch(300.0, 0.01)), None);
        assert_eq!(slowed.launch_finding(100.0, launch(200.0, 0.5)), None);
    }
}
