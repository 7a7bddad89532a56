//! The words of an answer: its reasons, its evidence, and what changes brought.

use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::experiment::ExperimentChange;

use super::against;

use super::bound::Bound;
use super::evidence::AnswerSources;
use super::evidence_line::{EvidenceLine, SeenNode, SeenShare, SeenTimes, Suggestion};
use super::hypotheses::{
    CaseLimit, Effect, Evidence, FloorShares, Observation, ObservationKind, Share,
};
use super::lines::{self, LineKind};
use super::node::NodeLimit;
use crate::analysis::verdict::Call;

/// An observation speaks for hypotheses of which it is at least so likely as of the likeliest, and against those below
/// the second.
const SPEAKS_FOR: f64 = 0.5;
const SPEAKS_AGAINST: f64 = 0.1;
/// A limit is explained by its nodes if these take at least this share of the time.
const LEAST_NODE_SHARE: f64 = 0.5;
/// Other programs that left so much less of the cores, as a logarithm, are said to be what is in the way.
const CROWDED: f64 = 0.2;
/// A bound beyond this says nothing.
const SAYS_NOTHING: f64 = 1_000.0;

/// What an answer says in words.
pub(super) struct AnswerText<'a> {
    pub sources: &'a AnswerSources<'a>,
    pub evidence: Evidence,
}

impl AnswerText<'_> {
    /// What is likeliest, and what would settle it.
    pub(super) fn unsettled(&self, weights: &[(CaseLimit, f64)]) -> String {
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
        let missing = if self.sources.own_crowding() > CROWDED {
            "other programs took much of the cores meanwhile; on a quieter machine experiments would tell them apart"
        } else if !is_here {
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
    pub(super) fn at_most(&self, limit: CaseLimit) -> Option<f64> {
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
    pub(super) fn reason(&self, limit: CaseLimit) -> String {
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
            CaseLimit::Clock => self.sources.slowed_down().map(|flag| flag.evidence),
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

    pub(super) fn evidence_line(&self, seen: &Observation) -> EvidenceLine {
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
            ObservationKind::Curve => self.evidence.curve.map_or_else(String::new, |curve| {
                format!(
                    "Over the batch sizes, {} of the time grows with the items and {} is fixed, reading the weights not counted.",
                    humanize::percent(curve.items.share),
                    humanize::percent(curve.fixed.share)
                )
            }),
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
            times: self.seen_times(seen.kind),
            node: self.seen_node(seen.kind),
            shares: self.seen_shares(seen.kind),
            speaks_for: with(&|likelihood| likelihood >= SPEAKS_FOR),
            speaks_against: with(&|likelihood| likelihood < SPEAKS_AGAINST),
        }
    }

    /// The effect that an observation is, as its sentence has it.
    fn seen_times(&self, kind: ObservationKind) -> Option<SeenTimes> {
        let effect = match kind {
            ObservationKind::Threads => self.sources.threads_row()?.effect,
            ObservationKind::Load => self.evidence.streaming,
            ObservationKind::Capture => self.evidence.capture,
            _ => None,
        }?;
        let (low, high) = effect.ends();
        let ratio = effect.ln.exp();
        Some(SeenTimes { ratio, low, high })
    }

    /// The time of a node that an observation is.
    fn seen_node(&self, kind: ObservationKind) -> Option<SeenNode> {
        let ns = self.evidence.node_ns;
        let ns = ns.filter(|_| kind == ObservationKind::Nodes)?;
        let start_ns = self.sources.references().and_then(|references| {
            let cost = references.launch()?;
            Some(cost.ns)
        });
        Some(SeenNode { ns, start_ns })
    }

    /// The shares of the time that an observation is.
    fn seen_shares(&self, kind: ObservationKind) -> Vec<SeenShare> {
        let evidence = &self.evidence;
        let floors = evidence.floors;
        let of_floor = |share: fn(FloorShares) -> Option<Share>| floors.and_then(share);
        let share = |share: Option<Share>| share.map(|share| share.share);
        let shares = match kind {
            ObservationKind::Floors => vec![
                (
                    Some(CaseLimit::Compute),
                    share(of_floor(|floors| floors.compute)),
                ),
                (
                    Some(CaseLimit::Memory),
                    share(of_floor(|floors| floors.memory)),
                ),
                (
                    Some(CaseLimit::Cache),
                    share(of_floor(|floors| floors.cache)),
                ),
                (
                    Some(CaseLimit::Launch),
                    share(of_floor(|floors| floors.launch)),
                ),
            ],
            ObservationKind::Idle => vec![
                (
                    Some(CaseLimit::Launch),
                    evidence.idle.map(|idle| idle.launched_late),
                ),
                (
                    Some(CaseLimit::Waiting),
                    evidence.idle.map(|idle| idle.waits),
                ),
            ],
            ObservationKind::Busy => {
                let work = evidence.busy.map(|busy| busy.share.min(1.0));
                vec![(None, work)]
            }
            ObservationKind::Curve => {
                let fixed = evidence.curve.map(|curve| curve.fixed.share);
                vec![(Some(CaseLimit::Launch), fixed)]
            }
            _ => Vec::new(),
        };
        let known = shares.into_iter();
        let known = known.filter_map(|(limit, share)| {
            Some(SeenShare {
                limit,
                share: share?,
            })
        });
        known.collect()
    }

    /// What the changes brought that can be kept: fewer threads and loads beside the case cannot.
    pub(super) fn suggestions(&self) -> Vec<Suggestion> {
        let rows = self.sources.tried.iter().flat_map(|tried| &tried.rows);
        let rows = rows.filter(|row| !row.change.is_probe());
        let found = rows.filter_map(|row| {
            let ratio = row.cost?;
            row.effect?;
            let ci95 = ratio.ci95.map(|interval| (interval.low, interval.high));
            let title = row.change.title();
            let is_batch = row.change == ExperimentChange::TwiceBatch;
            let sentence = match row.verdict.as_ref()?.call {
                Call::Same => format!("{title} brings nothing"),
                Call::Faster => {
                    let brings = humanize::ratio(ratio.speed_up);
                    let what = if is_batch {
                        " the items per second"
                    } else {
                        ""
                    };
                    format!("{title} brings {brings}{what}")
                }
                Call::Slower => {
                    let times = humanize::ratio(1.0 / ratio.speed_up);
                    let what = if is_batch { "an item" } else { "it" };
                    format!("{title} makes {what} {times} slower")
                }
                Call::Inconclusive => return None,
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
                let threads = |case: CaseKey| against::threads_of(self.sources.session, case.setup);
                threads(row.control) == threads(case)
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
        let machine = self.sources.case.and_then(|case| {
            let machine = self.sources.session.machine_of(case.setup)?;
            Some(machine.name.as_str())
        });
        let by = if is_published {
            "By what is published of the card".to_owned()
        } else {
            format!("By the roofs of {}", machine.unwrap_or("this machine"))
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
