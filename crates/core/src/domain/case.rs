//! A case: one setup at one point of the sweep, with everything that was measured of it.

use serde::{Deserialize, Serialize};

use super::generation::Generation;
use super::outcome::Outcome;
use super::point::Point;
use super::reported::Stated;
use super::setup_report::SetupReport;

/// Which case: a setup by its place in the plan, and a point of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CaseKey {
    /// Index into the plan's setups.
    pub setup: usize,
    /// Sizes of the sweep's dimensions.
    pub point: Point,
}

/// Time of each run of a round in one phase: the forward pass, the optimiser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseSamples {
    /// What it is called.
    pub name: String,
    /// The time of each run, in nanoseconds and in the order of the round's samples.
    #[serde(with = "crate::base::serde_u64_list")]
    pub samples_ns: Vec<u64>,
}

/// What training came to in a stretch of items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Items in it.
    pub items: u64,
    /// Mean loss; nothing where it was no finite number.
    pub loss: Option<f64>,
    /// Share of items that were classified rightly.
    pub accuracy: f64,
}

/// One visit to a case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Number of the round in the session, from 0.
    pub round: u32,
    /// Number of the start of its setup's worker in the session, from 0; older sessions do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u32>,
    /// When its first sample began, in nanoseconds since the run began.
    pub started_ns: u64,
    /// From the start of the first sample to the end of the last, in nanoseconds.
    pub spent_ns: u64,
    /// Each run's time, in nanoseconds and in order; nothing is left out.
    #[serde(with = "crate::base::serde_u64_list")]
    pub samples_ns: Vec<u64>,
    /// Other load on the machine during the round, where the system reports it.
    #[serde(default)]
    pub company: Option<CpuContention>,
    /// What each run consists of, where the worker reports it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PhaseSamples>,
    /// What was learned, epoch by epoch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub epochs: Vec<Epoch>,
    /// The requests token by token, where a language model generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<Generation>,
    /// The most memory of the device that the engine had, in bytes, where it reports that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_peak_bytes: Option<u64>,
    /// How much later than the first of several copies the last one began, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_within_ns: Option<u64>,
    /// How long attempts took that were measured anew, because other programs worked, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waited_ns: u64,
    /// How its case was warmed up for it, where the worker was started anew; that of the first start is the case's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUp>,
    /// What it cost until its case was ready, where the worker was started anew; that of the first start is the case's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case_start: Option<Box<CaseStart>>,
}

/// What a later start of a worker cost until a case was ready in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseStart {
    /// Loading and optimising the model, in nanoseconds.
    pub load_ns: u64,
    /// Preparing the case once the model was loaded, in nanoseconds.
    pub open_ns: u64,
    /// The first run, in nanoseconds.
    pub first_run_ns: u64,
    /// The most memory that the worker had until then, in bytes, as in `CaseOpening`.
    pub peak_bytes: Option<u64>,
}

impl CaseStart {
    /// What the first start cost.
    pub fn of_first(report: &SetupReport, opening: &CaseOpening) -> Self {
        Self {
            load_ns: report.load_ns,
            open_ns: opening.open_ns,
            first_run_ns: opening.first_run_ns,
            peak_bytes: opening.peak_bytes,
        }
    }

    /// Everything from the loaded library to the end of the first run: the set-up time, in nanoseconds.
    pub fn set_up_ns(&self) -> u64 {
        self.load_ns + self.open_ns + self.first_run_ns
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(ns: &u64) -> bool {
    *ns == 0
}

/// Who else used the processor during a round. The kernel counts in ticks of some milliseconds, so
/// that times shorter than that are mostly zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuContention {
    /// Time over which this was counted, in nanoseconds.
    pub counted_ns: u64,
    /// How often the kernel took the processor from the worker, though it wanted to go on.
    pub switches: u64,
    /// Processor time of the worker itself, in nanoseconds, all its threads together.
    pub own_ns: u64,
    /// Processor time of all other processes on this machine, in nanoseconds, all processors together.
    pub others_ns: u64,
    /// Processor time that a hypervisor gave to other machines, in nanoseconds, all processors together.
    pub stolen_ns: u64,
}

/// A round is disturbed where others use so many cores on average.
const DISTURBED_CORES: f64 = 0.2;

impl CpuContention {
    /// Whether others used more of the processor than a quiet machine's own programs do.
    pub fn is_disturbed(&self) -> bool {
        let taken = (self.others_ns + self.stolen_ns) as f64;
        taken > DISTURBED_CORES * self.counted_ns as f64
    }
}

/// Durations and memory before the first measured sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseOpening {
    /// Preparing the case once the model was loaded: optimising for the shape, binding inputs.
    pub open_ns: u64,
    /// The very first run.
    pub first_run_ns: u64,
    /// How the inputs came to be and whether outputs are read back.
    pub feeding: String,
    /// The most memory that the worker had until then, in bytes, loading the model not counted. The
    /// smaller batch sizes of the setup were opened before, and stay open.
    #[serde(default)]
    pub peak_bytes: Option<u64>,
}

/// How a case was warmed up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WarmUp {
    /// Runs, the first run not counted.
    pub runs: u64,
    /// Time they took, in nanoseconds.
    pub spent_ns: u64,
    /// Whether the windows agreed before the limit.
    pub settled: bool,
}

