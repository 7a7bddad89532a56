//! `--benchmark-json` of pytest-benchmark, and what it keeps below `.benchmarks/`.

use crate::Format;
use crate::benchmarks::stats_json::{self, Layout, NOWHERE, Unit};

pub(crate) const FORMAT: Format = Format {
    id: "pytest-benchmark",
    title: "results of pytest-benchmark",
    tool: "pytest-benchmark",
    name_ends: &[],
    recognises: |head| {
        !head.is_list() && head.has_key("machine_info") && head.has_key("benchmarks")
    },
    read: |source, watch, into| stats_json::read(&LAYOUT, FORMAT.title, source, watch, into),
};

const LAYOUT: Layout = Layout {
    entries: "/benchmarks",
    name: "/fullname",
    params: "/params",
    samples: "/stats/data",
    unit: Unit::Is("s"),
    statistics: &[
        ("/stats/min", "min"),
        ("/stats/max", "max"),
        ("/stats/mean", "mean"),
        ("/stats/stddev", "stddev"),
        ("/stats/median", "median"),
        ("/stats/iqr", "iqr"),
        ("/stats/q1", "q1"),
        ("/stats/q3", "q3"),
    ],
    figures: &[
        ("/stats/ops", "operations", "/s"),
        ("/stats/rounds", "rounds", ""),
        ("/stats/iterations", "iterations", ""),
    ],
    facts: &[
        ("/machine_info/cpu/brand_raw", "CPU"),
        ("/machine_info/system", "system"),
        ("/machine_info/python_version", "Python"),
        ("/commit_info/id", "commit"),
        ("/datetime", "date"),
    ],
    version: "/version",
    sample_note: "each sample is the mean of the iterations of a round",
    ..NOWHERE
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "pytest-benchmark/numpy-linear.json";

    #[test]
    fn rounds_of_a_real_file_are_samples() {
        let imported = testing::fixture(FILE);
        let [one, sixteen, relu] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        assert_eq!(one.name, "test_nets.py::test_linear[1]");
        assert_eq!((one.batch(), one.samples_ns.len()), (Some(1), 250));
        assert_eq!((sixteen.batch(), sixteen.samples_ns.len()), (Some(16), 5));
        assert_eq!(sixteen.samples_ns.iter().min(), Some(&14_753_505));
        let figure = |name: &str| relu.figures.iter().find(|figure| figure.name == name);
        assert_eq!(figure("iterations").unwrap().value, 20.0);
        assert_eq!(figure("median").unwrap().unit, "s");
        assert_eq!(imported.tool.version.as_deref(), Some("5.3.1"));
        assert!(imported.facts.contains(&("Python".into(), "3.11.7".into())));
        assert_eq!(imported.notes.len(), 1, "{:?}", imported.notes);
    }

    #[test]
    fn without_samples_the_median_stands_for_all() {
        let text = r#"{"machine_info": {}, "benchmarks": [5,
            {"fullname": "a.py::b", "params": null, "stats": {"median": 0.002, "mean": 1}}]}"#;
        let imported = testing::imported(text).unwrap();
        assert_eq!(imported.reported[0].typical_ns, Some(2_000_000));
        assert!(
            imported.notes[0].starts_with("1 benchmark of"),
            "{:?}",
            imported.notes
        );
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE));
    }
}
