//! Real traces and made-up ones, sound and damaged.

use super::super::testing::{bytes, fixture, text};
use super::*;
use crate::reading::limits::Limits;
use crate::records::summary;

/// Slices, names and nanoseconds of a kind, and the name with the longest time: name, calls, time.
fn sums(imported: &Imported, kind: SliceKind) -> (usize, usize, u64, (String, u64, u64)) {
    let trace = &imported.trace;
    let mut by_name: std::collections::BTreeMap<&str, (u64, u64)> = Default::default();
    for slice in trace.slices().filter(|slice| slice.kind == kind) {
        let sum = by_name.entry(trace.names.get(slice.name)).or_default();
        sum.0 += 1;
        sum.1 += slice.duration_ns;
    }
    let calls: u64 = by_name.values().map(|(calls, _)| calls).sum();
    let time = by_name.values().map(|(_, time)| time).sum();
    let top = by_name.iter().max_by_key(|(_, (_, time))| *time);
    let top = top.map_or_else(Default::default, |(name, (calls, time))| {
        ((*name).to_owned(), *calls, *time)
    });
    (calls as usize, by_name.len(), time, top)
}

#[track_caller]
fn assert_kernels(
    imported: &Imported,
    (calls, names, time): (usize, usize, u64),
    top: (&str, u64, u64),
) {
    let found = sums(imported, SliceKind::Kernel);
    assert_eq!((found.0, found.1, found.2), (calls, names, time));
    let (name, top_calls, top_time) = found.3;
    assert!(name.starts_with(top.0), "{name}");
    assert_eq!((top_calls, top_time), (top.1, top.2));
}

fn memory_operations(imported: &Imported) -> [(usize, u64); 2] {
    [SliceKind::Copy, SliceKind::Set].map(|kind| {
        let found = sums(imported, kind);
        (found.0, found.2)
    })
}

#[test]
fn alexnet_on_cuda() {
    let imported = fixture("kineto/alexnet-cuda.trace.json.gz");
    assert_eq!(imported.format, "pytorch");
    assert_kernels(
        &imported,
        (79, 16, 10_692_000),
        ("ampere_sgemm_32x32_sliced1x4_tn", 6, 2_621_000),
    );
    assert_eq!(memory_operations(&imported), [(16, 55_503_000), (3, 8_000)]);
    assert_eq!(imported.trace.len(), 868);
    assert_eq!(imported.notes, [""; 0]);
}

#[test]
fn resnet50_training_on_a_v100() {
    let imported = fixture("kineto/resnet50-v100-train.pt.trace.json.gz");
    assert_kernels(
        &imported,
        (9456, 62, 649_808_000),
        (
            "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>",
            178,
            90_214_000,
        ),
    );
    assert_eq!(
        memory_operations(&imported),
        [(12, 19_721_000), (351, 351_000)]
    );
    assert_eq!(imported.trace.len(), 48_892);
    let trace = &imported.trace;
    let add = trace.names.find("aten::add_").unwrap();
    let adds = trace
        .slices()
        .filter(|slice| slice.kind == SliceKind::Operator && slice.name == add);
    assert_eq!(adds.count(), 5988);
    // Calls and kernels are linked, so kernels know who asked for them.
    let known = trace
        .slices()
        .filter(|slice| slice.kind == SliceKind::Kernel && slice.op != 0);
    assert_eq!(known.count(), 8610);
}

#[test]
fn own_timelines_are_known_whatever_names_they_hold() {
    let own = r#"{"powerband": 1, "traceEvents": [
        {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "process"}},
        {"ph": "X", "cat": "range", "name": "CPU HIP API", "pid": 0, "tid": 0, "ts": 1.000, "dur": 2.500}]}"#;
    let imported = text("own.json", own);
    assert_eq!(imported.format, "powerband-trace");
    assert_eq!(imported.trace.slice(0).duration_ns, 2500);
}

#[test]
fn training_on_an_mi250() {
    let imported = fixture("kineto/mi250-minitoy-train-rocm62.json.gz");
    assert_kernels(
        &imported,
        (14, 12, 110_881),
        (
            "Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32",
            1,
            17_600,
        ),
    );
    assert_eq!(memory_operations(&imported), [(2, 38_161), (0, 0)]);
    assert_eq!(imported.trace.len(), 113);
}

