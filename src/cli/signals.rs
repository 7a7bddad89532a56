//! Signals that end programs: the work is asked to end, and where it does not respond, the process ends anyway.

use std::io;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use powerband_core::base::ending::Ending;

/// How long work that was asked to end may take to do so.
const GRACE: Duration = Duration::from_millis(800);
/// A second signal within this time belongs to the first: `timeout` signals the command and then its group, and a
/// terminal its foreground.
const SAME_REQUEST: Duration = Duration::from_secs(1);

/// A request to end that Ctrl-C raises, or another signal, or a terminal that closes.
///
/// The first signal asks. A command that saves nothing has a moment to end by itself: work may be blocked, as in
/// opening a file or writing to a pipe without a reader. A second Ctrl-C more than a second later, or a third one, ends
/// the program as if there were no handler. A second call returns the same request.
pub(super) fn listen() -> io::Result<Ending> {
    static ENDING: OnceLock<Ending> = OnceLock::new();
    if let Some(ending) = ENDING.get() {
        return Ok(ending.clone());
    }
    let ending = Ending::default();
    let flag = ending.token().flag();
    let mut signals = vec![SIGINT, SIGTERM];
    // What `nohup` starts goes on without a terminal.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if !is_ignored(SIGHUP, &status) {
        signals.push(SIGHUP);
    }
    for signal in &signals {
        flag::register(*signal, flag.clone())?;
    }
    let signals = Signals::new(signals)?;
    let heard = ending.clone();
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || handle_signals(signals, &heard))?;
    Ok(ENDING.get_or_init(|| ending).clone())
}

/// Requests the end at the first signal, and ends the process if nothing responds.
fn handle_signals(mut signals: Signals, ending: &Ending) {
    let mut requests = ReceivedSignals::default();
    for signal in signals.forever() {
        match requests.answer(signal, Instant::now()) {
            SignalResponse::Ask => {
                let is_saving = ending.is_saving();
                ending.ask();
                if !is_saving {
                    thread::sleep(GRACE);
                    // As shells number it. No work remains to wait for.
                    low_level::exit(128 + signal);
                }
            }
            SignalResponse::Wait => {}
            SignalResponse::EndAtOnce => {
                low_level::emulate_default_handler(signal).unwrap_or_default();
            }
        }
    }
}

/// The response to a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignalResponse {
    /// The work is asked to end.
    Ask,
    /// It was asked already.
    Wait,
    /// The process ends, whatever it is doing.
    EndAtOnce,
}

/// Signals that were received.
#[derive(Default)]
struct ReceivedSignals {
    first: Option<Instant>,
    count: u32,
}

impl ReceivedSignals {
    fn answer(&mut self, signal: i32, now: Instant) -> SignalResponse {
        let Some(first) = self.first else {
            self.first = Some(now);
            self.count = 1;
            return SignalResponse::Ask;
        };
        // A closed terminal sends several: its shell does, and the kernel after it.
        if signal == SIGHUP {
            return SignalResponse::Wait;
        }
        self.count += 1;
        if self.count > 2 || now.duration_since(first) > SAME_REQUEST {
            SignalResponse::EndAtOnce
        } else {
            SignalResponse::Wait
        }
    }
}

/// Whether a process ignores a signal, by the kernel's status of the process.
fn is_ignored(signal: i32, status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_signals_in_a_row_are_one_request_and_a_third_ends_at_once() {
        let begun = Instant::now();
        let later = |ms: u64| begun + Duration::from_millis(ms);
        let answers = |signals: &[(i32, u64)]| {
            let mut requests = ReceivedSignals::default();
            let answers = signals
                .iter()
                .map(|&(signal, ms)| requests.answer(signal, later(ms)));
            answers.collect::<Vec<_>>()
        };
        assert_eq!(
            answers(&[(SIGTERM, 0), (SIGTERM, 3), (SIGTERM, 90)]),
            [
                SignalResponse::Ask,
                SignalResponse::Wait,
                SignalResponse::EndAtOnce
            ]
        );
        assert_eq!(
            answers(&[(SIGINT, 0), (SIGTERM, 1_500)]),
            [SignalResponse::Ask, SignalResponse::EndAtOnce]
        );
        assert_eq!(
            answers(&[(SIGHUP, 0), (SIGHUP, 1), (SIGHUP, 5_000)]),
            [
                SignalResponse::Ask,
                SignalResponse::Wait,
                SignalResponse::Wait
            ]
        );
    }

    #[test]
    fn an_ignored_signal_is_known() {
        let status =
            "SigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000440\n";
        assert!(is_ignored(SIGHUP, status));
        assert!(!is_ignored(SIGINT, status) && !is_ignored(SIGTERM, ""));
    }
}
