//! Setups as forms: controls and text in step, slips, completion, the matrix, and the table of cases.

use egui_kittest::kittest::NodeT as _;
use powerband_app::action::{Action, Shell};
use powerband_app::plan::{ArrivalMode, DraftSetup, MatrixEdit, PlanEdit, PlanField};
use powerband_app::screen::Screen;
use powerband_core::domain::plan::Profiler;
use powerband_planning::form::fields;

use super::pictures::{self, Album};
use super::{Desk, data, narrow};
use crate::support::Home;

/// A plan with one setup of ONNX Runtime, on a machine that has it.
fn with_one() -> Desk {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.app_mut().shared.machine.engines = Some(data::engines(true));
    desk.act(Action::Go(Screen::Plan));
    desk.act(Action::Plan(PlanEdit::Clear));
    desk.act(Action::Plan(PlanEdit::Add("ort:cpu".to_owned())));
    desk
}

fn text(desk: &Desk) -> String {
    desk.value("Setup 1")
}

/// A control for each field of the list that has one, with everything on that shows it.
#[test]
fn fields_of_a_plan_have_their_controls() {
    let mut desk = with_one();
    let draft = &mut desk.app_mut().bench.planner.draft;
    draft.setups[0].spec = "ort:cpu,where=ssh:a".to_owned();
    draft.setups.push(DraftSetup {
        spec: "ort:cpu,where=ssh:b".to_owned(),
        ..DraftSetup::default()
    });
    "sequence=8".clone_into(&mut draft.sweeps);
    "x=Nx8".clone_into(&mut draft.shapes);
    "x=ones".clone_into(&mut draft.fills);
    draft.requests = ArrivalMode::AtRandom;
    draft.accuracy = true;
    draft.profile = Some(Profiler::Engine);
    desk.steps(3);
    for info in fields::ALL
        .iter()
        .filter(|info| info.without_control.is_empty())
    {
        let name = info.field.name();
        let has_choices = desk.sees(&format!("{name}: "));
        assert!(has_choices || desk.find(&name).is_some(), "{name}");
    }
}

/// What a screen reader says about a control beyond its name.
fn description(desk: &Desk, name: &str) -> String {
    let node = desk.get(name);
    node.accesskit_node()
        .data()
        .description()
        .unwrap_or_default()
        .to_owned()
}

fn specs(desk: &Desk) -> Vec<&str> {
    let setups = desk.app().bench.planner.draft.setups.iter();
    setups.map(|setup| setup.spec.as_str()).collect()
}

#[test]
fn controls_write_the_text() {
    let mut desk = with_one();
    desk.click("Precision of setup 1");
    desk.click("fp16");
    assert_eq!(text(&desk), "ort:cpu,precision=fp16");
    desk.fill("Threads of setup 1", "2");
    assert_eq!(text(&desk), "ort:cpu,precision=fp16,threads=2");
    desk.fill("Replicas of setup 1", "3");
    assert_eq!(text(&desk), "ort:cpu,copies=3,precision=fp16,threads=2");
    desk.click("Undo");
    desk.click("Undo");
    assert_eq!(
        text(&desk),
        "ort:cpu,precision=fp16",
        "two fields, two steps"
    );
    desk.click("Precision of setup 1");
    desk.click("fp32");
    assert_eq!(text(&desk), "ort:cpu", "the default is not written");
    desk.click("Graph optimisation of setup 1");
    desk.click("basic");
    assert_eq!(text(&desk), "ort:cpu,opt=basic");
    desk.click("Engine of setup 1");
    desk.click("rten");
    assert_eq!(text(&desk), "rten:cpu", "rten has no such key");
}

