//! Files from a stranger: what they name is not read, written or moved, and nothing of them reaches the terminal
//! but text. `SECURITY.md` names these tests.

use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

use powerband_findings::report;

use crate::models::good_model;
use crate::support::{Home, files};

/// A session with a profile and a timeline beside it.
fn profiled(home: &Home) {
    let made = home.run(&[
        "bench",
        "resnet18@cifar",
        "--setup",
        "rten",
        "--batch",
        "1",
        "--preset",
        "quick",
        "--rounds",
        "1",
        "--profile",
        "--out",
        "a.ron",
    ]);
    assert_eq!(made.status, Some(0), "{made:#?}");
    assert!(home.path("a.1.trace.json.gz").is_file(), "{made:#?}");
}

/// A session of the made-up engine as `a.ron`, and its text.
fn measured(home: &Home) -> String {
    let words = "bench resnet18@cifar --setup fake --batch 1 --preset quick --rounds 1 --out a.ron";
    let words: Vec<&str> = words.split(' ').collect();
    let made = home.run(&words);
    assert_eq!(made.status, Some(0), "{made:#?}");
    fs::read_to_string(home.path("a.ron")).expect("the session is there")
}

/// The session with another file as its timeline.
fn with_timeline(home: &Home, name: &str) {
    let text = fs::read_to_string(home.path("a.ron")).expect("the session is there");
    let at = text.find("trace_file: Some(").expect("a timeline");
    let end = at + text[at..].find(')').expect("a bracket closes") + 1;
    let changed = format!("{}trace_file: Some({name:?}){}", &text[..at], &text[end..]);
    home.write("a.ron", changed);
}

#[test]
fn a_session_moves_and_reads_no_file_elsewhere() {
    let home = Home::new();
    profiled(&home);
    let secret = home.write("secret.json", "{\"traceEvents\": []}");
    fs::create_dir(home.path("in")).unwrap();
    symlink(&secret, home.path("link.trace.json.gz")).unwrap();
    for name in [
        secret.to_str().unwrap(),
        "in/../secret.json",
        "/etc/passwd",
        "..",
    ] {
        with_timeline(&home, name);
        let refused = home.run(&["export", "a.ron", "--to", "out.json", "--timeline"]);
        refused.fails_saying(&["does not lie beside the session"]);
        let more = home.run(&["bench", "--more", "a.ron", "--rounds", "1"]);
        assert_eq!(more.status, Some(0), "{more:#?}");
        assert!(secret.is_file(), "{name} was moved");
    }
    assert!(
        files(&home.path(""))
            .iter()
            .all(|path| !path.ends_with("out.json"))
    );
}

#[test]
fn a_name_does_nothing_to_the_terminal() {
    let home = Home::new();
    let text = measured(&home);
    let name = "name: \"\\u{1b}]0;owned\\u{7}\\u{1b}[2J\\u{9b}8m\\u{202e}x\"";
    let at = text.find("name: \"").unwrap();
    let end = at + 7 + text[at + 7..].find('"').unwrap() + 1;
    home.write("a.ron", format!("{}{name}{}", &text[..at], &text[end..]));
    for args in [
        vec!["show", "a.ron"],
        vec!["show", "a.ron", "--json"],
        vec!["check", "a.ron"],
        vec!["history", "a.ron", "a.ron"],
        vec!["export", "a.ron", "--to", "a\u{1b}[2J.xyz"],
        vec!["bench", "--more", "a.ron", "--rounds", "1"],
    ] {
        let run = home.run(&args);
        for said in [&run.out, &run.err] {
            let obeyed = said
                .chars()
                .find(|c| c.is_control() && !"\n\t".contains(*c));
            assert_eq!(obeyed, None, "{args:?}: {said:?}");
            assert!(!said.contains('\u{202e}'), "{args:?}: {said:?}");
        }
    }
    assert!(home.run(&["show", "a.ron"]).out.contains("owned"));
    assert_eq!(
        home.run(&["show", "a.ron", "--json"]).json()["name"],
        "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}8m\u{202e}x",
    );
}

