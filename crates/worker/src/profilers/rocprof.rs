//! `rocprof`, AMD's profiler of ROCm up to 6.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{STEM, Wrapper, ends, os_args};
use powerband_core::domain::plan::Profiler;

/// The profiler.
#[derive(Debug)]
pub(super) struct Rocprof;

impl Wrapper for Rocprof {
    fn profiler(&self) -> Profiler {
        Profiler::Rocprof
    }

    fn usual_folders(&self) -> &'static [&'static str] {
        &["/opt/rocm/bin"]
    }

    fn args(&self, folder: &Path) -> Vec<OsString> {
        let mut args = os_args(["--hip-trace", "--timestamp", "on", "-o"]);
        args.push(folder.join(format!("{STEM}.csv")).into());
        args
    }

    /// The timeline has all that the tables have; where only kernels were seen there is none.
    fn wanted(&self, files: Vec<PathBuf>) -> Vec<PathBuf> {
        let of = |test: &dyn Fn(&PathBuf) -> bool| -> Vec<PathBuf> {
            files.iter().filter(|path| test(path)).cloned().collect()
        };
        let timelines = of(&|path| ends(path, ".json"));
        if !timelines.is_empty() {
            return timelines;
        }
        of(&|path| ends(path, ".csv") && !ends(path, "stats.csv"))
    }
}
