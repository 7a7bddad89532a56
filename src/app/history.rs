//! One case through the sessions of the library.

use std::path::PathBuf;
use std::sync::Arc;

use super::sessions::{LIVE, OpenSessions, SessionId};
use crate::analysis::history::History;
use crate::base::humanize::UNKNOWN;
use crate::chart::spec::ChartSpec;

/// The case that is followed: one of an open session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Following {
    /// Which session.
    pub session: SessionId,
    /// Which of its setups.
    pub setup: usize,
    /// Which batch size.
    pub batch: usize,
}

/// What was found.
#[derive(Debug)]
pub struct Followed {
    /// Whose case.
    pub following: Following,
    /// The case over time.
    pub history: History,
    /// The file of each point's session; nothing for one that has none.
    pub files: Vec<Option<PathBuf>>,
    /// The chart of it.
    pub chart: ChartSpec,
    /// Sessions that could not be read, a sentence each.
    pub troubles: Vec<String>,
}

/// The history screen.
#[derive(Debug, Default)]
pub struct HistoryState {
    /// The case that is followed.
    pub following: Option<Following>,
    /// What was found, once it was.
    pub result: Option<Arc<Followed>>,
    /// The case that is looked for now.
    pub busy: Option<Following>,
    /// Whether there are other sessions now than when it was looked for.
    pub is_stale: bool,
}

impl HistoryState {
    /// Keeps to a case that is there: the one chosen, or the first one of the first open session.
    pub fn settle(&mut self, open: &OpenSessions) {
        let exists = |following: &Following| {
            open.get(following.session).is_some_and(|open| {
                let plan = &open.session.plan;
                following.setup < plan.setups.len() && plan.batches.contains(&following.batch)
            })
        };
        self.following = self.following.filter(exists).or_else(|| {
            let mut saved = open.iter().filter(|open| open.id != LIVE);
            let (first, case) = saved.find_map(|open| Some((open, open.session.cases.first()?)))?;
            Some(Following {
                session: first.id,
                setup: case.setup,
                batch: case.batch,
            })
        });
        if self.result.as_ref().map(|found| found.following) != self.following {
            self.result = None;
        }
    }

    /// The case that ought to be looked for and is not yet.
    pub fn wanted(&self) -> Option<Following> {
        let following = self.following?;
        let is_missing = self.result.is_none() || self.is_stale;
        (is_missing && self.busy != Some(following)).then_some(following)
    }

    /// The table as text with tabs, which spreadsheets take.
    pub fn table_text(&self) -> Option<String> {
        let found = self.result.as_ref()?;
        let mut text = "When\tSession\tMedian ms\tSpeed-up since the last\tVerdict\n".to_owned();
        for point in &found.history.points {
            let or_unknown = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
            let times = point.row.latency_ns.as_ref();
            let last = point.since_last.as_ref();
            let cells = [
                point.created.clone(),
                point.name.clone(),
                or_unknown(times.map(|times| format!("{:.6}", times.median / 1e6))),
                or_unknown(
                    last.and_then(|pair| pair.ratio)
                        .map(|ratio| format!("{:.4}", ratio.speed_up)),
                ),
                or_unknown(last.map(|pair| pair.verdict.call.name().to_owned())),
            ];
            text.push_str(&cells.join("\t"));
            text.push('\n');
        }
        Some(text)
    }
}
