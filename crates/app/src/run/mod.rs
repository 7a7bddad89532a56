//! The run in progress, as the window sees it: the session so far, and where the run stands.

pub(crate) mod action;
mod case_filter;
pub(crate) mod commands;
mod concurrent_runs;
mod log;
pub(crate) mod palette;
mod programs;
mod queue;
mod queued_run;
mod stage;
pub mod states;
mod table;
mod update;
mod work;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use self::case_filter::CaseFilter;
pub use self::{action::ProgramsQuestion, log::LogLine, queued_run::QueuedRun, stage::Stage};
use crate::sessions::{Findings, LIVE, OpenSessions, SessionId, series};
use powerband_core::base::humanize;
use powerband_core::control::Control;
use powerband_core::domain::case::{Case, CaseKey};
use powerband_core::domain::event::{RunEvent, RunStart, TimedEvent};
use powerband_core::domain::plan::WorkerLifetime;
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::TimeSpan;
use powerband_core::domain::visit::{RunStep, RunStepKind, StepFollower};
use powerband_findings::analysis::past_durations::PastDurations;
use powerband_findings::analysis::progress::{self, Meter, RunProgress, Tally};
use powerband_findings::chart::curves::{self, CurveOptions, Overlay};
use powerband_findings::chart::lanes::{self, Lanes};
use powerband_findings::chart::samples;
use powerband_findings::chart::spec::ChartSpec;

/// Newest samples that the strip shows.
const STRIP_SAMPLES: usize = 400;
/// Length of the lanes of a run in progress.
const LANES_NS: u64 = 120_000_000_000;
/// A step shows its duration from this one on.
const WORTH_TELLING_NS: u64 = 5_000_000_000;

/// A run in progress or finished.
#[derive(Debug)]
pub struct LiveRun {
    /// Its title until its session begins.
    pub title: String,
    /// Its stage.
    pub stage: Stage,
    /// Pause, skip, stop.
    pub control: Control,
    /// The session so far.
    pub session: Option<Arc<Session>>,
    /// The findings so far.
    pub findings: Findings,
    /// The curves of it, made when something was found and not for each frame.
    pub throughput: ChartSpec,
    /// When the session's clock began, on the monotonic clock; rounds are added at a later time of it.
    pub began_ns: u64,
    /// The time of this frame: everything that it shows is of one moment.
    now_ns: u64,
    /// The session that it adds rounds to, where it is open.
    pub(crate) grows: Option<SessionId>,
    /// Whether its first two setups are compared once it is over.
    pub(crate) is_compared: bool,
    /// Rounds that it adds to each case, and what the session's clock said when it began; nothing for a new session.
    added: Option<(u32, u64)>,
    /// The current case and its activity.
    pub current: Option<(CaseKey, String)>,
    /// Cases that the user left out.
    pub skipped: Vec<CaseKey>,
    /// Cases that the user took back and the run has not opened again yet.
    pub taken_back: Vec<CaseKey>,
    /// Whether the table follows the active case.
    pub follows: bool,
    /// Which cases the table lists.
    pub filter: CaseFilter,
    /// The log, oldest first.
    pub log: VecDeque<LogLine>,
    /// The newest samples of the current case.
    pub strip: ChartSpec,
    /// Device telemetry: the last two minutes, or the whole run once it is over.
    pub lanes: Lanes,
    /// Progress; updated at every event and every second.
    pub progress: Option<RunProgress>,
    /// Its session, once it is over.
    pub became: Option<SessionId>,
    /// Whether the program ends once the run is over.
    pub close_after: bool,
    /// The palette index of each setup, which is that of its curve on every screen.
    pub(crate) colours: Vec<usize>,
    /// Activity outside rounds: comparing outputs, profiling.
    pub aside: Option<String>,
    /// Cases that are visited now, by setup, where machines are measured at the same time.
    visited_at_once: BTreeMap<usize, CaseKey>,
    /// Setups whose node is waited for in a scheduler's queue.
    queued: Vec<usize>,
    /// The places of the cases that the table lists.
    listed: Vec<usize>,
    /// What the run does now.
    doing: Option<RunStepKind>,
    /// Start of the current step, in nanoseconds since the run began; `None` in a round.
    waits_since_ns: Option<u64>,
    meter: Meter,
    visits: StepFollower,
}

