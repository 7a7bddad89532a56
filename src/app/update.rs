//! What actions do. The only file that changes the application on a user's wish.

use std::path::PathBuf;
use std::sync::Arc;

use super::action::{Action, Closing, Compare, Curves, Library, Machine, Run, Sessions, Shell};
use super::compare::CompareState;
use super::curves::Pinned;
use super::inbox::Message;
use super::machine::Installing;
use super::notices::Weight;
use super::plan::{Draft, ModelFacts, PlanEdit};
use super::run::{LiveRun, Stage};
use super::screen::Screen;
use super::sessions::{LIVE, Pin, SessionId};
use super::settings::ZOOM_STEPS;
use super::{App, Ask, Output, plans, work};
use crate::base::cancel::CancelToken;
use crate::base::humanize;
use crate::chart::samples;
use crate::domain::plan::PresetName;
use crate::runner::control::Control;
use crate::runner::equipment;
use crate::runner::prepare::Wish;
use crate::store::trash::discard;

/// Buckets of a strip: more than any screen has columns for it.
const STRIP_BUCKETS: usize = 1_000;

/// What of the curves screen has to be made anew.
enum Part {
    Charts,
    Table,
    All,
}

impl App {
    /// Does what was asked for.
    pub fn act(&mut self, action: Action) {
        match action {
            Action::Go(screen) => self.screen = screen,
            Action::Back => self.back(),
            Action::Shell(shell) => self.shell(shell),
            Action::Machine(machine) => self.machine(&machine),
            Action::Plan(edit) => self.plan(edit),
            Action::Run(run) => self.run(&run),
            Action::Sessions(sessions) => self.sessions(sessions),
            Action::Curves(curves) => self.curves(curves),
            Action::Compare(compare) => self.compare(&compare),
            Action::Library(library) => self.library(library),
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
                self.remembered.library_folded = !self.remembered.library_folded;
            }
            Shell::Theme(theme) => self.remembered.theme = theme,
            Shell::NextTheme => self.remembered.theme = self.remembered.theme.next(),
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
            Shell::Copy(text) => self.outputs.push(Output::Copy(text)),
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

    fn machine(&mut self, machine: &Machine) {
        match machine {
            Machine::Rescan => self.look_for_engines(),
            Machine::InstallOnnxRuntime if self.machine.installing.is_none() => {
                let cancel = CancelToken::default();
                self.machine.installing = Some(Installing {
                    step: "Looking for pip".to_owned(),
                    share: None,
                    cancel: cancel.clone(),
                });
                let place = self.place.clone();
                self.jobs.spawn("install", move |outlet| {
                    work::install(&place, &cancel, outlet);
                });
            }
            Machine::InstallOnnxRuntime => {}
            Machine::StopInstall => {
                if let Some(installing) = &self.machine.installing {
                    installing.cancel.cancel();
                }
            }
        }
    }

    pub(super) fn look_for_engines(&mut self) {
        if self.machine.is_looking {
            return;
        }
        self.machine.is_looking = true;
        let place = self.place.clone();
        self.jobs
            .spawn("survey", move |outlet| work::survey(&place, outlet));
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
            PlanEdit::Forget(path) => {
                let (path, paths) = (path.clone(), self.place.paths.clone());
                self.jobs.spawn("forget-plan", move |outlet| {
                    if let Err(error) = discard(&paths, &path) {
                        outlet.send(Message::Failed(format!("The plan stays: {error}")));
                    }
                    outlet.send(Message::Plans(plans::list(&plans::folder(&paths))));
                });
            }
            _ => {}
        }
        if let PlanEdit::Use(_) | PlanEdit::Clear | PlanEdit::Add(_) = edit {
            self.screen = Screen::Plan;
        }
        self.planner.edit(edit);
        if self.planner.draft.model != model {
            self.inspect_model();
        }
    }

