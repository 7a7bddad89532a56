//! Shapes behind sliding windows: convolutions, transposed convolutions and pools.
//!
//! Called by the walk in this folder, node by node. The arithmetic is in 128 bits and windows are
//! of sane size, so that no number in a file can overflow it.

use super::super::proto;
use super::NodeView;

/// How a window moves along one dimension.
#[derive(Clone, Copy)]
struct Axis {
    kernel: i128,
    stride: i128,
    dilation: i128,
    pads: i128,
    /// The pad in front, which `ceil_mode` needs on its own.
    pad_begin: i128,
    /// `output_padding` of transposed convolutions.
    extra: i128,
}

/// How sizes are rounded and padded.
#[derive(Clone, Copy, PartialEq)]
enum AutoPad {
    NotSet,
    Same,
    Valid,
}

/// Convolution, with the weights at the given input.
pub(super) fn conv(op: &NodeView<'_>, weights: usize) -> Option<Vec<usize>> {
    let (x, w) = (op.shape(0)?, op.shape(weights)?);
    let (batch, spatial) = (x.first()?, x.get(2..)?);
    let axes = axes(op, w.get(2..)?, spatial.len())?;
    let auto = auto_pad(op)?;
    let sizes = spatial
        .iter()
        .zip(axes)
        .map(|(&size, axis)| slide(size, axis, auto, false));
    with_channels(*batch, *w.first()?, sizes)
}

/// Pool: the channels stay.
pub(super) fn pool(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let x = op.shape(0)?;
    let (&[batch, channels], spatial) = x.split_first_chunk::<2>()?;
    let kernel = proto::ints(op.node, "kernel_shape")?;
    let kernel: Vec<usize> = kernel
        .iter()
        .map(|&size| usize::try_from(size).ok())
        .collect::<Option<_>>()?;
    let axes = axes(op, &kernel, spatial.len())?;
    let (auto, ceil) = (auto_pad(op)?, op.int("ceil_mode", 0) != 0);
    let sizes = spatial
        .iter()
        .zip(axes)
        .map(|(&size, axis)| slide(size, axis, auto, ceil));
    with_channels(batch, channels, sizes)
}

/// Transposed convolution.
pub(super) fn conv_transpose(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let (x, w) = (op.shape(0)?, op.shape(1)?);
    let (batch, spatial) = (x.first()?, x.get(2..)?);
    let group = usize::try_from(op.int("group", 1)).ok()?;
    let channels = w.get(1)?.checked_mul(group)?;
    if let Some(stated) = proto::ints(op.node, "output_shape") {
        // Some exporters state batch and channels too.
        let stated = stated.get(stated.len().checked_sub(spatial.len())?..)?;
        return with_channels(
            *batch,
            channels,
            stated.iter().map(|&size| usize::try_from(size).ok()),
        );
    }
    let axes = axes(op, w.get(2..)?, spatial.len())?;
    let auto = auto_pad(op)?;
    let sizes = spatial.iter().zip(axes).map(|(&size, axis)| {
        let size = i128::try_from(size).ok()?;
        let reach = axis.dilation * (axis.kernel - 1) + 1;
        usize::try_from(match auto {
            AutoPad::Same => size * axis.stride,
            AutoPad::Valid => axis.stride * (size - 1) + axis.extra + reach,
            AutoPad::NotSet => axis.stride * (size - 1) + axis.extra + reach - axis.pads,
        })
        .ok()
    });
    with_channels(*batch, channels, sizes)
}

/// How many places a window takes along one dimension.
fn slide(size: usize, axis: Axis, auto: AutoPad, ceil: bool) -> Option<usize> {
    let size = i128::try_from(size).ok()?;
    let round_up = |value: i128, by: i128| (value + by - 1).div_euclid(by);
    if auto == AutoPad::Same {
        return usize::try_from(round_up(size, axis.stride)).ok();
    }
    let (pads, begin) = if auto == AutoPad::Valid {
        (0, 0)
    } else {
        (axis.pads, axis.pad_begin)
    };
    let room = size + pads - (axis.dilation * (axis.kernel - 1) + 1);
    if room < 0 {
        return None;
    }
    let mut places = room / axis.stride + 1;
    if ceil {
        places = round_up(room, axis.stride) + 1;
        // A window that would start in the pad behind the end does not count.
        if (places - 1) * axis.stride >= size + begin {
            places -= 1;
        }
    }
    usize::try_from(places).ok()
}

/// The window along each dimension; nothing where the file's lists do not fit.
fn axes(op: &NodeView<'_>, kernel: &[usize], rank: usize) -> Option<Vec<Axis>> {
    let list = |name, default| {
        let found = proto::ints(op.node, name).filter(|list| !list.is_empty());
        move |index: usize| match found {
            Some(list) => list.get(index).map(|&value| i128::from(value)),
            None => Some(default),
        }
    };
    let (strides, dilations) = (list("strides", 1), list("dilations", 1));
    let (pads, extra) = (list("pads", 0), list("output_padding", 0));
    if kernel.len() != rank {
        return None;
    }
    let axes = kernel.iter().enumerate().map(|(index, &kernel)| {
        let pad_begin = pads(index)?;
        let axis = Axis {
            kernel: i128::try_from(kernel).ok()?,
            stride: strides(index)?,
            dilation: dilations(index)?,
            pads: pad_begin + pads(index + rank)?,
            pad_begin,
            extra: extra(index)?,
        };
        // Up to 2³¹ each, they multiply with any size and stay within 128 bits.
        let sane = |value: i128| (1..=i128::from(i32::MAX)).contains(&value);
        (sane(axis.kernel) && sane(axis.stride) && sane(axis.dilation)).then_some(axis)
    });
    axes.collect()
}

