//! Figures of a benchmark that another program measured, as it reported them.

use serde::{Deserialize, Serialize};

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What the program calls it.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Its unit, as in `ms` or `items/s`; empty for a count.
    #[serde(default)]
    pub unit: String,
}

/// What a program reported of one thing that it measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reported {
    /// What was measured, as the file names it.
    pub name: String,
    /// Items that each run takes in, where the file tells.
    #[serde(default)]
    pub batch: Option<usize>,
    /// Each run's time, in nanoseconds and in order, where the file has them.
    #[serde(default, with = "crate::base::spaced")]
    pub samples_ns: Vec<u64>,
    /// The time of a run that stands for all, in nanoseconds, where there are no samples: the median
    /// where the file has one, else the mean.
    #[serde(default)]
    pub typical_ns: Option<u64>,
    /// Everything else that it says in numbers.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// Why the program itself does not accept the result; empty where it does.
    #[serde(default)]
    pub objections: Vec<String>,
}

impl Reported {
    /// Something with a name and no figures yet.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Adds a figure.
    pub fn figure(&mut self, name: impl Into<String>, value: f64, unit: &str) -> &mut Self {
        self.figures.push(Figure {
            name: name.into(),
            value,
            unit: unit.to_owned(),
        });
        self
    }
}
