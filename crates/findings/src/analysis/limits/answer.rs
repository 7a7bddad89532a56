//! The answer: what limits a case in one sentence, how sure that is, what it rests on, and what a change would bring.

use powerband_core::base::humanize;
use powerband_core::domain::roofs::Roofs;
use powerband_core::domain::session::Session;
use serde::Serialize;

use super::answer_text::AnswerText;
use super::case_limits::Limits;
pub use super::evidence::AnswerSources;
use super::evidence_line::{EvidenceLine, Suggestion};
use super::experiments::{self, TriedExperiments};
use super::hypotheses::{self, CaseLimit};
use super::part_answer::{self, PartAnswer};
use super::settled::{self, LimitWeight, names_of_limits};

/// What limits a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseAnswer {
    /// One limit, two that share the time, or none where that is not settled; *clock* behind compute where the device was
    /// slowed down, which certainty says nothing of.
    #[serde(rename = "limit", serialize_with = "names_of_limits")]
    pub limits: Vec<CaseLimit>,
    /// How sure it is, from 0 to 1; where nothing is settled, how sure the likeliest is.
    pub certainty: f64,
    /// How many times faster the case can become at most with this engine and precision.
    pub at_most: Option<f64>,
    /// The answer in words.
    pub sentence: String,
    /// What it rests on.
    pub evidence: Vec<EvidenceLine>,
    /// What changes brought that were tried.
    pub suggestions: Vec<Suggestion>,
    /// How sure each limit is, the surest first.
    pub weights: Vec<LimitWeight>,
    /// Parts of the run with answers of their own: prefill and decode, phases of training.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartAnswer>,
}

impl CaseAnswer {
    pub fn is_settled(&self) -> bool {
        !self.limits.is_empty()
    }

    /// The sentence without the title that it begins with, for what stands below the title.
    pub fn reason(&self) -> String {
        match self.sentence.split_once(": ") {
            Some((_, rest)) if self.limits.len() < 2 => humanize::capitalised(rest),
            _ => self.sentence.clone(),
        }
    }

    /// The limits by name, or that nothing is settled.
    pub fn title(&self) -> String {
        let names: Vec<&str> = self.limits.iter().map(|limit| limit.title()).collect();
        match names.as_slice() {
            [] => "Not settled".to_owned(),
            names => humanize::capitalised(&names.join(" and ")),
        }
    }

    /// How sure it is: `95 % sure`.
    pub fn certainty_text(&self) -> String {
        settled::certainty_text(self.certainty)
    }
}

/// All that is known of what limits a case.
#[derive(Clone, Debug)]
pub struct ExplainedCase {
    /// What limits its nodes, where it was profiled.
    pub limits: Option<Limits>,
    /// What was tried on it.
    pub tried: Option<TriedExperiments>,
    pub answer: Option<CaseAnswer>,
}

impl ExplainedCase {
    /// That of a profile of a session, by its place, else of the case that its experiments are on, else of its first one;
    /// held against these roofs.
    pub fn new(session: &Session, profile: Option<usize>, roofs: &[Roofs]) -> Self {
        let limits = profile.map(|profile| super::profile_limits(session, profile, roofs));
        let profiled = limits.as_ref().and_then(|limits| limits.case);
        let tried = experiments::tried_experiments(session);
        let tried = tried.filter(|tried| limits.is_none() || profiled == Some(tried.case));
        let asked = tried.as_ref().map(|tried| tried.case);
        let first = || session.cases.first().map(|case| case.key());
        let case = match &limits {
            Some(_) => profiled,
            None => asked.or_else(first),
        };
        let was_measured = tried.as_ref().is_none_or(|tried| tried.trouble.is_none());
        let sources = AnswerSources {
            session,
            case: case.filter(|_| session.plan.can_run()),
            limits: limits.as_ref(),
            tried: tried.as_ref(),
            roofs,
        };
        Self {
            answer: case_answer(&sources).filter(|_| was_measured),
            tried,
            limits,
        }
    }

    /// The case that the experiments of a session are on; nothing where it has none.
    pub fn of_experiments(session: &Session, roofs: &[Roofs]) -> Option<Self> {
        let asked = session.plan.experiments.as_ref()?;
        let mut profiles = session.profiles.iter();
        let profile = profiles.position(|profile| profile.case == Some(asked.case()));
        Some(Self::new(session, profile, roofs))
    }

    /// The answer, or why there is none.
    pub fn sentence(&self) -> String {
        let trouble = self.tried.as_ref().and_then(|tried| tried.trouble.as_ref());
        match (&self.answer, trouble) {
            (_, Some(trouble)) => format!("The case itself was not measured: {trouble}."),
            (Some(answer), None) => answer.sentence.clone(),
            (None, None) => "Nothing is known that would tell what limits it.".to_owned(),
        }
    }
}

