//! PyTorch as an engine, through the real one: its modes, its training, the user's own modules, and
//! whatever may be missing.

use std::path::Path;

use powerband_core::domain::profile::Profile;
use powerband_core::domain::session::Session;
use powerband_store::session_file;
use serde_json::Value;

use crate::models::{self, Dim, FLOAT};
use crate::support::{self, Home, ProgramRun};

/// A network of the user's own that is quick to run, needs 3 MiB for each picture meanwhile, and says
/// more than it should, wherever it can.
const TINY: &str = "
import os
import torch

print('good morning')

class Tiny(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3 * 32 * 32, 10)

    def forward(self, pictures):
        print('in a run', flush=True)
        os.write(1, b'from below Python')
        many = pictures.flatten(1).repeat(256, 1)
        return self.layer(many[:len(pictures)])

def network():
    os.system('echo from a process')
    return Tiny()
";

/// A short run of the program.
fn bench(home: &Home, model: &str, setups: &[&str], rest: &[&str]) -> ProgramRun {
    let mut args = vec!["bench", model, "--preset", "quick", "--json"];
    for setup in setups {
        args.extend(["--setup", setup]);
    }
    args.extend(rest);
    home.run(&args)
}

/// A setup of PyTorch in this Python. With one thread, because two that wait for each other are slow
/// beside other tests.
fn torch(python: &Path, rest: &str) -> String {
    format!("torch,threads=1,python={}{rest}", python.display())
}

fn outcomes(run: &ProgramRun) -> Vec<String> {
    let outcomes = run.outcomes().into_iter();
    outcomes.map(|(_, _, outcome)| outcome).collect()
}

fn reason(run: &ProgramRun, case: usize) -> String {
    let document = run.json();
    let reason = document["cases"][case]["reason"].as_str();
    reason.unwrap_or_default().to_owned()
}

fn number(document: &Value, pointer: &str) -> f64 {
    let found = document.pointer(pointer).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no number at {pointer} in {document:#}"))
}

fn session(home: &Home, file: &str) -> Session {
    let read = session_file::read(&home.path(file));
    read.expect("a session").session
}

#[test]
fn modes_are_measured_and_compute_what_the_network_says() {
    let (Some(python), Some(library)) = (support::torch_python(), support::onnxruntime()) else {
        return;
    };
    let home = Home::new();
    let setups = [
        format!("ort,runtime={}", library.display()),
        torch(&python, ""),
        torch(&python, ",mode=amp-bf16"),
        torch(&python, ",mode=channels-last"),
    ];
    let setups = setups.each_ref().map(String::as_str);
    let rest = ["--batch", "1", "--rounds", "1", "--accuracy=8"];
    let run = bench(&home, "resnet18@cifar", &setups, &rest);
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert_eq!(outcomes(&run), ["finished"; 4], "{run:#?}");
    let document = run.json();
    let worst = |setup: usize| {
        let at = format!("/setups/{setup}/accuracy/distance/worst_cosine");
        number(&document, &at)
    };
    // Without the plan's own weights PyTorch would compute something else altogether.
    assert!(worst(1) >= 0.9999, "{}", worst(1));
    assert!(worst(3) >= 0.9999, "{}", worst(3));
    assert!(worst(2) > 0.99, "{}", worst(2));
    assert!(
        worst(2) < worst(1),
        "bfloat16 has eight bits: {} and {}",
        worst(2),
        worst(1)
    );
    for setup in 0..4 {
        let items = number(&document, &format!("/setups/{setup}/accuracy/items"));
        assert_eq!(items, 8.0);
    }
    let engine = document["setups"][1]["report"]["engine"].to_string();
    assert!(engine.contains("PyTorch 2."), "{engine}");
    // Only what casts has to say so.
    let notes = |setup: usize| document["setups"][setup]["report"]["notes"].to_string();
    assert!(notes(2).contains("mixed precision"), "{}", notes(2));
    assert_eq!(notes(1), "[]");
}

#[test]
fn steps_of_training_come_in_parts_and_learn() {
    let Some(python) = support::torch_python() else {
        return;
    };
    let home = Home::new();
    home.write("tiny.py", TINY);
    let setup = torch(
        &python,
        ",task=train,epoch_items=16,optimiser=adam,module=tiny:network",
    );
    let rest = ["--batch", "4", "--rounds", "1", "--out", "training.ron"];
    let run = bench(&home, "resnet18@cifar", &[&setup], &rest);
    assert_eq!(outcomes(&run), ["finished"], "{run:#?}");
    let session = session(&home, "training.ron");
    let case = &session.cases[0];
    assert!(!case.rounds.is_empty());
    for round in &case.rounds {
        let names: Vec<&str> = round.parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["forward", "backward", "optimiser", "other"]);
        for (place, sample) in round.samples_ns.iter().enumerate() {
            let parts = round.parts.iter().map(|part| part.samples_ns[place]);
            assert_eq!(parts.sum::<u64>(), *sample, "step {place}");
        }
        let spent = |name: usize| round.parts[name].samples_ns.iter().sum::<u64>();
        assert!(spent(0) > 0 && spent(1) > 0 && spent(2) > 0);
    }
    let epochs: Vec<_> = case.rounds.iter().flat_map(|round| &round.epochs).collect();
    assert!(epochs.len() > 2, "{epochs:?}");
    for epoch in &epochs {
        assert_eq!(epoch.items, 16);
        assert!(epoch.loss.is_some() && (0.0..=1.0).contains(&epoch.accuracy));
    }
    let loss = |place: usize| epochs[place].loss.unwrap_or(f64::NAN);
    let last = loss(epochs.len() - 1);
    assert!(
        last < loss(0),
        "sixteen pictures are soon learned by heart: {} and {last}",
        loss(0)
    );
}

