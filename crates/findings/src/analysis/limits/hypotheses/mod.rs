//! What may limit a case, and how evidence weighs for it: each observation multiplies the weight of each hypothesis by
//! how likely it would be under it.
//!
//! Every table of this calculation stands in this file. Effects are logarithms of ratios of times. Under a hypothesis an
//! effect is normal around what the hypothesis predicts, as wide as networks differ that are limited so; the error of
//! the measurement is added to that width, so that a wide interval says little and is never thrown away. No observation
//! counts for more than `SURPRISE` against a hypothesis: a machine does what it wants now and then.
//!
//! The predictions follow from what each limit is (Amdahl's law for threads, shares of a bandwidth for loads beside a
//! case, the roofline for floors: Williams, Waterman and Patterson, 2009); their widths are those seen on the networks
//! of `scripts/measure-why`, on processors of two cores.

use super::bound::Bound;
use powerband_core::schedule::alternation;
use powerband_core::stats::ratio::Estimate;
use serde::Serialize;

/// What the time of a whole case goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CaseLimit {
    Compute,
    Memory,
    Cache,
    Launch,
    Serial,
    Waiting,
    Imbalance,
    /// Beside compute, where the device says that it was slowed down; it is not weighed.
    Clock,
}

impl CaseLimit {
    /// Every one that is weighed.
    pub const ALL: [Self; 7] = [
        Self::Compute,
        Self::Memory,
        Self::Cache,
        Self::Launch,
        Self::Serial,
        Self::Waiting,
        Self::Imbalance,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Memory => "memory",
            Self::Cache => "cache",
            Self::Launch => "launch",
            Self::Serial => "serial",
            Self::Waiting => "waiting",
            Self::Imbalance => "imbalance",
            Self::Clock => "clock",
        }
    }

    /// What it means, in a sentence.
    pub fn help(self) -> &'static str {
        match self {
            Self::Compute => {
                "The cores compute most of the time: arithmetic, or instructions around it"
            }
            Self::Memory => "The cores wait for bytes of memory most of the time",
            Self::Cache => "The cores wait for bytes of their caches most of the time",
            Self::Launch => {
                "Starting nodes, and what the engine does around them, takes most of the time"
            }
            Self::Serial => {
                "Each step waits for the one before, so that one thread works at a time"
            }
            Self::Waiting => {
                "The cores have nothing to do most of the time: the run waits for something else"
            }
            Self::Imbalance => "Some threads wait for others that have more to do",
            Self::Clock => "The device lowers its clock, for its power limit or its heat",
        }
    }

    /// The class of nodes that it is drawn as.
    pub fn bound(self) -> Bound {
        match self {
            Self::Compute | Self::Clock => Bound::Compute,
            Self::Memory | Self::Cache => Bound::Memory,
            Self::Launch => Bound::Launch,
            Self::Serial | Self::Waiting | Self::Imbalance => Bound::Neither,
        }
    }

    /// Its weight before anything is known: how often networks are limited so. What one thread does waits for no other,
    /// and of a card nothing is known of threads.
    fn prior(self, threads: Option<usize>) -> f64 {
        match self {
            Self::Imbalance if threads.is_none_or(|threads| threads < 2) => 0.0,
            Self::Serial if threads.is_none() => 0.0,
            // Caches of cards are seldom what a whole network waits for.
            Self::Cache if threads.is_none() => 0.03,
            Self::Compute => 0.30,
            Self::Memory => 0.22,
            Self::Cache | Self::Launch => 0.12,
            Self::Serial => 0.10,
            Self::Waiting => 0.05,
            Self::Imbalance => 0.09,
            Self::Clock => 0.0,
        }
    }
}

/// The logarithm of a ratio of two times, with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    pub ln: f64,
    pub error: f64,
}

