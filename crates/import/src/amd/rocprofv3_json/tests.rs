//! Tests on a real file of 37 MB, and on a made one with everything that it does not have.

use std::fs;
use std::io::Read as _;

use flate2::read::GzDecoder;

use super::*;
use crate::reading::source::Limits;
use crate::testing::{bytes, fixture, path, slices, sums, text};
use crate::{ImportError, read};

const REAL: &str = "rocprofv3/fsdp-908_results.json.gz";

/// A process with a record of every domain; `{P}` is its number.
const PROCESS: &str = r#"{
    "metadata": {"pid": {P}, "command": ["python", "train.py"], "config": {"group_by_queue": false}},
    "agents": [
        {"id": {"handle": 100}, "type": 1, "node_id": 0, "cpu_cores_count": 64, "name": "EPYC", "hive_id": 18446744073709551615},
        {"id": {"handle": 101}, "type": 2, "node_id": 1, "cu_count": 304, "name": "gfx942", "product_name": "MI300X"}
    ],
    "counters": [{"id": {"handle": 7}, "name": "SQ_WAVES"}, {"id": {"handle": 8}, "name": "GRBM_COUNT"}],
    "strings": {
        "buffer_records": [
            {"kind": "NONE", "operations": []},
            {"kind": "HIP_RUNTIME_API", "operations": ["hipFree", "hipLaunchKernel"]},
            {"kind": "MARKER_CORE_API", "operations": ["roctxMarkA", "roctxRangePushA"]},
            {"kind": "MEMORY_COPY", "operations": ["NONE", "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST"]},
            {"kind": "MEMORY_ALLOCATION", "operations": ["NONE", "MEMORY_ALLOCATION_ALLOCATE", "MEMORY_ALLOCATION_FREE"]},
            {"kind": "SCRATCH_MEMORY", "operations": ["NONE", "SCRATCH_MEMORY_ALLOC"]}
        ],
        "marker_api": [{"key": 5, "value": "forward \"pass\""}],
        "correlation_id": {"external": [{"key": 77, "value": "my step"}]}
    },
    "kernel_symbols": [
        {"kernel_id": 0, "formatted_kernel_name": "0"},
        {"kernel_id": 9, "formatted_kernel_name": "gemm(int)", "kernel_name": "_Z4gemmi.kd"},
        {"kernel_id": 12, "kernel_name": "conv.kd"}
    ],
    "callback_records": {"counter_collection": [
        {"thread_id": 3, "stream_id": {"handle": 2}, "dispatch_data": {"start_timestamp": 1000, "end_timestamp": 1500,
            "correlation_id": {"internal": 1}, "dispatch_info": {"agent_id": {"handle": 101}, "kernel_id": 9}},
         "records": [{"counter_id": {"handle": 7}, "value": 2.5}, {"counter_id": {"handle": 7}, "value": 1.5}, {"counter_id": {"handle": 8}, "value": 10}]},
        {"dispatch_data": {"start_timestamp": 9000, "end_timestamp": 9100, "dispatch_info": {"agent_id": {"handle": 101}, "kernel_id": 9}},
         "records": [{"counter_id": {"handle": 7}, "value": 6}]}
    ]},
    "buffer_records": {
        "kernel_dispatch": [
            {"kind": 9, "thread_id": 3, "correlation_id": {"internal": 1, "external": 0}, "start_timestamp": 1000, "end_timestamp": 1500,
             "dispatch_info": {"agent_id": {"handle": 101}, "queue_id": {"handle": 4}, "kernel_id": 9, "group_segment_size": 512,
             "workgroup_size": {"x": 64, "y": 1, "z": 1}, "grid_size": {"x": 128, "y": 2, "z": 1}}, "stream_id": {"handle": 2}},
            {"correlation_id": {"internal": 2, "external": 77}, "start_timestamp": 2000, "end_timestamp": 2100,
             "dispatch_info": {"agent_id": {"handle": 101}, "queue_id": {"handle": 4}, "kernel_id": 12}},
            {"correlation_id": {"internal": 3}, "start_timestamp": 3000, "end_timestamp": 2900,
             "dispatch_info": {"agent_id": {"handle": 101}, "queue_id": {"handle": 4}, "kernel_id": 99}},
            {"correlation_id": {"internal": 4}, "start_timestamp": 3000}
        ],
        "hip_api": [{"kind": 1, "operation": 1, "thread_id": 3, "correlation_id": {"internal": 1}, "start_timestamp": 900, "end_timestamp": 950}],
        "marker_api": [{"kind": 2, "operation": 1, "thread_id": 3, "correlation_id": {"internal": 5}, "start_timestamp": 800, "end_timestamp": 2500}],
        "memory_copy": [{"kind": 3, "operation": 2, "correlation_id": {"internal": 6}, "start_timestamp": 4000, "end_timestamp": 4400,
            "src_agent_id": {"handle": 101}, "dst_agent_id": {"handle": 100}, "bytes": 4096, "stream_id": {"handle": 2}}],
        "memory_allocation": [
            {"kind": 4, "operation": 2, "start_timestamp": 600, "end_timestamp": 700, "agent_id": {"handle": 0}, "address": "0xff", "allocation_size": 0},
            {"kind": 4, "operation": 1, "start_timestamp": 100, "end_timestamp": 200, "agent_id": {"handle": 101}, "address": {"handle": "0xff"}, "allocation_size": 64}
        ],
        "scratch_memory": [{"kind": 5, "operation": 1, "thread_id": 3, "agent_id": {"handle": 101}, "queue_id": {"handle": 4}, "start_timestamp": 300, "end_timestamp": 350}],
        "pc_sample_host_trap": [{"record": {}}, {"record": {}}]
    }
}"#;

