//! Every command by name: what it is called, which keys it has, when it can be given, and what it does.
//!
//! The palette, the shortcuts and the settings screen read this one list.

use std::collections::BTreeMap;

use super::App;
use super::action::{
    Action, Compare, Curves, Figures, History, Journey, Kernels, Library, Machine, Run, Sessions,
    Shell, Timeline,
};
use super::allowed::{
    MOVE, NO_SELECTION, NO_SESSION, ZOOM, figure, hit, idle, move_limit, plan, report, run_again,
    running, shell, timeline, timeline_of_profile, with_last, with_selected,
};
use super::find::by_words;
use super::kernels::Shape;
use super::keys::Shortcut;
use super::machine::Pointed;
use super::plan::PlanEdit;
use super::screen::Screen;
use super::settings::Theme;
use crate::analysis::batch_curve::{Efficiency, Statistic};
use crate::analysis::breakdown::Level;
use crate::analysis::energy::EnergyKind;
use crate::domain::plan::PresetName;

/// A command.
pub struct Command {
    /// Its name in the settings file; never changed.
    pub id: &'static str,
    /// What people read.
    pub title: &'static str,
    /// The keys that it is delivered with; empty for none.
    pub keys: &'static str,
    /// What it does now, or why it cannot be done.
    pub act: fn(&App) -> Result<Action, &'static str>,
}

const fn command(
    id: &'static str,
    title: &'static str,
    keys: &'static str,
    act: fn(&App) -> Result<Action, &'static str>,
) -> Command {
    Command {
        id,
        title,
        keys,
        act,
    }
}

