//! Plans that wait for the run in progress.

use powerband_app::action::{Action, RunAction};
use powerband_app::run::Stage;
use powerband_app::screen::Screen;

use super::Desk;
use super::behaviour::{draft, is_saved, long_run};
use crate::support::Home;

fn named(desk: &mut Desk, name: &str) {
    desk.app_mut().bench.planner.draft = draft("fake,sleep=yes,fixed=2000", "1", 2);
    name.clone_into(&mut desk.app_mut().bench.planner.draft.name);
    desk.steps(2);
}

fn title(desk: &Desk) -> String {
    let run = desk.app().bench.run.as_ref();
    run.map_or_else(String::new, |run| run.title.clone())
}

#[test]
fn the_run_stands_beside_the_plan_and_the_next_plan_waits_for_it() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    named(&mut desk, "First");
    desk.app_mut().bench.planner.draft.rounds = "6".to_owned();
    desk.act(Action::Run(RunAction::Start));
    // It waits until all is queued.
    desk.act(Action::Run(RunAction::Pause));
    desk.act(Action::Go(Screen::Plan));
    desk.see("Show the run");
    named(&mut desk, "Second");
    desk.click("Queue");
    desk.hear("Second starts after the run in progress");
    named(&mut desk, "Third");
    desk.click("Queue");
    desk.click("Take Third out of the queue");
    // What is changed later is another plan.
    named(&mut desk, "Fourth");
    desk.act(Action::Run(RunAction::Resume));
    desk.step_until("the second has run", super::PATIENCE, |desk| {
        title(desk) == "Second" && is_saved(desk)
    });
    assert_eq!(desk.app().shared.screen, Screen::Plan, "nothing jumps");
    assert_eq!(desk.session_files().len(), 2);
    assert!(desk.app().bench.queue.is_empty());
}

#[test]
fn a_run_that_is_stopped_leaves_the_queue_to_the_user() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    long_run(&mut desk);
    desk.act(Action::Go(Screen::Plan));
    named(&mut desk, "Next");
    desk.click("Queue");
    desk.click("Stop");
    desk.step_until("the run is saved", super::PATIENCE, is_saved);
    desk.steps(3);
    assert_eq!(desk.app().bench.queue.len(), 1);
    desk.click("Start the next");
    desk.until("the next one runs", |app| {
        let run = app.bench.run.as_ref();
        run.is_some_and(|run| run.title == "Next" && run.stage != Stage::Stopping)
    });
}
