//! How close what a setup computes is to what the network computes in floats.

use serde::{Deserialize, Serialize};

/// A setup's outputs beside those of the reference, for the same inputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Who computed the reference: `ONNX Runtime 1.31.0, float, not optimised`.
    pub reference: String,
    /// The inputs: `64 seeded inputs`.
    pub inputs: String,
    /// How many.
    pub items: u64,
    /// How far the two are apart, in the first output; nothing where they cannot be compared.
    pub distance: Option<OutputDistance>,
    /// Items whose largest value is in the same place as the reference's; nothing for outputs that are no
    /// choice between classes.
    pub same_choice: Option<HitCount>,
    /// Items whose label has the largest value; nothing without labels.
    #[serde(default)]
    pub top1: Option<HitCount>,
    /// Items whose label is among the five largest values.
    #[serde(default)]
    pub top5: Option<HitCount>,
    /// Why something of this is not known.
    #[serde(default)]
    pub trouble: Option<String>,
    /// Why the outputs choose between no classes, so that same choice, top-1 and top-5 are not known;
    /// nothing where they do, and in sessions of before it was asked.
    #[serde(default)]
    pub no_choice: Option<String>,
}

/// Distance of two outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OutputDistance {
    /// The largest difference of two values.
    pub max_error: f64,
    /// The mean of the differences of all values.
    pub mean_error: f64,
    /// The largest difference as a share of the reference's largest magnitude, where it has one.
    pub relative_error: Option<f64>,
    /// The lowest cosine of the angle between an item and its reference.
    pub worst_cosine: f64,
    /// The mean of the cosines.
    pub mean_cosine: f64,
}

/// A count of hits and its total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HitCount {
    /// So many.
    pub hits: u64,
    /// Of so many.
    pub of: u64,
}

impl Accuracy {
    /// Why there is no share of items, where something is known of that.
    pub fn why_no_hits(&self) -> Option<&str> {
        self.trouble.as_deref().or(self.no_choice.as_deref())
    }
}

impl HitCount {
    /// As a share; zero of none is not known.
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| self.hits as f64 / self.of as f64)
    }
}
