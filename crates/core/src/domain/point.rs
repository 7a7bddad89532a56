//! A point of a sweep: the size of each of its named dimensions, the batch among them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{LazyLock, Mutex, PoisonError};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of the dimension that every point has.
pub const BATCH: &str = "batch";

/// Batch sizes of a run that names none.
pub const DEFAULT_BATCHES: [usize; 5] = [1, 2, 4, 8, 16];

/// A dimension's name and its size.
type Binding = (String, usize);

/// A point of a sweep. It is copied freely, as a number would be: sizes beyond the batch stand in a list
/// that equal points share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    batch: usize,
    /// By name; `batch` is not among them.
    others: &'static [Binding],
}

/// Every list of sizes beyond the batch that a point has had since the program began. Nothing is taken out:
/// there are as many as the plans and files that were opened have, and each takes some dozens of bytes.
static LISTS: LazyLock<Mutex<BTreeSet<&'static [Binding]>>> = LazyLock::new(Mutex::default);

fn shared(bindings: Vec<Binding>) -> &'static [Binding] {
    if bindings.is_empty() {
        return &[];
    }
    let mut lists = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(list) = lists.get(&*bindings) {
        return list;
    }
    let list: &'static [Binding] = Vec::leak(bindings);
    lists.insert(list);
    list
}

impl Point {
    /// A point with no dimension but the batch.
    pub const fn of_batch(batch: usize) -> Self {
        Self { batch, others: &[] }
    }

    /// A point with these sizes; the batch is 1 where it is not among them.
    pub fn new<N: Into<String>>(bindings: impl IntoIterator<Item = (N, usize)>) -> Self {
        let mut sizes: BTreeMap<String, usize> = bindings
            .into_iter()
            .map(|(name, size)| (name.into(), size))
            .collect();
        Self {
            batch: sizes.remove(BATCH).unwrap_or(1),
            others: shared(sizes.into_iter().collect()),
        }
    }

    /// The size of the dimension that is called batch.
    pub const fn batch(self) -> usize {
        self.batch
    }

    /// The size of a dimension.
    pub fn get(self, name: &str) -> Option<usize> {
        if name == BATCH {
            return Some(self.batch);
        }
        let others = self.others.iter();
        others
            .filter(|(other, _)| other == name)
            .map(|(_, size)| *size)
            .next()
    }

    /// Dimensions and their sizes, the batch first and the others by name.
    pub fn bindings(self) -> impl Iterator<Item = (&'static str, usize)> {
        std::iter::once((BATCH, self.batch)).chain(self.others())
    }

    /// The dimensions that are not the batch, by name.
    pub fn others(self) -> impl Iterator<Item = (&'static str, usize)> {
        self.others
            .iter()
            .map(|(name, size)| (name.as_str(), *size))
    }

    /// The same point with another size of one dimension.
    pub fn with(self, name: &str, size: usize) -> Self {
        let own = self.bindings().filter(|(other, _)| *other != name);
        Self::new(
            own.map(|(other, size)| (other.to_owned(), size))
                .chain([(name.to_owned(), size)]),
        )
    }

    /// The same point with another batch.
    pub const fn with_batch(self, batch: usize) -> Self {
        Self { batch, ..self }
    }

    /// The sizes of all dimensions but one: two points have the same where they differ in that one alone.
    pub fn without(self, name: &str) -> Vec<(&'static str, usize)> {
        self.bindings()
            .filter(|(other, _)| *other != name)
            .collect()
    }

    /// A number for it, by which a mark on a chart is found again: the batch where it has no other dimension.
    pub fn tag(self) -> u64 {
        if self.others.is_empty() {
            return self.batch as u64;
        }
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// It as part of a file's name: `8`, `8-seq128`.
    pub fn file_words(self) -> String {
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
        let others = self.others().map(|(name, size)| {
            let plain: String = name.chars().filter(is_plain).collect();
            format!("-{plain}{size}")
        });
        format!("{}{}", self.batch, others.collect::<String>())
    }

    /// The product of its sizes, in which a size of 0 counts as 1.
    pub fn volume(self) -> u64 {
        let sizes = self.bindings().map(|(_, size)| size.max(1) as u64);
        sizes.fold(1, u64::saturating_mul)
    }

    /// Whether no dimension of this point is larger than that of the other, and one is smaller.
    pub fn is_within(self, other: Self) -> bool {
        let is_no_larger = |(name, size)| other.get(name).is_some_and(|of_other| size <= of_other);
        self != other && self.bindings().all(is_no_larger)
    }
}

/// `batch 8` or `batch 8, seq 128`.
impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BATCH} {}", self.batch)?;
        for (name, size) in self.others() {
            write!(f, ", {name} {size}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Point({self})")
    }
}

impl Serialize for Point {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.bindings())
    }
}

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let sizes = BTreeMap::<String, usize>::deserialize(deserializer)?;
        if !sizes.contains_key(BATCH) {
            return Err(D::Error::custom("a point has no batch"));
        }
        Ok(Self::new(sizes))
    }
}

/// The dimensions of several points, in the order in which they are shown: the batch first, the others by name.
pub fn dimensions(points: impl IntoIterator<Item = Point>) -> Vec<&'static str> {
    let others: BTreeSet<&str> = points
        .into_iter()
        .flat_map(|point| point.others().map(|(name, _)| name))
        .collect();
    std::iter::once(BATCH).chain(others).collect()
}

/// Several points in words: `batch 1, 4` where they have no other dimension, else `batch 1, seq 128; batch 4, seq 128`.
pub fn list(points: impl IntoIterator<Item = Point>) -> String {
    let points: Vec<Point> = points.into_iter().collect();
    if points.iter().all(|point| point.others.is_empty()) {
        let batches: Vec<String> = points.iter().map(|point| point.batch.to_string()).collect();
        return format!("{BATCH} {}", batches.join(", "));
    }
    let points: Vec<String> = points.iter().map(Point::to_string).collect();
    points.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_points_are_equal_whatever_their_order() {
        let one = Point::new([("seq", 128), ("batch", 8)]);
        let other = Point::of_batch(8).with("seq", 128);
        assert_eq!(one, other);
        assert!(std::ptr::eq(one.others, other.others));
        assert_eq!(one.to_string(), "batch 8, seq 128");
        assert_eq!((one.get("seq"), one.get("past")), (Some(128), None));
        assert_eq!(one.without("seq"), [("batch", 8)]);
        assert_eq!(dimensions([one, Point::of_batch(1)]), ["batch", "seq"]);
    }

    #[test]
    fn smaller_points_are_within_larger_ones() {
        let small = Point::new([("batch", 1), ("seq", 32)]);
        let large = Point::new([("batch", 8), ("seq", 32)]);
        assert!(small.is_within(large) && !large.is_within(small));
        assert!(!small.is_within(small));
        assert!(!Point::of_batch(1).with("seq", 64).is_within(large));
    }

    #[test]
    fn points_are_read_as_they_are_written() {
        let point = Point::new([("seq", 128), ("batch", 8)]);
        let text = serde_json::to_string(&point).unwrap();
        assert_eq!(text, r#"{"batch":8,"seq":128}"#);
        assert_eq!(serde_json::from_str::<Point>(&text).unwrap(), point);
        assert!(serde_json::from_str::<Point>(r#"{"seq":128}"#).is_err());
    }
}
