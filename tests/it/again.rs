//! Two sessions that were measured apart, once more in turns, as a user meets it.

use std::fs;

use powerband_core::domain::point::Point;
use powerband_onnx::pb::ModelProto;
use powerband_onnx::{file, zoo};
use powerband_store::session_file;

use crate::support::Home;
use crate::verdicts::{measure, verdicts};

#[test]
fn two_sessions_are_measured_again_in_turns() {
    let home = Home::new();
    let five = ["--rounds", "5", "--batch"];
    measure(&home, "a.ron", &["fake"], &[&five[..], &["1,8"]].concat());
    let after = ["fake,item=300"];
    measure(&home, "b.ron", &after, &[&five[..], &["8,16"]].concat());
    let apart = home.run(&["compare", "a.ron", "b.ron"]);
    assert!(
        apart.err.contains("powerband bench --again a.ron b.ron"),
        "{apart:#?}"
    );
    let again = ["bench", "--again", "a.ron", "b.ron", "--out", "c.ron"];
    let run = home.run(&[&again[..], &["--json"]].concat());
    assert_eq!(run.status, Some(0), "{run:#?}");
    // 2,400 µs before and 3,200 after, at the one point that both have.
    assert_eq!(verdicts(&run), ["slower"]);
    let session = session_file::read(&home.path("c.ron")).unwrap().session;
    let setups: Vec<String> = session
        .plan
        .setups
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(setups, ["fake:cpu", "fake:cpu,item=300"]);
    assert_eq!(session.plan.points, [Point::of_batch(8)]);
    let begun = |setup: usize, round: usize| session.cases[setup].rounds[round].started_ns;
    for round in 0..4 {
        let both = begun(0, round).max(begun(1, round));
        let next = begun(0, round + 1).min(begun(1, round + 1));
        assert!(
            both < next,
            "round {round} of one setup is beside the other's"
        );
    }
    let text = home.run(&["compare", "c.ron"]);
    assert!(!text.out.contains("not interleaved"), "{text:#?}");

    // One setup of a session that the other does not have, and a session against itself.
    measure(&home, "d.ron", &["fake", "fake,noise=1.01"], &five_of("8"));
    measure(
        &home,
        "e.ron",
        &["fake,item=5", "fake,item=6"],
        &five_of("8"),
    );
    let refuses = |first: &str, second: &str, why: &str| {
        home.run(&["bench", "--again", first, second])
            .fails_saying(&["cannot be measured again", why]);
    };
    refuses("d.ron", "e.ron", "no setup in common");
    refuses("a.ron", "a.ron", "took turns already");
    home.run(&["bench", "resnet18@cifar", "--again", "a.ron", "b.ron"])
        .fails_saying(&["cannot be used with"]);
}

fn five_of(batches: &str) -> [&str; 4] {
    ["--rounds", "5", "--batch", batches]
}

#[test]
fn only_the_files_that_two_sessions_measured_are_measured_again() {
    let home = Home::new();
    let [one, other] = ["resnet18@cifar", "resnet34@cifar"].map(|name| {
        let model = zoo::find(name).expect("a network");
        zoo::build(model)
    });
    let save = |name: &str, proto: &ModelProto| {
        file::save(&home.path(name), proto).expect("a file");
    };
    save("one.onnx", &one);
    save("other.onnx", &other);
    for (model, file) in [("one.onnx", "a.ron"), ("other.onnx", "b.ron")] {
        let run = home.run(&[
            "bench", model, "--preset", "quick", "--setup", "fake", "--batch", "1", "--rounds",
            "2", "--out", file,
        ]);
        assert_eq!(run.status, Some(0), "{run:#?}");
    }
    let again = |out: &str| home.run(&["bench", "--again", "a.ron", "b.ron", "--out", out]);
    let run = again("c.ron");
    assert_eq!(run.status, Some(0), "{run:#?}");
    let session = session_file::read(&home.path("c.ron")).unwrap().session;
    let models = [0, 1].map(|setup| session.model_of(setup).file.clone());
    assert_eq!(models, ["one.onnx", "other.onnx"]);
    save("other.onnx", &one);
    again("d.ron").fails_saying(&["other.onnx is not the file any more that"]);
    fs::remove_file(home.path("other.onnx")).unwrap();
    again("d.ron").fails_saying(&["cannot be measured again", "other.onnx"]);
}
