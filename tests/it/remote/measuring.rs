//! What is measured over a connection: the same cases, models and libraries as over there, and the machine's own name.

use std::fs;
use std::path::Path;

use super::server::{self, Server, on, program};
use crate::support::{self, Home};

/// A quick run of these setups on one network.
fn bench<'a>(setups: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec![
        "bench",
        "resnet18@cifar",
        "--batch",
        "1,2",
        "--preset",
        "quick",
        "--rounds",
        "2",
        "--json",
    ];
    for setup in setups {
        args.extend(["--setup", setup]);
    }
    args.extend(rest);
    args
}

#[test]
fn setups_here_and_there_take_turns() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    // No other test has this time, so the worker that has it in its command line is this one.
    let there = on("box", "fake,fixed=1003");
    let run = server.run(&home, &bench(&[&there, "fake,fixed=900"], &[]));
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(
        run.outcomes()
            .iter()
            .all(|(_, _, outcome)| outcome == "finished"),
        "{run:#?}"
    );
    let document = run.json();
    let machines = document["machines"].as_array().expect("machines");
    assert_eq!(machines.len(), 1, "{machines:#?}");
    assert_eq!(machines[0]["name"], "ssh:box");
    assert_eq!(machines[0]["setups"], serde_json::json!([0]));
    let cpu = machines[0]["environment"]["cpu"]["model"].as_str();
    assert_eq!(cpu, document["environment"]["cpu"]["model"].as_str());
    // Both sides have one clock here, and the comparison finds no difference.
    let ahead = machines[0]["clock"]["ahead_ns"]
        .as_i64()
        .expect("an offset");
    let round_trip = machines[0]["clock"]["round_trip_ns"]
        .as_i64()
        .expect("a round trip");
    assert!(ahead.abs() <= round_trip, "{ahead} of {round_trip}");
    server::until_gone("--setup fake:cpu,fixed=1003");
}

#[test]
fn rounds_are_added_over_there_too() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let there = on("box", "fake");
    let run = server.run(
        &home,
        &bench(&[&there, "fake,fixed=900"], &["--out", "a.ron"]),
    );
    assert_eq!(run.status, Some(0), "{run:#?}");
    let more = server.run(
        &home,
        &["bench", "--more", "a.ron", "--rounds", "1", "--json"],
    );
    assert_eq!(more.status, Some(0), "{more:#?}");
    let rounds = more.json()["cases"][0]["rounds"].as_u64();
    assert_eq!(rounds, Some(3), "{more:#?}");
}

#[test]
fn a_library_is_found_over_there_and_models_are_sent_once() {
    if support::onnxruntime().is_none() {
        return;
    }
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let there = on("box", "ort:cpu,threads=1");
    let args = bench(&[&there], &["--out", "a.ron", "--force"]);
    let first = server.run(&home, &args);
    assert_eq!(first.status, Some(0), "{first:#?}");
    let library = first.json()["setups"][0]["report"]["library"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(library.contains("onnxruntime"), "{first:#?}");
    let models = support::files(&server.file_path("there/cache/powerband-remote/models"));
    assert_eq!(models.len(), 1, "{models:?}");
    let sent = models[0].join("model.onnx");
    let when = fs::metadata(&sent)
        .and_then(|file| file.modified())
        .expect("the model is there");
    let again = server.run(&home, &args);
    assert_eq!(again.status, Some(0), "{again:#?}");
    let now = fs::metadata(&sent)
        .and_then(|file| file.modified())
        .expect("the model is there");
    assert_eq!(when, now, "it was sent twice");
    let machine = &again.json()["machines"][0];
    assert_eq!(machine["setups"], serde_json::json!([0]));
}

#[test]
fn files_of_inputs_go_along() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let values = vec![0.5_f32; 3 * 32 * 32];
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 32, 32), }";
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    let padded = format!("{header:<117}\n");
    file.extend((padded.len() as u16).to_le_bytes());
    file.extend(padded.as_bytes());
    file.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    home.write("x.npy", file);
    let there = on("box", "rten,threads=1");
    let args = [
        "bench",
        "resnet18@cifar",
        "--batch",
        "1",
        "--preset",
        "quick",
        "--rounds",
        "1",
        "--json",
        "--input",
        "input=x.npy",
        "--setup",
        &there,
    ];
    let run = server.run(&home, &args);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let inputs = support::files(&server.file_path("there/cache/powerband-remote/inputs"));
    assert_eq!(inputs.len(), 1, "{inputs:?}");
}

