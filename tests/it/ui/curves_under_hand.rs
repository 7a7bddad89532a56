//! Curves under the hand: the limit that is dragged, the strip that is looked at closer, what failed, a
//! legend that hides, and charts that have nothing to show.

use std::path::Path;
use std::sync::Arc;

use eframe::egui::{Event, Modifiers, PointerButton, Rect, pos2, vec2};
use powerband_app::action::{Action, Curves, Sessions};
use powerband_app::figures::ShownFigure;
use powerband_app::screen::Screen;
use powerband_app::sessions::Pin;
use powerband_core::base::humanize::UNKNOWN;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::outcome::{Outcome, Phase};
use powerband_core::domain::point::Point;
use powerband_findings::analysis::batch_curve::{Efficiency, Statistic};
use powerband_findings::chart::figure::Drawing;
use powerband_findings::chart::spec::Axis;
use powerband_findings::tables::cell::Tone;

use super::Desk;
use super::curves_by_hand::{made, opened};
use super::data::{SessionSpec, Speed, speed};
use super::narrow::live;
use super::pictures::small_session;
use crate::support::Home;

const STRIP: &str = "Latency over time; drag and Ctrl+scroll to zoom";
const LANES: &str = "Device telemetry over the same time";
/// A profile of PyTorch.
const TRACE: &str = "tests/fixtures/import/kineto/resnet18-contiguous.pt.trace.json.gz";
/// Height of the plot of a chart in the window of the tests.
const PLOT: f32 = 202.0;

/// Two setups; of each, the largest batch ran out of memory.
fn with_failures() -> Desk {
    let failing = |spec, fixed, item| Speed {
        out_of_memory: Some(8),
        ..speed(spec, "", fixed, item)
    };
    let speeds = [
        failing("ort:cpu", 2_900.0, 4_150.0),
        failing("tract:cpu", 900.0, 9_800.0),
    ];
    opened(Home::new(), &made("Failing", &speeds, &[1, 2, 4, 8]))
}

fn of_one() -> Desk {
    // Long enough for devices to be read in each case.
    let made = SessionSpec {
        name: "One",
        created: "2026-09-14T18:22:07Z",
        model: "resnet50",
        speeds: &[speed("ort:cpu", "", 2_900.0, 4_150.0)],
        batches: &[1, 2, 4, 8],
        rounds: 2,
        samples: 150,
    };
    opened(Home::new(), &made.session())
}

/// The line of the latency limit.
fn grip(desk: &Desk) -> Rect {
    let names = desk.names();
    let name = names.iter().find(|name| name.starts_with("Latency limit "));
    desk.get(name.expect("a limit")).rect()
}

fn latency_axis(desk: &Desk) -> (f64, f64) {
    let y = &desk.app().curves.drawn.latency.y;
    (y.low, y.high)
}

fn limit(desk: &Desk) -> f64 {
    desk.app().curves.options.limit_ns.expect("a limit")
}

#[test]
fn a_limit_that_is_dragged_stays_under_the_hand() {
    let mut desk = of_one();
    desk.click("Set a latency limit");
    desk.steps(2);
    let (before, at) = (latency_axis(&desk), grip(&desk).center());
    desk.harness.hover_at(at);
    desk.steps(2);
    desk.harness.drag_at(at);
    desk.steps(2);
    desk.harness.hover_at(at - vec2(0.0, 40.0));
    desk.steps(3);
    let first = limit(&desk);
    // A hand that rests drags nothing on, and the line is where it is.
    desk.steps(20);
    assert_eq!(limit(&desk), first);
    assert_eq!(latency_axis(&desk), before);
    assert!((grip(&desk).center().y - at.y + 40.0).abs() < 3.0);
    let above = pos2(at.x, 1.0);
    desk.harness.hover_at(above);
    desk.steps(20);
    let far = limit(&desk);
    let open = desk.app().shared.sessions.iter().next().expect("a session");
    let points = open.findings.curves.iter().flat_map(|curve| &curve.points);
    let longest = points.map(|point| point.median_ns).fold(0.0, f64::max);
    assert!(first < far && far <= longest * 10.001, "{first} {far}");
    assert_eq!(latency_axis(&desk), before);
    desk.harness.drop_at(above);
    desk.steps(3);
    assert_eq!(limit(&desk), far);
    assert!(latency_axis(&desk).1 > before.1, "there is room for it now");
}

