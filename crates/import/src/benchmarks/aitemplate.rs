//! The output of `AITemplate`'s examples, also appended to files: `batch_size: 16, latency: 3.41`, the
//! time of a batch in milliseconds.

use crate::benchmarks::common;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::reported::Reported;

pub(crate) const FORMAT: Format = Format {
    id: "aitemplate",
    title: "results of an example of AITemplate",
    tool: "AITemplate",
    name_ends: &[],
    recognises: |head| {
        head.any_text()
            .is_some_and(|text| text.lines().any(|line| pair(line).is_some()))
    },
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    // Only the file's name has the setup.
    let name = source.name();
    let stem = name.rsplit_once('.').map_or(name.as_str(), |parts| parts.0);
    let title = stem
        .split("_benchmark")
        .next()
        .filter(|title| !title.is_empty());
    let title = title.unwrap_or("AITemplate");
    let mut found: Vec<(usize, f64)> = Vec::new();
    let (mut repeated, mut unread) = (0, 0);
    for line in source.progress_reader(text.lines(), watch) {
        let line = line?;
        let Some((batch, ms)) = pair(line) else {
            unread += u64::from(line.trim_start().starts_with("batch_size:"));
            continue;
        };
        match found.iter_mut().find(|known| known.0 == batch) {
            Some(known) => {
                known.1 = ms;
                repeated += 1;
            }
            None => found.push((batch, ms)),
        }
    }
    let fate =
        "repeated a batch size, as the examples append to their file; the last line of each counts";
    into.note_some(repeated, "line", &name, fate);
    into.note_unread(unread, "line", &source.name());
    for (batch, ms) in found {
        let mut result = Reported::named(title);
        result.set_batch(Some(batch));
        result.typical_ns = common::ms(ms);
        result.figure("latency", ms, "ms");
        if ms > 0.0 {
            result.figure("images a second", batch as f64 * 1e3 / ms, "items/s");
        }
        into.reported.push(result);
    }
    Ok(())
}

/// The batch and its time: `latency:`, or `time:` where PyTorch was measured.
fn pair(line: &str) -> Option<(usize, f64)> {
    let rest = line
        .get(line.find("batch_size:")?..)?
        .strip_prefix("batch_size:")?;
    let (batch, rest) = rest.split_once(',')?;
    let rest = rest.trim();
    let time = rest
        .strip_prefix("latency:")
        .or_else(|| rest.strip_prefix("time:"))?;
    let time = lines::number(time.trim().trim_end_matches("ms"))?;
    Some((common::batch(batch)?, time)).filter(|pair| pair.1 >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "derived/resnet50_ait_benchmark_dev_0.txt";

    #[test]
    fn each_batch_has_its_time_and_rate() {
        let imported = testing::fixture(FILE);
        assert_eq!(imported.reported.len(), 9);
        let rate = |batch: usize| {
            let found = imported
                .reported
                .iter()
                .find(|r| r.batch() == Some(batch))
                .unwrap();
            assert_eq!(found.name, "resnet50_ait");
            let figure = found
                .figures
                .iter()
                .find(|f| f.name == "images a second")
                .unwrap();
            (found.typical_ns, (figure.value * 100.0).round() / 100.0)
        };
        assert_eq!(rate(256), (Some(29_620_000), 8642.81));
        assert_eq!(rate(1), (Some(2_280_000), 438.60));
        assert!(imported.notes.is_empty());
    }

    #[test]
    fn the_last_line_of_a_batch_counts() {
        let text = "loading\nbatch_size: 1, latency: 3\nbatch_size: 2, time: 4.5 ms\n\
            batch_size: 1, latency: 2\nbatch_size: 0, latency: 1\nbatch_size: 4, lat";
        let imported = testing::imported(text).unwrap();
        let found: Vec<(Option<usize>, Option<u64>)> = imported
            .reported
            .iter()
            .map(|r| (r.batch(), r.typical_ns))
            .collect();
        assert_eq!(
            found,
            [(Some(1), Some(2_000_000)), (Some(2), Some(4_500_000))]
        );
        assert!(imported.notes[0].starts_with("1 line of"));
        assert!(imported.notes[1].starts_with("2 lines of"));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE));
    }
}