#[test]
fn devices_alone_on_an_mi210() {
    let imported = fixture("kineto/mi210-gpu-only-resnet-like.json.gz");
    assert_kernels(
        &imported,
        (562, 45, 5_343_422),
        (
            "void at::native::batch_norm_backward_kernel<c10::BFloat16",
            20,
            844_938,
        ),
    );
    assert_eq!(imported.trace.len(), 1194);
}

#[test]
fn a_transformer_on_an_mi300_with_memory_and_scripts() {
    let imported = fixture("kineto/mi300-vit-nsfw-inference.json.gz");
    assert_kernels(
        &imported,
        (155, 16, 1_716_301),
        (
            "Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x128",
            48,
            409_207,
        ),
    );
    assert_eq!(imported.trace.len(), 4097);
    assert_eq!(sums(&imported, SliceKind::Script).0, 2121);
    assert_eq!(imported.trace.memory.len(), 620);
    assert!(
        imported
            .trace
            .memory
            .iter()
            .any(|event| event.device == Some(0))
    );
}

#[test]
fn old_spellings_and_a_driver_that_launches() {
    let old = fixture("kineto/legacy-capitalised-cats.json.gz");
    assert_kernels(
        &old,
        (4, 4, 30_000),
        (
            "void cutlass::Kernel<cutlass_70_wmma_tensorop_f16",
            1,
            15_000,
        ),
    );
    assert_eq!(old.trace.len(), 13);
    let triton = fixture("kineto/triton-cuda_driver.json.gz");
    assert_kernels(
        &triton,
        (1, 1, 1_760),
        ("triton_poi_fused_add_cos_sin_0", 1, 1_760),
    );
    assert_eq!(triton.trace.len(), 8);
    assert_eq!(sums(&triton, SliceKind::Call).0, 2);
}

#[test]
fn processors_alone() {
    for (name, slices, empties) in [
        ("kineto/cpu-only-rank34.pt.trace.json.gz", 16, 4),
        ("kineto/cpu-only-rank_non_gpu.json.gz", 2467, 303),
        ("kineto/torch113-autograd-profiler-legacy.json", 315, 0),
    ] {
        let imported = fixture(name);
        assert_eq!(imported.format, "pytorch", "{name}");
        assert_eq!(imported.trace.len(), slices);
        assert_eq!(sums(&imported, SliceKind::Kernel).0, 0);
        let trace = &imported.trace;
        let empty = trace.names.find("aten::empty").unwrap();
        let found = trace
            .slices()
            .filter(|slice| slice.kind == SliceKind::Operator && slice.name == empty);
        assert!(empties == 0 || found.count() == empties);
    }
}

#[test]
fn nodes_of_onnx_runtime() {
    let imported = fixture("onnxruntime/resnet50-cpu-ort1.31.json");
    assert_eq!((imported.format, imported.runs), ("onnxruntime", Some(10)));
    let (nodes, _, time, _) = sums(&imported, SliceKind::Kernel);
    assert_eq!((nodes, time), (590, 790_029_000));
    assert_eq!(by_op(&imported, "Conv"), (530, 776_625_000));
    assert_eq!(by_op(&imported, "Gemm"), (10, 7_313_000));
    assert_eq!(by_op(&imported, "MaxPool"), (10, 5_600_000));
    let small = fixture("onnxruntime/squeezenet-cpu-ort1.31.json");
    assert_eq!(small.runs, Some(3));
    assert_eq!(sums(&small, SliceKind::Kernel).2, 20_135_000);
    assert_eq!(by_op(&small, "Concat"), (24, 611_000));
    assert_eq!(small.trace.memory.len(), 120);
}

