//! Devices of another machine: read over there, beside the cases that run there and no others.

use std::fs;
use std::io::{BufReader, Read as _};
use std::process::Child;

use serde_json::Value;

use super::bench::{begun, bench};
use super::server::{Server, on};
use crate::cards::FakeAmdCards;
use crate::support::{Home, ProgramRun};

/// A machine behind ssh that has simulated cards, which this one does not have.
fn server_with(cards: &FakeAmdCards) -> Option<Server> {
    Server::with_variables(&format!("POWERBAND_ROOT={}", cards.root().display()))
}

/// The kinds of the devices that were read, each with its machine.
fn devices(document: &Value) -> Vec<(String, Option<String>)> {
    let devices = document["telemetry"]["devices"].as_array();
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    devices
        .into_iter()
        .flatten()
        .map(|device| &device["device"])
        .filter_map(|device| Some((text(&device["kind"])?, text(&device["machine"]))))
        .collect()
}

/// The kinds of the devices that were read beside a case.
fn device_kinds_of_case(document: &Value, case: usize) -> Vec<String> {
    let found = devices(document);
    let watched = document["cases"][case]["devices"].as_array();
    let places = watched
        .into_iter()
        .flatten()
        .filter_map(|device| device["device"].as_u64());
    places
        .filter_map(|place| Some(found.get(place as usize)?.0.clone()))
        .collect()
}

#[test]
fn each_case_has_the_readings_and_the_energy_of_its_own_machine() {
    let cards = FakeAmdCards::new(1);
    let Some(server) = server_with(&cards) else {
        return;
    };
    let home = Home::new();
    let there = on("box", "fake:rocm:0,sleep=yes");
    let args = [
        "bench",
        "resnet18@cifar",
        "--batch",
        "4",
        "--preset",
        "standard",
        "--rounds",
        "8",
        "--energy",
        "--telemetry",
        "11",
        "--json",
        "--out",
        "run.ron",
        "--setup",
        &there,
        "--setup",
        "fake:rocm:0,sleep=yes,fixed=900",
    ];
    let run = server.run(&home, &args);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    let found = devices(&document);
    assert!(
        found.contains(&("amd".to_owned(), Some("ssh:box".to_owned()))),
        "{found:?}"
    );
    assert!(found.contains(&("host".to_owned(), None)), "{found:?}");
    assert!(!found.contains(&("amd".to_owned(), None)), "{found:?}");
    let (there, here) = (&document["cases"][0], &document["cases"][1]);
    assert_eq!(device_kinds_of_case(&document, 0), ["amd"], "{there:#}");
    let local = device_kinds_of_case(&document, 1);
    assert!(local.contains(&"host".to_owned()), "{here:#}");
    assert!(!local.contains(&"amd".to_owned()), "{here:#}");
    let warnings = document["warnings"].to_string();
    assert!(
        warnings.contains("GPU 0 on ssh:box was busy before the first worker started"),
        "{warnings}"
    );
    let energy = &there["energy"];
    let mean_w = energy["mean_w"].as_f64().expect("a power");
    assert!((mean_w - 215.0).abs() < 1e-6, "{energy:#}");
    assert!(energy["gross_j_per_item"].as_f64().is_some_and(|j| j > 0.0));
    // It draws the same when it is idle, which was read over there too.
    let net = energy["net_j_per_item"].as_f64();
    assert!(net.is_some_and(|net| net.abs() < 1e-6), "{energy:#}");
    assert!(here["energy"]["unknown"].is_string(), "{here:#}");
    let gpus = &document["machines"][0]["environment"]["gpus"];
    assert_eq!(gpus[0]["name"], "AMD INSTINCT MI250 (simulated)");
    let shown = home.run(&["show", "run.ron"]).out;
    assert!(shown.contains("GPU 0 on ssh:box"), "{shown}");
    super::server::until_gone("remote watch --rate 11");
}

