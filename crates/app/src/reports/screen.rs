//! What the screen that is shown answers, for the head of its report.

use super::ReportSubject;
use crate::App;
use crate::compare::{SideChoice, whole_name};
use crate::kernels::{self, ProfileRef};
use crate::screen::Screen;
use crate::{figures, why};
use powerband_core::base::humanize;
use powerband_findings::analysis::breakdown::BreakdownLevel;
use powerband_findings::analysis::headline::Headline;
use powerband_findings::analysis::profiled;
use powerband_findings::chart::figure::Drawing;
use powerband_findings::chart::spec::ChartSpec;
use powerband_findings::report::answer::ScreenAnswer;
use powerband_findings::report::document::ReportTable;

/// Most rows of its table.
const MOST_ROWS: usize = 40;

impl App {
    /// The session that a report of a screen of *Compare* or *Profile* is about; nothing on other screens.
    pub fn reported_subject(&self, screen: Screen) -> Option<ReportSubject> {
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
            Screen::Kernels => {
                let looking = self.profile.kernels.looking?;
                Some(ReportSubject::of_session(looking.session))
            }
            Screen::Timeline => {
                let (_, open, _) = self.profile.timeline.current()?;
                Some(ReportSubject::of_session(open.owner?.0))
            }
            Screen::Network | Screen::Why => {
                let looking = self.profile.why.looking?;
                Some(ReportSubject::of_session(looking.session))
            }
            _ => None,
        }
    }

    /// What the screens that are shown answer, where the report is about what they show.
    pub(crate) fn screen_answers(&self, subject: ReportSubject) -> Vec<ScreenAnswer> {
        let shown = self.shared.shown_screens();
        let of_subject = shown.filter(|screen| self.reported_subject(*screen) == Some(subject));
        of_subject
            .filter_map(|screen| self.answer_of(screen))
            .collect()
    }

    fn answer_of(&self, screen: Screen) -> Option<ScreenAnswer> {
        let door = &self.compare;
        let sessions = &self.shared.sessions;
        let case = |name: String| vec![("Case".to_owned(), name)];
        match screen {
            Screen::Compare => self.answer_of_sides(),
            Screen::Journey => {
                door.journey.found.result.as_ref()?;
                let drawn = &door.journey.drawn;
                Some(ScreenAnswer {
                    sides: Vec::new(),
                    headline: drawn.headline.clone(),
                    drawings: vec![
                        ("vs. previous", chart(&drawn.over_before)),
                        ("vs. baseline", chart(&drawn.over_start)),
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
                    drawings: vec![("median latency by session", chart(&found.chart))],
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
                    drawings: vec![("median by machine", chart(&drawn.chart))],
                    table: self.arranged_table("fleet", "machine"),
                })
            }
            Screen::Kernels => self.answer_of_kernels(),
            Screen::Timeline => {
                let (_, open, view) = self.profile.timeline.current()?;
                let timeline = figures::of_timeline(open, view);
                let headline = Headline {
                    title: timeline.title.clone(),
                    ..Headline::default()
                };
                Some(ScreenAnswer {
                    sides: Vec::new(),
                    headline,
                    drawings: vec![("timeline", Drawing::Timeline(Box::new(timeline)))],
                    table: None,
                })
            }
            Screen::Network => {
                let picture = self.profile.network.picture.result.clone()?;
                let headline = Headline {
                    title: "Network".to_owned(),
                    sentence: humanize::capitalised(&picture.sentence()),
                    ..Headline::default()
                };
                Some(ScreenAnswer {
                    sides: Vec::new(),
                    headline,
                    drawings: vec![("network", Drawing::Network(Box::new(picture)))],
                    table: None,
                })
            }
            Screen::Why => self.answer_of_why(),
            _ => None,
        }
    }

    fn answer_of_sides(&self) -> Option<ScreenAnswer> {
        let state = &self.compare.sides;
        if state.compares_profiles() {
            let found = state.profiles.result.as_ref()?;
            let sides = [("Before", found.sides[0]), ("After", found.sides[1])];
            let name = |pick| kernels::words::name(&self.shared.sessions, pick);
            return Some(ScreenAnswer {
                sides: sides
                    .map(|(title, pick)| (title.to_owned(), name(pick)))
                    .into(),
                headline: found.headline.clone(),
                drawings: Vec::new(),
                table: self.arranged_table("profile-changes", "row"),
            });
        }
        state.found.result.as_ref()?;
        let drawn = &state.drawn;
        let sides = [("Before", state.before), ("After", state.after)];
        let sides = sides
            .into_iter()
            .filter_map(|(title, side)| Some((title.to_owned(), self.side_text(side?)?)));
        Some(ScreenAnswer {
            sides: sides.collect(),
            headline: drawn.headline.clone(),
            drawings: vec![
                ("latency of both sides", chart(&drawn.latency)),
                ("speed-up", chart(&drawn.speed_ups)),
            ],
            table: self.arranged_table("pairs", "pair"),
        })
    }

    fn answer_of_kernels(&self) -> Option<ScreenAnswer> {
        let kernels = &self.profile.kernels;
        let found = kernels.found.result.as_ref()?;
        let (title, drawn, table) = match (&found.comparison, kernels.level) {
            (Some(_), _) => ("Two profiles compared", "what changed", "changes"),
            (None, BreakdownLevel::Category) => {
                ("Where the time goes", "time by category", "categories")
            }
            (None, BreakdownLevel::Operator) => {
                ("Where the time goes", "time by operator", "kernels")
            }
            (None, BreakdownLevel::Kernel) => ("Where the time goes", "time by kernel", "kernels"),
        };
        let name = |pick: Option<ProfileRef>| {
            pick.map(|pick| kernels::words::name(&self.shared.sessions, pick))
        };
        let sides = match found.wanted.before {
            Some(before) => vec![
                ("Before", name(Some(before))),
                ("After", name(kernels.looking)),
            ],
            None => vec![("Profile", name(kernels.looking))],
        };
        let sides = sides.into_iter();
        let sides = sides.filter_map(|(title, name)| Some((title.to_owned(), name?)));
        let headline = Headline {
            title: title.to_owned(),
            sentence: found.profile().map_or_else(String::new, |profile| {
                let text = profiled::profile_text(profile);
                format!("{}.", humanize::capitalised(&text))
            }),
            ..Headline::default()
        };
        Some(ScreenAnswer {
            sides: sides.collect(),
            headline,
            drawings: vec![(drawn, figures::of_kernels(kernels, found))],
            table: self.arranged_table(table, "row"),
        })
    }

    fn answer_of_why(&self) -> Option<ScreenAnswer> {
        let found = self.profile.why.found.result.as_ref()?;
        let sentences = found
            .findings_beside_answer()
            .map(|(_, finding)| finding.full_text());
        let limit = found.headline();
        let headline = Headline {
            title: "What limits it".to_owned(),
            sentence: limit.map_or_else(
                || "What limits it is not known.".to_owned(),
                |limit| format!("{} ({})", limit.details, limit.basis),
            ),
            reasons: sentences.chain(found.abstained.iter().cloned()).collect(),
            ..Headline::default()
        };
        let wall = found.wall.as_ref().ok();
        let wall = wall.map(|wall| {
            (
                "wall time in parts",
                Drawing::WallTime(Box::new(wall.clone())),
            )
        });
        let roofline = Some(&found.roofline).filter(|roofline| !roofline.dots.is_empty());
        let roofline =
            roofline.map(|roofline| ("roofline", Drawing::Roofline(Box::new(roofline.clone()))));
        Some(ScreenAnswer {
            sides: vec![(
                "Case".to_owned(),
                why::name(&self.shared.sessions, found.looking),
            )],
            headline,
            drawings: wall.into_iter().chain(roofline).collect(),
            table: self.arranged_table("limits", "node"),
        })
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

fn chart(spec: &ChartSpec) -> Drawing {
    Drawing::Chart(Box::new(spec.clone()))
}