impl Effect {
    /// The effect of an estimate of a change: time with it over time without.
    pub fn from_estimate(estimate: &Estimate) -> Self {
        Self {
            ln: -estimate.ln,
            // As far as its interval goes: of three starts the error alone is known badly.
            error: alternation::half_width(estimate) / STANDARD_ERRORS,
        }
    }

    /// The ends of its 95 % interval as a ratio.
    pub fn ends(self) -> (f64, f64) {
        let half = STANDARD_ERRORS * self.error;
        ((self.ln - half).exp(), (self.ln + half).exp())
    }
}

/// Half a 95 % interval in standard errors.
const STANDARD_ERRORS: f64 = 1.96;

/// A share of the time, with how far off it may be as a logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    pub share: f64,
    pub error: f64,
}

/// Least times of a case as shares of its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloorShares {
    pub compute: Option<Share>,
    pub memory: Option<Share>,
    pub cache: Option<Share>,
    /// Starting the nodes.
    pub launch: Option<Share>,
}

/// Time in which nothing computes on a card, as shares of the wall time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IdleShares {
    /// The next kernel was launched late.
    pub launched_late: f64,
    /// Copies, communication, and what the profile does not show.
    pub waits: f64,
}

/// The line of the latency over the batch, as shares of the time of the case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveShares {
    /// What every run costs whatever its batch, without reading the weights.
    pub fixed: Share,
    /// What its items add.
    pub items: Share,
    /// Reading the weights once.
    pub weights: f64,
}

/// Processor time of a case as a share of time × threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BusyShare {
    pub share: f64,
    /// The same of the time that other programs left: between the two it would be on a quiet machine.
    pub of_left: f64,
    pub threads: usize,
    /// Whether threads of the engine spin while they wait.
    pub spins: bool,
}

/// What was seen of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Threads of the case; nothing for a card.
    pub threads: Option<usize>,
    /// Half the threads against all of them.
    pub half_threads: Option<Effect>,
    /// Beside a load that streams memory against beside one that computes.
    pub streaming: Option<Effect>,
    /// Replayed as a captured graph.
    pub capture: Option<Effect>,
    /// Least times of the nodes.
    pub floors: Option<FloorShares>,
    /// The line over the batch.
    pub curve: Option<CurveShares>,
    /// Pauses of a card.
    pub idle: Option<IdleShares>,
    /// Time of a node, on average, in nanoseconds.
    pub node_ns: Option<f64>,
    /// Processor time as a share of time × threads.
    pub busy: Option<BusyShare>,
    /// Half the threads against all of them, of what waits for memory, as a logarithm: by the bandwidths of this
    /// machine.
    pub memory_scaling: Option<f64>,
    /// What the streaming load costs what waits for memory, as a logarithm: by the bandwidths of this machine.
    pub memory_shared: Option<f64>,
}

impl Evidence {
    /// Whether anything tells computing from waiting for bytes.
    pub fn tells_work_apart(&self) -> bool {
        let has_floors = self.floors.is_some_and(|floors| floors.compute.is_some());
        has_floors || self.half_threads.is_some() || self.streaming.is_some()
    }
}

/// One observation: what it is, and how likely it is under each hypothesis, in the order of [`CaseLimit::ALL`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    pub kind: ObservationKind,
    pub likelihoods: [f64; 7],
}

/// What was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObservationKind {
    Threads,
    Load,
    Floors,
    Curve,
    Idle,
    Nodes,
    Busy,
    Capture,
}

/// Observations count at most so much against a hypothesis.
const SURPRISE: f64 = 0.005;

/// A prediction under a hypothesis: where the effect lies, and how far around it.
#[derive(Clone, Copy, Debug)]
struct Predicted {
    ln: f64,
    width: f64,
}

const fn predicted(ln: f64, width: f64) -> Predicted {
    Predicted { ln, width }
}

/// Half the threads of work that is shared among them, as a logarithm: 0.69 is twice the time.
const SHARED: f64 = 0.62;

/// Handing a node's work to other threads and waiting for them takes about so long, in nanoseconds.
const HAND_OVER_NS: f64 = 4e3;

