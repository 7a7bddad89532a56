//! Carries a plan out: workers for its setups, visits to its cases round by round, one event stream.
//!
//! Blocks until the run is over, so it belongs on a thread that may wait. Whatever a worker does
//! ends one case or one setup; the run itself always ends with an outcome for every case.

mod alternating;
mod beside;
mod device_sampling;
mod examining;
mod journaling;
pub mod judging;
mod machines;
mod machines_at_once;
mod measured_round;
mod model_file;
mod node_work;
mod profiling;
mod rounds;
mod stops;
mod walltime;
mod workers;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use machines_at_once::RunLink;
use measured_round::AskedRound;

use super::schedule;
use super::watching::Watcher;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::clock;
use powerband_core::control::Control;
use powerband_core::domain::case::{CaseKey, CaseOpening, CaseStart, WarmUp};
use powerband_core::domain::event::{Activity, RunEvent, RunStart, TimedEvent};
use powerband_core::domain::outcome::{Outcome, Phase};
use powerband_core::domain::plan::WorkerLifetime;
use powerband_core::domain::session::Session;
use powerband_core::domain::tensor::TensorSpec;
use powerband_core::schedule::warm_up::visit_warm_up;
use powerband_planning::transport::SetupMachine;
use powerband_store::installation::WatchRequest;
use powerband_store::journal::Journal;
use powerband_worker::engines::EngineError;
use powerband_worker::engines::generate::Generate;
use powerband_worker::protocol::{Reply, Request};
use powerband_worker::remote::files::ModelFiles;
use powerband_worker::remote::reached::Reached;
use powerband_worker::stops::Stops;
use powerband_worker::supervisor::WorkerError;
use powerband_worker::worker_group::WorkerGroup;

/// Everything a run needs beyond its plan.
#[derive(Debug)]
pub struct PreparedRun {
    /// The plan and its circumstances.
    pub beginning: RunStart,
    /// Our own executable, which is the worker.
    pub program: PathBuf,
    /// Each setup's ONNX file.
    pub models: Vec<ModelFiles>,
    /// The machines of the setups that do not run here, by their places in the plan.
    pub machines: BTreeMap<usize, SetupMachine>,
    /// Each setup's library, where its engine has one; or why the setup cannot run here.
    pub runtimes: Vec<Result<Option<PathBuf>, String>>,
    /// Each case's inputs, or why the batch size does not fit the model.
    pub inputs: BTreeMap<CaseKey, Result<Vec<TensorSpec>, String>>,
    /// What each run asks of a language model, of the cases whose runs are requests to one.
    pub requests: BTreeMap<CaseKey, Generate>,
    /// The session that is to get more rounds; nothing for a new one.
    pub earlier: Option<EarlierSession>,
    /// What the outputs are compared with, where they are.
    pub reference: Option<judging::Reference>,
    /// Where timelines are kept until the session has a file; nothing for nowhere.
    pub traces: Option<PathBuf>,
    /// How the devices are watched during the run; nothing for not at all.
    pub watch: Option<WatchRequest>,
    /// The scheduler's job that the run itself happens in, where it does.
    pub job: Option<String>,
    /// Until when rounds are added beyond the planned ones; nothing for no such rounds.
    pub settling: Option<Settling>,
}

/// Whether a comparison that a case takes part in is open yet.
pub type IsOpen = dyn Fn(&Session, CaseKey) -> bool + Send + Sync;

/// Rounds are added until comparisons are settled or the time is used up.
pub struct Settling {
    /// The time for measuring, waiting between rounds included.
    pub budget: Duration,
    /// Whether a comparison that the case takes part in is open yet.
    pub is_open: Box<IsOpen>,
}

impl fmt::Debug for Settling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settling")
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

/// A session that is to get more rounds.
#[derive(Debug)]
pub struct EarlierSession {
    /// The session.
    pub session: Session,
    /// So many rounds more of each case.
    pub rounds: u32,
    /// When this sitting begins, RFC 3339 in UTC.
    pub created: String,
}