fn made(processes: &[&str]) -> String {
    format!("{{\"rocprofiler-sdk-tool\": [{}]}}", processes.join(","))
}

fn process(pid: &str) -> String {
    PROCESS.replace("{P}", pid)
}

#[test]
fn a_real_run_gives_its_figures() {
    let imported = fixture(REAL);
    let sums = sums(&imported, SliceKind::Kernel);
    assert_eq!((imported.trace.len(), sums.len()), (43915, 80));
    let time: u64 = sums.iter().map(|sum| sum.2).sum();
    assert_eq!(time, 4_441_741_378);
    assert_eq!(
        sums[0],
        (
            "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)".to_owned(),
            1310,
            4_158_756_678
        )
    );
    assert!((sums[0].2 as f64 / time as f64 - 0.936_290).abs() < 1e-6);
    assert_eq!((sums[1].1, sums[1].2), (5450, 23_588_027));
    assert_eq!((sums[2].1, sums[2].2), (4650, 19_144_659));
    assert_eq!(imported.trace.tracks.len(), 567);
    let track = &imported.trace.tracks[0];
    assert_eq!(
        (track.device, track.group.as_str(), track.name.as_str()),
        (Some(2), "GPU 2", "stream 0")
    );
    assert_eq!(imported.trace.slice(0).link, 1);
    let gpus: Vec<&str> = imported
        .facts
        .iter()
        .filter(|fact| fact.0.starts_with("GPU"))
        .map(|fact| fact.1.as_str())
        .collect();
    assert_eq!(gpus, ["AMD Instinct MI350X (gfx950), 256 compute units"; 8]);
    assert_eq!(
        imported
            .facts
            .iter()
            .filter(|f| f.0.starts_with("CPU"))
            .count(),
        2
    );
    let command = imported.tool.command.unwrap();
    assert!(
        command.ends_with("--override training.max_steps=50"),
        "{command}"
    );
    assert_eq!(imported.tool.name, "rocprofv3");
    assert!(imported.notes.is_empty(), "{:?}", imported.notes);
}

