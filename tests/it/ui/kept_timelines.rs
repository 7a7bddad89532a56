//! The timeline of a profile that is saved with its session, and who may watch a planned run.

use std::path::PathBuf;

use powerband_app::action::{Action, Kernels, Sessions, Timeline};
use powerband_app::plan::Draft;
use powerband_app::screen::Screen;
use powerband_core::domain::plan::Profiler;

use super::Desk;
use super::kernels::found;
use crate::support::Home;

#[test]
fn a_timeline_goes_along_when_its_session_is_saved_and_is_a_button_away() {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    let file = fixtures.join("rocprofv3/docs-kernel_trace.csv");
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.act(Action::OpenTrace(file));
    desk.until("a timeline", |app| !app.profile.timeline.traces.is_empty());
    let slices = |desk: &Desk| {
        desk.app()
            .profile
            .timeline
            .current()
            .map(|(_, open, _)| open.trace.len())
    };
    let before = slices(&desk);
    desk.act(Action::Go(Screen::Kernels));
    desk.see("Timeline");
    desk.act(Action::Kernels(Kernels::Timeline));
    assert_eq!(desk.app().shared.screen, Screen::Timeline);
    assert_eq!(
        desk.app().profile.timeline.traces.len(),
        1,
        "what is open is not read again"
    );

    let session = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("a session")
        .id;
    let kept = desk.path("kept.ron");
    desk.act(Action::Sessions(Sessions::SaveAs(
        session,
        Some(kept.clone()),
    )));
    desk.until("a saved session", |app| {
        app.shared
            .sessions
            .get(session)
            .is_some_and(|open| open.path.is_some())
    });
    assert!(desk.path("kept.1.trace.json.gz").is_file());
    let again = desk.path("again.ron");

    let mut desk = Desk::awake(Home::new(), vec![kept]);
    desk.until("a session", |app| !app.shared.sessions.is_empty());
    desk.act(Action::Go(Screen::Kernels));
    found(&mut desk);
    desk.act(Action::Kernels(Kernels::Timeline));
    desk.until("a timeline", |app| !app.profile.timeline.traces.is_empty());
    assert_eq!(slices(&desk), before);
    assert_eq!(
        desk.app().shared.sessions.len(),
        1,
        "the session is open already"
    );

    let session = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("a session")
        .id;
    desk.act(Action::Timeline(Timeline::Close(
        desk.app().profile.timeline.shown.expect("a trace"),
    )));
    desk.act(Action::Sessions(Sessions::SaveAs(
        session,
        Some(again.clone()),
    )));
    desk.hear("Saved");
    assert!(again.with_file_name("again.1.trace.json.gz").is_file());
}

#[test]
fn a_plan_says_who_watches_and_what_is_not_here() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.act(Action::Go(Screen::Plan));
    desk.app_mut().shared.machine.missing_profilers =
        vec![(Profiler::Nsys, "nsys is not here".to_owned())];
    desk.click("Profiler");
    desk.see("By nsys");
    desk.click("By nsys");
    desk.steps(2);
    assert_eq!(
        desk.app().bench.planner.draft.profile,
        None,
        "what is not here cannot be chosen"
    );
    if !desk.sees("By the engine") {
        desk.click("Profiler");
    }
    desk.click("By the engine");
    desk.steps(2);
    assert_eq!(
        desk.app().bench.planner.draft.profile,
        Some(Profiler::Engine)
    );
    let request = desk.app().bench.planner.draft.request();
    let request = request.expect("a plan that makes sense");
    assert_eq!(request.profiling, Some(Profiler::Engine));
    assert_eq!(Draft::of_request(&request).profile, Some(Profiler::Engine));
}
