//! The timeline in the window: moved, zoomed, searched, measured and followed by hand and keys.

use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::{Event, Modifiers, MouseWheelUnit, PointerButton, Pos2, TouchPhase, Vec2, vec2};
use powerband_app::App;
use powerband_app::action::{Action, Sessions, Shell, Timeline};
use powerband_app::kernels::ProfileRef;
use powerband_app::screen::Screen;
use powerband_app::sessions::SessionId;
use powerband_app::timeline::{
    OpenTrace, TimelineSelection, TimelineState, TraceReading, TraceView,
};
use powerband_core::domain::trace::{SliceKind, Trace};
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::timeline::find::SearchHits;
use powerband_findings::analysis::timeline::stretch::TimeRange;
use powerband_store::trace_notes::Note;

use super::every_screen::{SIZES, faults};
pub(super) use super::made_up_trace::made_up;
use super::pictures::{Album, PictureState, THEMES, furnish};
use super::{Desk, SIZE, data, name_of};
use crate::support::Home;

/// A window with a trace in it.
fn desk() -> Desk {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    open(&mut desk, "resnet50-training.pt.trace.json", made_up());
    desk
}

/// A file that is being read.
pub(super) fn read(desk: &mut Desk) {
    let path = desk.path("trace.json");
    let app = desk.app_mut();
    let session = app.shared.sessions.new_id();
    let id = app.profile.timeline.new_id();
    app.profile
        .timeline
        .reading
        .push(TraceReading::new(id, session, path));
}

/// A trace in which every command about the timeline can be given.
pub(super) fn with_all_to_do(app: &mut App) {
    app.shared.screen = Screen::Timeline;
    let timeline = &mut app.profile.timeline;
    if timeline.traces.is_empty() {
        let id = timeline.new_id();
        timeline.put(id, Arc::new(OpenTrace::new("made up", made_up())));
    }
    compare_with_itself(timeline);
    let Some(open) = timeline.current().map(|(_, open, _)| Arc::clone(open)) else {
        return;
    };
    timeline.hits = Some(Arc::new(SearchHits::search(
        &open.trace,
        &open.timeline,
        "relu",
    )));
    let book = timeline
        .shown
        .and_then(|id| timeline.notebooks.get_mut(&id));
    if let Some(book) = book {
        book.notes = vec![Note::default()];
        book.editing = Some(0);
    }
    let kinds = open.trace.kinds().iter().enumerate();
    let mut kernels = kinds.filter(|(_, kind)| **kind == SliceKind::Kernel);
    // One with others of its name before and after it.
    let kernel = kernels.nth(9).map(|(slice, _)| slice);
    timeline.go_to(kernel.unwrap_or_default());
    let last = open.timeline.tracks.last().map(|strand| strand.track);
    let view = timeline.shown.and_then(|id| timeline.views.get_mut(&id));
    if let Some((view, last)) = view.zip(last) {
        view.hidden.insert(last);
    }
}

/// The trace that is shown is compared with another one of the same.
fn compare_with_itself(timeline: &mut TimelineState) {
    let Some((after, open)) = timeline
        .current()
        .map(|(id, open, _)| (id, Arc::clone(open)))
    else {
        return;
    };
    let before = timeline.new_id();
    timeline.put(
        before,
        Arc::new(OpenTrace::new("made up before", made_up())),
    );
    let other = Arc::clone(&timeline.traces[&before]);
    let both = OpenTrace::compared([before, after], [&other, &open], &Rules::default());
    let id = timeline.new_id();
    timeline.put(id, Arc::new(both));
}

/// The trace that is shown is compared with a version of which all took longer, aligned, with a kernel selected.
/// A trace that belongs to the profile that the kernels screen shows.
pub(super) fn with_one_of_a_profile(app: &mut App, session: SessionId) {
    let open = OpenTrace {
        owner: Some((session, 0)),
        ..OpenTrace::new("of a profile", made_up())
    };
    let id = app.profile.timeline.new_id();
    app.profile.timeline.put(id, Arc::new(open));
    app.profile.kernels.looking = Some(ProfileRef {
        session,
        profile: 0,
    });
}

