//! Python environments outside the usual search that have an engine: offers, which the user takes up or not.
//!
//! Input is where to look; names and folders are read, no process is started and no library is opened.
//! The offers go to the list of engines. What is searched without being asked is in the module above.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::python::{package_version, site_packages_of};
use super::{
    FoundRuntime, RuntimeOrigin, RuntimePlaces, compare_versions, file_name, libraries_in,
};
use crate::engines::Requirement;
use powerband_core::base::environment_roots::EnvironmentRoots;
use powerband_planning::engine_options::OfferedEnvironment;

/// Environments that are looked at; of a home with more, the later ones are left out.
const MAX_ENVIRONMENTS: usize = 300;

/// Environments by themselves, below the home folder.
const HOME_ENVIRONMENTS: &[&str] = &[".venv", "venv", "env"];

/// Folders of environments, below the home folder.
const ENVIRONMENT_FOLDERS: &[&str] = &[
    "venvs",
    ".venvs",
    "envs",
    ".virtualenvs",
    ".conda/envs",
    ".local/share/uv/python",
    ".cache/pypoetry/virtualenvs",
    "Library/Caches/pypoetry/virtualenvs",
    ".local/share/uv/tools",
    ".local/share/pipx/venvs",
    ".local/pipx/venvs",
];

/// Installations of conda, below the home folder; each is an environment and has more in `envs`.
const CONDAS: &[&str] = &[
    "miniconda3",
    "anaconda3",
    "miniforge3",
    "mambaforge",
    "micromamba",
];

/// The environments that have what an engine needs and were not searched: a project's own, then the newest.
pub fn offers(
    needs: Requirement,
    roots: &EnvironmentRoots,
    searched: &RuntimePlaces,
) -> Vec<OfferedEnvironment> {
    let mut found: Vec<(bool, OfferedEnvironment)> = Vec::new();
    for (environment, is_own) in environments(roots) {
        let packages = site_packages_of(&environment);
        let mut fresh = packages
            .iter()
            .filter(|folder| !is_searched(folder, searched));
        let engine = fresh.find_map(|folder| engine_in(needs, &environment, folder));
        // What the user named and does not work keeps its reason; it is not offered once more.
        if let Some((path, version)) = engine.filter(|(path, _)| !is_named(path, searched)) {
            let folder = with_tilde(roots, &environment);
            let offer = OfferedEnvironment {
                path,
                folder,
                version,
            };
            found.push((is_own, offer));
        }
    }
    found.sort_by(|(own_a, a), (own_b, b)| {
        let version = |offer: &OfferedEnvironment| offer.version.clone().unwrap_or_default();
        Reverse(own_a)
            .cmp(&Reverse(own_b))
            .then_with(|| compare_versions(&version(b), &version(a)))
    });
    found.into_iter().map(|(_, offer)| offer).collect()
}

/// The environments, the likeliest first, each once, with whether it is the project's own.
fn environments(roots: &EnvironmentRoots) -> Vec<(PathBuf, bool)> {
    let names = [".venv", "venv"];
    let of_project = roots
        .project
        .iter()
        .flat_map(|project| names.map(|name| project.join(name)));
    let mut found: Vec<(PathBuf, bool)> = of_project.map(|folder| (folder, true)).collect();
    let mut others = Vec::new();
    let pyenv = roots.home.iter().map(|home| home.join(".pyenv"));
    for pyenv in roots.pyenv.iter().cloned().chain(pyenv) {
        others.extend(subfolders(&pyenv.join("versions")));
    }
    if let Some(home) = &roots.home {
        others.extend(HOME_ENVIRONMENTS.iter().map(|name| home.join(name)));
        others.extend(listed_by_conda(home));
        for conda in CONDAS.iter().map(|name| home.join(name)) {
            others.extend(subfolders(&conda.join("envs")));
            others.push(conda);
        }
        others.extend(
            ENVIRONMENT_FOLDERS
                .iter()
                .flat_map(|name| subfolders(&home.join(name))),
        );
    }
    others.extend(roots.machine.iter().cloned());
    found.extend(others.into_iter().map(|folder| (folder, false)));
    let mut seen = BTreeSet::new();
    // Conda lists what lies in its own folders too, and some names are links.
    found.retain(|(environment, _)| {
        fs::canonicalize(environment).is_ok_and(|real| seen.insert(real))
    });
    found.truncate(MAX_ENVIRONMENTS);
    found
}

