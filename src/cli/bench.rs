//! `powerband bench`: from arguments to a request, through a run, to a saved session and a table.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use super::args::BenchArgs;
use super::progress::ProgressDisplay;
use super::{Context, TROUBLE, devices, is_broken_pipe, machines, output};
use powerband_core::control::Control;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::request::ProgramTrust;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;
use powerband_findings::analysis::comparison::{self, Comparison};
use powerband_findings::analysis::past_durations::PastDurations;
use powerband_findings::analysis::{case_rows, plan_estimate};
use powerband_findings::export::json;
use powerband_findings::report;
use powerband_planning::engine_options::program_lines;
use powerband_planning::form::{Draft, PlanField};
use powerband_planning::ladders::{self, LadderMachine};
use powerband_planning::transport::SetupMachine;
use powerband_runner::jobs::submit::{self, DetachOptions};
use powerband_runner::prepare;
use powerband_runner::record::{Recorder, SessionTarget};
use powerband_runner::run::PreparedRun;
use powerband_store::installation::Installation;
use powerband_store::installation::WatchRequest;
use powerband_store::library::{self, Stamp};
use powerband_store::{journal, session_file};

/// Sessions of a network that are read for the estimate, the newest ones.
const SESSIONS_READ: usize = 3;
/// Rounds that are added by default.
const USUAL_ROUNDS: u32 = 5;

/// Measures and saves.
pub(super) fn run(context: &Context, args: &BenchArgs) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.more {
        return add_rounds(context, args, path);
    }
    let request = request(context, args)?;
    let target = target(args)?;
    let mut request = prepare::prepare(&place(context, args)?, &request)?;
    let environment = &mut request.beginning.environment;
    environment.project_commit.clone_from(&args.commit);
    if args.plan.gives(PlanField::Profile) && request.beginning.roofs.is_empty() {
        output::note(
            "No roofs are kept of these devices; powerband roofs measures them, and a profile then says what limits each node.",
        );
    }
    if args.detaching.detach {
        return detach(context, args, &request, None);
    }
    measure_and_save(context, args, request, &target)
}

/// Where the session goes.
pub(super) fn target(args: &BenchArgs) -> anyhow::Result<SessionTarget> {
    let target = SessionTarget::of_file(args.out.clone(), args.force);
    target.check()?;
    Ok(target)
}

