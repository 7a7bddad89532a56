//! Earlier sessions of a case, measured in the same way on the same machine: by how much sessions differ here where
//! nothing was changed. A comparison gets them as a value; nothing is read here.

use std::hash::BuildHasher as _;

use rustc_hash::FxBuildHasher;

use super::followed::FollowedCase;
use super::side;
use powerband_core::base::clock;
use powerband_core::domain::case::{Case, CaseKey};
use powerband_core::domain::session::Session;
use powerband_core::stats::ratio;
use powerband_core::stats::session_spread::{FEWEST_SESSIONS, SessionSpread};

/// A session is spread where its rounds come from so many starts of the worker,
const FEWEST_STARTS: usize = 3;
/// and reach over so many nanoseconds from the first to the end of the last.
const LEAST_SPAN_NS: u64 = 15_000_000_000;

/// Sessions that a comparison may take its spread from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EarlierSessions {
    means: Vec<SessionMean>,
}

/// One case of one session: its mean, and what tells which other ones it may stand beside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SessionMean {
    /// Hash of the case, its machine, and how it was measured: library, load and profiler.
    like: u64,
    /// Hash of the case, its machine, its load and its profiler: what sessions of one series in time share. The library may
    /// change among them.
    pub(super) series: u64,
    /// Hash of the machine.
    machine: u64,
    /// Hash of what tells the run from others: when it began, and its seed.
    pub(super) run: u64,
    /// When the run began, in seconds since 1970.
    began_s: Option<i64>,
    /// Mean of the logarithms of its starts' medians.
    pub(super) ln_mean: f64,
    /// Whether its rounds are spread over starts and seconds, so that they show how its next ones would differ.
    pub(super) is_spread: bool,
}

impl SessionMean {
    /// A case of a session; nothing where it has no times.
    pub(super) fn of_case(session: &Session, key: CaseKey) -> Option<Self> {
        let CaseKey { setup, point } = key;
        let case = session.case(key)?;
        let cpu = &session.environment_of(setup).cpu;
        let gpus = session.environment_of(setup).gpus.iter();
        let gpus: Vec<&str> = gpus.map(|gpu| gpu.name.as_str()).collect();
        let remote = session.machine_of(setup);
        let host = remote.map_or("", |machine| machine.host.as_str());
        let report = session.reports.get(setup).and_then(Option::as_ref);
        let library = report.and_then(|report| report.library.as_deref());
        let load = session.plan.load.to_string();
        let machine = FxBuildHasher.hash_one((host, &cpu.model, cpu.threads, gpus));
        let followed = FollowedCase::new(session, setup, point);
        let series = FxBuildHasher.hash_one((followed, load, session.profiler.as_deref(), machine));
        Some(Self {
            like: FxBuildHasher.hash_one((series, library)),
            series,
            machine,
            run: FxBuildHasher.hash_one((&session.created, session.plan.seed)),
            began_s: clock::unix_seconds(&session.created),
            ln_mean: ratio::ln_mean(&side::case_visits(session, case))?,
            is_spread: is_spread(session, case),
        })
    }

    /// Whether the other one is the same case, measured in the same way on the same machine, in another run.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.like == other.like && self.run != other.run
    }
}

fn is_spread(session: &Session, case: &Case) -> bool {
    let starts = session.starts(case).last().map_or(0, |last| last + 1);
    let ends = case.rounds.iter().map(|one| one.started_ns + one.spent_ns);
    let begins = case.rounds.iter().map(|one| one.started_ns);
    let span = ends.max().zip(begins.min());
    starts as usize >= FEWEST_STARTS
        && span.is_some_and(|(end, begin)| end.saturating_sub(begin) >= LEAST_SPAN_NS)
}

