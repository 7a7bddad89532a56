//! Tables that torch prints.

use super::*;
use crate::testing;

const FILE: &str = "torch-text/key_averages-torch113.txt";

fn figure(imported: &Imported, name: &str) -> Option<(f64, String)> {
    let figures = &imported.reported.first()?.figures;
    let found = figures.iter().find(|figure| figure.name == name)?;
    Some((found.value, found.unit.clone()))
}

#[test]
fn own_times_are_totals_and_whole_times_are_figures() {
    let imported = testing::fixture(FILE);
    assert_eq!(
        (imported.format, imported.totals.len()),
        ("torch-key-averages", 20)
    );
    let of = |name: &str| {
        let total = imported
            .totals
            .iter()
            .find(|total| total.name == name)
            .unwrap();
        assert_eq!(total.kind, SliceKind::Operator);
        (total.calls, total.total_ns)
    };
    assert_eq!(of("aten::conv2d"), (10, 1_656_000));
    assert_eq!(of("aten::mkldnn_convolution"), (10, 10_173_000));
    assert_eq!(of("aten::batch_norm"), (10, 0));
    assert_eq!(of("aten::div_"), (6, 96_000));
    let whole = |name: &str| figure(&imported, name);
    assert_eq!(whole("Self CPU time total"), Some((21.396, "ms".into())));
    assert_eq!(whole("aten::conv2d: CPU total"), Some((10.4, "ms".into())));
    assert_eq!(
        whole("aten::flatten: CPU total"),
        Some((0.123, "ms".into()))
    );
    let notes = imported.notes.join("\n");
    assert!(notes.contains("aten::batch_norm (-77 µs)"), "{notes}");
}

const DEVICE: &str = "STAGE:2024 ActivityProfilerController.cpp
-------------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------
                     Name      Self CPU     CPU total     Self CUDA   Self CUDA %    CUDA total       CPU Mem    # of Calls  Input Shapes
-------------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------
             aten::conv2d     100.000us       1.000ms       0.000us         0.00%       2.500ms       1.50 Kb             2  [[1, 3], []]
         cudaLaunchKernel      50.000us      50.000us       0.000us         0.00%       0.000us           0 b             2            []
void µkernel<float, 4>(f...       0.000us       0.000us       2.500ms       107.10%       2.500ms           0 b             2            []
         Memcpy HtoD (x)       0.000us       0.000us       1.000ms        50.00%       1.000ms           0 b             1            []
-------------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------
Self CPU time total: 1.000ms
Self CUDA time total: 3.500ms
";

#[test]
fn kernels_calls_and_copies_are_told_apart() {
    let imported = testing::imported(DEVICE).unwrap();
    let found: Vec<(SliceKind, &str, &str, u64)> = imported
        .totals
        .iter()
        .map(|total| {
            (
                total.kind,
                total.name.as_str(),
                total.place.as_str(),
                total.total_ns,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                SliceKind::Operator,
                "aten::conv2d [[1, 3], []]",
                "CPU",
                100_000
            ),
            (SliceKind::Call, "cudaLaunchKernel []", "CPU", 50_000),
            (
                SliceKind::Kernel,
                "void µkernel<float, 4>(f... []",
                "CUDA",
                2_500_000
            ),
            (SliceKind::Copy, "Memcpy HtoD (x) []", "CUDA", 1_000_000),
        ]
    );
    assert_eq!(imported.totals[0].op, "aten::conv2d");
    let whole = |name: &str| figure(&imported, name);
    assert_eq!(
        whole("aten::conv2d [[1, 3], []]: CUDA total"),
        Some((2.5, "ms".into()))
    );
    assert_eq!(
        whole("aten::conv2d [[1, 3], []]: CPU Mem"),
        Some((1536.0, "B".into()))
    );
    assert_eq!(whole("Self CUDA time total"), Some((3.5, "ms".into())));
    let notes = imported.notes.join("\n");
    assert!(
        notes.contains("cut short") && notes.contains("row_limit"),
        "{notes}"
    );
}

#[test]
fn no_damage_makes_it_panic() {
    testing::survives(&FORMAT, &testing::raw(FILE));
    testing::survives(&FORMAT, DEVICE.as_bytes());
    let empty = testing::imported("-----------  ----\nName  Self CPU  # of Calls\n").unwrap();
    assert!(empty.totals.is_empty());
}
