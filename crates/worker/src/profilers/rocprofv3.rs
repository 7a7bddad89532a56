//! `rocprofv3`, AMD's profiler of ROCm 6.2 and later.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{STEM, Wrapper, ends, os_args};
use powerband_core::domain::plan::Profiler;

/// The profiler.
#[derive(Debug)]
pub(super) struct Rocprofv3;

impl Wrapper for Rocprofv3 {
    fn profiler(&self) -> Profiler {
        Profiler::Rocprofv3
    }

    fn usual_folders(&self) -> &'static [&'static str] {
        &["/opt/rocm/bin"]
    }

    fn args(&self, folder: &Path) -> Vec<OsString> {
        let mut args = os_args([
            "--kernel-trace",
            "--memory-copy-trace",
            "--hip-runtime-trace",
            "--output-format",
            "csv",
            "-o",
            STEM,
            "-d",
        ]);
        args.push(folder.into());
        // What follows is the program, whatever its arguments look like.
        args.push("--".into());
        args
    }

    fn wanted(&self, files: Vec<PathBuf>) -> Vec<PathBuf> {
        let is_table = |path: &PathBuf| ends(path, ".csv") && !ends(path, "_stats.csv");
        let tables: Vec<PathBuf> = files
            .iter()
            .filter(|path| is_table(path))
            .cloned()
            .collect();
        if tables.is_empty() {
            // Some releases write databases whatever the options say.
            return files.into_iter().filter(|path| ends(path, ".db")).collect();
        }
        tables
    }

    fn shares_clock(&self) -> bool {
        true
    }
}
