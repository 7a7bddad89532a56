//! Libraries in place of ONNX Runtime's that abort, end the process, write to standard output or hang: the list of
//! engines names each with its reason, and the window is never held up.

use std::fs;
use std::time::{Duration, Instant};

use super::{Desk, PATIENCE, place};
use crate::abuse::{compiled, source};
use crate::support::Home;

/// A library that does this when it is asked for its interface.
fn library(how: &str) -> Option<std::path::PathBuf> {
    let flags = ["-shared", "-fPIC", &format!("-D{how}")];
    compiled(&format!("window-{how}.so"), &source("library.c"), &flags)
}

#[test]
fn each_library_is_listed_with_its_reason() {
    let home = Home::new();
    let mut place = place(&home);
    let libraries = [
        ("ABORTS", "1.21.0", "signal 6"),
        ("EXITS", "1.22.0", "ended by itself"),
        ("CHATTERS", "1.23.0", "gives no interface, so it is a stub"),
    ];
    for (how, version, _) in libraries {
        let Some(built) = library(how) else {
            return;
        };
        let folder = place.paths.runtimes.join(format!("onnxruntime-{version}"));
        fs::create_dir_all(&folder).expect("a folder");
        fs::copy(built, folder.join(format!("libonnxruntime.so.{version}"))).expect("a file");
    }
    // A file that is no library at all, where the user pointed.
    place.onnxruntime = Some(home.write("libonnxruntime.so", "not a library"));
    let mut desk = Desk::at_installation(home, place, Vec::new(), 1.0);
    desk.until("engines are listed", |app| {
        app.shared.machine.engines.is_some()
    });
    let engines = desk
        .app()
        .shared
        .machine
        .engines
        .clone()
        .unwrap_or_default();
    let texts: Vec<&str> = engines.iter().map(|engine| engine.words.as_str()).collect();
    let all = libraries.map(|(_, version, words)| (version, words));
    for (file, words) in all
        .into_iter()
        .chain([("libonnxruntime.so", "it does not load")])
    {
        let listed = |text: &&&str| text.contains(file) && text.contains(words);
        assert!(texts.iter().any(|text| listed(&text)), "{file}: {texts:#?}");
    }
    assert!(
        !texts.iter().any(|text| text.contains("panicked")),
        "{texts:#?}"
    );
    // rten is built in, and none of them stands in its way.
    assert!(
        engines
            .iter()
            .any(|engine| engine.id == "rten" && engine.is_ready)
    );
}

#[test]
fn a_library_that_hangs_does_not_hold_up_the_window() {
    let Some(built) = library("LOOPS") else {
        return;
    };
    let home = Home::new();
    let mut place = place(&home);
    place.onnxruntime = Some(built);
    let mut desk = Desk::at_installation(home, place, Vec::new(), 1.0);
    let begun = Instant::now();
    let mut frames = 0;
    while begun.elapsed() < Duration::from_secs(5) {
        desk.step();
        frames += 1;
    }
    assert!(desk.app().shared.machine.is_looking, "the library hangs");
    assert!(frames > 5, "frames go on while it hangs: {frames}");
    // What does not need an engine works.
    desk.press("Ctrl+2");
    desk.see("Start the run");
    desk.step_until("the list is there", PATIENCE, |desk| {
        desk.app().shared.machine.engines.is_some()
    });
    let engines = desk
        .app()
        .shared
        .machine
        .engines
        .clone()
        .unwrap_or_default();
    let hung = engines.iter().find(|engine| engine.words.contains("LOOPS"));
    assert!(
        hung.is_some_and(|engine| engine.words.contains("no answer for 30.0 s")),
        "{engines:#?}"
    );
    assert!(
        engines
            .iter()
            .any(|engine| engine.id == "rten" && engine.is_ready)
    );
}
