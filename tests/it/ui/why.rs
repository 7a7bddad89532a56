//! Why a case is slow, in the window: points, rows and slices that are selected together, a bar that adds up, and
//! what is said where nothing is known.

use std::path::{Path, PathBuf};

use powerband_app::action::{Action, Kernels, Sessions, Shell, Why};
use powerband_app::library::examples;
use powerband_app::screen::Screen;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::experiment::{
    Experiment, ExperimentChange, Experiments, UnavailableExperiment,
};
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::point::Point;
use powerband_core::domain::profile::{Profile, Tool, Total};
use powerband_core::domain::roofs::{
    Access, ComputeRoof, EngineRoof, Level, MeasuredValue, MemoryRoof, RoofConditions, Roofs,
};
use powerband_core::domain::session::{Completion, Session};
use powerband_core::domain::trace::SliceKind;
use powerband_core::domain::work::{NumberFormat, Work};
use powerband_findings::analysis::limits::bound::Bound;
use powerband_store::session_file;

use super::data;
use super::instances;
use super::kernels::found as added_up;
use super::pictures::{Album, THEMES};
use super::{Desk, write};
use crate::support::Home;

/// Runs of the profile.
const RUNS: u64 = 10;

/// A node: its name, operator, microseconds of a run, millions of operations, and fewest and most kilobytes.
type Node = (&'static str, &'static str, u64, u64, u64, u64);

const NODES: [Node; 9] = [
    ("/layer1/conv1", "Conv", 4_100, 462, 1_400, 2_100),
    ("/layer2/conv2", "Conv", 3_700, 398, 2_100, 2_900),
    ("/layer3/conv3", "Conv", 2_600, 231, 3_200, 3_900),
    ("/layer4/conv4", "Conv", 1_900, 160, 9_400, 10_100),
    ("/add", "Add", 900, 1, 9_600, 9_700),
    ("/pool", "MaxPool", 420, 7, 2_900, 2_900),
    ("/relu", "Relu", 310, 1, 3_200, 3_200),
    ("/fc", "Gemm", 620, 4, 8_200, 8_200),
    ("/shape", "Reshape", 40, 0, 0, 0),
];

fn total((name, op, us, operations, low, high): Node) -> Total {
    let work = Work {
        operations: operations * 1_000_000,
        numbers: NumberFormat::F32,
        low_bytes: low * 1_000,
        high_bytes: high * 1_000,
    };
    Total {
        kind: SliceKind::Kernel,
        name: name.to_owned(),
        op: op.to_owned(),
        place: String::new(),
        calls: RUNS,
        total_ns: us * 1_000 * RUNS,
        min_ns: None,
        max_ns: None,
        work: (operations > 0).then(|| work.times(RUNS)),
    }
}

fn exactly(value: f64) -> MeasuredValue {
    MeasuredValue {
        value,
        low: value * 0.99,
        high: value,
        repetitions: 5,
    }
}

/// The roofs of the machine of the made-up sessions.
fn roofs(session: &Session) -> Roofs {
    let memory = |level, value, working_set_bytes| MemoryRoof {
        level,
        access: Access::Copy,
        threads: 1,
        working_set_bytes,
        code: String::new(),
        per_s: exactly(value),
    };
    Roofs {
        device: "cpu".to_owned(),
        name: session.environment.cpu.model.clone(),
        card: None,
        measured: "2026-09-14T18:00:00Z".to_owned(),
        conditions: RoofConditions::default(),
        clock_mhz: None,
        temperature_c: None,
        compute: vec![ComputeRoof {
            numbers: NumberFormat::F32,
            threads: 1,
            vector_bits: 512,
            code: "AVX-512".to_owned(),
            per_s: exactly(1.48e11),
        }],
        memory: vec![
            memory(Level::Memory, 1.21e10, 1 << 29),
            memory(Level::L3, 2.94e10, 1 << 23),
            memory(Level::L2, 7.4e10, 1 << 19),
        ],
        engines: vec![EngineRoof {
            engine: "ort".to_owned(),
            version: "ONNX Runtime 1.27".to_owned(),
            setup: "ort:cpu".to_owned(),
            threads: 1,
            numbers: NumberFormat::F32,
            product_per_s: Some(exactly(1.29e11)),
            copy_per_s: Some(exactly(1.18e10)),
            launch_ns: Some(exactly(1_900.0)),
        }],
        notes: Vec::new(),
    }
}

