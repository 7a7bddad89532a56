//! The run's screen under a hand: states of the cases, which of them are listed, following the active one, cases
//! that are taken back, and workers that are killed.

use eframe::egui::{Event, Modifiers, MouseWheelSource, MouseWheelUnit, TouchPhase, vec2};
use powerband_app::App;
use powerband_app::action::{Action, RunAction, Shell};
use powerband_app::notices::NoticeLevel;
use powerband_app::run::states::CaseFilter;
use powerband_app::run::{LiveRun, Stage};
use powerband_app::screen::Screen;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::point::Point;
use rustix::process::{Pid, Signal};

use super::behaviour::{draft, is_saved, long_run};
use super::data;
use super::pictures::{Album, THEMES};
use super::{Desk, PATIENCE};
use crate::support::Home;

/// About two milliseconds a run.
const SLOW: &str = "fake,sleep=yes,fixed=2000";

fn run(app: &App) -> &LiveRun {
    app.bench.run.as_ref().expect("a run")
}

fn begin(spec: &str, batches: &str, rounds: u32) -> Desk {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.app_mut().bench.planner.draft = draft(spec, batches, rounds);
    desk.act(Action::Run(RunAction::Start));
    desk
}

/// The process of a worker, as the log has it.
fn worker(app: &App) -> Option<i32> {
    let log = &app.bench.run.as_ref()?.log;
    let line = log
        .iter()
        .rev()
        .find(|line| line.text.contains("worker started"))?;
    line.text.rsplit(' ').next()?.parse().ok()
}

#[test]
fn a_worker_that_is_killed_is_said_at_once_with_its_signal() {
    let mut desk = begin(SLOW, "1", 1000);
    desk.until("something is measured", |app| {
        let session = app.bench.run.as_ref().and_then(|run| run.session.as_ref());
        session.is_some_and(|session| !session.cases[0].rounds.is_empty())
    });
    let pid = worker(desk.app()).expect("a worker");
    let pid = Pid::from_raw(pid).expect("a process number");
    rustix::process::kill_process(pid, Signal::KILL).expect("the signal is sent");
    let of = "fake:cpu,fixed=2000,sleep=yes";
    desk.hear(&format!(
        "{of}, batch 1: the worker was killed by signal 9 (SIGKILL)"
    ));
    desk.hear("probably out of memory");
    let notices = desk.app().shared.notices.all().iter();
    let deaths = notices.filter(|notice| notice.text.contains("signal 9"));
    let weights: Vec<NoticeLevel> = deaths.map(|notice| notice.weight).collect();
    assert_eq!(weights, [NoticeLevel::Trouble]);
    desk.until("the row says it", |app| {
        let view = app.shared.tables.view("run");
        view.is_some_and(|view| view.value(0, "outcome").shown_text().contains("signal 9"))
    });
    assert_eq!(
        desk.column("run", "outcome"),
        ["killed by signal 9 (SIGKILL)"]
    );
    desk.see("killed by signal 9 (SIGKILL)");
}

/// The current case's row, where the table lists it.
fn active_row(app: &App) -> Option<usize> {
    let run = run(app);
    run.row_of_case(run.current_case()?)
}

/// A turn of the wheel over the table of cases.
fn turn_over_table(desk: &mut Desk) {
    let head = desk.get("Sort by Rounds").rect();
    desk.harness.hover_at(head.center() + vec2(0.0, 90.0));
    for _ in 0..4 {
        desk.harness.event(Event::MouseWheel {
            unit: MouseWheelUnit::Point,
            delta: vec2(0.0, -40.0),
            phase: TouchPhase::Move,
            source: MouseWheelSource::Unknown,
            modifiers: Modifiers::NONE,
        });
    }
    desk.steps(4);
}