/// A folder with `~` for the home folder.
fn with_tilde(roots: &EnvironmentRoots, folder: &Path) -> String {
    let in_home = roots
        .home
        .as_ref()
        .and_then(|home| folder.strip_prefix(home).ok());
    in_home.map_or_else(
        || folder.display().to_string(),
        |rest| format!("~/{}", rest.display()),
    )
}

/// What an engine is loaded from in an environment, and its version.
fn engine_in(
    needs: Requirement,
    environment: &Path,
    packages: &Path,
) -> Option<(PathBuf, Option<String>)> {
    match needs {
        Requirement::Nothing => None,
        Requirement::OnnxRuntime => {
            let capi = packages.join("onnxruntime").join("capi");
            let library = libraries_in(&capi).into_iter().next()?;
            let version = FoundRuntime::from_path(&library, RuntimeOrigin::Python).version;
            Some((library, version))
        }
        Requirement::Python { package } => {
            if !packages.join(package).is_dir() {
                return None;
            }
            Some((
                interpreter(environment)?,
                package_version(packages, package),
            ))
        }
    }
}

fn is_searched(packages: &Path, searched: &RuntimePlaces) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let own = real(packages);
    let mut known = searched.site_packages.iter();
    own.is_none() || known.any(|known| real(known) == own)
}

fn is_named(path: &Path, searched: &RuntimePlaces) -> bool {
    let mut pythons = searched.pythons.iter();
    searched.settings.as_deref() == Some(path) || pythons.any(|(python, _)| python == path)
}

/// The interpreter of an environment; one whose Python was removed has none.
fn interpreter(environment: &Path) -> Option<PathBuf> {
    let names: &[&str] = if cfg!(windows) {
        &["Scripts/python.exe", "python.exe"]
    } else {
        &["bin/python", "bin/python3"]
    };
    let mut paths = names.iter().map(|name| environment.join(name));
    paths.find(|path| path.is_file())
}

/// The folders in a folder, by name; those beyond the bound are not read.
fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .take(MAX_ENVIRONMENTS);
    let mut folders: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        // What begins with a dot there is the tool's own.
        .filter(|path| file_name(path).is_some_and(|name| !name.starts_with('.')) && path.is_dir())
        .collect();
    folders.sort();
    folders
}

