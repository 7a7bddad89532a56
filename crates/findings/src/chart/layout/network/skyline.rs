//! How far rows reach to the right, for lanes that pass many of them.

/// Rows that are kept together.
const BLOCK: usize = 64;

/// How far each row reaches.
pub(super) struct Skyline {
    rows: Vec<f64>,
    /// The farthest of each block's rows.
    farthest: Vec<f64>,
    /// How far all rows of a block reach at least.
    least: Vec<f64>,
}

impl Skyline {
    pub(super) fn new(rows: Vec<f64>) -> Self {
        let blocks = rows.chunks(BLOCK);
        let farthest: Vec<f64> = blocks
            .map(|block| block.iter().copied().fold(f64::MIN, f64::max))
            .collect();
        Self {
            least: vec![f64::MIN; farthest.len()],
            farthest,
            rows,
        }
    }

    /// The farthest of some rows; the smallest number of none.
    pub(super) fn farthest(&self, from: usize, to: usize) -> f64 {
        let mut found = f64::MIN;
        let mut row = from;
        while row < to.min(self.rows.len()) {
            let block = row / BLOCK;
            if row.is_multiple_of(BLOCK) && row + BLOCK <= to {
                found = found.max(self.farthest[block]);
                row += BLOCK;
            } else {
                found = found.max(self.rows[row]).max(self.least[block]);
                row += 1;
            }
        }
        found
    }

    /// These rows reach this far from now on.
    pub(super) fn raise(&mut self, from: usize, to: usize, reach: f64) {
        let mut row = from;
        while row < to.min(self.rows.len()) {
            let block = row / BLOCK;
            self.farthest[block] = self.farthest[block].max(reach);
            if row.is_multiple_of(BLOCK) && row + BLOCK <= to {
                self.least[block] = self.least[block].max(reach);
                row += BLOCK;
            } else {
                self.rows[row] = self.rows[row].max(reach);
                row += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_plain_loops_say() {
        let mut plain: Vec<f64> = (0..300).map(|row| f64::from(row * 37 % 101)).collect();
        let mut skyline = Skyline::new(plain.clone());
        for step in 0..200_usize {
            let (from, to) = (step * 53 % 300, step * 97 % 301);
            let (from, to) = (from.min(to), from.max(to));
            let most = plain[from..to].iter().copied().fold(f64::MIN, f64::max);
            assert!((skyline.farthest(from, to) - most).abs() < 1e-9 || from == to);
            if from < to {
                skyline.raise(from, to, most + 1.0);
                plain[from..to]
                    .iter_mut()
                    .for_each(|row| *row = row.max(most + 1.0));
            }
        }
    }
}
