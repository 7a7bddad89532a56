//! What this machine has: engines and cards, what is missing of them, and where the user says that they are.

use std::fs;
use std::path::{Path, PathBuf};

use powerband_app::Installation;
use powerband_app::action::{Action, MachineAction, Shell};
use powerband_app::machine::PathSetting;
use powerband_core::base::environment_roots::EnvironmentRoots;
use powerband_core::domain::telemetry::MissingSource;
use powerband_store::settings;

use super::{Desk, data};
use crate::support::{Home, skipped, torch_python};

#[test]
fn what_is_missing_has_its_one_action() {
    let missing = |source: &str, remedy: &str| MissingSource {
        source: source.to_owned(),
        why: "its library was not found".to_owned(),
        remedy: remedy.to_owned(),
    };
    let mut desk = Desk::awake(Home::new(), Vec::new());
    let sources = vec![
        missing("NVML", "install the driver"),
        missing("RAPL", "load the module"),
    ];
    desk.app_mut().shared.machine.devices = Some((Vec::new(), sources));
    desk.app_mut().shared.machine.engines = Some(data::engines(false));
    desk.steps(3);
    desk.see("Install");
    // Counters of the processor do not tell of cards.
    desk.see("NVML: no GPU");
    for (button, text) in [
        (
            "Copy the command",
            "/usr/bin/python3 -m pip install torch torchvision",
        ),
        (
            "Copy the reason and the fix",
            "NVML: its library was not found. What helps: install the driver.",
        ),
    ] {
        desk.actions();
        desk.click(button);
        let copy = Action::Shell(Shell::Copy(text.to_owned()));
        assert!(desk.actions().contains(&copy), "{button}");
    }
    desk.hear("Copied to the clipboard");
}

#[test]
fn where_no_engine_is_the_large_button_fetches_one() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    let mut engines = data::engines(false);
    for engine in &mut engines {
        engine.is_ready = false;
    }
    desk.app_mut().shared.machine.engines = Some(engines);
    desk.steps(3);
    desk.see("No engine is installed");
    assert!(desk.find("Start").is_none());
    assert!(desk.find("Install ONNX Runtime").is_some());
    desk.app_mut().shared.machine.engines = Some(data::engines(false));
    desk.steps(3);
    assert!(desk.find("Start").is_some());
    assert!(desk.find("Install ONNX Runtime").is_none());
}

#[test]
fn the_user_says_where_python_is() {
    let kept =
        |desk: &Desk| settings::read(&desk.app().shared.place.paths.settings).expect("settings");
    let answer = |desk: &mut Desk, path: &Path| {
        desk.click("Choose Python…");
        desk.fill("Path", &path.display().to_string());
        desk.press("Enter");
    };
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+Comma");
    let nowhere = desk.path("nowhere");
    answer(&mut desk, &nowhere);
    desk.hear("nowhere does not exist; the setting is unchanged");
    assert_eq!(kept(&desk).python, None);

    let python = desk.path("python");
    fs::write(&python, "#!/bin/sh\nexit 1\n").expect("a file");
    answer(&mut desk, &python);
    desk.see(&python.display().to_string());
    let is_kept = |desk: &Desk, path: Option<PathBuf>| kept(desk).python == path;
    desk.step_until("it is kept", super::PATIENCE, |desk| {
        is_kept(desk, Some(python.clone()))
    });
    assert_eq!(desk.app().shared.place.python, Some(python));
    desk.until("it was looked into", |app| !app.shared.machine.is_looking);

    // Other choices in the file stay.
    let file = desk.app().shared.place.paths.settings.clone();
    let mut others = kept(&desk);
    others.categories = vec![("gemm".to_owned(), "mine*".to_owned())];
    settings::write(&file, &others).expect("settings");
    desk.click("Use the first Python found");
    desk.step_until("it is forgotten", super::PATIENCE, |desk| {
        is_kept(desk, None)
    });
    assert_eq!(kept(&desk).categories, others.categories);
    assert_eq!(desk.app().shared.place.python, None);
}

