//! The levels of a case over time: where its latency changed and stayed changed, by how much, and what else changed then.
//!
//! A series has the sessions that ran the case with the same load and profiler on the same machine; the library may
//! change, and is then among what changed.

use std::collections::BTreeMap;
use std::ops::Range;

use super::case_pair::Ratio;
use super::conditions::Difference;
use super::earlier_sessions::SessionMean;
use super::verdict::{Call, LEAST_FLOOR};
use powerband_core::base::humanize;
use powerband_core::stats::bootstrap::Interval;
use powerband_core::stats::levels::{self, FEWEST_IN_LEVEL, Step};

/// Sessions at one level, and its latency.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Their places among the points of the history.
    pub places: Vec<usize>,
    /// The same without those that are far off.
    pub usual: Vec<usize>,
    /// The geometric mean of their latencies, in nanoseconds; single ones that are off are left out.
    pub latency_ns: f64,
}

/// A change from one level to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelChange {
    /// Place of the first session of the new level among the points of the history.
    pub place: usize,
    /// Place of the last session of the level before.
    pub before: usize,
    /// Faster or slower.
    pub call: Call,
    /// Latency of the level before over that of the new one, with its 99 % interval.
    pub ratio: Ratio,
    /// Sessions at the level before and at the new one.
    pub sessions: (usize, usize),
    /// Conditions that differ between the last session of the level before and the first of the new one.
    pub differing: Vec<Difference>,
}

impl LevelChange {
    /// By how much: `0.893 × (99 % interval 0.8812 to 0.9051)`.
    pub fn ratio_text(&self) -> String {
        let interval = self.ratio.named_interval_text().unwrap_or_default();
        format!("{} ({interval})", self.ratio.speed_up_text())
    }

    /// The conditions that differ, or that none is known to.
    pub fn differing_text(&self) -> String {
        if self.differing.is_empty() {
            return "no recorded condition changed".to_owned();
        }
        let texts = self.differing.iter();
        let texts = texts.map(|one| format!("{}: {} → {}", one.what, one.before, one.after));
        texts.collect::<Vec<_>>().join("; ")
    }
}

/// The levels of all series of a history.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SeriesLevels {
    series: Vec<Vec<Level>>,
    /// For each place the place of its run; another one for a copy of a session.
    originals: Vec<usize>,
    /// Each with its series, the place of its first session, and of the last one before.
    steps: Vec<(Step, usize, usize, usize)>,
}

impl SeriesLevels {
    /// Those of sessions in the order in which they were measured; what has no mean is in no series.
    pub(super) fn from_means(means: &[Option<SessionMean>]) -> Self {
        let mut all: BTreeMap<u64, Vec<(usize, SessionMean)>> = BTreeMap::new();
        let mut found = Self::default();
        for (place, mean) in means.iter().enumerate() {
            let Some(mean) = mean else {
                found.originals.push(place);
                continue;
            };
            let series = all.entry(mean.series).or_default();
            // A copy of a session is no further one; it stands beside it.
            let original = series.iter().find(|(_, other)| other.run == mean.run);
            found
                .originals
                .push(original.map_or(place, |(place, _)| *place));
            if original.is_none() {
                series.push((place, *mean));
            }
        }
        // The order of the first sessions, not that of hashes.
        let mut all: Vec<_> = all.into_values().collect();
        all.sort_by_key(|series| series.first().map(|(place, _)| *place));
        for series in all {
            found.add_series(&series);
        }
        found.steps.sort_by_key(|(_, _, place, _)| *place);
        found
    }

