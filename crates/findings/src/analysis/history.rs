//! One case over time: the same model in the same way at the same batch size, session by session.
//!
//! Each has its verdict against the mean of the earlier ones at its level (`history_levels`), and its ratio to the
//! previous one and to the first.

use super::case_pair;
use super::case_rows::CaseRow;
use super::comparison::{CasePair, ComparedSide, Ratio};
use super::conditions::{self, Difference};
use super::earlier_sessions::{self, EarlierSessions, SessionMean};
pub use super::followed::FollowedCase;
use super::history_levels::{self, Level, LevelChange, SeriesLevels};
use super::verdict::{self, Call, Verdict};
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::session::Session;
use powerband_core::stats::ratio;
use std::sync::Arc;

/// Conditions that are never the same twice.
const OF_THE_MOMENT: [&str; 2] = ["Measured", "Load average at the start"];

/// The case in one session.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryPoint {
    /// Place of the session among those that were given.
    pub source: usize,
    /// What the session is called.
    pub name: String,
    /// When its run began, RFC 3339 in UTC.
    pub created: String,
    pub row: CaseRow,
    /// Against the mean of the earlier sessions at its level, or at the one before while its own has too few; nothing
    /// where none was measured in this way on this machine.
    pub vs_earlier: Option<AgainstEarlier>,
    /// Against the session before; nothing for the first.
    pub vs_previous: Option<CasePair>,
    /// Against the first session; nothing for the first and the second.
    pub vs_first: Option<CasePair>,
    /// Conditions that differ from the session before.
    pub changed: Vec<Difference>,
    /// What the user wrote of the session.
    pub notes: String,
    /// The commit of the user's project, where the session has it.
    pub commit: Option<String>,
}

/// A session against the mean of earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub struct AgainstEarlier {
    /// Over how many.
    pub sessions: usize,
    /// Their mean over this one: above 1 means that this one is faster.
    pub ratio: Ratio,
    pub verdict: Verdict,
}

/// A case over time, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Where it was measured.
    pub points: Arc<Vec<HistoryPoint>>,
    /// Where it changed and stayed changed, oldest first, in the series of the newest session: a change of one machine is none
    /// of another.
    pub changes: Vec<LevelChange>,
    /// The levels between these changes.
    pub levels: Vec<Level>,
    /// The trend in a sentence.
    pub trend: String,
}

impl History {
    /// The verdict on one of the sessions that were given, against its level or the one before; the outer one is nothing where
    /// that session has no such case.
    pub fn call_of(&self, source: usize) -> Option<Option<Call>> {
        let point = self.points.iter().find(|point| point.source == source)?;
        let against = point.vs_earlier.as_ref();
        Some(against.map(|against| against.verdict.call))
    }
}

/// Follows a case through sessions in any order; those that do not have it are passed over.
pub fn case_history(followed: &FollowedCase, sessions: &[(&Session, &[CaseRow])]) -> History {
    let mut measured: Vec<HistoryEntry<'_>> = sessions
        .iter()
        .enumerate()
        .filter_map(|(source, &(session, rows))| {
            let setup = followed.setup_in(session)?;
            let point = followed.point;
            let side = ComparedSide {
                session,
                rows,
                setup,
                point: Some(point),
            };
            let row = side.measured(side.point).first().copied()?;
            let mean = SessionMean::of_case(session, CaseKey { setup, point });
            Some(HistoryEntry {
                source,
                side,
                row,
                mean,
            })
        })
        .collect();
    measured.sort_by(|a, b| a.side.session.created.cmp(&b.side.session.created));
    let mut all = EarlierSessions::default();
    for mean in measured.iter().filter_map(|one| one.mean) {
        all.add_mean(mean);
    }
    let means: Vec<Option<SessionMean>> = measured.iter().map(|one| one.mean).collect();
    let levels = SeriesLevels::from_means(&means);
    let mut points: Vec<HistoryPoint> = Vec::with_capacity(measured.len());
    for (place, this) in measured.iter().enumerate() {
        let last = place.checked_sub(1).and_then(|last| measured.get(last));
        let first = measured.first().filter(|_| place > 1);
        points.push(HistoryPoint {
            source: this.source,
            name: this.side.session.name.clone(),
            created: this.side.session.created.clone(),
            row: this.row.clone(),
            vs_earlier: this.compare_with_earlier(&means, levels.stable_before(place)),
            vs_previous: last.map(|last| this.compare_with(last, &all)),
            vs_first: first.map(|first| this.compare_with(first, &all)),
            changed: last.map_or_else(Vec::new, |last| changes(&last.side, &this.side)),
            notes: this.side.session.notes.clone(),
            commit: this
                .side
                .session
                .environment
                .short_project_commit()
                .map(ToOwned::to_owned),
        });
    }
    let differing =
        |before: usize, after: usize| changes(&measured[before].side, &measured[after].side);
    let newest = points.len().checked_sub(1);
    let series = newest.and_then(|newest| levels.series_of(newest));
    let mut history = History {
        points: Arc::new(points),
        changes: levels.changes(series, differing),
        levels: levels.into_levels(series),
        trend: String::new(),
    };
    history.trend = trend(&history);
    history
}

