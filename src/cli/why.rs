//! `powerband why`: experiments on one case, and what limits it.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use super::args::WhyArgs;
use super::bench::{self, FinishedRun};
use super::why_elsewhere::{self, AskedElsewhere};
use super::{Context, TROUBLE, output};
use powerband_app::why::tally;
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::{self, Point};
use powerband_core::domain::request::ProgramTrust;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::{LAST_RESORT, Setup};
use powerband_findings::analysis::limits::answer::ExplainedCase;
use powerband_findings::export::experiments as documents;
use powerband_findings::report;
use powerband_runner::experiments::{self, ExperimentMachine, elsewhere};
use powerband_runner::prepare;
use powerband_runner::record::SessionTarget;
use powerband_runner::roofs::kept;
use powerband_runner::roofs::measuring::{self, RoofRequest};
use powerband_store::roofs_file;
use powerband_worker::engines::{self, Requirement};

/// Runs the experiments, or shows those that were made.
pub(super) fn run(context: &Context, args: &WhyArgs) -> anyhow::Result<ExitCode> {
    let path = Path::new(&args.subject);
    let is_session = path.extension().is_some_and(|end| end == "ron");
    let session = is_session.then(|| super::measured(path)).transpose()?;
    if let Some(session) = &session
        && let Some(asked) = saved_answer(context, args, session)?
    {
        return shown(args, session, &asked);
    }
    if let Some(session) = &session
        && (args.show || !session.plan.can_run())
        && !session.profiles.is_empty()
    {
        return shown_by_profile(context, args, session);
    }
    let of_sessions = [
        ("--show", args.show),
        ("--allow-commands", args.allow_commands),
    ];
    if let Some((option, _)) = of_sessions.iter().find(|(_, given)| *given && !is_session) {
        bail!(
            "{option} is for the experiments of a session, and {} is a model; leave {option} out",
            args.subject
        );
    }
    if let Some(asked) = asked_elsewhere(args, session.as_ref())? {
        let session = why_elsewhere::measured_session(context, args, &asked, trust(args))?;
        let found = asked_case(context, &session).context("the session has no experiments")?;
        return shown(args, &session, &found);
    }
    let request = match &session {
        Some(session) => of_session(args, session)?,
        None => of_model(context, args)?,
    };
    let request = if args.only.is_empty() {
        request
    } else {
        experiments::keep_changes(request, &args.only)
    };
    let request = RunRequest {
        rounds: args.rounds,
        preset: args.preset(),
        programs: trust(args),
        ..request
    };
    let target = SessionTarget::of_file(args.out.clone(), args.force);
    target.check()?;
    let mut prepared = prepare::prepare(&context.place(), &request)?;
    if let Some(session) = &session {
        experiments::check_same(session, &prepared)?;
    }
    if !args.no_roofs {
        measure_roofs(context, &request);
        prepared.beginning.roofs = kept::for_setups(&context.place(), &request.setups);
    }
    let FinishedRun {
        session,
        cancelled,
        unsaved,
    } = bench::measure(context, prepared, &target)?;
    tally::remember(&context.paths, &session);
    let Some(asked) = asked_case(context, &session) else {
        bail!(unsaved.unwrap_or_else(|| "the run has no experiments".to_owned()));
    };
    let status = shown(args, &session, &asked)?;
    if let Some(reason) = unsaved {
        bail!("{reason}");
    }
    Ok(if cancelled {
        ExitCode::from(TROUBLE)
    } else {
        status
    })
}

/// Measures the roofs that the model needs and that are not known yet. Without them the experiments stand alone.
fn measure_roofs(context: &Context, request: &RunRequest) {
    let asked = request.setups.first();
    let is_offered = |setup: &&Setup| engines::find(&setup.engine).is_some_and(|e| e.is_offered());
    let Some(setup) = asked.filter(is_offered) else {
        return;
    };
    let place = context.place();
    let setups = vec![setup.clone()];
    let known = kept::for_setups(&place, &setups);
    if !known.is_empty() && measuring::missing_for(&setups, &known).is_empty() {
        return;
    }
    output::note("Measuring what this machine reaches, once; --no-roofs leaves it out.");
    let wanted = RoofRequest {
        again: false,
        usual_engines: false,
        setups,
    };
    let cancel = CancelToken::default();
    match measuring::measure(&place, &wanted, &cancel, &mut |_step| {}) {
        Ok(measured) => {
            for note in &measured.notes {
                output::note(&format!("Note: {note}"));
            }
        }
        Err(error) => output::note(&format!(
            "Note: the roofs were not measured ({error}), so the model says nothing."
        )),
    }
}

