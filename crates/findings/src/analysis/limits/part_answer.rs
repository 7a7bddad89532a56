//! What limits a part of a run: prefill, decode, a phase of training. It is weighed as the whole run is, by what was seen
//! of the part.

use powerband_core::base::humanize;
use powerband_core::domain::experiment::ExperimentChange;
use powerband_core::domain::roofs::numbers_of;
use serde::Serialize;

use super::curve::{self, OPERATIONS_A_MAC};
use super::evidence::AnswerSources;
use super::hypotheses::{self, CaseLimit, Evidence, FloorShares, Share};
use super::lines::RoofLine;
use super::run_parts::{RunPart, TriedPart};
use super::settled::{self, LimitWeight, names_of_limits};

/// Parts that take less of a run have no answer.
const LEAST_SHARE: f64 = 0.03;

/// What limits a part of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartAnswer {
    /// What it is called: `prefill`, `decode`, `forward`.
    pub part: String,
    /// Its share of the time of a run.
    pub share: f64,
    /// Its median: of decode that of a token.
    pub median_ms: f64,
    /// One limit, two that share the time, or none where that is not settled.
    #[serde(rename = "limit", serialize_with = "names_of_limits")]
    pub limits: Vec<CaseLimit>,
    /// How sure it is, from 0 to 1; where nothing is settled, how sure the likeliest is.
    pub certainty: f64,
    /// The answer in words.
    pub sentence: String,
    /// How sure each limit is, the surest first.
    pub weights: Vec<LimitWeight>,
}

/// What limits each part of a case that was tried.
pub(super) fn part_answers(sources: &AnswerSources<'_>) -> Vec<PartAnswer> {
    let parts = sources.tried.iter().flat_map(|tried| &tried.parts);
    let parts = parts.filter(|part| part.share >= LEAST_SHARE);
    parts.filter_map(|part| of_part(sources, part)).collect()
}

fn of_part(sources: &AnswerSources<'_>, part: &TriedPart) -> Option<PartAnswer> {
    let evidence = evidence(sources, part);
    let seen = hypotheses::observations(&evidence);
    if seen.is_empty() {
        return None;
    }
    let weights = hypotheses::weigh(&seen, evidence.threads);
    let (mut limits, certainty) = settled::settled_limits(&weights);
    if limits.len() == 2 && !evidence.tells_work_apart() {
        limits.clear();
    }
    Some(PartAnswer {
        part: part.part.name().to_owned(),
        share: part.share,
        median_ms: part.median_ns / 1e6,
        sentence: sentence(sources, part, &evidence, &limits),
        limits,
        certainty,
        weights: settled::limit_weights(&weights),
    })
}

/// What was seen of the part. Its nodes are not known by their times, but a language model reads its weights once for
/// each token, and computes with each of them.
fn evidence(sources: &AnswerSources<'_>, part: &TriedPart) -> Evidence {
    let is_request = !matches!(part.part, RunPart::Phase(_));
    let whole = sources.evidence();
    let nodes = sources.node_ns().zip(sources.median_ns());
    let nodes = nodes.map(|(node_ns, run_ns)| run_ns / node_ns);
    let of_threads = sources.threads_row().and_then(|row| {
        let effect = part.effect(row.change)?;
        Some(sources.as_half_threads(row, effect))
    });
    Evidence {
        threads: whole.threads,
        half_threads: of_threads,
        streaming: part.beyond_computing,
        capture: part.effect(ExperimentChange::GraphCapture),
        floors: is_request.then(|| floors(sources, part)).flatten(),
        node_ns: nodes
            .filter(|_| is_request)
            .map(|nodes| part.median_ns / nodes),
        memory_scaling: whole.memory_scaling,
        memory_shared: whole.memory_shared,
        ..Evidence::default()
    }
}