/// The case in one of the sessions.
struct HistoryEntry<'a> {
    /// Place of the session among those that were given.
    source: usize,
    side: ComparedSide<'a>,
    row: &'a CaseRow,
    /// Its mean; nothing where its times are zero.
    mean: Option<SessionMean>,
}

impl HistoryEntry<'_> {
    fn compare_with(&self, before: &Self, all: &EarlierSessions) -> CasePair {
        case_pair::compare_cases(&before.side, &self.side, before.row, self.row, all)
    }

    /// Against the mean of sessions at a level.
    fn compare_with_earlier(
        &self,
        means: &[Option<SessionMean>],
        level: &[usize],
    ) -> Option<AgainstEarlier> {
        let this = self.mean.as_ref()?;
        let earlier = level.iter().filter_map(|&place| means[place].as_ref());
        let earlier: Vec<&SessionMean> = earlier.collect();
        let (means, spread) = earlier_sessions::spread_of_earlier(&earlier, this);
        let visits = self.side.visits(self.row.point);
        let estimate = ratio::against_sessions(&means, &visits, spread)?;
        Some(AgainstEarlier {
            sessions: means.len(),
            ratio: Ratio::from(&estimate),
            verdict: verdict::verdict_of_estimate(&estimate),
        })
    }
}

fn changes(before: &ComparedSide<'_>, after: &ComparedSide<'_>) -> Vec<Difference> {
    conditions::differences((before.session, before.setup), (after.session, after.setup))
        .into_iter()
        // The time always differs.
        .filter(|difference| difference.differs() && !OF_THE_MOMENT.contains(&difference.what))
        .collect()
}

fn trend(history: &History) -> String {
    let points = &history.points;
    let Some(last) = points.last().filter(|_| points.len() > 1) else {
        return match points.len() {
            0 => "No session has this case.".to_owned(),
            _ => "One session has this case; a trend needs two.".to_owned(),
        };
    };
    let of_last = format!("{} sessions: {}.", points.len(), last_text(last));
    [of_last, summary_sentences(history)]
        .join(" ")
        .trim_end()
        .to_owned()
}

/// How often the level changed and when last, and how many sessions got which verdict.
pub(super) fn summary_sentences(history: &History) -> String {
    let when = |place: usize| humanize::moment(&history.points[place].created);
    let changed = history_levels::changes_sentence(&history.changes, when);
    let sentences = [changed, calls_sentence(&history.points)].join(" ");
    sentences.trim().to_owned()
}

/// How many of several sessions got which verdict against those before them; empty for fewer than three.
fn calls_sentence(points: &[HistoryPoint]) -> String {
    let calls = |wanted: Call| {
        let found = points.iter().filter_map(|one| one.vs_earlier.as_ref());
        found.filter(|one| one.verdict.call == wanted).count()
    };
    let steps: Vec<String> = [Call::Faster, Call::Slower, Call::Same, Call::Inconclusive]
        .into_iter()
        .filter(|&call| calls(call) > 0)
        .map(|call| format!("{} {call}", calls(call)))
        .collect();
    if points.len() < 3 || steps.is_empty() {
        return String::new();
    }
    format!("Each against those before it: {}.", steps.join(", "))
}