/// As recorded with ONNX Runtime 1.31.1 on an H200: two nodes that took 90 of the 530 microseconds of the run.
#[test]
fn nodes_that_a_card_computes_are_only_started() {
    let event = |cat: &str, name: &str, (ts, dur): (u64, u64), args: &str| {
        format!(
            r#"{{"cat":"{cat}","pid":1,"tid":7,"dur":{dur},"ts":{ts},"ph":"X","name":"{name}","args":{{{args}}}}}"#
        )
    };
    let node = |provider: &str, name: &str, times| {
        let args = format!(
            r#""op_name":"Conv","provider":"{provider}","node_index":"0","input_type_shape":[{{"float":[1,3]}}]"#
        );
        event("Node", &format!("{name}_kernel_time"), times, &args)
    };
    let run = event("Session", "model_run", (0, 530), "");
    let kernel = event("Kernel", "sm90_conv", (10, 400), "");
    let read = |nodes: &[String]| {
        let list = format!("[{}]", nodes.join(",\n"));
        text("profile.json", &list)
    };
    let started = |provider| {
        [
            node(provider, "conv1", (1, 48)),
            node(provider, "conv2", (50, 42)),
            run.clone(),
        ]
    };
    let cuda = read(&started("CUDAExecutionProvider"));
    assert_eq!(sums(&cuda, SliceKind::Kernel).0, 0);
    assert_eq!(sums(&cuda, SliceKind::Operator).2, 90_000);
    assert_eq!(cuda.notes, [STARTS]);
    let cpu = read(&started("CPUExecutionProvider"));
    assert_eq!(sums(&cpu, SliceKind::Kernel).2, 90_000);
    assert_eq!(cpu.notes, [""; 0]);
    // A build that also records the card.
    let mut all = started("CUDAExecutionProvider").to_vec();
    all.push(kernel);
    let both = read(&all);
    assert_eq!(sums(&both, SliceKind::Kernel).2, 400_000);
    assert_eq!(both.notes, [""; 0]);
}

fn by_op(imported: &Imported, op: &str) -> (u64, u64) {
    let trace = &imported.trace;
    let op = trace.names.find(op).unwrap();
    let slices = trace.slices().filter(|slice| slice.op == op);
    slices.fold((0, 0), |(calls, time), slice| {
        (calls + 1, time + slice.duration_ns)
    })
}

/// A small trace with everything that goes wrong in real ones.
const SOUND: &str = r#"{"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 10.5, "dur": 2.25, "args": {}},
  {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 20, "dur": 3, "args": {"x": NaN}}
], "traceName": "x"}"#;

#[test]
fn what_is_nearly_json_is_read() {
    let kernels = |text: &str| {
        let imported = bytes("t.json", text.as_bytes()).unwrap();
        (sums(&imported, SliceKind::Kernel), imported.notes)
    };
    let ((calls, _, time, _), notes) = kernels(SOUND);
    assert_eq!((calls, time, notes.len()), (2, 5_250, 0));
    let ((calls, ..), notes) = kernels(&SOUND.replace("}}\n]", "}},\n]"));
    assert_eq!((calls, notes.len()), (2, 0));
    let ((calls, ..), notes) = kernels(&SOUND.replace("\"a\"", "\"op \"a\""));
    assert_eq!(calls, 1);
    assert!(notes[0].starts_with("1 event") && notes[0].contains("quotation marks"));
    let ((calls, ..), notes) = kernels(&SOUND.replace("\"ts\": 20", "\"ts\": Infinity"));
    assert_eq!(calls, 1);
    assert!(notes[0].contains("had no time"));
    let ((calls, _, time, _), notes) = kernels(&SOUND.replace("\"dur\": 3", "\"dur\": -3"));
    assert_eq!((calls, time), (2, 2_250));
    assert!(notes[0].contains("had the end before the beginning"));
    let huge = SOUND.replace(
        "\"args\": {}",
        "\"args\": {\"correlation\": 18446744073709551615}",
    );
    assert_eq!(kernels(&huge).0.0, 2);
}

#[test]
fn a_cut_file_is_read_up_to_the_cut() {
    let whole = SOUND.len();
    for cut in 1..whole {
        match bytes("t.json", &SOUND.as_bytes()[..cut]) {
            Ok(imported) => {
                let is_said = imported
                    .notes
                    .iter()
                    .any(|note| note.contains("is cut off"));
                assert!(
                    is_said || SOUND[..cut].contains(']'),
                    "{cut}: {:?}",
                    imported.notes
                );
            }
            Err(error) => assert!(error.to_string().contains("t.json"), "{error}"),
        }
    }
}

#[test]
fn beginnings_are_joined_with_their_ends() {
    let text = r#"[{"name": "outer", "ph": "B", "ts": 0, "pid": 1, "tid": 1},
        {"name": "inner", "ph": "B", "ts": 2, "pid": 1, "tid": 1},
        {"ph": "E", "ts": 5, "pid": 1, "tid": 1}, {"ph": "E", "ts": 9, "pid": 1, "tid": 1},
        {"ph": "E", "ts": 9, "pid": 1, "tid": 1},
        {"name": "thread_name", "ph": "M", "pid": 1, "tid": 1, "args": {"name": "main"}}]"#;
    let imported = bytes("t", text.as_bytes()).unwrap();
    assert_eq!(imported.format, "chrome-trace");
    let trace = &imported.trace;
    let found: Vec<_> = trace
        .slices()
        .map(|slice| (trace.names.get(slice.name), slice.duration_ns))
        .collect();
    assert_eq!(found, [("inner", 3_000), ("outer", 9_000)]);
    assert_eq!(trace.tracks[0].name, "main");
    assert_eq!(imported.notes.len(), 1);
}

