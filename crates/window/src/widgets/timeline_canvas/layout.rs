//! Layout of a timeline, from top to bottom.

use std::collections::BTreeSet;
use std::ops::Range;

use powerband_app::timeline::tracks::ShownTracks;
use powerband_core::domain::trace::Trace;
use powerband_findings::analysis::timeline::Timeline;
use powerband_findings::chart::layout::lanes::stacked;

/// Height of a row.
pub(super) const ROW: f32 = 18.0;
/// Between two tracks.
const BETWEEN: f32 = 6.0;
/// Above the first track of a device or a process, for its name.
const HEAD: f32 = 24.0;
/// Most of the height that pinned tracks take.
const MOST_PINNED: f32 = 0.6;

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

/// What of the tracks is in sight: how far those below the pinned ones are scrolled, and the height of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct VisibleTracks {
    pub scroll: f32,
    pub height: f32,
}

/// The places of all tracks that are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TrackLayout<'a> {
    /// Tracks from top to bottom, the pinned ones first.
    pub bands: Vec<Band>,
    /// Devices and processes, each above its first track.
    pub heads: Vec<(f32, &'a str)>,
    /// Of everything together.
    pub height: f32,
    /// Of the pinned tracks.
    pub pinned: f32,
    /// The place among the bands of each track of the timeline.
    by_strand: Vec<Option<usize>>,
}

impl<'a> TrackLayout<'a> {
    /// Puts tracks below each other.
    pub(super) fn new(
        trace: &'a Trace,
        timeline: &Timeline,
        folded: &BTreeSet<u32>,
        shown: &ShownTracks,
    ) -> Self {
        let mut places = Self {
            by_strand: vec![None; timeline.tracks.len()],
            ..Self::default()
        };
        places.put(trace, timeline, folded, &shown.pinned);
        places.pinned = places.height;
        places.put(trace, timeline, folded, &shown.others);
        places
    }

    /// Puts tracks below those that are there.
    fn put(
        &mut self,
        trace: &'a Trace,
        timeline: &Timeline,
        folded: &BTreeSet<u32>,
        strands: &[usize],
    ) {
        let strands = strands.iter().filter_map(|place| {
            let strand = timeline.tracks.get(*place)?;
            Some((*place, strand))
        });
        let tracks = strands.map(|(place, of)| {
            let track = trace.tracks.get(of.track as usize);
            let group = track.map(|track| (track.device, track.group.as_str()));
            let is_folded = folded.contains(&of.track) && of.rows.len() > 1;
            let rows = if is_folded {
                of.rows.start..of.rows.start + 1
            } else {
                of.rows.clone()
            };
            (place, group, rows, is_folded)
        });
        let height = |rows: &Range<usize>| f64::from(rows.len() as f32 * ROW + BETWEEN);
        let heights = tracks
            .clone()
            .map(|(_, group, rows, _)| (group, height(&rows)));
        let (stack, height) = stacked(heights, HEAD.into());
        let above = self.height;
        self.height += height as f32;
        for ((strand, group, rows, is_folded), row) in tracks.zip(stack) {
            let name = group.map_or("", |(_, name)| name);
            let head = row.head.map(|head| (above + head as f32, name));
            self.heads.extend(head);
            if let Some(place) = self.by_strand.get_mut(strand) {
                *place = Some(self.bands.len());
            }
            self.bands.push(Band {
                strand,
                top: above + row.top as f32,
                rows,
                is_folded,
            });
        }
    }

    /// The height that pinned tracks take: they leave room for the others.
    pub(super) fn pinned_in(&self, height: f32) -> f32 {
        self.pinned.min((height * MOST_PINNED).floor())
    }

    /// Where a depth within all tracks is, below the top of what is in sight.
    pub(super) fn to_screen(&self, depth: f32, sight: VisibleTracks) -> f32 {
        if depth < self.pinned {
            depth
        } else {
            depth - self.pinned + self.pinned_in(sight.height) - sight.scroll
        }
    }

