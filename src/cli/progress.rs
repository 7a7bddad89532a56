//! Progress on standard error: a bar on a terminal, plain lines elsewhere.
//!
//! One reader of the event stream. It repaints when something happened, which is never while a
//! sample is being taken in this process, and at most four times a second.

use std::cell::{Cell, RefCell};
use std::io::{self, IsTerminal as _};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::heartbeat::Heartbeat;
use super::output;
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::event::{RunEvent, TimedEvent};
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::session::Session;
use powerband_core::domain::sweep;
use powerband_core::domain::visit::{RunStep, StepFollower};
use powerband_core::stats::summary::median;
use powerband_findings::analysis::past_durations::PastDurations;
use powerband_findings::analysis::progress::{Meter, remaining_text};
use powerband_findings::analysis::{accuracy, examined, profiled};
use powerband_runner::run::PreparedRun;

/// Shows how far a run is.
#[derive(Debug)]
pub(super) struct ProgressDisplay {
    bar: Option<ProgressBar>,
    visits: Cell<StepFollower>,
    /// Nothing where its thread could not be started.
    heartbeat: Option<Heartbeat>,
    meter: RefCell<Meter>,
}

impl ProgressDisplay {
    /// Begins to show a run with its estimate.
    pub(super) fn new(request: &PreparedRun, takes: &str, past: PastDurations) -> Self {
        let beginning = &request.beginning;
        let plan = &beginning.plan;
        let earlier = request.earlier.as_ref();
        let rounds = earlier.map_or(plan.measure.rounds, |earlier| earlier.rounds);
        let meter = Meter::new(past);
        let meter = match earlier {
            Some(earlier) => meter.adding(earlier.rounds, earlier.session.elapsed_ns),
            None => meter,
        };
        let bar = io::stderr().is_terminal().then(bar);
        let progress = Self {
            heartbeat: heartbeat(bar.clone()).ok(),
            bar,
            visits: Cell::default(),
            meter: RefCell::new(meter),
        };
        let measured = match &plan.experiments {
            Some(asked) => {
                let changes = humanize::pluralised(asked.tried.len() as u64, "change");
                format!("{changes} in turns at {}", asked.point)
            }
            None => format!(
                "{} × {} × {}{}",
                humanize::pluralised(plan.setups.len() as u64, "setup"),
                sweep::point_count_text(&plan.points),
                humanize::pluralised(u64::from(rounds), "round"),
                if earlier.is_some() { " more" } else { "" },
            ),
        };
        let (models, preset) = (beginning.model_names(), plan.preset);
        progress.line(&format!("{models}: {measured}, preset {preset}"));
        progress.line(takes);
        for warning in &beginning.warnings {
            progress.line(&format!("Note: {warning}"));
        }
        progress
    }

    /// Takes one event in.
    pub(super) fn tell(&self, stamped: &TimedEvent, session: &Session) {
        self.follow_visits(&stamped.event, session);
        self.measure_progress(stamped, session);
        match &stamped.event {
            RunEvent::Queued { setups, state } => {
                let label = setups.first().map(|setup| session.setup_label(*setup));
                self.line(&format!("{}: queued, {state}", label.unwrap_or_default()));
            }
            RunEvent::Reached { machine } => self.line(&machine.in_short()),
            RunEvent::SetupReady { setup, report } => {
                // That of the first start, which the session keeps.
                if session.reports.get(*setup) == Some(&Some(report.clone())) {
                    self.line(&format!(
                        "{}: {} loaded the model in {}",
                        session.setup_label(*setup),
                        report.engine,
                        humanize::duration_ns(report.load_ns as f64)
                    ));
                }
            }
            RunEvent::Examined { setup, examination } => self.line(&format!(
                "{}: {}",
                session.setup_label(*setup),
                examined::examination_text(examination)
            )),
            RunEvent::Profiled { profile } if profile.starts.len() > 1 => {}
            RunEvent::Profiled { profile } => self.line(&profiled::named_profile_text(profile)),
            RunEvent::Judged { setup, accuracy } => self.line(&format!(
                "{}: {}",
                session.setup_label(*setup),
                accuracy::in_short(accuracy)
            )),
            RunEvent::RoundFinished { case, round } => self.round_done(session, *case, round.round),
            RunEvent::CaseEnded { case, outcome } => self.case_done(session, *case, outcome),
            RunEvent::Warned { text } | RunEvent::WorkerDied { text, .. } => {
                self.line(&format!("Note: {text}"));
            }
            RunEvent::Began(_)
            | RunEvent::WentOn { .. }
            | RunEvent::WorkerStarted { .. }
            | RunEvent::VisitBegan { .. }
            | RunEvent::Turned { .. }
            | RunEvent::CaseOpened { .. }
            | RunEvent::WarmedUp { .. }
            | RunEvent::RoundStarted { .. }
            | RunEvent::Watched { .. }
            | RunEvent::Idled { .. }
            | RunEvent::Read { .. }
            | RunEvent::DeviceLost { .. }
            | RunEvent::TakenBack { .. }
            | RunEvent::Paused
            | RunEvent::Resumed
            | RunEvent::Ended { .. } => {}
        }
    }

