//! What Slurm is asked about its jobs, and how its answers are read: state, queue, time that is left, and how a job
//! ended.

use std::env;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::process;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::outcome::{Outcome, Phase};
use powerband_core::domain::queue::QueueState;
use powerband_planning::transport::SchedulerOptions;

/// How long a question may take; a controller that is busy answers late.
const LIMIT: Duration = Duration::from_secs(10);
/// What is asked of a job, in the order in which [`JobState::read`] takes it.
const FIELDS: &str = "%F|%K|%T|%S|%L|%N|%P|%r";

/// A job, or one task of an array, as the queue has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobState {
    /// Its number; of a task, that of its array.
    pub job: String,
    /// The task of an array; nothing for a job by itself.
    pub task: Option<u32>,
    /// Its state, in Slurm's word: `PENDING`.
    pub state: String,
    /// Why it waits, in Slurm's words.
    pub reason: String,
    /// When it began, or is expected to, as Slurm writes it.
    pub start: Option<String>,
    /// How much of its time is left.
    pub left: Option<Duration>,
    /// Its nodes.
    pub nodes: String,
    /// Its partition.
    pub partition: String,
}

impl JobState {
    fn read(line: &str) -> Option<Self> {
        let mut fields = line.trim().splitn(8, '|').map(str::trim);
        let mut next = || fields.next().map(ToOwned::to_owned);
        let job = next().filter(|job| !job.is_empty())?;
        let task = next()?.parse().ok();
        let state = next()?;
        let start = next()?;
        let left = next()?;
        Some(Self {
            job,
            task,
            state,
            start: Some(start).filter(|start| start.starts_with(|c: char| c.is_ascii_digit())),
            left: duration(&left),
            nodes: next()?,
            partition: next()?,
            reason: next()?,
        })
    }

    /// Whether it waits in the queue.
    pub fn is_pending(&self) -> bool {
        matches!(self.state.as_str(), "PENDING" | "REQUEUED" | "CONFIGURING")
    }

    /// Whether it has not ended yet.
    pub fn is_alive(&self) -> bool {
        self.is_pending()
            || matches!(
                self.state.as_str(),
                "RUNNING" | "COMPLETING" | "SUSPENDED" | "STOPPED" | "SIGNALING" | "STAGE_OUT"
            )
    }

    /// Its place in the queue.
    pub fn queue_state(&self, position: Option<(usize, usize)>) -> QueueState {
        QueueState {
            job: self.job.clone(),
            reason: self.reason.clone(),
            position,
            expected_start: self.start.clone(),
        }
    }
}

/// The question for jobs of this user, by their name where one is given.
pub fn jobs_query(name: Option<&str>) -> ProcessSpec {
    let format = format!("--format={FIELDS}");
    let mut words = vec!["--me", "--noheader", "--array", "--states=all"];
    words.push(&format);
    let name = name.map(|name| format!("--name={name}"));
    words.extend(name.as_deref());
    ProcessSpec::new("squeue").args(words)
}

/// The answer to [`jobs_query`].
pub fn read_jobs(answer: &str) -> Vec<JobState> {
    answer.lines().filter_map(JobState::read).collect()
}

/// The question for the requests that wait in a partition, the next ones first.
fn waiting_query(partition: &str) -> ProcessSpec {
    let mut words = vec![
        "--noheader".to_owned(),
        "--states=PENDING".to_owned(),
        "--sort=-p,i".to_owned(),
        "--format=%F".to_owned(),
    ];
    if !partition.is_empty() {
        words.push(format!("--partition={partition}"));
    }
    ProcessSpec::new("squeue").args(words)
}

/// The place of a job among those that wait, and how many they are. Tasks of an array count as one.
fn place(answer: &str, job: &str) -> Option<(usize, usize)> {
    let mut waiting: Vec<&str> = Vec::new();
    for line in answer
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        if !waiting.contains(&line) {
            waiting.push(line);
        }
    }
    let place = waiting.iter().position(|other| *other == job)?;
    Some((place + 1, waiting.len()))
}

/// The place of a job in the queue of its partition, as far as it is visible.
pub(crate) fn position(job: &JobState, cancel: &CancelToken) -> Option<(usize, usize)> {
    let answer = ask(&waiting_query(&job.partition), cancel)?;
    place(&answer, &job.job)
}

