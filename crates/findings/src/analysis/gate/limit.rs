//! Limits: which metrics may have one, and what they need besides times.

use super::super::metrics;
use super::super::verdict::LEAST_FLOOR;
use powerband_core::base::near_miss::near_miss;

/// The metric that is held against a limit where none is named.
pub const LATENCY: &str = "latency";
/// The metric that only a worker of our own tells.
pub const PEAK_MEMORY: &str = "peak memory";
/// Every metric that may have a limit, as comparisons call it.
const NAMES: [&str; 21] = [
    LATENCY,
    "latency p99",
    "throughput",
    "time to first token",
    "time per output token",
    "time per output token p99",
    "prefill tokens",
    "decode tokens",
    "cache",
    "energy per token",
    "energy per item",
    "items per joule",
    PEAK_MEMORY,
    "load",
    "library start",
    "first run",
    "set-up time",
    "scaling",
    "worst cosine",
    "same choice",
    "top-1",
];
/// What stands before the name of a kernel.
const KERNEL_PREFIX: &str = "kernel ";

/// By how much a metric may get worse.
#[derive(Clone, Debug, PartialEq)]
pub struct GateLimit {
    /// What the metric is called, in lower case: `latency`, `peak memory`.
    pub metric: String,
    /// In per cent of what it was.
    pub percent: f64,
}

impl GateLimit {
    /// What holds where nothing is said: nothing below 1 % is called a change.
    pub fn usual() -> Self {
        Self {
            metric: LATENCY.to_owned(),
            percent: LEAST_FLOOR * 100.0,
        }
    }
}

/// Which kernel a limit names: `kernel conv` names `conv`.
pub(super) fn kernel_name(metric: &str) -> Option<&str> {
    metric.strip_prefix(KERNEL_PREFIX).map(str::trim)
}

/// Whether a limit names a kernel.
pub fn is_kernel(metric: &str) -> bool {
    kernel_name(metric).is_some()
}

/// Whether a limit may have this name; else which one may be meant, or which ones there are.
pub fn check_name(name: &str) -> Result<(), String> {
    if NAMES.contains(&name) || kernel_name(name).is_some() {
        return Ok(());
    }
    let known = match near_miss(name, &NAMES) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("there are {} and kernel NAME", NAMES.join(", ")),
    };
    Err(format!(
        "{name} is no metric that can have a limit; {known}"
    ))
}

/// What has to be measured besides times for limits to have their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateNeeds {
    pub energy: bool,
    pub accuracy: bool,
    pub profile: bool,
}

impl GateNeeds {
    /// What these limits need.
    pub fn of_limits(limits: &[GateLimit]) -> Self {
        let names = || limits.iter().map(|limit| limit.metric.as_str());
        let any_of = |known: &[&str]| {
            names().any(|name| known.iter().any(|known| known.to_lowercase() == name))
        };
        Self {
            energy: any_of(&metrics::OF_ENERGY),
            accuracy: any_of(&metrics::OF_ACCURACY),
            profile: names().any(is_kernel),
        }
    }
}
