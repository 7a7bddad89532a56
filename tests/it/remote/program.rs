//! The program goes along: sent once, named by its hash, checked, listed and removed; and what the machine says of
//! itself with it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::bench::bench;
use super::server::{Server, program, write_program};
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
    let sent = support::files(&server.file_path("there/cache/powerband-remote"));
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
    assert!(!server.file_path("there/cache/powerband-remote").exists());
    let nothing = server.run(&home, &["machines", "clean", "box"]);
    assert!(nothing.out.contains("Nothing of Powerband"), "{nothing:#?}");
}

#[test]
fn without_space_for_the_program_it_is_said_how_much_it_needs() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let cache = server.file_path("there/cache");
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
    std::fs::write(server.file_path("there/cache"), "in the way").expect("a file");
    let run = server.run(&home, &["machines", "check", "box", "--json"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    let folder = server.file_path("there/run/powerband-remote");
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
    let cache = server.file_path("there/cache");
    std::fs::create_dir_all(&cache).expect("a folder");
    let mounted = Mount::tmpfs(&cache, 1 << 20).filter(|_| remount("noexec", &cache));
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
fn remount(option: &str, at: &Path) -> bool {
    let mount = Command::new("mount")
        .args(["-o", &format!("remount,{option}")])
        .arg(at)
        .output();
    mount.is_ok_and(|output| output.status.success())
}

#[test]
fn a_home_that_is_read_only_is_passed_over() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let cache = server.file_path("there/cache");
    std::fs::create_dir_all(&cache).expect("a folder");
    let mounted = [cache, server.file_path("there/home")]
        .map(|folder| Mount::tmpfs(&folder, 1 << 10).filter(|_| remount("ro", &folder)));
    let all_are = mounted.iter().all(Option::is_some);
    let Some(_read_only) =
        support::component(all_are.then_some(mounted), "the right to mount a tmpfs")
    else {
        return;
    };
    let run = server.run(&home, &bench("3", ["fake,where=ssh:box", "fake"]));
    assert_eq!(run.outcomes()[0].2, "finished", "{run:#?}");
    let folder = server.file_path("there/run/powerband-remote");
    assert!(!support::files(&folder).is_empty(), "{run:#?}");
    let checked = server.run(&home, &["machines", "check", "box", "--json"]);
    let reasons = checked.json()["passed_over"].to_string();
    assert!(reasons.contains("Read-only file system"), "{reasons}");
}

#[test]
fn without_space_for_a_model_it_is_said_and_nothing_of_it_stays() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let cache = server.file_path("there/cache");
    std::fs::create_dir_all(&cache).expect("a folder");
    let mounted = Mount::tmpfs(&cache, 1 << 10);
    let Some(_small) = support::component(mounted, "the right to mount a tmpfs") else {
        return;
    };
    let run = server.run(
        &home,
        &bench("3", [&*super::server::on("box", "rten,threads=1"), "fake"]),
    );
    let outcomes = run.outcomes();
    assert_eq!(outcomes[0].2, "unsupported", "{run:#?}");
    assert_eq!(outcomes[1].2, "finished", "{run:#?}");
    let reason = run.json()["cases"][0]["reason"].to_string();
    assert!(
        reason.contains("no space for the model") && reason.contains("machines clean"),
        "{reason}"
    );
    for folder in support::files(&cache.join("powerband-remote/models")) {
        assert_eq!(support::files(&folder), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_machine_with_other_processors_gets_no_program() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let uname = "#!/bin/sh\n[ \"$1\" = -m ] && exec echo riscv64; exec /bin/uname \"$@\"\n";
    std::fs::create_dir_all(server.file_path("there/bin")).expect("a folder");
    write_program(&server.file_path("there/bin/uname"), uname);
    let path = format!("PATH={}:$PATH\n", server.file_path("there/bin").display());
    std::fs::write(server.file_path("there/home/.bashrc"), path).expect("a .bashrc");
    let run = server.run(&home, &["machines", "check", "box"]);
    run.fails_saying(&["riscv64", "remote_program="]);
    assert!(!run.err.contains("Sending"), "{run:#?}");
    // A program for other processors, by its header.
    let mut foreign = std::fs::read("/bin/true").expect("a program");
    let machine: u16 = if cfg!(target_arch = "aarch64") {
        62
    } else {
        183
    };
    foreign[18..20].copy_from_slice(&machine.to_le_bytes());
    let path = server.file_path("there/foreign");
    write_program(&path, foreign);
    let setup = format!("fake,where=ssh:box,remote_program={}", path.display());
    let run = server.run(&home, &bench("3", [&*setup, "fake"]));
    assert_eq!(run.outcomes()[0].2, "unsupported", "{run:#?}");
    let reason = run.json()["cases"][0]["reason"].to_string();
    assert!(
        reason.contains("not for the processors") && reason.contains("riscv64"),
        "{reason}"
    );
}

/// A program that needs a C library newer than any.
#[expect(
    clippy::disallowed_methods,
    reason = "the test makes its own surroundings"
)]
fn too_new(folder: &Path) -> Option<PathBuf> {
    let script = "echo 'GLIBC_2.99 { global: newer; };' >map; echo 'void newer(void) {}' >lib.c; \
        echo 'void newer(void); void _start(void) { newer(); }' >main.c; \
        gcc -shared -fPIC -nostdlib -Wl,--version-script=map -Wl,-soname,libc.so.6 -o libc.so.6 lib.c && \
        gcc -nostartfiles -nostdlib -o too-new main.c ./libc.so.6 && rm libc.so.6";
    let shell = Command::new("sh")
        .args(["-ec", script])
        .current_dir(folder)
        .output();
    let made = shell.is_ok_and(|output| output.status.success());
    support::component(made.then(|| folder.join("too-new")), "gcc")
}

#[test]
fn a_program_that_does_not_run_there_says_why() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let Some(path) = too_new(&server.file_path("there")) else {
        return;
    };
    for (program, words) in [
        (path.display().to_string(), "newer C library"),
        (
            "/nowhere/powerband".to_owned(),
            "cannot be started over there",
        ),
        ("/bin/true".to_owned(), "does not answer"),
    ] {
        let setup = format!("fake,where=ssh:box,remote_program={program}");
        let run = server.run(&home, &bench("3", [&*setup, "fake"]));
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
