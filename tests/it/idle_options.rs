//! Options that would have no effect: each is refused, with the words that say which.

use crate::support::Home;

/// Command lines, and what their refusals say.
const REFUSED: &[(&str, &[&str])] = &[
    ("bench --more run.ron --force", &["--more", "--force"]),
    ("bench --more run.ron --on here", &["--more", "--on"]),
    ("bench --more run.ron --arrivals poisson", &["--arrivals"]),
    ("bench --more run.ron --array 2", &["--more", "--array"]),
    ("bench --more run.ron --profile", &["--more", "--profile"]),
    ("bench --more run.ron --timeout 9", &["--timeout"]),
    ("bench --again run.ron run.ron --on here", &["--on"]),
    ("bench --ladder everything --on here", &["--ladder", "--on"]),
    (
        "bench --ladder resnet50-case-study --journey",
        &["of steps already"],
    ),
    ("bench net --force", &["--out"]),
    ("bench net --allow-commands", &["--allow-commands"]),
    ("bench net --setup fake --detach --force", &["--force"]),
    (
        "bench net --setup fake --detach --replay run.ron",
        &["--replay"],
    ),
    (
        "bench net --setup fake --detach --telemetry 1",
        &["--telemetry"],
    ),
    ("show run.ron --verbose --json", &["--verbose", "--json"]),
    ("compare run.ron --verbose --json", &["--verbose", "--json"]),
    ("engines --verbose --json", &["--verbose", "--json"]),
    ("engines --json install onnxruntime", &["--json"]),
    ("engines --on gpu1 install onnxruntime", &["--on"]),
    (
        "model net --export-from torch --write a.onnx --input x=ones",
        &["--input"],
    ),
    (
        "model net --export-from torch --write a.onnx --calibration .",
        &["--calibration"],
    ),
    ("why net --force", &["--out"]),
    ("why net --allow-commands", &["is a model"]),
    ("why run.ron --show --force", &["--show", "--force"]),
    ("why run.ron --show --only half-threads", &["--only"]),
    ("why run.ron --show --preset standard", &["--preset"]),
    ("why run.ron --show --no-roofs", &["--no-roofs"]),
    ("export run.ron --to a.csv --against run.ron", &["--chart"]),
    ("export run.ron --to a.csv --batch 2", &["--chart"]),
    ("export run.ron --to a.csv --at batch=2", &["--chart"]),
    ("export run.ron --to a.csv --profile 1", &["--chart"]),
    (
        "export run.ron --to a.csv --samples --setup 1",
        &["--setup"],
    ),
    (
        "export run.ron --to a.csv --samples --batch 1",
        &["--batch"],
    ),
    (
        "export run.ron --to a.json --timeline --batch 2",
        &["--batch"],
    ),
    (
        "export run.ron --to a.json --timeline --limit 1ms",
        &["--limit"],
    ),
    (
        "export run.ron --to a.svg --chart journey-start --setup 1",
        &["--setup has no effect on the figure journey-start"],
    ),
    (
        "export run.ron --to a.svg --chart kernels --batch 2",
        &["--batch or --at has no effect on the figure kernels"],
    ),
    (
        "export run.ron --to a.svg --chart latency --profile 1",
        &["--profile has no effect on the figure latency"],
    ),
    (
        "export run.ron --to a.svg --chart latency --between 0ms..1ms",
        &["--between has no effect on the figure latency"],
    ),
    (
        "export run.ron --to a.svg --chart latency --scale 2",
        &["--scale has no effect on a.svg", "another kind of file"],
    ),
    (
        "export run.ron --to a.csv --chart latency --theme dark",
        &["--theme has no effect on a.csv"],
    ),
    (
        "export run.ron --to a.json --chart latency --preset page",
        &["--preset has no effect on a.json"],
    ),
    (
        "export run.ron --to a.svg --chart comparison --setup 1",
        &["the setup that others are compared with"],
    ),
];

/// What is named and is the default as well, is no mistake.
const TAKEN: [&str; 2] = [
    "export run.ron --to a.png --chart samples --setup 1 --batch 1 --scale 2",
    "export run.ron --to a.svg --chart latency --preset screen",
];

#[test]
fn an_option_without_effect_is_refused() {
    let home = Home::new();
    let session = home.path("run.ron").display().to_string();
    let run = |line: &str| {
        let words = line.split(' ').map(|word| match word {
            "run.ron" => session.as_str(),
            "net" => "resnet18@cifar",
            word => word,
        });
        home.run(&words.collect::<Vec<_>>())
    };
    let measured = run(
        "bench net --preset quick --rounds 1 --spacing 0s --setup fake --setup fake,fixed=4000 --batch 1,2 --out run.ron",
    );
    assert_eq!(measured.status, Some(0), "{measured:#?}");
    for (line, words) in REFUSED {
        run(line).fails_saying(words);
    }
    for line in TAKEN {
        let run = run(line);
        assert_eq!(run.status, Some(0), "{run:#?}");
    }
}
