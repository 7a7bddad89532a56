//! Which tracks of a trace are shown: pinned ones stay at the top, hidden ones and those that a filter leaves
//! out are not there.

use std::collections::BTreeSet;

use super::{OpenTrace, TraceView};
use powerband_store::trace_notes::{TraceNotes, TrackName};

/// What the field is called that filters the tracks.
pub const FILTER: &str = "Filter the tracks";

/// The tracks that are shown, by their places in the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownTracks {
    /// Those that stay in sight, in their order.
    pub pinned: Vec<usize>,
    /// The others.
    pub others: Vec<usize>,
    /// How many there are, shown or not.
    pub all: usize,
}

impl ShownTracks {
    /// All of them from top to bottom.
    pub fn in_order(&self) -> Vec<usize> {
        self.pinned.iter().chain(&self.others).copied().collect()
    }

    /// How many are shown.
    pub fn len(&self) -> usize {
        self.pinned.len() + self.others.len()
    }

    /// Whether none is shown.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether some are not shown.
    pub fn is_partial(&self) -> bool {
        self.len() < self.all
    }
}

impl TraceView {
    /// The tracks that are shown. A pinned one stays whatever the filter says.
    pub fn shown_tracks(&self, open: &OpenTrace) -> ShownTracks {
        let words: Vec<String> = self
            .filter
            .split_whitespace()
            .map(str::to_lowercase)
            .collect();
        let mut shown = ShownTracks {
            all: open.timeline.tracks.len(),
            ..ShownTracks::default()
        };
        for (place, strand) in open.timeline.tracks.iter().enumerate() {
            if self.pinned.contains(&strand.track) {
                shown.pinned.push(place);
                continue;
            }
            let has_words = || {
                let track = open.trace.tracks.get(strand.track as usize);
                let text = track.map(|track| format!("{} {}", track.group, track.name));
                let text = text.unwrap_or_default().to_lowercase();
                words.iter().all(|word| text.contains(word))
            };
            if !self.hidden.contains(&strand.track) && (words.is_empty() || has_words()) {
                shown.others.push(place);
            }
        }
        shown
    }

    /// Pins a track, or lets it go.
    pub(crate) fn pin(&mut self, track: u32) {
        if !self.pinned.remove(&track) {
            self.pinned.insert(track);
            self.hidden.remove(&track);
        }
    }

    /// Hides a track, or shows it again.
    pub(crate) fn hide(&mut self, track: u32) {
        if !self.hidden.remove(&track) {
            self.hidden.insert(track);
            self.pinned.remove(&track);
        }
    }

    /// Shows every track.
    pub(crate) fn show_all_tracks(&mut self) {
        self.hidden.clear();
        self.filter.clear();
    }

    /// Shows a track that is gone to.
    pub(crate) fn uncover(&mut self, track: u32, open: &OpenTrace) {
        self.hidden.remove(&track);
        let shown = self.shown_tracks(open);
        let mut places = shown.pinned.iter().chain(&shown.others);
        let strands = &open.timeline.tracks;
        let is_there = places.any(|place| strands.get(*place).is_some_and(|of| of.track == track));
        if !is_there {
            self.filter.clear();
        }
    }

    /// Arranges tracks as they were kept beside the trace.
    pub(crate) fn arrange(&mut self, kept: &TraceNotes, open: &OpenTrace) {
        let tracks = |names: &[TrackName]| -> BTreeSet<u32> {
            let all = open.trace.tracks.iter().enumerate();
            all.filter(|(_, track)| {
                let mut names = names.iter();
                names.any(|name| name.group == track.group && name.name == track.name)
            })
            .map(|(number, _)| number as u32)
            .collect()
        };
        self.pinned = tracks(&kept.pinned);
        self.hidden = tracks(&kept.hidden);
    }
}
