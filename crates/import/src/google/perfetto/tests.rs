//! Traces of Perfetto: one in the layout of rocprofv3, and packets made for each case.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::*;
use crate::records::summary;
use crate::testing::{bytes, fixture, imported, raw, read_by, slices, sum, survives};
use powerband_core::domain::trace::SliceKind;

const ROCPROF: &str = "perfetto/rocprofv3.pftrace";

/// A number of protobuf.
fn number(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let byte = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            bytes.push(byte);
            return bytes;
        }
        bytes.push(byte | 0x80);
    }
}

/// A field with a number.
fn n(field: u64, value: u64) -> Vec<u8> {
    [number(field << 3), number(value)].concat()
}

/// A field with bytes.
fn b(field: u64, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    [
        number(field << 3 | 2),
        number(value.len() as u64),
        value.to_vec(),
    ]
    .concat()
}

/// A packet of sequence 1 with some fields.
fn packet(fields: &[Vec<u8>]) -> Vec<u8> {
    b(1, [n(10, 1), fields.concat()].concat())
}

/// A packet of a sequence with an event of a track at a time.
fn event(sequence: u64, time: u64, track: u64, kind: u64, more: &[Vec<u8>]) -> Vec<u8> {
    let event = [n(9, kind), n(11, track), more.concat()].concat();
    b(1, [n(10, sequence), n(8, time), b(11, event)].concat())
}

/// Kind, name, track, start and length of what some packets hold.
fn read_packets(packets: &[Vec<u8>]) -> (Vec<String>, Vec<String>) {
    let read = imported(packets.concat()).unwrap();
    assert_eq!(read.format, "perfetto");
    let slices = slices(&read).into_iter();
    let slices = slices.map(|(kind, name, track, start, took, _)| {
        format!("{} {name} {track} {start} {took}", kind.title())
    });
    (slices.collect(), read.notes.clone())
}

#[test]
fn kernels_and_calls_of_rocprofv3_are_on_their_devices_and_threads() {
    let read = fixture(ROCPROF);
    assert_eq!(
        (read.format, read.tool.name.as_str()),
        ("perfetto", "rocprofv3")
    );
    assert_eq!(sum(&read, SliceKind::Kernel), (6, 105_000));
    assert_eq!(sum(&read, SliceKind::Copy), (3, 15_000));
    assert_eq!(sum(&read, SliceKind::Call), (9, 27_000));
    assert_eq!(sum(&read, SliceKind::Range), (3, 180_000));
    let profile = summary::profile(&read, "run");
    let device = &profile.devices[0];
    assert_eq!((device.device.as_str(), device.busy_ns), ("GPU 4", 105_000));
    assert_eq!(profile.launches.unwrap().count, 6);
    let tracks = read.trace.tracks.iter();
    let mut tracks: Vec<String> = tracks
        .map(|track| format!("{}/{}", track.group, track.name))
        .collect();
    tracks.sort();
    let expected = [
        "GPU 4/stream 1",
        "GPU 4/stream 2",
        "process 4711/thread 4711",
        "process 4711/thread 4720",
    ];
    assert_eq!(tracks, expected);
    let names = &read.trace.names;
    let kernel = read
        .trace
        .slices()
        .find(|slice| slice.kind == SliceKind::Kernel);
    let kernel = kernel.unwrap();
    assert_eq!(
        names.get(kernel.detail),
        "grid 65536, workgroup 256, LDS 1024"
    );
    assert_eq!(kernel.start_ns, 1_000_000_012_000);
    let copy = read
        .trace
        .slices()
        .find(|slice| slice.kind == SliceKind::Copy);
    let detail = names.get(copy.unwrap().detail);
    assert_eq!(detail, "from Agent-0 to Agent-4, 4096 bytes");
    let relu = read
        .trace
        .slices()
        .any(|slice| names.get(slice.name) == "relu_kernel");
    assert!(relu && read.trace.args().bytes() > 0);
    let note = "rocprofv3.pftrace also has packets that are left out, since slices alone are read: 4 of counters";
    assert_eq!(read.notes, [note]);
}

