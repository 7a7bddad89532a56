//! Notes on a trace, kept beside it, and tracks that are pinned, hidden and filtered.

use std::fs;
use std::path::{Path, PathBuf};

use powerband_app::action::{Action, Shell, Timeline};
use powerband_app::screen::Screen;
use powerband_app::timeline::notebook::NOTE;
use powerband_findings::analysis::timeline::stretch::TimeRange;

use super::pictures::{Album, THEMES};
use super::timeline_slices::{VIT, change, fixture, open, view};
use super::{Desk, name_of};
use crate::support::Home;

/// A desk with a copy of a trace in a folder of its own.
fn desk() -> (Desk, PathBuf) {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    let folder = desk.path("traces");
    fs::create_dir_all(&folder).expect("a folder");
    let trace = folder.join("vit.json.gz");
    fs::copy(fixture(VIT), &trace).expect("a copy");
    show(&mut desk, &trace);
    (desk, trace)
}

fn show(desk: &mut Desk, trace: &Path) {
    desk.act(Action::OpenTrace(trace.to_path_buf()));
    desk.until("a timeline", |app| {
        app.profile.timeline.shown.is_some() && app.shared.screen == Screen::Timeline
    });
    desk.steps(2);
}

fn texts(desk: &Desk) -> Vec<String> {
    let book = desk.app().profile.timeline.notebook().expect("a notebook");
    book.notes.iter().map(|note| note.text.clone()).collect()
}

/// Frames until what is there is in the file, and nothing more is to be written.
fn kept(desk: &mut Desk, notes: &Path, words: &str) -> String {
    desk.step_until("the notes are written", super::PATIENCE, |_| {
        fs::read_to_string(notes).is_ok_and(|text| text.contains(words))
    });
    fs::read_to_string(notes).expect("notes")
}

#[test]
fn notes_are_kept_beside_the_trace_and_come_back_with_it() {
    let (mut desk, trace) = desk();
    let before = fs::read(&trace).expect("the trace");
    let notes = trace.with_file_name("vit.json.gz.notes.ron");
    change(&mut desk, Timeline::Look(TimeRange::new(2e6, 4e6)));
    desk.press("B");
    desk.steps(3);
    desk.type_text("here it waits");
    assert_eq!(desk.value(NOTE), "here it waits");
    desk.press("Enter");
    desk.see("Note at 3.000 ms: here it waits");
    let text = kept(&mut desk, &notes, "here it waits");
    assert!(text.contains("at_ns: 3000000"), "{text}");
    // A stretch is noted too, and stands where its time belongs.
    let rows = std::iter::once(0..1).collect();
    change(&mut desk, Timeline::Measure(TimeRange::new(1e6, 2e6), rows));
    desk.press("B");
    desk.steps(3);
    desk.type_text("warm-up");
    desk.press("Enter");
    assert_eq!(texts(&desk), ["warm-up", "here it waits"]);
    let text = kept(&mut desk, &notes, "warm-up");
    assert!(text.contains("to_ns: 2000000"), "{text}");
    assert_eq!(
        fs::read(&trace).expect("the trace"),
        before,
        "the trace is as it was"
    );
    change(&mut desk, Timeline::Select(None));
    change(&mut desk, Timeline::Whole);
    desk.click("Go to note 1: warm-up");
    let seen = view(&desk).stretch;
    assert!(
        (seen.middle() - 1.5e6).abs() < 1e4 && seen.length() < 1.5e6,
        "{seen:?}"
    );
    desk.press("Shift+B");
    assert!((view(&desk).stretch.middle() - 3e6).abs() < 1e4);
    // Another window has them again.
    let session = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("a session")
        .id;
    desk.act(Action::Sessions(powerband_app::action::Sessions::Close(
        session,
    )));
    desk.see("No trace is open");
    show(&mut desk, &trace);
    assert_eq!(texts(&desk), ["warm-up", "here it waits"]);
    desk.click("Edit note 2");
    desk.steps(2);
    desk.fill(NOTE, "nothing waits");
    kept(&mut desk, &notes, "nothing waits");
    desk.click("Remove note 1");
    assert_eq!(texts(&desk), ["nothing waits"]);
    desk.click("Remove note 1");
    desk.step_until("the file goes with the last note", super::PATIENCE, |_| {
        !notes.exists()
    });
}