/// What a question gets; nothing where it fails.
pub fn ask(spec: &ProcessSpec, cancel: &CancelToken) -> Option<String> {
    let finished = process::run_to_end(spec, LIMIT, cancel).ok()?;
    finished.success.then_some(finished.stdout)
}

/// How much of a job's time is left; nothing where it has no end, where it ends already, or where that is unknown.
pub fn time_left(job: &str, cancel: &CancelToken) -> Option<Duration> {
    let job = format!("--jobs={job}");
    let spec = ProcessSpec::new("squeue").args(["--noheader", &job, "--format=%T|%L|%e"]);
    let answer = ask(&spec.env("SLURM_TIME_FORMAT", "%s"), cancel)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    left_of(&answer, now)
}

/// Why Slurm never grants the time that a setup asks for, where its partition has a limit below it. Nothing where an
/// account, a quality of service or the environment decides.
pub fn time_refusal(
    partition: &str,
    options: &SchedulerOptions,
    cancel: &CancelToken,
) -> Option<String> {
    let asked = options.get("time")?;
    let partition = options.get("partition").map_or(partition, String::as_str);
    let mut by_environment = ["SBATCH_PARTITION", "SALLOC_PARTITION"].into_iter();
    let is_elsewhere =
        partition.is_empty() && by_environment.any(|name| env::var_os(name).is_some());
    if is_elsewhere || options.contains_key("qos") || options.contains_key("account") {
        return None;
    }
    let query = ProcessSpec::new("sinfo").args(["--noheader", "--format=%P|%l"]);
    let answer = ask(&query, cancel)?;
    let (name, limit) = limit_of(&answer, partition)?;
    (request_time(asked)? > duration(limit)?).then(|| {
        format!(
            "slurm.time={asked} is more than Slurm grants: the limit of partition {name} is {limit}"
        )
    })
}

/// A partition with its limit of time, as Slurm writes it; without a name the one that Slurm takes by itself.
fn limit_of<'a>(answer: &'a str, partition: &str) -> Option<(&'a str, &'a str)> {
    let rows = answer
        .lines()
        .filter_map(|line| line.trim().split_once('|'));
    let mut rows = rows.map(|(name, limit)| (name.strip_suffix('*'), name, limit));
    let found = rows.find(|(usual, name, _)| match partition {
        "" => usual.is_some(),
        _ => usual.unwrap_or(name) == partition,
    });
    found.map(|(usual, name, limit)| (usual.unwrap_or(name), limit))
}

/// A length of time as Slurm is asked for it: `90` minutes, `90:00`, `1:30:00`, `1-12` or `1-12:30:00`.
fn request_time(text: &str) -> Option<Duration> {
    let number = |text: &str| text.parse::<u64>().ok();
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(number(days)?), rest),
        None => (None, text),
    };
    let parts: Vec<u64> = rest.split(':').map(number).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = match (days, parts.as_slice()) {
        (Some(_), &[hours]) => [hours, 0, 0],
        (Some(_), &[hours, minutes]) => [hours, minutes, 0],
        (None, &[minutes]) => [0, minutes, 0],
        (None, &[minutes, seconds]) => [0, minutes, seconds],
        (_, &[hours, minutes, seconds]) => [hours, minutes, seconds],
        _ => return None,
    };
    let hours = days.unwrap_or(0).checked_mul(24)?.checked_add(hours)?;
    let minutes = hours.checked_mul(60)?.checked_add(minutes)?;
    let seconds = minutes.checked_mul(60)?.checked_add(seconds)?;
    Some(Duration::from_secs(seconds))
}

/// Whether Slurm takes the node for another job: it moves the end of the preempted one to the present.
pub fn is_preempted(job: &str, cancel: &CancelToken) -> bool {
    let spec = ProcessSpec::new("scontrol").args(["--oneliner", "show", "job", job]);
    ask(&spec, cancel).is_some_and(|answer| has_preempt_time(&answer))
}

fn has_preempt_time(answer: &str) -> bool {
    let mut words = answer.split_whitespace();
    let time = words.find_map(|word| word.strip_prefix("PreemptTime="));
    time.is_some_and(|time| time.starts_with(|c: char| c.is_ascii_digit()))
}

