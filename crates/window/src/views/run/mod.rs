//! Run: the curve, the cases, the newest samples, the devices, and buttons to pause, skip and stop.

mod cases;
mod detached;
mod devices;

use eframe::egui::{self, ScrollArea, Ui, vec2};

use crate::icon;
use crate::shell::log;
use crate::theme::{self, space, text};
use crate::widgets::chart::{self, ChartOptions};
use crate::widgets::{button, label, marker, tip};
use powerband_app::App;
use powerband_app::action::{Action, RunAction, Sessions};
use powerband_app::run::{LiveRun, Stage};
use powerband_app::screen::Screen;
use powerband_app::sessions::{self, LIVE, SessionId};
use powerband_core::base::humanize;
use powerband_core::domain::outcome::SKIPPED;
use powerband_core::domain::session::Completion;

/// Width of the cards at the right.
const SIDE: f32 = 320.0;
/// Up to this width those cards stand in the one column.
const NARROW: f32 = 820.0;

/// Most height of the log.
const EVENTS: f32 = 170.0;
/// Its height at the side of a low window.
const EVENTS_LEAST: f32 = 64.0;

/// The strip of the current case's samples.
const STRIP_HEIGHT: f32 = 130.0;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(run) = &app.bench.run else {
        return empty(ui, app, actions);
    };
    header(ui, app, run, actions);
    ui.add_space(space::MEDIUM);
    if let (Stage::Refused(reason), None) = (&run.stage, &run.session) {
        return refused(ui, reason, actions);
    }
    // The scroll position belongs to its run, so that a new run starts at the top.
    ui.push_id(("run", app.bench.n_runs), |ui| body(ui, app, run, actions));
}

fn body(ui: &mut Ui, app: &App, run: &LiveRun, actions: &mut Vec<Action>) {
    super::scrolled(ui, |ui| {
        if ui.available_width() > NARROW {
            two_columns(ui, app, run, actions);
        } else {
            one_column(ui, app, run, actions);
        }
    });
}

fn two_columns(ui: &mut Ui, app: &App, run: &LiveRun, actions: &mut Vec<Action>) {
    super::columns(ui, app, actions, |ui, is_side, actions| {
        if is_side {
            visit(ui, run, actions);
            super::card(ui, |ui| devices::tiles(ui, run));
            super::card(ui, |ui| events(ui, run, EVENTS_LEAST));
            detached_runs(ui, app, actions);
        } else {
            super::card(ui, |ui| curve(ui, run));
            over_time(ui, run);
            super::card(ui, |ui| cases::show(ui, app, run, actions));
        }
    });
}

/// Cards that change by the second stand right below the curve, the long table last. The curve stays in
/// place when the run ends and the card of the current case disappears.
fn one_column(ui: &mut Ui, app: &App, run: &LiveRun, actions: &mut Vec<Action>) {
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = space::MEDIUM;
        super::card(ui, |ui| curve(ui, run));
        let whole = ui.available_width();
        if whole < 2.0 * SIDE + space::MEDIUM {
            visit(ui, run, actions);
            super::card(ui, |ui| devices::tiles(ui, run));
            super::card(ui, |ui| events(ui, run, EVENTS));
        } else {
            let half = vec2((whole - space::MEDIUM) / 2.0, 0.0);
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = space::MEDIUM;
                ui.allocate_ui(half, |ui| {
                    ui.vertical(|ui| {
                        visit(ui, run, actions);
                        super::card(ui, |ui| events(ui, run, EVENTS));
                    });
                });
                ui.allocate_ui(half, |ui| {
                    ui.vertical(|ui| super::card(ui, |ui| devices::tiles(ui, run)));
                });
            });
        }
        over_time(ui, run);
        super::card(ui, |ui| cases::show(ui, app, run, actions));
        detached_runs(ui, app, actions);
    });
}

