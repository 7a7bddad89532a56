//! Which work of a step is that of a step of another trace: by modules, operators, shapes and kernels, in the order of
//! both.

use std::collections::BTreeMap;

use super::step_work::{StepWork, WorkKey};
use crate::analysis::alignment::{self, Pair};
use crate::analysis::category::Category;

/// By what work before and after was found to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkMatchedBy {
    /// The same modules lie around both.
    Modules,
    /// The operator has one name, whatever kernels carry it out.
    Operator,
    /// The kernels have one name, or one but for sizes and types.
    Kernel,
    /// Category and place in the order alone, or others of the same kind may be meant: uncertain.
    Order,
}

impl WorkMatchedBy {
    pub fn title(self) -> &'static str {
        match self {
            Self::Modules => "modules",
            Self::Operator => "operator",
            Self::Kernel => "kernel",
            Self::Order => "order alone, uncertain",
        }
    }
}

/// Pairs of work before and after, in the order of both.
pub(super) fn match_work(before: &[StepWork], after: &[StepWork]) -> Vec<(Pair, WorkMatchedBy)> {
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
        |side: usize, one: usize, two: usize| sides[side][one].key == sides[side][two].key;
    let shifting = alignment::could_be_shifted([&partners[0], &partners[1]], &is_alike);
    let reason = |(one, two): Pair| {
        if shifting.contains(&one) {
            WorkMatchedBy::Order
        } else {
            match_reason(&before[one].key, &after[two].key)
        }
    };
    pairs.into_iter().map(|pair| (pair, reason(pair))).collect()
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
