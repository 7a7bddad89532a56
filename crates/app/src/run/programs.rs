//! Programs that a plan would run: those that were not started from here before are shown, and asked for.
//!
//! In the window every plan counts as one from a file, also where it was typed: a plan that was opened, changed and
//! saved looks no different. A line is asked for once in each folder.

use super::ProgramsQuestion;
use crate::action::RunAction;
use crate::doors::BenchDoor;
use crate::notices::NoticeLevel;
use crate::sessions::Pin;
use crate::shared::Shared;
use powerband_core::domain::request::ProgramTrust;
use powerband_planning::engine_options::program_lines;
use powerband_store::programs::{self, remember};

impl BenchDoor {
    /// Asks for the programs of a run that are not known; returns whether it asked.
    pub(crate) fn asks_for_programs(&mut self, run: &RunAction, shared: &Shared) -> bool {
        let setups = match run {
            RunAction::Start | RunAction::Queue | RunAction::Detach => {
                self.planner.draft.request().map(|request| request.setups)
            }
            RunAction::More(id, _) | RunAction::Why(Pin { session: id, .. }, _) => {
                let open = shared.sessions.get(*id);
                Ok(open.map_or_else(Vec::new, |open| open.session.plan.setups.clone()))
            }
            RunAction::Again(before, after) => {
                let both = [before, after].map(|pick| shared.sessions.get(pick.session));
                let setups = both.into_iter().flatten();
                Ok(setups
                    .flat_map(|open| open.session.plan.setups.clone())
                    .collect())
            }
            RunAction::AgainInHistory(sides) => {
                let sides = sides.iter();
                let setups = sides.flat_map(|side| side.session.0.plan.setups.clone());
                Ok(setups.collect())
            }
            _ => return false,
        };
        let lines = programs::to_ask_for(
            &shared.place.paths,
            &program_lines(&setups.unwrap_or_default()),
        );
        let waits = *run == RunAction::Queue;
        if lines.is_empty() || (self.is_running() && !waits) {
            return false;
        }
        self.programs = Some(ProgramsQuestion {
            lines,
            folder: programs::folder().display().to_string(),
            run: run.clone(),
        });
        true
    }

    /// The answer.
    pub(crate) fn programs_answered(&mut self, are_allowed: bool, shared: &mut Shared) {
        let Some(question) = self.programs.take() else {
            return;
        };
        if !are_allowed {
            return shared.notify(NoticeLevel::Info, "The run was not started.");
        }
        // Prepared as what was typed, they are remembered. Rounds of a session are read from its file once more, which
        // may have changed since: then it is refused.
        match &question.run {
            RunAction::Start | RunAction::Queue | RunAction::Detach => {
                self.begin(&question.run, ProgramTrust::Typed, shared);
            }
            run => {
                let paths = &shared.place.paths;
                let remembered = remember(paths, &programs::folder(), &question.lines);
                if let Err(why) = remembered {
                    let text =
                        format!("The answer cannot be kept ({why}), so the run was not started.");
                    return shared.notify(NoticeLevel::Trouble, text);
                }
                self.begin(run, ProgramTrust::File, shared);
            }
        }
    }
}