/// Pieces are cut where an event most likely ends. Here most of these places lie within events, lines end within names,
/// and what follows the list looks like events.
#[test]
fn where_pieces_are_cut_changes_nothing() {
    let mut file = "{\"traceEvents\": [".to_owned();
    for number in 0..30_000 {
        let list = "{\"ph\":\"X\",\"name\":\"no event\"},".repeat(number % 7);
        let list = list.trim_end_matches(',');
        let divider = if number % 3 == 0 { ",\n" } else { "," };
        let name = if number % 1009 == 0 { "a\"b" } else { "a" };
        file.push_str(&format!(
            "{{\"ph\":\"X\",\"name\":\"{name}{number}\",\"tid\":1,\"ts\":{number},\"dur\":1,\"args\":{{\"list\":[{list}]}}}}{divider}"
        ));
    }
    file.push_str(&format!(
        "], \"more\": [{}]}}",
        "{\"ph\":\"X\"},".repeat(100_000)
    ));
    assert!(file.len() > 4 * PIECE);
    let mut splitter = Splitter::default();
    let mut converter = EventConverter::new(Dialect::Any, true);
    splitter.take(file.as_bytes(), &mut converter);
    let slices = |trace: &Trace| -> Vec<String> {
        let slices = trace.slices().enumerate();
        let slices = slices.map(|(index, slice)| {
            let name = trace.names.get(slice.name);
            format!("{} {name} {:?}", slice.start_ns, trace.args().get(index))
        });
        slices.collect()
    };
    let imported = text("a.json", &file);
    assert!(imported.trace.len() > 20_000 && splitter.broken > 0);
    assert_eq!(slices(&imported.trace), slices(&converter.trace));
    let broken = format!("{} events of a.json could not be read", splitter.broken);
    assert!(
        imported.notes.iter().any(|note| note.starts_with(&broken)),
        "{:?}",
        imported.notes
    );
}

/// What only a timeline shows is not kept without one, and the sums are the same.
#[test]
fn sums_need_no_arguments() {
    for name in [
        "kineto/resnet50-v100-train.pt.trace.json.gz",
        "onnxruntime/squeezenet-cpu-ort1.31.json",
    ] {
        let limits = Limits {
            keeps_args: false,
            ..Limits::default()
        };
        let path = crate::testing::path(name);
        let without = crate::read(&path, limits, &ReadProgress::default()).unwrap();
        let with = fixture(name);
        assert!(without.trace.args().is_empty() && !with.trace.args().is_empty());
        assert_eq!(summary::profile(&without, ""), summary::profile(&with, ""));
    }
}

#[test]
fn order_does_not_depend_on_threads() {
    let names = || {
        let imported = fixture("kineto/resnet50-v100-train.pt.trace.json.gz");
        let trace = imported.trace;
        let names = trace.slices().map(|slice| slice.name).collect::<Vec<_>>();
        (names, trace.tracks)
    };
    assert_eq!(names(), names());
}

#[test]
fn counters_of_ranges_are_counters() {
    let text = r#"{"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 9, "args": {}},
        {"ph": "X", "cat": "cuda_profiler_range", "name": "gemm", "pid": 0, "tid": 0, "ts": 0, "dur": 500,
         "args": {"External id": 4, "smsp__inst_executed.sum": 86114304, "sm__warps_active.avg": 12.5}},
        {"ph": "X", "cat": "cuda_profiler_range", "name": "gemm", "pid": 0, "tid": 0, "ts": 500, "dur": 500,
         "args": {"smsp__inst_executed.sum": 2.0, "sm__warps_active.avg": "nan"}},
        {"ph": "X", "cat": "cuda_profiler_range", "name": "add", "pid": 0, "tid": 0, "ts": 1000, "dur": 500}
    ]}"#;
    let imported = super::super::testing::text("t.json", text);
    let counted: Vec<_> = imported
        .counters
        .iter()
        .map(|one| {
            (
                one.kernel.as_str(),
                one.name.as_str(),
                one.launches,
                one.sum,
            )
        })
        .collect();
    let expected = [
        ("gemm", "smsp__inst_executed.sum", 2, 86_114_306.0),
        ("gemm", "sm__warps_active.avg", 1, 12.5),
    ];
    assert_eq!(counted, expected);
    // The operator alone took a time of its own.
    assert_eq!(imported.trace.len(), 1);
    let notes = imported.notes.join("\n");
    assert!(
        notes.contains("2 events of t.json came from CUPTI's range profiler, which"),
        "{notes}"
    );
    assert!(notes.contains("1 event of t.json came from CUPTI's range profiler without any value"));
}

