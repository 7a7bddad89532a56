//! What the charts of *Curves* share: colours that stay, words that find no room, intervals that leave the chart.

use powerband_app::action::{Action, Curves, Sessions};
use powerband_app::screen::Screen;
use powerband_app::sessions::{Pin, SessionId};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_findings::chart::spec::Mark;

use super::Desk;
use super::curves_by_hand::{made, opened};
use super::data::{Speed, speed};
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
    desk.until("both are open", |app| app.shared.sessions.len() == 2);
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
    let ids: Vec<SessionId> = desk
        .app()
        .shared
        .sessions
        .iter()
        .map(|open| open.id)
        .collect();
    let before = of_legend(&desk, ids[1]);
    assert_eq!(
        before,
        [2, 3],
        "the first two are those of the first session"
    );
    desk.act(Action::Go(Screen::Compare));
    desk.until("it is compared", |app| {
        app.compare.sides.found.result.is_some()
    });
    let drawn = &desk.app().compare.sides.drawn.latency.series;
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
    desk.until("it is open again", |app| app.shared.sessions.len() == 2);
    assert_eq!(of_legend(&desk, ids[1]), before);
    let again = desk
        .app()
        .shared
        .sessions
        .iter()
        .find(|open| open.id != ids[1]);
    let again = again.expect("the first session").id;
    assert_eq!(of_legend(&desk, again), [0, 1], "its own, which are free");
}

#[test]
fn history_has_the_colour_of_the_curves() {
    let mut desk = two_sessions();
    let second = desk
        .app()
        .shared
        .sessions
        .iter()
        .last()
        .expect("a session")
        .id;
    let own = of_legend(&desk, second);
    let first = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("a session")
        .id;
    desk.act(Action::Sessions(Sessions::Close(first)));
    desk.act(Action::Go(Screen::History));
    desk.until("the case was followed", |app| {
        app.compare.history.found.result.is_some()
    });
    let found = desk
        .app()
        .compare
        .history
        .found
        .result
        .clone()
        .expect("a history");
    assert_eq!(found.chart.series[0].colour, own[0]);
}

#[test]
fn the_legend_says_the_knees_that_have_no_room_on_the_chart() {
    let speeds = [
        speed("ort:cpu", "", 2_900.0, 4_150.0),
        speed("ort:cpu,threads=1", "", 9_000.0, 3_150.0),
        speed("ort:cpu,threads=2", "", 5_000.0, 2_150.0),
        speed("rten:cpu", "", 3_100.0, 4_450.0),
        speed("tract:cpu", "", 200.0, 9_800.0),
    ];
    // Quiet enough for every knee to be settled.
    let speeds = speeds.map(|speed| Speed {
        noise: 0.000_5,
        ..speed
    });
    let session = made("Knees", &speeds, &[1, 2, 4, 8, 16, 32]);
    let mut desk = opened(Home::new(), &session);
    desk.steps(3);
    let knees = &desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("one")
        .findings
        .curves;
    let knees: Vec<String> = knees
        .iter()
        .filter_map(|curve| Some(format!("knee {}", curve.settled_knee()?)))
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

/// Two sessions of different models.
fn two_models() -> Desk {
    let home = Home::new();
    let speeds = [
        speed("ort:cpu", "", 2_900.0, 4_150.0),
        speed("tract:cpu", "", 900.0, 9_800.0),
    ];
    let files = ["resnet50", "mobilenetv2"].map(|name| {
        let mut session = made(name, &speeds, &[1, 2, 4, 8]);
        name.clone_into(&mut session.model.name);
        name.clone_into(&mut session.model.sha256);
        let file = home.path(&format!("{name}.ron"));
        write(&file, &session);
        file
    });
    let mut desk = Desk::awake(home, files.to_vec());
    desk.until("both are open", |app| app.shared.sessions.len() == 2);
    desk.press("Ctrl+4");
    desk
}

/// The names of the charts that are shown.
fn charts(desk: &Desk, title: &str) -> usize {
    let names = desk.names().into_iter();
    names
        .filter(|name| name.starts_with(title) && name.contains(" chart, "))
        .count()
}

#[test]
fn different_models_are_noticed_and_kept_apart() {
    let mut desk = two_models();
    desk.see("2 models: resnet50 and mobilenetv2");
    let models: Vec<usize> = desk
        .app()
        .curves
        .drawn
        .legend
        .iter()
        .map(|entry| entry.model)
        .collect();
    assert_eq!(models, [0, 0, 1, 1], "the legend is grouped");
    assert_eq!(charts(&desk, "Latency"), 1);
    desk.click("Group by model");
    assert_eq!(charts(&desk, "Latency"), 2);
    let by_model = desk.app().curves.drawn.by_model.clone();
    let names: Vec<&str> = by_model.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["resnet50", "mobilenetv2"]);
    for charts in &by_model {
        assert_eq!(charts.latency.series.len(), 2);
        let is_own = charts
            .latency
            .series
            .iter()
            .all(|one| one.name.contains(&charts.name));
        assert!(is_own, "{charts:?}");
    }
    // It is remembered.
    desk.app().remember().expect("it is written down");
    let mut desk = Desk::awake(desk.home, Vec::new());
    desk.until("both are open again", |app| app.shared.sessions.len() == 2);
    desk.press("Ctrl+4");
    assert_eq!(charts(&desk, "Latency"), 2);
    desk.click("Together in one chart");
    assert_eq!(charts(&desk, "Latency"), 1);
    desk.click("Model mobilenetv2");
    desk.see("1 of 2 models: mobilenetv2");
    let shown = desk.app().curves.drawn.latency.series.len();
    assert_eq!(shown, 2);
    desk.click("Show every model");
    assert_eq!(desk.app().curves.drawn.latency.series.len(), 4);
}

