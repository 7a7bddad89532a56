//! What actions do. The only file that changes the application on a user's request.

mod figures;
mod kernels;
mod library;
mod machine;
mod reports;
mod run;
mod sessions;
mod timeline;

use std::path::PathBuf;
use std::sync::Arc;

use crate::action::{
    Action, Closing, Compare, Curves, History, Journey, Kernels, Run, Sessions, Shell,
};
use crate::compare::CompareState;
use crate::curves::Pinned;
use crate::inbox::{FindingMessage, Message, PlanMessage, SessionMessage};
use crate::notices::Weight;
use crate::plan::{Draft, ModelFacts, PlanEdit};
use crate::screen::Screen;
use crate::sessions::{LIVE, Pin, SessionId};
use crate::settings::ZOOM_STEPS;
use crate::{App, Ask, Output, plans, work};
use powerband_core::base::humanize;
use powerband_findings::analysis::{case_outliers, reported_stats, run_phases};
use powerband_findings::chart::limit::within_reach;
use powerband_findings::chart::{lanes, samples};
use powerband_measure::runner::ladders;

/// Buckets of a strip: more than any screen has columns for it.
const STRIP_BUCKETS: usize = 1_000;

/// What of the curves screen has to be made anew.
enum Part {
    /// The charts that know the latency limit.
    Charts,
    /// The same, on the latency axis as it is.
    HeldCharts,
    AllCharts,
    Cards,
    Table,
    All,
}

impl App {
    /// Does what was asked for.
    pub fn act(&mut self, action: Action) {
        match action {
            Action::Go(screen) => self.go(screen),
            Action::Back => self.back(),
            Action::Shell(shell) => self.shell(shell),
            Action::Machine(machine) => self.machine(machine),
            Action::Plan(edit) => self.plan(edit),
            Action::Run(run) => self.run(&run),
            Action::Sessions(sessions) => self.sessions(sessions),
            Action::Curves(curves) => self.curves(curves),
            Action::Compare(compare) => self.compare(&compare),
            Action::History(history) => self.history(&history),
            Action::Journey(journey) => self.journey(&journey),
            Action::Kernels(kernels) => self.kernels(kernels),
            Action::OpenTrace(path) => self.open_traces(vec![path]),
            Action::Timeline(change) => self.timeline(change),
            Action::Library(library) => self.library(library),
            Action::Figures(change) => self.figures(change),
            Action::Report(subject, path) => self.report(subject, path),
        }
    }

    fn go(&mut self, screen: Screen) {
        self.screen = screen;
        if screen == Screen::History {
            // The library may have other sessions by now.
            self.history.is_stale = true;
            self.follow_if_wanted();
        }
        self.compare_steps_if_wanted();
        self.add_up_if_wanted();
    }

    fn journey(&mut self, change: &Journey) {
        match change {
            Journey::Look(looking) => {
                self.journey.looking = Some(*looking);
                self.journey.is_chosen = true;
                self.compare_steps_if_wanted();
            }
            Journey::CopyTable => {
                if let Some(text) = self.journey.table_text() {
                    self.outputs.push(Output::Copy(text));
                    self.say(Weight::Done, "Copied the steps to the clipboard");
                }
            }
        }
    }

    fn history(&mut self, change: &History) {
        match change {
            History::Follow(following) => {
                self.history.following = Some(*following);
                self.follow_if_wanted();
            }
            History::CopyTable => {
                if let Some(text) = self.history.table_text() {
                    self.outputs.push(Output::Copy(text));
                    self.say(Weight::Done, "Copied the history to the clipboard");
                }
            }
        }
    }

    /// Out of the innermost thing that is open.
    fn back(&mut self) {
        if self.palette_open {
            self.palette_open = false;
        } else if self.closing {
            self.closing = false;
        } else if self.log_open {
            self.log_open = false;
        } else if let Some(id) = self.notices.newest_up() {
            self.notices.dismiss(id);
        } else if self.screen == Screen::Curves && self.curves.pin.is_some() {
            self.curves(Curves::Pin(None));
        } else if self.screen == Screen::Curves && !self.curves.filter.is_empty() {
            self.curves(Curves::Filter(String::new()));
        } else if self.screen == Screen::Kernels && !self.kernels.filter().words.is_empty() {
            self.kernels(Kernels::Filter(String::new()));
        } else if self.screen == Screen::Timeline && self.leaves_selection() {
            // It was all there was to leave.
        } else if !self.library.search.is_empty() {
            self.library.search(String::new());
        } else if self.library.selected.is_some() && self.screen == Screen::Library {
            self.library.selected = None;
        } else {
            self.screen = Screen::Home;
        }
    }

