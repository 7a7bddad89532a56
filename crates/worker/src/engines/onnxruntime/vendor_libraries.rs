//! Libraries of CUDA, cuDNN and TensorRT that pip installs into the same environment as ONNX Runtime. The system's
//! loader does not look there; but a library that is loaded already is found by its name.

use std::path::{Path, PathBuf};

/// Names up to the version, each after those that it needs itself.
const STEMS: [&str; 9] = [
    "libcudart.so.",
    "libnvrtc.so.",
    "libcublasLt.so.",
    "libcublas.so.",
    "libcurand.so.",
    "libcufft.so.",
    "libcudnn.so.",
    "libnvinfer.so.",
    "libnvonnxparser.so.",
];

/// Loads what a provider for NVIDIA's cards may need, from the environment that this ONNX Runtime is in. What does
/// not load is left out: the provider says itself what it misses.
pub(super) fn preload(runtime: &Path) {
    for library in libraries_beside(runtime) {
        drop(ort::util::preload_dylib(&library));
    }
}

fn libraries_beside(runtime: &Path) -> Vec<PathBuf> {
    let is_packages = |folder: &&Path| folder.ends_with("site-packages");
    let Some(packages) = runtime.ancestors().find(is_packages) else {
        return Vec::new();
    };
    let mut folders: Vec<PathBuf> = entries(&packages.join("nvidia"))
        .map(|package| package.join("lib"))
        .collect();
    folders.push(packages.join("tensorrt_libs"));
    let mut found: Vec<(usize, PathBuf)> = folders
        .iter()
        .flat_map(|folder| entries(folder))
        .filter_map(|path| Some((place_of(&path)?, path)))
        .collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// Which of the stems a file begins with; nothing but a version may follow.
fn place_of(path: &Path) -> Option<usize> {
    let name = path.file_name()?.to_str()?;
    STEMS.iter().position(|stem| {
        name.strip_prefix(stem)
            .is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let read = std::fs::read_dir(folder).into_iter().flatten();
    read.flatten().map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_the_same_environment_come_in_the_order_in_which_they_need_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let packages = folder.path().join("lib/python3.12/site-packages");
        for file in [
            "onnxruntime/capi/libonnxruntime.so.1.31.1",
            "nvidia/cu13/lib/libcublas.so.13",
            "nvidia/cu13/lib/libcublasLt.so.13",
            "nvidia/cu13/lib/libcublas.alt.so.13",
            "nvidia/cu13/lib/libcudart.so.13",
            "nvidia/cudnn/lib/libcudnn.so.9",
            "nvidia/cudnn/lib/libcudnn_graph.so.9",
            "nvidia/cudnn/include/libcudart.so.13",
            "tensorrt_libs/libnvinfer.so.10",
        ] {
            let path = packages.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let runtime = packages.join("onnxruntime/capi/libonnxruntime.so.1.31.1");
        let expected = [
            "nvidia/cu13/lib/libcudart.so.13",
            "nvidia/cu13/lib/libcublasLt.so.13",
            "nvidia/cu13/lib/libcublas.so.13",
            "nvidia/cudnn/lib/libcudnn.so.9",
            "tensorrt_libs/libnvinfer.so.10",
        ];
        assert_eq!(
            libraries_beside(&runtime),
            expected.map(|file| packages.join(file))
        );
        // None of these is a library: that is left to the provider, and ends nothing.
        preload(&runtime);
    }

    #[test]
    fn a_library_outside_of_python_has_none_beside_it() {
        assert!(libraries_beside(Path::new("/usr/lib/libonnxruntime.so.1")).is_empty());
    }
}
