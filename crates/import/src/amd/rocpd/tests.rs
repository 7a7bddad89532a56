//! A file derived from a real run, and small ones for what it lacks.

use crate::testing::{database, fixture, path, read_path, share, sum, sums, survives_as};
use powerband_core::domain::trace::SliceKind;

const FILE: &str = "derived/rocpd-v3-first3000.db";

#[test]
fn figures_of_the_first_dispatches_are_exact() {
    let read = fixture(FILE);
    assert_eq!(read.format, "rocpd");
    assert_eq!(sum(&read, SliceKind::Kernel), (3000, 900869261));
    let top = sums(&read, SliceKind::Kernel);
    assert_eq!(top.len(), 24);
    let (name, calls, time) = &top[0];
    assert_eq!(
        name,
        "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)"
    );
    assert_eq!((*calls, *time), (17, 889361832));
    assert_eq!(share(*time, 900869261), "98.7226");
    assert_eq!(sum(&read, SliceKind::Call), (0, 0));
    assert_eq!(sum(&read, SliceKind::Copy), (0, 0));
    assert_eq!(read.tool.command.as_deref(), Some("python3.10 -u train.py"));
    let has = |name: &str, value: &str| read.facts.contains(&(name.to_owned(), value.to_owned()));
    assert!(has("Schema of rocpd", "3"), "{:?}", read.facts);
    assert!(
        has("GPU 0", "AMD Instinct MI350X (gfx950)"),
        "{:?}",
        read.facts
    );
    assert!(
        read.trace
            .tracks
            .iter()
            .all(|track| track.device == Some(0))
    );
    assert_eq!(read.trace.tracks[0].group, "GPU 0");
    let first = read.trace.slice(0);
    assert_eq!((first.start_ns, first.link), (63857982592000, 1));
    assert_eq!(
        read.trace.names.get(first.detail),
        "grid 512×1×1, block 512×1×1"
    );
}

#[test]
fn damage_costs_no_more_than_itself() {
    survives_as("a.db", &std::fs::read(path(FILE)).unwrap(), 40);
}

/// Two processes of rocprofv3 in one file, with everything that it writes.
fn two_processes() -> (tempfile::TempDir, std::path::PathBuf) {
    const ROWS: &str = "
        insert into rocpd_metadata{{uuid}}(tag, value) values ('schema_version', '3');
        insert into rocpd_info_node{{uuid}}(id, hash, machine_id, system_name, hostname, release) values (1, 1, 'm', 'Linux', 'h', '6.8');
        insert into rocpd_info_process{{uuid}}(id, nid, pid, command) values (PID, 1, PID, '/usr/bin/python3 run.py');
        insert into rocpd_info_thread{{uuid}}(id, nid, pid, tid, name) values (9, 1, PID, 9, 'main');
        insert into rocpd_info_agent{{uuid}}(id, nid, pid, type, absolute_index, type_index, product_name, name) values (0, 1, PID, 'CPU', 0, 0, 'EPYC', 'EPYC'), (1, 1, PID, 'GPU', 1, 0, 'MI300X', 'gfx942'), (2, 1, PID, 'GPU', 2, 1, 'MI300X', 'gfx942');
        insert into rocpd_info_stream{{uuid}}(id, nid, pid, name) values (0, 1, PID, 'Default Stream'), (3, 1, PID, 'Stream 0');
        insert into rocpd_string{{uuid}}(id, string) values (1, ''), (2, 'KERNEL_DISPATCH'), (3, 'HIP_RUNTIME_API_EXT'), (4, 'MARKER_CORE_RANGE_API'), (5, 'hipLaunchKernel'), (6, 'roctxRangePushA'), (7, 'MEMORY_COPY'), (8, 'MEMORY_COPY_HOST_TO_DEVICE'), (9, 'roctxMarkA');
        insert into rocpd_info_kernel_symbol{{uuid}}(id, nid, pid, code_object_id, kernel_name, display_name) values (4, 1, PID, 1, 'gemm.kd', 'gemm.kd');
        insert into rocpd_event{{uuid}}(id, category_id, stack_id, parent_stack_id, correlation_id, extdata) values (1, 2, 11, 11, 0, '{}'), (2, 3, 11, 0, 0, '{}'), (3, 4, 12, 0, 0, '{\"message\": \"step 1\"}'), (4, 7, 13, 13, 0, '{}'), (5, 4, 14, 0, 0, '{\"message\": \"here\"}'), (6, 2, 15, 15, 0, '{}');
        insert into rocpd_region{{uuid}}(id, nid, pid, tid, start, end, name_id, event_id) values (11, 1, PID, 9, 100, 120, 5, 2), (12, 1, PID, 9, 90, 400, 6, 3);
        insert into rocpd_track{{uuid}}(id, nid, pid, tid) values (1, 1, PID, 9);
        insert into rocpd_sample{{uuid}}(id, track_id, timestamp, event_id) values (14, 1, 95, 5);
        insert into rocpd_kernel_dispatch{{uuid}}(id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, end, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, event_id) values (1, 1, PID, 9, AGENT, 4, 1, 1, 3, 200, 260, 64, 1, 1, 1024, 2, 1, 1), (2, 1, PID, 9, AGENT, 4, 2, 1, 0, 300, 290, 64, 1, 1, 1024, 2, 1, 6), (3, 1, PID, 9, AGENT, 4, 3, 1, 0, 'soon', 290, 64, 1, 1, 1, 1, 1, 6);
        insert into rocpd_memory_copy{{uuid}}(id, nid, pid, tid, start, end, name_id, dst_agent_id, src_agent_id, size, stream_id, event_id) values (1, 1, PID, 9, 130, 150, 8, AGENT, 0, 4096, 0, 4);
        insert into rocpd_info_pmc{{uuid}}(id, nid, pid, agent_id, name, symbol) values (70, 1, PID, AGENT, 'SQ_WAVES', 'SQ_WAVES');
        insert into rocpd_pmc_event{{uuid}}(event_id, pmc_id, value) values (1, 70, 16.0), (6, 70, 2.0), (6, 70, 3.0), (99, 70, 1.0);
        insert into rocpd_memory_allocate{{uuid}}(nid, pid, tid, agent_id, type, level, start, end, address, size) values (1, PID, 9, AGENT, 'ALLOC', 'REAL', 10, 12, 555, 1000), (1, PID, 9, AGENT, 'FREE', 'REAL', 500, 501, 555, 0), (1, PID, 9, AGENT, 'ALLOC', 'VIRTUAL', 5, 6, 1, 99);";
    let of = |uuid: &str, pid: &str, agent: &str| {
        format!("{}{ROWS}", include_str!("tables.sql"))
            .replace("{{uuid}}", uuid)
            .replace("PID", pid)
            .replace("AGENT", agent)
    };
    database(&format!("{}{}", of("_a", "41", "1"), of("_b", "42", "2")))
}

