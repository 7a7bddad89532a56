//! Follows short integer values through a graph.
//!
//! Exporters write "keep the batch, flatten the rest" as a chain of `Shape`, `Gather`, `Concat` and
//! arithmetic in front of a `Reshape`. The walk in this folder asks here for the values of such
//! chains; only lists of up to a few thousand integers are followed.

use crate::pb::NodeProto;
use crate::pb::tensor_proto::DataType;

use super::super::proto::{self, elements};
use super::{NodeView, broadcast, layout, slicing};

/// Longer lists are data, not shapes.
const LONGEST: usize = 4096;

/// The values of the node's first output, where they follow from what is known.
pub(super) fn follow(op: &NodeView<'_>) -> Option<Vec<i64>> {
    let values = match op.node.op_type.as_str() {
        "Constant" => constant(op.node),
        "Shape" => shape(op),
        "Size" => i64::try_from(proto::elements(op.shape(0)?))
            .ok()
            .map(|size| vec![size]),
        // These change shape or width, not values. A cast to float and back loses nothing that a
        // shape can hold.
        "Identity" | "Squeeze" | "Unsqueeze" | "Reshape" | "Flatten" | "Floor" | "Ceil" => {
            op.int_input(0).map(<[i64]>::to_vec)
        }
        "Cast" => cast(op),
        "Neg" => op.int_input(0)?.iter().map(|at| at.checked_neg()).collect(),
        "Gather" => gather(op),
        "Concat" => concat(op),
        "Slice" => slice(op),
        "Transpose" => transpose(op),
        "Expand" => expand(op),
        "ConstantOfShape" => filled(op),
        "Range" => range(op),
        "Where" => select(op),
        "Add" => zip(op, i64::checked_add),
        "Sub" => zip(op, i64::checked_sub),
        "Mul" => zip(op, i64::checked_mul),
        // Of sizes, which are positive: rounding towards zero and down are the same.
        "Div" => zip(op, i64::checked_div),
        "Mod" if op.int("fmod", 0) != 0 => zip(op, i64::checked_rem),
        "Mod" => zip(op, floor_mod),
        "Min" => zip(op, |a, b| Some(a.min(b))),
        "Max" => zip(op, |a, b| Some(a.max(b))),
        "Equal" => zip(op, |a, b| Some(i64::from(a == b))),
        "Greater" => zip(op, |a, b| Some(i64::from(a > b))),
        "Less" => zip(op, |a, b| Some(i64::from(a < b))),
        _ => None,
    };
    values.filter(|values| values.len() <= LONGEST)
}

/// A constant in one of the forms that hold integers without a tensor; tensors are read up front.
fn constant(node: &NodeProto) -> Option<Vec<i64>> {
    match proto::ints(node, "value_ints") {
        Some(ints) => Some(ints.to_vec()),
        None => proto::int(node, "value_int").map(|value| vec![value]),
    }
    .or_else(|| proto::int_values(proto::attribute(node, "value")?.t.as_ref()?))
}

fn shape(op: &NodeView<'_>) -> Option<Vec<i64>> {
    let dims = op.shape(0)?;
    let rank = i64::try_from(dims.len()).ok()?;
    let clamp = |value: i64| {
        if value < 0 {
            value.saturating_add(rank)
        } else {
            value
        }
        .clamp(0, rank)
    };
    let (start, end) = (clamp(op.int("start", 0)), clamp(op.int("end", rank)));
    let part = dims.get(start as usize..end as usize)?;
    part.iter().map(|&dim| i64::try_from(dim).ok()).collect()
}

/// A cast to `bool` makes ones of all that is not zero; other casts leave what a shape can hold.
fn cast(op: &NodeView<'_>) -> Option<Vec<i64>> {
    let is_bool = op.int("to", 0) == i64::from(DataType::Bool as i32);
    let value = |&value: &i64| {
        if is_bool {
            i64::from(value != 0)
        } else {
            value
        }
    };
    Some(op.int_input(0)?.iter().map(value).collect())
}