/// A profiled case on a machine whose roofs are known.
pub(super) fn session() -> Session {
    let mut session = data::journey();
    "Why is it slow".clone_into(&mut session.name);
    session.environment.cpu.threads = 1;
    let first = session.cases.first().map(|case| case.key());
    let point = first.map_or(Point::of_batch(1), |case| case.point);
    session.reports.clear();
    session.profiles = vec![Profile {
        name: "resnet50, ort:cpu, batch 1".to_owned(),
        format: "onnxruntime".to_owned(),
        tool: Tool {
            name: "ONNX Runtime profiler".to_owned(),
            ..Tool::default()
        },
        runs: Some(RUNS),
        case: Some(CaseKey { setup: 0, point }),
        totals: NODES.map(total).to_vec(),
        span_ns: Some(15_400_000 * RUNS),
        ..Profile::default()
    }];
    session.roofs = vec![roofs(&session)];
    let engine = &session.plan.setups[0].engine;
    session.roofs[0].engines[0].engine.clone_from(engine);
    session
}

fn desk_of(sessions: &[Session]) -> Desk {
    let home = Home::new();
    let paths: Vec<PathBuf> = sessions
        .iter()
        .enumerate()
        .map(|(place, session)| {
            let path = home.path(&format!("why-{place}.ron"));
            write(&path, session);
            path
        })
        .collect();
    let mut desk = Desk::with(home, paths);
    let count = sessions.len();
    desk.until("everything is looked up", |app| {
        app.shared.machine.engines.is_some()
            && app.library.is_scanned
            && app.shared.sessions.len() == count
    });
    desk.act(Action::Go(Screen::Why));
    if count > 0 {
        explained(&mut desk);
    }
    desk.steps(3);
    desk
}

/// Frames until limits were found.
pub(super) fn explained(desk: &mut Desk) {
    desk.until("limits are found", |app| {
        app.profile.why.found.result.is_some() && app.profile.why.found.busy().is_none()
    });
    desk.steps(2);
}

#[test]
fn a_point_a_row_and_a_kernel_are_selected_together() {
    let mut desk = desk_of(&[session()]);
    desk.see("Findings");
    desk.see("by the model");
    assert_eq!(desk.app().profile.why.selected, None);
    desk.act(Action::Why(Why::Select(Some(4))));
    desk.steps(2);
    assert_eq!(desk.app().profile.kernels.selected_kernel(), Some("/add"));
    assert_eq!(desk.app().profile.why.selected, Some(4));
    desk.act(Action::Go(Screen::Kernels));
    added_up(&mut desk);
    let drawn = &desk.app().profile.kernels.drawn;
    let row = drawn.selected.expect("a selected row");
    assert_eq!(desk.column("kernels", "name")[row], "/add");
    assert!(
        desk.column("kernels", "bound")
            .contains(&"memory".to_owned())
    );
    // The other way round, and out of it again.
    let other = powerband_app::kernels::SelectedRow::Kernel("/fc".to_owned());
    desk.act(Action::Kernels(Kernels::Select(Some(other))));
    desk.act(Action::Go(Screen::Why));
    explained(&mut desk);
    assert_eq!(desk.app().profile.why.selected, Some(5), "most time first");
    desk.press("Escape");
    assert_eq!(desk.app().profile.why.selected, None);
    assert_eq!(desk.app().profile.kernels.selected_kernel(), None);
}

#[test]
fn points_are_reached_by_keyboard() {
    let mut desk = desk_of(&[session()]);
    let chart = |desk: &Desk| {
        let mut names = desk.names().into_iter();
        let chart = names.find(|name| name.starts_with("Roofline, resnet50"));
        chart.expect("a roofline")
    };
    let name = chart(&desk);
    assert!(name.contains("/layer1/conv1"), "{name}");
    desk.get(&name).focus();
    desk.steps(2);
    desk.press("Enter");
    desk.steps(2);
    assert_eq!(
        desk.app().profile.why.selected,
        Some(0),
        "the one with most time"
    );
    desk.press("Left");
    assert!(!chart(&desk).contains("/layer1/conv1"));
    desk.press("Enter");
    desk.steps(2);
    let selected = desk.app().profile.why.selected;
    assert!(selected.is_some_and(|node| node != 0), "{selected:?}");
}

