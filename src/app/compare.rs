//! What is compared with what.

use std::sync::Arc;

use super::sessions::{OpenSessions, SessionId};
use crate::analysis::comparison::Comparison;
use crate::base::humanize::UNKNOWN;

/// One side: a setup of an open session, at one batch size or at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Which session.
    pub session: SessionId,
    /// Which of its setups.
    pub setup: usize,
    /// Which batch size; nothing for all.
    pub batch: Option<usize>,
}

/// The comparison screen.
#[derive(Debug, Default)]
pub struct CompareState {
    /// The baseline.
    pub before: Option<Pick>,
    /// What is compared with it.
    pub after: Option<Pick>,
    /// Whether the user chose a side; until then the sides follow from what is open.
    pub is_chosen: bool,
    /// What came of it, with the sides that it is about.
    pub result: Option<(Pick, Pick, Arc<Comparison>)>,
    /// The sides that are being compared now.
    pub busy: Option<(Pick, Pick)>,
}

impl CompareState {
    /// Fills empty sides and drops sides that are no longer there. A single session is compared within
    /// itself, its first setup with its last; of two sessions, the older open one is the baseline.
    pub fn settle(&mut self, open: &OpenSessions) {
        let exists = |pick: &Pick| {
            open.get(pick.session)
                .is_some_and(|open| pick.setup < open.session.plan.setups.len())
        };
        self.before = self.before.filter(|pick| self.is_chosen && exists(pick));
        self.after = self.after.filter(|pick| self.is_chosen && exists(pick));
        self.is_chosen = self.before.is_some() || self.after.is_some();
        if self.before.is_none() {
            self.before = open
                .iter()
                .find(|o| Some(o.id) != self.after.map(|pick| pick.session))
                .or_else(|| open.iter().next())
                .map(|open| whole(open.id, 0));
        }
        if self.after.is_none() {
            let before = self.before;
            let other = open
                .iter()
                .filter(|o| Some(o.id) != before.map(|pick| pick.session))
                .last();
            self.after = match other {
                Some(other) => {
                    // The same setup in the other session, where it has one.
                    let spec = before
                        .and_then(|pick| Some((open.get(pick.session)?, pick.setup)))
                        .and_then(|(open, setup)| open.session.plan.setups.get(setup));
                    let same = other
                        .session
                        .plan
                        .setups
                        .iter()
                        .position(|setup| Some(setup) == spec);
                    Some(whole(other.id, same.unwrap_or(0)))
                }
                None => open
                    .iter()
                    .next()
                    .filter(|only| only.session.plan.setups.len() > 1)
                    .map(|only| whole(only.id, only.session.plan.setups.len() - 1)),
            };
        }
        let current = self.before.zip(self.after);
        if self
            .result
            .as_ref()
            .map(|(before, after, _)| (*before, *after))
            != current
        {
            self.result = None;
        }
    }

    /// The sides that ought to be compared and are not yet.
    pub fn wanted(&self) -> Option<(Pick, Pick)> {
        let sides = self.before.zip(self.after)?;
        (self.result.is_none() && self.busy != Some(sides)).then_some(sides)
    }
}

impl CompareState {
    /// The case-study table as text with tabs, which spreadsheets take.
    pub fn table_text(&self) -> Option<String> {
        let (_, _, comparison) = self.result.as_ref()?;
        let mut text = "Metric\tBefore\tAfter\tImprovement\n".to_owned();
        for metric in &comparison.metrics {
            let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| UNKNOWN.to_owned());
            let cells = [
                metric.title(),
                cell(&metric.before),
                cell(&metric.after),
                cell(&metric.change),
            ];
            text.push_str(&cells.join("\t"));
            text.push('\n');
        }
        Some(text)
    }
}

fn whole(session: SessionId, setup: usize) -> Pick {
    Pick {
        session,
        setup,
        batch: None,
    }
}
