//! Waiting until no other program uses the processors or the cards.

use std::time::{Duration, Instant};

use super::{devices, output, signals};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::humanize;
use powerband_devices::cores::Cores;
use powerband_devices::machine;
use powerband_worker::cpu_contention::Counters;

/// How long the machine is watched at a time.
const WINDOW: Duration = Duration::from_secs(1);
/// The share of all processors, and of a card, that others may use.
const IDLE: f64 = 0.05;
/// So many windows in a row are idle.
const IN_A_ROW: u32 = 3;
/// The governor that keeps clocks up.
const STEADY: &str = "performance";

/// Waits so long at most, where that is asked for; says what keeps clocks from being steady, and where others still use the
/// machine then. Nothing where that cannot be read.
pub(super) fn wait_if_asked(limit: Option<Duration>) -> anyhow::Result<()> {
    if let Some(limit) = limit {
        let governor = machine::environment().cpu.governor;
        if let Some(governor) = governor.filter(|governor| governor != STEADY) {
            output::note(&format!(
                "The clock governor is {governor}, so that clocks follow the load; sudo cpupower frequency-set --governor {STEADY} keeps them up."
            ));
        }
        wait(limit, &signals::listen()?.token());
    }
    Ok(())
}

fn wait(limit: Duration, stop: &CancelToken) {
    let end = Instant::now() + limit;
    let (mut idle, mut is_said) = (0, false);
    while let Some(load) = OthersLoad::watched().filter(|_| !stop.is_cancelled()) {
        let used = load.used();
        idle = if used.is_empty() { idle + 1 } else { 0 };
        if idle >= IN_A_ROW {
            return;
        }
        let used = humanize::list(&used.iter().map(String::as_str).collect::<Vec<_>>());
        if Instant::now() >= end {
            if idle == 0 {
                output::note(&format!(
                    "Other programs still use {used}; the numbers suffer."
                ));
            }
            return;
        }
        if idle == 0 && !is_said {
            is_said = true;
            output::note(&format!(
                "Other programs use {used}; waiting for up to {}.",
                humanize::clock_time(limit.as_secs_f64())
            ));
        }
    }
}

/// What other programs use.
struct OthersLoad {
    /// The share of all processors.
    processors: f64,
    /// Each card with the share of the time in which it computed.
    cards: Vec<(String, f64)>,
}

impl OthersLoad {
    /// What they use for a while.
    fn watched() -> Option<Self> {
        let before = Counters::now()?;
        let cards = devices::busy_cards(WINDOW);
        let passed = before.since()?;
        let all_ns = passed.counted_ns as f64 * Cores::here().usable() as f64;
        Some(Self {
            processors: (passed.others_ns + passed.stolen_ns) as f64 / all_ns.max(1.0),
            cards,
        })
    }

    /// What they use more of than an idle machine's own programs do, in words.
    fn used(&self) -> Vec<String> {
        let processors = ("the processors".to_owned(), self.processors);
        let all = std::iter::once(&processors).chain(&self.cards);
        let busy = all.filter(|(_, share)| *share > IDLE);
        busy.map(|(what, share)| format!("{} of {what}", humanize::percent(*share)))
            .collect()
    }
}
