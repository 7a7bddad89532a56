//! The card of what an engine made of a network: whose it is, and what it says.

use std::sync::Arc;

use crate::sessions::{self, OpenSessions};
use powerband_core::domain::examination::Examination;
use powerband_findings::analysis::examined;
use powerband_findings::analysis::graph::{self, ExaminedGraph};
use powerband_findings::chart::spec::SeriesId;

/// The card as it is drawn.
#[derive(Clone, Debug, Default)]
pub struct GraphCard {
    /// Setups that were looked at.
    pub choices: Vec<GraphChoice>,
    /// The one that is shown; nothing where none was looked at.
    pub shown: Option<GraphChoice>,
    /// What was found.
    pub graph: Arc<ExaminedGraph>,
    /// By what the examination is known again, so that the same one is not looked through twice.
    mark: Option<Mark>,
}

/// A setup whose graph was examined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphChoice {
    /// Which.
    pub id: SeriesId,
    /// Its name.
    pub name: String,
    /// Its palette index.
    pub colour: usize,
}

/// Whose examination, how many nodes ran and how many stand for others, and the time of all.
type Mark = (SeriesId, usize, usize, u64);

/// Draws the card of the setup that was chosen, or of the first that was looked at. `before` is the card
/// as it was.
pub fn draw(open: &OpenSessions, chosen: Option<SeriesId>, before: &GraphCard) -> GraphCard {
    let looked_at = |open: &sessions::OpenSession| -> Vec<SeriesId> {
        let setups = open.session.examinations.keys();
        setups
            .map(|setup| sessions::series(open.id, *setup))
            .collect()
    };
    let choices: Vec<GraphChoice> = open
        .iter()
        .flat_map(looked_at)
        .map(|id| {
            let (session, setup) = sessions::of_series(id);
            GraphChoice {
                id,
                name: open.series_name(session, setup),
                colour: open.colour(session, setup),
            }
        })
        .collect();
    let is_chosen = |choice: &&GraphChoice| Some(choice.id) == chosen;
    let shown = choices.iter().find(is_chosen);
    let shown = shown.or_else(|| choices.first()).cloned();
    let found = shown.as_ref().and_then(|shown| {
        let (session, setup) = sessions::of_series(shown.id);
        let session = &open.get(session)?.session;
        let timed = examined::timed_examination(session, setup)?;
        Some((mark(shown.id, &timed.examination), session, setup))
    });
    let (mark, graph) = match found {
        None => (None, Arc::default()),
        Some((mark, ..)) if before.mark == Some(mark) => (Some(mark), Arc::clone(&before.graph)),
        Some((mark, session, setup)) => {
            let graph = graph::graph_of_setup(session, setup).unwrap_or_default();
            (Some(mark), Arc::new(graph))
        }
    };
    GraphCard {
        choices,
        shown,
        graph,
        mark,
    }
}

impl GraphCard {
    /// The setup after the one that is shown.
    pub fn next(&self) -> Option<SeriesId> {
        let shown = self.shown.as_ref()?;
        let place = self.choices.iter().position(|choice| choice == shown)?;
        let next = self.choices.iter().cycle().nth(place + 1)?;
        Some(next.id)
    }
}

fn mark(id: SeriesId, examination: &Examination) -> Mark {
    (
        id,
        examination.nodes.len(),
        examination.fusions.became.len(),
        examination.total_ns(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::{OpenSession, SessionId};
    use powerband_core::domain::examination::NodeRun;

    fn open() -> OpenSessions {
        let mut session =
            powerband_findings::analysis::testing::session(&["ort:cpu", "ort:cuda:0"], &[1]);
        for setup in [0, 1] {
            let node = NodeRun {
                name: "n".to_owned(),
                op: "Conv".to_owned(),
                provider: "CPU".to_owned(),
                time_ns: 10,
            };
            let examination = Examination {
                nodes: vec![node; setup + 1],
                ..Examination::default()
            };
            session.examinations.insert(setup, examination);
        }
        let mut open = OpenSessions::default();
        open.put(OpenSession::from_session(SessionId(1), session));
        open
    }

    #[test]
    fn the_same_setup_is_not_looked_through_twice() {
        let open = open();
        let first = draw(&open, None, &GraphCard::default());
        assert_eq!(first.choices.len(), 2);
        assert_eq!(first.graph.in_short, "0 nodes became 1, all on CPU");
        let again = draw(&open, None, &first);
        assert!(Arc::ptr_eq(&first.graph, &again.graph));
        let second = draw(&open, first.next(), &again);
        assert_eq!(second.graph.in_short, "0 nodes became 2, all on CPU");
        assert_eq!(second.next(), Some(first.choices[0].id), "round it goes");
        let gone = draw(&OpenSessions::default(), first.next(), &second);
        assert!(gone.shown.is_none() && gone.graph.in_short.is_empty());
    }
}