/// Called with each event as it happens.
pub(crate) type Observer<'a> = dyn FnMut(&TimedEvent, &Session) + 'a;

/// Carries the plan out. The journal, where there is one, has every event before the observer hears
/// of it; it comes back with the session, to be discarded once that is saved.
pub fn run(
    request: PreparedRun,
    journal: Option<Journal>,
    control: &Control,
    observer: &mut Observer<'_>,
) -> (Session, Option<Journal>) {
    let mut request = request;
    let (session, rounds, first) = match request.earlier.take() {
        None => {
            let beginning = request.beginning.clone();
            let first = RunEvent::Began(Box::new(beginning.clone()));
            let rule = &beginning.plan.measure;
            let rounds = Rounds {
                first: 0,
                planned: rule.rounds,
                may_add: true,
            };
            (Session::from_start(beginning), rounds, first)
        }
        Some(earlier) => {
            let next = earlier.session.next_round();
            let session = earlier.session.reopened(&earlier.created);
            let rounds = Rounds {
                first: next,
                planned: next + earlier.rounds,
                may_add: false,
            };
            let first = RunEvent::WentOn {
                session: Box::new(session.clone()),
                at: earlier.created,
            };
            (session, rounds, first)
        }
    };
    // A sitting goes on where the clock of the session stood.
    let began_ns = clock::monotonic_ns().saturating_sub(session.elapsed_ns);
    let mut run = ActiveRun::new(request, session, (rounds, began_ns), control, observer);
    run.journal = journal;
    run.tell(first);
    run.reach_machines();
    run.refuse_what_does_not_fit();
    run.begin_watching();
    run.measure_rounds_or_turns();
    run.compare_accuracy();
    run.profile();
    run.finish();
    (run.session, run.journal)
}

/// Which rounds are measured.
#[derive(Clone, Copy, Debug)]
struct Rounds {
    first: u32,
    /// Up to this one, not included.
    planned: u32,
    /// Whether more are added until an interval is narrow.
    may_add: bool,
}

impl Rounds {
    /// How many are planned.
    fn count(self) -> u32 {
        self.planned - self.first
    }
}

struct ActiveRun<'a, 'o> {
    began_ns: u64,
    session: Session,
    rounds: Rounds,
    /// Whether a worker is ended before another one is started.
    alone: bool,
    workers: BTreeMap<usize, WorkerGroup>,
    /// How often the worker of each setup was started in this session.
    starts: BTreeMap<usize, u32>,
    /// Over how many starts the rounds of each setup are spread, once it is known what a start costs.
    planned_starts: BTreeMap<usize, u32>,
    /// How cases were warmed up in a start that is not their first, until their round has it.
    later_warm_ups: BTreeMap<CaseKey, WarmUp>,
    /// How long each setup's model took to load in its newest start.
    loads_ns: BTreeMap<usize, u64>,
    /// What cases cost in a start that is not their first, until their round has it.
    later_starts: BTreeMap<CaseKey, CaseStart>,
    /// Setups whose examination gave nothing.
    unexamined: BTreeSet<usize>,
    /// The most memory that each setup's worker had, in bytes.
    peaks: BTreeMap<usize, u64>,
    /// Cases that were left out for a while.
    taken_back: BTreeSet<CaseKey>,
    /// Cases that their living worker has opened.
    opened: BTreeSet<CaseKey>,
    /// Cases that their living worker has warmed up.
    warmed: BTreeSet<CaseKey>,
    request: PreparedRun,
    journal: Option<Journal>,
    control: &'a Control,
    /// What ends the question that is being asked: the run's token, or that of one visit.
    stop: CancelToken,
    observer: &'a mut Observer<'o>,
    /// Watches the devices, where that is wanted.
    watcher: Option<Watcher>,
    /// Other machines that are ready, by what setups call them.
    reached: BTreeMap<String, Reached>,
    /// What a scheduler said of the node that a setup waits for.
    queued: BTreeMap<usize, String>,
    /// When each round of this sitting began, and last when the next one is about to.
    round_began_ns: Vec<u64>,
    /// Model files that are other ones now, each said.
    changed_models: BTreeSet<PathBuf>,
    /// What was stopped during the last request, and for how long.
    stops: Stops,
    /// The run that this is a part of, where machines are measured at the same time.
    run_link: Option<RunLink>,
}

