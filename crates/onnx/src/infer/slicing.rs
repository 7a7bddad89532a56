//! What slices take: sizes for the walk in this folder, places for the short lists that `values` follows.

use super::{NodeView, axis};

/// Start, end and step of a slice along one dimension.
pub(super) struct AxisSlice {
    pub(super) axis: usize,
    start: i64,
    end: i64,
    step: i64,
}

impl AxisSlice {
    /// The places that it takes of `size`.
    pub(super) fn places(&self, size: usize) -> Option<Vec<usize>> {
        let count = slice_size(size, self.start, self.end, self.step)?;
        if count == 0 {
            return Some(Vec::new());
        }
        let length = i64::try_from(size).ok()?;
        let start = if self.start < 0 {
            self.start.saturating_add(length)
        } else {
            self.start
        };
        // Backwards it begins at the last at most, forwards behind it.
        let start = start.clamp(0, if self.step < 0 { length - 1 } else { length });
        let place = |at: usize| {
            let moved = self.step.checked_mul(i64::try_from(at).ok()?)?;
            usize::try_from(start.checked_add(moved)?).ok()
        };
        (0..count).map(place).collect()
    }
}

/// What a slice takes along each of the dimensions that it cuts.
pub(super) fn cuts(op: &NodeView<'_>, rank: usize) -> Option<Vec<AxisSlice>> {
    let (starts, ends) = (op.ints("starts", 1)?, op.ints("ends", 2)?);
    let axes = op.optional(
        "axes",
        3,
        || (0..starts.len()).collect(),
        |axes| indices(axes, rank),
    )?;
    let steps = op.optional(
        "steps",
        4,
        || vec![1; starts.len()],
        |steps| Some(steps.to_vec()),
    )?;
    let cut = |(index, &axis): (usize, &usize)| {
        Some(AxisSlice {
            axis: Some(axis).filter(|axis| *axis < rank)?,
            start: *starts.get(index)?,
            end: *ends.get(index)?,
            step: *steps.get(index)?,
        })
    };
    axes.iter().enumerate().map(cut).collect()
}

pub(super) fn slice(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let mut dims = op.same(0)?;
    for cut in cuts(op, dims.len())? {
        dims[cut.axis] = slice_size(dims[cut.axis], cut.start, cut.end, cut.step)?;
    }
    Some(dims)
}

/// How many elements a slice takes of `size`, by the operator's rules for ends beyond the end.
fn slice_size(size: usize, start: i64, end: i64, step: i64) -> Option<usize> {
    let (size, step) = (i128::try_from(size).ok()?, i128::from(step));
    let from_start = |at: i64| {
        if at < 0 {
            i128::from(at) + size
        } else {
            i128::from(at)
        }
    };
    let (start, end) = (from_start(start), from_start(end));
    let taken = match step {
        0 => return None,
        _ if size == 0 => 0,
        1.. => (end.clamp(0, size) - start.clamp(0, size) + step - 1) / step,
        _ => (start.clamp(0, size - 1) - end.clamp(-1, size - 1) - step - 1) / -step,
    };
    usize::try_from(taken.max(0)).ok()
}

/// Axes as indices; nothing where one is out of range.
pub(super) fn indices(axes: &[i64], rank: usize) -> Option<Vec<usize>> {
    axes.iter().map(|&at| axis(at, rank)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_nothing() {
        assert_eq!(slice_size(0, 0, 10, 1), Some(0));
        assert_eq!(slice_size(0, 0, 10, -1), Some(0));
        assert_eq!(slice_size(10, 5, 2, 1), Some(0));
        assert_eq!(
            slice_size(usize::MAX, i64::MIN, i64::MAX, i64::MAX),
            Some(0)
        );
    }

    #[test]
    fn places_forwards_and_backwards() {
        let places = |size, start, end, step| {
            let cut = AxisSlice {
                axis: 0,
                start,
                end,
                step,
            };
            cut.places(size)
        };
        assert_eq!(places(5, 1, 100, 2).unwrap(), [1, 3]);
        assert_eq!(places(4, -1, i64::MIN, -1).unwrap(), [3, 2, 1, 0]);
        assert_eq!(places(4, 100, 1, -2).unwrap(), [3]);
        assert!(places(0, -1, i64::MIN, -1).unwrap().is_empty());
        assert_eq!(places(4, 0, 4, 0), None);
    }
}