#[test]
fn every_key_has_its_control_behind_more() {
    let mut desk = with_one();
    assert!(desk.find("spinning of setup 1").is_none());
    desk.click("More options of setup 1");
    desk.click("spinning of setup 1");
    assert_eq!(text(&desk), "ort:cpu,spinning=off");
    desk.click("spinning of setup 1");
    assert_eq!(text(&desk), "ort:cpu", "on is the default");
    // A key without an effect says why, for screen readers too.
    let why = description(&desk, "inter_threads of setup 1");
    assert!(why.contains("parallel=on"), "{why}");
    assert!(
        desk.get("inter_threads of setup 1")
            .accesskit_node()
            .is_disabled()
    );
    desk.click("parallel of setup 1");
    desk.fill("inter_threads of setup 1", "2");
    assert_eq!(text(&desk), "ort:cpu,inter_threads=2,parallel=on");
    desk.fill("memory of setup 1", "4GiB");
    desk.press("Enter");
    assert!(text(&desk).contains(",memory=4GiB"), "{}", text(&desk));
    desk.click("Choose model of setup 1");
    desk.fill("Path", "/tmp/other.onnx");
    desk.press("Enter");
    assert!(
        text(&desk).contains(",model=/tmp/other.onnx"),
        "{}",
        text(&desk)
    );
    desk.click("Fewer options of setup 1");
    assert!(desk.sees("More (4)…") || desk.find("More options of setup 1").is_some());
    desk.act(Action::Plan(PlanEdit::Engine(0, "torch".to_owned())));
    desk.click("More options of setup 1");
    let why = description(&desk, "Precision of setup 1");
    assert!(why.contains("mode="), "{why}");
}

#[test]
fn the_text_sets_the_controls() {
    let mut desk = with_one();
    desk.fill("Setup 1", "ort:cpu,threads=3,precision=int8,copies=2");
    desk.press("Escape");
    assert_eq!(desk.value("Threads of setup 1"), "3");
    assert_eq!(desk.value("Replicas of setup 1"), "2");
    assert_eq!(desk.value("Precision of setup 1"), "int8");
    assert_eq!(
        text(&desk),
        "ort:cpu,threads=3,precision=int8,copies=2",
        "as typed"
    );
    // What cannot be read stays in the text.
    desk.fill("Setup 1", "ort:cpu,threads=3,nonsense");
    desk.press("Escape");
    desk.fill("Threads of setup 1", "4");
    assert_eq!(text(&desk), "ort:cpu,threads=4,nonsense");
}

#[test]
fn a_slip_is_said_and_put_right() {
    let mut desk = with_one();
    for (wrong, said, button, right) in [
        (
            "ort:cpu,precison=fp16",
            "did you mean precision?",
            "Use precision in place of precison",
            "ort:cpu,precision=fp16",
        ),
        (
            "ort:cpu,opt=extendd",
            "did you mean extended?",
            "Use extended in place of extendd",
            "ort:cpu,opt=extended",
        ),
        (
            "otr:cpu",
            "did you mean ort?",
            "Use ort in place of otr",
            "ort:cpu",
        ),
    ] {
        desk.fill("Setup 1", wrong);
        desk.press("Escape");
        desk.see(said);
        desk.click(button);
        assert_eq!(text(&desk), right);
        assert!(!desk.sees(said));
        desk.press("Ctrl+Z");
        assert_eq!(text(&desk), wrong, "a step of its own");
    }
}

#[test]
fn words_are_completed_by_keys_and_by_the_mouse() {
    let mut desk = with_one();
    desk.fill("Setup 1", "ort:cpu,prec");
    desk.see("Complete precision=");
    desk.press("Tab");
    assert_eq!(text(&desk), "ort:cpu,precision=");
    desk.see("Complete int8");
    desk.press("ArrowDown");
    desk.press("Enter");
    assert_eq!(text(&desk), "ort:cpu,precision=fp16");
    assert!(!desk.sees("Complete "), "it is complete");
    desk.type_text(",opt=");
    desk.click("Complete none");
    assert_eq!(text(&desk), "ort:cpu,precision=fp16,opt=none");
    // The cursor is behind it.
    desk.type_text(",thr");
    assert_eq!(text(&desk), "ort:cpu,precision=fp16,opt=none,thr");
    desk.see("Complete threads=");
    desk.press("Escape");
    assert!(!desk.sees("Complete "), "hidden");
    desk.press("ArrowDown");
    desk.see("Complete threads=");
    desk.press("Tab");
    desk.type_text("2");
    assert_eq!(text(&desk), "ort:cpu,precision=fp16,opt=none,threads=2");
    // Without a list, Tab leaves the field.
    desk.press("Tab");
    assert!(!desk.get("Setup 1").is_focused());
}

