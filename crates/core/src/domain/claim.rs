//! A claim: what a document publishes in numbers, as it writes them.
//!
//! It stands in a session beside what was measured, and is never taken for it. What the document leaves
//! out is left out here as well.

use serde::{Deserialize, Serialize};

use super::written::Written;

/// What a document publishes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The document.
    pub source: ClaimSource,
    /// What it was measured on, as far as the document says.
    #[serde(default)]
    pub hardware: String,
    /// How it was measured, as far as the document says.
    #[serde(default)]
    pub conditions: Vec<String>,
    /// What the document calls the way without any optimisation.
    #[serde(default)]
    pub baseline: Option<String>,
    /// Tables over the batch size.
    #[serde(default)]
    pub curves: Vec<ClaimedCurve>,
    /// Figures before and after.
    #[serde(default)]
    pub changes: Vec<ClaimedChange>,
    /// What was done, and what it is said to have brought.
    #[serde(default)]
    pub steps: Vec<ClaimedStep>,
    /// Lists that go from the best to the worst.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rankings: Vec<ClaimedRanking>,
    /// What the time, or something else, consists of.
    #[serde(default)]
    pub shares: Vec<ClaimedShares>,
    /// What a step consists of.
    #[serde(default)]
    pub phases: Vec<ClaimedPhases>,
    /// Tables of several things side by side.
    #[serde(default)]
    pub tables: Vec<ClaimedTable>,
    /// Figures and ranges that stand alone.
    #[serde(default)]
    pub figures: Vec<ClaimedFigure>,
}

/// A document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimSource {
    pub title: String,
    /// Where it is to be found.
    #[serde(rename = "where", default)]
    pub place: String,
    /// Its licence and its author, where it says.
    #[serde(default)]
    pub licence: Option<String>,
}

/// What a figure measures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClaimMetric {
    /// Time of a batch.
    Latency,
    /// Items in a time.
    Throughput,
    /// Something that is called efficiency.
    Efficiency,
    /// How busy a device is.
    Utilisation,
    /// Memory in use.
    Memory,
    /// How often it is right.
    Accuracy,
    /// Learned values.
    Parameters,
    /// Anything else, by its name.
    Other(String),
}

impl ClaimMetric {
    /// Whether it is a time or a rate, of which one follows from the other.
    pub fn is_speed(&self) -> bool {
        matches!(self, Self::Latency | Self::Throughput)
    }

    pub fn title(&self) -> &str {
        match self {
            Self::Latency => "latency",
            Self::Throughput => "throughput",
            Self::Efficiency => "efficiency",
            Self::Utilisation => "utilisation",
            Self::Memory => "memory",
            Self::Accuracy => "accuracy",
            Self::Parameters => "parameters",
            Self::Other(name) => name,
        }
    }

    /// Whether more of it is better; nothing where that is a matter of taste.
    pub fn is_better_high(&self) -> Option<bool> {
        match self {
            Self::Latency | Self::Memory => Some(false),
            Self::Throughput | Self::Efficiency | Self::Utilisation | Self::Accuracy => Some(true),
            Self::Parameters | Self::Other(_) => None,
        }
    }
}

/// Whether a figure is the best or the worst of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClaimedExtreme {
    /// The best of all.
    Best,
    /// The worst of all.
    Worst,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimedFigure {
    /// What it measures.
    pub metric: ClaimMetric,
    /// What it is about: a setup, a model; empty for all of them, or for what stands around it.
    #[serde(default)]
    pub subject: String,
    /// The figure.
    pub value: Written,
    /// Its unit as written, as in `ms`, `img/s` or `GB`; empty for a count.
    #[serde(default)]
    pub unit: String,
    /// The batch size that it belongs to, where the document says.
    #[serde(default)]
    pub batch: Option<usize>,
    /// Whether it is the best or the worst of all.
    #[serde(default)]
    pub extreme: Option<ClaimedExtreme>,
    /// Anything else by which it differs from others of its kind: a data set, a peak.
    #[serde(default)]
    pub note: String,
}

impl ClaimedFigure {
    /// The figure with its unit: `12.5 ms`.
    pub fn value_text(&self) -> String {
        with_unit(&self.value, &self.unit)
    }

