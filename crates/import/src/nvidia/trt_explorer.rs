//! Files of TensorRT's engine explorer, from a log of `trtexec`: `*.profile.metadata.json`.

use serde_json::Value;

use crate::nvidia::trtexec_summary;
use crate::nvidia::trtexec_summary::{Summary, TimeStatistics, batch_of_shape};
use crate::reading::json;
use crate::reading::json::Object;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};

/// What the numbers of a list are, in its order.
const ORDER: [&str; 5] = ["min", "max", "mean", "median", "percentile(99%)"];

pub(crate) const FORMAT: Format = Format {
    id: "trt-engine-explorer",
    title: "a summary of trtexec by the engine explorer",
    tool: "trtexec",
    name_ends: &[".profile.metadata.json"],
    recognises: |head| !head.is_list() && head.has_key("performance_summary"),
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let value = source.json(&text, FORMAT.title, into)?;
    let part = |key: &str| value.get(key).and_then(Value::as_object);
    let mut summary = Summary::default();
    let shape = part("inference_options").and_then(|options| {
        let found = options
            .iter()
            .find(|(key, _)| key.starts_with("Input inference shape"));
        found?.1.as_str()
    });
    summary.batch = shape.and_then(batch_of_shape);
    for key in [
        "device_information",
        "inference_options",
        "build_options",
        "model_options",
    ] {
        for (name, value) in part(key).into_iter().flatten() {
            into.fact(name, json::value_text(value));
        }
    }
    if let Some(figures) = part("performance_summary") {
        take(figures, &mut summary, into);
    }
    trtexec_summary::take(into, summary.into_reported());
    Ok(())
}

/// Times are lists, everything else is a number.
fn take(figures: &Object, summary: &mut Summary, into: &mut Imported) {
    for (name, value) in figures {
        if let Value::Array(list) = value {
            let numbers: Vec<f64> = list.iter().filter_map(json::number).collect();
            if numbers.len() > ORDER.len() || numbers.len() != list.len() {
                into.note(format!(
                    "the numbers of {name} are not the usual five; those after the fifth are left out"
                ));
            }
            let values = ORDER.iter().zip(numbers);
            summary.metrics.push(TimeStatistics {
                name: name.clone(),
                values: values
                    .map(|(order, ms)| ((*order).to_owned(), ms))
                    .collect(),
            });
        } else if let Some(number) = json::number(value) {
            if name == "Throughput" {
                summary.throughput = Some(number);
            } else {
                summary.walls.push((name.clone(), number));
            }
        }
    }
    // The latency is what a run is known by; alphabetically it comes last.
    summary
        .metrics
        .sort_by_key(|metric| metric.name != "Latency");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "tensorrt/resnet-a100-fp16.profile.metadata.json";

    #[test]
    fn a_real_summary_has_all_its_figures() {
        let imported = testing::fixture(FILE);
        let latency = &imported.reported[0];
        let figure = |name: &str| {
            let found = latency.figures.iter().find(|figure| figure.name == name);
            found.map(|figure| (figure.value, figure.unit.as_str()))
        };
        assert_eq!(
            (latency.name.as_str(), latency.batch()),
            ("Latency", Some(32))
        );
        assert_eq!(latency.typical_ns, Some(862_183));
        let expected = [0.856_049, 0.872_559, 0.86277, 0.862_183, 0.871_338];
        for (name, value) in ORDER.iter().zip(expected) {
            assert_eq!(figure(name), Some((value, "ms")));
        }
        assert_eq!(figure("Throughput"), Some((1155.36, "qps")));
        assert_eq!(
            figure("Throughput of items").map(|f| f.0.round()),
            Some(36_972.0)
        );
        assert_eq!(figure("Total GPU Compute Time"), Some((2.99208, "s")));
        assert_eq!(imported.reported[1].name, "GPU Compute Time");
        let device = (
            "Selected Device".to_owned(),
            "NVIDIA A100 80GB PCIe".to_owned(),
        );
        assert!(imported.facts.contains(&device));
    }

    #[test]
    fn with_the_times_of_the_run_there_is_one_latency() {
        let path = testing::path("tensorrt/resnet-a100-fp16.profile.json");
        let mut others = crate::companions(&path);
        others.push(path);
        assert_eq!(others.len(), 4);
        let limits = crate::reading::source::Limits::default();
        let all = crate::read_all(&others, limits, &ReadProgress::default()).unwrap();
        let found: Vec<(&str, usize, Option<usize>, Option<u64>)> = all
            .reported
            .iter()
            .map(|r| (r.name.as_str(), r.samples_ns.len(), r.batch(), r.typical_ns))
            .collect();
        assert_eq!(
            found,
            [
                ("Latency", 3698, Some(32), None),
                ("GPU Compute Time", 3698, Some(32), None)
            ]
        );
        assert_eq!(all.totals.len(), 36);
        assert!(all.totals.iter().all(|total| !total.op.is_empty()));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE));
        let empty = testing::imported("{\"performance_summary\": {}}").unwrap();
        assert!(empty.reported.is_empty());
    }
}