impl LiveRun {
    /// A run of which only the request is known.
    pub fn new(title: String, control: Control) -> Self {
        Self {
            title,
            stage: Stage::Preparing,
            control,
            session: None,
            findings: Findings::default(),
            throughput: ChartSpec::default(),
            began_ns: 0,
            now_ns: 0,
            grows: None,
            is_compared: false,
            added: None,
            current: None,
            skipped: Vec::new(),
            taken_back: Vec::new(),
            follows: true,
            filter: CaseFilter::All,
            visited_at_once: BTreeMap::new(),
            queued: Vec::new(),
            listed: Vec::new(),
            doing: None,
            log: VecDeque::new(),
            strip: ChartSpec::default(),
            lanes: Lanes::default(),
            progress: None,
            became: None,
            close_after: false,
            colours: Vec::new(),
            aside: None,
            waits_since_ns: None,
            meter: Meter::default(),
            visits: StepFollower::default(),
        }
    }

    /// The plan is prepared and the first worker is about to start.
    pub fn begin(&mut self, beginning: RunStart, now_ns: u64) {
        self.began_ns = now_ns;
        self.now_ns = now_ns;
        self.stage = Stage::Measuring;
        for warning in &beginning.warnings {
            self.note(0, warning.clone(), false);
        }
        self.title.clone_from(&beginning.name);
        // Where machines are measured at once, the active case is another one several times a second.
        self.follows &= !matches!(beginning.plan.keeping, WorkerLifetime::MachinesAtOnce(_));
        self.session = Some(Arc::new(Session::from_start(beginning)));
    }

    /// Takes in how long its steps took before, which says how long it will take.
    pub(crate) fn remember(&mut self, past: PastDurations) {
        self.meter = Meter::new(past);
    }

    /// Adds rounds to a session, of which this was found before.
    pub fn continue_session(
        &mut self,
        session: Session,
        rounds: u32,
        findings: Findings,
        now_ns: u64,
    ) {
        self.meter = std::mem::take(&mut self.meter).adding(rounds, session.elapsed_ns);
        self.added = Some((rounds, session.elapsed_ns));
        self.find(findings);
        self.began_ns = now_ns.saturating_sub(session.elapsed_ns);
        self.now_ns = now_ns;
        self.stage = Stage::Measuring;
        self.title.clone_from(&session.name);
        self.session = Some(Arc::new(session));
    }

    /// Applies an event, with new findings where there are any.
    pub fn apply_event(&mut self, stamped: TimedEvent, findings: Option<Findings>) {
        self.log_event(&stamped);
        self.follow(&stamped.event, stamped.at_ns);
        self.meter.follow(&stamped.event, stamped.at_ns);
        let is_of_devices = matches!(
            stamped.event,
            RunEvent::Read { .. } | RunEvent::DeviceLost { .. } | RunEvent::Idled { .. }
        );
        if let Some(session) = &mut self.session
            && !matches!(stamped.event, RunEvent::Began(_) | RunEvent::WentOn { .. })
        {
            // The run holds the only reference, so nothing is copied.
            Arc::make_mut(session).apply(stamped);
        }
        if is_of_devices {
            self.redraw_lanes();
        }
        if let Some(findings) = findings {
            self.find(findings);
            self.redraw_strip();
        }
    }

    /// Draws the device telemetry.
    pub fn redraw_lanes(&mut self) {
        let Some(session) = &self.session else {
            return;
        };
        let from_ns = if self.stage.is_going_on() {
            session.elapsed_ns.saturating_sub(LANES_NS)
        } else {
            0
        };
        let window = TimeSpan {
            from_ns,
            to_ns: session.elapsed_ns,
        };
        self.lanes = lanes::of_run(session, window, |setup| self.colour(setup));
    }

    /// Current progress.
    pub fn update_progress(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        let Some(session) = self.session.as_ref().filter(|_| self.stage.is_going_on()) else {
            return;
        };
        if self.stage != Stage::Measuring {
            self.meter.pause();
        }
        let passed_ns = now_ns.saturating_sub(self.began_ns);
        self.progress = Some(self.meter.read(session, passed_ns));
    }

    /// How its cases ended so far.
    pub fn tally(&self) -> Option<Tally> {
        self.session.as_deref().map(Tally::from_session)
    }