    fn shell(&mut self, shell: Shell) {
        match shell {
            Shell::Palette(open) => self.palette_open = open,
            Shell::Log(open) => self.log_open = open,
            Shell::ToggleLibrary => {
                self.show_library(!self.shows_library());
            }
            Shell::Theme(theme) => self.remembered.theme = theme,
            Shell::NextTheme => self.remembered.theme = self.remembered.theme.next(),
            Shell::Watching(watching) => self.remembered.watching = watching,
            Shell::Zoom(0) => self.remembered.zoom_steps = 0,
            Shell::Zoom(by) => {
                let steps = self.remembered.zoom_steps.saturating_add(by);
                self.remembered.zoom_steps = steps.clamp(*ZOOM_STEPS.start(), *ZOOM_STEPS.end());
            }
            Shell::Shortcut(id, keys) => {
                self.remembered.shortcuts.insert(id.to_owned(), keys);
            }
            Shell::ResetShortcuts => self.remembered.shortcuts.clear(),
            Shell::Dismiss(id) => self.notices.dismiss(id),
            Shell::DismissNewest => {
                if let Some(id) = self.notices.newest_up() {
                    self.notices.dismiss(id);
                }
            }
            Shell::Copy(text) => {
                self.outputs.push(Output::Copy(text));
                self.say(Weight::Done, "Copied to the clipboard");
            }
            Shell::Cursor(field) => self.outputs.push(Output::Cursor(field)),
            Shell::AskClose if self.is_running() => self.closing = true,
            Shell::AskClose => self.outputs.push(Output::Close),
            Shell::Close(closing) => self.close(closing),
        }
    }

    fn close(&mut self, closing: Closing) {
        self.closing = false;
        if closing == Closing::Stay {
            return;
        }
        let Some(run) = self.run.as_mut().filter(|run| run.stage.is_going_on()) else {
            self.outputs.push(Output::Close);
            return;
        };
        run.close_after = true;
        if closing == Closing::Finish {
            run.control.resume();
            self.outputs.push(Output::Hide);
        } else {
            self.run(&Run::Stop);
        }
    }

    fn plan(&mut self, edit: PlanEdit) {
        let model = self.planner.draft.model.clone();
        match &edit {
            PlanEdit::ChooseModel => self.outputs.push(Output::Ask(Ask::Model)),
            PlanEdit::Keep => self.keep_plan(),
            PlanEdit::Use(path) => {
                let kept = self.planner.kept.iter().find(|(kept, _)| kept == path);
                if let Some((_, draft)) = kept {
                    let draft = draft.clone();
                    self.planner.replace(draft);
                }
            }
            PlanEdit::Ladder(id) => {
                if let Ok(ladder) = ladders::find(id) {
                    let request = ladder.request(&self.machine.here());
                    self.planner.replace(Draft::of_request(&request));
                }
            }
            PlanEdit::First => {
                let request = self.first_request();
                self.planner.replace(Draft::of_request(&request));
            }
            PlanEdit::Forget(path) => {
                let (path, paths) = (path.clone(), self.place.paths.clone());
                let kept = self.planner.kept.iter().find(|(kept, _)| *kept == path);
                let title = kept.map_or_else(String::new, |(_, draft)| plans::title(draft));
                self.jobs.spawn("forget-plan", move |outlet| {
                    work::discard(&paths, path, format!("The plan {title}"), outlet);
                    outlet.send(Message::Plan(PlanMessage::Saved(plans::list(
                        &plans::folder(&paths),
                    ))));
                });
            }
            _ => {}
        }
        if let PlanEdit::Use(_)
        | PlanEdit::Ladder(_)
        | PlanEdit::First
        | PlanEdit::Clear
        | PlanEdit::Add(_) = edit
        {
            self.screen = Screen::Plan;
        }
        self.planner.edit(edit);
        if self.planner.draft.model != model {
            self.inspect_model();
        }
    }

    /// The plan of a session becomes the plan.
    pub(super) fn plan_found(&mut self, found: Result<Draft, String>) {
        match found {
            Ok(draft) => {
                self.planner.replace(draft);
                self.screen = Screen::Plan;
                self.inspect_model();
            }
            Err(reason) => self.say(Weight::Trouble, format!("{reason}.")),
        }
    }

    fn keep_plan(&self) {
        let (paths, draft) = (self.place.paths.clone(), self.planner.draft.clone());
        self.jobs.spawn("keep-plan", move |outlet| {
            outlet.send(match plans::keep_instead(&paths, &draft) {
                Ok(done) => Message::Done(done),
                Err(error) => Message::Failed(format!("The plan is not kept: {error}")),
            });
            outlet.send(Message::Plan(PlanMessage::Saved(plans::list(
                &plans::folder(&paths),
            ))));
        });
    }