    fn keep_plan(&self) {
        let (paths, draft) = (self.place.paths.clone(), self.planner.draft.clone());
        self.jobs.spawn("keep-plan", move |outlet| {
            outlet.send(match plans::keep(&paths, &draft) {
                Ok(_) => Message::Done(format!("The plan is kept as {}", plans::title(&draft))),
                Err(error) => Message::Failed(format!("The plan is not kept: {error}")),
            });
            outlet.send(Message::Plans(plans::list(&plans::folder(&paths))));
        });
    }

    pub(super) fn list_plans(&self) {
        let folder = plans::folder(&self.place.paths);
        self.jobs.spawn("plans", move |outlet| {
            outlet.send(Message::Plans(plans::list(&folder)));
        });
    }

    pub(super) fn inspect_model(&mut self) {
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

    fn run(&mut self, run: &Run) {
        match run {
            Run::Start => match self.planner.draft.wish() {
                Ok(wish) => self.start(wish),
                Err(faults) => {
                    let text = faults
                        .first()
                        .map_or_else(String::new, |fault| fault.text.clone());
                    self.say(
                        Weight::Trouble,
                        format!("The plan cannot be run yet: {text}"),
                    );
                    self.screen = Screen::Plan;
                }
            },
            Run::StartFirst => self.start(Wish {
                preset: PresetName::Quick,
                ..Wish::new("resnet50")
            }),
            Run::Recover => {
                let paths = self.place.paths.clone();
                self.jobs
                    .spawn("recover", move |outlet| work::recover(&paths, outlet));
            }
            run => self.steer(run),
        }
    }

    fn start(&mut self, wish: Wish) {
        if self.is_running() {
            self.say(
                Weight::Info,
                "A run is going on; stop it first, or wait for its end.",
            );
            return;
        }
        let control = Control::default();
        let title = wish.name.clone().unwrap_or_else(|| wish.model.clone());
        self.sessions.close(LIVE);
        self.run = Some(LiveRun::new(title, control.clone()));
        self.run_over = CancelToken::default();
        self.screen = Screen::Run;
        let place = self.place.clone();
        self.jobs.spawn("run", move |outlet| {
            work::run(&place, &wish, &control, outlet);
        });
        let over = self.run_over.clone();
        self.jobs
            .spawn("host-load", move |outlet| work::watch_load(&over, outlet));
    }

    fn steer(&mut self, wish: &Run) {
        let Some(run) = self.run.as_mut().filter(|run| run.stage.is_going_on()) else {
            return;
        };
        match wish {
            Run::Pause => run.control.pause(),
            Run::Resume => run.control.resume(),
            Run::Stop => {
                run.stage = Stage::Stopping;
                run.control.cancel();
            }
            Run::Skip(case) if run.skipped.contains(case) => run.control.skip_now(*case),
            Run::Skip(case) => {
                run.skipped.push(*case);
                run.control.skip(*case);
            }
            Run::SkipCurrent => {
                if let Some((case, _)) = run.current {
                    self.steer(&Run::Skip(case));
                }
            }
            Run::Start | Run::StartFirst | Run::Recover => {}
        }
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
            Sessions::OpenExample(place) => {
                let id = self.sessions.new_id();
                self.jobs
                    .spawn("open", move |outlet| work::open_example(id, place, outlet));
            }
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
                    self.jobs
                        .spawn("open", move |outlet| work::open(id, path, outlet));
                }
            }
            Sessions::RunAgain(id) => {
                if let Some(open) = self.sessions.get(id) {
                    let draft = Draft::of(&open.session.plan, &open.session.name);
                    self.planner.replace(draft);
                    self.screen = Screen::Plan;
                    self.inspect_model();
                }
            }
            Sessions::SaveAs(id, path) => self.save_as(id, path),
        }
    }

    fn save_as(&mut self, id: SessionId, path: Option<PathBuf>) {
        let Some(open) = self.sessions.get(id) else {
            return;
        };
        let Some(path) = path else {
            let name = format!("{}.ron", crate::store::library::safe(&open.session.name));
            self.outputs.push(Output::Ask(Ask::SaveSession(id, name)));
            return;
        };
        if let Some(version) = open.newer {
            let text = format!(
                "{} was written by a newer Powerband (session version {version}) and is not written to.",
                open.session.name
            );
            return self.say(Weight::Trouble, text);
        }
        let session = Arc::clone(&open.session);
        self.jobs.spawn("save", move |outlet| {
            work::save_as(id, &session, path, outlet);
        });
    }

    /// Sessions are opened; an ONNX file becomes the plan's model.
    fn open_files(&mut self, paths: Vec<PathBuf>) {
        for path in paths {
            let is_model = path
                .extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("onnx"));
            if is_model {
                self.screen = Screen::Plan;
                self.plan(PlanEdit::Model(path.display().to_string()));
            } else {
                self.open_session(path);
            }
        }
    }

    pub(super) fn open_session(&mut self, path: PathBuf) {
        if self.sessions.by_path(&path).is_some() {
            return;
        }
        if self.opening.values().any(|opening| *opening == path) {
            return;
        }
        let id = self.sessions.new_id();
        self.opening.insert(id, path.clone());
        self.jobs
            .spawn("open", move |outlet| work::open(id, path, outlet));
    }

    fn close_session(&mut self, id: SessionId) {
        self.sessions.close(id);
        self.curves.forget(id);
        self.sessions_changed();
    }

    fn curves(&mut self, change: Curves) {
        let part = match change {
            Curves::Limit(_) | Curves::Pin(_) | Curves::PinStep(_) => Part::Charts,
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
            Curves::LogLatency(log) => state.options.log_y = log,
            Curves::Limit(limit) => {
                state.options.limit_ns = limit.filter(|limit| limit.is_finite() && *limit > 0.0);
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
        match part {
            Part::Charts => self.curves.redraw_charts(&self.sessions),
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
                outlet.send(Message::Pinned(Box::new(Pinned {
                    pin,
                    histogram: samples::histogram(&values, colour),
                    strip: samples::strip(case, colour, STRIP_BUCKETS),
                })));
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

    fn library(&mut self, change: Library) {
        match change {
            Library::Search(words) => self.library.search(words),
            Library::FocusSearch => {
                self.remembered.library_folded = false;
                self.library.focus_search = true;
            }
            Library::SearchFocused => self.library.focus_search = false,
            Library::Select(path) => self.library.selected = path,
            Library::Rename(path, name) => self.edit(path, move |session| session.name = name),
            Library::Tags(path, tags) => self.edit(path, move |session| session.tags = tags),
            Library::Notes(path, notes) => self.edit(path, move |session| session.notes = notes),
            Library::Duplicate(path) => {
                self.jobs
                    .spawn("duplicate", move |outlet| work::duplicate(&path, outlet));
            }
            Library::Discard(path) => {
                let name = self.library.entry(&path).map(|entry| entry.name.clone());
                let name = name.unwrap_or_else(|| path.display().to_string());
                let paths = self.place.paths.clone();
                self.jobs.spawn("discard", move |outlet| {
                    work::discard(&paths, path, name, outlet);
                });
            }
            Library::Restore => {
                if let Some((discarded, name)) = self.library.discarded.pop() {
                    self.jobs.spawn("restore", move |outlet| {
                        work::restore(discarded, name, outlet);
                    });
                }
            }
            Library::Reveal(path) => {
                if let Err(error) = equipment::open_outside(&path) {
                    self.say(
                        Weight::Trouble,
                        format!("{} cannot be shown: {error}", path.display()),
                    );
                }
            }
        }
    }

    fn edit(
        &self,
        path: PathBuf,
        change: impl FnOnce(&mut crate::domain::session::Session) + Send + 'static,
    ) {
        let expected = self.library.found.get(&path).map(|scanned| scanned.stamp);
        self.jobs.spawn("edit", move |outlet| {
            work::edit(path, expected, change, outlet);
        });
    }
}
