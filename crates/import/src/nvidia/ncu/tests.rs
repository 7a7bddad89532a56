//! Logs and tables of ncu: a real one, and small ones for what it lacks.

use super::*;
use crate::testing::{bytes, fixture, path, survives_as};

const FILE: &str = "ncu/cublaslt_gemm-b200.ncu.log";

fn mean(read: &Imported, metric: &str, unit: &str) -> Option<f64> {
    let found = read
        .counters
        .iter()
        .find(|counter| counter.name == metric)?;
    assert_eq!(found.unit, unit, "{metric}");
    Some(found.sum / found.launches as f64)
}

#[test]
fn figures_of_a_log_are_exact() {
    let read = fixture(FILE);
    assert_eq!(read.format, "ncu");
    assert_eq!(read.totals.len(), 1);
    let total = &read.totals[0];
    assert!(
        total
            .name
            .starts_with("cutlass3x_sm100_tensorop_s64x256x32gemm_f8_f8_f32_f16_f16")
    );
    assert_eq!(
        (total.calls, total.total_ns, total.min_ns),
        (1, 406240, Some(406240))
    );
    assert_eq!(mean(&read, "Memory Throughput", "%"), Some(21.68));
    assert_eq!(mean(&read, "Compute (SM) Throughput", "%"), Some(23.59));
    assert_eq!(mean(&read, "Achieved Occupancy", "%"), Some(15.53));
    assert_eq!(
        mean(&read, "Registers Per Thread", "register/thread"),
        Some(168.0)
    );
    assert!(
        !read
            .counters
            .iter()
            .any(|counter| counter.name == "Duration")
    );
    assert!(
        read.facts
            .contains(&("GPU 0".to_owned(), "compute capability 10.0".to_owned()))
    );
    assert_eq!(read.notes.len(), 1, "{:?}", read.notes);
}

#[test]
fn units_and_thousands_are_read_row_by_row() {
    let text = "\u{feff}==PROF== Connected to process 5\r
\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel Time\",\"Context\",\"Stream\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\r
\"0\",\"5\",\"a\",\"h\",\"f(int, float)\",\"2020-Jan-01\",\"1\",\"7\",\"GPU Speed Of Light\",\"Duration\",\"usecond\",\"1,406.24\"\r
\"0\",\"5\",\"a\",\"h\",\"f(int, float)\",\"2020-Jan-01\",\"1\",\"7\",\"GPU Speed Of Light\",\"SM Frequency\",\"cycle/second\",\"1,215,000,000.00\"\r
\"0\",\"5\",\"a\",\"h\",\"f(int, float)\",\"2020-Jan-01\",\"1\",\"7\",\"Launch\",\"Function Cache\",\"\",\"PreferNone\"\r
\"0\",\"5\",\"a\",\"h\",\"f(int, float)\",\"2020-Jan-01\",\"1\",\"7\",\"Launch\",\"Nothing\",\"%\",\"(!) nan\"\r
words of the program\r
\"1\",\"5\",\"a\",\"h\",\"f(int, float)\",\"2020-Jan-01\",\"1\",\"7\",\"GPU Speed Of Light\",\"Duration\",\"ms\",\"2\"\r
\"1\",\"5\",\"a\",\"h\",\"f(int, float)\",\"2020-Jan-01\",\"1\",\"7\",\"GPU Speed Of Light\",\"SM Frequency\",\"cycle/second\",\"1,215,000,000.00\"\r
==WARNING== Found outstanding GPU clock reset\r
";
    let read = bytes("a.csv", text.as_bytes()).unwrap();
    let total = &read.totals[0];
    assert_eq!((total.name.as_str(), total.calls), ("f(int, float)", 2));
    assert_eq!((total.total_ns, total.min_ns), (3_406_240, Some(1_406_240)));
    assert_eq!(read.counters.len(), 1);
    assert_eq!(
        (read.counters[0].launches, read.counters[0].sum),
        (2, 2.43e9)
    );
    assert!(
        read.notes
            .iter()
            .any(|note| note.contains("outstanding GPU clock reset"))
    );
}

