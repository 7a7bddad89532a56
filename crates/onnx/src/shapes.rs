//! From what a model states about its inputs, and what the user asks for, to full input shapes.
//!
//! Ports come from `inspect`, the batch size, `--shape` and `--batch-axis` from the command line or the
//! plan; the tensors that come out are what engines are fed and what `infer` starts from. Every message
//! says what to type instead.

use std::collections::BTreeSet;

use super::batch_axis::{BatchAxes, name_of};
use super::dim_expression;
use super::known_sizes::KnownSizes;
use super::proto::elements;
pub use super::shape_error::ShapeError;
use super::shape_examples;
use powerband_core::base::humanize;
use powerband_core::domain::fill::Fill;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::input_sizes::{BATCH, InputAxis};
use powerband_core::domain::model::{Dim, Port};
use powerband_core::domain::point::Point;
use powerband_core::domain::tensor::TensorSpec;

/// More elements than this in one input are a typing mistake, whatever the machine.
const MOST_ELEMENTS: u64 = 1 << 40;

/// Full shapes for a point.
///
/// The batch takes its dimensions, and so do the point's other sizes; what the model leaves open beyond them takes what the user says of it, of another dimension of the same name, or what follows from that.
pub fn resolve(
    inputs: &[Port],
    point: Point,
    asked: &InputSizes,
) -> Result<Vec<TensorSpec>, ShapeError> {
    let batch = point.batch();
    if batch == 0 {
        return Err(ShapeError::Zero {
            what: "the batch".to_owned(),
        });
    }
    let axes = BatchAxes::find(inputs, &asked.batch_axis)?;
    check_batch(inputs, &axes, batch)?;
    for (name, given) in &asked.shapes {
        let Some(port) = inputs.iter().find(|port| port.name == *name) else {
            return Err(ShapeError::UnknownInput {
                option: "--shape",
                name: name.clone(),
                known: inputs.iter().map(|port| port.name.clone()).collect(),
            });
        };
        check_override(port, given, &axes, batch)?;
    }
    check_point(inputs, point, asked)?;
    let sizes = KnownSizes::new(inputs, &axes, point, asked);
    let mut specs = Vec::with_capacity(inputs.len());
    for port in inputs {
        let dims = (0..port.dims.len()).map(|index| sizes.of_dim(port, index));
        match dims.collect::<Option<Vec<_>>>() {
            Some(dims) => specs.push(spec(port, dims, point, &axes)?),
            None => return Err(shape_examples::open_sizes(inputs, &axes, asked)),
        }
    }
    Ok(specs)
}

/// The batch size that `--shape` gives where the batch is; nothing where it gives none, or 1, which
/// stands for any.
pub fn given_batch(inputs: &[Port], asked: &InputSizes) -> Option<usize> {
    let axes = BatchAxes::find(inputs, &asked.batch_axis).ok()?;
    let given = asked.shapes.iter().flat_map(|(name, dims)| {
        let taken = axes.of_input(name).iter();
        taken.filter_map(|axis| dims.get(*axis).copied())
    });
    given.max().filter(|size| *size > 1)
}

/// Reads one `--shape` option: `input=Nx3x224x224`, with `x`, `×` or `,` between the sizes.
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
        .map(|part| match part.trim() {
            "N" | "n" => Ok(BATCH),
            size => match size.parse() {
                Ok(0) => Err(wrong("a size of 0 makes no sense")),
                Ok(size) => Ok(size),
                Err(_) => Err(wrong(&format!("{size:?} is not a size"))),
            },
        });
    Ok((name.to_owned(), dims.collect::<Result<_, _>>()?))
}

/// Refuses a batch that no open dimension can take.
fn check_batch(inputs: &[Port], axes: &BatchAxes, batch: usize) -> Result<(), ShapeError> {
    if axes.is_open(inputs) {
        return Ok(());
    }
    match axes.fixed(inputs) {
        Some(fixed) if fixed != batch => Err(ShapeError::FixedBatch {
            fixed,
            asked: batch,
        }),
        None if batch != 1 => Err(ShapeError::NoBatch { asked: batch }),
        _ => Ok(()),
    }
}

/// Refuses sizes of the sweep for dimensions that the inputs do not have, or that have another size there.
fn check_point(inputs: &[Port], point: Point, asked: &InputSizes) -> Result<(), ShapeError> {
    for (name, size) in point.others() {
        let called = asked.dims.iter().filter(|dim| dim.name == name);
        let axes: Vec<InputAxis> = called.map(|dim| dim.axis.clone()).collect();
        let axes = if axes.is_empty() {
            vec![InputAxis::Named(name.to_owned())]
        } else {
            axes
        };
        for axis in &axes {
            check_axis(inputs, axis, name, size, asked)?;
        }
    }
    Ok(())
}

