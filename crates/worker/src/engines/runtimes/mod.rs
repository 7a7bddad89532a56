//! Finding the ONNX Runtime library to load.
//!
//! Looks where the setup, the settings and `ORT_DYLIB_PATH` point, then in Powerband's own folder, in
//! Python environments and in the system's library folders, in that order. What is found goes to the
//! ONNX Runtime engine, which loads it, and to the list of engines. Only names and folders are read
//! here: no library is opened. The questions to Python are in `python`, the order of versions is in
//! `versions`.

use std::collections::BTreeSet;
use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use self::python::{Variable, path_variable, site_packages_of};
use powerband_core::base::paths::Paths;
use powerband_planning::engine_options::versions::{WantedVersion, newest_first};

pub use self::environments::offers;
pub(crate) use self::python::{
    choose_python, parse_site_packages, python_candidates, pythons_with, site_packages_query,
};
pub(super) use powerband_planning::engine_options::versions::{compare_versions, continues};

mod environments;
mod python;

#[cfg(test)]
mod tests;

/// What people type to get a runtime.
const INSTALL: &str = "powerband engines install onnxruntime";

/// What stands before and after the version in the library's file name on this system.
const LIBRARY: (&str, &str) = if cfg!(windows) {
    ("onnxruntime", ".dll")
} else if cfg!(target_os = "macos") {
    ("libonnxruntime", ".dylib")
} else {
    ("libonnxruntime.so", "")
};

/// Python distributions that bring an `onnxruntime/capi` folder, and the flavor each one is.
const DISTRIBUTIONS: &[(&str, &str)] = &[
    ("onnxruntime", "cpu"),
    ("onnxruntime_gpu", "cuda"),
    ("onnxruntime_rocm", "rocm"),
    ("onnxruntime_migraphx", "migraphx"),
    ("onnxruntime_openvino", "openvino"),
    ("onnxruntime_directml", "directml"),
    ("onnxruntime_qnn", "qnn"),
    ("onnxruntime_cann", "cann"),
    ("onnxruntime_webgpu", "webgpu"),
    ("onnxruntime_silicon", "cpu"),
    ("onnxruntime_training", "training"),
];

/// Where to look, in the order of the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimePlaces {
    /// The library or folder that the settings name.
    pub settings: Option<PathBuf>,
    /// The library or folder that `ORT_DYLIB_PATH` names.
    pub env_dylib: Option<PathBuf>,
    /// Powerband's own folder of fetched runtimes.
    pub own: PathBuf,
    /// Folders that hold Python packages.
    pub site_packages: Vec<PathBuf>,
    /// The system's library folders.
    pub system: Vec<PathBuf>,
    /// Interpreters, each with the folders of its packages, the likeliest first.
    pub pythons: Vec<(PathBuf, Vec<PathBuf>)>,
}

/// Which of the places a library came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuntimeOrigin {
    /// The `runtime=` option of the setup.
    Setup,
    /// The settings file.
    Settings,
    /// The variable `ORT_DYLIB_PATH`.
    Variable,
    /// Fetched by Powerband.
    Own,
    /// A Python package.
    Python,
    /// A library folder of the system.
    System,
}

/// One library that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRuntime {
    /// The library file, as an absolute path.
    pub path: PathBuf,
    /// Its version, where the name of a file or folder says it.
    pub version: Option<String>,
    /// What it was built for (`cpu`, `cuda`), where a folder's name says it.
    pub flavor: Option<String>,
    /// Where it was found.
    pub origin: RuntimeOrigin,
}

