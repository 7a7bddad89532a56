//! Processes of one job: each has a number, its rank, and what the job did with its time is known from all of them.

use serde::{Deserialize, Serialize};

use super::trace::{Trace, Track};

/// What groups of tracks begin with where a trace is of several ranks.
const GROUP: &str = "rank ";
/// Between the rank and what the file of the rank calls the group.
const BETWEEN: &str = " · ";

/// Which process of a job something is of.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct JobRank {
    pub rank: u32,
    /// How many processes the job has, where that is known.
    pub n_ranks: Option<u32>,
}

/// Says of all tracks which rank they are of.
pub fn name_tracks_by_rank(trace: &mut Trace, rank: u32) {
    for track in &mut trace.tracks {
        track.group = format!("{GROUP}{rank}{BETWEEN}{}", track.group);
    }
}

/// The rank that a track is of, in a trace of several.
pub fn rank_of_track(track: &Track) -> Option<u32> {
    let (rank, _) = track.group.strip_prefix(GROUP)?.split_once(BETWEEN)?;
    rank.parse().ok()
}

/// What several ranks of one job did with their time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobTimes {
    /// How many ranks the job has, where the files say so; files of some may be missing.
    #[serde(default)]
    pub n_ranks: Option<u32>,
    /// Those whose files were read, by their number.
    pub ranks: Vec<RankTimes>,
    /// Collectives that were found on all ranks that take part, those first that ranks waited longest in.
    #[serde(default)]
    pub collectives: Vec<CollectiveTimes>,
    /// Calls of collectives that could not be matched with those of other ranks.
    #[serde(default)]
    pub unmatched: u64,
}

/// One rank of a job. Times are those of all steps together, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankTimes {
    pub rank: u32,
    /// The machine, where the file names it.
    #[serde(default)]
    pub host: Option<String>,
    /// Steps in which a collective was matched.
    pub steps: u64,
    /// Median length of a step; nothing where nothing divides the trace.
    #[serde(default)]
    pub step_ns: Option<u64>,
    /// At least one collective ran.
    pub collective_ns: u64,
    /// Time in collectives during which no compute kernel or operator ran.
    pub exposed_ns: u64,
    /// In one collective or several, before the last rank had begun it.
    pub waited_ns: u64,
    /// What the others waited for this rank: from the moment when the last but one had begun.
    pub kept_waiting_ns: u64,
    /// Matched collectives that it began last, of those that it took part in.
    pub last: u64,
    pub matched: u64,
    /// Steps in which no other rank kept the others waiting longer.
    pub steps_last: u64,
}

/// One collective, which recurs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CollectiveTimes {
    /// What it is called, with its size where that is known.
    pub name: String,
    /// Ranks that take part.
    pub n_ranks: u32,
    /// How often.
    pub calls: u64,
    /// Median time from the first rank that began it to the last one.
    pub skew_ns: u64,
    /// Median time from the last rank's beginning to the end on all: what the exchange itself took.
    pub exchange_ns: u64,
    /// What all ranks together waited in it for the last one; they may have waited in others at the same time.
    pub waited_ns: u64,
    /// The rank that was last most often, and how often.
    pub often_last: (u32, u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_track_knows_its_rank() {
        let mut trace = Trace::default();
        let track = trace.track(Track {
            group: "GPU 0".to_owned(),
            ..Track::default()
        });
        assert_eq!(rank_of_track(&trace.tracks[track as usize]), None);
        name_tracks_by_rank(&mut trace, 13);
        assert_eq!(trace.tracks[0].group, "rank 13 · GPU 0");
        assert_eq!(rank_of_track(&trace.tracks[0]), Some(13));
    }
}
