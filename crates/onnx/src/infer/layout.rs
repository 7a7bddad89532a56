//! Shapes behind operators that move, cut and join: reshapes, slices, reductions and their like.
//!
//! Called by the walk in this folder for everything that is neither a window, a matrix product nor
//! element by element. Wrong operands give "unknown", never a guess.

use super::super::proto::{self, elements};
use super::slicing::indices;
use super::{NodeView, Outputs, broadcast, slicing};

/// The shape of the node's one output.
pub(super) fn follow(op: &NodeView<'_>) -> Option<Vec<usize>> {
    match op.node.op_type.as_str() {
        "Constant" => constant(op),
        "Shape" => Some(vec![op.shape(0)?.len()]),
        "Size" => Some(vec![]),
        "Concat" => concat(op, 0, 1),
        // Scale and zero point come first, then three inputs for each part.
        "QLinearConcat" => concat(op, 2, 3),
        "Flatten" => flatten(op),
        "Reshape" => reshape(op),
        "Transpose" => transpose(op),
        "Squeeze" => squeeze(op),
        "Unsqueeze" => unsqueeze(op),
        "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" | "QLinearGlobalAveragePool" => {
            global_pool(op)
        }
        "Gather" => gather(op),
        "GatherElements" => op.same(1),
        "GatherND" => gather_nd(op),
        "Slice" => slicing::slice(op),
        "Pad" => pad(op),
        "Expand" => broadcast(op.shape(0)?, &sizes(op.int_input(1)?)?),
        "ConstantOfShape" => sizes(op.int_input(0)?),
        "Tile" => tile(op),
        "Resize" => resize(op, 2, 3),
        "Upsample" => resize(op, 1, usize::MAX),
        "ArgMax" | "ArgMin" => reduce_axes(op, &[op.axis(0, op.shape(0)?.len())?]),
        "DepthToSpace" => depth_to_space(op),
        "SpaceToDepth" => space_to_depth(op),
        "Range" => range(op),
        "OneHot" => None,
        name if name.starts_with("Reduce") => reduce(op),
        _ => None,
    }
}

/// Parts along one axis: given sizes, or as equal as can be.
pub(super) fn split(op: &NodeView<'_>) -> Outputs {
    let dims = op.shape(0)?;
    let along = op.axis(0, dims.len())?;
    let outputs = op.node.output.len();
    let even = || {
        let each = dims[along].div_ceil(outputs.max(1));
        let left = |part: usize| dims[along].saturating_sub(part.saturating_mul(each));
        (0..outputs).map(|part| each.min(left(part))).collect()
    };
    let parts = op.optional("split", 1, even, sizes)?;
    let part_dims = |size: &usize| {
        let mut part = dims.to_vec();
        part[along] = *size;
        Some(part)
    };
    Some(parts.iter().map(part_dims).collect())
}

/// Integers as sizes; nothing where one is negative.
pub(super) fn sizes(ints: &[i64]) -> Option<Vec<usize>> {
    ints.iter().map(|&int| usize::try_from(int).ok()).collect()
}

/// A constant that is not a tensor: lists and single numbers.
fn constant(op: &NodeView<'_>) -> Option<Vec<usize>> {
    if let Some(tensor) = proto::attribute(op.node, "value") {
        return proto::dims(tensor.t.as_ref()?);
    }
    let list = ["value_ints", "value_floats"]
        .iter()
        .find_map(|name| proto::attribute(op.node, name));
    if let Some(list) = list {
        return Some(vec![list.ints.len().max(list.floats.len())]);
    }
    let single = ["value_int", "value_float"]
        .iter()
        .any(|name| proto::attribute(op.node, name).is_some());
    single.then(Vec::new)
}

fn concat(op: &NodeView<'_>, first: usize, step: usize) -> Option<Vec<usize>> {
    let mut dims = op.same(first)?;
    let along = op.axis(1, dims.len()).or_else(|| op.axis(0, dims.len()))?;
    for index in (first + step..op.node.input.len()).step_by(step) {
        let part = op.shape(index)?;
        if part.len() != dims.len() {
            return None;
        }
        dims[along] = dims[along].checked_add(part[along])?;
    }
    Some(dims)
}

fn flatten(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let dims = op.shape(0)?;
    let rank = i64::try_from(dims.len()).ok()?;
    let at = op.int("axis", 1);
    let at = if at < 0 { at.checked_add(rank)? } else { at };
    let (left, right) = dims.split_at_checked(usize::try_from(at).ok()?)?;
    Some(vec![
        usize::try_from(elements(left)).ok()?,
        usize::try_from(elements(right)).ok()?,
    ])
}