#[test]
fn a_real_run_that_is_cut_is_read_up_to_the_cut() {
    let packed = fs::read(path(REAL)).unwrap();
    let cut = bytes("cut.json.gz", &packed[..packed.len() / 2]).unwrap();
    assert!(cut.trace.len() > 1000 && cut.trace.len() < 43915);
    assert!(cut.notes[0].contains("it is cut off"), "{:?}", cut.notes);

    let mut whole = Vec::new();
    GzDecoder::new(packed.as_slice())
        .read_to_end(&mut whole)
        .unwrap();
    let damaged = whole.len() * 3 / 4;
    whole[damaged..damaged + 40].fill(b'}');
    let damaged = bytes("damaged.json", &whole).unwrap();
    assert!(damaged.trace.len() > cut.trace.len() / 2);
    assert!(
        damaged.notes[0].contains("damaged in line 1"),
        "{:?}",
        damaged.notes
    );
}

#[test]
fn every_domain_is_taken() {
    let imported = text("a.json", &made(&[&process("42")]));
    use SliceKind::{Call, Copy, Kernel, Range};
    let (stream, queue) = ("GPU 1/stream 2".to_owned(), "GPU 1/queue 4".to_owned());
    let thread = "process 42/thread 3".to_owned();
    assert_eq!(
        slices(&imported),
        [
            (Kernel, "gemm(int)", stream.clone(), 1000, 500, 1),
            (Kernel, "my step", queue.clone(), 2000, 100, 2),
            (Kernel, "kernel 99", queue, 3000, 0, 3),
            (Call, "hipLaunchKernel", thread.clone(), 900, 50, 1),
            (Range, "forward \"pass\"", thread.clone(), 800, 1700, 5),
            (Copy, "MEMORY_COPY_DEVICE_TO_HOST", stream, 4000, 400, 6),
            (Call, "SCRATCH_MEMORY_ALLOC", thread, 300, 50, 0),
            (
                Kernel,
                "gemm(int)",
                "GPU 1/queue 0".to_owned(),
                9000,
                100,
                0
            ),
        ]
    );
    let detail = |index| imported.trace.names.get(imported.trace.slice(index).detail);
    assert_eq!(detail(0), "grid 128x2x1, workgroup 64x1x1, LDS 512");
    assert_eq!(detail(5), "from GPU 1 to CPU 0, 4096 bytes");
    let counters: Vec<(&str, u64, f64)> = imported
        .counters
        .iter()
        .map(|counter| (counter.name.as_str(), counter.launches, counter.sum))
        .collect();
    assert_eq!(counters, [("SQ_WAVES", 2, 10.0), ("GRBM_COUNT", 1, 10.0)]);
    let facts: Vec<&str> = imported.facts.iter().map(|fact| fact.1.as_str()).collect();
    assert_eq!(
        facts,
        ["42", "EPYC, 64 cores", "MI300X (gfx942), 304 compute units"]
    );
    assert_eq!(imported.tool.command.as_deref(), Some("python train.py"));
    assert!(
        imported
            .notes
            .iter()
            .any(|note| note.contains("2 of pc_sample_host_trap"))
    );
    assert!(
        imported
            .notes
            .iter()
            .any(|note| note.starts_with("1 record"))
    );
    assert!(
        imported
            .notes
            .iter()
            .any(|note| note.contains("had the end before the beginning"))
    );
}

