//! The instances of a kernel beside the bars, and the way from them to the timeline.

use std::path::PathBuf;

use powerband_app::action::{Action, Kernels, Sessions, Timeline};
use powerband_app::kernels::SelectedRow;
use powerband_app::kernels::instances::{InstanceChoice, InstanceSearch};
use powerband_app::screen::Screen;
use powerband_app::sessions::series;
use powerband_app::shell::layout::{Pane, ROOM_FOR_TWO};
use powerband_app::timeline::TimelineSelection as OnTimeline;
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_core::domain::trace::Slice;
use powerband_findings::analysis::breakdown::{BreakdownLevel, FilterGroup};
use powerband_findings::analysis::category::Category;
use powerband_findings::analysis::instances::{Instances, KernelInstance};

use super::kernels::{ask, desk, found, pick};
use super::{Desk, write};
use crate::support::Home;

pub(super) fn real(file: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/fixtures/import").join(file)
}

/// The kernels of a real file, whose timeline is open.
pub(super) fn opened(file: &str) -> Desk {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.act(Action::OpenTrace(real(file)));
    desk.until("a timeline", |app| !app.profile.timeline.traces.is_empty());
    desk.act(Action::Go(Screen::Kernels));
    found(&mut desk);
    ask(&mut desk, Kernels::Level(BreakdownLevel::Kernel));
    desk
}

/// Selects the row with most time; its whole name.
fn select_first(desk: &mut Desk) -> String {
    let found = desk
        .app()
        .profile
        .kernels
        .found
        .result
        .as_ref()
        .expect("a result");
    let row = found.breakdown(BreakdownLevel::Kernel).rows[0].clone();
    desk.click(&format!("Open {}", row.short));
    row.name
}

fn looked_for(desk: &mut Desk) -> Instances {
    let of = |progress: Option<&InstanceSearch>| match progress {
        Some(InstanceSearch::Found(found)) => Some((**found).clone()),
        _ => None,
    };
    let progress = |desk: &Desk| {
        let looked = desk.app().profile.kernels.instances.looked.as_ref();
        of(looked.map(|looked| &looked.progress))
    };
    desk.step_until("instances", super::PATIENCE, |desk| {
        progress(desk).is_some()
    });
    desk.steps(2);
    progress(desk).expect("instances")
}

/// The kernels of the convolutions of a training, and the instances of one of them.
pub(super) fn of_a_convolution(desk: &mut Desk) {
    desk.act(Action::OpenTrace(real(
        "kineto/resnet50-v100-train.pt.trace.json.gz",
    )));
    desk.until("a timeline", |app| !app.profile.timeline.traces.is_empty());
    desk.act(Action::Go(Screen::Kernels));
    found(desk);
    let within = FilterGroup::Category(Category::Convolution);
    ask(desk, Kernels::Within(Some(within)));
    let row = desk.app().profile.kernels.drawn.rows[1];
    let meaning = desk
        .app()
        .profile
        .kernels
        .row_meaning(row)
        .expect("a kernel");
    ask(desk, meaning.opened());
    desk.see("Median of later steps");
    desk.steps(2);
}

fn row_name(instance: &KernelInstance) -> String {
    let start = humanize::duration_ns(instance.start_ns as f64);
    format!("Instance at {start} on the timeline")
}

fn first_instance(found: &Instances) -> String {
    row_name(&found.longest[0])
}

/// The slice that is selected on the timeline, with its name.
fn slice(desk: &Desk) -> Option<(Slice, String)> {
    let (_, open, view) = desk.app().profile.timeline.current()?;
    let selected = view.selected.as_ref().and_then(OnTimeline::slice)?;
    let slice = open.trace.slice(selected);
    Some((slice, open.trace.names.get(slice.name).to_owned()))
}

