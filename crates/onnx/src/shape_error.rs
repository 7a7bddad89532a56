//! Why inputs have no full shape, each with what to type instead. `shapes` and `batch_axis` find it.

use std::collections::BTreeMap;

use thiserror::Error;

use powerband_core::domain::input_sizes::shape_text;
use powerband_core::domain::point::Point;

/// Whole shapes for inputs, by their names.
pub type InputShapes = BTreeMap<String, Vec<usize>>;

/// Why the inputs have no full shape.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum ShapeError {
    /// The model leaves sizes to the caller, and the caller did not say.
    #[error("the model leaves {} open: {}. Choose with {}{trial}", plural(open.len()), open.join("; "), options(shapes).join(" "))]
    Open {
        /// Each open dimension, with the inputs that have it.
        open: Vec<String>,
        /// Example shapes that close them, by inputs.
        shapes: InputShapes,
        /// The result of trying the example shapes; empty where none was tried.
        trial: String,
    },
    /// An option for an input that the model has not.
    #[error("{option} names an input {name:?} that the model does not have; it has {}", known.join(", "))]
    UnknownInput {
        /// The option.
        option: &'static str,
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A batch axis by a name that no dimension has.
    #[error("--batch-axis names a dimension {name:?} that no input has; they are {}", known.join(", "))]
    UnknownBatchAxis {
        name: String,
        /// The inputs with their dimensions.
        known: Vec<String>,
    },
    /// A batch axis beyond the last dimension.
    #[error(
        "--batch-axis {name}={index} names a dimension that {name:?} does not have: {port}; dimensions are counted from 0"
    )]
    NoSuchAxis {
        name: String,
        /// The dimension, from 0.
        index: usize,
        /// The input's type and shape.
        port: String,
    },
    /// Too few or too many dimensions.
    #[error("--shape gives {given} dimension(s) for {name:?}, which has {wanted}: {port}")]
    Rank {
        name: String,
        /// How many were given.
        given: usize,
        /// How many it has.
        wanted: usize,
        /// Its type and shape.
        port: String,
    },
    /// Another size than the model's.
    #[error(
        "--shape gives {given} for dimension {} of {name:?}, which the model fixes at {fixed}: {port}",
        index + 1
    )]
    Contradiction {
        name: String,
        /// Which dimension, from 0.
        index: usize,
        /// The size given.
        given: usize,
        /// The size in the file.
        fixed: usize,
        /// The input's type and shape.
        port: String,
    },
    /// Another size than the batch's, where the batch is.
    #[error(
        "--shape gives {given} for dimension {} of {name:?}, which is the batch, and the batch is {batch}: {port}. Write N there for every batch size, use --batch {given}, or say with --batch-axis which dimension is the batch",
        index + 1
    )]
    NotTheBatch {
        name: String,
        /// Which dimension, from 0.
        index: usize,
        /// The size given.
        given: usize,
        /// The batch.
        batch: usize,
        /// The input's type and shape.
        port: String,
    },
    /// `N` where the batch is not.
    #[error(
        "--shape has N, the batch, as dimension {} of {name:?}, which is not the batch: {port}. Write a size, or say with --batch-axis {name}={index} that it is",
        index + 1
    )]
    BatchElsewhere {
        name: String,
        /// Which dimension, from 0.
        index: usize,
        /// The input's type and shape.
        port: String,
    },
    /// A batch that the file rules out.
    #[error(
        "the model's batch is fixed at {fixed}, so a batch of {asked} cannot run. Use batch {fixed}, or export the model with a dynamic batch dimension"
    )]
    FixedBatch {
        /// What the file says.
        fixed: usize,
        /// What was asked for.
        asked: usize,
    },
    /// No dimension that could take the batch.
    #[error(
        "no input of the model has a batch dimension, so a batch of {asked} cannot run. Use batch 1"
    )]
    NoBatch {
        /// What was asked for.
        asked: usize,
    },
    /// A size of nothing.
    #[error("{what} is zero; every size must be at least 1")]
    Zero {
        /// Which size.
        what: String,
    },
    /// More than any machine holds.
    #[error("{point} would need {needed} for one input, {name:?}. Choose smaller sizes")]
    TooLarge {
        /// The point asked for.
        point: Point,
        /// Bytes, for people.
        needed: String,
        name: String,
    },
    /// A dimension of the sweep that no input has.
    #[error(
        "the sweep has a dimension {name:?} that no input of the model has; {}",
        dimensions(known)
    )]
    UnknownDimension {
        name: String,
        /// Open dimensions that the model has.
        known: Vec<String>,
    },
    /// A dimension of the sweep that has another size where an input has it.
    #[error(
        "the sweep has {size} for the dimension {name:?}, and the input {input:?} has {other} there: {port}. \
         Take one of the two out"
    )]
    TwoSizes {
        /// The dimension.
        name: String,
        /// Its size in the sweep.
        size: usize,
        /// Its size in the file, or by `--shape`.
        other: usize,
        /// The input that has it.
        input: String,
        /// The input's type and shape.
        port: String,
    },
    /// An option that is not a name and a shape.
    #[error(
        "cannot read --shape {text:?}: {reason}. Write it as input=Nx3x224x224, where N is the batch"
    )]
    Syntax {
        /// What was typed.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// What to type for these shapes.
pub fn options(shapes: &InputShapes) -> Vec<String> {
    let option =
        |(input, dims): (&String, &Vec<usize>)| format!("--shape {}", shape_text(input, dims));
    shapes.iter().map(option).collect()
}

fn dimensions(known: &[String]) -> String {
    match known {
        [] => "all its dimensions are fixed".to_owned(),
        [one] => format!("its open dimension is {one}; --dim {one}=NAME gives it another name"),
        _ => format!(
            "its open dimensions are {}; --dim DIMENSION=NAME gives one another name",
            known.join(", ")
        ),
    }
}

fn plural(sizes: usize) -> String {
    match sizes {
        1 => "a size".to_owned(),
        _ => format!("{sizes} sizes"),
    }
}
