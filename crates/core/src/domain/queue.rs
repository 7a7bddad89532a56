//! A place in a scheduler's queue: why a node is not there yet, and when it is expected.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a scheduler says of a request that waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueState {
    /// The scheduler's number of the request.
    pub job: String,
    /// Its reason, in its own word: `Resources`.
    pub reason: String,
    /// The place in the queue of its partition, from 1, and how many wait there; as far as other users' requests are
    /// visible.
    pub position: Option<(usize, usize)>,
    /// When it is expected to start, as the scheduler writes it.
    pub expected_start: Option<String>,
}

/// Reasons for which a request never starts as it is.
const NEVER: [&str; 9] = [
    "PartitionTimeLimit",
    "PartitionNodeLimit",
    "BadConstraints",
    "AccountNotAllowed",
    "InvalidAccount",
    "InvalidQOS",
    "QOSNotAllowed",
    "DependencyNeverSatisfied",
    "JobHeldAdmin",
];

/// Reasons of Slurm, and what they mean.
const MEANINGS: [(&str, &str); 16] = [
    ("Resources", "no node is free"),
    ("Priority", "jobs before it are served first"),
    ("None", "the scheduler has not looked at it yet"),
    ("BeginTime", "its start time has not come"),
    ("JobHeldUser", "it is held by its user: scontrol release"),
    ("JobHeldAdmin", "it is held by an administrator"),
    (
        "ReqNodeNotAvail",
        "a node that it asks for is not available",
    ),
    ("PartitionDown", "the partition is down"),
    ("PartitionInactive", "the partition takes no jobs now"),
    (
        "PartitionTimeLimit",
        "it asks for more time than the partition allows",
    ),
    (
        "PartitionNodeLimit",
        "it asks for more nodes than the partition has",
    ),
    ("BadConstraints", "no node has what it asks for"),
    ("Reservation", "its reservation has not begun"),
    ("Licenses", "a licence is not free"),
    (
        "QOSMaxJobsPerUserLimit",
        "the user runs as many jobs as the quality of service allows",
    ),
    (
        "AssocGrpCpuLimit",
        "the account uses as many processors as it may",
    ),
];

impl QueueState {
    /// Whether it can never start as it is.
    pub fn can_never_start(&self) -> bool {
        NEVER.contains(&self.bare_reason())
    }

    /// The reason without what the scheduler adds to it.
    fn bare_reason(&self) -> &str {
        let end = self.reason.find([',', ' ', '(']);
        end.map_or(self.reason.as_str(), |end| &self.reason[..end])
    }

    /// The reason, with what it means where that is known: `Resources (no node is free)`.
    pub fn reason_words(&self) -> String {
        let word = self.bare_reason();
        let meaning = MEANINGS.iter().find(|(reason, _)| *reason == word);
        meaning.map_or_else(
            || self.reason.clone(),
            |(_, meaning)| format!("{} ({meaning})", self.reason),
        )
    }

    /// `2 of 7`; nothing where it is unknown.
    pub fn position_words(&self) -> Option<String> {
        let (place, of) = self.position?;
        Some(format!("{place} of {of}"))
    }
}

/// `Resources (no node is free), position 2 of 7, expected start 2026-11-26 08:00`.
impl fmt::Display for QueueState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason_words())?;
        if let Some(position) = self.position_words() {
            write!(f, ", position {position}")?;
        }
        match &self.expected_start {
            Some(start) => write!(f, ", expected start {}", local_moment(start)),
            None => f.write_str(", expected start unknown"),
        }
    }
}

/// `2026-11-26T08:00:00` as people read it. Schedulers write the local time of the cluster.
pub fn local_moment(text: &str) -> String {
    let minutes = "2026-11-26T08:00".len();
    text.get(..minutes).unwrap_or(text).replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_queue_is_said_in_words() {
        let state = QueueState {
            job: "17".to_owned(),
            reason: "Resources".to_owned(),
            position: Some((2, 7)),
            expected_start: Some("2026-11-26T08:00:00".to_owned()),
        };
        assert_eq!(
            state.to_string(),
            "Resources (no node is free), position 2 of 7, expected start 2026-11-26 08:00"
        );
        let unknown = QueueState {
            reason: "SomethingNew".to_owned(),
            ..QueueState::default()
        };
        assert_eq!(unknown.to_string(), "SomethingNew, expected start unknown");
        assert!(!state.can_never_start());
        let never = QueueState {
            reason: "ReqNodeNotAvail, UnavailableNodes:n1".to_owned(),
            ..QueueState::default()
        };
        assert!(!never.can_never_start() && never.reason_words().contains("not available"));
        let never = QueueState {
            reason: "PartitionTimeLimit".to_owned(),
            ..QueueState::default()
        };
        assert!(never.can_never_start());
    }
}
