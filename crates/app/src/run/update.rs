//! Actions on the run, and the run's reports.

use std::path::PathBuf;
use std::sync::Arc;

use super::work::{self, RunOver};
use super::{LiveRun, Stage};
use crate::action::{Action, RunAction, Sessions};
use crate::backend::{Backend, ReadyRun, RunSubject};
use crate::compare::side::ComparisonSide;
use crate::notices::NoticeLevel;
use crate::option_names::without_options;
use crate::plan::ModelFacts;
use crate::screen::Screen;
use crate::sessions::{Findings, LIVE, OpenSession, Pin, SessionId};
use crate::{App, WindowRequest};
use powerband_core::base::clock;
use powerband_core::base::humanize;
use powerband_core::control::Control;
use powerband_core::domain::event::{RunEvent, RunStart, TimedEvent};
use powerband_core::domain::experiment::ExperimentChange;
use powerband_core::domain::request::ProgramTrust;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::session::{Completion, Session};
use powerband_core::domain::setup::Setup;
use powerband_findings::analysis::progress::Tally;
use powerband_planning::engine_options;
use powerband_store::installation::Installation;
use powerband_store::installation::WatchRequest;

impl App {
    pub(crate) fn run(&mut self, run: &RunAction) {
        match run {
            RunAction::Detach => {
                if !self.refuses_plan() && !self.asks_for_programs(run) {
                    self.begin(run, ProgramTrust::File);
                }
            }
            RunAction::Queue => {
                if self.can_queue().is_ok() && !self.asks_for_programs(run) {
                    self.begin(run, ProgramTrust::File);
                }
            }
            RunAction::Unqueue(place) => self.unqueue(*place),
            RunAction::StartNext => self.start_next(),
            RunAction::Start
            | RunAction::StartFirst
            | RunAction::More(..)
            | RunAction::Again(..)
            | RunAction::AgainInHistory
            | RunAction::Why(_, _) => {
                let is_refused = *run == RunAction::Start && self.refuses_plan();
                if !is_refused && !self.asks_first(run) && !self.asks_for_programs(run) {
                    self.begin(run, ProgramTrust::File);
                }
            }
            RunAction::Anyway(request) => {
                self.shared
                    .notices
                    .withdraw_offers(|action| matches!(action, Action::Run(RunAction::Anyway(_))));
                if !self.asks_for_programs(request) {
                    self.begin(request, ProgramTrust::File);
                }
            }
            RunAction::AllowPrograms(are_allowed) => self.programs_answered(*are_allowed),
            RunAction::Recover => {
                self.shared
                    .notices
                    .withdraw_offers(|action| *action == Action::Run(RunAction::Recover));
                let paths = self.shared.place.paths.clone();
                self.shared
                    .jobs
                    .spawn("recover", move |outlet| work::recover(&paths, outlet));
            }
            RunAction::Follow(follows) => {
                if let Some(run) = &mut self.bench.run {
                    run.follows = *follows;
                }
            }
            RunAction::List(filter) => {
                if let Some(run) = &mut self.bench.run {
                    run.filter = *filter;
                }
            }
            run => self.control_run(run),
        }
    }

    /// Says why the plan cannot be run, if it cannot.
    fn refuses_plan(&mut self) -> bool {
        let Some(reason) = self.plan_obstacle().filter(|_| !self.is_running()) else {
            return false;
        };
        self.shared.notify(
            NoticeLevel::Trouble,
            format!("The plan cannot be run yet: {reason}"),
        );
        self.shared.screen = Screen::Plan;
        if matches!(self.bench.planner.facts, ModelFacts::Refused(_)) {
            // The file may have been fixed since it was read.
            self.inspect_model();
        }
        true
    }

