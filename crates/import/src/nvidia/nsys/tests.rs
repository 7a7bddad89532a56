//! Real exports of an old and of a new version.

use crate::testing::{database, fixture, path, read_path, share, sum, sums, survives_as};
use powerband_core::domain::trace::SliceKind;

const NEW: &str = "nsys/nvfuser-matmul-2024.6.sqlite";

/// Bytes that a kind moved, from the details of its slices.
fn bytes(imported: &super::Imported, kind: SliceKind) -> u64 {
    let of_kind = imported.trace.slices().filter(|slice| slice.kind == kind);
    of_kind
        .map(|slice| {
            let words = imported.trace.names.get(slice.detail);
            words.split(' ').next().unwrap().parse::<u64>().unwrap()
        })
        .sum()
}

#[test]
fn an_old_export_lacks_columns_and_tables() {
    let (_folder, path) = database(
        "create table StringIds (id integer, value text);
         insert into StringIds values (1, 'void probe<128, 4>(int*)'), (2, 'probe');
         create table CUPTI_ACTIVITY_KIND_KERNEL (start integer, end integer, deviceId integer,
             contextId integer, streamId integer, correlationId integer, globalPid integer,
             demangledName integer, shortName integer);
         insert into CUPTI_ACTIVITY_KIND_KERNEL values (100, 350, 0, 1, 7, 5, 0, 1, 2),
             (400, 450, 0, 1, 7, 6, 0, 1, 2);",
    );
    let read = read_path(&path).unwrap();
    assert_eq!(read.format, "nsys");
    let kernels = sums(&read, SliceKind::Kernel);
    assert_eq!(kernels, [("void probe<128, 4>(int*)".to_owned(), 2, 300)]);
}

#[test]
fn figures_of_a_new_export_are_exact() {
    let read = fixture(NEW);
    assert_eq!(sum(&read, SliceKind::Kernel), (19, 393539));
    let top = sums(&read, SliceKind::Kernel);
    assert_eq!(top.len(), 15);
    assert!(
        top[0]
            .0
            .starts_with("<unnamed>::nvfuser_none_f0_c0_r0_g0(<unnamed>::Tensor<")
    );
    assert_eq!(
        (top[0].1, top[0].2, share(top[0].2, 393539).as_str()),
        (1, 135137, "34.3389")
    );
    assert_eq!(top[1].0, "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NTT");
    assert_eq!(
        (top[1].1, top[1].2, share(top[1].2, 393539).as_str()),
        (1, 87521, "22.2395")
    );
    assert_eq!(sum(&read, SliceKind::Copy), (1, 1632));
    assert_eq!(bytes(&read, SliceKind::Copy), 1);
    assert_eq!(sum(&read, SliceKind::Set), (1, 1088));
    assert_eq!(bytes(&read, SliceKind::Set), 4);
    assert_eq!(sum(&read, SliceKind::Call), (968, 71087247));
    assert_eq!(sum(&read, SliceKind::Range).0, 652);
    let has = |name: &str, value: &str| read.facts.contains(&(name.to_owned(), value.to_owned()));
    assert!(has("GPU 0", "NVIDIA H200") && has("Schema of the export", "3.16.1"));
    assert_eq!(read.tool.version.as_deref(), Some("2024.6.2.25"));
    assert_eq!(
        read.tool.command.as_deref(),
        Some("./bin/test_matmul --gtest_filter=HopperMatmulTest.HSH_NT_128BSwizzle")
    );
}

#[test]
fn launches_and_kernels_share_their_link() {
    let read = fixture(NEW);
    let kernels = read
        .trace
        .slices()
        .filter(|slice| slice.kind == SliceKind::Kernel);
    for kernel in kernels {
        let launch = read
            .trace
            .slices()
            .find(|slice| slice.kind == SliceKind::Call && slice.link == kernel.link)
            .unwrap();
        let name = read.trace.names.get(launch.name);
        assert!(name.contains("LaunchKernel"), "{name}");
        assert!(launch.start_ns < kernel.start_ns);
    }
}

#[test]
fn damage_costs_no_more_than_itself() {
    survives_as("a.sqlite", &std::fs::read(path(NEW)).unwrap(), 20);
}
