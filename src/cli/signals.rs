//! Signals that end programs: the work is asked to end, and where it does not respond, the process ends anyway.

use std::io;
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use powerband_core::base::ending::Ending;

/// How long work that was asked to end may take to do so.
const GRACE: Duration = Duration::from_millis(800);

/// A request to end that Ctrl-C raises, or another signal, or a terminal that closes.
///
/// The first signal asks. A command that saves nothing has a moment to end by itself: work may be blocked, as in
/// opening a file or writing to a pipe without a reader. A second Ctrl-C ends the program as if
/// there were no handler.
pub(super) fn heard() -> io::Result<Ending> {
    let ending = Ending::default();
    let flag = ending.token().flag();
    let mut signals = vec![SIGINT, SIGTERM];
    for signal in &signals {
        flag::register_conditional_default(*signal, flag.clone())?;
    }
    // A closed terminal sends several signals: its shell does, and the kernel after it. What `nohup` starts
    // goes on without a terminal.
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
        .spawn(move || obey(signals, &heard))?;
    Ok(ending)
}

/// Waits for the first signal, and sees to it that the process ends.
fn obey(mut signals: Signals, ending: &Ending) {
    let Some(signal) = signals.forever().next() else {
        return;
    };
    let is_saving = ending.is_saving();
    ending.ask();
    if is_saving {
        return;
    }
    thread::sleep(GRACE);
    // As shells number it. No work remains to wait for.
    low_level::exit(128 + signal);
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
    fn an_ignored_signal_is_known() {
        let status =
            "SigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000440\n";
        assert!(is_ignored(SIGHUP, status));
        assert!(!is_ignored(SIGINT, status) && !is_ignored(SIGTERM, ""));
    }
}