/// The same of nodes of this length: handing over is not shared.
fn shared_by_nodes(evidence: &Evidence) -> f64 {
    let handing_over = evidence.node_ns.map_or(0.0, |ns| HAND_OVER_NS / ns);
    SHARED + (1.0 - handing_over.min(0.45)).ln()
}

/// Half the threads.
fn threads_predicted(limit: CaseLimit, evidence: &Evidence) -> Predicted {
    match limit {
        CaseLimit::Compute | CaseLimit::Clock => predicted(shared_by_nodes(evidence), 0.11),
        CaseLimit::Memory => match evidence.memory_scaling {
            // Waiting for single lines of memory is shared as work is, streaming only as far as the bandwidth grows.
            Some(ln) => predicted(f64::midpoint(ln, SHARED), 0.25),
            None => predicted(0.35, 0.28),
        },
        CaseLimit::Cache => predicted(shared_by_nodes(evidence), 0.16),
        CaseLimit::Launch | CaseLimit::Serial => predicted(0.0, 0.10),
        CaseLimit::Waiting => predicted(0.0, 0.05),
        CaseLimit::Imbalance => predicted(0.37, 0.09),
    }
}

/// The share of compute-limited networks whose operands lie in the last cache.
const CACHED_OPERANDS: f64 = 0.25;

/// A load that streams memory against one that computes, with its error.
fn load_likelihood(limit: CaseLimit, effect: Effect, evidence: &Evidence) -> f64 {
    // No load makes a case faster: what looks so is none.
    let ln = effect.ln.max(0.0);
    let effect = Effect { ln, ..effect };
    let likelihood = |ln, width| of_effect(effect, predicted(ln, width));
    match limit {
        // Engines leave a part of the bandwidth alone, which the load takes first.
        CaseLimit::Memory => match evidence.memory_shared {
            Some(ln) => likelihood(0.6 * ln, 0.08 + 0.3 * ln),
            None => likelihood(0.25, 0.20),
        },
        // The last cache is shared with the load, the one before is not.
        CaseLimit::Cache => f64::midpoint(likelihood(0.25, 0.25), likelihood(0.02, 0.05)),
        // What computes may have its operands in the last cache, which it shares with the load.
        CaseLimit::Compute | CaseLimit::Clock => {
            let (apart, shared) = (likelihood(0.015, 0.04), likelihood(0.12, 0.10));
            (1.0 - CACHED_OPERANDS) * apart + CACHED_OPERANDS * shared
        }
        CaseLimit::Launch | CaseLimit::Imbalance => likelihood(0.015, 0.04),
        // One thread that waits for memory now and then.
        CaseLimit::Serial => likelihood(0.04, 0.07),
        CaseLimit::Waiting => likelihood(0.0, 0.03),
    }
}

fn capture_predicted(limit: CaseLimit) -> Predicted {
    match limit {
        CaseLimit::Launch => predicted(-0.5, 0.25),
        _ => predicted(0.0, 0.06),
    }
}

/// How likely the effect of half the threads is. Where only one works at a time, the others may be in its way.
fn threads_likelihood(limit: CaseLimit, effect: Effect, evidence: &Evidence) -> f64 {
    let is_alone = matches!(
        limit,
        CaseLimit::Serial | CaseLimit::Launch | CaseLimit::Waiting
    );
    let ln = if is_alone {
        effect.ln.max(0.0)
    } else {
        effect.ln
    };
    of_effect(Effect { ln, ..effect }, threads_predicted(limit, evidence))
}

fn normal(x: f64, mean: f64, width: f64) -> f64 {
    (-((x - mean) / width).powi(2) / 2.0).exp() / (width * (2.0 * std::f64::consts::PI).sqrt())
}

/// How likely an effect is, measured with its error.
fn of_effect(effect: Effect, predicted: Predicted) -> f64 {
    normal(effect.ln, predicted.ln, predicted.width.hypot(effect.error))
}