    /// Whether it will pause after the current round.
    pub fn is_pausing(&self) -> bool {
        self.stage == Stage::Measuring && self.control.is_paused()
    }

    /// Seconds until its end, where it is on its way there.
    pub fn remaining_s(&self) -> Option<f64> {
        let progress = self.progress.as_ref()?;
        let is_moving = self.stage == Stage::Measuring && !self.is_pausing();
        progress.remaining_s.filter(|_| is_moving)
    }

    /// The time until its end as text, or why it is unknown.
    pub fn left_words(&self) -> Option<String> {
        let note = self.progress.as_ref()?.note.as_deref();
        let is_moving = self.stage == Stage::Measuring && !self.is_pausing();
        progress::remaining_text(self.remaining_s(), note.filter(|_| is_moving))
    }

    /// Nanoseconds since it began.
    pub fn elapsed_ns(&self) -> u64 {
        let before_ns = self.added.map_or(0, |(_, elapsed_ns)| elapsed_ns);
        self.clock_ns().saturating_sub(before_ns)
    }

    /// Nanoseconds for which its session was measured.
    fn clock_ns(&self) -> u64 {
        match (&self.session, self.stage.is_going_on()) {
            (Some(_), true) => self.now_ns.saturating_sub(self.began_ns),
            (Some(session), false) => session.elapsed_ns,
            (None, _) => 0,
        }
    }

    /// Rounds that a case has once the run is over, as far as is known.
    pub(super) fn planned_rounds(&self, session: &Session, case: &Case) -> usize {
        let first = session.sittings.last().map_or(0, |last| last.first_round);
        let planned = match self.added {
            Some((rounds, _)) => {
                let before = case.rounds.iter().filter(|round| round.round < first);
                before.count() + rounds as usize
            }
            None => session.plan.measure.rounds as usize,
        };
        planned.max(case.rounds.len())
    }

    /// The round of a case that is measured now: `round 4 of 8`.
    fn round_words(&self, key: CaseKey) -> String {
        let session = self.session.as_ref();
        let found = session.and_then(|session| Some((session, session.case(key)?)));
        let Some((session, case)) = found else {
            return "round".to_owned();
        };
        let round = case.rounds.len() + 1;
        let planned = self.planned_rounds(session, case);
        if session.plan.experiments.is_some() {
            return format!("turn {round}");
        }
        if round > planned {
            return format!("round {round}, beyond the plan");
        }
        format!("round {round} of {planned}")
    }

    fn follow(&mut self, event: &RunEvent, at_ns: u64) {
        let step = self.visits.follow(event);
        if step.is_some() || StepFollower::is_pause(event) {
            self.aside = None;
            // A round ends by its rule; everything else takes as long as it takes.
            let is_round = |step: &RunStep| matches!(step.doing, RunStepKind::Round(_));
            self.waits_since_ns = step.as_ref().filter(|step| !is_round(step)).map(|_| at_ns);
        }
        if StepFollower::is_pause(event) {
            self.doing = None;
        }
        if let Some(step) = step {
            let doing = self.activity_text(&step);
            match step.case {
                Some(case) => self.set_current(case, doing),
                None => self.aside = Some(self.with_setup(&step.doing, doing)),
            }
            self.doing = Some(step.doing);
        }
        self.follow_queue(event);
        self.follow_visits_at_once(event);
        match event {
            RunEvent::CaseEnded { case, .. }
                if self
                    .current
                    .as_ref()
                    .is_some_and(|(current, _)| current == case) =>
            {
                self.current = None;
            }
            RunEvent::TakenBack { case } => self.taken_back.retain(|back| back != case),
            RunEvent::Paused => self.stage = Stage::Paused,
            RunEvent::Resumed if self.stage == Stage::Paused => self.stage = Stage::Measuring,
            RunEvent::Turned { .. } if self.aside.is_some() => self.current = None,
            RunEvent::Ended { .. } => self.current = None,
            _ => {}
        }
    }

    fn follow_visits_at_once(&mut self, event: &RunEvent) {
        let plan = self.session.as_ref().map(|session| &session.plan);
        if plan.is_none_or(|plan| plan.machines_at_once().is_none()) {
            return;
        }
        match event {
            RunEvent::VisitBegan { case, .. } => {
                self.visited_at_once.insert(case.setup, *case);
            }
            RunEvent::RoundFinished { case, .. } | RunEvent::CaseEnded { case, .. } => {
                self.visited_at_once.remove(&case.setup);
            }
            _ => {}
        }
    }

