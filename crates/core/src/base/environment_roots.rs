//! Where Python environments to offer are looked for.
//!
//! The search itself is with the engines; an installation says where.

use std::env;
use std::path::PathBuf;

use super::paths::path_variable;

/// Where environments are looked for; the default is nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentRoots {
    /// The current folder, where `.venv` and `venv` are a project's own.
    pub project: Option<PathBuf>,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// The folder of pyenv, where it is not `~/.pyenv`.
    pub pyenv: Option<PathBuf>,
    /// Environments of the whole machine.
    pub machine: Vec<PathBuf>,
}

impl EnvironmentRoots {
    /// That of this user, from the environment.
    pub fn of_user() -> Self {
        Self {
            project: env::current_dir().ok(),
            home: directories::UserDirs::new().map(|user| user.home_dir().to_path_buf()),
            pyenv: path_variable("PYENV_ROOT").filter(|path| path.is_absolute()),
            machine: ["/opt/venv", "/opt/conda"].map(PathBuf::from).to_vec(),
        }
    }
}
