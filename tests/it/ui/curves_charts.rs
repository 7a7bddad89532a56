//! What the charts of *Curves* share: colours that stay, words that find no room, intervals that leave the chart.

use powerband_app::action::{Action, Sessions};
use powerband_app::screen::Screen;
use powerband_app::sessions::SessionId;

use super::Desk;
use super::curves_by_hand::{made, opened};
use super::data::speed;
use super::write;
use crate::support::Home;

/// Two sessions of two setups each.
fn two_sessions() -> Desk {
    let home = Home::new();
    let speeds = [
        speed("ort:cpu", "", 2_900.0, 4_150.0),
        speed("tract:cpu", "", 900.0, 9_800.0),
    ];
    let files = ["First", "Second"].map(|name| {
        let file = home.path(&format!("{name}.ron"));
        write(&file, &made(name, &speeds, &[1, 2, 4]));
        file
    });
    let mut desk = Desk::awake(home, files.to_vec());
    desk.until("both are open", |app| app.sessions.len() == 2);
    desk.press("Ctrl+4");
    desk
}

/// The palette indices of a session on *Curves*.
fn of_legend(desk: &Desk, id: SessionId) -> Vec<usize> {
    let legend = desk.app().curves.drawn.legend.iter();
    let own = legend.filter(|entry| powerband_app::sessions::of_series(entry.id).0 == id);
    own.map(|entry| entry.colour).collect()
}

#[test]
fn a_session_keeps_its_colours_when_another_one_is_closed() {
    let mut desk = two_sessions();
    let ids: Vec<SessionId> = desk.app().sessions.iter().map(|open| open.id).collect();
    let before = of_legend(&desk, ids[1]);
    assert_eq!(
        before,
        [2, 3],
        "the first two are those of the first session"
    );
    desk.act(Action::Go(Screen::Compare));
    desk.until("it is compared", |app| app.compare.result.is_some());
    let drawn = &desk.app().compare.drawn.latency.series;
    let of_second = drawn.iter().filter(|one| one.name.contains("Second"));
    for series in of_second {
        assert!(before.contains(&series.colour), "{series:?}");
    }
    desk.act(Action::Sessions(Sessions::Close(ids[0])));
    desk.steps(2);
    desk.press("Ctrl+4");
    assert_eq!(of_legend(&desk, ids[1]), before);
    let file = desk.path("First.ron");
    desk.act(Action::Sessions(Sessions::Open(vec![file])));
    desk.until("it is open again", |app| app.sessions.len() == 2);
    assert_eq!(of_legend(&desk, ids[1]), before);
    let again = desk.app().sessions.iter().find(|open| open.id != ids[1]);
    let again = again.expect("the first session").id;
    assert_eq!(of_legend(&desk, again), [0, 1], "its own, which are free");
}

#[test]
fn history_has_the_colour_of_the_curves() {
    let mut desk = two_sessions();
    let second = desk.app().sessions.iter().last().expect("a session").id;
    let own = of_legend(&desk, second);
    let first = desk.app().sessions.iter().next().expect("a session").id;
    desk.act(Action::Sessions(Sessions::Close(first)));
    desk.act(Action::Go(Screen::History));
    desk.until("the case was followed", |app| app.history.result.is_some());
    let found = desk.app().history.result.clone().expect("a history");
    assert_eq!(found.chart.series[0].colour, own[0]);
}

#[test]
fn the_legend_says_the_knees_that_have_no_room_on_the_chart() {
    let speeds = [
        speed("ort:cpu", "", 2_900.0, 4_150.0),
        speed("ort:cpu,threads=1", "", 9_000.0, 3_150.0),
        speed("ort:cpu,threads=2", "", 5_000.0, 2_150.0),
        speed("tract:cpu", "", 900.0, 9_800.0),
    ];
    let session = made("Knees", &speeds, &[1, 2, 4, 8, 16, 32]);
    let mut desk = opened(Home::new(), &session);
    desk.steps(3);
    let knees = &desk
        .app()
        .sessions
        .iter()
        .next()
        .expect("one")
        .findings
        .curves;
    let knees: Vec<String> = knees
        .iter()
        .filter_map(|curve| Some(format!("knee {}", curve.knee?)))
        .collect();
    assert!(knees.len() > 3, "{knees:?}");
    for knee in knees {
        assert!(desk.find(&knee).is_some(), "{knee} in {:#?}", desk.names());
    }
    // A few have room on the chart, and the legend is silent.
    let few = made("Few", &speeds[..1], &[1, 2, 4, 8, 16, 32]);
    let mut desk = opened(Home::new(), &few);
    desk.steps(3);
    assert!(!desk.names().iter().any(|name| name.starts_with("knee ")));
}