#[test]
fn what_is_not_here_is_greyed_with_the_reason() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.app_mut().shared.machine.engines = Some(data::engines(false));
    desk.act(Action::Go(Screen::Plan));
    desk.act(Action::Plan(PlanEdit::Add("rten:cpu".to_owned())));
    desk.click("Engine of setup 1");
    let why = description(&desk, "ONNX Runtime");
    assert!(why.contains("No library was found"), "{why}");
    assert!(desk.get("ONNX Runtime").accesskit_node().is_disabled());
    desk.get("ONNX Runtime").click();
    desk.steps(2);
    assert_eq!(text(&desk), "rten:cpu");
}

#[test]
fn a_matrix_adds_setups_in_one_step() {
    let mut desk = with_one();
    desk.click("Matrix…");
    for value in ["fp32", "fp16", "int8"] {
        desk.click(&format!("Precision {value}, add"));
    }
    desk.fill("Values of Threads", "1, 2");
    desk.click("Add 6 setups");
    assert_eq!(
        specs(&desk),
        [
            "ort:cpu",
            "ort:cpu,threads=1",
            "ort:cpu,threads=2",
            "ort:cpu,precision=fp16,threads=1",
            "ort:cpu,precision=fp16,threads=2",
            "ort:cpu,precision=int8,threads=1",
            "ort:cpu,precision=int8,threads=2",
        ]
    );
    assert!(desk.find("Values of Threads").is_none(), "it is closed");
    desk.click("Undo");
    assert_eq!(specs(&desk), ["ort:cpu"]);
    desk.click("Redo");
    assert_eq!(specs(&desk).len(), 7);
}

#[test]
fn a_matrix_says_what_it_leaves_out() {
    let mut desk = with_one();
    desk.click("Matrix…");
    desk.fill("Values of Threads", "0, 2");
    desk.see("Left out: ort:cpu,threads=0: threads=0 is not a whole number from 1 to 4096");
    desk.click("Another key of the matrix");
    desk.click("spinning");
    desk.click("spinning off, add");
    desk.click("spinning on, add");
    desk.see("Add 2 setups");
    desk.click("Close the matrix");
    assert!(desk.find("Values of Threads").is_none());
    assert_eq!(specs(&desk), ["ort:cpu"]);
}

/// Three precisions of one engine, from an empty plan: four clicks.
#[test]
fn three_precisions_take_five_clicks() {
    let mut desk = with_one();
    desk.act(Action::Plan(PlanEdit::Remove(0)));
    for name in [
        "Matrix…",
        "Precision fp32, add",
        "Precision fp16, add",
        "Precision int8, add",
    ] {
        desk.click(name);
    }
    desk.click("Add 3 setups");
    assert_eq!(
        specs(&desk),
        [
            "ort:cpu",
            "ort:cpu,precision=fp16",
            "ort:cpu,precision=int8"
        ]
    );
}

#[test]
fn the_cases_of_the_plan_add_up_to_its_estimate() {
    let mut desk = with_one();
    desk.act(Action::Plan(PlanEdit::Add("rten:cpu".to_owned())));
    desk.act(Action::Plan(PlanEdit::Text(
        PlanField::Batches,
        "1, 4, 16".to_owned(),
    )));
    desk.steps(2);
    assert_eq!(desk.column("planned", "setup").len(), 6);
    assert_eq!(
        desk.column("planned", "batch"),
        ["1", "4", "16", "1", "4", "16"]
    );
    assert_eq!(desk.column("planned", "rounds")[0], "5");
    let app = desk.app();
    let plan = app.bench.planned(&app.shared).expect("a plan");
    let refused = app.shared.machine.refused(&plan);
    let estimate = app.bench.estimate(&plan, &refused);
    let sum = |key: &str| -> f64 {
        let cells = desk.cells("planned", key).into_iter();
        cells.filter_map(|cell| cell.number).sum()
    };
    assert!((sum("estimate_s") - estimate.high_s).abs() < 1e-6);
    assert!((sum("least_s") - estimate.low_s).abs() < 1e-6);
    let total = format!("Total: 6 cases, {estimate}");
    desk.see(&total);
    // The card at the side says the same.
    desk.see(&estimate.to_string());
    // A fault takes the table away, and says so.
    desk.act(Action::Plan(PlanEdit::Text(
        PlanField::Batches,
        "0".to_owned(),
    )));
    desk.see("Fix the marked fields to see what will be measured.");
    assert!(desk.app().shared.tables.view("planned").is_none());
}