#[test]
fn copies_begin_together_over_there() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let there = on("box", "fake,copies=2,sleep=yes");
    let args = [
        "bench",
        "resnet18@cifar",
        "--batch",
        "4",
        "--preset",
        "quick",
        "--rounds",
        "2",
        "--json",
        "--setup",
        &there,
    ];
    let run = server.run(&home, &args);
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert_eq!(run.outcomes()[0].2, "finished", "{run:#?}");
}

#[test]
fn any_prefix_that_carries_both_streams_will_do() {
    let home = Home::new();
    let there = format!("fake,via=\"env PREFIX=1\",remote_program={}", program());
    let run = home.run_with(
        &bench(&[&there, "fake"], &[]),
        &[("XDG_CACHE_HOME", &home.path("cache"))],
    );
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert_eq!(run.json()["machines"][0]["name"], "via env PREFIX=1");
    let broken = format!("fake,via=\"false\",remote_program={}", program());
    let run = home.run(&bench(&[&broken, "fake"], &[]));
    let outcomes: Vec<String> = run
        .outcomes()
        .into_iter()
        .map(|(_, _, outcome)| outcome)
        .collect();
    assert_eq!(
        outcomes,
        ["lost", "lost", "finished", "finished"],
        "{run:#?}"
    );
}

#[test]
fn a_machine_of_the_settings_has_a_line_before() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    fs::create_dir_all(home.path("home")).expect("a folder");
    let settings = format!(
        "(machines: [(name: \"rack\", where: \"ssh:box\", before: \"echo noise; export POWERBAND_MARK=7; touch {}/mark-$POWERBAND_MARK\", remote_program: \"{}\")])",
        server.file_path("there").display(),
        program()
    );
    fs::write(home.path("home/settings.ron"), settings).expect("settings");
    let listed = server.run(&home, &["machines"]);
    assert!(
        listed.out.contains("rack") && listed.out.contains("ssh:box"),
        "{listed:#?}"
    );
    let run = server.run(&home, &bench(&["fake,where=rack"], &[]));
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(Path::new(&server.file_path("there/mark-7")).exists());
    let document = run.json();
    assert_eq!(document["machines"][0]["name"], "rack");
    let unknown = server.run(&home, &bench(&["fake,where=rock"], &[]));
    unknown.fails_saying(&["rock", "rack", "ssh:HOST"]);
}

#[test]
fn a_line_before_that_fails_is_an_error_with_what_it_said() {
    let home = Home::new();
    fs::create_dir_all(home.path("home")).expect("a folder");
    let run_after = |before: &str| {
        let program = program();
        let settings = format!(
            "(machines: [(name: \"pod\", via: \"env\", before: \"{before}\", remote_program: \"{program}\")])"
        );
        fs::write(home.path("home/settings.ron"), settings).expect("settings");
        home.run(&bench(&["fake,where=pod"], &[]))
    };
    let failed = run_after("echo no module rocm >&2; (exit 3)");
    assert_eq!(failed.status, Some(2), "{failed:#?}");
    for word in ["before", "exit status 3", "no module rocm"] {
        let reason = failed.json()["cases"][0]["reason"].to_string();
        assert!(reason.contains(word), "no {word} in {reason}");
    }
    let good = run_after("echo a word >&2; true");
    assert_eq!(good.outcomes()[0].2, "finished", "{good:#?}");
}

#[test]
fn the_memory_of_a_worker_over_there_is_known() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let there = on("box", "rten,threads=1");
    let run = server.run(&home, &bench(&[&there, "rten,threads=1"], &[]));
    let document = run.json();
    let bytes = |case: usize| document["cases"][case]["memory"]["peak_bytes"].as_f64();
    let (there, here) = (bytes(1), bytes(3));
    let ratio = there.zip(here).map(|(there, here)| there / here);
    assert!(
        ratio.is_some_and(|ratio| (0.7..1.4).contains(&ratio)),
        "{document:#}"
    );
}
