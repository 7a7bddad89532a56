//! What was seen of a case: from its experiments, its profile, its rounds and the roofs of its machine.

use std::f64::consts::LN_2;

use powerband_core::domain::case::{Case, CaseKey};
use powerband_core::domain::experiment::ExperimentChange;
use powerband_core::domain::roofs::{PROCESSOR, Roofs, numbers_of};
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::work::NumberFormat;

use super::against;
use super::case_limits::Limits;
use super::curve::{self, LatencyPart};
use super::experiments::{ExperimentRow, TriedExperiments};
use super::hypotheses::{BusyShare, CurveShares, Effect, Evidence, FloorShares, IdleShares, Share};
use super::lines::References;
use super::node::{self, Floor, NodeLimit, NodeLines};
use super::slowed;
use super::wall::WallKind;
use crate::analysis::device_flags;
use crate::analysis::flag::Flag;

/// Nodes without a floor may take this share of the time; the others stand for them.
const MOST_UNKNOWN: f64 = 0.4;
/// Processor time is counted in ticks of some milliseconds, so that it takes this long to say anything, in nanoseconds.
const COUNTED_NS: u64 = 50_000_000;
/// A part of the latency that is smaller than this counts as this large: it is not known more closely.
const LEAST_SHARE: f64 = 0.005;
/// Other programs leave at least this share of the cores: threads share them evenly.
const MOST_TAKEN: f64 = 0.25;
/// Every system has so many cores busy with other work, without which nothing would be measured.
const USUAL_COMPANY: f64 = 0.2;
/// An effect of the number of threads is unsure by so many times the logarithm of what other programs left: threads that
/// wait for one that does not run are slower than fewer of them.
const CROWDED_THREADS: f64 = 1.5;

/// What an answer is made of.
#[derive(Clone, Copy, Debug)]
pub struct AnswerSources<'a> {
    pub session: &'a Session,
    /// The case, where it is one of the session's.
    pub case: Option<CaseKey>,
    /// What limits its nodes, where it was profiled.
    pub limits: Option<&'a Limits>,
    /// What was tried on it.
    pub tried: Option<&'a TriedExperiments>,
    pub roofs: &'a [Roofs],
}

