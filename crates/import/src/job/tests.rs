//! Tests of several ranks as one profile.

use super::*;
use crate::records::summary;
use crate::session;
use powerband_core::domain::trace::{MemoryEvent, Slice, SliceKind, Track};

/// A rank of two whose all-reduce of each of five steps begins at `starts` and ends at 90.
fn rank(rank: u32, host: &str, starts: i64, clock_ns: i64) -> (JobRank, Imported) {
    let mut imported = Imported {
        format: "pytorch",
        ..Imported::default()
    };
    imported.fact(HOST_FACT, host);
    imported.fact(RANK_FACT, format!("{rank} of 3"));
    let trace = &mut imported.trace;
    let host = trace.track(Track {
        group: "python".to_owned(),
        ..Track::default()
    });
    let device = trace.track(Track {
        device: Some(rank % 2),
        group: format!("GPU {}", rank % 2),
        name: "stream 7".to_owned(),
    });
    for step in 0..5 {
        let at = clock_ns + 100 * step;
        let name = trace.names.number(&format!("ProfilerStep#{step}"));
        trace.push(Slice::new(SliceKind::Range, name, host, at, 100));
        let launch = trace.names.number("cudaLaunchKernel");
        let call = Slice::new(SliceKind::Call, launch, host, at + 1, 2);
        let link = step as u64 + 1;
        trace.push(Slice { link, ..call });
        let name = trace
            .names
            .number("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)");
        let length = (90 - starts) as u64;
        let kernel = Slice::new(SliceKind::Kernel, name, device, at + starts, length);
        trace.push(Slice { link, ..kernel });
    }
    trace.memory.push(MemoryEvent {
        at_ns: clock_ns,
        device: Some(rank % 2),
        change: 8,
        total: None,
        track: None,
        op: 0,
    });
    let rank = JobRank {
        rank,
        n_ranks: Some(3),
    };
    (rank, imported)
}

#[test]
fn ranks_have_groups_of_their_own_and_wait_for_the_last_one() {
    let job = merge(vec![rank(0, "a", 10, 0), rank(2, "a", 60, 0)]);
    let groups: Vec<&str> = job
        .trace
        .tracks
        .iter()
        .map(|track| track.group.as_str())
        .collect();
    assert_eq!(
        groups,
        [
            "rank 0 · python",
            "rank 0 · GPU 0",
            "rank 2 · python",
            "rank 2 · GPU 0"
        ]
    );
    let profile = summary::profile(&job, "job");
    let devices: Vec<&str> = profile
        .devices
        .iter()
        .map(|device| device.device.as_str())
        .collect();
    assert_eq!(devices, ["rank 0 · GPU 0", "rank 2 · GPU 0"]);
    let memory: Vec<&str> = profile
        .memory
        .iter()
        .map(|memory| memory.device.as_str())
        .collect();
    assert_eq!(memory, devices);
    // Each kernel has the launch of its own rank.
    assert_eq!(profile.launches.unwrap().count, 10);
    let times = job.job.unwrap();
    let [first, last] = times.ranks.as_slice() else {
        panic!("{times:?}");
    };
    assert_eq!((first.waited_ns, first.last, first.matched), (250, 0, 5));
    assert_eq!(
        (last.waited_ns, last.last, last.kept_waiting_ns),
        (0, 5, 250)
    );
    assert_eq!(
        (last.steps, last.steps_last, last.step_ns),
        (5, 5, Some(100))
    );
    assert_eq!((first.collective_ns, first.exposed_ns), (400, 400));
    let reduce = &times.collectives[0];
    assert_eq!(
        reduce.name,
        "all-reduce, ncclDevKernel_AllReduce_Sum_f32_RING_LL"
    );
    assert_eq!(
        (reduce.calls, reduce.skew_ns, reduce.exchange_ns),
        (5, 50, 30)
    );
    assert_eq!((reduce.waited_ns, reduce.often_last), (250, (2, 5)));
    assert!(
        job.notes
            .iter()
            .any(|note| note.contains("rank 1 are missing")),
        "{:?}",
        job.notes
    );
    assert!(!job.facts.iter().any(|(name, _)| name == RANK_FACT));
}

