//! `rocprof -i`: which counters to collect. It holds actions and no results, and is recognised for a clear error.

use crate::reading::head::FileHead;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};

pub(crate) const FORMAT: Format = Format {
    id: "rocprof-input",
    title: "an input file of rocprof",
    tool: "rocprof",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    let mut lines = head.plain_text().unwrap_or_default().lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.starts_with("pmc:"))
        || (first.is_some_and(is_filter) && lines.any(|line| line.starts_with("pmc:")))
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    Err(source.unusable_error(FORMAT.title, actions(&text)))
}

/// Lines that choose what to collect.
fn is_filter(line: &str) -> bool {
    ["gpu:", "range:", "kernel:"]
        .iter()
        .any(|filter| line.starts_with(filter))
}

/// What a file asks for, and what to read in its place.
fn actions(text: &str) -> String {
    let passes: Vec<Vec<&str>> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pmc:"))
        .map(|line| {
            let names = line.split([' ', ',', '\t']);
            names.filter(|name| !name.is_empty()).collect()
        })
        .collect();
    let names: Vec<&str> = passes.iter().flatten().copied().collect();
    let mut some = names.iter().take(4).copied().collect::<Vec<_>>().join(", ");
    if names.len() > 4 {
        some.push_str(", …");
    }
    let filters: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| is_filter(line) && !line.ends_with(':'))
        .collect();
    let only = if filters.is_empty() {
        String::new()
    } else {
        format!(", for {} only", filters.join("; "))
    };
    let runs = if passes.len() == 1 { "run" } else { "runs" };
    format!(
        "it asks for {} counters in {} {runs} ({some}){only}, and holds no results: read the CSV file that rocprof wrote with it",
        names.len(),
        passes.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;
    use crate::reading::source::Limits;
    use crate::testing::{bytes, path};

    #[test]
    fn an_input_file_says_what_it_asks_for() {
        let path = path("rocprof-v1/counters-pmc_perf_0.txt");
        let error = read(&path, Limits::default(), &ReadProgress::default()).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("an input file of rocprof"), "{error}");
        assert!(
            error.contains("28 counters in 1 run (SQ_CYCLES, SQ_BUSY_CYCLES, SQ_WAVES, SQ_INSTS_VALU_CVT, …), and holds no results"),
            "{error}"
        );
    }

    #[test]
    fn filters_and_commas_are_understood() {
        let text = "# two passes\ngpu: 0 1\npmc: A, B\npmc: C\nrange: 0:6\nkernel:\n";
        let error = bytes("in.txt", text.as_bytes()).unwrap_err().to_string();
        assert!(
            error.contains("3 counters in 2 runs (A, B, C), for gpu: 0 1; range: 0:6 only"),
            "{error}"
        );
        assert!(matches!(
            bytes("in.txt", b"gpu: is a word\n"),
            Err(ImportError::Unknown { .. })
        ));
    }
}
