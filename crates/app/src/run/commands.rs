//! Commands about the run.

use crate::App;
use crate::action::{Action, RunAction};
use crate::command::entry::{Command, command};

pub(crate) const ALL: &[Command] = &[
    command("start", "Start the run", "Ctrl+Enter", |app| {
        match idle(app) {
            Ok(()) => Ok(Action::Run(RunAction::Start)),
            Err(reason) => Err(reason),
        }
    }),
    command("queue", "Queue the plan behind the run", "", |app| {
        app.can_queue().map(|()| Action::Run(RunAction::Queue))
    }),
    command(
        "start-next",
        "Start the next plan of the queue",
        "",
        |app| {
            idle(app)?;
            if app.bench.queue.is_empty() {
                return Err("no plan waits");
            }
            Ok(Action::Run(RunAction::StartNext))
        },
    ),
    command(
        "detach",
        "Detach the run: measure in a job of Slurm",
        "",
        |app| app.can_detach().map(|()| Action::Run(RunAction::Detach)),
    ),
    command("start-first", "Benchmark ResNet-50", "", |app| {
        idle(app).map(|()| Action::Run(RunAction::StartFirst))
    }),
    command("pause", "Pause or resume", "Ctrl+Shift+P", |app| {
        running(app)?;
        let paused = app
            .bench
            .run
            .as_ref()
            .is_some_and(|run| run.control.is_paused());
        Ok(Action::Run(if paused {
            RunAction::Resume
        } else {
            RunAction::Pause
        }))
    }),
    command(
        "skip",
        "Skip the case being measured",
        "Ctrl+Shift+K",
        |app| running(app).map(|()| Action::Run(RunAction::SkipCurrent)),
    ),
    command("stop", "Stop the run", "Ctrl+Period", |app| {
        running(app).map(|()| Action::Run(RunAction::Stop))
    }),
    command("recover", "Recover interrupted runs", "", |_| {
        Ok(Action::Run(RunAction::Recover))
    }),
];

fn idle(app: &App) -> Result<(), &'static str> {
    if app.is_running() {
        Err("a run is in progress")
    } else {
        Ok(())
    }
}

fn running(app: &App) -> Result<(), &'static str> {
    if app.is_running() {
        Ok(())
    } else {
        Err("no run is in progress")
    }
}
