//! By which stacks the memory of two profiles differs, for two memory snapshots.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use powerband_core::base::humanize;
use powerband_core::domain::profile::{MemoryUse, Profile};

/// Stacks that are listed.
const STACKS: usize = 10;

/// By which stacks the memory in use at the peak differs, device by device.
pub(super) fn memory_changes(before: &Profile, after: &Profile) -> Vec<String> {
    let pairs = after.memory.iter().filter_map(|after| {
        let same = |other: &&MemoryUse| other.device == after.device && !other.at_peak.is_empty();
        let before = before.memory.iter().find(same)?;
        (!after.at_peak.is_empty()).then_some((before, after))
    });
    let changes = pairs.map(|(before, after)| {
        let mut stacks: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
        for (side, memory) in [before, after].into_iter().enumerate() {
            for (stack, bytes) in &memory.at_peak {
                let sum = &mut stacks.entry(stack).or_default()[side];
                *sum = sum.saturating_add(*bytes);
            }
        }
        let difference = |[before, after]: [u64; 2]| after.abs_diff(before);
        let mut stacks: Vec<_> = stacks.into_iter().collect();
        stacks.retain(|(_, sides)| difference(*sides) > 0);
        stacks.sort_by_key(|(_, sides)| Reverse(difference(*sides)));
        let differing = stacks.iter().take(STACKS).map(|(stack, sides)| {
            let sign = if sides[1] > sides[0] { '+' } else { '−' };
            format!("{sign}{} {stack}", humanize::bytes(difference(*sides)))
        });
        let differing: Vec<String> = differing.collect();
        format!(
            "The peak memory of {} is {} before and {} after. Stacks that differ most: {}.",
            after.device,
            humanize::bytes(before.peak_bytes),
            humanize::bytes(after.peak_bytes),
            if differing.is_empty() {
                "none".to_owned()
            } else {
                differing.join("; ")
            }
        )
    });
    changes.collect()
}
