//! Actions on the timeline.

use std::ops::Range;

use super::TraceId;
use powerband_findings::analysis::timeline::stretch::TimeRange;

/// Actions on the timeline. View, selection and hits belong to the trace that is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Timeline {
    /// Asks for a file.
    Choose,
    /// Shows another open trace.
    Show(TraceId),
    /// Closes a trace.
    Close(TraceId),
    /// Stops reading a file.
    StopReading(TraceId),
    /// Looks at a stretch of time.
    Look(TimeRange),
    /// Zooms by a factor around the time under the pointer.
    Zoom(f64),
    /// Moves the visible range by a share of its length.
    Move(f64),
    /// Zooms to the selection; to everything where nothing is selected.
    Fit,
    /// Looks at everything.
    Whole,
    /// Scrolls the tracks to this many points from the top.
    Scroll(f32),
    /// Scrolls to what is selected; it is in sight then.
    Reveal(f32),
    /// Shows one row of a track alone, or all again.
    Fold(u32),
    /// Shows one row alone of every track, or all rows again.
    FoldAll(bool),
    /// Selects a slice, by the trace's index, or nothing.
    Select(Option<usize>),
    /// Selects a slice and brings it into sight.
    GoTo(usize),
    /// Selects a slice and zooms to it.
    ZoomTo(usize),
    /// Selects a stretch of time on some rows, and adds up what ran there.
    Measure(TimeRange, Vec<Range<usize>>),
    /// Whether dragging measures in place of moving.
    Measuring(bool),
    /// Goes from a launch to its kernel, and back.
    Partner,
    /// Goes to the next or the previous slice of the same name.
    Alike(bool),
    /// Copies the arguments of the selected slice.
    CopyArguments,
    /// Looks for names, operators and arguments with a text in them.
    Search(String),
    /// Goes to the next or the previous hit.
    NextHit(bool),
    /// Puts the cursor into the search field.
    FocusSearch,
    /// Keeps a track in sight at the top, or lets it go.
    Pin(u32),
    /// Hides a track, or shows it again.
    Hide(u32),
    /// Shows every track again.
    ShowAllTracks,
    /// Shows tracks with these words in their names only.
    FilterTracks(String),
    /// Adds a note on the selection, or on the time under the pointer.
    AddNote,
    /// Puts the cursor into the text of a note, or takes it out.
    EditNote(Option<usize>),
    /// Changes the text of a note.
    WriteNote(usize, String),
    /// Removes a note.
    RemoveNote(usize),
    /// Looks at a note.
    GoToNote(usize),
    /// Looks at the next or the previous note.
    NextNote(bool),
    /// Compares the trace that is shown with another one, which is the one before.
    CompareWith(TraceId),
    /// Stretches the trace before so that what matches stands above each other, or no longer.
    Align(bool),
    /// The time under the pointer.
    Hand(Option<f64>),
}
