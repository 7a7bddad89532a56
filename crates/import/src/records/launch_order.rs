//! Operators of launched kernels that are not known, by kernels of the same names in the same order whose operators are.

use std::hash::{Hash as _, Hasher as _};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

/// So many kernels before and behind one have to have the same names, those that say most first.
const CONTEXTS: [(usize, usize); 9] = [
    (8, 8),
    (8, 0),
    (0, 8),
    (4, 4),
    (4, 0),
    (0, 4),
    (2, 2),
    (2, 0),
    (0, 2),
];

/// A kernel, copy or set that was launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedLaunch {
    /// Its name, by number.
    pub name: u32,
    /// Its operator, by number; 0 where it is not known.
    pub op: u32,
}

/// What is known of kernels with the same neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FoundOperator {
    None,
    One(u32),
    Several,
}

impl FoundOperator {
    fn with(self, op: u32) -> Self {
        match self {
            Self::None => Self::One(op),
            Self::One(known) if known == op => self,
            Self::One(_) | Self::Several => Self::Several,
        }
    }
}

/// Names the operators that are not known in sequences, where the kernels of the same name and with the same neighbours
/// in `known` have one operator.
pub(super) fn name_by_order(known: &[NamedLaunch], sequences: &mut [Vec<NamedLaunch>]) {
    for context in CONTEXTS {
        let mut wanted: FxHashMap<u64, FoundOperator> = FxHashMap::default();
        let mut names: FxHashSet<u32> = FxHashSet::default();
        for sequence in sequences.iter() {
            for (place, hash) in unnamed(sequence, context) {
                wanted.insert(hash, FoundOperator::None);
                names.insert(sequence[place].name);
            }
        }
        if wanted.is_empty() {
            continue;
        }
        for (place, launch) in known.iter().enumerate() {
            if names.contains(&launch.name)
                && let Some(hash) = neighbours(known, place, context)
                && let Some(found) = wanted.get_mut(&hash)
            {
                *found = found.with(launch.op);
            }
        }
        for sequence in sequences.iter_mut() {
            let places: Vec<(usize, u64)> = unnamed(sequence, context).collect();
            for (place, hash) in places {
                if let Some(FoundOperator::One(op)) = wanted.get(&hash) {
                    sequence[place].op = *op;
                }
            }
        }
    }
}

/// Where operators are not known, with the hash of the neighbours.
fn unnamed(
    sequence: &[NamedLaunch],
    context: (usize, usize),
) -> impl Iterator<Item = (usize, u64)> {
    let places = sequence.iter().enumerate();
    let places = places.filter(|(_, launch)| launch.op == 0);
    places.filter_map(move |(place, _)| Some((place, neighbours(sequence, place, context)?)))
}

/// A hash of the names around a place; nothing where there are not as many.
fn neighbours(
    sequence: &[NamedLaunch],
    place: usize,
    (before, behind): (usize, usize),
) -> Option<u64> {
    let window = sequence.get(place.checked_sub(before)?..=place + behind)?;
    let mut hasher = FxHasher::default();
    for launch in window {
        launch.name.hash(&mut hasher);
    }
    Some(hasher.finish())
}
