//! Background work: each piece on a named thread of its own, or between two frames where there are no threads.
//!
//! What it reports is a function that takes the result in, written where the work was asked for. The window applies
//! these functions for a few milliseconds a frame; it starts work here and never waits for it.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::App;
use super::notices::NoticeLevel;
use powerband_store::journal::{self, JournalledRun};
use powerband_store::library::{self, ScannedFile, Stamp};

/// Reports in the queue before senders block.
const QUEUE: usize = 4096;
/// Threads that read many files at once; one for each file would be thousands.
const THREADS_FOR_MANY: usize = 4;
/// How often files are checked for changes by other programs.
const WATCH_EVERY: Duration = Duration::from_secs(3);

/// How soon a report is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// At once: the user waits for it.
    Now,
    /// Within a quarter of a second: so that painting does not disturb what is being measured.
    Soon,
    /// With the next frame that is painted anyway, once a second during a run.
    Whenever,
}

/// Wakes the window up.
pub type Waker = Arc<dyn Fn(Urgency) + Send + Sync>;

/// Takes a result of background work in.
pub(crate) type JobReport = Box<dyn FnOnce(&mut App) + Send>;

/// Where background work reports to.
#[derive(Clone)]
pub(crate) struct Outlet {
    sender: SyncSender<JobReport>,
    waker: Waker,
}

impl Outlet {
    /// Sends a report that the user waits for.
    pub(crate) fn send(&self, report: impl FnOnce(&mut App) + Send + 'static) {
        self.send_with(Urgency::Now, report);
    }

    /// Sends a report. After the window has closed it is dropped, which is no error.
    pub(crate) fn send_with(
        &self,
        urgency: Urgency,
        report: impl FnOnce(&mut App) + Send + 'static,
    ) {
        if self.sender.send(Box::new(report)).is_ok() {
            (self.waker)(urgency);
        }
    }

    /// Reports why something was not done.
    pub(crate) fn failed(&self, text: String) {
        self.send(|app| app.shared.notify(NoticeLevel::Trouble, text));
    }

    /// Whether the receiver may still exist.
    fn try_send(&self, report: impl FnOnce(&mut App) + Send + 'static) -> bool {
        use std::sync::mpsc::TrySendError;
        let sent = self.sender.try_send(Box::new(report));
        if sent.is_ok() {
            (self.waker)(Urgency::Now);
        }
        !matches!(sent, Err(TrySendError::Disconnected(_)))
    }
}

/// A piece of work.
type Work = Box<dyn FnOnce() + Send>;

/// Starts work and holds what it reports.
pub(crate) struct Jobs {
    outlet: Outlet,
    reports: Receiver<JobReport>,
    watch: Arc<Watch>,
    /// Work that is done between frames; nothing where each piece has a thread.
    between_frames: Option<Mutex<VecDeque<Work>>>,
}

impl Jobs {
    /// Nothing is started yet.
    pub(crate) fn new(waker: Waker, has_threads: bool) -> Self {
        let (sender, reports) = sync_channel(QUEUE);
        Self {
            outlet: Outlet { sender, waker },
            reports,
            watch: Arc::default(),
            between_frames: (!has_threads).then(Mutex::default),
        }
    }

    /// The next report, if there is one. Without threads the work for it is done now.
    pub(crate) fn next(&self) -> Option<JobReport> {
        loop {
            if let Ok(report) = self.reports.try_recv() {
                return Some(report);
            }
            next_of(self.between_frames.as_ref()?)?();
        }
    }

    /// Does work on a thread of its own, or queues it.
    fn start(&self, name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        if let Some(queue) = &self.between_frames {
            lock(queue).push_back(Box::new(work));
            (self.outlet.waker)(Urgency::Now);
            return Ok(());
        }
        let thread = thread::Builder::new().name(name.to_owned());
        thread.spawn(work).map(drop)
    }

    fn outlet(&self) -> Outlet {
        self.outlet.clone()
    }

    /// Runs work on a background thread, which reports as often as it likes.
    pub(crate) fn spawn(&self, name: &str, work: impl FnOnce(&Outlet) + Send + 'static) {
        self.spawn_or(
            name,
            |app, why| app.shared.notify(NoticeLevel::Trouble, why),
            work,
        );
    }