impl AnswerSources<'_> {
    pub(super) fn references(&self) -> Option<References<'_>> {
        let case = self.case?;
        against::references_for_setup(self.session, case.setup, Some(case), self.roofs).ok()
    }

    /// The median of the case, in nanoseconds.
    pub(super) fn median_ns(&self) -> Option<f64> {
        slowed::median_ns(self.session, self.case?)
    }

    pub(super) fn row(&self, change: ExperimentChange) -> Option<&ExperimentRow> {
        let mut rows = self.tried?.rows.iter();
        rows.find(|row| row.change == change)
    }

    /// All of it.
    pub(super) fn evidence(&self) -> Evidence {
        let references = self.references();
        Evidence {
            threads: self.threads(),
            half_threads: self.half_threads(),
            streaming: self.tried.and_then(|tried| tried.beyond_computing),
            capture: self
                .row(ExperimentChange::GraphCapture)
                .and_then(|row| row.effect),
            floors: self.floor_shares(),
            curve: self.curve_shares().or_else(|| self.doubled_batch()),
            idle: self.idle_shares(),
            node_ns: self.node_ns().filter(|_| !self.is_of_requests()),
            busy: self.busy(),
            memory_scaling: references
                .as_ref()
                .and_then(|references| self.memory_scaling(references)),
            memory_shared: references
                .as_ref()
                .and_then(|references| self.memory_shared(references)),
        }
    }

    /// The change of the number of threads that was tried: half of them, or twice as many.
    pub(super) fn threads_row(&self) -> Option<&ExperimentRow> {
        let halved = self.row(ExperimentChange::HalfThreads);
        halved.or_else(|| self.row(ExperimentChange::TwiceThreads))
    }

    /// How many times as many threads the larger side of that change has.
    pub(super) fn threads_factor(&self, row: &ExperimentRow) -> f64 {
        let threads = |case: CaseKey| against::threads_of(self.session, case.setup).max(1) as f64;
        let factor = threads(row.control) / threads(row.case);
        factor.max(1.0 / factor)
    }

    fn half_threads(&self) -> Option<Effect> {
        let row = self.threads_row()?;
        let effect = self.as_half_threads(row, row.effect?);
        let crowd = CROWDED_THREADS * self.crowding(row.case).max(self.crowding(row.control));
        Some(Effect {
            error: effect.error.hypot(crowd),
            ..effect
        })
    }

    /// How much less of the processor other programs left to the threads of a case, as a logarithm; 0 where they were as
    /// quiet as they are anywhere.
    fn crowding(&self, case: CaseKey) -> f64 {
        let Some(known) = self.session.case(case) else {
            return 0.0;
        };
        let threads = against::threads_of(self.session, case.setup).max(1) as f64;
        let cores = self.session.environment_of(case.setup).cpu.threads.max(1) as f64;
        let others = CountedCores::of_case(known).others - USUAL_COMPANY;
        let left = (cores - others.max(0.0)).max(MOST_TAKEN * cores);
        (threads / left).max(1.0).ln()
    }

    /// The same of the case that is asked about.
    pub(super) fn own_crowding(&self) -> f64 {
        let is_on_processor = self.threads().is_some();
        self.case
            .filter(|_| is_on_processor)
            .map_or(0.0, |case| self.crowding(case))
    }

    /// An effect of that change as one of half the threads against all of them: where twice as many were tried, these
    /// are all. As if exactly half, where their number is odd.
    pub(super) fn as_half_threads(&self, row: &ExperimentRow, effect: Effect) -> Effect {
        let sign = match row.change {
            ExperimentChange::TwiceThreads => -1.0,
            _ => 1.0,
        };
        let factor = self.threads_factor(row);
        let scale = if factor > 1.0 {
            LN_2 / factor.ln()
        } else {
            1.0
        };
        Effect {
            ln: sign * scale * effect.ln,
            error: scale * effect.error,
        }
    }

    /// Threads of the case, where it runs on the processor.
    pub(super) fn threads(&self) -> Option<usize> {
        let case = self.case?;
        let spec = self.session.plan.setups.get(case.setup)?;
        (spec.device == "cpu").then(|| against::threads_of(self.session, case.setup))
    }

    /// Half the threads against all of them, of what waits for memory, as a logarithm: by the faster growth of plain
    /// loops and of the engine's own copies.
    fn memory_scaling(&self, references: &References<'_>) -> Option<f64> {
        let threads = self.threads()?.max(2);
        let growth =
            |per_s: &dyn Fn(usize) -> Option<f64>| Some(per_s(threads)? / per_s(threads / 2)?);
        let by_loops = growth(&|count| references.memory_per_s(count));
        let by_engine = growth(&|count| references.engine_copy_per_s(count));
        let most = [by_loops, by_engine]
            .into_iter()
            .flatten()
            .reduce(f64::max)?;
        Some(most.ln().clamp(0.0, 1.0))
    }

    /// What a streaming load on the idle cores costs what waits for memory, as a logarithm.
    fn memory_shared(&self, references: &References<'_>) -> Option<f64> {
        let row = self.row(ExperimentChange::StreamingNeighbour)?;
        let own = against::threads_of(self.session, row.control.setup);
        let roofs = self.session.roofs_of(self.case?.setup, self.roofs);
        let processor = roofs.iter().find(|roofs| roofs.device == PROCESSOR)?;
        let all = processor.conditions.threads.max(own + 1);
        let alone = references.memory_per_s(own)?;
        let beside = references.memory_per_s(all)? * own as f64 / all as f64;
        Some((alone / beside).ln().max(0.0))
    }

    /// The least times of the nodes as shares of the time of the case.
    fn floor_shares(&self) -> Option<FloorShares> {
        let limits = self.limits?;
        let launch = self.launch_share(limits);
        let references = self.references();
        let known: Vec<KnownFloor> = limits
            .nodes
            .iter()
            .filter_map(|node| KnownFloor::of_node(node, references.as_ref()))
            .collect();
        let all_ns: f64 = limits.nodes.iter().map(|node| node.time_ns).sum();
        let known_ns: f64 = known.iter().map(|node| node.time_ns).sum();
        if all_ns <= 0.0 || known_ns < (1.0 - MOST_UNKNOWN) * all_ns {
            return launch.map(|launch| FloorShares {
                compute: None,
                memory: None,
                cache: None,
                launch: Some(launch),
            });
        }
        let wall_ns = limits.wall.as_ref().map_or(all_ns, |wall| wall.wall_ns);
        // Some of the time was that of other programs: how much, is not known.
        let crowding = self.own_crowding();
        let crowded_ns = self.median_ns().unwrap_or(wall_ns) * known_ns / all_ns;
        let whole_ns = crowded_ns * (-crowding / 2.0).exp();
        let sum = |part: &dyn Fn(&KnownFloor) -> f64| -> f64 { known.iter().map(part).sum() };
        let spread = |part: &dyn Fn(&KnownFloor) -> f64| -> f64 {
            sum(&|node| part(node) * node.time_ns) / known_ns
        };
        let bytes = |is_cached: bool| {
            let of_level = |node: &KnownFloor| f64::from(u8::from(node.is_cached == is_cached));
            let low = sum(&|node| of_level(node) * node.floor.memory_ns);
            let high = sum(&|node| of_level(node) * node.most_memory_ns).max(low);
            let width = if low > 0.0 {
                (high / low).ln() / 2.0
            } else {
                0.0
            };
            Share {
                share: (low * high).sqrt() / whole_ns,
                error: spread(&|node| node.floor.spread.memory) + width + crowding,
            }
        };
        Some(FloorShares {
            compute: Some(Share {
                share: sum(&|node| node.floor.compute_ns) / whole_ns,
                error: spread(&|node| node.floor.spread.compute) + crowding,
            }),
            memory: Some(bytes(false)),
            cache: Some(bytes(true)),
            launch,
        })
    }

    /// Whether the runs of the case are requests to a language model, each of many passes: what is known of one pass says
    /// nothing of the whole.
    fn is_of_requests(&self) -> bool {
        self.setup().is_some_and(Setup::is_generate_task)
    }

    fn setup(&self) -> Option<&Setup> {
        self.session.plan.setups.get(self.case?.setup)
    }

    /// Starting all nodes as a share of the median.
    fn launch_share(&self, limits: &Limits) -> Option<Share> {
        if self.is_of_requests() {
            return None;
        }
        let cost = limits.launch?;
        let time_ns = self
            .median_ns()
            .or_else(|| limits.wall.as_ref().ok().map(|wall| wall.wall_ns))?;
        Some(Share {
            share: cost.ns * limits.starts() / time_ns,
            error: cost.spread,
        })
    }

    /// The line over the batch at the size of the case; nothing where its setup was measured at fewer than three.
    fn curve_shares(&self) -> Option<CurveShares> {
        let case = self.case?;
        let limits = curve::curve_limits(self.session, case.setup, self.roofs).ok()?;
        let batch = case.point.batch() as f64;
        let whole_ns = limits.fixed.ns.max(0.0) + batch * limits.per_item.ns;
        let weights = limits.weights_ns.unwrap_or(0.0) / whole_ns;
        let share = |part: LatencyPart, times: f64, without: f64| {
            let of = |ns: f64| (times * ns / whole_ns - without).max(LEAST_SHARE);
            let ci95 = part.ci95?;
            Some(Share {
                share: of(part.ns),
                error: (of(ci95.high) / of(ci95.low)).ln() / 4.0,
            })
        };
        Some(CurveShares {
            fixed: share(limits.fixed, 1.0, weights)?,
            items: share(limits.per_item, batch, 0.0)?,
            weights,
        })
    }

    /// The same by twice the batch, measured in turns: what it adds is what the items cost.
    fn doubled_batch(&self) -> Option<CurveShares> {
        let row = self.row(ExperimentChange::TwiceBatch)?;
        let effect = row.effect.filter(|_| !self.is_of_requests())?;
        let items = row.case.point.batch() as f64 / row.control.point.batch() as f64;
        let references = self.references()?;
        let numbers = self.setup().map_or(NumberFormat::F32, numbers_of);
        let bytes = curve::weight_bytes(self.session, row.case.setup, numbers);
        let line = references.memory(bytes);
        let weights = line.map_or(0.0, |line| line.ns_of(bytes)) / self.median_ns()?;
        let added = |ln: f64| (items * ln.exp() - 1.0) / (items - 1.0);
        let (low, high) = effect.ends();
        let share = |of: &dyn Fn(f64) -> f64| {
            let at = |ln: f64| of(added(ln)).max(LEAST_SHARE);
            Share {
                share: at(effect.ln),
                error: (at(high.ln()) / at(low.ln())).ln().abs() / 4.0,
            }
        };
        Some(CurveShares {
            fixed: share(&|added| 1.0 - added - weights),
            items: share(&|added| added),
            weights,
        })
    }

    /// Why its device says that it was slowed down during the case.
    pub(super) fn slowed_down(&self) -> Option<Flag> {
        let case = self.session.case(self.case?)?;
        device_flags::slowed_down(self.session, case)
    }

    /// Of a card: waiting for launches, and for all else, as shares of the wall time.
    fn idle_shares(&self) -> Option<IdleShares> {
        let limits = self.limits?;
        let wall = limits
            .wall
            .as_ref()
            .ok()
            .filter(|_| !limits.is_of_processor)?;
        let share = |kinds: &[WallKind]| -> f64 {
            let parts = wall.parts.iter();
            let parts = parts.filter(|part| kinds.contains(&part.kind));
            parts.map(|part| part.share).sum()
        };
        Some(IdleShares {
            launched_late: share(&[WallKind::LaunchedLate]),
            waits: share(&[
                WallKind::Copies,
                WallKind::Communication,
                WallKind::WaitedForKernel,
                WallKind::OtherGap,
            ]),
        })
    }

    /// Time of a node, on average, in nanoseconds; not of a card, which computes beside what starts its kernels.
    pub(super) fn node_ns(&self) -> Option<f64> {
        let is_of_card = self.limits.is_some_and(|limits| !limits.is_of_processor);
        if is_of_card {
            return None;
        }
        let from_profile = || {
            let limits = self.limits?;
            let starts = limits.starts();
            (starts >= 1.0).then_some(starts)
        };
        let examined = || {
            let examined = self.session.examinations.get(&self.case?.setup)?;
            Some(examined.nodes.len() as f64).filter(|nodes| *nodes >= 1.0)
        };
        let time_ns = self.median_ns().or_else(|| {
            let wall = self.limits?.wall.as_ref().ok()?;
            Some(wall.wall_ns)
        })?;
        Some(time_ns / from_profile().or_else(examined)?)
    }

    /// Processor time as a share of the time of its threads, and of what other programs left of it.
    fn busy(&self) -> Option<BusyShare> {
        let threads = self.threads()?;
        let case = self.session.case(self.case?)?;
        let counted = CountedCores::of_case(case);
        let cores = self.session.environment_of(case.setup).cpu.threads.max(1) as f64;
        let left = (cores - counted.others).max(MOST_TAKEN * cores);
        (counted.all_ns > COUNTED_NS).then(|| BusyShare {
            share: counted.own / threads as f64,
            of_left: counted.own / left.min(threads as f64),
            threads,
            spins: self.spins(case.setup),
        })
    }

    /// Whether threads of the engine spin while they wait: those of rten sleep.
    fn spins(&self, setup: usize) -> bool {
        let spec = self.session.plan.setups.get(setup);
        spec.is_none_or(|spec| {
            spec.engine != "rten"
                && spec
                    .options
                    .get("spinning")
                    .is_none_or(|value| value != "off")
        })
    }
}

