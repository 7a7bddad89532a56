//! Reports of all ages.

use super::*;
use crate::testing;

const FILE: &str = "migraphx/simple_graph-perf-legacy.txt";

fn figure(reported: &Reported, name: &str) -> Option<(f64, String)> {
    let found = reported.figures.iter().find(|figure| figure.name == name);
    found.map(|figure| (figure.value, figure.unit.clone()))
}

fn op_total_ns(imported: &Imported, op: &str) -> u64 {
    let some = imported.totals.iter().filter(|total| total.op == op);
    some.map(|total| total.total_ns).sum()
}

#[test]
fn an_old_report_has_its_instructions_and_totals() {
    let imported = testing::fixture(FILE);
    // The file has twenty lines with a time and a share: eighteen instructions and two parameters.
    assert_eq!(imported.totals.len(), 20);
    assert_eq!(op_total_ns(&imported, "gpu::gemm"), 212_592 + 73_307);
    assert_eq!(op_total_ns(&imported, "@param"), 321 + 1_022);
    let sum: u64 = imported.totals.iter().map(|total| total.total_ns).sum();
    assert!((sum as i64 - 414_369).abs() <= 10, "{sum}");
    assert!(
        imported
            .totals
            .iter()
            .any(|total| total.name == "@5 gpu::gemm")
    );
    let copies = imported
        .totals
        .iter()
        .filter(|total| total.kind == SliceKind::Copy);
    assert_eq!(copies.count(), 4);
    let result = &imported.reported[0];
    assert_eq!(
        (result.name.as_str(), result.batch()),
        ("simple_graph.pb", None)
    );
    assert_eq!(result.typical_ns, Some(348_906));
    let expected = [
        ("Rate", 2866.1, "/s"),
        ("Total time", 0.348_906, "ms"),
        ("Total instructions time", 0.414_369, "ms"),
        ("Overhead time", 0.003_481_44, "ms"),
        ("Overhead time by instructions", -0.065_462_7, "ms"),
        ("Overhead", 1.0, "%"),
        ("Overhead by instructions", -19.0, "%"),
    ];
    for (name, value, unit) in expected {
        assert_eq!(
            figure(result, name),
            Some((value, unit.to_owned())),
            "{name}"
        );
    }
}

#[test]
fn the_listing_is_a_graph_with_the_names_of_the_times() {
    let imported = testing::fixture(FILE);
    let names = testing::names_of_nodes(&imported);
    let network = imported.network.as_ref().unwrap();
    assert_eq!((network.nodes.len(), network.edges.len()), (20, 21));
    let place = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let gemm = place("@5 gpu::gemm");
    assert_eq!(network.nodes[gemm].outputs, ["1×128"]);
    let settings = ["type=float_type", "alpha=1", "beta=0"].map(|text| {
        let (key, value) = text.split_once('=').unwrap();
        (key.to_owned(), value.to_owned())
    });
    assert_eq!(network.nodes[gemm].attributes, settings);
    let read = network.edges.iter().filter(|edge| edge.to == gemm);
    let read: Vec<(usize, Option<u64>)> = read.map(|edge| (edge.from, edge.bytes)).collect();
    let expected = [
        ("@4 reshape", 784),
        ("@2 hip::hip_copy_literal", 784 * 128),
        ("@3 load", 128),
    ];
    assert_eq!(read, expected.map(|(name, n)| (place(name), Some(n * 4))));
}

#[test]
fn rows_over_two_lines_and_wide_marks_are_read_as_others() {
    let whole = testing::fixture(FILE);
    let text = String::from_utf8(testing::raw(FILE)).unwrap();
    // As a page or a terminal breaks it, in the middle of whatever stands there.
    for columns in [60, 80, 97] {
        let broken = text.lines().flat_map(|line| {
            let letters: Vec<char> = line.chars().collect();
            let parts = letters.chunks(columns).map(|part| part.iter().collect());
            let parts: Vec<String> = parts.collect();
            if parts.is_empty() {
                vec![String::new()]
            } else {
                parts
            }
        });
        let broken: Vec<String> = broken.collect();
        let wide = broken
            .join("\n")
            .replace("ms, ", "ms，")
            .replace("}: ", "}：");
        let read = testing::imported(&wide).unwrap();
        let names = |imported: &Imported| -> Vec<(String, u64)> {
            let totals = imported.totals.iter();
            totals
                .map(|total| (total.op.clone(), total.total_ns))
                .collect()
        };
        assert_eq!(names(&read), names(&whole), "{columns}");
        assert_eq!(
            read.reported[0].figures, whole.reported[0].figures,
            "{columns}"
        );
    }
}

const NEW: &str = "Running [ MIGraphX Version: 2.13.0.2025 ]: migraphx-driver perf --test
Running performance report ...
@0 = check_context::migraphx::gpu::context -> float_type, {}, {}: 0.00028794ms, 3%
main:#output_0 = @param:main:#output_0 -> float_type, {4, 3}, {3, 1}: 0.00023ms, 3%
main:@4 = gpu::code_object[code_object=4608,symbol_name=mlir_dot,global=256,](a,b: c) -> float_type, {4, 3}, {3, 1}: 0.00948216ms, 92%
main:@5 = hip::copy_from_gpu(main:@4) -> float_type, {4, 3}, {3, 1}:0.5ms,4.1234%

Summary:
gpu::code_object::mlir_dot: 0.00948216ms / 1 = 0.00948216ms, 92%
@param: 0.00064934ms / 3 = 0.000216447ms, 7%

