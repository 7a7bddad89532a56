//! The program goes along: sent once, named by its hash, checked, listed and removed; and what the machine says of
//! itself with it.

use super::server::{Server, program};
use crate::support::{self, Home, Mount};

#[test]
fn the_program_is_sent_once_and_removed_again() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let first = server.run(&home, &["machines", "check", "box", "--json"]);
    assert_eq!(first.status, Some(0), "{first:#?}");
    assert!(
        first.err.contains("Sending the program to box"),
        "{first:#?}"
    );
    let sent = support::files(&server.at("there/cache/powerband-remote"));
    assert_eq!(sent.len(), 1, "{sent:?}");
    let document = first.json();
    assert_eq!(document["program"].as_str(), sent[0].to_str());
    let own = std::fs::metadata(program()).expect("the program").len();
    assert_eq!(std::fs::metadata(&sent[0]).expect("it is there").len(), own);
    let again = server.run(&home, &["machines", "check", "box"]);
    assert_eq!(again.status, Some(0), "{again:#?}");
    assert!(!again.err.contains("Sending"), "{again:#?}");
    assert!(again.out.contains("box works"), "{again:#?}");
    // Its own subcommands, over there.
    let devices = server.run(&home, &["devices", "--on", "box", "--json"]);
    assert_eq!(devices.status, Some(0), "{devices:#?}");
    assert!(devices.json()["cpu"]["model"].is_string());
    let engines = server.run(&home, &["engines", "--on", "ssh:box", "--json"]);
    assert_eq!(engines.status, Some(0), "{engines:#?}");
    assert!(
        engines.json()["engines"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
    );
    let cleaned = server.run(&home, &["machines", "clean", "box", "--json"]);
    assert_eq!(cleaned.status, Some(0), "{cleaned:#?}");
    let removed = cleaned.json()["removed"].as_array().map_or(0, Vec::len);
    assert_eq!(removed, 1, "{cleaned:#?}");
    assert!(!server.at("there/cache/powerband-remote").exists());
    let nothing = server.run(&home, &["machines", "clean", "box"]);
    assert!(nothing.out.contains("Nothing of Powerband"), "{nothing:#?}");
}

#[test]
fn without_space_for_the_program_it_is_said_how_much_it_needs() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let cache = server.at("there/cache");
    std::fs::create_dir_all(&cache).expect("a folder");
    let mounted = Mount::tmpfs(&cache, 512);
    let Some(_small) = support::component(mounted, "the right to mount a tmpfs") else {
        return;
    };
    let run = server.run(&home, &["machines", "check", "box"]);
    run.fails_saying(&["no space for the program", "machines clean"]);
}

#[test]
fn a_cache_that_cannot_be_written_is_passed_over() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    std::fs::write(server.at("there/cache"), "in the way").expect("a file");
    let run = server.run(&home, &["machines", "check", "box", "--json"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    let folder = server.at("there/run/powerband-remote");
    assert_eq!(document["folder"].as_str(), folder.to_str());
    assert_eq!(
        document["passed_over"].as_array().map_or(0, Vec::len),
        1,
        "{document:#}"
    );
}

#[test]
fn a_file_system_without_programs_is_passed_over() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let cache = server.at("there/cache");
    std::fs::create_dir_all(&cache).expect("a folder");
    let mounted = Mount::tmpfs(&cache, 1 << 20).filter(|_| remount_noexec(&cache));
    let Some(_without) = support::component(mounted, "the right to mount a tmpfs") else {
        return;
    };
    let run = server.run(&home, &["machines", "check", "box", "--json"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let reasons = run.json()["passed_over"].to_string();
    assert!(reasons.contains("programs cannot be started"), "{reasons}");
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test makes its own surroundings"
)]
fn remount_noexec(at: &std::path::Path) -> bool {
    let mount = std::process::Command::new("mount")
        .args(["-o", "remount,noexec"])
        .arg(at)
        .output();
    mount.is_ok_and(|output| output.status.success())
}

#[test]
fn a_program_that_does_not_run_there_says_why() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let old = "#!/bin/sh\necho \"$0: /lib/libc.so.6: version \\`GLIBC_2.99' not found (required by $0)\" >&2; exit 1\n";
    let path = server.at("there/old");
    std::fs::write(&path, old).expect("a script");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("permissions");
    for (program, words) in [
        (path.display().to_string(), "newer C library"),
        (
            "/nowhere/powerband".to_owned(),
            "cannot be started over there",
        ),
        ("/bin/true".to_owned(), "does not answer"),
    ] {
        let setup = format!("fake,where=ssh:box,remote_program={program}");
        let args = [
            "bench",
            "resnet18@cifar",
            "--batch",
            "1",
            "--preset",
            "quick",
            "--json",
            "--setup",
            &setup,
            "--setup",
            "fake",
        ];
        let run = server.run(&home, &args);
        let outcomes = run.outcomes();
        assert_eq!(outcomes[0].2, "unsupported", "{run:#?}");
        assert_eq!(outcomes[1].2, "finished", "{run:#?}");
        let reason = run.json()["cases"][0]["reason"].to_string();
        assert!(
            reason.contains(words) && reason.contains("ssh:box"),
            "{reason}"
        );
    }
}