    /// What one of its unit is in seconds, items a second, bytes, shares or ones; nothing for a unit that
    /// does not fit the metric or is not known.
    pub fn scale(&self) -> Option<f64> {
        scale(&self.metric, &self.unit)
    }
}

/// A number with its unit a space away.
pub fn with_unit(value: &Written, unit: &str) -> String {
    if unit.is_empty() {
        value.to_string()
    } else {
        format!("{value} {unit}")
    }
}

/// What one of a unit is in seconds, items a second, bytes, shares or ones.
pub fn scale(metric: &ClaimMetric, unit: &str) -> Option<f64> {
    match metric {
        ClaimMetric::Latency => Some(match unit {
            "ns" => 1e-9,
            "µs" | "us" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            _ => return None,
        }),
        ClaimMetric::Throughput => {
            let (_, per) = unit.split_once('/')?;
            match per.trim() {
                "s" | "sec" | "second" => Some(1.0),
                _ => None,
            }
        }
        ClaimMetric::Memory => Some(match unit {
            "B" => 1.0,
            "kB" | "KB" => 1e3,
            "MB" => 1e6,
            "GB" => 1e9,
            "KiB" => 1024.0,
            "MiB" => 1_048_576.0,
            "GiB" => 1_073_741_824.0,
            _ => return None,
        }),
        ClaimMetric::Efficiency | ClaimMetric::Utilisation | ClaimMetric::Accuracy => match unit {
            "%" => Some(0.01),
            "" => Some(1.0),
            _ => None,
        },
        ClaimMetric::Parameters => Some(match unit {
            "" => 1.0,
            "k" | "K" => 1e3,
            "M" => 1e6,
            "B" | "G" => 1e9,
            _ => return None,
        }),
        ClaimMetric::Other(_) => None,
    }
}

/// A table over the batch size. A cell that the document leaves blank is nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClaimedCurve {
    /// The way to run it: `AITemplate`.
    pub setup: String,
    /// What it ran on: `A100-40GB`.
    #[serde(default)]
    pub hardware: String,
    /// How many of that share each batch.
    #[serde(default = "one_device")]
    pub devices: usize,
    /// How this table was measured, where it differs from others.
    #[serde(default)]
    pub conditions: Vec<String>,
    /// What is counted a second, as written: `img/s`.
    pub per_s: String,
    /// Batch by batch.
    pub points: Vec<ClaimedPoint>,
}

fn one_device() -> usize {
    1
}

impl ClaimedCurve {
    /// What it is called: the setup, on so many of what.
    pub fn label(&self) -> String {
        match (self.hardware.is_empty(), self.devices) {
            (true, 0 | 1) => self.setup.clone(),
            (true, devices) => format!("{}, {devices} devices", self.setup),
            (false, 0 | 1) => format!("{}, {}", self.setup, self.hardware),
            (false, devices) => format!("{}, {devices} × {}", self.setup, self.hardware),
        }
    }
}

/// One row of such a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClaimedPoint {
    /// Batch size.
    pub batch: usize,
    /// Time of a batch, in milliseconds.
    #[serde(default)]
    pub latency_ms: Option<Written>,
    /// Items a second.
    #[serde(default)]
    pub throughput: Option<Written>,
    /// What the document calls efficiency, in percent.
    #[serde(default)]
    pub efficiency: Option<Written>,
}

/// What is said to have become of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Improvement {
    /// So many times as good.
    Times(Written),
    /// Less by so many percent.
    LessBy(Written),
    /// More by so many percent.
    MoreBy(Written),
}

impl Improvement {
    /// The improvement as text: `21.6 ×`, `50 % less`.
    pub fn gain_text(&self) -> String {
        match self {
            Self::Times(times) => format!("{times} ×"),
            Self::LessBy(percent) => format!("{percent} % less"),
            Self::MoreBy(percent) => format!("{percent} % more"),
        }
    }
}

/// A metric before and after a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimedChange {
    /// What of it.
    pub metric: ClaimMetric,
    /// What made the change, where the document names it.
    #[serde(default)]
    pub subject: String,
    /// Before.
    #[serde(default)]
    pub before: Option<ClaimedFigure>,
    /// After.
    #[serde(default)]
    pub after: Option<ClaimedFigure>,
    /// What it is said to have gained.
    #[serde(default)]
    pub claimed: Option<Improvement>,
}