/// Why there is no library to load.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuntimeError {
    /// The setup names a path at which there is nothing.
    #[error(
        "runtime={0} is neither an existing library or folder nor a version; \
         write a path, or a version such as 1.22 or 1.22-cuda"
    )]
    NoSuchPath(String),
    /// The setup names a folder that holds no library.
    #[error(
        "runtime={wanted} is a folder without an ONNX Runtime library ({})",
        library_pattern()
    )]
    NoLibraryIn {
        /// What the setup says.
        wanted: String,
    },
    /// The settings or the variable point to nothing; using another library would hide that.
    #[error("no ONNX Runtime library is where {origin} points: {}\ncorrect or remove it to look elsewhere", path.display())]
    PointsToNothing {
        /// What points there.
        origin: RuntimeOrigin,
        /// Where it points.
        path: PathBuf,
    },
    /// Another version or flavor than the ones at hand is wanted.
    #[error(
        "no ONNX Runtime {wanted} is installed; {}\nto fetch it: {command}",
        list_text(installed, dangling)
    )]
    NotInstalled {
        /// What the setup says.
        wanted: String,
        /// What there is instead.
        installed: Vec<FoundRuntime>,
        /// Pointers that lead nowhere, and so may be why it was not found.
        dangling: Vec<(RuntimeOrigin, PathBuf)>,
        /// The command that fetches it.
        command: String,
    },
    /// No interpreter has a package that is needed, or the setup's is not there.
    #[error("{0}")]
    NoPython(String),
    /// There is no library at all.
    #[error(
        "no ONNX Runtime library was found; looked at, in this order:\n{looked}\nto fetch one: {INSTALL}"
    )]
    NothingFound {
        /// The places, one a line.
        looked: String,
    },
}

impl RuntimePlaces {
    /// The places of this user, from the environment; `settings` is the path in the settings, if any.
    pub fn new(paths: &Paths, settings: Option<PathBuf>) -> Self {
        Self::from_variables(paths, settings, &|name| env::var_os(name))
    }

    /// The same with the environment as a function.
    fn from_variables(paths: &Paths, settings: Option<PathBuf>, variable: &Variable<'_>) -> Self {
        let folder = |name: &str| path_variable(variable, name).filter(|path| path.is_absolute());
        let mut places = Self {
            settings: settings.filter(|path| !path.as_os_str().is_empty()),
            env_dylib: path_variable(variable, "ORT_DYLIB_PATH"),
            own: paths.runtimes.clone(),
            ..Self::default()
        };
        for environment in [folder("VIRTUAL_ENV"), folder("CONDA_PREFIX")]
            .into_iter()
            .flatten()
        {
            places.add_site_packages(site_packages_of(&environment));
        }
        for name in ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"] {
            // An empty entry means the current folder, which is nothing to rely on.
            let listed = variable(name).unwrap_or_default();
            places
                .system
                .extend(env::split_paths(&listed).filter(|path| path.is_absolute()));
        }
        places
            .system
            .extend(folder("CONDA_PREFIX").map(|prefix| prefix.join("lib")));
        places.system.extend(usual_library_folders());
        places
    }

    /// Adds folders of Python packages, each once.
    pub fn add_site_packages(&mut self, folders: impl IntoIterator<Item = PathBuf>) {
        for folder in folders {
            if !self.site_packages.contains(&folder) {
                self.site_packages.push(folder);
            }
        }
    }

    /// Adds interpreters, each with the folders of its packages.
    pub fn add_pythons(&mut self, pythons: impl IntoIterator<Item = (PathBuf, Vec<PathBuf>)>) {
        for (python, folders) in pythons {
            self.add_site_packages(folders.iter().cloned());
            if !self.pythons.iter().any(|(known, _)| *known == python) {
                self.pythons.push((python, folders));
            }
        }
    }

    /// The two that name one library, where they are set.
    fn pointers(&self) -> impl Iterator<Item = (RuntimeOrigin, &Path)> {
        let named = [
            (RuntimeOrigin::Settings, &self.settings),
            (RuntimeOrigin::Variable, &self.env_dylib),
        ];
        named
            .into_iter()
            .filter_map(|(origin, path)| Some((origin, path.as_deref()?)))
    }

    /// What was looked at, for the message that nothing was found.
    fn describe(&self) -> String {
        let pointer = |path: &Option<PathBuf>| {
            path.as_ref()
                .map_or_else(|| "not set".to_owned(), |path| path.display().to_string())
        };
        let list = |folders: Vec<&PathBuf>| {
            let shown: Vec<_> = folders
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            if shown.is_empty() {
                "none known".to_owned()
            } else {
                shown.join(", ")
            }
        };
        let system = self
            .system
            .iter()
            .filter(|folder| folder.is_dir())
            .collect();
        [
            format!("  {}: {}", RuntimeOrigin::Settings, pointer(&self.settings)),
            format!(
                "  {}: {}",
                RuntimeOrigin::Variable,
                pointer(&self.env_dylib)
            ),
            format!("  {}: {}", RuntimeOrigin::Own, self.own.display()),
            format!(
                "  Python environments: {}",
                list(self.site_packages.iter().collect())
            ),
            format!("  {}: {}", RuntimeOrigin::System, list(system)),
        ]
        .join("\n")
    }
}

