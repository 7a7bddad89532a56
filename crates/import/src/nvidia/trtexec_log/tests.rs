//! Logs of real and made-up runs.

use super::*;
use crate::testing;
use powerband_core::domain::reported::Reported;

fn figure(reported: &Reported, name: &str) -> Option<f64> {
    let found = reported.figures.iter().find(|figure| figure.name == name);
    found.map(|figure| figure.value)
}

#[test]
fn a_new_summary_has_its_figures() {
    let imported = testing::fixture("tensorrt/trtexec-resnet50-summary-sanitised.log");
    assert_eq!(imported.format, "trtexec-log");
    let [latency, compute] = imported.reported.as_slice() else {
        panic!("{:?}", imported.reported);
    };
    assert_eq!(
        (latency.name.as_str(), latency.batch()),
        ("Latency", Some(32))
    );
    assert_eq!(
        (latency.typical_ns, compute.typical_ns),
        (Some(2_000_000), Some(1_500_000))
    );
    assert_eq!(figure(latency, "mean"), Some(2.0));
    assert_eq!(figure(latency, "percentile(99%)"), Some(2.0));
    assert_eq!(figure(compute, "mean"), Some(1.5));
    assert_eq!(figure(latency, "Throughput"), Some(1000.0));
    assert_eq!(figure(latency, "Throughput of items"), Some(32_000.0));
    assert_eq!(figure(latency, "Total Host Walltime"), Some(3.0));
    assert_eq!(figure(latency, "Enqueue Time median"), Some(0.3));
    assert_eq!(figure(latency, "H2D Latency mean"), Some(0.3));
    assert_eq!(compute.name, "GPU Compute Time");
    let fact = ("Precision".to_owned(), "FP32+FP16".to_owned());
    assert!(imported.facts.contains(&fact));
}

#[test]
fn a_table_of_layers_is_read_from_the_right() {
    let imported = testing::fixture("tensorrt/trtexec-yolo-int8-orin.excerpt.log");
    assert_eq!((imported.totals.len(), imported.runs), (77, Some(11)));
    let calls: u64 = imported.totals.iter().map(|total| total.calls).sum();
    assert_eq!(calls, 77 * 11);
    let sum: u64 = imported.totals.iter().map(|total| total.total_ns).sum();
    assert!((sum as f64 / 1e6 - 4441.97).abs() < 0.1, "{sum}");
    assert!(imported.facts.iter().any(|fact| fact.1 == "4441.97 ms"));
    assert!(imported.reported.is_empty());
    let notes = imported.notes.join("\n");
    assert!(notes.contains("--separateProfileRun"), "{notes}");
    assert_eq!(imported.tool.version.as_deref(), Some("8.5.2"));
    assert!(
        imported
            .tool
            .command
            .unwrap()
            .contains("--int8 --onnx=yolo_pytorch_quantized.onnx")
    );
    assert!(
        imported
            .facts
            .contains(&("Selected Device".to_owned(), "Orin".to_owned()))
    );
    assert!(
        imported
            .totals
            .iter()
            .any(|total| total.name.starts_with("PWN((Unnamed Layer* 112)"))
    );
}

const OLD: &str = "[11/02/2021-09:17:09] [I] Host Latency
[11/02/2021-09:17:09] [I] min: 4.34 ms (end to end 4.35 ms)
[11/02/2021-09:17:09] [I] mean: 4.52 ms (end to end 4.54 ms)
[11/02/2021-09:17:09] [I] median: 4.5 ms (end to end 4.51 ms)
[11/02/2021-09:17:09] [I] percentile: 5.46 ms at 99% (end to end 6.1 ms at 99%)
[11/02/2021-09:17:09] [I] throughput: 0 qps
[11/02/2021-09:17:09] [I] walltime: 3.00142 s
[11/02/2021-09:17:09] [I] Enqueue Time
[11/02/2021-09:17:09] [I] min: 0.2 ms
[11/02/2021-09:17:09] [I] median: 0.3 ms
[11/02/2021-09:17:09] [I] GPU Compute
[11/02/2021-09:17:09] [I] mean: 4.42 ms
[11/02/2021-09:17:09] [I] median: 4.4 ms
[11/02/2021-09:17:09] [I] percentile: 5.37 ms at 99%
[11/02/2021-09:17:09] [I] total compute time: 2.96622 s
&&&& FAILED TensorRT.trtexec # trtexec --onnx=resnet50-v1.onnx --int8
";

#[test]
fn an_old_summary_is_spread_over_lines() {
    let imported = testing::imported(OLD).unwrap();
    let [latency, compute] = imported.reported.as_slice() else {
        panic!("{:?}", imported.reported);
    };
    assert_eq!(
        (latency.typical_ns, compute.typical_ns),
        (Some(4_500_000), Some(4_400_000))
    );
    assert_eq!(figure(latency, "percentile(99%)"), Some(5.46));
    assert_eq!(
        figure(latency, "End-to-End Host Time percentile(99%)"),
        Some(6.1)
    );
    assert_eq!(figure(latency, "Enqueue Time median"), Some(0.3));
    assert_eq!(figure(latency, "Total Host Walltime"), Some(3.00142));
    assert_eq!(figure(latency, "Throughput"), None);
    assert_eq!(latency.objections, ["trtexec says FAILED"]);
    assert_eq!(
        imported.tool.command.as_deref(),
        Some("trtexec --onnx=resnet50-v1.onnx --int8")
    );
}

#[test]
fn a_new_table_has_its_names_on_the_right() {
    let text = "[09/10/2023-06:59:18] [I] === Profile (3449 iterations ) ===
[09/10/2023-06:59:18] [I]    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer
[09/10/2023-06:59:18] [I]     3078.36       0.8925       0.8929      99.5   {ForeignNode[a b...c_0]}
[09/10/2023-06:59:18] [I]       14.82       0.0043       0.0033       0.5   Reformatting CopyNode 5
[09/10/2023-06:59:18] [I]     3093.18       0.8968       0.8960     100.0   Total
[09/10/2023-06:59:18] [I]
[09/10/2023-06:59:18] [I] 1.0 2.0 3.0 4.0 not of the table
";
    let imported = testing::imported(text).unwrap();
    let found = testing::totals(&imported);
    assert_eq!(
        found,
        [
            ("{ForeignNode[a b...c_0]}", 3449, 3_078_360_000),
            ("Reformatting CopyNode 5", 3449, 14_820_000),
        ]
    );
    let cut = testing::imported(&text[..300]).unwrap();
    assert_eq!(cut.totals.len(), 1);
    assert!(
        cut.notes.join("\n").contains("no last row"),
        "{:?}",
        cut.notes
    );
}

#[test]
fn no_damage_makes_it_panic() {
    for name in [
        "trtexec-resnet50-summary-sanitised.log",
        "trtexec-yolo-int8-orin.excerpt.log",
    ] {
        testing::survives(&FORMAT, &testing::raw(&format!("tensorrt/{name}")));
    }
    testing::survives(&FORMAT, OLD.as_bytes());
    let empty = testing::imported("[1] [I] === Model Options ===\n").unwrap();
    assert!(empty.notes[0].contains("no performance summary"));
}
