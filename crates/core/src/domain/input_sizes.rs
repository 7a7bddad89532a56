//! What the user says of the sizes of a network's inputs: whole shapes, and which dimension is the batch.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::fill::Fill;

/// In a shape, the place of the batch, whatever its size: written as `N`.
pub const BATCH: usize = 0;

/// What the user says of the inputs' sizes and values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputSizes {
    /// Whole shapes of inputs that the model leaves open.
    pub shapes: BTreeMap<String, Vec<usize>>,
    /// Which dimensions are the batch; empty for those that are called so, or the first.
    pub batch_axis: Vec<InputAxis>,
    /// What the sweep calls dimensions that the model calls otherwise.
    pub dims: Vec<NamedDim>,
    /// What inputs are filled with, where the user said so.
    pub fills: BTreeMap<String, Fill>,
}

impl InputSizes {
    /// The options of the command line that say the same, with their values.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        let shapes = self.shapes.iter();
        let shapes = shapes.map(|(input, dims)| ("--shape", shape_text(input, dims)));
        let dims = self.dims.iter().map(|dim| ("--dim", dim.to_string()));
        let axes = self.batch_axis.iter();
        let axes = axes.map(|axis| ("--batch-axis", axis.to_string()));
        let fills = self.fills.iter();
        let fills = fills.map(|(input, fill)| ("--input", format!("{input}={fill}")));
        shapes.chain(dims).chain(axes).chain(fills).collect()
    }
}

/// A shape as the option `--shape` takes it: `x=50xNx64`.
pub fn shape_text(input: &str, dims: &[usize]) -> String {
    let size = |dim: &usize| match *dim {
        BATCH => "N".to_owned(),
        size => size.to_string(),
    };
    let sizes: Vec<String> = dims.iter().map(size).collect();
    format!("{input}={}", sizes.join("x"))
}

/// A dimension of the inputs, as the user says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputAxis {
    /// Every dimension of this name.
    Named(String),
    /// A dimension of one input.
    At {
        /// The input's name.
        input: String,
        /// The dimension's place in its shape, from 0.
        index: usize,
    },
}

impl fmt::Display for InputAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::At { input, index } => write!(f, "{input}={index}"),
        }
    }
}

/// A dimension of the inputs, and what a sweep calls it: `n=batch`, `x:1=seq`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedDim {
    /// Which dimension.
    pub axis: InputAxis,
    /// Its name in points of the sweep.
    pub name: String,
}

impl fmt::Display for NamedDim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.axis {
            InputAxis::Named(dim) => write!(f, "{dim}={}", self.name),
            InputAxis::At { input, index } => write!(f, "{input}:{index}={}", self.name),
        }
    }
}

/// A dimension with a name that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot read {0:?}: write a dimension of the model and what the sweep calls it, as in n=batch, or an \
     input and the place of its dimension counted from 0, as in x:1=seq"
)]
pub struct NamedDimError(String);

impl FromStr for NamedDim {
    type Err = NamedDimError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || NamedDimError(text.to_owned());
        let (dim, name) = text.rsplit_once('=').ok_or_else(refused)?;
        let (dim, name) = (dim.trim(), name.trim());
        if dim.is_empty() || name.is_empty() {
            return Err(refused());
        }
        let place = dim.rsplit_once(':');
        let place = place.and_then(|(input, index)| Some((input, index.parse().ok()?)));
        let axis = match place {
            Some((input, index)) => InputAxis::At {
                input: input.to_owned(),
                index,
            },
            None => InputAxis::Named(dim.to_owned()),
        };
        Ok(Self {
            axis,
            name: name.to_owned(),
        })
    }
}

/// A batch axis that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot read the batch axis {0:?}: write the name of a dimension, as in time, or an input and the \
     place of its dimension counted from 0, as in x=1"
)]
pub struct BatchAxisError(String);

impl FromStr for InputAxis {
    type Err = BatchAxisError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || BatchAxisError(text.to_owned());
        let Some((input, index)) = text.rsplit_once('=') else {
            let name = Some(text.trim()).filter(|name| !name.is_empty());
            return name
                .map(|name| Self::Named(name.to_owned()))
                .ok_or_else(refused);
        };
        let input = Some(input.trim()).filter(|input| !input.is_empty());
        Ok(Self::At {
            input: input.ok_or_else(refused)?.to_owned(),
            index: index.trim().parse().ok().ok_or_else(refused)?,
        })
    }
}

/// Reads several of them, with commas or lines between.
pub fn parse_batch_axes(text: &str) -> Result<Vec<InputAxis>, BatchAxisError> {
    let parts = text.split([',', '\n']).map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(str::parse)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_named_as_they_are_written() {
        for text in ["n=batch", "x:1=seq", "past + 1=total"] {
            assert_eq!(text.parse::<NamedDim>().unwrap().to_string(), text);
        }
        for text in ["", "n", "=batch", "n="] {
            let message = text.parse::<NamedDim>().unwrap_err().to_string();
            assert!(message.contains("n=batch"), "{message}");
        }
    }

    #[test]
    fn batch_axes_are_read_as_they_are_written() {
        for text in ["time", "x=1", "input:0=2", "a.b=0"] {
            assert_eq!(text.parse::<InputAxis>().unwrap().to_string(), text);
        }
        assert_eq!(parse_batch_axes("time, x=1\n").unwrap().len(), 2);
        for text in ["", " ", "=1", "x=", "x=-1", "x=time"] {
            let message = text.parse::<InputAxis>().unwrap_err().to_string();
            assert!(message.contains("counted from 0"), "{message}");
        }
        assert_eq!(shape_text("x", &[50, BATCH, 64]), "x=50xNx64");
    }
}