#[test]
fn clocks_of_two_machines_are_set_and_that_is_said() {
    let job = merge(vec![rank(0, "a", 10, 0), rank(1, "b", 60, -7_000)]);
    let times = job.job.unwrap();
    assert_eq!(
        times
            .ranks
            .iter()
            .map(|rank| rank.waited_ns)
            .collect::<Vec<_>>(),
        [250, 0]
    );
    assert_eq!(
        job.trace.extent().map(|(first, last)| last - first),
        Some(500)
    );
    assert!(
        job.notes
            .iter()
            .any(|note| note.contains("differ by up to 7.00 µs")),
        "{:?}",
        job.notes
    );
    let memory: Vec<i64> = job.trace.memory.iter().map(|event| event.at_ns).collect();
    assert_eq!(memory[0], memory[1]);
}

#[test]
fn ranks_that_have_nothing_in_common_are_one_profile_without_waits() {
    let (number, mut other) = rank(1, "a", 10, 0);
    other.trace = Trace::default();
    let job = merge(vec![rank(0, "a", 10, 0), (number, other)]);
    assert!(job.job.is_some_and(|times| times.collectives.is_empty()));
    assert!(
        job.notes
            .iter()
            .any(|note| note.starts_with("No collective could be matched"))
    );
}

#[test]
fn files_of_bases_of_their_own_count_from_one() {
    let (number, mut other) = rank(1, "a", 60, 0);
    other.clock_base_ns = 1_000;
    other.trace.shift(-1_000);
    let job = merge(vec![rank(0, "a", 10, 0), (number, other)]);
    assert_eq!(job.job.map(|times| times.ranks[0].waited_ns), Some(250));
}

#[test]
fn one_rank_alone_stays_what_it_is() {
    let job = merge(vec![rank(0, "a", 10, 0)]);
    assert_eq!(job.trace.tracks[0].group, "python");
    assert!(job.job.is_none());
    assert!(merge(Vec::new()).is_empty());
}

#[test]
fn files_of_one_job_become_one_profile() {
    let folder = tempfile::tempdir().unwrap();
    let file = |rank: u32| {
        let path = folder.path().join(format!("rank{rank}.json"));
        let begins = 1_000 + 50 * rank;
        let event = |name: &str, category: &str, start: u32, end: u32, thread: u32| {
            format!(
                r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": 1, "tid": {thread}, "ts": {start}, "dur": {}}}"#,
                end - start
            )
        };
        let events = [
            event("ProfilerStep#1", "user_annotation", 1_000, 1_200, 1),
            event("gloo:all_reduce", "user_annotation", begins, 1_150, 2),
        ];
        let text = format!(
            r#"{{"schemaVersion": 1, "distributedInfo": {{"backend": "gloo", "rank": {rank}, "world_size": 2}}, "host_name": "a", "traceEvents": [{}]}}"#,
            events.join(",")
        );
        std::fs::write(&path, text).unwrap();
        path
    };
    let files = [file(1), file(0)];
    let read = session::import_files(
        &files,
        None,
        crate::reading::source::Limits::default(),
        &crate::reading::read_progress::ReadProgress::default(),
        "test",
    )
    .unwrap();
    let [profile] = read.session.profiles.as_slice() else {
        panic!("{:?}", read.session.profiles);
    };
    assert!(profile.name.ends_with(", 2 ranks"), "{}", profile.name);
    let job = profile.job.as_ref().unwrap();
    assert_eq!(job.n_ranks, Some(2));
    assert_eq!(job.ranks[0].waited_ns, 50_000);
    assert!(read.traces[0].tracks[0].group.starts_with("rank 0 · "));
}

#[test]
fn a_rank_that_waits_in_two_collectives_at_once_waits_once() {
    let with_gather = |(rank, mut part): (JobRank, Imported)| {
        let trace = &mut part.trace;
        let other = trace.track(Track {
            device: Some(rank.rank),
            group: format!("GPU {}", rank.rank),
            name: "stream 8".to_owned(),
        });
        let name = trace.names.number("ncclDevKernel_AllGather_RING_LL(x)");
        let kernels: Vec<Slice> = trace
            .slices()
            .filter(|slice| slice.kind == SliceKind::Kernel)
            .collect();
        for kernel in kernels {
            trace.push(Slice {
                name,
                track: other,
                ..kernel
            });
        }
        (rank, part)
    };
    let job = merge(vec![
        with_gather(rank(0, "a", 10, 0)),
        with_gather(rank(1, "a", 60, 0)),
    ]);
    let times = job.job.unwrap();
    assert_eq!(
        (times.ranks[0].waited_ns, times.ranks[0].matched),
        (250, 10)
    );
    assert_eq!(
        (times.ranks[1].kept_waiting_ns, times.ranks[1].steps_last),
        (250, 5)
    );
    assert_eq!(times.collectives.len(), 2);
}
