//! `powerband why` about a setup of another machine: the program over there makes the experiments.

use anyhow::{Context as _, bail};

use super::args::WhyArgs;
use super::{Context, machines, output, signals};
use powerband_core::domain::request::ProgramTrust;
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;
use powerband_planning::form::PlanField;
use powerband_planning::transport::SetupMachine;
use powerband_runner::experiments::elsewhere::{self, WantedElsewhere};
use powerband_store::session_file;
use powerband_worker::remote;

/// A setup of another machine that is asked about.
pub(super) struct AskedElsewhere {
    pub model: String,
    /// SHA-256 of the model, where it is that of a session.
    pub sha256: Option<String>,
    pub setup: Setup,
    /// Its case, as words for the program over there.
    pub case: Vec<String>,
}

/// Has the experiments made over there; the session that came back.
pub(super) fn measured_session(
    context: &Context,
    args: &WhyArgs,
    asked: &AskedElsewhere,
    programs: ProgramTrust,
) -> anyhow::Result<Session> {
    let setup = &asked.setup;
    if let Some(path) = &args.out {
        session_file::check_target(path, args.force)?;
    }
    elsewhere::check(&context.place(), setup, programs)?;
    let known = &context.settings.machines;
    let machine = SetupMachine::of_setup(setup, known).map_err(anyhow::Error::msg)?;
    let machine = machine.with_context(|| format!("{setup} runs on this machine"))?;
    let words = words_for_there(args, &asked.case)?;
    let cancel = signals::listen()?.token();
    let mut reached = machines::connect(context, &machine, &machine.name, &cancel)?;
    let name = machine.name.clone();
    output::note(&format!(
        "Measuring on {name}: roofs that are missing there, then experiments."
    ));
    let wanted = WantedElsewhere {
        model: &asked.model,
        sha256: asked.sha256.as_deref(),
        setup,
        words: &words,
        to: args.out.as_deref(),
    };
    let said_of = machine.clone();
    let mut told = |line: &str| {
        let line = remote::advice_for(&said_of, line);
        output::note(&format!("{name}: {line}"));
    };
    let measured = elsewhere::measure(&context.place(), &mut reached, wanted, &cancel, &mut told);
    let path = measured.map_err(|reason| anyhow::anyhow!("{name}: {reason}"))?;
    output::note(&format!("Saved to {}", path.display()));
    Ok(session_file::read(&path)?.session)
}

/// What is said of how to measure, as words for the program over there.
fn words_for_there(args: &WhyArgs, case: &[String]) -> anyhow::Result<Vec<String>> {
    let fed_here = [PlanField::Shapes, PlanField::Fills, PlanField::BatchAxis];
    if fed_here.into_iter().any(|field| args.fed.gives(field)) {
        bail!(
            "inputs of a case on another machine are filled there; leave --shape, --input and --batch-axis out"
        );
    }
    let mut words = case.to_vec();
    let mut add = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
    if let Some(preset) = args.preset {
        add("--preset", preset.to_string());
    }
    if let Some(rounds) = args.rounds {
        add("--rounds", rounds.to_string());
    }
    for change in &args.only {
        add("--only", change.id().to_owned());
    }
    for dim in args.fed.values(PlanField::Dims) {
        add("--dim", dim.to_owned());
    }
    if args.no_roofs {
        words.push("--no-roofs".to_owned());
    }
    Ok(words)
}