/// A floor as a share of the time, where it is the limit: engines reach about two thirds of a roof.
const OWN: Predicted = predicted(-0.43, 0.38);
/// The same of arithmetic that is shared unevenly.
const UNEVEN: Predicted = predicted(-0.8, 0.35);
/// The same where it is not.
const NOT_OWN: Predicted = predicted(-2.3, 1.1);

/// How many times as likely the floor of a hypothesis is as if it were not the limit.
fn of_share(share: Option<Share>, least: f64) -> f64 {
    of_share_as(share, OWN, least)
}

/// The same where the floor lies elsewhere under the hypothesis.
fn of_share_as(share: Option<Share>, under: Predicted, least: f64) -> f64 {
    let Some(share) = share else {
        return 1.0;
    };
    // Above its roof it is the limit all the same.
    let ln = share.share.max(1e-4).ln().min(0.0);
    let own = normal(ln, under.ln, under.width.hypot(share.error));
    let other = normal(ln, NOT_OWN.ln, NOT_OWN.width.hypot(share.error));
    (own / other).max(least)
}

/// From this share of the time on, operations are more than the addresses of what is moved.
const HAS_ARITHMETIC: f64 = 0.01;

fn floors_likelihood(limit: CaseLimit, floors: &FloorShares) -> f64 {
    match limit {
        // Operations are counted without what surrounds them: exponentials, conversions, addresses. Where there are none,
        // less surrounds them.
        CaseLimit::Compute | CaseLimit::Clock => {
            let has_some = floors
                .compute
                .is_none_or(|share| share.share > HAS_ARITHMETIC);
            of_share(floors.compute, if has_some { 0.12 } else { 0.02 })
        }
        // Bytes are counted without the pages that engines ask the system for.
        CaseLimit::Memory => of_share(floors.memory, 0.12),
        CaseLimit::Cache => of_share(floors.cache, SURPRISE),
        CaseLimit::Launch => of_share(floors.launch, SURPRISE),
        // What is shared unevenly computes, too, and leaves threads idle.
        CaseLimit::Imbalance => f64::midpoint(1.0, of_share_as(floors.compute, UNEVEN, 0.12)),
        CaseLimit::Serial | CaseLimit::Waiting => 1.0,
    }
}

/// Starting nodes costs the same at every batch size; arithmetic and bytes grow with the items. One thread at a time may
/// be either.
fn curve_likelihood(limit: CaseLimit, curve: CurveShares) -> f64 {
    let items = of_share(Some(curve.items), 0.12);
    match limit {
        CaseLimit::Launch => of_share(Some(curve.fixed), 0.12),
        CaseLimit::Memory => {
            let (share, error) = (curve.weights, curve.fixed.error);
            items.max(of_share(Some(Share { share, error }), 0.12))
        }
        CaseLimit::Compute | CaseLimit::Clock | CaseLimit::Cache | CaseLimit::Imbalance => items,
        CaseLimit::Serial | CaseLimit::Waiting => 1.0,
    }
}

/// Pauses of a card are the limit as a floor is.
fn idle_likelihood(limit: CaseLimit, idle: IdleShares) -> f64 {
    let of_pause = |share: f64| of_share(Some(Share { share, error: 0.0 }), SURPRISE);
    match limit {
        CaseLimit::Launch => of_pause(idle.launched_late),
        CaseLimit::Waiting => of_pause(idle.waits),
        // What computes cannot be limited by more than it takes.
        _ => of_pause(1.0 - idle.launched_late - idle.waits),
    }
}

/// Nodes of microseconds are limited by starting them, those of milliseconds are not.
fn nodes_likelihood(limit: CaseLimit, node_ns: f64) -> f64 {
    let is_launch = match node_ns {
        ns if ns < 5e3 => 6.0,
        ns if ns < 20e3 => 2.0,
        ns if ns < 100e3 => 0.3,
        _ => SURPRISE,
    };
    if limit == CaseLimit::Launch {
        is_launch
    } else {
        1.0
    }
}

