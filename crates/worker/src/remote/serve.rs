//! The other side's answers: what this machine is, and which libraries setups run on here.
//!
//! Behind the hidden subcommand `remote`, which the program on the other machine starts over its connection.

use std::fs;
use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};

use super::Described;
use crate::engines::{self, Requirement};
use crate::protocol::VERSION;
use crate::{probe, supervisor};
use powerband_core::base::clock;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::setup::Setup;
use powerband_devices::machine;
use powerband_devices::version;
use powerband_store::installation::Installation;

/// What was found for a setup: its library, nothing where its engine needs none, or why it cannot run here.
pub type Located = Result<Option<PathBuf>, String>;

/// Says what this machine is, then what its clock shows, a line for each line that comes.
pub fn describe() -> io::Result<()> {
    let described = Described {
        program: version::VERSION.to_owned(),
        protocol: VERSION,
        host: host(),
        boot: boot(),
        user: user(),
        environment: machine::environment(),
    };
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, &described)?;
    writeln!(out)?;
    out.flush()?;
    for line in io::stdin().lock().lines() {
        line?;
        writeln!(out, "{}", clock::monotonic_ns())?;
        out.flush()?;
    }
    Ok(())
}

/// What this machine calls itself.
pub fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// What no other machine has, and no container on this one.
pub fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let processes = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    match id.trim() {
        "" => String::new(),
        id => format!("{id} {}", processes.display()),
    }
}

/// As whom this program runs.
pub fn user() -> String {
    let id = rustix::process::getuid().as_raw().to_string();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1) == Some(id.as_str())).then(|| name.to_owned())
    });
    name.or_else(|| std::env::var("USER").ok()).unwrap_or(id)
}

/// What setups run on here, as one line of JSON in their order.
pub fn locate(place: &Installation, setups: &[String]) -> Result<String, String> {
    let setups: Vec<Setup> = setups
        .iter()
        .map(|setup| setup.parse().map_err(|error| format!("{error}")))
        .collect::<Result<_, _>>()?;
    let engine_of = |setup: &Setup| engines::find(&setup.engine);
    let needs_one =
        |setup: &Setup| engine_of(setup).is_some_and(|e| e.needs() != Requirement::Nothing);
    let places = setups.iter().any(needs_one).then(|| {
        let python = place.python.as_deref();
        probe::places(&place.paths, place.onnxruntime.clone(), python)
    });
    let located = setups.iter().map(|setup| -> Located {
        let engine = engine_of(setup).ok_or("the program over there has no such engine")?;
        match &places {
            Some(places) => {
                probe::runtime_for(engine, setup, places).map(|found| found.map(|found| found.path))
            }
            None => Ok(None),
        }
    });
    let located: Vec<Located> = located.collect();
    serde_json::to_string(&located).map_err(|error| error.to_string())
}

/// The worker that a setup asks for, on this machine.
pub fn worker(
    place: &Installation,
    setup: Option<&str>,
    runtime: Option<&Path>,
) -> Result<ProcessSpec, String> {
    let Some(setup) = setup else {
        return Ok(supervisor::own_worker(&place.program));
    };
    let setup: Setup = setup.parse().map_err(|error| format!("{error}"))?;
    Ok(supervisor::worker_of(&setup, runtime, &place.program))
}
