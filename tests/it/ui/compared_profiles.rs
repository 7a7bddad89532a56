//! Profiles as the sides of *Compare*.

use eframe::egui::{Pos2, Vec2};
use powerband_app::action::{Action, Compare, Kernels};
use powerband_app::compare::SideChoice;
use powerband_app::compare::profiles::side_of_profile;
use powerband_app::kernels::ProfileRef;
use powerband_app::screen::Screen;
use powerband_app::sessions::SessionId;

use super::kernels::{ask, desk, pick};
use super::pictures::{Album, THEMES};
use super::{Desk, SIZE, write};
use crate::support::Home;

/// Compares two profiles of the session that is open.
fn compare(desk: &mut Desk, before: usize, after: usize) {
    let side = |desk: &Desk, profile| side_of_profile(&desk.app().shared.sessions, pick(profile));
    desk.act(Action::Go(Screen::Compare));
    for side in [
        Compare::Before(side(desk, before)),
        Compare::After(side(desk, after)),
    ] {
        desk.act(Action::Compare(side));
    }
    desk.until("the profiles are compared", |app| {
        let found = app.compare.sides.profiles.result.as_ref();
        found.is_some_and(|found| found.sides == [pick(before), pick(after)])
    });
    desk.steps(3);
}

#[test]
fn two_profiles_are_compared_kernel_by_kernel_and_shown_in_kernels() {
    let mut desk = desk();
    compare(&mut desk, 2, 3);
    desk.see("Kernel time before over after");
    // 98 ms in ten runs, and 68.
    desk.see("1.44 ×");
    desk.see("9.80 ms before and 6.80 ms after, per run.");
    let names = desk.column("profile-changes", "name");
    assert!(names.iter().any(|name| name == "bn1"), "{names:?}");
    desk.click("Swap");
    desk.until("they are the other way round", |app| {
        let found = app.compare.sides.profiles.result.as_ref();
        found.is_some_and(|found| found.sides == [pick(3), pick(2)])
    });
    desk.steps(2);
    desk.see("0.694 ×");
    desk.click("Show in Kernels");
    let kernels = &desk.app().profile.kernels;
    assert_eq!(
        (kernels.before, kernels.looking),
        (Some(pick(3)), Some(pick(2)))
    );
    assert!(desk.app().shared.shows(Screen::Kernels));
    desk.act(Action::Kernels(Kernels::Before(None)));
    // A setup again, and nothing is left of the profiles.
    desk.act(Action::Go(Screen::Compare));
    let setup = |setup| SideChoice::of_setup(SessionId(1), setup);
    desk.act(Action::Compare(Compare::Before(setup(0))));
    desk.steps(2);
    desk.see("One side has no profile");
    desk.act(Action::Compare(Compare::After(setup(1))));
    desk.until("setups are compared", |app| {
        app.compare.sides.found.result.is_some()
    });
    desk.steps(2);
    assert!(desk.app().shared.tables.view("profile-changes").is_none());
}

#[test]
fn profiles_of_unknown_runs_have_no_ratio() {
    let mut desk = desk();
    compare(&mut desk, 2, 4);
    desk.see("so there is no ratio");
    let found = desk.app().compare.sides.profiles.result.as_ref();
    assert_eq!(found.and_then(|found| found.headline.ratio.clone()), None);
}

#[test]
fn a_long_tooltip_is_cut_and_shows_the_rest_on_a_click() {
    let mut desk = desk();
    ask(&mut desk, Kernels::Look(pick(1)));
    ask(&mut desk, Kernels::Before(Some(pick(0))));
    let card = desk.get("Removed").rect();
    desk.harness.hover_at(card.center());
    desk.steps(60);
    let more = desk.get("Show all of it").rect();
    let is_long = |name: &String| name.lines().count() > 15;
    let long = desk.names().into_iter().find(is_long).expect("the names");
    let text = desk.get(&long).rect();
    assert!(more.bottom() - text.top() <= 240.0, "{text:?} {more:?}");
    assert!(!text.intersects(card), "it covers what it explains");
    let names = |desk: &Desk| desk.names().iter().filter(|name| is_long(name)).count();
    assert_eq!(
        names(&desk),
        1,
        "the text is whole for a reader of the screen"
    );
    desk.harness.hover_at(more.center());
    desk.steps(2);
    desk.click("Show all of it");
    desk.harness.hover_at(Pos2::new(5.0, 5.0));
    desk.steps(30);
    assert!(desk.find("Show all of it").is_none());
    assert_eq!(names(&desk), 1, "it stays open");
    desk.press("Escape");
    desk.steps(2);
    assert_eq!(names(&desk), 0);
    assert_eq!(desk.app().profile.kernels.before, Some(pick(0)));
    assert!(desk.app().shared.shows(Screen::Kernels));
}

#[test]
fn traces_alone_are_compared_from_the_first_to_the_last() {
    let home = Home::new();
    let path = home.path("trace.ron");
    let mut session = super::kernels::session();
    session.plan.setups.clear();
    session.cases.clear();
    write(&path, &session);
    let mut desk = Desk::awake(home, vec![path]);
    desk.act(Action::Go(Screen::Compare));
    desk.until("they are compared", |app| {
        app.compare.sides.profiles.result.is_some()
    });
    let found = desk.app().compare.sides.profiles.result.as_ref();
    let sides: [ProfileRef; 2] = found.expect("a result").sides;
    assert_eq!(sides, [pick(0), pick(4)]);
}

#[test]
fn the_screen_is_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk();
    compare(&mut desk, 0, 1);
    for (theme, word) in THEMES {
        desk.act(Action::Shell(powerband_app::action::Shell::Theme(theme)));
        desk.harness.set_size(Vec2::new(SIZE.0, SIZE.1));
        album.take(&mut desk, &format!("compare-profiles-{word}"));
    }
    album.close();
}
