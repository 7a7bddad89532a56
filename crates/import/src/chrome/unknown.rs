//! Categories of PyTorch's traces that are not known here: their events are on the timeline and in no sum, and a note
//! says how much that is.

use std::collections::BTreeMap;

use super::Imported;
use powerband_core::base::humanize;

/// Categories that are known and are no work: the span of the whole recording, and what lies on others.
const KNOWN: [&[u8]; 7] = [
    b"",
    b"Trace",
    b"mtia_ccp_events",
    b"cuda_event",
    b"xpu_sync",
    b"xpu_scope_profiler",
    b"mtia_counters",
];
/// Categories that are named.
const NAMED: usize = 6;

/// Events and nanoseconds, by category.
#[derive(Debug, Default)]
pub(super) struct UnknownCategories(BTreeMap<Vec<u8>, (u64, u64)>);

impl UnknownCategories {
    /// Counts an event, unless it is one that is known to be no work.
    pub(super) fn take(&mut self, category: &[u8], ns: u64) {
        if KNOWN.contains(&category) {
            return;
        }
        if let Some(sum) = self.0.get_mut(category) {
            *sum = (sum.0 + 1, sum.1.saturating_add(ns));
        } else {
            self.0.insert(category.to_vec(), (1, ns));
        }
    }

    /// Takes those of a later stretch of the file in.
    pub(super) fn extend(&mut self, later: Self) {
        for (category, (events, ns)) in later.0 {
            let sum = self.0.entry(category).or_default();
            *sum = (sum.0 + events, sum.1.saturating_add(ns));
        }
    }

    /// Notes them, most time first.
    pub(super) fn finish(self, file: &str, into: &mut Imported) {
        let mut sums: Vec<(Vec<u8>, (u64, u64))> = self.0.into_iter().collect();
        sums.sort_by_key(|(_, (_, ns))| std::cmp::Reverse(*ns));
        let more = sums.len().saturating_sub(NAMED);
        let named = sums.iter().take(NAMED).map(|(category, (events, ns))| {
            format!(
                "{} ({}, {})",
                humanize::shorten(&String::from_utf8_lossy(category), 40),
                humanize::pluralised(*events, "event"),
                humanize::duration_ns(*ns as f64)
            )
        });
        let mut named: Vec<String> = named.collect();
        if named.is_empty() {
            return;
        }
        if more > 0 {
            named.push(format!("{more} more"));
        }
        into.note(format!(
            "{file} has events of categories that are not known here, which are on the timeline and in no sum: {}",
            named.join(", ")
        ));
    }
}
