//! Traces as they are opened, searched and closed: what counts as work, and what goes with a session.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::Shape;
use powerband_app::action::{Action, Sessions, Timeline as Change};
use powerband_app::screen::Screen;
use powerband_app::timeline::OpenTrace;
use powerband_core::domain::trace::{Slice, SliceKind, Trace, Track};

use super::Desk;
use crate::support::Home;

/// Kernels of two names, on a track whose name has no room.
fn made_up() -> Trace {
    let mut trace = Trace::default();
    let stream = trace.track(Track {
        device: Some(0),
        group: "GPU 0".to_owned(),
        name: "stream 7 of whoever gave it such a long name".to_owned(),
    });
    let names = ["relu", "gemm"].map(|name| trace.names.number(name));
    for n in 0..20_i64 {
        let name = names[n as usize % 2];
        trace.push(Slice::new(SliceKind::Kernel, name, stream, n * 100, 60));
    }
    trace
}

fn put(desk: &mut Desk, name: &str) {
    let timeline = &mut desk.app_mut().profile.timeline;
    let id = timeline.new_id();
    timeline.put(id, Arc::new(OpenTrace::new(name, made_up())));
    desk.act(Action::Go(Screen::Timeline));
    desk.steps(2);
}

fn desk() -> Desk {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    put(&mut desk, "first");
    desk
}

fn search(desk: &mut Desk, words: &str) {
    desk.act(Action::Timeline(Change::Search(words.to_owned())));
    desk.until("it was looked for", |app| {
        app.profile.timeline.hits.is_some()
    });
    desk.steps(2);
}

/// A file of a profiler, in which a step that somebody named lies over nearly all of a stream.
fn vit() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import/kineto/mi300-vit-nsfw-inference.json.gz")
}

/// Colours of everything that is painted in meshes, as slices are.
fn tints(desk: &Desk) -> BTreeSet<[u8; 4]> {
    let mut tints = BTreeSet::new();
    for clipped in &desk.harness.output().shapes {
        if let Shape::Mesh(mesh) = &clipped.shape {
            tints.extend(mesh.vertices.iter().map(|vertex| vertex.color.to_array()));
        }
    }
    tints
}

/// Whether these words are painted, each answer telling whether some of them had no room.
fn painted(desk: &Desk, words: &str) -> Vec<bool> {
    let shapes = desk.harness.output().shapes.iter();
    let found = shapes.filter_map(|clipped| match &clipped.shape {
        Shape::Text(text) if text.galley.text().contains(words) => Some(text.galley.elided),
        _ => None,
    });
    found.collect()
}

#[test]
fn a_device_is_as_busy_here_as_in_the_sums() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.act(Action::OpenTrace(vit()));
    desk.until("a timeline", |app| app.profile.timeline.shown.is_some());
    let app = desk.app();
    let session = app.shared.sessions.iter().next().expect("a session");
    let profile = &session.session.profiles[0];
    let summed: u64 = profile.devices.iter().map(|device| device.busy_ns).sum();
    let (_, open, _) = app.profile.timeline.current().expect("a trace");
    let of_devices = open.timeline.tracks.iter().filter(|strand| {
        let track = &open.trace.tracks[strand.track as usize];
        track.device.is_some()
    });
    let busiest = of_devices.map(|strand| strand.busy_ns).max();
    let busiest = busiest.expect("a stream");
    assert!(busiest > 0 && busiest <= summed, "{busiest} of {summed}");
    let overview = &open.timeline.overview;
    let mean = overview.iter().map(|busy| f64::from(*busy)).sum::<f64>() / overview.len() as f64;
    assert!(mean < 128.0, "a solid bar: {mean}");
}

#[test]
fn nothing_fades_where_nothing_is_found() {
    let mut desk = desk();
    let before = tints(&desk);
    assert!(!before.is_empty());
    search(&mut desk, "no such name");
    desk.see("not found");
    assert!(before.is_subset(&tints(&desk)));
    search(&mut desk, "gemm");
    assert!(!before.is_subset(&tints(&desk)), "the others stand back");
}

#[test]
fn a_new_timeline_begins_without_a_search() {
    let mut desk = desk();
    search(&mut desk, "gemm");
    put(&mut desk, "second");
    let timeline = &desk.app().profile.timeline;
    assert!(timeline.search.is_empty() && timeline.hits.is_none());
    assert_eq!(desk.value("Find in the timeline"), "");
    // Which screen this is stays written beside the choice of one.
    desk.see("Trace");
    assert!(desk.sees("Profile: Timeline"));
}

#[test]
fn a_trace_goes_with_its_session() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.act(Action::OpenTrace(vit()));
    desk.until("a timeline", |app| app.profile.timeline.shown.is_some());
    put(&mut desk, "of nobody");
    let session = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("a session")
        .id;
    desk.act(Action::Sessions(Sessions::Close(session)));
    desk.steps(2);
    let timeline = &desk.app().profile.timeline;
    assert_eq!(timeline.traces.len(), 1, "the other one stays");
    let id = timeline.shown.expect("the other one");
    desk.act(Action::Timeline(Change::Close(id)));
    desk.see("No trace is open");
}

#[test]
fn a_name_without_room_is_told_in_full() {
    let mut desk = desk();
    desk.see("stream 7 of whoever gave it such a long name of GPU 0");
    assert_eq!(painted(&desk, "stream 7 of whoever"), [true], "with a mark");
}

#[test]
fn questions_and_refusals_are_those_of_a_window() {
    let mut desk = desk();
    let noise = desk.path("noise.bin");
    std::fs::write(&noise, [0_u8, 159, 146, 150]).expect("a file");
    desk.act(Action::OpenTrace(noise));
    desk.hear("of no format that Powerband knows");
    let said = desk.said();
    assert!(said.iter().all(|words| !words.contains("--columns")));
    desk.act(Action::Timeline(Change::Choose));
    desk.steps(3);
    assert!(!painted(&desk, "~/trace.json.gz").is_empty());
}