impl EarlierSessions {
    /// Those of sessions, in any order; each run counts once.
    pub fn from_sessions<'a>(sessions: impl IntoIterator<Item = &'a Session>) -> Self {
        let mut earlier = Self::default();
        sessions.into_iter().for_each(|one| earlier.add(one));
        earlier
    }

    /// Takes one more session in.
    pub fn add(&mut self, session: &Session) {
        let is_usable = |case: &&Case| !case.outcome.is_trouble();
        for case in session.cases.iter().filter(is_usable) {
            if let Some(mean) = SessionMean::of_case(session, case.key()) {
                self.add_mean(mean);
            }
        }
    }

    /// Takes one case of a session in, once.
    pub(super) fn add_mean(&mut self, mean: SessionMean) {
        let is_known = |one: &SessionMean| one.run == mean.run && one.like == mean.like;
        if !self.means.iter().any(is_known) {
            self.means.push(mean);
        }
    }

    /// How much two sessions that were not interleaved differ where nothing was changed.
    pub(super) fn spread_between(
        &self,
        before: Option<&SessionMean>,
        after: Option<&SessionMean>,
    ) -> SessionSpread {
        let Some((before, after)) = before.zip(after) else {
            return SessionSpread::Narrow;
        };
        let known = [before, after].map(|side| self.known_spread(side, before, after));
        let known = match known {
            [Some(one), Some(other)] => Some(mean_spread(one, other)),
            // A case that is new on a machine differs from session to session as the one that it is compared with.
            [one, other] => one.or(other).filter(|_| before.machine == after.machine),
        };
        known.unwrap_or(if before.is_spread && after.is_spread {
            SessionSpread::Assumed
        } else {
            SessionSpread::Narrow
        })
    }

    /// The spread of earlier sessions of a side's case, where there are enough, and they reach over as much time as lies
    /// between the two sides: what changes from day to day does not show within an hour.
    fn known_spread(
        &self,
        side: &SessionMean,
        before: &SessionMean,
        after: &SessionMean,
    ) -> Option<SessionSpread> {
        let last = before.began_s?.max(after.began_s?);
        let gap = last - before.began_s?.min(after.began_s?);
        let is_spread = before.is_spread && after.is_spread;
        let earlier = self.means.iter().filter(|one| {
            one.is_like(side)
                && ![before.run, after.run].contains(&one.run)
                && one.is_spread == is_spread
        });
        let earlier: Vec<(i64, f64)> = earlier
            .filter_map(|one| Some((one.began_s.filter(|began| *began < last)?, one.ln_mean)))
            .collect();
        let times = || earlier.iter().map(|(began, _)| *began);
        let span = times().max()? - times().min()?;
        let means: Vec<f64> = earlier.iter().map(|(_, mean)| *mean).collect();
        SessionSpread::of_means(&means).filter(|_| span >= gap)
    }
}

/// What one more session of a case is compared with: the earlier ones in its own way, where there are enough, else all,
/// as the logarithms of their means; and how much they differ.
pub(super) fn spread_of_earlier(
    earlier: &[&SessionMean],
    this: &SessionMean,
) -> (Vec<f64>, SessionSpread) {
    let means = |of: &dyn Fn(&SessionMean) -> bool| -> Vec<f64> {
        let such = earlier.iter().filter(|one| of(one));
        such.map(|one| one.ln_mean).collect()
    };
    let alike = means(&|one| one.is_spread == this.is_spread);
    if alike.len() >= FEWEST_SESSIONS
        && let Some(known) = SessionSpread::of_means(&alike)
    {
        return (alike, known);
    }
    let all_spread = this.is_spread && earlier.iter().all(|one| one.is_spread);
    let spread = if all_spread {
        SessionSpread::Assumed
    } else {
        SessionSpread::Narrow
    };
    (means(&|_| true), spread)
}