/// Runs in jobs of Slurm, where there are any.
fn detached_runs(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if app.settings.detached.has_any() {
        super::card(ui, |ui| detached::show(ui, app, actions));
    }
}

/// The current case of a run in progress.
fn visit(ui: &mut Ui, run: &LiveRun, actions: &mut Vec<Action>) {
    if run.stage.is_going_on() {
        super::card(ui, |ui| current(ui, run, actions));
    }
}

fn over_time(ui: &mut Ui, run: &LiveRun) {
    if !run.lanes.is_empty() {
        super::card(ui, |ui| devices::over_time(ui, run));
    }
}

fn empty(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    super::tabs::leave_room(ui);
    ui.add_space(ui.available_height() * 0.25);
    ui.vertical_centered(|ui| {
        let elsewhere = app.bench.elsewhere_words();
        let sentence = if elsewhere.is_some() {
            "It is not shown here. Its session appears in the library when it ends."
        } else {
            "A run shows its results here."
        };
        let title = elsewhere.as_deref().unwrap_or("No run in progress");
        label::empty(ui, icon::RUN, title, sentence);
        if button::primary(ui, Some(icon::RUN), "Benchmark ResNet-50").clicked() {
            actions.push(Action::Run(RunAction::StartFirst));
        }
        ui.add_space(space::SMALL);
        if button::labelled(ui, None, "Make a plan…").clicked() {
            actions.push(Action::Go(Screen::Plan));
        }
    });
    ui.add_space(space::LARGE);
    detached_runs(ui, app, actions);
}

/// A run that did not start shows why.
fn refused(ui: &mut Ui, reason: &str, actions: &mut Vec<Action>) {
    ui.add_space(ui.available_height() * 0.25);
    ui.vertical_centered(|ui| {
        label::empty(ui, icon::WARNING, "The run did not start", reason);
        if button::primary(ui, Some(icon::PLAN), "Change the plan…").clicked() {
            actions.push(Action::Go(Screen::Plan));
        }
    });
}

fn header(ui: &mut Ui, app: &App, run: &LiveRun, actions: &mut Vec<Action>) {
    super::tabs::leave_room(ui);
    super::screen_header(ui, &run.title, &state_words(run), NARROW, |ui| {
        if run.stage.is_going_on() {
            control_buttons(ui, run, actions);
        } else if run.session.is_some() {
            after(ui, app, actions);
        }
    });
    if let Some(progress) = run.progress.as_ref().filter(|_| run.stage.is_going_on()) {
        ui.add_space(space::SMALL);
        let width = ui.available_width() - space::EDGE;
        progress_bar(ui, width, progress.share);
    }
}

/// How much of a run is done, as a thin bar.
pub(super) fn progress_bar(ui: &mut Ui, width: f32, share: f64) {
    let (rect, response) = ui.allocate_exact_size(vec2(width, 4.0), egui::Sense::hover());
    response.widget_info(|| egui::WidgetInfo::slider(true, share, "Progress"));
    let roles = theme::roles(ui);
    ui.painter().rect_filled(rect, 2.0, roles.line);
    let done = vec2(width * (share as f32).clamp(0.0, 1.0), 4.0);
    let done = egui::Rect::from_min_size(rect.min, done);
    ui.painter().rect_filled(done, 2.0, roles.accent);
}

pub(super) fn state_words(run: &LiveRun) -> String {
    let elapsed = humanize::clock_time(run.elapsed_ns() as f64 / 1e9);
    let left = run
        .left_words()
        .map(|left| format!(", {left}"))
        .unwrap_or_default();
    let cases = done_so_far(run);
    match &run.stage {
        Stage::Preparing => "Opening the model and looking for engines…".to_owned(),
        _ if run.is_pausing() => format!("Pausing after this round. {cases}{elapsed} so far"),
        Stage::Measuring => {
            let state = humanize::capitalised(run.state_words());
            // What is left comes first: on a narrow window the end is cut.
            format!("{state}{left}. {cases}{elapsed} so far")
        }
        Stage::Paused => format!("Paused. {cases}{elapsed} so far"),
        Stage::Stopping => "Stopping; measurements are saved".to_owned(),
        Stage::Saved(path) => format!("{}, saved to {}", ended(run, &elapsed), path.display()),
        Stage::NotSaved(reason) => format!("{}, not saved: {reason}", ended(run, &elapsed)),
        Stage::Refused(_) => "Did not start".to_owned(),
    }
}

