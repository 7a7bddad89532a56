//! Which calls of the ranks of a job are one collective, and how far the clocks of the ranks are apart.
//!
//! Calls of one name within one step are matched by their order, where all ranks that take part have equally many of
//! them there; no rank leaves such a collective before the last one has begun it, so a match that says otherwise is
//! none. What is not matched stays so.

use std::collections::BTreeMap;

use super::collectives::{Collective, RankWork};
use rustc_hash::FxHashMap;

/// What all calls of one collective have in common: its name and its step.
type CallKey<'a> = (&'a str, Option<&'a (String, u32)>);

/// Calls of one rank, by its place.
type RankCalls<'a> = (usize, Vec<&'a Collective>);

/// One collective on all ranks that take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MatchedCollective<'a> {
    pub(super) name: &'a str,
    pub(super) step: Option<&'a (String, u32)>,
    /// The place of each rank, with when it began and ended.
    pub(super) calls: Vec<(usize, i64, i64)>,
}

impl MatchedCollective<'_> {
    /// The rank that began last by its place, when, and when the last but one began.
    pub(super) fn last(&self) -> Option<(usize, i64, i64)> {
        let mut starts: Vec<(i64, usize)> = self
            .calls
            .iter()
            .map(|(rank, start, _)| (*start, *rank))
            .collect();
        starts.sort_unstable();
        let (start, rank) = starts.pop()?;
        let (before, _) = starts.pop()?;
        Some((rank, start, before))
    }

    pub(super) fn first_start_ns(&self) -> i64 {
        self.calls
            .iter()
            .map(|(_, start, _)| *start)
            .min()
            .unwrap_or_default()
    }

    pub(super) fn last_end_ns(&self) -> i64 {
        self.calls
            .iter()
            .map(|(.., end)| *end)
            .max()
            .unwrap_or_default()
    }

    /// Whether a rank ended before another one began, which one clock cannot show.
    fn contradicts_clock(&self) -> bool {
        let first_end = self.calls.iter().map(|(.., end)| *end).min();
        let last_start = self.calls.iter().map(|(_, start, _)| *start).max();
        first_end < last_start
    }

    fn shift(&mut self, shifts: &[i64]) {
        for (rank, start, end) in &mut self.calls {
            let shift = shifts.get(*rank).copied().unwrap_or_default();
            *start = start.saturating_add(shift);
            *end = end.saturating_add(shift);
        }
    }
}

/// Collectives of all ranks together.
#[derive(Clone, Debug, Default)]
pub(super) struct MatchedRanks<'a> {
    /// Moved to one clock.
    pub(super) collectives: Vec<MatchedCollective<'a>>,
    /// What to add to the times of each rank, in nanoseconds.
    pub(super) shifts: Vec<i64>,
    /// Calls without a match.
    pub(super) unmatched: u64,
}

impl<'a> MatchedRanks<'a> {
    /// Matches the calls of ranks, whose numbers are `ranks`. Where `have_one_clock` is not known, collectives end
    /// together on all ranks.
    pub(super) fn new(work: &'a [RankWork], ranks: &[u32], have_one_clock: bool) -> Self {
        let n_calls: usize = work.iter().map(|rank| rank.collectives.len()).sum();
        let mut collectives = matched_calls(work, ranks);
        let n_against = collectives
            .iter()
            .filter(|one| one.contradicts_clock())
            .count();
        let mut shifts = vec![0; work.len()];
        if !have_one_clock || 2 * n_against > collectives.len() {
            shifts = clock_shifts(&collectives, work.len());
            for collective in &mut collectives {
                collective.shift(&shifts);
            }
        }
        collectives.retain(|collective| !collective.contradicts_clock());
        let n_matched: usize = collectives.iter().map(|one| one.calls.len()).sum();
        Self {
            collectives,
            shifts,
            unmatched: (n_calls - n_matched) as u64,
        }
    }
}

/// Calls that are one by their name, their step and their order.
fn matched_calls<'a>(work: &'a [RankWork], ranks: &[u32]) -> Vec<MatchedCollective<'a>> {
    let mut by_key: BTreeMap<CallKey<'a>, Vec<Vec<&'a Collective>>> = BTreeMap::new();
    for (place, rank) in work.iter().enumerate() {
        let has_steps = !rank.steps_ns.is_empty();
        for collective in &rank.collectives {
            // Where a trace has steps, what lies outside of them may be a part of one.
            if has_steps && collective.step.is_none() {
                continue;
            }
            let key = (collective.name.as_str(), collective.step.as_ref());
            let calls = by_key
                .entry(key)
                .or_insert_with(|| vec![Vec::new(); work.len()]);
            calls[place].push(collective);
        }
    }
    let mut matched = Vec::new();
    for ((name, step), calls) in by_key {
        for group in groups(&calls, ranks) {
            let n_calls = group.first().map_or(0, |(_, calls)| calls.len());
            if group.len() < 2 || group.iter().any(|(_, calls)| calls.len() != n_calls) {
                continue;
            }
            matched.extend((0..n_calls).map(|number| {
                let call = |(place, calls): &RankCalls<'_>| {
                    (*place, calls[number].start_ns, calls[number].end_ns)
                };
                MatchedCollective {
                    name,
                    step,
                    calls: group.iter().map(call).collect(),
                }
            }));
        }
    }
    matched
}