    /// Runs work on a background thread, and takes its result in.
    pub(crate) fn spawn_then<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
        take: impl FnOnce(&mut App, T) + Send + 'static,
    ) {
        self.spawn(name, |outlet| {
            let result = work();
            outlet.send(|app| take(app, result));
        });
    }

    /// Runs work on a background thread that another part waits for: that part takes a panic in.
    pub(crate) fn spawn_or(
        &self,
        name: &str,
        broken: impl FnOnce(&mut App, String) + Clone + Send + 'static,
        work: impl FnOnce(&Outlet) + Send + 'static,
    ) {
        let outlet = self.outlet();
        let (job, take_panic) = (name.to_owned(), broken.clone());
        let started = self.start(name, move || {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(&outlet))) {
                let why = panic_text(&job, panic.as_ref());
                outlet.send(|app| take_panic(app, why));
            }
        });
        if let Err(error) = started {
            let why = format!("Cannot start a thread for {name}: {error}");
            self.outlet.send(|app| broken(app, why));
        }
    }

    /// Does the same work with many things, on a few background threads: each thing whose work panics is
    /// reported by itself, and the others go on.
    pub(crate) fn spawn_each<T: Clone + Send + 'static>(
        &self,
        name: &str,
        things: Vec<T>,
        broken: fn(&mut App, T, String),
        work: fn(T, &Outlet),
    ) {
        let n_threads = things.len().min(THREADS_FOR_MANY);
        let queue = Arc::new(Mutex::new(VecDeque::from(things)));
        let mut why_none = None;
        for place in 0..n_threads {
            let (shared, job, outlet) = (Arc::clone(&queue), name.to_owned(), self.outlet());
            let work_off = move || {
                while let Some(thing) = next_of(&shared) {
                    let again = thing.clone();
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(thing, &outlet))) {
                        let why = panic_text(&job, panic.as_ref());
                        outlet.send(move |app| broken(app, again, why));
                    }
                }
            };
            let started = self.start(name, work_off);
            // The threads that did start work off what the others would have.
            why_none = started.err().filter(|_| place == 0);
            if why_none.is_some() {
                break;
            }
        }
        if let Some(error) = why_none {
            while let Some(thing) = next_of(&queue) {
                let why = format!("Cannot start a thread for {name}: {error}");
                self.outlet.send(move |app| broken(app, thing, why));
            }
        }
    }

    /// Scans the library and the journals of runs, now and periodically; needs threads.
    pub(crate) fn watch_library(&self, folder: PathBuf, journals: PathBuf) {
        let watch = Arc::downgrade(&self.watch);
        self.spawn("library-watch", move |outlet| {
            let mut known = LastScan::default();
            let mut is_wanted = false;
            while let Some(watch) = watch.upgrade() {
                known.look_for_runs(&journals, outlet);
                if !known.scan_once(&folder, &watch.files(), is_wanted, outlet) {
                    return;
                }
                is_wanted = watch.wait();
            }
        });
    }

    /// Scans the library at once.
    pub(crate) fn rescan_library(&self) {
        *lock(&self.watch.wanted) = true;
        self.watch.nudge.notify_all();
    }

    /// Sets which files are open, in any folder.
    pub(crate) fn watch_files(&self, files: BTreeSet<PathBuf>) {
        *lock(&self.watch.files) = files;
    }
}

fn next_of<T>(queue: &Mutex<VecDeque<T>>) -> Option<T> {
    lock(queue).pop_front()
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.rescan_library();
    }
}

/// The message of a panic in background work.
fn panic_text(job: &str, panic: &(dyn Any + Send)) -> String {
    let words = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    format!(
        "Internal error in \u{201c}{job}\u{201d}: {words}. Everything else goes on; please report this with \
         the steps before it and the output of the terminal."
    )
}

#[derive(Default)]
struct Watch {
    files: Mutex<BTreeSet<PathBuf>>,
    wanted: Mutex<bool>,
    nudge: Condvar,
}

impl Watch {
    fn files(&self) -> BTreeSet<PathBuf> {
        lock(&self.files).clone()
    }