#[test]
fn kernels_on_queues_have_the_agent_of_their_track() {
    let queue = [n(1, 5), b(2, "GPU Kernel Dispatch [1] Queue 3")].concat();
    let arg = |key: &str, value: u64| b(4, [b(10, key), n(3, value)].concat());
    let args = [
        b(22, "rocm_kernel_dispatch"),
        b(23, "k.kd"),
        arg("queue", 3),
        arg("stream_id", 9),
    ];
    let stream = [n(1, 6), b(2, "HIP Activity Stream 9")].concat();
    let (slices, notes) = read_packets(&[
        packet(&[b(60, queue)]),
        packet(&[b(60, stream)]),
        event(1, 10, 5, 1, &args),
        event(1, 30, 5, 2, &[]),
        event(1, 40, 6, 1, &args),
        event(1, 60, 6, 2, &[]),
    ]);
    let expected = [
        "kernel k GPU 1/queue 3 10 20",
        "kernel k GPU 0/stream 9 40 20",
    ];
    assert_eq!(slices, expected);
    assert!(notes[0].contains("does not have the GPU"), "{notes:?}");
}

#[test]
fn slices_of_any_program_lie_on_the_tracks_of_its_threads() {
    let process = [n(1, 1), b(3, [n(1, 7), b(2, "/usr/bin/demo")].concat())].concat();
    let thread = [
        n(1, 2),
        n(5, 1),
        b(4, [n(1, 7), n(2, 8), b(5, "worker")].concat()),
    ]
    .concat();
    let own = [n(1, 3), n(5, 2), b(2, "queue")].concat();
    let (slices, notes) = read_packets(&[
        event(1, 100, 2, 1, &[b(23, "outer")]),
        event(1, 110, 2, 1, &[b(22, "kernel"), b(23, "inner")]),
        event(1, 150, 2, 2, &[]),
        event(1, 200, 2, 2, &[]),
        event(1, 210, 3, 1, &[b(23, "waits")]),
        event(1, 220, 3, 2, &[]),
        event(1, 230, 99, 3, &[b(23, "mark")]),
        event(1, 240, 99, 2, &[]),
        // Descriptions may come last.
        packet(&[b(60, process)]),
        packet(&[b(60, thread)]),
        packet(&[b(60, own)]),
        packet(&[b(1, "")]),
        packet(&[b(36, "marker")]),
    ]);
    let expected = [
        "kernel inner demo 7/worker 110 40",
        "operator outer demo 7/worker 100 100",
        "operator waits demo 7/queue 210 10",
    ];
    assert_eq!(slices, expected);
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].starts_with("1 event of file had a beginning without an end"));
    assert!(
        notes[1].ends_with("1 of ftrace, 1 of instants"),
        "{}",
        notes[1]
    );
}

#[test]
fn what_begins_in_one_sequence_may_end_in_another() {
    let (slices, notes) = read_packets(&[
        event(2, 50, 4, 2, &[]),
        event(2, 90, 4, 2, &[]),
        event(1, 10, 4, 1, &[b(23, "a")]),
        event(1, 20, 4, 1, &[b(23, "b")]),
    ]);
    let expected = [
        "operator b global tracks/track 4 20 30",
        "operator a global tracks/track 4 10 80",
    ];
    assert_eq!(
        (slices, notes),
        (expected.map(str::to_owned).to_vec(), vec![])
    );
}

