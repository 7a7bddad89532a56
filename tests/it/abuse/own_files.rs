//! Settings, the window's state and saved permissions that are folders, links in a circle, endless, damaged or of a
//! later version: the program starts with defaults, says why once, and replaces none of them.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use powerband::backend::LocalBackend;
use powerband_app::App;
use powerband_app::shell::settings::{self, SavedState, Theme};
use powerband_core::base::paths::Paths;
use powerband_store::installation::Installation;
use powerband_store::settings::Settings;

use crate::support::{Home, Mount, component};

/// What stands in place of a file, and words of the reason.
type Stand = (&'static str, fn(&Path));

const STANDS: [Stand; 6] = [
    ("it is a folder", |path| {
        fs::create_dir(path).expect("a folder");
    }),
    ("more than 16 MB", |path| {
        let file = File::create(path).expect("a file");
        file.set_len(1 << 30).expect("a hole");
    }),
    ("it is not text", |path| {
        fs::write(path, [0x7f, b'E', b'L', b'F', 0xff, 0]).expect("a file");
    }),
    ("symbolic links", |path| {
        symlink(path, path).expect("a link");
    }),
    ("it is a device", |path| {
        symlink("/dev/zero", path).expect("a link");
    }),
    ("xpected", |path| {
        fs::write(path, "(python: \"/py\"").expect("a file");
    }),
];

fn home() -> Home {
    let home = Home::new();
    fs::create_dir(home.path("home")).expect("a folder");
    home
}

/// What identifies a file without reading it.
fn identity(path: &Path) -> (bool, bool, u64) {
    let about = fs::symlink_metadata(path).expect("it is there");
    (about.is_dir(), about.is_symlink(), about.len())
}

fn started(home: &Home) -> App {
    let place = Installation::new(
        Paths::under(&home.path("home")),
        &Settings::default(),
        PathBuf::from("/none"),
    );
    App::new(place, Arc::new(LocalBackend::default()), Arc::new(|_| {}))
}

fn said(app: &App) -> Vec<String> {
    let notices = app.shared.notices.all().iter();
    notices.map(|notice| notice.text.clone()).collect()
}

#[test]
fn settings_that_cannot_be_read_stay_and_are_said() {
    for (words, make) in STANDS {
        let home = home();
        let path = home.path("home/settings.ron");
        make(&path);
        let before = identity(&path);
        // Without a display: the overview in place of the window.
        let window = home.run(&[]);
        window.fails_saying(&["settings", words, "Default settings are used"]);
        assert_eq!(window.err.matches("settings.ron").count(), 1, "{window:#?}");
        assert!(window.out.contains("Begin with"), "{window:#?}");
        // A command would do something else than the settings ask for.
        home.run(&["engines"]).fails_saying(&["settings", words]);
        let written = powerband_store::settings::write(&path, &Settings::default());
        assert!(written.is_err(), "{words}");
        assert_eq!(identity(&path), before, "{words}");
    }
}

#[test]
fn an_empty_settings_file_is_as_good_as_none() {
    let home = home();
    let path = home.path("home/settings.ron");
    fs::write(&path, "").expect("a file");
    let run = home.run(&["devices"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(!run.err.contains("settings"), "{run:#?}");
    assert_eq!(said(&started(&home)), [""; 0]);
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "");
}

#[test]
fn a_window_state_that_cannot_be_read_is_set_aside() {
    for (words, make) in STANDS {
        let home = home();
        let path = home.path("home/window.ron");
        make(&path);
        let before = identity(&path);
        let app = started(&home);
        let said_first = said(&app);
        let [only] = said_first.as_slice() else {
            panic!("{words}: {said_first:?}");
        };
        for word in [words, "default settings", "window.ron.unreadable"] {
            assert!(only.contains(word), "{only}");
        }
        assert_eq!(identity(&path), before, "nothing is done at the start");
        app.remember().expect("it is saved");
        let aside = home.path("home/window.ron.unreadable");
        assert_eq!(identity(&aside), before, "{words}");
        assert_eq!(said(&started(&home)), Vec::<String>::new(), "{words}");
    }
}

#[test]
fn a_later_version_keeps_what_it_wrote() {
    let home = home();
    let path = home.path("home/window.ron");
    fs::write(&path, "(theme: Sepia, zoom_steps: 3, cockpit: (gauges: 7))").expect("a file");
    let app = started(&home);
    assert_eq!(app.shared.remembered.zoom_steps, 3);
    let warnings = said(&app);
    assert!(
        warnings.len() == 1 && warnings[0].contains("another version"),
        "{warnings:?}"
    );
    app.remember().expect("it is saved");
    let text = fs::read_to_string(&path).expect("a file");
    for kept in ["theme: Sepia", "cockpit: (gauges: 7)"] {
        assert!(text.contains(kept), "{text}");
    }
}

#[test]
fn a_full_disk_leaves_the_old_state_and_settings() {
    let home = home();
    let needs = "the right to mount a small file system (root)";
    let Some(_mounted) = component(Mount::tmpfs(&home.path("home"), 64), needs) else {
        return;
    };
    let (window, own) = (home.path("home/window.ron"), home.path("home/settings.ron"));
    settings::write(&window, &SavedState::default()).expect("there is room");
    fs::write(&own, "(python: \"/py\")").expect("there is room");
    let before = [&window, &own].map(|path| fs::read(path).expect("a file"));
    let mut filler = File::create(home.path("home/filler")).expect("a file");
    while filler.write_all(&[0; 4096]).is_ok() {}
    let changed = SavedState {
        theme: Theme::Light,
        ..SavedState::default()
    };
    let refused = [
        settings::write(&window, &changed),
        powerband_store::settings::write(&own, &Settings::default()),
    ];
    for refused in refused {
        let reason = refused.expect_err("the disk is full");
        assert!(reason.contains("No space left"), "{reason}");
    }
    let after = [&window, &own].map(|path| fs::read(path).expect("a file"));
    assert_eq!(after, before);
}
