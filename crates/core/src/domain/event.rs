//! The one ordered stream of what happens in a run.
//!
//! `runner` makes it; the journal, the command line and [`Session::apply`](super::session::Session::apply)
//! are its readers.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::accuracy::Accuracy;
use super::case::{CaseKey, CaseOpening, Round, WarmUp};
use super::environment::Environment;
use super::examination::Examination;
use super::machine::RemoteMachine;
use super::model::{ModelRef, PlannedNetwork};
use super::outcome::{Outcome, Phase};
use super::plan::Plan;
use super::profile::Profile;
use super::queue::QueueState;
use super::roofs::Roofs;
use super::session::Session;
use super::setup_report::SetupReport;
use super::telemetry::{DeviceLoss, DeviceReading, MissingSource, TimeSpan, WatchedDevice};
use crate::base::humanize;

/// Everything that is known before the first worker starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunStart {
    /// Name of the session.
    pub name: String,
    /// When the run began, RFC 3339 in UTC.
    pub created: String,
    /// What is to be measured.
    pub plan: Plan,
    /// The model.
    pub model: ModelRef,
    /// The circumstances.
    pub environment: Environment,
    /// Whether any number in it is made up.
    pub made_up: bool,
    /// What was noticed while the plan was made.
    pub warnings: Vec<String>,
    /// For each setup that has a model of its own, that model, by its place in the plan.
    #[serde(default)]
    pub variants: BTreeMap<usize, ModelRef>,
    /// What this machine's devices were measured to reach, as far as that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roofs: Vec<Roofs>,
}

impl RunStart {
    /// The names of the networks that its setups run: `resnet18 and resnet34`.
    pub fn model_names(&self) -> String {
        let networks = PlannedNetwork::all(&self.plan.setups, &self.model, &self.variants);
        let names: Vec<&str> = networks.iter().map(|one| one.model.name.as_str()).collect();
        humanize::list(&names)
    }
}

/// Kind of an upload to another machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UploadKind {
    /// This program.
    Program,
    /// A model, or its weights.
    Model,
    /// Values of an input.
    Input,
}

impl fmt::Display for UploadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Program => "the program",
            Self::Model => "the model",
            Self::Input => "an input",
        })
    }
}