#[test]
fn a_column_for_each_metric_is_read_too() {
    let text = "\"ID\",\"Process ID\",\"Kernel Name\",\"Device\",\"CC\",\"gpu__time_duration.sum\",\"sm__warps_active.avg\"\n\"\",\"\",\"\",\"\",\"\",\"us\",\"%\"\n\"0\",\"9\",\"g\",\"0\",\"9.0\",\"12.5\",\"50\"\n\"1\",\"9\",\"g\",\"0\",\"9.0\",\"10\",\"n/a\"\n";
    let read = bytes("a.csv", text.as_bytes()).unwrap();
    assert_eq!((read.totals[0].calls, read.totals[0].total_ns), (2, 22_500));
    assert_eq!(mean(&read, "sm__warps_active.avg", "%"), Some(50.0));
}

#[test]
fn times_that_were_not_measured_are_missed() {
    let text = "\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\"0\",\"9\",\"g\",\"Registers\",\"\",\"4\"\n\"1\",\"9\",\"g\"\n";
    let read = bytes("a.csv", text.as_bytes()).unwrap();
    assert!(read.totals.is_empty());
    assert!(
        read.notes
            .iter()
            .any(|note| note.contains("2 of 2 launches have no Duration"))
    );
    assert!(read.notes.iter().any(|note| note.contains("1 row")));
    let whole = std::fs::read(path(FILE)).unwrap();
    survives_as("a.log", &whole, 100);
    let half = bytes("a.log", &whole[..whole.len() / 2]).unwrap();
    assert_eq!(half.totals[0].total_ns, 406240);
}

#[test]
fn a_table_without_quotation_marks_is_read() {
    let text = "\u{feff}ID,Process ID,Process Name,Host Name,Kernel Name,Kernel Time,Context,Stream,Section Name,Metric Name,Metric Unit,Metric Value\r
0,5,a.exe,127.0.0.1,gemm,2020-Jul-01 10:00:00,1,7,GPU Speed Of Light,Duration,usecond,14.5\r
0,5,a.exe,127.0.0.1,gemm,2020-Jul-01 10:00:00,1,7,GPU Speed Of Light,SOL SM,%,61.25\r
1,5,a.exe,127.0.0.1,f(int, float*, long),2020-Jul-01 10:00:01,1,7,GPU Speed Of Light,Duration,usecond,2\r
1,5,a.exe,127.0.0.1,f(int, float*, long),2020-Jul-01 10:00:01,1,7,Launch,Registers Per Thread,register/thread,32\r
3 words, of the program\r
";
    let read = bytes("a.csv", text.as_bytes()).unwrap();
    assert_eq!(read.format, "ncu");
    let times: Vec<(&str, u64)> = read
        .totals
        .iter()
        .map(|total| (total.name.as_str(), total.total_ns))
        .collect();
    assert_eq!(times, [("gemm", 14_500), ("f(int, float*, long)", 2_000)]);
    assert_eq!(mean(&read, "SOL SM", "%"), Some(61.25));
    assert_eq!(
        mean(&read, "Registers Per Thread", "register/thread"),
        Some(32.0)
    );
    let wide = "ID,Process ID,Kernel Name,gpu__time_duration.sum,sm__warps_active.avg\r\n,,,usecond,%\r\n0,9,g,12.5,50\r\n";
    let read = bytes("a.csv", wide.as_bytes()).unwrap();
    assert_eq!((read.totals[0].calls, read.totals[0].total_ns), (1, 12_500));
    assert_eq!(mean(&read, "sm__warps_active.avg", "%"), Some(50.0));
}

#[test]
fn times_that_are_worked_out_are_said_to_be() {
    let text =
        "\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"
\"0\",\"9\",\"g\",\"Elapsed Cycles\",\"cycle\",\"12,000\"
\"0\",\"9\",\"g\",\"SM Frequency\",\"cycle/nsecond\",\"1.20\"
\"1\",\"9\",\"g\",\"Elapsed Cycles\",\"cycle\",\"500\"
\"2\",\"9\",\"g\",\"SM Frequency\",\"Mhz\",\"600\"
\"2\",\"9\",\"g\",\"Elapsed Cycles\",\"cycle\",\"600\"
";
    let read = bytes("a.csv", text.as_bytes()).unwrap();
    assert_eq!((read.totals[0].calls, read.totals[0].total_ns), (2, 11_000));
    let says = |words: &str| read.notes.iter().any(|note| note.contains(words));
    assert!(
        says("2 of 3 launches have no Duration: their times are Elapsed Cycles"),
        "{:?}",
        read.notes
    );
    assert!(
        says("1 of 3 launches have no Duration: profile"),
        "{:?}",
        read.notes
    );
}
