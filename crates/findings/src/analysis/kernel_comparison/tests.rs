//! Fused graphs, other vendors, and two thousand made-up pairs of profiles.

use super::*;
use crate::analysis::kernel_fixtures::{RESNET_MI210, RESNET_V100, profile, total};
use powerband_core::domain::profile::MemoryUse;

fn test_profile(totals: &[(&str, &str, u64)], runs: Option<u64>) -> Profile {
    Profile {
        totals: totals
            .iter()
            .map(|(name, op, ns)| total(SliceKind::Kernel, name, op, 1, *ns))
            .collect(),
        runs,
        ..Profile::default()
    }
}

fn compared(before: &Profile, after: &Profile) -> KernelComparison {
    compare_profiles(before, after, &Rules::default())
}

fn adds_up(found: &KernelComparison) {
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-6 * (1.0 + b.abs()), "{a} {b}");
    let sum = |of: &dyn Fn(&KernelDiffRow) -> f64| found.rows.iter().map(of).sum::<f64>();
    let Some((before_ns, after_ns)) = found.before_ns.zip(found.after_ns) else {
        // A side without times is not compared, and that is said.
        assert!(found.rows.is_empty() && found.removed.is_empty() && found.added.is_empty());
        assert!(found.notes[0].contains("has no times"), "{:?}", found.notes);
        return;
    };
    near(sum(&KernelDiffRow::before_ns), before_ns);
    near(sum(&KernelDiffRow::after_ns), after_ns);
    near(
        sum(&KernelDiffRow::difference_ns),
        found.difference_ns().unwrap(),
    );
    let shares: Option<f64> = found.rows.iter().map(|row| found.contribution(row)).sum();
    if let Some(shares) = shares.filter(|_| !found.rows.is_empty()) {
        near(shares, 1.0);
    }
}

#[test]
fn a_fused_graph_and_what_it_no_longer_has() {
    let before = test_profile(
        &[
            ("conv_1", "Conv", 600),
            ("bn_1", "BatchNormalization", 200),
            ("relu_1", "Relu", 100),
            ("fc", "Gemm", 50),
        ],
        None,
    );
    let after = test_profile(
        &[("conv_bn_relu_1", "FusedConv", 640), ("fc", "Gemm", 50)],
        None,
    );
    let found = compared(&before, &after);
    adds_up(&found);
    let went: Vec<&str> = found
        .removed
        .iter()
        .map(|member| member.name.as_str())
        .collect();
    assert_eq!(went, ["conv_1", "bn_1", "relu_1"]);
    let row = |title: &str| found.rows.iter().find(|row| row.title == title).unwrap();
    assert_eq!(row("bn_1").change(), KernelChange::Removed);
    assert_eq!(row("convolution").matched, Matched::Category);
    assert_eq!(row("convolution").difference_ns(), 40.0);
    assert_eq!(
        (row("fc").matched, row("fc").difference_ns()),
        (Matched::Name, 0.0)
    );
    assert_eq!(
        found.rows[0].title, "bn_1",
        "the largest difference comes first"
    );
    let share = found.contribution(&found.rows[0]).unwrap();
    assert!((share - 200.0 / 260.0).abs() < 1e-9);
    assert!(found.notes[0].contains("whole profiles"));
}

#[test]
fn other_names_are_matched_by_what_is_left_of_them() {
    let before = test_profile(
        &[
            ("Cijk_Alik_Bljk_BBS_MT64x32x128_MI16", "aten::addmm", 300),
            ("some_relu", "aten::relu_", 40),
            ("volta_scudnn_128x64_nn", "aten::conv2d", 500),
        ],
        Some(10),
    );
    let after = test_profile(
        &[
            ("Cijk_Alik_Bljk_BBS_MT128x128x64_MI32", "aten::addmm", 200),
            ("another", "Relu", 20),
            ("igemm_fwd_gtcx2_nhwc", "", 800),
        ],
        Some(20),
    );
    let found = compared(&before, &after);
    adds_up(&found);
    assert!(found.is_per_run() && found.notes.is_empty());
    let by = |matched| {
        found
            .rows
            .iter()
            .find(|row| row.matched == matched)
            .unwrap()
    };
    assert_eq!(by(Matched::Base).before_ns(), 30.0);
    assert_eq!(by(Matched::Base).after_ns(), 10.0);
    assert_eq!(by(Matched::Operator).title, "aten::relu_");
    assert_eq!(by(Matched::Category).title, "convolution");
    assert_eq!(found.rows.len(), 3);
}

