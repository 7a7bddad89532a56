//! How much memory a case needs, and which batch would still fit.

use super::device_readings::{self, CaseReadings};
use powerband_core::base::humanize;
use powerband_core::domain::case::Case;
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::{DeviceTelemetry, Quantity};
use powerband_core::stats::fit::LinearFit;

/// Larger batches are not considered.
const LARGEST_BATCH: f64 = 1e6;
/// How far beyond the largest batch that was measured the line is believed, in times.
const REACH: usize = 16;

/// The memory that a setup uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// In main memory: what the worker had at most.
    Worker,
    /// On a card: what the worker had of it at most.
    CardOfWorker,
    /// On a card: the most in use by all programs, where the card does not report it by process.
    CardOfAll,
}

/// The most memory that a case needed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryNeed {
    /// So much, in bytes.
    pub bytes: f64,
    /// Kind of memory.
    pub kind: MemoryKind,
    /// All of that memory, in bytes, where known.
    pub capacity: Option<f64>,
}

/// What a case needed; nothing where it was not reported.
pub fn case_memory(session: &Session, case: &Case, watched: &[CaseReadings]) -> Option<MemoryNeed> {
    let own = device_readings::devices_of_setup(session, case.setup);
    let card = own
        .iter()
        .filter_map(|device| Some((*device, session.telemetry.tracks.get(*device)?)))
        .find(|(_, track)| track.device.kind.is_gpu());
    match card {
        Some((device, track)) => on_card(track, watched.iter().find(|w| w.device == device)?),
        None if is_on_card(session, case.setup) => None,
        None => Some(MemoryNeed {
            bytes: case.opening.as_ref()?.peak_bytes? as f64,
            kind: MemoryKind::Worker,
            capacity: Some(session.environment_of(case.setup).memory.total_bytes as f64)
                .filter(|all| *all > 0.0),
        }),
    }
}

fn is_on_card(session: &Session, setup: usize) -> bool {
    let setup = session.plan.setups.get(setup);
    setup.is_some_and(|setup| setup.device != "cpu")
}

fn on_card(track: &DeviceTelemetry, watched: &CaseReadings) -> Option<MemoryNeed> {
    let capacity = track.device.memory_bytes.map(|bytes| bytes as f64);
    let of_worker = watched
        .extent(Quantity::WorkerMemory)
        .map(|e| (e, MemoryKind::CardOfWorker));
    let of_all = watched
        .extent(Quantity::MemoryUsed)
        .map(|e| (e, MemoryKind::CardOfAll));
    let (extent, kept) = of_worker.or(of_all)?;
    Some(MemoryNeed {
        bytes: extent.max,
        kind: kept,
        capacity,
    })
}

/// The memory estimate for batches that were not measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Headroom {
    /// What it needs for no item at all, in bytes.
    pub fixed: f64,
    /// What each item of a batch adds, in bytes.
    pub per_item: f64,
    /// All of the memory, in bytes.
    pub capacity: f64,
    /// The largest batch that was measured.
    pub measured: usize,
    /// The largest batch that would fit, by the line.
    pub largest: usize,
}

impl Headroom {
    /// From batch sizes and what each needed; nothing where they are not on a line.
    pub fn from_needs(needs: &[(usize, MemoryNeed)]) -> Option<Self> {
        let capacity = needs.iter().find_map(|(_, need)| need.capacity)?;
        let points: Vec<(f64, f64)> = needs
            .iter()
            .map(|(batch, need)| (*batch as f64, need.bytes))
            .collect();
        let line = LinearFit::through(&points)?;
        let largest = ((capacity - line.fixed) / line.per_item).clamp(0.0, LARGEST_BATCH);
        Some(Self {
            fixed: line.fixed,
            per_item: line.per_item,
            capacity,
            measured: needs.iter().map(|(batch, _)| *batch).max()?,
            largest: largest as usize,
        })
    }

    /// What a batch would need, in bytes.
    pub fn need(&self, batch: usize) -> f64 {
        self.fixed + self.per_item * batch as f64
    }