#[test]
fn notes_that_cannot_be_kept_say_why() {
    let (mut desk, trace) = desk();
    let folder = trace.parent().expect("a folder").to_path_buf();
    fs::remove_dir_all(folder).expect("it goes");
    change(&mut desk, Timeline::AddNote);
    desk.hear("Notes are not saved");
    desk.see("Not saved: the notes cannot be written");
    // A file that could not be read is left as it is.
    let (mut desk, trace) = self::desk();
    let notes = trace.with_file_name("vit.json.gz.notes.ron");
    let session = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("a session")
        .id;
    desk.act(Action::Sessions(powerband_app::action::Sessions::Close(
        session,
    )));
    fs::write(&notes, "(version: 99)").expect("a file");
    show(&mut desk, &trace);
    desk.see("are of a newer Powerband");
    change(&mut desk, Timeline::AddNote);
    desk.steps(5);
    assert_eq!(fs::read_to_string(&notes).expect("a file"), "(version: 99)");
}

/// The top of the name of a track.
fn top(desk: &Desk, name: &str) -> Option<f64> {
    let nodes = desk.nodes();
    let mut nodes = nodes.iter();
    let node = nodes.find(|node| name_of(node).is_some_and(|words| words.ends_with(name)))?;
    node.bounding_box().map(|rect| rect.y0)
}

#[test]
fn tracks_are_pinned_hidden_and_filtered() {
    let (mut desk, trace) = desk();
    let main = "thread 950 (python3) of python3 950";
    let other = "thread 0 (python3) of python3 0";
    assert!(desk.sees(main) && desk.sees(other), "{:?}", desk.names());
    desk.click(&format!("Pin {other}"));
    let pinned = top(&desk, other).expect("it is in sight");
    let below = top(&desk, main).expect("it is in sight");
    assert!(pinned < below);
    change(&mut desk, Timeline::Scroll(120.0));
    assert_eq!(top(&desk, other), Some(pinned), "it stays");
    desk.click(&format!("Unpin {other}"));
    change(&mut desk, Timeline::Scroll(0.0));
    desk.click(&format!("Hide {other}"));
    assert!(!desk.sees(other));
    desk.see("Show all tracks");
    let notes = trace.with_file_name("vit.json.gz.notes.ron");
    let text = kept(&mut desk, &notes, "hidden");
    assert!(text.contains("python3 0"), "{text}");
    // What is gone to comes into sight.
    let hidden = open(&desk).trace.slices().position(|slice| {
        let track = &open(&desk).trace.tracks[slice.track as usize];
        track.group == "python3 0"
    });
    change(&mut desk, Timeline::GoTo(hidden.expect("a slice")));
    desk.see(other);
    desk.fill("Filter the tracks", "gpu stream");
    desk.steps(2);
    assert!(!desk.sees(main) && !desk.sees(other));
    desk.see("stream 0 of GPU 2");
    // What is measured on all tracks is what is shown.
    let all = view(&desk).shown_tracks(&open(&desk));
    assert_eq!((all.len(), all.all), (1, 4));
    desk.click("Show all tracks");
    desk.see(main);
    assert_eq!(desk.value("Filter the tracks"), "");
}

#[test]
fn notes_and_pinned_tracks_are_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let (mut desk, _) = desk();
    for (at, to, text) in [
        (1.2e6, None, "first kernel"),
        (
            2.5e6,
            Some(4.5e6),
            "the encoder, eight layers of it, without a gap between them",
        ),
        (6.9e6, None, ""),
    ] {
        if let Some(to) = to {
            let rows = std::iter::once(0..1).collect();
            change(&mut desk, Timeline::Measure(TimeRange::new(at, to), rows));
        } else {
            change(&mut desk, Timeline::Select(None));
            change(&mut desk, Timeline::Hand(Some(at)));
        }
        change(&mut desk, Timeline::AddNote);
        let place = desk
            .app()
            .profile
            .timeline
            .notebook()
            .and_then(|book| book.editing);
        change(
            &mut desk,
            Timeline::WriteNote(place.expect("a note"), text.to_owned()),
        );
    }
    change(&mut desk, Timeline::EditNote(None));
    change(&mut desk, Timeline::Select(None));
    let track = open(&desk).timeline.tracks[0].track;
    change(&mut desk, Timeline::Pin(track));
    let track = open(&desk).timeline.tracks[1].track;
    change(&mut desk, Timeline::Hide(track));
    change(&mut desk, Timeline::Scroll(180.0));
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        desk.steps(2);
        album.paint(&mut desk, Some(&format!("timeline-notes-{word}")));
    }
    change(&mut desk, Timeline::EditNote(Some(1)));
    for size in [(900.0, 700.0), (720.0, 640.0)] {
        desk.harness.set_size(eframe::egui::Vec2::from(size));
        desk.steps(3);
        album.paint(&mut desk, Some(&format!("timeline-notes-{}", size.0)));
    }
    album.close();
}