#[test]
fn what_is_missing_is_said_and_holds_nobody_up() {
    let Some(python) = support::torch_python() else {
        return;
    };
    let home = Home::new();
    let bare = bare_python(&home, &python);
    let setups = [
        "fake".to_owned(),
        torch(&python, ",mode=tensorrt"),
        torch(Path::new("/no/such/python"), ""),
        format!("torch,python={bare}"),
        torch(&python, ",module=nowhere:network"),
    ];
    let setups = setups.each_ref().map(String::as_str);
    let run = bench(
        &home,
        "resnet18@cifar",
        &setups,
        &["--batch", "1", "--rounds", "1"],
    );
    assert_eq!(run.status, Some(2), "{run:#?}");
    let unsupported = "unsupported";
    assert_eq!(
        outcomes(&run),
        [
            "finished",
            unsupported,
            unsupported,
            unsupported,
            unsupported
        ],
        "{run:#?}"
    );
    let words: [&[&str]; 4] = [
        &["mode=tensorrt", "NVIDIA"],
        &["python=/no/such/python is no file"],
        &["has no PyTorch", &bare, "-m pip install torch"],
        &["no module nowhere"],
    ];
    for (case, words) in words.iter().enumerate() {
        let reason = reason(&run, case + 1);
        for word in *words {
            assert!(reason.contains(word), "no \"{word}\" in: {reason}");
        }
    }
    assert!(!run.err.contains("panicked"), "{run:#?}");
}

/// A Python without any package.
fn bare_python(home: &Home, python: &Path) -> String {
    let folder = home.path("bare");
    let place = folder.display().to_string();
    let args = ["-m", "venv", "--without-pip", &place];
    let made = home.command_of(python, &args).output();
    assert!(made.expect("Python starts").status.success());
    folder.join("bin/python").display().to_string()
}

#[test]
fn modules_of_the_users_own_run_and_their_faults_are_told() {
    let Some(python) = support::torch_python() else {
        return;
    };
    let home = Home::new();
    home.write(
        "broken.py",
        "raise ValueError('the weights are in the cellar')\n",
    );
    home.write("tiny.py", TINY);
    let setups = [
        torch(&python, ",module=broken:network"),
        torch(&python, ",module=tiny:network"),
        torch(&python, ",module=tiny:nothing"),
    ];
    let setups = setups.each_ref().map(String::as_str);
    let rest = ["--batch", "2", "--rounds", "1"];
    let run = bench(&home, "resnet18@cifar", &setups, &rest);
    assert_eq!(
        outcomes(&run),
        ["failed", "finished", "unsupported"],
        "{run:#?}"
    );
    let told = reason(&run, 0);
    for word in ["the weights are in the cellar", "broken.py", "line 1"] {
        assert!(told.contains(word), "no \"{word}\" in: {told}");
    }
    assert!(
        reason(&run, 2).contains("no function nothing"),
        "{}",
        reason(&run, 2)
    );
    let notes = run.json()["setups"][1]["report"]["notes"].to_string();
    assert!(notes.contains("keeps its own weights"), "{notes}");
}