    pub(super) fn list_plans(&self) {
        let folder = plans::folder(&self.place.paths);
        self.jobs.spawn("plans", move |outlet| {
            outlet.send(Message::Plan(PlanMessage::Saved(plans::list(&folder))));
        });
    }

    pub(super) fn inspect_model(&mut self) {
        self.learn_if_wanted();
        let name = self.planner.draft.model.trim().to_owned();
        if name.is_empty() {
            self.planner.facts = ModelFacts::Unknown;
            return;
        }
        self.planner.facts = ModelFacts::Reading;
        let paths = self.place.paths.clone();
        self.jobs.spawn("inspect-model", move |outlet| {
            work::inspect_model(name, &paths, outlet);
        });
    }

    fn sessions(&mut self, sessions: Sessions) {
        let opens = matches!(
            sessions,
            Sessions::Open(_)
                | Sessions::OpenExample(_)
                | Sessions::OpenOnly(_)
                | Sessions::Toggle(_)
        );
        self.shows_opened = opens;
        match sessions {
            Sessions::Choose => self.outputs.push(Output::Ask(Ask::Open)),
            Sessions::Open(paths) => self.open_files(paths),
            Sessions::OpenExample(place) => self.open_example(place),
            Sessions::OpenOnly(path) => {
                self.sessions(Sessions::CloseAll);
                self.open_session(path);
            }
            Sessions::Toggle(path) => match self.sessions.by_path(&path).map(|open| open.id) {
                Some(id) => self.close_session(id),
                None => self.open_session(path),
            },
            Sessions::Close(id) => self.close_session(id),
            Sessions::CloseAll => {
                let ids: Vec<SessionId> = self
                    .sessions
                    .iter()
                    .map(|open| open.id)
                    .filter(|id| *id != LIVE)
                    .collect();
                for id in ids {
                    self.close_session(id);
                }
            }
            Sessions::Reload(id) => {
                if let Some(path) = self.sessions.get(id).and_then(|open| open.path.clone()) {
                    self.read_session(id, path);
                }
            }
            Sessions::RunAgain(id) => {
                if let Some(open) = self.sessions.get(id) {
                    let found = Draft::again(&open.session);
                    self.plan_found(found);
                }
            }
            Sessions::RunFileAgain(path) => {
                self.jobs
                    .spawn("plan", move |outlet| work::plan_of(&path, outlet));
            }
            Sessions::SaveAs(id, path) => self.save_as(id, path),
        }
    }

    /// Sessions are opened; an ONNX file becomes the plan's model, and any other file is one of another
    /// tool.
    fn open_files(&mut self, paths: Vec<PathBuf>) {
        let mut traces = Vec::new();
        for path in paths {
            let ends_with = |wanted: &str| {
                path.extension()
                    .is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
            };
            if ends_with("onnx") {
                self.screen = Screen::Plan;
                self.plan(PlanEdit::Model(path.display().to_string()));
            } else if ends_with("ron") {
                self.open_session(path);
            } else {
                traces.push(path);
            }
        }
        if !traces.is_empty() {
            self.open_traces(traces);
        }
    }

    pub(super) fn open_session(&mut self, path: PathBuf) {
        if self.sessions.by_path(&path).is_some() {
            return self.go_to_opened();
        }
        if self.opening.values().any(|opening| *opening == path) {
            return;
        }
        let id = self.sessions.new_id();
        self.opening.insert(id, path.clone());
        self.read_session(id, path);
    }

    fn read_session(&self, id: SessionId, path: PathBuf) {
        let file = path.clone();
        let broken = move |why| Message::Session(SessionMessage::NotOpened(file.clone(), why));
        self.jobs.spawn_or("open", broken, move |outlet| {
            work::open(id, path, outlet);
        });
    }

    fn close_session(&mut self, id: SessionId) {
        self.sessions.close(id);
        self.examples.remove(&id);
        self.curves.forget(id);
        self.close_traces_of(id);
        self.sessions_changed();
    }

