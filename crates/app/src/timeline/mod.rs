//! The timeline: which traces are open, what of them is looked at, and what was selected and found.

pub(crate) mod action;
pub(crate) mod commands;
pub mod compared;
pub(crate) mod menu;
mod merge;
pub mod notebook;
mod notes;
pub(crate) mod palette;
pub mod tracks;
mod update;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::screen::Screen;
use crate::sessions::SessionId;
use compared::ComparedTrace;
use notebook::Notebook;
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::trace::Trace;
use powerband_findings::analysis::instances::instance_at;
use powerband_findings::analysis::timeline::Timeline;
use powerband_findings::analysis::timeline::find::SearchHits;
use powerband_findings::analysis::timeline::selection::SelectionStatistics;
use powerband_findings::analysis::timeline::slice_facts::SliceFacts;
use powerband_findings::analysis::timeline::stretch::TimeRange;
use powerband_findings::chart::lanes::Lane;
use powerband_store::trace_notes::{self, TraceNotes};

/// A slice is short where so many of it fit into what is visible.
const SHORT: f64 = 40.0;

/// What the search field is called.
pub const SEARCH: &str = "Find in the timeline";

/// An open trace, for as long as the window lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(pub u32);

/// A trace that can be looked at.
#[derive(Debug)]
pub struct OpenTrace {
    /// What it is called: its file's name.
    pub name: String,
    /// Its file; nothing for one that was made in memory.
    pub path: Option<PathBuf>,
    /// The session whose profile it belongs to, and which of its profiles that is.
    pub owner: Option<(SessionId, usize)>,
    /// What was noted while it was read.
    pub notes: Vec<String>,
    /// Notes and the arrangement of tracks that were read beside it; or why they were not.
    pub kept: Result<TraceNotes, String>,
    /// Device telemetry.
    pub lanes: Vec<Lane>,
    /// The slices.
    pub trace: Arc<Trace>,
    /// The same, ready for looking at.
    pub timeline: Arc<Timeline>,
    /// What is different, where it is made of two traces.
    pub compared: Option<ComparedTrace>,
}

impl OpenTrace {
    /// Makes a trace ready. Slow for a large one, and so nothing for the window's thread.
    pub fn new(name: impl Into<String>, trace: Trace) -> Self {
        Self {
            name: name.into(),
            path: None,
            owner: None,
            notes: Vec::new(),
            kept: Ok(TraceNotes::default()),
            lanes: Vec::new(),
            timeline: Arc::new(Timeline::from_trace(&trace)),
            trace: Arc::new(trace),
            compared: None,
        }
    }
}

/// What is looked for on a timeline that is about to be shown. Times are counted from its first slice, in
/// nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Seek {
    /// A stretch of time.
    Stretch(TimeRange),
    /// A slice, by its name and its start.
    Slice(String, u64),
    /// All slices that a search finds.
    Search(String),
}

/// A file that is being read.
#[derive(Clone, Debug)]
pub struct TraceReading {
    /// What it becomes.
    pub id: TraceId,
    /// The session that its sums and figures become, or whose profile it is the timeline of.
    pub session: SessionId,
    /// That profile, where the session is open already.
    pub profile: Option<usize>,
    /// What to show first; all where `None`.
    pub seek: Option<Seek>,
    /// The file.
    pub path: PathBuf,
    /// Its title.
    pub name: String,
    /// Its bytes, with those of files that belong to it; 0 until that is known.
    pub bytes: Arc<AtomicU64>,
    /// Bytes of the files before the one that is being read.
    pub before: Arc<AtomicU64>,
    /// Bytes of that one so far.
    pub progress: Arc<AtomicU64>,
    /// Set to stop reading.
    pub cancel: CancelToken,
}