    /// Begins a run whose programs are allowed as `programs` says.
    pub(super) fn begin(&mut self, request: &RunAction, programs: ProgramTrust) {
        match request {
            RunAction::Start => {
                if let Ok(request) = self.bench.planner.draft.request() {
                    self.start(RunRequest {
                        programs,
                        ..request
                    });
                }
            }
            RunAction::Detach => {
                if let Ok(request) = self.bench.planner.draft.request() {
                    self.detach(RunRequest {
                        programs,
                        ..request
                    });
                }
            }
            RunAction::Queue => self.queue_plan(programs),
            RunAction::StartFirst => self.start(self.first_request()),
            RunAction::More(id, rounds) => self.add_rounds(*id, *rounds, programs),
            RunAction::Again(before, after) => {
                let sides = before
                    .side(&self.shared.sessions)
                    .zip(after.side(&self.shared.sessions));
                if let Some((before, after)) = sides {
                    self.measure_again([before, after], programs);
                }
            }
            RunAction::AgainInHistory => {
                if let Ok(sides) = self.compare.history.sides_to_measure_again() {
                    self.measure_again(sides, programs);
                }
            }
            RunAction::Why(pin, change) => self.ask_why(*pin, *change, programs),
            _ => {}
        }
    }

    pub(super) fn start(&mut self, request: RunRequest) {
        let title = request
            .name
            .clone()
            .unwrap_or_else(|| request.model.clone());
        let place = self.place_of_run();
        self.begin_run(title, move |backend| {
            backend.prepare(&place, RunSubject::Plan(&request))
        });
    }

    /// More rounds for a session, in its own file.
    fn add_rounds(&mut self, id: SessionId, rounds: u32, programs: ProgramTrust) {
        let Some(open) = self.shared.sessions.get(id) else {
            return;
        };
        let (Some(path), Some(stamp), None) = (open.path.clone(), open.stamp, open.newer) else {
            let text = format!(
                "{} has no file. Save it before adding rounds.",
                open.session.name
            );
            return self.shared.notify(NoticeLevel::Info, text);
        };
        let title = open.session.name.clone();
        let place = self.place_of_run();
        let run = self.begin_run(title, move |backend| {
            let subject = RunSubject::MoreRounds {
                path,
                stamp,
                rounds,
                programs,
            };
            backend.prepare(&place, subject)
        });
        if let Some(run) = run {
            run.grows = Some(id);
        }
    }

    /// Two sides of a comparison in one run. The session of it is compared once it is there.
    fn measure_again(&mut self, sides: [ComparisonSide; 2], programs: ProgramTrust) {
        let place = self.place_of_run();
        let [before, after] = sides.each_ref().map(|side| &side.session.name);
        let title = format!("{before} and {after}, in turns");
        let run = self.begin_run(title, move |backend| {
            let parts = sides.each_ref().map(ComparisonSide::session_part);
            backend.prepare(&place, RunSubject::Again(parts, programs))
        });
        if let Some(run) = run {
            run.is_compared = true;
        }
    }

    /// Experiments on a case of an open session.
    fn ask_why(&mut self, pin: Pin, change: Option<ExperimentChange>, programs: ProgramTrust) {
        let Some(open) = self.shared.sessions.get(pin.session) else {
            return;
        };
        let session = Arc::clone(&open.session);
        let name = self.shared.sessions.name(open);
        let title = match change {
            Some(change) => format!("{}: {name}", humanize::capitalised(change.title())),
            None => format!("Why: {name}"),
        };
        let place = self.place_of_run();
        self.begin_run(title, move |backend| {
            backend.prepare(
                &place,
                RunSubject::Experiments(&session, pin.case, change, programs),
            )
        });
    }

    /// The run's environment, with telemetry as in the settings.
    fn place_of_run(&self) -> Installation {
        let rate_hz = self.shared.remembered.watching.rate_hz();
        let watch = self.shared.place.watch.clone();
        Installation {
            watch: watch
                .zip(rate_hz)
                .map(|(watch, rate_hz)| WatchRequest { rate_hz, ..watch }),
            ..self.shared.place.clone()
        }
    }