fn reshape(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let from = op.shape(0)?;
    let target = op.ints("shape", 1)?;
    let keeps_zero = op.int("allowzero", 0) == 0;
    let mut dims = Vec::with_capacity(target.len());
    let mut open = None;
    for (index, &size) in target.iter().enumerate() {
        dims.push(match size {
            -1 if open.replace(index).is_some() => return None,
            -1 => 1,
            0 if keeps_zero => *from.get(index)?,
            size => usize::try_from(size).ok()?,
        });
    }
    let (whole, rest) = (elements(from), elements(&dims));
    match open {
        Some(index) if rest > 0 && whole.is_multiple_of(rest) => {
            dims[index] = usize::try_from(whole / rest).ok()?;
        }
        None if whole == rest => {}
        _ => return None,
    }
    Some(dims)
}

fn transpose(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let dims = op.shape(0)?;
    let Some(order) = proto::ints(op.node, "perm").filter(|order| !order.is_empty()) else {
        return Some(dims.iter().rev().copied().collect());
    };
    if order.len() != dims.len() {
        return None;
    }
    order
        .iter()
        .map(|&from| dims.get(usize::try_from(from).ok()?).copied())
        .collect()
}

fn squeeze(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let dims = op.shape(0)?;
    let ones = || (0..dims.len()).filter(|&index| dims[index] == 1).collect();
    let gone: Vec<usize> = op.optional("axes", 1, ones, |axes| indices(axes, dims.len()))?;
    if gone.iter().any(|&index| dims[index] != 1) {
        return None;
    }
    let kept = dims
        .iter()
        .enumerate()
        .filter(|(index, _)| !gone.contains(index));
    Some(kept.map(|(_, &dim)| dim).collect())
}

fn unsqueeze(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let dims = op.shape(0)?;
    let axes = op.ints("axes", 1)?;
    let rank = dims.len() + axes.len();
    let new = indices(axes, rank)?;
    let mut old = dims.iter();
    (0..rank)
        .map(|index| {
            if new.contains(&index) {
                Some(1)
            } else {
                old.next().copied()
            }
        })
        .collect()
}

fn global_pool(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let mut dims = op.same(0)?;
    let spatial = if op.int("channels_last", 0) == 0 {
        2..dims.len()
    } else {
        1..dims.len().checked_sub(1)?
    };
    dims.get_mut(spatial)?.fill(1);
    Some(dims)
}

fn gather(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let (dims, picked) = (op.shape(0)?, op.shape(1)?);
    let along = op.axis(0, dims.len())?;
    Some([&dims[..along], picked, &dims[along + 1..]].concat())
}

fn gather_nd(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let (dims, picked) = (op.shape(0)?, op.shape(1)?);
    let batch = usize::try_from(op.int("batch_dims", 0)).ok()?;
    let (&depth, outer) = picked.split_last()?;
    Some([outer, dims.get(batch.checked_add(depth)?..)?].concat())
}

