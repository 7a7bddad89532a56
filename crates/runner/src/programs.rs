//! Which programs and libraries a plan would run, and whether its user knows them.
//!
//! A plan that was typed is its user's. One from a file, be it a session, a saved plan or a journal, may be anyone's:
//! it is run where each of its lines was started from this folder before, or is allowed by the user who saw it.

use crate::prepare_error::PrepareError;
use powerband_core::base::paths::Paths;
use powerband_core::domain::request::ProgramTrust;
use powerband_core::domain::setup::Setup;
use powerband_planning::engine_options::program_lines;
use powerband_store::programs::{self, folder, to_ask_for};

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
            let unknown = to_ask_for(paths, &program_lines(setups));
            if unknown.is_empty() {
                return Ok(None);
            }
            Err(PrepareError::Programs(unknown))
        }
        ProgramTrust::Typed => {
            let lines = program_lines(setups);
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
