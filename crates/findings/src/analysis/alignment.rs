//! The best alignment of two sequences: which members of one are members of the other, in the order of both.
//!
//! Pairs score, and gaps cost by how many there are rather than how long they are (Gotoh 1982), so that what was put in or
//! left out stays together. Pairs that are certain divide long sequences; between them only a band around the diagonal
//! is searched.

use std::collections::BTreeSet;

/// What the first missing member of a gap costs, and each further one.
const GAP: (f32, f32) = (0.4, 0.02);
/// Cells that are searched in full.
const CELLS: usize = 4_000_000;
/// Half the width of the band where there are more, and what it is wider at most where one sequence is longer.
const BAND: usize = 400;
const MOST_APART: usize = 1_500;
/// So many members on each side of a missing part are tried.
const MOST_SHIFTED: usize = 500;
/// The score of what cannot be.
const NEVER: f32 = f32::NEG_INFINITY;

/// A place in the first sequence and one in the second.
pub(crate) type Pair = (usize, usize);

/// What led to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Paired,
    /// A member of the first sequence has no partner.
    FirstAlone,
    SecondAlone,
}

const STEPS: [Step; 3] = [Step::Paired, Step::FirstAlone, Step::SecondAlone];

/// Aligns two sequences of these lengths, with pairs that are certain; of these, those that cross others are left out.
/// The score of a pair is nothing where the two can be none.
pub(crate) fn align(
    lengths: Pair,
    certain: &[Pair],
    score: &dyn Fn(usize, usize) -> Option<f32>,
) -> Vec<Pair> {
    let anchors = uncrossed(certain);
    let mut found = Vec::new();
    let mut start = (0, 0);
    for end in anchors.into_iter().map(Some).chain([None]) {
        let stop = end.unwrap_or(lengths);
        let inner = (stop.0 - start.0, stop.1 - start.1);
        let from = start;
        let between = align_stretch(inner, &|first, second| {
            score(from.0 + first, from.1 + second)
        });
        found.extend(
            between
                .into_iter()
                .map(|(first, second)| (from.0 + first, from.1 + second)),
        );
        found.extend(end);
        start = (stop.0 + 1, stop.1 + 1);
    }
    found
}

/// Members of the first sequence of which it is not known whether they or others like them have no partner: where a
/// part of a row of alike members is missing, it may be any of them. `is_alike` compares two members of one sequence,
/// the first one or the second.
pub(crate) fn could_be_shifted(
    partners: [&[Option<usize>]; 2],
    is_alike: &dyn Fn(usize, usize, usize) -> bool,
) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for (sequence, partner) in partners.into_iter().enumerate() {
        let mut from = 0;
        while from < partner.len() {
            if partner[from].is_some() {
                from += 1;
                continue;
            }
            let gap = partner[from..].iter().take_while(|one| one.is_none());
            let length = gap.count();
            let is_like = |one: usize, two: usize| is_alike(sequence, one, two);
            let earlier = (1..=from.min(MOST_SHIFTED))
                .take_while(|back| is_like(from - back, from + length - back));
            let mut shifted: Vec<usize> = earlier.map(|back| from - back).collect();
            let later = (from + length..partner.len())
                .take(MOST_SHIFTED)
                .take_while(|member| is_like(*member, member - length));
            shifted.extend(later);
            let first = |member: usize| match sequence {
                0 => Some(member),
                _ => partner[member],
            };
            found.extend(shifted.into_iter().filter_map(first));
            from += length;
        }
    }
    found
}

