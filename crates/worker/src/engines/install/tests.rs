//! Wheels made up on the spot, and pip's own words.

use std::io::Write as _;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

const WHEEL: &str = "onnxruntime_gpu-1.31.1-cp311-cp311-manylinux_2_28_x86_64.whl";
const GOOD: &[(&str, &str)] = &[
    ("onnxruntime/capi/libonnxruntime.so.1.31.1", "library"),
    (
        "onnxruntime/capi/libonnxruntime_providers_cuda.so",
        "provider",
    ),
    ("onnxruntime/capi/libtbb.so.12", "its own"),
    (
        "onnxruntime/capi/onnxruntime_pybind11_state.cpython-311-x86_64-linux-gnu.so",
        "binding",
    ),
    ("onnxruntime/capi/_pybind_state.py", "python"),
    ("onnxruntime/LICENSE", "MIT"),
    ("onnxruntime/ThirdPartyNotices.txt", "many"),
    (
        "onnxruntime_gpu-1.31.1.dist-info/top_level.txt",
        "onnxruntime",
    ),
];

/// A folder with one wheel, and a folder of runtimes that is not there yet.
fn with_wheel(name: &str, entries: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let (download, runtimes) = (
        root.path().join("download"),
        root.path().join("a").join("runtimes"),
    );
    fs::create_dir(&download).unwrap();
    let mut zip = ZipWriter::new(File::create(download.join(name)).unwrap());
    for (entry, text) in entries {
        zip.start_file(*entry, SimpleFileOptions::default())
            .unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
    (root, download, runtimes)
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries.collect();
    names.sort();
    names
}

fn request(flavor: &str, version: Option<&str>) -> InstallRequest {
    InstallRequest {
        flavor: flavor.to_owned(),
        version: version.map(str::to_owned),
    }
}

#[test]
fn pip_is_asked_for_one_wheel() {
    let line = |flavor, version| {
        let spec = download(
            Path::new("python3"),
            &request(flavor, version),
            Path::new("/tmp/x"),
            false,
        );
        spec.map(|spec| spec.command_line())
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        line("cuda", Some("1.22")).unwrap(),
        "python3 -m pip download --no-deps --only-binary=:all: --disable-pip-version-check \
         --no-input --progress-bar off -d /tmp/x onnxruntime-gpu==1.22.*"
    );
    assert!(line("cpu", None).unwrap().ends_with(" onnxruntime"));
    assert!(
        line("cpu", Some("1.24.0.dev2"))
            .unwrap()
            .ends_with(" onnxruntime==1.24.0.dev2")
    );
    assert!(
        line("gpu", None)
            .unwrap_err()
            .contains("there are cpu, cuda, rocm")
    );
    for odd in ["", "1.", "-r x", "1.22 --pre", "1,<2", "latest"] {
        assert!(
            line("cpu", Some(odd))
                .unwrap_err()
                .contains("is not a version"),
            "{odd}"
        );
    }
}

#[test]
fn a_pip_that_can_tells_how_far_it_is() {
    assert!(tells_progress(
        "pip 25.1.1 from /usr/lib/python3/dist-packages/pip (python 3.13)\n"
    ));
    assert!(tells_progress("pip 24.1 from x"));
    for other in [
        "pip 24.0 from x",
        "pip 9.0.3 from x",
        "",
        "No module named pip",
    ] {
        assert!(!tells_progress(other), "{other}");
    }
    assert_eq!(
        parse_progress("Progress 262144 of 18017318"),
        Some((262_144, Some(18_017_318)))
    );
    assert_eq!(parse_progress("Progress 512 of 0"), Some((512, None)));
    for other in ["Collecting onnxruntime", "Progress", "Progress 1 of many"] {
        assert_eq!(parse_progress(other), None, "{other}");
    }
    let spec = download(
        Path::new("python3"),
        &request("cpu", None),
        Path::new("/x"),
        true,
    );
    assert!(spec.unwrap().command_line().contains("--progress-bar raw"));
}

#[test]
fn a_wheel_becomes_a_folder_of_libraries() {
    let (_root, download, runtimes) = with_wheel(WHEEL, GOOD);
    // What an earlier try left half done is replaced.
    let target = runtimes.join("onnxruntime-1.31.1-cuda");
    fs::create_dir_all(&target).unwrap();
    fs::write(target.join("half"), b"").unwrap();
    let found = unpack(&download, &runtimes, "cuda").unwrap();
    assert_eq!(found.path, target.join("libonnxruntime.so.1.31.1"));
    assert_eq!(
        (found.label().as_str(), found.origin),
        ("1.31.1-cuda", RuntimeOrigin::Own)
    );
    assert_eq!(
        names_in(&target),
        [
            "LICENSE",
            "ThirdPartyNotices.txt",
            "libonnxruntime.so.1.31.1",
            "libonnxruntime_providers_cuda.so",
            "libtbb.so.12"
        ]
    );
    assert_eq!(names_in(&runtimes), ["onnxruntime-1.31.1-cuda"]);
    let places = runtimes::RuntimePlaces {
        own: runtimes,
        ..Default::default()
    };
    assert_eq!(runtimes::choose(Some("1.31-cuda"), &places).unwrap(), found);
}

#[test]
fn entries_that_point_elsewhere_are_left() {
    let evil = [
        ("../../x", "evil"),
        ("../../capi/libx.so", "evil"),
        ("../LICENSE", "evil"),
        ("/etc/libx.so", "evil"),
        ("onnxruntime/capi/..", "evil"),
        ("onnxruntime/capi/../libx.so", "evil"),
    ];
    let (root, download, runtimes) = with_wheel(WHEEL, &[&evil, GOOD].concat());
    let found = unpack(&download, &runtimes, "cuda").unwrap();
    assert_eq!(names_in(root.path()), ["a", "download"]);
    assert_eq!(names_in(&root.path().join("a")), ["runtimes"]);
    assert_eq!(names_in(&runtimes), ["onnxruntime-1.31.1-cuda"]);
    assert_eq!(names_in(found.path.parent().unwrap()).len(), 5);
    for (entry, _) in evil {
        assert_eq!(wanted_file(entry), None, "{entry}");
    }
}

#[test]
fn a_failed_install_leaves_what_was_there() {
    let (_root, download, runtimes) = with_wheel(WHEEL, &GOOD[3..]);
    let target = runtimes.join("onnxruntime-1.31.1-cuda");
    fs::create_dir_all(&target).unwrap();
    fs::write(target.join("libonnxruntime.so.1.31.1"), b"old").unwrap();
    let fault = |flavor| {
        unpack(&download, &runtimes, flavor)
            .unwrap_err()
            .to_string()
    };
    assert!(fault("cuda").contains("no ONNX Runtime library for this system is in"));
    assert!(fault("cpu").contains("pip brought no wheel of onnxruntime to"));
    assert!(fault("gpu").contains("no flavor \"gpu\""));
    fs::write(
        download.join(WHEEL),
        b"<html>Log in to the network first</html>",
    )
    .unwrap();
    let error = unpack(&download, &runtimes, "cuda").unwrap_err();
    assert!(matches!(error, InstallError::BadWheel { .. }), "{error:?}");
    assert_eq!(names_in(&runtimes), ["onnxruntime-1.31.1-cuda"]);
    assert_eq!(
        fs::read(target.join("libonnxruntime.so.1.31.1")).unwrap(),
        b"old"
    );
}

#[test]
fn flavors_are_known_to_the_search() {
    for flavor in FLAVORS {
        let site = tempfile::tempdir().unwrap();
        let library = site
            .path()
            .join("onnxruntime")
            .join("capi")
            .join("libonnxruntime.so.1.30.0");
        fs::create_dir_all(library.parent().unwrap()).unwrap();
        fs::write(&library, b"").unwrap();
        let distribution = flavor.package.replace('-', "_");
        fs::create_dir(site.path().join(format!("{distribution}-1.30.0.dist-info"))).unwrap();
        assert_eq!(
            FoundRuntime::from_path(&library, RuntimeOrigin::Python)
                .flavor
                .as_deref(),
            Some(flavor.id)
        );
    }
}

#[test]
fn failures_of_pip_in_plain_words() {
    let explain = |stderr: &str| explain_pip_failure(stderr, &request("cuda", Some("1.99")));
    let none = "ERROR: No matching distribution found for onnxruntime-gpu==1.99.*\n";
    let no_match = |versions: &str| {
        format!(
            "ERROR: Could not find a version that satisfies the requirement onnxruntime-gpu==1.99.* (from versions: {versions})\n{none}"
        )
    };
    let many =
        "1.15.0, 1.16.0, 1.17.0, 1.18.0, 1.19.0, 1.20.0, 1.21.0, 1.22.0, 1.23.0.dev2025, 1.24.0";
    insta::assert_snapshot!(explain(&no_match(many)), @"there is no onnxruntime-gpu 1.99 for this Python; there are 1.24.0, 1.22.0, 1.21.0, 1.20.0, 1.19.0, 1.18.0, 1.17.0, 1.16.0 and 1 older");
    let ignored = "ERROR: Ignored the following versions that require a different python version: \
                   1.98.0 Requires-Python >=3.10; 1.99.0 Requires-Python >=3.15\n";
    insta::assert_snapshot!(explain(&format!("{ignored}{}", no_match("1.15.0"))), @"onnxruntime-gpu 1.99 exists, but not for this Python; name another one in POWERBAND_PYTHON");
    insta::assert_snapshot!(explain(&no_match("none")), @"pip finds no onnxruntime-gpu 1.99 built for this Python and this kind of machine: the Python may be too new or too old (name another one in POWERBAND_PYTHON), the flavor may not exist for this system, or the package index was out of reach");
    let retry = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('x')': /simple/\n";
    insta::assert_snapshot!(explain(&format!("{retry}{}", no_match("none"))), @"pip could not reach the package index to fetch onnxruntime-gpu 1.99; check the network and pip's proxy settings, or copy a library here and name it with runtime=PATH or ORT_DYLIB_PATH (pip says: WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('x')': /simple/)");
    insta::assert_snapshot!(explain("/usr/bin/python3: No module named pip\n"), @r#"this Python has no pip to fetch onnxruntime-gpu 1.99 with; add it with "python3 -m ensurepip" or "apt install python3-pip", or name another Python in POWERBAND_PYTHON"#);
    insta::assert_snapshot!(explain("ERROR: Could not install: [Errno 28] No space left on device\n"), @"the disk is full; onnxruntime-gpu 1.99 was not fetched");
    insta::assert_snapshot!(explain("Traceback\nERROR: a surprise\n\n  note\n"), @"pip could not fetch onnxruntime-gpu 1.99: a surprise");
    insta::assert_snapshot!(explain_pip_failure("", &request("cpu", None)), @"pip could not fetch onnxruntime: it did not say why");
}