/// Convolutions in the profile of each setup.
fn convolutions(session: &Session) -> Vec<u64> {
    let calls = |setup: usize| {
        let is_its = |profile: &&Profile| profile.case.is_some_and(|case| case.setup == setup);
        let profile = session.profiles.iter().find(is_its);
        let totals = profile.expect("a profile").totals.iter();
        let own = totals.filter(|total| total.name == "aten::convolution");
        own.map(|total| total.calls).sum()
    };
    (0..session.plan.setups.len()).map(calls).collect()
}

#[test]
fn each_setup_is_profiled_with_its_own_network() {
    let Some(python) = support::torch_python() else {
        return;
    };
    let home = Home::new();
    let own = ",model=resnet34@cifar";
    let setups = [torch(&python, ""), torch(&python, own)];
    let setups = setups.each_ref().map(String::as_str);
    let file = "profiled.ron";
    let rest = ["--batch", "1", "--rounds", "1", "--profile", "--out", file];
    let run = bench(&home, "resnet18@cifar", &setups, &rest);
    assert_eq!(outcomes(&run), ["finished"; 2], "{run:#?}");
    // Twenty and thirty-six convolutions, in ten runs.
    assert_eq!(convolutions(&session(&home, file)), [200, 360]);
    let head = "resnet18@cifar and resnet34@cifar: 2 setups";
    assert!(run.err.contains(head), "{}", run.err);
    let shown = home.run(&["show", file]).out;
    let line = |name: &str| {
        shown
            .lines()
            .find(|line| line.contains(name) && line.contains("parameters"))
    };
    assert!(
        line("resnet18@cifar,").is_some_and(|line| line.starts_with("Model")),
        "{shown}"
    );
    let second = line("resnet34@cifar,").unwrap_or_else(|| panic!("{shown}"));
    assert!(
        second.contains("21,282,122") && second.contains("model=resnet34@cifar"),
        "{second}"
    );
}

#[test]
fn a_batch_that_does_not_fit_is_an_outcome_and_the_smaller_one_finishes() {
    let Some(python) = support::torch_python() else {
        return;
    };
    let home = Home::new();
    home.write("tiny.py", TINY);
    let setup = torch(&python, ",module=tiny:network,memory=3GiB");
    let rest = ["--batch", "1,4096", "--rounds", "1"];
    let run = bench(&home, "resnet18@cifar", &[&setup], &rest);
    assert_eq!(run.status, Some(2), "{run:#?}");
    assert_eq!(outcomes(&run), ["finished", "out-of-memory"], "{run:#?}");
    assert!(
        reason(&run, 1).contains("memory=3GiB"),
        "{}",
        reason(&run, 1)
    );
}

#[test]
fn a_file_is_not_run_by_pytorch_without_a_module() {
    let Some(python) = support::torch_python() else {
        return;
    };
    let home = Home::new();
    let dims = [Dim::Name("N"), Dim::Size(8)];
    home.write(
        "relu.onnx",
        models::one_node("Relu", &[("x", FLOAT, &dims)], (FLOAT, &dims)),
    );
    let setup = torch(&python, "");
    let rest = ["--batch", "1", "--rounds", "1"];
    let run = bench(&home, "relu.onnx", &["fake", &setup], &rest);
    assert_eq!(outcomes(&run), ["finished", "unsupported"], "{run:#?}");
    assert!(reason(&run, 1).contains("module="), "{}", reason(&run, 1));
}

#[test]
fn a_python_with_pytorch_is_among_the_engines() {
    let Some(python) = support::torch_python() else {
        return;
    };
    let home = Home::new();
    let run = home.run_with(&["engines", "--json"], &[("POWERBAND_PYTHON", &python)]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    let engines = document["engines"].as_array().expect("engines");
    let found = engines.iter().find(|engine| {
        engine["engine"] == "torch" && engine["library"] == python.display().to_string()
    });
    let found = found.unwrap_or_else(|| panic!("no PyTorch in {document:#}"));
    assert_eq!(found["available"], true, "{found:#}");
    assert!(
        found["version"].to_string().contains("PyTorch 2."),
        "{found:#}"
    );
    assert!(found["devices"].to_string().contains("cpu"), "{found:#}");
}