/// Calls by the group of ranks that take part; all ranks where files do not name it. Ranks whose file is missing are no
/// part of it.
fn groups<'a>(calls: &[Vec<&'a Collective>], ranks: &[u32]) -> Vec<Vec<RankCalls<'a>>> {
    let mut by_members: BTreeMap<Option<&[u32]>, Vec<RankCalls<'a>>> = BTreeMap::new();
    for (place, calls) in calls.iter().enumerate() {
        let mut own: FxHashMap<Option<&[u32]>, Vec<&'a Collective>> = FxHashMap::default();
        for call in calls {
            own.entry(call.members.as_deref()).or_default().push(call);
        }
        for (members, calls) in own.into_iter().collect::<BTreeMap<_, _>>() {
            by_members.entry(members).or_default().push((place, calls));
        }
    }
    let is_whole = |(members, group): &(Option<&[u32]>, Vec<RankCalls<'_>>)| {
        let wanted = ranks
            .iter()
            .filter(|rank| members.is_none_or(|members| members.contains(rank)));
        wanted.count() == group.len()
    };
    let groups = by_members.into_iter().filter(is_whole);
    groups.map(|(_, group)| group).collect()
}

/// What to add to the times of each rank so that collectives end together: the median over those that it takes part in.
fn clock_shifts(collectives: &[MatchedCollective<'_>], n_ranks: usize) -> Vec<i64> {
    let mut behind: Vec<Vec<i64>> = vec![Vec::new(); n_ranks];
    for collective in collectives {
        let ends = collective.calls.iter().map(|(.., end)| *end).collect();
        let Some(typical) = median(ends) else {
            continue;
        };
        for (rank, _, end) in &collective.calls {
            behind[*rank].push(typical.saturating_sub(*end));
        }
    }
    let shifts = behind
        .into_iter()
        .map(|rank| median(rank).unwrap_or_default());
    shifts.collect()
}

/// The lower of the two in the middle, where they are two.
pub(super) fn median(mut values: Vec<i64>) -> Option<i64> {
    let middle = values.len().checked_sub(1)? / 2;
    let (_, median, _) = values.select_nth_unstable(middle);
    Some(*median)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(calls: &[(&str, u32, i64, i64)]) -> RankWork {
        let collective = |(name, step, start_ns, end_ns): &(&str, u32, i64, i64)| Collective {
            name: (*name).to_owned(),
            members: None,
            step: Some(("step".to_owned(), *step)),
            start_ns: *start_ns,
            end_ns: *end_ns,
        };
        RankWork {
            collectives: calls.iter().map(collective).collect(),
            steps_ns: vec![1],
            ..RankWork::default()
        }
    }

    #[test]
    fn calls_are_matched_within_their_step() {
        let one = rank(&[("a", 0, 0, 10), ("a", 0, 20, 30), ("a", 1, 40, 50)]);
        let two = rank(&[("a", 0, 5, 10), ("a", 1, 41, 50)]);
        let work = [one, two];
        let found = MatchedRanks::new(&work, &[0, 1], true);
        // The first step has two calls on one rank and one on the other: nothing says which belong together.
        assert_eq!((found.collectives.len(), found.unmatched), (1, 3));
        assert_eq!(found.collectives[0].last(), Some((1, 41, 40)));
        assert_eq!(found.shifts, [0, 0]);
    }

    #[test]
    fn clocks_that_no_collective_could_show_are_set() {
        let one = rank(&[("a", 0, 0, 10), ("a", 1, 40, 52), ("a", 2, 80, 90)]);
        let two = rank(&[
            ("a", 0, 1_007, 1_010),
            ("a", 1, 1_047, 1_050),
            ("a", 2, 1_089, 1_090),
        ]);
        let work = [one, two];
        let found = MatchedRanks::new(&work, &[0, 1], true);
        assert_eq!(found.shifts, [0, -1_000]);
        let last: Vec<_> = found
            .collectives
            .iter()
            .filter_map(MatchedCollective::last)
            .collect();
        assert_eq!(last, [(1, 7, 0), (1, 47, 40), (1, 89, 80)]);
        assert_eq!(found.unmatched, 0);
    }

    #[test]
    fn one_match_that_the_clock_denies_is_none() {
        let one = rank(&[("a", 0, 0, 10), ("a", 1, 40, 50), ("a", 2, 80, 90)]);
        let two = rank(&[("a", 0, 11, 20), ("a", 1, 41, 50), ("a", 2, 81, 90)]);
        let work = [one, two];
        let found = MatchedRanks::new(&work, &[0, 1], true);
        assert_eq!((found.collectives.len(), found.unmatched), (2, 2));
    }

    #[test]
    fn groups_have_the_ranks_that_the_files_name() {
        let member = |members: &[u32], start_ns| {
            let mut work = rank(&[("a", 0, start_ns, 100)]);
            work.collectives[0].members = Some(members.to_vec());
            work
        };
        let work = [
            member(&[0, 2], 1),
            member(&[1, 3], 2),
            member(&[0, 2], 3),
            member(&[1, 3], 4),
        ];
        let found = MatchedRanks::new(&work, &[0, 1, 2, 3], true);
        let last: Vec<_> = found
            .collectives
            .iter()
            .filter_map(MatchedCollective::last)
            .collect();
        assert_eq!(last, [(2, 3, 1), (3, 4, 2)]);
        // Without the file of rank 2, the collective of ranks 0 and 2 is not matched.
        let found = MatchedRanks::new(&work[..2], &[0, 1], true);
        assert!(found.collectives.is_empty());
    }
}
