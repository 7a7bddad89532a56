//! What the other modules share: running the program in a home of its own, and skipping honestly.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::skips;

/// A home folder that nobody else uses, and the program in it.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    /// A fresh one.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("tmp")).expect("a folder");
        Self { folder }
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("a file in the test's home");
        path
    }

    /// Writes a shell script that can be started.
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.write(name, format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
        path
    }

    /// The program with arguments, not started yet. Rounds of `bench` follow one another where the test does not say
    /// how far they lie apart.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.command_of(Path::new(env!("CARGO_BIN_EXE_powerband")), args);
        command.args(follow_one_another(args));
        command
    }

    /// Another program in the same home, not started yet.
    #[expect(
        clippy::disallowed_methods,
        reason = "the test is the user, who starts programs"
    )]
    pub(crate) fn command_of(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("POWERBAND_HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("TZ", "UTC")
            .env_remove("ORT_DYLIB_PATH")
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, args: &[&str]) -> ProgramRun {
        ProgramRun::from_output(&self.command(args).output().expect("the program starts"))
    }

    /// The same with variables of the environment.
    pub(crate) fn run_with(&self, args: &[&str], variables: &[(&str, &Path)]) -> ProgramRun {
        let mut command = self.command(args);
        command.envs(variables.iter().copied());
        ProgramRun::from_output(&command.output().expect("the program starts"))
    }

    /// Journals that are left.
    pub(crate) fn journals(&self) -> Vec<PathBuf> {
        files(&self.path("home/sessions/journals"))
    }

    /// Waits until so many rounds were measured, by the journals of runs.
    pub(crate) fn until_measured(&self, rounds: usize) {
        let deadline = Instant::now() + Duration::from_mins(2);
        loop {
            let journals = self.journals().into_iter();
            let text: String = journals
                .filter_map(|path| fs::read_to_string(path).ok())
                .collect();
            if text.matches("\"RoundFinished\"").count() >= rounds {
                return;
            }
            assert!(Instant::now() < deadline, "no rounds: {text}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// What `bench` needs besides these arguments, so that rounds follow one another: tests do not wait where it is not
/// their subject. Rounds of made-up times do so anyway.
pub(crate) fn follow_one_another(args: &[&str]) -> &'static [&'static str] {
    let is_said = args.iter().any(|arg| arg.starts_with("--spacing"));
    let setups = args.windows(2).filter(|pair| pair[0] == "--setup");
    let setups: Vec<&str> = setups.map(|pair| pair[1]).collect();
    let is_made_up = !setups.is_empty() && setups.iter().all(|setup| setup.contains("fake"));
    if args.first() != Some(&"bench") || is_said || is_made_up {
        return &[];
    }
    &["--spacing", "0s"]
}

/// Set in a process that runs one test alone.
const ALONE: &str = "POWERBAND_TEST_ALONE";

/// Runs a test in a process of its own, whose trash is its own too. True in that process: the test goes on there.
pub(crate) fn alone(home: &Home, test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let itself = std::env::current_exe().expect("the test binary");
    let mut command = home.command_of(&itself, &["--exact", test, "--nocapture"]);
    command
        .env(ALONE, "yes")
        .env("XDG_DATA_HOME", home.path("data"));
    let run = ProgramRun::from_output(&command.output().expect("the test binary starts"));
    assert_eq!(run.status, Some(0), "{}\n{}", run.out, run.err);
    assert!(run.out.contains("1 passed"), "{}", run.out);
    if let Some((_, what)) = run.err.split_once("SKIPPED: this test needs ") {
        skipped(what.lines().next().unwrap_or_default());
    }
    false
}

/// Files in a folder, sorted; none where there is no folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    files.sort();
    files
}

/// Exit status and output of a program run.
#[derive(Debug)]
pub(crate) struct ProgramRun {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl ProgramRun {
    pub(crate) fn from_output(output: &Output) -> Self {
        Self {
            status: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The document on standard output, which must be all there is.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// Trouble, with a message that has all these words.
    pub(crate) fn fails_saying(&self, words: &[&str]) {
        assert_eq!(self.status, Some(2), "{self:#?}");
        for word in words {
            assert!(self.err.contains(word), "no \"{word}\" in {self:#?}");
        }
        assert!(!self.err.contains("panicked"), "{self:#?}");
    }

    /// Outcomes of the cases by setup and batch.
    pub(crate) fn outcomes(&self) -> Vec<(String, u64, String)> {
        let document = self.json();
        let cases = document["cases"].as_array().expect("cases").clone();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        cases
            .iter()
            .map(|case| {
                (
                    text(&case["setup"]),
                    case["batch"].as_u64().unwrap_or(0),
                    text(&case["outcome"]),
                )
            })
            .collect()
    }
}

/// The ONNX Runtime library that tests use; without one a test says so and is passed over, or fails
/// where everything is required.
pub(crate) fn onnxruntime() -> Option<PathBuf> {
    component(
        std::env::var_os("ORT_DYLIB_PATH")
            .map(PathBuf::from)
            .filter(|path| path.is_file()),
        "an ONNX Runtime library (pip install onnxruntime, then ORT_DYLIB_PATH=…/onnxruntime/capi/libonnxruntime.so.*)",
    )
}

/// A Python that has PyTorch and torchvision.
pub(crate) fn torch_python() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let python = std::env::var_os("POWERBAND_TEST_PYTHON").map(PathBuf::from);
        python.filter(|python| has_torch(python))
    });
    component(
        found.clone(),
        "a Python with PyTorch (pip install torch torchvision numpy, then POWERBAND_TEST_PYTHON=…/bin/python)",
    )
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test looks at its own surroundings"
)]
fn has_torch(python: &Path) -> bool {
    let script = "import importlib.util as u, sys; \
                  sys.exit(not all(map(u.find_spec, ('torch', 'torchvision', 'numpy'))))";
    let asked = Command::new(python).args(["-c", script]).output();
    asked.is_ok_and(|output| output.status.success())
}

/// A library of ONNX Runtime that has the provider `openvino`.
pub(crate) fn openvino() -> Option<PathBuf> {
    component(
        std::env::var_os("POWERBAND_TEST_OPENVINO")
            .map(PathBuf::from)
            .filter(|path| path.is_file()),
        "an ONNX Runtime with OpenVINO (pip install onnxruntime-openvino, then POWERBAND_TEST_OPENVINO=…/onnxruntime/capi/libonnxruntime.so.*)",
    )
}

/// A component, or a word about how to get it.
pub(crate) fn component<T>(found: Option<T>, what: &str) -> Option<T> {
    if found.is_none() {
        assert!(
            std::env::var_os("POWERBAND_REQUIRE_ALL").is_none(),
            "this test needs {what}"
        );
        skipped(what);
    }
    found
}

#[expect(
    clippy::print_stderr,
    reason = "a test that is passed over must say so"
)]
pub(crate) fn skipped(what: &str) {
    eprintln!("SKIPPED: this test needs {what}");
    skips::count(what);
}

