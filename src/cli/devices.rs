//! `powerband devices`: what this machine has.

use std::process::ExitCode;

use serde_json::json;

use super::args::DevicesArgs;
use super::output;
use crate::base::humanize;
use crate::domain::device::Cpu;
use crate::telemetry::host;

/// Prints it.
pub fn run(args: &DevicesArgs) -> anyhow::Result<ExitCode> {
    let environment = host::environment();
    if args.json {
        output::document(&json!({
            "cpu": environment.cpu,
            "memory": environment.memory,
            "os": environment.os,
            "kernel": environment.kernel,
            "arch": environment.arch,
            "load": environment.load_before,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let memory = &environment.memory;
    let load = environment
        .load_before
        .map_or_else(|| "unknown".to_owned(), |load| format!("{load:.2}"));
    output::answer(&format!(
        "{}Memory     {}, {} available\nSystem     {}, kernel {}\nLoad       {load} over the last minute\n",
        processor(&environment.cpu),
        humanize::bytes(memory.total_bytes),
        humanize::bytes(memory.available_bytes),
        environment.os,
        environment.kernel,
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The processor in lines of a name and a value.
pub fn processor(cpu: &Cpu) -> String {
    let or_unknown =
        |text: Option<String>| text.unwrap_or_else(|| "not told by the system".to_owned());
    let cores = cpu
        .cores
        .map(|cores| format!("{cores} cores, "))
        .unwrap_or_default();
    let boost = cpu.boost.map(|on| if on { "on" } else { "off" }.to_owned());
    let clock = cpu
        .max_mhz
        .map(|mhz| format!("up to {} MHz", humanize::significant(mhz, 4)));
    let features = if cpu.features.is_empty() {
        "none that matter here".to_owned()
    } else {
        cpu.features.join(", ")
    };
    format!(
        "Processor  {}, {cores}{} threads\nVectors    {features}\nClock      {}, governor {}, boost {}\n",
        cpu.model,
        cpu.threads,
        or_unknown(clock),
        or_unknown(cpu.governor.clone()),
        or_unknown(boost),
    )
}
