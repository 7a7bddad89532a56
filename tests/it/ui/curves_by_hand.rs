//! Curves by hand: each axis with its own switch, what the shapes of the curves say; and Home's sessions while
//! something else is searched for.

use std::path::Path;

use eframe::egui::vec2;
use powerband_app::action::{Action, Library, Sessions};
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::session::Session;
use powerband_findings::analysis::{batch_curve, case_rows};
use powerband_findings::chart::figure::Drawing;
use powerband_findings::chart::spec::AxisScale::{self, Linear, Log10};
use powerband_findings::tables::cell::Tone;
use powerband_store::session_file;

use super::data::{SessionSpec, Speed, speed};
use super::pictures::small_session;
use super::{Desk, shelve, write};
use crate::support::Home;

/// Of latency, throughput and efficiency.
fn axes(desk: &Desk) -> [AxisScale; 3] {
    let drawn = &desk.app().curves.drawn;
    [&drawn.latency, &drawn.throughput, &drawn.efficiency].map(|chart| chart.y.scale)
}

/// The axis of the picture that is copied of the throughput chart.
fn copied_scale(desk: &mut Desk) -> AxisScale {
    let inside = desk.get("Throughput").rect().left_bottom() + vec2(120.0, 90.0);
    let shown = desk.figure_at(inside);
    let Drawing::Chart(spec) = &shown.drawing else {
        panic!("no chart is copied");
    };
    assert_eq!(spec.title, "Throughput");
    spec.y.scale
}