/// The remainder with the sign of the divisor, as the operator has it for integers.
fn floor_mod(value: i64, divisor: i64) -> Option<i64> {
    let rest = value.checked_rem(divisor)?;
    let is_across = rest != 0 && (rest < 0) != (divisor < 0);
    Some(if is_across { rest + divisor } else { rest })
}

/// The integers of an input with their dimensions.
fn array<'a>(op: &NodeView<'a>, index: usize) -> Option<(&'a [i64], &'a [usize])> {
    let (values, dims) = (op.int_input(index)?, op.shape(index)?);
    (elements(dims) == values.len() as u64).then_some((values, dims))
}

/// One dimension of what is picked out of a list: how far its places lie apart there, and which are taken.
type PickedAxis = (usize, Vec<usize>);

/// The elements at the given places of each dimension, the last dimension fastest.
fn pick(from: &[i64], dims: &[PickedAxis]) -> Option<Vec<i64>> {
    let mut places = vec![0_usize];
    for (apart, taken) in dims {
        if places.len().checked_mul(taken.len())? > LONGEST {
            return None;
        }
        let places_before = places.into_iter();
        places = places_before
            .flat_map(|place| taken.iter().map(move |at| place + at * apart))
            .collect();
    }
    places
        .iter()
        .map(|&place| from.get(place).copied())
        .collect()
}

/// All of a list with these dimensions.
fn pick_all(dims: &[usize]) -> Vec<PickedAxis> {
    let mut apart = 1;
    let from_the_last = dims.iter().rev().map(|&size| {
        let picked = (apart, (0..size).collect());
        apart *= size;
        picked
    });
    let mut picked: Vec<PickedAxis> = from_the_last.collect();
    picked.reverse();
    picked
}

fn gather(op: &NodeView<'_>) -> Option<Vec<i64>> {
    let (from, dims) = array(op, 0)?;
    let along = op.axis(0, dims.len())?;
    let indices = op.int_input(1)?.iter();
    let mut picked = pick_all(dims);
    picked[along].1 = indices
        .map(|&index| super::axis(index, dims[along]))
        .collect::<Option<_>>()?;
    pick(from, &picked)
}

fn concat(op: &NodeView<'_>) -> Option<Vec<i64>> {
    let parts: Vec<_> = (0..op.node.input.len())
        .map(|index| array(op, index))
        .collect::<Option<_>>()?;
    let (_, dims) = parts.first()?;
    let along = op.axis(0, dims.len())?;
    let rows = usize::try_from(elements(&dims[..along])).ok()?;
    let mut all = Vec::new();
    for row in 0..rows {
        for (values, _) in &parts {
            let columns = values.len() / rows;
            all.extend_from_slice(values.get(row * columns..(row + 1) * columns)?);
        }
        if all.len() > LONGEST {
            return None;
        }
    }
    Some(all)
}

fn slice(op: &NodeView<'_>) -> Option<Vec<i64>> {
    let (from, dims) = array(op, 0)?;
    let mut picked = pick_all(dims);
    for cut in slicing::cuts(op, dims.len())? {
        picked[cut.axis].1 = cut.places(dims[cut.axis])?;
    }
    pick(from, &picked)
}

fn transpose(op: &NodeView<'_>) -> Option<Vec<i64>> {
    let (from, dims) = array(op, 0)?;
    let picked = pick_all(dims);
    let turned = match proto::ints(op.node, "perm").filter(|order| !order.is_empty()) {
        None => picked.into_iter().rev().collect(),
        Some(order) => order
            .iter()
            .map(|&from| picked.get(usize::try_from(from).ok()?).cloned())
            .collect::<Option<Vec<_>>>()?,
    };
    pick(from, &turned)
}

/// A list stretched to larger dimensions.
fn stretched((from, dims): (&[i64], &[usize]), to: &[usize]) -> Option<Vec<i64>> {
    if elements(to) > LONGEST as u64 {
        return None;
    }
    let new = to.len().checked_sub(dims.len())?;
    let mut picked: Vec<PickedAxis> = to[..new].iter().map(|&size| (0, vec![0; size])).collect();
    let own = pick_all(dims).into_iter().zip(&to[new..]);
    picked.extend(own.map(|((apart, taken), &size)| match taken.len() {
        1 => (0, vec![0; size]),
        _ => (apart, taken),
    }));
    pick(from, &picked)
}