impl fmt::Display for RuntimeOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Setup => "the setup's runtime=",
            Self::Settings => "the settings",
            Self::Variable => "ORT_DYLIB_PATH",
            Self::Own => "Powerband's own folder",
            Self::Python => "a Python environment",
            Self::System => "the system",
        })
    }
}

impl FoundRuntime {
    /// Version and flavor in one word, as `runtime=` takes them: `1.22.0-cuda`.
    pub fn label(&self) -> String {
        let version = self.version.as_deref().unwrap_or("unknown version");
        self.flavor.as_ref().map_or_else(
            || version.to_owned(),
            |flavor| format!("{version}-{flavor}"),
        )
    }

    /// Reads version and flavor off the names around a library.
    pub(super) fn from_path(path: &Path, origin: RuntimeOrigin) -> Self {
        // A bare relative name would make the loader search elsewhere.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let in_name = file_version(&real).or_else(|| file_version(&path));
        let package = package_around(&real, in_name.as_deref())
            .or_else(|| package_around(&path, in_name.as_deref()));
        let (in_package, flavor) = package.unwrap_or_default();
        // The package may know more: 1.22.2.post3 around libonnxruntime.so.1.22.2.
        let version = match (in_name, in_package) {
            (Some(short), Some(long)) if continues(&long, &short) => Some(long),
            (in_name, in_package) => in_name.or(in_package),
        };
        Self {
            path,
            version,
            flavor,
            origin,
        }
    }
}

/// All libraries in all places, in the order of the places, none twice.
pub fn find_all(places: &RuntimePlaces) -> Vec<FoundRuntime> {
    let mut found = Vec::new();
    for (origin, path) in places.pointers() {
        found.extend(
            resolve(path, &places.system).map(|library| FoundRuntime::from_path(&library, origin)),
        );
    }
    let mut own: Vec<_> = folders_in(&places.own, "onnxruntime-")
        .iter()
        .filter_map(|folder| libraries_in(folder).into_iter().next())
        .map(|library| FoundRuntime::from_path(&library, RuntimeOrigin::Own))
        .collect();
    own.sort_by(|a, b| {
        newest_first(a.version.as_deref(), b.version.as_deref()).then_with(|| a.path.cmp(&b.path))
    });
    found.extend(own);
    for folder in &places.site_packages {
        let libraries = libraries_in(&folder.join("onnxruntime").join("capi"));
        found.extend(
            libraries
                .iter()
                .map(|library| FoundRuntime::from_path(library, RuntimeOrigin::Python)),
        );
    }
    for folder in &places.system {
        found.extend(
            libraries_in(folder)
                .iter()
                .map(|library| FoundRuntime::from_path(library, RuntimeOrigin::System)),
        );
    }
    let mut seen = BTreeSet::new();
    found.retain(|runtime| {
        seen.insert(fs::canonicalize(&runtime.path).unwrap_or_else(|_| runtime.path.clone()))
    });
    found
}

