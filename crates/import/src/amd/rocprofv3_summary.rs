//! `rocprofv3 --summary`: tables in the middle of whatever the program itself wrote.
//!
//! Each domain may have a table, and a last one has all of them together: a name counts once.

use rustc_hash::FxHashMap;

use crate::amd::common;
use crate::amd::rocprof_stats::is_call;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::reading::table;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::profile::Total;
use powerband_core::domain::trace::SliceKind;

pub(crate) const FORMAT: Format = Format {
    id: "rocprofv3-summary",
    title: "a summary of rocprofv3",
    tool: "rocprofv3",
    name_ends: &[],
    recognises: |head| {
        head.plain_text()
            .is_some_and(|text| text.lines().any(|line| title(line).is_some()))
    },
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut reader = SummaryReader::default();
    for line in text.lines() {
        reader.line(line.trim());
    }
    let SummaryReader {
        totals,
        processes,
        unread,
        ..
    } = reader;
    common::take_sums(totals, into);
    if processes > 1 {
        into.note(format!(
            "{} holds the summaries of {processes} processes; their times are added up",
            source.name()
        ));
    }
    table::note_unread(unread, source, into);
    Ok(())
}

/// What a table is about, where a line announces one; empty for all domains.
fn title(line: &str) -> Option<&str> {
    let line = line.trim();
    let rest = line.strip_prefix("ROCPROFV3 ")?;
    rest.strip_suffix("SUMMARY:").map(str::trim)
}

/// Where the columns of a table are, counted from the first one after the name.
#[derive(Clone, Copy, Debug)]
struct Columns {
    count: usize,
    domain: usize,
    calls: usize,
    duration: usize,
    min: Option<usize>,
    max: Option<usize>,
    unit_ns: f64,
}

impl Columns {
    /// Reads the line with the names: `| NAME | DOMAIN | CALLS | DURATION (nsec) | …`.
    fn parse_header(line: &str) -> Option<Self> {
        let inner = line.strip_prefix('|')?.strip_suffix('|')?;
        let names: Vec<&str> = inner.split('|').map(str::trim).collect();
        let place = |name: &str| {
            let place = names.iter().position(|column| column.starts_with(name))?;
            place.checked_sub(1)
        };
        let duration = place("DURATION")?;
        let unit = names.get(duration + 1)?.split_once('(')?.1;
        (names.first() == Some(&"NAME")).then_some(Self {
            count: names.len() - 1,
            domain: place("DOMAIN")?,
            calls: place("CALLS")?,
            duration,
            min: place("MIN"),
            max: place("MAX"),
            unit_ns: lines::unit_ns(unit)?,
        })
    }

    /// Reads a row, and the domain that it belongs to.
    fn total(&self, line: &str) -> Option<(String, Total)> {
        let inner = line.strip_prefix('|')?.strip_suffix('|')?;
        let (name, cells) = lines::name_then(inner, '|', self.count)?;
        let time = |place: usize| {
            let cell = cells.get(place)?;
            // A float would round what is a whole number already.
            if self.unit_ns == 1.0 {
                lines::whole_number(cell)
            } else {
                lines::number(cell).map(|value| lines::ns(value, self.unit_ns))
            }
        };
        let domain = (*cells.get(self.domain)?).to_owned();
        let total = Total {
            work: None,
            kind: kind(&domain, &name),
            name: lines::kernel_name(&name).to_owned(),
            op: String::new(),
            place: String::new(),
            calls: lines::whole_number(cells.get(self.calls)?)?,
            total_ns: time(self.duration)?,
            min_ns: self.min.and_then(time),
            max_ns: self.max.and_then(time),
        };
        Some((domain, total))
    }
}

/// What a row of a domain is.
fn kind(domain: &str, name: &str) -> SliceKind {
    if domain.starts_with("KERNEL") {
        SliceKind::Kernel
    } else if domain.starts_with("MEMORY_COPY") {
        SliceKind::Copy
    } else if domain.starts_with("MARKER") {
        SliceKind::Range
    } else if domain.ends_with("_API") || domain.ends_with("_EXT") || is_call(name) {
        SliceKind::Call
    } else {
        SliceKind::Other
    }
}

/// State of reading a summary.
#[derive(Debug, Default)]
struct SummaryReader {
    totals: Vec<Total>,
    /// Where a name of a domain is among the totals, and for which process it was last counted.
    places: FxHashMap<(String, String), (usize, u64)>,
    titles: Vec<String>,
    processes: u64,
    columns: Option<Columns>,
    expects_table: bool,
    unread: u64,
}

impl SummaryReader {
    fn line(&mut self, line: &str) {
        if let Some(title) = title(line) {
            // Every process writes its own tables in turn.
            if self.processes == 0 || self.titles.iter().any(|known| known == title) {
                self.titles.clear();
                self.processes += 1;
            }
            self.titles.push(title.to_owned());
            self.columns = None;
            self.expects_table = true;
        } else if !line.starts_with('|') {
            // A blank line stands before a table, and another one ends it.
            self.expects_table &= self.columns.is_none();
            self.columns = None;
        } else if self.expects_table {
            self.row(line);
        }
    }