/// The environments that conda keeps a list of, wherever they lie.
fn listed_by_conda(home: &Path) -> Vec<PathBuf> {
    let list = fs::read_to_string(home.join(".conda/environments.txt")).unwrap_or_default();
    let paths = list.lines().map(|line| PathBuf::from(line.trim()));
    paths
        .filter(|path| path.is_absolute())
        .take(MAX_ENVIRONMENTS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TORCH: Requirement = Requirement::Python { package: "torch" };

    /// An environment that has a package of a version.
    fn environment(at: &Path, package: &str, version: &str) -> PathBuf {
        let packages = at.join("lib/python3.12/site-packages");
        let touch = |path: PathBuf| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        touch(at.join("bin/python"));
        let info = format!("{package}-{version}.dist-info/METADATA");
        touch(packages.join(info));
        let inner = if package == "torch" {
            "torch/__init__.py".to_owned()
        } else {
            format!("onnxruntime/capi/libonnxruntime.so.{version}")
        };
        touch(packages.join(inner));
        packages
    }

    fn home_of(root: &Path) -> EnvironmentRoots {
        EnvironmentRoots {
            home: Some(root.join("home")),
            project: Some(root.join("project")),
            machine: vec![root.join("opt/venv")],
            ..EnvironmentRoots::default()
        }
    }

    fn shown(offers: &[OfferedEnvironment]) -> Vec<String> {
        let words = |offer: &OfferedEnvironment| {
            let version = offer.version.as_deref().unwrap_or("?");
            format!("{version} in {}", offer.folder)
        };
        offers.iter().map(words).collect()
    }

    #[test]
    fn every_usual_folder_is_looked_into() {
        for place in [
            ".venv",
            "venv",
            "venvs/a",
            "envs/a",
            ".virtualenvs/a",
            ".pyenv/versions/3.12.1",
            "miniconda3",
            "anaconda3/envs/llm",
            "miniforge3/envs/llm",
            "mambaforge",
            "micromamba/envs/llm",
            ".cache/pypoetry/virtualenvs/a-py3.12",
            ".local/share/uv/tools/a",
            ".local/share/uv/python/cpython-3.12",
            ".local/share/pipx/venvs/a",
        ] {
            let root = tempfile::tempdir().unwrap();
            let at = root.path().join("home").join(place);
            environment(&at, "torch", "2.9.1+cpu");
            let found = offers(TORCH, &home_of(root.path()), &RuntimePlaces::default());
            assert_eq!(shown(&found), [format!("2.9.1+cpu in ~/{place}")]);
            assert_eq!(found[0].path, at.join("bin/python"));
        }
    }

    #[test]
    fn the_projects_own_comes_first_and_then_the_newest() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        environment(&at("home/venvs/old"), "torch", "2.4.0");
        environment(&at("home/venvs/new"), "torch", "2.10.0");
        environment(&at("project/.venv"), "torch", "2.1.0");
        environment(&at("opt/venv"), "torch", "2.9.1");
        environment(&at("pyenv/versions/3.13"), "torch", "2.9.0");
        environment(&at("elsewhere/conda"), "torch", "2.8.0");
        fs::create_dir_all(at("home/.conda")).unwrap();
        let listed = format!(
            "{0}/elsewhere/conda\n{0}/home/venvs/new\n\nrelative\n{0}/gone\n",
            root.path().display()
        );
        fs::write(at("home/.conda/environments.txt"), listed).unwrap();
        let roots = EnvironmentRoots {
            pyenv: Some(at("pyenv")),
            ..home_of(root.path())
        };
        let found = shown(&offers(TORCH, &roots, &RuntimePlaces::default()));
        let whole = |version: &str, path: &str| format!("{version} in {}", at(path).display());
        let expected = [
            whole("2.1.0", "project/.venv"),
            "2.10.0 in ~/venvs/new".to_owned(),
            whole("2.9.1", "opt/venv"),
            whole("2.9.0", "pyenv/versions/3.13"),
            whole("2.8.0", "elsewhere/conda"),
            "2.4.0 in ~/venvs/old".to_owned(),
        ];
        assert_eq!(found, expected);
        assert!(
            offers(
                TORCH,
                &EnvironmentRoots::default(),
                &RuntimePlaces::default()
            )
            .is_empty()
        );
    }

    #[test]
    fn what_was_searched_or_cannot_start_is_not_offered() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        let known = environment(&at("home/venvs/known"), "torch", "2.9.1");
        let broken = at("home/venvs/broken");
        environment(&broken, "torch", "2.9.1");
        fs::remove_file(broken.join("bin/python")).unwrap();
        fs::create_dir_all(at("home/venvs/empty/lib/python3.12/site-packages")).unwrap();
        let roots = home_of(root.path());
        let mut places = RuntimePlaces::default();
        assert_eq!(offers(TORCH, &roots, &places).len(), 1);
        places.add_site_packages([known]);
        assert!(offers(TORCH, &roots, &places).is_empty());
        let mut named = RuntimePlaces::default();
        named.add_pythons([(at("home/venvs/known/bin/python"), Vec::new())]);
        assert!(
            offers(TORCH, &roots, &named).is_empty(),
            "it was asked and did not start"
        );
    }

    #[test]
    fn the_library_of_onnx_runtime_is_offered_itself() {
        let root = tempfile::tempdir().unwrap();
        let at = root.path().join("home/venvs/a");
        let packages = environment(&at, "onnxruntime_gpu", "1.23.0");
        let found = offers(
            Requirement::OnnxRuntime,
            &home_of(root.path()),
            &RuntimePlaces::default(),
        );
        assert_eq!(shown(&found), ["1.23.0 in ~/venvs/a"]);
        let library = packages.join("onnxruntime/capi/libonnxruntime.so.1.23.0");
        assert_eq!(found[0].path, library);
        let named = RuntimePlaces {
            settings: Some(library),
            ..RuntimePlaces::default()
        };
        assert!(offers(Requirement::OnnxRuntime, &home_of(root.path()), &named).is_empty());
        assert!(offers(TORCH, &home_of(root.path()), &RuntimePlaces::default()).is_empty());
        assert!(
            offers(
                Requirement::Nothing,
                &home_of(root.path()),
                &RuntimePlaces::default()
            )
            .is_empty()
        );
    }

    #[test]
    fn a_home_full_of_environments_is_bounded() {
        let root = tempfile::tempdir().unwrap();
        for number in 0..2 * MAX_ENVIRONMENTS {
            let at = root.path().join(format!("home/venvs/{number}"));
            fs::create_dir_all(at).unwrap();
        }
        assert!(environments(&home_of(root.path())).len() <= MAX_ENVIRONMENTS);
    }
}