/// What limits a case; nothing where nothing at all is known of it.
pub fn case_answer(sources: &AnswerSources<'_>) -> Option<CaseAnswer> {
    let text = AnswerText {
        sources,
        evidence: sources.evidence(),
    };
    let seen = hypotheses::observations(&text.evidence);
    if seen.is_empty() {
        return None;
    }
    let weights = hypotheses::weigh(&seen, text.evidence.threads);
    let (mut limits, mut certainty) = settled::settled_limits(&weights);
    if limits.len() == 2 && !text.evidence.tells_work_apart() {
        limits.clear();
        certainty = weights.first().map_or(0.0, |(_, weight)| *weight);
    }
    if limits.contains(&CaseLimit::Compute) && sources.slowed_down().is_some() {
        limits.push(CaseLimit::Clock);
    }
    let suggestions = text.suggestions();
    let at_most = limits.first().and_then(|limit| text.at_most(*limit));
    let sentence = if limits.is_empty() {
        let unsettled = text.unsettled(&weights);
        let sentences = [unsettled].into_iter().chain(brought(&suggestions));
        sentences.collect::<Vec<_>>().join(" ")
    } else {
        let reasons = limits.iter().map(|limit| {
            let title = humanize::capitalised(limit.title());
            format!("{title}: {}.", text.reason(*limit))
        });
        let mut sentences: Vec<String> = reasons.collect();
        sentences.extend(at_most.map(|times| {
            let times = humanize::ratio(times);
            format!("At most {times} with this engine and precision.")
        }));
        sentences.extend(brought(&suggestions));
        sentences.join(" ")
    };
    let evidence = seen.iter().map(|seen| text.evidence_line(seen));
    let evidence = evidence.collect();
    Some(CaseAnswer {
        certainty,
        at_most,
        sentence,
        evidence,
        suggestions,
        weights: settled::limit_weights(&weights),
        parts: part_answer::part_answers(sources),
        limits,
    })
}

