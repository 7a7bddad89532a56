//! Two setups on two machines: the setup's part of a difference and the machine's, told apart.

use serde_json::{Value, json};

use super::bench::bench;
use super::server::{Server, on, program};
use crate::support::Home;

#[test]
fn what_a_setup_brings_is_compared_on_two_machines() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let [slow, fast] = ["fake,fixed=9000", "fake,fixed=3000"];
    let mut args = bench("3", [slow, fast]);
    args.extend(["--on", "here", "--on", "box", "--out", "a.ron"]);
    let run = server.run(&home, &args);
    assert_eq!(run.status, Some(0), "{run:#?}");

    let found = server.run(&home, &["fleet", "a.ron", "--json"]).json();
    assert_eq!(
        found["cases"].as_array().map(Vec::len),
        Some(2),
        "{found:#}"
    );
    let square = &found["effects"][0];
    assert_eq!(square["machines"], json!(["this machine", "ssh:box"]));
    let speed_up = |ratio: &Value| ratio["speed_up"].as_f64().expect("a ratio");
    for on_machine in 0..2 {
        let of_setup = &square["of_setup"][on_machine];
        assert!(speed_up(of_setup) > 1.5, "{square:#}");
        assert_eq!(of_setup["rounds"], 3, "{square:#}");
    }
    let quotient = speed_up(&square["of_setup"][1]) / speed_up(&square["of_setup"][0]);
    assert!((speed_up(&square["together"]) / quotient - 1.0).abs() < 1e-6);

    let text = server.run(&home, &["fleet", "a.ron"]).out;
    for words in ["fixed=3000", "on ssh:box over this machine"] {
        assert!(text.contains(words), "no {words} in {text}");
    }
    let compared = server.run(&home, &["show", "a.ron"]).out;
    assert!(compared.contains("not interleaved"), "{compared}");
    for block in ["Machine  this machine\n", "Machine  ssh:box ("] {
        assert!(compared.contains(block), "no {block} in {compared}");
    }
    let spec = |case: usize, machine: usize| {
        let spec = &found["cases"][case]["machines"][machine]["setup"];
        spec.as_str().expect("a setup").to_owned()
    };
    let (slow_there, fast_here) = (spec(0, 1), spec(1, 0));
    let sides = ["--before", &slow_there, "--after", &fast_here];
    let compare = [&["compare", "a.ron"][..], &sides].concat();
    let parts = server.run(&home, &compare).out;
    assert!(parts.contains("on this machine over ssh:box"), "{parts}");
    let document = server.run(&home, &[&compare[..], &["--json"]].concat());
    let effects = &document.json()["comparisons"][0]["effects"][0];
    assert_eq!(effects["machines"], json!(["ssh:box", "this machine"]));
    let export = ["export", "a.ron", "--chart", "fleet", "--to", "fleet.svg"];
    assert_eq!(server.run(&home, &export).status, Some(0));
    let drawn = std::fs::read_to_string(home.path("fleet.svg")).expect("a figure");
    assert!(drawn.contains("ssh:box") && drawn.contains("median of the fleet"));
    let report = ["report", "a.ron", "--to", "a.md"];
    assert_eq!(server.run(&home, &report).status, Some(0));
    let report = std::fs::read_to_string(home.path("a.md")).expect("a report");
    assert!(report.contains("## Machines compared") && report.contains("on 2 machines"));
}

#[test]
fn a_setup_says_where_it_runs_once() {
    let home = Home::new();
    let there = on("box", "fake");
    let mut args = bench("1", [there.as_str()]);
    args.extend(["--on", "here"]);
    home.run(&args)
        .fails_saying(&["where=ssh:box", "leave --on out"]);
    home.run(&["bench", "resnet18@cifar", "--on", "box"])
        .fails_saying(&["--setup"]);
}

#[test]
fn one_machine_under_two_names_is_one_machine() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let (one, other) = (on("box", "fake,fixed=9000"), on("alias", "fake,fixed=3000"));
    let args = bench("3", [one.as_str(), other.as_str()]);
    let run = server.run(&home, &[&args[..], &["--out", "a.ron"]].concat());
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    let machines = document["machines"].as_array().expect("machines");
    assert_eq!(machines.len(), 1, "{machines:#?}");
    assert_eq!(machines[0]["setups"], json!([0, 1]));
    let said = document["warnings"].to_string();
    assert!(said.contains(" are one machine, "), "{said}");
    // So their rounds are compared as those of one machine are.
    let compared = server.run(&home, &["compare", "a.ron"]).out;
    assert!(!compared.contains("not interleaved"), "{compared}");
}

#[test]
fn a_group_of_the_settings_is_every_machine_in_it() {
    let home = Home::new();
    let machine = |name: &str, groups: &str| {
        let program = program();
        format!(
            "(name: \"{name}\", via: \"env NODE={name}\", remote_program: \"{program}\", groups: [{groups}])"
        )
    };
    let machines = [
        machine("north", "\"rack\", \"cold\""),
        machine("south", "\"rack\""),
        machine("desk", ""),
    ];
    let settings = format!("(machines: [{}])", machines.join(", "));
    std::fs::create_dir_all(home.path("home")).expect("a folder");
    home.write("home/settings.ron", settings);
    let listed = home.run(&["machines"]).out;
    assert!(listed.contains("in rack, cold"), "{listed}");
    let names = |on: &[&str]| -> Vec<String> {
        let mut args = bench("1", ["fake"]);
        args.extend(on.iter().flat_map(|host| ["--on", host]));
        let document = home.run(&args).json();
        let machines = document["machines"].as_array().expect("machines");
        let names = machines
            .iter()
            .map(|one| one["name"].as_str().unwrap_or_default().to_owned());
        names.collect()
    };
    assert_eq!(names(&["rack"]), ["north", "south"]);
    assert_eq!(names(&["cold", "rack"]), ["north", "south"], "each once");
    assert_eq!(names(&["de*"]), ["desk"]);
    let mut args = bench("1", ["fake"]);
    args.extend(["--on", "warm*"]);
    home.run(&args)
        .fails_saying(&["warm*", "no machine or group"]);
}
