//! Discarding into the desktop's trash and having it back, in a process whose trash is a test's own.

use std::fs;
use std::path::PathBuf;

use powerband_core::base::paths::Paths;
use powerband_store::trash::{discard, restore};

use crate::support::{Home, ProgramRun};

/// Where the process below works; without it, it does nothing.
const VARIABLE: &str = "POWERBAND_TEST_TRASH";

#[test]
fn the_desktops_trash_takes_and_gives_back() {
    let home = Home::new();
    let itself = std::env::current_exe().unwrap();
    let name = "trash::in_a_process_of_its_own";
    let mut command = home.command_of(&itself, &["--exact", name, "--nocapture"]);
    command
        .env(VARIABLE, home.path("work"))
        .env("XDG_DATA_HOME", home.path("data"));
    let run = ProgramRun::from_output(&command.output().unwrap());
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(home.path("work/done").exists(), "{run:#?}");
    assert!(home.path("data/Trash/info").is_dir());
}

#[test]
fn in_a_process_of_its_own() {
    let Some(work) = std::env::var_os(VARIABLE).map(PathBuf::from) else {
        return;
    };
    let paths = Paths::under(&work);
    fs::create_dir_all(&paths.library).unwrap();
    let path = paths.library.join("ein Name, ü=1.ron");
    let write = |text: &str| fs::write(&path, text).unwrap();
    let in_trash = || {
        fs::read_dir(work.join("../data/Trash/files"))
            .unwrap()
            .count()
    };
    // Its timelines go with it, and nobody else's.
    let trace = paths.library.join("ein Name, ü=1.1.trace.json.gz");
    let other = paths.library.join("ein Name, ü=1.2.1.trace.json.gz");
    fs::write(&trace, "a timeline").unwrap();
    fs::write(&other, "of another session").unwrap();
    write("one");
    let first = discard(&paths, &path).unwrap();
    assert!(first.in_desktop_trash() && !path.exists());
    assert!(!trace.exists() && other.exists());
    write("two");
    let second = discard(&paths, &path).unwrap();
    assert_eq!(in_trash(), 3);
    assert_eq!(restore(&first).unwrap(), None);
    assert_eq!(fs::read_to_string(&path).unwrap(), "one");
    assert_eq!(fs::read_to_string(&trace).unwrap(), "a timeline");
    fs::remove_file(&trace).unwrap();
    let refused = restore(&second).unwrap_err();
    assert!(refused.contains("not overwritten"), "{refused}");
    fs::remove_file(&path).unwrap();
    restore(&second).unwrap();
    assert_eq!(fs::read_to_string(second.original()).unwrap(), "two");
    assert_eq!(in_trash(), 0);

    // Where the desktop's trash cannot be made, ours takes it.
    fs::remove_dir_all(work.join("../data")).unwrap();
    fs::write(work.join("../data"), "not a folder").unwrap();
    let third = discard(&paths, &path).unwrap();
    assert!(!third.in_desktop_trash() && !path.exists());
    restore(&third).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    fs::remove_file(work.join("../data")).unwrap();
    fs::create_dir_all(work.join("../data/Trash/info")).unwrap();
    fs::write(work.join("done"), "").unwrap();
}