pub(super) fn open(desk: &mut Desk, name: &str, trace: Trace) {
    let timeline = &mut desk.app_mut().profile.timeline;
    let id = timeline.new_id();
    let open = OpenTrace {
        lanes: data::lanes(),
        ..OpenTrace::new(name, trace)
    };
    timeline.put(id, Arc::new(open));
    desk.act(Action::Go(Screen::Timeline));
    desk.steps(2);
}

fn view(desk: &Desk) -> TraceView {
    desk.app()
        .profile
        .timeline
        .current()
        .expect("a trace")
        .2
        .clone()
}

fn change(desk: &mut Desk, change: Timeline) {
    desk.act(Action::Timeline(change));
    desk.steps(2);
}

/// Where a slice is on the screen, found by its time: tracks are wide and rows of the first track on top.
fn place(desk: &Desk, time_ns: f64, below_top: f32) -> Pos2 {
    let canvas = desk
        .nodes()
        .into_iter()
        .find(|node| name_of(node).is_some_and(|name| name.starts_with("Timeline of")))
        .and_then(|node| node.bounding_box())
        .expect("a timeline");
    let left = canvas.x0 as f32 + 168.0;
    let width = canvas.x1 as f32 - left;
    let stretch = view(desk).stretch;
    let share = (time_ns - stretch.from) / stretch.length();
    Pos2::new(left + share as f32 * width, canvas.y0 as f32 + below_top)
}

fn press(desk: &mut Desk, at: Pos2, pressed: bool, modifiers: Modifiers) {
    desk.harness.event(Event::PointerMoved(at));
    desk.harness.event(Event::PointerButton {
        pos: at,
        button: PointerButton::Primary,
        pressed,
        modifiers,
    });
    desk.step();
}

fn drag(desk: &mut Desk, from: Pos2, to: Pos2, modifiers: Modifiers) {
    desk.harness.event(Event::ModifiersChanged(modifiers));
    press(desk, from, true, modifiers);
    for n in 1..=4 {
        let at = from + (to - from) * n as f32 / 4.0;
        desk.harness.event(Event::PointerMoved(at));
        desk.step();
    }
    press(desk, to, false, modifiers);
    desk.harness.event(Event::ModifiersChanged(Modifiers::NONE));
    desk.steps(2);
}

fn click(desk: &mut Desk, at: Pos2) {
    press(desk, at, true, Modifiers::NONE);
    press(desk, at, false, Modifiers::NONE);
    desk.steps(2);
}

/// The first row of the first track: below the overview, the ruler and the device's name.
const FIRST_ROW: f32 = 26.0 + 26.0 + 24.0 + 9.0;

#[test]
fn keys_zoom_and_move_and_a_text_field_keeps_its_letters() {
    let mut desk = desk();
    let whole = view(&desk).stretch;
    desk.press("W");
    desk.press("W");
    let closer = view(&desk).stretch;
    assert!((closer.length() - whole.length() / 1.25 / 1.25).abs() < 1.0);
    desk.press("D");
    assert!(view(&desk).stretch.from > closer.from);
    desk.press("A");
    desk.press("S");
    assert!(view(&desk).stretch.length() > closer.length());
    desk.press("Home");
    assert_eq!(view(&desk).stretch, whole);
    desk.click("Find in the timeline");
    desk.press("W");
    desk.press("D");
    desk.type_text("waf");
    assert_eq!(view(&desk).stretch, whole, "letters are letters in a field");
    assert_eq!(desk.value("Find in the timeline"), "waf");
    desk.see("not found");
    desk.press("Escape");
    desk.press("Ctrl+1");
    desk.press("W");
    assert_eq!(view(&desk).stretch, whole, "only on its own screen");
}

#[test]
fn the_wheel_zooms_at_the_hand_and_dragging_moves() {
    let mut desk = desk();
    let before = view(&desk).stretch;
    let time = 1_500_000.0;
    let at = place(&desk, time, FIRST_ROW);
    desk.harness.event(Event::PointerMoved(at));
    desk.step();
    let ctrl = Modifiers::CTRL | Modifiers::COMMAND;
    desk.harness.event(Event::ModifiersChanged(ctrl));
    desk.harness.event(Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, 200.0),
        phase: TouchPhase::Move,
        source: eframe::egui::MouseWheelSource::Wheel,
        modifiers: ctrl,
    });
    desk.steps(30);
    desk.harness.event(Event::ModifiersChanged(Modifiers::NONE));
    desk.step();
    let zoomed = view(&desk).stretch;
    assert!(zoomed.length() < before.length() * 0.7, "{zoomed:?}");
    let after = place(&desk, time, FIRST_ROW);
    assert!(
        (after.x - at.x).abs() < 2.0,
        "{after:?} is not under the hand at {at:?}"
    );
    drag(&mut desk, at, at + vec2(-200.0, 0.0), Modifiers::NONE);
    let moved = view(&desk).stretch;
    assert!((moved.length() - zoomed.length()).abs() < 1.0);
    let share = (moved.from - zoomed.from) / zoomed.length();
    assert!((0.15..0.6).contains(&share), "{share}");
}