fn check_axis(
    inputs: &[Port],
    axis: &InputAxis,
    name: &str,
    size: usize,
    asked: &InputSizes,
) -> Result<(), ShapeError> {
    let mut is_known = false;
    for port in inputs {
        for (index, dim) in port.dims.iter().enumerate() {
            let is_it = match axis {
                InputAxis::Named(own) => name_of(dim)
                    .is_some_and(|dim| dim == own || dim_expression::names(dim).any(|n| n == own)),
                InputAxis::At { input, index: at } => *input == port.name && *at == index,
            };
            is_known |= is_it;
            let is_plain = name_of(dim).is_none_or(|dim| !dim_expression::is_expression(dim));
            let shape = asked
                .shapes
                .get(&port.name)
                .and_then(|dims| dims.get(index));
            let other = match dim {
                Dim::Fixed(fixed) => Some(*fixed),
                Dim::Named(_) => shape.copied().filter(|given| *given != BATCH),
            };
            if let Some(other) = other.filter(|other| is_it && is_plain && *other != size) {
                return Err(ShapeError::TwoSizes {
                    name: name.to_owned(),
                    size,
                    other,
                    input: port.name.clone(),
                    port: port.describe(),
                });
            }
        }
    }
    if is_known {
        return Ok(());
    }
    Err(ShapeError::UnknownDimension {
        name: name.to_owned(),
        known: free_dimensions(inputs),
    })
}