/// The library to load: the one that `runtime=` wants, or the first there is.
pub fn choose(wanted: Option<&str>, places: &RuntimePlaces) -> Result<FoundRuntime, RuntimeError> {
    let Some(wanted) = wanted.map(str::trim).filter(|wanted| !wanted.is_empty()) else {
        return choose_first(places);
    };
    let Some(version) = WantedVersion::parse(wanted) else {
        return choose_path(wanted, places);
    };
    let mut installed = find_all(places);
    if let Some(first) = installed
        .iter()
        .position(|runtime| version.matches(runtime.version.as_deref(), runtime.flavor.as_deref()))
    {
        return Ok(installed.swap_remove(first));
    }
    let is_dangling = |(_, path): &(RuntimeOrigin, &Path)| resolve(path, &places.system).is_none();
    let dangling = places
        .pointers()
        .filter(is_dangling)
        .map(|(origin, path)| (origin, path.to_path_buf()))
        .collect();
    Err(RuntimeError::NotInstalled {
        wanted: wanted.to_owned(),
        installed,
        dangling,
        command: install_command(&version),
    })
}

/// The libraries in one folder: the most precisely named and newest first, providers left out.
pub(super) fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    let mut libraries: Vec<_> = entries_of(folder)
        .into_iter()
        .filter(|path| {
            path.is_file() && file_name(path).is_some_and(|name| version_in_name(name).is_some())
        })
        .collect();
    libraries.sort_by(|a, b| newest_first(file_version(a).as_deref(), file_version(b).as_deref()));
    libraries
}

/// Without a request: what a pointer names, which must be there, or else the first found anywhere.
fn choose_first(places: &RuntimePlaces) -> Result<FoundRuntime, RuntimeError> {
    if let Some((origin, path)) = places.pointers().next() {
        return resolve(path, &places.system)
            .map(|library| FoundRuntime::from_path(&library, origin))
            .ok_or_else(|| RuntimeError::PointsToNothing {
                origin,
                path: path.to_path_buf(),
            });
    }
    let first = find_all(places).into_iter().next();
    first.ok_or_else(|| RuntimeError::NothingFound {
        looked: places.describe(),
    })
}

/// The library at a path that the setup gives.
fn choose_path(wanted: &str, places: &RuntimePlaces) -> Result<FoundRuntime, RuntimeError> {
    let path = Path::new(wanted);
    match resolve(path, &places.system) {
        Some(library) => Ok(FoundRuntime::from_path(&library, RuntimeOrigin::Setup)),
        None if path.is_dir() => Err(RuntimeError::NoLibraryIn {
            wanted: wanted.to_owned(),
        }),
        None => Err(RuntimeError::NoSuchPath(wanted.to_owned())),
    }
}

/// The library that a path means: the file, one in the folder, or a bare name among the system's.
fn resolve(path: &Path, system: &[PathBuf]) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.to_path_buf());
    }
    if path.is_dir() {
        // As unpacked releases and Python packages lay them out.
        let inside = ["", "lib", "lib64", "capi", "onnxruntime/capi"];
        return inside
            .iter()
            .find_map(|inner| libraries_in(&path.join(inner)).into_iter().next());
    }
    let is_bare = path.components().count() == 1;
    system
        .iter()
        .map(|folder| folder.join(path))
        .find(|path| is_bare && path.is_file())
}

/// Version and flavor of the package that a library belongs to, where names say it.
fn package_around(
    library: &Path,
    version_in_name: Option<&str>,
) -> Option<(Option<String>, Option<String>)> {
    let folder = library.parent()?;
    if let Some((version, flavor)) = file_name(folder).and_then(own_folder_parts) {
        return Some((Some(version.to_owned()), Some(flavor.to_owned())));
    }
    let package = folder.parent()?;
    if file_name(folder) != Some("capi") || file_name(package) != Some("onnxruntime") {
        return None;
    }
    let known = |folder: PathBuf| {
        let (name, version) = file_name(&folder)?
            .strip_suffix(".dist-info")?
            .split_once('-')?;
        let (_, flavor) = DISTRIBUTIONS
            .iter()
            .find(|(distribution, _)| *distribution == name)?;
        let fits = version_in_name.is_none_or(|in_name| continues(version, in_name));
        fits.then(|| (version.to_owned(), (*flavor).to_owned()))
    };
    let mut installed = folders_in(package.parent()?, "onnxruntime")
        .into_iter()
        .filter_map(known);
    let (version, flavor) = installed.next()?;
    // Two flavors over one another: which one the library is of is not known.
    let sure = installed.next().is_none();
    Some((sure.then_some(version), sure.then_some(flavor)))
}

