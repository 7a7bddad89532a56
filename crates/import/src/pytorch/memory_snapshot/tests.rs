//! A snapshot of a made-up training, one without a history, a small one in every protocol, and damaged ones.

use super::*;
use crate::records::summary;
use crate::testing;
use powerband_core::domain::profile::Profile;
use powerband_core::domain::trace::SliceKind;

const MIB: u64 = 1 << 20;
const USER: &str = "forward (net/model.py:41) < <module> (usera/train.py:7)";
fn fixture(name: &str) -> Imported {
    testing::fixture(&format!("pytorch-memory/{name}"))
}

fn profile(imported: &Imported) -> Profile {
    summary::profile(imported, "snapshot")
}

fn fact<'a>(imported: &'a Imported, name: &str) -> &'a str {
    let found = imported.facts.iter().find(|(known, _)| known == name);
    &found.unwrap().1
}

#[test]
fn a_training_has_its_peak_with_what_was_in_use() {
    // The script that made the file counted the same.
    let imported = fixture("made-up-training.pickle.gz");
    let profile = profile(&imported);
    let [memory] = &profile.memory[..] else {
        panic!("{:?}", profile.memory)
    };
    assert_eq!(
        (memory.device.as_str(), memory.peak_bytes),
        ("GPU 0", 114_460_132)
    );
    let at_peak: Vec<(&str, u64)> = memory
        .at_peak
        .iter()
        .map(|(name, bytes)| (name.as_str(), *bytes))
        .collect();
    // Two operators allocate activations below the same lines.
    let expected = [
        (
            "forward (model/block.py:31) < forward (model/net.py:18)",
            49_083_863 + 1_770_724,
        ),
        (
            "__init__ (model/net.py:9) < <module> (sketch/train.py:40)",
            28_897_376,
        ),
        (
            "train_step (sketch/train.py:27) < <module> (sketch/train.py:40)",
            23_866_769,
        ),
        ("allocated before the recording", 8_305_649),
        ("MmBackward0", 2_535_751),
    ];
    assert_eq!(at_peak, expected);
    assert_eq!(memory.over_time[0], (0, 40_053_606));
    let peak = memory.over_time.iter().max_by_key(|point| point.1);
    assert_eq!(peak, Some(&(8_733_000, 114_460_132)));
    // Each allocation and each free, and what was there before.
    assert_eq!(imported.trace.memory.len(), 156 + 146 + 27);
    let changes = imported.trace.memory.iter().map(|event| event.change);
    assert_eq!(changes.sum::<i64>(), 61_069_794);
    let facts = [
        ("GPU 0 peak", "109 MiB"),
        ("GPU 0 reserved at the end", "128 MiB in 10 segments"),
        (
            "GPU 0 in use at the end",
            "58.2 MiB, and 8.53 KiB that sizes were rounded up by",
        ),
        (
            "GPU 0 free in segments",
            "69.8 MiB, 54.5 % of what is reserved; 47.8 MiB of it in segments in use, which are fragmented; largest free block 20.0 MiB",
        ),
    ];
    for (name, value) in facts {
        assert_eq!(fact(&imported, name), value);
    }
    let failed = "GPU 0 ran out of memory: 1 allocation failed, the largest of 300 MiB while the device had 25.0 MiB free";
    assert_eq!(imported.notes, [failed]);
    let steps = testing::sums(&imported, SliceKind::Range);
    assert_eq!(
        steps,
        [("Optimizer.step#Adam.step".to_owned(), 3, 1_869_000)]
    );
}

#[test]
fn a_list_of_segments_alone_has_what_was_in_use_and_no_curve() {
    // As older programs pickled it: blocks have neither addresses nor stacks.
    let imported = fixture("without-history.pickle.gz");
    assert!(imported.trace.memory.is_empty());
    let profile = profile(&imported);
    let memory = &profile.memory[0];
    assert_eq!(memory.peak_bytes, 61_078_528);
    let stacks = [("without a stack".to_owned(), 61_078_528)];
    assert_eq!(memory.at_peak, stacks);
    let note = "No allocation of GPU 0 was recorded over time";
    assert!(imported.notes[0].starts_with(note), "{:?}", imported.notes);
}

