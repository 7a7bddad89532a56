//! Two open traces as one: which, and whether what matches stands above each other.

use std::sync::Arc;

use super::{OpenTrace, TimelineSelection, TimelineState, TraceId};
use crate::action::Timeline;
use crate::doors::ProfileDoor;
use crate::notices::NoticeLevel;
use crate::shared::Shared;
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::timeline::stretch::TimeRange;
use powerband_findings::analysis::timeline_comparison::{MergedTraces, WorkPair};
use powerband_findings::chart::ribbon::Ribbon;
use powerband_store::settings;

/// What is different between the two traces that an open trace is made of.
#[derive(Clone, Debug)]
pub struct ComparedTrace {
    pub merged: Arc<MergedTraces>,
    /// What each operator gained or lost, where it is drawn now.
    pub ribbon: Arc<Ribbon>,
    /// Whether what ran before is stretched.
    pub is_aligned: bool,
}

impl ComparedTrace {
    fn new(merged: Arc<MergedTraces>, is_aligned: bool) -> Self {
        Self {
            ribbon: Arc::new(Ribbon::new(&merged, is_aligned)),
            merged,
            is_aligned,
        }
    }

    /// The row of the comparison that a slice belongs to.
    pub fn pair(&self, slice: usize) -> Option<&WorkPair> {
        self.merged.comparison.rows.get(self.merged.row(slice)?)
    }
}

impl OpenTrace {
    /// Two traces as one; slow for large ones, and so nothing for the window's thread.
    pub fn compared(before: &Self, after: &Self, rules: &Rules) -> Self {
        let mut merged = MergedTraces::new(&before.trace, &after.trace, rules);
        merged.comparison.before_name.clone_from(&before.name);
        let compared = ComparedTrace::new(Arc::new(merged), false);
        Self {
            name: format!("{} → {}", before.name, after.name),
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
        let merged = Arc::clone(&self.compared.as_ref()?.merged);
        Some(Self {
            name: self.name.clone(),
            path: None,
            owner: None,
            notes: self.notes.clone(),
            kept: Ok(Default::default()),
            lanes: Vec::new(),
            trace: Arc::clone(&self.trace),
            timeline: Arc::clone(merged.timeline(is_aligned)),
            compared: Some(ComparedTrace::new(merged, is_aligned)),
        })
    }
}

impl TimelineState {
    /// Traces that the one that is shown can be compared with, as the one before; those that were opened last first.
    pub fn comparable(&self) -> Vec<(TraceId, &str)> {
        let is_single = self
            .current()
            .is_some_and(|(_, open, _)| open.compared.is_none());
        let others =
            self.traces.iter().rev().filter(|(id, open)| {
                is_single && open.compared.is_none() && Some(**id) != self.shown
            });
        others.map(|(id, open)| (*id, open.name.as_str())).collect()
    }

    /// The comparison that is shown.
    pub fn comparison(&self) -> Option<&ComparedTrace> {
        self.current()?.1.compared.as_ref()
    }

    /// Stretches what ran before, or no longer. What is visible stays: it begins elsewhere, though.
    fn align(&mut self, is_aligned: bool) {
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
        self.traces.insert(id, other);
    }
}

impl ProfileDoor {
    /// Compares the trace that is shown with another one, or aligns the two that are compared.
    pub(super) fn compare_traces(&mut self, change: &Timeline, shared: &mut Shared) {
        match change {
            Timeline::Align(is_aligned) => self.timeline.align(*is_aligned),
            Timeline::CompareWith(before) => self.merge_traces(*before, shared),
            _ => {}
        }
    }

    fn merge_traces(&mut self, before: TraceId, shared: &mut Shared) {
        let state = &mut self.timeline;
        let after = state.current().map(|(_, open, _)| Arc::clone(open));
        let Some((before, after)) = state.traces.get(&before).cloned().zip(after) else {
            return;
        };
        let id = state.new_id();
        let paths = shared.place.paths.clone();
        shared.notify(
            NoticeLevel::Info,
            format!("Comparing {} with {}…", after.name, before.name),
        );
        let work = move || {
            let own = settings::read(&paths.settings);
            let own = own.map(|settings| settings.categories).unwrap_or_default();
            let rules = Rules::with_user_rules(&own);
            Arc::new(OpenTrace::compared(&before, &after, &rules))
        };
        shared
            .jobs
            .spawn_for("compare-traces", work, move |door: &mut Self, open, _| {
                let steps = open
                    .compared
                    .as_ref()
                    .map(|one| one.merged.steps_range(false));
                door.timeline.put(id, open);
                if let Some(steps) = steps {
                    door.timeline.show_range(steps.with_room());
                }
            });
    }
}