impl TraceReading {
    /// A file before anything of it was read.
    pub fn new(id: TraceId, session: SessionId, path: PathBuf) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str());
        Self {
            id,
            session,
            profile: None,
            seek: None,
            name: name.to_string_lossy().into_owned(),
            path,
            bytes: Arc::default(),
            before: Arc::default(),
            progress: Arc::default(),
            cancel: CancelToken::default(),
        }
    }

    /// How much of it is read, from 0 to 1.
    pub fn share(&self) -> f32 {
        let read = self.before.load(Ordering::Relaxed) + self.progress.load(Ordering::Relaxed);
        let bytes = self.bytes.load(Ordering::Relaxed);
        (read as f32 / bytes.max(1) as f32).clamp(0.0, 1.0)
    }
}

/// A selected time range, on some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeSelection {
    /// From when to when.
    pub stretch: TimeRange,
    /// On which rows, from top to bottom; rows of one range lie side by side.
    pub rows: Vec<Range<usize>>,
}

/// The selection of a timeline.
#[derive(Clone, Debug, PartialEq)]
pub enum TimelineSelection {
    /// A slice, by the trace's index.
    Slice(usize),
    /// A stretch of time.
    Span(TimeSelection),
}

impl TimelineSelection {
    /// The slice, where one is selected.
    pub fn slice(&self) -> Option<usize> {
        match self {
            Self::Slice(slice) => Some(*slice),
            Self::Span(_) => None,
        }
    }
}

/// The visible range and scroll position of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceView {
    /// The visible range.
    pub stretch: TimeRange,
    /// How far the tracks are scrolled, in points.
    pub scroll: f32,
    /// Tracks that show one row alone, by the trace's index.
    pub folded: BTreeSet<u32>,
    /// Tracks that stay in sight at the top, by the trace's index.
    pub pinned: BTreeSet<u32>,
    /// Tracks that are hidden.
    pub hidden: BTreeSet<u32>,
    /// Words that the names of the other tracks must have.
    pub filter: String,
    /// The selection of a timeline.
    pub selected: Option<TimelineSelection>,
    /// What is known about the slice that is selected.
    pub facts: Option<Arc<SliceFacts>>,
    /// What ran in the stretch that is selected, once it was added up.
    pub statistics: Option<Arc<SelectionStatistics>>,
}

impl TraceView {
    /// Selects something, or nothing.
    pub(crate) fn select(&mut self, open: &OpenTrace, selected: Option<TimelineSelection>) {
        let slice = selected.as_ref().and_then(TimelineSelection::slice);
        let slice = slice.filter(|slice| *slice < open.trace.len());
        self.facts = slice.map(|slice| {
            let facts = SliceFacts::from_slice(&open.timeline, &open.trace, slice);
            Arc::new(facts)
        });
        self.selected = selected;
        self.statistics = None;
    }
}

/// The timeline as the application has it.
#[derive(Debug, Default)]
pub struct TimelineState {
    /// Every trace that is open.
    pub traces: BTreeMap<TraceId, Arc<OpenTrace>>,
    /// Notes on each.
    pub notebooks: BTreeMap<TraceId, Notebook>,
    /// How each is looked at.
    pub views: BTreeMap<TraceId, TraceView>,
    /// Files that are being read, oldest first.
    pub reading: Vec<TraceReading>,
    /// The screen on which the last file was opened, to go back to where nothing comes of it.
    pub came_from: Option<Screen>,
    /// The files of other tools that sessions were made of.
    pub sources: BTreeMap<SessionId, PathBuf>,
    /// The trace that is shown.
    pub shown: Option<TraceId>,
    /// What is looked for.
    pub search: String,
    /// What was found, in the trace that is shown.
    pub hits: Option<Arc<SearchHits>>,
    /// Which of them is gone to.
    pub hit: Option<usize>,
    /// Whether dragging measures in place of moving.
    pub measures: bool,
    /// Whether the row of what is selected wants to be seen.
    pub reveals: bool,
    /// The time under the pointer.
    pub hand_ns: Option<f64>,
    /// What the table of the measured stretch was made of.
    pub(crate) tabled: Option<Arc<SelectionStatistics>>,
    newest: u32,
}

impl TimelineState {
    /// A number for another trace.
    pub fn new_id(&mut self) -> TraceId {
        self.newest += 1;
        TraceId(self.newest)
    }