impl<'a, 'o> ActiveRun<'a, 'o> {
    /// A run of which nothing was done yet; its clock began at a moment of the monotonic one.
    fn new(
        request: PreparedRun,
        session: Session,
        (rounds, began_ns): (Rounds, u64),
        control: &'a Control,
        observer: &'a mut Observer<'o>,
    ) -> Self {
        let setups = 0..session.plan.setups.len();
        Self {
            began_ns,
            starts: setups
                .map(|setup| (setup, session.starts_of(setup)))
                .collect(),
            session,
            rounds,
            alone: request.beginning.plan.keeping == WorkerLifetime::OneAtATime,
            workers: BTreeMap::new(),
            planned_starts: BTreeMap::new(),
            later_warm_ups: BTreeMap::new(),
            loads_ns: BTreeMap::new(),
            later_starts: BTreeMap::new(),
            opened: BTreeSet::new(),
            warmed: BTreeSet::new(),
            taken_back: BTreeSet::new(),
            unexamined: BTreeSet::new(),
            peaks: BTreeMap::new(),
            request,
            journal: None,
            control,
            stop: control.token().clone(),
            observer,
            watcher: None,
            reached: BTreeMap::new(),
            queued: BTreeMap::new(),
            round_began_ns: Vec::new(),
            changed_models: BTreeSet::new(),
            stops: Stops::default(),
            run_link: None,
        }
    }

    fn refuse_what_does_not_fit(&mut self) {
        for case in self.request.beginning.plan.cases() {
            if self.is_over(case) {
                continue;
            }
            let runtime = self.request.runtimes.get(case.setup);
            let reason = match (runtime, self.inputs_of(case)) {
                (Some(Err(reason)), _) => reason.clone(),
                (_, Err(reason)) => reason,
                (_, Ok(_)) => continue,
            };
            self.tell(RunEvent::CaseEnded {
                case,
                outcome: Outcome::Unsupported { reason },
            });
        }
    }

    /// The inputs of a case, or why there are none.
    fn inputs_of(&self, case: CaseKey) -> Result<Vec<TensorSpec>, String> {
        let missing = || Err("no shapes were worked out for this batch size".to_owned());
        self.request
            .inputs
            .get(&case)
            .cloned()
            .unwrap_or_else(missing)
    }

    /// What each run of a case asks of a language model, where its runs are requests to one.
    fn requests_of(&self, case: CaseKey) -> Option<Generate> {
        self.request.requests.get(&case).cloned()
    }

    /// One visit to a case, to measure a round or to get ready for it; whatever goes wrong becomes its outcome.
    fn visit(&mut self, case: CaseKey, round: Option<u32>) {
        self.visit_with(case, &mut |run, phase| run.try_visit(case, round, phase));
    }

    /// The same, doing something else during the visit.
    fn visit_with(
        &mut self,
        case: CaseKey,
        attempt: &mut dyn FnMut(&mut Self, &mut Phase) -> Result<(), WorkerError>,
    ) {
        // A failure of the setup earlier in this round may have ended the case already.
        if self.is_over(case) {
            return;
        }
        let stop = self.control.begin_visit(case);
        let mut phase = Phase::Start;
        // A case that was left out only just now is not begun; the next look at the actions ends it.
        let visited = if stop.is_cancelled() {
            Ok(())
        } else {
            self.stop = stop;
            let visited = attempt(self, &mut phase);
            self.remember_peak(case.setup);
            match visited {
                Err(error) if self.may_fit_alone(case, &error, phase) => {
                    self.try_alone(case, &error);
                    phase = Phase::Start;
                    attempt(self, &mut phase)
                }
                visited => visited,
            }
        };
        self.control.end_visit();
        self.stop = self.control.token().clone();
        if let Err(error) = visited {
            self.take_failure(case, phase, error);
        }
    }