#[test]
fn a_slice_is_selected_and_its_launch_is_found() {
    let mut desk = desk();
    change(
        &mut desk,
        Timeline::Look(TimeRange::new(20_000.0, 140_000.0)),
    );
    let at = place(&desk, 45_000.0, FIRST_ROW);
    click(&mut desk, at);
    let Some(TimelineSelection::Slice(kernel)) = view(&desk).selected else {
        panic!("no slice is selected");
    };
    let open = Arc::clone(desk.app().profile.timeline.current().expect("a trace").1);
    assert_eq!(open.trace.slice(kernel).kind, SliceKind::Kernel);
    desk.see("Launched by");
    desk.see("aten::conv2d");
    desk.press("G");
    let Some(TimelineSelection::Slice(call)) = view(&desk).selected else {
        panic!("no call is selected");
    };
    assert_eq!(open.trace.slice(call).kind, SliceKind::Call);
    assert_eq!(open.trace.slice(call).link, open.trace.slice(kernel).link);
    desk.see("Launched");
    desk.click("Go to");
    assert_eq!(view(&desk).selected, Some(TimelineSelection::Slice(kernel)));
    desk.press("F");
    let fitted = view(&desk).stretch;
    let length = open.trace.slice(kernel).duration_ns as f64;
    assert!((fitted.length() / length - 1.2).abs() < 0.01, "{fitted:?}");
    desk.press("Escape");
    assert_eq!(view(&desk).selected, None);
    assert_eq!(
        desk.app().shared.screen,
        Screen::Timeline,
        "one step at a time"
    );
}

#[test]
fn a_stretch_is_measured_on_the_tracks_it_was_drawn_over() {
    let mut desk = desk();
    let from = place(&desk, 500_000.0, FIRST_ROW);
    let to = place(&desk, 1_500_000.0, FIRST_ROW + 4.0);
    drag(&mut desk, from, to, Modifiers::SHIFT);
    desk.until("it is added up", |app| {
        let current = app.profile.timeline.current();
        current.is_some_and(|(_, _, view)| view.statistics.is_some())
    });
    desk.steps(2);
    let Some(TimelineSelection::Span(measured)) = view(&desk).selected else {
        panic!("nothing is measured");
    };
    assert!(
        (measured.stretch.length() - 1e6).abs() < 2e4,
        "{measured:?}"
    );
    let rows: Vec<usize> = measured.rows.iter().cloned().flatten().collect();
    assert_eq!(rows, [0], "one track");
    let found = view(&desk).statistics.expect("statistics");
    assert_eq!(found.kinds.len(), 1);
    assert_eq!(found.kinds[0].kind, SliceKind::Kernel);
    desk.see("Utilisation by kind");
    desk.see("1 of 5");
    // On the ruler all tracks are meant.
    let from = place(&desk, 500_000.0, 40.0);
    let to = place(&desk, 1_500_000.0, 40.0);
    drag(&mut desk, from, to, Modifiers::NONE);
    desk.see("all 5");
    desk.press("F");
    assert!((view(&desk).stretch.length() - 1.2e6).abs() < 5e4);
    desk.click("Clear");
    assert_eq!(view(&desk).selected, None);
    desk.press("M");
    assert!(desk.app().profile.timeline.measures);
    let before = view(&desk).stretch;
    let middle = before.middle();
    let from = place(&desk, middle, FIRST_ROW);
    drag(&mut desk, from, from + vec2(90.0, 0.0), Modifiers::NONE);
    assert_eq!(view(&desk).stretch, before, "measuring moves nothing");
    assert!(matches!(
        view(&desk).selected,
        Some(TimelineSelection::Span(_))
    ));
}

