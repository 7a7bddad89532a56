//! Fetching an ONNX Runtime library with the user's own pip.
//!
//! Input is an interpreter and a request; the wheel that pip brings is unpacked into Powerband's folder of
//! runtimes, where `runtimes.rs` finds it. pip is described here as a `ProcessSpec` and started by
//! `worker/process.rs`; what it says when it fails comes back here to be put into plain words.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

use super::runtimes::{self, FoundRuntime, RuntimeOrigin};
use powerband_core::base::humanize;
use powerband_core::base::process_spec::ProcessSpec;

#[cfg(test)]
mod tests;

/// One build of ONNX Runtime that can be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flavor {
    /// How it is called here: `cuda`.
    pub id: &'static str,
    /// The Python package that carries the library.
    pub package: &'static str,
    /// Which machines it is for.
    pub for_what: &'static str,
}

/// All flavors, the one that runs everywhere first.
pub const FLAVORS: &[Flavor] = &[
    Flavor {
        id: "cpu",
        package: "onnxruntime",
        for_what: "any processor (Core ML too on a Mac)",
    },
    Flavor {
        id: "cuda",
        package: "onnxruntime-gpu",
        for_what: "NVIDIA cards with CUDA and cuDNN installed; TensorRT too where it is installed",
    },
    Flavor {
        id: "rocm",
        package: "onnxruntime-rocm",
        for_what: "AMD cards with ROCm installed",
    },
    Flavor {
        id: "migraphx",
        package: "onnxruntime-migraphx",
        for_what: "AMD cards with ROCm and MIGraphX installed",
    },
    Flavor {
        id: "openvino",
        package: "onnxruntime-openvino",
        for_what: "Intel processors, graphics and NPUs",
    },
    Flavor {
        id: "directml",
        package: "onnxruntime-directml",
        for_what: "any graphics card on Windows",
    },
];

/// What to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallRequest {
    /// Identifier of a flavor: `cpu`.
    pub flavor: String,
    /// A version or the beginning of one (`1.22`); without one, the newest.
    pub version: Option<String>,
}

/// Why a runtime could not be put in place.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// No such flavor.
    #[error("there is no flavor {0:?} of ONNX Runtime; there are {flavors}", flavors = flavor_list())]
    UnknownFlavor(String),
    /// A version that pip would not take for one.
    #[error("{0:?} is not a version; write for example 1.22 or 1.22.0")]
    NotAVersion(String),
    /// pip left no wheel of the package behind.
    #[error("pip brought no wheel of {package} to {}", folder.display())]
    NoWheel {
        /// The package asked for.
        package: &'static str,
        /// Where it should be.
        folder: PathBuf,
    },
    /// A wheel without a library for this system.
    #[error("no ONNX Runtime library for this system is in {}", wheel.display())]
    NoLibrary {
        /// The wheel.
        wheel: PathBuf,
    },
    /// A wheel that is no intact zip.
    #[error("cannot read the wheel {}", wheel.display())]
    BadWheel {
        /// The wheel.
        wheel: PathBuf,
        /// What is wrong with it.
        source: ZipError,
    },
    /// A file or folder that could not be read or written.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

/// The question which pip a Python has.
pub fn pip_version_query(python: &Path) -> ProcessSpec {
    ProcessSpec::new(python).args(["-m", "pip", "--version"])
}

/// Whether a pip that answers so can tell how far it is, which it does from version 24.1 on.
pub fn tells_progress(stdout: &str) -> bool {
    let version = stdout
        .strip_prefix("pip ")
        .and_then(|rest| rest.split(' ').next());
    version.is_some_and(|version| runtimes::compare_versions(version, "24.1").is_ge())
}

/// The bytes that are there and those that there will be, in `Progress 262144 of 18017318`.
pub fn parse_progress(line: &str) -> Option<(u64, Option<u64>)> {
    let rest = line.trim().strip_prefix("Progress ")?;
    let (done, total) = rest.split_once(" of ")?;
    let total: u64 = total.parse().ok()?;
    // pip writes 0 where it does not know.
    Some((done.parse().ok()?, (total > 0).then_some(total)))
}