/// Whether programs of the setup may be started: what a session says may be anyone's.
fn trust(args: &WhyArgs) -> ProgramTrust {
    let is_session = Path::new(&args.subject)
        .extension()
        .is_some_and(|end| end == "ron");
    match (is_session, args.allow_commands) {
        (false, _) => ProgramTrust::Typed,
        (true, true) => ProgramTrust::Allowed,
        (true, false) => ProgramTrust::File,
    }
}

/// The model and the setup that is asked about, where that runs on another machine.
fn asked_elsewhere(
    args: &WhyArgs,
    session: Option<&Session>,
) -> anyhow::Result<Option<AskedElsewhere>> {
    let asked = match (session, &args.setup) {
        (None, Some(spec)) => AskedElsewhere {
            model: args.subject.clone(),
            sha256: None,
            setup: spec.parse()?,
            case: args.point.to_words(),
        },
        (None, None) => return Ok(None),
        (Some(session), wanted) => {
            let setups = &session.plan.setups;
            let before = session.plan.experiments.as_ref().map(|asked| asked.setup);
            let found = match wanted {
                Some(wanted) => session.find_setup(wanted),
                None => before.or_else(|| (setups.len() == 1).then_some(0)),
            };
            let known = found.and_then(|place| Some((place, setups.get(place)?)));
            let Some((place, setup)) = known.filter(|(_, setup)| setup.is_elsewhere()) else {
                return Ok(None);
            };
            let case = CaseKey {
                setup: place,
                point: point_of_session(args, session)?,
            };
            AskedElsewhere {
                model: session.plan.model.clone(),
                sha256: Some(session.model.sha256.clone()),
                setup: setup.clone(),
                case: elsewhere::words_of_case(session, case).map_err(anyhow::Error::msg)?,
            }
        }
    };
    Ok(asked.setup.is_elsewhere().then_some(asked))
}

/// What the experiments of a session said, where they are those that are asked for.
fn saved_answer(
    context: &Context,
    args: &WhyArgs,
    session: &Session,
) -> anyhow::Result<Option<ExplainedCase>> {
    let Some(asked) = asked_case(context, session) else {
        if args.show && session.profiles.is_empty() {
            bail!(
                "{} has no experiments; leave --show out to make some on one of its cases",
                args.subject
            );
        }
        return Ok(None);
    };
    let Some(case) = asked.tried.as_ref().map(|tried| tried.case) else {
        return Ok(None);
    };
    let is_of_another = args
        .setup
        .as_deref()
        .is_some_and(|wanted| session.find_setup(wanted) != Some(case.setup))
        || !args.point.takes(case.point);
    if args.show && is_of_another {
        bail!(
            "the experiments of {} are on {} at {}; leave --setup, --batch and --at out to show them",
            args.subject,
            session.setup_label(case.setup),
            case.point
        );
    }
    Ok((!is_of_another && !args.is_to_measure()).then_some(asked))
}

/// What is known of the case that the experiments of a session are on.
fn asked_case(context: &Context, session: &Session) -> Option<ExplainedCase> {
    let roofs = roofs_file::for_session(session, &context.paths);
    let mut found = ExplainedCase::of_experiments(session, &roofs)?;
    if let Some(tried) = &mut found.tried {
        tally::add_counts(&context.paths, session, tried);
    }
    Some(found)
}