#[test]
fn a_setup_that_cannot_run_here_has_no_estimate() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.app_mut().shared.machine.engines = Some(data::engines(false));
    desk.act(Action::Go(Screen::Plan));
    desk.act(Action::Plan(PlanEdit::Text(
        PlanField::Batches,
        "1".to_owned(),
    )));
    for spec in ["rten:cpu", "ort:cpu"] {
        desk.act(Action::Plan(PlanEdit::Add(spec.to_owned())));
    }
    desk.steps(2);
    let estimates = desk.cells("planned", "estimate_s");
    assert!(estimates[0].number.is_some());
    assert_eq!(estimates[1].number, None);
    assert!(estimates[1].note.contains("no library was found"));
    desk.see("Total: 1 case, ");
}

#[test]
fn nothing_of_a_setup_is_cut_off_in_a_narrow_window() {
    let mut desk = with_one();
    desk.act(Action::Plan(PlanEdit::More(Some(0))));
    for size in [(1280.0, 800.0), (900.0, 700.0), (700.0, 600.0)] {
        narrow::resize(&mut desk, size);
        for name in [
            "Name of setup 1",
            "Engine of setup 1",
            "Device of setup 1",
            "Remove setup 1",
            "Precision of setup 1",
            "Graph optimisation of setup 1",
            "Replicas of setup 1",
            "Fewer options of setup 1",
            "Setup 1",
            "calibration of setup 1",
            "Choose calibration of setup 1",
        ] {
            narrow::reach(&mut desk, size, name);
        }
        let clashes = desk.clashes();
        assert!(clashes.is_empty(), "{size:?}: {clashes:?}");
    }
}

#[test]
fn a_card_has_the_menu_of_its_setup() {
    let mut desk = with_one();
    desk.right_click("Colour of setup 1");
    desk.click("Matrix of this setup…");
    assert!(desk.find("Values of Threads").is_some());
    desk.right_click("Colour of setup 1");
    desk.click("Duplicate");
    assert_eq!(specs(&desk).len(), 2);
}

/// A plan of three setups with everything unfolded.
fn unfolded() -> Desk {
    let mut desk = pictures::desk(pictures::PictureState::Small, 1.0);
    desk.act(Action::Go(Screen::Plan));
    let third = PlanEdit::Add("ort:cpu,precision=fp16".to_owned());
    desk.act(Action::Plan(third));
    let slip = PlanEdit::Add("ort:cpu,precison=fp16".to_owned());
    desk.act(Action::Plan(slip));
    let unfold = PlanEdit::More(Some(0));
    desk.act(Action::Plan(unfold));
    desk.click("Matrix…");
    desk.act(Action::Plan(PlanEdit::Matrix(MatrixEdit::Base(0))));
    desk.click("Precision fp16, add");
    desk.click("Precision int8, add");
    desk.fill("Values of Threads", "0, 2");
    desk
}

#[test]
fn the_form_is_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = pictures::desk(pictures::PictureState::Small, 1.0);
    desk.act(Action::Go(Screen::Plan));
    desk.fill("Setup 1", "ort:cpu,pre");
    album.take(&mut desk, "plan-form-completion");
    let mut desk = unfolded();
    for (theme, word) in pictures::THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        for (width, height) in [(1280.0, 2_300.0), (900.0, 2_700.0)] {
            narrow::resize(&mut desk, (width, height));
            desk.steps(2);
            album.take(&mut desk, &format!("plan-form-{width}-{word}"));
        }
    }
    album.close();
}
