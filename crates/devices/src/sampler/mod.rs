//! Reads every source at a fixed rate, each in a thread of its own, and keeps the readings until they are
//! fetched.
//!
//! A driver that hangs holds up its own thread and nothing else: after a while its source is set aside.

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::source::{DeviceGone, DeviceReader, Values};
use super::survey::{OpenedSource, Survey};
use powerband_core::base::clock;
use powerband_core::domain::telemetry::{DeviceReading, Quantity, WatchedDevice};
use powerband_core::domain::telemetry_paths::RATES_HZ;

/// A source that does not answer for so long is set aside.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long threads may take to end.
const LEAVE: Duration = Duration::from_millis(300);
/// Readings that are kept until they are fetched: a minute of eight devices at the highest rate.
const KEPT: usize = 50_000;

/// Readings and losses since the last fetch, with times of the monotonic clock.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SampledReadings {
    /// What was read, in the order of the times.
    pub readings: Vec<DeviceReading>,
    /// Devices that cannot be read any more: which, since when, and why.
    pub lost: Vec<(usize, u64, String)>,
    /// What else the user should know.
    pub warnings: Vec<String>,
}

/// Reads devices at a fixed rate until it is dropped.
pub struct Sampler {
    lines: Vec<SourceThread>,
    names: Vec<String>,
    shared: Arc<Shared>,
    patience_ns: u64,
}

/// State that all source threads share.
struct Shared {
    stop: AtomicBool,
    /// The run's processes on this machine; the first one is measuring now.
    workers: Mutex<Vec<u32>>,
    caught: Mutex<SampledReadings>,
}

/// What a source's thread and its owner share.
#[derive(Default)]
struct LineState {
    /// Since when it is being asked, on the monotonic clock; zero while it is not.
    asked_ns: AtomicU64,
    /// Its answers are ignored from now on.
    set_aside: AtomicBool,
}

/// One source and its thread.
struct SourceThread {
    title: &'static str,
    places: Vec<usize>,
    state: Arc<LineState>,
    /// Nothing once it was set aside.
    thread: Option<JoinHandle<()>>,
}

impl Sampler {
    /// Begins to ask, so many times a second.
    pub fn start(survey: Survey, rate_hz: f64) -> Self {
        Self::with_patience(survey, rate_hz, PATIENCE)
    }

    /// The same, with another patience.
    pub(crate) fn with_patience(survey: Survey, rate_hz: f64, patience: Duration) -> Self {
        let rate_hz = rate_hz.clamp(*RATES_HZ.start(), *RATES_HZ.end());
        let period_ns = (1e9 / rate_hz) as u64;
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            workers: Mutex::default(),
            caught: Mutex::new(SampledReadings::default()),
        });
        let names = survey
            .devices
            .iter()
            .map(WatchedDevice::short_name)
            .collect();
        let opened = survey.opened.into_iter();
        let lines = opened
            .map(|opened| SourceThread::start(opened, period_ns, &shared))
            .collect();
        Self {
            lines,
            names,
            shared,
            patience_ns: patience.as_nanos() as u64,
        }
    }

    /// Says which processes are the run's; the first one is measuring now.
    pub fn set_workers(&self, pids: Vec<u32>) {
        *self.shared.workers() = pids;
    }

    /// What was caught since the last time.
    pub fn fetch(&mut self) -> SampledReadings {
        self.fetch_at(clock::monotonic_ns())
    }

    fn fetch_at(&mut self, now_ns: u64) -> SampledReadings {
        // Held until sources are set aside: an answer comes either before that and is kept, or after it and is not.
        let mut shared = self.shared.lock();
        let mut caught = mem::take(&mut *shared);
        for line in &mut self.lines {
            line.look_after(now_ns, self.patience_ns, &mut caught);
        }
        drop(shared);
        caught.readings.sort_by_key(|reading| reading.at_ns);
        for (device, _, why) in &caught.lost {
            let name = self.names.get(*device).map_or("A device", String::as_str);
            let text = format!("{name} cannot be read any more: {why}.");
            caught.warnings.push(text);
        }
        caught
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        let threads = self.lines.iter_mut().filter_map(|line| line.thread.take());
        let threads: Vec<JoinHandle<()>> = threads.collect();
        for thread in &threads {
            thread.thread().unpark();
        }
        // One that is just being asked answers soon, or never, and is then left to itself.
        let deadline = Instant::now() + LEAVE;
        for thread in threads {
            while !thread.is_finished() && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(2));
            }
            if thread.is_finished() {
                // One that panicked has said so on standard error already.
                drop(thread.join());
            }
        }
    }
}