#[test]
fn a_second_place_is_looked_into_once_the_first_is() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.until("the search for engines is over", |app| {
        !app.shared.machine.is_looking
    });
    desk.act(Action::Machine(MachineAction::Rescan));
    desk.act(Action::Machine(MachineAction::Point(
        PathSetting::OnnxRuntime,
        None,
    )));
    assert!(desk.app().shared.machine.looks_again);
    desk.until("both are over", |app| {
        !app.shared.machine.looks_again && !app.shared.machine.is_looking
    });
}

/// A home with an environment that the usual search does not know.
fn offered(real: Option<&Path>) -> Desk {
    let home = Home::new();
    let at = home.path("user/venvs/llm");
    if let Some(environment) = real {
        fs::create_dir_all(home.path("user/venvs")).expect("a folder");
        std::os::unix::fs::symlink(environment, &at).expect("a link");
    } else {
        for folder in [
            "bin",
            "lib/python3.12/site-packages/torch",
            "lib/python3.12/site-packages/torch-9.8.7.dist-info",
        ] {
            fs::create_dir_all(at.join(folder)).expect("a folder");
        }
        fs::write(at.join("bin/python"), "").expect("a file");
    }
    let place = Installation {
        environment_roots: EnvironmentRoots {
            home: Some(home.path("user")),
            ..EnvironmentRoots::default()
        },
        ..super::place(&home)
    };
    let mut desk = Desk::at_installation(home, place, Vec::new(), 1.0);
    desk.until("the engines are known", |app| {
        app.shared.machine.engines.is_some()
    });
    desk.steps(3);
    desk
}

fn has_torch(desk: &Desk) -> bool {
    let mut ready = desk.app().shared.machine.ready();
    ready.any(|engine| engine.id == "torch")
}

const USE: &str = "Use PyTorch of ~/venvs/llm";

#[test]
fn an_environment_with_an_engine_is_named_and_used_with_one_press() {
    let mut desk = offered(None);
    if has_torch(&desk) {
        return skipped("a machine whose own Python has no PyTorch");
    }
    desk.see("9.8.7 in ~/venvs/llm");
    let file = desk.app().shared.place.paths.settings.clone();
    assert!(!file.exists(), "nothing is chosen before the press");
    desk.click(USE);
    let python = desk.path("user/venvs/llm/bin/python");
    desk.step_until("it is written", super::PATIENCE, |_| {
        settings::read(&file).is_ok_and(|kept| kept.python.as_ref() == Some(&python))
    });
    assert_eq!(desk.app().shared.place.python, Some(python));
    desk.until("it was looked into", |app| !app.shared.machine.is_looking);
}

#[test]
fn a_real_environment_with_pytorch_is_ready_after_one_press() {
    let Some(python) = torch_python() else {
        return;
    };
    let environment = Path::new(&python).ancestors().nth(2).map(Path::to_path_buf);
    let mut desk = offered(environment.as_deref());
    if has_torch(&desk) {
        return skipped("a machine whose own Python has no PyTorch");
    }
    desk.see("in ~/venvs/llm");
    desk.click(USE);
    // Importing PyTorch takes half a minute where nothing else runs.
    desk.step_until("PyTorch is ready", super::PATIENCE * 3, has_torch);
    desk.steps(2);
    assert!(desk.find(USE).is_none());
    let kept = settings::read(&desk.app().shared.place.paths.settings).expect("settings");
    assert_eq!(kept.python, Some(desk.path("user/venvs/llm/bin/python")));
    let app = desk.app();
    let first = app.shared.machine.first_request();
    let planned = app.bench.planned_of(first, &app.shared);
    assert!(
        planned.setups.iter().any(|setup| setup.engine == "torch"),
        "Start measures with it"
    );
}