/// The pip command that fetches a wheel into a folder, and nothing else with it.
pub fn download(
    python: &Path,
    request: &InstallRequest,
    into: &Path,
    with_progress: bool,
) -> Result<ProcessSpec, InstallError> {
    let package = flavor(&request.flavor)?.package;
    let what = match &request.version {
        None => package.to_owned(),
        Some(version) => format!("{package}=={}", version_pattern(version)?),
    };
    let pip = [
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--disable-pip-version-check",
    ];
    // pip must not ask questions here, and a painted bar means nothing in a pipe.
    let bar = if with_progress { "raw" } else { "off" };
    let quiet = ["--no-input", "--progress-bar", bar, "-d"];
    Ok(ProcessSpec::new(python)
        .args(pip)
        .args(quiet)
        .args([into.as_os_str()])
        .args([what]))
}

/// The wheel of a flavor in a folder.
pub fn fetched_wheel(folder: &Path, flavor: &str) -> Result<PathBuf, InstallError> {
    let package = self::flavor(flavor)?.package;
    find_wheel(folder, package).map(|(wheel, _)| wheel)
}

/// Puts the library of a fetched wheel into the folder of runtimes, over one of the same version and flavor.
pub fn unpack(
    folder_with_wheel: &Path,
    runtimes: &Path,
    flavor: &str,
) -> Result<FoundRuntime, InstallError> {
    let flavor = self::flavor(flavor)?;
    let (wheel, version) = find_wheel(folder_with_wheel, flavor.package)?;
    fs::create_dir_all(runtimes).map_err(io_error("make the folder", runtimes))?;
    // All or nothing: filled here, then renamed. Whatever is left here goes away by itself.
    let staging = tempfile::Builder::new()
        .prefix(".powerband-")
        .suffix(".part")
        .tempdir_in(runtimes);
    let staging = staging.map_err(io_error("make a folder in", runtimes))?;
    let fresh = staging.path().join("new");
    fs::create_dir(&fresh).map_err(io_error("make the folder", &fresh))?;
    extract(&wheel, &fresh)?;
    if runtimes::libraries_in(&fresh).is_empty() {
        return Err(InstallError::NoLibrary { wheel });
    }
    let target = runtimes.join(format!("onnxruntime-{version}-{}", flavor.id));
    swap_in(&fresh, &target, &staging.path().join("old"))?;
    let library = runtimes::libraries_in(&target).into_iter().next();
    library
        .map(|library| FoundRuntime::from_path(&library, RuntimeOrigin::Own))
        .ok_or(InstallError::NoLibrary { wheel })
}

/// What a failure of pip means and what to do about it, from what it wrote on standard error.
pub fn explain_pip_failure(stderr: &str, request: &InstallRequest) -> String {
    let package = flavor(&request.flavor).map_or(request.flavor.as_str(), |flavor| flavor.package);
    let wanted = request.version.as_ref().map_or_else(
        || package.to_owned(),
        |version| format!("{package} {version}"),
    );
    if stderr.contains("No module named pip") || stderr.contains("No module named 'pip'") {
        return format!(
            "this Python has no pip to fetch {wanted} with; add it with \"python3 -m ensurepip\" or \
             \"apt install python3-pip\", or name another Python in POWERBAND_PYTHON"
        );
    }
    if stderr.contains("No space left on device") {
        return format!("the disk is full; {wanted} was not fetched");
    }
    let offered = offered_versions(stderr);
    if !offered.is_empty() {
        return no_such_version(stderr, &wanted, request.version.as_deref(), &offered);
    }
    let sign = |line: &&str| NETWORK_SIGNS.iter().any(|sign| line.contains(sign));
    if let Some(line) = stderr.lines().find(sign) {
        return format!(
            "pip could not reach the package index to fetch {wanted}; check the network and pip's \
             proxy settings, or copy a library here and name it with runtime=PATH or \
             ORT_DYLIB_PATH (pip says: {})",
            humanize::shorten(line.trim(), 200)
        );
    }
    if stderr.contains("No matching distribution found") {
        return format!(
            "pip finds no {wanted} built for this Python and this kind of machine: the Python may be too new or too \
             old (name another one in POWERBAND_PYTHON), the flavor may not exist for this system, or the package \
             index was out of reach"
        );
    }
    format!("pip could not fetch {wanted}: {}", last_words(stderr))
}

