//! Which work of a step is that of a step of another trace: by modules, operators, shapes and kernels, in the order of
//! both; then what is left, where only one on either side can be meant.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::step_work::{StepWork, WorkKey};
use crate::analysis::alignment::{self, Pair};
use crate::analysis::category::Category;

/// So far apart are places of the order that operators usually move over.
const NEAR: usize = 8;

/// By what work before and after was found to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkMatchedBy {
    /// The same modules lie around both.
    Modules,
    /// The operator has one name, whatever kernels carry it out.
    Operator,
    /// The kernels have one name, or one but for sizes and types.
    Kernel,
    /// Operator, shapes and modules, which no other has; it runs elsewhere in the order.
    Moved,
    /// Category and place in the order alone, or others of the same kind may be meant: uncertain.
    Order,
}

impl WorkMatchedBy {
    pub fn title(self) -> &'static str {
        match self {
            Self::Modules => "modules",
            Self::Operator => "operator",
            Self::Kernel => "kernel",
            Self::Moved => "operator, moved",
            Self::Order => "order alone, uncertain",
        }
    }
}

/// Work before and after that is the same.
#[derive(Debug, Default)]
pub(super) struct WorkMatches {
    /// In the order of both.
    pub in_order: Vec<(Pair, WorkMatchedBy)>,
    /// What runs elsewhere in the order, by its place after: its place before.
    pub moved: BTreeMap<usize, (usize, WorkMatchedBy)>,
}

impl WorkMatches {
    pub(super) fn len(&self) -> usize {
        self.in_order.len() + self.moved.len()
    }

    /// Alike work keeps its order: where something moved over an alike one, the two exchange their partners.
    fn uncross_alike(&mut self, before: &[StepWork]) {
        let uncertain = self
            .moved
            .iter()
            .filter(|(_, (_, by))| *by == WorkMatchedBy::Order);
        let uncertain: Vec<Pair> = uncertain.map(|(two, (one, _))| (*one, *two)).collect();
        for (one, two) in uncertain {
            let from = self
                .in_order
                .partition_point(|(pair, _)| pair.0 + NEAR < one);
            let near = self.in_order[from..].iter();
            let mut near = near.take_while(|(pair, _)| pair.0 <= one + NEAR);
            let crossed = near.position(|((other, theirs), _)| {
                let is_alike = before[one].key.recurs_as(&before[*other].key);
                is_alike && (*other < one) != (*theirs < two)
            });
            if let Some(place) = crossed {
                let ((other, theirs), _) = self.in_order.remove(from + place);
                self.moved.insert(theirs, (one, WorkMatchedBy::Order));
                self.moved.insert(two, (other, WorkMatchedBy::Order));
            }
        }
    }
}

/// Matches work before and after.
pub(super) fn match_work(before: &[StepWork], after: &[StepWork]) -> WorkMatches {
    let score = |one: usize, two: usize| score(&before[one].key, &after[two].key);
    let certain = certain(before, after);
    let pairs = alignment::align((before.len(), after.len()), &certain, &score);
    let mut partners = [vec![None; before.len()], vec![None; after.len()]];
    for (one, two) in &pairs {
        partners[0][*one] = Some(*two);
        partners[1][*two] = Some(*one);
    }
    let sides = [before, after];
    let is_alike =
        |side: usize, one: usize, two: usize| sides[side][one].key.recurs_as(&sides[side][two].key);
    let shifted = |partners: &[Vec<Option<usize>>; 2]| {
        alignment::could_be_shifted([&partners[0], &partners[1]], &is_alike)
    };
    let mut shifting = shifted(&partners);
    let doubtful = doubtful(sides, &partners);
    // What may have another partner may leave its own to the next one.
    let mut without_doubtful = partners.clone();
    for one in &doubtful {
        if let Some(two) = without_doubtful[0][*one].take() {
            without_doubtful[1][two] = None;
        }
    }
    shifting.extend(shifted(&without_doubtful));
    shifting.extend(doubtful);
    let reason = |(one, two): Pair| {
        if shifting.contains(&one) {
            WorkMatchedBy::Order
        } else {
            match_reason(&before[one].key, &after[two].key)
        }
    };
    let mut matches = WorkMatches {
        moved: moved(sides, &partners, &certain),
        in_order: pairs.into_iter().map(|pair| (pair, reason(pair))).collect(),
    };
    matches.uncross_alike(before);
    matches
}