/// Reading the weights once, and a multiplication and an addition for each of them and each token.
fn floors(sources: &AnswerSources<'_>, part: &TriedPart) -> Option<FloorShares> {
    let references = sources.references()?;
    let case = sources.session.case(sources.case?)?;
    let requests = case
        .rounds
        .iter()
        .find_map(|round| round.generation.as_ref())?;
    let tokens = match part.part {
        RunPart::Prefill => requests.prompt_tokens,
        _ => requests.sequences,
    };
    let numbers = numbers_of(sources.session.plan.setups.get(case.setup)?);
    let bytes = curve::weight_bytes(sources.session, case.setup, numbers);
    let weights = sources.session.model_of(case.setup).parameters;
    let operations = OPERATIONS_A_MAC * weights as f64 * tokens as f64;
    let share = |amount: f64, line: Option<RoofLine>| {
        let line = line?;
        Some(Share {
            share: 1e9 * amount / line.per_s / part.median_ns,
            error: line.spread.unwrap_or_default(),
        })
    };
    let read = share(bytes as f64, references.memory(bytes));
    let is_cached = references.is_cached(bytes);
    Some(FloorShares {
        compute: share(operations, references.compute(numbers)),
        memory: read.filter(|_| !is_cached),
        cache: read.filter(|_| is_cached),
        launch: None,
    })
}

