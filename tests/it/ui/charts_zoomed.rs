//! Charts that are zoomed: by a box, by keys and commands, over a redraw; and back to all of them.

use eframe::egui::{Event, Modifiers, PointerButton, Rect, vec2};
use powerband_app::action::{Action, Charts, Curves, RunAction};
use powerband_app::screen::Screen;
use powerband_findings::analysis::batch_curve::Efficiency;
use powerband_findings::chart::figure::Drawing;
use powerband_findings::chart::spec::ChartSpec;
use powerband_findings::chart::view::{ChartView, Zoom};

use super::Desk;
use super::behaviour::long_run;
use super::curves_by_hand::{made, opened};
use super::data::speed;
use crate::support::Home;

const PLOT: &str = "Plot of Throughput";

fn of_two() -> Desk {
    let speeds = [
        speed("ort:cpu", "", 2_900.0, 4_150.0),
        speed("tract:cpu", "", 900.0, 9_800.0),
    ];
    let mut desk = opened(Home::new(), &made("Zoomed", &speeds, &[1, 2, 4, 8, 16]));
    desk.steps(3);
    desk
}

fn view(desk: &Desk, chart: &str) -> Option<ChartView> {
    let views = desk.app().shared.charts.views(desk.app().shared.screen);
    views.get(chart).cloned()
}

fn plot(desk: &Desk) -> Rect {
    desk.get(PLOT).rect()
}

/// Draws a box over a plot, from one share of its width and height to another.
fn draw_box(desk: &mut Desk, from: (f32, f32), to: (f32, f32)) {
    let plot = plot(desk);
    let at = |(x, y): (f32, f32)| plot.min + plot.size() * vec2(x, y);
    desk.harness.hover_at(at(from));
    desk.steps(2);
    desk.harness.drag_at(at(from));
    desk.steps(2);
    desk.harness.hover_at(at(to));
    desk.steps(2);
    desk.harness.drop_at(at(to));
    desk.steps(3);
}

/// What is seen of the chart under the hand.
fn seen(desk: &mut Desk) -> ChartSpec {
    let at = plot(desk).center();
    let shown = desk.figure_at(at);
    // Its notice takes room at the foot of the screen: nothing is clicked while that moves.
    desk.hear("Copied the picture");
    desk.steps(3);
    match &shown.drawing {
        Drawing::Chart(spec) => (**spec).clone(),
        other => panic!("{} is no chart", other.title()),
    }
}

/// Whether two ranges of an axis are one, but for the last digit of a double.
fn is_range(shown: (f64, f64), zoomed: (f64, f64)) -> bool {
    let is_one = |a: f64, b: f64| (a - b).abs() <= 2.0 * f64::EPSILON * b.abs();
    is_one(shown.0, zoomed.0) && is_one(shown.1, zoomed.1)
}

#[test]
fn a_box_shows_what_is_in_it_and_the_axes_follow() {
    let mut desk = of_two();
    let whole = desk.app().curves.drawn.throughput.clone();
    draw_box(&mut desk, (0.3, 0.2), (0.7, 0.6));
    let zoomed = view(&desk, "throughput").expect("a view");
    let share = |axis: &powerband_findings::chart::spec::Axis, at: f64| axis.share(at);
    for (at, wanted) in [
        (share(&whole.x, zoomed.x.0), 0.3),
        (share(&whole.x, zoomed.x.1), 0.7),
        (share(&whole.y, zoomed.y.0), 0.4),
        (share(&whole.y, zoomed.y.1), 0.8),
    ] {
        assert!(
            (at - wanted).abs() < 0.03,
            "{at} is not {wanted}: {zoomed:?}"
        );
    }
    let shown = seen(&mut desk);
    assert!(is_range((shown.x.low, shown.x.high), zoomed.x), "{shown:?}");
    assert!(shown.y.ticks.len() >= 4, "{:?}", shown.y.ticks);
    let inside = |at: f64| (zoomed.y.0..=zoomed.y.1).contains(&at);
    assert!(shown.y.ticks.iter().all(|tick| inside(tick.at)));
    assert_ne!(shown.y.ticks, whole.y.ticks);
    assert!(desk.app().curves.pin.is_none(), "a drag pins nothing");
    // The other charts stay whole, and a pin stays where Escape resets the zoom.
    assert_eq!(view(&desk, "latency"), None);
    desk.click("Reset the zoom");
    assert_eq!(view(&desk, "throughput"), None);
}