#[test]
fn the_bar_adds_up_and_the_table_can_be_taken_along() {
    let mut desk = desk_of(&[session()]);
    let found = desk
        .app()
        .profile
        .why
        .found
        .result
        .clone()
        .expect("a result");
    let bar = found.wall.expect("a bar");
    assert!((bar.covered() - 1.0).abs() < 1e-9, "{bar:?}");
    let limits = found.limits.expect("limits");
    let bound = |place: usize| limits.nodes[place].bound.clone();
    assert_eq!(bound(0), Ok(Bound::Compute));
    assert_eq!(bound(4), Ok(Bound::Memory));
    desk.press("Ctrl+Shift+C");
    desk.hear("Copied 9 nodes to the clipboard");
    let names = desk.column("limits", "name");
    assert_eq!(names[0], "/layer1/conv1");
    desk.act(Action::Table(
        "limits",
        powerband_app::tables::action::TableChange::Sort("left".to_owned()),
    ));
    assert_ne!(desk.column("limits", "name")[0], "/layer1/conv1");
    let table = desk
        .app()
        .shared
        .tables
        .view("limits")
        .expect("a table")
        .to_tsv();
    assert!(
        table.contains("memory") && table.contains("compute"),
        "{table}"
    );
}

#[test]
fn what_is_missing_is_said_and_how_to_get_it() {
    let mut desk = desk_of(&[]);
    desk.see("Nothing to explain yet");
    desk.see("powerband roofs");
    let mut bare = session();
    bare.profiles.clear();
    let mut desk = desk_of(&[bare]);
    desk.see("no profile");
    let mut rootless = session();
    rootless.roofs.clear();
    let mut desk = desk_of(&[rootless]);
    desk.see("Not known");
    desk.see("powerband roofs");
    let mut shapeless = session();
    for total in &mut shapeless.profiles[0].totals {
        total.work = None;
    }
    let mut desk = desk_of(&[shapeless]);
    desk.see("The arithmetic of no node");
}

/// The guide's pictures: what the program itself brings.
#[test]
fn the_example_is_explained_and_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let is_it = |one: &examples::Example| one.file == "resnet50-what-limits-it.ron";
    let place = examples::ALL.iter().position(is_it).expect("an example");
    let mut desk = desk_of(&[]);
    desk.act(Action::Sessions(Sessions::OpenExample(place)));
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    explained(&mut desk);
    let found = desk
        .app()
        .profile
        .why
        .found
        .result
        .clone()
        .expect("a result");
    let limits = found.limits.expect("limits");
    let judged: f64 = limits
        .nodes
        .iter()
        .filter(|node| node.bound.is_ok())
        .map(|node| node.share)
        .sum();
    assert!(judged > 0.9, "{judged}");
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        desk.steps(3);
        album.take(&mut desk, &format!("why-resnet50-{word}"));
    }
    album.close();
}

/// The guide's pictures of a trace from another machine, held against what is published of its card.
#[test]
fn a_trace_of_another_machine_is_answered_and_painted() {
    let mut desk = instances::opened("kineto/resnet50-v100-train.pt.trace.json.gz");
    desk.act(Action::Go(Screen::Why));
    explained(&mut desk);
    let found = desk.app().profile.why.found.result.clone();
    let answer = found.and_then(|found| found.answer).expect("an answer");
    let sum: f64 = answer.weights.iter().map(|one| one.weight).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{answer:?}");
    desk.see("What it rests on");
    desk.see("Nothing computes in");
    let Some(mut album) = Album::open() else {
        return;
    };
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        desk.steps(3);
        album.take(&mut desk, &format!("why-kineto-{word}"));
    }
    album.close();
}