#[test]
fn processes_of_one_file_stand_side_by_side() {
    let (_folder, path) = two_processes();
    let read = read_path(&path).unwrap();
    assert_eq!(
        sums(&read, SliceKind::Kernel),
        [("gemm".to_owned(), 4, 120)]
    );
    assert_eq!(sum(&read, SliceKind::Copy), (2, 40));
    assert_eq!(sum(&read, SliceKind::Call), (2, 40));
    assert_eq!(
        sums(&read, SliceKind::Range),
        [("step 1".to_owned(), 2, 620), ("here".to_owned(), 2, 0)]
    );
    let devices: Vec<Option<u32>> = read.trace.tracks.iter().map(|track| track.device).collect();
    assert!(devices.contains(&Some(0)) && devices.contains(&Some(1)));
    let names: Vec<&str> = read
        .trace
        .tracks
        .iter()
        .map(|track| track.name.as_str())
        .collect();
    assert!(
        names.contains(&"Stream 0") && names.contains(&"Default Stream"),
        "{names:?}"
    );
    let groups: Vec<&str> = read
        .trace
        .tracks
        .iter()
        .map(|track| track.group.as_str())
        .collect();
    assert!(
        groups.contains(&"python3 (process 41)") && groups.contains(&"GPU 1"),
        "{groups:?}"
    );
    let counter = &read.counters[0];
    assert_eq!(
        (counter.kernel.as_str(), counter.name.as_str()),
        ("gemm", "SQ_WAVES")
    );
    assert_eq!(
        (counter.launches, counter.sum, read.counters.len()),
        (4, 42.0, 1)
    );
    let memory: Vec<(i64, Option<u32>, i64)> = read
        .trace
        .memory
        .iter()
        .map(|event| (event.at_ns, event.device, event.change))
        .collect();
    assert_eq!(memory[..2], [(10, Some(0), 1000), (500, Some(0), -1000)]);
    assert_eq!(memory.len(), 4);
    let notes = read.notes.join("\n");
    for part in [
        "2 processes",
        "1 row of rocpd_kernel_dispatch",
        "had the end before the beginning",
    ] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
    // A launch and its kernel, and no other process's, have the same link.
    let links = |kind| -> Vec<u64> {
        let of_kind = read.trace.slices().filter(|slice| slice.kind == kind);
        of_kind.map(|slice| slice.link).collect()
    };
    let (calls, kernels) = (links(SliceKind::Call), links(SliceKind::Kernel));
    assert_eq!((calls[0], calls[1]), (kernels[0], kernels[2]));
    assert_ne!(calls[0], calls[1]);
    survives_as("a.db", &std::fs::read(&path).unwrap(), 20);
}

