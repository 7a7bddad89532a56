//! A plain table of timings whose columns the user names. It is not recognised by
//! itself: any table could be one.

use std::collections::HashMap;

use crate::benchmarks::common;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{ImportError, Imported};
use powerband_core::domain::point::Point;
use powerband_core::domain::reported::Reported;

const TITLE: &str = "a table of timings";

/// Names of the columns that the user chose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The column with the time of a run.
    pub time: String,
    /// Its unit; where it is not given, the column's name must have it: `latency_ms`, `time (us)`.
    pub unit: Option<String>,
    /// The column with what was measured.
    pub name: Option<String>,
    /// The column with the items in a run.
    pub batch: Option<String>,
}

/// Reads a table with columns named by the user: each row is a run.
pub fn read(
    source: &ImportSource,
    columns: &Columns,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    if into.format.is_empty() {
        into.format = "table";
    }
    let mut rows = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let header = rows.next().unwrap_or_default();
    let separator = separator(header, columns);
    let names = lines::fields(header, separator);
    let places = ColumnIndices::find(&names, columns, source)?;
    let scale = scale(columns, &names, places.time, source)?;
    let mut runs = Runs::default();
    for row in source.progress_reader(rows, watch) {
        let row = row?;
        runs.row(&lines::fields(row, separator), &places, scale, separator);
    }
    into.note_unread(runs.unread, "row", &source.name());
    let file = source.name();
    let below = "lay below zero; counted as zero";
    into.note_some(runs.below, "time", &file, below);
    let without = "had no sensible count of items in a run; kept without";
    into.note_some(runs.without_batch, "row", &file, without);
    if runs.list.is_empty() {
        into.note(format!("{} has no row with a time", source.name()));
    }
    for mut result in runs.list {
        if result.name.is_empty() {
            result.name = source.name();
        }
        into.reported.push(result);
    }
    Ok(())
}

/// The runs, by name and batch.
#[derive(Debug, Default)]
struct Runs {
    list: Vec<Reported>,
    places: HashMap<(String, Option<usize>), usize>,
    unread: u64,
    below: u64,
    without_batch: u64,
}

impl Runs {
    fn row(&mut self, cells: &[String], places: &ColumnIndices, scale: f64, separator: char) {
        let of = |place: Option<usize>| cells.get(place?).map(|cell| cell.trim());
        let Some(time) = of(Some(places.time)).and_then(|cell| number(cell, separator)) else {
            self.unread += 1;
            return;
        };
        self.below += u64::from(time < 0.0);
        let batch = of(places.batch).and_then(item_count);
        self.without_batch += u64::from(places.batch.is_some() && batch.is_none());
        let name = of(places.name).unwrap_or_default().to_owned();
        let place = *self
            .places
            .entry((name.clone(), batch))
            .or_insert(self.list.len());
        if place == self.list.len() {
            self.list.push(Reported {
                name,
                point: batch.map(Point::of_batch),
                ..Reported::default()
            });
        }
        if let Some(result) = self.list.get_mut(place) {
            result.samples_ns.push(lines::ns(time, scale));
        }
    }
}

/// Indices of the columns.
#[derive(Debug)]
struct ColumnIndices {
    time: usize,
    name: Option<usize>,
    batch: Option<usize>,
}

impl ColumnIndices {
    fn find(
        names: &[String],
        columns: &Columns,
        source: &ImportSource,
    ) -> Result<Self, ImportError> {
        let find = |wanted: &str| -> Result<usize, ImportError> {
            let same = |name: &String| name.trim() == wanted.trim();
            let alike = |name: &String| name.trim().eq_ignore_ascii_case(wanted.trim());
            let place = names.iter().position(same);
            place
                .or_else(|| names.iter().position(alike))
                .ok_or_else(|| {
                    source.unusable_error(
                        TITLE,
                        format!(
                            "it has no column {wanted}; its columns are {}",
                            names.join(", ")
                        ),
                    )
                })
        };
        Ok(Self {
            time: find(&columns.time)?,
            name: columns.name.as_deref().map(find).transpose()?,
            batch: columns.batch.as_deref().map(find).transpose()?,
        })
    }
}

/// Nanoseconds in the unit of the times.
fn scale(
    columns: &Columns,
    names: &[String],
    time: usize,
    source: &ImportSource,
) -> Result<f64, ImportError> {
    if let Some(unit) = &columns.unit {
        return lines::unit_ns(unit).ok_or_else(|| {
            source.unusable_error(
                TITLE,
                format!("{unit} is no unit of time; use ns, us, ms or s"),
            )
        });
    }
    let name = names.get(time).map_or("", |name| name.as_str());
    let in_brackets = lines::unit_ns(common::unit_of(name).1);
    let last = name.rsplit(['_', ' ', '.', '-', '/', '[', '(']).next();
    let last = last.filter(|last| *last != name).and_then(lines::unit_ns);
    in_brackets
        .or(last)
        .or_else(|| lines::unit_ns(name))
        .or_else(|| camel_case_unit(name))
        .ok_or_else(|| {
            source.unusable_error(
                TITLE,
                format!("the unit of the times of {name} is not known; give it: ns, us, ms or s"),
            )
        })
}

/// The unit at the end of `latencyMs` and `TotalDurationNs`.
fn camel_case_unit(name: &str) -> Option<f64> {
    let units = [("Ns", 1.0), ("Us", 1e3), ("Ms", 1e6)];
    let found = units.iter().find(|(unit, _)| {
        name.strip_suffix(unit)
            .is_some_and(|rest| rest.ends_with(|c: char| c.is_lowercase()))
    });
    found.map(|(_, scale)| *scale)
}