    fn add_series(&mut self, series: &[(usize, SessionMean)]) {
        let values: Vec<f64> = series.iter().map(|(_, mean)| mean.ln_mean).collect();
        let steps = levels::steps(&values, LEAST_FLOOR.ln_1p());
        let number = self.series.len();
        let place = |index: usize| series[index].0;
        let level = |(range, mean): (Range<usize>, f64)| {
            let near = levels::near_places(&values[range.clone()], LEAST_FLOOR.ln_1p());
            Level {
                usual: near
                    .into_iter()
                    .map(|near| place(range.start + near))
                    .collect(),
                places: range.map(place).collect(),
                latency_ns: mean.exp(),
            }
        };
        let levels = levels::levels(&values, &steps);
        self.series.push(levels.into_iter().map(level).collect());
        let placed = steps.into_iter();
        self.steps
            .extend(placed.map(|step| (step, number, series[step.at].0, series[step.at - 1].0)));
    }

    /// The sessions at the level that a session is held against: those before it at its own level, or at the one before
    /// where its own has too few yet. Those that are far off are no part of it: they may be the beginning of the next.
    pub(super) fn stable_before(&self, place: usize) -> &[usize] {
        let Some((series, index)) = self.level_of(place) else {
            return &[];
        };
        let (series, place) = (&self.series[series], self.originals[place]);
        let own = &series[index];
        let n_before = own.places.partition_point(|other| *other < place);
        match index.checked_sub(1).filter(|_| n_before < FEWEST_IN_LEVEL) {
            Some(earlier) => &series[earlier].usual,
            None => &own.usual[..own.usual.partition_point(|other| *other < place)],
        }
    }

    /// The series and the level of a session; nothing where it is in none.
    fn level_of(&self, place: usize) -> Option<(usize, usize)> {
        let place = self.originals.get(place)?;
        let holds = |level: &Level| level.places.binary_search(place).is_ok();
        let mut series = self.series.iter().enumerate();
        series.find_map(|(number, levels)| Some((number, levels.iter().position(holds)?)))
    }

    /// The number of the series of a session; nothing where it is in none.
    pub(super) fn series_of(&self, place: usize) -> Option<usize> {
        self.level_of(place).map(|(series, _)| series)
    }

    /// The changes of a series, oldest first, with what differs between two places.
    pub(super) fn changes(
        &self,
        series: Option<usize>,
        differing: impl Fn(usize, usize) -> Vec<Difference>,
    ) -> Vec<LevelChange> {
        let n_sessions = |place: usize| {
            let level = self.level_of(place);
            level.map_or(0, |(series, level)| self.series[series][level].places.len())
        };
        let steps = self.steps.iter().filter(|(_, of, ..)| Some(*of) == series);
        let changes = steps.map(|&(step, _, place, before)| {
            let sessions = (n_sessions(before), n_sessions(place));
            LevelChange {
                place,
                before,
                call: if step.difference > 0.0 {
                    Call::Slower
                } else {
                    Call::Faster
                },
                ratio: Ratio {
                    speed_up: (-step.difference).exp(),
                    ci95: Some(Interval {
                        low: (-step.difference - step.half_width).exp(),
                        high: (-step.difference + step.half_width).exp(),
                    }),
                    rounds: sessions.0.min(sessions.1) as u32,
                    is_apart: true,
                },
                sessions,
                differing: differing(before, place),
            }
        });
        changes.collect()
    }

    /// The levels of a series that has more than one; a single level says nothing that its points do not.
    pub(super) fn into_levels(mut self, series: Option<usize>) -> Vec<Level> {
        let levels = series.and_then(|series| self.series.get_mut(series));
        let levels = levels.map(std::mem::take).unwrap_or_default();
        if levels.len() > 1 { levels } else { Vec::new() }
    }
}

/// The changes in a sentence; empty where there are none.
pub(super) fn changes_sentence(changes: &[LevelChange], when: impl Fn(usize) -> String) -> String {
    let Some(last) = changes.last() else {
        return String::new();
    };
    let times = match changes.len() {
        1 => "once".to_owned(),
        more => format!("{} times", humanize::count(more as u64)),
    };
    let lasting = if changes.len() > 1 { ", last" } else { "" };
    format!(
        "The level changed {times}{lasting} on {}: {}, {}.",
        when(last.place),
        last.ratio_text(),
        last.call
    )
}
