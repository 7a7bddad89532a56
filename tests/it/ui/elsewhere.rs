//! Runs of other programs, and what interrupted ones left behind.

use std::time::Instant;

use powerband_app::action::{Action, RunAction};
use powerband_app::notices::NoticeLevel;
use powerband_app::sessions::Pin;
use powerband_core::domain::event::{RunEvent, TimedEvent};
use powerband_store::journal::{AppendOutcome, Journal};

use super::behaviour::{draft, is_saved};
use super::data::{SessionSpec, Speed, speed};
use super::{Desk, PATIENCE};
use crate::support::Home;

const FAKE: &[Speed] = &[speed("fake", "", 900.0, 100.0)];
const CREATED: &str = "2026-11-21T06:02:03Z";

/// The journal of a run, which lives as long as somebody holds this.
fn journal(home: &Home, name: &str) -> Journal {
    let made = SessionSpec {
        name,
        created: CREATED,
        model: "resnet50",
        speeds: FAKE,
        batches: &[1, 2],
        rounds: 3,
        samples: 8,
    };
    let folder = home.path("home/sessions/journals");
    let mut journal = Journal::create(&folder, name).expect("a journal");
    let event = RunEvent::WentOn {
        session: Box::new(made.session()),
        at: CREATED.to_owned(),
    };
    let written = journal.append(&TimedEvent { at_ns: 0, event });
    assert!(matches!(written, AppendOutcome::Written), "{written:?}");
    journal
}

/// Whether a question is on the screen.
fn asks(desk: &Desk) -> bool {
    let mut up = desk.app().shared.notices.on_screen();
    up.any(|one| one.weight == NoticeLevel::Question)
}

#[test]
fn a_run_of_another_program_is_seen_and_a_second_one_asks_first() {
    let home = Home::new();
    let journal = journal(&home, "Elsewhere");
    let mut desk = Desk::awake(home, Vec::new());
    let words = "Another Powerband is measuring Elsewhere, since 21 Nov 06:02";
    desk.see(words);
    desk.press("Ctrl+3");
    assert!(!desk.sees("No run in progress") && !desk.sees("Idle"));
    desk.app_mut().bench.planner.draft = draft("fake", "1", 2);
    desk.press("Ctrl+Enter");
    desk.hear("would disturb both measurements");
    assert!(desk.app().bench.run.is_none());
    desk.click("Measure anyway");
    desk.step_until("the run is saved", PATIENCE, is_saved);
    // The run of this window is none of another program.
    assert_eq!(desk.app().bench.elsewhere_words().as_deref(), Some(words));
    let bench = "bench resnet18@cifar --setup fake --batch 1 --rounds 1 --preset quick";
    let told = desk.home.run(&bench.split(' ').collect::<Vec<_>>()).err;
    assert!(told.contains(words), "{told}");
    journal.discard().expect("it is removed");
    desk.see("Idle");
}

#[test]
fn a_run_of_this_window_is_not_taken_for_one_of_another_program() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    super::behaviour::long_run(&mut desk);
    let begun = std::time::Instant::now();
    desk.step_until("the watch looks", PATIENCE, |desk| {
        assert_eq!(desk.app().bench.elsewhere_words(), None);
        begun.elapsed().as_secs() >= 4
    });
    desk.click("Stop");
    desk.step_until("the run is saved", PATIENCE, is_saved);
    assert_eq!(desk.app().bench.elsewhere_words(), None);
}

#[test]
fn an_interrupted_run_is_offered_until_it_is_answered() {
    let home = Home::new();
    drop(journal(&home, "Cut off"));
    let mut desk = Desk::awake(home, Vec::new());
    desk.hear("Cut off of 21 Nov 06:02 with 6 measured rounds");
    desk.app_mut().shared.notices.age(u64::MAX);
    assert!(asks(&desk));
    desk.press("Escape");
    assert!(!asks(&desk));
    desk.press("Ctrl+L");
    desk.click("Recover");
    desk.hear("Recovered Cut off");
    desk.step_until("it is offered no more", PATIENCE, |desk| {
        desk.find("Recover").is_none()
    });
    desk.click("Open");
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
}

#[test]
fn frames_go_on_while_a_setup_runs_behind_a_slow_link() {
    let home = Home::new();
    // Every line takes fifty milliseconds each way, as on a link to another continent.
    let late = "while IFS= read -r line; do sleep 0.05; printf '%s\\n' \"$line\"; done";
    let link = home.script("link.sh", &format!("{late} | \"$@\" | {late}"));
    let program = env!("CARGO_BIN_EXE_powerband");
    // The model is there already: sending it over such a link would take minutes.
    let quick = format!("fake,via=\"env THERE=1\",remote_program={program}");
    let bench = [
        "bench",
        "resnet18@cifar",
        "--setup",
        &quick,
        "--batch",
        "1",
        "--rounds",
        "1",
    ];
    assert_eq!(home.run(&bench).status, Some(0));
    let mut desk = Desk::awake(home, Vec::new());
    let spec = format!("fake,via=\"{}\",remote_program={program}", link.display());
    desk.app_mut().bench.planner.draft = draft(&spec, "1", 2);
    desk.act(Action::Run(RunAction::Start));
    desk.act(Action::Run(RunAction::AllowPrograms(true)));
    let mut frames = 0;
    let deadline = Instant::now() + PATIENCE;
    while !is_saved(&desk) && Instant::now() < deadline {
        desk.step();
        frames += 1;
    }
    assert!(is_saved(&desk), "{:?}", desk.said());
    // Were a line waited for in a frame, there would be a few of them.
    assert!(frames > 15, "{frames} frames");
    let session = desk.app().shared.sessions.iter().last().expect("a session");
    assert!(
        session.session.cases[0].n_samples() > 0,
        "{:?}",
        session.session.cases[0]
    );
}

#[test]
fn why_is_asked_on_the_machine_of_the_case() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    let program = env!("CARGO_BIN_EXE_powerband");
    let spec = format!("fake,sleep=yes,via=\"env THERE=1\",remote_program={program}");
    desk.app_mut().bench.planner.draft = draft(&spec, "1", 2);
    desk.act(Action::Run(RunAction::Start));
    desk.act(Action::Run(RunAction::AllowPrograms(true)));
    desk.step_until("the run is saved", PATIENCE, is_saved);
    let open = desk.app().shared.sessions.iter().last().expect("a session");
    let case = open.session.cases[0].key();
    let pin = Pin {
        session: open.id,
        case,
    };
    desk.act(Action::Run(RunAction::Why(pin, None)));
    desk.step_until("what it does there is said", PATIENCE, |desk| {
        desk.names().iter().any(|name| name.contains("round 1"))
    });
    desk.until("the experiments are here", |app| {
        let asked = app.shared.sessions.iter().last();
        asked.is_some_and(|open| open.session.plan.experiments.is_some())
    });
    let asked = desk.app().shared.sessions.iter().last().expect("a session");
    let session = &asked.session;
    assert_eq!(session.machines.len(), 1, "{:?}", desk.said());
    assert_eq!(session.machines[0].name, "via env THERE=1");
    let setups = &session.plan.setups;
    assert!(setups.len() > 1 && setups.iter().all(|setup| setup.is_elsewhere()));
    assert!(session.cases.iter().any(|case| !case.rounds.is_empty()));
}
