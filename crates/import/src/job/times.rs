//! What the ranks of a job did with their time, from their collectives.

use std::collections::BTreeMap;

use super::collectives::RankWork;
use super::matching::{MatchedCollective, MatchedRanks, median};
use crate::records::device_time::union;
use powerband_core::domain::ranks::{CollectiveTimes, JobRank, JobTimes, RankTimes};

/// Collectives that are listed.
const MOST_COLLECTIVES: usize = 50;

/// Adds up what ranks did. `hosts` are their machines, where they are known.
pub(super) fn job_times(
    ranks: &[JobRank],
    hosts: &[Option<String>],
    work: &[RankWork],
    matched: &MatchedRanks<'_>,
) -> JobTimes {
    let mut times: Vec<RankTimes> = ranks
        .iter()
        .zip(hosts)
        .zip(work)
        .map(|((rank, host), work)| RankTimes {
            rank: rank.rank,
            host: host.clone(),
            step_ns: median_length(&work.steps_ns),
            collective_ns: work.collective_ns,
            exposed_ns: work.exposed_ns,
            ..RankTimes::default()
        })
        .collect();
    let mut waits: Vec<Spans> = vec![Spans::new(); times.len()];
    let mut kept_waiting: Vec<Spans> = vec![Spans::new(); times.len()];
    for collective in &matched.collectives {
        let Some((last, last_start, before)) = collective.last() else {
            continue;
        };
        for (rank, start, _) in &collective.calls {
            times[*rank].matched += 1;
            waits[*rank].push((*start, last_start));
        }
        times[last].last += 1;
        kept_waiting[last].push((before, last_start));
    }
    for ((times, waits), kept_waiting) in times.iter_mut().zip(waits).zip(kept_waiting) {
        times.waited_ns = covered_ns(waits);
        times.kept_waiting_ns = covered_ns(kept_waiting);
    }
    count_steps(&mut times, &matched.collectives);
    JobTimes {
        n_ranks: ranks.iter().find_map(|rank| rank.n_ranks),
        ranks: times,
        collectives: collective_times(ranks, &matched.collectives),
        unmatched: matched.unmatched + work.iter().map(|rank| rank.n_others).sum::<u64>(),
    }
}

fn median_length(lengths: &[u64]) -> Option<u64> {
    let lengths = lengths.iter().map(|length| *length as i64).collect();
    median(lengths).map(|length| length as u64)
}

/// From when to when.
type Spans = Vec<(i64, i64)>;

/// How long any of some spans lasted: a rank may wait in several collectives at once.
fn covered_ns(spans: Spans) -> u64 {
    union(spans)
        .iter()
        .map(|(from, to)| to.abs_diff(*from))
        .sum()
}

/// Counts steps, and for each rank those in which it kept the others waiting longest.
fn count_steps(times: &mut [RankTimes], collectives: &[MatchedCollective<'_>]) {
    let mut by_step: BTreeMap<&(String, u32), Vec<Option<Spans>>> = BTreeMap::new();
    for collective in collectives {
        let (Some(step), Some((last, start, before))) = (collective.step, collective.last()) else {
            continue;
        };
        let waits = by_step
            .entry(step)
            .or_insert_with(|| vec![None; times.len()]);
        for (rank, ..) in &collective.calls {
            waits[*rank].get_or_insert_default();
        }
        waits[last].get_or_insert_default().push((before, start));
    }
    for waits in by_step.into_values() {
        let waits: Vec<Option<u64>> = waits
            .into_iter()
            .map(|waits| waits.map(covered_ns))
            .collect();
        for (rank, waited) in times.iter_mut().zip(&waits) {
            rank.steps += u64::from(waited.is_some());
        }
        let longest = waits.iter().max().copied().flatten();
        let mut longest_ranks = waits
            .iter()
            .enumerate()
            .filter(|(_, waited)| **waited == longest);
        // Where two ranks are equal, neither was the last one.
        if let (Some((rank, _)), None, Some(1..)) =
            (longest_ranks.next(), longest_ranks.next(), longest)
        {
            times[rank].steps_last += 1;
        }
    }
}

/// Collectives by their name, those first that ranks waited longest in.
fn collective_times(
    ranks: &[JobRank],
    collectives: &[MatchedCollective<'_>],
) -> Vec<CollectiveTimes> {
    let mut by_name: BTreeMap<(&str, usize), Vec<&MatchedCollective<'_>>> = BTreeMap::new();
    for collective in collectives {
        let key = (collective.name, collective.calls.len());
        by_name.entry(key).or_default().push(collective);
    }
    let mut times: Vec<CollectiveTimes> = by_name
        .into_iter()
        .map(|((name, n_ranks), calls)| {
            let lasts = || calls.iter().filter_map(|call| Some((*call, call.last()?)));
            let middle = |lengths: Vec<i64>| median(lengths).unwrap_or_default().max(0) as u64;
            let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
            for (_, (last, ..)) in lasts() {
                *counts.entry(last).or_default() += 1;
            }
            let often = counts
                .iter()
                .max_by_key(|(rank, count)| (**count, std::cmp::Reverse(**rank)));
            let waited = lasts().flat_map(|(call, (_, last_start, _))| {
                call.calls
                    .iter()
                    .map(move |(_, start, _)| last_start.abs_diff(*start))
            });
            CollectiveTimes {
                name: name.to_owned(),
                n_ranks: n_ranks as u32,
                calls: calls.len() as u64,
                skew_ns: middle(
                    lasts()
                        .map(|(call, (_, last, _))| last - call.first_start_ns())
                        .collect(),
                ),
                exchange_ns: middle(
                    lasts()
                        .map(|(call, (_, last, _))| call.last_end_ns() - last)
                        .collect(),
                ),
                waited_ns: waited.sum(),
                often_last: often.map_or((0, 0), |(rank, count)| (ranks[*rank].rank, *count)),
            }
        })
        .collect();
    times.sort_by_key(|one| std::cmp::Reverse(one.waited_ns));
    times.truncate(MOST_COLLECTIVES);
    times
}
