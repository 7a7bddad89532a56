//! The doors of the rail, and the screens behind each of them.

use serde::{Deserialize, Serialize};

/// A door of the rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Door {
    Home,
    /// The plan and the run.
    Bench,
    Curves,
    /// Ratio, verdict and what changed: two sides, steps, over time, machines.
    Compare,
    /// Where the time goes: kernels, network, timeline, why.
    Profile,
    Library,
    Settings,
}

impl Door {
    /// Whether what is behind it needs a machine.
    pub const fn needs_machine(self) -> bool {
        matches!(self, Self::Home | Self::Bench | Self::Library)
    }

    /// Every door, in the order of the rail and of the keys 1 to 7.
    pub const ALL: [Self; 7] = [
        Self::Home,
        Self::Bench,
        Self::Curves,
        Self::Compare,
        Self::Profile,
        Self::Library,
        Self::Settings,
    ];

    /// Its name on the rail.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Home => "Home",
            Self::Bench => "Bench",
            Self::Curves => "Curves",
            Self::Compare => "Compare",
            Self::Profile => "Profile",
            Self::Library => "Library",
            Self::Settings => "Settings",
        }
    }

    /// What it answers, in a sentence.
    pub const fn purpose(self) -> &'static str {
        match self {
            Self::Home => "This machine, its engines and recent sessions",
            Self::Bench => "What to measure, and the run that measures it",
            Self::Curves => "Latency and throughput against batch size",
            Self::Compare => "What changed between two sides, by step, over time, between machines",
            Self::Profile => "Where the time goes, and what limits it",
            Self::Library => "All sessions",
            Self::Settings => "Theme, interface size and shortcuts",
        }
    }

    /// The screens behind it; the first is shown where none was shown before.
    pub const fn screens(self) -> &'static [Screen] {
        match self {
            Self::Home => &[Screen::Home],
            Self::Bench => &[Screen::Plan, Screen::Run],
            Self::Curves => &[Screen::Curves],
            Self::Compare => &[
                Screen::Compare,
                Screen::Journey,
                Screen::History,
                Screen::Fleet,
            ],
            Self::Profile => &[
                Screen::Kernels,
                Screen::Network,
                Screen::Timeline,
                Screen::Why,
            ],
            Self::Library => &[Screen::Library],
            Self::Settings => &[Screen::Settings],
        }
    }
}

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
    /// The network as a picture, with the time of each node.
    Network,
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
    pub const ALL: [Self; 14] = [
        Self::Home,
        Self::Plan,
        Self::Run,
        Self::Curves,
        Self::Compare,
        Self::Fleet,
        Self::History,
        Self::Journey,
        Self::Kernels,
        Self::Network,
        Self::Why,
        Self::Timeline,
        Self::Library,
        Self::Settings,
    ];

    /// The screen that an address names, as in `result.html#over-time`.
    pub fn named(word: &str) -> Option<Self> {
        let mut screens = Self::ALL.into_iter();
        screens.find(|screen| screen.title().to_lowercase().replace(' ', "-") == word)
    }

    /// The door that it is behind.
    pub fn door(self) -> Door {
        let mut doors = Door::ALL.into_iter();
        let door = doors.find(|door| door.screens().contains(&self));
        door.unwrap_or(Door::Home)
    }

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Home => "Home",
            Self::Plan => "Plan",
            Self::Run => "Run",
            Self::Curves => "Curves",
            Self::Compare => "Two sides",
            Self::Fleet => "Machines",
            Self::History => "Over time",
            Self::Journey => "Steps",
            Self::Kernels => "Kernels",
            Self::Network => "Network",
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
            Self::Network => "The network as a picture, with the time and limit of each node",
            Self::Why => "What limits a case, and how much is left",
            Self::Timeline => "What ran where and when, from a profiler's trace",
            Self::Library => "All sessions",
            Self::Settings => "Theme, interface size and shortcuts",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_screen_is_behind_one_door() {
        let mut behind: Vec<Screen> = Door::ALL.map(Door::screens).concat();
        behind.sort_unstable();
        assert_eq!(behind, Screen::ALL);
    }
}
