//! Experiments on a case of another machine: the program over there makes them, and the session comes back.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::agent::{Agent, LONGEST_TIMELINE};
use crate::prepare::model_files;
use crate::prepare_error::PrepareError;
use crate::programs;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::clock;
use powerband_core::control::Control;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::event::{Activity, RunEvent, RunStart, TimedEvent};
use powerband_core::domain::experiment::ExperimentChange;
use powerband_core::domain::plan::{Plan, TimeLimits};
use powerband_core::domain::recorded_run::RecordedRun;
use powerband_core::domain::request::ProgramTrust;
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::{
    MODEL_KEY, PROGRAM_KEY, SLURM_KEYS, Setup, VIA_KEY, WHERE_KEY,
};
use powerband_onnx::source::ModelFile;
use powerband_onnx::{source, zoo};
use powerband_planning::transport::{self, SetupMachine};
use powerband_store::installation::Installation;
use powerband_store::{library, session_file, trace_file};
use powerband_worker::engines;
use powerband_worker::remote::reached::Reached;

/// Experiments take at most so long, the roofs before them included.
const LIMIT: Duration = Duration::from_hours(2);
/// The session over there.
const SESSION: &str = "why.ron";
/// A session that is longer is not fetched, in bytes.
const LONGEST_SESSION: u64 = 64 << 20;
/// The end of what the program over there said is quoted, in lines.
const QUOTED: usize = 6;

/// Experiments that are wanted of a setup of another machine.
#[derive(Clone, Copy, Debug)]
pub struct WantedElsewhere<'a> {
    /// A built-in network, or an ONNX file here.
    pub model: &'a str,
    /// SHA-256 of the model, where it has to be a certain one.
    pub sha256: Option<&'a str>,
    pub setup: &'a Setup,
    /// Further words of `powerband why`: the point, the preset.
    pub words: &'a [String],
    /// Where the session is to be; the library where nothing is said.
    pub to: Option<&'a Path>,
}

/// Refuses a setup of a session from a file that would start programs which the user has not allowed.
pub fn check(
    place: &Installation,
    setup: &Setup,
    programs: ProgramTrust,
) -> Result<(), PrepareError> {
    engines::check(setup)?;
    programs::check(&place.paths, std::slice::from_ref(setup), programs).map(|_note| ())
}

/// The point of a case and the sizes of its inputs, as words of `powerband why`.
pub fn words_of_case(session: &Session, case: CaseKey) -> Result<Vec<String>, String> {
    let sizes = session.plan.input_sizes();
    if !(sizes.shapes.is_empty() && sizes.fills.is_empty()) {
        return Err(
            "the session says itself what shapes its inputs have or what they are filled with; run powerband why MODEL on that machine with the same options".to_owned(),
        );
    }
    let point = case.point.bindings();
    let mut words: Vec<String> = point
        .map(|(name, size)| format!("--at={name}={size}"))
        .collect();
    let options = sizes.options().into_iter();
    words.extend(options.map(|(option, value)| format!("{option}={value}")));
    Ok(words)
}

/// Experiments on a case of a session, ready to begin.
#[derive(Clone, Debug)]
pub struct ReadyElsewhere {
    /// The case as a plan of its own.
    pub beginning: RunStart,
    place: Installation,
    machine: SetupMachine,
    words: Vec<String>,
}

impl ReadyElsewhere {
    /// Those on a case of a session, all or one change alone.
    pub fn of_case(
        place: &Installation,
        session: &Session,
        case: CaseKey,
        change: Option<ExperimentChange>,
        programs: ProgramTrust,
    ) -> Result<Self, String> {
        let plan = &session.plan;
        let setup = plan.setups.get(case.setup);
        let setup = setup.ok_or("the session has no such setup")?;
        check(place, setup, programs).map_err(|error| error.to_string())?;
        let machine = SetupMachine::of_setup(setup, &place.machines)?;
        let machine = machine.ok_or_else(|| format!("{setup} runs on this machine"))?;
        let mut words = words_of_case(session, case)?;
        words.extend(change.map(|change| format!("--only={}", change.id())));
        let name = format!("why {}, {setup}, {}", session.model.name, case.point);
        Ok(Self {
            beginning: RunStart {
                name,
                created: clock::now_utc(),
                plan: Plan {
                    setups: vec![setup.clone()],
                    looks: Vec::new(),
                    points: vec![case.point],
                    experiments: None,
                    ..plan.clone()
                },
                model: session.model.clone(),
                environment: session.environment.clone(),
                ..RunStart::default()
            },
            place: place.clone(),
            machine,
            words,
        })
    }

