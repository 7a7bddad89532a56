//! One case over time: the same model in the same way at the same batch size, session by session.
//!
//! Each has its verdict against the mean of the earlier ones, and its ratio to the previous one and to the first.

use super::case_pair;
use super::case_rows::CaseRow;
use super::comparison::{CasePair, ComparedSide, Ratio};
use super::conditions::{self, Difference};
use super::earlier_sessions::{self, EarlierSessions, SessionMean};
pub use super::followed::FollowedCase;
use super::verdict::{self, Call, Verdict};
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::session::Session;
use powerband_core::stats::ratio;
use std::sync::Arc;

/// Conditions that are never the same twice.
const OF_THE_MOMENT: [&str; 2] = ["Measured", "Load average before"];

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
    /// Against the mean of the earlier sessions; nothing where none was measured in this way on this machine.
    pub vs_earlier: Option<AgainstEarlier>,
    /// Against the session before; nothing for the first.
    pub vs_previous: Option<CasePair>,
    /// Against the first session; nothing for the first and the second.
    pub vs_first: Option<CasePair>,
    /// Conditions that differ from the session before.
    pub changed: Vec<Difference>,
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
    /// The trend in a sentence.
    pub trend: String,
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
    let mut points: Vec<HistoryPoint> = Vec::with_capacity(measured.len());
    for (place, this) in measured.iter().enumerate() {
        let last = place.checked_sub(1).and_then(|last| measured.get(last));
        let first = measured.first().filter(|_| place > 1);
        points.push(HistoryPoint {
            source: this.source,
            name: this.side.session.name.clone(),
            created: this.side.session.created.clone(),
            row: this.row.clone(),
            vs_earlier: this.compare_with_earlier(&measured[..place]),
            vs_previous: last.map(|last| this.compare_with(last, &all)),
            vs_first: first.map(|first| this.compare_with(first, &all)),
            changed: last.map_or_else(Vec::new, |last| changes(&last.side, &this.side)),
        });
    }
    History {
        trend: trend(&points),
        points: Arc::new(points),
    }
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

    /// Against the mean of those before it that were measured in the same way on the same machine.
    fn compare_with_earlier(&self, before: &[Self]) -> Option<AgainstEarlier> {
        let this = self.mean.as_ref()?;
        let earlier = before.iter().filter_map(|one| one.mean.as_ref());
        let mut earlier: Vec<&SessionMean> = earlier.filter(|one| one.is_like(this)).collect();
        // A copy of a session is no further one; it stands beside it.
        earlier.dedup_by_key(|one| one.run);
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

fn trend(points: &[HistoryPoint]) -> String {
    let Some(last) = points.last().filter(|_| points.len() > 1) else {
        return match points.len() {
            0 => "No session has this case.".to_owned(),
            _ => "One session has this case; a trend needs two.".to_owned(),
        };
    };
    let calls = calls_sentence(points);
    let gap = if calls.is_empty() { "" } else { " " };
    format!(
        "{} sessions: {}.{gap}{calls}",
        points.len(),
        last_text(last)
    )
}

/// How many of several sessions got which verdict against those before them; empty for fewer than three.
pub(super) fn calls_sentence(points: &[HistoryPoint]) -> String {
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
