//! Searches through made-up folder trees: empty files named as libraries.

use std::ffi::OsString;

use super::*;

/// A made-up machine.
struct Tree {
    root: tempfile::TempDir,
    places: RuntimePlaces,
}

impl Tree {
    fn new(libraries: &[&str]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        let places = RuntimePlaces {
            own: at("runtimes"),
            site_packages: vec![at("venv/site-packages"), at("user/site-packages")],
            system: vec![at("usr/lib")],
            ..RuntimePlaces::default()
        };
        let tree = Self { root, places };
        for library in libraries {
            tree.touch(library);
        }
        tree
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn touch(&self, path: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"").unwrap();
    }

    /// What is found, with paths from the root.
    fn found(&self) -> Vec<String> {
        let line = |runtime: &FoundRuntime| {
            let path = runtime.path.strip_prefix(self.root.path()).unwrap();
            format!(
                "{} {} {:?}",
                runtime.label(),
                path.display(),
                runtime.origin
            )
        };
        find_all(&self.places).iter().map(line).collect()
    }

    fn choose(&self, wanted: &str) -> Result<String, String> {
        let chosen = choose(
            Some(wanted).filter(|wanted| !wanted.is_empty()),
            &self.places,
        );
        chosen
            .map(|runtime| format!("{} {:?}", runtime.label(), runtime.origin))
            .map_err(|error| {
                error
                    .to_string()
                    .replace(&self.root.path().display().to_string(), "")
            })
    }
}

fn full_tree() -> Tree {
    let mut tree = Tree::new(&[
        "settings/libonnxruntime.so.1.18.0",
        "variable/libonnxruntime.so",
        "runtimes/onnxruntime-1.9.0-cpu/libonnxruntime.so.1.9.0",
        "runtimes/onnxruntime-1.31.0-cpu/libonnxruntime.so.1.31.0",
        "runtimes/onnxruntime-1.22.2.post3-rocm/libonnxruntime.so.1.22.2",
        "runtimes/onnxruntime-1.22.2.post3-rocm/libonnxruntime_providers_rocm.so",
        "runtimes/.part/onnxruntime-1.40.0-cpu/libonnxruntime.so.1.40.0",
        "venv/site-packages/onnxruntime/capi/libonnxruntime.so.1.20.1",
        "venv/site-packages/onnxruntime/capi/libonnxruntime_providers_cuda.so",
        "venv/site-packages/onnxruntime_gpu-1.20.1.dist-info/RECORD",
        "venv/site-packages/onnxruntime_extensions-1.20.1.dist-info/RECORD",
        "user/site-packages/onnxruntime/capi/libonnxruntime.so",
        "user/site-packages/onnxruntime-1.15.0.dist-info/RECORD",
        "usr/lib/libonnxruntime.so.1.21.0",
    ]);
    tree.places.settings = Some(tree.path("settings"));
    tree.places.env_dylib = Some(tree.path("variable/libonnxruntime.so"));
    tree
}

