//! What actions about a run do.

use crate::action::{Action, Run};
use crate::inbox::{Message, RunMessage};
use crate::jobs::Outlet;
use crate::notices::Weight;
use crate::plan::ModelFacts;
use crate::run::{LiveRun, Stage};
use crate::screen::Screen;
use crate::sessions::{LIVE, SessionId};
use crate::{App, work};
use powerband_measure::runner::control::Control;
use powerband_measure::runner::installation::Installation;
use powerband_measure::runner::request::RunRequest;
use powerband_measure::runner::watching::WatchRequest;

impl App {
    pub(super) fn run(&mut self, run: &Run) {
        match run {
            Run::Start | Run::StartFirst | Run::More(..) => {
                let is_refused = *run == Run::Start && self.refuses_plan();
                if !is_refused && !self.asks_first(run) {
                    self.begin(run);
                }
            }
            Run::Anyway(request) => {
                self.notices
                    .settle(|action| matches!(action, Action::Run(Run::Anyway(_))));
                self.begin(request);
            }
            Run::Recover => {
                self.notices
                    .settle(|action| *action == Action::Run(Run::Recover));
                let paths = self.place.paths.clone();
                self.jobs
                    .spawn("recover", move |outlet| work::recover(&paths, outlet));
            }
            run => self.steer(run),
        }
    }

    /// Says why the plan cannot be run, if it cannot.
    fn refuses_plan(&mut self) -> bool {
        let Some(reason) = self.planner.obstacle().filter(|_| !self.is_running()) else {
            return false;
        };
        self.say(
            Weight::Trouble,
            format!("The plan cannot be run yet: {reason}"),
        );
        self.screen = Screen::Plan;
        if matches!(self.planner.facts, ModelFacts::Refused(_)) {
            // Its file may have been mended meanwhile.
            self.inspect_model();
        }
        true
    }

    fn begin(&mut self, request: &Run) {
        match request {
            Run::Start => {
                if let Ok(request) = self.planner.draft.request() {
                    self.start(request);
                }
            }
            Run::StartFirst => self.start(self.first_request()),
            Run::More(id, rounds) => self.add_rounds(*id, *rounds),
            _ => {}
        }
    }

    fn start(&mut self, request: RunRequest) {
        let title = request
            .name
            .clone()
            .unwrap_or_else(|| request.model.clone());
        let place = self.place_of_run();
        self.begin_run(title, move |control, outlet| {
            work::run(&place, &request, control, outlet);
        });
    }

    /// More rounds for a session, in its own file.
    fn add_rounds(&mut self, id: SessionId, rounds: u32) {
        let Some(open) = self.sessions.get(id) else {
            return;
        };
        let (Some(path), Some(stamp), None) = (open.path.clone(), open.stamp, open.newer) else {
            let text = format!(
                "{} has no file of its own that could get more rounds.",
                open.session.name
            );
            return self.say(Weight::Info, text);
        };
        let title = open.session.name.clone();
        let place = self.place_of_run();
        self.begin_run(title, move |control, outlet| {
            work::add_rounds(&place, (path, stamp), rounds, control, outlet);
        });
    }

    /// Where runs happen, with the devices watched as the settings say.
    fn place_of_run(&self) -> Installation {
        let rate_hz = self.remembered.watching.rate_hz();
        let watch = self.place.watch.clone();
        Installation {
            watch: watch
                .zip(rate_hz)
                .map(|(watch, rate_hz)| WatchRequest { rate_hz, ..watch }),
            ..self.place.clone()
        }
    }

    fn begin_run(&mut self, title: String, work: impl FnOnce(&Control, &Outlet) + Send + 'static) {
        if self.is_running() {
            self.say(
                Weight::Info,
                "A run is going on; stop it first, or wait for its end.",
            );
            return;
        }
        let control = Control::default();
        self.sessions.close(LIVE);
        self.n_runs += 1;
        self.run = Some(LiveRun::new(title, control.clone()));
        self.screen = Screen::Run;
        self.jobs.spawn_or(
            "run",
            |why| Message::Run(RunMessage::Broke(why)),
            move |outlet| {
                work(&control, outlet);
            },
        );
    }

    fn steer(&mut self, request: &Run) {
        let Some(run) = self.run.as_mut().filter(|run| run.stage.is_going_on()) else {
            return;
        };
        match request {
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
            Run::Start | Run::StartFirst | Run::More(..) | Run::Recover | Run::Anyway(_) => {}
        }
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
        let mut app = App::new(place, Arc::new(|_| {}));
        app.begin_run("Odd".to_owned(), |_, _| panic!("on purpose"));
        assert!(app.is_running());
        let begun = std::time::Instant::now();
        while app.is_running() && begun.elapsed() < Duration::from_mins(1) {
            app.receive(Duration::from_millis(5));
        }
        let stage = app.run.as_ref().map(|run| run.stage.clone());
        assert!(
            matches!(&stage, Some(Stage::NotSaved(why)) if why.contains("on purpose")),
            "{stage:?}"
        );
        let recover = Action::Run(Run::Recover);
        let mut offers = app
            .notices
            .all()
            .iter()
            .filter_map(|notice| notice.offer.as_ref());
        assert!(offers.any(|(_, offered)| *offered == recover));
    }
}