/// What is left by the limit, and by the moment at which the job ends: an administrator may change either. A job that
/// ends already says why by itself.
fn left_of(answer: &str, now: Duration) -> Option<Duration> {
    let (state, times) = answer.trim().split_once('|')?;
    if state != "RUNNING" {
        return None;
    }
    let (left, end) = times.split_once('|')?;
    let left = duration(left);
    let end = end.parse().ok().map(Duration::from_secs);
    let until_end = end.map(|end| end.saturating_sub(now));
    match (left, until_end) {
        (Some(left), Some(until_end)) => Some(left.min(until_end)),
        (left, until_end) => left.or(until_end),
    }
}

/// A length of time as Slurm writes it: `1-02:03:04`, `02:03:04` or `03:04`. Nothing for `UNLIMITED`.
fn duration(text: &str) -> Option<Duration> {
    // A job that is over its time is as good as ended.
    if text == "INVALID" || text.starts_with('-') {
        return Some(Duration::ZERO);
    }
    let (days, rest) = text.split_once('-').unwrap_or(("0", text));
    let mut seconds = days.parse::<u64>().ok()? * 24;
    let parts: Vec<u64> = rest
        .split(':')
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    let [hours, minutes, last] = match parts[..] {
        [minutes, last] => [0, minutes, last],
        [hours, minutes, last] => [hours, minutes, last],
        _ => return None,
    };
    seconds = ((seconds + hours) * 60 + minutes) * 60 + last;
    Some(Duration::from_secs(seconds))
}

/// How a scheduler ended a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// Its time was over.
    TimeLimit,
    /// Another job took its node.
    Preempted,
    /// Its node went down.
    NodeFailed,
    /// Its user or an administrator ended it.
    Cancelled,
}

impl JobEnd {
    /// From what Slurm wrote into the job's output, or to those who wait for it.
    pub fn said(text: &str) -> Option<(Self, &str)> {
        let kinds = [
            ("DUE TO TIME LIMIT", Self::TimeLimit),
            ("due to time limit", Self::TimeLimit),
            ("DUE TO PREEMPTION", Self::Preempted),
            ("due to preemption", Self::Preempted),
            ("DUE TO NODE FAILURE", Self::NodeFailed),
            ("due to node failure", Self::NodeFailed),
            ("CANCELLED AT", Self::Cancelled),
        ];
        kinds.into_iter().find_map(|(words, end)| {
            let line = text.lines().rfind(|line| line.contains(words))?;
            Some((end, line.trim()))
        })
    }

    /// From a state of the queue.
    pub fn of_state(state: &str) -> Option<Self> {
        Some(match state {
            "TIMEOUT" | "DEADLINE" => Self::TimeLimit,
            "PREEMPTED" => Self::Preempted,
            "NODE_FAIL" | "BOOT_FAIL" => Self::NodeFailed,
            "CANCELLED" | "REVOKED" => Self::Cancelled,
            _ => return None,
        })
    }

    /// What that means for cases that were still open.
    pub fn outcome(self, phase: Phase, reason: &str) -> Outcome {
        match self {
            Self::TimeLimit => Outcome::Walltime {
                reason: format!("the time of the allocation is over ({reason})"),
            },
            Self::Preempted => Outcome::Preempted {
                reason: reason.to_owned(),
            },
            Self::NodeFailed => Outcome::Lost {
                phase,
                reason: format!("the node went down ({reason})"),
            },
            Self::Cancelled => Outcome::Lost {
                phase,
                reason: format!("the allocation was cancelled ({reason})"),
            },
        }
    }
}