    /// Takes a trace in and shows it. What was looked for in another one is looked for no longer.
    pub fn put(&mut self, id: TraceId, open: Arc<OpenTrace>) {
        self.search.clear();
        self.hits = None;
        self.hit = None;
        let mut view = TraceView {
            stretch: open.timeline.full_range(),
            ..TraceView::default()
        };
        if let Ok(kept) = &open.kept {
            view.arrange(kept, &open);
        }
        let path = open.path.as_deref().map(trace_notes::path);
        self.notebooks
            .insert(id, Notebook::from_notes(path, &open.kept));
        self.newest = self.newest.max(id.0);
        self.views.insert(id, view);
        self.traces.insert(id, open);
        self.show(id);
    }

    /// Shows a trace.
    pub fn show(&mut self, id: TraceId) {
        if self.traces.contains_key(&id) && self.shown != Some(id) {
            self.shown = Some(id);
            self.hits = None;
            self.hit = None;
            self.hand_ns = None;
            self.reveals = false;
        }
    }

    /// The open traces of a session, by their profiles.
    pub(crate) fn traces_of(&self, session: SessionId) -> Vec<(usize, Arc<Trace>)> {
        let owned = self.traces.values().filter_map(|open| {
            let (owner, profile) = open.owner?;
            (owner == session).then(|| (profile, Arc::clone(&open.trace)))
        });
        owned.collect()
    }

    /// Closes the traces of a session's profiles, and stops reading them.
    pub(crate) fn close_of_session(&mut self, session: SessionId) {
        for reading in self
            .reading
            .iter()
            .filter(|reading| reading.session == session)
        {
            reading.cancel.cancel();
        }
        let owned = self.traces.iter().filter(|(_, open)| {
            let owner = open.owner.map(|(owner, _)| owner);
            owner == Some(session)
        });
        let ids: Vec<TraceId> = owned.map(|(id, _)| *id).collect();
        for id in ids {
            self.close(id);
        }
    }

    /// Closes a trace and shows another one.
    pub fn close(&mut self, id: TraceId) {
        self.traces.remove(&id);
        self.views.remove(&id);
        self.notebooks.remove(&id);
        if self.shown == Some(id) {
            self.shown = None;
            self.hits = None;
            self.hit = None;
            if let Some(other) = self.traces.keys().next_back().copied() {
                self.show(other);
            }
        }
    }

    /// The trace that is shown, and how.
    pub fn current(&self) -> Option<(TraceId, &Arc<OpenTrace>, &TraceView)> {
        let id = self.shown?;
        Some((id, self.traces.get(&id)?, self.views.get(&id)?))
    }

    /// Notes on the trace that is shown.
    pub fn notebook(&self) -> Option<&Notebook> {
        self.notebooks.get(&self.shown?)
    }

    /// The same, to be changed.
    pub(crate) fn notebook_mut(&mut self) -> Option<&mut Notebook> {
        self.notebooks.get_mut(&self.shown?)
    }

    /// The note after the middle of what is visible, or before it.
    pub(crate) fn next_note(&self, forward: bool) -> Option<usize> {
        let stretch = self.current()?.2.stretch;
        let apart = stretch.length() / 1e6;
        self.notebook()?.next(stretch.middle(), apart, forward)
    }

    /// The trace that is shown and how, to be changed.
    pub(crate) fn current_mut(&mut self) -> Option<(&Arc<OpenTrace>, &mut TraceView)> {
        let id = self.shown?;
        Some((self.traces.get(&id)?, self.views.get_mut(&id)?))
    }

    /// Looks at a stretch of time, as far as there is something.
    pub fn show_range(&mut self, stretch: TimeRange) {
        if let Some((open, view)) = self.current_mut() {
            view.stretch = stretch.within(open.timeline.full_range());
        }
    }

