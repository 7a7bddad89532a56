//! The engine `fake`: made-up timings, for tests and pictures. It is not offered to users.

use super::key::{Key, MOST, Takes, always};
use super::{EngineOptions, positive};
use powerband_core::domain::setup::{MADE_UP_ENGINE, Setup};

const FAILURES: [&str; 12] = [
    "load-error",
    "load-unsupported",
    "load-hang",
    "load-exit",
    "open-error",
    "open-memory",
    "run-error",
    "run-hang",
    "run-abort",
    "run-kill",
    "run-exit",
    "run-allocate",
];

const KEYS: &[Key] = &[
    Key::new(
        "fixed",
        Takes::Number("µs"),
        "time of a run that does not depend on the batch",
    )
    .with_default("800"),
    Key::new(
        "item",
        Takes::Number("µs"),
        "time of each item of the batch",
    )
    .with_default("200"),
    Key::new("noise", Takes::Number("%"), "spread of the times").with_default("1"),
    Key::new(
        "sleep",
        Takes::One(&["yes"]),
        "also wait as long as the time that is made up",
    ),
    Key::new("fail", Takes::One(&FAILURES), "how to fail"),
    Key::new("at", Takes::Count(MOST), "the batch size at which to fail").with_default("all"),
    Key::new(
        "worker",
        Takes::Path("a program"),
        "start this instead of our own worker",
    )
    .running(always),
];

/// The options of made-up timings.
pub struct Fake;

impl EngineOptions for Fake {
    fn id(&self) -> &'static str {
        MADE_UP_ENGINE
    }

    fn title(&self) -> &'static str {
        "made-up timings"
    }

    fn keys(&self) -> &'static [Key] {
        KEYS
    }

    fn is_offered(&self) -> bool {
        false
    }

    fn check(&self, setup: &Setup) -> Result<(), String> {
        positive(setup, "at")?;
        number(setup, "fixed", 0.0)?;
        number(setup, "item", 0.0)?;
        number(setup, "noise", 0.0)?;
        match setup.options.get("fail") {
            Some(fail) if !FAILURES.contains(&fail.as_str()) => {
                Err(format!("fail={fail} is none of {}", FAILURES.join(", ")))
            }
            _ => Ok(()),
        }
    }
}

/// A number of a setup, from zero.
pub fn number(setup: &Setup, key: &str, default: f64) -> Result<f64, String> {
    let Some(text) = setup.options.get(key) else {
        return Ok(default);
    };
    text.parse()
        .ok()
        .filter(|value: &f64| value.is_finite() && *value >= 0.0)
        .ok_or_else(|| format!("{key}={text} is not a number from zero"))
}