    /// Clears the bar.
    pub(super) fn finish(&self) {
        if let Some(heartbeat) = &self.heartbeat {
            heartbeat.wait_for(None);
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// The case of the current round, and what is done with it.
    fn follow_visits(&self, event: &RunEvent, session: &Session) {
        let mut visits = self.visits.get();
        let step = visits.follow(event);
        self.visits.set(visits);
        let words = step.map(|step| step_text(&step, session));
        if let Some(words) = &words {
            self.message(words);
        }
        if let Some(heartbeat) = self.heartbeat.as_ref()
            && (words.is_some() || StepFollower::is_pause(event))
        {
            heartbeat.wait_for(words);
        }
    }

    /// The bar has the share of the time; the rounds, which take unequal times, stand beside it.
    fn measure_progress(&self, stamped: &TimedEvent, session: &Session) {
        let Some(bar) = &self.bar else {
            return;
        };
        let mut meter = self.meter.borrow_mut();
        if matches!(stamped.event, RunEvent::Paused | RunEvent::Resumed) {
            meter.pause();
        }
        meter.follow(&stamped.event, stamped.at_ns);
        let progress = meter.read(session, stamped.at_ns);
        let left = remaining_text(progress.remaining_s, progress.note.as_deref());
        let left = left.map_or_else(String::new, |left| format!(", {left}"));
        bar.set_position(u64::from(progress.percent()));
        bar.set_prefix(format!(
            "{}, {}{left}",
            progress.rounds_text(),
            progress.time_text()
        ));
    }

    fn round_done(&self, session: &Session, case: CaseKey, round: u32) {
        let samples: Vec<f64> = session
            .case(case)
            .and_then(|case| case.rounds.last())
            .map(|round| round.samples_ns.iter().map(|&ns| ns as f64).collect())
            .unwrap_or_default();
        let found = median(&samples)
            .map(humanize::duration_ns)
            .unwrap_or_default();
        if self.bar.is_none() {
            output::note(&format!(
                "{} round {}: {found}",
                label(session, case),
                round + 1
            ));
        }
    }

    fn case_done(&self, session: &Session, case: CaseKey, outcome: &Outcome) {
        // What no time was left for is said once, beside what was tried.
        let is_untried = session.plan.experiments.is_some() && *outcome == Outcome::Cancelled;
        if let Some(sentence) = outcome.sentence().filter(|_| !is_untried) {
            self.line(&format!(
                "{} {}: {sentence}",
                label(session, case),
                outcome.name()
            ));
        }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(output::harmless(text)),
            None => output::note(text),
        }
    }

    fn message(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(output::harmless(text).into_owned());
        }
    }
}

/// Reports a wait repeatedly: in the bar's line, or in lines of its own.
fn heartbeat(bar: Option<ProgressBar>) -> io::Result<Heartbeat> {
    match bar {
        Some(bar) => Heartbeat::begin(true, move |words| {
            bar.set_message(output::harmless(words).into_owned());
        }),
        None => Heartbeat::begin(false, output::note),
    }
}

/// What is done, and with which case or setup.
fn step_text(step: &RunStep, session: &Session) -> String {
    let doing = &step.doing;
    match (step.case, doing.setup()) {
        (Some(case), _) => format!("{}: {doing}", label(session, case)),
        (None, Some(setup)) => format!("{}: {doing}", session.setup_label(setup)),
        (None, None) => doing.to_string(),
    }
}

pub(super) fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{bar:16.yellow/black} {elapsed} passed, {prefix}  {wide_msg}",
    );
    let style = style
        .unwrap_or_else(|_broken| ProgressStyle::default_bar())
        .progress_chars("━━─");
    ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stderr_with_hz(4))
        .with_style(style)
}

fn label(session: &Session, case: CaseKey) -> String {
    format!("{} {}", session.setup_label(case.setup), case.point)
}
