//! Actions on the run, and the run's reports.

use std::sync::Arc;

use super::work::{self, RunOver};
use super::{LiveRun, Stage};
use crate::WindowRequest;
use crate::action::{Action, RunAction, Sessions};
use crate::backend::{Backend, ReadyRun, RunSubject};
use crate::compare::side::ComparisonSide;
use crate::doors::BenchDoor;
use crate::notices::NoticeLevel;
use crate::option_names::without_options;
use crate::plan::ModelFacts;
use crate::screen::Screen;
use crate::sessions::{Findings, LIVE, OpenSession, Pin, SessionId};
use crate::shared::{FollowUp, Shared};
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

impl BenchDoor {
    /// Every notice and every event of the run since the window opened, one per line.
    pub fn log_text(&self, shared: &Shared) -> String {
        let notices = shared.notices.all().iter();
        let notices = notices.map(|notice| notice.text.clone());
        let run = self.run.iter().flat_map(|run| &run.log);
        let run = run.map(|line| {
            let moment = humanize::stopwatch(line.at_ns as f64 / 1e9);
            format!("{moment}  {}", line.text)
        });
        notices.chain(run).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn run(&mut self, run: &RunAction, shared: &mut Shared) {
        match run {
            RunAction::Detach => {
                if !self.refuses_plan(shared) && !self.asks_for_programs(run, shared) {
                    self.begin(run, ProgramTrust::File, shared);
                }
            }
            RunAction::Queue => {
                if self.can_queue().is_ok() && !self.asks_for_programs(run, shared) {
                    self.begin(run, ProgramTrust::File, shared);
                }
            }
            RunAction::Unqueue(place) => self.unqueue(*place),
            RunAction::StartNext => self.start_next(shared),
            RunAction::Start
            | RunAction::StartFirst
            | RunAction::More(..)
            | RunAction::Again(..)
            | RunAction::AgainInHistory(_)
            | RunAction::Why(_, _) => {
                let is_refused = *run == RunAction::Start && self.refuses_plan(shared);
                if !is_refused
                    && !self.asks_first(run, shared)
                    && !self.asks_for_programs(run, shared)
                {
                    self.begin(run, ProgramTrust::File, shared);
                }
            }
            RunAction::Anyway(request) => {
                shared
                    .notices
                    .withdraw_offers(|action| matches!(action, Action::Run(RunAction::Anyway(_))));
                if !self.asks_for_programs(request, shared) {
                    self.begin(request, ProgramTrust::File, shared);
                }
            }
            RunAction::AllowPrograms(are_allowed) => self.programs_answered(*are_allowed, shared),
            RunAction::Recover => {
                shared
                    .notices
                    .withdraw_offers(|action| *action == Action::Run(RunAction::Recover));
                let paths = shared.place.paths.clone();
                shared
                    .jobs
                    .spawn("recover", move |outlet| work::recover(&paths, outlet));
            }
            RunAction::Follow(follows) => {
                if let Some(run) = &mut self.run {
                    run.follows = *follows;
                }
            }
            RunAction::List(filter) => {
                if let Some(run) = &mut self.run {
                    run.filter = *filter;
                }
            }
            run => self.control_run(run, shared),
        }
    }

    /// Says why the plan cannot be run, if it cannot.
    fn refuses_plan(&mut self, shared: &mut Shared) -> bool {
        let Some(reason) = self.plan_obstacle(shared).filter(|_| !self.is_running()) else {
            return false;
        };
        shared.notify(
            NoticeLevel::Trouble,
            format!("The plan cannot be run yet: {reason}"),
        );
        shared.screen = Screen::Plan;
        if matches!(self.planner.facts, ModelFacts::Refused(_)) {
            // The file may have been fixed since it was read.
            self.inspect_model(shared);
        }
        true
    }

    /// Begins a run whose programs are allowed as `programs` says.
    pub(super) fn begin(
        &mut self,
        request: &RunAction,
        programs: ProgramTrust,
        shared: &mut Shared,
    ) {
        match request {
            RunAction::Start => {
                if let Some(request) = self.plan_request(programs) {
                    self.start(request, shared);
                }
            }
            RunAction::Detach => {
                let request = self.plan_request(programs).map(Box::new);
                shared.follow_ups.extend(request.map(FollowUp::Detach));
            }
            RunAction::Queue => self.queue_plan(programs, shared),
            RunAction::StartFirst => self.start(shared.machine.first_request(), shared),
            RunAction::More(id, rounds) => self.add_rounds(*id, *rounds, programs, shared),
            RunAction::Again(before, after) => {
                let sides = before
                    .side(&shared.sessions)
                    .zip(after.side(&shared.sessions));
                if let Some((before, after)) = sides {
                    self.measure_again([before, after], programs, shared);
                }
            }
            RunAction::AgainInHistory(sides) => {
                self.measure_again(*sides.clone(), programs, shared);
            }
            RunAction::Why(pin, change) => self.ask_why(*pin, *change, programs, shared),
            _ => {}
        }
    }

    /// The plan as it is typed; what its programs are allowed is up to the caller.
    pub(super) fn plan_request(&self, programs: ProgramTrust) -> Option<RunRequest> {
        let request = self.planner.draft.request().ok()?;
        Some(RunRequest {
            programs,
            ..request
        })
    }

    pub(super) fn start(&mut self, request: RunRequest, shared: &mut Shared) {
        let title = request
            .name
            .clone()
            .unwrap_or_else(|| request.model.clone());
        let place = place_of_run(shared);
        let prepare =
            move |backend: &dyn Backend| backend.prepare(&place, RunSubject::Plan(&request));
        self.begin_run(title, prepare, shared);
    }

    /// More rounds for a session, in its own file.
    fn add_rounds(
        &mut self,
        id: SessionId,
        rounds: u32,
        programs: ProgramTrust,
        shared: &mut Shared,
    ) {
        let Some(open) = shared.sessions.get(id) else {
            return;
        };
        let (Some(path), Some(stamp), None) = (open.path.clone(), open.stamp, open.newer) else {
            let text = format!(
                "{} has no file. Save it before adding rounds.",
                open.session.name
            );
            return shared.notify(NoticeLevel::Info, text);
        };
        let title = open.session.name.clone();
        let place = place_of_run(shared);
        let prepare = move |backend: &dyn Backend| {
            let subject = RunSubject::MoreRounds {
                path,
                stamp,
                rounds,
                programs,
            };
            backend.prepare(&place, subject)
        };
        if let Some(run) = self.begin_run(title, prepare, shared) {
            run.grows = Some(id);
        }
    }

    /// Two sides of a comparison in one run. The session of it is compared once it is there.
    fn measure_again(
        &mut self,
        sides: [ComparisonSide; 2],
        programs: ProgramTrust,
        shared: &mut Shared,
    ) {
        let place = place_of_run(shared);
        let [before, after] = sides.each_ref().map(|side| &side.session.0.name);
        let title = format!("{before} and {after}, in turns");
        let prepare = move |backend: &dyn Backend| {
            let parts = sides.each_ref().map(ComparisonSide::session_part);
            backend.prepare(&place, RunSubject::Again(parts, programs))
        };
        if let Some(run) = self.begin_run(title, prepare, shared) {
            run.is_compared = true;
        }
    }

    /// Experiments on a case of an open session.
    fn ask_why(
        &mut self,
        pin: Pin,
        change: Option<ExperimentChange>,
        programs: ProgramTrust,
        shared: &mut Shared,
    ) {
        let Some(open) = shared.sessions.get(pin.session) else {
            return;
        };
        let session = Arc::clone(&open.session);
        let name = shared.sessions.name(open);
        let title = match change {
            Some(change) => format!("{}: {name}", humanize::capitalised(change.title())),
            None => format!("Why: {name}"),
        };
        let place = place_of_run(shared);
        let prepare = move |backend: &dyn Backend| {
            let subject = RunSubject::Experiments(&session, pin.case, change, programs);
            backend.prepare(&place, subject)
        };
        self.begin_run(title, prepare, shared);
    }

    /// Begins one, where none is in progress: prepares it, measures and saves, in the background.
    fn begin_run(
        &mut self,
        title: String,
        prepare: impl FnOnce(&dyn Backend) -> Result<Box<dyn ReadyRun>, String> + Send + 'static,
        shared: &mut Shared,
    ) -> Option<&mut LiveRun> {
        if self.is_running() {
            shared.notify(
                NoticeLevel::Info,
                "A run is in progress; stop it first, or wait until it ends.",
            );
            return None;
        }
        let control = Control::default();
        shared.sessions.close(LIVE);
        shared.follow_ups.push_back(FollowUp::RunBegan);
        self.n_runs += 1;
        let mut run = LiveRun::new(title, control.clone());
        run.remember(self.past_durations.known.clone());
        self.run = Some(run);
        shared.screen = Screen::Run;
        let (place, backend) = (shared.place.clone(), Arc::clone(&shared.backend));
        shared
            .jobs
            .spawn_or_for("run", Self::run_broke, move |outlet| {
                let ready = prepare(&*backend);
                let done = ready.and_then(|ready| work::carry_out(&place, ready, &control, outlet));
                if let Err(reason) = done {
                    outlet.send_to(|door: &mut Self, shared| door.run_refused(reason, shared));
                }
            });
        self.run.as_mut()
    }

    fn control_run(&mut self, request: &RunAction, shared: &mut Shared) {
        let Some(run) = self.run_in_progress() else {
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
                    shared.notify(NoticeLevel::Info, text);
                }
            }
            RunAction::SkipCurrent => {
                if let Some((case, _)) = run.current {
                    self.control_run(&RunAction::Skip(case), shared);
                }
            }
            _ => {}
        }
    }

    pub(super) fn run_began(&mut self, beginning: RunStart, shared: &mut Shared) {
        if let Some(run) = &mut self.run {
            run.begin(beginning, clock::monotonic_ns());
            run.colours_from(&mut shared.sessions);
        }
    }

    /// A finished run goes on with this many more rounds.
    pub(super) fn run_went_on(
        &mut self,
        session: Session,
        rounds: u32,
        findings: Findings,
        shared: &mut Shared,
    ) {
        if let Some(run) = &mut self.run {
            run.continue_session(session, rounds, findings, clock::monotonic_ns());
            run.colours_from(&mut shared.sessions);
        }
    }

    fn run_refused(&mut self, reason: String, shared: &mut Shared) {
        let Some(run) = &mut self.run else {
            return;
        };
        let reason = without_options(reason);
        run.stage = Stage::Refused(reason.clone());
        let close = run.close_after;
        shared.notify(
            NoticeLevel::Trouble,
            format!("The run did not start: {reason}"),
        );
        if close {
            shared.outputs.push(WindowRequest::Close);
        }
    }

    /// It failed with an internal error. Its journal is free from now on: what was measured is there.
    fn run_broke(&mut self, why: String, shared: &mut Shared) {
        if let Some(run) = &mut self.run {
            run.stage = Stage::NotSaved(why.clone());
            run.current = None;
            shared.notify_with_button(
                NoticeLevel::Trouble,
                why,
                "Recover",
                Action::Run(RunAction::Recover),
            );
        }
    }

    /// The run's session is an open session from the first round, so that its curve is drawn during the run.
    pub(super) fn run_event(
        &mut self,
        stamped: TimedEvent,
        findings: Option<Findings>,
        shared: &mut Shared,
    ) {
        let Some(run) = &mut self.run else {
            return;
        };
        let has_news = findings.is_some();
        let is_measured = matches!(stamped.event, RunEvent::RoundFinished { .. });
        let died = run.death_words(&stamped.event);
        run.apply_event(stamped, findings);
        if let Some(died) = died {
            shared.notify(NoticeLevel::Trouble, died);
        }
        let Some(session) = run.session.as_ref().filter(|_| has_news) else {
            return;
        };
        let is_open = shared.sessions.get(LIVE).is_some();
        if !is_open && !is_measured {
            return;
        }
        // Samples stay with the run; the curves do not need them.
        let seen = Arc::new(session.without_samples());
        shared
            .sessions
            .put(OpenSession::unsaved(LIVE, seen, run.findings.clone()));
        let measured = is_measured.then(|| Arc::clone(session));
        shared.follow_ups.push_back(FollowUp::RunGrew(measured));
    }

    pub(super) fn run_over(&mut self, over: RunOver, shared: &mut Shared) {
        let Some(run) = &mut self.run else {
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
        // A session that got more rounds stays the one that it was.
        let grown = path
            .as_deref()
            .and_then(|path| shared.sessions.by_path(path));
        let grown = grown.map(|open| open.id);
        let id = grown.unwrap_or_else(|| shared.sessions.new_id());
        run.became = Some(id);
        shared.sessions.replace_run(id);
        run.colours = shared.sessions.colours_of(id, &over.session);
        run.find(over.findings.clone());
        run.redraw_lanes();
        shared.sessions.put(OpenSession {
            path,
            stamp,
            ..OpenSession::unsaved(id, over.session, over.findings)
        });
        shared
            .follow_ups
            .push_back(FollowUp::RunOver(id, is_compared));
        shared.jobs.rescan_library();
        for note in over.notes {
            shared.notify(NoticeLevel::Info, note);
        }
        self.notify_run_over(id, &name, shared);
        self.go_on_with_queue(shared);
        if !self.is_running() {
            want_roofs_for(id, shared);
        }
    }

    /// Says how a run ended, with the way to what it brought.
    fn notify_run_over(&self, id: SessionId, name: &str, shared: &mut Shared) {
        let Some(run) = &self.run else {
            return;
        };
        if let Stage::NotSaved(reason) = &run.stage {
            if run.close_after {
                shared.outputs.push(WindowRequest::Show);
            }
            if !has_rounds(id, shared) {
                let text = format!("{name} measured nothing: {reason}");
                return shared.notify(NoticeLevel::Trouble, text);
            }
            let save = Action::Sessions(Sessions::SaveAs(id, None));
            return shared.notify_with_button(
                NoticeLevel::Trouble,
                format!("{name} was not saved: {reason}"),
                "Save as…",
                save,
            );
        }
        if run.close_after {
            shared.outputs.push(WindowRequest::Close);
        }
        let session = shared.sessions.get(id).map(|open| &open.session);
        let whole = session.filter(|session| session.completion == Completion::Complete);
        let text = match whole {
            Some(session) if !has_rounds(id, shared) => {
                let mut cases = session.cases.iter();
                let reason = cases.find_map(|case| case.outcome.sentence());
                let text = format!("{name} measured nothing: {}", reason.unwrap_or_default());
                return shared.notify(NoticeLevel::Trouble, text);
            }
            Some(session) => format!("{name} is done: {}", Tally::from_session(session)),
            None if !has_rounds(id, shared) => {
                let text = format!("{name} was stopped before anything was measured");
                return shared.notify(NoticeLevel::Info, text);
            }
            None => format!("{name} was stopped; its measurements are saved"),
        };
        let (button, screen) = if run.is_compared {
            ("Show comparison", Screen::Compare)
        } else if session.is_some_and(|session| session.plan.experiments.is_some()) {
            shared.follow_ups.push_back(FollowUp::RunExplained(id));
            ("Show why", Screen::Why)
        } else {
            ("Show curves", Screen::Curves)
        };
        shared.notify_with_button(NoticeLevel::Done, text, button, Action::Go(screen));
    }
}

