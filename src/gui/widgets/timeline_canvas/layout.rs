//! Layout of a timeline, from top to bottom.

use std::collections::BTreeSet;
use std::ops::Range;

use powerband_core::domain::trace::Trace;
use powerband_findings::analysis::timeline::Timeline;
use powerband_findings::chart::layout::lanes::stacked;

/// Height of a row.
pub(super) const ROW: f32 = 18.0;
/// Between two tracks.
const BETWEEN: f32 = 6.0;
/// Above the first track of a device or a process, for its name.
const HEAD: f32 = 24.0;

/// A track's place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Band {
    /// Which, by its place in the timeline.
    pub strand: usize,
    /// Its top, from the top of all tracks.
    pub top: f32,
    /// Its rows that are shown.
    pub rows: Range<usize>,
    /// Whether rows are hidden.
    pub is_folded: bool,
}

impl Band {
    /// Where it ends.
    pub(super) fn bottom(&self) -> f32 {
        self.top + self.rows.len() as f32 * ROW
    }

    /// The top of a row; of the first one for a row that is hidden.
    pub(crate) fn row_top(&self, row: usize) -> f32 {
        let place = row.saturating_sub(self.rows.start);
        self.top + place.min(self.rows.len().saturating_sub(1)) as f32 * ROW
    }
}

/// The places of all tracks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Places<'a> {
    /// Tracks from top to bottom.
    pub bands: Vec<Band>,
    /// Devices and processes, each above its first track.
    pub heads: Vec<(f32, &'a str)>,
    /// Of everything together.
    pub height: f32,
}

impl<'a> Places<'a> {
    /// Puts tracks below each other.
    pub(super) fn of(trace: &'a Trace, timeline: &Timeline, folded: &BTreeSet<u32>) -> Self {
        let tracks = timeline.strands.iter().map(|of| {
            let track = trace.tracks.get(of.track as usize);
            let group = track.map(|track| (track.device, track.group.as_str()));
            let is_folded = folded.contains(&of.track) && of.rows.len() > 1;
            let rows = if is_folded {
                of.rows.start..of.rows.start + 1
            } else {
                of.rows.clone()
            };
            (group, rows, is_folded)
        });
        let height = |rows: &Range<usize>| f64::from(rows.len() as f32 * ROW + BETWEEN);
        let heights = tracks
            .clone()
            .map(|(group, rows, _)| (group, height(&rows)));
        let (stack, height) = stacked(heights, HEAD.into());
        let mut places = Self {
            height: height as f32,
            ..Self::default()
        };
        for (strand, ((group, rows, is_folded), row)) in tracks.zip(stack).enumerate() {
            let name = group.map_or("", |(_, name)| name);
            let head = row.head.map(|head| (head as f32, name));
            places.heads.extend(head);
            places.bands.push(Band {
                strand,
                top: row.top as f32,
                rows,
                is_folded,
            });
        }
        places
    }

    /// The visible tracks between two heights.
    pub(super) fn seen(&self, from: f32, to: f32) -> &[Band] {
        let first = self.bands.partition_point(|band| band.bottom() <= from);
        let last = self.bands.partition_point(|band| band.top < to);
        &self.bands[first..last.max(first)]
    }

    /// The row at a height.
    pub(crate) fn row_at(&self, y: f32) -> Option<usize> {
        let band = self.seen(y, y + 0.1).first()?;
        let place = ((y - band.top) / ROW).floor();
        let row = band.rows.start + place.max(0.0) as usize;
        (place >= 0.0 && band.rows.contains(&row)).then_some(row)
    }

    /// The top of a row, hidden ones where their track is.
    pub(crate) fn row_top(&self, row: usize, timeline: &Timeline) -> Option<f32> {
        let strand = timeline.strand_of(row)?;
        self.bands.get(strand).map(|band| band.row_top(row))
    }

