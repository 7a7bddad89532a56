//! `powerband engines`: which engines there are, what is missing and how to get it; and getting it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::args::{EnginesArgs, EnginesCommand, InstallArgs};
use super::{Context, output};
use crate::engines::install::{self, InstallRequest};
use crate::engines::runtimes::{self, FoundRuntime};
use crate::engines::{self, COMMON_KEYS, Engine, EngineInfo};
use crate::worker::{probe, process};

/// A download may be slow, but not for ever.
const DOWNLOAD_LIMIT: Duration = Duration::from_mins(30);

/// Lists, or installs.
pub fn run(context: &Context, args: &EnginesArgs) -> anyhow::Result<ExitCode> {
    if let Some(EnginesCommand::Install(install)) = &args.command {
        return install_engine(context, install);
    }
    let found = survey(context);
    if args.json {
        let engines: Vec<Value> = found.iter().map(document).collect();
        output::document(&json!({ "engines": engines }))?;
    } else {
        output::answer(&format!("{}\n{}", listing(&found), keys()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One way in which an engine is there, or why it is not.
pub struct Found {
    engine: &'static dyn Engine,
    runtime: Option<FoundRuntime>,
    answer: Result<EngineInfo, String>,
}

/// Asks every offered engine, and every library of those that have several.
pub fn survey(context: &Context) -> Vec<Found> {
    let python = context.settings.python.as_deref();
    let places = probe::places(&context.paths, context.settings.onnxruntime.clone(), python);
    let mut found = Vec::new();
    for &engine in engines::ALL.iter().filter(|engine| engine.is_offered()) {
        if !engine.needs_runtime() {
            let answer = probe::engine(&context.program, engine, None);
            found.push(Found {
                engine,
                runtime: None,
                answer,
            });
            continue;
        }
        let libraries = runtimes::find_all(&places);
        if libraries.is_empty() {
            let missing = runtimes::choose(None, &places)
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            found.push(Found {
                engine,
                runtime: None,
                answer: Err(missing),
            });
        }
        for library in libraries {
            let answer = probe::engine(&context.program, engine, Some(&library.path));
            found.push(Found {
                engine,
                runtime: Some(library),
                answer,
            });
        }
    }
    found
}

/// The engines as a table, the first usable one of each kind on top of its kind.
pub fn listing(found: &[Found]) -> String {
    let mut text = String::from("Engines\n");
    for one in found {
        match &one.answer {
            Ok(info) => {
                text.push_str(&format!(
                    "  {:<6} {}, on {}",
                    one.engine.id(),
                    info.version,
                    info.devices.join(", ")
                ));
                if !info.providers.is_empty() {
                    text.push_str(&format!("; built with {}", info.providers.join(", ")));
                }
                text.push('\n');
            }
            Err(missing) => {
                text.push_str(&format!("  {:<6} missing: {missing}\n", one.engine.id()));
            }
        }
        if let Some(runtime) = &one.runtime {
            text.push_str(&format!(
                "         {} (from {})\n",
                runtime.path.display(),
                runtime.origin
            ));
        }
    }
    text
}

/// One line an engine, with the command that gets what is missing.
pub fn brief(found: &[Found]) -> String {
    let mut text = String::from("Engines\n");
    for one in found {
        let state = match (&one.answer, &one.runtime) {
            (Ok(info), _) => info.version.clone(),
            (Err(_), Some(runtime)) => format!(
                "{} does not load; powerband engines says why",
                runtime.path.display()
            ),
            (Err(_), None) => format!(
                "{} is missing; powerband engines install onnxruntime fetches it",
                one.engine.title()
            ),
        };
        text.push_str(&format!("  {:<6} {state}\n", one.engine.id()));
    }
    text
}

fn keys() -> String {
    let mut text = String::from("Keys of a setup, ENGINE[:DEVICE][,key=value]…\n");
    let mut add = |owner: &str, keys: &[engines::Key]| {
        for key in keys {
            text.push_str(&format!(
                "  {owner:<6} {}=…  {}; {}\n",
                key.name, key.help, key.values
            ));
        }
    };
    for engine in engines::ALL.iter().filter(|engine| engine.is_offered()) {
        add(engine.id(), engine.keys());
    }
    add("all", COMMON_KEYS);
    text
}

fn document(found: &Found) -> Value {
    let keys: Vec<Value> = found
        .engine
        .keys()
        .iter()
        .chain(COMMON_KEYS)
        .map(|key| json!({ "key": key.name, "values": key.values, "help": key.help }))
        .collect();
    json!({
        "engine": found.engine.id(),
        "title": found.engine.title(),
        "available": found.answer.is_ok(),
        "version": found.answer.as_ref().ok().map(|info| &info.version),
        "devices": found.answer.as_ref().map(|info| info.devices.clone()).unwrap_or_default(),
        "providers": found.answer.as_ref().map(|info| info.providers.clone()).unwrap_or_default(),
        "missing": found.answer.as_ref().err(),
        "library": found.runtime.as_ref().map(|runtime| &runtime.path),
        "origin": found.runtime.as_ref().map(|runtime| runtime.origin.to_string()),
        "keys": keys,
    })
}

fn install_engine(context: &Context, args: &InstallArgs) -> anyhow::Result<ExitCode> {
    if !["onnxruntime", "ort"].contains(&args.engine.as_str()) {
        bail!(
            "\"{}\" cannot be installed; onnxruntime can, and tract is always there",
            args.engine
        );
    }
    let request = InstallRequest {
        flavor: args.flavor.clone(),
        version: args.version.clone(),
    };
    let python = python(context, args)?;
    std::fs::create_dir_all(&context.paths.runtimes)
        .with_context(|| format!("cannot make {}", context.paths.runtimes.display()))?;
    let wheel = tempfile::Builder::new()
        .prefix(".download-")
        .tempdir_in(&context.paths.runtimes)?;
    let download = install::download(&python, &request, wheel.path())?;
    output::note(&format!("Fetching: {}", download.command_line()));
    let cancel = super::cancel_on_signals()?;
    let finished = process::run_to_end(&download, DOWNLOAD_LIMIT, &cancel)
        .with_context(|| format!("{} could not be started", python.display()))?;
    if cancel.is_cancelled() {
        bail!("cancelled; nothing was installed");
    }
    if !finished.success {
        bail!(
            "{}",
            install::explain_pip_failure(&finished.stderr, &request)
        );
    }
    let runtime = install::unpack(wheel.path(), &context.paths.runtimes, &request.flavor)?;
    let engine = engines::find("ort").context("this build has no ONNX Runtime engine")?;
    let info = probe::engine(&context.program, engine, Some(&runtime.path)).map_err(|reason| {
        anyhow::anyhow!(
            "{} was fetched but does not load: {reason}",
            runtime.path.display()
        )
    })?;
    output::answer(&format!(
        "{} is installed and loads: {}\nTry it: powerband bench resnet50 --setup ort:cpu --preset quick",
        info.version,
        runtime.path.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn python(context: &Context, args: &InstallArgs) -> anyhow::Result<PathBuf> {
    let chosen = args
        .python
        .clone()
        .or_else(|| context.settings.python.clone());
    chosen.or_else(|| runtimes::python_candidates().into_iter().next()).context(
        "no Python was found, and ONNX Runtime is fetched with its pip; install python3 and pip, or name one with --python",
    )
}