/// What divides the columns: the one that finds the column of the times, else the one that divides most.
fn separator(header: &str, columns: &Columns) -> char {
    const ALL: [char; 3] = ['\t', ';', ','];
    let has_time = |separator: &char| {
        let names = lines::fields(header, *separator);
        names.len() > 1
            && names
                .iter()
                .any(|name| name.trim().eq_ignore_ascii_case(columns.time.trim()))
    };
    let most = ALL
        .iter()
        .max_by_key(|separator| lines::fields(header, **separator).len());
    ALL.iter()
        .find(|separator| has_time(separator))
        .or(most)
        .copied()
        .unwrap_or(',')
}

/// A number; where commas do not divide columns, a single one stands before decimals.
fn number(cell: &str, separator: char) -> Option<f64> {
    if separator != ',' && !cell.contains('.') && cell.matches(',').count() == 1 {
        return lines::number(&cell.replace(',', "."));
    }
    lines::number(cell)
}

/// A count of items; some programs write whole numbers with decimals.
fn item_count(cell: &str) -> Option<usize> {
    let cell = cell.trim_end_matches('0').strip_suffix('.').unwrap_or(cell);
    common::batch(cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::source::Limits;

    fn columns(time: &str, unit: Option<&str>, name: Option<&str>, batch: Option<&str>) -> Columns {
        Columns {
            time: time.to_owned(),
            unit: unit.map(str::to_owned),
            name: name.map(str::to_owned),
            batch: batch.map(str::to_owned),
        }
    }

    fn table(text: &str, columns: &Columns) -> Result<Imported, ImportError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let source = ImportSource::open(file.path(), Limits::default())?;
        let mut into = Imported::default();
        read(&source, columns, &ReadProgress::default(), &mut into)?;
        Ok(into)
    }

    #[test]
    fn rows_are_samples_by_name_and_batch() {
        let text = "\u{feff}model,batch,latency_ms\r\nresnet,1,1.5\r\nresnet,8,4\r\n\
            \"a, b\",1,2\r\nresnet,1,1.25\r\nresnet,x,-3\r\nresnet,1\r\n";
        let imported = table(
            text,
            &columns("latency_ms", None, Some("model"), Some("Batch")),
        )
        .unwrap();
        let found: Vec<(&str, Option<usize>, &[u64])> = imported
            .reported
            .iter()
            .map(|result| {
                (
                    result.name.as_str(),
                    result.batch(),
                    result.samples_ns.as_slice(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("resnet", Some(1), [1_500_000, 1_250_000].as_slice()),
                ("resnet", Some(8), [4_000_000].as_slice()),
                ("a, b", Some(1), [2_000_000].as_slice()),
                ("resnet", None, [0].as_slice()),
            ]
        );
        assert_eq!((imported.format, imported.notes.len()), ("table", 3));
    }

    #[test]
    fn separators_are_found_and_units_are_in_the_header() {
        let first = |text: &str, time: &str, unit: Option<&str>| {
            let imported = table(text, &columns(time, unit, None, None)).unwrap();
            imported.reported[0].samples_ns[0]
        };
        assert_eq!(first("n;time (us)\n1;2,5\n", "time (us)", None), 2_500);
        assert_eq!(
            first("n\ttime [s]\n1\t0.5\n", "TIME [S]", None),
            500_000_000
        );
        assert_eq!(first("DurationNs\n7\n", "DurationNs", None), 7);
        assert_eq!(first("ms\n7\n", "ms", None), 7_000_000);
        assert_eq!(first("a,t\n1,\"1,000\"\n", "t", Some("us")), 1_000_000);
        assert_eq!(first("# made by hand\nt,u\n3,4\n", "t", Some("ns")), 3);
    }

    #[test]
    fn what_is_missing_is_said() {
        let refused = |text: &str, columns: &Columns| table(text, columns).unwrap_err().to_string();
        let no_unit = refused("a,times\n1,2\n", &columns("times", None, None, None));
        assert!(no_unit.contains("the unit of the times"), "{no_unit}");
        let bad_unit = refused("a,t\n1,2\n", &columns("t", Some("h"), None, None));
        assert!(bad_unit.contains("h is no unit"), "{bad_unit}");
        let missing = refused("a,t_ms\n1,2\n", &columns("t_ms", None, Some("b"), None));
        assert!(
            missing.contains("no column b; its columns are a, t_ms"),
            "{missing}"
        );
        let empty = table("t_ms\n", &columns("t_ms", None, None, None)).unwrap();
        assert!(empty.notes[0].contains("no row with a time"));
    }

    #[test]
    fn batches_with_decimals_are_whole() {
        assert_eq!(
            (
                item_count("16.0"),
                item_count("10"),
                item_count("1.5"),
                item_count("0")
            ),
            (Some(16), Some(10), None, None)
        );
    }

    #[test]
    fn no_damage_makes_it_panic() {
        let text = "name;batch;latency_ms\nx;1;1,5\n\"y\"\"z\";2;3\n";
        for end in 1..text.len() {
            let columns = columns("latency_ms", None, Some("name"), Some("batch"));
            drop(table(&text[..end], &columns));
            drop(table(&text[end..], &columns));
        }
    }
}
