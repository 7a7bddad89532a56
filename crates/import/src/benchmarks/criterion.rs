//! What Criterion leaves in `target/criterion/NAME/new/`: `sample.json` with every sample, `estimates.json` with the
//! statistics. Neither has the benchmark's name, which is that of the folders.

use std::path::{Component, Path};

use crate::benchmarks::stats_json::{self, Layout, NOWHERE, Unit};
use crate::reading::head::FileHead;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};

pub(crate) const FORMAT: Format = Format {
    id: "criterion",
    title: "results of Criterion",
    tool: "Criterion",
    name_ends: &[],
    recognises,
    read,
};

const ESTIMATES: Layout = Layout {
    unit: Unit::Is("ns"),
    statistics: &[
        ("/mean/point_estimate", "mean"),
        ("/median/point_estimate", "median"),
        (
            "/median_abs_dev/point_estimate",
            "median absolute deviation",
        ),
        ("/slope/point_estimate", "slope"),
        ("/std_dev/point_estimate", "stddev"),
        ("/mean/confidence_interval/lower_bound", "mean at least"),
        ("/mean/confidence_interval/upper_bound", "mean at most"),
    ],
    ..NOWHERE
};

const SAMPLES: Layout = Layout {
    samples: "/times",
    runs: "/iters",
    unit: Unit::Is("ns"),
    sample_note: "each sample of Criterion is the mean of its iterations",
    ..NOWHERE
};

fn recognises(head: &FileHead) -> bool {
    let has = |keys: [&str; 3]| keys.iter().all(|key| head.has_key(key));
    !head.is_list()
        && (has(["sampling_mode", "iters", "times"])
            || has(["median_abs_dev", "std_dev", "point_estimate"]))
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let document = source.json(&text, FORMAT.title, into)?;
    let layout = if document.get("times").is_some() {
        &SAMPLES
    } else {
        &ESTIMATES
    };
    let name = name_by_folders(source.path()).unwrap_or_else(|| source.name());
    stats_json::read_document(layout, &document, &name, source, watch, into)
}

/// `group/function/8` of `target/criterion/group/function/8/new/sample.json`.
fn name_by_folders(path: &Path) -> Option<String> {
    let run = path.parent()?;
    let folders = run.parent()?.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    let folders: Vec<String> = folders.collect();
    let root = folders.iter().rposition(|name| name == "criterion");
    let name = match root {
        Some(root) => folders.get(root + 1..)?.join("/"),
        None => folders.last()?.clone(),
    };
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILES: [&str; 2] = [
        "criterion/linear/16/new/estimates.json",
        "criterion/linear/16/new/sample.json",
    ];

    #[test]
    fn samples_and_statistics_of_a_real_run_are_one_result() {
        let imported = testing::fixtures(&FILES);
        let [one] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        assert_eq!((one.name.as_str(), one.samples_ns.len()), ("linear/16", 20));
        let median = one
            .figures
            .iter()
            .find(|figure| figure.name == "median")
            .unwrap();
        let mut sorted = one.samples_ns.clone();
        sorted.sort_unstable();
        assert!((median.value - f64::midpoint(sorted[9] as f64, sorted[10] as f64)).abs() <= 1.0);
        assert_eq!(median.unit, "ns");
        let alone = testing::fixture(FILES[0]);
        assert_eq!(
            alone.reported[0].typical_ns,
            Some(median.value.round() as u64)
        );
        assert!(alone.reported[0].samples_ns.is_empty());
    }

    #[test]
    fn names_are_those_of_the_folders() {
        let name = |path: &str| name_by_folders(Path::new(path)).unwrap_or_default();
        assert_eq!(name("/a/criterion/g/f/new/sample.json"), "g/f");
        assert_eq!(name("f/base/estimates.json"), "f");
        assert_eq!(name("estimates.json"), "");
    }

    #[test]
    fn no_damage_makes_it_panic() {
        for file in FILES {
            testing::survives(&FORMAT, &testing::raw(file));
        }
    }
}