#[test]
fn what_ran_on_an_mtia_is_no_time_of_the_host() {
    let imported = fixture("kineto/mtia-inference.excerpt.json.gz");
    assert_eq!(imported.format, "pytorch");
    // The control processor's waits and copies are no kernels.
    assert_kernels(
        &imported,
        (36 + 24 + 37, 3, 257_869_750 + 107_685_728 + 48_529_645),
        ("merge", 36, 257_869_750),
    );
    assert_eq!(memory_operations(&imported), [(877, 45_371_190), (0, 0)]);
    let waits = sums(&imported, SliceKind::Wait);
    assert_eq!((waits.0, waits.2), (48, 352_569_592));
    assert_eq!(sums(&imported, SliceKind::Call).0, 823);
    let device = imported
        .trace
        .tracks
        .iter()
        .find(|track| track.device.is_some())
        .unwrap();
    assert_eq!(device.group, "MTIA 17");
    assert!(device.name.starts_with("Stream "), "{}", device.name);
    assert_eq!(imported.notes, [""; 0]);
}

#[test]
fn categories_of_other_accelerators_are_sorted_and_unknown_ones_are_named() {
    let event = |category: &str, name: &str, microseconds: u32| {
        format!(
            "{{\"ph\": \"X\", \"cat\": \"{category}\", \"name\": \"{name}\", \"pid\": 0, \"tid\": 1, \"ts\": 1, \"dur\": {microseconds}}}"
        )
    };
    let events = [
        event("cpu_op", "aten::add", 1),
        event("hpu_op", "add_fwd", 2),
        event("xpu_driver", "zeCommandQueueExecuteCommandLists", 3),
        event("privateuse1_driver", "launch", 4),
        event("privateuse1_runtime", "submit", 5),
        event("npu_task", "a", 1500),
        event("npu_task", "b", 500),
        event("Trace", "PyTorch Profiler (0)", 9),
    ];
    let file = format!("{{\"traceEvents\": [{}]}}", events.join(","));
    let imported = text("t.json", &file);
    let sum = |kind: SliceKind| (sums(&imported, kind).0, sums(&imported, kind).2);
    assert_eq!(sum(SliceKind::Kernel), (1, 2_000));
    assert_eq!(sum(SliceKind::Call), (3, 12_000));
    assert_eq!(sum(SliceKind::Operator), (1, 1_000));
    assert_eq!(imported.notes.len(), 1, "{:?}", imported.notes);
    assert!(
        imported.notes[0].contains("npu_task (2 events, 2.00 ms)"),
        "{:?}",
        imported.notes
    );
}

#[test]
fn the_json_of_rpd_has_what_its_database_has() {
    let json = fixture("rpd/matmul_result.json");
    let database = fixture("rpd/matmul_result.rpd");
    assert_eq!(
        (json.format, json.tool.name.as_str()),
        ("rpd-json", "rocmProfileData")
    );
    for kind in [
        SliceKind::Kernel,
        SliceKind::Copy,
        SliceKind::Set,
        SliceKind::Call,
        SliceKind::Overhead,
        SliceKind::Range,
    ] {
        let (found, known) = (sums(&json, kind), sums(&database, kind));
        assert_eq!((found.0, found.1), (known.0, known.1), "{kind:?}");
        // Times stand in microseconds there.
        assert!(
            found.2.abs_diff(known.2) <= found.0 as u64 * 500,
            "{kind:?}"
        );
    }
    let devices: Vec<Option<u32>> = json.trace.tracks.iter().map(|track| track.device).collect();
    assert!(
        devices.contains(&Some(2)) && devices.contains(&None),
        "{devices:?}"
    );
}