/// What is copied of the figure below a caption.
fn copied(desk: &mut Desk, caption: &str) -> Arc<ShownFigure> {
    desk.reach(caption);
    // The caption may be on the screen and the figure not. What is scrolled comes to rest before the hand is
    // laid on it.
    desk.get(caption).scroll_to_me();
    let mut before = None;
    while before != Some(desk.get(caption).rect()) {
        before = Some(desk.get(caption).rect());
        desk.steps(12);
    }
    let inside = desk.get(caption).rect().left_bottom() + vec2(120.0, 60.0);
    desk.figure_at(inside)
}

fn axis_of(shown: &ShownFigure) -> Axis {
    match &shown.drawing {
        Drawing::Chart(spec) => spec.x.clone(),
        Drawing::Lanes(lanes) => lanes.x.clone(),
        other => panic!("{} has no time", other.title()),
    }
}

/// Pins a batch; the answer is the time of its strip as it was made.
fn pin(desk: &mut Desk, batch: usize) -> Axis {
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
        point: Point::of_batch(batch),
    };
    let pin = Pin { session, case };
    desk.act(Action::Curves(Curves::Pin(Some(pin))));
    desk.until("it is pinned", |app| {
        app.curves.pinned.as_ref().is_some_and(|one| one.pin == pin)
    });
    desk.steps(4);
    let pinned = desk.app().curves.pinned.as_ref().expect("a pinned case");
    pinned.strip.x.clone()
}

#[test]
fn every_pinned_case_is_seen_whole_and_its_devices_follow_it() {
    let mut desk = of_one();
    let first = pin(&mut desk, 1);
    assert_eq!(axis_of(&copied(&mut desk, STRIP)), first);
    let second = pin(&mut desk, 8);
    assert!(second.high > 2.0 * first.high, "{first:?} {second:?}");
    assert_eq!(axis_of(&copied(&mut desk, STRIP)), second);
    // The hand is on the strip.
    desk.harness.event(Event::Zoom(2.0));
    desk.steps(3);
    let closer = axis_of(&copied(&mut desk, STRIP));
    let length = |axis: &Axis| axis.high - axis.low;
    assert!(length(&closer) < 0.8 * length(&second), "{closer:?}");
    let lanes = copied(&mut desk, LANES);
    assert!(matches!(lanes.drawing, Drawing::Lanes(_)));
    assert_eq!(axis_of(&lanes), closer);
    let third = pin(&mut desk, 4);
    assert_eq!(axis_of(&copied(&mut desk, STRIP)), third);
    assert_eq!(axis_of(&copied(&mut desk, LANES)).high, third.high);
}