    fn try_visit(
        &mut self,
        case: CaseKey,
        round: Option<u32>,
        phase: &mut Phase,
    ) -> Result<(), WorkerError> {
        // Told before its worker is started, so that one that hangs there can be named and left out.
        let begins = Some(self.first_phase(case));
        self.tell(RunEvent::VisitBegan { case, begins });
        self.ensure_worker(case.setup, phase)?;
        self.check_loaded_model(case.setup)?;
        self.open_smaller(case, phase)?;
        *phase = Phase::Open;
        self.ensure_open(case)?;
        // Through the warm-up too, which is then that of what is measured.
        let neighbour = self.start_neighbour(case.setup)?;
        *phase = Phase::WarmUp;
        self.ensure_warm(case)?;
        let Some(round) = round else {
            return Ok(());
        };
        *phase = Phase::Measure;
        let rule = schedule::visit(&self.request.beginning.plan, case, round);
        let mut neighbour = neighbour;
        let asked = AskedRound {
            case,
            by: case,
            round,
            rule,
            patience_ns: 0,
        };
        self.measure_round(&asked, neighbour.as_mut())
    }

    /// What a visit to the case has to begin with.
    fn first_phase(&self, case: CaseKey) -> Phase {
        if !self.workers.contains_key(&case.setup) {
            Phase::Start
        } else if !self.opened.contains(&case) {
            Phase::Open
        } else if !self.warmed.contains(&case) {
            Phase::WarmUp
        } else {
            Phase::Measure
        }
    }

    /// Opens what is smaller first, in doubling steps, so that the memory that each of them needs is
    /// known. What fails here is the outcome of the smaller point.
    fn open_smaller(&mut self, case: CaseKey, phase: &mut Phase) -> Result<(), WorkerError> {
        // In a later start it is known.
        let known = self.session.case(case);
        let is_known = known.is_some_and(|case| case.opening.is_some());
        if is_known || (self.alone && self.session.plan.setups.len() > 1) {
            return Ok(());
        }
        while let Some(smaller) = self.next_smaller(case) {
            let activity = Activity::OpeningSmaller { case: smaller };
            self.tell(RunEvent::Turned { activity });
            match self.ensure_open(smaller) {
                Ok(()) => continue,
                Err(WorkerError::Cancelled) => return Err(WorkerError::Cancelled),
                Err(error) if self.may_fit_alone(smaller, &error, Phase::Open) => {
                    self.try_alone(smaller, &error);
                    return self.ensure_worker(case.setup, phase);
                }
                Err(error) => self.take_failure(smaller, Phase::Open, error),
            }
            self.ensure_worker(case.setup, phase)?;
        }
        Ok(())
    }

    /// The next step on the way to a case that its worker has not opened yet.
    fn next_smaller(&self, case: CaseKey) -> Option<CaseKey> {
        let cases = self.session.cases.iter();
        let pending = cases.filter(|other| other.setup == case.setup && !other.outcome.is_final());
        let steps = schedule::steps_to(case.point, pending.map(|other| other.point));
        let steps = steps.into_iter().map(|point| CaseKey { point, ..case });
        let mut missing = steps.filter(|step| !self.opened.contains(step));
        missing.next()
    }

