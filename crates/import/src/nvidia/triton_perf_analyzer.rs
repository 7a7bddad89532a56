//! `perf_analyzer -f`: one row for each load that Triton's server was put under, times in
//! microseconds.

use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::reported::Reported;

/// Columns that are times, beside everything with `latency` in its name.
const TIMES: [&str; 11] = [
    "Client Send",
    "Client Recv",
    "Network+Server Send/Recv",
    "Server Queue",
    "Server Compute Input",
    "Server Compute Infer",
    "Server Compute Output",
    "Server Cache Hit",
    "Server Cache Miss",
    "request/response",
    "response wait",
];

pub(crate) const FORMAT: Format = Format {
    id: "triton-perf-analyzer",
    title: "results of perf_analyzer",
    tool: "perf_analyzer",
    name_ends: &[],
    recognises: |head| head.has_columns(',', &["inferences/second"]),
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut rows = text.lines().filter(|line| !line.trim().is_empty());
    let columns = lines::fields(rows.next().unwrap_or_default(), ',');
    let mut results: Vec<(f64, Reported)> = Vec::new();
    let mut unread = 0;
    for row in rows {
        watch.tick(source.bytes())?;
        let cells = lines::fields(row, ',');
        // A row that is cut off has fewer cells, and its last one may be half a number.
        let result = (cells.len() >= columns.len()).then(|| reported(&columns, &cells));
        match result.flatten() {
            Some(result) => results.push(result),
            None => unread += 1,
        }
    }
    into.note_unread(unread, "row", &source.name());
    // The file is ordered by throughput; loads are easier to follow.
    results.sort_by(|one, other| one.0.total_cmp(&other.0));
    into.reported
        .extend(results.into_iter().map(|result| result.1));
    Ok(())
}

/// A row: the load, and what was measured under it.
fn reported(columns: &[String], cells: &[String]) -> Option<(f64, Reported)> {
    let load = lines::number(cells.first()?)?;
    let mut result = Reported::named(format!("{} {}", columns.first()?, cells.first()?.trim()));
    let mut typical: Option<(u8, f64)> = None;
    for (column, cell) in columns.iter().zip(cells) {
        if cell.contains(':') {
            devices(&mut result, column, cell);
            continue;
        }
        let Some(value) = lines::number(cell) else {
            continue;
        };
        let lower = column.to_lowercase();
        let is_time =
            lower.contains("latency") || TIMES.iter().any(|time| time.eq_ignore_ascii_case(column));
        let unit = match lower.as_str() {
            "inferences/second" => "inferences/s",
            "response throughput" => "responses/s",
            _ if is_time => "µs",
            _ => "",
        };
        result.figure(column, value, unit);
        let rank = match lower.as_str() {
            "p50 latency" => 2,
            "avg latency" => 1,
            _ => continue,
        };
        if typical.is_none_or(|known| known.0 < rank) {
            typical = Some((rank, value));
        }
    }
    result.typical_ns = typical.map(|(_, us)| lines::ns(us, 1e3));
    (!result.figures.is_empty()).then_some((load, result))
}

/// Cells with a value of each card: `GPU-1:0.5;GPU-2:0.4;`.
fn devices(result: &mut Reported, column: &str, cell: &str) {
    for (device, value) in cell.split(';').filter_map(|part| part.rsplit_once(':')) {
        if let Some(value) = lines::number(value) {
            result.figure(format!("{column} of {}", device.trim()), value, "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "triton-perf-analyzer/inception-concurrency.csv";

    fn figure(reported: &Reported, name: &str) -> Option<(f64, String)> {
        let found = reported.figures.iter().find(|figure| figure.name == name);
        found.map(|figure| (figure.value, figure.unit.clone()))
    }

    #[test]
    fn loads_are_in_order_with_their_times() {
        let imported = testing::fixture(FILE);
        let names: Vec<&str> = imported.reported.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "Concurrency 1",
                "Concurrency 2",
                "Concurrency 3",
                "Concurrency 4"
            ]
        );
        let [one, two, ..] = imported.reported.as_slice() else {
            panic!("{names:?}");
        };
        assert_eq!(
            figure(two, "Inferences/Second"),
            Some((87.2, "inferences/s".into()))
        );
        assert_eq!(figure(one, "p99 latency"), Some((21_018.0, "µs".into())));
        assert_eq!(
            figure(one, "Server Compute Infer"),
            Some((11_781.0, "µs".into()))
        );
        assert_eq!(one.typical_ns, Some(13_891_000));
    }

    #[test]
    fn cards_and_averages_are_read() {
        let text = "Request Rate,Inferences/Second,Client Send,Avg latency,Avg GPU Utilization\n\
            10,9.5,3,100,GPU-a:0.5;GPU-b:0.25;\n20,1\n";
        let imported = testing::imported(text).unwrap();
        let one = &imported.reported[0];
        assert_eq!(
            (one.name.as_str(), one.typical_ns),
            ("Request Rate 10", Some(100_000))
        );
        assert_eq!(
            figure(one, "Avg GPU Utilization of GPU-b"),
            Some((0.25, String::new()))
        );
        assert!(imported.notes[0].starts_with("1 row of"));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE));
        let empty = testing::imported("Concurrency,Inferences/Second\n").unwrap();
        assert!(empty.notes[0].contains("holds nothing"));
    }
}
