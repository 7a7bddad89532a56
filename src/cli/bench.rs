//! `powerband bench`: from arguments to a plan, through a run, to a saved session and a table.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use super::args::BenchArgs;
use super::progress::Progress;
use super::{Context, TROUBLE, is_broken_pipe, output, session_text};
use crate::base::{clock, humanize};
use crate::domain::event::Beginning;
use crate::domain::model::{ModelRef, Port};
use crate::domain::plan::{MeasureRule, Plan, TimeLimits, WarmUpRule};
use crate::domain::session::Session;
use crate::domain::setup::Setup;
use crate::domain::tensor::TensorSpec;
use crate::engines::{self, Engine};
use crate::export::json;
use crate::onnx::source::ModelFile;
use crate::onnx::{inspect, shapes, source};
use crate::runner::run::{self, RunRequest};
use crate::store::journal::Journal;
use crate::store::{library, session_file};
use crate::telemetry::host;
use crate::worker::probe;

/// Batch sizes of a run that names none.
const DEFAULT_BATCHES: [usize; 5] = [1, 2, 4, 8, 16];
/// Beyond this a batch size is a slip of the finger.
const LARGEST_BATCH: usize = 1 << 20;

/// Measures and saves.
pub fn run(context: &Context, args: &BenchArgs) -> anyhow::Result<ExitCode> {
    let asked = args
        .setups
        .iter()
        .map(|spec| spec.parse())
        .collect::<Result<Vec<Setup>, _>>()?;
    let engines = asked
        .iter()
        .map(engines::check)
        .collect::<Result<Vec<_>, _>>()?;
    let asked_batches = args.batch.as_deref().map(parse_batches).transpose()?;
    let overrides = args
        .shapes
        .iter()
        .map(|text| shapes::parse_override(text))
        .collect::<Result<BTreeMap<_, _>, _>>()?;
    let model = source::open(&args.model, &context.paths.cache)?;
    let ports = inspect::inputs(&model.proto)?;
    if let Some(out) = &args.out {
        session_file::check_target(out, args.force)?;
    }
    let chosen = choose_setups(context, asked, &engines);
    let batches = asked_batches.unwrap_or_else(|| default_batches(&ports));
    let inputs = resolve_inputs(&ports, &batches, &overrides)?;
    let plan = plan(args, &chosen, batches, overrides);
    let warnings = notices(&ports, &plan, &chosen);
    let request = RunRequest {
        beginning: beginning(args, plan, &model, &ports, warnings),
        program: context.program.clone(),
        model: model.path.clone(),
        runtimes: chosen.runtimes,
        inputs,
    };
    measure_and_save(context, args, request)
}

