//! The answer: what limits a case in one sentence, how sure that is, what it rests on, and what a change would bring.

use powerband_core::base::humanize;
use powerband_core::domain::roofs::Roofs;
use powerband_core::domain::session::Session;
use serde::{Serialize, Serializer};

use super::bound::Bound;
use super::case_limits::Limits;
pub use super::evidence::AnswerSources;
use super::experiments::{self, TriedExperiments};
use super::hypotheses::{
    self, CaseLimit, Effect, Evidence, FloorShares, Observation, ObservationKind,
};
use super::node::NodeLimit;

/// An answer is given from this certainty on.
const SURE: f64 = 0.9;
/// Of two that share an answer the second has at least so much.
const SHARES: f64 = 0.25;
/// An observation speaks for hypotheses of which it is at least so likely as of the likeliest, and against those below
/// the second.
const SPEAKS_FOR: f64 = 0.5;
const SPEAKS_AGAINST: f64 = 0.1;
/// A change that makes a case faster or slower by less than this brings nothing.
const BRINGS_NOTHING: f64 = 0.03;

/// What limits a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseAnswer {
    /// One limit, two that share the time, or none where that is not settled.
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
}

/// How sure a limit is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LimitWeight {
    pub limit: CaseLimit,
    pub weight: f64,
}

/// An observation in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvidenceLine {
    pub kind: ObservationKind,
    pub sentence: String,
    /// The limits that it speaks for.
    pub speaks_for: Vec<CaseLimit>,
    /// The limits that it speaks against.
    pub speaks_against: Vec<CaseLimit>,
}

/// What a change brought.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    pub change: &'static str,
    pub title: &'static str,
    /// Time without the change over time with it.
    pub speed_up: f64,
    pub ci95: Option<(f64, f64)>,
    /// What it brings, in words.
    pub sentence: String,
}

fn names_of_limits<S: Serializer>(limits: &[CaseLimit], to: S) -> Result<S::Ok, S::Error> {
    let names = limits.iter().map(|limit| limit.title());
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        ["unknown"].serialize(to)
    } else {
        names.serialize(to)
    }
}

impl CaseAnswer {
    pub fn is_settled(&self) -> bool {
        !self.limits.is_empty()
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
        // Nothing is ever wholly sure.
        let share = (100.0 * self.certainty).floor().min(99.0);
        format!("{share:.0} % sure")
    }
}

/// The case that the experiments of a session are on, with all that is known of it.
#[derive(Clone, Debug)]
pub struct AskedCase {
    /// What was tried.
    pub tried: TriedExperiments,
    /// What limits its nodes, where it was profiled.
    pub limits: Option<Limits>,
    pub answer: Option<CaseAnswer>,
}

impl AskedCase {
    /// That of a session, held against these roofs; nothing where it has no experiments.
    pub fn of_session(session: &Session, roofs: &[Roofs]) -> Option<Self> {
        let tried = experiments::tried_experiments(session)?;
        let mut profiles = session.profiles.iter();
        let profile = profiles.position(|profile| profile.case == Some(tried.case));
        let limits = profile.map(|profile| super::profile_limits(session, profile, roofs));
        let answer = case_answer(&AnswerSources {
            session,
            case: Some(tried.case),
            limits: limits.as_ref(),
            tried: Some(&tried),
            roofs,
        });
        Some(Self {
            answer: answer.filter(|_| tried.trouble.is_none()),
            tried,
            limits,
        })
    }