#[test]
fn processes_that_share_tables_are_told_apart() {
    let (_folder, path) = database(
        "create table rocpd_string (id integer, guid text, string text);
         create table rocpd_info_process (id integer, guid text, pid integer, command text);
         insert into rocpd_info_process values (1, 'a', 1, 'x'), (1, 'b', 1, 'y');
         create table rocpd_info_kernel_symbol (id integer, guid text, display_name text);
         insert into rocpd_info_kernel_symbol values (1, 'a', 'conv'), (1, 'b', 'gemm');
         create table rocpd_kernel_dispatch (id integer, guid text, agent_id integer, kernel_id integer, queue_id integer, stream_id integer, start integer, end integer, event_id integer);
         insert into rocpd_kernel_dispatch values (1, 'a', 0, 1, 1, 0, 10, 15, 1), (2, 'b', 0, 1, 1, 0, 20, 27, 1);",
    );
    let read = read_path(&path).unwrap();
    let kernels = sums(&read, SliceKind::Kernel);
    assert_eq!(
        kernels,
        [("gemm".to_owned(), 1, 7), ("conv".to_owned(), 1, 5)]
    );
}

#[test]
fn rows_that_name_a_track_are_placed_by_it() {
    let (_folder, path) = database(
        "create table rocpd_string (id integer, string text);
         insert into rocpd_string values (1, 'hipMemcpy');
         create table rocpd_info_category (id integer, name text);
         insert into rocpd_info_category values (1, 'HIP_RUNTIME_API');
         create table rocpd_info_agent (id integer, type text, absolute_index integer, product_name text);
         insert into rocpd_info_agent values (3, 'CPU', 0, 'x'), (4, 'GPU', 1, 'y'), (5, 'GPU', 2, 'y');
         create table rocpd_track (id integer, pid integer, tid integer, agent_id integer, queue_id integer, stream_id integer);
         insert into rocpd_track values (1, 7, 8, 5, 2, 0), (2, 7, 8, null, null, null);
         create table rocpd_event (id integer, category_id integer, stack_id integer, correlation_id integer);
         insert into rocpd_event values (1, 1, 6, 0);
         create table rocpd_region (id integer, track_id integer, name_id integer, start integer, end integer, event_id integer);
         insert into rocpd_region values (1, 2, 1, 5, 6, 1);
         create table rocpd_kernel_dispatch (id integer, track_id integer, kernel_id integer, start integer, end integer, event_id integer);
         insert into rocpd_kernel_dispatch values (1, 1, 1, 10, 15, 1);",
    );
    let read = read_path(&path).unwrap();
    let kernel = &read.trace.tracks[read.trace.slice(0).track as usize];
    assert_eq!((kernel.device, kernel.name.as_str()), (Some(1), "Queue 2"));
    assert_eq!(read.trace.names.get(read.trace.slice(0).name), "kernel 1");
    let call = read.trace.slice(1);
    let thread = &read.trace.tracks[call.track as usize];
    assert_eq!((call.kind, call.link), (SliceKind::Call, 6));
    assert_eq!(
        (thread.group.as_str(), thread.name.as_str()),
        ("process 7", "thread 8")
    );
}

#[test]
fn what_cannot_be_used_is_a_sentence() {
    let (_folder, path) = database("create table rocpd_kernel_dispatch (id integer, other text);");
    assert!(read_path(&path).unwrap_err().contains("lack the columns"));
    let (_folder, path) =
        database("create table rocpd_kernel_dispatch (id integer, kernel_id, start_id, end_id);");
    assert!(read_path(&path).unwrap_err().contains("between releases"));
    let (_folder, path) = database("create table x (y);");
    assert!(read_path(&path).unwrap_err().contains("of no format"));
}

#[test]
fn a_database_that_somebody_else_holds_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("a.db");
    std::fs::copy(path(FILE), &copy).unwrap();
    let other = rusqlite::Connection::open(&copy).unwrap();
    other.execute_batch("begin exclusive").unwrap();
    assert_eq!(sum(&read_path(&copy).unwrap(), SliceKind::Kernel).0, 3000);
    drop(other);
    let mut rights = std::fs::metadata(&copy).unwrap().permissions();
    rights.set_readonly(true);
    std::fs::set_permissions(&copy, rights).unwrap();
    assert_eq!(sum(&read_path(&copy).unwrap(), SliceKind::Kernel).0, 3000);
    std::fs::write(folder.path().join("a.db-wal"), "rows").unwrap();
    let notes = read_path(&copy).unwrap().notes;
    assert!(
        notes.iter().any(|note| note.contains("a.db-wal")),
        "{notes:?}"
    );
}
