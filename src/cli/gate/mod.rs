//! `powerband gate`: two sides measured in turns until it is settled whether the new one may go in.

mod bisect;
mod commits;
mod limits;
mod plan_file;

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::args::GateArgs;
use super::bench::{FinishedRun, measure, samples_text};
use super::{Context, REGRESSION, TROUBLE, idle, output, whole_reason};
use commits::{Commit, Repository};
use plan_file::GatePlan;
use powerband_core::base::atomic_file;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::plan::{AccuracyCheck, Profiler, SetupStyle};
use powerband_core::domain::point::BATCH;
use powerband_core::domain::request::{ProgramTrust, RunRequest};
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::sweep;
use powerband_findings::analysis::gate::{self, Gate, GateNeeds, GateResult};
use powerband_findings::export::{junit, markdown};
use powerband_findings::report;
use powerband_planning::transport::script::quoted;
use powerband_runner::prepare;
use powerband_runner::record::SessionTarget;
use powerband_runner::run::Settling;
use powerband_worker::engines;

/// What `git bisect run` takes for a commit that can be told neither good nor bad.
const UNTESTABLE: u8 = 125;
/// What makes `git bisect run` stop.
const HOPELESS: u8 = 128;
/// With more of the budget used than this, another round did not fit.
const MOST_USED: f64 = 0.5;

/// The new side cannot be built, which another commit may.
#[derive(Debug)]
struct NewSideFails(String);

impl fmt::Display for NewSideFails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One of the two sides.
#[derive(Clone, Debug)]
struct Arm {
    setup: Setup,
    label: String,
    /// What it was built from, where it was built.
    commit: Option<String>,
}

/// Measures both sides and says what came of it.
pub(super) fn run(context: &Context, args: &GateArgs) -> anyhow::Result<ExitCode> {
    let mut is_measured = false;
    let answered = measured_and_answered(context, args, &mut is_measured);
    if let Err(error) = &answered
        && !is_measured
    {
        write_why_not(args, &whole_reason(error));
    }
    match answered {
        // What no other commit mends makes git stop.
        Err(error) if args.git_bisect && !error.is::<NewSideFails>() => {
            output::note(&whole_reason(&error));
            Ok(ExitCode::from(HOPELESS))
        }
        Err(error) if args.git_bisect => {
            output::note(&format!(
                "This commit cannot be judged: {}",
                whole_reason(&error)
            ));
            Ok(ExitCode::from(UNTESTABLE))
        }
        answered => answered,
    }
}

/// Writes down for others why there is no gate.
fn write_why_not(args: &GateArgs, reason: &str) {
    let junit = args.junit.as_deref();
    let junit = junit.map(|path| write_junit(path, &junit::of_no_gate(reason)));
    let markdown = args.markdown.as_deref();
    let markdown = markdown.map(|path| append(path, &format!("# Not measured\n\n{reason}\n")));
    // The reason itself is what ends the program.
    for error in [junit, markdown]
        .into_iter()
        .flatten()
        .filter_map(Result::err)
    {
        output::note(&whole_reason(&error));
    }
}

fn write_junit(path: &Path, document: &str) -> anyhow::Result<()> {
    atomic_file::write_bytes(path, document.as_bytes())
        .with_context(|| format!("the report cannot be written to {}", path.display()))
}

/// Measures and answers; `is_measured` becomes true before the answer, which writes the files itself.
fn measured_and_answered(
    context: &Context,
    args: &GateArgs,
    is_measured: &mut bool,
) -> anyhow::Result<ExitCode> {
    let plan = GatePlan::from_args(args)?;
    if let Some(range) = &args.bisect {
        return bisect::run(context, args, &plan, range);
    }
    let target = SessionTarget::of_file(args.out.clone(), false);
    target.check()?;
    // Its folders stay until both sides are measured.
    let repository = args.base_ref.as_ref();
    let repository = repository
        .map(|_| Repository::here(&context.paths.cache))
        .transpose()?;
    let arms = if let (Some(repository), Some(base)) = (&repository, &args.base_ref) {
        let new = args.new_ref.as_deref().unwrap_or("HEAD");
        of_commits(repository, &plan, base, new)?
    } else {
        let side = |text: &Option<String>, label| arm(text.as_deref().unwrap_or_default(), label);
        [side(&plan.base, "base")?, side(&plan.new, "new")?]
    };
    idle::wait_if_asked(args.idle.wait_idle)?;
    let (measured, found) = measured(context, &plan, arms, &target)?;
    *is_measured = true;
    answer(args, &plan, &measured, &found)
}