    fn curves(&mut self, change: Curves) {
        let part = match change {
            Curves::Limit(_) => Part::Charts,
            Curves::DragLimit(_) => Part::HeldCharts,
            Curves::Pin(_) | Curves::PinStep(_) => Part::AllCharts,
            Curves::Quality(_) | Curves::At(_) | Curves::Examined(_) => Part::Cards,
            Curves::Sort(_) | Curves::Filter(_) => Part::Table,
            _ => Part::All,
        };
        let state = &mut self.curves;
        match change {
            Curves::Highlight(series) => {
                state.highlighted = series;
                return;
            }
            Curves::Statistic(statistic) => state.options.statistic = statistic,
            Curves::Efficiency(efficiency) => state.options.efficiency = efficiency,
            Curves::Energy(energy) => state.options.energy = energy,
            Curves::Quality(quality) => state.quality = Some(quality),
            Curves::At(at) => state.at = at,
            Curves::Examined(series) => state.examined = Some(series),
            Curves::LogLatency(log) => state.options.log_y = log,
            Curves::LogThroughput(log) => state.options.log_throughput = log,
            Curves::Limit(limit) => {
                let limit = limit.filter(|limit| limit.is_finite() && *limit > 0.0);
                state.options.limit_ns =
                    limit.map(|limit| within_reach(&state.drawn.latency, limit));
            }
            Curves::DragLimit(limit) => {
                let limit = Some(within_reach(&state.drawn.latency, limit));
                let limit = limit.filter(|limit| *limit > 0.0);
                state.options.limit_ns = limit.or(state.options.limit_ns);
            }
            Curves::ToggleSeries(series) => {
                if !state.hidden.remove(&series) {
                    state.hidden.insert(series);
                }
            }
            Curves::OnlySeries(series) => {
                let others = state
                    .drawn
                    .legend
                    .iter()
                    .map(|entry| entry.id)
                    .filter(|id| *id != series);
                let others = others.collect();
                state.hidden = if state.hidden == others {
                    Default::default()
                } else {
                    others
                };
            }
            Curves::ShowAll => state.hidden.clear(),
            Curves::Pin(pin) => self.pin(pin),
            Curves::PinStep(by) => {
                let pin = state.step(by);
                self.pin(pin);
            }
            Curves::Sort(column) => {
                state.sort = match state.sort {
                    Some((same, false)) if same == column => Some((column, true)),
                    Some((same, true)) if same == column => None,
                    _ => Some((column, false)),
                };
            }
            Curves::Filter(words) => state.filter = words,
            Curves::CopyTable => {
                let rows = humanize::of_many(state.drawn.table.len() as u64, "row");
                let text = state.table_text();
                self.outputs.push(Output::Copy(text));
                return self.say(Weight::Done, format!("Copied {rows} to the clipboard"));
            }
        }
        self.redraw_curves(&part);
    }

    fn redraw_curves(&mut self, part: &Part) {
        // The overlaid curves of a comparison look as the curves do.
        self.compare.redraw(&self.sessions, &self.curves.options);
        match part {
            Part::Charts => self.curves.redraw_charts(&self.sessions),
            Part::HeldCharts => {
                // Where the axis grew with the limit, the place under the hand would mean ever more.
                let held = self.curves.drawn.latency.y.clone();
                self.curves.redraw_charts(&self.sessions);
                Arc::make_mut(&mut self.curves.drawn).latency.y = held;
            }
            Part::AllCharts => {
                self.curves.redraw_charts(&self.sessions);
                self.curves.redraw_resources(&self.sessions);
                self.curves.redraw_cards(&self.sessions);
            }
            Part::Cards => self.curves.redraw_cards(&self.sessions),
            Part::Table => self.curves.redraw_table(&self.sessions),
            Part::All => self.curves.redraw(&self.sessions),
        }
    }

    fn pin(&mut self, pin: Option<Pin>) {
        self.curves.pin = pin;
        self.curves.pinned = None;
        let Some((pin, open)) = pin.and_then(|pin| Some((pin, self.sessions.get(pin.session)?)))
        else {
            return;
        };
        let session = Arc::clone(&open.session);
        let colour = self.sessions.colour(pin.session, pin.case.setup);
        self.jobs.spawn("pin", move |outlet| {
            if let Some(case) = session.case(pin.case) {
                let values: Vec<f64> = case.samples_ns().map(|ns| ns as f64).collect();
                outlet.send(Message::Finding(FindingMessage::Pinned(Box::new(Pinned {
                    pin,
                    histogram: samples::histogram(&values, colour),
                    strip: samples::strip(case, colour, STRIP_BUCKETS),
                    told: reported_stats::in_words(&session, case),
                    outliers: case_outliers::sentence(case),
                    parts: [run_phases::in_short(case), run_phases::learned(case)]
                        .into_iter()
                        .flatten()
                        .collect(),
                    lanes: lanes::of_case(&session, case),
                }))));
            }
        });
    }

    fn compare(&mut self, change: &Compare) {
        self.compare.is_chosen |= !matches!(change, Compare::CopyTable);
        match change {
            Compare::Before(pick) => self.compare.choose(true, *pick, &self.sessions),
            Compare::After(pick) => self.compare.choose(false, *pick, &self.sessions),
            Compare::Swap => {
                let CompareState { before, after, .. } = &mut self.compare;
                std::mem::swap(before, after);
            }
            Compare::CopyTable => {
                if let Some(text) = self.compare.table_text() {
                    self.outputs.push(Output::Copy(text));
                    self.say(Weight::Done, "Copied the comparison to the clipboard");
                }
                return;
            }
        }
        self.compare_if_wanted();
    }
}