/// The names of the inputs' open dimensions, those that expressions are made of among them.
pub fn free_dimensions(inputs: &[Port]) -> Vec<String> {
    let dims = inputs.iter().flat_map(|port| &port.dims);
    let names: BTreeSet<&str> = dims
        .filter_map(name_of)
        .flat_map(dim_expression::names)
        .collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Refuses a shape that the port cannot have.
fn check_override(
    port: &Port,
    given: &[usize],
    axes: &BatchAxes,
    batch: usize,
) -> Result<(), ShapeError> {
    let name = || port.name.clone();
    if given.len() != port.dims.len() {
        return Err(ShapeError::Rank {
            name: name(),
            given: given.len(),
            wanted: port.dims.len(),
            port: port.describe(),
        });
    }
    for (index, (dim, &given)) in port.dims.iter().zip(given).enumerate() {
        let port_text = || port.describe();
        let takes_batch = axes.takes(&port.name, index);
        match *dim {
            _ if given == BATCH && !takes_batch => {
                return Err(ShapeError::BatchElsewhere {
                    name: name(),
                    index,
                    port: port_text(),
                });
            }
            Dim::Fixed(fixed) if fixed != given && given != BATCH => {
                return Err(ShapeError::Contradiction {
                    name: name(),
                    index,
                    given,
                    fixed,
                    port: port_text(),
                });
            }
            // A 1 has always stood for any batch there.
            Dim::Named(_) if takes_batch && ![BATCH, 1, batch].contains(&given) => {
                return Err(ShapeError::NotTheBatch {
                    name: name(),
                    index,
                    given,
                    batch,
                    port: port_text(),
                });
            }
            _ => {}
        }
    }
    Ok(())
}

/// The finished input, once its size is sane.
fn spec(
    port: &Port,
    dims: Vec<usize>,
    point: Point,
    axes: &BatchAxes,
) -> Result<TensorSpec, ShapeError> {
    // A cache may be empty.
    if dims.contains(&0) && point.others().all(|(_, size)| size > 0) {
        return Err(ShapeError::Zero {
            what: format!("a dimension of {:?} ({})", port.name, port.describe()),
        });
    }
    let elements = elements(&dims);
    if elements > MOST_ELEMENTS {
        let needed = humanize::bytes(elements.saturating_mul(port.element.size()));
        return Err(ShapeError::TooLarge {
            point,
            needed,
            name: port.name.clone(),
        });
    }
    Ok(TensorSpec {
        name: port.name.clone(),
        element: port.element,
        dims,
        batch_axes: axes.of_input(&port.name).to_vec(),
        fill: Fill::Usual,
    })
}

/// Ports for tests, here and beside.
#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use powerband_core::domain::tensor::ElementType;

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
            recurrent: None,
        }
    }

    pub(crate) fn ports(texts: &[&str]) -> Vec<Port> {
        texts.iter().map(|text| port(text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::ports;
    use super::*;

    fn resolved(inputs: &[&str], batch: usize, shapes: &[&str]) -> Result<Vec<Vec<usize>>, String> {
        let asked = InputSizes {
            shapes: shapes
                .iter()
                .map(|text| parse_override(text).unwrap())
                .collect(),
            ..InputSizes::default()
        };
        resolve(&ports(inputs), Point::of_batch(batch), &asked)
            .map(|specs| specs.into_iter().map(|spec| spec.dims).collect())
            .map_err(|error| error.to_string())
    }

    #[track_caller]
    fn fails(inputs: &[&str], batch: usize, shapes: &[&str], expect: &str) {
        let message = resolved(inputs, batch, shapes).unwrap_err();
        assert!(message.contains(expect), "{message}");
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
        check(&["x:n,seq"], 8, &["x=Nx128"], &[&[8, 128]]);
    }

    #[test]
    fn a_size_that_the_user_gives_is_never_dropped() {
        let lstm = ["x:time,batch,64"];
        assert_eq!(resolved(&lstm, 1, &["x=50x1x64"]).unwrap(), [[50, 1, 64]]);
        assert_eq!(resolved(&lstm, 4, &["x=50xNx64"]).unwrap(), [[50, 4, 64]]);
        fails(
            &lstm,
            50,
            &["x=50x2x64"],
            "gives 2 for dimension 2 of \"x\", which is the batch, and the batch is 50",
        );
        let nameless = ["x:?,?,64"];
        fails(
            &nameless,
            1,
            &["x=50x1x64"],
            "Write N there for every batch size, use --batch 50, or say with --batch-axis",
        );
        assert_eq!(
            resolved(&nameless, 50, &["x=50x1x64"]).unwrap(),
            [[50, 1, 64]]
        );
        fails(
            &lstm,
            1,
            &["x=NxNx64"],
            "has N, the batch, as dimension 1 of \"x\", which is not the batch",
        );
        let given = |shape: &str| {
            let asked = InputSizes {
                shapes: [parse_override(shape).unwrap()].into(),
                ..InputSizes::default()
            };
            given_batch(&ports(&nameless), &asked)
        };
        assert_eq!(given("x=50x1x64"), Some(50));
        assert_eq!(given("x=1x50x64"), None);
        assert_eq!(given("x=Nx50x64"), None);
    }

    #[test]
    fn sizes_follow_from_others_of_the_same_name() {
        let inputs = ["ids:batch,seq", "mask:batch,seq", "both:batch,2*seq"];
        let dims = resolved(&inputs, 3, &["ids=Nx8"]).unwrap();
        assert_eq!(dims, [[3, 8], [3, 8], [3, 16]]);
        // What is said of an input itself counts first.
        let dims = resolved(&inputs, 3, &["ids=Nx8", "mask=Nx9"]).unwrap();
        assert_eq!(dims[1], [3, 9]);
    }

    #[test]
    fn open_dimensions_without_a_size_are_all_named() {
        let message = resolved(&["ids:n,seq", "mask:n,seq,?", "x:n,3"], 8, &[]).unwrap_err();
        assert_eq!(
            message,
            "the model leaves 2 sizes open: seq of ids, mask; dimension 3 of mask. Choose with --shape \
             ids=Nx128 --shape mask=Nx128x128"
        );
        fails(
            &["ids:n,seq"],
            8,
            &[],
            "leaves a size open: seq of ids. Choose with --shape ids=Nx128",
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
            "batch 1000000000 would need 548 TiB for one input",
        );
        fails(&["x:n,n,n"], usize::MAX, &[], "would need");
    }

    #[test]
    fn options_are_read() {
        let read = |text| parse_override(text).map_err(|error| error.to_string());
        assert_eq!(read("x=1x128"), Ok(("x".to_owned(), vec![1, 128])));
        assert_eq!(read("x = 1, 3,4"), Ok(("x".to_owned(), vec![1, 3, 4])));
        assert_eq!(read("input:0=1×3"), Ok(("input:0".to_owned(), vec![1, 3])));
        assert_eq!(read("n=7"), Ok(("n".to_owned(), vec![7])));
        assert_eq!(read("x=50xNx64"), Ok(("x".to_owned(), vec![50, BATCH, 64])));
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
                message.contains(expect) && message.contains("input=Nx3x224x224"),
                "{message}"
            );
        }
    }
}