/// Every command.
pub const ALL: &[Command] = &[
    command("go-home", "Go to Home", "Ctrl+1", |_| {
        Ok(Action::Go(Screen::Home))
    }),
    command("go-plan", "Go to Plan", "Ctrl+2", |_| {
        Ok(Action::Go(Screen::Plan))
    }),
    command("go-run", "Go to Run", "Ctrl+3", |_| {
        Ok(Action::Go(Screen::Run))
    }),
    command("go-curves", "Go to Curves", "Ctrl+4", |_| {
        Ok(Action::Go(Screen::Curves))
    }),
    command("go-compare", "Go to Compare", "Ctrl+5", |_| {
        Ok(Action::Go(Screen::Compare))
    }),
    command("go-history", "Go to History", "Ctrl+6", |_| {
        Ok(Action::Go(Screen::History))
    }),
    command("go-journey", "Go to Journey", "Ctrl+7", |_| {
        Ok(Action::Go(Screen::Journey))
    }),
    command("go-kernels", "Go to Kernels", "Ctrl+8", |_| {
        Ok(Action::Go(Screen::Kernels))
    }),
    command("go-timeline", "Go to Timeline", "Ctrl+Shift+T", |_| {
        Ok(Action::Go(Screen::Timeline))
    }),
    command("go-library", "Go to Library", "Ctrl+9", |_| {
        Ok(Action::Go(Screen::Library))
    }),
    command("go-settings", "Go to Settings", "Ctrl+Comma", |_| {
        Ok(Action::Go(Screen::Settings))
    }),
    command("palette", "Find a command", "Ctrl+K", |app| {
        Ok(shell(Shell::Palette(!app.palette_open)))
    }),
    command("back", "Back out", "Escape", |_| Ok(Action::Back)),
    command("log", "Show the log", "Ctrl+L", |app| {
        Ok(shell(Shell::Log(!app.log_open)))
    }),
    command(
        "toggle-library",
        "Show or hide the library",
        "Ctrl+B",
        |_| Ok(shell(Shell::ToggleLibrary)),
    ),
    command("search", "Find a session", "Ctrl+F", |_| {
        Ok(Action::Library(Library::FocusSearch))
    }),
    command("theme-next", "Next theme", "", |_| {
        Ok(shell(Shell::NextTheme))
    }),
    command("theme-system", "Theme: as the system", "", |_| {
        Ok(shell(Shell::Theme(Theme::System)))
    }),
    command("theme-light", "Theme: light", "", |_| {
        Ok(shell(Shell::Theme(Theme::Light)))
    }),
    command("theme-dark", "Theme: dark", "", |_| {
        Ok(shell(Shell::Theme(Theme::Dark)))
    }),
    command("larger", "Everything larger", "Ctrl+Plus", |_| {
        Ok(shell(Shell::Zoom(1)))
    }),
    command("smaller", "Everything smaller", "Ctrl+Minus", |_| {
        Ok(shell(Shell::Zoom(-1)))
    }),
    command("normal-size", "Everything at its size", "Ctrl+0", |_| {
        Ok(shell(Shell::Zoom(0)))
    }),
    command("reset-shortcuts", "Reset all shortcuts", "", |_| {
        Ok(shell(Shell::ResetShortcuts))
    }),
    command("dismiss", "Dismiss the newest notice", "Ctrl+D", |app| {
        let shown = app.notices.newest_up().ok_or("there is no notice");
        shown.map(|_| shell(Shell::DismissNewest))
    }),
    command("close", "Close Powerband", "Ctrl+Q", |_| {
        Ok(shell(Shell::AskClose))
    }),
    command("rescan", "Look for engines again", "", |_| {
        Ok(Action::Machine(Machine::Rescan))
    }),
    command(
        "install-onnxruntime",
        "Install ONNX Runtime",
        "",
        |app| match &app.machine.installing {
            Some(_) => Err("it is being installed"),
            None => Ok(Action::Machine(Machine::InstallOnnxRuntime)),
        },
    ),
    command("stop-install", "Stop installing", "", |app| {
        let going_on = app
            .machine
            .installing
            .as_ref()
            .ok_or("nothing is being installed");
        going_on.map(|_| Action::Machine(Machine::StopInstall))
    }),
    command(
        "choose-onnxruntime",
        "Choose the library of ONNX Runtime…",
        "",
        |_| Ok(Action::Machine(Machine::Choose(Pointed::OnnxRuntime))),
    ),
    command(
        "choose-python",
        "Choose a Python interpreter…",
        "",
        |_| Ok(Action::Machine(Machine::Choose(Pointed::Python))),
    ),
    command("open", "Open files…", "Ctrl+O", |_| {
        Ok(Action::Sessions(Sessions::Choose))
    }),
    command("open-example", "Open the first example session", "", |_| {
        Ok(Action::Sessions(Sessions::OpenExample(0)))
    }),
    command("close-all", "Close all sessions", "Ctrl+Shift+W", |app| {
        if app.sessions.is_empty() {
            Err(NO_SESSION)
        } else {
            Ok(Action::Sessions(Sessions::CloseAll))
        }
    }),
    command("close-session", "Close the last session", "Ctrl+W", |app| {
        with_last(app, |id| Action::Sessions(Sessions::Close(id)))
    }),
    command(
        "save-as",
        "Save the last session as…",
        "Ctrl+Shift+S",
        |app| with_last(app, |id| Action::Sessions(Sessions::SaveAs(id, None))),
    ),
    command("report", "Write a report…", "Ctrl+Shift+E", report),
    command(
        "reload",
        "Read the last session again",
        "Ctrl+Shift+R",
        |app| with_last(app, |id| Action::Sessions(Sessions::Reload(id))),
    ),
    command("run-again", "Plan the last session again", "", run_again),
    command("start", "Start the run", "Ctrl+Enter", |app| {
        match idle(app) {
            Ok(()) => Ok(Action::Run(Run::Start)),
            Err(reason) => Err(reason),
        }
    }),
    command("start-first", "Benchmark ResNet-50", "", |app| {
        idle(app).map(|()| Action::Run(Run::StartFirst))
    }),
    command("pause", "Pause or go on", "Ctrl+Shift+P", |app| {
        running(app)?;
        let paused = app.run.as_ref().is_some_and(|run| run.control.is_paused());
        Ok(Action::Run(if paused { Run::Resume } else { Run::Pause }))
    }),
    command(
        "skip",
        "Skip the case being measured",
        "Ctrl+Shift+K",
        |app| running(app).map(|()| Action::Run(Run::SkipCurrent)),
    ),
    command("stop", "Stop the run", "Ctrl+Period", |app| {
        running(app).map(|()| Action::Run(Run::Stop))
    }),
    command("recover", "Recover interrupted runs", "", |_| {
        Ok(Action::Run(Run::Recover))
    }),
    // What is changed has to be seen: a plan that changes behind another screen is measured unnoticed.
    command("undo", "Undo", "Ctrl+Z", |app| match app.screen {
        Screen::Plan if app.planner.can_undo() => Ok(plan(PlanEdit::Undo)),
        Screen::Library if !app.library.discarded.is_empty() => {
            Ok(Action::Library(Library::Restore))
        }
        Screen::Plan | Screen::Library => Err("nothing to undo"),
        _ => Err("changes of the plan are undone on Plan, and the trash on Library"),
    }),
    command(
        "redo",
        "Redo in the plan",
        "Ctrl+Shift+Z",
        |app| match app.screen {
            Screen::Plan if app.planner.can_redo() => Ok(plan(PlanEdit::Redo)),
            Screen::Plan => Err("nothing to redo"),
            _ => Err("changes of the plan are done again on Plan"),
        },
    ),
    command("choose-model", "Choose an ONNX file…", "Ctrl+M", |_| {
        Ok(plan(PlanEdit::ChooseModel))
    }),
    command("add-setup", "Add a setup", "Ctrl+N", |app| {
        Ok(plan(PlanEdit::Add(app.next_setup())))
    }),
    command("preset-quick", "Preset: quick", "", |_| {
        Ok(plan(PlanEdit::Preset(PresetName::Quick)))
    }),
    command("preset-standard", "Preset: standard", "", |_| {
        Ok(plan(PlanEdit::Preset(PresetName::Standard)))
    }),
    command("preset-publish", "Preset: publish", "", |_| {
        Ok(plan(PlanEdit::Preset(PresetName::Publish)))
    }),
    command("keep-plan", "Keep this plan", "Ctrl+S", |_| {
        Ok(plan(PlanEdit::Keep))
    }),
    command("clear-plan", "Begin a new plan", "Ctrl+Shift+N", |_| {
        Ok(plan(PlanEdit::Clear))
    }),
    command(
        "plan-resnet50-case-study",
        "Plan: ResNet-50 case study",
        "",
        |_| Ok(plan(PlanEdit::Ladder("resnet50-case-study"))),
    ),
    command(
        "plan-densenet121-suite",
        "Plan: DenseNet-121 suite",
        "",
        |_| Ok(plan(PlanEdit::Ladder("densenet121-suite"))),
    ),
    command(
        "plan-everything",
        "Plan: Everything this machine can do",
        "",
        |_| Ok(plan(PlanEdit::Ladder("everything"))),
    ),
    command("median", "Curves: median", "", |_| {
        Ok(Action::Curves(Curves::Statistic(Statistic::Median)))
    }),
    command("mean", "Curves: mean", "", |_| {
        Ok(Action::Curves(Curves::Statistic(Statistic::Mean)))
    }),
    command("p99", "Curves: p99", "", |_| {
        Ok(Action::Curves(Curves::Statistic(Statistic::P99)))
    }),
    command(
        "log-latency",
        "Curves: logarithmic or linear latency",
        "Ctrl+Shift+L",
        |app| {
            let log = !app.curves.options.log_y;
            Ok(Action::Curves(Curves::LogLatency(log)))
        },
    ),
    command(
        "log-throughput",
        "Curves: logarithmic or linear throughput",
        "",
        |app| {
            let log = !app.curves.options.log_throughput;
            Ok(Action::Curves(Curves::LogThroughput(log)))
        },
    ),
    command("efficiency-best", "Curves: efficiency of best", "", |_| {
        Ok(Action::Curves(Curves::Efficiency(Efficiency::OfBest)))
    }),
    command(
        "efficiency-scaling",
        "Curves: scaling efficiency",
        "",
        |_| Ok(Action::Curves(Curves::Efficiency(Efficiency::Scaling))),
    ),
    command(
        "efficiency-busy",
        "Curves: busy share of the device",
        "",
        |_| Ok(Action::Curves(Curves::Efficiency(Efficiency::Busy))),
    ),
    command("efficiency-peak", "Curves: efficiency of peak", "", |_| {
        Ok(Action::Curves(Curves::Efficiency(Efficiency::OfPeak)))
    }),
    command("energy-gross", "Curves: energy per item", "", |_| {
        Ok(Action::Curves(Curves::Energy(EnergyKind::Gross)))
    }),
    command(
        "energy-net",
        "Curves: energy per item, net of idle",
        "",
        |_| Ok(Action::Curves(Curves::Energy(EnergyKind::Net))),
    ),
    command("energy-per-joule", "Curves: items per joule", "", |_| {
        Ok(Action::Curves(Curves::Energy(EnergyKind::PerJoule)))
    }),
    command("accuracy-next", "Curves: another accuracy", "", |app| {
        let next = app.curves.drawn.trade_off.next();
        let next = next.ok_or("no open session compared what its setups compute")?;
        Ok(Action::Curves(Curves::Quality(next)))
    }),
    command("graph-next", "Curves: another setup's graph", "", |app| {
        let next = app.curves.drawn.graph.next();
        let next = next.ok_or("no open session has an engine's graph")?;
        Ok(Action::Curves(Curves::Examined(next)))
    }),
    command(
        "limit",
        "Curves: set or remove the latency limit",
        "Ctrl+T",
        |app| {
            let limit = match app.curves.options.limit_ns {
                Some(_) => None,
                None => Some(app.suggested_limit_ns().ok_or(NO_SESSION)?),
            };
            Ok(Action::Curves(Curves::Limit(limit)))
        },
    ),
    command(
        "limit-up",
        "Curves: latency limit up",
        "Ctrl+ArrowUp",
        |app| move_limit(app, 1.1),
    ),
    command(
        "limit-down",
        "Curves: latency limit down",
        "Ctrl+ArrowDown",
        |app| move_limit(app, 1.0 / 1.1),
    ),
    command("show-all", "Curves: show every series", "", |_| {
        Ok(Action::Curves(Curves::ShowAll))
    }),
    command(
        "pin-next",
        "Curves: pin the next case",
        "Ctrl+ArrowRight",
        |_| Ok(Action::Curves(Curves::PinStep(1))),
    ),
    command(
        "pin-previous",
        "Curves: pin the previous case",
        "Ctrl+ArrowLeft",
        |_| Ok(Action::Curves(Curves::PinStep(-1))),
    ),
    command("unpin", "Curves: unpin", "", |app| match app.curves.pin {
        Some(_) => Ok(Action::Curves(Curves::Pin(None))),
        None => Err("no case is pinned"),
    }),
    command(
        "copy-table",
        "Copy the table",
        "Ctrl+Shift+C",
        |app| match app.screen {
            Screen::Compare => Ok(Action::Compare(Compare::CopyTable)),
            Screen::History => Ok(Action::History(History::CopyTable)),
            Screen::Journey => Ok(Action::Journey(Journey::CopyTable)),
            Screen::Kernels => Ok(Action::Kernels(Kernels::CopyTable)),
            _ => Ok(Action::Curves(Curves::CopyTable)),
        },
    ),
    command(
        "copy-picture",
        "Copy the picture of a chart",
        "Ctrl+I",
        |app| figure(app, Figures::CopyNear),
    ),
    command("save-figure", "Save a chart as…", "Ctrl+Shift+I", |app| {
        figure(app, Figures::SaveNear)
    }),
    command("kernels-category", "Kernels: by category", "", |_| {
        Ok(Action::Kernels(Kernels::Level(Level::Category)))
    }),
    command("kernels-operator", "Kernels: by operator", "", |_| {
        Ok(Action::Kernels(Kernels::Level(Level::Operator)))
    }),
    command("kernels-kernel", "Kernels: by kernel", "", |_| {
        Ok(Action::Kernels(Kernels::Level(Level::Kernel)))
    }),
    command("kernels-shape", "Kernels: bars or treemap", "", |app| {
        let next = match app.kernels.shape {
            Shape::Bars => Shape::Treemap,
            Shape::Treemap => Shape::Bars,
        };
        Ok(Action::Kernels(Kernels::Shape(next)))
    }),
    command("kernels-alone", "Kernels: compare with nothing", "", |_| {
        Ok(Action::Kernels(Kernels::Before(None)))
    }),
    command(
        "kernels-timeline",
        "Kernels: the timeline of this profile",
        "",
        timeline_of_profile,
    ),
    command(
        "more-rounds",
        "Compare: measure the rounds that are missing",
        "",
        |app| {
            let missing = app.compare.rounds_to_settle(&app.sessions);
            let (session, rounds) = missing.ok_or("more rounds would settle nothing here")?;
            Ok(Action::Run(Run::More(session, rounds)))
        },
    ),
    command(
        "swap",
        "Compare: swap before and after",
        "Ctrl+Shift+X",
        |app| match app.screen {
            Screen::Kernels => Ok(Action::Kernels(Kernels::Swap)),
            _ => Ok(Action::Compare(Compare::Swap)),
        },
    ),
    command("open-trace", "Open a trace…", "Ctrl+Shift+O", |_| {
        Ok(Action::Timeline(Timeline::Choose))
    }),
    command("timeline-closer", "Timeline: closer", "W", |app| {
        timeline(app, || Timeline::Zoom(1.0 / ZOOM))
    }),
    command("timeline-farther", "Timeline: farther away", "S", |app| {
        timeline(app, || Timeline::Zoom(ZOOM))
    }),
    command("timeline-earlier", "Timeline: earlier", "A", |app| {
        timeline(app, || Timeline::Move(-MOVE))
    }),
    command("timeline-later", "Timeline: later", "D", |app| {
        timeline(app, || Timeline::Move(MOVE))
    }),
    command("timeline-fit", "Timeline: fit the selection", "F", |app| {
        timeline(app, || Timeline::Fit)
    }),
    command(
        "timeline-whole",
        "Timeline: show everything",
        "Home",
        |app| timeline(app, || Timeline::Whole),
    ),
    command(
        "timeline-measure",
        "Timeline: measure by dragging",
        "M",
        |app| timeline(app, || Timeline::Measuring(!app.timeline.measures)),
    ),
    command(
        "timeline-partner",
        "Timeline: from a launch to its kernel, and back",
        "G",
        |app| {
            timeline(app, || Timeline::Partner)?;
            let partner = app.timeline.partner().ok_or("the selection has no partner");
            partner.map(|_| Action::Timeline(Timeline::Partner))
        },
    ),
    command(
        "timeline-find",
        "Timeline: find a name",
        "Ctrl+Shift+F",
        |app| timeline(app, || Timeline::FocusSearch),
    ),
    command("timeline-next", "Timeline: next hit", "F3", |app| {
        hit(app, true)
    }),
    command(
        "timeline-before",
        "Timeline: hit before",
        "Shift+F3",
        |app| hit(app, false),
    ),
    command("timeline-close", "Timeline: close the trace", "", |app| {
        let shown = app.timeline.shown.ok_or("no trace is open")?;
        Ok(Action::Timeline(Timeline::Close(shown)))
    }),
    command(
        "duplicate",
        "Library: duplicate the selected session",
        "",
        |app| with_selected(app, Library::Duplicate),
    ),
    command(
        "discard",
        "Library: move the selected session to the trash",
        "Ctrl+Delete",
        |app| with_selected(app, Library::Discard),
    ),
    command(
        "restore",
        "Library: bring back from the trash",
        "Ctrl+Shift+Delete",
        |app| {
            if app.library.discarded.is_empty() {
                Err("nothing was moved to the trash")
            } else {
                Ok(Action::Library(Library::Restore))
            }
        },
    ),
    command(
        "reveal",
        "Library: show the file of the selected session",
        "",
        |app| with_selected(app, Library::Reveal),
    ),
    command(
        "open-selected",
        "Library: open or close the selected session",
        "",
        |app| {
            let path = app.library.selected.clone().ok_or(NO_SELECTION)?;
            Ok(Action::Sessions(Sessions::Toggle(path)))
        },
    ),
];

/// The keys of a command: the user's, else those it is delivered with.
pub fn keys(command: &Command, changed: &BTreeMap<String, Option<Shortcut>>) -> Option<Shortcut> {
    match changed.get(command.id) {
        Some(own) => own.clone(),
        None => command.keys.parse().ok(),
    }
}

/// The command that has those keys already.
pub fn holder(
    keys_wanted: &Shortcut,
    changed: &BTreeMap<String, Option<Shortcut>>,
) -> Option<&'static Command> {
    ALL.iter()
        .find(|command| keys(command, changed).as_ref() == Some(keys_wanted))
}

/// Commands whose titles have the words, the closest first.
pub fn find(words: &str) -> Vec<&'static Command> {
    by_words(ALL.iter().collect(), |command| command.title, words)
}

#[cfg(test)]
mod tests;