impl Shared {
    fn workers(&self) -> MutexGuard<'_, Vec<u32>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, SampledReadings> {
        self.caught.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SourceThread {
    fn start(opened: OpenedSource, period_ns: u64, shared: &Arc<Shared>) -> Self {
        let state = Arc::new(LineState::default());
        let places: Vec<usize> = opened.places.iter().flatten().copied().collect();
        let asker = SourceReader {
            watch: opened.watch,
            title: opened.title,
            devices: opened
                .places
                .into_iter()
                .enumerate()
                .filter_map(|(own, place)| Some((own, place?)))
                .collect(),
            odd: Vec::new(),
            state: Arc::clone(&state),
            shared: Arc::clone(shared),
        };
        let thread = thread::Builder::new()
            .name(format!("watch {}", opened.title))
            .spawn(move || asker.ask_on(period_ns));
        if let Err(error) = &thread {
            let text = format!(
                "{} is not watched: no thread could be started ({error}).",
                opened.title
            );
            shared.lock().warnings.push(text);
        }
        Self {
            title: opened.title,
            places,
            state,
            thread: thread.ok(),
        }
    }

    /// Sets the source aside where it does not answer, or its thread broke down.
    fn look_after(&mut self, now_ns: u64, patience_ns: u64, caught: &mut SampledReadings) {
        // A device that was reported as gone cannot be lost again.
        let gone: Vec<usize> = caught.lost.iter().map(|lost| lost.0).collect();
        self.places.retain(|place| !gone.contains(place));
        let asked_ns = self.state.asked_ns.load(Ordering::Relaxed);
        let silent_ns = if asked_ns == 0 {
            0
        } else {
            now_ns.saturating_sub(asked_ns)
        };
        let is_broken = self.thread.as_ref().is_some_and(JoinHandle::is_finished);
        if self.thread.is_none() || !(silent_ns > patience_ns || is_broken && asked_ns > 0) {
            return;
        }
        self.thread = None;
        self.state.set_aside.store(true, Ordering::Relaxed);
        let why = if is_broken {
            format!("{} broke down while it was asked", self.title)
        } else {
            format!(
                "{} has not answered for {:.1} s, so its driver seems to hang, and it is set aside",
                self.title,
                silent_ns as f64 / 1e9
            )
        };
        let places = self.places.iter();
        caught
            .lost
            .extend(places.map(|place| (*place, asked_ns, why.clone())));
    }
}

/// The part of a source that lives in its thread.
struct SourceReader {
    watch: Box<dyn DeviceReader>,
    title: &'static str,
    /// The source's own number of each device, and its place in the survey.
    devices: Vec<(usize, usize)>,
    /// Impossible readings that were reported already.
    odd: Vec<(usize, Quantity)>,
    state: Arc<LineState>,
    shared: Arc<Shared>,
}

impl SourceReader {
    fn ask_on(mut self, period_ns: u64) {
        let mut due_ns = clock::monotonic_ns();
        while !self.devices.is_empty() && self.wait_until(due_ns) {
            self.ask_all();
            let now_ns = clock::monotonic_ns();
            due_ns += period_ns;
            if due_ns < now_ns {
                // What was missed is missed: catching up would crowd the readings.
                due_ns += (now_ns - due_ns).div_ceil(period_ns) * period_ns;
            }
        }
    }

    /// Sleeps; nothing but the end wakes it early.
    fn wait_until(&self, due_ns: u64) -> bool {
        while !self.is_over() {
            let left_ns = due_ns.saturating_sub(clock::monotonic_ns());
            if left_ns == 0 {
                return true;
            }
            thread::park_timeout(Duration::from_nanos(left_ns));
        }
        false
    }

