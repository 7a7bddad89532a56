//! Python interpreters, and the folders in which their packages lie.
//!
//! Input is the environment and what an interpreter answers; the folders go to the search for
//! libraries, the interpreters to `worker::probe` and `worker::fetch`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{FoundRuntime, RuntimeError, RuntimeOrigin, RuntimePlaces, file_name, folders_in};
use powerband_core::base::paths;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_planning::engine_options::versions::compare_versions;

/// Asks Python for its folders, never importing from the current one.
const SITE_PACKAGES_SCRIPT: &str = "import sys; \
     sys.path = [p for p in sys.path if p]; \
     import site, sysconfig; \
     user = getattr(site, 'getusersitepackages', lambda: ''); \
     print('\\n'.join([sysconfig.get_path('purelib'), sysconfig.get_path('platlib'), user()] + sys.path))";

/// Looks up an environment variable.
pub(super) type Variable<'a> = dyn Fn(&str) -> Option<OsString> + 'a;

/// Python interpreters that exist, the likeliest first: what the user names, environments, `PATH`.
pub(crate) fn python_candidates() -> Vec<PathBuf> {
    python_candidates_from(&|name| env::var_os(name))
}

/// Asks an interpreter for its folders of packages; takes about a tenth of a second.
///
/// Neither `-I`, `-E` nor `-s`: packages below the user's home and on `PYTHONPATH` count too.
pub(crate) fn site_packages_query(python: &Path) -> ProcessSpec {
    // Paths come back byte for byte, whatever the locale.
    ProcessSpec::new(python)
        .args(["-c", SITE_PACKAGES_SCRIPT])
        .env("PYTHONIOENCODING", "utf-8:surrogateescape")
}