/// Both sides from commits, which are built.
fn of_commits(
    repository: &Repository,
    plan: &GatePlan,
    base: &str,
    new: &str,
) -> anyhow::Result<[Arm; 2]> {
    check_build(plan)?;
    limits::check_side(
        &plan.limits,
        &arm(plan.setup.as_deref().unwrap_or_default(), "")?,
    )?;
    let commits = (repository.commit(base)?, repository.commit(new)?);
    if commits.0 == commits.1 {
        bail!(
            "{base} and {new} are one commit, {}: there is nothing to compare",
            commits.0.title()
        );
    }
    if new == "HEAD" {
        repository.note_uncommitted()?;
    }
    let side = |side: &str, commit: &Commit| {
        let folder = repository
            .built(side, commit, plan.build.as_deref())?
            .map_err(|said| anyhow::anyhow!("{} cannot be built: {said}", commit.title()))?;
        commit_arm(plan, &folder, (side, commit))
    };
    let base = side("base", &commits.0)?;
    let new = side("new", &commits.1)
        .map_err(|error| anyhow::Error::msg(NewSideFails(error.to_string())))?;
    Ok([base, new])
}

/// What is measured of a commit that lies in a folder.
fn commit_arm(
    plan: &GatePlan,
    folder: &Path,
    (side, commit): (&str, &Commit),
) -> anyhow::Result<Arm> {
    let folder = folder.display().to_string();
    let label = format!("{side} {}", commit.short());
    let mut arm = arm(plan.setup.as_deref().unwrap_or_default(), &label)?;
    arm.commit = Some(commit.hash.clone());
    for (key, value) in &mut arm.setup.options {
        // A shell reads the command.
        let shown = if key == "run" {
            quoted(&folder)
        } else {
            folder.clone()
        };
        *value = value.replace("{dir}", &shown);
    }
    engines::check(&arm.setup)?;
    Ok(arm)
}

/// A build that a file names is started where that is allowed.
fn check_build(plan: &GatePlan) -> anyhow::Result<()> {
    match &plan.build {
        Some(build) if plan.request.programs == ProgramTrust::File => bail!(
            "the plan builds with: {build}\nNothing is started that a file names; --allow-commands allows it, or give --build"
        ),
        _ => Ok(()),
    }
}

/// A side from its setup, or from a command.
fn arm(text: &str, label: &str) -> anyhow::Result<Arm> {
    let label = label.to_owned();
    let setup = text.parse::<Setup>();
    let is_known = |setup: &Setup| engines::find(&setup.engine).is_some();
    let setup = match setup {
        Ok(setup) if is_known(&setup) => setup,
        // A name of a program with its arguments, or with its folder.
        _ if text.contains([' ', '/']) => {
            let mut command: Setup = "command,run=true".parse()?;
            command.options.insert("run".to_owned(), text.to_owned());
            command
        }
        Ok(setup) => setup,
        Err(error) => return Err(error.into()),
    };
    engines::check(&setup)?;
    Ok(Arm {
        setup,
        label,
        commit: None,
    })
}

/// Measures two sides in turns until they are settled or the time is used up.
fn measured(
    context: &Context,
    plan: &GatePlan,
    arms: [Arm; 2],
    target: &SessionTarget,
) -> anyhow::Result<(FinishedRun, Gate)> {
    let points = plan.batch.as_ref().map(|sizes| format!("{BATCH}={sizes}"));
    let points = points
        .map(|sweep| sweep::parse([sweep.as_str()]))
        .transpose()?;
    let looks = arms.iter().map(|arm| SetupStyle {
        label: Some(arm.label.clone()),
        colour: None,
    });
    for arm in &arms {
        limits::check_side(&plan.limits, arm)?;
    }
    let commit = arms[1].commit.clone();
    let needs = GateNeeds::of_limits(&plan.limits);
    let request = RunRequest {
        energy: needs.energy,
        judging: accuracy_check(plan, needs)?,
        profiling: needs.profile.then_some(Profiler::Engine),
        looks: looks.collect(),
        setups: arms.into_iter().map(|arm| arm.setup).collect(),
        points,
        ..plan.request.clone()
    };
    let mut prepared = prepare::prepare(&context.place(), &request)?;
    prepared.beginning.plan.measure.until_settled = true;
    prepared.beginning.environment.project_commit = commit;
    let limits = plan.limits.clone();
    prepared.settling = Some(Settling {
        budget: plan.budget,
        is_open: Box::new(move |session, case| gate::is_open(session, &limits, case)),
    });
    let finished = measure(context, prepared, target)?;
    let found = gate::gate(&finished.session, &plan.limits);
    Ok((finished, found))
}