/// Rounds of a case are spread over the run, so that most cases finish near its end.
fn done_so_far(run: &LiveRun) -> String {
    let (Some(progress), Some(tally)) = (&run.progress, run.tally()) else {
        return String::new();
    };
    let mut lost = String::new();
    for (cases, how) in [(tally.failed, "could not run"), (tally.skipped, SKIPPED)] {
        if cases > 0 {
            lost.push_str(&format!(", {cases} {how}"));
        }
    }
    let rounds = progress.rounds_text();
    let cases = humanize::pluralised(tally.cases as u64, "case");
    format!("{rounds} of {cases}{lost}, ")
}

/// How a run ended.
fn ended(run: &LiveRun, elapsed: &str) -> String {
    let completion = run.session.as_ref().map(|session| session.completion);
    if let (Some(Completion::Complete), Some(tally)) = (completion, run.tally()) {
        format!("Done in {elapsed}: {tally}")
    } else {
        format!("Stopped after {elapsed}")
    }
}

fn control_buttons(ui: &mut Ui, run: &LiveRun, actions: &mut Vec<Action>) {
    super::in_order(ui, 3, |ui, place| match place {
        0 => pause(ui, run, actions),
        1 => skip(ui, run, actions),
        _ => stop(ui, actions),
    });
}

pub(super) fn stop(ui: &mut Ui, actions: &mut Vec<Action>) {
    if button::labelled(ui, Some(icon::STOP), "Stop").clicked() {
        actions.push(Action::Run(RunAction::Stop));
    }
}

fn skip(ui: &mut Ui, run: &LiveRun, actions: &mut Vec<Action>) {
    let skip = run.current.as_ref().map(|_| ());
    let skip = skip.ok_or("no case is being measured");
    if button::plain_if(ui, skip, Some(icon::SKIP), "Skip this case").clicked() {
        actions.push(Action::Run(RunAction::SkipCurrent));
    }
}

pub(super) fn pause(ui: &mut Ui, run: &LiveRun, actions: &mut Vec<Action>) {
    if run.control.is_paused() {
        if button::primary(ui, Some(icon::RUN), "Resume").clicked() {
            actions.push(Action::Run(RunAction::Resume));
        }
    } else {
        let response = button::labelled(ui, Some(icon::PAUSE), "Pause");
        if response
            .on_hover_text("Pauses after the current round")
            .clicked()
        {
            actions.push(Action::Run(RunAction::Pause));
        }
    }
}

fn after(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let run = app.bench.run.as_ref();
    let became = run.and_then(|run| run.became);
    let session = became.filter(|id| app.shared.sessions.get(*id).is_some());
    let has_measured = run.is_some_and(LiveRun::has_measured);
    super::in_order(ui, 3, |ui, place| match (place, session) {
        (0, Some(session)) => again(ui, session, actions),
        (1, Some(_)) if has_measured => compare(ui, actions),
        (2, _) if has_measured => curves(ui, actions),
        _ => {}
    });
}

fn again(ui: &mut Ui, session: SessionId, actions: &mut Vec<Action>) {
    if button::labelled(ui, Some(icon::AGAIN), "Run again").clicked() {
        actions.push(Action::Sessions(Sessions::RunAgain(session)));
    }
}

fn compare(ui: &mut Ui, actions: &mut Vec<Action>) {
    if button::labelled(ui, None, "Compare").clicked() {
        actions.push(Action::Go(Screen::Compare));
    }
}