#[test]
fn another_vendor_still_aligns() {
    let found = compared(&profile(RESNET_V100), &profile(RESNET_MI210));
    adds_up(&found);
    let alone = found
        .rows
        .iter()
        .filter(|row| row.matched == Matched::Alone);
    let alone: f64 = alone.map(|row| row.before_ns() + row.after_ns()).sum();
    let share = alone / (found.before_ns.unwrap() + found.after_ns.unwrap());
    assert!(share < 0.05, "{share}");
    let same = compared(&profile(RESNET_V100), &profile(RESNET_V100));
    assert!(same.rows.iter().all(|row| row.matched == Matched::Name));
    assert_eq!(same.difference_ns(), Some(0.0));
    assert_eq!(same.contribution(&same.rows[0]), None);
}

/// Numbers from a seed, without a crate for it.
struct ProfileRng(u64);

impl ProfileRng {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % sides
    }

    fn pick(&mut self, of: &[&'static str]) -> &'static str {
        of[self.roll(of.len() as u64) as usize]
    }

    fn profile(&mut self) -> Profile {
        const NAMES: [&str; 9] = [
            "volta_sgemm_128x64_nn",
            "volta_sgemm_64x64_nn",
            "void f<float>(int)",
            "void f<half>(int)",
            "relu",
            "Memcpy HtoD",
            "unknown",
            "",
            "conv_7",
        ];
        const OPS: [&str; 6] = ["", "aten::mm", "Relu", "aten::relu_", "Conv", "::"];
        const KINDS: [SliceKind; 5] = [
            SliceKind::Kernel,
            SliceKind::Kernel,
            SliceKind::Copy,
            SliceKind::Set,
            SliceKind::Call,
        ];
        let totals = (0..self.roll(14)).map(|_| {
            let kind = KINDS[self.roll(5) as usize];
            let (name, op) = (self.pick(&NAMES), self.pick(&OPS));
            total(kind, name, op, 1 + self.roll(9), self.roll(1_000))
        });
        let totals = totals.collect();
        let runs = [None, Some(0), Some(1), Some(7)][self.roll(4) as usize];
        Profile {
            runs,
            totals,
            ..Profile::default()
        }
    }
}

#[test]
fn differences_always_add_up_to_the_whole() {
    let mut dice = ProfileRng(1);
    for _ in 0..2_000 {
        let (before, after) = (dice.profile(), dice.profile());
        let found = compared(&before, &after);
        adds_up(&found);
        for row in &found.rows {
            let is_alone = row.before.is_empty() || row.after.is_empty();
            assert_eq!(is_alone, row.matched == Matched::Alone, "{row:?}");
        }
    }
}

#[test]
fn unlike_profiles_have_a_warning() {
    let of_tool = |name: &str, format: &str| {
        let mut profile = test_profile(&[("k", "", 1)], Some(1));
        profile.tool.name = name.to_owned();
        profile.format = format.to_owned();
        profile
    };
    let notes = |before: &Profile, after: &Profile| compared(before, after).notes.join(" ");
    let (old, new) = (
        of_tool("rocprof", "rocprof-stats"),
        of_tool("rocprofv3", "rocprof-stats"),
    );
    assert!(notes(&old, &new).contains("rocprof and one by rocprofv3"));
    assert!(notes(&new, &old).contains("rocprof and one by rocprofv3"));
    assert_eq!(notes(&new, &new), "");
    let nodes = of_tool("ONNX Runtime", "onnxruntime");
    assert!(notes(&nodes, &new).contains("nodes of a runtime before"));
    assert!(notes(&new, &of_tool("ncu", "ncu")).contains("one by one"));
    let mut operators = new.clone();
    operators.totals[0].kind = SliceKind::Operator;
    assert!(notes(&new, &operators).contains("operators on the host after"));
}

#[test]
fn rows_by_a_level_stand_for_that_level() {
    let before = test_profile(
        &[
            ("volta_sgemm_128x64_nn", "aten::mm", 100),
            ("relu_kernel", "aten::relu", 10),
        ],
        None,
    );
    let after = test_profile(
        &[
            ("ampere_sgemm_64x64_nn", "MM", 60),
            ("relu_kernel", "aten::relu", 10),
            ("softmax_kernel", "aten::softmax", 5),
        ],
        None,
    );
    let rows = |level: BreakdownLevel| {
        let found = compare_by_level(&before, &after, &Rules::default(), level);
        assert_eq!(found.difference_ns(), Some(-35.0));
        let rows = found.rows.into_iter();
        let rows: Vec<(String, Matched, f64, f64)> = rows
            .map(|row| {
                (
                    row.title.clone(),
                    row.matched,
                    row.before_ns(),
                    row.after_ns(),
                )
            })
            .collect();
        rows
    };
    let operators = rows(BreakdownLevel::Operator);
    assert_eq!(operators.len(), 3, "{operators:?}");
    assert_eq!(
        operators[0],
        ("aten::mm".to_owned(), Matched::Operator, 100.0, 60.0)
    );
    assert!(
        operators.contains(&("aten::softmax".to_owned(), Matched::Alone, 0.0, 5.0)),
        "{operators:?}"
    );
    let kernels = rows(BreakdownLevel::Kernel);
    assert_eq!(kernels.len(), 4, "{kernels:?}");
    assert_eq!((kernels[0].1, kernels[0].2), (Matched::Alone, 100.0));
    let categories = rows(BreakdownLevel::Category);
    assert!(categories.len() < 4, "{categories:?}");
    assert!(
        categories
            .iter()
            .any(|row| row.1 == Matched::Category && (row.2, row.3) == (100.0, 60.0)),
        "{categories:?}"
    );
}

#[test]
fn the_difference_of_the_wall_time_is_that_of_its_parts() {
    use powerband_core::domain::profile::{DeviceTime, IdleCauses};
    let with_device = |kernel_ns: u64, late_ns: u64, runs: u64| Profile {
        devices: vec![DeviceTime {
            device: "GPU 0".to_owned(),
            busy_ns: kernel_ns + 20,
            kernels_ns: kernel_ns,
            span_ns: kernel_ns + 20 + late_ns,
            gaps: Vec::new(),
            not_computing: Some(IdleCauses {
                communication_ns: 10,
                launched_late_ns: late_ns,
                ..IdleCauses::default()
            }),
        }],
        ..test_profile(&[("gemm", "", kernel_ns)], Some(runs))
    };
    let (before, after) = (with_device(1000, 400, 2), with_device(600, 50, 1));
    let found = compared(&before, &after);
    let lines: Vec<(&str, f64)> = found
        .wall
        .iter()
        .map(|change| (change.kind.title(), change.difference_ns()))
        .collect();
    let expected = [
        ("computing", 590.0 - 495.0),
        ("exposed copies", 20.0 - 10.0),
        ("exposed communication", 10.0 - 5.0),
        ("gap: launched late", 50.0 - 200.0),
    ];
    assert_eq!(lines, expected);
    let sum: f64 = found.wall.iter().map(WallChange::difference_ns).sum();
    assert!((sum - (670.0 - 1420.0 / 2.0)).abs() < 1e-9);
    // Nothing is said where one side cannot be taken apart.
    assert!(compared(&Profile::default(), &after).wall.is_empty());
}

#[test]
fn two_memory_snapshots_differ_by_stack() {
    let snapshot = |peak_bytes: u64, stacks: &[(&str, u64)]| Profile {
        memory: vec![MemoryUse {
            device: "GPU 0".to_owned(),
            peak_bytes,
            at_peak: stacks
                .iter()
                .map(|(stack, bytes)| ((*stack).to_owned(), *bytes))
                .collect(),
            ..MemoryUse::default()
        }],
        ..Profile::default()
    };
    let before = snapshot(
        9 << 20,
        &[("forward", 6 << 20), ("loss", 2 << 20), ("same", 1 << 20)],
    );
    let after = snapshot(13 << 20, &[("forward", 12 << 20), ("same", 1 << 20)]);
    let said = "The peak memory of GPU 0 is 9.00 MiB before and 13.0 MiB after. Stacks that differ most: +6.00 MiB forward; −2.00 MiB loss.";
    assert_eq!(compared(&before, &after).notes, [said]);
    let same = &compared(&before, &before).notes[0];
    assert!(same.ends_with("Stacks that differ most: none."), "{same}");
    let other = compared(&before, &Profile::default());
    assert!(other.notes[0].contains("has no times"), "{:?}", other.notes);
}