#[test]
fn names_are_found_and_gone_through() {
    let mut desk = desk();
    desk.press("Ctrl+Shift+F");
    desk.type_text("relu");
    desk.until("hits are there", |app| app.profile.timeline.hits.is_some());
    let count = desk
        .app()
        .profile
        .timeline
        .hits
        .as_ref()
        .map_or(0, |hits| hits.all.len());
    assert!(count > 150, "{count}");
    desk.press("Enter");
    desk.steps(2);
    desk.see(&format!("1 of {count}"));
    desk.press("F3");
    desk.see(&format!("2 of {count}"));
    desk.press("Shift+F3");
    desk.press("Shift+F3");
    desk.see(&format!("{count} of {count}"));
    let slice = desk.app().profile.timeline.selected_slice().expect("a hit");
    let open = Arc::clone(desk.app().profile.timeline.current().expect("a trace").1);
    let times = open.trace.slice(slice);
    assert!(view(&desk).stretch.contains(times.start_ns as f64));
    assert!(!desk.app().profile.timeline.reveals, "it is in sight");
}

#[test]
fn tracks_fold_and_double_clicks_go_into_slices() {
    let mut desk = desk();
    desk.click("Fold thread 4711, main of python 4711");
    assert_eq!(view(&desk).folded.len(), 1);
    desk.click("Unfold thread 4711, main of python 4711");
    assert!(view(&desk).folded.is_empty());
    desk.click("Fold all tracks");
    assert_eq!(view(&desk).folded.len(), 1, "the others have one row");
    change(
        &mut desk,
        Timeline::Look(TimeRange::new(20_000.0, 140_000.0)),
    );
    let at = place(&desk, 45_000.0, FIRST_ROW);
    let ctx = desk.harness.ctx.clone();
    ctx.options_mut(|options| options.input_options.max_double_click_delay = 2.0);
    // A frame is a quarter of a second here, and three clicks are not two.
    desk.steps(30);
    for _ in 0..2 {
        press(&mut desk, at, true, Modifiers::NONE);
        press(&mut desk, at, false, Modifiers::NONE);
    }
    desk.steps(2);
    assert!(view(&desk).stretch.length() < 80_000.0);
}

#[test]
fn a_file_without_times_costs_nothing_that_is_there() {
    let mut desk = desk();
    let fixtures =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import/rocprof-v1");
    let sums = crate::support::files(&fixtures)
        .into_iter()
        .find(|path| path.to_string_lossy().ends_with(".stats.csv"));
    let sums = sums.expect("a file of sums");
    desk.act(Action::OpenTrace(sums));
    // What has no times is shown where sums are.
    desk.see("rocprof-stats");
    assert_eq!(desk.app().shared.screen, Screen::Kernels);
    desk.act(Action::Go(Screen::Timeline));
    let noise = desk.path("noise.bin");
    std::fs::write(&noise, [0_u8, 159, 146, 150]).expect("a file");
    desk.act(Action::Sessions(Sessions::Open(vec![noise])));
    desk.hear("of no format that Powerband knows");
    assert_eq!(desk.app().profile.timeline.traces.len(), 1);
    assert!(desk.app().profile.timeline.reading.is_empty());
    open(&mut desk, "second", made_up());
    desk.see("Trace");
    desk.click("Close the trace");
    assert_eq!(desk.app().profile.timeline.traces.len(), 1);
    desk.click("Close the trace");
    desk.see("No trace is open");
    desk.click("Open a trace…");
    assert!(desk.harness.state().is_path_field_up());
}

