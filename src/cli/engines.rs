//! `powerband engines`: lists the engines with what is missing, and installs them.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use serde_json::{Value, json};

use super::args::{EnginesArgs, EnginesCommand, InstallArgs};
use super::{Context, machines, output};
use powerband_core::base::environment_roots::EnvironmentRoots;
use powerband_core::domain::plan::TimeLimits;
use powerband_core::domain::setup::{LAST_RESORT, Setup};
use powerband_findings::analysis::repeat;
use powerband_planning::engine_options;
use powerband_planning::engine_options::COMMON_KEYS;
use powerband_planning::engine_options::OfferedEnvironment;
use powerband_planning::transport::script::last_line;
use powerband_runner::agent::Agent;
use powerband_worker::engines::install::InstallRequest;
use powerband_worker::engines::{self, Engine, Requirement};
use powerband_worker::fetch::{self, FetchStep};
use powerband_worker::probe::{self, EngineProbe};
use powerband_worker::remote::advice_for;

/// Lines are broken before they get longer.
const LONGEST_LINE: usize = 98;

/// Installing fetches a few hundred megabytes.
const INSTALL_LIMIT: Duration = Duration::from_mins(40);

/// Lists, or installs.
pub(super) fn run(context: &Context, args: &EnginesArgs) -> anyhow::Result<ExitCode> {
    if let Some(EnginesCommand::Install(install)) = &args.command {
        return install_engine(context, install);
    }
    if let Some(host) = &args.on {
        let json = args.json.then_some("--json");
        let verbose = args.detail.verbose.then_some("--verbose");
        let words = ["engines"].into_iter().chain(json).chain(verbose);
        let words: Vec<&str> = words.collect();
        return machines::run_on(context, host, &words);
    }
    let found = survey(context);
    if args.json {
        let engines: Vec<Value> = found.iter().map(document).collect();
        output::document(&json!({ "engines": engines }))?;
    } else {
        let keys = if args.detail.verbose {
            keys()
        } else {
            key_names()
        };
        output::answer(&format!("{}\n{keys}", listing(&found)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Every engine, available or not, with what is missing.
pub(super) fn survey(context: &Context) -> Vec<EngineProbe> {
    let settings = &context.settings;
    probe::survey(
        &context.paths,
        settings.onnxruntime.clone(),
        settings.python.as_deref(),
        &context.program,
        &EnvironmentRoots::of_user(),
    )
}

/// The engines as a table, the first usable one of each kind on top of its kind.
pub(super) fn listing(found: &[EngineProbe]) -> String {
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
        for offer in &one.offers {
            text.push_str(&format!("         {}\n", offer_text(one.engine, offer)));
        }
        if let Some(runtime) = &one.runtime {
            text.push_str(&format!(
                "         {} (from {})\n",
                runtime.path.display(),
                runtime.origin
            ));
        }
        // Available providers were named above; the missing ones are many.
        let lacks = one.answer.iter().flat_map(|info| &info.lacks);
        for (what, why) in lacks.filter(|(what, _)| !what.starts_with("provider=")) {
            text.push_str(&format!("         not {what}: {why}\n"));
        }
    }
    text
}

/// One line an engine, with the command that gets what is missing.
pub(crate) fn brief(found: &[EngineProbe]) -> String {
    let mut text = String::from("Engines\n");
    for one in found {
        let state = match (&one.answer, &one.runtime) {
            _ if !one.offers.is_empty() => {
                let offer = offer_text(one.engine, &one.offers[0]);
                let fetches = if one.engine.needs() == Requirement::OnnxRuntime {
                    "\n         or powerband engines install onnxruntime fetches one"
                } else {
                    ""
                };
                format!("{offer}{fetches}")
            }
            (Ok(info), _) => info.version.clone(),
            (Err(_), Some(runtime)) => format!(
                "{} does not load; powerband engines gives the reason",
                runtime.path.display()
            ),
            (Err(_), None) if one.engine.needs() == Requirement::OnnxRuntime => format!(
                "{} is missing; powerband engines install onnxruntime fetches it",
                one.engine.title()
            ),
            (Err(_), None) => format!(
                "{} is missing; powerband engines lists what helps",
                one.engine.title()
            ),
        };
        text.push_str(&format!("  {:<6} {state}\n", one.engine.id()));
    }
    text
}

/// An environment that has an engine, and the command that measures with it.
fn offer_text(engine: &dyn Engine, offer: &OfferedEnvironment) -> String {
    let key = match engine.needs() {
        Requirement::OnnxRuntime => "runtime",
        Requirement::Nothing | Requirement::Python { .. } => "python",
    };
    let setup = Setup {
        engine: engine.id().to_owned(),
        device: "cpu".to_owned(),
        options: [(key.to_owned(), offer.path.display().to_string())].into(),
    };
    let version = offer
        .version
        .as_deref()
        .map_or_else(String::new, |version| format!(" {version}"));
    format!(
        "{}{version} is in {}; to use it: powerband bench resnet50 --preset quick --setup {}",
        engine.title(),
        offer.folder,
        repeat::shell_quoted(&setup.to_string()),
    )
}

/// The names of each engine's keys.
fn key_names() -> String {
    let mut text = String::from("Keys of a setup, ENGINE[:DEVICE][,key=value]…\n");
    let offered = engines::ALL.iter().filter(|engine| engine.is_offered());
    let owners = offered.map(|engine| (engine.id(), engine.keys()));
    for (owner, keys) in owners.chain([("all", COMMON_KEYS)]) {
        let mut line = format!("  {owner:<6}");
        for key in keys {
            if line.len() + key.name.len() > LONGEST_LINE {
                text.push_str(&line);
                text.push('\n');
                line = format!("  {:<6}", "");
            }
            line.push_str(&format!(" {}", key.name));
        }
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str("What each does: powerband engines --verbose\n");
    text
}

fn keys() -> String {
    let mut text = String::from("Keys of a setup, ENGINE[:DEVICE][,key=value]…\n");
    let mut add = |owner: &str, keys: &[engine_options::Key]| {
        for key in keys {
            text.push_str(&format!(
                "  {owner:<6} {}=…  {}; {}\n",
                key.name,
                key.full_help(),
                key.values()
            ));
        }
    };
    for engine in engines::ALL.iter().filter(|engine| engine.is_offered()) {
        add(engine.id(), engine.keys());
    }
    add("all", COMMON_KEYS);
    text
}

fn document(found: &EngineProbe) -> Value {
    let keys: Vec<Value> = found
        .engine
        .keys()
        .iter()
        .chain(COMMON_KEYS)
        .map(|key| json!({ "key": key.name, "values": key.values(), "help": key.full_help() }))
        .collect();
    let offers: Vec<Value> = found
        .offers
        .iter()
        .map(
            |offer| json!({ "path": offer.path, "folder": offer.folder, "version": offer.version }),
        )
        .collect();
    json!({
        "engine": found.engine.id(),
        "title": found.engine.title(),
        "available": found.answer.is_ok(),
        "version": found.answer.as_ref().ok().map(|info| &info.version),
        "devices": found.answer.as_ref().map(|info| info.devices.clone()).unwrap_or_default(),
        "providers": found.answer.as_ref().map(|info| info.providers.clone()).unwrap_or_default(),
        "lacks": found.answer.as_ref().map(|info| info.lacks.clone()).unwrap_or_default(),
        "missing": found.answer.as_ref().err(),
        "library": found.runtime.as_ref().map(|runtime| &runtime.path),
        "origin": found.runtime.as_ref().map(|runtime| runtime.origin.to_string()),
        "offers": offers,
        "keys": keys,
    })
}

fn install_engine(context: &Context, args: &InstallArgs) -> anyhow::Result<ExitCode> {
    if !["onnxruntime", "ort"].contains(&args.engine.as_str()) {
        bail!(
            "\"{}\" cannot be installed; onnxruntime can, and {} is always there",
            args.engine,
            LAST_RESORT
        );
    }
    if let Some(host) = &args.on {
        return install_there(context, host, args);
    }
    let request = request(args);
    let python = args
        .python
        .clone()
        .or_else(|| context.settings.python.clone());
    let cancel = super::signals::listen()?.token();
    let (paths, program) = (&context.paths, &context.program);
    let installed = match &args.wheel {
        Some(wheel) => fetch::install_wheel(paths, program, wheel, &args.flavor, &mut told_step),
        None => fetch::install(paths, program, python, &request, &cancel, &mut told_step),
    };
    let installed = installed.map_err(anyhow::Error::msg)?;
    output::answer(&format!(
        "{} is installed and loads: {}\nTry it: powerband bench resnet50 --setup ort:cpu --preset quick",
        installed.version,
        installed.runtime.path.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn told_step(step: FetchStep) {
    match step {
        FetchStep::Downloading { command } => output::note(&format!("Fetching: {command}")),
        FetchStep::Unpacking => output::note("Unpacking"),
        FetchStep::Downloaded { .. } | FetchStep::Checking => {}
    }
}

/// Installs it on another machine, with that machine's pip, or with a wheel that is sent there.
fn install_there(context: &Context, host: &str, args: &InstallArgs) -> anyhow::Result<ExitCode> {
    let cancel = super::signals::listen()?.token();
    let mut words: Vec<String> = ["engines", "install", &args.engine, "--flavor", &args.flavor]
        .map(ToOwned::to_owned)
        .to_vec();
    let mut add = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
    let fetched = if args.offline {
        let python = args.python.clone();
        let python = python.or_else(|| context.settings.python.clone());
        let fetched = fetch::fetch_wheel(python, &request(args), &cancel, &mut told_step);
        Some(fetched.map_err(anyhow::Error::msg)?)
    } else {
        if let Some(version) = &args.version {
            add("--version", version.clone());
        }
        if let Some(python) = &args.python {
            add("--python", python.display().to_string());
        }
        None
    };
    let machine = machines::find(context, host)?;
    let reached = machines::connect(context, &machine, host, &cancel)?;
    let mut nothing = || ();
    let limits = TimeLimits::default();
    let told = |reason: String| anyhow::anyhow!("{host}: {}", advice_for(&machine, &reason));
    let mut agent = Agent::start(&reached.agent(), &limits, &cancel, &mut nothing).map_err(told)?;
    if let Some(wheel) = fetched {
        let name = wheel.name();
        output::note(&format!("Sending {name} to {host}"));
        let there = agent.put(&wheel.path, &name).map_err(told)?;
        add("--wheel", there.display().to_string());
    }
    let mut note = |line: &str| output::note(&advice_for(&machine, line));
    let said = agent.command(words, INSTALL_LIMIT, &mut note);
    // All that it said came as it said it.
    let ended = |said: String| told(last_line(&said).to_owned());
    output::answer(&advice_for(&machine, said.map_err(ended)?.trim_end()))?;
    Ok(ExitCode::SUCCESS)
}

fn request(args: &InstallArgs) -> InstallRequest {
    InstallRequest {
        flavor: args.flavor.clone(),
        version: args.version.clone(),
    }
}
