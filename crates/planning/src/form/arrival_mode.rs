//! How requests arrive.

use serde::{Deserialize, Serialize};

/// How requests arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArrivalMode {
    /// Closed loop: each when the previous one ends.
    #[default]
    OneByOne,
    /// Open loop, Poisson.
    AtRandom,
    /// Open loop, fixed rate.
    Evenly,
}

impl ArrivalMode {
    /// The ways in which requests come by themselves.
    pub const OPEN: [Self; 2] = [Self::Evenly, Self::AtRandom];
    /// Every way, the closed loop first.
    pub const ALL: [Self; 3] = [Self::OneByOne, Self::AtRandom, Self::Evenly];

    /// What the window calls it.
    pub fn title(self) -> &'static str {
        match self {
            Self::OneByOne => "closed loop",
            Self::AtRandom => "Poisson",
            Self::Evenly => "fixed",
        }
    }

    /// What it means.
    pub fn help(self) -> &'static str {
        match self {
            Self::OneByOne => "Each run starts when the previous one ends: service time",
            Self::AtRandom => {
                "Open loop: requests arrive independently of each other: response time"
            }
            Self::Evenly => "Open loop: requests arrive at equal intervals: response time",
        }
    }

    /// The value of the option that says it; empty for the closed loop.
    pub fn option_value(self) -> &'static str {
        match self {
            Self::OneByOne => "",
            Self::AtRandom => "poisson",
            Self::Evenly => "constant",
        }
    }

    /// The way that a value of the option says.
    pub fn of_option(text: &str) -> Result<Self, String> {
        let found = Self::OPEN
            .into_iter()
            .find(|mode| mode.option_value() == text);
        let words = Self::OPEN.map(Self::option_value);
        found.ok_or_else(|| {
            format!(
                "requests do not arrive \"{text}\"; there are {}",
                words.join(" and ")
            )
        })
    }
}
