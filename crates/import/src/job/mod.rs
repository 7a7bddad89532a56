//! Files of several ranks of one job as one: a track group for each rank, on one clock, and what the ranks waited for.

mod collectives;
pub(crate) mod files;
mod matching;
mod times;

use std::collections::BTreeSet;

use crate::Imported;
use crate::records::module_network::module_network;
use collectives::RankWork;
use matching::MatchedRanks;
use powerband_core::base::humanize;
use powerband_core::domain::profile::Tool;
use powerband_core::domain::ranks::{JobRank, name_tracks_by_rank};
use powerband_core::domain::trace::Trace;

/// The fact by which a file names its machine.
pub(crate) const HOST_FACT: &str = "host";
/// The fact by which a file names its rank.
pub(crate) const RANK_FACT: &str = "rank";
/// Ranks that a note names.
const MOST_NAMED: usize = 12;

/// Makes one of what the files of several ranks hold. That of one rank stays what it is.
pub(crate) fn merge(mut parts: Vec<(JobRank, Imported)>) -> Imported {
    if parts.len() < 2 {
        return parts.pop().map(|(_, only)| only).unwrap_or_default();
    }
    let ranks: Vec<JobRank> = parts.iter().map(|(rank, _)| *rank).collect();
    set_one_base(&mut parts);
    let work: Vec<RankWork> = parts
        .iter()
        .map(|(_, part)| RankWork::read(&part.trace))
        .collect();
    let hosts: Vec<Option<String>> = parts.iter().map(|(_, part)| host(part)).collect();
    let different: BTreeSet<&Option<String>> = hosts.iter().collect();
    let have_one_clock = different.len() == 1 && hosts.iter().all(Option::is_some);
    let numbers: Vec<u32> = ranks.iter().map(|rank| rank.rank).collect();
    let matched = MatchedRanks::new(&work, &numbers, have_one_clock);
    let mut job = Imported {
        job: Some(times::job_times(&ranks, &hosts, &work, &matched)),
        ..Imported::default()
    };
    job.notes.extend(missing_ranks(&ranks));
    job.notes
        .extend(set_clocks(&matched.shifts, have_one_clock));
    if job
        .job
        .as_ref()
        .is_some_and(|times| times.collectives.is_empty())
    {
        job.note("No collective could be matched between the ranks, so it is not known which rank the others wait for");
    }
    take_network(&mut parts);
    let shifts = matched.shifts.clone();
    let mut n_devices = 0;
    for (number, ((rank, mut part), shift)) in (1..).zip(parts.into_iter().zip(shifts)) {
        part.trace.shift(shift);
        part.trace.set_links_apart(number);
        name_tracks_by_rank(&mut part.trace, rank.rank);
        n_devices += number_devices(&mut part.trace, n_devices);
        take(&mut job, part, rank);
    }
    job
}

fn host(part: &Imported) -> Option<String> {
    let mut facts = part.facts.iter();
    facts
        .find(|(name, _)| name == HOST_FACT)
        .map(|(_, host)| host.clone())
}

/// Has all traces count from the same moment, where files count from several.
fn set_one_base(parts: &mut [(JobRank, Imported)]) {
    let bases: Vec<i64> = parts.iter().map(|(_, part)| part.clock_base_ns).collect();
    let first = bases.iter().min().copied().unwrap_or_default();
    for ((_, part), base) in parts.iter_mut().zip(bases) {
        let later = base.saturating_sub(first);
        if later > 0 {
            part.trace.shift(later);
        }
        part.clock_base_ns = first;
    }
}

/// That files of some ranks are not there.
fn missing_ranks(ranks: &[JobRank]) -> Option<String> {
    let n_ranks = ranks.iter().find_map(|rank| rank.n_ranks)?;
    let known: BTreeSet<u32> = ranks.iter().map(|rank| rank.rank).collect();
    let missing = (0..n_ranks).filter(|rank| !known.contains(rank));
    let n_missing = missing.clone().count();
    let named: Vec<String> = missing
        .take(MOST_NAMED)
        .map(|rank| rank.to_string())
        .collect();
    let more = n_missing.saturating_sub(named.len());
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    (n_missing > 0).then(|| {
        format!(
            "Of {} the files of rank {}{more} are missing: the others may have waited for them",
            humanize::pluralised(n_ranks.into(), "rank"),
            named.join(", ")
        )
    })
}

/// That clocks were set.
fn set_clocks(shifts: &[i64], have_one_clock: bool) -> Option<String> {
    let (first, last) = (shifts.iter().min()?, shifts.iter().max()?);
    let apart = last.abs_diff(*first);
    let why = if have_one_clock {
        "although the files name one machine"
    } else {
        "which are of several machines, or of machines that the files do not name"
    };
    (apart > 0).then(|| {
        format!(
            "The clocks of the ranks, {why}, differ by up to {}: they are set so that collectives end together, and which rank begins last is only as certain as that",
            humanize::duration_ns(apart as f64)
        )
    })
}

/// Only the network of the first rank is drawn.
fn take_network(parts: &mut [(JobRank, Imported)]) {
    let Some((rank, part)) = parts.first_mut() else {
        return;
    };
    if part.network.is_none() && part.format == "pytorch" {
        let (network, note) = module_network(&part.trace);
        part.network = network;
        part.notes.extend(note);
    }
    if let Some(network) = &mut part.network {
        network
            .notes
            .push(format!("Drawn is the network of rank {}", rank.rank));
    }
}

/// Gives devices numbers that no other rank has; returns how many there are.
fn number_devices(trace: &mut Trace, from: u32) -> u32 {
    let devices: BTreeSet<u32> = trace
        .tracks
        .iter()
        .filter_map(|track| track.device)
        .collect();
    let number = |device: u32| from + devices.range(..device).count() as u32;
    for track in &mut trace.tracks {
        track.device = track.device.map(number);
    }
    // Memory of hosts has no track that would tell ranks apart.
    trace
        .memory
        .retain(|event| event.device.is_some_and(|device| devices.contains(&device)));
    for event in &mut trace.memory {
        event.device = event.device.map(number);
    }
    devices.len() as u32
}

/// Takes one rank in.
fn take(job: &mut Imported, part: Imported, rank: JobRank) {
    let named = |text: &str| format!("rank {} · {text}", rank.rank);
    if job.format.is_empty() {
        job.format = part.format;
        job.tool = Tool::default();
    }
    if job.tool.name.is_empty() {
        job.tool = part.tool;
    }
    drop(job.trace.append(part.trace));
    for mut total in part.totals {
        total.place = named(&total.place);
        job.totals.push(total);
    }
    job.counters.extend(part.counters);
    for mut memory in part.memory {
        memory.device = named(&memory.device);
        job.memory.push(memory);
    }
    if job.telemetry.tracks.is_empty() {
        job.telemetry = part.telemetry;
    }
    job.reported.extend(part.reported);
    job.layers.extend(part.layers);
    job.network = job.network.take().or(part.network);
    // A step of the job is one of every rank.
    job.runs = job.runs.max(part.runs);
    for (name, value) in part.facts.into_iter().filter(|(name, _)| name != RANK_FACT) {
        job.fact(&name, value);
    }
    for note in part.notes {
        let is_known = job.notes.contains(&note);
        if !is_known {
            job.note(named(&note));
        }
    }
    job.is_cut_off |= part.is_cut_off;
}

#[cfg(test)]
mod tests;
