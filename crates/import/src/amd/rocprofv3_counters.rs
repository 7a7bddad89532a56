//! `rocprofv3 --pmc`: one row a launch and counter.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::amd::common::AmdEvent;
use crate::amd::event_table::{self, EventColumns};
use crate::amd::rocprofv3_kernels::LaunchColumns;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::reading::table::TextTable;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::profile::Counter;
use powerband_core::domain::trace::SliceKind;

pub(crate) const FORMAT: Format = Format {
    id: "rocprofv3-counters",
    title: "hardware counters of rocprofv3",
    tool: "rocprofv3",
    name_ends: &["_counter_collection.csv"],
    recognises: |head| head.has_columns(',', &["kernel_name", "counter_name", "counter_value"]),
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let table = TextTable::open(source, watch, ',', &["kernel_name"])?;
    let columns = EventColumns::find(&table);
    let shape = LaunchColumns::find(&table);
    let kernel = table.place(&["kernel_name"]);
    let counter = table.place(&["counter_name"]);
    let value = table.place(&["counter_value"]);
    let dispatch = table.place(&["dispatch_id"]);
    let mut counters = Counters::default();
    let mut seen = FxHashSet::default();
    event_table::read_rows(table, source, into, |row, events| {
        let name = row.name(kernel);
        let kernel = lines::kernel_name(&name);
        let counter = row.text(counter);
        let value = lines::number(row.text(value)).filter(|_| !counter.is_empty())?;
        counters.add(kernel, counter, value);
        let launch = [columns.process, dispatch, columns.start]
            .map(|place| row.whole_number(place).unwrap_or(0));
        if !seen.insert(launch) {
            return Some(());
        }
        if let Some((start, end)) = columns.span(row) {
            events.push(&AmdEvent {
                kind: SliceKind::Kernel,
                name: kernel,
                lane: columns.queue(row),
                start,
                end,
                link: columns.link(row),
                detail: &shape.launch_text(row),
            });
        }
        Some(())
    })?;
    if !columns.have_times() && !seen.is_empty() {
        into.note(format!(
            "{} has no times: how long its {} launches took is not known",
            source.name(),
            seen.len()
        ));
    }
    counters.finish(into);
    Ok(())
}

/// Counters that are added up over the launches of each kernel.
#[derive(Debug, Default)]
pub struct Counters {
    list: Vec<Counter>,
    places: FxHashMap<String, FxHashMap<String, usize>>,
}

impl Counters {
    /// Adds a value of one launch.
    pub fn add(&mut self, kernel: &str, counter: &str, value: f64) {
        let known = self.places.get(kernel).and_then(|of| of.get(counter));
        let place = known.copied().unwrap_or_else(|| {
            self.list.push(Counter {
                kernel: kernel.to_owned(),
                name: counter.to_owned(),
                unit: String::new(),
                launches: 0,
                sum: 0.0,
            });
            let of_kernel = self.places.entry(kernel.to_owned()).or_default();
            of_kernel.insert(counter.to_owned(), self.list.len() - 1);
            self.list.len() - 1
        });
        if let Some(counter) = self.list.get_mut(place) {
            counter.launches += 1;
            counter.sum += value;
        }
    }

    /// Hands them over, with a note on their effect on times.
    pub fn finish(self, into: &mut Imported) {
        if self.list.is_empty() {
            return;
        }
        into.counters.extend(self.list);
        into.note(
            "while counters are collected kernels run one at a time, so that times of this run do not compare with those of another",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cut_everywhere, fixture, fixtures, sums, text};

    fn sum(imported: &Imported, name: &str) -> f64 {
        let of_name = imported.counters.iter().filter(|of| of.name == name);
        of_name.map(|counter| counter.sum).sum()
    }

    #[test]
    fn counters_give_the_figures_of_the_files() {
        let docs = fixture("rocprofv3/docs-counter_collection.csv");
        assert_eq!((docs.counters.len(), docs.trace.len()), (4, 4));
        assert_eq!(sum(&docs, "SQ_WAVES"), 65536.0);
        assert_eq!(docs.counters[0].launches, 1);

        let old = fixture("rocprofv3/rocm62-docs-counter_collection.csv");
        assert_eq!(sum(&old, "SQ_WAVES"), 114_688.0);
        let launches: u64 = old.counters.iter().map(|counter| counter.launches).sum();
        assert_eq!((launches, old.trace.len()), (7, 0));
        assert!(
            old.notes[0].contains("has no times") && old.notes[0].contains("7 launches"),
            "{:?}",
            old.notes
        );
    }

    #[test]
    fn launches_with_many_counters_are_taken_once() {
        let imported = fixture("rocprofv3/llamacpp-decode_stall_counter_collection.csv");
        assert_eq!((imported.trace.len(), imported.counters.len()), (34, 170));
        let time: u64 = sums(&imported, SliceKind::Kernel)
            .iter()
            .map(|sum| sum.2)
            .sum();
        assert_eq!(time, 463_587);
        for (name, value) in [
            ("GRBM_EA_BUSY", 886_516.0),
            ("GRBM_GUI_ACTIVE", 1_295_813.0),
            ("L2CacheHit", 1_077.820_629),
            ("LDSBankConflict", 0.0),
            ("OccupancyPercent", 690.524_273),
            ("MemUnitBusy", 872.824_232),
        ] {
            assert!((sum(&imported, name) - value).abs() < 1e-6, "{name}");
        }
    }

    #[test]
    fn launches_that_another_file_told_of_are_not_taken_again() {
        let file = "rocprofv3/docs-counter_collection.csv";
        let twice = fixtures(&[file, file]);
        assert_eq!((twice.trace.len(), twice.counters.len()), (4, 8));
    }

    #[test]
    fn values_that_are_none_are_counted() {
        let imported = text(
            "c.csv",
            "Kernel_Name,Counter_Name,Counter_Value\nf,A,1\nf,A,nan\nf,,2\nf,A,2e3\n",
        );
        let counter = &imported.counters[0];
        assert_eq!((counter.launches, counter.sum), (2, 2001.0));
        assert!(
            imported.notes[0].starts_with("2 rows"),
            "{:?}",
            imported.notes
        );
        cut_everywhere("rocprofv3/docs-counter_collection.csv", 9, |_| ());
    }
}