    /// The next doubling that does not fit.
    pub(crate) fn too_large(&self) -> usize {
        let mut batch = self.measured.max(1) * 2;
        while batch <= self.largest {
            batch *= 2;
        }
        batch
    }

    /// The estimate in a sentence.
    pub fn sentence(&self) -> String {
        let per_item = humanize::bytes(self.per_item as u64);
        format!("{per_item} an item; {}", self.limit())
    }

    /// The next doubling that does not fit, in a few words.
    pub fn limit(&self) -> String {
        let batch = self.too_large();
        let reach = self.measured.max(1) * REACH;
        if batch > reach {
            let reach = humanize::count(reach as u64);
            return format!("memory is no limit up to batch {reach}; beyond that it is not known");
        }
        format!(
            "batch {} would need about {}, there are {}",
            humanize::count(batch as u64),
            humanize::bytes(self.need(batch) as u64),
            humanize::bytes(self.capacity as u64),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing;
    use powerband_core::domain::case::CaseOpening;
    use powerband_core::domain::telemetry::DeviceKind;

    const GIB: f64 = (1_u64 << 30) as f64;

    fn need(bytes: f64) -> MemoryNeed {
        MemoryNeed {
            bytes,
            kind: MemoryKind::CardOfWorker,
            capacity: Some(8.0 * GIB),
        }
    }

    #[test]
    fn the_next_doubling_that_does_not_fit_is_named() {
        let needs: Vec<(usize, MemoryNeed)> = [1, 8, 16, 64]
            .map(|batch| (batch, need(0.6 * GIB + 0.0875 * GIB * batch as f64)))
            .to_vec();
        let headroom = Headroom::from_needs(&needs).unwrap();
        assert_eq!((headroom.measured, headroom.largest), (64, 84));
        assert_eq!(headroom.too_large(), 128);
        let sentence = headroom.sentence();
        assert!(
            sentence.contains("batch 128 would need about 11.8 GiB, there are 8.00 GiB"),
            "{sentence}"
        );
    }

    #[test]
    fn nothing_is_said_of_what_is_no_line() {
        let flat: Vec<(usize, MemoryNeed)> = [1, 2, 4].map(|batch| (batch, need(1e9))).to_vec();
        assert_eq!(Headroom::from_needs(&flat), None);
        assert_eq!(
            Headroom::from_needs(&[(1, need(1e9)), (2, need(2e9))]),
            None
        );
    }

    #[test]
    fn a_setup_needs_memory_where_it_computes() {
        let mut session = testing::session(&["ort:cpu", "ort:cuda:0", "ort:rocm:0"], &[1]);
        session.environment.memory.total_bytes = 16_000;
        for setup in 0..3 {
            testing::measure(&mut session, setup, 1, &[&[1_000_000_000]]);
            session.cases[setup].opening = Some(CaseOpening {
                peak_bytes: Some(7_000),
                ..CaseOpening::default()
            });
        }
        testing::add_telemetry(&mut session, DeviceKind::Nvidia, 10.0, 1.0, |at_s| {
            vec![
                (Quantity::MemoryUsed, 900.0),
                (Quantity::WorkerMemory, 500.0 + at_s),
            ]
        });
        session.telemetry.tracks[0].device.memory_bytes = Some(1_000);
        let of_setup = |setup: usize| {
            let case = &session.cases[setup];
            case_memory(
                &session,
                case,
                &device_readings::case_readings(&session, case),
            )
        };
        assert_eq!(
            of_setup(0),
            Some(MemoryNeed {
                bytes: 7_000.0,
                kind: MemoryKind::Worker,
                capacity: Some(16_000.0)
            })
        );
        assert_eq!(
            of_setup(1),
            Some(MemoryNeed {
                bytes: 501.0,
                kind: MemoryKind::CardOfWorker,
                capacity: Some(1_000.0)
            })
        );
        assert_eq!(of_setup(2), None, "no readings of that card");
    }
}
