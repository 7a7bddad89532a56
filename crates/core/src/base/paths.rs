//! Where Powerband keeps things: XDG folders, or one folder for all under `POWERBAND_HOME`.
//!
//! The variable serves tests, portable installs and clusters whose home folders are slow.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Where a program of this name lies, in folders as in the variable `PATH`. Relative ones are passed over.
pub fn program_in(search: &OsStr, name: &str) -> Option<PathBuf> {
    let name = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(search)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&name))
        .find(|program| program.is_file())
}

/// A variable of the environment that holds a path; an empty one counts as unset.
pub fn path_variable(name: &str) -> Option<PathBuf> {
    let value = env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

/// The folder in which this user keeps documents, else the home folder; `.` where there is neither.
pub fn documents() -> PathBuf {
    let Some(user) = directories::UserDirs::new() else {
        return PathBuf::from(".");
    };
    let documents = user.document_dir().filter(|folder| folder.is_dir());
    documents.unwrap_or_else(|| user.home_dir()).to_path_buf()
}

/// The folders of one installation.
#[derive(Clone, Debug)]
pub struct Paths {
    /// Sessions and journals: what the user would miss.
    pub library: PathBuf,
    /// Fetched runtimes: large, but can be fetched again.
    pub runtimes: PathBuf,
    /// Generated networks: can be made again at any time.
    pub cache: PathBuf,
    /// What this machine's devices were measured to reach, a file for each.
    pub roofs: PathBuf,
    /// Programs that this user started through setups: see `powerband-store`'s `programs`.
    pub programs: PathBuf,
    /// What experiments brought here: see `powerband-store`'s `changes_tally`.
    pub changes: PathBuf,
    /// The settings file.
    pub settings: PathBuf,
}

impl Paths {
    /// The folders for this user, from the environment.
    pub fn for_user() -> Self {
        if let Some(home) = path_variable("POWERBAND_HOME") {
            return Self::under(&home);
        }
        directories::ProjectDirs::from("", "", "powerband").map_or_else(
            || Self::under(&PathBuf::from(".powerband")),
            |dirs| Self {
                library: dirs.data_dir().join("sessions"),
                runtimes: dirs.data_dir().join("runtimes"),
                cache: dirs.cache_dir().to_path_buf(),
                roofs: dirs.data_dir().join("roofs"),
                programs: dirs.data_dir().join("programs.ron"),
                changes: dirs.data_dir().join("changes.ron"),
                settings: dirs.config_dir().join("settings.ron"),
            },
        )
    }

    /// All folders below one.
    pub fn under(home: &std::path::Path) -> Self {
        Self {
            library: home.join("sessions"),
            runtimes: home.join("runtimes"),
            cache: home.join("cache"),
            roofs: home.join("roofs"),
            programs: home.join("programs.ron"),
            changes: home.join("changes.ron"),
            settings: home.join("settings.ron"),
        }
    }
}
