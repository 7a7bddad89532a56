//! The screens, in the order of the rail.

use serde::{Deserialize, Serialize};

/// One screen of the window.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Screen {
    /// What this machine has, and where to begin.
    #[default]
    Home,
    /// What is to be measured.
    Plan,
    /// A run while it goes on.
    Run,
    /// Latency and throughput against batch size.
    Curves,
    /// Before and after.
    Compare,
    /// One case through time.
    History,
    /// Steps, and what each one gained.
    Journey,
    /// Where the time of a profile went.
    Kernels,
    /// What ran where and when, in a trace of a profiler.
    Timeline,
    /// Every session there is.
    Library,
    /// Looks and shortcuts.
    Settings,
}

impl Screen {
    /// Every screen, in order.
    pub const ALL: [Self; 11] = [
        Self::Home,
        Self::Plan,
        Self::Run,
        Self::Curves,
        Self::Compare,
        Self::History,
        Self::Journey,
        Self::Kernels,
        Self::Timeline,
        Self::Library,
        Self::Settings,
    ];

    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Home => "Home",
            Self::Plan => "Plan",
            Self::Run => "Run",
            Self::Curves => "Curves",
            Self::Compare => "Compare",
            Self::History => "History",
            Self::Journey => "Steps",
            Self::Kernels => "Kernels",
            Self::Timeline => "Timeline",
            Self::Library => "Library",
            Self::Settings => "Settings",
        }
    }

    /// What it is for, in a sentence.
    pub fn purpose(self) -> &'static str {
        match self {
            Self::Home => "This machine, its engines and recent sessions",
            Self::Plan => "Choose a model, setups and batch sizes",
            Self::Run => "Progress, samples and devices of a run",
            Self::Curves => "Latency and throughput against batch size",
            Self::Compare => "What changed between two setups or sessions",
            Self::History => "One case in all sessions",
            Self::Journey => "Gain and cost of each step",
            Self::Kernels => "Where the time of a profile went",
            Self::Timeline => "What ran where and when, from a profiler's trace",
            Self::Library => "All sessions",
            Self::Settings => "Theme, interface size and shortcuts",
        }
    }
}