#[test]
fn nodes_of_onnx_runtime_have_a_time_in_each_run() {
    let mut desk = opened("onnxruntime/resnet50-cpu-ort1.31.json");
    let name = select_first(&mut desk);
    let found = looked_for(&mut desk);
    assert_eq!(found.spread.count, 10);
    let per_run = found.per_step.expect("runs are marked");
    assert_eq!((per_run.word, per_run.spread.count), ("run", 10));
    assert_eq!(per_run.outside, 0);
    desk.see("10 runs");
    desk.see("First run");
    desk.see("Median of later runs");
    desk.see(&humanize::duration_ns(
        per_run.later_ns.expect("later ones"),
    ));
    desk.see("Durations of the instances chart");
    desk.click(&first_instance(&found));
    assert_eq!(desk.app().shared.screen, Screen::Timeline);
    let (longest, called) = slice(&desk).expect("a slice");
    assert_eq!(called, name);
    assert_eq!(longest.duration_ns as f64, found.spread.max_ns);
    desk.act(Action::Go(Screen::Kernels));
    desk.act(Action::Kernels(Kernels::Instance(InstanceChoice::First)));
    desk.steps(2);
    let (first, called) = slice(&desk).expect("a slice");
    assert_eq!(called, name);
    assert_eq!(first.duration_ns as f64, found.durations_ns[0]);
    desk.act(Action::Go(Screen::Kernels));
    desk.steps(2);
    desk.press("Escape");
    assert_eq!(desk.app().profile.kernels.selected(), None);
    assert!(!desk.sees("Instances"));
    assert_eq!(desk.app().shared.screen, Screen::Kernels);
}

#[test]
fn kernels_of_a_training_have_a_time_in_each_step() {
    let mut desk = opened("kineto/resnet50-v100-train.pt.trace.json.gz");
    let first = select_first(&mut desk);
    let found = looked_for(&mut desk);
    let per_step = found.per_step.expect("steps are marked");
    assert_eq!((per_step.word, per_step.spread.count), ("step", 6));
    assert_eq!(per_step.outside, 0, "each was launched in a step");
    let sum = per_step.spread.total_ns;
    assert!((sum - found.spread.total_ns).abs() < 1.0);
    desk.see("6 steps");
    // Another one, of the same timeline.
    let result = desk
        .app()
        .profile
        .kernels
        .found
        .result
        .as_ref()
        .expect("a result");
    let second = result.breakdown(BreakdownLevel::Kernel).rows[1].clone();
    assert_ne!(second.name, first);
    ask(
        &mut desk,
        Kernels::Select(Some(SelectedRow::Kernel(second.name.clone()))),
    );
    let found = looked_for(&mut desk);
    assert_eq!(found.spread.count, second.calls);
    assert_eq!(found.spread.total_ns, second.total_ns as f64);
}

#[test]
fn each_instance_is_a_row_that_leads_to_the_timeline() {
    let mut desk = opened("kineto/resnet50-v100-train.pt.trace.json.gz");
    let name = select_first(&mut desk);
    let found = looked_for(&mut desk);
    let durations = desk.cells("instances", "duration_ms");
    let durations: Vec<f64> = durations.iter().filter_map(|cell| cell.number).collect();
    assert_eq!(durations.len() as u64, found.spread.count);
    assert!(durations.is_sorted_by(|one, next| one >= next));
    assert_eq!(desk.column("instances", "stream")[0], "stream 7");
    let is_size = |text: &String| text.contains(['×', ',']);
    for key in ["grid", "block"] {
        assert!(desk.column("instances", key).iter().all(is_size), "{key}");
    }
    desk.click(&row_name(&found.longest[1]));
    assert_eq!(desk.app().shared.screen, Screen::Timeline);
    let (second, called) = slice(&desk).expect("a slice");
    assert_eq!(
        (called, second.duration_ns),
        (name, found.longest[1].duration_ns)
    );
}

