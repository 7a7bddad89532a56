//! From a trace's columns to rows.

use super::line;
use super::{MIX_EVERY, PARTS, SHADES, SlicePosition, SliceRow, Timeline, TimelineTrack};
use powerband_core::domain::trace::{SliceKind, Trace, Track};

/// Rows of a track at most. Deeper nesting can be neither drawn nor read.
const MOST_ROWS: usize = 64;
/// What stands for a slice that is in no row.
const NOWHERE: SlicePosition = SlicePosition {
    row: u32::MAX,
    at: u32::MAX,
};

/// A slice on its way into a row.
struct UnplacedSlice {
    start: i64,
    end: i64,
    index: u32,
    name: u32,
    kind: SliceKind,
}

/// A track on its way into the timeline.
struct BuiltTrack {
    strand: TimelineTrack,
    rows: Vec<SliceRow>,
    /// When it was busy: spans that neither touch nor lie over each other, in order.
    busy: Vec<(i64, i64)>,
}

/// Makes a trace ready.
pub(super) fn build(trace: &Trace) -> Timeline {
    let (origin_ns, end_ns) = trace.bounds().unwrap_or_default();
    let mut timeline = Timeline {
        origin_ns,
        length_ns: end_ns.abs_diff(origin_ns),
        places: vec![NOWHERE; trace.len()],
        lines: line::memory_lines(trace, origin_ns, end_ns),
        ..Timeline::default()
    };
    let mut all: Vec<BuiltTrack> = Vec::new();
    let unknown = Track::default();
    for (track, mut waiting) in by_track(trace, origin_ns).into_iter().enumerate() {
        if waiting.is_empty() {
            continue;
        }
        let order = |one: &UnplacedSlice, other: &UnplacedSlice| {
            (one.start, other.end).cmp(&(other.start, one.end))
        };
        if !waiting.is_sorted_by(|one, other| order(one, other).is_le()) {
            // Stable, because what is in order already costs next to nothing then.
            waiting.sort_by(order);
        }
        let of = trace.tracks.get(track).unwrap_or(&unknown);
        let slices = waiting.len();
        let busy = busy(&waiting, of);
        let rows = track_rows(waiting, of, &mut timeline.left_out);
        let strand = TimelineTrack {
            track: track as u32,
            rows: 0..rows.len(),
            slices,
            busy_ns: busy.iter().map(|(from, to)| to.abs_diff(*from)).sum(),
        };
        all.push(BuiltTrack { strand, rows, busy });
    }
    sort_tracks(trace, &mut all);
    timeline.overview = overview(trace, timeline.length_ns, &all);
    for BuiltTrack {
        mut strand, rows, ..
    } in all
    {
        let first = timeline.rows.len();
        strand.rows = first..first + rows.len();
        timeline.rows.extend(rows);
        timeline.tracks.push(strand);
    }
    for (number, row) in timeline.rows.iter_mut().enumerate() {
        finish(row);
        for (at, slice) in row.slice.iter().enumerate() {
            timeline.places[*slice as usize] = SlicePosition {
                row: number as u32,
                at: at as u32,
            };
        }
    }
    timeline.links = links(trace);
    timeline.shades = (0..trace.names.len() as u32)
        .map(|name| shade(trace.names.get(name)))
        .collect();
    timeline
}

/// FNV-1a, folded.
fn shade(name: &str) -> u8 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ((hash ^ (hash >> 32)) % u64::from(SHADES)) as u8
}

/// Utilisation of the busiest track in each part.
fn overview(trace: &Trace, length_ns: u64, all: &[BuiltTrack]) -> Vec<u8> {
    let is_device = |laid: &&BuiltTrack| {
        let track = trace.tracks.get(laid.strand.track as usize);
        track.is_some_and(|track| track.device.is_some())
    };
    let mut chosen: Vec<&BuiltTrack> = all.iter().filter(is_device).collect();
    if chosen.is_empty() {
        chosen = all.iter().collect();
    }
    let part = (length_ns as f64 / PARTS as f64).max(1e-9);
    let mut highest = vec![0_u8; PARTS];
    for laid in chosen {
        let mut busy = vec![0.0_f64; PARTS];
        for (start, end) in &laid.busy {
            let (start, end) = (*start as f64 / part, *end as f64 / part);
            let (first, last) = (start as usize, (end as usize).min(PARTS - 1));
            for (place, busy) in busy.iter_mut().enumerate().take(last + 1).skip(first) {
                let place = place as f64;
                *busy += (end.min(place + 1.0) - start.max(place)).max(0.0);
            }
        }
        for (highest, busy) in highest.iter_mut().zip(busy) {
            *highest = (*highest).max((busy * 255.0).clamp(0.0, 255.0) as u8);
        }
    }
    highest
}

/// From the first slice or memory event to the last.
fn by_track(trace: &Trace, origin_ns: i64) -> Vec<Vec<UnplacedSlice>> {
    let mut tracks: Vec<Vec<UnplacedSlice>> = Vec::new();
    tracks.resize_with(trace.tracks.len(), Vec::new);
    for (index, slice) in trace.slices().enumerate() {
        let track = slice.track as usize;
        if track >= tracks.len() {
            tracks.resize_with(track + 1, Vec::new);
        }
        tracks[track].push(UnplacedSlice {
            start: slice.start_ns.saturating_sub(origin_ns),
            end: slice.end_ns().saturating_sub(origin_ns),
            index: index as u32,
            name: slice.name,
            kind: slice.kind,
        });
    }
    tracks
}

