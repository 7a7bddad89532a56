//! The log of a run: a line for each event that says something.

use super::LiveRun;
use crate::option_names::without_options;
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::event::{RunEvent, TimedEvent};
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::DeviceLoss;
use powerband_findings::analysis::{accuracy, examined, profiled};

/// Most lines.
const LOG_KEPT: usize = 2_000;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Nanoseconds since the run began.
    pub at_ns: u64,
    /// The text.
    pub text: String,
    /// Whether it is a problem.
    pub is_trouble: bool,
}

impl LiveRun {
    #[expect(clippy::too_many_lines, reason = "an arm for each event")]
    pub(super) fn log_event(&mut self, stamped: &TimedEvent) {
        let Some(session) = &self.session else {
            return;
        };
        let label = |setup: usize| session.setup_label(setup);
        let name = |case: &CaseKey| format!("{} {}", label(case.setup), case.point);
        let of = |setup, words: &str| format!("{}: {words}", label(setup));
        let (text, is_trouble) = match &stamped.event {
            RunEvent::WorkerStarted { setup, pid } => {
                (of(*setup, &format!("worker started, process {pid}")), false)
            }
            RunEvent::Queued { setups, state } => (self.queue_words(setups, state), false),
            RunEvent::Reached { machine } => (machine.in_short(), false),
            RunEvent::SetupReady { setup, report } => (
                format!(
                    "{}: {} loaded the model in {}",
                    label(*setup),
                    report.engine,
                    humanize::duration_ns(report.load_ns as f64)
                ),
                false,
            ),
            RunEvent::Examined { setup, examination } => {
                (of(*setup, &examined::examination_text(examination)), false)
            }
            RunEvent::Profiled { profile } => (profiled::named_profile_text(profile), false),
            RunEvent::Judged { setup, accuracy } => {
                let is_trouble = accuracy.trouble.is_some();
                (of(*setup, &accuracy::in_short(accuracy)), is_trouble)
            }
            RunEvent::CaseOpened { case, opening } => (
                format!(
                    "{}: first run took {}",
                    name(case),
                    humanize::duration_ns(opening.first_run_ns as f64)
                ),
                false,
            ),
            RunEvent::WarmedUp { case, warm_up } => (
                format!(
                    "{}: {} after {}",
                    name(case),
                    how_warm(warm_up.settled),
                    humanize::pluralised(warm_up.runs, "run")
                ),
                !warm_up.settled,
            ),
            RunEvent::RoundFinished { case, round } => (
                format!(
                    "{}: {}, {} in {}",
                    name(case),
                    self.round_words(*case),
                    humanize::pluralised(round.samples_ns.len() as u64, "sample"),
                    humanize::duration_ns(round.spent_ns as f64)
                ),
                false,
            ),
            RunEvent::CaseEnded { case, outcome } => (
                match outcome.sentence() {
                    Some(sentence) => format!("{}: {sentence}", name(case)),
                    None => format!("{}: {}", name(case), outcome.name()),
                },
                outcome.is_trouble(),
            ),
            RunEvent::Warned { text } | RunEvent::WorkerDied { text, .. } => (text.clone(), true),
            RunEvent::TakenBack { case } => (format!("{}: taken back", name(case)), false),
            RunEvent::DeviceLost { device, lost } => {
                (lost_device_text(session, *device, lost), true)
            }
            RunEvent::Paused => ("Paused".to_owned(), false),
            RunEvent::Resumed => ("Resumed".to_owned(), false),
            RunEvent::Ended { cancelled: true } => ("Stopped".to_owned(), false),
            RunEvent::Ended { cancelled: false } => ("Done".to_owned(), false),
            RunEvent::Began(_)
            | RunEvent::WentOn { .. }
            | RunEvent::VisitBegan { .. }
            | RunEvent::Turned { .. }
            | RunEvent::RoundStarted { .. }
            | RunEvent::Watched { .. }
            | RunEvent::Idled { .. }
            | RunEvent::Read { .. } => return,
        };
        self.note(stamped.at_ns, text, is_trouble);
    }

    pub(super) fn note(&mut self, at_ns: u64, text: String, is_trouble: bool) {
        if self.log.len() == LOG_KEPT {
            self.log.pop_front();
        }
        self.log.push_back(LogLine {
            at_ns,
            text: without_options(text),
            is_trouble,
        });
    }
}

/// Which device stopped answering, and why.
fn lost_device_text(session: &Session, device: usize, lost: &DeviceLoss) -> String {
    let track = session.telemetry.tracks.get(device);
    let name = track.map_or_else(String::new, |track| track.device.short_name());
    format!("{name}: {}", lost.why)
}

fn how_warm(settled: bool) -> &'static str {
    if settled { "warm" } else { "not settled" }
}
