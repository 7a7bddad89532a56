//! What a report is made of.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::analysis::batch_curve::{self, BatchCurve};
use crate::analysis::best_case;
use crate::analysis::case_rows::{self, CaseRow};
use crate::analysis::category::Rules;
use crate::analysis::comparison::ComparedSide;
use crate::analysis::earlier_sessions::EarlierSessions;
use powerband_core::base::humanize;
use powerband_core::domain::plan::SetupStyle;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::{Completion, Session};
use powerband_core::stats::joint::Statement;

/// Longer names of setups are cut, in characters.
const LONGEST_NAME: usize = 60;

/// A session of a report, with its rows and curves.
#[derive(Clone, Debug)]
pub struct ReportedSession<'a> {
    /// The session as it is.
    pub original: &'a Session,
    /// The same with names that fit into a table, each another one.
    pub session: Cow<'a, Session>,
    /// Its cases in numbers.
    pub rows: Vec<CaseRow>,
    /// A curve for each setup.
    pub curves: Vec<BatchCurve>,
    /// Its file, where it has one.
    pub file: Option<String>,
    /// Its plan as text, where it could be written.
    pub plan: Option<String>,
}

impl<'a> ReportedSession<'a> {
    /// A session and its file.
    pub fn new(session: &'a Session, file: Option<String>, plan: Option<String>) -> Self {
        let original = session;
        let session = tidied(session);
        let rows = case_rows::case_rows(&session);
        Self {
            curves: batch_curve::batch_curves(&rows),
            rows,
            session,
            original,
            file,
            plan,
        }
    }

    /// One of its setups, for a comparison.
    pub fn side(&self, setup: usize, point: Option<Point>) -> ComparedSide<'_> {
        ComparedSide {
            session: &self.session,
            rows: &self.rows,
            setup,
            point,
        }
    }

    /// Cases that were measured and did not end badly.
    pub fn measured(&self) -> impl Iterator<Item = &CaseRow> {
        self.rows
            .iter()
            .filter(|row| row.latency_ns.is_some() || row.throughput_per_s.is_some())
            .filter(|row| !row.outcome.is_trouble())
    }

    /// The case of a setup at a batch size, where it was measured.
    pub fn row(&self, setup: usize, point: Point) -> Option<&CaseRow> {
        self.measured()
            .find(|row| (row.setup, row.point) == (setup, point))
    }

    /// The fastest case of a single batch: least time.
    pub fn fastest(&self) -> Option<Statement<&CaseRow>> {
        best_case::fastest(&self.measured().collect::<Vec<_>>())
    }

    /// The case with the highest throughput.
    pub fn busiest(&self) -> Option<Statement<&CaseRow>> {
        best_case::busiest(&self.measured().collect::<Vec<_>>())
    }

    /// The file as commands name it.
    pub fn command_path(&self) -> String {
        self.file
            .clone()
            .unwrap_or_else(|| "SESSION.ron".to_owned())
    }

    /// The sentence that names the command with all rows.
    pub fn full_table_hint(&self) -> String {
        format!("powerband show {} has everything", self.command_path())
    }

    /// Whether all its numbers were published, not measured.
    pub(crate) fn is_published_alone(&self) -> bool {
        self.session.published.is_some() && self.rows.is_empty()
    }

    /// Warnings about the whole session, most serious first.
    pub(crate) fn session_warnings(&self) -> Vec<String> {
        let session = &self.session;
        let mut told = Vec::new();
        if session.made_up {
            told.push(
                "These timings are made up: they were not measured on any device.".to_owned(),
            );
        }
        if let Some(tool) = &session.imported {
            told.push(format!(
                "Nothing in this session was measured by Powerband: it was made of files of {}.",
                tool.name
            ));
        }
        match session.completion {
            Completion::Complete => {}
            // Published numbers come from no run of Powerband.
            _ if self.is_published_alone() => {}
            Completion::Cancelled => {
                told.push("The run was stopped before it was complete.".to_owned());
            }
            Completion::Interrupted => {
                told.push("The run is not complete.".to_owned());
            }
        }
        if let Some(profiler) = &session.profiler {
            told.push(format!(
                "The profiler {profiler} was attached, and its cost is in every number."
            ));
        }
        if !session.environment.optimised_build && session.imported.is_none() {
            told.push(
                "Powerband itself is a debug build, so times of short runs include more overhead."
                    .to_owned(),
            );
        }
        told
    }
}

/// The inputs of a report.
#[derive(Clone, Debug)]
pub struct ReportInputs<'a> {
    /// The session; of two, the baseline.
    pub first: ReportedSession<'a>,
    /// Of two sessions, the one after.
    pub second: Option<ReportedSession<'a>>,
    /// Earlier sessions, which show by how much sessions differ where nothing was changed.
    pub earlier: EarlierSessions,
    /// How kernels are sorted into categories.
    pub rules: &'a Rules,
    /// The title of the report, where one is given.
    pub title: Option<String>,
}

impl ReportInputs<'_> {
    /// The session that the report ends with.
    pub fn last(&self) -> &ReportedSession<'_> {
        self.second.as_ref().unwrap_or(&self.first)
    }

    /// All of them, in order.
    pub fn sources(&self) -> impl Iterator<Item = &ReportedSession<'_>> {
        std::iter::once(&self.first).chain(&self.second)
    }
}

/// The session with names of setups that fit into a table: on one line, not too long, each another one.
fn tidied(session: &Session) -> Cow<'_, Session> {
    let setups = 0..session.plan.setups.len();
    let labels: Vec<String> = setups.map(|setup| session.setup_label(setup)).collect();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let tidy: Vec<String> = labels
        .iter()
        .map(|label| {
            let words: Vec<&str> = label.split_whitespace().collect();
            let short = humanize::shorten(&words.join(" "), LONGEST_NAME);
            let short = if short.is_empty() {
                "no name".to_owned()
            } else {
                short
            };
            let times = seen.entry(short.clone()).or_default();
            *times += 1;
            match *times {
                1 => short,
                number => format!("{short} ({number})"),
            }
        })
        .collect();
    if tidy == labels {
        return Cow::Borrowed(session);
    }
    let mut changed = session.clone();
    changed
        .plan
        .looks
        .resize(labels.len(), SetupStyle::default());
    for (look, label) in changed.plan.looks.iter_mut().zip(tidy) {
        look.label = Some(label);
    }
    Cow::Owned(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{measure_near, session};

    #[test]
    fn names_fit_and_stay_apart() {
        let mut session = session(&["a", "b", "c"], &[1]);
        let long = format!("x\n{}", "y".repeat(500));
        session.plan.looks = vec![
            SetupStyle {
                label: Some(long.clone()),
                colour: Some(2),
            },
            SetupStyle {
                label: Some(long),
                colour: None,
            },
        ];
        measure_near(&mut session, 0, 1, 500);
        let source = ReportedSession::new(&session, None, None);
        let (first, second) = (source.session.setup_label(0), source.session.setup_label(1));
        assert_eq!(first.chars().count(), LONGEST_NAME);
        assert_eq!(second, format!("{first} (2)"));
        assert_eq!(source.session.setup_label(2), "c:cpu");
        assert_eq!(source.rows[0].setup_label, first);
        assert_eq!(source.session.plan.looks[0].colour, Some(2));
    }
}
