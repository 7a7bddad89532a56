//! `nsys`, the command line of NVIDIA's Nsight Systems.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{STEM, Wrapper, ends, os_args};
use powerband_core::domain::plan::Profiler;

/// The profiler.
#[derive(Debug)]
pub(super) struct Nsys;

impl Wrapper for Nsys {
    fn profiler(&self) -> Profiler {
        Profiler::Nsys
    }

    fn usual_folders(&self) -> &'static [&'static str] {
        &["/usr/local/cuda/bin", "/opt/nvidia/nsight-systems/bin"]
    }

    fn args(&self, folder: &Path) -> Vec<OsString> {
        // Sampling of the processor takes rights that few have, and is not asked for.
        let mut args = os_args([
            "profile",
            "--trace=cuda,nvtx",
            "--sample=none",
            "--cpuctxsw=none",
            "--export=sqlite",
            "--force-overwrite=true",
            "--output",
        ]);
        args.push(folder.join(STEM).into());
        args
    }

    fn wanted(&self, files: Vec<PathBuf>) -> Vec<PathBuf> {
        files
            .into_iter()
            .filter(|path| ends(path, ".sqlite"))
            .collect()
    }
}