/// A run of one slow setup over there, at a time when a round of it was measured; and what else it writes.
fn slow_run(
    server: &Server,
    home: &Home,
    batches: &str,
) -> (Child, BufReader<std::process::ChildStderr>) {
    let there = on("box", "fake:rocm:0,sleep=yes");
    let args = [
        "bench",
        "resnet18@cifar",
        "--batch",
        batches,
        "--preset",
        "quick",
        "--rounds",
        "6",
        "--json",
        "--setup",
        &there,
    ];
    begun(server, home, &args, |line| line.contains("round 2"))
}

fn ended(child: Child, mut told: BufReader<std::process::ChildStderr>) -> ProgramRun {
    let rest = std::thread::Builder::new()
        .name("stderr".to_owned())
        .spawn(move || {
            let mut text = String::new();
            told.read_to_string(&mut text).map(drop).unwrap_or_default();
            text
        })
        .expect("a thread");
    let run = ProgramRun::from_output(&child.wait_with_output().expect("it ends"));
    let err = rest.join().expect("text");
    ProgramRun { err, ..run }
}

#[test]
fn a_run_goes_on_where_the_sampler_over_there_is_killed() {
    let cards = FakeAmdCards::new(1);
    let Some(server) = server_with(&cards) else {
        return;
    };
    let home = Home::new();
    let (child, told) = slow_run(&server, &home, "1");
    assert_eq!(server.kill("remote watch"), 1, "one sampler");
    let run = ended(child, told);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    assert_eq!(document["cases"][0]["outcome"], "finished", "{run:#?}");
    let warnings = document["warnings"].to_string();
    assert!(
        warnings.contains("ssh:box: its devices are not read any more"),
        "{warnings}"
    );
    let device = &document["telemetry"]["devices"][0];
    assert!(device["lost"]["at_s"].as_f64().is_some(), "{device:#}");
    assert!(device["readings"].as_u64().is_some_and(|n| n > 0));
}

#[test]
fn devices_are_read_again_after_a_connection_was_cut() {
    let cards = FakeAmdCards::new(1);
    let Some(server) = server_with(&cards) else {
        return;
    };
    let home = Home::new();
    let (child, told) = slow_run(&server, &home, "1,2");
    server.cut();
    let run = ended(child, told);
    let document = run.json();
    let cases = document["cases"].as_array().expect("cases");
    let outcomes: Vec<&str> = cases
        .iter()
        .filter_map(|case| case["outcome"].as_str())
        .collect();
    assert!(
        outcomes.contains(&"lost") && outcomes.contains(&"finished"),
        "{run:#?}"
    );
    let device = &document["telemetry"]["devices"][0];
    let lost_s = device["lost"]["at_s"].as_f64().expect("it was lost once");
    let finished = cases.iter().find(|case| case["outcome"] == "finished");
    let power = &finished.expect("one")["devices"][0]["quantities"]["power_w"];
    assert_eq!(power["mean"].as_f64(), Some(215.0), "{power}");
    assert!(lost_s < document["elapsed_s"].as_f64().unwrap_or_default());
}

#[test]
fn a_session_of_another_machine_alone_has_no_reading_of_this_one() {
    let cards = FakeAmdCards::new(2);
    let Some(server) = server_with(&cards) else {
        return;
    };
    let home = Home::new();
    let there = on("box", "fake");
    let mut args = bench("1", [&*there]);
    args.extend(["--out", "a.ron"]);
    let run = server.run(&home, &args);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let found = devices(&run.json());
    let is_there = |(_, machine): &(String, Option<String>)| machine.as_deref() == Some("ssh:box");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(is_there), "{found:?}");
    // Rounds that are added are read over there as well, and the devices are the same ones.
    let more = server.run(
        &home,
        &["bench", "--more", "a.ron", "--rounds", "1", "--json"],
    );
    assert_eq!(more.status, Some(0), "{more:#?}");
    assert_eq!(devices(&more.json()), found);
    let file = fs::read_to_string(home.path("a.ron")).expect("the session");
    assert!(
        file.contains("machine: Some(\"ssh:box\")") || file.contains("machine:Some(\"ssh:box\")")
    );
}
