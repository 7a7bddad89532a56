//! Names, each kept once and known by its number.

use std::hash::BuildHasher as _;

use rustc_hash::FxBuildHasher;

/// Names, each once; the first one is empty and stands for none.
///
/// A trace may have as many names as slices, so they lie one behind the other in one text, and the table that
/// finds them holds their numbers alone.
#[derive(Clone, Debug, Default)]
pub struct Names {
    text: String,
    /// Where each name ends in the text, from the first that is not empty.
    ends: Vec<usize>,
    /// Numbers of names at the places that their hashes give, 0 where nothing is. Its length is a power of two.
    places: Vec<u32>,
}

impl Names {
    /// The number of a name, a new one where it was not seen before.
    pub fn number(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        // Three quarters full, at most.
        if (self.ends.len() + 1) * 4 > self.places.len() * 3 {
            self.grow();
        }
        let place = self.place_of(name);
        let found = self.places.get(place).copied().unwrap_or_default();
        if found != 0 {
            return found;
        }
        self.text.push_str(name);
        self.ends.push(self.text.len());
        let number = self.ends.len() as u32;
        if let Some(empty) = self.places.get_mut(place) {
            *empty = number;
        }
        number
    }

    /// The number of a name that was seen before.
    pub fn find(&self, name: &str) -> Option<u32> {
        if name.is_empty() {
            return Some(0);
        }
        let found = self.places.get(self.place_of(name)).copied();
        found.filter(|number| *number != 0)
    }

    /// The name with a number.
    pub fn get(&self, number: u32) -> &str {
        let Some(place) = (number as usize).checked_sub(1) else {
            return "";
        };
        let begin = place
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        let end = self.ends.get(place).copied().unwrap_or_default();
        let begin = begin.copied().unwrap_or_default();
        self.text.get(begin..end).unwrap_or_default()
    }

    /// How many there are, the empty one included.
    pub fn len(&self) -> usize {
        self.ends.len() + 1
    }

    /// Whether there is none but the empty one.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<usize>() + self.places.len() * 4
    }

    /// Where a name stands in the table, or where it would stand.
    fn place_of(&self, name: &str) -> usize {
        let Some(mask) = self.places.len().checked_sub(1) else {
            return 0;
        };
        let hash = FxBuildHasher.hash_one(name);
        let mut place = (hash ^ (hash >> 32)) as usize & mask;
        // Some place is always empty, so this ends.
        while let Some(&number) = self.places.get(place)
            && number != 0
            && self.get(number) != name
        {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        let length = (self.places.len() * 2).max(16);
        self.places.clear();
        self.places.resize(length, 0);
        for number in 1..=self.ends.len() as u32 {
            let place = self.place_of(self.get(number));
            if let Some(empty) = self.places.get_mut(place) {
                *empty = number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_many_names_is_found_again() {
        let mut names = Names::default();
        let name = |number: u32| format!("kernel_{number}");
        assert_eq!((names.find("kernel_1"), names.find("")), (None, Some(0)));
        for number in 1..=5_000 {
            assert_eq!(names.number(&name(number)), number);
        }
        for number in (1..=5_000).rev() {
            assert_eq!(names.number(&name(number)), number);
            assert_eq!(names.find(&name(number)), Some(number));
            assert_eq!(names.get(number), name(number));
        }
        assert_eq!(
            (names.number(""), names.get(0), names.get(5_001)),
            (0, "", "")
        );
        assert_eq!((names.len(), names.find("other")), (5_001, None));
        // A name is kept once: its text, where that ends, and its number.
        assert_eq!(
            names.text.len(),
            (1..=5_000).map(|n| name(n).len()).sum::<usize>()
        );
        assert!(names.places.len() <= 4 * 5_000);
    }
}
