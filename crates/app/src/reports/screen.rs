//! What the screen that is shown answers, for the head of its report.

use super::ReportSubject;
use crate::App;
use crate::compare::{SideChoice, whole_name};
use crate::screen::Screen;
use powerband_core::base::humanize;
use powerband_findings::report::answer::ScreenAnswer;
use powerband_findings::report::document::ReportTable;

/// Most rows of its table.
const MOST_ROWS: usize = 40;

impl App {
    /// The session that a report of a screen of *Compare* is about; nothing on other screens.
    pub fn compared_subject(&self, screen: Screen) -> Option<ReportSubject> {
        let door = &self.compare;
        match screen {
            Screen::Compare => door.sides.subject(&self.shared.sessions),
            Screen::Journey => {
                let looking = door.journey.looking?;
                let open = self.shared.sessions.get(looking.session)?;
                let is_measured = !open.session.is_published_only();
                is_measured.then(|| ReportSubject::of_session(looking.session))
            }
            Screen::History => door
                .history
                .following
                .map(|following| ReportSubject::of_session(following.session)),
            Screen::Fleet => {
                let found = door.fleet.found.result.as_ref()?;
                let mut machines = door.fleet.shown()?.machines.iter();
                let pin = machines.find_map(|machine| found.pin(machine))?;
                Some(ReportSubject::of_session(pin.session))
            }
            _ => None,
        }
    }

    /// What a screen that is shown answers, where the report is about what it shows.
    pub(super) fn screen_answer(&self, subject: ReportSubject) -> Option<ScreenAnswer> {
        let shown = [Some(self.shared.screen), self.shared.right_screen()];
        let mut shown = shown.into_iter().flatten();
        let screen = shown.find(|screen| self.compared_subject(*screen) == Some(subject));
        self.answer_of(screen?)
    }

    fn answer_of(&self, screen: Screen) -> Option<ScreenAnswer> {
        let door = &self.compare;
        let sessions = &self.shared.sessions;
        let case = |name: String| vec![("Case".to_owned(), name)];
        match screen {
            Screen::Compare => {
                door.sides.found.result.as_ref()?;
                let drawn = &door.sides.drawn;
                let sides = [("Before", door.sides.before), ("After", door.sides.after)];
                let sides = sides
                    .into_iter()
                    .filter_map(|(title, side)| Some((title.to_owned(), self.side_text(side?)?)));
                Some(ScreenAnswer {
                    sides: sides.collect(),
                    headline: drawn.headline.clone(),
                    charts: vec![
                        ("latency of both sides", drawn.latency.clone()),
                        ("speed-up", drawn.speed_ups.clone()),
                    ],
                    table: self.arranged_table("pairs", "pair"),
                })
            }
            Screen::Journey => {
                door.journey.found.result.as_ref()?;
                let drawn = &door.journey.drawn;
                Some(ScreenAnswer {
                    sides: Vec::new(),
                    headline: drawn.headline.clone(),
                    charts: vec![
                        ("vs. previous", drawn.over_before.clone()),
                        ("vs. baseline", drawn.over_start.clone()),
                    ],
                    table: self.arranged_table("steps", "step"),
                })
            }
            Screen::History => {
                let found = door.history.found.result.as_ref()?;
                let following = found.following;
                let name = sessions.series_name(following.session, following.setup);
                Some(ScreenAnswer {
                    sides: case(format!("{name}, {}", following.point)),
                    headline: found.headline.clone(),
                    charts: vec![("median latency by session", found.chart.clone())],
                    table: self.arranged_table("history", "session"),
                })
            }
            Screen::Fleet => {
                let found = door.fleet.found.result.as_ref()?;
                let shown = door.fleet.shown()?;
                let drawn = &door.fleet.drawn;
                Some(ScreenAnswer {
                    sides: case(shown.name(found.fleet.has_several_models())),
                    headline: drawn.headline.clone(),
                    charts: vec![("median by machine", drawn.chart.clone())],
                    table: self.arranged_table("fleet", "machine"),
                })
            }
            _ => None,
        }
    }

    /// A side with its point.
    fn side_text(&self, side: SideChoice) -> Option<String> {
        let sessions = &self.shared.sessions;
        let open = sessions.get(side.session)?;
        let name = if side.whole {
            whole_name(sessions, open)
        } else {
            format!(
                "{} of {}",
                open.session.setup_label(side.setup),
                sessions.name(open)
            )
        };
        let point = side
            .point
            .map_or_else(String::new, |point| format!(", {point}"));
        let measured = humanize::moment(&open.session.created);
        Some(format!("{name}{point}, measured {measured}"))
    }

    fn arranged_table(&self, id: &str, row: &str) -> Option<ReportTable> {
        let view = self.shared.tables.view(id)?;
        Some(view.to_document(MOST_ROWS, row, "the screen has all"))
    }
}
