//! Profiles of real training and inference, and small ones, added up.

use super::*;
use crate::analysis::kernel_fixtures::{FSDP, RESNET_MI210, RESNET_V100, VIT, profile, total};
use powerband_core::domain::profile::DeviceTime;

fn of_totals(totals: Vec<Total>) -> Profile {
    Profile {
        totals,
        ..Profile::default()
    }
}

fn by(profile: &Profile, level: BreakdownLevel) -> Breakdown {
    profile_breakdown(profile, &Rules::default(), level)
}

/// The same kernels without operators.
fn without_operators(mut profile: Profile) -> Profile {
    for total in &mut profile.totals {
        total.op.clear();
    }
    profile
        .totals
        .retain(|total| total.kind == SliceKind::Kernel);
    profile
}

fn close(found: &Breakdown, category: Category, per_cent: f64) {
    let share = found.share_of(&[category]) * 100.0;
    assert!(
        (share - per_cent).abs() <= 1.0,
        "{category:?}: {share:.1} %, not {per_cent} %"
    );
}

#[test]
fn names_alone_tell_what_real_training_is_made_of() {
    let found = by(
        &without_operators(profile(RESNET_V100)),
        BreakdownLevel::Category,
    );
    close(&found, Category::Convolution, 62.4);
    close(&found, Category::BatchNorm, 15.1);
    close(&found, Category::Elementwise, 15.5);
    close(&found, Category::Gemm, 6.0);
    close(&found, Category::Pooling, 0.9);
    let found = by(&profile(RESNET_MI210), BreakdownLevel::Category);
    close(&found, Category::Convolution, 30.3);
    // A kernel of batch normalisation that runs within an elementwise one has 1.7 of these.
    close(&found, Category::BatchNorm, 24.8 + 1.7);
    close(&found, Category::Elementwise, 24.4 - 1.7);
    close(&found, Category::Layout, 15.4);
    close(&found, Category::Pooling, 2.7);
    close(&found, Category::Gemm, 1.7);
}

#[test]
fn names_alone_tell_what_transformers_are_made_of() {
    let found = by(&without_operators(profile(VIT)), BreakdownLevel::Category);
    close(&found, Category::Gemm, 54.9);
    close(&found, Category::Attention, 21.8);
    close(&found, Category::Elementwise, 12.3);
    close(&found, Category::Norm, 8.1);
    close(&found, Category::Convolution, 1.8);
    close(
        &by(&profile(FSDP), BreakdownLevel::Category),
        Category::Collective,
        93.6,
    );
}

#[test]
fn operators_find_convolutions_that_are_called_gemm() {
    let found = by(&profile(RESNET_V100), BreakdownLevel::Category);
    let share = found.share_of(&[Category::Convolution]);
    assert!((0.65..0.72).contains(&share), "{share}");
    assert!(found.share_of(&[Category::Gemm]) < 0.01);
    assert!(
        found.share_of(&[Category::Copies]) > 0.025,
        "20 ms of copies"
    );
    let all: f64 = found.rows.iter().map(|row| row.share).sum();
    assert!((all - 1.0).abs() < 1e-9);
}

#[test]
fn the_top_ten_operators_and_kernels() {
    let found = by(&profile(VIT), BreakdownLevel::Operator);
    let top = found.filtered_rows(&Filter {
        top: Some(10),
        ..Filter::default()
    });
    let names: Vec<&str> = top
        .rows
        .iter()
        .map(|place| found.rows[*place].name.as_str())
        .collect();
    assert_eq!(
        &names[..3],
        [
            "aten::addmm",
            "aten::_flash_attention_forward",
            "aten::native_layer_norm"
        ]
    );
    let kernels = by(&profile(VIT), BreakdownLevel::Kernel);
    let first = &kernels.rows[0];
    assert_eq!(first.short, "Cijk_Alik_Bljk MT64x32x128");
    assert_eq!((first.calls, first.names), (48, 1));
    assert!(first.min_ns.unwrap() as f64 <= first.mean_ns().unwrap());
    assert_eq!(kernels.summed_ns, found.summed_ns);
    let mut shorts: Vec<&str> = kernels.rows.iter().map(|row| row.short.as_str()).collect();
    shorts.sort_unstable();
    shorts.dedup();
    assert_eq!(
        shorts.len(),
        kernels.rows.len(),
        "each has a name of its own"
    );
}

#[test]
fn filters_leave_what_they_say() {
    let found = by(&profile(RESNET_V100), BreakdownLevel::Kernel);
    let filter = |words: &str, over: f64| {
        found.filtered_rows(&Filter {
            words: words.to_owned(),
            over,
            ..Filter::NONE
        })
    };
    assert_eq!(filter("", 0.0).hidden, 0);
    assert_eq!(Some(filter("", 0.0).total_ns), found.summed_ns);
    let sgemm = filter("sgemm volta", 0.0);
    assert!(
        sgemm
            .rows
            .iter()
            .all(|place| found.rows[*place].name.contains("sgemm"))
    );
    assert!(!sgemm.rows.is_empty());
    let large = filter("", 0.05);
    assert!(large.rows.len() < 9 && large.rows.len() + large.hidden == found.rows.len());
    assert!(
        !filter("batch normalisation", 0.0).rows.is_empty(),
        "the category counts"
    );
    assert!(
        !filter("aten::add_", 0.0).rows.is_empty(),
        "and so does the operator"
    );
}

