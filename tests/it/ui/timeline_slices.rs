//! A slice and a measured stretch of a real trace: arguments, module, neighbours of the same name, and the table.

use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::Vec2;
use powerband_app::action::{Action, Shell, Timeline};
use powerband_app::tables::action::TableChange;
use powerband_app::timeline::{OpenTrace, TraceView};
use powerband_core::domain::trace::SliceKind;
use powerband_findings::analysis::timeline::slice_facts;
use powerband_import::reading::read_progress::ReadProgress;
use powerband_import::reading::source::Limits;

use super::pictures::{Album, THEMES};
use super::{Desk, SIZE};
use crate::support::Home;

/// A file among the fixtures.
pub(super) fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import")
        .join(name)
}

/// A vision transformer under PyTorch's profiler, with the stack of Python.
pub(super) const VIT: &str = "kineto/mi300-vit-nsfw-inference.json.gz";

pub(super) fn desk(name: &str) -> Desk {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.act(Action::OpenTrace(fixture(name)));
    desk.until("a timeline", |app| {
        app.profile.timeline.shown.is_some()
            && app.shared.screen == powerband_app::screen::Screen::Timeline
    });
    desk.steps(2);
    desk
}

pub(super) fn change(desk: &mut Desk, change: Timeline) {
    desk.act(Action::Timeline(change));
    desk.steps(2);
}

pub(super) fn view(desk: &Desk) -> TraceView {
    desk.app()
        .profile
        .timeline
        .current()
        .expect("a trace")
        .2
        .clone()
}

pub(super) fn open(desk: &Desk) -> Arc<OpenTrace> {
    Arc::clone(desk.app().profile.timeline.current().expect("a trace").1)
}

/// The first slice of a kind and a name.
fn first(desk: &Desk, kind: SliceKind, name: &str) -> usize {
    let open = open(desk);
    let mut slices = open.trace.slices();
    let found = slices
        .position(|slice| slice.kind == kind && open.trace.names.get(slice.name).contains(name));
    found.expect("such a slice")
}

#[test]
fn a_slice_has_the_arguments_of_the_file_and_its_module() {
    let mut desk = desk(VIT);
    let kernel = first(&desk, SliceKind::Kernel, "SubTensorOpWithScalar1d");
    change(&mut desk, Timeline::GoTo(kernel));
    for words in [
        "grid",
        "65536×1×1",
        "Dispatch Kernel",
        "correlation",
        "External id",
        "Module",
        "ViTModel_0",
        "Launched within",
        "Go to aten::conv2d",
    ] {
        desk.see(words);
    }
    desk.copied.clear();
    desk.click("Copy the arguments");
    desk.steps(2);
    let copied = desk.copied.concat();
    assert!(
        copied.starts_with("grid\t65536×1×1\nblock\t256×1×1\n"),
        "{copied}"
    );
    assert!(copied.contains("correlation\t4789\n"), "{copied}");
    let op = first(&desk, SliceKind::Operator, "aten::conv2d");
    change(&mut desk, Timeline::Select(Some(op)));
    desk.see("Input Dims");
    desk.see("[[4, 3, 224, 224], [768, 3, 16, 16], [768], [], [], [], []]");
    desk.click("Go to nn.Module: ViTModel_0");
    let selected = desk
        .app()
        .profile
        .timeline
        .selected_slice()
        .expect("a slice");
    let name = open(&desk).trace.slice(selected).name;
    assert_eq!(open(&desk).trace.names.get(name), "nn.Module: ViTModel_0");
}

#[test]
fn each_kind_of_file_keeps_its_arguments() {
    for (file, kind, keys) in [
        (
            "kineto/resnet50-v100-train.pt.trace.json.gz",
            SliceKind::Kernel,
            &["grid", "block", "registers per thread", "warps per SM"][..],
        ),
        (
            "onnxruntime/resnet50-cpu-ort1.31.json",
            SliceKind::Kernel,
            &["input_type_shape", "output_type_shape", "node_index"],
        ),
        (
            "nsys/nvfuser-matmul-2024.6.sqlite",
            SliceKind::Kernel,
            &[
                "grid",
                "block",
                "registersPerThread",
                "streamId",
                "correlationId",
            ],
        ),
        (
            "rocprofv3/docs-kernel_trace.csv",
            SliceKind::Kernel,
            &["Workgroup_Size", "VGPR_Count", "Dispatch_Id"],
        ),
        (
            "derived/rocpd-v3-first3000.db",
            SliceKind::Kernel,
            &["grid_size", "workgroup_size", "dispatch_id"],
        ),
    ] {
        let desk = desk(file);
        let slice = first(&desk, kind, "");
        let found = slice_facts::arguments(&open(&desk).trace, slice);
        for key in keys {
            let is_there = found.iter().any(|(known, _)| known == key);
            assert!(is_there, "{file}: {key} is not among {found:?}");
        }
    }
}

#[test]
fn the_file_beside_a_session_has_the_arguments_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.1.trace.json.gz");
    let read = |path: &std::path::Path| {
        let watch = ReadProgress::default();
        let read = powerband_import::read(path, Limits::default(), &watch);
        read.expect("a trace").trace
    };
    let trace = read(&fixture(VIT));
    powerband_store::trace_file::write(&path, &trace).expect("it is written");
    let again = read(&path);
    assert_eq!(again.len(), trace.len());
    for slice in 0..trace.len() {
        let there = again.args().get(slice);
        for pair in trace.args().get(slice) {
            // What we write ourselves replaces what is called the same: the device as a number.
            assert!(
                pair.0 == "device" || there.contains(&pair),
                "{pair:?}: {there:?}"
            );
        }
    }
}