    /// Makes them. Blocks until the session is here.
    pub fn record(
        self,
        control: &Control,
        observer: &mut dyn FnMut(&TimedEvent, &Session),
    ) -> RecordedRun {
        let mut session = Session::from_start(self.beginning.clone());
        let activity = Activity::Connecting { setup: 0 };
        let event = RunEvent::Turned { activity };
        observer(&TimedEvent { at_ns: 0, event }, &session);
        let began = Instant::now();
        let mut told = |line: &str| {
            let activity = Activity::Elsewhere {
                setup: 0,
                said: line.to_owned(),
            };
            let event = RunEvent::Turned { activity };
            let at_ns = began.elapsed().as_nanos() as u64;
            observer(&TimedEvent { at_ns, event }, &session);
        };
        let measured = self.measured(control.token(), &mut told);
        let read = measured.and_then(|path| {
            let opened = session_file::read(&path).map_err(|error| error.to_string())?;
            session = opened.session;
            Ok(path)
        });
        RecordedRun {
            session,
            saved: read,
            diverted: None,
            notes: Vec::new(),
        }
    }

    fn measured(&self, stop: &CancelToken, told: &mut dyn FnMut(&str)) -> Result<PathBuf, String> {
        let name = &self.machine.name;
        let reached = Reached::reach(&self.machine, &self.place.program, stop, &mut |_| ());
        let mut reached = reached.map_err(|error| format!("{name}: {error}"))?;
        let setup = self.beginning.plan.setups.first();
        let wanted = WantedElsewhere {
            model: &self.beginning.plan.model,
            sha256: Some(&self.beginning.model.sha256),
            setup: setup.ok_or("there is no setup")?,
            words: &self.words,
            to: None,
        };
        let path = measure(&self.place, &mut reached, wanted, stop, told);
        path.map_err(|reason| format!("{name}: {reason}"))
    }
}

/// Has them made over there, and saves the session here; returns its path. `told` hears each line of the program over
/// there as it comes.
pub fn measure(
    place: &Installation,
    reached: &mut Reached,
    wanted: WantedElsewhere<'_>,
    stop: &CancelToken,
    told: &mut dyn FnMut(&str),
) -> Result<PathBuf, String> {
    let model = model_there(place, reached, &wanted, stop)?;
    let setup = setup_there(place, reached, wanted.setup, stop)?;
    let mut nothing = || ();
    let mut agent = Agent::start(&reached.agent(), &TimeLimits::default(), stop, &mut nothing)?;
    let folder = agent.folder("session")?;
    let file = folder.join(SESSION);
    let setup = setup.to_string();
    let own = ["why", &model, "--setup", &setup, "--force", "--out"].map(ToOwned::to_owned);
    let words = own.into_iter().chain([file.display().to_string()]);
    let words = words.chain(wanted.words.iter().cloned());
    let mut heard = String::new();
    let mut hear = |line: &str| {
        heard.push_str(line);
        heard.push('\n');
        told(line);
    };
    let said = agent.command(words.collect(), LIMIT, &mut hear);
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let fetched = scratch.path().join(SESSION);
    // A case that could not be measured is an error over there that left a session all the same.
    let length = match (&said, agent.fetch(&file, &fetched, LONGEST_SESSION)) {
        (_, Ok(length)) => length,
        (Ok(_), Err(reason)) => return Err(reason),
        (Err(said), Err(_)) => return Err(last_lines(said)),
    };
    if length == 0 {
        return Err(last_lines(&heard));
    }
    let opened = session_file::read(&fetched).map_err(|error| error.to_string())?;
    let mut session = opened.session;
    if wanted
        .sha256
        .is_some_and(|sha256| sha256 != session.model.sha256)
    {
        return Err(other_model(&session.model.name));
    }
    let path = match wanted.to {
        Some(path) => path.to_path_buf(),
        None => library::new_path(&place.paths, &session.name, &session.created)
            .map_err(|error| format!("the session cannot be saved: {error}"))?,
    };
    for (number, profile) in session.profiles.iter_mut().enumerate() {
        let name = profile.trace_file.take();
        // Experiments have one profile: that of the case.
        let Some(name) = name.filter(|_| number == 0) else {
            continue;
        };
        let beside = trace_file::path(&path, number);
        match agent.fetch(&folder.join(name), &beside, LONGEST_TIMELINE) {
            Ok(0) => {}
            Ok(_) => {
                let name = beside.file_name();
                profile.trace_file = name.map(|name| name.to_string_lossy().into_owned());
            }
            Err(reason) => session
                .warnings
                .push(format!("A timeline cannot be kept: {reason}.")),
        }
    }
    ran_there(&mut session, reached, wanted);
    session_file::write(&path, &session)
        .map_err(|error| format!("the session cannot be saved: {error}"))?;
    Ok(path)
}