/// Something other than a phase of a visit that a run turns to, and that may take long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Activity {
    /// Looking at what the engine makes of a setup's model.
    Examining {
        /// Which setup.
        setup: usize,
    },
    /// Opening a smaller batch size on the way to the case that is visited.
    OpeningSmaller {
        /// The smaller one.
        case: CaseKey,
    },
    /// Connecting to the machine of a setup.
    Connecting {
        /// Which setup.
        setup: usize,
    },
    /// The program on the machine of a setup measures by itself.
    Elsewhere {
        /// Which setup.
        setup: usize,
        /// What it said last.
        said: String,
    },
    /// Waiting for the machine of a setup in a scheduler's queue.
    Queued {
        /// Which setup.
        setup: usize,
    },
    /// Sending a file to the machine of a setup.
    Sending {
        /// Which setup.
        setup: usize,
        what: UploadKind,
        /// Bytes that have gone, before they are compressed.
        done_bytes: u64,
        /// Bytes that there are.
        total_bytes: u64,
    },
    /// Waiting, so that the rounds of a case lie apart.
    Waiting {
        /// Until then, in nanoseconds since the run began.
        until_ns: u64,
    },
    /// Computing the outputs that the setups' are compared with.
    ComputingReference,
    /// Computing a setup's outputs and comparing them.
    Comparing {
        /// Which setup.
        setup: usize,
    },
    /// Running a case once more, watched.
    Profiling { case: CaseKey },
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RunEvent {
    /// The run begins.
    Began(Box<RunStart>),
    /// A run that was over goes on, with more rounds.
    WentOn {
        /// Everything that was measured before, its cases open again.
        session: Box<Session>,
        /// When, RFC 3339 in UTC.
        at: String,
    },
    /// The machine of setups is waited for in a scheduler's queue.
    Queued {
        /// Which setups.
        setups: Vec<usize>,
        /// What the scheduler says.
        state: QueueState,
    },
    /// Another machine answers, on which setups are to run.
    Reached {
        /// What it says of itself.
        machine: Box<RemoteMachine>,
    },
    /// A worker was started for a setup.
    WorkerStarted {
        /// Which setup.
        setup: usize,
        /// Its process.
        pid: u32,
    },
    /// Where the time of a case goes, from a run of its own.
    Profiled {
        /// What was found.
        profile: Box<Profile>,
    },
    /// What an engine makes of a setup's model.
    Examined {
        /// Which setup.
        setup: usize,
        /// What was seen.
        examination: Box<Examination>,
    },
    /// A worker has loaded the model.
    SetupReady {
        /// Which setup.
        setup: usize,
        /// What it said.
        report: SetupReport,
    },
    /// A case is turned to: what has to come before measuring comes now, the worker's start included.
    VisitBegan {
        case: CaseKey,
        /// What it begins with; older journals do not say it.
        #[serde(default)]
        begins: Option<Phase>,
    },
    /// The run turns to something beside the phases of a visit.
    Turned { activity: Activity },
    /// A case ran for the first time.
    CaseOpened {
        case: CaseKey,
        /// What came before measuring.
        opening: CaseOpening,
    },
    /// A case is warm.
    WarmedUp {
        case: CaseKey,
        /// How it got there.
        warm_up: WarmUp,
    },
    /// A round of a case is to be measured now.
    RoundStarted {
        case: CaseKey,
        /// Which round.
        round: u32,
    },
    /// A round of a case was measured.
    RoundFinished {
        case: CaseKey,
        /// The samples.
        round: Round,
    },
    /// A case is over.
    CaseEnded {
        case: CaseKey,
        /// How it ended.
        outcome: Outcome,
    },
    /// Devices are watched from now on.
    Watched {
        /// Readings a second.
        rate_hz: f64,
        /// The devices.
        devices: Vec<WatchedDevice>,
        /// Sources that are not available, and why.
        missing: Vec<MissingSource>,
    },
    /// The machine was watched while nothing ran.
    Idled {
        /// When.
        span: TimeSpan,
    },
    /// Devices were read. Their times lie a little before the event's.
    Read {
        /// What they said, in the order of the times.
        readings: Vec<DeviceReading>,
    },
    /// A device does not answer any more.
    DeviceLost {
        /// Which, by its place in the session's list.
        device: usize,
        /// When and why.
        lost: DeviceLoss,
    },
    /// What a setup computes was compared with the reference.
    Judged {
        /// Which setup.
        setup: usize,
        /// How close it is.
        accuracy: Box<Accuracy>,
    },
    /// Something the user should know.
    Warned {
        /// What, in a sentence.
        text: String,
    },
    /// A worker died while nothing was asked of it. It is started again when it is needed.
    WorkerDied {
        /// Which setup it ran.
        setup: usize,
        /// When and how, in a sentence.
        text: String,
    },
    /// A case that the user had left out is measured again.
    TakenBack { case: CaseKey },
    /// The user asked for a rest; nothing is measured until `Resumed`.
    Paused,
    /// The rest is over.
    Resumed,
    /// The run is over.
    Ended {
        /// Whether the user stopped it.
        cancelled: bool,
    },
}

/// An event and when it happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedEvent {
    /// Nanoseconds since the run began.
    pub at_ns: u64,
    /// What happened.
    pub event: RunEvent,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::point::Point;

    #[test]
    fn a_visit_in_a_journal_of_an_older_version_is_read() {
        let old = r#"{"at_ns":5,"event":{"VisitBegan":{"case":{"setup":1,"point":{"batch":4}}}}}"#;
        let read: TimedEvent = serde_json::from_str(old).unwrap();
        let case = CaseKey {
            setup: 1,
            point: Point::of_batch(4),
        };
        let event = RunEvent::VisitBegan { case, begins: None };
        assert_eq!(read, TimedEvent { at_ns: 5, event });
    }
}