    /// Begins one, where none is in progress: prepares it, measures and saves, in the background.
    fn begin_run(
        &mut self,
        title: String,
        prepare: impl FnOnce(&dyn Backend) -> Result<Box<dyn ReadyRun>, String> + Send + 'static,
    ) -> Option<&mut LiveRun> {
        if self.is_running() {
            self.shared.notify(
                NoticeLevel::Info,
                "A run is in progress; stop it first, or wait until it ends.",
            );
            return None;
        }
        self.settings.stop_roofs();
        let control = Control::default();
        self.shared.sessions.close(LIVE);
        self.compare.sides.forget_run();
        self.bench.n_runs += 1;
        let mut run = LiveRun::new(title, control.clone());
        run.remember(self.bench.past_durations.known.clone());
        self.bench.run = Some(run);
        self.shared.screen = Screen::Run;
        let (place, backend) = (self.shared.place.clone(), Arc::clone(&self.shared.backend));
        self.shared
            .jobs
            .spawn_or("run", Self::run_broke, move |outlet| {
                let ready = prepare(&*backend);
                let done = ready.and_then(|ready| work::carry_out(&place, ready, &control, outlet));
                if let Err(reason) = done {
                    outlet.send(|app| app.run_refused(reason));
                }
            });
        self.bench.run.as_mut()
    }

    fn control_run(&mut self, request: &RunAction) {
        let Some(run) = self.bench.run_in_progress() else {
            return;
        };
        match request {
            RunAction::Pause => run.control.pause(),
            RunAction::Resume => run.control.resume(),
            RunAction::Stop => {
                run.stage = Stage::Stopping;
                run.control.cancel();
            }
            RunAction::Skip(case) if run.skipped.contains(case) => run.control.skip_now(*case),
            RunAction::Skip(case) => {
                run.taken_back.retain(|back| back != case);
                run.skipped.push(*case);
                run.control.skip(*case);
            }
            RunAction::Unskip(case) => {
                if run.control.take_back(*case) {
                    run.skipped.retain(|skipped| skipped != case);
                    run.taken_back.push(*case);
                } else {
                    let text = "All rounds are measured, so the case is not taken back.";
                    self.shared.notify(NoticeLevel::Info, text);
                }
            }
            RunAction::SkipCurrent => {
                if let Some((case, _)) = run.current {
                    self.control_run(&RunAction::Skip(case));
                }
            }
            RunAction::Start
            | RunAction::Queue
            | RunAction::Unqueue(_)
            | RunAction::StartNext
            | RunAction::Detach
            | RunAction::StartFirst
            | RunAction::Why(_, _)
            | RunAction::More(..)
            | RunAction::Again(..)
            | RunAction::AgainInHistory
            | RunAction::Recover
            | RunAction::Anyway(_)
            | RunAction::AllowPrograms(_)
            | RunAction::Follow(_)
            | RunAction::List(_) => {}
        }
    }

    pub(super) fn run_began(&mut self, beginning: RunStart) {
        if let Some(run) = &mut self.bench.run {
            run.begin(beginning, clock::monotonic_ns());
            run.colours_from(&mut self.shared.sessions);
        }
    }

    /// A finished run goes on with this many more rounds.
    pub(super) fn run_went_on(&mut self, session: Session, rounds: u32, findings: Findings) {
        if let Some(run) = &mut self.bench.run {
            run.continue_session(session, rounds, findings, clock::monotonic_ns());
            run.colours_from(&mut self.shared.sessions);
        }
    }

    fn run_refused(&mut self, reason: String) {
        let Some(run) = &mut self.bench.run else {
            return;
        };
        let reason = without_options(reason);
        run.stage = Stage::Refused(reason.clone());
        let close = run.close_after;
        self.shared.notify(
            NoticeLevel::Trouble,
            format!("The run did not start: {reason}"),
        );
        if close {
            self.shared.outputs.push(WindowRequest::Close);
        }
    }

    /// It failed with an internal error. Its journal is free from now on: what was measured is there.
    fn run_broke(&mut self, why: String) {
        if let Some(run) = &mut self.bench.run {
            run.stage = Stage::NotSaved(why.clone());
            run.current = None;
            self.shared.notify_with_button(
                NoticeLevel::Trouble,
                why,
                "Recover",
                Action::Run(RunAction::Recover),
            );
        }
    }