#[test]
fn a_file_that_is_endless_or_nested_is_a_sentence() {
    let home = Home::new();
    let sparse = fs::File::create(home.path("sparse.ron")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    home.run(&["show", "sparse.ron"])
        .fails_saying(&["sparse.ron", "more than"]);
    for (open, close) in [("[", "]"), ("(a: ", ")"), ("Some(", ")"), ("{1: ", "}")] {
        let deep = open.repeat(1_000_000) + &close.repeat(1_000_000);
        home.write("deep.ron", format!("(version: 2, session: {deep})"));
        home.run(&["show", "deep.ron"]).fails_saying(&["deep.ron"]);
    }
    for (open, close) in [("[", "]"), ("{\"traceEvents\":", "}"), ("[{\"a\":", "}]")] {
        home.write(
            "deep.json",
            open.repeat(1_000_000) + &close.repeat(1_000_000),
        );
        let read = home.run(&["import", "deep.json"]);
        assert!(read.status.is_some(), "{open} ended the program: {read:#?}");
        assert!(!read.err.contains("panicked"), "{read:#?}");
    }
}

/// A session whose only setup is a command that leaves a file behind, as if someone else had measured it.
fn from_a_stranger(home: &Home) {
    let made = home.run(&[
        "bench",
        "resnet18@cifar",
        "--setup",
        "command,run=\"sleep 0.02; true mark\"",
        "--batch",
        "1",
        "--preset",
        "quick",
        "--rounds",
        "1",
        "--out",
        "a.ron",
    ]);
    assert_eq!(made.status, Some(0), "{made:#?}");
    let text = fs::read_to_string(home.path("a.ron")).expect("the session is there");
    assert!(text.contains("true mark"), "{text}");
    home.write("a.ron", text.replace("true mark", "touch owned"));
}

#[test]
fn a_command_from_a_file_is_shown_and_not_run() {
    let home = Home::new();
    from_a_stranger(&home);
    let before = fs::read_to_string(home.path("a.ron")).expect("the session is there");
    let more = ["bench", "--more", "a.ron", "--rounds", "1"];
    home.run(&more).fails_saying(&[
        "    command: run=sleep 0.02; touch owned",
        "--allow-commands",
        "not started",
    ]);
    assert!(!home.path("owned").exists());
    assert_eq!(
        fs::read_to_string(home.path("a.ron")).expect("the session is there"),
        before
    );
    // The same session as of another time.
    home.write(
        "b.ron",
        before.replacen("created: \"20", "created: \"19", 1),
    );
    home.run(&["bench", "--again", "a.ron", "b.ron"])
        .fails_saying(&[
            "    command: run=sleep 0.02; touch owned",
            "--allow-commands",
            "not started",
        ]);
    assert!(!home.path("owned").exists());
    let allowed = home.run(&[&more[..], &["--allow-commands"]].concat());
    assert_eq!(allowed.status, Some(0), "{allowed:#?}");
    assert!(
        allowed
            .err
            .contains("Allowed: command: run=sleep 0.02; touch owned"),
        "{allowed:#?}"
    );
    assert!(home.path("owned").exists());
    // That was for once; what was typed is known, in its folder.
    home.run(&more).fails_saying(&["--allow-commands"]);
    let text = fs::read_to_string(home.path("a.ron")).expect("the session is there");
    home.write("a.ron", text.replace("touch owned", "true mark"));
    let own = home.run(&more);
    assert_eq!(own.status, Some(0), "{own:#?}");
    fs::create_dir(home.path("elsewhere")).unwrap();
    let mut elsewhere = home.command(&["bench", "--more", "../a.ron", "--rounds", "1"]);
    let elsewhere = elsewhere
        .current_dir(home.path("elsewhere"))
        .output()
        .unwrap();
    crate::support::ProgramRun::from_output(&elsewhere)
        .fails_saying(&["run=sleep 0.02; true mark", "--allow-commands"]);
}

#[test]
fn a_library_or_module_from_a_file_is_not_loaded() {
    let home = Home::new();
    let text = measured(&home);
    home.write("nets.py", "open('owned', 'w').write('')\n");
    let python = home.script("python", "touch owned");
    let python = python.display();
    for (engine, key, value) in [
        ("ort", "library", "/tmp/provider.so".to_owned()),
        ("ort", "runtime", "./libonnxruntime.so".to_owned()),
        ("torch", "module", "nets:tiny".to_owned()),
        ("torch", "python", python.to_string()),
        ("rten", "via", "touch owned".to_owned()),
        ("rten", "where", "ssh:nowhere.invalid".to_owned()),
    ] {
        let at = text.find("engine: \"fake\"").expect("a setup");
        let end = at + text[at..].find("options: {").unwrap();
        let rest = &text[end + "options: {".len()..];
        let rest = &rest[rest.find('}').unwrap()..];
        let setup =
            format!("engine: \"{engine}\", device: \"cpu\", options: {{\"{key}\": {value:?}");
        home.write("b.ron", format!("{}{setup}{rest}", &text[..at]));
        let refused = home.run(&["bench", "--more", "b.ron", "--rounds", "1"]);
        refused.fails_saying(&[&format!("{engine}: {key}={value}"), "--allow-commands"]);
        assert!(!home.path("owned").exists(), "{engine} {key}");
    }
}

/// How often a file was opened since the last question.
struct Watch(OwnedFd);

impl Watch {
    fn new(path: &Path) -> Self {
        let watch = inotify::init(CreateFlags::NONBLOCK).expect("inotify");
        inotify::add_watch(&watch, path, WatchFlags::OPEN).expect("a watch");
        Self(watch)
    }

    fn n_openings(&self) -> usize {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.0, &mut buffer);
        std::iter::from_fn(|| events.next().ok().map(drop)).count()
    }
}