/// The experiments on a case of a session.
fn of_session(args: &WhyArgs, session: &Session) -> anyhow::Result<RunRequest> {
    let name = &args.subject;
    if args.fed.is_given() {
        bail!(
            "{name} says what its inputs are; leave --dim, --shape, --input and --batch-axis out"
        );
    }
    let labels = || {
        let setups = 0..session.plan.setups.len();
        let labels: Vec<String> = setups.map(|setup| session.setup_label(setup)).collect();
        labels.join(", ")
    };
    let before = session.plan.experiments.as_ref().map(|asked| asked.setup);
    let setup = match (&args.setup, session.plan.setups.len()) {
        (Some(wanted), _) => session.find_setup(wanted),
        (None, _) if before.is_some() => before,
        (None, 1) => Some(0),
        (None, _) => bail!(
            "{name} has several setups; choose one with --setup: {}",
            labels()
        ),
    };
    let Some(setup) = setup else {
        bail!("{name} has no such setup; it has {}", labels());
    };
    let point = point_of_session(args, session)?;
    let request =
        experiments::request_for(session, CaseKey { setup, point }, &ExperimentMachine::now());
    request.map_err(|reason| anyhow::anyhow!("{name}: {reason}"))
}

/// The point of a session that is asked about: the chosen one, or the only one.
fn point_of_session(args: &WhyArgs, session: &Session) -> anyhow::Result<Point> {
    let name = &args.subject;
    let points = &session.plan.points;
    let chosen = args.point.one_of(points.iter().copied());
    let chosen = chosen.map_err(|reason| anyhow::anyhow!("{name}: {reason}"))?;
    Ok(match (chosen, points.as_slice()) {
        (Some(point), _) => point,
        (None, [only]) => *only,
        (None, _) => bail!(
            "{name} has several points; choose one with --batch or --at: {}",
            point::list(points.iter().copied())
        ),
    })
}

/// The experiments on a model.
fn of_model(context: &Context, args: &WhyArgs) -> anyhow::Result<RunRequest> {
    let setup: Setup = match &args.setup {
        Some(spec) => spec.parse()?,
        None => usual_setup(context).parse()?,
    };
    engines::check(&setup)?;
    let begun = RunRequest {
        sizes: args.fed.sizes()?,
        ..RunRequest::new(&args.subject)
    };
    let point = args.point.point().unwrap_or_else(|| Point::of_batch(1));
    experiments::request_of_model(begun, &setup, point, &ExperimentMachine::now())
        .map_err(anyhow::Error::msg)
}

/// The engine of a model where none is named: ONNX Runtime where it is installed.
fn usual_setup(context: &Context) -> &'static str {
    let found = super::engines::survey(context).into_iter();
    let mut ready = found.filter(|found| found.answer.is_ok());
    let is_ort = ready.any(|found| found.engine.needs() == Requirement::OnnxRuntime);
    if is_ort { "ort" } else { LAST_RESORT }
}

/// What limits the profile of a session that has no experiments: that of the setup which is asked about, else the
/// first.
fn shown_by_profile(
    context: &Context,
    args: &WhyArgs,
    session: &Session,
) -> anyhow::Result<ExitCode> {
    if args.is_to_measure() {
        bail!(
            "{} was measured by another program, and its setup cannot be run here; run its model with powerband why MODEL",
            args.subject
        );
    }
    let wanted = match &args.setup {
        Some(wanted) => {
            let found = session.find_setup(wanted);
            Some(found.with_context(|| format!("{} has no such setup: {wanted}", args.subject))?)
        }
        None => None,
    };
    let mut profiles = session.profiles.iter();
    let profile = profiles.position(|profile| {
        let case = profile.case;
        wanted.is_none_or(|setup| case.is_some_and(|case| case.setup == setup))
            && case.is_none_or(|case| args.point.takes(case.point))
    });
    let Some(profile) = profile else {
        bail!("{} has no profile of such a case", args.subject);
    };
    let roofs = roofs_file::for_session(session, &context.paths);
    let found = ExplainedCase::new(session, Some(profile), &roofs);
    print(args, session, &found)?;
    Ok(ExitCode::SUCCESS)
}

fn print(args: &WhyArgs, session: &Session, found: &ExplainedCase) -> anyhow::Result<()> {
    if args.json {
        output::document(&documents::with_nodes(found))
    } else {
        output::sections(&report::experiments::of_case(session, found))
    }
}

fn shown(args: &WhyArgs, session: &Session, asked: &ExplainedCase) -> anyhow::Result<ExitCode> {
    print(args, session, asked)?;
    let tried = asked.tried.as_ref();
    let case = tried.and_then(|tried| session.case(tried.case));
    let is_trouble = case.is_none_or(|case| case.outcome.is_trouble());
    Ok(if is_trouble {
        ExitCode::from(TROUBLE)
    } else {
        ExitCode::SUCCESS
    })
}
