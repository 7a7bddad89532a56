//! Published numbers in the window: opened from home, laid under one's own curves, and never compared.

use eframe::egui::Vec2;
use powerband_app::action::{Action, Curves, Sessions, Shell};
use powerband_app::library::examples;
use powerband_app::screen::Screen;
use powerband_findings::chart::spec::{Series, Stroke};

use super::every_screen::{SIZES, faults};
use super::pictures::{Album, PictureState, THEMES, furnish};
use super::{Desk, SIZE};
use crate::support::Home;

/// A window with examples in it.
fn desk(files: &[&str]) -> Desk {
    let mut desk = Desk::with(Home::new(), Vec::new());
    desk.until("everything is looked up", |app| {
        app.shared.machine.engines.is_some() && app.library.is_scanned
    });
    for (number, file) in files.iter().enumerate() {
        let place = examples::ALL.iter().position(|one| one.file == *file);
        let place = place.expect("an example");
        desk.act(Action::Sessions(Sessions::OpenExample(place)));
        desk.until("it is open", |app| app.shared.sessions.len() == number + 1);
    }
    desk.act(Action::Go(Screen::Curves));
    desk.steps(2);
    desk
}

fn published(series: &&Series) -> bool {
    series.stroke == Stroke::Published
}

#[test]
fn an_example_opens_from_home_with_what_does_not_add_up() {
    let mut desk = Desk::with(Home::new(), Vec::new());
    desk.act(Action::Go(Screen::Home));
    desk.click("Example Published: a ResNet-50 case study");
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.until("it is shown", |app| app.shared.screen == Screen::Curves);
    for words in [
        "published, not measured",
        "Inconsistent numbers",
        "12.5 ms ÷ 4.2 ms = 2.98 ×",
        "Before and after",
        "Series MIGraphX, published",
    ] {
        desk.see(words);
    }
    assert!(!desk.sees("Filter the table"), "there are no cases");
    desk.actions();
    desk.click("Copy the findings");
    let copied = desk
        .actions()
        .into_iter()
        .find_map(|request| match request {
            Action::Shell(Shell::Copy(text)) => Some(text),
            _ => None,
        });
    let copied = copied.expect("a request to copy");
    assert!(copied.contains("12.5 ms ÷ 4.2 ms = 2.98 ×"), "{copied}");
    let drawn = desk.app().curves.drawn.clone();
    assert_eq!(drawn.latency.series.iter().filter(published).count(), 1);
    for screen in [
        Screen::Compare,
        Screen::History,
        Screen::Journey,
        Screen::Kernels,
    ] {
        desk.act(Action::Go(screen));
        desk.steps(3);
    }
    let app = desk.app();
    // What it publishes is compared: the curve with the last step, and its steps.
    let sides = [app.compare.sides.before, app.compare.sides.after];
    assert_eq!(
        sides.map(|side| side.map(|side| side.setup)),
        [Some(0), Some(3)]
    );
    assert!(app.compare.history.following.is_none() && app.compare.journey.looking.is_some());
}

#[test]
fn a_published_curve_is_laid_under_ones_own_and_hidden_again() {
    let mut desk = desk(&[
        "resnet50-two-engines.ron",
        "published-aitemplate-resnet50.ron",
    ]);
    let count = |desk: &Desk| {
        let drawn = &desk.app().curves.drawn;
        drawn.throughput.series.iter().filter(published).count()
    };
    assert_eq!(count(&desk), 6);
    let drawn = desk.app().curves.drawn.clone();
    let last = drawn.legend.last().expect("a published series").id;
    desk.act(Action::Curves(Curves::ToggleSeries(last)));
    assert_eq!(count(&desk), 5);
    // Sides are proposed from what was measured.
    let first = desk.app().shared.sessions.iter().next().map(|open| open.id);
    desk.act(Action::Go(Screen::Compare));
    desk.steps(3);
    let app = desk.app();
    for pick in [app.compare.sides.before, app.compare.sides.after] {
        assert_eq!(pick.map(|pick| pick.session), first);
    }
}

#[test]
fn every_word_about_published_numbers_has_its_place() {
    let mut desk = desk(&["published-densenet121-suite.ron"]);
    let mut found = Vec::new();
    for size in SIZES {
        desk.harness.set_size(Vec2::from(size));
        desk.steps(2);
        found.extend(faults(&desk, &format!("published, {size:?}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn published_numbers_are_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let both = [
        "resnet50-two-engines.ron",
        "published-aitemplate-resnet50.ron",
    ];
    for (files, name) in [
        (&both[..], "curves-over-published"),
        (&["published-resnet50-case-study.ron"][..], "published"),
        (&["published-densenet121-suite.ron"][..], "published-ranges"),
        (
            &["published-resnet-training-baseline.ron"][..],
            "published-training",
        ),
    ] {
        let mut desk = desk(files);
        furnish(&mut desk, PictureState::Empty);
        for (theme, word) in THEMES {
            desk.act(Action::Shell(Shell::Theme(theme)));
            desk.act(Action::Go(Screen::Curves));
            desk.harness.set_size(Vec2::new(SIZE.0, 2_200.0));
            desk.steps(3);
            album.take(&mut desk, &format!("{name}-{word}"));
        }
    }
    album.close();
}