#[test]
fn all_places_in_order() {
    insta::assert_snapshot!(full_tree().found().join("\n"), @r#"
    1.18.0 settings/libonnxruntime.so.1.18.0 Settings
    unknown version variable/libonnxruntime.so Variable
    1.31.0-cpu runtimes/onnxruntime-1.31.0-cpu/libonnxruntime.so.1.31.0 Own
    1.22.2.post3-rocm runtimes/onnxruntime-1.22.2.post3-rocm/libonnxruntime.so.1.22.2 Own
    1.9.0-cpu runtimes/onnxruntime-1.9.0-cpu/libonnxruntime.so.1.9.0 Own
    1.20.1-cuda venv/site-packages/onnxruntime/capi/libonnxruntime.so.1.20.1 Python
    1.15.0-cpu user/site-packages/onnxruntime/capi/libonnxruntime.so Python
    1.21.0 usr/lib/libonnxruntime.so.1.21.0 System
    "#);
}

#[cfg(unix)]
#[test]
fn links_are_no_second_library() {
    use std::os::unix::fs::symlink;
    let mut tree = Tree::new(&[
        "usr/lib/libonnxruntime.so.1.21.0",
        "usr/lib/libonnxruntime.so.1.21.0-gdb.py",
    ]);
    symlink(
        "libonnxruntime.so.1.21.0",
        tree.path("usr/lib/libonnxruntime.so.1"),
    )
    .unwrap();
    symlink(
        "libonnxruntime.so.1",
        tree.path("usr/lib/libonnxruntime.so"),
    )
    .unwrap();
    symlink("nowhere", tree.path("usr/lib/libonnxruntime.so.1.99.0")).unwrap();
    assert_eq!(
        tree.found(),
        ["1.21.0 usr/lib/libonnxruntime.so.1.21.0 System"]
    );
    // The same library by way of the variable is that one's, and keeps the version of its target.
    tree.places.env_dylib = Some(tree.path("usr/lib/libonnxruntime.so"));
    assert_eq!(tree.found(), ["1.21.0 usr/lib/libonnxruntime.so Variable"]);
}

#[test]
fn the_first_place_wins_unless_a_version_is_wanted() {
    let mut tree = full_tree();
    assert_eq!(tree.choose("").unwrap(), "1.18.0 Settings");
    tree.places.settings = None;
    assert_eq!(tree.choose("").unwrap(), "unknown version Variable");
    tree.places.env_dylib = None;
    assert_eq!(tree.choose("").unwrap(), "1.31.0-cpu Own");
    assert_eq!(tree.choose("1.20").unwrap(), "1.20.1-cuda Python");
    assert_eq!(tree.choose("1.20-cuda").unwrap(), "1.20.1-cuda Python");
    assert_eq!(tree.choose("1.22").unwrap(), "1.22.2.post3-rocm Own");
    assert_eq!(tree.choose("1.21.0").unwrap(), "1.21.0 System");
    assert!(tree.choose("1.2").is_err());
}

#[test]
fn a_setup_may_name_a_path() {
    let tree = full_tree();
    let choose = |path: &str| tree.choose(&tree.path(path).display().to_string());
    assert_eq!(
        choose("variable/libonnxruntime.so").unwrap(),
        "unknown version Setup"
    );
    assert_eq!(
        choose("runtimes/onnxruntime-1.9.0-cpu").unwrap(),
        "1.9.0-cpu Setup"
    );
    assert_eq!(choose("venv/site-packages").unwrap(), "1.20.1-cuda Setup");
    assert_eq!(
        tree.choose("libonnxruntime.so.1.21.0").unwrap(),
        "1.21.0 Setup"
    );
    insta::assert_snapshot!(choose("user").unwrap_err(), @"runtime=/user is a folder without an ONNX Runtime library (libonnxruntime.so*)");
    insta::assert_snapshot!(choose("lib").unwrap_err(), @"runtime=/lib is neither an existing library or folder nor a version; write a path, or a version such as 1.22 or 1.22-cuda");
}

#[test]
fn two_flavors_over_one_another_have_none() {
    let tree = Tree::new(&[
        "venv/site-packages/onnxruntime/capi/libonnxruntime.so.1.20.1",
        "venv/site-packages/onnxruntime_gpu-1.20.1.dist-info/RECORD",
        "venv/site-packages/onnxruntime-1.20.1.dist-info/RECORD",
    ]);
    assert_eq!(tree.choose("").unwrap(), "1.20.1 Python");
    tree.touch("user/site-packages/onnxruntime/capi/libonnxruntime.so.1.19.0");
    tree.touch("user/site-packages/onnxruntime_gpu-1.20.1.dist-info/RECORD");
    tree.touch("user/site-packages/onnxruntime-1.19.0.dist-info/RECORD");
    assert_eq!(tree.choose("1.19").unwrap(), "1.19.0-cpu Python");
}

#[test]
fn what_is_missing_is_said_with_the_way_to_get_it() {
    let mut tree = Tree::new(&["runtimes/onnxruntime-1.31.0-cpu/libonnxruntime.so.1.31.0"]);
    tree.places.env_dylib = Some(tree.path("gone.so"));
    insta::assert_snapshot!(tree.choose("1.22-cuda").unwrap_err(), @r#"
    no ONNX Runtime 1.22-cuda is installed; there are:
      1.31.0-cpu  /runtimes/onnxruntime-1.31.0-cpu/libonnxruntime.so.1.31.0 (Powerband's own folder)
      (ORT_DYLIB_PATH points to /gone.so, where there is none)
    to fetch it: powerband engines install onnxruntime --version 1.22 --flavor cuda
    "#);
    assert_eq!(tree.choose("1.31").unwrap(), "1.31.0-cpu Own");
    insta::assert_snapshot!(Tree::new(&[]).choose("1.22").unwrap_err(), @r#"
    no ONNX Runtime 1.22 is installed; nor is any other
    to fetch it: powerband engines install onnxruntime --version 1.22
    "#);
}

#[test]
fn a_pointer_to_nothing_is_an_error() {
    let mut tree = full_tree();
    tree.places.settings = None;
    tree.places.env_dylib = Some(tree.path("gone.so"));
    insta::assert_snapshot!(tree.choose("").unwrap_err(), @r#"
    no ONNX Runtime library is where ORT_DYLIB_PATH points: /gone.so
    correct or remove it to look elsewhere
    "#);
    tree.places.settings = Some(tree.path("settings"));
    assert_eq!(tree.choose("").unwrap(), "1.18.0 Settings");
}

#[test]
fn the_places_are_named_when_nothing_is_found() {
    let tree = Tree::new(&["usr/lib/libonnxruntime_providers_shared.so"]);
    insta::assert_snapshot!(tree.choose("").unwrap_err(), @r#"
    no ONNX Runtime library was found; looked at, in this order:
      the settings: not set
      ORT_DYLIB_PATH: not set
      Powerband's own folder: /runtimes
      Python environments: /venv/site-packages, /user/site-packages
      the system: /usr/lib
    to fetch one: powerband engines install onnxruntime
    "#);
}

#[test]
fn the_environment_adds_places() {
    let tree = Tree::new(&[
        "conda/lib/python3.12/site-packages/x",
        "venv2/lib/python3.11/site-packages/x",
    ]);
    let variable = |name: &str| match name {
        "ORT_DYLIB_PATH" => Some(OsString::new()),
        "VIRTUAL_ENV" => Some(tree.path("venv2").into_os_string()),
        "CONDA_PREFIX" => Some(tree.path("conda").into_os_string()),
        "LD_LIBRARY_PATH" => Some(OsString::from("/a::relative:/b")),
        _ => None,
    };
    let mut places =
        RuntimePlaces::from_variables(&Paths::under(&tree.path("home")), None, &variable);
    assert_eq!(places.env_dylib, None);
    assert_eq!(places.own, tree.path("home/runtimes"));
    let venv = tree.path("venv2/lib/python3.11/site-packages");
    places.add_site_packages([venv.clone(), PathBuf::from("/more")]);
    assert_eq!(
        places.site_packages,
        [
            venv,
            tree.path("conda/lib/python3.12/site-packages"),
            PathBuf::from("/more")
        ]
    );
    assert_eq!(
        places.system[..3],
        [
            PathBuf::from("/a"),
            PathBuf::from("/b"),
            tree.path("conda/lib")
        ]
    );
    assert!(places.system.contains(&PathBuf::from("/usr/lib")));
}