/// What pip's messages have in them when the network is at fault.
const NETWORK_SIGNS: &[&str] = &[
    "connection broken by",
    "ConnectionError",
    "ConnectTimeout",
    "Max retries exceeded",
    "Temporary failure in name resolution",
    "Name or service not known",
    "Network is unreachable",
    "Connection refused",
    "Connection reset",
    "Read timed out",
    "ReadTimeoutError",
    "ProxyError",
    "SSLError",
    "CERTIFICATE_VERIFY_FAILED",
];

/// How many versions a message lists.
const SHOWN_VERSIONS: usize = 8;

fn no_such_version(stderr: &str, wanted: &str, version: Option<&str>, offered: &[&str]) -> String {
    let other_python = stderr
        .lines()
        .filter(|line| line.contains("require a different python version"))
        .flat_map(|line| line.split([' ', ';']))
        .any(|word| version.is_some_and(|version| runtimes::continues(word, version)));
    if other_python {
        return format!(
            "{wanted} exists, but not for this Python; name another one in POWERBAND_PYTHON"
        );
    }
    let mut newest: Vec<_> = offered
        .iter()
        .filter(|version| is_release(version))
        .copied()
        .collect();
    newest.sort_by(|a, b| runtimes::compare_versions(b, a));
    let older = newest.len().saturating_sub(SHOWN_VERSIONS);
    newest.truncate(SHOWN_VERSIONS);
    let older = if older == 0 {
        String::new()
    } else {
        format!(" and {older} older")
    };
    format!(
        "there is no {wanted} for this Python; there are {}{older}",
        newest.join(", ")
    )
}

/// The versions in `(from versions: 1.15.0, 1.15.1)`; empty where pip knows none.
fn offered_versions(stderr: &str) -> Vec<&str> {
    let listed = stderr
        .split_once("(from versions: ")
        .and_then(|(_, rest)| rest.split_once(')'));
    let listed = listed.map(|(versions, _)| versions).unwrap_or_default();
    listed
        .split(',')
        .map(str::trim)
        .filter(|version| version.starts_with(|c: char| c.is_ascii_digit()))
        .collect()
}

fn is_release(version: &str) -> bool {
    !["dev", "rc", "a", "b"]
        .iter()
        .any(|word| version.contains(word))
}

/// The last thing pip said, errors before all else.
fn last_words(stderr: &str) -> &str {
    let lines = || {
        stderr
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .rev()
    };
    let error = lines().find_map(|line| line.strip_prefix("ERROR: "));
    error
        .or_else(|| lines().next())
        .unwrap_or("it did not say why")
}

fn flavor(id: &str) -> Result<&'static Flavor, InstallError> {
    FLAVORS
        .iter()
        .find(|flavor| flavor.id == id)
        .ok_or_else(|| InstallError::UnknownFlavor(id.to_owned()))
}

fn flavor_list() -> String {
    FLAVORS
        .iter()
        .map(|flavor| flavor.id)
        .collect::<Vec<_>>()
        .join(", ")
}

/// A version for pip: `1.22` means any 1.22, as it does in a setup; the rest is taken as it is.
fn version_pattern(version: &str) -> Result<String, InstallError> {
    let parts = || version.split('.');
    // The check also keeps options and other requirements out of pip's arguments.
    let is_version = version.starts_with(|c: char| c.is_ascii_digit())
        && parts().all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric()));
    if !is_version {
        return Err(InstallError::NotAVersion(version.to_owned()));
    }
    let is_numeric = parts().all(|part| part.chars().all(|c| c.is_ascii_digit()));
    Ok(if is_numeric {
        format!("{version}.*")
    } else {
        version.to_owned()
    })
}