    /// The depth at a height below the top of what is in sight.
    pub(super) fn to_depth(&self, y: f32, sight: VisibleTracks) -> f32 {
        let pinned = self.pinned_in(sight.height);
        if y < pinned {
            y
        } else {
            y - pinned + self.pinned + sight.scroll
        }
    }

    /// The tracks in sight.
    pub(super) fn seen(&self, sight: VisibleTracks) -> impl Iterator<Item = &Band> {
        let pinned = self.pinned_in(sight.height);
        let from = self.pinned + sight.scroll;
        let to = from + sight.height - pinned;
        self.bands.iter().filter(move |band| {
            if band.top < self.pinned {
                band.top < pinned
            } else {
                band.bottom() > from && band.top < to
            }
        })
    }

    /// The row at a depth.
    pub(crate) fn row_at(&self, depth: f32) -> Option<usize> {
        let next = self.bands.partition_point(|band| band.bottom() <= depth);
        let band = self.bands.get(next)?;
        let place = ((depth - band.top) / ROW).floor();
        let row = band.rows.start + place.max(0.0) as usize;
        (place >= 0.0 && band.rows.contains(&row)).then_some(row)
    }

    /// The top of a row, hidden ones where their track is.
    pub(crate) fn row_top(&self, row: usize, timeline: &Timeline) -> Option<f32> {
        let place = *self.by_strand.get(timeline.track_of_row(row)?)?;
        self.bands.get(place?).map(|band| band.row_top(row))
    }

    /// Rows of the tracks between two depths, folded ones too; those that lie side by side together.
    pub(crate) fn rows_between(
        &self,
        from: f32,
        to: f32,
        timeline: &Timeline,
    ) -> Vec<Range<usize>> {
        let (from, to) = (from.min(to), from.max(to));
        let bands = self.bands.iter();
        let bands = bands.filter(|band| band.bottom() > from && band.top < to);
        let strands = bands.filter_map(|band| timeline.tracks.get(band.strand));
        let mut rows: Vec<Range<usize>> = strands.map(|strand| strand.rows.clone()).collect();
        rows.sort_by_key(|rows| rows.start);
        let mut joined: Vec<Range<usize>> = Vec::new();
        for next in rows {
            match joined.last_mut().filter(|last| last.end == next.start) {
                Some(last) => last.end = next.end,
                None => joined.push(next),
            }
        }
        joined
    }

    /// How far to scroll so that a row is in sight, where it is not.
    pub(crate) fn scroll_to(
        &self,
        row: usize,
        timeline: &Timeline,
        scroll: f32,
        height: f32,
    ) -> f32 {
        let Some(top) = self
            .row_top(row, timeline)
            .filter(|top| *top >= self.pinned)
        else {
            return scroll;
        };
        let (top, height_below) = (top - self.pinned, height - self.pinned_in(height));
        let room = ROW * 2.0;
        if top - room < scroll {
            (top - room).max(0.0)
        } else if top + ROW + room > scroll + height_below {
            self.kept_within(top + ROW + room - height_below, height)
        } else {
            scroll
        }
    }

