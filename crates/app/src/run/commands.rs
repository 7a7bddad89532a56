//! Commands about the run.

use crate::App;
use crate::action::{Action, RunAction};
use crate::command::entry::{Command, command};

pub(crate) const ALL: &[Command] = &[
    command("start", "Start the run", "Ctrl+Enter", |app| {
        let can = app.bench.can_start();
        can.map(|()| Action::Run(RunAction::Start))
    }),
    command("queue", "Queue the plan behind the run", "", |app| {
        let can = app.bench.can_queue();
        can.map(|()| Action::Run(RunAction::Queue))
    }),
    command(
        "start-next",
        "Start the next plan of the queue",
        "",
        |app| {
            app.bench.can_start()?;
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
        |app| {
            let plan = &app.bench.planner.draft;
            let can = app.settings.can_detach(plan, &app.shared);
            can.map(|()| Action::Run(RunAction::Detach))
        },
    ),
    command("start-first", "Benchmark ResNet-50", "", |app| {
        let can = app.bench.can_start();
        can.map(|()| Action::Run(RunAction::StartFirst))
    }),
    command("pause", "Pause or resume", "Ctrl+Shift+P", |app| {
        running(app)?;
        let run = app.bench.run.as_ref();
        let paused = run.is_some_and(|run| run.control.is_paused());
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

fn running(app: &App) -> Result<(), &'static str> {
    let is_running = app.bench.is_running();
    is_running.then_some(()).ok_or("no run is in progress")
}