    /// Waits until the next scan is due; returns whether it was requested.
    fn wait(&self) -> bool {
        let wanted = lock(&self.wanted);
        let waited = self
            .nudge
            .wait_timeout_while(wanted, WATCH_EVERY, |wanted| !*wanted)
            .unwrap_or_else(PoisonError::into_inner);
        let (mut wanted, _) = waited;
        std::mem::take(&mut *wanted)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The last scan, so that only changes are reported.
#[derive(Default)]
struct LastScan {
    library: Option<Result<BTreeMap<PathBuf, ScannedFile>, String>>,
    /// Whether any scan found the library's folder.
    was_there: bool,
    files: BTreeMap<PathBuf, Option<Stamp>>,
    living: Vec<JournalledRun>,
}

impl LastScan {
    /// Runs in progress, including this program's own.
    fn look_for_runs(&mut self, journals: &Path, outlet: &Outlet) {
        let now = journal::live_runs(journals, &self.living);
        if now != self.living {
            self.living.clone_from(&now);
            outlet.send_with(Urgency::Soon, |app| {
                app.bench.update_other_runs(now, &mut app.shared);
            });
        }
    }

    /// Scans once; returns whether the receiver still exists. A request is answered even where nothing
    /// changed: a session trashed and restored between two scans looks the same as before.
    fn scan_once(
        &mut self,
        folder: &Path,
        files: &BTreeSet<PathBuf>,
        is_wanted: bool,
        outlet: &Outlet,
    ) -> bool {
        let none = BTreeMap::new();
        let before = match &self.library {
            Some(Ok(found)) => found,
            _ => &none,
        };
        let is_there = readable(folder, self.was_there);
        self.was_there |= is_there == Ok(true);
        let now = is_there.map(|_| library::scan(folder, before));
        let stamps = |found: &BTreeMap<PathBuf, ScannedFile>| -> Vec<(PathBuf, Option<Stamp>)> {
            found
                .iter()
                .map(|(path, scanned)| (path.clone(), Some(scanned.stamp)))
                .collect()
        };
        let is_new = match (&self.library, &now) {
            (Some(Ok(before)), Ok(now)) => stamps(before) != stamps(now),
            (Some(Err(before)), Err(now)) => before != now,
            _ => true,
        };
        let mut is_heard = true;
        if is_new || is_wanted {
            self.library = Some(now.clone());
            is_heard = outlet.try_send(|app| app.library.library_scanned(now, &mut app.shared));
        }
        self.files.retain(|path, _| files.contains(path));
        for path in files {
            let stamp = Stamp::read(path).ok();
            // Also at the first look: a file may change between its reading and that.
            if self.files.get(path).is_none_or(|before| *before != stamp) {
                let path = path.clone();
                outlet.send_with(Urgency::Soon, move |app| app.shared.on_disk(&path, stamp));
            }
            self.files.insert(path.clone(), stamp);
        }
        is_heard
    }
}

/// Whether the folder exists. A folder that never existed is an empty library; one that disappeared or
/// cannot be read is a problem.
fn readable(folder: &Path, was_there: bool) -> Result<bool, String> {
    match fs::read_dir(folder) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !was_there => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(format!(
            "The library folder {} is missing. Restore it, or continue: the next run makes a new one.",
            folder.display()
        )),
        Err(error) => Err(format!(
            "The library in {} cannot be read: {error}",
            folder.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Installation;
    use powerband_core::base::paths::Paths;
    use powerband_store::settings::Settings;

    #[test]
    fn work_that_breaks_off_says_so_to_whoever_waits() {
        let home = tempfile::tempdir().unwrap();
        let place = Installation::new(
            Paths::under(home.path()),
            &Settings::default(),
            "/none".into(),
        );
        let mut app = App::new(place, crate::empty_backend::for_tests(), Arc::new(|_| {}));
        let jobs = Jobs::new(Arc::new(|_| {}), true);
        // Applies the next report, and returns what it said.
        let mut said = || {
            let report = jobs.reports.recv_timeout(Duration::from_mins(1)).unwrap();
            let before = app.shared.notices.all().len();
            report(&mut app);
            let said = app.shared.notices.all().get(before..).unwrap_or_default();
            said.iter()
                .map(|notice| notice.text.clone())
                .collect::<String>()
        };
        let count = 3;
        jobs.spawn_or(
            "count",
            |app, why| {
                app.shared
                    .notify(NoticeLevel::Info, format!("Not counted: {why}"));
            },
            move |_| panic!("{count} is odd"),
        );
        let text = said();
        assert!(text.starts_with("Not counted: "), "{text}");
        assert!(text.contains("\u{201c}count\u{201d}: 3 is odd."), "{text}");

        let broken = |app: &mut App, number: u32, why| {
            app.shared
                .notify(NoticeLevel::Info, format!("{number}: {why}"));
        };
        jobs.spawn_each("halve", (1..=9).collect(), broken, |number, outlet| {
            assert!(number % 3 > 0, "no thirds");
            outlet.send(move |app| app.shared.notify(NoticeLevel::Info, number.to_string()));
        });
        let mut halved: Vec<String> = (1..=9).map(|_| said()).collect();
        halved.sort();
        let first_letters: String = halved
            .iter()
            .filter_map(|text| text.chars().next())
            .collect();
        assert_eq!(first_letters, "123456789", "{halved:?}");
        assert!(halved[8].contains("no thirds"), "{halved:?}");

        jobs.spawn_then(
            "add",
            || 1 + 1,
            |app, sum| {
                app.shared
                    .notify(NoticeLevel::Info, format!("{sum} in all"));
            },
        );
        assert_eq!(said(), "2 in all");
        jobs.spawn("add", |_| panic!("no numbers"));
        assert!(said().contains("no numbers"));
    }
}