#[test]
fn a_session_that_is_looked_at_opens_nothing_that_its_plan_names() {
    let home = Home::new();
    let model = home.write("good.onnx", good_model());
    let words = "bench good.onnx --setup fake --batch 1 --preset quick --rounds 1 --out a.ron";
    let words: Vec<&str> = words.split(' ').collect();
    let made = home.run(&words);
    assert_eq!(made.status, Some(0), "{made:#?}");
    let watch = Watch::new(&model);
    for args in [
        &["show", "a.ron"][..],
        &["show", "a.ron", "--json"],
        &["check", "a.ron"],
        &["history", "a.ron", "a.ron"],
        &["export", "a.ron", "--to", "a.csv"],
        &["report", "a.ron", "--to", "a.html"],
    ] {
        let run = home.run(args);
        assert_eq!(run.status, Some(0), "{args:?}: {run:#?}");
        assert_eq!(watch.n_openings(), 0, "{args:?}");
    }
    let more = home.run(&["bench", "--more", "a.ron", "--rounds", "1"]);
    assert_eq!(more.status, Some(0), "{more:#?}");
    assert!(watch.n_openings() > 0, "a run reads its model");
}

/// A report without the script of Powerband, the only one that its policy lets run.
fn without_own_script(report: &str) -> String {
    let script = include_str!("../../assets/report.js");
    let own = format!("<script>{script}</script>");
    assert_eq!(report.matches(&own).count(), 1);
    let policies = report.match_indices("script-src ").map(|(at, _)| {
        let (sources, _) = report[at..].split_once(';').expect("its end");
        sources.starts_with("script-src 'sha256-") && sources.matches('\'').count() == 2
    });
    assert_eq!(policies.collect::<Vec<_>>(), [true]);
    report.replace(&own, "")
}

