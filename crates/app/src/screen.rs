//! The screens, in the order of the rail.

use serde::{Deserialize, Serialize};

/// One screen of the window.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Screen {
    /// This machine, its engines and recent sessions.
    #[default]
    Home,
    /// The plan to measure.
    Plan,
    /// A run in progress.
    Run,
    /// Latency and throughput against batch size.
    Curves,
    /// Before and after.
    Compare,
    /// One setup on several machines.
    Fleet,
    /// One case over all sessions.
    History,
    /// Optimisation steps and their gains.
    Journey,
    /// The time of a profile by category, operator and kernel.
    Kernels,
    /// What limits a case, and how much is left.
    Why,
    /// A profiler's trace over time.
    Timeline,
    /// All sessions.
    Library,
    /// Appearance and shortcuts.
    Settings,
}

impl Screen {
    /// Every screen, in order.
    pub const ALL: [Self; 13] = [
        Self::Home,
        Self::Plan,
        Self::Run,
        Self::Curves,
        Self::Compare,
        Self::Fleet,
        Self::History,
        Self::Journey,
        Self::Kernels,
        Self::Why,
        Self::Timeline,
        Self::Library,
        Self::Settings,
    ];

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Home => "Home",
            Self::Plan => "Plan",
            Self::Run => "Run",
            Self::Curves => "Curves",
            Self::Compare => "Compare",
            Self::Fleet => "Fleet",
            Self::History => "History",
            Self::Journey => "Steps",
            Self::Kernels => "Kernels",
            Self::Why => "Why",
            Self::Timeline => "Timeline",
            Self::Library => "Library",
            Self::Settings => "Settings",
        }
    }

    /// Its purpose in a sentence.
    pub fn purpose(self) -> &'static str {
        match self {
            Self::Home => "This machine, its engines and recent sessions",
            Self::Plan => "Choose a model, setups and batch sizes",
            Self::Run => "Progress, samples and devices of a run",
            Self::Curves => "Latency and throughput against batch size",
            Self::Compare => "What changed between two setups or sessions",
            Self::Fleet => "One setup on several machines, and the odd one out",
            Self::History => "One case in all sessions",
            Self::Journey => "Gain and cost of each step",
            Self::Kernels => "Where the time of a profile went",
            Self::Why => "What limits a case, and how much is left",
            Self::Timeline => "What ran where and when, from a profiler's trace",
            Self::Library => "All sessions",
            Self::Settings => "Theme, interface size and shortcuts",
        }
    }
}