#[test]
fn a_limit_is_dragged_on_the_chart_of_a_model() {
    let mut desk = two_models();
    desk.click("Group by model");
    desk.act(Action::Curves(Curves::DragLimit(20e6)));
    let limits = desk.app().curves.drawn.by_model.iter();
    let limits: Vec<bool> = limits.map(|one| one.latency.limit.is_some()).collect();
    assert_eq!(limits, [true, true]);
}

#[test]
fn one_model_is_not_worth_a_word() {
    let desk = two_sessions();
    assert!(!desk.sees("models: "));
    assert!(desk.find("Group by model").is_none());
}

#[test]
fn charts_stand_side_by_side_or_stacked_and_it_is_remembered() {
    let mut desk = two_sessions();
    let places = |desk: &Desk| ["Latency", "Throughput"].map(|title| desk.get(title).rect().min);
    let [latency, throughput] = places(&desk);
    assert!(latency.y == throughput.y && latency.x < throughput.x);
    desk.click("Charts: stacked");
    let [latency, throughput] = places(&desk);
    assert!(latency.x == throughput.x && latency.y < throughput.y);
    desk.app().remember().expect("it is written down");
    let mut desk = Desk::awake(desk.home, Vec::new());
    desk.until("it is open again", |app| app.shared.sessions.len() == 2);
    desk.press("Ctrl+4");
    assert!(desk.app().curves.stacked);
    desk.click("Charts: side by side");
    assert!(!desk.app().curves.stacked);
}

#[test]
fn every_chart_of_the_screen_is_shown_alone_by_its_title() {
    let mut desk = two_sessions();
    let session = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("a session")
        .id;
    let case = CaseKey {
        setup: 0,
        point: Point::of_batch(4),
    };
    desk.act(Action::Curves(Curves::Pin(Some(Pin { session, case }))));
    desk.until("it is pinned", |app| app.curves.pinned.is_some());
    desk.steps(2);
    for (id, title) in [
        ("memory", "Peak memory"),
        ("histogram", "Latency distribution"),
        ("strip", "Latency over time"),
    ] {
        if !desk.names().iter().any(|name| name.starts_with(title)) {
            continue;
        }
        desk.act(Action::Curves(Curves::Enlarge(Some(id))));
        desk.steps(2);
        assert_eq!(desk.app().curves.shown_alone(), Some(id));
        assert_eq!(charts(&desk, title), 1, "{title}: {:#?}", desk.names());
        assert_eq!(charts(&desk, "Throughput"), 0);
        desk.press("Escape");
        assert_eq!(desk.app().curves.enlarged, None);
    }
    assert!(desk.app().curves.pin.is_some());
}

/// Two cases that are pinned.
fn two_pins() -> Desk {
    let mut desk = two_sessions();
    let cases = desk.app().curves.drawn.cases.clone();
    desk.act(Action::Curves(Curves::Pin(Some(cases[0].pin))));
    desk.act(Action::Curves(Curves::PinSecond(Some(cases[4].pin))));
    desk.until("both are drawn", |app| app.curves.two.is_some());
    desk.steps(2);
    desk
}

#[test]
fn two_pinned_cases_are_drawn_over_each_other_with_their_times() {
    let mut desk = two_pins();
    let cases = desk.app().curves.drawn.cases.clone();
    let curves = &desk.app().curves;
    assert_eq!(
        (curves.pin, curves.second),
        (Some(cases[0].pin), Some(cases[4].pin))
    );
    let two = curves.two.clone().expect("charts");
    for chart in [&two.densities, &two.cumulative] {
        let colours: Vec<usize> = chart.series.iter().map(|one| one.colour).collect();
        assert_eq!(colours, [cases[0].colour, cases[4].colour]);
    }
    let pins = |chart: &powerband_findings::chart::spec::ChartSpec| {
        let marks = chart.marks.iter();
        marks
            .filter(|mark| matches!(mark, Mark::Pin { .. }))
            .count()
    };
    assert_eq!(pins(&curves.drawn.latency), 2, "both have a ring");
    let statistics = desk.column("two-cases", "statistic");
    assert_eq!(
        statistics,
        ["Min", "Median", "Mean", "p90", "p99", "Max", "IQR"]
    );
    let number = |desk: &Desk, key: &str| desk.cells("two-cases", key)[1].number.expect("a time");
    let [first, second, difference] =
        ["first_ms", "second_ms", "difference_ms"].map(|key| number(&desk, key));
    assert!((second - first - difference).abs() < 1e-9);
    assert!((number(&desk, "ratio") - second / first).abs() < 1e-9);
    desk.see("Cumulative distribution");
    // Escape takes the second away, and then the first.
    desk.press("Escape");
    let curves = &desk.app().curves;
    assert_eq!((curves.pin, curves.second), (Some(cases[0].pin), None));
    assert!(curves.two.is_none() && desk.app().shared.tables.view("two-cases").is_none());
    desk.press("Ctrl+Shift+D");
    assert_eq!(desk.app().curves.second, Some(cases[1].pin), "the next row");
}

#[test]
fn without_the_first_the_second_pinned_case_is_the_first() {
    let mut desk = two_pins();
    let second = desk.app().curves.second;
    desk.click("Unpin the first case");
    let curves = &desk.app().curves;
    assert_eq!((curves.pin, curves.second), (second, None));
    desk.until("its samples are shown", |app| app.curves.pinned.is_some());
    let session = second.expect("a case").session;
    desk.act(Action::Sessions(Sessions::Close(session)));
    assert_eq!(desk.app().curves.pin, None);
}