/// The run's environment, with telemetry as in the settings.
fn place_of_run(shared: &Shared) -> Installation {
    let rate_hz = shared.remembered.watching.rate_hz();
    let watch = shared.place.watch.clone();
    Installation {
        watch: watch
            .zip(rate_hz)
            .map(|(watch, rate_hz)| WatchRequest { rate_hz, ..watch }),
        ..shared.place.clone()
    }
}

fn has_rounds(id: SessionId, shared: &Shared) -> bool {
    let open = shared.sessions.get(id);
    open.is_some_and(|open| {
        open.session
            .cases
            .iter()
            .any(|case| !case.rounds.is_empty())
    })
}

/// Measures the roofs that the case of a run with experiments needs, where it ran on this machine.
fn want_roofs_for(id: SessionId, shared: &mut Shared) {
    let open = shared.sessions.get(id);
    let plan = open.map(|open| &open.session.plan);
    let asked = plan.and_then(|plan| plan.setups.get(plan.experiments.as_ref()?.setup));
    let has_roofs = |setup: &&Setup| {
        let engine = engine_options::find(&setup.engine);
        !setup.is_elsewhere() && engine.is_some_and(|engine| engine.is_offered())
    };
    if let Some(setup) = asked.filter(has_roofs).cloned() {
        shared.follow_ups.push_back(FollowUp::RoofsWanted(setup));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::App;
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
        let mut app = App::new(place, crate::empty_backend::for_tests(), Arc::new(|_| {}));
        let breaks = |_: &dyn Backend| panic!("on purpose");
        app.bench
            .begin_run("Odd".to_owned(), breaks, &mut app.shared);
        assert!(app.bench.is_running());
        let begun = std::time::Instant::now();
        while app.bench.is_running() && begun.elapsed() < Duration::from_mins(1) {
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