/// The newest wheel of a package in a folder, and its version.
fn find_wheel(folder: &Path, package: &'static str) -> Result<(PathBuf, String), InstallError> {
    let mut found: Option<(PathBuf, String)> = None;
    for entry in fs::read_dir(folder).map_err(io_error("read the folder", folder))? {
        let path = entry.map_err(io_error("read the folder", folder))?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let Some(version) = wheel_version(name, package).map(str::to_owned) else {
            continue;
        };
        let is_newer =
            |(_, other): &(PathBuf, String)| runtimes::compare_versions(&version, other).is_gt();
        if found.as_ref().is_none_or(is_newer) {
            found = Some((path, version));
        }
    }
    found.ok_or_else(|| InstallError::NoWheel {
        package,
        folder: folder.to_path_buf(),
    })
}

/// The version in `onnxruntime_gpu-1.31.1-cp311-….whl`, if it is a wheel of the package.
fn wheel_version<'a>(name: &'a str, package: &str) -> Option<&'a str> {
    let (distribution, rest) = name.strip_suffix(".whl")?.split_once('-')?;
    let (version, _) = rest.split_once('-')?;
    let is_version = version.starts_with(|c: char| c.is_ascii_digit());
    (is_version && distribution.eq_ignore_ascii_case(&package.replace('-', "_"))).then_some(version)
}

/// Takes the libraries and licences out of a wheel.
fn extract(wheel: &Path, into: &Path) -> Result<(), InstallError> {
    let bad_wheel = |source| InstallError::BadWheel {
        wheel: wheel.to_path_buf(),
        source,
    };
    let file = File::open(wheel).map_err(io_error("open", wheel))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(bad_wheel)?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(bad_wheel)?;
        let name = entry.name().map_err(bad_wheel)?.into_owned();
        let Some(name) = wanted_file(&name).filter(|_| entry.is_file()) else {
            continue;
        };
        let path = into.join(name);
        let mut out = File::create_new(&path).map_err(io_error("write", &path))?;
        io::copy(&mut entry, &mut out).map_err(io_error("unpack", &path))?;
        out.sync_all().map_err(io_error("write", &path))?;
    }
    Ok(())
}

/// The bare file name of an entry that is worth taking.
///
/// Exactly `<package>/capi/<library>` and `<package>/<licence>`, so no entry can point out of the folder.
/// Libraries with other names count: a flavor may bring those it stands on. The Python binding does not.
fn wanted_file(entry: &str) -> Option<&str> {
    let parts: Vec<_> = entry.split(['/', '\\']).collect();
    match parts[..] {
        [_, "capi", name] => {
            (is_library(name) && !name.starts_with("onnxruntime_pybind")).then_some(name)
        }
        [package, name] => {
            let is_licence = ["LICENSE", "LICENSE.txt", "ThirdPartyNotices.txt"].contains(&name);
            (is_licence && !package.contains('.')).then_some(name)
        }
        _ => None,
    }
}

/// `x.so`, `x.so.1.2`, `x.dll`, `x.dylib`.
fn is_library(name: &str) -> bool {
    let (stem, ending) = name.rsplit_once(".so").unwrap_or((name, "-"));
    let numbered = !stem.is_empty() && ending.chars().all(|c| c.is_ascii_digit() || c == '.');
    let ending = Path::new(name)
        .extension()
        .and_then(|ending| ending.to_str());
    numbered || matches!(ending, Some("dll" | "dylib"))
}

/// Renames a folder into its place; what was there goes to `aside`, and comes back on failure.
fn swap_in(fresh: &Path, target: &Path, aside: &Path) -> Result<(), InstallError> {
    let replaces = target.symlink_metadata().is_ok();
    if replaces {
        fs::rename(target, aside).map_err(io_error("replace", target))?;
    }
    fs::rename(fresh, target).map_err(|source| {
        let restored = if replaces {
            fs::rename(aside, target)
        } else {
            Ok(())
        };
        let action = if restored.is_ok() {
            "make the folder"
        } else {
            "make the folder, or keep what was in,"
        };
        io_error(action, target)(source)
    })
}

fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> InstallError {
    let path = path.to_path_buf();
    move |source| InstallError::Io {
        action,
        path,
        source,
    }
}