/// The guide's pictures of networks that are limited by one thing each, as they were measured.
#[test]
fn networks_of_four_kinds_are_answered_and_painted() {
    let mut album = Album::open();
    let kinds = [
        ("memory", "memory"),
        ("launch", "launch"),
        ("serial", "serial"),
        ("cache", "cache"),
        // That of a case on another machine.
        ("elsewhere", "compute"),
    ];
    for (name, limit) in kinds {
        let file = format!("tests/fixtures/why/{name}.ron");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let asked = session_file::read(&file).expect("a session").session;
        let mut desk = desk_of(&[asked]);
        let found = desk.app().profile.why.found.result.clone();
        let answer = found.and_then(|found| found.answer).expect("an answer");
        let limits: Vec<&str> = answer.limits.iter().map(|limit| limit.title()).collect();
        assert_eq!(limits, [limit], "{answer:?}");
        desk.see("Half the threads take");
        if name == "elsewhere" {
            desk.see("By the roofs of ssh:gpu1");
            let app = desk.app();
            let looking = app.profile.why.looking.expect("it is shown");
            let named = powerband_app::why::name(&app.shared.sessions, looking);
            assert_eq!(named, "ort:cpu, batch 1, on ssh:gpu1");
        }
        for (theme, word) in THEMES {
            desk.act(Action::Shell(Shell::Theme(theme)));
            desk.steps(3);
            if let Some(album) = &mut album {
                album.take(&mut desk, &format!("why-{name}-{word}"));
            }
        }
    }
    if let Some(album) = album {
        album.close();
    }
}

/// The guide's picture of a comparison that says where the time went.
#[test]
fn two_cases_with_profiles_say_where_the_time_went_and_are_painted() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/why/threads.ron");
    let measured = session_file::read(&file).expect("a session").session;
    let mut desk = desk_of(&[measured]);
    desk.act(Action::Go(Screen::Compare));
    desk.until("the sides are compared", |app| {
        app.compare.sides.found.result.is_some() && app.compare.sides.found.busy().is_none()
    });
    desk.steps(3);
    desk.see("Where the time went");
    desk.see("at the roofs");
    let Some(mut album) = Album::open() else {
        return;
    };
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        desk.steps(3);
        album.take(&mut desk, &format!("compare-why-{word}"));
    }
    album.close();
}

#[test]
fn a_change_that_no_time_was_left_for_can_be_tried() {
    let mut asked = session();
    let point = asked.cases[0].point;
    let experiment = |change, setup| Experiment {
        change,
        setup,
        control: 0,
        point: None,
    };
    asked.plan.experiments = Some(Experiments {
        setup: 0,
        point,
        tried: vec![experiment(ExperimentChange::EightBits, 1)],
        untried: vec![UnavailableExperiment {
            change: ExperimentChange::GraphCapture,
            reason: "it runs on the processor".to_owned(),
        }],
        budget_s: Some(20),
    });
    for case in asked.cases.iter_mut().filter(|case| case.setup == 1) {
        case.rounds.clear();
        case.outcome = Outcome::Cancelled;
    }
    asked.completion = Completion::Complete;
    let mut desk = desk_of(&[asked]);
    desk.see("the 20 s for experiments went to what tells more");
    desk.see("it runs on the processor");
    let names = desk.names();
    assert!(names.contains(&"Try int8".to_owned()), "{names:?}");
    assert!(
        !names.contains(&"Try graph capture".to_owned()),
        "{names:?}"
    );
    // What a larger batch brings is a plan over several of them.
    desk.click("Plan it");
    desk.steps(3);
    assert_eq!(desk.app().shared.screen, Screen::Plan);
    let draft = &desk.app().bench.planner.draft;
    let batch = point.batch();
    let batches = [1, 2, 4, 8].map(|times| (times * batch).to_string());
    assert_eq!(draft.batches, batches.join(", "));
    assert_eq!(draft.setups.len(), 1);
}

#[test]
fn it_is_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk_of(&[session()]);
    desk.act(Action::Why(Why::Select(Some(4))));
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        desk.steps(3);
        album.take(&mut desk, &format!("why-made-up-{word}"));
    }
    album.close();
}
