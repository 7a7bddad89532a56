//! *Over time* and *Compare* as something changes: levels of a case, all cases of a session, and an interval that closes in
//! while a run goes on.

use std::fs;
use std::path::PathBuf;

use eframe::egui::Vec2;
use powerband_app::action::{Action, Compare, History, RunAction, Shell};
use powerband_app::compare::SideChoice;
use powerband_app::plan::{Draft, DraftSetup};
use powerband_app::screen::Screen;
use powerband_app::sessions::LIVE;
use powerband_core::domain::point::Point;

use super::behaviour::draft;
use super::data::{DataRng, SessionSpec, speed};
use super::pictures::{Album, THEMES};
use super::{Desk, SIZE};
use crate::history::nine_sessions;
use crate::support::Home;

#[test]
fn a_change_of_the_level_and_the_cases_that_got_slower_are_shown() {
    let home = Home::new();
    nine_sessions(&home, "home/sessions");
    let newest = home.path("home/sessions/9.ron");
    let mut desk = Desk::awake(home, vec![newest]);
    desk.until("a session is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+6");
    desk.until("a case was followed", |app| {
        app.compare.history.found.result.is_some()
    });
    // The first case of the session did not change.
    assert!(!desk.sees("Changes of the level"));
    desk.click("Cases over time: all cases");
    desk.until("all cases were followed", |app| {
        app.compare.history.movers.result.is_some()
    });
    assert_eq!(desk.column("movers", "point"), ["batch 4", "batch 1"]);
    assert_eq!(desk.column("movers", "changes"), ["1", "0"]);
    desk.click("Case fake:cpu,item=200 batch 4");
    desk.until("the case that got slower is followed", |app| {
        let following = app.compare.history.following;
        let is_meant = following.is_some_and(|one| one.point == Point::of_batch(4));
        is_meant && app.compare.history.is_fresh()
    });
    desk.see("Changes of the level");
    assert_eq!(desk.column("levels", "sessions"), ["4, then 5"]);
    assert_eq!(desk.column("levels", "differing"), ["Kernel of the system"]);
    let found = desk.app().compare.history.found.result.clone();
    let chart = &found.expect("a history").chart;
    let marks = format!("{:?}", chart.marks);
    assert!(
        marks.contains("slower") && marks.contains("the new kernel"),
        "{marks}"
    );
    desk.click("Cases over time: one case");
    desk.step();
    assert!(!desk.sees("All cases of its session"));
    assert!(!desk.app().compare.history.shows_all_cases);
}

/// A case through 26 nights: an update made it faster, and another one took half of that back.
fn nights(home: &Home) -> PathBuf {
    let mut rng = DataRng(53);
    let mut newest = PathBuf::new();
    for night in 0..26_u32 {
        let level = match night {
            0..10 => 1.0,
            10..19 => 0.82,
            _ => 0.91,
        };
        let factor = level * (1.0 + 0.006 * rng.normal()) * if night == 5 { 1.3 } else { 1.0 };
        let speeds = [
            speed("ort:cpu", "", 2_900.0 * factor, 24_150.0 * factor),
            speed("ort:cpu,threads=1", "", 9_000.0, 93_150.0),
        ];
        let created = format!("2026-09-{:02}T02:00:00Z", night + 1);
        let mut session = SessionSpec {
            name: &format!("night {}", night + 1),
            created: &created,
            model: "resnet50",
            speeds: &speeds,
            batches: &[1, 8],
            rounds: 5,
            samples: 20,
        }
        .session();
        session.plan.seed = u64::from(night);
        session.notes = String::new();
        if night >= 10 {
            "6.14.2".clone_into(&mut session.environment.kernel);
        }
        if night == 19 {
            "microcode of September".clone_into(&mut session.notes);
        }
        if night >= 19 {
            "6.14.5".clone_into(&mut session.environment.kernel);
        }
        newest = home.path(&format!("home/sessions/night-{night:02}.ron"));
        fs::create_dir_all(newest.parent().expect("a folder")).expect("a library");
        super::write(&newest, &session);
    }
    newest
}

#[test]
fn two_changes_of_the_level_are_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let home = Home::new();
    let newest = nights(&home);
    let mut desk = Desk::awake(home, vec![newest]);
    desk.until("a session is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+6");
    desk.until("a case was followed", |app| {
        app.compare.history.found.result.is_some()
    });
    assert_eq!(desk.column("levels", "call"), ["faster", "slower"]);
    let sizes = ["10, then 9", "9, then 7"];
    assert_eq!(desk.column("levels", "sessions"), sizes);
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        desk.harness.set_size(Vec2::new(SIZE.0, SIZE.1));
        desk.act(Action::History(History::AllCases(false)));
        desk.steps(3);
        album.take(&mut desk, &format!("history-levels-{word}"));
        desk.act(Action::History(History::AllCases(true)));
        desk.until("all cases were followed", |app| {
            app.compare.history.movers.result.is_some()
        });
        desk.harness.set_size(Vec2::new(SIZE.0, 1_900.0));
        desk.steps(3);
        album.take(&mut desk, &format!("history-cases-{word}"));
    }
    album.close();
}

#[test]
fn an_interval_closes_in_while_a_run_goes_on() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    let slow = |spec: &str| DraftSetup {
        spec: spec.to_owned(),
        ..DraftSetup::default()
    };
    desk.app_mut().bench.planner.draft = Draft {
        setups: vec![
            slow("fake,sleep=yes,fixed=3000"),
            slow("fake,sleep=yes,fixed=2000"),
        ],
        ..draft("fake", "1", 1000)
    };
    desk.act(Action::Run(RunAction::Start));
    desk.until("something is measured", |app| {
        app.shared.sessions.get(LIVE).is_some()
    });
    desk.act(Action::Go(Screen::Compare));
    for (side, setup) in [
        (Compare::Before as fn(SideChoice) -> Compare, 0),
        (Compare::After, 1),
    ] {
        desk.act(Action::Compare(side(SideChoice {
            session: LIVE,
            setup,
            point: None,
            whole: false,
            profile: None,
        })));
    }
    let drawn = |desk: &Desk| {
        let drawn = desk.app().compare.sides.drawn.closing_in.clone();
        drawn.map_or(0, |(_, chart)| chart.series[0].points.len())
    };
    desk.until("two rounds are compared", |app| {
        app.compare.sides.drawn.closing_in.is_some()
    });
    let first = drawn(&desk);
    assert!(desk.app().bench.is_running(), "a run that goes on");
    desk.see("round by round");
    desk.until("it grew by a round", |app| {
        let drawn = app.compare.sides.drawn.closing_in.as_ref();
        drawn.is_some_and(|(_, chart)| chart.series[0].points.len() > first)
    });
}