    /// Rows of the tracks between two heights, hidden ones too.
    pub(crate) fn rows_between(&self, from: f32, to: f32, timeline: &Timeline) -> Range<usize> {
        let bands = self.seen(from.min(to), from.max(to));
        let strands = bands
            .iter()
            .filter_map(|band| timeline.strands.get(band.strand));
        let mut rows = strands.map(|strand| strand.rows.clone());
        let Some(first) = rows.next() else {
            return 0..0;
        };
        rows.fold(first, |all, rows| all.start..rows.end)
    }

    /// How far to scroll so that a row is in sight, where it is not.
    pub(crate) fn scroll_to(
        &self,
        row: usize,
        timeline: &Timeline,
        scroll: f32,
        height: f32,
    ) -> f32 {
        let Some(top) = self.row_top(row, timeline) else {
            return scroll;
        };
        let room = ROW * 2.0;
        if top - room < scroll {
            (top - room).max(0.0)
        } else if top + ROW + room > scroll + height {
            self.kept_within(top + ROW + room - height, height)
        } else {
            scroll
        }
    }

    /// No further than to the last track.
    pub(crate) fn kept_within(&self, scroll: f32, height: f32) -> f32 {
        scroll.clamp(0.0, (self.height - height).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::trace::{Slice, SliceKind, Track};

    fn trace() -> Trace {
        let mut trace = Trace::default();
        for (device, group, depth) in [
            (Some(0), "GPU 0", 1),
            (None, "python", 3),
            (None, "python", 2),
        ] {
            let name = format!("thread {depth}");
            let track = trace.track(Track {
                device,
                group: group.to_owned(),
                name,
            });
            for n in 0..depth {
                let slice = Slice::new(SliceKind::Operator, 0, track, n, 100 - 2 * n as u64);
                trace.push(slice);
            }
        }
        trace
    }

    #[test]
    fn rows_are_found_where_they_are_drawn() {
        let trace = trace();
        let timeline = Timeline::of(&trace);
        let places = Places::of(&trace, &timeline, &BTreeSet::new());
        assert_eq!((places.bands.len(), places.heads.len()), (3, 2));
        for row in 0..timeline.rows.len() {
            let top = places.row_top(row, &timeline).unwrap();
            assert_eq!(places.row_at(top + 1.0), Some(row));
            assert_eq!(places.row_at(top + ROW - 1.0), Some(row));
        }
        assert_eq!(places.row_at(2.0), None, "a device's name");
        assert_eq!(places.row_at(1e4), None);
        let all = places.rows_between(0.0, places.height, &timeline);
        assert_eq!(all, 0..timeline.rows.len());
        assert_eq!(places.rows_between(0.0, 3.0, &timeline), 0..0);
    }

    #[test]
    fn a_folded_track_keeps_one_row() {
        let trace = trace();
        let timeline = Timeline::of(&trace);
        let all = Places::of(&trace, &timeline, &BTreeSet::new());
        let track = timeline.strands[1].track;
        let folded = Places::of(&trace, &timeline, &BTreeSet::from([track]));
        assert!(folded.height < all.height && folded.bands[1].is_folded);
        let hidden = timeline.strands[1].rows.start + 1;
        let first = folded.row_top(timeline.strands[1].rows.start, &timeline);
        assert_eq!(folded.row_top(hidden, &timeline), first);
    }

    #[test]
    fn scrolling_brings_a_row_into_sight_and_no_further() {
        let trace = trace();
        let timeline = Timeline::of(&trace);
        let places = Places::of(&trace, &timeline, &BTreeSet::new());
        let last = timeline.rows.len() - 1;
        let scroll = places.scroll_to(last, &timeline, 0.0, 80.0);
        assert_eq!(scroll, places.height - 80.0);
        assert_eq!(places.scroll_to(0, &timeline, scroll, 80.0), 0.0);
        assert_eq!(places.scroll_to(0, &timeline, 0.0, 80.0), 0.0);
    }
}
