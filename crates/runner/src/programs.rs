//! Which programs and libraries a plan would run, and whether its user knows them.
//!
//! A plan that was typed is its user's. One from a file, be it a session, a saved plan or a journal, may be anyone's:
//! it is run where each of its lines was started from this folder before, or is allowed by the user who saw it.

use std::env;
use std::path::PathBuf;

use crate::prepare_error::PrepareError;
use powerband_core::base::paths::Paths;
use powerband_core::domain::request::ProgramTrust;
use powerband_core::domain::setup::Setup;
use powerband_planning::engine_options;
use powerband_store::programs::{self, Programs};

/// The folder that programs are started from.
pub fn folder() -> PathBuf {
    env::current_dir().unwrap_or_default()
}

/// What setups would run or load, each line once: `command:cpu: run=python bench.py`.
pub fn lines(setups: &[Setup]) -> Vec<String> {
    let mut lines = Vec::new();
    for setup in setups {
        for program in engine_options::programs(setup) {
            let line = format!("{}: {program}", setup.engine);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

/// Lines with unknown programs that the user must allow before a plan from a file runs.
pub fn to_ask_for(paths: &Paths, setups: &[Setup]) -> Vec<String> {
    let lines = lines(setups);
    if lines.is_empty() {
        return lines;
    }
    Programs::read(paths).unknown(&folder(), &lines)
}

/// Refuses programs of a plan from a file that nobody knows, and remembers those of a plan that was typed. Returns
/// a warning where they cannot be remembered.
pub(super) fn check(
    paths: &Paths,
    setups: &[Setup],
    origin: ProgramTrust,
) -> Result<Option<String>, PrepareError> {
    match origin {
        ProgramTrust::Allowed => Ok(None),
        ProgramTrust::File => {
            let unknown = to_ask_for(paths, setups);
            if unknown.is_empty() {
                return Ok(None);
            }
            Err(PrepareError::Programs(unknown))
        }
        ProgramTrust::Typed => {
            let lines = lines(setups);
            if lines.is_empty() {
                return Ok(None);
            }
            let remembered = programs::remember(paths, &folder(), &lines);
            let why = remembered.err().map(|why| {
                format!(
                    "The programs of this plan cannot be remembered in {} ({why}): more rounds will ask for them.",
                    paths.programs.display()
                )
            });
            Ok(why)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setups(specs: &[&str]) -> Vec<Setup> {
        specs.iter().map(|spec| spec.parse().unwrap()).collect()
    }

    #[test]
    fn what_runs_or_loads_something_is_named() {
        let named = lines(&setups(&[
            "command,run=\"sh a.sh, b\"",
            "command,run=\"sh a.sh, b\",pattern=(?<ms>.)",
            "ort,library=/p.so,ep.backend_path=libQnnCpu.so,ep.device_type=CPU,threads=2",
            "ort,runtime=/tmp/x/libonnxruntime.so",
            "ort,runtime=1.22-cuda",
            "ort,runtime=folder",
            "torch,module=nets:tiny,python=/tmp/python",
            "rten,model=a.onnx",
        ]));
        assert_eq!(
            named,
            [
                "command: run=sh a.sh, b",
                "ort: ep.backend_path=libQnnCpu.so",
                "ort: library=/p.so",
                "ort: runtime=/tmp/x/libonnxruntime.so",
                "ort: runtime=folder",
                "torch: module=nets:tiny",
                "torch: python=/tmp/python",
            ]
        );
    }

    #[test]
    fn a_plan_from_a_file_runs_nothing_unknown() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::under(home.path());
        let plan = setups(&["command,run=\"touch owned\"", "rten"]);
        let refused = check(&paths, &plan, ProgramTrust::File)
            .unwrap_err()
            .to_string();
        for word in ["    command: run=touch owned", "--allow-commands"] {
            assert!(refused.contains(word), "{refused}");
        }
        assert!(check(&paths, &plan, ProgramTrust::Allowed).is_ok());
        assert!(
            check(&paths, &plan, ProgramTrust::File).is_err(),
            "that was for once"
        );
        assert!(matches!(
            check(&paths, &plan, ProgramTrust::Typed),
            Ok(None)
        ));
        assert!(check(&paths, &plan, ProgramTrust::File).is_ok());
        let changed = setups(&["command,run=\"touch owned2\"", "rten"]);
        assert!(check(&paths, &changed, ProgramTrust::File).is_err());
        assert!(check(&paths, &setups(&["rten"]), ProgramTrust::File).is_ok());
    }
}