#[test]
fn every_protocol_has_the_same_snapshot() {
    for protocol in 0..=5 {
        let imported = fixture(&format!("small-protocol{protocol}.pickle"));
        let profile = profile(&imported);
        let [memory] = &profile.memory[..] else {
            panic!("{:?}", profile.memory)
        };
        assert_eq!(
            (memory.device.as_str(), memory.peak_bytes),
            ("GPU 1", 17 * MIB - 100)
        );
        let at_peak: Vec<(&str, u64)> = memory
            .at_peak
            .iter()
            .map(|(name, bytes)| (name.as_str(), *bytes))
            .collect();
        let expected = [
            (USER, 14 * MIB - 100),
            ("mul_Tensor", 2 * MIB),
            ("linear (nn/functional.py:10)", MIB),
        ];
        assert_eq!(at_peak, expected);
        // What is in use before the first event follows from the end and from what is given back.
        let levels: Vec<u64> = memory
            .over_time
            .iter()
            .map(|(_, bytes)| bytes.div_ceil(MIB))
            .collect();
        assert_eq!(levels, [10, 6, 14, 16, 17, 15]);
        assert_eq!(memory.over_time[4].0, 5000);
        let facts = [
            ("GPU 1 peak", "17.0 MiB"),
            (
                "GPU 1 reserved at the end",
                "40.0 MiB in 2 segments, 50.0 MiB at most",
            ),
            (
                "GPU 1 in use at the end",
                "15.0 MiB, and 100 B that sizes were rounded up by",
            ),
            (
                "GPU 1 free in segments",
                "25.0 MiB, 62.5 % of what is reserved; 25.0 MiB of it in segments in use, which are fragmented; largest free block 10.0 MiB",
            ),
            ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"),
            ("expandable segments", "yes"),
        ];
        for (name, value) in facts {
            assert_eq!(fact(&imported, name), value);
        }
        assert_eq!(
            imported.notes,
            [
                "GPU 1 ran out of memory: 1 allocation failed, the largest of 64.0 MiB while the device had 3.00 MiB free"
            ]
        );
    }
}

#[test]
fn a_snapshot_cut_anywhere_has_what_stands_before() {
    let whole = testing::raw("pytorch-memory/small-protocol4.pickle");
    let mut peaks = Vec::new();
    for length in 0..whole.len() {
        match testing::bytes("a.pickle", &whole[..length]) {
            Ok(imported) => {
                assert!(
                    imported
                        .notes
                        .iter()
                        .any(|note| note.contains("is cut off"))
                );
                let profile = profile(&imported);
                peaks.extend(profile.memory.first().map(|memory| memory.peak_bytes));
            }
            Err(error) => assert!(!error.to_string().contains("panic")),
        }
    }
    assert!(
        peaks.len() > 1000 && peaks.ends_with(&[17 * MIB - 100]),
        "{peaks:?}"
    );
    for protocol in [0, 2, 5] {
        let name = format!("pytorch-memory/small-protocol{protocol}.pickle");
        testing::survives(&FORMAT, &testing::raw(&name));
    }
}

#[test]
fn what_would_run_code_is_refused_with_its_name() {
    let whole = testing::raw("pytorch-memory/small-protocol4.pickle");
    // Before the last byte, which ends a pickle.
    let call = b"\x8c\x02os\x8c\x06system\x93\x8c\x02ls\x85R.";
    let bytes = [&whole[..whole.len() - 1], call].concat();
    let said = testing::bytes("a.pickle", &bytes).unwrap_err().to_string();
    assert!(said.contains("is a memory snapshot of PyTorch, and cannot be used: it asks for os.system to be called"), "{said}");
    let empty = b"\x80\x04}\x8c\x0asegments\0\0\x8c\x0atotal_sizes";
    let said = testing::bytes("a.pickle", empty).unwrap_err().to_string();
    assert!(said.contains("before its first segment"), "{said}");
}

#[test]
fn lists_shared_by_many_are_looked_at_once() {
    // A list of a thousand blocks that a hundred thousand segments have in common.
    let mut bytes =
        b"\x80\x04}(\x8c\x08segments](}\x94(\x8c\x0atotal_sizeK\x09\x8c\x06blocks](".to_vec();
    for _ in 0..1000 {
        bytes.extend(b"}(\x8c\x05state\x8c\x10active_allocated\x8c\x04sizeK\x05u");
    }
    bytes.extend(b"eu");
    bytes.extend(b"h\x00".repeat(100_000));
    bytes.extend(b"eu.");
    let imported = testing::bytes("a.pickle", &bytes).unwrap();
    assert_eq!(imported.memory[0].peak_bytes, 5000);
    // Nothing was recorded over time, so there is no curve.
    assert!(imported.trace.memory.is_empty());
    assert!(imported.notes[0].starts_with("No allocation of GPU 0 was recorded over time"));
    assert_eq!(
        imported.memory[0].at_peak,
        [("without a stack".to_owned(), 5000)]
    );
}

/// Reads the file that `POWERBAND_SNAPSHOT` names and prints how long that took, and the most memory that it took.
#[test]
#[ignore = "measures how long reading a large file takes"]
fn a_large_snapshot_is_read_quickly() {
    let path = std::env::var("POWERBAND_SNAPSHOT").unwrap();
    let began = std::time::Instant::now();
    let imported = testing::read_path(std::path::Path::new(&path)).unwrap();
    let read = began.elapsed();
    let profile = profile(&imported);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    let told = format!(
        "read in {read:?}, all in {:?}, {peak:?}, {} events, {:?}\n",
        began.elapsed(),
        imported.trace.memory.len(),
        profile.memory[0].at_peak.first()
    );
    std::io::Write::write_all(&mut std::io::stderr(), told.as_bytes()).unwrap();
}