#[test]
fn keys_and_buttons_go_through_the_slices_of_a_name() {
    let mut desk = desk(VIT);
    let op = first(&desk, SliceKind::Operator, "aten::layer_norm");
    change(&mut desk, Timeline::GoTo(op));
    let count = view(&desk).facts.expect("facts").same_name.count;
    assert!(count > 10, "{count}");
    desk.see(&format!("1 of {count}"));
    desk.press("N");
    desk.see(&format!("2 of {count}"));
    desk.click("Next of its name");
    desk.see(&format!("3 of {count}"));
    desk.press("Shift+N");
    desk.click("Previous of its name");
    desk.see(&format!("1 of {count}"));
    assert_eq!(desk.app().profile.timeline.selected_slice(), Some(op));
    desk.press("Shift+N");
    assert_eq!(
        desk.app().profile.timeline.selected_slice(),
        Some(op),
        "it is the first"
    );
}

#[test]
fn arguments_are_searched_too() {
    let mut desk = desk(VIT);
    desk.press("Ctrl+Shift+F");
    desk.type_text("correlation 4789");
    desk.until("hits are there", |app| app.profile.timeline.hits.is_some());
    desk.steps(2);
    let hits = desk.app().profile.timeline.hits.clone().expect("hits");
    assert_eq!(
        (hits.all.len(), hits.by_arguments),
        (2, 2),
        "a launch and its kernel"
    );
    desk.press("Enter");
    desk.see("1 of 2");
    desk.click("Select all with this name");
    desk.until("hits are there", |app| app.profile.timeline.hits.is_some());
    let hits = desk.app().profile.timeline.hits.clone().expect("hits");
    assert_eq!(
        hits.by_arguments, 0,
        "a name in quotation marks is a whole name"
    );
}

#[test]
fn a_measured_stretch_is_a_table_of_names() {
    let mut desk = desk(VIT);
    let whole = open(&desk).timeline.full_range();
    let rows = 0..open(&desk).timeline.rows.len();
    change(
        &mut desk,
        Timeline::Measure(whole, std::iter::once(rows).collect()),
    );
    desk.until("it is added up", |app| {
        app.shared.tables.view("stretch").is_some()
    });
    desk.steps(2);
    desk.see("Selection");
    let found = view(&desk).statistics.expect("statistics");
    assert_eq!(desk.column("stretch", "name").len(), found.names.len());
    assert_eq!(found.distinct, found.names.len(), "all names are listed");
    let slices: u64 = found.names.iter().map(|of| of.slices).sum();
    assert_eq!(slices, found.slices);
    // Sorting by the time without what lies within brings what does something to the top.
    let sort = |key: &str| Action::Table("stretch", TableChange::Sort(key.to_owned()));
    desk.act(sort("self_ms"));
    desk.steps(2);
    let own = desk.cells("stretch", "self_ms");
    assert!(
        own.iter()
            .map(|cell| cell.number)
            .is_sorted_by(|a, b| a >= b)
    );
    let total = desk.cells("stretch", "total_ms");
    let pairs = own.iter().zip(&total);
    assert!(pairs.clone().all(|(own, total)| own.number <= total.number));
    assert!(pairs.clone().any(|(own, total)| own.number < total.number));
    desk.act(Action::Table(
        "stretch",
        TableChange::Filter("layer_norm".to_owned()),
    ));
    desk.steps(2);
    let names = desk.column("stretch", "name");
    assert!(!names.is_empty() && names.iter().all(|name| name.contains("layer_norm")));
    desk.click("Select all with the name aten::layer_norm");
    desk.until("hits are there", |app| app.profile.timeline.hits.is_some());
    let hits = desk.app().profile.timeline.hits.clone().expect("hits");
    assert_eq!(hits.text, "\"aten::layer_norm\"");
    change(&mut desk, Timeline::Select(None));
    assert!(
        desk.app().shared.tables.view("stretch").is_none(),
        "it goes with the stretch"
    );
}

#[test]
fn slices_and_stretches_are_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk(VIT);
    let kernel = first(&desk, SliceKind::Kernel, "SubTensorOpWithScalar1d");
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        change(&mut desk, Timeline::Select(None));
        change(&mut desk, Timeline::GoTo(kernel));
        album.paint(&mut desk, Some(&format!("timeline-slice-{word}")));
        let shown = view(&desk).stretch;
        let rows = 0..open(&desk).timeline.rows.len();
        let around = shown.zoomed(shown.middle(), 0.6);
        change(
            &mut desk,
            Timeline::Measure(around, std::iter::once(rows).collect()),
        );
        desk.until("it is added up", |app| {
            app.shared.tables.view("stretch").is_some()
        });
        desk.steps(2);
        album.paint(&mut desk, Some(&format!("timeline-stretch-{word}")));
    }
    for size in [(900.0, 700.0), (700.0, 700.0)] {
        desk.harness.set_size(Vec2::from(size));
        desk.steps(3);
        album.paint(&mut desk, Some(&format!("timeline-stretch-{}", size.0)));
    }
    desk.harness.set_size(Vec2::from(SIZE));
    album.close();
}
