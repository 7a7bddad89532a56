//! What goes on beside the measuring of a run: its devices are watched.

use std::thread;
use std::time::Duration;

use super::Run;
use crate::runner::watching::Watcher;
use powerband_core::base::clock;
use powerband_core::domain::case::Case;
use powerband_core::domain::event::RunEvent;

/// How often is looked whether the user wants to stop, while nothing is asked.
const LOOK: Duration = Duration::from_millis(100);

impl Run<'_, '_> {
    /// Begins to watch, and looks at the idle machine first where its power can be read.
    pub(super) fn begin_watching(&mut self) {
        let is_over = |case: &Case| case.outcome.is_final();
        let Some(request) = self.request.watch.take() else {
            return;
        };
        if self.session.cases.iter().all(is_over) {
            return;
        }
        let (watcher, event) = Watcher::begin(&request, &self.session.telemetry, self.began_ns);
        let idle_time = watcher.idle_time();
        let played_back = match &event {
            RunEvent::Watched { devices, .. } => Watcher::played_back(devices),
            _ => None,
        };
        let without_meter = watcher.without_meter(&request);
        self.watcher = Some(watcher);
        self.tell(event);
        for warning in [played_back, without_meter].into_iter().flatten() {
            self.tell(warning);
        }
        let Some(idle_time) = idle_time else {
            return;
        };
        let from_ns = clock::monotonic_ns();
        let end_ns = from_ns + idle_time.as_nanos() as u64;
        while clock::monotonic_ns() < end_ns && !self.control.is_cancelled() {
            thread::sleep(LOOK);
            self.hand_on();
        }
        self.hand_all_on();
        let span = self.watcher.as_ref().map(|w| w.span_since(from_ns));
        if let Some(span) = span {
            self.tell(RunEvent::Idled { span });
        }
    }

    /// What is done a few times a second while a worker is silent.
    pub(super) fn look_around(&mut self) {
        self.hand_on();
        self.notice_deaths();
    }

    /// Tells what the devices said, from time to time.
    pub(super) fn hand_on(&mut self) {
        let events = self.watcher.as_mut().map(Watcher::events);
        events
            .into_iter()
            .flatten()
            .for_each(|event| self.tell(event));
    }

    /// Waits for one reading more, so that the end of the last round lies between two, and ends watching.
    pub(super) fn end_watching(&mut self) {
        let wait = self.watcher.as_ref().map(Watcher::one_more_reading);
        if let Some(wait) = wait.filter(|_| !self.control.is_cancelled()) {
            thread::sleep(wait);
        }
        self.hand_all_on();
        self.watcher = None;
    }

    /// Tells what the devices said until now.
    pub(super) fn hand_all_on(&mut self) {
        let events = self.watcher.as_mut().map(Watcher::all_events);
        events
            .into_iter()
            .flatten()
            .for_each(|event| self.tell(event));
    }
}
