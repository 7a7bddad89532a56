//! Two open traces are compared: made one in the background, then aligned or not.

use std::sync::Arc;

use super::{OpenTrace, TraceId};
use crate::action::Timeline;
use crate::doors::ProfileDoor;
use crate::shared::Shared;
use powerband_findings::analysis::category::Rules;
use powerband_store::settings;

impl ProfileDoor {
    /// Compares the trace that is shown with another one, or aligns the two that are compared.
    pub(super) fn compare_traces(&mut self, change: &Timeline, shared: &Shared) {
        match change {
            Timeline::Align(is_aligned) => {
                self.timeline.align(*is_aligned);
                self.find_if_wanted(shared);
            }
            Timeline::CompareWith(before) => self.merge_traces(*before, shared),
            _ => {}
        }
    }

    fn merge_traces(&mut self, before: TraceId, shared: &Shared) {
        let state = &mut self.timeline;
        let sides = [Some(before), state.trace_after()].map(|id| {
            let id = id?;
            Some((id, Arc::clone(state.traces.get(&id)?)))
        });
        let [Some((before, old)), Some((after, new))] = sides else {
            return;
        };
        // Another trace before takes the place of the one that was compared.
        let replaced = state.comparison().and(state.shown);
        let id = state.new_id();
        let paths = shared.place.paths.clone();
        let work = move || {
            let own = settings::read(&paths.settings);
            let own = own.map(|settings| settings.categories).unwrap_or_default();
            let rules = Rules::with_user_rules(&own);
            Arc::new(OpenTrace::compared([before, after], [&old, &new], &rules))
        };
        shared
            .jobs
            .spawn_for("compare-traces", work, move |door: &mut Self, open, _| {
                let steps = open
                    .compared
                    .as_ref()
                    .map(|one| one.merged.steps_range(false));
                if let Some(replaced) = replaced {
                    door.timeline.close(replaced);
                }
                door.timeline.put(id, open);
                door.timeline.fold_threads();
                if let Some(steps) = steps {
                    door.timeline.show_range(steps.with_room());
                }
            });
    }
}
