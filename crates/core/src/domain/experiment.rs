//! Experiments on a case: what was changed about it, to see what limits it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::case::CaseKey;
use super::point::Point;

/// What an experiment changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ExperimentChange {
    /// Half the threads.
    HalfThreads,
    /// Twice the threads.
    TwiceThreads,
    /// Twice the batch; times are those of as many items.
    TwiceBatch,
    /// A neighbour on otherwise idle cores that streams memory.
    StreamingNeighbour,
    /// A neighbour on otherwise idle cores that computes from registers.
    ComputingNeighbour,
    /// Half precision.
    HalfPrecision,
    /// Eight-bit integers.
    EightBits,
    /// Another engine, or another provider of the same one.
    AnotherEngine,
    /// Optimisation of the graph is off.
    OptimisationOff,
    /// The run is captured once as a graph and replayed.
    GraphCapture,
    /// Inputs stay where the device reads them.
    BoundInput,
    /// Each thread stays on a core of its own.
    PinnedThreads,
    /// Threads sleep while they wait.
    UnspunThreads,
    /// The clock is capped.
    ClockCap,
}

impl ExperimentChange {
    /// Every one, in the order in which they are shown.
    pub const ALL: [Self; 14] = [
        Self::HalfThreads,
        Self::TwiceThreads,
        Self::TwiceBatch,
        Self::StreamingNeighbour,
        Self::ComputingNeighbour,
        Self::HalfPrecision,
        Self::EightBits,
        Self::AnotherEngine,
        Self::OptimisationOff,
        Self::GraphCapture,
        Self::BoundInput,
        Self::PinnedThreads,
        Self::UnspunThreads,
        Self::ClockCap,
    ];

    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::HalfThreads => "half the threads",
            Self::TwiceThreads => "twice the threads",
            Self::TwiceBatch => "twice the batch",
            Self::StreamingNeighbour => "beside a memory-streaming load",
            Self::ComputingNeighbour => "beside a computing load",
            Self::HalfPrecision => "half precision",
            Self::EightBits => "int8",
            Self::AnotherEngine => "another engine",
            Self::OptimisationOff => "optimisation off",
            Self::GraphCapture => "graph capture",
            Self::BoundInput => "bound input",
            Self::PinnedThreads => "pinned threads",
            Self::UnspunThreads => "threads sleep while they wait",
            Self::ClockCap => "a capped clock",
        }
    }

    /// What documents and the command line call it.
    pub fn id(self) -> &'static str {
        match self {
            Self::HalfThreads => "half-threads",
            Self::TwiceThreads => "twice-threads",
            Self::TwiceBatch => "twice-batch",
            Self::StreamingNeighbour => "streaming-neighbour",
            Self::ComputingNeighbour => "computing-neighbour",
            Self::HalfPrecision => "half-precision",
            Self::EightBits => "int8",
            Self::AnotherEngine => "another-engine",
            Self::OptimisationOff => "optimisation-off",
            Self::GraphCapture => "graph-capture",
            Self::BoundInput => "bound-input",
            Self::PinnedThreads => "pinned-threads",
            Self::UnspunThreads => "unspun-threads",
            Self::ClockCap => "clock-cap",
        }
    }

    /// Whether it tells what limits a case and cannot be kept: fewer threads, loads beside it.
    pub fn is_probe(self) -> bool {
        matches!(
            self,
            Self::HalfThreads | Self::StreamingNeighbour | Self::ComputingNeighbour
        )
    }

    /// Whether it tells what limits a case; others tell what a change would bring.
    pub fn tells_limits(self) -> bool {
        matches!(
            self,
            Self::HalfThreads
                | Self::TwiceThreads
                | Self::StreamingNeighbour
                | Self::ComputingNeighbour
                | Self::GraphCapture
        )
    }
}

impl fmt::Display for ExperimentChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// One change, and the setups that show what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Experiment {
    /// What is changed.
    pub change: ExperimentChange,
    /// The setup with the change, by its place in the plan.
    pub setup: usize,
    /// The setup without it, by its place in the plan: the case itself, or the case on fewer threads where
    /// the change needs idle cores.
    pub control: usize,
    /// The point with the change, where it is another than that of the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
}

/// The reason of a change that could be tried, and the user wanted others.
pub const LEFT_OUT: &str = "it was left out";

/// A change that cannot be tried here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnavailableExperiment {
    /// What would be changed.
    pub change: ExperimentChange,
    /// Why it cannot be, and what the user can do instead.
    pub reason: String,
}

/// The experiments of a plan, all on one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Experiments {
    /// The setup that is asked about, by its place in the plan.
    pub setup: usize,
    /// The point that is asked about.
    pub point: Point,
    /// What is tried.
    pub tried: Vec<Experiment>,
    /// What cannot be tried.
    pub untried: Vec<UnavailableExperiment>,
    /// For how many seconds they are measured at most, the most telling first; nothing where each has its number of
    /// turns, however long that takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_s: Option<u64>,
}

impl Experiments {
    /// The case that is asked about.
    pub fn case(&self) -> CaseKey {
        self.case_of(self.setup)
    }

    /// A setup at the point that is asked about.
    pub fn case_of(&self, setup: usize) -> CaseKey {
        let point = self.point;
        CaseKey { setup, point }
    }

    /// The case with a change.
    pub fn changed_case(&self, tried: &Experiment) -> CaseKey {
        CaseKey {
            setup: tried.setup,
            point: tried.point.unwrap_or(self.point),
        }
    }

    /// Whether a case takes part.
    pub fn has_case(&self, case: CaseKey) -> bool {
        let mut tried = self.tried.iter();
        case.point == self.point || tried.any(|tried| self.changed_case(tried) == case)
    }

    /// The same at other points: `of` says which one stands for each.
    #[must_use]
    pub fn at_points(mut self, of: impl Fn(Point) -> Point) -> Self {
        self.point = of(self.point);
        for tried in &mut self.tried {
            tried.point = tried.point.map(&of);
        }
        self
    }

    /// The points of all cases that take part, the one that is asked about first.
    pub fn points(&self) -> Vec<Point> {
        let changed = self.tried.iter().filter_map(|tried| tried.point);
        [self.point].into_iter().chain(changed).collect()
    }
}