#[test]
fn the_timeline_beside_a_session_is_read_for_them() {
    let mut desk = opened("rocprofv3/docs-kernel_trace.csv");
    let session = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("a session")
        .id;
    let kept = desk.path("kept.ron");
    desk.act(Action::Sessions(Sessions::SaveAs(
        session,
        Some(kept.clone()),
    )));
    desk.hear("Saved");
    let trace = desk.app().profile.timeline.shown.expect("a trace");
    desk.act(Action::Timeline(Timeline::Close(trace)));
    assert!(desk.app().profile.timeline.traces.is_empty());
    desk.act(Action::Go(Screen::Kernels));
    found(&mut desk);
    let name = select_first(&mut desk);
    let found = looked_for(&mut desk);
    desk.see("The file does not mark steps or runs.");
    assert!(
        desk.app().profile.timeline.traces.is_empty(),
        "nothing is opened"
    );
    desk.click(&first_instance(&found));
    desk.until("a timeline", |app| !app.profile.timeline.traces.is_empty());
    desk.steps(2);
    let (longest, called) = slice(&desk).expect("a slice");
    assert_eq!(called, name);
    assert_eq!(longest.duration_ns as f64, found.spread.max_ns);
}

#[test]
fn nodes_of_an_examined_setup_lead_to_its_graph() {
    let home = Home::new();
    let path = home.path("examined.ron");
    let mut session = super::kernels::session();
    session.profiles[0].case = Some(CaseKey {
        setup: 0,
        point: Point::of_batch(1),
    });
    session.examinations = super::accuracy::judged().examinations;
    write(&path, &session);
    let mut desk = Desk::awake(home, vec![path]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.act(Action::Go(Screen::Kernels));
    found(&mut desk);
    ask(&mut desk, Kernels::Level(BreakdownLevel::Kernel));
    select_first(&mut desk);
    desk.click("Nodes in the graph");
    assert_eq!(desk.app().shared.screen, Screen::Network);
    let session = desk.app().shared.sessions.iter().next().expect("open").id;
    assert_eq!(desk.app().curves.examined, Some(series(session, 0)));
    // A profile of no case of the session has no graph.
    desk.act(Action::Go(Screen::Kernels));
    ask(&mut desk, Kernels::Look(pick(1)));
    select_first(&mut desk);
    assert!(desk.find("Nodes in the graph").is_none());
}

#[test]
fn where_there_are_sums_only_the_panel_says_so() {
    let mut desk = desk();
    ask(&mut desk, Kernels::Level(BreakdownLevel::Kernel));
    let name = select_first(&mut desk);
    desk.see("No instances to show: the profile has sums only, no timeline.");
    assert!(!desk.sees("Instance at "));
    // The same kernel in a profile without it: nothing is shown of it.
    ask(&mut desk, Kernels::Look(pick(1)));
    assert!(!desk.sees("No instances to show"));
    assert_eq!(
        desk.app().profile.kernels.selected_kernel(),
        Some(name.as_str())
    );
    assert_eq!(desk.app().profile.kernels.drawn.selected, None);
    // Against that one it is shown, and which side it is on.
    ask(&mut desk, Kernels::Before(Some(pick(0))));
    desk.see("In the profile before");
    assert!(desk.app().profile.kernels.drawn.selected.is_some());
    desk.click("Close the instances");
    assert!(!desk.sees("No instances to show"));
}

#[test]
fn what_limits_a_profile_stands_above_its_kernels_and_its_timeline() {
    let mut desk = opened("kineto/resnet50-v100-train.pt.trace.json.gz");
    let sentence = |desk: &mut Desk| {
        desk.until("what limits it", |app| {
            app.profile.why.found.result.is_some()
        });
        desk.steps(2);
        let found = desk.app().profile.why.found.result.as_ref();
        let main = found.and_then(|found| found.headline());
        main.expect("a headline").sentence
    };
    for screen in [Screen::Kernels, Screen::Timeline] {
        desk.act(Action::Go(screen));
        let said = sentence(&mut desk);
        assert!(desk.sees(&said), "{screen:?}: {said}");
    }
    // There is room for both.
    desk.harness
        .set_size(eframe::egui::vec2(ROOM_FOR_TWO + 500.0, 900.0));
    desk.steps(3);
    desk.click("Why is it limited so");
    let shared = &desk.app().shared;
    assert_eq!(
        (shared.screen, shared.screen_in(Pane::Right)),
        (Screen::Timeline, Some(Screen::Why))
    );
}
