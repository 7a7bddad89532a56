//! One case over time: the same model in the same way at the same batch size, session by session, each
//! with its verdict against the previous one and against the first.

use super::case_pair;
use super::case_rows::CaseRow;
use super::comparison::{Pair, Side};
use super::conditions::{self, Difference};
use super::verdict::Call;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use std::sync::Arc;

/// Conditions that are never the same twice.
const OF_THE_MOMENT: [&str; 2] = ["Measured", "Load average before"];

/// Which case is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Checksum of its model.
    pub sha256: String,
    /// How its setup is spelled.
    pub setup: String,
    /// Its point of the sweep.
    pub point: Point,
    /// What its setup is called where no model file is known: what one tool measured is all spelled alike.
    label: Option<String>,
}

impl Followed {
    /// The case of a session.
    pub fn of(session: &Session, setup: usize, point: Point) -> Self {
        Self {
            sha256: session.model_of(setup).sha256.clone(),
            setup: session.setup_spec(setup),
            point,
            label: label(session, setup),
        }
    }

    /// The session with no other case than this, which is all that is needed of it.
    pub fn narrowed(&self, session: &Session) -> Session {
        let setup = self.setup_in(session);
        let mut narrowed = session.without_samples();
        narrowed.cases = session
            .cases
            .iter()
            .filter(|case| Some(case.setup) == setup && case.point == self.point)
            .cloned()
            .collect();
        // A comparison of two cases needs none of these, and they may be most of a session.
        narrowed.profiles.clear();
        narrowed.examinations.clear();
        narrowed
    }

    /// Its setup in a session that has it.
    pub(crate) fn setup_in(&self, session: &Session) -> Option<usize> {
        (0..session.plan.setups.len()).find(|&setup| {
            session.setup_spec(setup) == self.setup
                && session.model_of(setup).sha256 == self.sha256
                && label(session, setup) == self.label
        })
    }
}

fn label(session: &Session, setup: usize) -> Option<String> {
    let is_unknown = session.model_of(setup).sha256.is_empty();
    is_unknown.then(|| session.setup_label(setup))
}

/// The case in one session.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryPoint {
    /// Place of the session among those that were given.
    pub source: usize,
    /// What the session is called.
    pub name: String,
    /// When its run began, RFC 3339 in UTC.
    pub created: String,
    /// The case in numbers.
    pub row: CaseRow,
    /// Against the session before; nothing for the first.
    pub since_last: Option<Pair>,
    /// Against the first session; nothing for the first and the second.
    pub since_first: Option<Pair>,
    /// Conditions that differ from the session before.
    pub changed: Vec<Difference>,
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
pub fn case_history(followed: &Followed, sessions: &[(&Session, &[CaseRow])]) -> History {
    let mut measured: Vec<Measured<'_>> = sessions
        .iter()
        .enumerate()
        .filter_map(|(source, &(session, rows))| {
            let setup = followed.setup_in(session)?;
            let side = Side {
                session,
                rows,
                setup,
                point: Some(followed.point),
            };
            let row = side.measured(side.point).first().copied()?;
            Some(Measured { source, side, row })
        })
        .collect();
    measured.sort_by(|a, b| a.side.session.created.cmp(&b.side.session.created));
    let mut points: Vec<HistoryPoint> = Vec::with_capacity(measured.len());
    for (place, this) in measured.iter().enumerate() {
        let last = place.checked_sub(1).and_then(|last| measured.get(last));
        let first = measured.first().filter(|_| place > 1);
        points.push(HistoryPoint {
            source: this.source,
            name: this.side.session.name.clone(),
            created: this.side.session.created.clone(),
            row: this.row.clone(),
            since_last: last.map(|last| this.against(last)),
            since_first: first.map(|first| this.against(first)),
            changed: last.map_or_else(Vec::new, |last| changes(&last.side, &this.side)),
        });
    }
    History {
        trend: trend(&points),
        points: Arc::new(points),
    }
}

