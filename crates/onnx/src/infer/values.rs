//! Follows short integer values through a graph.
//!
//! Exporters write "keep the batch, flatten the rest" as a chain of `Shape`, `Gather`, `Concat` and
//! arithmetic in front of a `Reshape`. The walk in this folder asks here for the values of such
//! chains; only lists of up to a few thousand integers are followed.

use crate::pb::NodeProto;

use super::super::proto;
use super::Op;

/// Longer lists are data, not shapes.
const LONGEST: usize = 4096;

/// The values of the node's first output, where they follow from what is known.
pub(super) fn follow(op: &Op<'_>) -> Option<Vec<i64>> {
    let values = match op.node.op_type.as_str() {
        "Constant" => constant(op.node),
        "Shape" => shape(op),
        "Size" => i64::try_from(proto::elements(op.shape(0)?))
            .ok()
            .map(|size| vec![size]),
        // These change shape or width, not values. A cast to float and back loses nothing that a
        // shape can hold.
        "Identity" | "Cast" | "Squeeze" | "Unsqueeze" | "Reshape" | "Flatten" | "Floor"
        | "Ceil" => op.int_input(0).map(<[i64]>::to_vec),
        "Gather" => gather(op),
        "Concat" => concat(op),
        "Slice" => slice(op),
        "Add" => zip(op, i64::checked_add),
        "Sub" => zip(op, i64::checked_sub),
        "Mul" => zip(op, i64::checked_mul),
        // Of sizes, which are positive: rounding towards zero and down are the same.
        "Div" => zip(op, i64::checked_div),
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

fn shape(op: &Op<'_>) -> Option<Vec<i64>> {
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

fn gather(op: &Op<'_>) -> Option<Vec<i64>> {
    let (from, indices) = (op.int_input(0)?, op.int_input(1)?);
    let picked = indices.iter().map(|&index| {
        let index = super::axis(index, from.len())?;
        from.get(index).copied()
    });
    picked.collect()
}

fn concat(op: &Op<'_>) -> Option<Vec<i64>> {
    let mut all = Vec::new();
    for index in 0..op.node.input.len() {
        all.extend_from_slice(op.int_input(index)?);
        if all.len() > LONGEST {
            return None;
        }
    }
    Some(all)
}

fn slice(op: &Op<'_>) -> Option<Vec<i64>> {
    let from = op.int_input(0)?;
    let (&[start], &[end]) = (op.ints("starts", 1)?, op.ints("ends", 2)?) else {
        return None;
    };
    let step = op.optional("steps", 4, || 1, |steps| steps.first().copied())?;
    if step != 1 {
        return None;
    }
    let length = i64::try_from(from.len()).ok()?;
    let clamp = |at: i64| {
        if at < 0 {
            at.saturating_add(length)
        } else {
            at
        }
        .clamp(0, length) as usize
    };
    from.get(clamp(start)..clamp(end)).map(<[i64]>::to_vec)
}

/// Arithmetic on two lists of equal length, or on a list and one number.
fn zip(op: &Op<'_>, join: fn(i64, i64) -> Option<i64>) -> Option<Vec<i64>> {
    let (a, b) = (op.int_input(0)?, op.int_input(1)?);
    let length = a.len().max(b.len());
    let fits = |list: &[i64]| list.len() == length || list.len() == 1;
    if !fits(a) || !fits(b) {
        return None;
    }
    let at = |list: &[i64], index: usize| {
        if list.len() == 1 {
            list[0]
        } else {
            list[index]
        }
    };
    (0..length)
        .map(|index| join(at(a, index), at(b, index)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Graph, attr};

    #[test]
    fn the_usual_flattening_chain() {
        let graph = Graph::new(&[("x", &[8, 4, 2, 2])])
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
        let graph = Graph::new(&[("x", &[8, 4, 6, 2])])
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

    #[test]
    fn division_by_zero_is_unknown() {
        let graph = Graph::new(&[("x", &[8])])
            .ints("zero", &[0])
            .node("Shape", "x", "shape", &[])
            .node("Div", "shape zero", "none", &[])
            .node("ConstantOfShape", "none", "y", &[]);
        assert_eq!(graph.shapes().get("y"), None);
    }
}