/// Submits the run as jobs of Slurm.
fn detach(
    context: &Context,
    args: &BenchArgs,
    run: &PreparedRun,
    more: Option<&Path>,
) -> anyhow::Result<ExitCode> {
    let detaching = DetachOptions {
        more: more.map(std::path::absolute).transpose()?,
        retries: args.retry.is_some(),
        folder: args.detaching.job_folder.clone(),
        tasks: args.detaching.array,
        energy: args.plan.gives(PlanField::Energy),
    };
    let record = submit::submit(&context.paths, run, &detaching).map_err(anyhow::Error::msg)?;
    let asks_for_nodes = |machine: &SetupMachine| {
        let exclusive = machine.options.get("exclusive");
        exclusive.is_some_and(|value| value != "off")
    };
    if detaching.tasks > 1 && !run.machines.values().all(asks_for_nodes) {
        output::note(
            "Tasks of an array may share a node and take time from each other; slurm.exclusive=on in a setup gives each task a node of its own.",
        );
    }
    let id = record.id();
    output::answer(&format!(
        "Detached: {} of Slurm, {}\npowerband jobs shows how far it is, powerband jobs collect {id} saves what it measured.",
        record.jobs().join(", "),
        record.folder.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// More rounds of a session that was measured here, into the same file.
fn add_rounds(context: &Context, args: &BenchArgs, path: &Path) -> anyhow::Result<ExitCode> {
    let stamp = Stamp::read(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut opened = session_file::read(path)?;
    super::is_measured(path, &opened.session)?;
    if let Some(version) = opened.newer {
        bail!(
            "{} was written by a newer Powerband (session version {version}) and is not written to",
            path.display()
        );
    }
    if args.retry.is_some() && opened.session.retry_failed() == 0 {
        bail!(
            "no case of {} failed that could be tried again; leave --retry out",
            path.display()
        );
    }
    let asked = Draft::of_request(&RunRequest::new(&opened.session.plan.model));
    let asked = args.plan.request(asked)?;
    let rounds = asked.rounds.unwrap_or_else(|| match args.retry {
        // What failed has no rounds yet.
        Some(_) => opened.session.plan.measure.rounds,
        None => rounds_to_settle(&opened.session),
    });
    let programs = origin(args, &opened.session.plan.setups);
    let place = place(context, args)?;
    let mut request = prepare::prepare_more(&place, opened.session, rounds, programs)?;
    let spacing = &mut request.beginning.plan.measure.spacing;
    *spacing = asked.spacing.or(*spacing);
    if args.detaching.detach {
        return detach(context, args, &request, Some(path));
    }
    let target = SessionTarget::Again {
        path: path.to_path_buf(),
        stamp,
    };
    measure_and_save(context, args, request, &target)
}

/// Who says that programs of sessions may run; what is started because of `--allow-commands` is said.
pub(super) fn origin(args: &BenchArgs, setups: &[Setup]) -> ProgramTrust {
    if !args.allow_commands {
        return ProgramTrust::File;
    }
    for line in program_lines(setups) {
        output::note(&format!("Allowed: {line}"));
    }
    ProgramTrust::Allowed
}

/// The rounds that may settle the inconclusive verdicts of the first setup; the usual number where there
/// are none, or rounds would not settle them.
fn rounds_to_settle(session: &Session) -> u32 {
    let rows = case_rows::case_rows(session);
    let wanted = comparison::comparisons_with_first(session, &rows)
        .iter()
        .filter_map(Comparison::more_rounds)
        .map(|more| more.rounds)
        .max();
    wanted.unwrap_or(USUAL_ROUNDS)
}

/// The environment of runs, with device telemetry as the arguments say.
pub(super) fn place(context: &Context, args: &BenchArgs) -> anyhow::Result<Installation> {
    let energy = args.plan.gives(PlanField::Energy);
    if args.telemetry == 0.0 && (energy || args.replay.is_some()) {
        bail!(
            "--telemetry 0 reads nothing, so --energy and --replay have no effect; leave them out"
        );
    }
    let watch = if args.telemetry == 0.0 {
        None
    } else {
        Some(WatchRequest {
            rate_hz: devices::rate(args.telemetry, "--telemetry")?,
            places: devices::places(args.replay.as_deref())?,
            for_energy: energy,
        })
    };
    Ok(Installation {
        watch,
        ..context.place()
    })
}

/// The plan that options are about: of a ladder what it measures here, else one that says nothing.
fn begun_plan(context: &Context, args: &BenchArgs) -> anyhow::Result<Draft> {
    let Some(id) = &args.ladder else {
        if !args.plan.gives(PlanField::Model) {
            bail!(
                "MODEL is missing: powerband bench resnet50, or an ONNX file in its place; see powerband bench --help"
            );
        }
        return Ok(Draft::of_request(&RunRequest::default()));
    };
    let ladder = ladders::find(id).map_err(anyhow::Error::msg)?;
    let found = super::engines::survey(context).into_iter();
    let ready = found.filter_map(|found| Some((found.engine.id(), found.answer.ok()?)));
    let request = ladder.request(&LadderMachine {
        engines: ready.collect(),
    });
    if args.plan.gives(PlanField::Steps) && request.journey {
        bail!("the plan {id} is of steps already; leave --journey out");
    }
    Ok(Draft::of_request(&request))
}

fn request(context: &Context, args: &BenchArgs) -> anyhow::Result<RunRequest> {
    let begun = begun_plan(context, args)?;
    let setups = args.plan.values(PlanField::Setup(0));
    let setups = machines::on_each(context, setups.collect(), &args.detaching.on)?;
    let mut request = args.plan.with_setups(setups).request(begun)?;
    // They were typed, or are our own ladder's.
    request.programs = ProgramTrust::Typed;
    if let Some(samples) = request
        .judging
        .as_mut()
        .and_then(|judging| judging.samples.as_mut())
    {
        *samples = samples_text(Path::new(samples))?;
    }
    Ok(request)
}

/// The user's own inputs, from wherever the plan is read.
pub(super) fn samples_text(path: &Path) -> anyhow::Result<String> {
    if !path.exists() {
        bail!(
            "--samples {}: there is no such file or folder",
            path.display()
        );
    }
    Ok(std::path::absolute(path)?.display().to_string())
}

/// Expected duration of the run, with the past durations of its network that it rests on.
fn expected_duration(context: &Context, request: &PreparedRun) -> (String, PastDurations) {
    let beginning = &request.beginning;
    let mut plan = beginning.plan.clone();
    if let Some(earlier) = &request.earlier {
        plan.measure = plan.measure.for_rounds(earlier.rounds);
    }
    let of_network = library::list(&context.paths)
        .into_iter()
        .filter_map(|path| library::entry(&path).ok())
        .filter(|entry| entry.may_be_of(&plan.model) && entry.is_quickly_read());
    let read = of_network
        .take(SESSIONS_READ)
        .filter_map(|entry| session_file::read(&entry.path).ok());
    let sessions: Vec<Session> = read.map(|read| read.session).collect();
    let known = PastDurations::on_processor(&beginning.environment.cpu, &sessions);
    let refused =
        (0..plan.setups.len()).filter(|setup| matches!(request.runtimes.get(*setup), Some(Err(_))));
    let estimate = plan_estimate::plan_estimate(&plan, &refused.collect(), &known);
    (estimate.sentence(), known)
}

fn measure_and_save(
    context: &Context,
    args: &BenchArgs,
    request: PreparedRun,
    target: &SessionTarget,
) -> anyhow::Result<ExitCode> {
    super::idle::wait_if_asked(args.idle.wait_idle)?;
    let measured = measure(context, request, target)?;
    let told = if args.json {
        output::document(&json::session(&measured.session))
    } else {
        output::sections(&report::session::sections(&measured.session, false))
    };
    status(&measured, told)
}

/// The exit status of a run that is over, where its answer was printed or not.
pub(super) fn status(measured: &FinishedRun, told: anyhow::Result<()>) -> anyhow::Result<ExitCode> {
    // The exit status counts even where standard output is closed.
    told.or_else(|error| {
        if is_broken_pipe(&error) {
            Ok(())
        } else {
            Err(error)
        }
    })?;
    if let Some(reason) = &measured.unsaved {
        bail!("{reason}");
    }
    let fell_short = |outcome: &Outcome| outcome.is_trouble() || outcome.is_cut_short();
    let mut cases = measured.session.cases.iter();
    let trouble = measured.cancelled || cases.any(|case| fell_short(&case.outcome));
    Ok(if trouble {
        ExitCode::from(TROUBLE)
    } else {
        ExitCode::SUCCESS
    })
}

/// A finished run.
pub(super) struct FinishedRun {
    /// What was measured.
    pub session: Session,
    /// Whether the user stopped it.
    pub cancelled: bool,
    /// Why it was not saved, and what is left of it; for the end, after what was measured.
    pub unsaved: Option<String>,
}

/// Carries a run out with its progress on standard error, and saves it.
pub(super) fn measure(
    context: &Context,
    request: PreparedRun,
    target: &SessionTarget,
) -> anyhow::Result<FinishedRun> {
    let ending = super::signals::listen()?;
    let control = Control::new(ending.token());
    let living = journal::live_runs(&library::journals(&context.paths), &[]);
    if let Some(others) = journal::in_words(&living) {
        output::note(&format!("{others}. The numbers of both runs suffer."));
    }
    let mut recorder = Recorder::begin(&request.beginning, &context.paths);
    recorder.keeps_aside = true;
    // Printed before the run, while the user can still act.
    if let Some(note) = recorder.note.take() {
        output::note(&note);
    }
    let (takes, past) = expected_duration(context, &request);
    let progress = ProgressDisplay::new(&request, &takes, past);
    // Measurements are saved first.
    ending.set_saving(true);
    let recorded = recorder.run(
        request,
        &context.paths,
        target,
        &control,
        &mut |stamped, session| {
            progress.tell(stamped, session);
        },
    );
    ending.set_saving(false);
    progress.finish();
    if let Some(reason) = &recorded.diverted {
        output::note(&format!("powerband: {reason}"));
    }
    for note in &recorded.notes {
        output::note(note);
    }
    if let Ok(saved) = &recorded.saved {
        output::note(&format!("Saved to {}", saved.display()));
    }
    Ok(FinishedRun {
        session: recorded.session,
        cancelled: control.is_cancelled(),
        unsaved: recorded.saved.err(),
    })
}