#[test]
fn operators_count_where_there_are_no_kernels() {
    let mut profile = of_totals(vec![
        total(SliceKind::Operator, "aten::conv2d", "", 2, 600),
        total(SliceKind::Operator, "aten::relu", "", 2, 400),
        total(SliceKind::Call, "malloc", "", 9, 9_000),
    ]);
    profile.runs = Some(2);
    let found = by(&profile, BreakdownLevel::Operator);
    assert_eq!(
        (found.scope, found.summed_ns),
        (Scope::Operators, Some(1_000))
    );
    assert_eq!(found.rows[0].share, 0.6);
    assert_eq!(found.per_run(1_000.0), Some(500.0));
    assert_eq!(found.host, [(SliceKind::Call, 9_000)]);
    assert_eq!(found.busy, None);
    close(
        &by(&profile, BreakdownLevel::Category),
        Category::Convolution,
        60.0,
    );
}

#[test]
fn idle_time_and_its_longest_gaps() {
    let mut profile = of_totals(vec![total(SliceKind::Kernel, "k", "", 3, 900)]);
    assert_eq!(by(&profile, BreakdownLevel::Kernel).busy, None);
    let device = |gaps: &[(u64, u64)]| DeviceTime {
        device: format!("GPU {}", gaps.len()),
        kernels_ns: 0,
        busy_ns: 300,
        span_ns: 1_000,
        gaps: gaps.to_vec(),
        not_computing: None,
    };
    profile.devices = vec![device(&[(10, 100)]), device(&[(5, 50), (400, 500)])];
    let found = by(&profile, BreakdownLevel::Kernel);
    assert_eq!(found.busy.unwrap().idle_share(), Some(0.7));
    let lengths: Vec<u64> = found.gaps.iter().map(|gap| gap.length_ns).collect();
    assert_eq!(lengths, [500, 100, 50]);
    assert_eq!(found.gaps[0].device, "GPU 2");
}

#[test]
fn a_kernel_that_two_operators_use_is_told_apart_by_its_category() {
    let profile = of_totals(vec![
        total(
            SliceKind::Kernel,
            "volta_sgemm_128x64_nn",
            "aten::cudnn_convolution",
            1,
            700,
        ),
        total(
            SliceKind::Kernel,
            "volta_sgemm_128x64_nn",
            "aten::addmm",
            1,
            200,
        ),
        total(
            SliceKind::Kernel,
            "volta_sgemm_128x64_nn",
            "aten::mm",
            1,
            50,
        ),
        total(SliceKind::Copy, "Memcpy HtoD", "", 1, 50),
    ]);
    let found = by(&profile, BreakdownLevel::Kernel);
    assert_eq!(found.rows.len(), 3);
    assert_eq!(found.rows[1].ops, ["aten::addmm", "aten::mm"]);
    assert_eq!(found.rows[0].min_ns, None);
    let ops = by(&profile, BreakdownLevel::Operator);
    assert_eq!(ops.rows.last().unwrap().name, "copies");
    assert!(ops.has_operators);
}

#[test]
fn nothing_is_nothing() {
    let found = by(&Profile::default(), BreakdownLevel::Category);
    assert!(found.rows.is_empty() && found.summed_ns.is_none() && found.calls.is_none());
    assert_eq!(
        found.filtered_rows(&Filter::default()),
        FilteredRows::default()
    );
}

#[test]
fn what_is_left_of_a_run_is_the_host() {
    let mut profile = of_totals(vec![total(SliceKind::Kernel, "conv", "Conv", 10, 900)]);
    assert_eq!(by(&profile, BreakdownLevel::Kernel).between_nodes_ns, None);
    profile
        .totals
        .push(total(SliceKind::Range, "model_run", "", 10, 1_000));
    assert_eq!(
        by(&profile, BreakdownLevel::Kernel).between_nodes_ns,
        Some(100)
    );
    profile.totals[0].total_ns = 1_500;
    assert_eq!(
        by(&profile, BreakdownLevel::Kernel).between_nodes_ns,
        Some(0)
    );
}

/// As ONNX Runtime 1.31.1 wrote it on an H200: 20 nodes were started in 2.4 ms of a run of 5.3 ms, and the card was
/// busy all the time.
#[test]
fn starts_on_a_card_are_no_times_of_the_card() {
    for kind in [SliceKind::Operator, SliceKind::Kernel] {
        let mut node = total(kind, "conv1", "Conv", 20, 2_400);
        node.place = "CUDAExecutionProvider".to_owned();
        let run = total(SliceKind::Range, "model_run", "", 1, 5_300);
        let mut profile = of_totals(vec![node, run]);
        let found = by(&profile, BreakdownLevel::Kernel);
        assert_eq!(
            (found.scope, found.summed_ns),
            (Scope::NodeLaunches, Some(2_400))
        );
        assert_eq!((found.between_nodes_ns, found.busy), (None, None));
        profile.totals[0].place = "CPUExecutionProvider".to_owned();
        assert_ne!(
            by(&profile, BreakdownLevel::Kernel).scope,
            Scope::NodeLaunches
        );
    }
}
