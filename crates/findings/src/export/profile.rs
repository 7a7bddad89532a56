//! A profile as a JSON document: what `import --json` prints.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::analysis::category::Rules;
use crate::analysis::last_rank::LastRank;
use powerband_core::domain::generation::StatedGeneration;
use powerband_core::domain::profile::{MemoryUse, Profile, Total};
use powerband_core::domain::reported::Reported;
use powerband_core::domain::trace::SliceKind;

/// The whole document.
pub fn document(profile: &Profile, rules: &Rules, warnings: &[String]) -> Value {
    let kernels_ns = profile.devices.iter().map(|device| device.kernels_ns);
    let has_times = !profile.devices.is_empty();
    json!({
        "name": profile.name,
        "format": profile.format,
        "tool": profile.tool.name,
        "tool_version": profile.tool.version,
        "tool_command": profile.tool.command,
        "runs": profile.runs,
        "kernels": kernels(profile, rules),
        "busy_ns": profile.busy_ns(),
        "kernels_ns": has_times.then(|| kernels_ns.sum::<u64>()),
        "summed_ns": profile.kernels_ns(),
        "span_ns": profile.span_ns,
        "totals": profile.totals.iter().map(total).collect::<Vec<_>>(),
        "devices": profile.devices,
        "launches": profile.launches,
        "job": job(profile),
        "counters": profile.counters,
        "memory": profile.memory.iter().map(memory).collect::<Vec<_>>(),
        "facts": profile.facts,
        "trace_file": profile.trace_file,
        "warnings": warnings,
    })
}

/// What the ranks of a job did, and which one the others wait for; nothing for a single process.
pub(super) fn job(profile: &Profile) -> Option<Value> {
    let job = profile.job.as_ref()?;
    Some(json!({
        "n_ranks": job.n_ranks,
        "ranks": job.ranks,
        "collectives": job.collectives,
        "unmatched": job.unmatched,
        "last_rank": LastRank::read(job),
    }))
}

/// Kernels by name, over all devices and operators; longest first.
fn kernels(profile: &Profile, rules: &Rules) -> Vec<Value> {
    let mut by_name: BTreeMap<&str, (u64, u64, &Total)> = BTreeMap::new();
    for total in profile.of_kind(SliceKind::Kernel) {
        let sum = by_name.entry(&total.name).or_insert((0, 0, total));
        sum.0 += total.calls;
        sum.1 += total.total_ns;
    }
    let mut kernels: Vec<_> = by_name.into_iter().collect();
    kernels.sort_by_key(|(_, (_, total_ns, _))| std::cmp::Reverse(*total_ns));
    let one = |(name, (calls, total_ns, first)): (&str, (u64, u64, &Total))| {
        json!({
            "name": name,
            "op": first.op,
            "category": rules.categorise(first),
            "calls": calls,
            "total_ns": total_ns,
        })
    };
    kernels.into_iter().map(one).collect()
}

fn total(total: &Total) -> Value {
    json!({
        "kind": total.kind.title(),
        "name": total.name,
        "op": total.op,
        "place": total.place,
        "calls": total.calls,
        "total_ns": total.total_ns,
        "min_ns": total.min_ns,
        "max_ns": total.max_ns,
    })
}

fn memory(memory: &MemoryUse) -> Value {
    json!({
        "device": memory.device,
        "peak_bytes": memory.peak_bytes,
        "largest": memory.largest,
        "by_op": memory.by_op,
        "at_peak": memory.at_peak,
    })
}

/// The times that another program measured.
pub fn reported(reported: &Reported) -> Value {
    json!({
        "name": reported.name,
        "batch": reported.batch(),
        "samples": reported.samples_ns.len(),
        "typical_ms": reported.typical_ns.map(|ns| ns as f64 / 1e6),
        "figures": reported.figures,
        "objections": reported.objections,
        "point": reported.point,
        "requests_with_tokens": reported.tokens.as_ref().map(|tokens| tokens.first_token_ns.len()),
        "generation": reported.generation.as_ref().map(generation),
    })
}

/// What is stated of requests to a language model: times in milliseconds, each with its statistics.
pub fn generation(stated: &StatedGeneration) -> Value {
    let times = stated.times().into_iter().map(|(name, times)| {
        let told: Map<String, Value> = times
            .named()
            .map(|(name, ns)| (name.to_owned(), json!(ns / 1e6)))
            .collect();
        (format!("{}_ms", name.replace(' ', "_")), json!(told))
    });
    let rates = stated.rates().map(|(name, value, unit)| {
        let name = name.replace("/s", "_per_s").replace(' ', "_");
        let unit = if unit.contains('/') || unit.is_empty() {
            String::new()
        } else {
            format!("_{}", unit.to_lowercase())
        };
        (format!("{name}{unit}"), json!(value))
    });
    let told = times.filter(|(_, value)| value != &json!({}));
    Value::Object(told.chain(rates).collect())
}