    /// The answer, or why there is none.
    pub fn sentence(&self) -> String {
        match (&self.answer, &self.tried.trouble) {
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
    let weights = hypotheses::weigh(&seen);
    let limits = settled(&weights);
    let certainty = weights.iter().take(limits.len().max(1));
    let certainty = certainty.map(|(_, weight)| weight).sum();
    let suggestions = text.suggestions();
    let at_most = text.at_most(limits.first().copied());
    let sentence = if limits.is_empty() {
        unsettled(&weights, &text.evidence)
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
    let weights = weights.into_iter();
    Some(CaseAnswer {
        certainty,
        at_most,
        sentence,
        evidence,
        suggestions,
        weights: weights
            .map(|(limit, weight)| LimitWeight { limit, weight })
            .collect(),
        limits,
    })
}

/// The limit that is sure, or the two that share the time.
fn settled(weights: &[(CaseLimit, f64)]) -> Vec<CaseLimit> {
    match weights {
        [(first, weight), ..] if *weight >= SURE => vec![*first],
        [(first, one), (second, other), ..] if one + other >= SURE && *other >= SHARES => {
            vec![*first, *second]
        }
        _ => Vec::new(),
    }
}

/// What is likeliest, and what would settle it.
fn unsettled(weights: &[(CaseLimit, f64)], evidence: &Evidence) -> String {
    let likeliest = weights.iter().take(3).map(|(limit, weight)| {
        let share = humanize::significant(100.0 * weight, 2);
        format!("{} {share} %", limit.title())
    });
    let likeliest: Vec<String> = likeliest.collect();
    let missing = if evidence.half_threads.is_none() && evidence.streaming.is_none() {
        "experiments on the case would tell them apart"
    } else if evidence
        .floors
        .is_none_or(|floors| floors.compute.is_none())
    {
        "roofs of this machine and a profile of the case would tell them apart"
    } else if evidence.streaming.is_none() {
        "a load beside it that streams memory would tell them apart, which needs an idle core"
    } else if evidence.half_threads.is_none() {
        "another number of threads would tell them apart"
    } else {
        "more turns, or a quieter machine, would tell them apart"
    };
    format!("Not settled: {}; {missing}.", likeliest.join(", "))
}

/// What the changes that were tried bring, in one sentence.
fn brought(suggestions: &[Suggestion]) -> Option<String> {
    let each: Vec<&str> = suggestions
        .iter()
        .map(|suggestion| suggestion.sentence.as_str())
        .collect();
    (!each.is_empty()).then(|| format!("{}.", humanize::capitalised(&each.join("; "))))
}

/// What an answer says in words.
struct AnswerText<'a> {
    sources: &'a AnswerSources<'a>,
    evidence: Evidence,
}

impl AnswerText<'_> {
    /// How many times faster the case can become while this limits it.
    fn at_most(&self, limit: Option<CaseLimit>) -> Option<f64> {
        let by_floors = || {
            let floors = self.evidence.floors?;
            let all = [floors.compute, floors.memory, floors.cache];
            let most = all.into_iter().flatten().map(|share| share.share);
            let most = most.reduce(f64::max)?.max(self.nodes_at_floor()?);
            (most > 0.0).then(|| (1.0 / most).max(1.0))
        };
        match limit? {
            CaseLimit::Compute | CaseLimit::Memory | CaseLimit::Cache | CaseLimit::Serial => {
                by_floors()
            }
            CaseLimit::Launch => {
                let share = self.evidence.floors?.launch?.share;
                (share < 0.9).then(|| 1.0 / (1.0 - share))
            }
            CaseLimit::Imbalance => {
                let ratio = self.evidence.half_threads?.ln.exp();
                (ratio > 0.5).then(|| (2.0 / ratio).max(1.0))
            }
            CaseLimit::Waiting => self.evidence.busy.map(|busy| 1.0 / busy.share.max(0.01)),
        }
    }

    /// The floors of all nodes as a share of the time.
    fn nodes_at_floor(&self) -> Option<f64> {
        let limits = self.sources.limits?;
        let (floors, times) = limits.floors_ns();
        let wall = limits.wall.as_ref().ok();
        let nodes: f64 = limits.nodes.iter().map(|node| node.time_ns).sum();
        let whole = wall.map_or(nodes, |wall| wall.wall_ns.max(nodes));
        (times > 0.0 && nodes > 0.0).then(|| floors * nodes / times / whole)
    }

    /// Why this is the limit, in numbers.
    fn reason(&self, limit: CaseLimit) -> String {
        let by_nodes = |bound: Bound, is_cached: Option<bool>| {
            let limits = self.sources.limits?;
            let is_so = |node: &&NodeLimit| {
                node.bound == Ok(bound) && is_cached.is_none_or(|cached| node.is_cached == cached)
            };
            let nodes: Vec<&NodeLimit> = limits.nodes.iter().filter(is_so).collect();
            let share: f64 = nodes.iter().map(|node| node.share).sum();
            let times: f64 = nodes.iter().map(|node| node.time_ns).sum();
            let floors: f64 = nodes
                .iter()
                .filter_map(|node| node.floor)
                .map(|floor| floor.ns())
                .sum();
            let longest = nodes.first()?;
            Some(format!(
                "{} of the time, at {} of the {}",
                humanize::percent(share),
                humanize::significant(floors / times, 2),
                without_raise(&longest.line)
            ))
        };
        let threads = || {
            let effect = self.evidence.half_threads?;
            Some(format!(
                "half the threads take {} as long",
                humanize::ratio(effect.ln.exp())
            ))
        };
        let load = || {
            let effect = self.evidence.streaming?;
            Some(format!(
                "beside a load that streams memory it takes {} as long as beside one that computes",
                humanize::ratio(effect.ln.exp())
            ))
        };
        let found = match limit {
            CaseLimit::Compute => by_nodes(Bound::Compute, None).or_else(threads),
            CaseLimit::Memory => by_nodes(Bound::Memory, Some(false)).or_else(load),
            CaseLimit::Cache => by_nodes(Bound::Memory, Some(true)).or_else(threads),
            CaseLimit::Launch => self.launch_reason(),
            CaseLimit::Serial => threads()
                .map(|words| format!("{words}, and neither arithmetic nor bytes explain the time")),
            CaseLimit::Waiting => self.evidence.busy.map(|busy| {
                format!(
                    "the cores work in {} of the time",
                    humanize::percent(busy.share)
                )
            }),
            CaseLimit::Imbalance => threads()
                .map(|words| format!("{words}, where work that is shared evenly would take 2 ×")),
        };
        found.unwrap_or_else(|| limit.help().to_lowercase())
    }

    fn launch_reason(&self) -> Option<String> {
        let limits = self.sources.limits;
        let by_cost = || {
            let limits = limits?;
            let (cost, starts) = (limits.launch?, limits.starts());
            Some(format!(
                "{} × {} a node = {} of {}",
                humanize::pluralised(starts.round() as u64, "node"),
                humanize::duration_ns(cost.ns),
                humanize::duration_ns(starts * cost.ns),
                humanize::duration_ns(self.sources.median_ns()?)
            ))
        };
        let late = || {
            let idle = self.evidence.idle?;
            Some(format!(
                "nothing runs in {} of the time because the next kernel was launched late",
                humanize::percent(idle.launched_late)
            ))
        };
        let by_node = || {
            let node_ns = self.evidence.node_ns?;
            let node = humanize::duration_ns(node_ns);
            Some(format!("a node takes {node} on average"))
        };
        by_cost().or_else(late).or_else(by_node)
    }

    fn evidence_line(&self, seen: &Observation) -> EvidenceLine {
        let effect = |effect: Option<Effect>| {
            effect.map_or_else(String::new, |effect| {
                let (low, high) = effect.ends();
                format!(
                    "{} as long ({} to {})",
                    humanize::ratio(effect.ln.exp()),
                    humanize::significant(low, 3),
                    humanize::significant(high, 3)
                )
            })
        };
        let sentence = match seen.kind {
            ObservationKind::Threads => {
                format!("Half the threads take {}.", effect(self.evidence.half_threads))
            }
            ObservationKind::Load => format!(
                "Beside a load that streams memory it takes {} as beside one that computes.",
                effect(self.evidence.streaming)
            ),
            ObservationKind::Capture => {
                format!("Replayed as a captured graph it takes {}.", effect(self.evidence.capture))
            }
            ObservationKind::Floors => self.evidence.floors.map_or_else(String::new, floors_sentence),
            ObservationKind::Idle => self.evidence.idle.map_or_else(String::new, |idle| {
                format!(
                    "Nothing computes in {} of the time: {} of it because kernels were launched late.",
                    humanize::percent(idle.launched_late + idle.waits),
                    humanize::percent(idle.launched_late)
                )
            }),
            ObservationKind::Nodes => self.evidence.node_ns.map_or_else(String::new, |ns| {
                format!("A node takes {} on average.", humanize::duration_ns(ns))
            }),
            ObservationKind::Busy => self.evidence.busy.map_or_else(String::new, |busy| {
                format!("Its threads work in {} of the time.", humanize::percent(busy.share.min(1.0)))
            }),
        };
        let with = |holds: &dyn Fn(f64) -> bool| {
            let pairs = CaseLimit::ALL.into_iter().zip(seen.likelihoods);
            let held = pairs.filter(|(_, likelihood)| holds(*likelihood));
            held.map(|(limit, _)| limit).collect()
        };
        EvidenceLine {
            kind: seen.kind,
            sentence,
            speaks_for: with(&|likelihood| likelihood >= SPEAKS_FOR),
            speaks_against: with(&|likelihood| likelihood < SPEAKS_AGAINST),
        }
    }

    /// What the changes brought that do not tell limits.
    fn suggestions(&self) -> Vec<Suggestion> {
        let rows = self.sources.tried.iter().flat_map(|tried| &tried.rows);
        let rows = rows.filter(|row| !row.change.tells_limits());
        let found = rows.filter_map(|row| {
            let ratio = row.cost?;
            row.effect?;
            let ci95 = ratio.ci95.map(|interval| (interval.low, interval.high));
            let is_nothing =
                |times: f64| (1.0 - BRINGS_NOTHING..=1.0 + BRINGS_NOTHING).contains(&times);
            let title = row.change.title();
            let sentence = match ci95 {
                Some((low, high)) if is_nothing(low) && is_nothing(high) => {
                    format!("{title} brings nothing")
                }
                Some((low, _)) if low > 1.0 => {
                    format!("{title} brings {}", humanize::ratio(ratio.speed_up))
                }
                Some((_, high)) if high < 1.0 => {
                    format!(
                        "{title} makes it {} slower",
                        humanize::ratio(1.0 / ratio.speed_up)
                    )
                }
                _ => return None,
            };
            Some(Suggestion {
                change: row.change.id(),
                title,
                speed_up: ratio.speed_up,
                ci95,
                sentence,
            })
        });
        found.collect()
    }
}

/// The name of a line without what raised it.
fn without_raise(line: &str) -> &str {
    line.split(", raised to").next().unwrap_or(line)
}

fn floors_sentence(floors: FloorShares) -> String {
    let all = [
        ("arithmetic", floors.compute),
        ("bytes of memory", floors.memory),
        ("bytes of caches", floors.cache),
        ("starting nodes", floors.launch),
    ];
    let each = all.into_iter().filter_map(|(what, share)| {
        let share = share?.share;
        (share >= 0.005).then(|| format!("{what} {}", humanize::percent(share)))
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() {
        return "By the roofs neither arithmetic nor bytes take any part of the time.".to_owned();
    }
    format!(
        "By the roofs of this machine the least times are, of the time: {}.",
        each.join(", ")
    )
}
