//! Waiting until no other program uses the processors or the cards, and heat slows no device down.

use std::time::{Duration, Instant};

use super::devices::{self, DeviceState};
use super::{output, signals};
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
    while let Some(state) = MachineState::watched().filter(|_| !stop.is_cancelled()) {
        let reasons = state.reasons();
        idle = if reasons.is_empty() { idle + 1 } else { 0 };
        if idle >= IN_A_ROW {
            return;
        }
        if Instant::now() >= end {
            for (who, does, what) in reasons {
                output::note(&format!("{who} still {does} {what}; the numbers suffer."));
            }
            return;
        }
        if idle == 0 && !is_said {
            is_said = true;
            let limit = humanize::clock_time(limit.as_secs_f64());
            for (who, does, what) in reasons {
                output::note(&format!("{who} {does} {what}; waiting for up to {limit}."));
            }
        }
    }
}

/// What other programs use, and what is too hot.
struct MachineState {
    /// The share of all processors.
    processors: f64,
    devices: DeviceState,
}

impl MachineState {
    /// That of a while.
    fn watched() -> Option<Self> {
        let before = Counters::now()?;
        let devices = devices::device_state(WINDOW);
        let passed = before.since()?;
        let all_ns = passed.counted_ns as f64 * Cores::here().usable() as f64;
        Some(Self {
            processors: (passed.others_ns + passed.stolen_ns) as f64 / all_ns.max(1.0),
            devices,
        })
    }

    /// Why the machine is not idle: who does what to what.
    fn reasons(&self) -> Vec<(&'static str, &'static str, String)> {
        let processors = ("the processors".to_owned(), self.processors);
        let all = std::iter::once(&processors).chain(&self.devices.cards);
        let busy = all.filter(|(_, share)| *share > IDLE);
        let busy = busy.map(|(what, share)| format!("{} of {what}", humanize::percent(*share)));
        let busy = listed(&busy.collect::<Vec<_>>()).map(|what| ("Other programs", "use", what));
        let hot = listed(&self.devices.hot).map(|what| ("Heat", "slows down", what));
        busy.into_iter().chain(hot).collect()
    }
}

/// Names in a row; nothing for none.
fn listed(names: &[String]) -> Option<String> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| humanize::list(&names))
}