#[test]
fn the_table_follows_the_active_case_until_it_is_scrolled_or_sorted() {
    let batches: Vec<String> = (1..=60).map(|batch| batch.to_string()).collect();
    let mut desk = begin(SLOW, &batches.join(", "), 1000);
    desk.until("a case is active", |app| {
        app.bench
            .run
            .as_ref()
            .is_some_and(|run| run.current_case().is_some())
            && app.shared.tables.view("run").is_some()
    });
    // The page is scrolled until the table is on it as a whole: what is followed moves within the table.
    desk.reach("Height of Cases of the run");
    assert!(desk.sees("Sort by Rounds"));
    assert!(run(desk.app()).follows);
    // The row of the active case is on the screen, wherever it stands among sixty.
    let is_far = |app: &App| active_row(app).is_some_and(|row| row >= 50);
    // Cases take turns within milliseconds, so the run rests while the hand looks.
    for _ in 0..50 {
        desk.until("a case far down is active", is_far);
        desk.act(Action::Run(RunAction::Pause));
        desk.until("the run rests", |app| run(app).stage == Stage::Paused);
        if is_far(desk.app()) {
            break;
        }
        desk.act(Action::Run(RunAction::Resume));
        desk.until("it goes on", |app| run(app).stage == Stage::Measuring);
    }
    // Scrolling there takes a few frames, and a case may still begin while the run comes to rest.
    desk.step_until("the row of the active case is in view", PATIENCE, |desk| {
        let run = run(desk.app());
        let session = run.session.as_ref().expect("a session");
        let case = run.current_case().expect("an active case");
        let label = session.setup_label(case.setup);
        desk.sees(&format!("Skip {label} batch {}", case.point.batch()))
    });
    turn_over_table(&mut desk);
    assert!(!run(desk.app()).follows, "the wheel ends it");
    desk.click("Follow");
    assert!(run(desk.app()).follows);
    desk.click("Sort by Rounds");
    assert!(!run(desk.app()).follows, "sorting ends it");
    desk.act(Action::Run(RunAction::Stop));
    desk.step_until("the run is saved", PATIENCE, is_saved);
    assert!(!desk.sees("Follow"), "there is nothing to follow");
}

#[test]
fn cases_are_listed_by_state_and_taken_back() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    long_run(&mut desk);
    let case = CaseKey {
        setup: 0,
        point: Point::of_batch(2),
    };
    let of = "fake:cpu,fixed=2000,sleep=yes batch 2";
    desk.click(&format!("Skip {of}"));
    desk.until("it is left out", |app| {
        let session = run(app).session.as_ref();
        session.is_some_and(|session| session.cases[1].outcome == Outcome::Cancelled)
    });
    desk.steps(2);
    assert_eq!(desk.column("run", "outcome")[1], "skipped");
    desk.click("Cases: skipped 1");
    desk.steps(2);
    assert_eq!(run(desk.app()).filter, CaseFilter::Skipped);
    assert_eq!(desk.column("run", "batch"), ["2"]);
    let rounds = |app: &App| {
        run(app)
            .session
            .as_ref()
            .map(|session| session.cases[1].rounds.len())
    };
    let before = rounds(desk.app());
    desk.click(&format!("Take {of} back"));
    desk.until("it is measured again", |app| rounds(app) > before);
    assert!(!run(desk.app()).skipped.contains(&case));
    desk.steps(2);
    desk.see("No case is skipped.");
    desk.click("Cases: failed 0");
    desk.see("No case is failed.");
    desk.act(Action::Run(RunAction::List(CaseFilter::All)));
    desk.steps(2);
    assert_eq!(desk.column("run", "batch"), ["1", "2"]);
}

#[test]
fn detached_runs_are_listed_and_can_be_collected_or_cancelled() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.until("they are looked for", |app| !app.settings.detached.is_busy);
    assert!(!desk.app().settings.detached.has_any());
    desk.app_mut().settings.detached.runs = data::detached_runs();
    desk.act(Action::Go(Screen::Run));
    desk.steps(2);
    desk.see("Detached runs");
    desk.see("1 of 4 rounds, running: on n1 since 09:12");
    desk.see("Cancel 4712");
    // There is no such run on this machine.
    desk.click("Collect 4711");
    desk.hear("there is no detached run 4711");
    desk.until("they are looked for again", |app| {
        !app.settings.detached.is_busy
    });
    assert!(!desk.app().settings.detached.has_any());
}

#[test]
fn detached_runs_are_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.until("they are looked for", |app| !app.settings.detached.is_busy);
    desk.app_mut().settings.detached.runs = data::detached_runs();
    desk.act(Action::Go(Screen::Run));
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        desk.steps(3);
        album.take(&mut desk, &format!("run-detached-{word}"));
    }
    album.close();
}

#[test]
fn a_plan_for_slurm_can_be_detached_and_what_slurm_says_is_shown() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.until("they are looked for", |app| !app.settings.detached.is_busy);
    desk.act(Action::Go(Screen::Plan));
    desk.app_mut().bench.planner.draft = draft("fake", "1", 2);
    desk.steps(2);
    assert!(!desk.sees("Detach"));
    // Where Slurm is set up, it knows no such node and accepts nothing.
    let spec = "fake,where=slurm,slurm.nodelist=powerband-no-such-node";
    desk.app_mut().bench.planner.draft = draft(spec, "1", 2);
    desk.steps(2);
    desk.click("Detach");
    // Where it runs is asked for first, as for a run of this window.
    assert!(desk.app().bench.programs.is_some());
    desk.act(Action::Run(RunAction::AllowPrograms(true)));
    desk.until("Slurm answers", |app| !app.settings.detached.is_busy);
    desk.hear("Detached runs: ");
    assert_eq!(desk.app().shared.screen, Screen::Run);
    assert!(desk.app().bench.run.is_none());
}
