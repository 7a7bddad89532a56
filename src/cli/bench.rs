//! `powerband bench`: from arguments to a wish, through a run, to a saved session and a table.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::bail;

use super::args::BenchArgs;
use super::progress::Progress;
use super::{Context, TROUBLE, is_broken_pipe, output, session_text};
use crate::domain::setup::Setup;
use crate::engines;
use crate::export::json;
use crate::onnx::shapes;
use crate::runner::control::Control;
use crate::runner::prepare::{self, Wish};
use crate::runner::record::{Recorder, Target};
use crate::runner::run::RunRequest;

/// Measures and saves.
pub fn run(context: &Context, args: &BenchArgs) -> anyhow::Result<ExitCode> {
    let wish = wish(args)?;
    let target = args
        .out
        .clone()
        .map_or(Target::Library, |path| Target::File {
            path,
            may_replace: args.force,
        });
    target.check()?;
    let request = prepare::prepare(&context.place(), &wish)?;
    measure_and_save(context, args, request, &target)
}

fn wish(args: &BenchArgs) -> anyhow::Result<Wish> {
    let setups = args
        .setups
        .iter()
        .map(|spec| spec.parse())
        .collect::<Result<Vec<Setup>, _>>()?;
    for setup in &setups {
        engines::check(setup)?;
    }
    let batches = args
        .batch
        .as_deref()
        .map(prepare::parse_batches)
        .transpose()?;
    let shapes = args
        .shapes
        .iter()
        .map(|text| shapes::parse_override(text))
        .collect::<Result<BTreeMap<_, _>, _>>()?;
    Ok(Wish {
        setups,
        batches,
        shapes,
        preset: args.preset,
        rounds: args.rounds,
        timeout_s: args.timeout,
        seed: args.seed,
        name: args.name.clone(),
        ..Wish::new(&args.model)
    })
}

fn measure_and_save(
    context: &Context,
    args: &BenchArgs,
    request: RunRequest,
    target: &Target,
) -> anyhow::Result<ExitCode> {
    let control = Control::new(super::cancel_on_signals()?);
    let mut recorder = Recorder::begin(&request.beginning, &context.paths);
    // Said before the run, while something can still be done about it.
    if let Some(note) = recorder.note.take() {
        output::note(&note);
    }
    let progress = Progress::new(&request.beginning);
    let recorded = recorder.run(
        request,
        &context.paths,
        target,
        &control,
        &mut |stamped, session| {
            progress.tell(stamped, session);
        },
    );
    progress.finish();
    if let Some(reason) = &recorded.diverted {
        output::note(&format!("powerband: {reason}"));
    }
    for note in &recorded.notes {
        output::note(note);
    }
    let saved = match &recorded.saved {
        Ok(path) => path,
        Err(reason) => bail!("{reason}"),
    };
    output::note(&format!("Saved to {}", saved.display()));
    let session = &recorded.session;
    let told = if args.json {
        output::document(&json::session(session))
    } else {
        output::answer(&session_text::whole(session))
    };
    // Whoever closed standard output still wants to know how the run went.
    told.or_else(|error| {
        if is_broken_pipe(&error) {
            Ok(())
        } else {
            Err(error)
        }
    })?;
    let trouble =
        control.is_cancelled() || session.cases.iter().any(|case| case.outcome.is_trouble());
    Ok(if trouble {
        ExitCode::from(TROUBLE)
    } else {
        ExitCode::SUCCESS
    })
}