#[test]
fn a_thin_box_zooms_along_one_axis_and_a_double_click_shows_all() {
    let mut desk = of_two();
    let whole = desk.app().curves.drawn.throughput.clone();
    draw_box(&mut desk, (0.2, 0.5), (0.6, 0.51));
    let zoomed = view(&desk, "throughput").expect("a view");
    assert!(zoomed.x.0 > whole.x.low && zoomed.x.1 < whole.x.high);
    assert_eq!(zoomed.y, (whole.y.low, whole.y.high));
    let corner = plot(&desk).left_top() + vec2(4.0, 4.0);
    desk.harness.hover_at(corner);
    desk.steps(2);
    for pressed in [true, false, true, false] {
        let click = Event::PointerButton {
            pos: corner,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };
        desk.harness.input_mut().events.push(click);
    }
    desk.steps(3);
    assert_eq!(view(&desk, "throughput"), None);
}

#[test]
fn keys_zoom_the_chart_that_has_the_focus_and_escape_shows_all() {
    let mut desk = of_two();
    desk.get(PLOT).focus();
    desk.steps(2);
    desk.press("Plus");
    let closer = view(&desk, "throughput").expect("a view");
    desk.press("ArrowRight");
    let right = view(&desk, "throughput").expect("a view");
    assert!(right.x.0 > closer.x.0 && right.y == closer.y);
    desk.press("ArrowUp");
    assert!(view(&desk, "throughput").expect("a view").y.0 > right.y.0);
    desk.press("0");
    assert_eq!(view(&desk, "throughput"), None);
    desk.press("Plus");
    desk.press("Minus");
    assert_eq!(view(&desk, "throughput"), None, "back out");
    desk.press("Plus");
    desk.press("Escape");
    assert_eq!(view(&desk, "throughput"), None);
    assert_eq!(desk.app().shared.screen, Screen::Curves);
}

#[test]
fn the_palette_zooms_the_chart_that_the_pointer_was_on() {
    let mut desk = of_two();
    let at = plot(&desk).center();
    desk.harness.hover_at(at);
    desk.steps(2);
    let step = |desk: &mut Desk, title: &str| {
        desk.press("Ctrl+K");
        desk.type_text(title);
        desk.press("Enter");
        desk.steps(3);
    };
    step(&mut desk, "Chart: zoom in");
    assert!(view(&desk, "throughput").is_some());
    step(&mut desk, "Chart: reset zoom");
    assert_eq!(view(&desk, "throughput"), None);
    desk.act(Action::Charts(Charts::Step(Zoom::In)));
    desk.steps(2);
    assert!(view(&desk, "throughput").is_some());
    step(&mut desk, "Charts: reset every zoom");
    assert_eq!(view(&desk, "throughput"), None);
}

#[test]
fn a_zoom_stays_while_other_things_change_and_a_run_measures() {
    let mut desk = of_two();
    draw_box(&mut desk, (0.3, 0.2), (0.7, 0.6));
    let zoomed = view(&desk, "throughput");
    assert!(zoomed.is_some());
    desk.act(Action::Curves(Curves::Efficiency(Efficiency::OfBest)));
    desk.act(Action::Curves(Curves::LogLatency(false)));
    long_run(&mut desk);
    desk.act(Action::Go(Screen::Curves));
    let rounds = |desk: &Desk| {
        let run = desk
            .app()
            .bench
            .run
            .as_ref()
            .and_then(|run| run.session.as_ref());
        let cases = run.expect("a run").cases.iter();
        cases.map(|case| case.rounds.len()).sum::<usize>()
    };
    let before = rounds(&desk);
    desk.step_until("two more rounds", super::PATIENCE, |desk| {
        rounds(desk) >= before + 2
    });
    assert_eq!(view(&desk, "throughput"), zoomed);
    let shown = seen(&mut desk);
    let range = zoomed.map(|view| view.x).expect("a zoom");
    assert!(is_range((shown.x.low, shown.x.high), range), "{shown:?}");
    // A logarithmic axis has other coordinates.
    desk.act(Action::Curves(Curves::LogThroughput(true)));
    desk.steps(3);
    assert_eq!(view(&desk, "throughput"), None);
    desk.act(Action::Run(RunAction::Stop));
    desk.until("the run is over", |app| !app.bench.is_running());
}