#[test]
fn every_control_of_the_timeline_has_a_name() {
    let mut desk = desk();
    let mut found = Vec::new();
    for size in SIZES {
        desk.harness.set_size(Vec2::from(size));
        for selected in [None, Some(40)] {
            change(&mut desk, Timeline::Select(selected));
            found.extend(faults(&desk, &format!("timeline, {size:?}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn timelines_are_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk();
    furnish(&mut desk, PictureState::Empty);
    desk.act(Action::Go(Screen::Timeline));
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        change(&mut desk, Timeline::Select(None));
        change(&mut desk, Timeline::Whole);
        album.take(&mut desk, &format!("timeline-whole-{word}"));
        change(
            &mut desk,
            Timeline::Look(TimeRange::new(480_000.0, 860_000.0)),
        );
        let open = Arc::clone(desk.app().profile.timeline.current().expect("a trace").1);
        let call = open
            .trace
            .slices()
            .position(|slice| slice.kind == SliceKind::Call && slice.start_ns > 600_000);
        change(&mut desk, Timeline::Select(call));
        album.take(&mut desk, &format!("timeline-launch-{word}"));
        let rows = std::iter::once(0..open.timeline.rows.len()).collect();
        let measured = TimeRange::new(520_000.0, 780_000.0);
        change(&mut desk, Timeline::Measure(measured, rows));
        desk.until("it is added up", |app| {
            let current = app.profile.timeline.current();
            current.is_some_and(|(_, _, view)| view.statistics.is_some())
        });
        desk.steps(2);
        album.take(&mut desk, &format!("timeline-measured-{word}"));
        change(&mut desk, Timeline::Select(None));
        change(&mut desk, Timeline::Search("relu".to_owned()));
        desk.until("hits are there", |app| app.profile.timeline.hits.is_some());
        change(&mut desk, Timeline::NextHit(true));
        let at = place(&desk, 560_000.0, FIRST_ROW);
        desk.harness.event(Event::PointerMoved(at));
        desk.steps(3);
        album.take(&mut desk, &format!("timeline-found-{word}"));
        change(&mut desk, Timeline::Search(String::new()));
        desk.harness.event(Event::PointerGone);
        desk.step();
    }
    for (size, word) in [((720.0, 700.0), "narrow"), ((1_920.0, 1_080.0), "wide")] {
        desk.harness.set_size(Vec2::from(size));
        change(
            &mut desk,
            Timeline::Look(TimeRange::new(480_000.0, 1_600_000.0)),
        );
        change(&mut desk, Timeline::Select(Some(60)));
        desk.steps(2);
        album.paint(&mut desk, Some(&format!("timeline-{word}")));
    }
    desk.harness.set_size(Vec2::from(SIZE));
    album.close();
}

#[test]
fn two_traces_are_compared_in_one_timeline() {
    let mut desk = desk();
    open(&mut desk, "after.json", made_up());
    let other = desk.app().profile.timeline.comparable()[0].0;
    change(&mut desk, Timeline::CompareWith(other));
    desk.until("a comparison", |app| {
        app.profile.timeline.comparison().is_some()
    });
    desk.steps(2);
    let (folded, trace) = {
        let (_, open, view) = desk.app().profile.timeline.current().expect("a trace");
        (view.folded.len(), Arc::clone(&open.trace))
    };
    assert!(folded > 0, "threads are folded");
    // What is selected lights up on the other side, too, and says what it gained.
    let merged = {
        let compared = desk
            .app()
            .profile
            .timeline
            .comparison()
            .expect("a comparison");
        Arc::clone(&compared.merged)
    };
    let is_kernel = |slice: &usize| trace.kinds()[*slice] == SliceKind::Kernel;
    let mut kernels = (0..trace.len()).filter(is_kernel);
    let kernel = kernels.find(|slice| merged.row(*slice).is_some() && !merged.is_before(*slice));
    let kernel = kernel.expect("a kernel of the step");
    change(&mut desk, Timeline::GoTo(kernel));
    let counterparts = merged.counterparts(kernel);
    assert!(counterparts.iter().all(|slice| merged.is_before(*slice)));
    assert_eq!(counterparts.len(), 1);
    assert!(
        desk.sees("Matched by"),
        "the card says by what it was matched"
    );
    // Aligned, the two stand above each other, and nothing is measured.
    change(&mut desk, Timeline::Align(true));
    let view = view(&desk);
    change(&mut desk, Timeline::Measure(view.stretch, Vec::new()));
    let state = &desk.app().profile.timeline;
    let compared = state.comparison().expect("a comparison");
    assert!(compared.is_aligned);
    let (_, open, view) = state.current().expect("a trace");
    assert!(!matches!(view.selected, Some(TimelineSelection::Span(_))));
    let times = |slice: usize| {
        open.timeline
            .times(open.timeline.place(slice).expect("a place"))
    };
    assert_eq!(times(kernel), times(counterparts[0]));
    // Closing it leaves both traces.
    let shown = state.shown.expect("a trace");
    change(&mut desk, Timeline::Close(shown));
    assert_eq!(desk.app().profile.timeline.traces.len(), 2);
}
