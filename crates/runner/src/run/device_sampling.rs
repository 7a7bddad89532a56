//! What goes on beside the measuring of a run: its devices are watched, here and on other machines.

use std::thread;
use std::time::Duration;

use super::ActiveRun;
use crate::watching::Watcher;
use powerband_core::base::{clock, humanize};
use powerband_core::domain::case::Case;
use powerband_core::domain::event::RunEvent;
use powerband_core::domain::telemetry::{Quantity, TimeSpan};
use powerband_worker::remote::RemoteError;
use powerband_worker::remote::sampling::RemoteSampler;

/// How often is looked whether the user wants to stop, while nothing is asked.
const LOOK: Duration = Duration::from_millis(100);
/// A card whose mean utilisation is above this before a run, in percent, is used by others.
const BUSY_CARD: f64 = 10.0;
/// The same of a machine's processors; a desktop alone needs some.
const BUSY_HOST: f64 = 25.0;

impl ActiveRun<'_, '_> {
    /// Begins to watch, and looks at the idle machines first where their power can be read.
    pub(super) fn begin_watching(&mut self) {
        let is_over = |case: &Case| case.outcome.is_final();
        let Some(request) = self.request.watch.take() else {
            return;
        };
        if self.session.cases.iter().all(is_over) {
            return;
        }
        let there = self.begin_there(request.rate_hz);
        let setups = 0..self.session.plan.setups.len();
        let watches_here = setups.into_iter().any(|setup| !self.is_elsewhere(setup));
        if request.places.replay.is_some() && !watches_here {
            let text = "Nothing is played back: every setup runs on another machine.".to_owned();
            self.tell(RunEvent::Warned { text });
        }
        let watcher = Watcher::begin(&request, watches_here, there, self.began_ns);
        let idle_time = watcher.idle_time();
        let warnings = watcher.replay_warning().into_iter();
        let warnings: Vec<RunEvent> = warnings.chain(watcher.without_meter(&request)).collect();
        let event = watcher.watched();
        self.watcher = Some(watcher);
        self.tell_watched(event);
        for warning in warnings {
            self.tell(warning);
        }
        let Some(idle_time) = idle_time else {
            return;
        };
        let from_ns = clock::monotonic_ns();
        let end_ns = from_ns + idle_time.as_nanos() as u64;
        while clock::monotonic_ns() < end_ns && !self.control.is_cancelled() {
            thread::sleep(LOOK);
            self.pass_on_events();
        }
        self.pass_on_all_events();
        let span = self.watcher.as_ref().map(|w| w.span_since(from_ns));
        if let Some(span) = span {
            self.tell(RunEvent::Idled { span });
            self.warn_of_busy_devices(span);
        }
    }

    /// Warns of devices that were not idle before anything of this run was started.
    fn warn_of_busy_devices(&mut self, span: TimeSpan) {
        let telemetry = &self.session.telemetry;
        let busy = telemetry.tracks.iter().filter_map(|track| {
            let device = &track.device;
            let readings = track.readings(Quantity::Busy);
            let within = readings.filter(|(at_ns, _)| span.contains(*at_ns));
            let percents: Vec<f64> = within.map(|(_, percent)| percent).collect();
            let mean = percents.iter().sum::<f64>() / percents.len() as f64;
            let limit = if device.kind.is_gpu() {
                BUSY_CARD
            } else {
                BUSY_HOST
            };
            // Words in front of a command and allocations of a scheduler are no names for --on.
            let help = match device.machine.as_deref() {
                None => "; powerband devices --watch shows what it does".to_owned(),
                Some(name) if name.contains(' ') => String::new(),
                Some(name) => {
                    format!("; powerband devices --watch --on {name} shows what it does")
                }
            };
            (mean > limit && !device.is_played_back()).then(|| {
                format!(
                    "{} was busy before the first worker started: utilisation {} %. Other programs may slow what is measured{help}.",
                    device.short_name(),
                    humanize::value(mean)
                )
            })
        });
        let busy: Vec<String> = busy.collect();
        for text in busy {
            self.tell(RunEvent::Warned { text });
        }
    }

    /// Has every other machine read its devices. Where one does not, the run goes on without its readings.
    fn begin_there(&mut self, rate_hz: f64) -> Vec<RemoteSampler> {
        let reached = self.reached.values();
        let started = reached.map(|reached| (reached.name.clone(), reached.sample(rate_hz)));
        // All of them look for their devices at once.
        let started: Vec<_> = started.collect();
        let mut ready = Vec::new();
        for (name, started) in started {
            match started.and_then(|sampler| self.heard(sampler)) {
                Ok(sampler) => ready.push(sampler),
                Err(error) => self.tell_unwatched(&name, &error),
            }
        }
        ready
    }

    fn heard(&self, mut sampler: RemoteSampler) -> Result<RemoteSampler, RemoteError> {
        sampler.hear_devices(&self.stop)?;
        Ok(sampler)
    }

    /// Has the machine of a setup read its devices again, where that ended before.
    pub(super) fn sample_again(&mut self, setup: usize) {
        let name = match self.reached_of(setup) {
            Ok(Some(reached)) => reached.name.clone(),
            _ => return,
        };
        // That it ended may not have been noticed yet.
        self.pass_on_all_events();
        let rate_hz = if let Some(link) = &self.run_link {
            link.restart_rate(&name)
        } else {
            let watcher = self.watcher.as_ref();
            watcher.and_then(|watcher| watcher.restart_rate(&name))
        };
        let Some(rate_hz) = rate_hz else {
            return;
        };
        let sampler = match self.reached_of(setup) {
            Ok(Some(reached)) => reached.sample(rate_hz),
            _ => return,
        };
        let sampler = match sampler.and_then(|sampler| self.heard(sampler)) {
            Ok(sampler) => Some(sampler),
            Err(error) => {
                self.tell_unwatched(&name, &error);
                None
            }
        };
        match &self.run_link {
            Some(link) => link.reads_again(name, sampler),
            None => self.take_sampler(&name, sampler),
        }
    }

    /// A machine's devices are read again, or cannot be.
    pub(super) fn take_sampler(&mut self, name: &str, sampler: Option<RemoteSampler>) {
        let event = self
            .watcher
            .as_mut()
            .and_then(|watcher| watcher.again(name, sampler));
        if let Some(event) = event {
            self.tell_watched(event);
        }
    }

    fn tell_watched(&mut self, event: RunEvent) {
        self.tell(event);
        if let Some(watcher) = &mut self.watcher {
            watcher.find_places(&self.session.telemetry);
        }
    }

    fn tell_unwatched(&mut self, name: &str, error: &RemoteError) {
        if *error != RemoteError::Cancelled {
            let text = format!(
                "{name}: its devices are not read: {error}. The run goes on without their readings."
            );
            self.tell(RunEvent::Warned { text });
        }
    }

    /// Passes readings on and notices dead workers; called a few times a second while a worker is silent.
    pub(super) fn poll_devices(&mut self) {
        self.pass_on_events();
        self.notice_deaths();
    }

    /// Passes new device readings on to the observer.
    pub(super) fn pass_on_events(&mut self) {
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
        if let Some(mut watcher) = self.watcher.take() {
            for event in watcher.last_events(self.control.token()) {
                self.tell(event);
            }
        }
    }

    /// Passes all device readings so far on to the observer.
    pub(super) fn pass_on_all_events(&mut self) {
        let events = self.watcher.as_mut().map(Watcher::all_events);
        events
            .into_iter()
            .flatten()
            .for_each(|event| self.tell(event));
    }
}
