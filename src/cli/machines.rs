//! `powerband machines`: machines that setups may run on, checked, and cleaned of what was sent to them.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::args::{MachinesArgs, MachinesCommand};
use super::{Context, output, signals};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::humanize;
use powerband_core::domain::machine::{NamedMachine, RemoteMachine};
use powerband_core::domain::setup::Setup;
use powerband_findings::analysis::category;
use powerband_planning::transport::{self, SetupMachine};
use powerband_runner::jobs::shared_folder;
use powerband_worker::remote::files::UploadedFile;
use powerband_worker::remote::reached::Reached;
use powerband_worker::remote::{self, RemoteError, RemoteEvent};

/// A command over there may take so long: engines are loaded one after the other.
const LIMIT: Duration = Duration::from_mins(10);
/// Watching ends when the user ends it.
const WATCH_LIMIT: Duration = Duration::from_hours(24 * 365);

/// Does what is asked.
pub(super) fn run(context: &Context, args: &MachinesArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        None | Some(MachinesCommand::List) => list(context, args.json),
        Some(MachinesCommand::Check { host }) => check(context, host, args.json),
        Some(MachinesCommand::Clean { host }) => clean(context, host, args.json),
    }
}

fn list(context: &Context, as_json: bool) -> anyhow::Result<ExitCode> {
    let machines = &context.settings.machines;
    if as_json {
        output::document(&json!({ "machines": machines }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if machines.is_empty() {
        output::answer(&format!(
            "No machine has a name yet. A setup reaches any host of ssh with where=ssh:HOST; a name goes into {}:\n  machines: [(name: \"rack\", where: \"ssh:gpu1\", before: \"module load rocm\")]",
            context.paths.settings.display()
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let lines: Vec<String> = machines.iter().map(line).collect();
    output::answer(&lines.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn line(machine: &NamedMachine) -> String {
    let way = if machine.via.is_empty() {
        machine.place.clone()
    } else {
        format!("via {}", machine.via)
    };
    let mut line = format!("{:<12} {way}", machine.name);
    if !machine.before.is_empty() {
        line.push_str(&format!(", before: {}", machine.before));
    }
    if !machine.remote_program.is_empty() {
        line.push_str(&format!(", program: {}", machine.remote_program));
    }
    if !machine.groups.is_empty() {
        line.push_str(&format!(", in {}", machine.groups.join(", ")));
    }
    line
}

/// What `where=` says of the machine that an argument means: a name of the settings, `ssh:HOST`, or a host of ssh.
fn place(context: &Context, host: &str) -> String {
    let known = &context.settings.machines;
    let is_named = known.iter().any(|machine| machine.name == host);
    if is_named || host.contains(':') || host == "here" || host == "slurm" {
        host.to_owned()
    } else {
        format!("ssh:{host}")
    }
}

/// Each setup on each of these machines; as it is where none is named.
pub(super) fn on_each(
    context: &Context,
    specs: Vec<&str>,
    hosts: &[String],
) -> anyhow::Result<Vec<String>> {
    if hosts.is_empty() {
        return Ok(specs.into_iter().map(str::to_owned).collect());
    }
    let setups = specs.into_iter().map(str::parse);
    let setups = setups.collect::<Result<Vec<Setup>, _>>()?;
    if let Some(setup) = setups.iter().find(|setup| setup.is_elsewhere()) {
        bail!("{setup} says itself where it runs; leave --on out, or its where= or via=");
    }
    let on = |setup: &Setup, host: &String| {
        let mut there = setup.clone();
        match place(context, host) {
            here if here == "here" => there.options.remove(transport::WHERE_KEY),
            place => there.options.insert(transport::WHERE_KEY.to_owned(), place),
        };
        there
    };
    let hosts = &with_named(context, hosts)?;
    let each = |setup: Setup| hosts.iter().map(move |host| on(&setup, host).to_string());
    Ok(setups.into_iter().flat_map(each).collect())
}

/// The machines that arguments mean: by their own names, by that of a group of the settings, or by a pattern, in which
/// `*` stands for any letters of either.
fn with_named(context: &Context, hosts: &[String]) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    for host in hosts {
        let known = context.settings.machines.iter();
        let is_meant = |machine: &&NamedMachine| {
            let mut names = machine.groups.iter().chain([&machine.name]);
            names.any(|name| name == host || category::matches_pattern(name, host))
        };
        let meant: Vec<String> = known.filter(is_meant).map(|one| one.name.clone()).collect();
        match (meant.is_empty(), host.contains('*')) {
            (true, true) => bail!(
                "--on {host} matches no machine or group of the settings; powerband machines lists them"
            ),
            (true, false) => found.push(host.clone()),
            (false, _) => found.extend(meant),
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|host| seen.insert(host.clone()));
    Ok(found)
}

/// The machine that an argument means.
pub(super) fn find(context: &Context, host: &str) -> anyhow::Result<SetupMachine> {
    let known = &context.settings.machines;
    let machine = SetupMachine::find(&place(context, host), known).map_err(anyhow::Error::msg)?;
    machine.with_context(|| format!("{host} is this machine; leave --on out"))
}

/// Connects, with a word about what is sent.
pub(super) fn reach(context: &Context, host: &str) -> anyhow::Result<Reached> {
    let machine = find(context, host)?;
    let cancel = signals::listen()?.token();
    connect(context, &machine, host, &cancel)
}

/// The same to a machine that is known, as the user calls it.
pub(super) fn connect(
    context: &Context,
    machine: &SetupMachine,
    host: &str,
    cancel: &CancelToken,
) -> anyhow::Result<Reached> {
    let mut is_said = false;
    let mut told = |news: RemoteEvent| match news {
        RemoteEvent::Queued(state) => output::note(&format!("{host}: queued, {state}")),
        RemoteEvent::Sending(progress) if !is_said => {
            is_said = true;
            let size = humanize::bytes(progress.total_bytes);
            output::note(&format!("Sending {} to {host}, {size}", progress.what));
        }
        RemoteEvent::Sending(_) => {}
    };
    Reached::reach(machine, &context.program, cancel, &mut told)
        .map_err(|error| explained(host, &error))
}

fn explained(host: &str, error: &RemoteError) -> anyhow::Error {
    match error {
        RemoteError::Lost(reason) => anyhow::anyhow!("no connection to {host}: {reason}"),
        RemoteError::Unfit(reason) => anyhow::anyhow!("{host}: {reason}"),
        RemoteError::Ended(_) => anyhow::anyhow!("{host}: {error}"),
        RemoteError::Cancelled => anyhow::anyhow!("cancelled"),
    }
}

/// Runs one of our own commands on another machine and prints what it writes, as it comes.
pub(super) fn run_on(
    context: &Context,
    host: &str,
    arguments: &[&str],
) -> anyhow::Result<ExitCode> {
    let reached = reach(context, host)?;
    let cancel = signals::listen()?.token();
    let mut trouble = None;
    let machine = &reached.link().machine;
    let mut print = |line: &str| {
        if trouble.is_none() {
            trouble = output::answer(&remote::advice_for(machine, line)).err();
            if trouble.is_some() {
                cancel.cancel();
            }
        }
    };
    let limit = match arguments {
        _ if arguments.contains(&"--watch") => WATCH_LIMIT,
        _ => LIMIT,
    };
    let finished = reached
        .run(arguments, limit, &cancel, &mut print)
        .map_err(|error| explained(host, &error))?;
    if let Some(error) = trouble {
        return Err(error);
    }
    if !finished.stderr.is_empty() {
        output::note(&remote::advice_for(machine, &finished.stderr));
    }
    if !finished.success && !cancel.is_cancelled() {
        bail!(
            "{host}: powerband {} ended with {}",
            arguments.join(" "),
            finished.how
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn check(context: &Context, host: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let reached = reach(context, host)?;
    let record = reached.record(Vec::new());
    if as_json {
        output::document(&json!({
            "machine": record,
            "program": reached.program(),
            "folder": reached.folder(),
            "passed_over": reached.passed_over(),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let RemoteMachine {
        host: name,
        user,
        environment,
        clock,
        ..
    } = &record;
    let mut text = format!(
        "{host} works: {name}, as {user}\nProcessor  {}\nMemory     {}\nSystem     {}, kernel {}\nProgram    {}\nName       where={} in a setup, --on {host} in engines, roofs and devices\nRound trip {}",
        environment.cpu.model,
        humanize::bytes(environment.memory.total_bytes),
        environment.os,
        environment.kernel,
        reached.program(),
        reached.name,
        humanize::duration_ns(clock.round_trip_ns as f64),
    );
    for reason in reached.passed_over() {
        text.push_str(&format!("\nNot used   {reason}"));
    }
    output::answer(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn clean(context: &Context, host: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let machine = find(context, host)?;
    let cancel = signals::listen()?.token();
    let mut left =
        Reached::left(&machine, true, &cancel).map_err(|error| explained(host, &error))?;
    if machine.transport.is_scheduled() {
        // Jobs find their files in a folder that this machine shares with the nodes.
        let sent = shared_folder::remove_sent(&context.paths)?;
        left.extend(sent.into_iter().map(|(path, bytes)| UploadedFile {
            path: path.display().to_string(),
            bytes,
        }));
    }
    let total: u64 = left.iter().map(|one| one.bytes).sum();
    if as_json {
        let removed = left
            .iter()
            .map(|one| json!({ "path": one.path, "bytes": one.bytes }));
        output::document(&json!({ "removed": removed.collect::<Vec<_>>() }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if left.is_empty() {
        output::answer(&format!("Nothing of Powerband lies on {host}."))?;
        return Ok(ExitCode::SUCCESS);
    }
    let lines = left
        .iter()
        .map(|one| format!("{:>10}  {}", humanize::bytes(one.bytes), one.path));
    output::answer(&format!(
        "Removed from {host}, {} in all:\n{}",
        humanize::bytes(total),
        lines.collect::<Vec<_>>().join("\n")
    ))?;
    Ok(ExitCode::SUCCESS)
}
