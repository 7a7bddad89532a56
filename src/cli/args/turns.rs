//! When cases have their turns: what `bench` and `gate` share.

use std::time::Duration;

use powerband_core::base::humanize;
use powerband_core::domain::spacing::Spacing;

/// When cases have their turns.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct TurnArgs {
    /// Time from the beginning of a round of a case to that of its next: 5s, 500ms [default: the preset's, 3 s and more,
    /// so that rounds span 15 s]. Each such round is a start of its own, where a start is cheap. With 0s rounds follow
    /// one another in one process, which is faster and says less about another day.
    #[arg(long, value_name = "TIME")]
    pub spacing: Option<Spacing>,
    /// Measure each case five times as long before the next has its turn, where what ran before it carries over.
    #[arg(long)]
    pub blocks: bool,
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
