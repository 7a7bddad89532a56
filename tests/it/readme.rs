//! What README prints is what the program prints: each block of output there is held against the command that made it.

use std::fs;
use std::path::Path;

use crate::support::Home;

/// A block of README that shows output: how its table begins, and the command that prints it.
///
/// Blocks may leave lines out; what they have stands in the output, in the same order.
const OUTPUTS: [(&str, &[&[&str]]); 3] = [
    ("Setup ", &[&["show", "sessions/resnet50-two-engines.ron"]]),
    (
        "Category ",
        &[
            &[
                "import",
                "tests/fixtures/import/kineto/resnet50-v100-train.pt.trace.json.gz",
                "--out",
                "v100.ron",
            ],
            &["kernels", "v100.ron", "--top", "4"],
        ],
    ),
    (
        "Before ",
        &[&["compare", "sessions/resnet50-two-engines.ron"]],
    ),
];

/// The text of README's fenced block that has a line which begins so, from that line on.
fn block<'a>(readme: &'a str, head: &str) -> &'a str {
    let fenced = readme.split("```").skip(1).step_by(2);
    let mut found = fenced.filter_map(|block| {
        let start = block.match_indices(head).map(|(place, _)| place);
        let mut at_line = start.filter(|&place| block[..place].ends_with('\n'));
        at_line.next().map(|place| &block[place..])
    });
    found.next().expect("README has the block")
}

#[test]
fn readme_shows_what_the_program_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).expect("README.md");
    let home = Home::new();
    for (head, commands) in OUTPUTS {
        let mut printed = String::new();
        for command in commands {
            let in_root = |arg: &&str| match root.join(arg) {
                path if arg.contains('/') => path.display().to_string(),
                _ => (*arg).to_owned(),
            };
            let args: Vec<String> = command.iter().map(in_root).collect();
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let run = home.run(&args);
            assert_eq!(run.status, Some(0), "{args:?}: {}", run.err);
            printed = run.out;
        }
        let mut lines = printed.lines().map(str::trim_end);
        let shown = block(&readme, head).lines().map(str::trim_end);
        for line in shown.filter(|line| !line.is_empty()) {
            assert!(
                lines.any(|printed| printed == line),
                "README has the line\n{line}\nwhich `powerband {}` does not print there:\n{printed}",
                commands.last().expect("a command").join(" ")
            );
        }
    }
}