/// Processes whose command line holds the text; zombies do not count.
pub(crate) fn processes_with(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for folder in files(Path::new("/proc")) {
        let Ok(line) = fs::read(folder.join("cmdline")) else {
            continue;
        };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(text) {
            found.push(format!("{}: {line}", folder.display()));
        }
    }
    found
}

/// Processes that run in this home, by their environment; zombies do not count.
pub(crate) fn processes_in(home: &Home) -> Vec<String> {
    let home = home.path("home").display().to_string();
    let is_in = |folder: &PathBuf| {
        let variables = fs::read(folder.join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&variables).contains(&home)
    };
    let processes = files(Path::new("/proc")).into_iter().filter(is_in);
    processes
        .map(|folder| folder.display().to_string())
        .collect()
}

/// A small file system of its own at a folder, for as long as this lives.
pub(crate) struct Mount(String);

impl Mount {
    /// One of so many KiB; nothing without the right to mount.
    #[expect(
        clippy::disallowed_methods,
        reason = "the test makes its own surroundings"
    )]
    pub(crate) fn tmpfs(at: &Path, kib: u32) -> Option<Self> {
        let at = at.to_str()?.to_owned();
        let size = format!("size={kib}k");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs", &at])
            .output();
        mounted
            .is_ok_and(|output| output.status.success())
            .then_some(Self(at))
    }
}

impl Drop for Mount {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test makes its own surroundings"
    )]
    fn drop(&mut self) {
        Command::new("umount")
            .arg(&self.0)
            .output()
            .map(drop)
            .unwrap_or_default();
    }
}