fn pad(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let mut dims = op.same(0)?;
    let pads = op.ints("pads", 1)?;
    let along = match op.int_input(3) {
        Some(axes) => indices(axes, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    if pads.len() != along.len() * 2 {
        return None;
    }
    for (index, &at) in along.iter().enumerate() {
        let grown =
            dims[at] as i128 + i128::from(pads[index]) + i128::from(pads[index + along.len()]);
        dims[at] = usize::try_from(grown).ok()?;
    }
    Some(dims)
}

/// As many steps as fit between the limits.
pub(super) fn range(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let one = |index| {
        op.int_input(index)
            .and_then(|values| values.first().copied())
    };
    let (start, end, step) = (
        i128::from(one(0)?),
        i128::from(one(1)?),
        i128::from(one(2)?),
    );
    let steps = match step {
        0 => return None,
        1.. => (end - start + step - 1) / step,
        _ => (start - end - step - 1) / -step,
    };
    Some(vec![usize::try_from(steps.max(0)).ok()?])
}

fn tile(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let (dims, times) = (op.shape(0)?, sizes(op.int_input(1)?)?);
    if times.len() != dims.len() {
        return None;
    }
    dims.iter()
        .zip(times)
        .map(|(&dim, times)| dim.checked_mul(times))
        .collect()
}

/// Another size by stated sizes or by factors, whichever the node has.
fn resize(op: &NodeView<'_>, factors: usize, stated: usize) -> Option<Vec<usize>> {
    let dims = op.shape(0)?;
    // With an axes attribute the lists are shorter than the shape, and the rules differ.
    if proto::ints(op.node, "axes").is_some() {
        return None;
    }
    if let Some(stated) = op
        .int_input(stated)
        .filter(|stated| stated.len() == dims.len())
    {
        return sizes(stated);
    }
    let factors = match proto::attribute(op.node, "scales") {
        Some(attribute) => attribute.floats.clone(),
        None => op.float_input(factors)?,
    };
    if factors.len() != dims.len() {
        return None;
    }
    let scaled = dims
        .iter()
        .zip(factors)
        .map(|(&dim, factor)| (dim as f64 * f64::from(factor)).floor());
    scaled
        .map(|size| (0.0..1e15).contains(&size).then_some(size as usize))
        .collect()
}

fn reduce(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let rank = op.shape(0)?.len();
    let axes = op.optional("axes", 1, Vec::new, |axes| indices(axes, rank))?;
    match axes.as_slice() {
        [] if op.int("noop_with_empty_axes", 0) != 0 => op.same(0),
        [] => reduce_axes(op, &(0..rank).collect::<Vec<_>>()),
        axes => reduce_axes(op, axes),
    }
}

/// The shape without the given axes, or with 1 in their places.
fn reduce_axes(op: &NodeView<'_>, axes: &[usize]) -> Option<Vec<usize>> {
    let keep = op.int("keepdims", 1) != 0;
    let dims = op.shape(0)?.iter().enumerate();
    let left = dims.filter_map(|(index, &dim)| match (axes.contains(&index), keep) {
        (false, _) => Some(dim),
        (true, true) => Some(1),
        (true, false) => None,
    });
    Some(left.collect())
}

fn depth_to_space(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let &[batch, channels, height, width] = op.shape(0)? else {
        return None;
    };
    let block = usize::try_from(op.int("blocksize", 0))
        .ok()
        .filter(|&block| block > 0)?;
    let fewer = channels / block.checked_mul(block)?;
    Some(vec![
        batch,
        fewer,
        height.checked_mul(block)?,
        width.checked_mul(block)?,
    ])
}

fn space_to_depth(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let &[batch, channels, height, width] = op.shape(0)? else {
        return None;
    };
    let block = usize::try_from(op.int("blocksize", 0))
        .ok()
        .filter(|&block| block > 0)?;
    let more = channels.checked_mul(block.checked_mul(block)?)?;
    Some(vec![batch, more, height / block, width / block])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestGraph, attr};
    use crate::pb::AttributeProto;

    /// One node on `x` with lists of integers as its further inputs.
    #[track_caller]
    fn check(
        op: &str,
        x: &[usize],
        lists: &[&[i64]],
        attributes: &[AttributeProto],
        expect: Option<&[usize]>,
    ) {
        let mut graph = TestGraph::new(&[("x", x)]);
        let mut inputs = "x".to_owned();
        for (index, list) in lists.iter().enumerate() {
            graph = graph.ints(&format!("list{index}"), list);
            inputs = format!("{inputs} list{index}");
        }
        let shapes = graph.node(op, &inputs, "y", attributes).shapes();
        assert_eq!(
            shapes.get("y").map(Vec::as_slice),
            expect,
            "{op} {x:?} {lists:?} {attributes:?}"
        );
    }

    #[test]
    fn reshapes() {
        check("Reshape", &[8, 4, 2, 2], &[&[0, -1]], &[], Some(&[8, 16]));
        check("Reshape", &[8, 4], &[&[2, 16]], &[], Some(&[2, 16]));
        check("Reshape", &[8, 4], &[&[-1, -1]], &[], None);
        check("Reshape", &[8, 4], &[&[5, -1]], &[], None);
        check("Reshape", &[8, 4], &[&[3, 3]], &[], None);
        check("Reshape", &[0, 4], &[&[0, -1]], &[], None);
        check("Flatten", &[8, 4, 2, 2], &[], &[], Some(&[8, 16]));
        check(
            "Flatten",
            &[8, 4, 2],
            &[],
            &[attr("axis", &[0])],
            Some(&[1, 64]),
        );
        check(
            "Flatten",
            &[8, 4, 2],
            &[],
            &[attr("axis", &[-1])],
            Some(&[32, 2]),
        );
        check("Flatten", &[8], &[], &[attr("axis", &[5])], None);
        check("Squeeze", &[8, 4, 1, 1], &[], &[], Some(&[8, 4]));
        check("Squeeze", &[1, 4, 1], &[&[-1]], &[], Some(&[1, 4]));
        check(
            "Squeeze",
            &[1, 4, 1],
            &[],
            &[attr("axes", &[0])],
            Some(&[4, 1]),
        );
        check("Unsqueeze", &[4], &[&[0, -1]], &[], Some(&[1, 4, 1]));
        check("Unsqueeze", &[4], &[&[5]], &[], None);
        check("Transpose", &[1, 2, 3], &[], &[], Some(&[3, 2, 1]));
        check(
            "Transpose",
            &[1, 2, 3],
            &[],
            &[attr("perm", &[0, 2, 1])],
            Some(&[1, 3, 2]),
        );
        check(
            "Transpose",
            &[1, 2, 3],
            &[],
            &[attr("perm", &[0, 7, 1])],
            None,
        );
    }

    #[test]
    fn cuts_and_joins() {
        check("Slice", &[8, 10], &[&[2], &[100], &[1]], &[], Some(&[8, 8]));
        check(
            "Slice",
            &[8, 10],
            &[&[-1], &[i64::MIN], &[1], &[-1]],
            &[],
            Some(&[8, 10]),
        );
        check(
            "Slice",
            &[8, 10],
            &[&[0], &[10], &[-1], &[3]],
            &[],
            Some(&[8, 4]),
        );
        check("Slice", &[8, 10], &[&[0], &[10], &[1], &[0]], &[], None);
        check(
            "Slice",
            &[8, 10],
            &[],
            &[attr("starts", &[1, 1]), attr("ends", &[3, 2])],
            Some(&[2, 1]),
        );
        check(
            "Pad",
            &[1, 2, 3, 3],
            &[&[0, 0, 1, 1, 0, 0, 1, 1]],
            &[],
            Some(&[1, 2, 5, 5]),
        );
        check("Pad", &[1, 2], &[&[0, -3, 0, 0]], &[], None);
        check(
            "Gather",
            &[5, 6],
            &[&[0, 2, 4]],
            &[attr("axis", &[1])],
            Some(&[5, 3]),
        );
        check("Expand", &[5, 1], &[&[2, 1, 6]], &[], Some(&[2, 5, 6]));
        check("Tile", &[5, 1], &[&[2, 3]], &[], Some(&[10, 3]));
        check(
            "GlobalAveragePool",
            &[2, 7, 5, 5],
            &[],
            &[],
            Some(&[2, 7, 1, 1]),
        );
        check(
            "ReduceMean",
            &[2, 7, 5, 5],
            &[&[2, 3]],
            &[attr("keepdims", &[0])],
            Some(&[2, 7]),
        );
        check(
            "ReduceMean",
            &[2, 7, 5],
            &[],
            &[attr("axes", &[-1])],
            Some(&[2, 7, 1]),
        );
        check("ReduceSum", &[2, 7], &[], &[], Some(&[1, 1]));
        check("ArgMax", &[2, 7], &[], &[attr("axis", &[1])], Some(&[2, 1]));
        check(
            "DepthToSpace",
            &[1, 8, 3, 3],
            &[],
            &[attr("blocksize", &[2])],
            Some(&[1, 2, 6, 6]),
        );
        check(
            "SpaceToDepth",
            &[1, 2, 6, 6],
            &[],
            &[attr("blocksize", &[2])],
            Some(&[1, 8, 3, 3]),
        );
        check("SpaceToDepth", &[1, 2, 6, 6], &[], &[], None);
    }

    #[test]
    fn several_parts() {
        let joined = TestGraph::new(&[("a", &[2, 3, 4]), ("b", &[2, 5, 4])]);
        let shapes = joined
            .node("Concat", "a b", "y", &[attr("axis", &[1])])
            .shapes();
        assert_eq!(shapes.get("y"), Some(&vec![2, 8, 4]));
        let even = TestGraph::new(&[("x", &[2, 7])])
            .node("Split", "x", "a b", &[attr("axis", &[1])])
            .shapes();
        assert_eq!(
            (even.get("a"), even.get("b")),
            (Some(&vec![2, 4]), Some(&vec![2, 3]))
        );
        let given = TestGraph::new(&[("x", &[2, 7])]).ints("s", &[1, 6]);
        let given = given
            .node("Split", "x s", "a b", &[attr("axis", &[-1])])
            .shapes();
        assert_eq!(
            (given.get("a"), given.get("b")),
            (Some(&vec![2, 1]), Some(&vec![2, 6]))
        );
    }

    #[test]
    fn resizes() {
        let by_factor = TestGraph::new(&[("x", &[1, 3, 8, 8])]).floats("f", &[1.0, 1.0, 2.0, 1.5]);
        let shapes = by_factor.node("Resize", "x _ f", "y", &[]).shapes();
        assert_eq!(shapes.get("y"), Some(&vec![1, 3, 16, 12]));
        let by_size = TestGraph::new(&[("x", &[1, 3, 8, 8])]).ints("s", &[1, 3, 5, 5]);
        let shapes = by_size.node("Resize", "x _ _ s", "y", &[]).shapes();
        assert_eq!(shapes.get("y"), Some(&vec![1, 3, 5, 5]));
    }
}