fn measure_and_save(
    context: &Context,
    args: &BenchArgs,
    request: RunRequest,
) -> anyhow::Result<ExitCode> {
    let cancel = super::cancel_on_signals()?;
    let name = format!(
        "{}-{}",
        library::safe(&request.beginning.name),
        clock::file_stamp(&request.beginning.created)
    );
    let journal = Journal::create(&library::journals(&context.paths), &name);
    if let Err(error) = &journal {
        output::note(&format!(
            "No journal can be kept ({error}); should the program be killed, this run is lost."
        ));
    }
    let progress = Progress::new(&request.beginning);
    let (session, journal) = run::run(request, journal.ok(), &cancel, &mut |stamped, session| {
        progress.tell(stamped, session);
    });
    progress.finish();
    let saved = save(context, args, &session).with_context(|| kept_in_journal(journal.as_ref()))?;
    if let Some(Err(error)) = journal.map(Journal::discard) {
        output::note(&format!("The journal could not be removed: {error}"));
    }
    output::note(&format!("Saved to {}", saved.display()));
    let told = if args.json {
        output::document(&json::session(&session))
    } else {
        output::answer(&session_text::whole(&session))
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
        cancel.is_cancelled() || session.cases.iter().any(|case| case.outcome.is_trouble());
    Ok(if trouble {
        ExitCode::from(TROUBLE)
    } else {
        ExitCode::SUCCESS
    })
}

/// Writes the session where it was asked for; failing that, into the library, so that nothing is lost.
fn save(context: &Context, args: &BenchArgs, session: &Session) -> anyhow::Result<PathBuf> {
    if let Some(out) = &args.out {
        // Checked once more: another run may have written there meanwhile.
        let written = session_file::check_target(out, args.force)
            .and_then(|()| session_file::write(out, session));
        match written {
            Ok(()) => return Ok(out.clone()),
            Err(error) => output::note(&format!(
                "powerband: {error}; the session goes into the library instead"
            )),
        }
    }
    let path = library::new_path(&context.paths, &session.name, &session.created)
        .with_context(|| format!("cannot make a file in {}", context.paths.library.display()))?;
    session_file::write(&path, session)?;
    Ok(path)
}

fn kept_in_journal(journal: Option<&Journal>) -> String {
    journal.filter(|journal| journal.is_whole()).map_or_else(
        || "the session was not saved".to_owned(),
        |journal| {
            let path = journal.path().display();
            format!("the session was not saved, but its journal has it all: powerband recover {path} --out FILE.ron")
        },
    )
}

struct Chosen {
    setups: Vec<Setup>,
    runtimes: Vec<Result<Option<PathBuf>, String>>,
    made_up: bool,
    notes: Vec<String>,
}

/// The setups that were asked for, with their libraries; or every engine that can run here.
fn choose_setups(context: &Context, asked: Vec<Setup>, engines: &[&'static dyn Engine]) -> Chosen {
    let by_itself = asked.is_empty();
    let candidates: Vec<(Setup, &dyn Engine)> = if by_itself {
        let offered = engines::ALL
            .iter()
            .copied()
            .filter(|engine| engine.is_offered());
        offered
            .filter_map(|engine| Some((engine.id().parse().ok()?, engine)))
            .collect()
    } else {
        asked.into_iter().zip(engines.iter().copied()).collect()
    };
    let python = context.settings.python.as_deref();
    let places = candidates
        .iter()
        .any(|(_, engine)| engine.needs_runtime())
        .then(|| probe::places(&context.paths, context.settings.onnxruntime.clone(), python));
    let mut chosen = Chosen {
        setups: Vec::new(),
        runtimes: Vec::new(),
        made_up: false,
        notes: Vec::new(),
    };
    for (setup, engine) in candidates {
        let runtime = match &places {
            Some(places) => probe::runtime_for(engine, &setup, places)
                .map(|found| found.map(|found| found.path)),
            None => Ok(None),
        };
        if let (true, Err(reason)) = (by_itself, &runtime) {
            chosen
                .notes
                .push(format!("{} is left out: {reason}", engine.title()));
            continue;
        }
        chosen.made_up |= !engine.is_offered();
        chosen.setups.push(setup);
        chosen.runtimes.push(runtime);
    }
    chosen
}

fn plan(
    args: &BenchArgs,
    chosen: &Chosen,
    batches: Vec<usize>,
    shapes: BTreeMap<String, Vec<usize>>,
) -> Plan {
    let mut measure = MeasureRule::of(args.preset);
    if let Some(rounds) = args.rounds {
        // Who says how many wants so many, and not more until an interval is narrow.
        measure.rounds = rounds;
        measure.target_ci95_rel = None;
    }
    let limits = args.timeout.map_or_else(TimeLimits::default, |seconds| {
        let ms = seconds * 1000;
        TimeLimits {
            start_ms: ms,
            load_ms: ms,
            warm_up_ms: ms,
            measure_ms: ms,
        }
    });
    let on_gpu = chosen.setups.iter().any(|setup| setup.device != "cpu");
    Plan {
        model: args.model.clone(),
        setups: chosen.setups.clone(),
        batches,
        shapes,
        preset: args.preset,
        measure,
        warm_up: WarmUpRule::for_device(on_gpu),
        limits,
        seed: args.seed.unwrap_or_else(|| clock::entropy() & 0xffff_ffff),
    }
}

fn beginning(
    args: &BenchArgs,
    plan: Plan,
    model: &ModelFile,
    ports: &[Port],
    warnings: Vec<String>,
) -> Beginning {
    let summary = inspect::summarize(&model.proto, &model.name);
    Beginning {
        name: args.name.clone().unwrap_or_else(|| model.name.clone()),
        created: clock::now_utc(),
        made_up: plan
            .setups
            .iter()
            .any(|setup| engines::find(&setup.engine).is_some_and(|e| !e.is_offered())),
        plan,
        model: ModelRef {
            name: model.name.clone(),
            file: model.path.display().to_string(),
            sha256: model.sha256.clone(),
            parameters: summary.parameters,
            macs: summary.macs,
            fixed_batch: shapes::fixed_batch(ports),
        },
        environment: host::environment(),
        warnings,
    }
}

fn notices(ports: &[Port], plan: &Plan, chosen: &Chosen) -> Vec<String> {
    let mut warnings = chosen.notes.clone();
    if let Some(batch) = shapes::fixed_batch(ports) {
        warnings.push(format!("The model's batch size is fixed at {batch}."));
    }
    if chosen.made_up {
        warnings.push("The timings of the engine fake are made up.".to_owned());
    }
    if cfg!(debug_assertions) {
        warnings.push(
            "This Powerband was built without optimisation; tract is slower in it. Use cargo run --release.".to_owned(),
        );
    }
    if plan.setups.len() * plan.batches.len() > 1 && plan.measure.rounds < 2 {
        warnings
            .push("With one round the cases do not take turns; compare them with care.".to_owned());
    }
    warnings
}

fn default_batches(ports: &[Port]) -> Vec<usize> {
    shapes::fixed_batch(ports).map_or_else(|| DEFAULT_BATCHES.to_vec(), |batch| vec![batch])
}

type Inputs = BTreeMap<usize, Result<Vec<TensorSpec>, String>>;

/// Each batch size's inputs. Where none fits, the run would measure nothing, which is an error.
fn resolve_inputs(
    ports: &[Port],
    batches: &[usize],
    overrides: &BTreeMap<String, Vec<usize>>,
) -> anyhow::Result<Inputs> {
    let inputs: Inputs = batches
        .iter()
        .map(|&batch| {
            (
                batch,
                shapes::resolve(ports, batch, overrides).map_err(|error| error.to_string()),
            )
        })
        .collect();
    if let Some(Err(reason)) = inputs.values().next()
        && inputs.values().all(Result::is_err)
    {
        bail!("{reason}");
    }
    Ok(inputs)
}

/// `1,2,4` or `1..16` (the powers of two between), in any mixture; ascending, each once.
fn parse_batches(text: &str) -> anyhow::Result<Vec<usize>> {
    let mut batches = Vec::new();
    for part in text.split(',').map(str::trim) {
        match part.split_once("..") {
            Some((from, to)) => {
                let (from, to) = (parse_batch(from)?, parse_batch(to)?);
                let powers = (0..usize::BITS)
                    .map(|power| 1_usize << power)
                    .skip_while(|&b| b < from)
                    .take_while(|&b| b <= to);
                batches.extend(powers.chain([from, to]));
            }
            None => batches.push(parse_batch(part)?),
        }
    }
    batches.sort_unstable();
    batches.dedup();
    Ok(batches)
}

fn parse_batch(text: &str) -> anyhow::Result<usize> {
    match text.trim().parse::<usize>() {
        Ok(batch @ 1..=LARGEST_BATCH) => Ok(batch),
        _ => bail!(
            "\"{text}\" is no batch size; write whole numbers from 1 to {}, for example --batch 1,2,4,8",
            humanize::count(LARGEST_BATCH as u64)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_read() {
        assert_eq!(parse_batches("8,1, 2,2").unwrap(), [1, 2, 8]);
        assert_eq!(parse_batches("1..16").unwrap(), [1, 2, 4, 8, 16]);
        assert_eq!(parse_batches("3..9,64").unwrap(), [3, 4, 8, 9, 64]);
        for bad in ["", "0", "-1", "x", "1,,2", "99999999999", "1.5", "..4"] {
            assert!(
                parse_batches(bad)
                    .unwrap_err()
                    .to_string()
                    .contains("no batch size"),
                "{bad}"
            );
        }
    }
}
