//! A worker that hangs before anything is measured: its case is named and can be left out, the window goes
//! on painting, and the others are measured.

use std::sync::Arc;

use eframe::egui::accesskit::Role;
use egui_kittest::kittest::NodeT as _;
use powerband_app::App;
use powerband_app::action::{Action, RunAction};
use powerband_app::plan::DraftSetup;
use powerband_app::screen::Screen;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Completion;
use powerband_runner::schedule;

use super::behaviour::{draft, is_saved};
use super::{Desk, PATIENCE};
use crate::support::{self, Home};

/// What the setup is called whose worker hangs.
const HANGING: &str = "the hanging one";
/// Its case.
const CASE: CaseKey = CaseKey {
    setup: 0,
    point: Point::of_batch(1),
};

/// Starts a run whose first case hangs, and whose other one does not.
fn start(desk: &mut Desk, hanging: &str) {
    let mut draft = draft(hanging, "1", 2);
    HANGING.clone_into(&mut draft.setups[0].label);
    draft.setups.push(DraftSetup {
        spec: "fake".to_owned(),
        ..DraftSetup::default()
    });
    let cases = vec![CASE, CaseKey { setup: 1, ..CASE }];
    let hangs_first = |seed: &u64| schedule::order(cases.clone(), 0, *seed)[0] == CASE;
    draft.seed = (0..1_000).find(hangs_first);
    desk.app_mut().bench.planner.draft = draft;
    desk.act(Action::Run(RunAction::Start));
}

/// Whether the run is at the case, and this is done with it.
pub(super) fn is_at(app: &App, doing: &str) -> bool {
    let current = app.bench.run.as_ref().and_then(|run| run.current.as_ref());
    current.is_some_and(|(case, now)| *case == CASE && now == doing)
}

fn outcomes(app: &App) -> Vec<Outcome> {
    let session = app.bench.run.as_ref().and_then(|run| run.session.as_ref());
    let cases = session.iter().flat_map(|session| &session.cases);
    cases.map(|case| case.outcome.clone()).collect()
}

/// The case is left out without waiting for its worker's time to be up, and the other one is measured.
fn goes_on(desk: &mut Desk) {
    desk.until("the case that hangs is over", |app| {
        outcomes(app)[0].is_final()
    });
    assert_eq!(outcomes(desk.app())[0], Outcome::Cancelled);
    desk.step_until("the run is saved", PATIENCE, is_saved);
    let expected = [Outcome::Cancelled, Outcome::Finished];
    assert_eq!(outcomes(desk.app()), expected);
    let run = desk.app().bench.run.as_ref().expect("a run");
    let session = run.session.as_ref().expect("its session");
    let became = run.became.and_then(|id| desk.app().shared.sessions.get(id));
    let is_shared = became.is_some_and(|open| Arc::ptr_eq(&open.session, session));
    assert!(is_shared, "the window's thread copies no session");
    assert_eq!(session.completion, Completion::Complete);
    let rounds: Vec<usize> = session.cases.iter().map(|case| case.rounds.len()).collect();
    assert_eq!(rounds, [0, 2]);
}

#[test]
fn a_case_that_hangs_in_loading_is_named_and_skipped_with_one_click() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    start(&mut desk, "fake,fail=load-hang");
    desk.see(&format!("{HANGING}, loading the model"));
    // A frame that waited for the worker would come when its time is up, and the case would be over.
    for screen in Screen::ALL {
        desk.act(Action::Go(screen));
        desk.steps(3);
        assert!(is_at(desk.app(), "loading the model"), "{screen:?}");
    }
    desk.act(Action::Go(Screen::Run));
    desk.see(&format!("{HANGING}, loading the model"));
    let skip = desk.get("Skip this case").accesskit_node();
    assert!(skip.role() == Role::Button && !skip.is_disabled());
    desk.click("Skip this case");
    goes_on(&mut desk);
}

#[test]
fn a_case_whose_worker_never_starts_is_named_and_skipped_from_its_row() {
    let home = Home::new();
    let asleep = home.script("asleep", "sleep 600");
    let asleep = asleep.display().to_string();
    let mut desk = Desk::awake(home, Vec::new());
    start(&mut desk, &format!("fake,worker={asleep}"));
    desk.act(Action::Run(RunAction::AllowPrograms(true)));
    desk.see(&format!("{HANGING}, starting"));
    desk.click(&format!("Skip {HANGING} batch 1"));
    goes_on(&mut desk);
    assert_eq!(support::processes_with(&asleep), Vec::<String>::new());
}

#[test]
fn a_case_that_hangs_in_its_first_run_is_skipped_when_asked_twice() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    start(&mut desk, "fake,fail=run-hang");
    desk.see(&format!("{HANGING}, running for the first time"));
    desk.click("Skip this case");
    // Its worker is ready, and ending it would cost the other cases of its setup theirs.
    assert!(is_at(desk.app(), "running for the first time"));
    desk.click("Now");
    goes_on(&mut desk);
}
