//! `powerband history`: where the level of a case changed, and which cases moved most.

use std::fs;

use powerband_store::session_file;

use crate::support::{Home, ProgramRun};

/// Nine sessions of two batch sizes, whose last five are slower at batch 4.
pub(crate) fn nine_sessions(home: &Home, folder: &str) {
    for (file, item) in [("fast.ron", 200), ("slow.ron", 900)] {
        let setup = format!("fake,item={item}");
        let args = [
            "bench",
            "resnet18@cifar",
            "--setup",
            &setup,
            "--batch",
            "1,4",
        ];
        let run = home.run(&[&args[..], &["--rounds", "3", "--out", file]].concat());
        assert_eq!(run.status, Some(0), "{run:#?}");
    }
    let read = |file: &str| {
        session_file::read(&home.path(file))
            .expect("a session")
            .session
    };
    let (fast, slow) = (read("fast.ron"), read("slow.ron"));
    fs::create_dir_all(home.path(folder)).expect("a folder");
    for day in 1..=9 {
        let mut session = fast.clone();
        if day > 4 {
            // The same setup: what changed is behind it.
            session.cases[1] = slow.cases[1].clone();
            "6.99".clone_into(&mut session.environment.kernel);
        }
        session.created = format!("2030-01-{day:02}T04:00:00Z");
        session.name = format!("night {day}");
        if day == 5 {
            "the new kernel".clone_into(&mut session.notes);
        }
        let path = home.path(&format!("{folder}/{day}.ron"));
        session_file::write(&path, &session).expect("a session");
    }
}

fn history(home: &Home, newest: u32, more: &[&str]) -> ProgramRun {
    let newest = format!("nightly/{newest}.ron");
    home.run(&[&["history", &newest][..], more].concat())
}

#[test]
fn a_change_of_the_level_is_said_with_what_changed_then() {
    let home = Home::new();
    nine_sessions(&home, "nightly");
    let run = history(&home, 9, &["nightly", "--batch", "4"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(run.out.contains("Changes of the level"), "{run:#?}");
    let changed = run.out.lines().find(|line| line.contains("4, then 5"));
    let changed = changed.unwrap_or_default();
    for words in ["2030-01-05", "night 5", "slower", "Kernel"] {
        assert!(changed.contains(words), "{words}: {run:#?}");
    }
    let document = history(&home, 9, &["nightly", "--batch", "4", "--json"]).json();
    let case = &document["cases"][0];
    let change = &case["changes"][0];
    assert_eq!(change["since"], "2030-01-05T04:00:00Z", "{change:#}");
    assert_eq!(change["level"], "slower");
    assert_eq!(change["sessions"], serde_json::json!([4, 5]));
    assert_eq!(change["differing"][0]["after"], "6.99");
    assert_eq!(case["changes"].as_array().map(Vec::len), Some(1));
    assert_eq!(case["levels"].as_array().map(Vec::len), Some(2));
    assert_eq!(case["points"][4]["notes"], "the new kernel");
}

#[test]
fn of_several_cases_the_one_that_got_slower_comes_first() {
    let home = Home::new();
    nine_sessions(&home, "nightly");
    let run = history(&home, 9, &["nightly"]);
    let rows: Vec<&str> = run
        .out
        .lines()
        .filter(|line| line.contains("fake"))
        .collect();
    assert_eq!(rows.len(), 2, "{run:#?}");
    assert!(
        rows[0].contains("batch 4") && rows[0].contains("2030-01-05"),
        "{run:#?}"
    );
    assert!(rows[1].contains("batch 1"), "{run:#?}");
    assert!(run.out.contains("--setup and --batch"), "{run:#?}");
}

#[test]
fn a_newest_session_below_the_stable_level_fails_where_that_is_asked() {
    let home = Home::new();
    nine_sessions(&home, "nightly");
    // Four nights as before, and the first slow one.
    let nights: Vec<String> = (1..=5).map(|day| format!("nightly/{day}.ron")).collect();
    let among: Vec<&str> = nights.iter().map(String::as_str).collect();
    let asked = [&among[..], &["--fail-if-slower"]].concat();
    let run = history(&home, 5, &asked);
    assert_eq!(run.status, Some(1), "{run:#?}");
    assert!(
        run.err.contains("1 of 2 cases of night 5: slower"),
        "{run:#?}"
    );
    let run = history(&home, 5, &among);
    assert_eq!(run.status, Some(0), "without being asked: {run:#?}");
    // A case that was not measured tonight is not fine because of last night.
    let path = home.path("tonight.ron");
    let newest = home.path("nightly/9.ron");
    let mut session = session_file::read(&newest).expect("a session").session;
    session.cases[1].rounds.clear();
    "2030-01-10T04:00:00Z".clone_into(&mut session.created);
    session_file::write(&path, &session).expect("a session");
    let run = home.run(&["history", "tonight.ron", "nightly", "--fail-if-slower"]);
    assert_eq!(run.status, Some(2), "{run:#?}");
    assert!(
        run.err.contains("not measured") && run.err.contains("1 of 2 cases of "),
        "{run:#?}"
    );
    // The level is the new one by now.
    let run = history(&home, 9, &["nightly", "--fail-if-slower"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
}

#[test]
fn sessions_of_commits_say_which() {
    let home = Home::new();
    for (file, commit) in [("a.ron", "1a2b3c4d5e6f"), ("b.ron", "2b3c4d5e6f7a")] {
        let args = ["bench", "resnet18@cifar", "--setup", "fake", "--batch", "1"];
        let more = ["--rounds", "3", "--commit", commit, "--out", file];
        let run = home.run(&[&args[..], &more].concat());
        assert_eq!(run.status, Some(0), "{run:#?}");
    }
    let run = home.run(&["history", "b.ron", "."]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(
        run.out.contains("Commit") && run.out.contains("1a2b3c4d5 "),
        "{run:#?}"
    );
    let run = home.run(&["compare", "a.ron", "b.ron"]);
    assert!(
        run.out.contains("1a2b3c4d5") && run.out.contains("2b3c4d5e6"),
        "{run:#?}"
    );
}