    /// The run's session is an open session from the first round, so that its curve is drawn during the run.
    pub(super) fn run_event(&mut self, stamped: TimedEvent, findings: Option<Findings>) {
        let Some(run) = &mut self.bench.run else {
            return;
        };
        let has_news = findings.is_some();
        let is_measured = matches!(stamped.event, RunEvent::RoundFinished { .. });
        let died = run.death_words(&stamped.event);
        run.apply_event(stamped, findings);
        if let Some(died) = died {
            self.shared.notify(NoticeLevel::Trouble, died);
        }
        let Some(run) = &mut self.bench.run else {
            return;
        };
        let Some(session) = run.session.as_ref().filter(|_| has_news) else {
            return;
        };
        let is_open = self.shared.sessions.get(LIVE).is_some();
        if !is_open && !is_measured {
            return;
        }
        // Samples stay with the run; the curves do not need them.
        let seen = Arc::new(session.without_samples());
        self.shared
            .sessions
            .put(OpenSession::unsaved(LIVE, seen, run.findings.clone()));
        self.curves.redraw_curves_of_run(&mut self.shared);
        self.compare.compare_steps_if_wanted(&mut self.shared);
        if is_measured && self.compare.wants_run(&self.shared) {
            let measured = Arc::clone(session);
            self.compare.compare_run(measured, &mut self.shared);
        }
        if self.shared.shows(Screen::Fleet) {
            self.compare.compare_machines_if_wanted(&mut self.shared);
        }
    }

    pub(super) fn run_over(&mut self, over: RunOver) {
        let Some(run) = &mut self.bench.run else {
            return;
        };
        run.session = Some(Arc::clone(&over.session));
        run.current = None;
        let is_compared = run.is_compared;
        let name = over.session.name.clone();
        let (path, stamp) = match &over.saved {
            Ok((path, stamp)) => (Some(path.clone()), *stamp),
            Err(_) => (None, None),
        };
        run.stage = match over.saved {
            Ok((path, _)) => Stage::Saved(path),
            Err(reason) => Stage::NotSaved(reason),
        };
        let stage = run.stage.clone();
        self.curves.forget(LIVE);
        // A session that got more rounds stays the one that it was.
        let grown = path
            .as_deref()
            .and_then(|path| self.shared.sessions.by_path(path));
        let grown = grown.map(|open| open.id);
        let id = grown.unwrap_or_else(|| self.shared.sessions.new_id());
        run.became = Some(id);
        self.shared.sessions.replace_run(id);
        run.colours = self.shared.sessions.colours_of(id, &over.session);
        run.find(over.findings.clone());
        run.redraw_lanes();
        self.compare.sides.forget_run();
        self.compare.sides.found.forget();
        self.compare.journey.run_is_over(id);
        self.shared.sessions.put(OpenSession {
            path,
            stamp,
            ..OpenSession::unsaved(id, over.session, over.findings)
        });
        self.compare.sides.last_run = Some(id);
        if is_compared {
            self.compare.sides.choose_pair(id);
        }
        self.sessions_changed();
        self.shared.jobs.rescan_library();
        for note in over.notes {
            self.shared.notify(NoticeLevel::Info, note);
        }
        self.notify_run_over(id, &name, &stage);
        self.go_on_with_queue();
        if !self.is_running() {
            self.measure_roofs_for(id);
        }
    }

    fn has_rounds(&self, id: SessionId) -> bool {
        let open = self.shared.sessions.get(id);
        open.is_some_and(|open| {
            open.session
                .cases
                .iter()
                .any(|case| !case.rounds.is_empty())
        })
    }