    /// Duration of the current step, where it is long enough to show.
    pub fn waited(&self) -> Option<String> {
        let since_ns = self.waits_since_ns?;
        let waited_ns = self.clock_ns().saturating_sub(since_ns);
        let is_long = waited_ns >= WORTH_TELLING_NS && self.stage == Stage::Measuring;
        is_long.then(|| humanize::clock_time(waited_ns as f64 / 1e9))
    }

    /// Takes in findings, and draws them.
    pub fn find(&mut self, findings: Findings) {
        self.findings = findings;
        let overlays: Vec<Overlay<'_>> = self
            .findings
            .curves
            .iter()
            .map(|curve| Overlay {
                id: series(LIVE, curve.setup),
                name: curve.label.clone(),
                colour: self.colour(curve.setup),
                curve,
            })
            .collect();
        self.throughput = curves::throughput(&overlays, &CurveOptions::default());
    }

    /// The palette index of a setup.
    pub fn colour(&self, setup: usize) -> usize {
        self.colours.get(setup).copied().unwrap_or(setup)
    }

    /// Takes the colours that its setups have beside the open sessions.
    pub(crate) fn colours_from(&mut self, open: &mut OpenSessions) {
        if let Some(session) = &self.session {
            if let Some(id) = self.grows {
                open.lend_colours_to_run(id);
            }
            self.colours = open.colours_of_run(session);
        }
    }

    /// The current case or its activity changed.
    fn set_current(&mut self, case: CaseKey, doing: String) {
        let before = self.current.replace((case, doing));
        if before.is_none_or(|(before, _)| before != case) {
            self.redraw_strip();
        }
    }