/// Likelihood of the processor utilisation: the mean of that at the measured share, and at the share of what other
/// programs left.
fn busy_likelihood(limit: CaseLimit, busy: BusyShare) -> f64 {
    let at = |share: f64| busy_at(limit, share.min(1.0), busy);
    f64::midpoint(at(busy.share), at(busy.of_left))
}

/// Threads that wait sleep with some engines and spin with others.
fn busy_at(limit: CaseLimit, share: f64, busy: BusyShare) -> f64 {
    // Of threads that spin while they wait nothing is seen; those that sleep spin for a moment before.
    let spins = if busy.spins { 0.5 } else { 0.15 };
    let or_spinning = |waiting: f64| (1.0 - spins) * waiting + spins * normal(share, 0.97, 0.08);
    match limit {
        CaseLimit::Waiting => normal(share, 0.05, 0.10),
        CaseLimit::Compute | CaseLimit::Clock | CaseLimit::Memory | CaseLimit::Cache => {
            normal(share, 0.96, 0.13)
        }
        CaseLimit::Imbalance => or_spinning(normal(share, 0.78, 0.10)),
        CaseLimit::Serial | CaseLimit::Launch => {
            let alone = 1.0 / busy.threads.max(1) as f64;
            or_spinning(normal(share, alone, 0.12))
        }
    }
}

/// Every observation that was made.
pub fn observations(evidence: &Evidence) -> Vec<Observation> {
    let mut all = Vec::new();
    let mut add = |kind: ObservationKind, likelihood: &dyn Fn(CaseLimit) -> f64| {
        let likelihoods = CaseLimit::ALL.map(likelihood);
        let most = likelihoods.iter().copied().fold(0.0, f64::max);
        if most > 0.0 {
            all.push(Observation {
                kind,
                likelihoods: likelihoods.map(|one| (one / most).max(SURPRISE)),
            });
        }
    };
    if let Some(effect) = evidence.half_threads {
        add(ObservationKind::Threads, &|limit| {
            threads_likelihood(limit, effect, evidence)
        });
    }
    if let Some(effect) = evidence.streaming {
        add(ObservationKind::Load, &|limit| {
            load_likelihood(limit, effect, evidence)
        });
    }
    if let Some(effect) = evidence.capture {
        add(ObservationKind::Capture, &|limit| {
            of_effect(effect, capture_predicted(limit))
        });
    }
    if let Some(floors) = &evidence.floors {
        add(ObservationKind::Floors, &|limit| {
            floors_likelihood(limit, floors)
        });
    }
    if let Some(curve) = evidence.curve {
        add(ObservationKind::Curve, &|limit| {
            curve_likelihood(limit, curve)
        });
    }
    if let Some(idle) = evidence.idle {
        add(ObservationKind::Idle, &|limit| idle_likelihood(limit, idle));
    }
    if let Some(node_ns) = evidence.node_ns {
        add(ObservationKind::Nodes, &|limit| {
            nodes_likelihood(limit, node_ns)
        });
    }
    if let Some(busy) = evidence.busy {
        add(ObservationKind::Busy, &|limit| busy_likelihood(limit, busy));
    }
    all
}

/// How sure each hypothesis is, the surest first; all together 1.
pub fn weigh(observations: &[Observation], threads: Option<usize>) -> Vec<(CaseLimit, f64)> {
    let mut weights: Vec<(CaseLimit, f64)> = CaseLimit::ALL
        .into_iter()
        .enumerate()
        .map(|(place, limit)| {
            let product: f64 = observations
                .iter()
                .map(|seen| seen.likelihoods[place])
                .product();
            (limit, limit.prior(threads) * product)
        })
        .collect();
    let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
    for (_, weight) in &mut weights {
        *weight /= sum;
    }
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    weights
}

#[cfg(test)]
mod tests;
