//! Two open traces as one: which, and whether what matches stands above each other.

use std::sync::Arc;

use super::{OpenTrace, TimelineSelection, TimelineState, TraceId};
use powerband_core::base::humanize;
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::timeline::stretch::TimeRange;
use powerband_findings::analysis::timeline_comparison::{MergedTraces, WorkPair};
use powerband_findings::chart::ribbon::Ribbon;

/// Letters of each name.
const LONGEST_NAME: usize = 20;

/// What is different between the two traces that an open trace is made of.
#[derive(Clone, Debug)]
pub struct ComparedTrace {
    /// The trace before, and the one after.
    pub sides: [TraceId; 2],
    pub merged: Arc<MergedTraces>,
    /// What each operator gained or lost, where it is drawn while both keep their lengths and while they are aligned.
    ribbons: [Arc<Ribbon>; 2],
    /// Whether what ran before is stretched.
    pub is_aligned: bool,
}

impl ComparedTrace {
    fn new(sides: [TraceId; 2], merged: MergedTraces) -> Self {
        Self {
            sides,
            ribbons: [false, true].map(|is_aligned| Arc::new(Ribbon::new(&merged, is_aligned))),
            merged: Arc::new(merged),
            is_aligned: false,
        }
    }

    /// What each operator gained or lost, where it is drawn now.
    pub fn ribbon(&self) -> &Ribbon {
        &self.ribbons[usize::from(self.is_aligned)]
    }

    /// The row of the comparison that a slice belongs to.
    pub fn pair(&self, slice: usize) -> Option<&WorkPair> {
        self.merged.comparison.rows.get(self.merged.row(slice)?)
    }
}

impl OpenTrace {
    /// Two traces as one; slow for large ones, and so nothing for the window's thread.
    pub fn compared(sides: [TraceId; 2], [before, after]: [&Self; 2], rules: &Rules) -> Self {
        let merged = MergedTraces::new(&before.trace, &after.trace, rules);
        let compared = ComparedTrace::new(sides, merged);
        Self {
            name: [before, after]
                .map(|side| humanize::shorten(&side.name, LONGEST_NAME))
                .join(" → "),
            path: None,
            owner: None,
            notes: compared.merged.comparison.notes.clone(),
            kept: Ok(Default::default()),
            lanes: Vec::new(),
            trace: Arc::clone(&compared.merged.trace),
            timeline: Arc::clone(&compared.merged.linear),
            compared: Some(compared),
        }
    }

    /// The same, with what ran before stretched or not; nothing for a trace that is not made of two.
    fn with_alignment(&self, is_aligned: bool) -> Option<Self> {
        let compared = self.compared.as_ref()?;
        let mut compared = compared.clone();
        compared.is_aligned = is_aligned;
        Some(Self {
            name: self.name.clone(),
            path: None,
            owner: None,
            notes: self.notes.clone(),
            kept: Ok(Default::default()),
            lanes: Vec::new(),
            trace: Arc::clone(&self.trace),
            timeline: Arc::clone(compared.merged.timeline(is_aligned)),
            compared: Some(compared),
        })
    }
}

impl TimelineState {
    /// The trace after of the comparison that is shown, else the trace that is shown.
    pub(super) fn trace_after(&self) -> Option<TraceId> {
        self.comparison()
            .map_or(self.shown, |compared| Some(compared.sides[1]))
    }

    /// Traces that it can be compared with, as the one before; those that were opened last first.
    pub fn comparable(&self) -> Vec<(TraceId, &str)> {
        let after = self.trace_after().filter(|id| self.traces.contains_key(id));
        let others = self.traces.iter().rev().filter(|(id, open)| {
            open.compared.is_none() && after.is_some_and(|after| after != **id)
        });
        others.map(|(id, open)| (*id, open.name.as_str())).collect()
    }

    /// The comparison that is shown.
    pub fn comparison(&self) -> Option<&ComparedTrace> {
        self.current()?.1.compared.as_ref()
    }

    /// Shows one row of each thread of the host, so that the devices of both sides stand close together.
    pub(super) fn fold_threads(&mut self) {
        let Some((open, view)) = self.current_mut() else {
            return;
        };
        let is_thread = |track: &u32| {
            let track = open.trace.tracks.get(*track as usize);
            track.is_some_and(|track| track.device.is_none())
        };
        let strands = open
            .timeline
            .tracks
            .iter()
            .filter(|strand| strand.rows.len() > 1);
        let threads: Vec<u32> = strands
            .map(|strand| strand.track)
            .filter(is_thread)
            .collect();
        let has_devices = open
            .timeline
            .tracks
            .iter()
            .any(|strand| !is_thread(&strand.track));
        if has_devices {
            view.folded.extend(threads);
        }
    }

    /// Stretches what ran before, or no longer. What is visible stays: it begins elsewhere, though.
    pub(super) fn align(&mut self, is_aligned: bool) {
        let Some(id) = self.shown else {
            return;
        };
        let Some(other) = self
            .current()
            .and_then(|(_, open, _)| open.with_alignment(is_aligned))
        else {
            return;
        };
        let other = Arc::new(other);
        if let Some((open, view)) = self.current_mut() {
            let moved = open
                .timeline
                .origin_ns
                .saturating_sub(other.timeline.origin_ns) as f64;
            let stretch = TimeRange::new(view.stretch.from + moved, view.stretch.to + moved);
            view.stretch = stretch.within(other.timeline.full_range());
            if let Some(TimelineSelection::Span(_)) = view.selected {
                view.select(&other, None);
            }
        }
        // Hits are places in the rows of the other timeline.
        self.hits = None;
        self.hit = None;
        self.traces.insert(id, other);
    }
}