/// One setup at one point of the sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Index into the plan's setups.
    pub setup: usize,
    /// Sizes of the sweep's dimensions.
    pub point: Point,
    /// How it ended.
    pub outcome: Outcome,
    /// What came before measuring in its first start, once it was reached.
    pub opening: Option<CaseOpening>,
    /// The warm-up of its first start.
    pub warm_up: Option<WarmUp>,
    /// Visits, in order.
    pub rounds: Vec<Round>,
    /// What another program states of it, a result each; empty where it was measured here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<Stated>,
}

impl Case {
    /// A case of which nothing is known yet.
    pub fn pending(key: CaseKey) -> Self {
        Self {
            setup: key.setup,
            point: key.point,
            outcome: Outcome::Pending,
            opening: None,
            warm_up: None,
            rounds: Vec::new(),
            stated: Vec::new(),
        }
    }

    /// Which case this is.
    pub fn key(&self) -> CaseKey {
        CaseKey {
            setup: self.setup,
            point: self.point,
        }
    }

    /// All samples of all rounds, in the order in which they came.
    pub fn samples_ns(&self) -> impl Iterator<Item = u64> + '_ {
        self.rounds
            .iter()
            .flat_map(|round| round.samples_ns.iter().copied())
    }

    /// How many samples there are.
    pub fn n_samples(&self) -> u64 {
        self.rounds
            .iter()
            .map(|round| round.samples_ns.len() as u64)
            .sum()
    }

    /// Time spent measuring, in nanoseconds.
    pub fn spent_ns(&self) -> u64 {
        self.rounds.iter().map(|round| round.spent_ns).sum()
    }

    /// For each round the start of its setup's worker that it belongs to, numbered from 0 in their order. Where rounds do
    /// not say it, they are of one start for each sitting, of which `first_rounds` has the first round of each later
    /// one; or each round is a start, where the worker was restarted for every visit.
    pub fn starts(&self, first_rounds: &[u32], is_restarted: bool) -> Vec<u32> {
        let start = |round: &Round| match round.start {
            Some(start) => (0, start),
            None if is_restarted => (1, round.round),
            None => (
                1,
                first_rounds.iter().filter(|&&n| n <= round.round).count() as u32,
            ),
        };
        let mut known = Vec::new();
        let mut starts = Vec::with_capacity(self.rounds.len());
        for round in &self.rounds {
            let start = start(round);
            let place = known.iter().position(|one| *one == start);
            starts.push(place.unwrap_or(known.len()) as u32);
            if place.is_none() {
                known.push(start);
            }
        }
        starts
    }

    /// The samples, in nanoseconds, in the groups that are independent of each other: start by start where there are
    /// several, else round by round.
    pub fn independent_samples(&self, starts: &[u32]) -> Vec<Vec<f64>> {
        let has_several = starts.iter().any(|&start| start > 0);
        let mut groups: Vec<Vec<f64>> = Vec::new();
        for (place, (round, &start)) in self.rounds.iter().zip(starts).enumerate() {
            let group = if has_several { start as usize } else { place };
            groups.resize(groups.len().max(group + 1), Vec::new());
            let samples = round.samples_ns.iter().map(|&ns| ns as f64);
            groups[group].extend(samples);
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(starts: &[Option<u32>]) -> Case {
        let mut case = Case::pending(CaseKey {
            setup: 0,
            point: Point::of_batch(1),
        });
        case.rounds = (0..)
            .zip(starts)
            .map(|(round, &start)| Round {
                round,
                start,
                samples_ns: vec![u64::from(round)],
                ..Round::default()
            })
            .collect();
        case
    }

    #[test]
    fn rounds_belong_to_the_start_of_their_worker() {
        let recorded = case(&[Some(0), Some(0), Some(3), Some(4)]);
        assert_eq!(recorded.starts(&[], false), [0, 0, 1, 2]);
        let of_before = case(&[None; 4]);
        assert_eq!(of_before.starts(&[], false), [0; 4]);
        assert_eq!(of_before.starts(&[2, 3], false), [0, 0, 1, 2]);
        assert_eq!(of_before.starts(&[], true), [0, 1, 2, 3]);
        // Rounds that were added later say it, those of before do not.
        let grown = case(&[None, None, Some(0), Some(1)]);
        assert_eq!(grown.starts(&[2], false), [0, 0, 1, 2]);
    }

    #[test]
    fn samples_are_independent_by_start_where_there_are_several() {
        let several = case(&[Some(0), Some(0), Some(1)]);
        let groups = several.independent_samples(&several.starts(&[], false));
        assert_eq!(groups, [vec![0.0, 1.0], vec![2.0]]);
        let one = case(&[Some(0), Some(0), Some(0)]);
        let groups = one.independent_samples(&one.starts(&[], false));
        assert_eq!(groups, [vec![0.0], vec![1.0], vec![2.0]]);
    }

    #[test]
    fn a_round_of_an_older_session_has_no_start() {
        let old = r#"{"round":1,"started_ns":5,"spent_ns":7,"samples_ns":"3 4"}"#;
        let mut round: Round = serde_json::from_str(old).unwrap();
        assert_eq!((round.round, round.start), (1, None));
        assert!(!serde_json::to_string(&round).unwrap().contains("start\""));
        round.start = Some(4);
        let text = serde_json::to_string(&round).unwrap();
        assert_eq!(serde_json::from_str::<Round>(&text).unwrap(), round);
    }
}
