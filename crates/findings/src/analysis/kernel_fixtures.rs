//! Profiles for tests: real ones, added up by name, from files below `tests/fixtures/kernels/`, and some
//! in a few lines. Compiled for tests only.

use powerband_core::domain::profile::{Profile, Total};
use powerband_core::domain::trace::SliceKind;

/// Training of ResNet-50 on a V100, with the operators.
pub const RESNET_V100: &str = include_str!("../../../../tests/fixtures/kernels/resnet50-v100.tsv");
/// Training of a network like it on an MI210, kernels alone.
pub const RESNET_MI210: &str = include_str!("../../../../tests/fixtures/kernels/resnet-mi210.tsv");
/// A vision transformer on an MI300, with the operators.
pub const VIT: &str = include_str!("../../../../tests/fixtures/kernels/vit-mi300.tsv");
/// Training over several MI350, with the names that the linker knows.
pub const FSDP: &str = include_str!("../../../../tests/fixtures/kernels/fsdp-mi350.tsv");

/// A name with its times.
pub fn total(kind: SliceKind, name: &str, op: &str, calls: u64, total_ns: u64) -> Total {
    Total {
        work: None,
        kind,
        name: name.to_owned(),
        op: op.to_owned(),
        place: String::new(),
        calls,
        total_ns,
        min_ns: None,
        max_ns: None,
    }
}

/// The profile that a fixture holds.
pub fn profile(fixture: &str) -> Profile {
    Profile {
        totals: fixture.lines().skip(1).map(line).collect(),
        ..Profile::default()
    }
}

fn line(line: &str) -> Total {
    let cells: Vec<&str> = line.split('\t').collect();
    let [kind, calls, total_ns, min_ns, max_ns, op, name] = cells[..] else {
        panic!("{line}");
    };
    let kinds = SliceKind::ALL.into_iter();
    let kind = kinds.clone().find(|known| known.title() == kind).unwrap();
    Total {
        work: None,
        min_ns: min_ns.parse().ok(),
        max_ns: max_ns.parse().ok(),
        ..total(
            kind,
            name,
            op,
            calls.parse().unwrap(),
            total_ns.parse().unwrap(),
        )
    }
}