/// On which inputs outputs are compared, where a limit needs that.
fn accuracy_check(plan: &GatePlan, needs: GateNeeds) -> anyhow::Result<Option<AccuracyCheck>> {
    let samples = plan.samples.as_deref().map(samples_text).transpose()?;
    Ok(needs.accuracy.then_some(AccuracyCheck {
        inputs: AccuracyCheck::USUAL,
        samples,
    }))
}

/// Prints what came of it and writes it where that is asked for.
fn answer(
    args: &GateArgs,
    plan: &GatePlan,
    measured: &FinishedRun,
    gate: &Gate,
) -> anyhow::Result<ExitCode> {
    let session = &measured.session;
    if let Some(path) = &args.junit {
        let sides = format!(
            "{} against {}",
            session.setup_label(1),
            session.setup_label(0)
        );
        write_junit(path, &junit::of_gate(gate, &sides))?;
    }
    if let Some(path) = &args.markdown {
        let document = report::gate::document(gate, session, &repeat_line(session));
        append(path, &markdown::write(&document, ""))?;
    }
    if args.json {
        output::document(&json!({
            "gate": gate,
            "rounds": session.next_round(),
            "measured_s": measured_s(session),
            "elapsed_s": session.elapsed_ns as f64 / 1e9,
        }))?;
    } else {
        output::sections(&report::gate::sections(gate))?;
    }
    if let Some(reason) = &measured.unsaved {
        bail!("{reason}");
    }
    if measured.cancelled {
        output::note("Stopped before it was settled.");
    } else if gate.result == GateResult::Open && is_whole(measured, gate) {
        output::note("Not settled, so nothing failed.");
        // Where most of the time is left, it was not time that was missing.
        if rounds_ended_s(session) > MOST_USED * plan.budget.as_secs_f64() {
            output::note("The budget is used up; --budget gives rounds more time.");
        }
    }
    let is_untestable = gate.result == GateResult::Open || !is_whole(measured, gate);
    Ok(match gate.result {
        GateResult::Failed => ExitCode::from(REGRESSION),
        _ if args.git_bisect && is_untestable => ExitCode::from(UNTESTABLE),
        // As `compare` has it: what is not settled is no failure, and what could not be measured is trouble.
        _ if !is_whole(measured, gate) => ExitCode::from(TROUBLE),
        _ => ExitCode::SUCCESS,
    })
}

/// Whether everything was measured.
fn is_whole(measured: &FinishedRun, gate: &Gate) -> bool {
    let fell_short = |outcome: &Outcome| outcome.is_trouble() || outcome.is_cut_short();
    let mut cases = measured.session.cases.iter();
    let is_short = cases.any(|case| fell_short(&case.outcome));
    let is_unknown = gate.rows.iter().any(|row| row.loss_percent.is_none());
    !(measured.cancelled || is_short || is_unknown || gate.rows.is_empty())
}

/// When the last round ended, in seconds: what comes after is not of the budget.
fn rounds_ended_s(session: &Session) -> f64 {
    let rounds = session.cases.iter().flat_map(|case| &case.rounds);
    let ends = rounds.map(|round| round.started_ns + round.spent_ns);
    ends.max().unwrap_or_default() as f64 / 1e9
}

/// What was measured, without starts and waits.
fn measured_s(session: &Session) -> f64 {
    let rounds = session.cases.iter().flat_map(|case| &case.rounds);
    rounds.map(|round| round.spent_ns as f64 / 1e9).sum()
}

fn repeat_line(session: &Session) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "Powerband {version}, {} rounds in turns, {}",
        session.next_round(),
        session.created
    )
}

fn append(path: &Path, text: &str) -> anyhow::Result<()> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("the summary cannot be written to {}", path.display()))
}
