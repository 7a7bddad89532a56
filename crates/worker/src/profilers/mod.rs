//! Profilers that are programs of their own: started around a worker, they leave files that the importers
//! know.
//!
//! A new one is one file here, a line in [`ALL`] and a name in the plan.

mod nsys;
mod rocprof;
mod rocprofv3;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use powerband_core::base::paths;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::plan::Profiler;

/// What its files are called, with endings of its own.
const STEM: &str = "powerband";
/// How deep below its folder a profiler's files may lie.
const DEEPEST: usize = 4;

/// A profiler that is started around a worker.
pub trait Wrapper: Sync {
    /// Which one.
    fn profiler(&self) -> Profiler;

    /// Where it is usually installed, beside what is on the path.
    fn usual_folders(&self) -> &'static [&'static str];

    /// Its arguments; the command to watch follows them.
    fn args(&self, folder: &Path) -> Vec<OsString>;

    /// Which of the files that it left are to be read.
    fn wanted(&self, files: Vec<PathBuf>) -> Vec<PathBuf>;

    /// Whether the times in its files are on the clock of the workers.
    fn shares_clock(&self) -> bool {
        false
    }
}

/// Every one, best first.
pub static ALL: &[&dyn Wrapper] = &[&rocprofv3::Rocprofv3, &rocprof::Rocprof, &nsys::Nsys];

/// The wrapper of a profiler; nothing for the engine's own.
pub fn find(profiler: Profiler) -> Option<&'static dyn Wrapper> {
    ALL.iter()
        .copied()
        .find(|wrapper| wrapper.profiler() == profiler)
}

/// Where its program is, or what to do.
pub fn program(wrapper: &dyn Wrapper) -> Result<PathBuf, String> {
    let mut folders: Vec<PathBuf> =
        env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    folders.extend(wrapper.usual_folders().iter().map(PathBuf::from));
    let name = wrapper.profiler().name();
    env::join_paths(folders)
        .ok()
        .and_then(|search| paths::program_in(&search, name))
        .ok_or_else(|| format!("{name} is not on the path; install it, or add its folder to PATH"))
}

/// The worker's command with the profiler around it.
pub fn wrap_worker(
    wrapper: &dyn Wrapper,
    program: &Path,
    worker: ProcessSpec,
    folder: &Path,
) -> ProcessSpec {
    let mut args = wrapper.args(folder);
    args.push(worker.program.into());
    args.extend(worker.args);
    ProcessSpec {
        program: program.to_path_buf(),
        args,
        ..worker
    }
}

/// The files to read among those that it left.
pub fn files(wrapper: &dyn Wrapper, folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(folder, DEEPEST, &mut found);
    found.sort();
    wrapper.wanted(found)
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_file() {
            found.push(path);
        } else if depth > 0 && path.is_dir() {
            collect(&path, depth - 1, found);
        }
    }
}

/// Whether a file's name ends so.
fn ends(path: &Path, end: &str) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().ends_with(end))
}

fn os_args<const N: usize>(words: [&str; N]) -> Vec<OsString> {
    words.map(OsString::from).to_vec()
}

/// Profilers that are programs of their own and not here, each with what to do.
pub fn missing_profilers() -> Vec<(Profiler, String)> {
    let missing = |wrapper: &&dyn Wrapper| {
        let reason = program(*wrapper).err()?;
        Some((wrapper.profiler(), reason))
    };
    ALL.iter().filter_map(missing).collect()
}

#[cfg(test)]
mod tests {
    use powerband_core::base::process_spec::Script;

    use super::*;

    #[test]
    fn each_has_a_wrapper_but_the_engines_own() {
        for profiler in Profiler::ALL {
            let is_own = profiler == Profiler::Engine;
            assert_eq!(find(profiler).is_none(), is_own, "{profiler:?}");
        }
    }

    #[test]
    fn the_worker_comes_after_the_profilers_arguments_with_its_script_last() {
        let worker = ProcessSpec::new("/usr/bin/python3")
            .args(["-u"])
            .script(Script {
                name: "worker",
                files: &[("__main__.py", "pass")],
            });
        let wrapper = find(Profiler::Rocprofv3).expect("it is known");
        let spec = wrap_worker(
            wrapper,
            Path::new("/opt/rocm/bin/rocprofv3"),
            worker,
            Path::new("/f"),
        );
        let line = spec.command_line();
        assert!(line.starts_with("/opt/rocm/bin/rocprofv3 "), "{line}");
        assert!(line.contains("-d /f"), "{line}");
        assert!(line.ends_with("-- /usr/bin/python3 -u worker"), "{line}");
    }

    #[test]
    fn of_what_is_left_the_most_telling_files_are_read() {
        let of = |profiler, names: &[&str]| -> Vec<String> {
            let files = names.iter().map(PathBuf::from).collect();
            let wanted = find(profiler).expect("it is known").wanted(files);
            wanted
                .iter()
                .map(|path| path.display().to_string())
                .collect()
        };
        let v3 = [
            "a_agent_info.csv",
            "a_hip_api_trace.csv",
            "a_kernel_stats.csv",
            "a_kernel_trace.csv",
        ];
        assert_eq!(
            of(Profiler::Rocprofv3, &v3),
            [
                "a_agent_info.csv",
                "a_hip_api_trace.csv",
                "a_kernel_trace.csv"
            ]
        );
        assert_eq!(of(Profiler::Rocprofv3, &["a_results.db"]), ["a_results.db"]);
        let v1 = ["r.csv", "r.db", "r.json", "r.stats.csv", "r.sysinfo.txt"];
        assert_eq!(of(Profiler::Rocprof, &v1), ["r.json"]);
        assert_eq!(of(Profiler::Rocprof, &["r.csv", "r.stats.csv"]), ["r.csv"]);
        let nsys = ["a.nsys-rep", "a.sqlite"];
        assert_eq!(of(Profiler::Nsys, &nsys), ["a.sqlite"]);
    }
}