/// Something that was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimedStep {
    /// What.
    pub title: String,
    /// What its gains are over: the start, the step before, the baseline.
    #[serde(default)]
    pub over: String,
    /// Values before and after.
    #[serde(default)]
    pub changes: Vec<ClaimedChange>,
}

/// Steps, or what else is named by changes, in the order of what they are said to bring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimedRanking {
    pub title: String,
    /// The metric that the ranking goes by.
    pub metric: ClaimMetric,
    /// Titles of steps, or subjects of changes, the best first.
    pub best_first: Vec<String>,
}

/// Share or time of one part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimedPart {
    pub name: String,
    /// How much.
    pub value: Written,
}

/// Breakdown into parts, in percent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimedShares {
    /// Of what.
    pub of: String,
    /// Whether the document names every part.
    #[serde(default)]
    pub is_complete: bool,
    pub parts: Vec<ClaimedPart>,
}

/// Breakdown of a step into times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimedPhases {
    /// Of which step.
    pub of: String,
    /// The batch size, where the document says.
    #[serde(default)]
    pub batch: Option<usize>,
    /// The unit of all times: `ms`.
    pub unit: String,
    /// The step as a whole.
    pub total: Written,
    pub parts: Vec<ClaimedPart>,
}

/// Several things side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimedTable {
    /// What it shows.
    pub title: String,
    /// The batch size of all, where the document says.
    #[serde(default)]
    pub batch: Option<usize>,
    /// One thing each.
    pub rows: Vec<ClaimedRow>,
}

/// One thing in a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimedRow {
    /// Its name.
    pub name: String,
    /// Its figures.
    pub figures: Vec<ClaimedFigure>,
}

/// A figure with what is said around it, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedFigure {
    /// The figure, with the subject and the batch of the table around it.
    pub figure: ClaimedFigure,
    /// Where in the document.
    pub place: String,
}

impl Published {
    /// Every figure that says what it is about, from tables over the batch size and others, and alone.
    /// Those before and after a change are not among them.
    pub fn placed_figures(&self) -> Vec<PlacedFigure> {
        let of_curves = self.curves.iter().flat_map(|curve| {
            let place = curve.label();
            curve.points.iter().flat_map(move |point| {
                let place = place.clone();
                point
                    .figures(&curve.per_s)
                    .into_iter()
                    .map(move |figure| PlacedFigure {
                        figure: ClaimedFigure {
                            subject: place.clone(),
                            ..figure
                        },
                        place: place.clone(),
                    })
            })
        });
        let of_tables = self.tables.iter().flat_map(|table| {
            table.rows.iter().flat_map(move |row| {
                row.figures.iter().map(move |figure| PlacedFigure {
                    figure: ClaimedFigure {
                        subject: row.name.clone(),
                        batch: figure.batch.or(table.batch),
                        ..figure.clone()
                    },
                    place: table.title.clone(),
                })
            })
        });
        let alone = self.figures.iter().map(|figure| PlacedFigure {
            figure: figure.clone(),
            place: String::new(),
        });
        of_curves.chain(of_tables).chain(alone).collect()
    }

    /// Every change, those of steps with the step's title where they name no subject.
    pub fn all_changes(&self) -> Vec<ClaimedChange> {
        let of_steps = self.steps.iter().flat_map(|step| {
            step.changes.iter().map(|change| ClaimedChange {
                subject: if change.subject.is_empty() {
                    step.title.clone()
                } else {
                    change.subject.clone()
                },
                ..change.clone()
            })
        });
        self.changes.iter().cloned().chain(of_steps).collect()
    }
}

impl ClaimedPoint {
    fn figures(&self, per_s: &str) -> Vec<ClaimedFigure> {
        let figure = |metric: ClaimMetric, value: &Option<Written>, unit: &str| {
            value.as_ref().map(|value| ClaimedFigure {
                metric,
                subject: String::new(),
                value: value.clone(),
                unit: unit.to_owned(),
                batch: Some(self.batch),
                extreme: None,
                note: String::new(),
            })
        };
        [
            figure(ClaimMetric::Latency, &self.latency_ms, "ms"),
            figure(ClaimMetric::Throughput, &self.throughput, per_s),
            figure(ClaimMetric::Efficiency, &self.efficiency, "%"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
