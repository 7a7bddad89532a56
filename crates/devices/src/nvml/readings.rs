//! What a card is asked again and again.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use nvml_wrapper::Device;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{
    Clock, EccCounter, MemoryError, PcieUtilCounter, TemperatureSensor,
};
use nvml_wrapper::enums::device::{SampleValue, UsedGpuMemory};
use nvml_wrapper::error::{Bits, NvmlError};
use nvml_wrapper::struct_wrappers::device::ProcessInfo;
use nvml_wrapper::structs::device::FieldId;
use nvml_wrapper::sys_exports::field_id;

use super::constants::watts;
use super::lost;
use crate::process::descends_from;
use crate::source::Values;
use powerband_core::domain::telemetry::{Quantity, Throttle};

/// A card while it is read, with the values so far.
pub(super) struct CardReading<'a> {
    pub card: &'a Device<'a>,
    /// The run's processes; the first one is measuring now.
    pub workers: &'a [u32],
    /// Where `/proc` is.
    pub root: &'a Path,
    /// Whether the driver's process numbers are other ones than ours.
    pub foreign: bool,
    /// What was found so far.
    pub values: Values,
}

type NvmlResult<T> = Result<T, NvmlError>;

/// The call of a query: one value, or several at once.
enum QueryKind {
    /// It answers with one number.
    One(Quantity, fn(&Device<'_>) -> NvmlResult<f64>),
    /// It adds to what was found.
    Several(fn(&mut CardReading<'_>) -> NvmlResult<()>),
}

/// A quantity that is read from a card, and how often.
pub(super) struct CardQuery {
    /// How much time there must be from one time to the next, in the long run.
    every: Duration,
    /// Its place among those that keep their caller waiting, which are spread over that time.
    slow: Option<usize>,
    question: QueryKind,
}

impl CardQuery {
    const fn single(quantity: Quantity, ask: fn(&Device<'_>) -> NvmlResult<f64>) -> Self {
        Self::rarely(0, QueryKind::One(quantity, ask))
    }

    const fn several(ask: fn(&mut CardReading<'_>) -> NvmlResult<()>) -> Self {
        Self::rarely(0, QueryKind::Several(ask))
    }

    const fn rarely(every_ms: u64, question: QueryKind) -> Self {
        Self {
            every: Duration::from_millis(every_ms),
            slow: None,
            question,
        }
    }

    const fn slow(place: usize, question: QueryKind) -> Self {
        Self {
            slow: Some(place),
            ..Self::rarely(1_000, question)
        }
    }

    /// How long after the beginning it is asked for the first time.
    pub(super) fn wait(&self, card: usize, cards: usize) -> Duration {
        let Some(place) = self.slow else {
            return Duration::ZERO;
        };
        self.every * (card * SLOW + place) as u32 / (cards.max(1) * SLOW) as u32
    }

    /// When it may be asked again: later by whole steps, so that what is spread stays spread.
    pub(super) fn next(&self, due: Instant, now: Instant) -> Instant {
        let late = now.saturating_duration_since(due).as_nanos();
        let steps = late / self.every.as_nanos().max(1) + 1;
        due + self.every * steps as u32
    }

    /// Asks it.
    pub(super) fn ask(&self, asked: &mut CardReading<'_>) -> NvmlResult<()> {
        match self.question {
            QueryKind::One(quantity, ask) => asked.values.push((quantity, ask(asked.card)?)),
            QueryKind::Several(ask) => ask(asked)?,
        }
        Ok(())
    }
}

/// What counts as a moment ago: the driver looks at who computes about five times a second.
const MOMENT: Duration = Duration::from_secs(1);
/// How many entries keep their caller waiting.
const SLOW: usize = 2;

/// Everything that a card is asked; what takes long comes last.
pub(super) const ENTRIES: [CardQuery; 14] = [
    CardQuery::several(busy),
    CardQuery::single(Quantity::Clock, |card| {
        Ok(card.clock_info(Clock::SM)?.into())
    }),
    CardQuery::single(Quantity::MemoryClock, |card| {
        Ok(card.clock_info(Clock::Memory)?.into())
    }),
    CardQuery::single(Quantity::Power, |card| {
        Ok(field(card, field_id::NVML_FI_DEV_POWER_INSTANT)? / 1e3)
    }),
    CardQuery::several(power_of_the_last_second),
    // Four milliseconds of a processor on an H200 with driver 580; each of the others takes microseconds.
    CardQuery::rarely(
        90,
        QueryKind::One(Quantity::Energy, |card| {
            Ok(card.total_energy_consumption()? as f64 / 1e3)
        }),
    ),
    CardQuery::single(Quantity::Temperature, |card| {
        Ok(card.temperature(TemperatureSensor::Gpu)?.into())
    }),
    CardQuery::single(Quantity::MemoryTemperature, |card| {
        field(card, field_id::NVML_FI_DEV_MEMORY_TEMP)
    }),
    CardQuery::single(Quantity::Throttle, throttle),
    CardQuery::single(Quantity::MemoryUsed, |card| {
        Ok(card.memory_info()?.used as f64)
    }),
    CardQuery::rarely(250, QueryKind::Several(processes)),
    CardQuery::rarely(
        10_000,
        QueryKind::One(Quantity::MemoryErrors, memory_errors),
    ),
    // Each of these counts for a fiftieth of a second, and its caller waits.
    CardQuery::slow(
        0,
        QueryKind::One(Quantity::BusReceived, |card| {
            bus(card, PcieUtilCounter::Receive)
        }),
    ),
    CardQuery::slow(
        1,
        QueryKind::One(Quantity::BusSent, |card| bus(card, PcieUtilCounter::Send)),
    ),
];

fn busy(asked: &mut CardReading<'_>) -> NvmlResult<()> {
    let shares = asked.card.utilization_rates()?;
    asked.values.push((Quantity::Busy, shares.gpu.into()));
    asked
        .values
        .push((Quantity::MemoryBusy, shares.memory.into()));
    Ok(())
}

/// One of the numbers that NVIDIA has no function for.
fn field(card: &Device<'_>, id: u32) -> NvmlResult<f64> {
    let answers = card.field_values_for(&[FieldId(id)])?;
    let answer = answers.into_iter().next().ok_or(NvmlError::NoData)?;
    Ok(match answer?.value? {
        SampleValue::F64(value) => value,
        SampleValue::U32(value) => value.into(),
        SampleValue::U64(value) => value as f64,
        SampleValue::I64(value) => value as f64,
    })
}

/// For cards without a reading of this moment. From old ones this is it all the same, from new ones the
/// mean of a second.
fn power_of_the_last_second(asked: &mut CardReading<'_>) -> NvmlResult<()> {
    let known = |(quantity, _): &(Quantity, f64)| *quantity == Quantity::Power;
    if !asked.values.iter().any(known) {
        let power = watts(asked.card.power_usage()?);
        asked.values.push((Quantity::Power, power));
    }
    Ok(())
}

/// The driver's reasons, and what we call them. Others are no throttling: an idle card, a chosen clock.
const REASONS: [(ThrottleReasons, Throttle); 6] = [
    (ThrottleReasons::SW_POWER_CAP, Throttle::Power),
    (ThrottleReasons::SW_THERMAL_SLOWDOWN, Throttle::Heat),
    (ThrottleReasons::HW_SLOWDOWN, Throttle::Hardware),
    (ThrottleReasons::HW_THERMAL_SLOWDOWN, Throttle::Hardware),
    (
        ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN,
        Throttle::PowerBrake,
    ),
    (ThrottleReasons::SYNC_BOOST, Throttle::Sync),
];

fn throttle(card: &Device<'_>) -> NvmlResult<f64> {
    let (told, unnamed) = match card.current_throttle_reasons_strict() {
        // A newer driver's reason, which has no name here.
        Err(NvmlError::IncorrectBits(Bits::U64(bits))) => {
            let known = ThrottleReasons::from_bits_truncate(bits);
            (known, Throttle::Unnamed.bit())
        }
        told => (told?, 0),
    };
    let reasons = REASONS.iter().filter(|(reason, _)| told.contains(*reason));
    let bits = reasons.fold(unnamed, |bits, (_, reason)| bits | reason.bit());
    Ok(bits.into())
}

/// The worker's memory, and how many others compute. Workers of the run that wait for their turn are none of them.
fn processes(asked: &mut CardReading<'_>) -> NvmlResult<()> {
    let computing = asked.card.running_compute_processes()?;
    let ours: Vec<u32> = [std::process::id()]
        .iter()
        .chain(asked.workers)
        .copied()
        .collect();
    let others: BTreeSet<u32> = computing
        .iter()
        .map(|process| process.pid)
        .filter(|pid| !descends_from(asked.root, *pid, &ours))
        .collect();
    let worker = asked.workers.first().copied();
    let mut comparable = !asked.foreign || worker.is_none();
    if let Some(worker) = worker {
        let mut own = worker_processes(worker, computing);
        if own.is_empty() {
            own = worker_processes(worker, drawing(asked.card)?);
        }
        comparable |= !own.is_empty();
        let bytes = memory(&own).map(|bytes| (Quantity::WorkerMemory, bytes as f64));
        asked.values.extend(bytes);
    }
    // The other processes can be counted only where the worker is known among them.
    if comparable {
        let count = busy_ones(asked.card, &others)?;
        asked.values.push((Quantity::OtherProcesses, count as f64));
    }
    Ok(())
}

/// How many of these computed a moment ago. A process that only holds memory takes no time from others; where the
/// driver does not report who computes, all count.
fn busy_ones(card: &Device<'_>, pids: &BTreeSet<u32>) -> NvmlResult<usize> {
    if pids.is_empty() {
        return Ok(0);
    }
    let since = SystemTime::now()
        .checked_sub(MOMENT)
        .and_then(|then| then.duration_since(SystemTime::UNIX_EPOCH).ok())
        .map(|since| since.as_micros() as u64);
    match card.process_utilization_stats(since) {
        Ok(used) => {
            let busy = used.iter().filter(|one| one.sm_util > 0);
            let busy: BTreeSet<u32> = busy.map(|one| one.pid).collect();
            Ok(busy.intersection(pids).count())
        }
        // Nothing computed at all.
        Err(NvmlError::NotFound) => Ok(0),
        Err(error) if lost(&error).is_some() => Err(error),
        Err(_unknown) => Ok(pids.len()),
    }
}

/// What a process has on a card: once for each part of it, where the card is divided.
fn worker_processes(worker: u32, mut processes: Vec<ProcessInfo>) -> Vec<ProcessInfo> {
    processes.retain(|process| process.pid == worker);
    processes
}

/// Processes that draw; none where a card does not report them.
fn drawing(card: &Device<'_>) -> NvmlResult<Vec<ProcessInfo>> {
    match card.running_graphics_processes() {
        Err(error) if lost(&error).is_none() => Ok(Vec::new()),
        told => told,
    }
}

/// The memory of a process; nothing where the driver does not know it, which some drivers call zero.
fn memory(own: &[ProcessInfo]) -> Option<u64> {
    let bytes = own.iter().map(|process| match process.used_gpu_memory {
        UsedGpuMemory::Used(bytes) => Some(bytes),
        UsedGpuMemory::Unavailable => None,
    });
    bytes.sum::<Option<u64>>().filter(|bytes| *bytes > 0)
}

fn memory_errors(card: &Device<'_>) -> NvmlResult<f64> {
    let count = card.total_ecc_errors(MemoryError::Uncorrected, EccCounter::Volatile)?;
    Ok(count as f64)
}

/// Bytes a second over the bus, of which NVIDIA counts thousands.
fn bus(card: &Device<'_>, direction: PcieUtilCounter) -> NvmlResult<f64> {
    Ok(f64::from(card.pcie_throughput(direction)?) * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_slow_is_spread_over_its_time() {
        let slow = ENTRIES.iter().filter(|entry| entry.slow.is_some());
        assert_eq!(slow.clone().count(), SLOW);
        let mut waits: Vec<u128> = slow
            .flat_map(|entry| (0..4).map(|card| entry.wait(card, 4).as_millis()))
            .collect();
        waits.sort_unstable();
        assert_eq!(waits, [0, 125, 250, 375, 500, 625, 750, 875]);
        let rest = ENTRIES.iter().filter(|entry| entry.slow.is_none());
        assert!(
            rest.map(|entry| entry.wait(3, 4))
                .all(|wait| wait.is_zero())
        );
    }

    #[test]
    fn after_a_delay_the_steps_are_the_same() {
        let entry = CardQuery::rarely(250, QueryKind::Several(busy));
        let due = Instant::now();
        let next = |late_ms| entry.next(due, due + Duration::from_millis(late_ms)) - due;
        assert_eq!(next(0).as_millis(), 250);
        assert_eq!(next(249).as_millis(), 250);
        assert_eq!(next(1100).as_millis(), 1250);
        let always = CardQuery::several(busy);
        assert_eq!(always.next(due, due + Duration::from_secs(9)), due);
    }
}