/// The case in one of the sessions.
struct Measured<'a> {
    /// Place of the session among those that were given.
    source: usize,
    side: Side<'a>,
    row: &'a CaseRow,
}

impl Measured<'_> {
    fn against(&self, before: &Self) -> Pair {
        case_pair::compare_cases(&before.side, &self.side, before.row, self.row)
    }
}

fn changes(before: &Side<'_>, after: &Side<'_>) -> Vec<Difference> {
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
    let calls = |wanted: Call| {
        let such = |point: &&HistoryPoint| {
            point
                .since_last
                .as_ref()
                .is_some_and(|pair| pair.verdict.call == wanted)
        };
        points.iter().filter(such).count()
    };
    let pair = last.since_first.as_ref().or(last.since_last.as_ref());
    let overall = pair.map_or_else(String::new, |pair| {
        let ratio = pair
            .ratio
            .map_or_else(String::new, |ratio| format!(" ({})", ratio.words()));
        match pair.verdict.call {
            Call::Inconclusive => {
                format!("the last against the first is inconclusive{ratio}")
            }
            call => format!(
                "the last is {call}{} the first{ratio}",
                if call == Call::Same { " as" } else { " than" }
            ),
        }
    });
    let steps: Vec<String> = [Call::Faster, Call::Slower, Call::Same, Call::Inconclusive]
        .into_iter()
        .filter(|&call| calls(call) > 0)
        .map(|call| format!("{} {call}", calls(call)))
        .collect();
    let steps = if points.len() > 2 {
        format!("; step by step {}", steps.join(", "))
    } else {
        String::new()
    };
    format!("{} sessions: {overall}{steps}.", points.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::testing::{measure_near, session};
    use powerband_core::domain::plan::Look;

    fn on(day: u32, micros: u64) -> Session {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1, 4]);
        session.created = format!("2030-01-{day:02}T00:00:00Z");
        session.name = format!("day {day}");
        measure_near(&mut session, 1, 4, micros);
        session
    }

    fn follow(sessions: &[Session]) -> History {
        let rows: Vec<Vec<CaseRow>> = sessions.iter().map(case_rows::case_rows).collect();
        let pairs: Vec<(&Session, &[CaseRow])> = sessions
            .iter()
            .zip(rows.iter().map(Vec::as_slice))
            .collect();
        case_history(&Followed::of(&on(1, 1), 1, Point::of_batch(4)), &pairs)
    }

    #[test]
    fn a_case_is_followed_through_time() {
        let mut strange = on(4, 9_000);
        strange.model.sha256 = "ff".to_owned();
        let history = follow(&[on(3, 800), strange, on(1, 1_000), on(2, 1_000)]);
        let names: Vec<&str> = history.points.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["day 1", "day 2", "day 3"]);
        let call = |pair: &Option<Pair>| pair.as_ref().map(|pair| pair.verdict.call);
        assert_eq!(call(&history.points[0].since_last), None);
        assert_eq!(call(&history.points[1].since_last), Some(Call::Same));
        assert_eq!(call(&history.points[2].since_last), Some(Call::Faster));
        assert_eq!(call(&history.points[2].since_first), Some(Call::Faster));
        assert_eq!(history.points[2].source, 0);
        assert!(
            history.trend.contains("faster than the first (1.25 ×)"),
            "{}",
            history.trend
        );
    }

    #[test]
    fn what_has_no_model_file_is_followed_by_its_name() {
        let imported = |day: u32, label: &str| {
            let mut session = on(day, 1_000);
            session.model.sha256 = String::new();
            let look = Look {
                label: Some(label.to_owned()),
                colour: None,
            };
            session.plan.looks = vec![Look::default(), look];
            session
        };
        let sessions = [imported(1, "BM_one"), imported(2, "BM_two")];
        let followed = Followed::of(&imported(3, "BM_one"), 1, Point::of_batch(4));
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
