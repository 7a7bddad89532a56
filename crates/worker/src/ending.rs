//! How a child process ended, in words: its exit status or signal, the last it said, and whether memory
//! was the cause.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::process::Signal;

use powerband_core::base::humanize;
use powerband_core::domain::outcome::death_sentence;

/// How many of the last lines are reported, and how many letters of them.
const LAST_LINES: usize = 3;
const LAST_LETTERS: usize = 400;

/// The end of a child process: status, last output, memory.
#[derive(Clone, Debug)]
pub struct ProcessEnd {
    /// In words: `exit status 3`, `signal 11 (SIGSEGV)`.
    pub how: String,
    /// The end of its standard error, trimmed.
    pub stderr: String,
    /// Why memory is taken to be the cause, where it is.
    pub memory: Option<String>,
    /// Whether it went by itself with an error, or by a signal that was not ours.
    pub is_failure: bool,
    /// Whether the connection to the worker ended, and not, for all that is known, the worker.
    pub is_lost: bool,
}

/// How the line begins with which the guard of a worker on another machine says how that ended.
pub(super) const FAREWELL: &str = "powerband-worker-ended: ";
/// What the guard adds where the system killed the worker for its memory.
pub(super) const FOR_MEMORY: &str = "the system killed the worker to free memory (OOM killer)";

impl ProcessEnd {
    /// The end of a worker on another machine, as its guard says it. Where it says nothing, the connection is lost.
    pub(super) fn guarded(self) -> Self {
        let Some((before, said)) = self.stderr.rsplit_once(FAREWELL) else {
            return Self {
                is_lost: true,
                is_failure: true,
                ..self
            };
        };
        let said = said.lines().next().unwrap_or_default().trim();
        let (how, reason) = said.split_once("; ").unwrap_or((said, ""));
        let for_memory = (reason == FOR_MEMORY).then(|| reason.to_owned());
        Self {
            is_failure: how != ENDED_WELL,
            how: how.to_owned(),
            memory: for_memory.or(self.memory),
            stderr: before.trim().to_owned(),
            is_lost: false,
        }
    }

    /// Whether a signal ended it that programs do not send themselves, and not for its memory.
    pub fn is_by_someone_else(&self) -> bool {
        let signals = ["(SIGTERM)", "(SIGKILL)"];
        self.memory.is_none() && signals.iter().any(|signal| self.how.ends_with(signal))
    }

    /// When and how a worker died, in a sentence without its full stop.
    pub fn sentence(&self, when: &str) -> String {
        if self.memory.is_some() {
            return format!("the worker died {when}: {self}");
        }
        let death = death_sentence(&self.how, when);
        match self.last_words().as_str() {
            "" => death,
            words => format!("{death}. Its last words: {words}"),
        }
    }

    /// The last lines of what it wrote to standard error, of a length that fits a message.
    pub(crate) fn last_words(&self) -> String {
        let lines = self.stderr.lines().map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        let from = lines.len().saturating_sub(LAST_LINES);
        humanize::shorten(&lines[from..].join(" / "), LAST_LETTERS)
    }
}

/// `signal 9 (SIGKILL). Its last words: Segmentation fault`.
impl fmt::Display for ProcessEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.how)?;
        if let Some(reason) = &self.memory {
            write!(f, "; {reason}")?;
        }
        match self.last_words().as_str() {
            "" => Ok(()),
            words => write!(f, ". Its last words: {words}"),
        }
    }
}

/// How a process ended that had no error.
const ENDED_WELL: &str = "it ended by itself, without an error";

/// An exit status in words.
pub(super) fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(0), _) => ENDED_WELL.to_owned(),
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(number)) => {
            // rustix writes a name as `"Signal::KILL"`, and one that it does not know as a number.
            let name = Signal::from_named_raw(number).map(|signal| format!("{signal:?}"));
            let name = name.map(|name| name.trim_matches('"').replace("Signal::", "SIG"));
            let name = name.map_or_else(String::new, |name| format!(" ({name})"));
            format!("signal {number}{name}")
        }
        (None, None) => "for a reason that the system does not tell".to_owned(),
    }
}

/// How many processes the system has killed for want of memory since it started; 0 where it does not say.
pub(super) fn oom_kills() -> u64 {
    std::fs::read_to_string("/proc/vmstat")
        .ok()
        .and_then(|text| {
            text.lines()
                .find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_says_how_its_worker_ended_and_its_silence_is_a_lost_connection() {
        let ending = |stderr: &str| ProcessEnd {
            how: "exit status 255".to_owned(),
            stderr: stderr.to_owned(),
            memory: None,
            is_failure: true,
            is_lost: false,
        };
        let killed = format!("last words\n{FAREWELL}signal 9 (SIGKILL); {FOR_MEMORY}");
        let killed = ending(&killed).guarded();
        assert_eq!(
            (killed.how.as_str(), killed.is_lost),
            ("signal 9 (SIGKILL)", false)
        );
        assert_eq!(killed.stderr, "last words");
        assert!(!killed.is_by_someone_else(), "for its memory");
        let ended = ending(&format!("{FAREWELL}signal 15 (SIGTERM)")).guarded();
        assert!(ended.is_by_someone_else() && !ended.is_lost);
        assert!(killed.memory.is_some() && killed.is_failure);
        let well = ending(&format!("{FAREWELL}{ENDED_WELL}")).guarded();
        assert!(!well.is_failure);
        assert!(
            ending("Connection to a closed by remote host.")
                .guarded()
                .is_lost
        );
    }

    #[test]
    fn signals_are_said_with_their_names() {
        let words = |status| how_it_ended(ExitStatus::from_raw(status));
        assert_eq!(words(9), "signal 9 (SIGKILL)");
        assert_eq!(words(11), "signal 11 (SIGSEGV)");
        assert_eq!(words(3 << 8), "exit status 3");
    }
}
