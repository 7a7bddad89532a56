//! Figures of a benchmark that another program measured, as it reported them.

use serde::{Deserialize, Serialize};

use super::generation::{Generation, StatedGeneration};
use super::point::Point;

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportedFigure {
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
    /// Items that each run takes in and other sizes of the dimensions, where the file reports them.
    #[serde(default)]
    pub point: Option<Point>,
    /// Each run's time, in nanoseconds and in order, where the file has them.
    #[serde(default, with = "crate::base::serde_u64_list")]
    pub samples_ns: Vec<u64>,
    /// The time of a run that stands for all, in nanoseconds, where there are no samples: the median
    /// where the file has one, else the mean.
    #[serde(default)]
    pub typical_ns: Option<u64>,
    /// Everything else that it says in numbers.
    #[serde(default)]
    pub figures: Vec<ReportedFigure>,
    /// Why the program itself does not accept the result; empty where it does.
    #[serde(default)]
    pub objections: Vec<String>,
    /// Requests to a language model token by token, where the file has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Generation>,
    /// What it states of requests to a language model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<StatedGeneration>,
    /// Whether it is no run of the network but what comes before, such as loading it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_preparation: bool,
}

/// What a program states of a case, in the measures that are also made here. Times are in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stated {
    /// The time of a run that stands for all, where there are no samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typical_ns: Option<f64>,
    /// The shortest run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_ns: Option<f64>,
    /// The longest run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<f64>,
    /// The mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<f64>,
    /// The 90th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p90_ns: Option<f64>,
    /// The 95th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_ns: Option<f64>,
    /// The 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<f64>,
    /// Items a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_per_s: Option<f64>,
    /// Why the program itself does not accept the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<String>,
    /// What it states of requests to a language model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<StatedGeneration>,
}

impl Stated {
    /// Takes in what another place says of the same run: what is not known yet.
    pub fn fill(&mut self, other: Self) {
        self.min_ns = self.min_ns.or(other.min_ns);
        self.max_ns = self.max_ns.or(other.max_ns);
        self.mean_ns = self.mean_ns.or(other.mean_ns);
        self.p90_ns = self.p90_ns.or(other.p90_ns);
        self.p95_ns = self.p95_ns.or(other.p95_ns);
        self.p99_ns = self.p99_ns.or(other.p99_ns);
        self.throughput_per_s = self.throughput_per_s.or(other.throughput_per_s);
        match (&mut self.generation, other.generation) {
            (Some(known), Some(more)) => known.fill(more),
            (known, more) => *known = known.or(more),
        }
        for objection in other.objections {
            if !self.objections.contains(&objection) {
                self.objections.push(objection);
            }
        }
    }

    /// Whether it says how the times vary.
    pub fn states_spread(&self) -> bool {
        let told = [
            self.min_ns,
            self.max_ns,
            self.p90_ns,
            self.p95_ns,
            self.p99_ns,
        ];
        told.iter().any(Option::is_some)
    }
}

impl Reported {
    /// Something with a name and no figures yet.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Items that each run takes in, where the file reports them.
    pub fn batch(&self) -> Option<usize> {
        self.point.map(Point::batch)
    }

    /// Says how many items each run takes in; nothing changes where that is not known.
    pub fn set_batch(&mut self, batch: Option<usize>) {
        if let Some(batch) = batch {
            let point = self.point.unwrap_or_else(|| Point::of_batch(batch));
            self.point = Some(point.with_batch(batch));
        }
    }

    /// Adds a figure.
    pub fn figure(&mut self, name: impl Into<String>, value: f64, unit: &str) -> &mut Self {
        self.figures.push(ReportedFigure {
            name: name.into(),
            value,
            unit: unit.to_owned(),
        });
        self
    }
}