    /// The samples of the current case; none where it has none yet.
    fn redraw_strip(&mut self) {
        let Some((session, (key, _))) = self.session.as_ref().zip(self.current.as_ref()) else {
            return;
        };
        let case = session.case(*key).filter(|case| !case.rounds.is_empty());
        self.strip = case.map_or_else(ChartSpec::default, |case| {
            samples::strip(case, self.colour(key.setup), STRIP_SAMPLES)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::case::{CaseOpening, Round};
    use powerband_core::domain::event::Activity;
    use powerband_core::domain::outcome::Phase;
    use powerband_core::domain::point::Point;
    use powerband_findings::analysis::testing;

    fn measuring() -> LiveRun {
        let mut run = LiveRun::new("test".to_owned(), Control::default());
        run.session = Some(Arc::new(testing::session(&["ort:cpu"], &[1, 2, 16])));
        run.stage = Stage::Measuring;
        run
    }

    fn doing(run: &mut LiveRun, event: RunEvent) -> String {
        run.apply_event(TimedEvent { at_ns: 0, event }, None);
        let current = run.current.as_ref();
        current.map_or_else(String::new, |(_, doing)| doing.clone())
    }

    fn case(batch: usize) -> CaseKey {
        CaseKey {
            setup: 0,
            point: Point::of_batch(batch),
        }
    }

    fn opened(batch: usize) -> RunEvent {
        RunEvent::CaseOpened {
            case: case(batch),
            opening: CaseOpening::default(),
        }
    }

    #[test]
    fn what_is_opened_on_the_way_is_named() {
        let mut run = measuring();
        let begins = Some(Phase::Start);
        let visit = RunEvent::VisitBegan {
            case: case(16),
            begins,
        };
        assert_eq!(doing(&mut run, visit), "starting");
        let report = powerband_core::domain::setup_report::SetupReport::default();
        let ready = RunEvent::SetupReady { setup: 0, report };
        let first = Phase::Open.to_string();
        let smaller = |batch| RunEvent::Turned {
            activity: Activity::OpeningSmaller { case: case(batch) },
        };
        assert_eq!(doing(&mut run, ready), first);
        assert_eq!(doing(&mut run, smaller(1)), "opening batch 1 on the way");
        assert_eq!(doing(&mut run, opened(1)), first);
        assert_eq!(doing(&mut run, smaller(2)), "opening batch 2 on the way");
        assert_eq!(doing(&mut run, opened(2)), first);
        assert!(doing(&mut run, opened(16)).starts_with("warming up"));
        assert_eq!(run.current.map(|(case, _)| case), Some(case(16)));
    }

    #[test]
    fn what_takes_long_says_for_how_long() {
        const SECOND: u64 = 1_000_000_000;
        let mut run = measuring();
        let tell =
            |run: &mut LiveRun, at_ns, event| run.apply_event(TimedEvent { at_ns, event }, None);
        let begins = Some(Phase::Open);
        let visit = RunEvent::VisitBegan {
            case: case(1),
            begins,
        };
        tell(&mut run, SECOND, visit);
        let waited = |run: &mut LiveRun, now_ns| {
            run.update_progress(now_ns);
            run.waited()
        };
        assert_eq!(waited(&mut run, 3 * SECOND), None);
        let after_some_time = waited(&mut run, 91 * SECOND);
        assert_eq!(after_some_time.as_deref(), Some("1 min 30 s"));
        tell(&mut run, 91 * SECOND, opened(1));
        assert_eq!(waited(&mut run, 92 * SECOND), None);
        let activity = Activity::Profiling { case: case(2) };
        let over = RunEvent::RoundFinished {
            case: case(1),
            round: Round::default(),
        };
        tell(&mut run, 100 * SECOND, over);
        tell(&mut run, 100 * SECOND, RunEvent::Turned { activity });
        assert_eq!(run.aside.as_deref(), Some("ort:cpu, profiling batch 2"));
        assert_eq!(run.current, None);
        assert_eq!(waited(&mut run, 107 * SECOND).as_deref(), Some("7 s"));
    }

    #[test]
    fn a_rest_that_is_to_come_is_known_and_no_end_is_promised() {
        let mut run = measuring();
        let mut progress = Meter::default().read(&testing::session(&["ort:cpu"], &[1]), 0);
        progress.remaining_s = Some(60.0);
        run.progress = Some(progress);
        assert_eq!((run.is_pausing(), run.remaining_s()), (false, Some(60.0)));
        run.control.pause();
        assert_eq!((run.is_pausing(), run.remaining_s()), (true, None));
        run.stage = Stage::Paused;
        assert_eq!((run.is_pausing(), run.remaining_s()), (false, None));
    }

    #[test]
    fn a_session_that_gets_more_rounds_goes_on_where_it_was() {
        const SECOND: u64 = 1_000_000_000;
        let mut session = testing::session(&["ort:cpu"], &[1]);
        testing::measure_near(&mut session, 0, 1, 500);
        session.elapsed_ns = 38 * SECOND;
        let findings = Findings::from_session(&session);
        let mut run = LiveRun::new("test".to_owned(), Control::default());
        let (now_ns, key) = (1_000 * SECOND, case(1));
        let reopened = session.reopened("2030-01-02T04:04:05Z");
        run.continue_session(reopened, 2, findings, now_ns);
        // Its own time has just begun, and what was measured before is there.
        run.update_progress(now_ns + SECOND);
        assert_eq!(run.elapsed_ns(), SECOND);
        run.update_progress(now_ns);
        let progress = run.progress.clone().unwrap();
        assert_eq!(progress.rounds_text(), "0 of 2 more rounds");
        assert_eq!(progress.percent(), 0);
        let shown = |run: &mut LiveRun| {
            let session = run.session.clone().unwrap();
            run.listed = run.places(CaseFilter::All);
            let table = powerband_findings::tables::view::TableView::new(run.table(&session));
            ["rounds", "median_ms"].map(|key| table.value(0, key).shown_text().to_owned())
        };
        let before = shown(&mut run);
        assert_eq!(before[0], "3 /5");
        assert_ne!(before[1], "–", "its median is still there");
        for round in 3..5 {
            let begun = RunEvent::RoundStarted { case: key, round };
            assert_eq!(doing(&mut run, begun), format!("round {} of 5", round + 1));
            let round = Round {
                round,
                samples_ns: vec![500_000],
                spent_ns: 500_000,
                ..Round::default()
            };
            doing(&mut run, RunEvent::RoundFinished { case: key, round });
            let said = &run.log.back().unwrap().text;
            let number = run.session.as_ref().unwrap().cases[0].rounds.len();
            assert!(said.contains(&format!("round {number} of 5, ")), "{said}");
        }
        let [rounds, median] = shown(&mut run);
        assert_eq!([rounds, median], ["5 /5".to_owned(), before[1].clone()]);
    }
}