#[test]
fn reports_have_only_their_own_script_and_load_nothing() {
    let home = Home::new();
    // Two setups, so that there is a step to report.
    let words = "bench resnet18@cifar --setup fake --setup fake:cpu,fixed=300 --batch 1 --preset quick --rounds 1 --out a.ron";
    let made = home.run(&words.split(' ').collect::<Vec<_>>());
    assert_eq!(made.status, Some(0), "{made:#?}");
    for layout in report::ALL.iter().filter(|layout| !layout.is_of_two) {
        let args = ["report", "a.ron", "--to", "a.html", "--layout", layout.name];
        let run = home.run(&args);
        assert_eq!(run.status, Some(0), "{}: {run:#?}", layout.name);
        let written = fs::read_to_string(home.path("a.html")).unwrap();
        let written = without_own_script(&written);
        for tag in [
            "<script",
            "<iframe",
            "<object",
            "<embed",
            "@import",
            "http-equiv=\"refresh",
        ] {
            assert!(!written.contains(tag), "{tag} in {}", layout.name);
        }
        assert_eq!(written.matches("<link").count(), 1, "the icon");
        for source in ["src=", "url(", "srcset=", "<link rel=\"icon\" href="] {
            let mut places = written.match_indices(source);
            let is_within = |at: usize| {
                let value = written[at + source.len()..].trim_start_matches(['"', '\'']);
                value.starts_with("data:") || value.starts_with('#')
            };
            assert!(
                places.all(|(at, _)| is_within(at)),
                "{source} in {}",
                layout.name
            );
        }
    }
}

/// Markdown without its code, in which everything is text: spans, and blocks between fences, which are spans
/// of longer delimiters.
fn without_code(markdown: &str) -> String {
    let (mut kept, mut rest) = (String::new(), markdown);
    while let Some(at) = rest.find('`') {
        let (before, from) = rest.split_at(at);
        kept.push_str(before);
        let ticks = from.len() - from.trim_start_matches('`').len();
        let (delimiter, inside) = from.split_at(ticks);
        if before.ends_with('\\') {
            rest = inside;
            continue;
        }
        let ends = inside.match_indices(delimiter).find(|(end, _)| {
            let is_longer = inside[..*end].ends_with('`');
            !is_longer && !inside[end + ticks..].starts_with('`')
        });
        rest = ends.map_or(inside, |(end, _)| &inside[end + ticks..]);
    }
    kept + rest
}

#[test]
fn names_are_text_in_every_report() {
    let home = Home::new();
    let made = home.run(&[
        "bench",
        "resnet18@cifar",
        "--setup",
        "fake",
        "--setup",
        "fake,item=300",
        "--batch",
        "1,2",
        "--preset",
        "quick",
        "--rounds",
        "2",
        "--out",
        "a.ron",
    ]);
    assert_eq!(made.status, Some(0), "{made:#?}");
    let text = fs::read_to_string(home.path("a.ron")).expect("the session is there");
    let hostile =
        "\"><script>alert(1)</script><img src=x onerror=alert(2)>[a](javascript:alert(3))|`x`";
    let mut changed = text.clone();
    for key in ["name: ", "notes: ", "hostname: ", "program: ", "created: "] {
        if let Some(at) = changed.find(&format!("{key}\"")) {
            let from = at + key.len() + 1;
            let end = from + changed[from..].find('"').unwrap();
            changed = format!(
                "{}{}{}",
                &changed[..from],
                hostile.replace('"', "\\\""),
                &changed[end..]
            );
        }
    }
    let looks = format!("looks: [(label: Some({hostile:?}), colour: None)]");
    changed = changed.replace("looks: []", &looks);
    home.write("b.ron", changed);
    for target in ["b.html", "b.md", "b.svg", "b.csv", "b.json"] {
        let command = if matches!(target, "b.html" | "b.md") {
            "report"
        } else {
            "export"
        };
        let chart: &[&str] = if target == "b.svg" {
            &["--chart", "latency"]
        } else {
            &[]
        };
        let run = home.run(&[&[command, "b.ron", "--to", target], chart].concat());
        assert_eq!(run.status, Some(0), "{target}: {run:#?}");
        let written = fs::read_to_string(home.path(target)).unwrap();
        assert!(written.contains("alert"), "{target} has the name");
        let written = match target {
            "b.md" => without_code(&written),
            "b.html" => without_own_script(&written),
            _ => written,
        };
        if matches!(target, "b.html" | "b.svg" | "b.md") {
            for tag in ["<script", "<img src=x"] {
                assert!(!written.contains(tag), "{tag} in {target}");
            }
        }
        if target == "b.md" {
            let links = written.replace("\\]", "");
            assert!(!links.contains("](javascript:"), "a link in {target}");
        }
    }
}