/// The spread of two sides that each have earlier sessions: on average, as certain as that of the fewer ones.
fn mean_spread(one: SessionSpread, other: SessionSpread) -> SessionSpread {
    let count = |spread| match spread {
        SessionSpread::Known { sessions, .. } => sessions,
        SessionSpread::Assumed | SessionSpread::Exceeded | SessionSpread::Narrow => 0,
    };
    let square = one.deviation().powi(2) + other.deviation().powi(2);
    SessionSpread::Known {
        deviation: (square / 2.0).sqrt(),
        sessions: count(one).min(count(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::comparison::{self, ComparedSide};
    use crate::analysis::testing::{measure, session, spread_over_starts};
    use crate::analysis::verdict::{Call, Verdict};
    use powerband_core::domain::point::Point;

    /// A session of a day, with five rounds near a time in microseconds.
    fn narrow(day: u32, micros: f64) -> Session {
        let mut one = session(&["ort:cpu"], &[1]);
        one.created = format!("2030-01-{day:02}T00:00:00Z");
        one.plan.seed = u64::from(day);
        let rounds: Vec<Vec<u64>> = (0..5)
            .map(|round| vec![(micros * 1e3) as u64 + round * 100; 9])
            .collect();
        let rounds: Vec<&[u64]> = rounds.iter().map(Vec::as_slice).collect();
        measure(&mut one, 0, 1, &rounds);
        one
    }

    fn spread(day: u32, micros: f64) -> Session {
        let mut one = narrow(day, micros);
        spread_over_starts(&mut one);
        one
    }

    fn verdict(before: &Session, after: &Session, earlier: &EarlierSessions) -> Verdict {
        let rows = [before, after].map(case_rows::case_rows);
        let side = |session, rows| ComparedSide {
            session,
            rows,
            setup: 0,
            point: None,
        };
        let sides = (side(before, &rows[0]), side(after, &rows[1]));
        let mut found = comparison::compare_setups_with_earlier(&sides.0, &sides.1, earlier);
        let pair = found.pairs.remove(0);
        assert!(!pair.is_interleaved);
        pair.verdict
    }

    fn none() -> EarlierSessions {
        EarlierSessions::default()
    }

    /// Seven sessions of one distribution with a spread of 12 %.
    fn restless(make: fn(u32, f64) -> Session) -> Vec<Session> {
        let draws = [0.0, 0.9, -1.1, 0.4, -0.6, 1.2, -0.9];
        let days = (1..).zip(draws);
        days.map(|(day, draw): (u32, f64)| make(day, 1_000.0 * (0.12 * draw).exp()))
            .collect()
    }

    #[test]
    fn two_draws_of_one_distribution_are_no_change() {
        for make in [narrow, spread] {
            let sessions = restless(make);
            let (last, others) = sessions.split_last().unwrap();
            let before = others.last().unwrap();
            // Welch's interval of the rounds alone is far from the floor: 28 % with a hundredth of a per cent.
            let found = verdict(before, last, &EarlierSessions::from_sessions(others));
            assert_eq!(found.call, Call::Inconclusive, "{found:?}");
            let reason = found.reason.unwrap();
            assert!(
                reason.starts_with("not interleaved; 5 sessions here differ by "),
                "{reason}"
            );
        }
    }

    #[test]
    fn five_earlier_sessions_show_how_much_sessions_differ() {
        let calm: Vec<Session> = [1_000.0, 1_001.0, 999.0, 1_000.5, 999.5]
            .into_iter()
            .zip(1..)
            .map(|(micros, day)| spread(day, micros))
            .collect();
        let (before, after) = (spread(6, 1_000.0), spread(7, 960.0));
        let all = EarlierSessions::from_sessions(&calm);
        assert_eq!(verdict(&before, &after, &all).call, Call::Faster);
        assert_eq!(verdict(&after, &before, &all).call, Call::Slower);
        let same = verdict(&before, &spread(7, 1_000.5), &all);
        assert_eq!(same.call, Call::Same, "{same:?}");
        // Four are too few, and a copy is no further one.
        let four = EarlierSessions::from_sessions(calm[1..].iter().chain([&calm[1]]));
        let found = verdict(&before, &after, &four);
        assert_eq!(found.call, Call::Inconclusive);
        assert!(found.reason.unwrap().contains("5.00 % is assumed"));
        // Five days say nothing of how a year changes a machine.
        let mut later = after.clone();
        later.created = "2031-01-07T00:00:00Z".to_owned();
        assert_eq!(verdict(&before, &later, &all).call, Call::Inconclusive);
        // Those of another machine, and those that came from one stretch, say nothing of these.
        let mut elsewhere = calm.clone();
        for one in &mut elsewhere {
            one.environment.cpu.model = "another".to_owned();
        }
        let of_elsewhere = EarlierSessions::from_sessions(&elsewhere);
        assert_eq!(
            verdict(&before, &after, &of_elsewhere).call,
            Call::Inconclusive
        );
        let found = verdict(&narrow(6, 1_000.0), &narrow(7, 960.0), &all);
        assert!(found.reason.unwrap().contains("three starts"));
    }

    #[test]
    fn without_earlier_sessions_spread_ones_may_differ_by_a_fifth() {
        let found = verdict(&spread(1, 1_000.0), &spread(2, 850.0), &none());
        assert_eq!(found.call, Call::Inconclusive, "{found:?}");
        assert!(found.reason.unwrap().contains("5.00 % is assumed"));
        let found = verdict(&spread(1, 1_000.0), &spread(2, 750.0), &none());
        assert_eq!(found.call, Call::Faster, "{found:?}");
    }

    #[test]
    fn sessions_of_one_stretch_have_no_verdict_below_1_7() {
        for (before, after) in [
            (narrow(1, 1_000.0), narrow(2, 600.0)),
            (spread(1, 1_000.0), narrow(2, 600.0)),
        ] {
            let found = verdict(&before, &after, &none());
            assert_eq!(found.call, Call::Inconclusive, "{found:?}");
            assert!(found.reason.unwrap().contains("below 1.70 ×"));
        }
        let found = verdict(&narrow(1, 1_000.0), &narrow(2, 570.0), &none());
        assert_eq!(found.call, Call::Faster, "{found:?}");
        let found = verdict(&narrow(1, 570.0), &narrow(2, 1_000.0), &none());
        assert_eq!(found.call, Call::Slower, "{found:?}");
    }

    #[test]
    fn three_starts_over_fifteen_seconds_are_spread() {
        let is_spread = |change: fn(&mut Session)| {
            let mut one = spread(1, 1_000.0);
            change(&mut one);
            let key = CaseKey {
                setup: 0,
                point: Point::of_batch(1),
            };
            SessionMean::of_case(&one, key).unwrap().is_spread
        };
        assert!(is_spread(|_| ()));
        assert!(!is_spread(|one| one.cases[0].rounds.truncate(4)));
        assert!(!is_spread(|one| {
            for round in &mut one.cases[0].rounds {
                round.start = Some(round.round / 3);
            }
        }));
    }
}
