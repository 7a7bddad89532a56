//! Ranges of a memory snapshot that a program named, such as steps of an optimiser.

use rustc_hash::FxHashMap;

use crate::Imported;
use crate::reading::pickle::Pickle;
use powerband_core::domain::trace::{Slice, SliceKind, Track};

/// Adds a slice from each start to its end.
pub(super) fn add(pickle: &Pickle, into: &mut Imported) {
    let mut begun: FxHashMap<(&str, u8), Vec<i64>> = FxHashMap::default();
    for annotation in pickle.items(pickle.get(pickle.root, "external_annotations")) {
        let number = |key: &str| pickle.get(*annotation, key).int();
        let name = pickle.text(pickle.get(*annotation, "name"));
        let device = number("device").and_then(|device| u8::try_from(device).ok());
        let (Some(device), Some(at_us)) = (device, number("time_us")) else {
            continue;
        };
        let open = begun.entry((name, device)).or_default();
        if pickle.text(pickle.get(*annotation, "stage")) == "START" {
            open.push(at_us);
            continue;
        }
        let Some(began_us) = open.pop() else {
            continue;
        };
        let track = into.trace.track(Track {
            device: Some(device.into()),
            group: format!("GPU {device}"),
            name: "annotations".to_owned(),
        });
        let name = into.trace.names.number(name);
        let length_us = at_us.saturating_sub(began_us).max(0).unsigned_abs();
        into.trace.push(Slice::new(
            SliceKind::Range,
            name,
            track,
            began_us.saturating_mul(1000),
            length_us.saturating_mul(1000),
        ));
    }
}