    /// Looks at a stretch, or selects a slice.
    pub(crate) fn seek(&mut self, seek: &Seek) {
        match seek {
            Seek::Stretch(stretch) => self.show_range_from_first(*stretch),
            Seek::Search(text) => {
                self.search.clone_from(text);
                self.hits = None;
                self.hit = None;
            }
            Seek::Slice(name, start_ns) => {
                let open = self.current().map(|(_, open, _)| Arc::clone(open));
                let slice = open.and_then(|open| instance_at(&open.trace, name, *start_ns));
                if let Some(slice) = slice {
                    self.go_to(slice);
                    self.zoom_to_short();
                }
            }
        }
    }

    /// Zooms to the selected slice with what is around it, where it is short beside what is visible.
    fn zoom_to_short(&mut self) {
        let Some((selected, (_, _, view))) = self.to_fit().zip(self.current()) else {
            return;
        };
        if selected.length() < view.stretch.length() / SHORT {
            let room = selected.length() * SHORT / 4.0;
            let around = TimeRange::new(selected.from - room, selected.to + room);
            self.show_range(around);
        }
    }

    /// Looks at a stretch that is counted from the first slice, with some room around it.
    fn show_range_from_first(&mut self, stretch: TimeRange) {
        let Some((_, open, _)) = self.current() else {
            return;
        };
        let first = open.trace.extent().map_or(0, |(first, _)| first);
        let before = first.abs_diff(open.timeline.origin_ns) as f64;
        let moved = TimeRange::new(stretch.from + before, stretch.to + before);
        self.show_range(moved.with_room());
    }

    /// Zooms at the time under the pointer, or in the middle.
    pub fn zoom(&mut self, times: f64) {
        let hand = self.hand_ns;
        if let Some((open, view)) = self.current_mut() {
            let at = hand.filter(|at| view.stretch.contains(*at));
            let at = at.unwrap_or_else(|| view.stretch.middle());
            view.stretch = view
                .stretch
                .zoomed(at, times)
                .within(open.timeline.full_range());
        }
    }

    /// The time of what is selected; all of the trace where nothing is.
    pub(crate) fn to_fit(&self) -> Option<TimeRange> {
        let (_, open, view) = self.current()?;
        let found = match &view.selected {
            Some(TimelineSelection::Slice(slice)) => {
                let place = open.timeline.place(*slice)?;
                let (from, to) = open.timeline.times(place)?;
                TimeRange::new(from as f64, to as f64).with_room()
            }
            Some(TimelineSelection::Span(measured)) => measured.stretch.with_room(),
            None => open.timeline.full_range(),
        };
        Some(found)
    }

    /// Selects a slice and scrolls to it, and zooms in where it could not be separated from its
    /// neighbours.
    pub fn go_to(&mut self, slice: usize) {
        let Some((open, view)) = self.current_mut() else {
            return;
        };
        let Some((from, to)) = open
            .timeline
            .place(slice)
            .and_then(|place| open.timeline.times(place))
        else {
            return;
        };
        let times = TimeRange::new(from as f64, to as f64);
        let whole = open.timeline.full_range();
        let is_tiny = times.length() < view.stretch.length() / 4_000.0;
        let is_seen = view.stretch.contains(times.from) && view.stretch.contains(times.to);
        if is_tiny {
            let length = (times.length() * 60.0).max(1_000.0);
            let middle = times.middle();
            view.stretch =
                TimeRange::new(middle - length / 2.0, middle + length / 2.0).within(whole);
        } else if !is_seen {
            let share = (times.middle() - view.stretch.middle()) / view.stretch.length();
            view.stretch = view.stretch.moved(share).within(whole);
        }
        view.select(open, Some(TimelineSelection::Slice(slice)));
        // A folded track has one row alone.
        let row = open.timeline.place(slice).map(|place| place.row as usize);
        let strand = row.and_then(|row| open.timeline.track_of_row(row));
        if let Some(strand) = strand.and_then(|strand| open.timeline.tracks.get(strand))
            && row != Some(strand.rows.start)
        {
            view.folded.remove(&strand.track);
        }
        let track = open.trace.slice(slice).track;
        view.uncover(track, open);
        self.reveals = true;
    }

