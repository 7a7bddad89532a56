//! The limits of a gate: those of the plan, with those that were typed in their place, and whether they can be measured.

use std::collections::BTreeMap;

use anyhow::bail;

use super::Arm;
use powerband_findings::analysis::gate::{self, GateLimit, GateNeeds, LATENCY, PEAK_MEMORY};
use powerband_worker::engines;

/// Every limit: what was typed goes before what the file says of the same metric. Latency always has one.
pub(super) fn limits(
    of_file: BTreeMap<String, f64>,
    typed: &[GateLimit],
) -> anyhow::Result<Vec<GateLimit>> {
    let of_file = of_file.into_iter().map(|(metric, percent)| GateLimit {
        metric: metric.to_lowercase(),
        percent,
    });
    let mut limits: Vec<GateLimit> = Vec::new();
    for limit in of_file.chain(typed.iter().cloned()) {
        if !(0.0..=1_000.0).contains(&limit.percent) {
            bail!("the limit of {} has to be from 0 to 1000 %", limit.metric);
        }
        gate::check_name(&limit.metric).map_err(anyhow::Error::msg)?;
        match limits.iter_mut().find(|known| known.metric == limit.metric) {
            Some(known) => *known = limit,
            None => limits.push(limit),
        }
    }
    // What takes three times as long must not pass by its memory alone.
    if !limits.iter().any(|one| one.metric == LATENCY) {
        limits.insert(0, GateLimit::usual());
    }
    Ok(limits)
}

/// Whether a side can tell what the limits need.
pub(super) fn check_side(limits: &[GateLimit], arm: &Arm) -> anyhow::Result<()> {
    let Some(engine) = engines::find(&arm.setup.engine) else {
        return Ok(());
    };
    let title = engine.title();
    let has_memory = limits.iter().any(|limit| limit.metric == PEAK_MEMORY);
    if has_memory && !engine.stands_alone() {
        bail!("{title} tells no peak memory, so that it cannot have a limit");
    }
    if GateNeeds::of_limits(limits).profile && !engine.profiles() {
        bail!("{title} does not tell where its time goes, so that a kernel cannot have a limit");
    }
    Ok(())
}
