//! Generated databases of any size for tests, with the tables that tools write.
//!
//! `cargo test --release -- --ignored large_databases` measures how long reading them takes.

use std::path::Path;

use rusqlite::{Connection, params};

/// Kernels have so many names.
const NAMES: i64 = 200;
/// A process of rocprofv3's.
const ID: &str = "_0198c0de_0000_7000_8000_00000000c0de";

fn create(path: &Path) -> Connection {
    let database = Connection::open(path).unwrap();
    database
        .execute_batch("pragma journal_mode = off; pragma synchronous = off; begin;")
        .unwrap();
    database
}

/// A kernel's name of usual length.
fn name(number: i64) -> String {
    let inner = "at::native::vectorized_elementwise_kernel, std::array<char*, 3ul>, ".repeat(4);
    format!("void kernel_{number}<{inner}{number}>(int, float*)")
}

/// A database of rocprofv3 with so many kernels, each with an event, and with a call each if wanted.
pub(super) fn rocpd(path: &Path, kernels: i64, with_calls: bool) {
    let database = create(path);
    let schema = include_str!("amd/rocpd/tables.sql").replace("{{uuid}}", ID);
    database.execute_batch(&schema).unwrap();
    let run = |sql: &str| database.execute(&sql.replace("{}", ID), []).unwrap();
    run("insert into rocpd_metadata{}(tag, value) values ('schema_version', '3')");
    run("insert into rocpd_info_node{}(id, hash, machine_id, hostname) values (1, 1, 'm', 'h')");
    run(
        "insert into rocpd_info_process{}(id, nid, pid, command) values (42, 1, 42, 'python3 a.py')",
    );
    run("insert into rocpd_info_thread{}(id, nid, pid, tid) values (42, 1, 42, 42)");
    run(
        "insert into rocpd_info_agent{}(id, nid, pid, type, absolute_index, product_name) values (1, 1, 42, 'GPU', 1, 'MI')",
    );
    run(
        "insert into rocpd_string{}(id, string) values (1, 'KERNEL_DISPATCH'), (2, 'HIP_RUNTIME_API_EXT'), (3, 'hipLaunchKernel')",
    );
    for stream in 0..4 {
        run(&format!(
            "insert into rocpd_info_stream{{}}(id, nid, pid, name) values ({stream}, 1, 42, 'Stream {stream}')"
        ));
    }
    for number in 0..NAMES {
        let name = name(number);
        run(&format!(
            "insert into rocpd_info_kernel_symbol{{}}(id, nid, pid, code_object_id, kernel_name, display_name) values ({}, 1, 42, 1, '_Z{number}.kd', '{name}')",
            number + 1
        ));
    }
    let prepare = |sql: &str| database.prepare(&sql.replace("{}", ID)).unwrap();
    let mut event = prepare(
        "insert into rocpd_event{}(id, category_id, stack_id, parent_stack_id, correlation_id) values (?, ?, ?, ?, 0)",
    );
    let mut dispatch = prepare(
        "insert into rocpd_kernel_dispatch{} values (?, '0198c0de-0000-7000-8000-00000000c0de', 1, 42, 42, 1, ?, ?, 1, ?, ?, ?, 0, 0, 256, 1, 1, ?, 1, 1, 1, ?, json_object())",
    );
    let mut region = prepare(
        "insert into rocpd_region{}(id, nid, pid, tid, start, end, name_id, event_id) values (?, 1, 42, 42, ?, ?, 3, ?)",
    );
    let start = 1_700_000_000_000_000_000;
    for number in 0..kernels {
        let at = start + number * 9_000;
        event
            .execute(params![number + 1, 1, number + 1, number + 1])
            .unwrap();
        dispatch
            .execute(params![
                number + 1,
                number * 7 % NAMES + 1,
                number + 1,
                number % 4,
                at,
                at + 5_000 + number % 3_000,
                256 * (1 + number % 50),
                number + 1
            ])
            .unwrap();
    }
    for number in 0..if with_calls { kernels } else { 0 } {
        let at = start + number * 9_000 - 4_000;
        let id = kernels + number + 1;
        event.execute(params![id, 2, number + 1, 0]).unwrap();
        region
            .execute(params![number + 1, at, at + 3_000, id])
            .unwrap();
    }
    drop((event, dispatch, region));
    database.execute_batch("commit").unwrap();
}