fn expand(op: &NodeView<'_>) -> Option<Vec<i64>> {
    let own = array(op, 0)?;
    stretched(own, &broadcast(own.1, &layout::sizes(op.int_input(1)?)?)?)
}

/// One value everywhere.
fn filled(op: &NodeView<'_>) -> Option<Vec<i64>> {
    let count = elements(&layout::sizes(op.int_input(0)?)?);
    let value = match proto::attribute(op.node, "value") {
        Some(value) => proto::int_values(value.t.as_ref()?)?.first().copied()?,
        // Without a value they are floats, and zero.
        None => 0,
    };
    (count <= LONGEST as u64).then(|| vec![value; count as usize])
}

fn range(op: &NodeView<'_>) -> Option<Vec<i64>> {
    let count = *layout::range(op)?.first()?;
    let (start, step) = (*op.int_input(0)?.first()?, *op.int_input(2)?.first()?);
    if count > LONGEST {
        return None;
    }
    let value = |at: usize| start.checked_add(step.checked_mul(i64::try_from(at).ok()?)?);
    (0..count).map(value).collect()
}

fn select(op: &NodeView<'_>) -> Option<Vec<i64>> {
    let parts = [array(op, 0)?, array(op, 1)?, array(op, 2)?];
    let to = broadcast(&broadcast(parts[0].1, parts[1].1)?, parts[2].1)?;
    let [choices, yes, no] = parts.map(|part| stretched(part, &to));
    let both = yes?.into_iter().zip(no?);
    let chosen = choices?.into_iter().zip(both);
    Some(
        chosen
            .map(|(choice, (yes, no))| if choice == 0 { no } else { yes })
            .collect(),
    )
}