/// The model over there: a built-in network by its name, a file that is sent.
fn model_there(
    place: &Installation,
    reached: &mut Reached,
    wanted: &WantedElsewhere<'_>,
    stop: &CancelToken,
) -> Result<String, String> {
    let model = wanted.model;
    if zoo::find(model).is_some() {
        return Ok(model.to_owned());
    }
    let opened = source::open(model, &place.paths.cache).map_err(|error| error.to_string())?;
    if wanted.sha256.is_some_and(|sha256| sha256 != opened.sha256) {
        return Err(other_model(&opened.name));
    }
    let sent = sent(reached, &opened, stop)?;
    Ok(sent.display().to_string())
}

/// The setup as it is spelled over there, with a model of its own sent.
fn setup_there(
    place: &Installation,
    reached: &mut Reached,
    setup: &Setup,
    stop: &CancelToken,
) -> Result<Setup, String> {
    let there = transport::over_there(setup);
    let Some(own) = setup.own_model().filter(|own| zoo::find(own).is_none()) else {
        return Ok(there);
    };
    let opened = source::open(own, &place.paths.cache).map_err(|error| error.to_string())?;
    let sent = sent(reached, &opened, stop)?;
    Ok(there.with(MODEL_KEY, sent.display().to_string()))
}

fn sent(reached: &mut Reached, opened: &ModelFile, stop: &CancelToken) -> Result<PathBuf, String> {
    let sent = reached.model(&model_files(opened, None), stop, &mut |_| ());
    sent.map_err(|error| error.to_string())
}

fn other_model(name: &str) -> String {
    format!("{name} is another network now than the one that the session measured; measure it anew")
}

/// Makes a session of that machine one with setups on another machine: the setups name it, and its circumstances and
/// roofs are the machine's.
fn ran_there(session: &mut Session, reached: &Reached, wanted: WantedElsewhere<'_>) {
    let is_of_machine =
        |key: &str| [WHERE_KEY, VIA_KEY, PROGRAM_KEY].contains(&key) || key.starts_with(SLURM_KEYS);
    let options = wanted.setup.options.iter();
    let place: Vec<(&String, &String)> = options.filter(|(key, _)| is_of_machine(key)).collect();
    for setup in &mut session.plan.setups {
        if let (Some(own), true) = (wanted.setup.own_model(), setup.own_model().is_some()) {
            setup.options.insert(MODEL_KEY.to_owned(), own.to_owned());
        }
        for (key, value) in &place {
            setup.options.insert((*key).clone(), (*value).clone());
        }
    }
    for track in &mut session.telemetry.tracks {
        track.device.machine = Some(reached.name.clone());
    }
    let mut machine = reached.record((0..session.plan.setups.len()).collect());
    machine.environment = session.environment.clone();
    machine.roofs = std::mem::take(&mut session.roofs);
    if zoo::find(wanted.model).is_none() {
        wanted.model.clone_into(&mut session.plan.model);
    }
    session.name = format!("{} on {}", session.name, reached.name);
    session.machines = vec![machine];
}

/// The end of what was said.
fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let from = lines.len().saturating_sub(QUOTED);
    lines[from..].join("; ")
}
