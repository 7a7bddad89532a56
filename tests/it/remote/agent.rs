//! What an agent over there does beyond measuring: cases are profiled and their outputs compared where they ran, and
//! nothing of it stays there.

use std::fs;

use powerband_core::domain::profile::Profile;
use powerband_core::domain::setup::Setup;
use powerband_store::{session_file, trace_file};

use super::bench;
use super::server::{self, Server, on, write_program};
use crate::profilers;
use crate::support::{self, Home};

/// A quick run of these setups, with more options.
fn asked<'a>(setups: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let mut args = bench::bench("2", setups.iter().copied());
    args.extend(more);
    args
}

/// The names of what took time, most first.
fn kernels(profile: &Profile) -> Vec<&str> {
    let mut names: Vec<&str> = profile
        .totals
        .iter()
        .map(|total| total.name.as_str())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn cases_over_there_are_profiled_and_compared_as_those_here() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let there = on("box", "rten:cpu,threads=1");
    let setups = [there.as_str(), "rten:cpu,threads=1"];
    let more = ["--profile", "--accuracy=3", "--out", "a.ron"];
    let run = server.run(&home, &asked(&setups, &more));
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    let accuracies = [0, 1].map(|setup| document["setups"][setup]["accuracy"].clone());
    assert!(
        accuracies[0]["items"].as_u64() >= Some(3),
        "{accuracies:#?}"
    );
    // The same engine on the same inputs: what comes back is what was computed.
    assert_eq!(accuracies[0], accuracies[1]);
    let path = home.path("a.ron");
    let session = session_file::read(&path).expect("a session").session;
    let warnings = session.warnings.iter();
    let others = warnings.filter(|warning| !warning.contains("without optimisation"));
    assert_eq!(others.count(), 0, "{:#?}", session.warnings);
    let of_setup = |setup| {
        let profiles = session.profiles.iter();
        let mut own = profiles.filter(move |one| one.case.is_some_and(|case| case.setup == setup));
        own.next().expect("a profile")
    };
    let (there, here) = (of_setup(0), of_setup(1));
    assert_eq!(session.profiles.len(), 2, "each case has one");
    assert_eq!(kernels(there), kernels(here));
    assert_eq!(there.tool, here.tool);
    for profile in &session.profiles {
        assert!(profile.totals.iter().any(|total| total.work.is_some()));
        // It was watched after the rounds, on the session's clock.
        assert!(profile.began_ns > Some(0) && profile.began_ns < Some(session.elapsed_ns));
        let trace = profile.trace_file.as_deref().expect("a timeline");
        let trace = trace_file::found(Some(&path), trace).expect("beside the session");
        assert!(fs::metadata(trace).is_ok_and(|file| file.len() > 100));
    }
    server::until_gone("remote agent");
    server::until_gone("worker agent");
}

#[test]
fn a_profiler_is_looked_for_where_it_is_to_run() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let there = on("box", "fake");
    let more = ["--profile=rocprofv3", "--out", "a.ron"];
    let run = server.run(&home, &asked(&[&there], &more));
    // It is missing there, which ends no measurement.
    assert_eq!(run.status, Some(0), "{run:#?}");
    let session = session_file::read(&home.path("a.ron"))
        .expect("a session")
        .session;
    assert!(session.profiles.is_empty());
    let said = session.warnings.join("\n");
    assert!(said.contains("rocprofv3"), "{said}");
    let run = server.run(&home, &asked(&["fake"], &["--profile=rocprofv3"]));
    run.fails_saying(&["rocprofv3"]);
}

#[test]
fn engines_and_roofs_are_asked_for_over_there() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let install = [
        "engines",
        "install",
        "onnxruntime",
        "--on",
        "box",
        "--python",
        "/bin/false",
    ];
    server
        .run(&home, &install)
        .fails_saying(&["box", "/bin/false"]);
    let roofs = server.run(&home, &["roofs", "--show", "--on", "box"]);
    roofs.fails_saying(&["box"]);
    let check = server.run(&home, &["machines", "check", "box"]);
    assert!(check.out.contains("where=ssh:box in a setup"), "{check:#?}");
}