#[test]
fn texts_and_defaults_hold_until_they_are_cleared() {
    let name = |text: &str| b(12, b(2, [n(1, 1), b(2, text)].concat()));
    let default_track = b(59, b(11, n(11, 6)));
    let begin = |time| [n(8, time), n(13, 2), b(11, [n(9, 1), n(10, 1)].concat())].concat();
    let end = |time| [n(8, time), n(13, 2), b(11, n(9, 2))].concat();
    let (slices, notes) = read_packets(&[
        packet(&[n(13, 1), name("first"), default_track.clone()]),
        packet(&[begin(10)]),
        packet(&[end(20)]),
        packet(&[n(41, 1), name("second")]),
        packet(&[begin(30)]),
        packet(&[end(40)]),
        // Two packets whose texts are lost, before one that clears.
        packet(&[n(42, 1), begin(50)]),
        packet(&[end(60)]),
        packet(&[n(42, 1), n(13, 1), name("third"), default_track]),
        packet(&[begin(70)]),
        packet(&[end(75)]),
    ]);
    let expected = [
        "operator first global tracks/track 6 10 10",
        "operator second global tracks/track 0 30 10",
        "operator third global tracks/track 6 70 5",
    ];
    assert_eq!(slices, expected);
    assert!(
        notes[0].starts_with("2 packets of file refer to packets before"),
        "{notes:?}"
    );
}

#[test]
fn packed_packets_and_chrome_s_older_events_are_read() {
    let legacy = b(6, [n(2, u64::from(b'X')), n(3, 2)].concat());
    let inner = [
        b(
            1,
            [n(8, 5), b(11, [b(23, "packed"), legacy].concat())].concat(),
        ),
        packet(&[b(50, "deeper")]),
    ];
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&inner.concat()).unwrap();
    let packed = encoder.finish().unwrap();
    let (slices, notes) = read_packets(&[packet(&[b(50, &packed)]), packet(&[b(50, "no zlib")])]);
    assert_eq!(slices, ["operator packed global tracks/track 0 5 2000"]);
    assert_eq!(
        notes,
        ["1 packet of file could not be read: cut off or damaged"]
    );
}

#[test]
fn events_without_a_time_are_counted() {
    let clock = |id| n(58, id);
    let begun = b(11, n(9, 1));
    let (slices, notes) = read_packets(&[
        packet(std::slice::from_ref(&begun)),
        packet(&[n(8, 5), clock(64), begun.clone()]),
        event(1, 5, 1, 3, &[]),
        packet(&[n(8, 5), clock(3), begun]),
    ]);
    assert!(slices.is_empty());
    assert_eq!(
        notes[0],
        "1 event of file had a beginning without an end, or an end without a beginning; left out"
    );
    assert_eq!(notes[1], "2 events of file had no time; left out");
    assert!(
        notes[2].starts_with("1 time of file are of a clock"),
        "{notes:?}"
    );
}

#[test]
fn lists_of_other_messages_are_none() {
    let node = b(1, [b(1, "conv1"), b(2, "Conv2D"), b(3, "input")].concat());
    let error = imported([node.clone(), node, b(1, b"\x0a\0")].concat()).unwrap_err();
    assert!(matches!(error, ImportError::Unknown { .. }), "{error}");
}

#[test]
fn a_file_that_is_cut_is_read_up_to_there() {
    let whole = raw(ROCPROF);
    let mut before = 0;
    for end in 0..whole.len() {
        match bytes("a.pftrace", &whole[..end]) {
            Ok(read) => {
                assert!(read.trace.len() >= before);
                before = read.trace.len();
            }
            Err(_) => assert!(before == 0, "{end}"),
        }
    }
    assert_eq!(before, 21);
}

#[test]
fn no_damage_makes_it_panic() {
    survives(&FORMAT, &raw(ROCPROF));
    let nested = (0..60).fold(Vec::new(), |inner, _| b(1, inner));
    assert!(read_by(&FORMAT, &nested).unwrap().trace.is_empty());
    // A packet of 2^63 bytes, one whose inner length is larger than itself, and a number of eleven bytes.
    let long = b"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x08";
    assert!(read_by(&FORMAT, long).is_err());
    let odd = [packet(&[n(8, 1)]), b(1, b"\x5a\x7f\x48"), b(1, [0xff; 11])].concat();
    let notes = imported(&odd).unwrap().notes;
    assert_eq!(
        notes,
        ["2 packets of file could not be read: cut off or damaged"]
    );
}
