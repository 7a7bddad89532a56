//! Programs that a plan would run are shown before it runs them, and asked for once.

use powerband_app::action::{Action, RunAction, Sessions};

use super::behaviour::{draft, is_saved};
use super::{Desk, PATIENCE};
use crate::support::Home;

#[test]
fn a_plan_asks_for_its_programs_before_they_run() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    let mark = desk.path("ran");
    let line = format!("sleep 0.02; touch {}", mark.display());
    desk.app_mut().bench.planner.draft = draft(&format!("command,run=\"{line}\""), "1", 1);
    desk.press("Ctrl+Enter");
    desk.see("This plan runs programs");
    desk.see(&format!("command: run={line}"));
    assert!(desk.app().bench.run.is_none());
    desk.press("Escape");
    assert!(!desk.sees("This plan runs programs"));
    desk.press("Ctrl+Enter");
    desk.click("Do not run");
    desk.hear("was not started");
    assert!(desk.app().bench.run.is_none() && !mark.exists());
    desk.press("Ctrl+Enter");
    desk.click("Run them");
    desk.step_until("the run is saved", PATIENCE, is_saved);
    assert!(mark.exists());
    // What was allowed is not asked for again, and what changed is.
    desk.act(Action::Run(RunAction::Start));
    assert!(desk.app().bench.programs.is_none() && desk.app().bench.run.is_some());
    desk.step_until("the second run is saved", PATIENCE, |desk| {
        is_saved(desk) && desk.app().shared.sessions.len() == 2
    });
    let id = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("a session")
        .id;
    desk.act(Action::Sessions(Sessions::RunAgain(id)));
    let spec = format!("command,run=\"{line} other\"");
    desk.app_mut().bench.planner.draft = draft(&spec, "1", 1);
    desk.act(Action::Run(RunAction::Start));
    desk.see(&format!("command: run={line} other"));
}
