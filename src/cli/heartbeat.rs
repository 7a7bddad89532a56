//! What a run waits for and for how long, printed on standard error while nothing else happens.
//!
//! A thread of its own looks once a second, so that a start, a first run or a profile that takes minutes
//! is reported even while the run itself is blocked.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use powerband_core::base::humanize;

/// Time between two looks.
const LOOK: Duration = Duration::from_secs(1);
/// When a wait is reported; each minute after the last.
const TELL_AFTER: [Duration; 4] = [
    Duration::from_secs(5),
    Duration::from_secs(15),
    Duration::from_secs(30),
    Duration::from_mins(1),
];

/// Reports waits.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    waiting: Arc<Mutex<Option<Waiting>>>,
    /// Ends the thread when it is dropped.
    beat: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What a run waits for, and since when.
#[derive(Clone, Debug)]
struct Waiting {
    what: String,
    since: Instant,
    /// How often it was reported.
    told: u32,
}

impl Waiting {
    /// The report after so much time, if one is due.
    fn due(&mut self, waited: Duration) -> Option<String> {
        let next = TELL_AFTER.get(self.told as usize).copied();
        let beyond = self.told.saturating_sub(TELL_AFTER.len() as u32 - 1);
        let next = next.unwrap_or_else(|| Duration::from_mins(1 + u64::from(beyond)));
        if waited < next {
            return None;
        }
        self.told += 1;
        let time = humanize::clock_time(waited.as_secs_f64());
        Some(format!("{}, for {time}", self.what))
    }
}

impl Heartbeat {
    /// Begins; `say` is called from the heartbeat's own thread. With `each_look` every look reports it
    /// from the first time on, for a line that is painted over.
    pub(super) fn begin(each_look: bool, say: impl Fn(&str) + Send + 'static) -> io::Result<Self> {
        let (beat, ended) = sync_channel(0);
        let waiting = Arc::default();
        let seen = Arc::clone(&waiting);
        let thread = thread::Builder::new()
            .name("heartbeat".to_owned())
            .spawn(move || report_waits(&ended, &seen, each_look, &say))?;
        Ok(Self {
            waiting,
            beat: Some(beat),
            thread: Some(thread),
        })
    }

    /// Begins a wait; ends it without a name.
    pub(crate) fn wait_for(&self, what: Option<String>) {
        *locked(&self.waiting) = what.map(|what| Waiting {
            what,
            since: Instant::now(),
            told: 0,
        });
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.beat = None;
        if let Some(thread) = self.thread.take() {
            // A panic in it has been reported already.
            thread.join().unwrap_or_default();
        }
    }
}

fn report_waits(
    ended: &Receiver<()>,
    waiting: &Mutex<Option<Waiting>>,
    each_look: bool,
    say: &impl Fn(&str),
) {
    while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        let words = locked(waiting).as_mut().and_then(|waiting| {
            if each_look {
                waiting.told = 0;
            }
            waiting.due(waiting.since.elapsed())
        });
        if let Some(words) = words {
            say(&words);
        }
    }
}

fn locked(waiting: &Mutex<Option<Waiting>>) -> MutexGuard<'_, Option<Waiting>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_long_is_told_again_and_again_but_seldom() {
        let mut waiting = Waiting {
            what: "torch batch 1: running for the first time".to_owned(),
            since: Instant::now(),
            told: 0,
        };
        let told = (1..=200).filter_map(|second| waiting.due(Duration::from_secs(second)));
        let told: Vec<String> = told.collect();
        let expected = [
            "5 s",
            "15 s",
            "30 s",
            "1 min 00 s",
            "2 min 00 s",
            "3 min 00 s",
        ];
        let expected =
            expected.map(|time| format!("torch batch 1: running for the first time, for {time}"));
        assert_eq!(told, expected);
    }
}