    /// No further than to the last track.
    pub(crate) fn kept_within(&self, scroll: f32, height: f32) -> f32 {
        let (all, seen) = (self.height - self.pinned, height - self.pinned_in(height));
        scroll.clamp(0.0, (all - seen).max(0.0))
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

    /// Every track, these of them pinned.
    fn shown(timeline: &Timeline, pinned: &[usize]) -> ShownTracks {
        let all = 0..timeline.tracks.len();
        let (pinned, others) = all.partition(|place| pinned.contains(place));
        ShownTracks {
            pinned,
            others,
            all: timeline.tracks.len(),
        }
    }

    #[test]
    fn pinned_tracks_stay_where_they_are() {
        let trace = trace();
        let timeline = Timeline::from_trace(&trace);
        let places = TrackLayout::new(&trace, &timeline, &BTreeSet::new(), &shown(&timeline, &[2]));
        let strands: Vec<usize> = places.bands.iter().map(|band| band.strand).collect();
        assert_eq!(strands, [2, 0, 1]);
        let of = |scroll| VisibleTracks {
            scroll,
            height: 150.0,
        };
        let [pinned, other] = [0, 1].map(|band| places.bands[band].top);
        assert_eq!(
            places.to_screen(pinned, of(0.0)),
            places.to_screen(pinned, of(20.0))
        );
        let moved = places.to_screen(other, of(0.0)) - places.to_screen(other, of(20.0));
        assert_eq!(moved, 20.0);
        for y in [3.0, 40.0, 90.0, 120.0] {
            let depth = places.to_depth(y, of(20.0));
            assert_eq!(places.to_screen(depth, of(20.0)), y);
        }
        let seen: Vec<usize> = places.seen(of(60.0)).map(|band| band.strand).collect();
        assert_eq!(seen, [2, 1], "the first of the others is scrolled away");
        let both = places.rows_between(0.0, other + 1.0, &timeline);
        let rows = |strand: usize| timeline.tracks[strand].rows.clone();
        assert_eq!(both, [rows(0), rows(2)]);
    }

    #[test]
    fn hidden_tracks_have_no_place() {
        let trace = trace();
        let timeline = Timeline::from_trace(&trace);
        let some = ShownTracks {
            others: vec![1],
            all: 3,
            ..ShownTracks::default()
        };
        let places = TrackLayout::new(&trace, &timeline, &BTreeSet::new(), &some);
        assert_eq!(places.bands.len(), 1);
        assert_eq!(places.row_top(0, &timeline), None);
        let rows = places.rows_between(0.0, places.height, &timeline);
        let own = timeline.tracks[1].rows.clone();
        assert_eq!(rows, std::iter::once(own).collect::<Vec<_>>());
    }

    #[test]
    fn rows_are_found_where_they_are_drawn() {
        let trace = trace();
        let timeline = Timeline::from_trace(&trace);
        let places = TrackLayout::new(&trace, &timeline, &BTreeSet::new(), &shown(&timeline, &[]));
        assert_eq!((places.bands.len(), places.heads.len()), (3, 2));
        for row in 0..timeline.rows.len() {
            let top = places.row_top(row, &timeline).unwrap();
            assert_eq!(places.row_at(top + 1.0), Some(row));
            assert_eq!(places.row_at(top + ROW - 1.0), Some(row));
        }
        assert_eq!(places.row_at(2.0), None, "a device's name");
        assert_eq!(places.row_at(1e4), None);
        let all = places.rows_between(0.0, places.height, &timeline);
        let every = 0..timeline.rows.len();
        assert_eq!(all, std::iter::once(every).collect::<Vec<_>>());
        assert!(places.rows_between(0.0, 3.0, &timeline).is_empty());
    }

    #[test]
    fn a_folded_track_keeps_one_row() {
        let trace = trace();
        let timeline = Timeline::from_trace(&trace);
        let all = TrackLayout::new(&trace, &timeline, &BTreeSet::new(), &shown(&timeline, &[]));
        let track = timeline.tracks[1].track;
        let folded = TrackLayout::new(
            &trace,
            &timeline,
            &BTreeSet::from([track]),
            &shown(&timeline, &[]),
        );
        assert!(folded.height < all.height && folded.bands[1].is_folded);
        let hidden = timeline.tracks[1].rows.start + 1;
        let first = folded.row_top(timeline.tracks[1].rows.start, &timeline);
        assert_eq!(folded.row_top(hidden, &timeline), first);
    }

    #[test]
    fn scrolling_brings_a_row_into_sight_and_no_further() {
        let trace = trace();
        let timeline = Timeline::from_trace(&trace);
        let places = TrackLayout::new(&trace, &timeline, &BTreeSet::new(), &shown(&timeline, &[]));
        let last = timeline.rows.len() - 1;
        let scroll = places.scroll_to(last, &timeline, 0.0, 80.0);
        assert_eq!(scroll, places.height - 80.0);
        assert_eq!(places.scroll_to(0, &timeline, scroll, 80.0), 0.0);
        assert_eq!(places.scroll_to(0, &timeline, 0.0, 80.0), 0.0);
    }
}
