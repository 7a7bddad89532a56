//! The engine `rten`: pure Rust, always there, on the processor.

use super::key::{Key, MOST, Takes};
use super::{EngineOptions, TASK, check_cpu_alone, check_task};
use powerband_core::domain::setup::Setup;

const KEY: Key = Key::new(
    "threads",
    Takes::Count(MOST),
    "threads that share the operators' work",
)
.with_default("the cores this process may use")
.with_control(2, "Threads");

/// Whether the graph is optimised first.
const OPTIMISATION: Key =
    Key::new("opt", Takes::One(&["none", "all"]), "graph optimisation").with_default("all");

/// The options of rten.
pub struct Rten;

impl EngineOptions for Rten {
    fn id(&self) -> &'static str {
        "rten"
    }

    fn title(&self) -> &'static str {
        "rten"
    }

    fn keys(&self) -> &'static [Key] {
        &[KEY, OPTIMISATION, TASK]
    }

    fn check(&self, setup: &Setup) -> Result<(), String> {
        check_task(setup)?;
        optimises(setup)?;
        check_cpu_alone(setup)
    }
}

/// Whether the graph of a setup is optimised.
pub fn optimises(setup: &Setup) -> Result<bool, String> {
    match setup.options.get("opt").map(String::as_str) {
        None | Some("all") => Ok(true),
        Some("none") => Ok(false),
        Some(other) => Err(format!("opt={other} is not known, only none and all")),
    }
}
