//! Waiting for an idle machine: what `bench` and `gate` share.

use std::time::Duration;

use powerband_core::base::humanize;

/// Whether a run waits until it is alone.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct IdleArgs {
    /// Wait so long at most until no other program uses the processors or the cards, as in 2min, and say where some still do.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub wait_idle: Option<Duration>,
}

/// A time, as in `5min`.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let ns = humanize::parse_duration_ns(text).filter(|ns| *ns <= 1e15);
    let ns = ns.ok_or_else(|| "write a time with its unit, as in 90s or 5min".to_owned())?;
    Ok(Duration::from_nanos(ns as u64))
}
