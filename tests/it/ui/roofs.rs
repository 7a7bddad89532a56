//! The card *Roofs* on *Home*, and the setting that measures them again.

use powerband_app::action::{Action, Roofs, RunAction, Sessions};
use powerband_app::roofs::MeasuringRoofs;
use powerband_app::screen::Screen;
use powerband_app::sessions::Pin;
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::experiment::ExperimentChange;

use super::{Desk, data};
use crate::support::Home;

/// A window of a machine on which nothing was measured.
fn desk() -> Desk {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.until("what is kept was read", |app| {
        app.settings.roofs.kept.is_some()
    });
    desk.act(Action::Go(Screen::Home));
    desk
}

#[test]
fn roofs_are_measured_at_the_press_of_a_button() {
    let mut desk = desk();
    assert!(!desk.app().settings.roofs.has_any());
    desk.see("Measure roofs");
    let cancel = CancelToken::default();
    desk.app_mut().settings.roofs.measuring = Some(MeasuringRoofs {
        what: "memory copy, 2 threads".to_owned(),
        share: 0.4,
        cancel: cancel.clone(),
    });
    desk.steps(3);
    desk.see("memory copy, 2 threads");
    // Two that measure at once disturb each other.
    desk.act(Action::Roofs(Roofs::Measure));
    desk.hear("Roofs are not measured: they are being measured");
    desk.actions();
    desk.click("Stop measuring");
    assert!(desk.actions().contains(&Action::Roofs(Roofs::Stop)));
    assert!(cancel.is_cancelled());
}

#[test]
fn what_was_measured_stands_on_home_with_its_noise() {
    let mut desk = desk();
    desk.app_mut().settings.roofs.kept = Some(data::roofs(true));
    desk.app_mut().settings.roofs.stale =
        vec!["Card: the roofs no longer hold, because the driver changed.".to_owned()];
    desk.steps(3);
    for words in [
        "1.13 TFLOP/s",
        "44.9 GB/s",
        "88.7 % of peak",
        "57.0 % of peak",
        "noisy",
        "Measure roofs again",
    ] {
        desk.see(words);
    }
    desk.see("Card: the roofs no longer hold, because the driver changed.");
    desk.act(Action::Go(Screen::Settings));
    desk.steps(2);
    desk.see("Measure roofs again");
}

#[test]
fn what_a_case_needs_is_measured_after_its_experiments_until_the_user_ends_that() {
    let home = Home::new();
    let bench = [
        "bench",
        "resnet18@cifar",
        "--setup",
        "rten,threads=1",
        "--batch",
        "1",
    ];
    let short = ["--rounds", "1", "--out", "case.ron"];
    assert_eq!(home.run(&[&bench[..], &short[..]].concat()).status, Some(0));
    let file = home.path("case.ron");
    let mut desk = Desk::awake(home, Vec::new());
    desk.act(Action::Sessions(Sessions::Open(vec![file])));
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    let open = desk.app().shared.sessions.iter().next().expect("a session");
    let (session, case) = (open.id, open.session.cases[0].key());
    let ask = |desk: &mut Desk, number: usize| {
        let change = Some(ExperimentChange::TwiceBatch);
        desk.act(Action::Run(RunAction::Why(Pin { session, case }, change)));
        desk.until("the experiment is over", |app| {
            !app.bench.is_running() && app.shared.sessions.len() > number
        });
    };
    ask(&mut desk, 1);
    desk.until("roofs are being measured", |app| {
        app.settings.roofs.measuring.is_some() && app.shared.screen == Screen::Why
    });
    desk.steps(3);
    desk.click("Stop measuring");
    desk.until("it ended", |app| app.settings.roofs.measuring.is_none());
    ask(&mut desk, 2);
    desk.steps(5);
    assert!(
        desk.app().settings.roofs.measuring.is_none(),
        "the user ended it"
    );
}