fn sentence(
    sources: &AnswerSources<'_>,
    part: &TriedPart,
    evidence: &Evidence,
    limits: &[CaseLimit],
) -> String {
    let names: Vec<&str> = limits.iter().map(|limit| limit.title()).collect();
    let limit = if names.is_empty() {
        "not settled".to_owned()
    } else {
        names.join(" and ")
    };
    let each = match part.part {
        RunPart::Decode => " a token",
        _ => "",
    };
    let mut reasons = Vec::new();
    let threads = sources.threads_row();
    let threads = threads.and_then(|row| Some((row, part.effect(row.change)?)));
    reasons.extend(threads.map(|(row, effect)| {
        let times = humanize::ratio(effect.ln.exp());
        format!("{} take {times} as long", row.change.title())
    }));
    reasons.extend(evidence.streaming.map(|effect| {
        let times = humanize::ratio(effect.ln.exp());
        format!(
            "beside a load that streams memory it takes {times} as long as beside one that computes"
        )
    }));
    let floors = evidence.floors;
    let read = floors.and_then(|floors| floors.memory.or(floors.cache));
    reasons.extend(read.map(|read| {
        let share = humanize::percent(read.share);
        format!("reading the weights once takes {share} of it at the roof")
    }));
    reasons.extend(evidence.capture.map(|effect| {
        let times = humanize::ratio(effect.ln.exp());
        format!("replayed as a captured graph it takes {times} as long")
    }));
    let computes = floors.and_then(|floors| floors.compute);
    reasons.extend(computes.map(|compute| {
        let share = humanize::percent(compute.share);
        format!("its arithmetic {share}")
    }));
    let reasons = match reasons.as_slice() {
        [] => String::new(),
        reasons => format!("; {}", reasons.join(", ")),
    };
    format!(
        "{} ({}{each}, {} of the time): {limit}{reasons}.",
        humanize::capitalised(part.part.name()),
        humanize::duration_ns(part.median_ns),
        humanize::percent(part.share),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::limits::answer::ExplainedCase;
    use crate::analysis::testing::{measure, session};
    use powerband_core::domain::case::{CaseKey, PhaseSamples};
    use powerband_core::domain::experiment::{Experiment, Experiments};
    use powerband_core::domain::generation::Generation;
    use powerband_core::domain::point::Point;
    use powerband_core::domain::session::Session;

    const SETUPS: [&str; 4] = [
        "ort,threads=2",
        "ort,threads=1,cores=0",
        "ort,threads=1,cores=0,neighbour=stream",
        "ort,threads=1,cores=0,neighbour=compute",
    ];

    /// Requests of a prompt and ten more tokens, in microseconds: by setup, the first token and each later one.
    fn requests(times: [(u64, u64); 4]) -> Session {
        let mut session = session(&SETUPS, &[1]);
        let point = Point::of_batch(1);
        let tried = [
            (ExperimentChange::HalfThreads, 1, 0),
            (ExperimentChange::StreamingNeighbour, 2, 1),
            (ExperimentChange::ComputingNeighbour, 3, 1),
        ];
        session.plan.experiments = Some(Experiments {
            setup: 0,
            point,
            tried: tried
                .map(|(change, setup, control)| Experiment {
                    change,
                    setup,
                    control,
                    point: None,
                })
                .to_vec(),
            untried: Vec::new(),
            budget_s: None,
        });
        for (setup, (first, later)) in (0..).zip(times) {
            let wobble = |round: u64| round * first / 200;
            let runs: Vec<[u64; 1]> = (0..5)
                .map(|round| [1_000 * (first + 10 * later + wobble(round))])
                .collect();
            let rounds: Vec<&[u64]> = runs.iter().map(<[u64; 1]>::as_slice).collect();
            measure(&mut session, setup, 1, &rounds);
            let key = CaseKey { setup, point };
            let case = session.cases.iter_mut().find(|case| case.key() == key);
            for (round, number) in case.unwrap().rounds.iter_mut().zip(0..) {
                round.generation = Some(Generation {
                    prompt_tokens: 64,
                    new_tokens: 11,
                    sequences: 1,
                    first_token_ns: vec![1_000 * (first + wobble(number))],
                    later_token_ns: vec![1_000 * later + number; 10],
                    cache_bytes: None,
                });
            }
        }
        session
    }

    #[test]
    fn prefill_and_decode_are_limited_by_what_the_turns_cost_each() {
        // Half the threads double the prefill, and hardly touch decode, which a load that streams memory slows down.
        let session = requests([
            (40_000, 10_000),
            (78_000, 11_500),
            (79_000, 17_000),
            (78_500, 11_600),
        ]);
        let found = ExplainedCase::of_experiments(&session, &[]).unwrap();
        let answer = found.answer.unwrap();
        let parts: Vec<(&str, &[CaseLimit])> = answer
            .parts
            .iter()
            .map(|part| (part.part.as_str(), part.limits.as_slice()))
            .collect();
        assert_eq!(parts[1], ("decode", &[CaseLimit::Memory][..]), "{parts:?}");
        assert_eq!(parts[0].0, "prefill");
        let prefill = &answer.parts[0];
        assert_eq!(prefill.weights[0].limit, CaseLimit::Compute, "{prefill:?}");
        let share = prefill.share + answer.parts[1].share;
        assert!((share - 1.0).abs() < 0.01, "{share}");
        assert!((answer.parts[1].median_ms - 10.0).abs() < 0.01);
        let said = &answer.parts[1].sentence;
        assert!(said.starts_with("Decode (10.0 ms a token"), "{said}");
        assert!(said.contains("1.15 ×"), "{said}");
    }

    #[test]
    fn phases_of_training_have_answers_and_runs_without_parts_have_none() {
        let mut session = requests([(40_000, 0), (78_000, 0), (79_000, 0), (78_500, 0)]);
        for round in session.cases.iter_mut().flat_map(|case| &mut case.rounds) {
            round.generation = None;
            let whole = round.samples_ns[0];
            round.parts = [("forward", whole / 3), ("backward", whole / 2)]
                .map(|(name, ns)| PhaseSamples {
                    name: name.to_owned(),
                    samples_ns: vec![ns],
                })
                .to_vec();
        }
        let parts = |session: &Session| {
            let found = ExplainedCase::of_experiments(session, &[]).unwrap();
            let parts = found.answer.unwrap().parts.into_iter();
            parts.map(|part| part.part).collect::<Vec<_>>()
        };
        assert_eq!(parts(&session), ["forward", "backward"]);
        for round in session.cases.iter_mut().flat_map(|case| &mut case.rounds) {
            round.parts.clear();
        }
        assert!(parts(&session).is_empty());
    }
}