#[test]
fn memory_is_told_by_address() {
    let imported = text(
        "a.json",
        &made(&[&process("42").replace(r#"{"handle": "0xff"}"#, r#""0xff""#)]),
    );
    let memory: Vec<(i64, Option<u32>, i64)> = imported
        .trace
        .memory
        .iter()
        .map(|event| (event.at_ns, event.device, event.change))
        .collect();
    assert_eq!(memory, [(200, Some(1), 64), (700, Some(1), -64)]);
}

#[test]
fn two_processes_do_not_mix_up_their_links() {
    let (one, two) = (
        process("42"),
        process("43")
            .replace("SQ_WAVES", "OTHER")
            .replace("1000", "1001"),
    );
    let imported = text("a.json", &made(&[&one, &two]));
    assert_eq!(imported.trace.len(), 16);
    let launches: Vec<u64> = imported
        .trace
        .slices()
        .filter(|slice| slice.kind == SliceKind::Call && slice.link > 0)
        .map(|slice| slice.link)
        .collect();
    assert_eq!(launches.len(), 2);
    assert_ne!(launches[0], launches[1]);
    let groups: Vec<&str> = imported
        .trace
        .tracks
        .iter()
        .map(|track| track.group.as_str())
        .collect();
    assert!(groups.contains(&"process 42") && groups.contains(&"process 43"));
    assert!(
        imported
            .counters
            .iter()
            .any(|counter| counter.name == "OTHER")
    );
}

#[test]
fn names_may_come_after_their_records() {
    let whole: serde_json::Value = serde_json::from_str(&process("42")).unwrap();
    // Keys of a value are in the order of the alphabet.
    let sorted = made(&[&whole.to_string()]);
    assert!(sorted.find("buffer_records").unwrap() < sorted.find("kernel_symbols").unwrap());
    let (sorted, straight) = (
        text("a.json", &sorted),
        text("a.json", &made(&[&process("42")])),
    );
    assert_eq!(slices(&sorted).len(), slices(&straight).len());
    assert_eq!(
        sums(&sorted, SliceKind::Kernel),
        sums(&straight, SliceKind::Kernel)
    );
    assert_eq!(sorted.counters.len(), straight.counters.len());
}

#[test]
fn one_process_needs_no_list() {
    let imported = text(
        "a.json",
        &format!("{{\"rocprofiler-sdk-tool\": {}}}", process("1")),
    );
    assert_eq!(imported.trace.len(), 8);
    let empty = text("a.json", "{\"rocprofiler-sdk-tool\": []}");
    assert!(empty.is_empty() && empty.notes.len() == 1);
}

#[test]
fn a_file_that_is_cut_anywhere_is_no_accident() {
    let whole = made(&[&process("42")]);
    let mut most = 0;
    for length in (30..whole.len()).step_by(11) {
        match bytes("a.json", &whole.as_bytes()[..length]) {
            Ok(imported) => {
                assert!(imported.notes.iter().any(|note| note.contains("cut off")));
                most = most.max(imported.trace.len());
            }
            Err(error) => assert!(matches!(error, ImportError::Unusable { .. }), "{error}"),
        }
    }
    assert_eq!(most, 8);
    for garbage in [
        "{\"rocprofiler-sdk-tool\": [[]]}",
        "{\"rocprofiler-sdk-tool\": \"no\"}",
        "{\"rocprofiler-sdk-tool\": [{\"buffer_records\": 5}]}",
        "{\"rocprofiler-sdk-tool\": [{\"strings\": {\"buffer_records\": {}}}]}",
    ] {
        let error = bytes("a.json", garbage.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("damaged"), "{error}");
    }
    bytes("a.json", b"{\"rocprofiler-sdk-tool\": [{\"buffer_records\": {\"hip_api\": null, \"kernel_dispatch\": {\"a\": 1}}}]}").unwrap();
}

#[test]
fn whoever_waits_can_stop() {
    let watch = ReadProgress::default();
    watch.cancel.cancel();
    let error = read(&path(REAL), Limits::default(), &watch).unwrap_err();
    assert!(matches!(error, ImportError::Cancelled), "{error}");
    let small = read(
        &path(REAL),
        Limits {
            unpacked: 5_000_000,
            ..Limits::default()
        },
        &ReadProgress::default(),
    )
    .unwrap_err();
    assert!(matches!(small, ImportError::TooLarge { .. }), "{small}");
}
