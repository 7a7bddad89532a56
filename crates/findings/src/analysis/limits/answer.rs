//! The answer: what limits a case in one sentence, how sure that is, what it rests on, and what a change would bring.

use powerband_core::base::humanize;
use powerband_core::domain::experiment::ExperimentChange;
use powerband_core::domain::roofs::Roofs;
use powerband_core::domain::session::Session;
use serde::{Serialize, Serializer};

use super::against;
use super::bound::Bound;
use super::case_limits::Limits;
pub use super::evidence::AnswerSources;
use super::experiments::{self, TriedExperiments};
use super::hypotheses::{
    self, CaseLimit, Effect, Evidence, FloorShares, Observation, ObservationKind,
};
use super::lines::{self, LineKind};
use super::node::NodeLimit;

/// An answer is given from this certainty on.
const SURE: f64 = 0.9;
/// Of two that share an answer the second has at least so much.
const SHARES: f64 = 0.2;
/// An observation speaks for hypotheses of which it is at least so likely as of the likeliest, and against those below
/// the second.
const SPEAKS_FOR: f64 = 0.5;
const SPEAKS_AGAINST: f64 = 0.1;
/// A limit is explained by its nodes if these take at least this share of the time.
const LEAST_NODE_SHARE: f64 = 0.5;
/// A bound beyond this says nothing.
const SAYS_NOTHING: f64 = 1_000.0;
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
        // Nothing is ever wholly sure.
        let share = (100.0 * self.certainty).floor().min(99.0);
        format!("{share:.0} % sure")
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
        let profile = profiles.position(|profile| {
            let case = profile.case;
            case.is_some_and(|case| (case.setup, case.point) == (asked.setup, asked.point))
        });
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
    let mut limits = settled(&weights);
    if limits.len() == 2 && !text.evidence.tells_work_apart() {
        limits.clear();
    }
    let certainty = weights.iter().take(limits.len().max(1));
    let certainty = certainty.map(|(_, weight)| weight).sum();
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
    /// What is likeliest, and what would settle it.
    fn unsettled(&self, weights: &[(CaseLimit, f64)]) -> String {
        let likeliest = weights.iter().take(3).filter(|(_, weight)| *weight > 0.0);
        let likeliest = likeliest.map(|(limit, weight)| {
            let share = humanize::significant(100.0 * weight, 2);
            format!("{} {share} %", limit.title())
        });
        let likeliest: Vec<String> = likeliest.collect();
        let (evidence, has_tried) = (&self.evidence, self.sources.tried.is_some());
        let is_here = self.sources.case.is_some();
        let has_floors = evidence
            .floors
            .is_some_and(|floors| floors.compute.is_some());
        let missing = if !is_here {
            "what another program recorded does not tell them apart"
        } else if !has_tried && evidence.threads.is_some() {
            "experiments on the case would tell them apart"
        } else if !has_floors {
            "roofs and a profile with the shapes of its nodes would tell them apart"
        } else if evidence.threads.is_some() && evidence.streaming.is_none() {
            "a load beside it that streams memory would tell them apart, which needs an idle core and longer runs"
        } else {
            "more turns, or a quieter machine, would tell them apart"
        };
        format!("Not settled: {}; {missing}.", likeliest.join(", "))
    }

    /// How many times faster the case can become at most: its time over the least times of its nodes, or over what is
    /// left without pauses. What is not known of nodes counts as nothing, so that it is a bound.
    fn at_most(&self, limit: CaseLimit) -> Option<f64> {
        let times = match (limit, self.evidence.idle) {
            (CaseLimit::Launch, Some(idle)) => Some(1.0 / (1.0 - idle.launched_late)),
            (CaseLimit::Waiting, Some(idle)) => Some(1.0 / (1.0 - idle.waits)),
            _ => self.by_floors(),
        };
        times.filter(|times| *times <= SAYS_NOTHING)
    }

    fn by_floors(&self) -> Option<f64> {
        let limits = self.sources.limits?;
        let floors = limits.nodes.iter().filter_map(|node| {
            let floor = node.floor?;
            let is_wrong = node.bound == Ok(Bound::ModelWrong);
            let least_ns = floor.compute_ns.max(floor.memory_ns);
            Some(if is_wrong {
                0.0
            } else {
                least_ns.min(node.time_ns)
            })
        });
        let floors_ns: f64 = floors.sum();
        let wall_ns = limits.wall.as_ref().ok().map(|wall| wall.wall_ns);
        let time_ns = self.sources.median_ns().or(wall_ns)?;
        (floors_ns > 0.0 && !limits.is_slowed).then(|| (time_ns / floors_ns).max(1.0))
    }

    /// What another number of threads costs or brings.
    fn threads_text(&self) -> Option<String> {
        let row = self.sources.threads_row()?;
        let times = humanize::ratio(row.effect?.ln.exp());
        Some(format!("{} take {times} as long", row.change.title()))
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
            if share < LEAST_NODE_SHARE {
                return None;
            }
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
                lines::without_raise(&longest.line)
            ))
        };
        let threads = || self.threads_text();
        let load = || {
            let effect = self.evidence.streaming?;
            Some(format!(
                "beside a load that streams memory {} takes {} as long as beside one that computes",
                self.beside_loads(),
                humanize::ratio(effect.ln.exp())
            ))
        };
        let found = match limit {
            CaseLimit::Compute => by_nodes(Bound::Compute, None).or_else(threads),
            CaseLimit::Memory => by_nodes(Bound::Memory, Some(false)).or_else(load),
            CaseLimit::Cache => by_nodes(Bound::Memory, Some(true)).or_else(threads),
            CaseLimit::Launch => self.launch_reason(),
            CaseLimit::Serial => threads().map(|words| {
                let floors = self.evidence.floors;
                if floors.is_some_and(|floors| floors.compute.is_some()) {
                    format!("{words}, and neither arithmetic nor bytes explain the time")
                } else {
                    words
                }
            }),
            CaseLimit::Waiting => self.evidence.busy.map(|busy| {
                format!(
                    "the cores work in {} of the time",
                    humanize::percent(busy.share)
                )
            }),
            CaseLimit::Imbalance => threads().and_then(|words| {
                let row = self.sources.threads_row()?;
                let factor = self.sources.threads_factor(row);
                let even = match row.change {
                    ExperimentChange::TwiceThreads => 1.0 / factor,
                    _ => factor,
                };
                let even = humanize::ratio(even);
                Some(format!(
                    "{words}, where work that is shared evenly would take {even}"
                ))
            }),
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
                let row = self.sources.threads_row();
                let title = row.map_or("", |row| row.change.title());
                let seen = effect(row.and_then(|row| row.effect));
                format!("{} take {seen}.", humanize::capitalised(title))
            }
            ObservationKind::Load => format!(
                "Beside a load that streams memory {} takes {} as beside one that computes.",
                self.beside_loads(),
                effect(self.evidence.streaming)
            ),
            ObservationKind::Capture => {
                format!(
                    "Replayed as a captured graph it takes {}.",
                    effect(self.evidence.capture)
                )
            }
            ObservationKind::Floors => self
                .evidence
                .floors
                .map_or_else(String::new, |floors| self.floors_sentence(floors)),
            ObservationKind::Idle => self.evidence.idle.map_or_else(String::new, |idle| {
                format!(
                    "Nothing computes in {} of the time, in {} because kernels were launched late.",
                    humanize::percent(idle.launched_late + idle.waits),
                    humanize::percent(idle.launched_late)
                )
            }),
            ObservationKind::Nodes => self.evidence.node_ns.map_or_else(String::new, |ns| {
                format!("A node takes {} on average.", humanize::duration_ns(ns))
            }),
            ObservationKind::Busy => self.evidence.busy.map_or_else(String::new, |busy| {
                format!(
                    "Its threads work in {} of the time.",
                    humanize::percent(busy.share.min(1.0))
                )
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

    /// What the changes brought that can be kept: fewer threads and loads beside the case cannot.
    fn suggestions(&self) -> Vec<Suggestion> {
        let rows = self.sources.tried.iter().flat_map(|tried| &tried.rows);
        let is_probe = |change| {
            matches!(
                change,
                ExperimentChange::HalfThreads
                    | ExperimentChange::StreamingNeighbour
                    | ExperimentChange::ComputingNeighbour
            )
        };
        let rows = rows.filter(|row| !is_probe(row.change));
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

    /// What runs beside loads: the case itself, or the case on fewer threads, which leave a core idle.
    fn beside_loads(&self) -> &'static str {
        let row = self.sources.row(ExperimentChange::StreamingNeighbour);
        let is_whole = row.is_none_or(|row| {
            self.sources.case.is_some_and(|case| {
                let threads = |setup| against::threads_of(self.sources.session, setup);
                threads(row.control) == threads(case.setup)
            })
        });
        if is_whole {
            "it"
        } else {
            "the case on fewer threads"
        }
    }

    fn floors_sentence(&self, floors: FloorShares) -> String {
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
        let lines = self.sources.limits.map_or(&[][..], |limits| &limits.lines);
        let is_published =
            !lines.is_empty() && lines.iter().all(|line| line.kind == LineKind::Published);
        let by = if is_published {
            "By what is published of the card"
        } else {
            "By the roofs of this machine"
        };
        match (each.as_slice(), floors.compute) {
            ([], Some(_)) => {
                format!("{by} neither arithmetic nor bytes take any part of the time.")
            }
            ([], None) => format!("{by} starting nodes takes no part of the time."),
            (each, _) => format!("{by}, of the time: {}.", each.join(", ")),
        }
    }
}