    fn is_over(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed) || self.state.set_aside.load(Ordering::Relaxed)
    }

    fn ask_all(&mut self) {
        let workers = self.shared.workers().clone();
        for (own, device) in self.devices.clone() {
            let begun_ns = clock::monotonic_ns();
            self.state.asked_ns.store(begun_ns, Ordering::Relaxed);
            let answer = self.watch.read(own, &workers);
            let ended_ns = clock::monotonic_ns();
            let at_ns = begun_ns + (ended_ns - begun_ns) / 2;
            if !self.take_in(device, at_ns, answer) {
                return;
            }
        }
    }

    /// Keeps an answer; false where it came too late and nothing is to be asked any more.
    fn take_in(&mut self, device: usize, at_ns: u64, answer: Result<Values, DeviceGone>) -> bool {
        let shared = Arc::clone(&self.shared);
        let mut caught = shared.lock();
        if self.is_over() {
            return false;
        }
        match answer {
            Ok(values) => self.keep(&mut caught, device, at_ns, values),
            Err(DeviceGone(why)) => {
                self.devices.retain(|(_, place)| *place != device);
                caught.lost.push((device, at_ns, why));
            }
        }
        self.state.asked_ns.store(0, Ordering::Relaxed);
        true
    }

    fn keep(
        &mut self,
        caught: &mut SampledReadings,
        device: usize,
        at_ns: u64,
        mut values: Values,
    ) {
        let mut warnings = Vec::new();
        values.retain(|(quantity, value)| {
            let is_possible = quantity.plausible().contains(value);
            if !is_possible && !self.odd.contains(&(device, *quantity)) {
                self.odd.push((device, *quantity));
                warnings.push(format!(
                    "{} says {value} for {}, which cannot be; such readings are left out.",
                    self.title,
                    quantity.title().to_lowercase()
                ));
            }
            is_possible
        });
        caught.warnings.extend(warnings);
        if caught.readings.len() < KEPT {
            caught.readings.push(DeviceReading {
                device,
                at_ns,
                values,
            });
        }
    }
}