    /// The slice that is selected.
    pub fn selected_slice(&self) -> Option<usize> {
        match self.current()?.2.selected {
            Some(TimelineSelection::Slice(slice)) => Some(slice),
            _ => None,
        }
    }

    /// What the selected slice launched first, or what launched it.
    pub fn partner(&self) -> Option<usize> {
        let (_, open, _) = self.current()?;
        let slice = self.selected_slice()?;
        let found = open.timeline.partners(&open.trace, slice);
        found
            .into_iter()
            .find(|slice| open.timeline.place(*slice).is_some())
    }

    /// The slice of the same name after the one that is selected, or before it.
    pub(crate) fn neighbour_of_same_name(&self, forward: bool) -> Option<usize> {
        let alike = self.current()?.2.facts.as_ref()?.same_name;
        if forward { alike.next } else { alike.previous }
    }

    /// The hit after or before the current one; at first the nearest to the visible range.
    pub(crate) fn next_hit(&self, forward: bool) -> Option<usize> {
        let hits = self.hits.as_ref().filter(|hits| !hits.all.is_empty())?;
        let count = hits.all.len();
        match (self.hit, forward) {
            (Some(hit), true) => Some((hit + 1) % count),
            (Some(hit), false) => Some((hit + count - 1) % count),
            (None, _) => {
                let (_, open, view) = self.current()?;
                hits.nearest(&open.timeline, view.stretch.from, forward)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::trace::{Slice, SliceKind, Track};

    fn state() -> TimelineState {
        let mut trace = Trace::default();
        let stream = trace.track(Track {
            device: Some(0),
            group: "GPU 0".to_owned(),
            name: "stream 7".to_owned(),
        });
        let names = ["conv", "gemm"].map(|name| trace.names.number(name));
        for n in 0..1000_i64 {
            let slice = Slice::new(
                SliceKind::Kernel,
                names[n as usize % 2],
                stream,
                n * 1_000_000,
                1_000,
            );
            trace.push(Slice { link: 1, ..slice });
        }
        let mut state = TimelineState::default();
        let id = state.new_id();
        state.put(id, Arc::new(OpenTrace::new("made up", trace)));
        state
    }

    #[test]
    fn going_to_a_slice_brings_it_into_sight() {
        let mut state = state();
        state.go_to(700);
        let (_, _, view) = state.current().unwrap();
        assert!(view.stretch.contains(700_000_500.0));
        assert!(view.stretch.length() < 100_000.0, "{:?}", view.stretch);
        let before = view.stretch;
        state.go_to(701);
        let (_, _, view) = state.current().unwrap();
        assert!((view.stretch.length() - before.length()).abs() < 1.0);
        assert!(view.stretch.contains(701_000_500.0));
        assert!(state.reveals);
    }

    #[test]
    fn what_is_selected_is_fitted_and_all_of_it_else() {
        let mut state = state();
        let all = state.to_fit().unwrap();
        assert!((all.length() - 999_001_000.0).abs() < 1.0);
        state.go_to(3);
        assert!(state.to_fit().unwrap().length() < 2_000.0);
        assert_eq!(state.partner(), Some(0));
    }

    #[test]
    fn hits_go_round() {
        let mut state = state();
        let open = Arc::clone(state.current().unwrap().1);
        state.hits = Some(Arc::new(SearchHits::search(
            &open.trace,
            &open.timeline,
            "gemm",
        )));
        assert_eq!(state.next_hit(true), Some(0));
        state.hit = Some(0);
        assert_eq!(state.next_hit(false), Some(499));
        state.hit = Some(499);
        assert_eq!(state.next_hit(true), Some(0));
    }

    #[test]
    fn closing_shows_another_one() {
        let mut state = state();
        let second = state.new_id();
        state.put(second, Arc::new(OpenTrace::new("second", Trace::default())));
        assert_eq!(state.shown, Some(second));
        state.close(second);
        assert_eq!(state.shown, Some(TraceId(1)));
        state.close(TraceId(1));
        assert_eq!(state.shown, None);
        assert!(state.current().is_none() && state.views.is_empty());
    }
}