#[test]
fn each_axis_has_a_switch_of_its_own() {
    let home = Home::new();
    let file = small_session(&home, "Axes");
    let mut desk = Desk::awake(home, vec![file]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+4");
    assert_eq!(axes(&desk), [Log10, Linear, Linear], "as delivered");
    let before = desk.app().curves.drawn.throughput.clone();
    desk.click("Throughput axis: log");
    assert_eq!(axes(&desk), [Log10, Log10, Linear]);
    let after = &desk.app().curves.drawn.throughput;
    for (plain, logarithmic) in before.series.iter().zip(&after.series) {
        for (plain, point) in plain.points.iter().zip(&logarithmic.points) {
            assert!((point.y - plain.y.log10()).abs() < 1e-9);
        }
    }
    assert_eq!(copied_scale(&mut desk), Log10);
    // Its notice takes room at the foot of the screen: nothing is clicked while that moves.
    desk.hear("Copied the picture");
    desk.steps(3);
    desk.click("Latency axis: linear");
    assert_eq!(axes(&desk), [Linear, Log10, Linear]);
    desk.press("Ctrl+Shift+L");
    assert_eq!(axes(&desk), [Log10, Log10, Linear]);
    desk.press("Ctrl+K");
    desk.type_text("Curves: logarithmic or linear throughput");
    desk.press("Enter");
    assert_eq!(axes(&desk), [Log10, Linear, Linear]);
}

#[test]
fn both_switches_are_remembered() {
    let home = Home::new();
    let file = small_session(&home, "Axes");
    let mut desk = Desk::awake(home, vec![file]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+4");
    desk.click("Throughput axis: log");
    desk.click("Latency axis: linear");
    desk.app().remember().expect("it is written down");
    let mut desk = Desk::awake(desk.home, Vec::new());
    desk.until("it is open again", |app| app.shared.sessions.len() == 1);
    assert_eq!(axes(&desk), [Linear, Log10, Linear]);
}

/// The words of a row.
/// What a row of the table of shapes says.
fn row_texts(desk: &Desk, row: usize) -> Vec<String> {
    let view = desk.app().shared.tables.view("shapes").expect("shapes");
    let cells = (0..view.heads().len()).map(|column| view.cell(row, column));
    cells.map(|cell| cell.shown_text().to_owned()).collect()
}

#[test]
fn what_the_shapes_say_stands_below_the_cases() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    // Its first engine, tract, is none that measures today.
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/sessions/v2/tract-and-onnxruntime.ron");
    desk.act(Action::Sessions(Sessions::Open(vec![file.clone()])));
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+4");
    for header in ["Shape of the curves", "Time per item", "Saturation", "Knee"] {
        desk.see(header);
    }
    let session = session_file::read(&file).expect("a session").session;
    let curves = batch_curve::batch_curves(&case_rows::case_rows(&session));
    let shapes = desk.app().curves.drawn.shapes.len();
    assert_eq!((shapes, curves.len()), (2, 2));
    for (row, curve) in curves.iter().enumerate() {
        let said = row_texts(&desk, row);
        let times = curve.line.map(|line| [line.fixed, line.per_item]);
        let times = times.map(|both| both.map(humanize::duration_ns));
        let unknown = || [UNKNOWN; 2].map(str::to_owned);
        assert_eq!(said[1..3], times.unwrap_or_else(unknown));
        let knee = curve.knee.as_ref().expect("four batch sizes");
        let knee = match knee.settled() {
            Some(Some(batch)) => batch.to_string(),
            Some(None) => "≥ 8".to_owned(),
            None => "not settled".to_owned(),
        };
        assert_eq!(said[4], knee);
        assert_eq!(said[5..], ["8", "none planned"]);
    }
    // On tract batch 2 takes six times as long as batch 1: no line. The other engine has one.
    let [tract, ort] = [row_texts(&desk, 0), row_texts(&desk, 1)];
    assert_eq!((tract[2].as_str(), tract[4].as_str()), (UNKNOWN, "1"));
    assert_ne!(ort[2], UNKNOWN);
    desk.reach("Shape of the curves");
    assert!(desk.sees(&ort[2]), "{ort:?} in {:#?}", desk.names());
    // Its rows are those of the curves that are drawn.
    for left in [1, 0] {
        let legend = &desk.app().curves.drawn.legend;
        let name = format!("Series {}", legend[left].name);
        desk.click(&name);
        assert_eq!(desk.app().curves.drawn.shapes.len(), left);
    }
    desk.steps(2);
    assert!(!desk.sees("Shape of the curves"));
}

pub(super) fn made(name: &str, speeds: &[Speed], batches: &[usize]) -> Session {
    SessionSpec {
        name,
        created: "2026-09-14T18:22:07Z",
        model: "resnet50",
        speeds,
        batches,
        rounds: 2,
        samples: 12,
    }
    .session()
}

pub(super) fn opened(home: Home, session: &Session) -> Desk {
    let file = home.path("one.ron");
    write(&file, session);
    let mut desk = Desk::awake(home, vec![file]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+4");
    desk
}

#[test]
fn a_larger_batch_that_failed_is_told() {
    let speeds = [
        speed("ort:cpu", "", 2_900.0, 4_150.0),
        Speed {
            out_of_memory: Some(8),
            ..speed("tract:cpu", "", 900.0, 9_800.0)
        },
    ];
    let session = made("Larger", &speeds, &[1, 2, 4, 8]);
    let mut desk = opened(Home::new(), &session);
    desk.reach("Shape of the curves");
    desk.see("8: out-of-memory");
    assert_eq!(row_texts(&desk, 0)[5..], ["8", "none planned"]);
    assert_eq!(row_texts(&desk, 1)[5..], ["4", "8: out-of-memory"]);
    let tones: Vec<Tone> = desk
        .cells("shapes", "larger")
        .iter()
        .map(|cell| cell.tone)
        .collect();
    assert_eq!(tones, [Tone::Plain, Tone::Bad]);
    assert!(row_texts(&desk, 0)[1..4].iter().all(|said| said != UNKNOWN));
}

#[test]
fn two_batch_sizes_have_no_shape() {
    let session = made("Short", &[speed("ort:cpu", "", 900.0, 4_150.0)], &[1, 2]);
    let mut desk = opened(Home::new(), &session);
    desk.see("Filter Cases");
    assert!(desk.app().curves.drawn.shapes.is_empty());
    assert!(!desk.sees("Shape of the curves"));
}

#[test]
fn a_search_without_hits_leaves_the_recent_sessions_of_home() {
    let none = "None yet. Start a run to make one.";
    let mut empty = Desk::awake(Home::new(), Vec::new());
    empty.press("Ctrl+1");
    empty.see(none);

    let home = Home::new();
    for (name, created) in [
        ("Alpha", "2026-09-14T18:22:07Z"),
        ("Beta", "2026-10-01T09:00:00Z"),
    ] {
        let mut session = made(name, &[speed("tract:cpu", "", 900.0, 9_800.0)], &[1, 2]);
        created.clone_into(&mut session.created);
        shelve(&home, name, &session);
    }
    let mut desk = Desk::awake(home, Vec::new());
    desk.press("Ctrl+1");
    desk.act(Action::Library(Library::Search("no such words".to_owned())));
    desk.steps(2);
    assert_eq!(desk.app().library.listed_len(), 0);
    desk.see("No session matches these words.");
    let names = desk.names();
    let place = |name: &str| names.iter().position(|said| said == name);
    let (newer, older) = (place("Recent session Beta"), place("Recent session Alpha"));
    assert!(newer.is_some() && newer < older, "{names:#?}");
    assert!(!desk.sees(none));
    // A search with hits takes none away either.
    desk.act(Action::Library(Library::Search("alpha".to_owned())));
    desk.steps(2);
    assert_eq!(desk.app().library.listed_len(), 1);
    assert!(desk.sees("Recent session Beta"));
}