#[test]
fn what_is_opened_is_drawn_alone_until_it_is_added() {
    let home = Home::new();
    let [first, second] = ["First", "Second"].map(|name| small_session(&home, name));
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join(TRACE);
    let run = home.run(&["import", &trace.to_string_lossy(), "--out", "profile.ron"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let profile = home.path("profile.ron");
    let mut desk = Desk::awake(home, vec![first.clone()]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.act(Action::Go(Screen::Curves));
    let drawn = |desk: &Desk| {
        let app = desk.app();
        let drawn = app.curves.drawn_sessions().into_iter();
        let open = drawn.filter_map(|id| app.shared.sessions.get(id));
        open.map(|open| open.session.name.clone())
            .collect::<Vec<_>>()
    };
    desk.act(Action::Sessions(Sessions::Open(vec![second.clone()])));
    desk.until("both are open", |app| app.shared.sessions.len() == 2);
    desk.steps(2);
    assert_eq!(drawn(&desk), ["Second"]);
    desk.see("1 more open, in the legend");
    desk.act(Action::Sessions(Sessions::Add(first.clone())));
    desk.steps(2);
    assert_eq!(drawn(&desk), ["First", "Second"]);
    // An imported profile has no curves, and stands in no legend.
    desk.act(Action::Sessions(Sessions::Add(profile)));
    desk.until("the profile is open", |app| app.shared.sessions.len() == 3);
    desk.steps(2);
    assert_eq!(drawn(&desk), ["First", "Second"]);
    assert!(!desk.sees("more open"));
    // One that is open already is shown alone as well.
    desk.act(Action::Sessions(Sessions::Open(vec![first])));
    desk.steps(2);
    assert_eq!(drawn(&desk), ["First"]);
    // Once it is closed, nothing that is open stays undrawn.
    let only = desk.app().curves.drawn_sessions().into_iter().next();
    desk.act(Action::Sessions(Sessions::Close(only.expect("one"))));
    desk.steps(2);
    assert_eq!(drawn(&desk), ["Second"]);
}

#[test]
fn a_limit_is_typed_with_its_unit() {
    let mut desk = of_one();
    desk.click("Set a latency limit");
    desk.steps(2);
    desk.fill("Latency limit", "12.5 ms");
    desk.press("Enter");
    assert_eq!(limit(&desk), 12.5e6);
    assert_eq!(desk.value("Latency limit"), "12.5 ms");
    // A number alone is in the unit of the axis.
    desk.fill("Latency limit", "14");
    desk.press("Enter");
    desk.steps(2);
    assert_eq!(desk.value("Latency limit"), "14.0 ms");
    desk.fill("Latency limit", "12.5 ms");
    desk.press("Enter");
    desk.steps(2);
    // What is no time leaves the limit as it was.
    for wrong in ["12.5", "soon", ""] {
        desk.fill("Latency limit", wrong);
        desk.press("Enter");
        assert_eq!(limit(&desk), 12.5e6, "{wrong}");
    }
    assert_eq!(desk.value("Latency limit"), "12.5 ms");
    desk.click("Remove the latency limit");
    assert_eq!(desk.app().curves.options.limit_ns, None);
}

#[test]
fn every_setup_that_failed_at_a_batch_is_named() {
    let mut desk = with_failures();
    desk.click("Set a latency limit");
    desk.steps(2);
    let line = grip(&desk);
    let spec = &desk.app().curves.drawn.latency;
    let share = |axis: &Axis, at: f64| ((at - axis.low) / (axis.high - axis.low)) as f32;
    let height = share(&spec.y, spec.limit.as_ref().expect("a limit").y);
    let foot = line.center().y + height * PLOT;
    let x = line.left() + share(&spec.x, 3.0) * line.width();
    let both = [
        "ort:cpu, batch 8: out of memory",
        "tract:cpu, batch 8: out of memory",
    ];
    let is_told = (0..6).any(|step| {
        desk.harness.hover_at(pos2(x, foot - 5.0 * step as f32));
        desk.steps(3);
        both.iter().all(|words| desk.sees(words))
    });
    assert!(is_told, "{:#?}", desk.names());
}

#[test]
fn a_point_of_a_run_is_told_under_the_hand() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.app_mut().bench.run = Some(live());
    desk.act(Action::Go(Screen::Run));
    desk.steps(3);
    let title = desk.get("Throughput so far").rect();
    // Nowhere is farther from one of these places than a point reaches.
    let places = (0..16).flat_map(|row| (0..32).map(move |column| (column, row)));
    let mut places =
        places.map(|(column, row)| vec2(22.0 * column as f32, 22.0 * row as f32 + 24.0));
    let is_told = places.any(|place| {
        desk.harness.hover_at(title.left_bottom() + place);
        desk.steps(2);
        desk.sees("ONNX Runtime\nbatch size ")
    });
    assert!(is_told, "{:#?}", desk.names());
}

#[test]
fn a_series_comes_forward_while_the_keyboard_is_at_it() {
    let mut desk = with_failures();
    let entry = desk.app().curves.drawn.legend[0].clone();
    let name = format!("Series {}", entry.name);
    desk.reach(&name);
    desk.get(&name).focus();
    desk.steps(3);
    assert_eq!(desk.app().curves.highlighted, Some(entry.id));
}

#[test]
fn a_dash_in_the_table_says_why() {
    let mut desk = with_failures();
    desk.act(Action::Curves(Curves::Statistic(Statistic::Mean)));
    desk.steps(2);
    let first = desk.cells("cases", "uncertainty").swap_remove(0);
    assert_eq!(first.text, None, "the interval is that of the median");
    assert_eq!(first.note, "only the median has an interval");
    let outcomes = desk.cells("cases", "flags_and_outcome");
    let failed = outcomes.iter().rposition(|cell| cell.tone == Tone::Bad);
    let failed = failed.expect("a case that failed");
    for key in [
        "latency_ms",
        "uncertainty",
        "min_ms",
        "p99_ms",
        "throughput_per_s",
        "efficiency",
    ] {
        let cell = desk.cells("cases", key).swap_remove(failed);
        assert_eq!(cell.text, None, "{key}");
        assert!(
            !cell.note.is_empty() && !cell.note.contains("interval"),
            "{key}: {}",
            cell.note
        );
    }
    desk.reach(UNKNOWN);
    desk.get(UNKNOWN).hover();
    desk.steps(3);
    desk.see("Only the median has an interval");
}

#[test]
fn what_was_measured_of_a_case_that_failed_later_is_in_the_table() {
    let mut late = made("Late", &[speed("ort:cpu", "", 900.0, 4_150.0)], &[1, 2]);
    let out_of_time = Outcome::TimedOut {
        phase: Phase::Measure,
        limit_ms: 1_000,
    };
    late.cases[0].outcome = out_of_time;
    let desk = opened(Home::new(), &late);
    let latency = desk.cells("cases", "latency_ms").swap_remove(0);
    assert!(latency.number.is_some(), "{latency:?}");
    let efficiency = desk.cells("cases", "efficiency").swap_remove(0);
    assert!(
        efficiency.text.is_none() && efficiency.note.contains("no answer"),
        "{efficiency:?}"
    );
}

#[test]
fn a_hidden_series_does_not_come_forward() {
    let mut desk = with_failures();
    let id = desk.app().curves.drawn.legend[0].id;
    let name = format!("Series {}", desk.app().curves.drawn.legend[0].name);
    desk.reach(&name);
    desk.get(&name).hover();
    desk.steps(3);
    assert_eq!(desk.app().curves.highlighted, Some(id));
    // The hand stays where it clicked.
    desk.click(&name);
    desk.steps(3);
    assert!(!desk.app().curves.drawn.legend[0].shown);
    assert_eq!(desk.app().curves.highlighted, None);
}

#[test]
fn a_chart_without_points_says_why() {
    let mut desk = with_failures();
    assert!(!desk.sees("No case has the 662 samples"));
    desk.act(Action::Curves(Curves::Statistic(Statistic::P99)));
    desk.see("No case has the 662 samples");
    // The interval is that of the median, which is not what stands beside it.
    let intervals = desk.column("cases", "uncertainty");
    assert!(intervals.iter().all(|interval| interval == UNKNOWN));
    desk.act(Action::Curves(Curves::Statistic(Statistic::Median)));
    desk.steps(2);
    assert!(!desk.sees("No case has the 662 samples"));
    assert_ne!(desk.column("cases", "uncertainty")[0], UNKNOWN);
    desk.act(Action::Curves(Curves::Efficiency(Efficiency::OfPeak)));
    desk.see("The peak is not available: ");
}

/// The hand over the plot below a chart's title, from left to right until something stands beside a point.
fn hover_some_point(desk: &mut Desk, title: &str) -> bool {
    let plot = Rect::from_min_size(desk.get(title).rect().left_bottom(), vec2(280.0, PLOT));
    for down in 1..8 {
        for along in 1..16 {
            let at = plot.min + plot.size() * vec2(along as f32 / 16.0, down as f32 / 8.0);
            desk.harness.hover_at(at);
            desk.steps(1);
            if desk.sees("Beside it at batch") {
                return true;
            }
        }
    }
    false
}

#[test]
fn a_point_tells_what_the_other_series_say_at_its_batch() {
    let mut desk = with_failures();
    assert!(hover_some_point(&mut desk, "Throughput"));
    let beside = desk.names().into_iter();
    let mut beside = beside.filter(|name| name.starts_with("Beside it at batch"));
    let words = beside.next().expect("a caption");
    assert!(words.ends_with(", items per second"), "{words}");
}

#[test]
fn a_chart_is_seen_alone_by_a_double_click_on_its_title() {
    let mut desk = with_failures();
    let twice = |desk: &mut Desk, title: &str| {
        let at = desk.get(title).rect().center();
        desk.harness.hover_at(at);
        desk.steps(2);
        // In one frame: those of a test are too far apart for a double click.
        for pressed in [true, false, true, false] {
            let click = Event::PointerButton {
                pos: at,
                button: PointerButton::Primary,
                pressed,
                modifiers: Modifiers::NONE,
            };
            desk.harness.input_mut().events.push(click);
        }
        desk.steps(3);
    };
    twice(&mut desk, "Throughput");
    assert_eq!(desk.app().curves.enlarged, Some("throughput"));
    assert!(
        desk.find("Latency axis: log").is_none(),
        "no other chart is shown"
    );
    let charts = desk.names().into_iter();
    let charts: Vec<String> = charts.filter(|name| name.contains(" chart, ")).collect();
    assert_eq!(
        charts
            .iter()
            .filter(|name| name.starts_with("Throughput"))
            .count(),
        1
    );
    assert!(
        !charts.iter().any(|name| name.starts_with("Efficiency")),
        "{charts:?}"
    );
    twice(&mut desk, "Throughput");
    assert_eq!(desk.app().curves.enlarged, None);
    desk.act(Action::Curves(Curves::Enlarge(Some("latency"))));
    desk.press("Escape");
    assert_eq!(desk.app().curves.enlarged, None);
}
