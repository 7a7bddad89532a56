//! Fetching ONNX Runtime: pip brings a wheel, its library is unpacked, and a worker loads it once.
//!
//! What pip is asked and what its answers mean is in `engines/install.rs`; here it is started, watched
//! and stopped.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{probe, process};
use crate::engines;
use crate::engines::install::{self, InstallRequest};
use crate::engines::runtimes::{self, FoundRuntime};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::paths::Paths;
use powerband_planning::engine_options::EngineInfo;

/// A download may be slow, but not for ever.
const DOWNLOAD_LIMIT: Duration = Duration::from_mins(30);
/// A pip that takes longer to print its version gets the basic options only.
const VERSION_LIMIT: Duration = Duration::from_secs(20);

/// How far fetching is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchStep {
    /// pip begins.
    Downloading {
        /// What was started.
        command: String,
    },
    /// pip reports its progress; some versions do not.
    Downloaded {
        /// Bytes that are here.
        bytes: u64,
        /// Bytes that there will be, where known.
        total: Option<u64>,
    },
    /// The wheel is here and is taken apart.
    Unpacking,
    /// The library is in its place and is loaded once.
    Checking,
}

/// What was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The library.
    pub runtime: FoundRuntime,
    /// What it calls itself: `ONNX Runtime 1.31.0`.
    pub version: String,
}

/// Fetches a library with the pip of a Python, the first of the usual ones where none is named, and
/// checks that it loads. The error is for the user to read.
pub fn install(
    paths: &Paths,
    program: &Path,
    python: Option<PathBuf>,
    request: &InstallRequest,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(FetchStep),
) -> Result<Installed, String> {
    let folder = scratch(&paths.runtimes)?;
    download(python, request, folder.path(), cancel, progress)?;
    install_fetched(paths, program, folder.path(), &request.flavor, progress)
}

/// The same with a wheel that was fetched before.
pub fn install_wheel(
    paths: &Paths,
    program: &Path,
    wheel: &Path,
    flavor: &str,
    progress: &mut dyn FnMut(FetchStep),
) -> Result<Installed, String> {
    let folder = scratch(&paths.runtimes)?;
    let name = wheel.file_name().unwrap_or_default();
    fs::copy(wheel, folder.path().join(name))
        .map_err(|error| format!("{} cannot be read: {error}", wheel.display()))?;
    install_fetched(paths, program, folder.path(), flavor, progress)
}

/// A wheel in a folder that goes with this.
pub struct FetchedWheel {
    pub path: PathBuf,
    _folder: tempfile::TempDir,
}

impl FetchedWheel {
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// Fetches a wheel with the pip of a Python, to be installed elsewhere.
pub fn fetch_wheel(
    python: Option<PathBuf>,
    request: &InstallRequest,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(FetchStep),
) -> Result<FetchedWheel, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    download(python, request, folder.path(), cancel, progress)?;
    let wheel = install::fetched_wheel(folder.path(), &request.flavor);
    Ok(FetchedWheel {
        path: wheel.map_err(|error| with_causes(&error))?,
        _folder: folder,
    })
}

fn install_fetched(
    paths: &Paths,
    program: &Path,
    folder: &Path,
    flavor: &str,
    progress: &mut dyn FnMut(FetchStep),
) -> Result<Installed, String> {
    progress(FetchStep::Unpacking);
    let runtime =
        install::unpack(folder, &paths.runtimes, flavor).map_err(|error| with_causes(&error))?;
    progress(FetchStep::Checking);
    let info = check(program, &runtime)?;
    Ok(Installed {
        runtime,
        version: info.version,
    })
}

/// A folder below one that goes with what is done in it.
fn scratch(folder: &Path) -> Result<tempfile::TempDir, String> {
    let made = fs::create_dir_all(folder).and_then(|()| {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".download-").tempdir_in(folder)
    });
    made.map_err(|error| cannot_make(folder, &error))
}

fn cannot_make(folder: &Path, error: &std::io::Error) -> String {
    format!("cannot make {}: {error}", folder.display())
}