/// A database of Nsight Systems with so many kernels, and with a call each if wanted.
pub(super) fn nsys(path: &Path, kernels: i64, with_calls: bool) {
    let database = create(path);
    database
        .execute_batch(include_str!("nvidia/nsys/tables.sql"))
        .unwrap();
    for number in 0..NAMES {
        database
            .execute(
                "insert into StringIds values (?, ?)",
                params![number + 1, name(number)],
            )
            .unwrap();
    }
    database
        .execute(
            "insert into StringIds values (?, 'cudaLaunchKernel_v7000')",
            params![NAMES + 1],
        )
        .unwrap();
    let process: i64 = (1 << 48) | (42 << 24);
    let mut kernel = database
        .prepare("insert into CUPTI_ACTIVITY_KIND_KERNEL values (?, ?, 0, 1, 0, ?, ?, ?, ?, ?, 1, 1, 1, 40, ?, 1, 1, 256, 1, 1, 0, 0, 0, 155713536, ?, 32768, null, 0)")
        .unwrap();
    let mut call = database
        .prepare("insert into CUPTI_ACTIVITY_KIND_RUNTIME values (?, ?, 0, ?, ?, ?, 0, null)")
        .unwrap();
    for number in 0..kernels {
        let at = 1_000_000 + number * 9_000;
        let name = number * 7 % NAMES + 1;
        kernel
            .execute(params![
                at,
                at + 5_000 + number % 3_000,
                7 + number % 4,
                number + 1,
                process,
                name,
                name,
                1 + number % 50,
                number
            ])
            .unwrap();
        if with_calls {
            call.execute(params![
                at - 4_000,
                at - 1_000,
                process + 42,
                number + 1,
                NAMES + 1
            ])
            .unwrap();
        }
    }
    drop((kernel, call));
    database.execute_batch("commit").unwrap();
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::read;
    use crate::reading::read_progress::ReadProgress;
    use crate::reading::source::Limits;
    use powerband_core::domain::trace::SliceKind;

    /// Time that all threads took so far; the machine may be busy with other things.
    fn processor() -> std::time::Duration {
        std::time::Duration::from_nanos(powerband_core::base::clock::used_by_process_ns())
    }

    #[test]
    #[ignore = "takes a minute; measures how long reading takes"]
    fn large_databases_are_read_quickly() {
        let count = 1_000_000;
        let folder = tempfile::tempdir().unwrap();
        for (name, make) in [
            ("rocpd", super::rocpd as fn(&std::path::Path, i64, bool)),
            ("nsys", super::nsys),
        ] {
            for with_calls in [false, true] {
                let path = folder.path().join(format!("{name}-{with_calls}"));
                make(&path, count, with_calls);
                let (mut times, mut cpu) = (Vec::new(), Vec::new());
                for _ in 0..5 {
                    let (started, busy) = (Instant::now(), processor());
                    let read = read(&path, Limits::default(), &ReadProgress::default()).unwrap();
                    times.push(started.elapsed().as_millis());
                    cpu.push(processor().saturating_sub(busy).as_millis());
                    let kernels = read.trace.kinds().iter();
                    let kernels = kernels.filter(|kind| **kind == SliceKind::Kernel).count();
                    assert_eq!(kernels as i64, count);
                }
                let megabytes = std::fs::metadata(&path).unwrap().len() / 1_000_000;
                let calls = if with_calls { " and as many calls" } else { "" };
                let told = format!(
                    "{name}: {count} kernels{calls}, {megabytes} MB: {times:?} ms, {cpu:?} ms of processor\n"
                );
                std::io::Write::write_all(&mut std::io::stderr(), told.as_bytes()).unwrap();
            }
        }
    }
}