/// When anything ran that keeps the track busy.
fn busy(waiting: &[UnplacedSlice], track: &Track) -> Vec<(i64, i64)> {
    let mut busy: Vec<(i64, i64)> = Vec::new();
    for slice in waiting
        .iter()
        .filter(|slice| track.is_busy_with(slice.kind))
    {
        match busy.last_mut() {
            Some((_, until)) if slice.start <= *until => *until = slice.end.max(*until),
            _ => busy.push((slice.start, slice.end)),
        }
    }
    busy
}

/// The rows of a track. What only describes the work of a device stands below it, so that the first row is
/// work, and the one that a folded track shows.
fn track_rows(waiting: Vec<UnplacedSlice>, track: &Track, left_out: &mut usize) -> Vec<SliceRow> {
    let is_aside = |slice: &UnplacedSlice| track.device.is_some() && slice.kind.is_annotation();
    if !waiting.iter().any(is_aside) {
        return rows(waiting, left_out);
    }
    let (aside, work): (Vec<UnplacedSlice>, Vec<UnplacedSlice>) =
        waiting.into_iter().partition(is_aside);
    let mut all = rows(work, left_out);
    all.extend(rows(aside, left_out));
    all
}

/// Each slice in the row below the one that encloses it, or in the next one that is free there.
fn rows(waiting: Vec<UnplacedSlice>, left_out: &mut usize) -> Vec<SliceRow> {
    let mut rows: Vec<SliceRow> = Vec::new();
    let mut ends: Vec<i64> = Vec::new();
    // Ends and rows of what has begun and not ended yet, the latest last.
    let mut open: Vec<(i64, usize)> = Vec::new();
    for slice in waiting {
        open.retain(|(end, _)| *end > slice.start);
        let around = open.iter().rev().find(|(end, _)| *end >= slice.end);
        let highest = around.map_or(0, |(_, row)| row + 1);
        let free = (highest..ends.len()).find(|row| ends[*row] <= slice.start);
        let row = free.unwrap_or_else(|| ends.len().max(highest));
        if row >= MOST_ROWS {
            *left_out += 1;
            continue;
        }
        if row >= rows.len() {
            rows.push(SliceRow::default());
            ends.push(i64::MIN);
        }
        ends[row] = slice.end;
        if slice.end > slice.start {
            open.push((slice.end, row));
        }
        let row = &mut rows[row];
        row.start.push(slice.start);
        row.end.push(slice.end);
        row.slice.push(slice.index);
        row.name.push(slice.name);
        row.kind.push(slice.kind);
    }
    rows
}

/// Sums that are asked for again and again.
fn finish(row: &mut SliceRow) {
    let mut sum = 0_u64;
    row.before.reserve_exact(row.len() + 1);
    row.before.push(0);
    let mut occurs = [false; SliceKind::ALL.len()];
    for at in 0..row.start.len() {
        sum = sum.saturating_add(row.end[at].abs_diff(row.start[at]));
        row.before.push(sum);
        occurs[row.kind[at] as usize] = true;
    }
    row.kinds = SliceKind::ALL
        .into_iter()
        .filter(|kind| occurs[*kind as usize])
        .collect();
    if row.kinds.len() < 2 {
        return;
    }
    let mut times = [0_u64; SliceKind::ALL.len()];
    for at in 0..=row.start.len() {
        if at.is_multiple_of(MIX_EVERY) {
            let now = row.kinds.iter().map(|kind| times[*kind as usize]);
            row.mix.extend(now);
        }
        if at < row.start.len() {
            times[row.kind[at] as usize] += row.end[at].abs_diff(row.start[at]);
        }
    }
}

/// Devices first by their number, then processes; the busiest above within each.
fn sort_tracks(trace: &Trace, all: &mut [BuiltTrack]) {
    let mut groups: Vec<(Option<u32>, &str, u64)> = Vec::new();
    let none = Track::default();
    let track = |strand: &TimelineTrack| trace.tracks.get(strand.track as usize).unwrap_or(&none);
    for BuiltTrack { strand, .. } in all.iter() {
        let track = track(strand);
        let known = groups
            .iter_mut()
            .find(|(device, name, _)| (*device, *name) == (track.device, &track.group));
        match known {
            Some((_, _, busy_ns)) => *busy_ns += strand.busy_ns,
            None => groups.push((track.device, &track.group, strand.busy_ns)),
        }
    }
    groups.sort_by(|one, other| {
        let is_host = |group: &(Option<u32>, &str, u64)| group.0.is_none();
        (is_host(one), one.0, other.2).cmp(&(is_host(other), other.0, one.2))
    });
    let rank = |strand: &TimelineTrack| {
        let track = track(strand);
        groups
            .iter()
            .position(|(device, name, _)| (*device, *name) == (track.device, &track.group))
    };
    all.sort_by_cached_key(|BuiltTrack { strand, .. }| {
        (
            rank(strand),
            std::cmp::Reverse(strand.busy_ns),
            strand.track,
        )
    });
}

fn links(trace: &Trace) -> Vec<(u64, u32)> {
    let slices = trace.slices().enumerate();
    let mut links: Vec<(u64, u32)> = slices
        .filter(|(_, slice)| slice.link > 0)
        .map(|(index, slice)| (slice.link, index as u32))
        .collect();
    if !links.is_sorted() {
        links.sort_unstable();
    }
    links
}