/// Lets the pip of a Python bring the wheel, the first of the usual ones where none is named.
fn download(
    python: Option<PathBuf>,
    request: &InstallRequest,
    into: &Path,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(FetchStep),
) -> Result<(), String> {
    let python = &python
        .or_else(|| runtimes::python_candidates().into_iter().next())
        .ok_or("no Python was found, and ONNX Runtime is fetched with its pip; install python3 and pip, or name one with --python")?;
    // Said first, so that a request that makes no sense is not answered with what is wrong with pip.
    install::download(python, request, into, false).map_err(|error| with_causes(&error))?;
    let query = install::pip_version_query(python);
    let tells_progress = process::run_to_end(&query, VERSION_LIMIT, cancel)
        .is_ok_and(|answer| answer.success && install::tells_progress(&answer.stdout));
    let spec = install::download(python, request, into, tells_progress)
        .map_err(|error| with_causes(&error))?;
    progress(FetchStep::Downloading {
        command: spec.command_line(),
    });
    let finished = process::run_watched(&spec, DOWNLOAD_LIMIT, cancel, &mut |line| {
        if let Some((bytes, total)) = install::parse_progress(line) {
            progress(FetchStep::Downloaded { bytes, total });
        }
    })
    .map_err(|error| format!("{} could not be started: {error}", python.display()))?;
    if cancel.is_cancelled() {
        return Err("cancelled; nothing was installed".to_owned());
    }
    if !finished.success {
        return Err(install::explain_pip_failure(&finished.stderr, request));
    }
    Ok(())
}

/// Loads the library once, where a crash does no harm.
fn check(program: &Path, runtime: &FoundRuntime) -> Result<EngineInfo, String> {
    let engine = engines::find("ort").ok_or("this build has no ONNX Runtime engine")?;
    probe::engine(program, engine, Some(&runtime.path)).map_err(|reason| {
        format!(
            "{} was fetched but does not load: {reason}",
            runtime.path.display()
        )
    })
}

/// An error with everything that led to it, in one line.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Python whose pip does what the script says; `$out` is where the wheel should go.
    fn python(folder: &Path, script: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = folder.join("python");
        let text = format!(
            "#!/bin/sh\ncase \"$*\" in *--version*) echo 'pip 25.0 from x'; exit 0;; esac\n{script}\n"
        );
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn try_install(
        script: &str,
        cancel: &CancelToken,
    ) -> (Result<Installed, String>, Vec<FetchStep>) {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::under(home.path());
        let request = InstallRequest {
            flavor: "cpu".to_owned(),
            version: None,
        };
        let mut steps = Vec::new();
        let result = install(
            &paths,
            Path::new("/nowhere/powerband"),
            Some(python(home.path(), script)),
            &request,
            cancel,
            &mut |step| steps.push(step),
        );
        assert_eq!(
            fs::read_dir(&paths.runtimes).unwrap().count(),
            0,
            "nothing is left behind"
        );
        (result, steps)
    }

    #[test]
    fn pips_progress_is_passed_on() {
        let script = "echo Collecting; echo 'Progress 10 of 30'; echo 'Progress 30 of 30'";
        let (result, steps) = try_install(script, &CancelToken::default());
        assert!(result.unwrap_err().contains("no wheel of onnxruntime"));
        let FetchStep::Downloading { command } = &steps[0] else {
            panic!("{steps:?}");
        };
        assert!(command.contains("--progress-bar raw"), "{command}");
        let told = |bytes| FetchStep::Downloaded {
            bytes,
            total: Some(30),
        };
        assert_eq!(steps[1..], [told(10), told(30), FetchStep::Unpacking]);
    }

    #[test]
    fn a_failing_pip_is_explained_and_a_slow_one_can_be_stopped() {
        let script = "echo 'ERROR: No space left on device' >&2; exit 1";
        let (result, _) = try_install(script, &CancelToken::default());
        assert!(result.unwrap_err().contains("the disk is full"));
        let cancel = CancelToken::default();
        cancel.cancel();
        let (result, _) = try_install("sleep 600", &cancel);
        assert!(result.unwrap_err().contains("nothing was installed"));
    }
}