fn auto_pad(op: &NodeView<'_>) -> Option<AutoPad> {
    match proto::text(op.node, "auto_pad") {
        None | Some("" | "NOTSET") => Some(AutoPad::NotSet),
        Some("SAME_UPPER" | "SAME_LOWER") => Some(AutoPad::Same),
        Some("VALID") => Some(AutoPad::Valid),
        Some(_) => None,
    }
}

fn with_channels(
    batch: usize,
    channels: usize,
    sizes: impl Iterator<Item = Option<usize>>,
) -> Option<Vec<usize>> {
    [Some(batch), Some(channels)]
        .into_iter()
        .chain(sizes)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestGraph, attr, attr_text};
    use crate::pb::AttributeProto;

    /// The side that comes out of a 2 × 4 × side × side picture.
    #[track_caller]
    fn check(
        op: &str,
        side: usize,
        weight: &[usize],
        attributes: &[AttributeProto],
        expect: Option<[usize; 2]>,
    ) {
        let graph = TestGraph::new(&[("x", &[2, 4, side, side])]).weight("w", weight);
        let inputs = if op.contains("Conv") { "x w" } else { "x" };
        let shapes = graph.node(op, inputs, "y", attributes).shapes();
        let expect = expect.map(|[channels, side]| vec![2, channels, side, side]);
        assert_eq!(
            shapes.get("y"),
            expect.as_ref(),
            "{op} {side} {attributes:?}"
        );
    }

    #[test]
    fn convolutions() {
        let pads = |pad: i64| attr("pads", &[pad; 4]);
        let strides = |stride: i64| attr("strides", &[stride; 2]);
        let auto = |text| attr_text("auto_pad", text);
        check(
            "Conv",
            224,
            &[64, 4, 7, 7],
            &[pads(3), strides(2)],
            Some([64, 112]),
        );
        check("Conv", 8, &[6, 4, 3, 3], &[], Some([6, 6]));
        check(
            "Conv",
            8,
            &[6, 4, 3, 3],
            &[attr("dilations", &[2, 2])],
            Some([6, 4]),
        );
        check(
            "Conv",
            9,
            &[6, 4, 3, 3],
            &[auto("SAME_UPPER"), strides(2)],
            Some([6, 5]),
        );
        check(
            "Conv",
            9,
            &[6, 4, 3, 3],
            &[auto("VALID"), strides(2)],
            Some([6, 4]),
        );
        check("Conv", 2, &[6, 4, 3, 3], &[], None);
        check("Conv", 8, &[6, 4, 3, 3], &[strides(0)], None);
        check("Conv", 8, &[6, 4, 3, 3], &[attr("pads", &[1])], None);
        check(
            "Conv",
            8,
            &[6, 4, 3, 3],
            &[pads(i64::MAX), strides(i64::from(i32::MAX))],
            Some([6, 8_589_934_597]),
        );
        check(
            "Conv",
            8,
            &[6, 4, usize::MAX, 3],
            &[attr("dilations", &[i64::MAX; 2])],
            None,
        );
    }

    #[test]
    fn pools() {
        let pool = |kernel: i64, stride: i64, pad: i64, ceil: i64| {
            let (kernel, strides) = (
                attr("kernel_shape", &[kernel; 2]),
                attr("strides", &[stride; 2]),
            );
            [
                kernel,
                strides,
                attr("pads", &[pad; 4]),
                attr("ceil_mode", &[ceil]),
            ]
        };
        check("MaxPool", 112, &[], &pool(3, 2, 1, 0), Some([4, 56]));
        check("AveragePool", 7, &[], &pool(2, 2, 0, 0), Some([4, 3]));
        check("AveragePool", 7, &[], &pool(2, 2, 0, 1), Some([4, 4]));
        // The last window would start in the pad.
        check("MaxPool", 3, &[], &pool(2, 2, 1, 1), Some([4, 2]));
        check("MaxPool", 2, &[], &pool(1, 2, 1, 1), Some([4, 2]));
    }

    #[test]
    fn transposed_convolutions() {
        let strides = attr("strides", &[2, 2]);
        check(
            "ConvTranspose",
            8,
            &[4, 6, 2, 2],
            std::slice::from_ref(&strides),
            Some([6, 16]),
        );
        let padded = [
            strides.clone(),
            attr("pads", &[1; 4]),
            attr("output_padding", &[1, 1]),
        ];
        check("ConvTranspose", 8, &[4, 6, 3, 3], &padded, Some([6, 16]));
        let same = [strides.clone(), attr_text("auto_pad", "SAME_UPPER")];
        check("ConvTranspose", 8, &[4, 6, 3, 3], &same, Some([6, 16]));
        let stated = [strides, attr("output_shape", &[17, 17])];
        check("ConvTranspose", 8, &[4, 6, 3, 3], &stated, Some([6, 17]));
        check(
            "ConvTranspose",
            8,
            &[4, 3, 1, 1],
            &[attr("group", &[2])],
            Some([6, 8]),
        );
    }
}
