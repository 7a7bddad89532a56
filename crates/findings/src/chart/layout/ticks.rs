//! Which labels below an axis have room.

/// Between two labels.
const BETWEEN: f64 = 6.0;
/// How far beyond the axis a label's middle may be.
const BEYOND: f64 = 2.0;

/// The places of labels that have room below an axis from left to right: the last one always, the others where
/// they touch none. Each label is given by its middle and its width.
pub fn with_room(labels: &[(f64, f64)], (left, right): (f64, f64)) -> Vec<usize> {
    let mut taken: Vec<(f64, f64)> = Vec::new();
    let mut found = Vec::new();
    let last = labels.len().saturating_sub(1);
    let order = (last..labels.len()).chain(0..last);
    for place in order {
        let (middle, width) = labels[place];
        let (from, to) = (middle - width / 2.0, middle + width / 2.0);
        let is_apart = |other: &(f64, f64)| to + BETWEEN < other.0 || from > other.1 + BETWEEN;
        let is_inside = (left - BEYOND..=right + BEYOND).contains(&middle);
        if is_inside && taken.iter().all(is_apart) {
            taken.push((from, to));
            found.push(place);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_label_stands_and_the_others_touch_none() {
        let axis = (0.0, 100.0);
        let labels = [
            (0.0, 10.0),
            (12.0, 10.0),
            (50.0, 10.0),
            (92.0, 10.0),
            (100.0, 10.0),
        ];
        assert_eq!(with_room(&labels, axis), [4, 0, 2]);
        assert_eq!(with_room(&[(120.0, 10.0)], axis).len(), 0);
        assert_eq!(with_room(&[], axis).len(), 0);
    }
}
