//! `powerband roofs`: what this machine and its engines reach at most, measured or as it is kept.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::args::RoofsArgs;
use super::{Context, machines, output, progress};
use powerband_core::base::humanize;
use powerband_core::domain::roofs::Roofs;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::telemetry_paths::TelemetryPaths;
use powerband_findings::tables::roofs::{noise_words, of_roofs};
use powerband_findings::tables::view::TableView;
use powerband_runner::roofs::RoofProgress;
use powerband_runner::roofs::measuring::{self, MeasuredRoofs, RoofRequest};
use powerband_runner::roofs::{devices, kept};
use powerband_worker::engines;

/// Columns of the JSON document.
const KEYS: [&str; 13] = [
    "kind",
    "what",
    "access",
    "threads",
    "figure",
    "unit",
    "low",
    "high",
    "repetitions",
    "spread_percent",
    "vector_bits",
    "code",
    "working_set_bytes",
];

/// Measures on another machine, which keeps them.
fn measured_there(context: &Context, host: &str, args: &RoofsArgs) -> anyhow::Result<ExitCode> {
    let mut words = vec!["roofs"];
    let flags = [
        ("--show", args.show),
        ("--again", args.again),
        ("--json", args.json),
    ];
    words.extend(
        flags
            .iter()
            .filter(|(_, given)| *given)
            .map(|(flag, _)| *flag),
    );
    for setup in &args.setups {
        words.extend(["--setup", setup]);
    }
    machines::run_on(context, host, &words)
}

/// Measures, or reads what is kept, and prints.
pub(super) fn run(context: &Context, args: &RoofsArgs) -> anyhow::Result<ExitCode> {
    if let Some(host) = &args.on {
        return measured_there(context, host, args);
    }
    let found = if args.show {
        kept_roofs(context)?
    } else {
        measured_roofs(context, args)?
    };
    for note in &found.notes {
        output::note(&format!("Note: {note}"));
    }
    if args.json {
        let devices: Vec<Value> = found.roofs.iter().map(document).collect();
        output::document(&json!({
            "devices": devices,
            "measured_now": found.n_measured,
            "notes": found.notes,
        }))?;
    } else {
        let texts: Vec<String> = found.roofs.iter().map(text).collect();
        output::answer(&texts.join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn kept_roofs(context: &Context) -> anyhow::Result<MeasuredRoofs> {
    let all = devices::all(&TelemetryPaths::of_user());
    let kept = kept::read(&context.paths, &all);
    let mut notes = kept.warnings;
    let stale = kept.stale.iter();
    notes.extend(stale.map(|(roofs, reason)| {
        format!(
            "{}: the roofs no longer hold, because {reason}; powerband roofs measures them again.",
            roofs.name
        )
    }));
    if kept.fresh.is_empty() {
        notes.push("no roofs are kept of this machine; powerband roofs measures them".to_owned());
        bail!("{}", notes.join("\n"));
    }
    Ok(MeasuredRoofs {
        roofs: kept.fresh,
        notes,
        n_measured: 0,
    })
}

fn measured_roofs(context: &Context, args: &RoofsArgs) -> anyhow::Result<MeasuredRoofs> {
    let setups: Vec<Setup> = args
        .setups
        .iter()
        .map(|spec| {
            let setup: Setup = spec.parse()?;
            engines::check(&setup)?;
            Ok(setup)
        })
        .collect::<anyhow::Result<_>>()?;
    let request = RoofRequest {
        again: args.again,
        usual_engines: true,
        setups,
    };
    let cancel = super::signals::listen()?.token();
    let bar = io::stderr().is_terminal().then(progress::bar);
    let mut tell = |step: RoofProgress| show(bar.as_ref(), &step);
    let measured = measuring::measure(&context.place(), &request, &cancel, &mut tell);
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    measured.context("the roofs were not measured")
}

fn show(bar: Option<&ProgressBar>, step: &RoofProgress) {
    let Some(bar) = bar else {
        output::note(&format!("{}/{} {}", step.done + 1, step.of, step.what));
        return;
    };
    bar.set_position((step.done * 100 / step.of.max(1)) as u64);
    bar.set_message(step.what.clone());
}

fn text(roofs: &Roofs) -> String {
    let mut text = format!("{}, {}\n", roofs.name, conditions(roofs));
    text.push_str(
        &TableView::new(of_roofs(roofs))
            .without_empty_columns()
            .to_text(),
    );
    let notes = roofs.notes.iter().cloned().chain(noise_words(roofs));
    for note in notes {
        text.push_str(&format!("{note}\n"));
    }
    text
}

/// Where and when they were measured: `cpu, 1 January 2026, 3.20 GHz, 61 °C`.
fn conditions(roofs: &Roofs) -> String {
    let mut words = vec![roofs.device.clone()];
    words.extend(roofs.card.clone());
    words.push(format!("measured {}", humanize::moment(&roofs.measured)));
    words.extend(
        roofs
            .clock_mhz
            .map(|mhz| format!("{} MHz", humanize::value(mhz))),
    );
    words.extend(
        roofs
            .temperature_c
            .map(|c| format!("{} °C", humanize::value(c))),
    );
    words.extend(
        roofs
            .conditions
            .driver
            .as_ref()
            .map(|driver| format!("driver {driver}")),
    );
    words.join(", ")
}

fn document(roofs: &Roofs) -> Value {
    json!({
        "device": roofs.device,
        "name": roofs.name,
        "card": roofs.card,
        "measured": roofs.measured,
        "conditions": roofs.conditions,
        "clock_mhz": roofs.clock_mhz,
        "temperature_c": roofs.temperature_c,
        "roofs": TableView::new(of_roofs(roofs)).columns(&KEYS).to_json(),
        "noise": noise_words(roofs),
        "notes": roofs.notes,
    })
}