/// Arithmetic on two lists, stretched to common dimensions.
fn zip(op: &NodeView<'_>, join: fn(i64, i64) -> Option<i64>) -> Option<Vec<i64>> {
    let (a, b) = (array(op, 0)?, array(op, 1)?);
    let to = broadcast(a.1, b.1)?;
    let both = stretched(a, &to)?.into_iter().zip(stretched(b, &to)?);
    both.map(|(a, b)| join(a, b)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestGraph, attr};
    use crate::pb::{AttributeProto, TensorProto};

    #[test]
    fn the_usual_flattening_chain() {
        let graph = TestGraph::new(&[("x", &[8, 4, 2, 2])])
            .ints("zero", &[0])
            .ints("minus", &[-1])
            .node("Shape", "x", "shape", &[])
            .node("Gather", "shape zero", "batch", &[])
            .node("Concat", "batch minus", "target", &[attr("axis", &[0])])
            .node("Reshape", "x target", "y", &[]);
        assert_eq!(graph.shapes().get("y"), Some(&vec![8, 16]));
    }

    #[test]
    fn slices_and_arithmetic() {
        let graph = TestGraph::new(&[("x", &[8, 4, 6, 2])])
            .ints("one", &[1])
            .ints("three", &[3])
            .ints("two", &[2])
            .node("Shape", "x", "shape", &[])
            .node("Slice", "shape one three", "middle", &[])
            .node("Div", "middle two", "half", &[])
            .node("Mul", "half three", "more", &[])
            .node("ConstantOfShape", "more", "y", &[]);
        assert_eq!(graph.shapes().get("y"), Some(&vec![6, 9]));
    }

    /// What exporters of PyTorch make of `F.pad`: pairs of pads, the last dimension first, turned around.
    #[test]
    fn the_chain_before_a_pad() {
        let graph = TestGraph::new(&[("x", &[2, 10, 13, 4])])
            .ints("seven", &[7])
            .ints("eight", &[8])
            .ints("one", &[1])
            .ints("two", &[2])
            .ints("front", &[0, 0, 0])
            .ints("zero", &[0])
            .ints("pairs", &[-1, 2])
            .ints("flat", &[-1])
            .ints("last", &[-1])
            .ints("least", &[-i64::MAX])
            .node("Shape", "x", "shape", &[])
            .node("Gather", "shape one", "height", &[])
            .node("Gather", "shape two", "width", &[])
            .node("Mod", "height seven", "above_h", &[])
            .node("Sub", "seven above_h", "missing_h", &[])
            .node("Mod", "missing_h seven", "pad_h", &[])
            .node("Neg", "width", "minus_w", &[])
            .node("Mod", "minus_w seven", "pad_w", &[])
            .node(
                "Concat",
                "front pad_w zero pad_h",
                "some",
                &[attr("axis", &[0])],
            )
            .node("Shape", "some", "length", &[])
            .node("Sub", "eight length", "missing", &[])
            .node("ConstantOfShape", "missing", "rest", &[zeros()])
            .node("Concat", "some rest", "all", &[attr("axis", &[0])])
            .node("Reshape", "all pairs", "table", &[])
            .node("Slice", "table last least zero last", "turned", &[])
            .node("Transpose", "turned", "columns", &[attr("perm", &[1, 0])])
            .node("Reshape", "columns flat", "list", &[])
            .node("Cast", "list", "pads", &[attr("to", &[7])])
            .node("Pad", "x pads", "y", &[]);
        let (shapes, ints) = crate::infer::infer_with_ints(&graph.model(), &graph.specs());
        assert_eq!(ints.get("pads"), Some(&vec![0, 0, 0, 0, 0, 4, 1, 0]));
        assert_eq!(shapes.get("y"), Some(&vec![2, 14, 14, 4]));
    }

    fn zeros() -> AttributeProto {
        AttributeProto {
            name: "value".to_owned(),
            t: Some(TensorProto {
                data_type: 7,
                dims: vec![1],
                int64_data: vec![0],
                ..Default::default()
            }),
            ..Default::default()
        }
    }

    #[test]
    fn lists_of_several_dimensions() {
        let values = |graph: TestGraph, name: &str| {
            let (_, ints) = crate::infer::infer_with_ints(&graph.model(), &[]);
            ints.get(name).cloned()
        };
        let table = || {
            TestGraph::new(&[])
                .ints("list", &[1, 2, 3, 4, 5, 6])
                .ints("rows", &[2, 3])
                .ints("zero", &[0])
                .ints("one", &[1])
                .ints("ten", &[10])
                .ints("minus", &[-1])
                .node("Reshape", "list rows", "table", &[])
        };
        let turned = table().node("Transpose", "table", "y", &[]);
        assert_eq!(values(turned, "y").unwrap(), [1, 4, 2, 5, 3, 6]);
        let column = table().node("Gather", "table one", "y", &[attr("axis", &[1])]);
        assert_eq!(values(column, "y").unwrap(), [2, 5]);
        let row = table().node("Gather", "table one", "y", &[]);
        assert_eq!(values(row, "y").unwrap(), [4, 5, 6]);
        let wide = table().node("Concat", "table table", "y", &[attr("axis", &[1])]);
        assert_eq!(
            values(wide, "y").unwrap(),
            [1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6]
        );
        let sum =
            table()
                .node("Gather", "table zero", "row", &[])
                .node("Add", "table row", "y", &[]);
        assert_eq!(values(sum, "y").unwrap(), [2, 4, 6, 5, 7, 9]);
        let chosen = table().node("Greater", "table one", "is_large", &[]).node(
            "Where",
            "is_large table minus",
            "y",
            &[],
        );
        assert_eq!(values(chosen, "y").unwrap(), [-1, 2, 3, 4, 5, 6]);
        let rest = table().node("Mod", "minus ten", "y", &[]);
        assert_eq!(values(rest, "y").unwrap(), [9]);
    }

    #[test]
    fn division_by_zero_is_unknown() {
        let graph = TestGraph::new(&[("x", &[8])])
            .ints("zero", &[0])
            .node("Shape", "x", "shape", &[])
            .node("Div", "shape zero", "none", &[])
            .node("ConstantOfShape", "none", "y", &[]);
        assert_eq!(graph.shapes().get("y"), None);
    }
}