    /// Says how a run ended, with the way to what it brought.
    fn notify_run_over(&mut self, id: SessionId, name: &str, stage: &Stage) {
        let run = self.bench.run.as_ref();
        let close = run.is_some_and(|run| run.close_after);
        let is_compared = run.is_some_and(|run| run.is_compared);
        if let Stage::NotSaved(reason) = stage {
            if close {
                self.shared.outputs.push(WindowRequest::Show);
            }
            if !self.has_rounds(id) {
                let text = format!("{name} measured nothing: {reason}");
                return self.shared.notify(NoticeLevel::Trouble, text);
            }
            let save = Action::Sessions(Sessions::SaveAs(id, None));
            return self.shared.notify_with_button(
                NoticeLevel::Trouble,
                format!("{name} was not saved: {reason}"),
                "Save as…",
                save,
            );
        }
        if close {
            self.shared.outputs.push(WindowRequest::Close);
        }
        let session = self.shared.sessions.get(id).map(|open| &open.session);
        let whole = session.filter(|session| session.completion == Completion::Complete);
        let text = match whole {
            Some(session) if !self.has_rounds(id) => {
                let mut cases = session.cases.iter();
                let reason = cases.find_map(|case| case.outcome.sentence());
                let text = format!("{name} measured nothing: {}", reason.unwrap_or_default());
                return self.shared.notify(NoticeLevel::Trouble, text);
            }
            Some(session) => format!("{name} is done: {}", Tally::from_session(session)),
            None if !self.has_rounds(id) => {
                let text = format!("{name} was stopped before anything was measured");
                return self.shared.notify(NoticeLevel::Info, text);
            }
            None => format!("{name} was stopped; its measurements are saved"),
        };
        let (button, screen) = if is_compared {
            ("Show comparison", Screen::Compare)
        } else if self.profile.explains_run(id, &mut self.shared) {
            ("Show why", Screen::Why)
        } else {
            ("Show curves", Screen::Curves)
        };
        self.shared
            .notify_with_button(NoticeLevel::Done, text, button, Action::Go(screen));
    }

    /// Measures the roofs that the case of a run with experiments needs, where it ran on this machine.
    fn measure_roofs_for(&mut self, id: SessionId) {
        let open = self.shared.sessions.get(id);
        let plan = open.map(|open| &open.session.plan);
        let asked = plan.and_then(|plan| plan.setups.get(plan.experiments.as_ref()?.setup));
        let has_roofs = |setup: &&Setup| {
            let engine = engine_options::find(&setup.engine);
            !setup.is_elsewhere() && engine.is_some_and(|engine| engine.is_offered())
        };
        if let Some(setup) = asked.filter(has_roofs).cloned() {
            self.settings.measure_roofs_for(setup, &self.shared);
        }
    }

    /// Offers to recover what interrupted runs measured, until that is done or dismissed.
    pub(super) fn offer_recovery(&mut self, runs: &[String]) {
        let text = match runs {
            [one] => format!(
                "A run was interrupted before it was saved: {one}. Its measurements can be recovered."
            ),
            several => format!(
                "{} runs were interrupted before they were saved: {}. Their measurements can be recovered.",
                several.len(),
                several.join("; ")
            ),
        };
        let recover = Action::Run(RunAction::Recover);
        self.shared
            .notices
            .withdraw_offers(|action| *action == recover);
        self.shared
            .notify_with_button(NoticeLevel::Question, text, "Recover", recover);
    }

    /// What an interrupted run had measured was saved.
    pub(super) fn recovered(&mut self, name: &str, path: PathBuf) {
        let open = Action::Sessions(Sessions::Open(vec![path]));
        self.shared.notify_with_button(
            NoticeLevel::Done,
            format!("Recovered {name}"),
            "Open",
            open,
        );
        self.shared.jobs.rescan_library();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use powerband_core::base::paths::Paths;
    use powerband_store::settings::Settings;

    #[test]
    fn a_run_that_breaks_off_is_over_and_can_be_recovered() {
        let home = tempfile::tempdir().unwrap();
        let place = Installation::new(
            Paths::under(home.path()),
            &Settings::default(),
            "/none".into(),
        );
        let mut app = App::new(place, crate::backend::testing::none(), Arc::new(|_| {}));
        app.begin_run("Odd".to_owned(), |_| panic!("on purpose"));
        assert!(app.is_running());
        let begun = std::time::Instant::now();
        while app.is_running() && begun.elapsed() < Duration::from_mins(1) {
            app.receive(Duration::from_millis(5));
        }
        let stage = app.bench.run.as_ref().map(|run| run.stage.clone());
        assert!(
            matches!(&stage, Some(Stage::NotSaved(why)) if why.contains("on purpose")),
            "{stage:?}"
        );
        let recover = Action::Run(RunAction::Recover);
        let mut offers = app
            .shared
            .notices
            .all()
            .iter()
            .filter_map(|notice| notice.offer.as_ref());
        assert!(offers.any(|(_, offered)| *offered == recover));
    }
}