#[test]
fn a_library_is_sent_to_a_machine_without_a_network() {
    let (Some(library), Some(python)) = (
        support::component(support::onnxruntime(), "ONNX Runtime"),
        support::component(support::torch_python(), "Python"),
    ) else {
        return;
    };
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    // A pip that has one wheel, with the library of these tests.
    let name = library.file_name().unwrap_or_default().to_string_lossy();
    let wheel = "onnxruntime-1.31.0-cp311-cp311-linux_x86_64.whl";
    let zip = format!(
        "import sys,zipfile; zipfile.ZipFile(sys.argv[1]+'/{wheel}','w').write('{}','onnxruntime/capi/{name}')",
        library.display()
    );
    let body = format!(
        "case \"$*\" in *--version*) echo pip 24.0;; *) while [ $# -gt 0 ]; do [ \"$1\" = -d ] && exec {} -c \"{zip}\" \"$2\"; shift; done; exit 1;; esac",
        python.display()
    );
    let pip = home.script("python", &body).display().to_string();
    let install = ["engines", "install", "onnxruntime", "--on", "box"];
    let how = ["--offline", "--python", &pip];
    let run = server.run(&home, &[&install[..], &how[..]].concat());
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(
        run.err.contains(&format!("Sending {wheel} to box")),
        "{run:#?}"
    );
    assert!(run.out.contains("is installed and loads"), "{run:#?}");
    let there = server.file_path("there/powerband/runtimes/onnxruntime-1.31.0-cpu");
    assert!(there.join(name.as_ref()).exists(), "{there:?}");
    assert!(
        support::files(&home.path("tmp")).is_empty(),
        "nothing stays here"
    );
    let nowhere = ["engines", "install", "onnxruntime", "--offline"];
    home.run(&nowhere).fails_saying(&["--on"]);
}

#[test]
fn a_profiler_around_the_worker_leaves_nothing_over_there() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let (bin, temporary) = (server.file_path("there/bin"), server.file_path("there/tmp"));
    for folder in [&bin, &temporary] {
        fs::create_dir_all(folder).expect("a folder");
    }
    write_program(
        &bin.join("nsys"),
        format!("#!/bin/sh\n{}", profilers::nsys_script()),
    );
    let environment = format!(
        "export PATH={}:$PATH TMPDIR={}\n",
        bin.display(),
        temporary.display()
    );
    fs::write(server.file_path("there/home/.bashrc"), environment).expect("a .bashrc");
    let there = on("box", "rten:cpu,threads=1");
    let more = ["--profile=nsys", "--out", "a.ron"];
    let run = server.run(&home, &asked(&[&there], &more));
    assert_eq!(run.status, Some(0), "{run:#?}");
    let session = session_file::read(&home.path("a.ron"))
        .expect("a session")
        .session;
    let said = session.warnings.join("\n");
    assert_eq!(session.profiles.len(), 1, "{said}");
    assert!(
        session.profiles[0]
            .totals
            .iter()
            .any(|total| total.calls > 0)
    );
    assert!(support::files(&temporary).is_empty());
}

#[test]
fn why_is_asked_where_the_case_ran() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let there = on("box", "rten:cpu,threads=2");
    let ask = ["why", "resnet18@cifar", "--setup", &there, "--batch", "1"];
    let how = [
        "--only",
        "half-threads",
        "--rounds",
        "3",
        "--no-roofs",
        "--out",
        "w.ron",
        "--json",
    ];
    let run = server.run(&home, &[&ask[..], &how[..]].concat());
    assert_eq!(run.status, Some(0), "{run:#?}");
    // What it does there is said as it goes.
    assert!(run.err.contains("ssh:box: rten:cpu,threads=2"), "{run:#?}");
    let document = run.json();
    assert!(document["answer"]["sentence"].is_string(), "{document:#}");
    let path = home.path("w.ron");
    let session = session_file::read(&path).expect("a session").session;
    assert_eq!(session.machines.len(), 1);
    assert_eq!(session.machines[0].name, "ssh:box");
    let place = |setup: &Setup| setup.options.get("where").cloned();
    let places: Vec<Option<String>> = session.plan.setups.iter().map(place).collect();
    assert_eq!(places, vec![Some("ssh:box".to_owned()); 2]);
    assert!(session.cases.iter().all(|case| case.rounds.len() >= 3));
    let trace = session.profiles[0]
        .trace_file
        .as_deref()
        .expect("a timeline");
    assert!(trace_file::found(Some(&path), trace).is_some());
    // It is shown again without the machine, and has a limit that the same numbers give.
    let shown = home.run(&["why", "w.ron", "--json"]);
    assert_eq!(shown.json()["answer"], document["answer"]);
    let refused = server.run(&home, &["why", "missing.onnx", "--setup", &there]);
    refused.fails_saying(&["ssh:box", "missing.onnx"]);
    server::until_gone("worker agent");
}
