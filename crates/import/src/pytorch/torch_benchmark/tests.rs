//! Measurements and comparisons that torch prints.

use super::*;
use crate::testing;

const FILE: &str = "torch-text/torch_utils_benchmark-torch113.txt";

fn result_named<'a>(imported: &'a Imported, name: &str) -> &'a Reported {
    let found = imported.reported.iter().find(|result| result.name == name);
    found.unwrap_or_else(|| panic!("{name} is missing"))
}

fn figure(reported: &Reported, name: &str) -> Option<(f64, String)> {
    let found = reported.figures.iter().find(|figure| figure.name == name);
    found.map(|figure| (figure.value, figure.unit.clone()))
}

#[test]
fn measurements_of_a_real_file_are_there_once() {
    let imported = testing::fixture(FILE);
    assert_eq!(imported.reported.len(), 8);
    let expected = [
        ("conv net: batch 1", "1 thread", 604_690),
        ("conv net: batch 1", "2 threads", 447_050),
        ("conv net: batch 4", "1 thread", 5_910_000),
        ("conv net: batch 4", "2 threads", 3_570_000),
        ("matmul: batch 4", "1 thread", 4_680_000),
        ("matmul: batch 4", "2 threads", 4_510_000),
    ];
    for (what, threads, typical) in expected {
        let result = result_named(&imported, &format!("{what}, torch 1.13 cpu, {threads}"));
        assert_eq!(result.typical_ns, Some(typical));
        let batch = what.ends_with('4');
        assert_eq!(result.batch(), Some(if batch { 4 } else { 1 }));
    }
    let one = result_named(&imported, "conv net: batch 4, torch 1.13 cpu, 1 thread");
    assert_eq!(
        figure(one, "in the comparison"),
        Some((5912.9, "us".into()))
    );
    assert_eq!(
        figure(one, "interquartile range"),
        Some((0.17, "ms".into()))
    );
    assert_eq!(figure(one, "75 %"), Some((5.98, "ms".into())));
    assert_eq!(figure(one, "measurements"), Some((17.0, String::new())));
    let warnings = imported
        .notes
        .iter()
        .filter(|note| note.starts_with("torch warns"));
    assert_eq!(warnings.count(), 2);
    assert!(imported.notes[0].contains("15.7%") && imported.notes[0].contains("fluctuation"));
}

#[test]
fn a_comparison_alone_and_a_single_measurement_are_read() {
    let text = "<torch.utils.benchmark.utils.common.Measurement object at 0x7f>
f(x)
  1.50 s
  1 measurement, 1 runs , 4 threads

[--- gemm ---]
          |  old  |  new
4 threads: -------------
      m   |  2.5  |  1.5 (! 9%)
      n   |       |  x

Times are in milliseconds (ms).
";
    let imported = testing::imported(text).unwrap();
    let names: Vec<(&str, Option<u64>)> = imported
        .reported
        .iter()
        .map(|result| (result.name.as_str(), result.typical_ns))
        .collect();
    assert_eq!(
        names,
        [
            ("f(x), 4 threads", Some(1_500_000_000)),
            ("gemm: m, old, 4 threads", Some(2_500_000)),
            ("gemm: m, new, 4 threads", Some(1_500_000)),
        ]
    );
    assert!(imported.notes[0].starts_with("1 measurement of"));
    let cut = testing::imported(&text[..text.len() - 5]).unwrap();
    assert_eq!(cut.reported.len(), 3);
    let cut = testing::imported(&text[..text.len() - 40]).unwrap();
    assert_eq!(cut.reported.len(), 1);
}

#[test]
fn no_damage_makes_it_panic() {
    testing::survives(&FORMAT, &testing::raw(FILE));
    let empty = testing::imported("<Measurement object at 0x0>\n").unwrap();
    assert!(empty.reported.is_empty());
}