    fn row(&mut self, line: &str) {
        let Some(columns) = self.columns else {
            self.columns = Columns::parse_header(line);
            return;
        };
        if line.starts_with("|-") {
            return;
        }
        match columns.total(line) {
            Some((domain, total)) => self.take(domain, total),
            None => self.unread += 1,
        }
    }

    /// Takes a name in, unless another table of the same process had it.
    fn take(&mut self, domain: String, total: Total) {
        let new = (self.totals.len(), self.processes);
        match self.places.entry((domain, total.name.clone())) {
            std::collections::hash_map::Entry::Vacant(vacant) => {
                vacant.insert(new);
                self.totals.push(total);
            }
            std::collections::hash_map::Entry::Occupied(mut known) => {
                let (place, process) = *known.get();
                if process == self.processes {
                    return;
                }
                known.insert((place, self.processes));
                let Some(sum) = self.totals.get_mut(place) else {
                    return;
                };
                sum.calls = sum.calls.saturating_add(total.calls);
                sum.total_ns = sum.total_ns.saturating_add(total.total_ns);
                sum.min_ns = sum.min_ns.into_iter().chain(total.min_ns).min();
                sum.max_ns = sum.max_ns.into_iter().chain(total.max_ns).max();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cut_everywhere, fixture, path, text};

    fn of_kind(imported: &Imported, kind: SliceKind) -> Vec<(&str, u64, u64)> {
        let totals = imported.totals.iter().filter(|total| total.kind == kind);
        totals
            .map(|total| (total.name.as_str(), total.calls, total.total_ns))
            .collect()
    }

    #[test]
    fn every_domain_is_taken_and_the_table_of_all_is_not_added() {
        let imported = fixture("rocprofv3/docs-summary.txt");
        assert!(imported.notes.is_empty(), "{:?}", imported.notes);
        let kernels = of_kind(&imported, SliceKind::Kernel);
        let top = "void addition_kernel<float>(float*, float const*, float const*, int, int)";
        assert_eq!((kernels.len(), kernels[0]), (4, (top, 8, 184_324)));
        let time: u64 = kernels.iter().map(|kernel| kernel.2).sum();
        assert!((184_324.0 / time as f64 - 0.406_815_42).abs() < 1e-8);

        let copies = of_kind(&imported, SliceKind::Copy);
        assert_eq!(copies.len(), 2);
        assert_eq!(copies[0], ("MEMORY_COPY_HOST_TO_DEVICE", 16, 3_691_929));
        let time: u64 = copies.iter().map(|copy| copy.2).sum();
        assert!((3_691_929.0 / time as f64 - 0.854_940_53).abs() < 1e-8);

        let calls = of_kind(&imported, SliceKind::Call);
        assert!(calls.contains(&("hsa_queue_create", 4, 280_077_621)));
        assert!(calls.contains(&("hipDeviceSynchronize", 4, 50663)));
        let first = &imported.totals[0];
        assert_eq!(
            (first.min_ns, first.max_ns),
            (Some(55_026_812), Some(113_288_760))
        );
        assert!(
            of_kind(&imported, SliceKind::Other)
                .iter()
                .all(|other| other.0.starts_with("MEMORY_ALLOCATION"))
        );
    }

    #[test]
    fn the_table_of_all_is_enough() {
        let whole = std::fs::read_to_string(path("rocprofv3/docs-summary.txt")).unwrap();
        let from = whole.find("ROCPROFV3 SUMMARY:").unwrap();
        let all = text(
            "s.txt",
            &format!("hello | world\n| no | table |\n{}", &whole[from..]),
        );
        let both = fixture("rocprofv3/docs-summary.txt");
        let sum = |imported: &Imported| imported.totals.iter().map(|of| of.total_ns).sum::<u64>();
        assert_eq!(all.totals.len(), both.totals.len());
        assert_eq!(sum(&all), sum(&both));
        let longest = |imported: &Imported| imported.totals.iter().map(|of| of.max_ns).max();
        assert_eq!(longest(&all), longest(&both));
        assert!(all.notes.is_empty(), "{:?}", all.notes);
    }

    #[test]
    fn tables_of_two_processes_are_added_up_in_their_unit() {
        let table = "ROCPROFV3 KERNEL_DISPATCH SUMMARY:\r\n\r\n\
                     | NAME | DOMAIN | CALLS | DURATION (usec) | AVERAGE (usec) | PERCENT (INC) | MIN (usec) | MAX (usec) | STDDEV |\r\n\
                     |------|--------|-------|-----|-----|-----|-----|-----|-----|\r\n\
                     | operator| (int) | KERNEL_DISPATCH | 2 | 3.500 | 1.750e+00 | 100.000000 | 1.500 | 2.000 | 0.000e+00 |\r\n\
                     | broken | KERNEL_DISPATCH | two |\r\n\r\n\
                     | not a | table |\r\n";
        let imported = text("s.txt", &format!("{table}work\r\n{table}"));
        assert_eq!(
            of_kind(&imported, SliceKind::Kernel),
            [("operator| (int)", 4, 7000)]
        );
        assert_eq!(imported.totals[0].min_ns, Some(1500));
        assert!(imported.notes[0].contains("2 processes"));
        assert!(imported.notes[1].starts_with("2 rows"));
    }

    #[test]
    fn a_file_that_is_cut_anywhere_is_read_up_to_there() {
        cut_everywhere("rocprofv3/docs-summary.txt", 131, |_| ());
    }
}