/// How a job ended, by its state in the queue, which still says `COMPLETING` for a while.
pub fn ended(job: &str, cancel: &CancelToken) -> Option<JobEnd> {
    let job = format!("--jobs={job}");
    let spec = ProcessSpec::new("squeue").args(["--noheader", "--states=all", &job, "--format=%T"]);
    for _ in 0..10 {
        let answer = ask(&spec, cancel)?;
        let state = answer.trim();
        if !matches!(state, "COMPLETING" | "RUNNING") || cancel.is_cancelled() {
            return JobEnd::of_state(state);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_and_tasks_are_read() {
        let jobs = read_jobs(
            "17|3|PENDING|2026-11-26T08:00:00|30:00||gpu,all|Resources\n18|N/A|RUNNING|2026-11-26T07:00:00|1-02:03:04|n1|gpu|None\n19|N/A|COMPLETED|NONE|UNLIMITED|n1|gpu|None\n",
        );
        assert_eq!((jobs[0].task, jobs[0].is_pending()), (Some(3), true));
        let state = jobs[0].queue_state(Some((1, 2)));
        assert_eq!(state.reason, "Resources");
        assert_eq!(state.expected_start.as_deref(), Some("2026-11-26T08:00:00"));
        assert_eq!((jobs[1].task, jobs[1].nodes.as_str()), (None, "n1"));
        assert_eq!(jobs[1].left, Some(Duration::from_secs(93_784)));
        assert!(jobs[1].is_alive() && !jobs[2].is_alive());
        assert_eq!((jobs[2].left, &jobs[2].start), (None, &None));
    }

    #[test]
    fn lengths_of_time_are_read() {
        for (text, seconds) in [
            ("0:57", Some(57)),
            ("12:00:01", Some(43_201)),
            ("INVALID", Some(0)),
            ("UNLIMITED", None),
            ("NOT_SET", None),
        ] {
            assert_eq!(duration(text), seconds.map(Duration::from_secs), "{text}");
        }
    }

    #[test]
    fn time_is_asked_for_within_the_limit_of_the_partition() {
        for (text, minutes) in [
            ("90", Some(90)),
            ("90:00", Some(90)),
            ("1:30:00", Some(90)),
            ("1-12", Some(2_160)),
            ("1-12:30", Some(2_190)),
            ("1-0:0:60", Some(1_441)),
            ("soon", None),
            ("999999999999999999", None),
        ] {
            let asked = request_time(text).map(|time| time.as_secs() / 60);
            assert_eq!(asked, minutes, "{text}");
        }
        let answer = "all*|infinite\nshort|1:00:00\n";
        assert_eq!(limit_of(answer, ""), Some(("all", "infinite")));
        assert_eq!(limit_of(answer, "short"), Some(("short", "1:00:00")));
        assert_eq!(limit_of(answer, "none"), None);
        assert_eq!(duration("infinite"), None);
    }

    #[test]
    fn the_earlier_end_of_a_job_counts() {
        let left = |answer| left_of(answer, Duration::from_secs(1_000)).map(|left| left.as_secs());
        assert_eq!(left("RUNNING|1:00|1020\n"), Some(20));
        assert_eq!(left("RUNNING|0:10|1020\n"), Some(10));
        assert_eq!(left("RUNNING|UNLIMITED|NONE\n"), None);
        assert_eq!(left("RUNNING|UNLIMITED|999\n"), Some(0));
        assert_eq!(left(""), None);
        // It was preempted or cancelled, and its end is now.
        assert_eq!(left("COMPLETING|1:00|999\n"), None);
    }

    #[test]
    fn a_preempted_job_has_the_moment_of_it() {
        assert!(has_preempt_time(
            "JobState=RUNNING PreemptTime=2026-11-26T07:00:00 Nice=0"
        ));
        assert!(!has_preempt_time(
            "JobState=RUNNING PreemptTime=None Nice=0"
        ));
        assert!(!has_preempt_time("PreemptEligibleTime=2026-11-26T07:00:00"));
        assert!(!has_preempt_time(""));
    }

    #[test]
    fn the_place_in_the_queue_counts_arrays_once() {
        assert_eq!(place("9\n12\n12\n17\n20\n", "17"), Some((3, 4)));
        assert_eq!(place("9\n", "17"), None);
    }

    #[test]
    fn how_a_job_ended_is_read_from_its_output() {
        let time = "slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT 2026 DUE TO TIME LIMIT ***";
        assert_eq!(JobEnd::said(time), Some((JobEnd::TimeLimit, time)));
        let cancelled = "slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT 2026 ***";
        assert_eq!(
            JobEnd::said(cancelled).map(|(end, _)| end),
            Some(JobEnd::Cancelled)
        );
        assert_eq!(JobEnd::said("all is well"), None);
        let outcome = JobEnd::TimeLimit.outcome(Phase::Measure, "DUE TO TIME LIMIT");
        assert_eq!(outcome.name(), "walltime");
        assert_eq!(JobEnd::of_state("PREEMPTED"), Some(JobEnd::Preempted));
    }
}
