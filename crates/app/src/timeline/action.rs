//! What can be asked for about the timeline.

use std::ops::Range;

use super::TraceId;
use powerband_findings::analysis::timeline::stretch::Stretch;

/// About the timeline. What is looked at, selected and found belongs to the trace that is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Timeline {
    /// Asks for a file.
    Choose,
    /// Shows another open trace.
    Show(TraceId),
    /// Closes a trace.
    Close(TraceId),
    /// Stops to read a file.
    StopReading(TraceId),
    /// Looks at a stretch of time.
    Look(Stretch),
    /// Makes what is seen so many times as long, around the time under the hand.
    Zoom(f64),
    /// Moves what is seen by a share of its length.
    Move(f64),
    /// Looks at what is selected; at everything where nothing is.
    Fit,
    /// Looks at everything.
    Whole,
    /// Scrolls the tracks to so many points from the top.
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
    /// Selects a slice and looks at it alone.
    ZoomTo(usize),
    /// Selects a stretch of time on some rows, and adds up what ran there.
    Measure(Stretch, Range<usize>),
    /// Whether dragging measures in place of moving.
    Measuring(bool),
    /// From a launch to what it launched, and back.
    Partner,
    /// Looks for names with a text in them.
    Search(String),
    /// To the next hit, or to the one before.
    NextHit(bool),
    /// Puts the cursor into the search field.
    FocusSearch,
    /// The time under the hand.
    Hand(Option<f64>),
}