/// The folders in the answer, each once; lines that are no absolute path are chatter.
pub(crate) fn parse_site_packages(stdout: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for folder in stdout.lines().map(PathBuf::from) {
        if folder.is_absolute() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

/// The interpreters that have a package, in their order.
pub(crate) fn pythons_with(package: &str, places: &RuntimePlaces) -> Vec<FoundRuntime> {
    let having = places.pythons.iter().filter_map(|(python, folders)| {
        let folder = folders
            .iter()
            .find(|folder| folder.join(package).is_dir())?;
        Some(FoundRuntime {
            path: python.clone(),
            version: package_version(folder, package),
            flavor: None,
            origin: RuntimeOrigin::Python,
        })
    });
    let mut found: Vec<FoundRuntime> = having.collect();
    // Several names on PATH may lead to one interpreter; an environment's link is one of its own.
    let mut folders = Vec::new();
    found.retain(|runtime| {
        let of = places
            .pythons
            .iter()
            .find(|(python, _)| *python == runtime.path);
        let own = of.map(|(_, own)| own.clone());
        let is_new = !folders.contains(&own);
        folders.push(own);
        is_new
    });
    found
}

/// The interpreter that `python=` names, or the first one that has a package.
pub(crate) fn choose_python(
    package: &str,
    wanted: Option<&str>,
    places: &RuntimePlaces,
) -> Result<FoundRuntime, RuntimeError> {
    let having = pythons_with(package, places);
    if let Some(wanted) = wanted {
        let path = PathBuf::from(wanted);
        if let Some(known) = having.into_iter().find(|runtime| runtime.path == path) {
            return Ok(known);
        }
        if path.is_file() {
            // Whether it has the package, it says itself.
            return Ok(FoundRuntime {
                path,
                version: None,
                flavor: None,
                origin: RuntimeOrigin::Setup,
            });
        }
        return Err(RuntimeError::NoPython(format!(
            "python={wanted} is no file; write the whole path of an interpreter, for example /opt/venv/bin/python"
        )));
    }
    having
        .into_iter()
        .next()
        .ok_or_else(|| RuntimeError::NoPython(lacking(package, places)))
}

/// That no interpreter has a package, with those that were asked and what helps.
fn lacking(package: &str, places: &RuntimePlaces) -> String {
    let listed = |is_silent: bool| {
        let pythons = places.pythons.iter();
        let listed = pythons.filter(|(_, folders)| folders.is_empty() == is_silent);
        let paths = listed.map(|(python, _)| python.display().to_string());
        paths.collect::<Vec<_>>()
    };
    let silent = match &listed(true)[..] {
        [] => String::new(),
        silent => format!("; {} did not start or gave no answer", silent.join(", ")),
    };
    match &listed(false)[..] {
        [] => format!(
            "no Python was found, and {package} needs one{silent}; name it with python=, in settings.ron or in POWERBAND_PYTHON"
        ),
        asked @ [first, ..] => format!(
            "no Python with the package {package} was found (asked: {}){silent}; `{first} -m pip install {package} torchvision` installs it, or name another with python=, in settings.ron or in POWERBAND_PYTHON",
            asked.join(", ")
        ),
    }
}

/// A package's version, by what pip leaves beside it (`torch-2.9.1.dist-info`) or conda (`torch-2.9.1-py3.12.egg-info`).
pub(super) fn package_version(folder: &Path, package: &str) -> Option<String> {
    let prefix = format!("{package}-");
    let version = |path: PathBuf| {
        let name = file_name(&path)?.strip_prefix(&prefix)?;
        let by_pip = name.strip_suffix(".dist-info");
        let by_conda = || Some(name.strip_suffix(".egg-info")?.split_once("-py")?.0);
        by_pip.or_else(by_conda).map(ToOwned::to_owned)
    };
    folders_in(folder, &prefix).into_iter().find_map(version)
}

/// A variable that holds a path; an empty one counts as unset.
pub(super) fn path_variable(variable: &Variable<'_>, name: &str) -> Option<PathBuf> {
    variable(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

fn python_candidates_from(variable: &Variable<'_>) -> Vec<PathBuf> {
    let search = variable("PATH").unwrap_or_default();
    let on_path = |name: &str| paths::program_in(&search, name);
    let in_environment = |name: &str| {
        let inner = if cfg!(windows) {
            "Scripts/python.exe"
        } else {
            "bin/python"
        };
        path_variable(variable, name).map(|folder| folder.join(inner))
    };
    let named = path_variable(variable, "POWERBAND_PYTHON").and_then(|python| {
        let bare = python.to_str().filter(|_| python.components().count() == 1);
        if python.is_file() {
            Some(python)
        } else {
            bare.and_then(on_path)
        }
    });
    let mut candidates: Vec<PathBuf> = Vec::new();
    let all = [
        named,
        in_environment("VIRTUAL_ENV"),
        in_environment("CONDA_PREFIX"),
        on_path("python3"),
        on_path("python"),
    ];
    for python in all.into_iter().flatten() {
        // Compared as written: an environment's interpreter is often a link to another one.
        if python.is_file() && !candidates.contains(&python) {
            candidates.push(python);
        }
    }
    candidates
}

/// The folders of packages in a virtual or conda environment.
pub(super) fn site_packages_of(environment: &Path) -> Vec<PathBuf> {
    if cfg!(windows) {
        return vec![environment.join("Lib").join("site-packages")];
    }
    let mut versions = folders_in(&environment.join("lib"), "python3");
    let name = |path: &PathBuf| file_name(path).unwrap_or_default().to_owned();
    versions.sort_by(|a, b| compare_versions(&name(b), &name(a)));
    versions
        .into_iter()
        .map(|folder| folder.join("site-packages"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn touch(path: &Path) -> PathBuf {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"").unwrap();
        path.to_path_buf()
    }

    #[test]
    fn interpreters_come_in_order_and_exist() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        let chosen = touch(&at("tools/python3.12"));
        let venv = touch(&at("venv/bin/python"));
        let python3 = touch(&at("b/python3"));
        let python = touch(&at("a/python"));
        let variable = |named: &'static str| {
            let root = root.path().to_path_buf();
            move |name: &str| match name {
                "POWERBAND_PYTHON" => Some(OsString::from(named)),
                "VIRTUAL_ENV" => Some(root.join("venv").into_os_string()),
                "CONDA_PREFIX" => Some(root.join("no such environment").into_os_string()),
                "PATH" => env::join_paths(["a", "b", "tools"].map(|folder| root.join(folder))).ok(),
                _ => None,
            }
        };
        let rest = [venv, python3.clone(), python];
        assert_eq!(python_candidates_from(&variable("")), rest);
        assert_eq!(python_candidates_from(&variable("/no/such/python")), rest);
        let with_name = python_candidates_from(&variable("python3.12"));
        assert_eq!(with_name[0], chosen);
        assert_eq!(with_name[1..], rest);
        // Named twice, listed once.
        assert_eq!(python_candidates_from(&variable("python3"))[0], python3);
        assert_eq!(python_candidates_from(&variable("python3")).len(), 3);
    }

    #[test]
    fn answers_are_absolute_paths_each_once() {
        let answer = "Welcome!\n/usr/lib/python3/dist-packages\r\n\n/a\n/usr/lib/python3/dist-packages\nrel/b\n";
        assert_eq!(
            parse_site_packages(answer),
            ["/usr/lib/python3/dist-packages", "/a"].map(PathBuf::from)
        );
        let query = site_packages_query(Path::new("/usr/bin/python3"));
        assert_eq!(query.program, Path::new("/usr/bin/python3"));
        assert_eq!(query.args[0], "-c");
    }

    #[test]
    fn a_python_that_does_not_start_is_named_as_such() {
        let mut places = RuntimePlaces::default();
        places.add_pythons([(PathBuf::from("/broken/python"), Vec::new())]);
        let reason = |places: &RuntimePlaces| {
            choose_python("torch", None, places)
                .unwrap_err()
                .to_string()
        };
        assert!(
            reason(&places).contains("/broken/python did not start"),
            "{}",
            reason(&places)
        );
        let answered = vec![PathBuf::from("/nowhere/site-packages")];
        places.add_pythons([(PathBuf::from("/usr/bin/python3"), answered)]);
        let reason = reason(&places);
        for words in [
            "asked: /usr/bin/python3)",
            "/broken/python did not start",
            "`/usr/bin/python3 -m pip",
        ] {
            assert!(reason.contains(words), "{reason}");
        }
    }

    #[test]
    fn environments_have_the_newest_python_first() {
        let root = tempfile::tempdir().unwrap();
        for version in ["python3.9", "python3.12", "pkgconfig"] {
            fs::create_dir_all(root.path().join("lib").join(version)).unwrap();
        }
        let newest_first = ["python3.12", "python3.9"]
            .map(|v| root.path().join("lib").join(v).join("site-packages"));
        assert_eq!(site_packages_of(root.path()), newest_first);
        assert!(site_packages_of(&root.path().join("nowhere")).is_empty());
    }
}
