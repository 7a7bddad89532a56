//! When a command can be given, and why not: what several of them ask for.

use super::App;
use super::action::{Action, Curves, Figures, Kernels, Library, Sessions, Shell, Timeline};
use super::kernels;
use super::plan::PlanEdit;
use super::reports::Subject;
use super::screen::Screen;
use super::sessions::{LIVE, SessionId};

pub(super) const NO_SESSION: &str = "no session is open";
pub(super) const NO_SELECTION: &str = "no session is selected in the library";

/// How much farther away one step is.
pub(super) const ZOOM: f64 = 1.25;
/// The share of what is seen that one step to the side is.
pub(super) const MOVE: f64 = 0.12;
/// How far the tracks scroll in one step, in points.
pub(super) const SCROLL: f32 = 240.0;

/// On the timeline alone: letters mean something else, or nothing, everywhere else.
pub(super) fn timeline(app: &App, change: impl Fn() -> Timeline) -> Result<Action, &'static str> {
    if app.screen != Screen::Timeline {
        return Err("the timeline is not on the screen");
    }
    app.timeline.shown.ok_or("no trace is open")?;
    Ok(Action::Timeline(change()))
}

/// The timeline of the profile that the kernels screen shows.
pub fn timeline_of_profile(app: &App) -> Result<Action, &'static str> {
    let pick = app.kernels.looking.ok_or("no profile is open")?;
    let owner = Some((pick.session, pick.profile));
    let is_open = app
        .timeline
        .traces
        .iter()
        .any(|(_, open)| open.owner == owner);
    if !is_open {
        kernels::trace_path(&app.sessions, pick)?;
    }
    Ok(Action::Kernels(Kernels::Timeline))
}

pub(super) fn hit(app: &App, forward: bool) -> Result<Action, &'static str> {
    let action = timeline(app, || Timeline::NextHit(forward))?;
    app.timeline.next_hit(forward).ok_or("nothing was found")?;
    Ok(action)
}

/// The tracks of the timeline farther up or down.
pub(super) fn scroll(app: &App, by: f32) -> Result<Action, &'static str> {
    let from = app
        .timeline
        .current()
        .map_or(0.0, |(_, _, view)| view.scroll);
    timeline(app, || Timeline::Scroll((from + by).max(0.0)))
}

pub(super) fn shell(change: Shell) -> Action {
    Action::Shell(change)
}

pub(super) fn plan(edit: PlanEdit) -> Action {
    Action::Plan(edit)
}

pub(super) fn idle(app: &App) -> Result<(), &'static str> {
    if app.is_running() {
        Err("a run is going on")
    } else {
        Ok(())
    }
}

pub(super) fn running(app: &App) -> Result<(), &'static str> {
    if app.is_running() {
        Ok(())
    } else {
        Err("no run is going on")
    }
}

pub(super) fn with_last(app: &App, act: fn(SessionId) -> Action) -> Result<Action, &'static str> {
    let last = app.sessions.iter().filter(|open| open.id != LIVE).last();
    last.map(|open| act(open.id)).ok_or(NO_SESSION)
}

/// The plan of the last session that was measured here.
pub(super) fn run_again(app: &App) -> Result<Action, &'static str> {
    let measured = app.sessions.iter().filter(|open| open.id != LIVE);
    let last = measured.filter(|open| open.session.plan.can_run()).last();
    last.map(|open| Action::Sessions(Sessions::RunAgain(open.id)))
        .ok_or("no session is open that was measured here")
}

/// A report: of both sides where they are compared, else of the last session.
pub(super) fn report(app: &App) -> Result<Action, &'static str> {
    if let (Screen::Compare, Some(subject)) = (app.screen, app.compare.subject()) {
        return Ok(Action::Report(subject, None));
    }
    with_last(app, |id| Action::Report(Subject::of(id), None))
}

pub(super) fn with_selected(
    app: &App,
    act: fn(std::path::PathBuf) -> Library,
) -> Result<Action, &'static str> {
    let path = app.library.selected.clone().ok_or(NO_SELECTION)?;
    Ok(Action::Library(act(path)))
}

pub(super) fn move_limit(app: &App, by: f64) -> Result<Action, &'static str> {
    let limit = app
        .curves
        .options
        .limit_ns
        .or_else(|| app.suggested_limit_ns())
        .ok_or(NO_SESSION)?;
    Ok(Action::Curves(Curves::Limit(Some(limit * by))))
}

/// A request about the figures of a screen that has some.
pub(super) fn figure(app: &App, request: Figures) -> Result<Action, &'static str> {
    if app.has_figure {
        Ok(Action::Figures(request))
    } else {
        Err("there is no chart on this screen")
    }
}
