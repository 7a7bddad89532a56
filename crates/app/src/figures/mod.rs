//! Figures as they are shown, to be copied and saved as pictures.

pub(crate) mod action;
pub(crate) mod commands;
mod update;

pub use action::ShownFigure;

use crate::kernels::{self, BreakdownChart, KernelsResult, KernelsState};
use crate::screen::Screen;
use crate::sessions::SessionId;
use crate::timeline::{OpenTrace, TraceView};
use crate::{App, compare};
use powerband_core::domain::session::Session;
use powerband_findings::analysis::provenance;
use powerband_findings::chart::figure::{Bars, Changes, Drawing, Treemap};
use powerband_findings::chart::timeline_figure::TimelineFigure;

/// A picture for the clipboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels from left to right.
    pub width: usize,
    /// Pixels from top to bottom.
    pub height: usize,
    /// Red, green, blue and opacity of each, row by row.
    pub rgba: Vec<u8>,
}

/// Where the numbers of the figures on the screen come from; empty where the figures say it themselves.
pub fn figure_sources(app: &App) -> String {
    let of = |ids: &[Option<SessionId>]| {
        let open = ids.iter().filter_map(|id| app.shared.sessions.get((*id)?));
        let sessions: Vec<&Session> = open.map(|open| &*open.session).collect();
        provenance::provenance_text(&sessions)
    };
    match app.shared.screen {
        Screen::Curves => {
            let sessions: Vec<&Session> = app
                .shared
                .sessions
                .iter()
                .map(|open| &*open.session)
                .collect();
            provenance::provenance_text(&sessions)
        }
        Screen::Run => {
            let run = app.bench.run.as_ref().and_then(|run| run.session.as_ref());
            run.map_or_else(String::new, |session| {
                provenance::provenance_text(&[session])
            })
        }
        Screen::Compare => {
            let side = |pick: Option<compare::SideChoice>| pick.map(|pick| pick.session);
            of(&[
                side(app.compare.sides.before),
                side(app.compare.sides.after),
            ])
        }
        Screen::Kernels => {
            let side = |pick: Option<kernels::ProfileRef>| pick.map(|pick| pick.session);
            of(&[
                side(app.profile.kernels.before),
                side(app.profile.kernels.looking),
            ])
        }
        Screen::Network | Screen::Why => {
            of(&[app.profile.why.looking.map(|looking| looking.session)])
        }
        Screen::Journey => of(&[app.compare.journey.looking.map(|looking| looking.session)]),
        Screen::Fleet => {
            let found = app.compare.fleet.found.result.as_ref();
            let sessions: Vec<&Session> = found.iter().flat_map(|one| one.sessions()).collect();
            provenance::provenance_text(&sessions)
        }
        // The sessions stand along its axis.
        Screen::History => {
            let following = app.compare.history.following.as_ref();
            let open = following.and_then(|following| app.shared.sessions.get(following.session));
            open.map_or_else(String::new, |open| open.session.model.name.clone())
        }
        _ => String::new(),
    }
}

/// The visible part of a timeline, with all of its tracks.
pub fn of_timeline(open: &OpenTrace, view: &TraceView) -> TimelineFigure {
    let title = format!("Timeline of {}", open.name);
    let ready = (&*open.trace, &*open.timeline);
    let mut traced = TimelineFigure::new(
        title,
        ready,
        view.stretch,
        &view.folded,
        &view.shown_tracks(open).in_order(),
    );
    traced.lanes.clone_from(&open.lanes);
    traced.ribbon = open
        .compared
        .as_ref()
        .map(|compared| compared.ribbon().clone());
    traced
}

/// What the screen of kernels draws now.
pub fn of_kernels(state: &KernelsState, found: &KernelsResult) -> Drawing {
    let name = |profile: Option<&powerband_core::domain::profile::Profile>| {
        profile.map_or_else(String::new, |profile| profile.name.clone())
    };
    let after = name(found.profile());
    if found.comparison.is_some() {
        let place = found.wanted.before.map(|pick| pick.profile);
        let session = found.before.as_ref();
        let before = session.and_then(|session| session.profiles.get(place?));
        return Drawing::Changes(Box::new(Changes {
            title: format!("{} → {after}", name(before)),
            steps: state.drawn.changes.clone(),
        }));
    }
    let unit = state.times.unit(found.breakdown(state.level).runs);
    let title = format!("Time {unit} by {}, {after}", state.level.title());
    match state.shape {
        BreakdownChart::Bars => Drawing::Bars(Box::new(Bars {
            title,
            bars: state.drawn.bars.clone(),
        })),
        BreakdownChart::Treemap => Drawing::Treemap(Box::new(Treemap {
            title,
            regions: state.drawn.regions.clone(),
        })),
    }
}