fn curves(ui: &mut Ui, actions: &mut Vec<Action>) {
    if button::primary(ui, Some(icon::CURVES), "Show curves").clicked() {
        actions.push(Action::Go(Screen::Curves));
    }
}

fn curve(ui: &mut Ui, run: &LiveRun) {
    let title = if run.stage.is_going_on() {
        "Throughput so far"
    } else {
        "Throughput"
    };
    label::card_title(ui, title);
    let Some(session) = &run.session else {
        ui.allocate_space(vec2(1.0, 260.0));
        return;
    };
    let setups = 0..session.plan.setups.len();
    let left_out = chart::left_out(ui, "live-throughput");
    let name = |setup: usize| {
        let own = Some(sessions::series(LIVE, setup));
        let notes = left_out.iter().filter(|one| one.series == own);
        let notes = notes.map(|one| format!(", {}", one.text));
        session.setup_label(setup) + &notes.collect::<String>()
    };
    marker::named_few(ui, setups.map(|setup| (run.colour(setup), name(setup))));
    if run.throughput.is_empty() {
        label::in_the_middle(ui, 240.0, "The first point appears after the first round.");
        return;
    }
    let look = ChartOptions {
        height: 250.0,
        highlighted: None,
        zooms: true,
        crosshair: false,
    };
    let touched = chart::show(ui, "live-throughput", &run.throughput, look);
    tip::of_point(&touched, &run.throughput);
}

fn current(ui: &mut Ui, run: &LiveRun, actions: &mut Vec<Action>) {
    label::card_title(ui, "Current case");
    match (&run.current, &run.session) {
        (Some((case, doing)), Some(session)) => {
            // A point of several dimensions has no room in the size of one number.
            let size = if case.point.others().next().is_some() {
                text::CARD
            } else {
                text::BIG
            };
            label::number(ui, &humanize::capitalised(&case.point.to_string()), size);
            label::quiet_line(ui, &format!("{}, {doing}", session.setup_label(case.setup)));
            waited(ui, run);
            if run.skipped.contains(case) {
                ui.horizontal(|ui| {
                    label::quiet(ui, "Skipped after this round.");
                    if button::labelled(ui, None, "Now").clicked() {
                        actions.push(Action::Run(RunAction::Skip(*case)));
                    }
                    if button::labelled(ui, None, "Take back").clicked() {
                        actions.push(Action::Run(RunAction::Unskip(*case)));
                    }
                });
            }
        }
        _ if run.stage == Stage::Preparing => {
            ui.spinner();
        }
        _ if run.stage.is_going_on() => {
            let aside = run.aside.as_deref();
            label::quiet(ui, aside.unwrap_or("Between two cases."));
            waited(ui, run);
        }
        _ => {}
    }
    ui.add_space(space::TINY);
    if run.strip.is_empty() {
        // As high as the strip, so that nothing below moves when it appears.
        label::in_the_middle(ui, STRIP_HEIGHT, "Samples appear with its first round.");
        return;
    }
    let look = ChartOptions {
        height: STRIP_HEIGHT,
        highlighted: None,
        zooms: false,
        crosshair: false,
    };
    chart::show(ui, "live-strip", &run.strip, look);
}

/// Duration of the current step, where it is long.
fn waited(ui: &mut Ui, run: &LiveRun) {
    if let Some(time) = run.waited() {
        label::quiet(ui, &format!("For {time} so far."));
    }
}

fn events(ui: &mut Ui, run: &LiveRun, least: f32) {
    label::card_title(ui, "Run log");
    ScrollArea::vertical()
        .id_salt("events")
        .min_scrolled_height(least)
        .max_height(EVENTS)
        .auto_shrink([false, true])
        .stick_to_bottom(true)
        .show(ui, |ui| {
            for line in run.log.iter().rev().take(60).rev() {
                log::run_line(ui, line.at_ns, &line.text, line.is_trouble);
            }
        });
}
