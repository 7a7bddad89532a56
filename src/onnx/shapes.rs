//! From what a model states about its inputs, and what the user asks for, to full input shapes.
//!
//! Ports come from `inspect`, the batch size and the `--shape` options from the command line; the
//! tensors that come out are what engines are fed and what `infer` starts from. Every message says
//! what to type instead.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::proto::elements;
use crate::base::humanize;
use crate::domain::model::{Dim, Port};
use crate::domain::tensor::TensorSpec;

/// More elements than this in one input are a typing mistake, whatever the machine.
const MOST_ELEMENTS: u64 = 1 << 40;

/// Stands in where a message has to show some size.
const EXAMPLE_SIZE: usize = 128;

/// Why the inputs have no full shape.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum ShapeError {
    /// The model leaves sizes to the caller, and the caller did not say.
    #[error("the model leaves {} open: {}. Choose with {}", plural(open.len()), open.join("; "), options.join(" "))]
    Open {
        /// Each input with its open dimensions.
        open: Vec<String>,
        /// What to type, with example sizes.
        options: Vec<String>,
    },
    /// A shape for an input that the model has not.
    #[error("--shape names an input {name:?} that the model does not have; it has {}", known.join(", "))]
    UnknownInput {
        /// What was named.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Too few or too many dimensions.
    #[error("--shape gives {given} dimension(s) for {name:?}, which has {wanted}: {port}")]
    Rank {
        /// The input.
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
        /// The input.
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
    /// A batch that the file rules out.
    #[error(
        "the model's batch is fixed at {fixed}, so a batch of {asked} cannot run. Use --batch {fixed}, or export the model with a dynamic first dimension"
    )]
    FixedBatch {
        /// What the file says.
        fixed: usize,
        /// What was asked for.
        asked: usize,
    },
    /// No dimension that could take the batch.
    #[error(
        "no input of the model has a batch dimension, so a batch of {asked} cannot run. Use --batch 1"
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
    #[error("a batch of {} would need {needed} for one input, {name:?}. Choose a smaller batch or shape", humanize::count(*batch as u64))]
    TooLarge {
        /// The batch asked for.
        batch: usize,
        /// Bytes, for people.
        needed: String,
        /// The input.
        name: String,
    },
    /// An option that is not a name and a shape.
    #[error("cannot read --shape {text:?}: {reason}. Write it as input=1x3x224x224")]
    Syntax {
        /// What was typed.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}

fn plural(inputs: usize) -> String {
    match inputs {
        1 => "a size".to_owned(),
        _ => format!("sizes of {inputs} inputs"),
    }
}

/// The batch size that the file fixes: no first dimension is left open, and all of them agree.
pub fn fixed_batch(inputs: &[Port]) -> Option<usize> {
    let mut agreed = None;
    for first in inputs.iter().filter_map(|port| port.dims.first()) {
        match (first, agreed) {
            (Dim::Fixed(size), None) => agreed = Some(*size),
            (Dim::Fixed(size), Some(before)) if *size == before => {}
            (Dim::Named(_), _) | (Dim::Fixed(_), Some(_)) => return None,
        }
    }
    agreed
}

/// Full shapes for a batch size. An open first dimension takes the batch, and so does any other
/// that goes by the same name; the remaining open ones take what `overrides` says.
pub fn resolve(
    inputs: &[Port],
    batch: usize,
    overrides: &BTreeMap<String, Vec<usize>>,
) -> Result<Vec<TensorSpec>, ShapeError> {
    if batch == 0 {
        return Err(ShapeError::Zero {
            what: "the batch".to_owned(),
        });
    }
    check_batch(inputs, batch)?;
    if let Some(name) = overrides
        .keys()
        .find(|name| inputs.iter().all(|port| port.name != **name))
    {
        let known = inputs.iter().map(|port| port.name.clone()).collect();
        return Err(ShapeError::UnknownInput {
            name: name.clone(),
            known,
        });
    }
    let symbols: BTreeSet<&str> = inputs
        .iter()
        .filter_map(|port| port.dims.first())
        .filter_map(name_of)
        .collect();
    let mut specs = Vec::with_capacity(inputs.len());
    let mut open = Vec::new();
    let mut options = Vec::new();
    for port in inputs {
        let given = overrides.get(&port.name).map(Vec::as_slice);
        if let Some(given) = given {
            check_override(port, given)?;
        }
        let sizes = (0..port.dims.len()).map(|index| size(port, index, batch, given, &symbols));
        if let Some(dims) = sizes.collect::<Option<Vec<_>>>() {
            specs.push(spec(port, dims, batch)?);
        } else {
            let (what, option) = describe_open(port, &symbols);
            open.push(what);
            options.push(option);
        }
    }
    if open.is_empty() {
        Ok(specs)
    } else {
        Err(ShapeError::Open { open, options })
    }
}

/// Reads one `--shape` option: `input=1x3x224x224`, with `x`, `×` or `,` between the sizes.
pub fn parse_override(text: &str) -> Result<(String, Vec<usize>), ShapeError> {
    let wrong = |reason: &str| ShapeError::Syntax {
        text: text.to_owned(),
        reason: reason.to_owned(),
    };
    let (name, shape) = text
        .rsplit_once('=')
        .ok_or_else(|| wrong("there is no = in it"))?;
    let name = name.trim();
    if name.is_empty() {
        return Err(wrong("there is no input name before the ="));
    }
    if shape.trim().is_empty() {
        return Err(wrong("there are no sizes after the ="));
    }
    let dims = shape
        .split(['x', 'X', '×', ','])
        .map(|part| match part.trim().parse() {
            Ok(0) => Err(wrong("a size of 0 makes no sense")),
            Ok(size) => Ok(size),
            Err(_) => Err(wrong(&format!("{:?} is not a size", part.trim()))),
        });
    Ok((name.to_owned(), dims.collect::<Result<_, _>>()?))
}

/// Refuses a batch that no open dimension can take.
fn check_batch(inputs: &[Port], batch: usize) -> Result<(), ShapeError> {
    let is_open = |port: &Port| matches!(port.dims.first(), Some(Dim::Named(_)));
    if inputs.iter().any(is_open) {
        return Ok(());
    }
    match fixed_batch(inputs) {
        Some(fixed) if fixed != batch => Err(ShapeError::FixedBatch {
            fixed,
            asked: batch,
        }),
        None if batch != 1 => Err(ShapeError::NoBatch { asked: batch }),
        _ => Ok(()),
    }
}

/// Refuses a shape that the port cannot have.
fn check_override(port: &Port, given: &[usize]) -> Result<(), ShapeError> {
    if given.len() != port.dims.len() {
        return Err(ShapeError::Rank {
            name: port.name.clone(),
            given: given.len(),
            wanted: port.dims.len(),
            port: port.describe(),
        });
    }
    if let Some(index) = given.iter().position(|&size| size == 0) {
        let what = format!("dimension {} of --shape for {:?}", index + 1, port.name);
        return Err(ShapeError::Zero { what });
    }
    for (index, (dim, &given)) in port.dims.iter().zip(given).enumerate() {
        match *dim {
            Dim::Fixed(fixed) if fixed != given => {
                let (name, port) = (port.name.clone(), port.describe());
                return Err(ShapeError::Contradiction {
                    name,
                    index,
                    given,
                    fixed,
                    port,
                });
            }
            _ => {}
        }
    }
    Ok(())
}

/// One dimension's size, where it is known.
fn size(
    port: &Port,
    index: usize,
    batch: usize,
    given: Option<&[usize]>,
    symbols: &BTreeSet<&str>,
) -> Option<usize> {
    let dim = port.dims.get(index)?;
    match dim {
        Dim::Fixed(size) => Some(*size),
        Dim::Named(_) if takes_batch(dim, index, symbols) => Some(batch),
        Dim::Named(_) => given?.get(index).copied(),
    }
}

/// Whether an open dimension stands for the batch.
fn takes_batch(dim: &Dim, index: usize, symbols: &BTreeSet<&str>) -> bool {
    match dim {
        Dim::Fixed(_) => false,
        Dim::Named(_) => index == 0 || name_of(dim).is_some_and(|name| symbols.contains(name)),
    }
}

/// The name of an open dimension; nothing for those without, which are all different.
fn name_of(dim: &Dim) -> Option<&str> {
    match dim {
        Dim::Named(name) if !name.is_empty() => Some(name),
        _ => None,
    }
}

/// The finished input, once its size is sane.
fn spec(port: &Port, dims: Vec<usize>, batch: usize) -> Result<TensorSpec, ShapeError> {
    if dims.contains(&0) {
        return Err(ShapeError::Zero {
            what: format!("a dimension of {:?} ({})", port.name, port.describe()),
        });
    }
    let elements = elements(&dims);
    if elements > MOST_ELEMENTS {
        let needed = humanize::bytes(elements.saturating_mul(port.element.size()));
        return Err(ShapeError::TooLarge {
            batch,
            needed,
            name: port.name.clone(),
        });
    }
    Ok(TensorSpec {
        name: port.name.clone(),
        element: port.element,
        dims,
    })
}

/// What is open about an input, and an option that would close it.
fn describe_open(port: &Port, symbols: &BTreeSet<&str>) -> (String, String) {
    let mut open = Vec::new();
    let mut example = Vec::new();
    for (index, dim) in port.dims.iter().enumerate() {
        let size = match dim {
            Dim::Fixed(size) => *size,
            Dim::Named(_) if takes_batch(dim, index, symbols) => 1,
            Dim::Named(_) => {
                open.push(match name_of(dim) {
                    Some(name) => format!("dimension {} ({name})", index + 1),
                    None => format!("dimension {}", index + 1),
                });
                EXAMPLE_SIZE
            }
        };
        example.push(size.to_string());
    }
    (
        format!("{} of {}", open.join(" and "), port.name),
        format!("--shape {}={}", port.name, example.join("x")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::tensor::ElementType;

    /// Reads `name:batch,3,224`: numbers are fixed, `?` is open without a name.
    fn port(text: &str) -> Port {
        let (name, dims) = text.split_once(':').unwrap();
        let dims = dims
            .split(',')
            .filter(|dim| !dim.is_empty())
            .map(|dim| match dim.parse() {
                Ok(size) => Dim::Fixed(size),
                Err(_) => Dim::Named(dim.replace('?', "")),
            });
        Port {
            name: name.to_owned(),
            element: ElementType::F32,
            dims: dims.collect(),
        }
    }

    fn ports(texts: &[&str]) -> Vec<Port> {
        texts.iter().map(|text| port(text)).collect()
    }

    fn resolved(inputs: &[&str], batch: usize, shapes: &[&str]) -> Result<Vec<Vec<usize>>, String> {
        let overrides = shapes
            .iter()
            .map(|text| parse_override(text).unwrap())
            .collect();
        resolve(&ports(inputs), batch, &overrides)
            .map(|specs| specs.into_iter().map(|spec| spec.dims).collect())
            .map_err(|error| error.to_string())
    }

    #[track_caller]
    fn fails(inputs: &[&str], batch: usize, shapes: &[&str], expect: &str) {
        let message = resolved(inputs, batch, shapes).unwrap_err();
        assert!(message.contains(expect), "{message}");
    }

    #[test]
    fn batches_that_the_file_fixes() {
        assert_eq!(fixed_batch(&ports(&["x:8,3,32,32"])), Some(8));
        assert_eq!(fixed_batch(&ports(&["x:8,3", "y:8", "s:"])), Some(8));
        assert_eq!(fixed_batch(&ports(&["x:8,3", "y:4"])), None);
        assert_eq!(fixed_batch(&ports(&["x:n,3", "y:1"])), None);
        assert_eq!(fixed_batch(&ports(&["x:?,3"])), None);
        assert_eq!(fixed_batch(&ports(&["s:"])), None);
        assert_eq!(fixed_batch(&[]), None);
    }

    #[test]
    fn open_dimensions_are_filled() {
        #[track_caller]
        fn check(inputs: &[&str], batch: usize, shapes: &[&str], expect: &[&[usize]]) {
            assert_eq!(resolved(inputs, batch, shapes).unwrap(), expect);
        }
        check(&["x:batch,3,8,8"], 4, &[], &[&[4, 3, 8, 8]]);
        check(&["x:?,3"], 4, &[], &[&[4, 3]]);
        check(&["x:1,3"], 1, &[], &[&[1, 3]]);
        check(&["x:n,seq"], 8, &["x=1x128"], &[&[8, 128]]);
        check(
            &["x:n,seq", "m:1,n"],
            8,
            &["x=1x128"],
            &[&[8, 128], &[1, 8]],
        );
        check(&["x:n,?"], 2, &["x=1,5"], &[&[2, 5]]);
        check(&["x:n,3", "s:"], 2, &[], &[&[2, 3], &[]]);
        check(&["x:8,3", "y:4"], 1, &[], &[&[8, 3], &[4]]);
    }

    #[test]
    fn open_dimensions_that_nobody_chose_are_all_named() {
        let message = resolved(&["ids:n,seq", "mask:n,seq,?", "x:n,3"], 8, &[]).unwrap_err();
        assert_eq!(
            message,
            "the model leaves sizes of 2 inputs open: dimension 2 (seq) of ids; dimension 2 (seq) and \
             dimension 3 of mask. Choose with --shape ids=1x128 --shape mask=1x128x128"
        );
        fails(
            &["ids:n,seq"],
            8,
            &[],
            "leaves a size open: dimension 2 (seq) of ids. Choose with --shape ids=1x128",
        );
    }

    #[test]
    fn wrong_requests_are_explained() {
        fails(
            &["x:n,3", "y:n"],
            1,
            &["z=1x3"],
            "an input \"z\" that the model does not have; it has x, y",
        );
        fails(
            &["x:n,3"],
            1,
            &["x=1x3x4"],
            "gives 3 dimension(s) for \"x\", which has 2: float32 n×3",
        );
        fails(
            &["x:n,3"],
            1,
            &["x=1x4"],
            "gives 4 for dimension 2 of \"x\", which the model fixes at 3",
        );
        fails(
            &["x:1,3"],
            8,
            &[],
            "the model's batch is fixed at 1, so a batch of 8",
        );
        fails(
            &["x:8,3", "y:4"],
            2,
            &[],
            "no input of the model has a batch dimension",
        );
        fails(
            &["s:"],
            2,
            &[],
            "no input of the model has a batch dimension",
        );
        fails(&["x:n,3"], 0, &[], "the batch is zero");
        fails(&["x:n,0"], 1, &[], "a dimension of \"x\"");
        fails(
            &["x:n,3,224,224"],
            1_000_000_000,
            &[],
            "a batch of 1,000,000,000 would need 548 TiB for one input",
        );
        fails(&["x:n,n,n"], usize::MAX, &[], "would need");
        let zero = BTreeMap::from([("x".to_owned(), vec![1, 0])]);
        let error = resolve(&ports(&["x:n,m"]), 1, &zero)
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "dimension 2 of --shape for \"x\" is zero; every size must be at least 1"
        );
    }

    #[test]
    fn options_are_read() {
        let read = |text| parse_override(text).map_err(|error| error.to_string());
        assert_eq!(read("x=1x128"), Ok(("x".to_owned(), vec![1, 128])));
        assert_eq!(read("x = 1, 3,4"), Ok(("x".to_owned(), vec![1, 3, 4])));
        assert_eq!(read("input:0=1×3"), Ok(("input:0".to_owned(), vec![1, 3])));
        assert_eq!(read("n=7"), Ok(("n".to_owned(), vec![7])));
        for (text, expect) in [
            ("x", "no = in it"),
            ("=1x2", "no input name"),
            ("x=", "no sizes"),
            ("x=1xx2", "\"\" is not a size"),
            ("x=1x-2", "\"-2\" is not a size"),
            ("x=0x2", "size of 0"),
            ("x=99999999999999999999999", "is not a size"),
        ] {
            let message = read(text).unwrap_err();
            assert!(
                message.contains(expect) && message.contains("input=1x3x224x224"),
                "{message}"
            );
        }
    }
}
