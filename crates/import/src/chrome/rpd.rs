//! Chrome traces that `rpd2tracing.py` makes of databases of rocmProfileData: no event has a category, and what one
//! is shows in its description.

use super::event::{RawEvent, UnparsedValue};
use super::{Dialect, Format, TrackTitles, read};
use crate::amd::rpd::{call_kind, op_kind};
use crate::reading::head::FileHead;
use powerband_core::domain::trace::{SliceKind, Trace};

/// How descriptions of the marks begin that it repeats on the rows of cards.
const FRAME: &str = "UserMarker frame";

pub(crate) const FORMAT: Format = Format {
    id: "rpd-json",
    title: "a Chrome trace of rocmProfileData (RPD)",
    tool: "rocmProfileData",
    name_ends: &[],
    recognises,
    read: |source, watch, into| read(source, watch, Dialect::Rpd, FORMAT.title, into),
};

/// It begins with an empty event, and writes descriptions and names of threads like no other program.
fn recognises(head: &FileHead) -> bool {
    let Some(text) = head.json() else {
        return false;
    };
    let first: String = text
        .chars()
        .take(64)
        .filter(|c| !c.is_whitespace())
        .collect();
    (first.starts_with("[{},") || first.starts_with("{\"traceEvents\":[{},"))
        && text.contains("\"args\":{\"desc\":\"")
        && text.contains("\"args\":{\"name\":\"Hip ")
}

/// What an event is, and whether it stands on the row of a card.
pub(super) fn kind(event: &RawEvent<'_>) -> (SliceKind, bool) {
    let mut description = None;
    let mut is_graph = false;
    event.args.each(|key, value| match key {
        b"desc" => description = Some(value.text()),
        b"kernels" => is_graph = value != UnparsedValue::Missing,
        _ => {}
    });
    let description = description.unwrap_or_default();
    match op_kind(&description) {
        SliceKind::Other if is_graph || description.starts_with(FRAME) => (SliceKind::Range, true),
        SliceKind::Other => (call_kind(&event.name.text()), false),
        work => (work, true),
    }
}

/// Gives the rows of cards their cards, as the file names them; what is on them without being known here is no call of
/// the host.
pub(super) fn assign_devices(trace: &mut Trace, names: &TrackTitles) {
    let mut are_devices = vec![false; trace.tracks.len()];
    for (track, is_device) in trace.tracks.iter_mut().zip(&mut are_devices) {
        let named = names.process(&track.group).strip_prefix("GPU");
        let number = named.and_then(|number| number.trim().parse().ok());
        if track.device.is_none() && number.is_some() {
            track.device = number;
            *is_device = true;
        }
    }
    trace.relabel(SliceKind::Other, |slice, _| {
        are_devices.get(slice.track as usize) == Some(&true)
    });
}
