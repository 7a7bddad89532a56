//! `-rf json` of the Java Microbenchmark Harness.

use crate::Format;
use crate::benchmarks::stats_json::{self, Layout, NOWHERE, Unit};

pub(crate) const FORMAT: Format = Format {
    id: "jmh",
    title: "results of JMH",
    tool: "JMH",
    name_ends: &[],
    recognises: |head| head.is_list() && head.has_key("benchmark") && head.has_key("primaryMetric"),
    read: |source, watch, into| stats_json::read(&LAYOUT, FORMAT.title, source, watch, into),
};

const LAYOUT: Layout = Layout {
    name: "/benchmark",
    params: "/params",
    names_lack_params: true,
    samples: "/primaryMetric/rawData",
    unit: Unit::At("/primaryMetric/scoreUnit"),
    statistics: &[
        ("/primaryMetric/score", "score"),
        ("/primaryMetric/scoreError", "score error"),
        ("/primaryMetric/scorePercentiles/0.0", "p0"),
        ("/primaryMetric/scorePercentiles/50.0", "p50"),
        ("/primaryMetric/scorePercentiles/90.0", "p90"),
        ("/primaryMetric/scorePercentiles/95.0", "p95"),
        ("/primaryMetric/scorePercentiles/99.0", "p99"),
        ("/primaryMetric/scorePercentiles/100.0", "p100"),
    ],
    typical: &["p50", "score"],
    figures: &[
        ("/threads", "threads", ""),
        ("/forks", "forks", ""),
        ("/measurementIterations", "iterations", ""),
    ],
    facts: &[
        ("/0/vmName", "virtual machine"),
        ("/0/vmVersion", "version of it"),
        ("/0/jdkVersion", "JDK"),
    ],
    version: "/0/jmhVersion",
    sample_note: "each sample is the mean of an iteration of JMH, which has many runs",
    ..NOWHERE
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "jmh/hello-world.json";

    #[test]
    fn a_real_file_keeps_its_rates() {
        let imported = testing::fixture(FILE);
        let [one] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        assert_eq!(
            one.name,
            "org.openjdk.jmh.samples.JMHSample_01_HelloWorld.wellHelloThere: paramA=17, paramB=33"
        );
        let score = one
            .figures
            .iter()
            .find(|figure| figure.name == "score")
            .unwrap();
        assert_eq!(
            (score.value, score.unit.as_str()),
            (3.376_238_873_122_818_5e9, "ops/s")
        );
        // A third of a nanosecond is no whole number of them.
        assert_eq!((one.typical_ns, one.samples_ns.len()), (None, 0));
        assert_eq!(imported.tool.version.as_deref(), Some("1.29"));
    }

    #[test]
    fn iterations_are_samples_whatever_the_mode() {
        let text = r#"[{"benchmark": "a.B.c", "params": {"batchSize": "8"}, "primaryMetric":
            {"score": 2.5, "scoreUnit": "ops/ms", "rawData": [[2.0, 2.5], [4.0]]}},
            {"benchmark": "a.B.d", "primaryMetric":
            {"score": 3.0, "scoreUnit": "ms/op", "rawData": [[3.0]]}}]"#;
        let imported = testing::imported(text).unwrap();
        let [rate, time] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        assert_eq!(rate.samples_ns, [500_000, 400_000, 250_000]);
        assert_eq!(rate.batch(), Some(8));
        assert_eq!(time.typical_ns, Some(3_000_000));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE));
    }
}
