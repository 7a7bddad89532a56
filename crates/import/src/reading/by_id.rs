//! Values of a table of a database by their number, such as the texts that other tables refer to.

use super::read_progress::ReadProgress;
use super::rows::{OpenDatabase, Query};
use crate::{ImportError, Imported};

/// Values by the number of their row; most files count without gaps.
#[derive(Clone, Debug)]
pub(crate) struct ById<T> {
    rows: Vec<(i64, T)>,
}

impl<T> Default for ById<T> {
    fn default() -> Self {
        Self { rows: Vec::new() }
    }
}

impl ById<String> {
    /// A table of numbers and texts.
    pub(crate) fn read(
        base: &OpenDatabase<'_>,
        watch: &ReadProgress<'_>,
        table: &str,
        columns: [&str; 2],
        into: &mut Imported,
    ) -> Result<Self, ImportError> {
        let mut found = Vec::new();
        let seen = base.each(&Query::all(table, &columns), watch, |row| {
            let text = row.text(1).map(|text| text.into_owned());
            found.extend(row.int(0).map(|id| (id, text.unwrap_or_default())));
            true
        })?;
        seen.note_errors(table, base.source, into);
        Ok(Self::new(found))
    }
}

impl<T> ById<T> {
    /// Takes values in, in any order; of two with the same number the first one counts.
    pub(crate) fn new(mut rows: Vec<(i64, T)>) -> Self {
        if !rows.is_sorted_by_key(|row| row.0) {
            rows.sort_by_key(|row| row.0);
        }
        Self { rows }
    }

    /// The same; of two with the same number the last one counts.
    pub(crate) fn of_last(mut rows: Vec<(i64, T)>) -> Self {
        rows.reverse();
        let mut last = Self::new(rows);
        last.rows.dedup_by_key(|row| row.0);
        last
    }

    /// The value with a number.
    pub(crate) fn get(&self, id: i64) -> Option<&T> {
        let first = self.rows.first()?.0;
        let guess = id.wrapping_sub(first) as usize;
        if let Some((found, value)) = self.rows.get(guess)
            && *found == id
        {
            return Some(value);
        }
        let place = self.rows.partition_point(|row| row.0 < id);
        let (found, value) = self.rows.get(place)?;
        (*found == id).then_some(value)
    }

    /// Every number and value.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(i64, T)> {
        self.rows.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_gaps_are_found() {
        let rows = ById::new(vec![(7, 'c'), (2, 'a'), (3, 'b'), (i64::MAX, 'd')]);
        let found: Vec<Option<&char>> = [2, 3, 4, 7, i64::MAX, i64::MIN]
            .map(|id| rows.get(id))
            .to_vec();
        assert_eq!(
            found,
            [Some(&'a'), Some(&'b'), None, Some(&'c'), Some(&'d'), None]
        );
    }

    #[test]
    fn of_two_with_the_same_number_the_first_or_the_last_counts() {
        let rows = vec![(-5, 'a'), (3, 'b'), (i64::MAX, 'c'), (3, 'd'), (-5, 'e')];
        let (first, last) = (ById::new(rows.clone()), ById::of_last(rows));
        let all = |rows: &ById<char>| [-5, 3, i64::MAX].map(|id| rows.get(id).copied());
        assert_eq!(all(&first), [Some('a'), Some('b'), Some('c')]);
        assert_eq!(all(&last), [Some('e'), Some('d'), Some('c')]);
        assert_eq!((first.get(4), last.len()), (None, 3));
    }
}
