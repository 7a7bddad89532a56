use super::super::testing::{fixture, path, share, sum, sums, survives_as};
use crate::domain::trace::SliceKind;

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