/// The places before of pairs that may be wrong, because the order may have changed: near both there is work without a
/// partner that has the key of one of them, or near one of them where the keys of the two differ.
fn doubtful(sides: [&[StepWork]; 2], partners: &[Vec<Option<usize>>; 2]) -> BTreeSet<usize> {
    let is_doubtful = |pair: [usize; 2]| {
        let keys = [0, 1].map(|side| &sides[side][pair[side]].key);
        let has_alike = [0, 1].map(|side| {
            let place = pair[side];
            let end = partners[side].len().min(place + NEAR + 1);
            let mut alone = (place.saturating_sub(NEAR)..end)
                .filter(|place| partners[side][*place].is_none())
                .map(|place| &sides[side][place].key);
            alone.any(|one| keys.iter().any(|key| one.recurs_as(key)))
        });
        match has_alike {
            [false, false] => false,
            [true, true] => true,
            _ => !keys[0].recurs_as(keys[1]),
        }
    };
    let pairs = (0..).zip(&partners[0]);
    let pairs = pairs.filter_map(|(one, two)| Some([one, (*two)?]));
    pairs
        .filter(|pair| is_doubtful(*pair))
        .map(|pair| pair[0])
        .collect()
}

/// Whether two terms are known and agree.
fn agree(one: u32, two: u32) -> bool {
    one != 0 && one == two
}

/// How much speaks for two being the same; nothing where they cannot be.
fn score(before: &WorkKey, after: &WorkKey) -> Option<f32> {
    let has_op = agree(before.op, after.op);
    let has_kernel = agree(before.kernel, after.kernel);
    let has_family = agree(before.family, after.family);
    let is_possible = before.category == after.category || has_op;
    if !is_possible || (before.category == Category::Other && !has_op && !has_family) {
        return None;
    }
    // What only one side knows says nothing.
    let weigh = |one: u32, two: u32, by: (f32, f32)| match (one, two) {
        (0, _) | (_, 0) => 0.0,
        (one, two) if one == two => by.0,
        _ => -by.1,
    };
    let kernel = match (has_kernel, has_family) {
        (true, _) => 1.0,
        (_, true) => 0.6,
        _ => 0.0,
    };
    let score = 0.5
        + kernel
        + weigh(before.op, after.op, (1.0, 0.4))
        + weigh(before.shapes, after.shapes, (1.0, 0.4))
        + weigh(before.modules, after.modules, (2.0, 1.0));
    (score > 0.0).then_some(score)
}

/// What has no partner in the order of both: what is certain, and what has an alike one near where it would stand.
fn moved(
    sides: [&[StepWork]; 2],
    partners: &[Vec<Option<usize>>; 2],
    certain: &[Pair],
) -> BTreeMap<usize, (usize, WorkMatchedBy)> {
    let mut found = BTreeMap::new();
    for (one, two) in certain {
        if partners[0][*one].is_none() && partners[1][*two].is_none() {
            found.insert(*two, (*one, WorkMatchedBy::Moved));
        }
    }
    let mut is_alone: Vec<bool> = partners[0].iter().map(Option::is_none).collect();
    for (one, _) in found.values() {
        is_alone[*one] = false;
    }
    // Where the next one would stand before.
    let mut expected = 0;
    for (two, partner) in partners[1].iter().enumerate() {
        if let Some(one) = partner {
            expected = one + 1;
            continue;
        }
        let Entry::Vacant(place) = found.entry(two) else {
            continue;
        };
        let end = is_alone.len().min(expected + NEAR + 1);
        let near = (expected.saturating_sub(NEAR)..end).filter(|one| is_alone[*one]);
        let key = &sides[1][two].key;
        let mut alike = near.filter(|one| sides[0][*one].key.recurs_as(key));
        if let Some(one) = alike.next() {
            is_alone[one] = false;
            place.insert((one, WorkMatchedBy::Order));
        }
    }
    found
}

/// Work that has one key, which no other has on either side.
fn certain(before: &[StepWork], after: &[StepWork]) -> Vec<Pair> {
    // Kernels change with the machine, so they are not asked.
    let key = |work: &StepWork| {
        let key = &work.key;
        let is_known = key.modules != 0 || (key.op != 0 && key.shapes != 0);
        is_known.then_some((key.modules, key.op, key.shapes))
    };
    let unique = |side: &[StepWork]| {
        let mut found: BTreeMap<(u32, u32, u32), Option<usize>> = BTreeMap::new();
        for (place, work) in side.iter().enumerate() {
            if let Some(key) = key(work) {
                found
                    .entry(key)
                    .and_modify(|known| *known = None)
                    .or_insert(Some(place));
            }
        }
        found
    };
    let theirs = unique(after);
    let ours = unique(before).into_iter();
    ours.filter_map(|(key, place)| Some((place?, (*theirs.get(&key)?)?)))
        .filter(|(one, two)| score(&before[*one].key, &after[*two].key).is_some())
        .collect()
}

fn match_reason(before: &WorkKey, after: &WorkKey) -> WorkMatchedBy {
    if agree(before.modules, after.modules) && agree(before.op, after.op) {
        WorkMatchedBy::Modules
    } else if agree(before.op, after.op) {
        WorkMatchedBy::Operator
    } else if agree(before.family, after.family) {
        WorkMatchedBy::Kernel
    } else {
        WorkMatchedBy::Order
    }
}