/// Version and flavor in `onnxruntime-<version>-<flavor>`.
fn own_folder_parts(name: &str) -> Option<(&str, &str)> {
    let (version, flavor) = name.strip_prefix("onnxruntime-")?.split_once('-')?;
    (version.starts_with(|c: char| c.is_ascii_digit()) && !flavor.is_empty())
        .then_some((version, flavor))
}

/// The version in a library's file name: empty where it has none, nothing where it is no such library.
fn version_in_name(name: &str) -> Option<&str> {
    let rest = name.strip_prefix(LIBRARY.0)?.strip_suffix(LIBRARY.1)?;
    if rest.is_empty() {
        return Some("");
    }
    let numeric = |c: char| c.is_ascii_digit() || c == '.';
    rest.strip_prefix('.')
        .filter(|version| !version.is_empty() && version.chars().all(numeric))
}

/// The version in the name of a library file: `1.31.0` of `libonnxruntime.so.1.31.0`.
pub(super) fn file_version(library: &Path) -> Option<String> {
    file_name(library)
        .and_then(version_in_name)
        .filter(|version| !version.is_empty())
        .map(str::to_owned)
}

/// The command that fetches a version.
fn install_command(wanted: &WantedVersion<'_>) -> String {
    let flavor = wanted
        .flavor
        .map(|flavor| format!(" --flavor {flavor}"))
        .unwrap_or_default();
    format!("{INSTALL} --version {}{flavor}", wanted.version)
}

/// How libraries are called here, for messages.
fn library_pattern() -> String {
    format!("{}*{}", LIBRARY.0, LIBRARY.1)
}

/// What is installed, and which pointers lead nowhere.
fn list_text(installed: &[FoundRuntime], dangling: &[(RuntimeOrigin, PathBuf)]) -> String {
    let mut lines = vec![
        if installed.is_empty() {
            "nor is any other"
        } else {
            "there are:"
        }
        .to_owned(),
    ];
    lines.extend(installed.iter().map(|runtime| {
        let FoundRuntime { path, origin, .. } = runtime;
        format!("  {}  {} ({origin})", runtime.label(), path.display())
    }));
    lines.extend(dangling.iter().map(|(origin, path)| {
        let path = path.display();
        format!("  ({origin} points to {path}, where there is none)")
    }));
    lines.join("\n")
}

/// Where systems keep libraries that are not their own first, then those that are.
fn usual_library_folders() -> Vec<PathBuf> {
    if cfg!(windows) {
        return Vec::new();
    }
    let multiarch = format!("/usr/lib/{}-linux-gnu", env::consts::ARCH);
    let folders = [
        "/opt/onnxruntime/lib",
        "/usr/local/lib",
        "/usr/local/lib64",
        "/opt/homebrew/lib",
    ];
    let own = [multiarch.as_str(), "/usr/lib64", "/usr/lib"];
    folders.into_iter().chain(own).map(PathBuf::from).collect()
}

/// The folders in a folder whose names begin with a prefix, by name.
fn folders_in(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let fits = |path: &PathBuf| {
        path.is_dir() && file_name(path).is_some_and(|name| name.starts_with(prefix))
    };
    entries_of(folder).into_iter().filter(fits).collect()
}

/// What is in a folder, by name; a folder that cannot be read holds nothing to load.
fn entries_of(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    entries.sort();
    entries
}

fn file_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}