#[cfg(test)]
mod orders;

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::telemetry::DeviceKind;

    /// A source that does at each reading what a function says.
    struct Scripted<F> {
        devices: Vec<WatchedDevice>,
        read: F,
        readings: usize,
    }

    impl<F: FnMut(usize, &[u32]) -> Result<f64, DeviceGone> + Send> DeviceReader for Scripted<F> {
        fn devices(&self) -> &[WatchedDevice] {
            &self.devices
        }

        fn read(&mut self, _device: usize, workers: &[u32]) -> Result<Values, DeviceGone> {
            self.readings += 1;
            Ok(vec![(
                Quantity::Power,
                (self.read)(self.readings, workers)?,
            )])
        }
    }

    fn sampler<F>(rate_hz: f64, patience_ms: u64, read: F) -> Sampler
    where
        F: FnMut(usize, &[u32]) -> Result<f64, DeviceGone> + Send + 'static,
    {
        let device = WatchedDevice::new("test", DeviceKind::Amd, 0, "0000:43:00.0", "Card");
        let survey = Survey {
            opened: vec![OpenedSource {
                title: "Test",
                watch: Box::new(Scripted {
                    devices: vec![device.clone()],
                    read,
                    readings: 0,
                }),
                places: vec![Some(0)],
            }],
            devices: vec![device],
            missing: Vec::new(),
        };
        Sampler::with_patience(survey, rate_hz, Duration::from_millis(patience_ms))
    }

    /// Fetches until enough has come, and gives it all.
    fn fetch_until(
        sampler: &mut Sampler,
        enough: impl Fn(&SampledReadings) -> bool,
    ) -> SampledReadings {
        let mut all = SampledReadings::default();
        let start = Instant::now();
        while !enough(&all) {
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "waited in vain: {all:?}"
            );
            thread::sleep(Duration::from_millis(10));
            let caught = sampler.fetch();
            all.readings.extend(caught.readings);
            all.lost.extend(caught.lost);
            all.warnings.extend(caught.warnings);
        }
        all
    }

    #[test]
    fn readings_come_at_their_rate_and_know_the_worker() {
        let mut sampler = sampler(100.0, 60_000, |_, workers| {
            Ok(workers.first().copied().unwrap_or(0).into())
        });
        fetch_until(&mut sampler, |all| !all.readings.is_empty());
        sampler.set_workers(vec![42, 43]);
        let all = fetch_until(&mut sampler, |all| all.readings.len() > 30);
        assert_eq!(
            all.readings.last().unwrap().values,
            [(Quantity::Power, 42.0)]
        );
        let times: Vec<u64> = all.readings.iter().map(|reading| reading.at_ns).collect();
        assert!(times.is_sorted());
        // However busy the machine is, no reading comes before its time.
        let mean_ns = (times[times.len() - 1] - times[0]) / (times.len() as u64 - 1);
        assert!(mean_ns > 9_000_000, "{mean_ns}");
        assert_eq!((all.lost, all.warnings), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_device_that_is_gone_is_told_once() {
        let mut sampler = sampler(100.0, 60_000, |reading, _| {
            assert!(reading <= 3, "asked after it was gone");
            if reading == 3 {
                Err(DeviceGone("it fell off the bus".to_owned()))
            } else {
                Ok(0.0)
            }
        });
        let all = fetch_until(&mut sampler, |all| !all.lost.is_empty());
        thread::sleep(Duration::from_millis(50));
        assert_eq!(sampler.fetch(), SampledReadings::default());
        assert_eq!(all.readings.len(), 2);
        assert_eq!(all.lost[0].0, 0);
        assert_eq!(
            all.warnings,
            ["GPU 0 cannot be read any more: it fell off the bus."]
        );
    }

    #[test]
    fn a_driver_that_hangs_is_set_aside_and_delays_no_other() {
        let mut sampler = sampler(100.0, 300, |reading, _| {
            if reading == 3 {
                thread::sleep(Duration::from_hours(1));
            }
            Ok(1.0)
        });
        let all = fetch_until(&mut sampler, |all| !all.lost.is_empty());
        assert_eq!(all.readings.len(), 2);
        assert!(
            all.lost[0].1 >= all.readings[1].at_ns,
            "lost when it was asked"
        );
        assert!(
            all.warnings[0].contains("seems to hang"),
            "{:?}",
            all.warnings
        );
        let start = Instant::now();
        drop(sampler);
        assert!(start.elapsed() < Duration::from_mins(1));
    }

    #[test]
    fn what_was_set_aside_is_not_heard_again() {
        let mut sampler = sampler(100.0, 300, |reading, _| {
            if reading == 3 {
                thread::sleep(Duration::from_millis(1_500));
            }
            Ok(1.0)
        });
        fetch_until(&mut sampler, |all| !all.lost.is_empty());
        thread::sleep(Duration::from_millis(1_800));
        assert_eq!(sampler.fetch(), SampledReadings::default());
    }

    #[test]
    fn a_source_that_breaks_down_is_told() {
        let mut sampler = sampler(100.0, 60_000, |reading, _| {
            assert!(reading < 2, "on purpose");
            Ok(1.0)
        });
        let all = fetch_until(&mut sampler, |all| !all.lost.is_empty());
        assert!(all.warnings[0].contains("broke down"), "{:?}", all.warnings);
    }

    #[test]
    fn what_cannot_be_is_left_out_and_told_once() {
        let mut sampler = sampler(100.0, 60_000, |reading, _| {
            Ok(if reading % 2 == 0 { 4e6 } else { 100.0 })
        });
        let all = fetch_until(&mut sampler, |all| all.readings.len() > 8);
        let values = all.readings.iter().flat_map(|reading| &reading.values);
        assert!(values.clone().count() >= 4 && values.clone().all(|(_, value)| *value == 100.0));
        assert!(all.readings.iter().any(|reading| reading.values.is_empty()));
        assert_eq!(all.warnings.len(), 1, "{:?}", all.warnings);
        assert!(
            all.warnings[0].contains("4000000 for power"),
            "{:?}",
            all.warnings
        );
    }
}
