//! Setups in containers: scripts stand in for the programs that run them, and carry a command as these do.

use std::fs;
use std::path::PathBuf;

use super::bench;
use super::server::{program, write_program};
use crate::support::Home;

#[test]
fn a_setup_is_measured_in_a_container_that_runs() {
    let home = Home::new();
    let bin = home.path("bin");
    fs::create_dir_all(&bin).expect("a folder");
    // It knows one container, whose files are those of this machine.
    let script = |name_at: u8, known: &str| {
        format!(
            "#!/bin/sh\n[ \"$1\" = exec ] || exit 9\nif [ \"${name_at}\" != {known} ]; then echo \"Error: No such container: ${name_at}\" >&2; exit 1; fi\nwhile [ \"$1\" != /bin/sh ]; do shift; done\nexec \"$@\"\n"
        )
    };
    write_program(&bin.join("docker"), script(3, "box"));
    write_program(&bin.join("kubectl"), script(3, "bench-0"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&path)));
    let path = PathBuf::from(path.expect("folders without colons"));
    let run = |place: &str| {
        let setup = format!("fake,where={place},remote_program={}", program());
        let args = bench::bench("2", [setup.as_str()]);
        home.run_with(&args, &[("PATH", &path)])
    };
    for place in ["docker:box", "pod:bench-0/cuda"] {
        let measured = run(place);
        assert_eq!(measured.status, Some(0), "{measured:#?}");
        assert_eq!(measured.json()["machines"][0]["name"], place);
        let outcomes = measured.outcomes();
        assert!(outcomes.iter().all(|(_, _, outcome)| outcome == "finished"));
    }
    let lost = run("docker:gone");
    let outcomes = lost.outcomes();
    assert!(
        outcomes.iter().all(|(_, _, outcome)| outcome == "lost"),
        "{lost:#?}"
    );
    assert!(lost.out.contains("No such container: gone"), "{lost:#?}");
    assert!(lost.out.contains("docker ps"), "{lost:#?}");
    run("docker:-it").fails_saying(&["names no container"]);
}

#[test]
fn a_container_without_a_shell_says_so() {
    let home = Home::new();
    let bin = home.path("bin");
    fs::create_dir_all(&bin).expect("a folder");
    let words = r#"OCI runtime exec failed: exec failed: unable to start container process: exec: "/bin/sh": stat /bin/sh: no such file or directory: unknown"#;
    write_program(
        &bin.join("docker"),
        format!("#!/bin/sh\necho '{words}' >&2\nexit 127\n"),
    );
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&path)));
    let path = PathBuf::from(path.expect("folders without colons"));
    let args = bench::bench("1", ["fake,where=docker:distroless"]);
    let run = home.run_with(&args, &[("PATH", &path)]);
    assert!(run.out.contains("distroless has no shell"), "{run:#?}");
    assert_eq!(run.outcomes()[0].2, "lost");
}