Batch size: 64
Rate: 893.571 inferences/sec
Total time: 71.6228ms (Min: 69.616ms, Max: 72.7298ms, Mean: 71.4244ms, Median: 72.2723ms)
Percentiles (90%, 95%, 99%): (72.6301ms, 72.6594ms, 72.7098ms)
Total instructions time: 73.2245ms
Overhead time: 0.0267628ms, -1.60172ms
Overhead: 0%, -2%
[ MIGraphX Version: 2.13.0.2025 ] Complete(0.67124s): migraphx-driver perf --test
";

#[test]
fn a_new_report_has_a_batch_percentiles_and_names_of_code_objects() {
    let imported = testing::imported(NEW).unwrap();
    let names: Vec<&str> = imported
        .totals
        .iter()
        .map(|total| total.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "@0 check_context::migraphx::gpu::context",
            "main:#output_0 @param",
            "main:@4 gpu::code_object::mlir_dot",
            "main:@5 hip::copy_from_gpu",
        ]
    );
    assert_eq!(imported.totals[3].total_ns, 500_000);
    let result = &imported.reported[0];
    assert_eq!(
        (result.batch(), result.typical_ns),
        (Some(64), Some(72_272_300))
    );
    assert_eq!(
        figure(result, "Rate"),
        Some((893.571, "items/s".to_owned()))
    );
    assert_eq!(
        figure(result, "percentile(99%)"),
        Some((72.7098, "ms".to_owned()))
    );
    assert_eq!(figure(result, "min"), Some((69.616, "ms".to_owned())));
    assert_eq!(imported.tool.version.as_deref(), Some("2.13.0.2025"));
    assert_eq!(
        imported.tool.command.as_deref(),
        Some("migraphx-driver perf --test")
    );
}

/// A real report whose listing was cut after its first lines, as logs are pasted; what follows stays as it is.
fn cut_listing() -> String {
    let text = String::from_utf8(testing::raw(FILE)).unwrap();
    let (head, report) = text
        .split_once("Running performance report ... \n")
        .unwrap();
    let (listing, rest) = report.split_once("\nSummary:").unwrap();
    let some: Vec<&str> = listing.lines().take(5).collect();
    format!(
        "{head}Running performance report ... \n{}\n...\n\nSummary:{rest}",
        some.join("\n")
    )
}

#[test]
fn the_summary_stands_above_a_listing_that_is_cut() {
    let imported = testing::imported(cut_listing()).unwrap();
    let sum: u64 = imported.totals.iter().map(|total| total.total_ns).sum();
    assert!((sum as i64 - 414_369).abs() <= 10, "{sum}");
    assert_eq!(
        (imported.totals.len(), op_total_ns(&imported, "gpu::gemm")),
        (11, 285_899)
    );
    assert!(
        imported.notes[0]
            .starts_with("the listing of instructions is cut: those in it take 1.71 µs of 414 µs"),
        "{:?}",
        imported.notes
    );
    assert_eq!(imported.notes.len(), 1, "{:?}", imported.notes);
    // A complete report gets no note.
    let whole = testing::fixture(FILE);
    assert!(!whole.notes.iter().any(|note| note.contains("in all")));
}

#[test]
fn sums_that_disagree_with_what_is_stated_are_named() {
    let text = cut_listing().replace("gpu::gemm: 0.285899ms, 69%\n", "");
    let imported = testing::imported(text).unwrap();
    let said = "the Summary has 128 µs in all, and Total instructions time states 414 µs";
    assert!(
        imported.notes.contains(&said.to_owned()),
        "{:?}",
        imported.notes
    );
    // Where the summary was cut as well, the more is taken.
    let listed = testing::imported(NEW).unwrap();
    assert_eq!(listed.totals.len(), 4);
    let said =
        "the listing of instructions has 510 µs in all, and Total instructions time states 73.2 ms";
    assert!(
        listed.notes.contains(&said.to_owned()),
        "{:?}",
        listed.notes
    );
    // A report that ends before its totals is measured by its summary.
    let text = cut_listing();
    let ended = &text[..text.find("\nRate:").unwrap()];
    let imported = testing::imported(ended).unwrap();
    assert_eq!(imported.totals.len(), 11);
}

#[test]
fn a_summary_alone_gives_groups_with_their_counts() {
    let from = NEW.find("Summary:").unwrap();
    let imported = testing::imported(&NEW[from..]).unwrap();
    let found = testing::totals(&imported);
    assert_eq!(
        found,
        [("gpu::code_object::mlir_dot", 1, 9_482), ("@param", 3, 649)]
    );
}

#[test]
fn groups_of_an_old_summary_are_single_sums() {
    let text = String::from_utf8(testing::raw(FILE)).unwrap();
    let from = text.find("Summary:").unwrap();
    let imported = testing::imported(&text[from..]).unwrap();
    assert_eq!(imported.totals.len(), 11);
    assert_eq!(op_total_ns(&imported, "gpu::gemm"), 285_899);
    assert_eq!(
        op_total_ns(&imported, "check_context::migraphx::gpu::context"),
        578
    );
}

#[test]
fn no_damage_makes_it_panic() {
    testing::survives(&FORMAT, &testing::raw(FILE));
    testing::survives(&FORMAT, NEW.as_bytes());
    let empty = testing::imported("Running performance report ...\n").unwrap();
    assert!(empty.notes[0].contains("no totals"));
}