/// The last session against the earlier ones, as far as these carry it.
fn last_text(last: &HistoryPoint) -> String {
    let Some(found) = &last.vs_earlier else {
        return "none before the last was measured in the same way on the same machine".to_owned();
    };
    let earlier = humanize::pluralised(found.sessions as u64, "session");
    let ratio = found.ratio.speed_up_text();
    match found.verdict.call {
        Call::Inconclusive => {
            let reason = found.verdict.reason.as_deref().unwrap_or_default();
            format!(
                "whether the last differs from the mean of {earlier} before it is inconclusive ({ratio}; {reason})"
            )
        }
        Call::Same => format!("the last is the same as the mean of {earlier} before it ({ratio})"),
        call => format!("the last is {call} than the mean of {earlier} before it ({ratio})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::testing::{measure, session, spread_over_starts};
    use powerband_core::domain::plan::SetupStyle;
    use powerband_core::domain::point::Point;

    fn on(day: u32, micros: u64) -> Session {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1, 4]);
        session.created = format!("2030-01-{day:02}T00:00:00Z");
        session.name = format!("day {day}");
        let round = |number: u64| vec![micros * 1_000 + number; 9];
        let rounds: Vec<Vec<u64>> = (0..5).map(round).collect();
        let rounds: Vec<&[u64]> = rounds.iter().map(Vec::as_slice).collect();
        measure(&mut session, 1, 4, &rounds);
        spread_over_starts(&mut session);
        session
    }

    fn follow(sessions: &[Session]) -> History {
        let rows: Vec<Vec<CaseRow>> = sessions.iter().map(case_rows::case_rows).collect();
        let pairs: Vec<(&Session, &[CaseRow])> = sessions
            .iter()
            .zip(rows.iter().map(Vec::as_slice))
            .collect();
        case_history(&FollowedCase::new(&on(1, 1), 1, Point::of_batch(4)), &pairs)
    }

    fn call(point: &HistoryPoint) -> Option<Call> {
        let found = point.vs_earlier.as_ref();
        found.map(|found| found.verdict.call)
    }

    #[test]
    fn a_case_is_followed_through_time() {
        let mut strange = on(4, 9_000);
        strange.model.sha256 = "ff".to_owned();
        let history = follow(&[on(3, 700), strange, on(1, 1_000), on(2, 1_000)]);
        let names: Vec<&str> = history.points.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["day 1", "day 2", "day 3"]);
        let calls: Vec<Option<Call>> = history.points.iter().map(call).collect();
        // Two sessions may differ by a fifth where nothing is known of how they differ.
        let open = Some(Call::Inconclusive);
        assert_eq!(calls, [None, open, Some(Call::Faster)]);
        let last = &history.points[2];
        assert_eq!(last.source, 0);
        let first = last.vs_first.as_ref().and_then(|pair| pair.ratio);
        assert!(first.is_some_and(|ratio| (ratio.speed_up / (1.0 / 0.7) - 1.0).abs() < 1e-3));
        assert!(
            history
                .trend
                .contains("the last is faster than the mean of 2 sessions before it (1.43 ×)"),
            "{}",
            history.trend
        );
    }

    #[test]
    fn a_new_session_is_held_against_the_mean_of_the_earlier_ones() {
        let days = [1_000, 1_130, 890, 1_060, 940];
        let earlier: Vec<Session> = (1..).zip(days).map(|(day, us)| on(day, us)).collect();
        let with = |micros: u64| {
            let mut sessions = earlier.clone();
            sessions.push(on(6, micros));
            follow(&sessions)
        };
        // A fifth more than the one before, and no more than five sessions differ by.
        let history = with(1_130);
        let last = history.points.last().unwrap();
        assert_eq!(call(last), Some(Call::Inconclusive));
        let words = "mean of 5 sessions before it is inconclusive (0.885 ×; not interleaved; 5 sessions here differ by 9.91 %; it may be anything from 0.5496 × to 1.426 ×)";
        assert!(history.trend.contains(words), "{}", history.trend);
        let sum: f64 = days.iter().map(|us| (*us as f64).ln()).sum();
        let mean = (sum / 5.0).exp();
        let found = last.vs_earlier.as_ref().unwrap();
        let expected = mean / 1_130.0;
        assert!(
            (found.ratio.speed_up / expected - 1.0).abs() < 1e-5,
            "{found:?}"
        );
        assert_eq!(call(with(1_900).points.last().unwrap()), Some(Call::Slower));
        // Another machine's sessions are no earlier ones of this.
        let mut elsewhere = earlier.clone();
        for one in &mut elsewhere {
            one.environment.cpu.model = "another".to_owned();
        }
        elsewhere.push(on(6, 1_900));
        let history = follow(&elsewhere);
        assert_eq!(call(history.points.last().unwrap()), None);
        assert!(history.trend.contains("same way on the same machine"));
    }

    #[test]
    fn a_level_that_changed_is_found_and_sessions_are_held_against_their_own() {
        let micros = [
            1_000, 1_010, 990, 1_005, 995, 1_002, 1_204, 1_190, 1_210, 1_199, 1_202, 1_006,
        ];
        let days = (1..).zip(micros);
        let mut sessions: Vec<Session> = days.map(|(day, us)| on(day, us)).collect();
        for session in &mut sessions[6..] {
            session.environment.os = "the next one".to_owned();
        }
        let history = follow(&sessions[..11]);
        let [change] = history.changes.as_slice() else {
            panic!("{:?}", history.changes)
        };
        assert_eq!((change.before, change.place), (5, 6));
        assert_eq!((change.call, change.sessions), (Call::Slower, (6, 5)));
        let interval = change.ratio.ci95.unwrap();
        assert!(
            interval.low < 1.0 / 1.2 && 1.0 / 1.2 < interval.high,
            "{interval:?}"
        );
        assert!(interval.high < 0.87, "{interval:?}");
        let differing: Vec<&str> = change.differing.iter().map(|one| one.what).collect();
        assert_eq!(differing, ["System"]);
        assert!(change.differing_text().contains("→ the next one"));
        let levels: Vec<usize> = history.levels.iter().map(|one| one.places.len()).collect();
        assert_eq!(levels, [6, 5]);
        assert!((history.levels[1].latency_ns / 1.2e6 - 1.0).abs() < 0.01);
        let words = "The level changed once on 2030-01-07";
        assert!(history.trend.contains(words), "{}", history.trend);
        // The first three of a level are held against the one before, the others against their own.
        let against = |place: usize| history.points[place].vs_earlier.as_ref().unwrap();
        let found: Vec<(usize, Call)> = (6..11)
            .map(|place| (against(place).sessions, against(place).verdict.call))
            .collect();
        let (slower, open) = (Call::Slower, Call::Inconclusive);
        let expected = [(6, slower), (6, slower), (6, slower), (3, open), (4, open)];
        assert_eq!(found, expected);
        assert_eq!(history.call_of(10), Some(Some(open)));
        assert_eq!(history.call_of(99), None);
        // One session that is off is no level.
        let history = follow(&sessions);
        assert_eq!(history.changes.len(), 1);
        // Another machine is another series.
        for session in &mut sessions[6..] {
            session.environment.cpu.model = "another".to_owned();
        }
        assert!(follow(&sessions).changes.is_empty());
        // What changed on one machine is not said of a session of another.
        let mut elsewhere = on(20, 1_000);
        elsewhere.environment.cpu.model = "a third".to_owned();
        for session in &mut sessions {
            session.environment.cpu.model = "the first".to_owned();
        }
        sessions.push(elsewhere);
        let history = follow(&sessions);
        assert!(history.changes.is_empty() && history.levels.is_empty());
        assert!(!history.trend.contains("level"), "{}", history.trend);
    }

    #[test]
    fn what_has_no_model_file_is_followed_by_its_name() {
        let imported = |day: u32, label: &str| {
            let mut session = on(day, 1_000);
            session.model.sha256 = String::new();
            let look = SetupStyle {
                label: Some(label.to_owned()),
                colour: None,
            };
            session.plan.looks = vec![SetupStyle::default(), look];
            session
        };
        let sessions = [imported(1, "BM_one"), imported(2, "BM_two")];
        let followed = FollowedCase::new(&imported(3, "BM_one"), 1, Point::of_batch(4));
        assert_eq!(followed.setup_in(&sessions[0]), Some(1));
        assert_eq!(followed.setup_in(&sessions[1]), None);
    }

    #[test]
    fn too_little_for_a_trend_is_said() {
        assert!(follow(&[]).trend.contains("No session"));
        assert!(follow(&[on(1, 5)]).trend.contains("needs two"));
        assert!(follow(&[session(&["tract:cpu"], &[4])]).points.is_empty());
    }
}
