//! What limits something, and how that is known.

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

/// What limits a node, a kernel or a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Arithmetic.
    Compute,
    /// Moving bytes.
    Memory,
    /// Starting nodes or kernels.
    Launch,
    /// Neither compute, memory nor launch: latency, or too little parallel work.
    Neither,
    /// More than one explains the time.
    CannotTell,
    /// It was faster than its floor, so that the floor is not one.
    ModelWrong,
}

impl Bound {
    pub const ALL: [Self; 6] = [
        Self::Compute,
        Self::Memory,
        Self::Launch,
        Self::Neither,
        Self::CannotTell,
        Self::ModelWrong,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Memory => "memory",
            Self::Launch => "launch",
            Self::Neither => "neither",
            Self::CannotTell => "cannot tell",
            Self::ModelWrong => "the model is wrong",
        }
    }

    /// Explanation in a sentence.
    pub fn help(self) -> &'static str {
        match self {
            Self::Compute => "The arithmetic alone takes most of the time",
            Self::Memory => "Moving the bytes alone takes most of the time",
            Self::Launch => "Starting it takes most of the time",
            Self::Neither => {
                "Arithmetic, bytes and launches together explain a small part of the time: latency, or too little that runs at once"
            }
            Self::CannotTell => {
                "Arithmetic and bytes explain the time equally well, or the bytes are not known closely enough"
            }
            Self::ModelWrong => {
                "It took less than its floor, so the work is counted too high or the roof is too low"
            }
        }
    }
}

/// The kind of evidence for a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// From the work of each node and measured roofs.
    Model,
    /// From latency against batch size.
    Curve,
}

impl Basis {
    pub fn title(self) -> &'static str {
        match self {
            Self::Model => "by the model",
            Self::Curve => "by the curve",
        }
    }
}

/// Writes what limits something as `bound`, or why that is not said as `why_not`, among the fields around it.
pub(crate) fn bound_or_reason<S: Serializer>(
    bound: &Result<Bound, String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(2))?;
    map.serialize_entry("bound", &bound.as_ref().ok())?;
    map.serialize_entry("why_not", &bound.as_ref().err())?;
    map.end()
}