/// Cores that a case and all other programs used, on average over its rounds.
struct CountedCores {
    own: f64,
    others: f64,
    all_ns: u64,
}

impl CountedCores {
    fn of_case(case: &Case) -> Self {
        let counted = case.rounds.iter().filter_map(|round| round.company);
        let (own, others, all_ns) = counted.fold((0, 0, 0), |(own, others, all), one| {
            (
                own + one.own_ns,
                others + one.others_ns + one.stolen_ns,
                all + one.counted_ns,
            )
        });
        let share = |ns: u64| ns as f64 / all_ns.max(1) as f64;
        Self {
            own: share(own),
            others: share(others),
            all_ns,
        }
    }
}

/// The floor of a node whose work is known, whatever its profiler made of its time.
struct KnownFloor {
    floor: Floor,
    is_cached: bool,
    time_ns: f64,
    /// The most time that its bytes can take.
    most_memory_ns: f64,
}

impl KnownFloor {
    fn of_node(node: &NodeLimit, references: Option<&References<'_>>) -> Option<Self> {
        let work = node.work?;
        let judged = node.floor.map(|floor| (floor, node.is_cached));
        let (floor, is_cached) = judged.or_else(|| {
            let calls = node.calls.max(1);
            let references = references?;
            let footprint = work.low_bytes / calls;
            let lines = NodeLines::for_work(references, work, footprint);
            let floor = node::floor_of(work, calls as f64, &lines).ok()?;
            Some((floor, references.is_cached(footprint)))
        })?;
        let more = work.high_bytes as f64 / work.low_bytes.max(1) as f64;
        Some(Self {
            floor,
            is_cached,
            time_ns: node.time_ns,
            most_memory_ns: (floor.memory_ns * more)
                .min(node.time_ns)
                .max(floor.memory_ns),
        })
    }
}