/// What the changes that were tried bring, in one sentence.
fn brought(suggestions: &[Suggestion]) -> Option<String> {
    let each: Vec<&str> = suggestions
        .iter()
        .map(|suggestion| suggestion.sentence.as_str())
        .collect();
    (!each.is_empty()).then(|| format!("{}.", humanize::capitalised(&each.join("; "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::limits::hypotheses::ObservationKind;
    use crate::analysis::limits::tests::{node, roofs};
    use crate::analysis::testing::{add_telemetry, measure, session};
    use powerband_core::domain::case::CpuContention;
    use powerband_core::domain::experiment::{Experiment, ExperimentChange, Experiments};
    use powerband_core::domain::point::Point;
    use powerband_core::domain::profile::Profile;
    use powerband_core::domain::telemetry::{DeviceKind, Quantity};

    /// A case of 10 ms on one thread that works all the time, at three batch sizes; its only node computes for 8 ms of
    /// them by the roofs.
    fn computing(item_ms: u64) -> Session {
        let mut session = session(&["ort:cpu,threads=1"], &[1, 2, 4]);
        for batch in [1, 2, 4] {
            let ns = (10 - item_ms + item_ms * batch as u64) * 1_000_000;
            let rounds: Vec<[u64; 10]> = (0..5).map(|round| [ns + round * 1_000; 10]).collect();
            let rounds: Vec<&[u64]> = rounds.iter().map(<[u64; 10]>::as_slice).collect();
            measure(&mut session, 0, batch, &rounds);
        }
        for round in session.cases.iter_mut().flat_map(|case| &mut case.rounds) {
            round.company = Some(CpuContention {
                counted_ns: 100_000_000,
                own_ns: 100_000_000,
                ..CpuContention::default()
            });
        }
        session.profiles = vec![Profile {
            name: "a profile".to_owned(),
            case: Some(session.cases[0].key()),
            runs: Some(1),
            totals: vec![node("Conv", 9_900_000, 640_000_000, (1_000, 1_000))],
            span_ns: Some(10_000_000),
            ..Profile::default()
        }];
        session
    }

    fn answer(session: &Session) -> CaseAnswer {
        ExplainedCase::new(session, Some(0), &[roofs(0.01)])
            .answer
            .unwrap()
    }

    #[test]
    fn the_line_over_the_batch_is_evidence() {
        let seen = |item_ms| {
            let answer = answer(&computing(item_ms));
            let curve = answer.evidence.iter();
            let mut curve = curve.filter(|line| line.kind == ObservationKind::Curve);
            let line = curve.next().expect("the curve is evidence").clone();
            let launch = answer.weights.iter();
            let launch = launch.filter(|one| one.limit == CaseLimit::Launch);
            (line, launch.map(|one| one.weight).sum::<f64>())
        };
        let (by_items, little) = seen(10);
        assert!(by_items.speaks_for.contains(&CaseLimit::Compute));
        assert!(
            by_items.speaks_against.contains(&CaseLimit::Launch),
            "{by_items:?}"
        );
        let (by_runs, more) = seen(1);
        assert!((by_runs.shares[0].share - 0.9).abs() < 0.02, "{by_runs:?}");
        assert!(
            by_runs.speaks_for.contains(&CaseLimit::Launch),
            "{by_runs:?}"
        );
        assert!(more > little);
    }

    #[test]
    fn twice_the_batch_in_turns_is_evidence_as_a_line_is() {
        let seen = |item_ms| {
            let mut session = computing(item_ms);
            session.cases.retain(|case| case.point.batch() < 4);
            session.plan.points.truncate(2);
            session.plan.experiments = Some(Experiments {
                setup: 0,
                point: Point::of_batch(1),
                tried: vec![Experiment {
                    change: ExperimentChange::TwiceBatch,
                    setup: 0,
                    control: 0,
                    point: Some(Point::of_batch(2)),
                }],
                untried: Vec::new(),
                budget_s: None,
            });
            let answer = answer(&session);
            let mut evidence = answer.evidence.into_iter();
            let line = evidence.find(|line| line.kind == ObservationKind::Curve);
            (line.expect("it is evidence"), answer.sentence)
        };
        let (by_items, said) = seen(10);
        assert!(
            by_items.speaks_for.contains(&CaseLimit::Compute),
            "{by_items:?}"
        );
        assert!(said.contains("Twice the batch brings nothing"), "{said}");
        let (by_runs, said) = seen(1);
        assert!((by_runs.shares[0].share - 0.9).abs() < 0.02, "{by_runs:?}");
        assert!(
            by_runs.speaks_for.contains(&CaseLimit::Launch),
            "{by_runs:?}"
        );
        assert!(
            said.contains("Twice the batch brings 1.82 × the items per second"),
            "{said}"
        );
    }

    #[test]
    fn threads_say_little_beside_programs_that_take_the_cores() {
        let weight = |others_ns| {
            let mut session = session(&["ort:cpu,threads=2", "ort:cpu,threads=1"], &[1]);
            session.environment.cpu.threads = 2;
            for (setup, micros) in [(0, 19_000), (1, 14_000)] {
                let rounds: Vec<[u64; 10]> =
                    (0..5).map(|round| [1_000 * (micros + round); 10]).collect();
                let rounds: Vec<&[u64]> = rounds.iter().map(<[u64; 10]>::as_slice).collect();
                measure(&mut session, setup, 1, &rounds);
            }
            for round in session.cases.iter_mut().flat_map(|case| &mut case.rounds) {
                round.company = Some(CpuContention {
                    counted_ns: 100_000_000,
                    own_ns: 100_000_000,
                    others_ns,
                    ..CpuContention::default()
                });
            }
            session.plan.experiments = Some(Experiments {
                setup: 0,
                point: Point::of_batch(1),
                tried: vec![Experiment {
                    change: ExperimentChange::HalfThreads,
                    setup: 1,
                    control: 0,
                    point: None,
                }],
                untried: Vec::new(),
                budget_s: None,
            });
            let answer = ExplainedCase::new(&session, None, &[]).answer.unwrap();
            let mut weights = answer.weights.iter();
            let compute = weights.find(|one| one.limit == CaseLimit::Compute);
            compute.map_or(0.0, |one| one.weight)
        };
        let (quiet, crowded) = (weight(0), weight(100_000_000));
        assert!(quiet < 0.01, "{quiet}: half the threads take no longer");
        assert!(
            crowded > 0.15,
            "{crowded}: so they would where two share one core"
        );
    }

    #[test]
    fn a_clock_that_was_lowered_is_said_beside_compute() {
        let mut session = computing(10);
        let usual = answer(&session);
        assert_eq!(usual.limits, [CaseLimit::Compute], "{usual:?}");
        add_telemetry(&mut session, DeviceKind::Host, 10.0, 5.0, |_| {
            vec![(Quantity::Throttle, 1.0)]
        });
        let lowered = answer(&session);
        assert_eq!(lowered.limits, [CaseLimit::Compute, CaseLimit::Clock]);
        assert!(lowered.sentence.contains("Clock: "), "{}", lowered.sentence);
        assert!(lowered.sentence.contains("was slowed down by"));
        assert_eq!(lowered.title(), "Compute and clock");
    }
}