    fn ensure_open(&mut self, case: CaseKey) -> Result<(), WorkerError> {
        if self.opened.contains(&case) {
            return Ok(());
        }
        let inputs = self.inputs_of(case).map_err(EngineError::Unsupported)?;
        let inputs = self.inputs_of_worker(case.setup, inputs)?;
        let limit = Duration::from_millis(self.request.beginning.plan.limits.load_ms);
        let request = Request::Open {
            case: case.into(),
            inputs,
            seed: self.request.beginning.plan.seed,
            feed: Vec::new(),
            generate: self.requests_of(case),
        };
        match self.ask(case.setup, &request, limit)? {
            Reply::Opened(mut opening) => {
                self.opened.insert(case);
                opening.peak_bytes = self.peak_of(case, opening.peak_bytes);
                self.remember_later_start(case, &opening);
                self.tell(RunEvent::CaseOpened { case, opening });
                Ok(())
            }
            other => Err(self.confused(case.setup, &other)),
        }
    }

    /// Keeps what a case cost in a later start for its round.
    fn remember_later_start(&mut self, case: CaseKey, opening: &CaseOpening) {
        let known = self.session.case(case);
        if known.is_none_or(|case| case.opening.is_none()) {
            return;
        }
        let start = CaseStart {
            load_ns: self.loads_ns.get(&case.setup).copied().unwrap_or_default(),
            open_ns: opening.open_ns,
            first_run_ns: opening.first_run_ns,
            peak_bytes: opening.peak_bytes,
        };
        self.later_starts.insert(case, start);
    }

    fn ensure_warm(&mut self, case: CaseKey) -> Result<(), WorkerError> {
        if self.warmed.contains(&case) {
            return Ok(());
        }
        let known = self.session.case(case);
        let is_first = known.is_none_or(|case| case.warm_up.is_none());
        let plan = &self.request.beginning.plan;
        let (rule, limit) = visit_warm_up(plan, is_first);
        let silent = Duration::from_millis(rule.max_time_ms + plan.limits.warm_up_ms);
        let request = Request::WarmUp {
            case: case.into(),
            rule,
            limit: Some(limit),
        };
        match self.ask(case.setup, &request, silent)? {
            Reply::Warm(warm_up) => {
                self.warmed.insert(case);
                if !is_first {
                    self.later_warm_ups.insert(case, warm_up.clone());
                }
                self.tell(RunEvent::WarmedUp { case, warm_up });
                Ok(())
            }
            other => Err(self.confused(case.setup, &other)),
        }
    }

    /// Ends the case, or every case of the setup where its model does not even load.
    fn take_failure(&mut self, case: CaseKey, phase: Phase, error: WorkerError) {
        // Weights that are mapped into memory end a worker when their file is cut off.
        if matches!(error, WorkerError::Died(_)) && self.runs_in_worker(case.setup) {
            drop(self.check_loaded_model(case.setup));
        }
        let whole_setup = matches!(phase, Phase::Start | Phase::Load);
        if whole_setup || !error.leaves_worker_usable() {
            self.forget_worker(case.setup);
        } else {
            self.close(case);
        }
        let outcome = self
            .connection_error(case.setup, phase, error)
            .into_outcome(phase);
        // Stopping the run and leaving out a case set the outcome later.
        if outcome == Outcome::Cancelled {
            return;
        }
        let ended: Vec<CaseKey> = self
            .session
            .cases
            .iter()
            .filter(|other| !other.outcome.is_final())
            .map(|other| other.key())
            .filter(|other| *other == case || (whole_setup && other.setup == case.setup))
            .collect();
        for case in ended {
            self.tell(RunEvent::CaseEnded {
                case,
                outcome: outcome.clone(),
            });
        }
    }

    fn finish(&mut self) {
        let cancelled = self.control.is_cancelled();
        let open: Vec<CaseKey> = self
            .session
            .cases
            .iter()
            .filter(|case| !case.outcome.is_final())
            .map(|case| case.key())
            .collect();
        for case in open {
            let outcome = if cancelled {
                self.outcome_if_stopped(case)
            } else {
                Outcome::Finished
            };
            self.tell(RunEvent::CaseEnded { case, outcome });
        }
        self.end_workers();
        self.end_watching();
        self.tell(RunEvent::Ended { cancelled });
    }
}