/// The longest part of some pairs that rises in both places.
pub(crate) fn uncrossed<T: Copy + Ord>(pairs: &[(T, T)]) -> Vec<(T, T)> {
    let mut sorted = pairs.to_vec();
    sorted.sort_unstable();
    // The last pair of the best row of each length, and the pair before each.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(sorted.len());
    for (place, pair) in sorted.iter().enumerate() {
        let length = ends.partition_point(|end| sorted[*end].1 < pair.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let mut row = Vec::with_capacity(ends.len());
    let mut last = ends.last().copied();
    while let Some(place) = last {
        row.push(sorted[place]);
        last = before[place];
    }
    row.reverse();
    row.dedup_by_key(|pair| pair.0);
    row
}

/// The columns of each row that are searched.
struct Band {
    lengths: Pair,
    half: usize,
}

impl Band {
    fn new(lengths: Pair) -> Self {
        let (first, second) = lengths;
        let is_small = first.saturating_mul(second) <= CELLS;
        let apart = first.abs_diff(second).min(MOST_APART);
        let slope = second / first.max(1) + 1;
        let half = if is_small {
            second
        } else {
            (BAND + apart).max(slope)
        };
        Self { lengths, half }
    }

    fn columns(&self, row: usize) -> std::ops::RangeInclusive<usize> {
        let (first, second) = self.lengths;
        let middle = row * second / first.max(1);
        middle.saturating_sub(self.half)..=(middle + self.half).min(second)
    }
}

/// The scores of a row of cells, by the step that led to each.
struct AlignmentRow {
    first_column: usize,
    cells: Vec<[f32; 3]>,
    /// Which step came before each step, two bits for each.
    back: Vec<u8>,
}

impl AlignmentRow {
    fn cell(&self, column: usize) -> [f32; 3] {
        let place = column.checked_sub(self.first_column);
        let cell = place.and_then(|place| self.cells.get(place));
        cell.copied().unwrap_or([NEVER; 3])
    }
}

/// The best of the steps, and its score.
fn best(scores: [f32; 3]) -> (u8, f32) {
    let mut found = (0, scores[0]);
    for (place, score) in (1..).zip(&scores[1..]) {
        if *score > found.1 {
            found = (place, *score);
        }
    }
    found
}

fn align_stretch(lengths: Pair, score: &dyn Fn(usize, usize) -> Option<f32>) -> Vec<Pair> {
    if lengths.0 == 0 || lengths.1 == 0 {
        return Vec::new();
    }
    let band = Band::new(lengths);
    let mut steps: Vec<(usize, Vec<u8>)> = Vec::with_capacity(lengths.0 + 1);
    let mut last = AlignmentRow {
        first_column: 0,
        cells: Vec::new(),
        back: Vec::new(),
    };
    for first in 0..=lengths.0 {
        let row = next_row(&band, first, &last, score);
        let done = std::mem::replace(&mut last, row);
        if first > 0 {
            steps.push((done.first_column, done.back));
        }
    }
    let (mut step, reached) = best(last.cell(lengths.1));
    if reached == NEVER {
        return Vec::new();
    }
    steps.push((last.first_column, last.back));
    let mut found = Vec::new();
    let (mut first, mut second) = lengths;
    while first > 0 || second > 0 {
        let (from, back) = &steps[first];
        let Some(back) = second.checked_sub(*from).and_then(|place| back.get(place)) else {
            break;
        };
        let before = (back >> (2 * step)) & 3;
        match STEPS[usize::from(step)] {
            Step::Paired if first > 0 && second > 0 => {
                (first, second) = (first - 1, second - 1);
                found.push((first, second));
            }
            Step::FirstAlone if first > 0 => first -= 1,
            Step::SecondAlone if second > 0 => second -= 1,
            _ => break,
        }
        step = before;
    }
    found.reverse();
    found
}

fn next_row(
    band: &Band,
    first: usize,
    last: &AlignmentRow,
    score: &dyn Fn(usize, usize) -> Option<f32>,
) -> AlignmentRow {
    let columns = band.columns(first);
    let mut row = AlignmentRow {
        first_column: *columns.start(),
        cells: Vec::new(),
        back: Vec::new(),
    };
    let (open, extend) = GAP;
    for second in columns {
        let mut cell = [NEVER; 3];
        let mut back = 0;
        if (first, second) == (0, 0) {
            cell[0] = 0.0;
        }
        if first > 0 && second > 0 {
            let (step, so_far) = best(last.cell(second - 1));
            if so_far > NEVER
                && let Some(score) = score(first - 1, second - 1)
            {
                cell[0] = so_far + score;
                back |= step;
            }
        }
        if first > 0 {
            let [paired, alone, other] = last.cell(second);
            let (step, so_far) = best([paired - open, alone - extend, other - open]);
            cell[1] = so_far;
            back |= step << 2;
        }
        if second > 0 {
            let [paired, other, alone] = row.cell(second - 1);
            let (step, so_far) = best([paired - open, other - open, alone - extend]);
            cell[2] = so_far;
            back |= step << 4;
        }
        row.cells.push(cell);
        row.back.push(back);
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(first: &str, second: &str, certain: &[Pair]) -> String {
        let (first, second) = (first.as_bytes(), second.as_bytes());
        let score = |one: usize, two: usize| (first[one] == second[two]).then_some(1.0);
        let pairs = align((first.len(), second.len()), certain, &score);
        assert!(
            pairs
                .windows(2)
                .all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1)
        );
        pairs
            .into_iter()
            .map(|(one, _)| char::from(first[one]))
            .collect()
    }

    #[test]
    fn what_is_in_both_is_paired_in_order() {
        assert_eq!(aligned("abcdef", "abXcdf", &[]), "abcdf");
        assert_eq!(aligned("", "abc", &[]), "");
        assert_eq!(aligned("xyz", "abc", &[]), "");
        assert_eq!(aligned("same", "same", &[(1, 1)]), "same");
    }

    #[test]
    fn a_gap_stays_together() {
        let (first, second) = ("abcabcabcabc", "abcabcabc");
        let score = |one: usize, two: usize| {
            (first.as_bytes()[one] == second.as_bytes()[two]).then_some(1.0)
        };
        let pairs = align((12, 9), &[], &score);
        let jumps = pairs.windows(2).filter(|two| two[1].0 != two[0].0 + 1);
        let ends = usize::from(pairs[0].0 != 0) + usize::from(pairs[8].0 != 11);
        assert_eq!((pairs.len(), jumps.count() + ends), (9, 1));
    }

    #[test]
    fn pairs_that_cross_others_are_left_out() {
        assert_eq!(
            uncrossed(&[(3, 0), (0, 1), (1, 2), (2, 3)]),
            [(0, 1), (1, 2), (2, 3)]
        );
        assert_eq!(aligned("abcd", "dabc", &[(3, 0)]), "d");
        assert_eq!(aligned("abcd", "dabc", &[(3, 0), (0, 1), (2, 3)]), "abc");
    }

    #[test]
    fn long_sequences_are_searched_in_a_band() {
        let first: Vec<usize> = (0..6_000).map(|place| place * 7919 % 4099).collect();
        let mut second = first.clone();
        second.drain(2_900..3_000);
        let score = |one: usize, two: usize| (first[one] == second[two]).then_some(1.0);
        let pairs = align((first.len(), second.len()), &[], &score);
        let right = pairs
            .iter()
            .filter(|(one, two)| *one == if *two < 2_900 { *two } else { two + 100 });
        assert_eq!(right.count(), second.len());
    }
}
