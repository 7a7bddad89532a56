//! Counters of CUPTI's range profiler, as PyTorch's profiler writes them: an event for each kernel or range,
//! with a value for each metric.
//!
//! The events share the time of the whole measurement in equal parts, so their times are no times of the
//! kernels: the counters are taken, and no slice is made of them.

use std::collections::HashMap;

use super::super::Imported;
use super::event::RawEvent;
use powerband_core::domain::profile::Counter;

/// What such events are called in the file.
pub(super) const CATEGORY: &[u8] = b"cuda_profiler_range";
/// What the names of all of CUPTI's metrics have in them, and no other field of an event has.
const METRIC: &str = "__";

/// Counters, by kernel and metric, in the order in which they come.
#[derive(Debug, Default)]
pub(super) struct RangeCounters {
    events: u64,
    /// Events without a single value.
    empty: u64,
    counters: Vec<Counter>,
    places: HashMap<(String, String), usize>,
}

impl RangeCounters {
    pub(super) fn take(&mut self, event: &RawEvent<'_>) {
        self.events += 1;
        let kernel = event.name.text();
        let mut is_empty = true;
        event.args.each(|key, value| {
            let key = String::from_utf8_lossy(key);
            let value = std::str::from_utf8(value.bytes()).ok();
            let value = value.and_then(|text| text.trim().parse::<f64>().ok());
            let value = value.filter(|value| value.is_finite());
            if let Some(value) = value.filter(|_| key.contains(METRIC)) {
                is_empty = false;
                self.count(&kernel, &key, 1, value);
            }
        });
        self.empty += u64::from(is_empty);
    }

    /// Takes those of a later stretch of the file in.
    pub(super) fn extend(&mut self, later: Self) {
        self.events += later.events;
        self.empty += later.empty;
        for counter in later.counters {
            self.count(
                &counter.kernel,
                &counter.name,
                counter.launches,
                counter.sum,
            );
        }
    }

    fn count(&mut self, kernel: &str, metric: &str, launches: u64, sum: f64) {
        let key = (kernel.to_owned(), metric.to_owned());
        let place = *self.places.entry(key).or_insert_with(|| {
            self.counters.push(Counter {
                kernel: kernel.to_owned(),
                name: metric.to_owned(),
                unit: String::new(),
                launches: 0,
                sum: 0.0,
            });
            self.counters.len() - 1
        });
        if let Some(counter) = self.counters.get_mut(place) {
            counter.launches += launches;
            counter.sum += sum;
        }
    }

    /// Adds the counters to the import, with a note on what these events lack.
    pub(super) fn finish(self, file: &str, into: &mut Imported) {
        into.note_some(
            self.events - self.empty,
            "event",
            file,
            "came from CUPTI's range profiler, which replays kernels to count: the counters were taken, the times were not, since the file shares the time of the whole measurement among them",
        );
        into.note_some(
            self.empty,
            "event",
            file,
            "came from CUPTI's range profiler without any value; left out",
        );
        into.counters.extend(self.counters);
    }
}
