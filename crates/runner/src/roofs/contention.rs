//! Roofs that were measured while other programs used the cores: they may be too low, however well their repetitions
//! agree, and are marked so.

use std::fs;

use powerband_core::base::humanize;
use powerband_core::domain::case::CpuContention;
use powerband_core::domain::roofs::{MeasuredValue, Roofs};

/// Others that use less of a core than this are the system's own.
const NOTED: f64 = 0.05;

/// Marks the processor's own roofs, during which others used so many of the cores.
pub(super) fn mark_contended(roofs: &mut Roofs, others: f64, usable: usize) {
    let of_all = others / usable.max(1) as f64;
    for roof in &mut roofs.compute {
        roof.per_s = roof
            .per_s
            .widened_for_load(contended_share(others, usable, roof.threads));
    }
    for roof in &mut roofs.memory {
        roof.per_s = roof.per_s.widened_for_load(of_all);
    }
    if others >= NOTED {
        roofs.notes.push(format!(
            "Other programs used about {} of {} while this was measured, so the roofs may be higher than these figures: close them and measure again.",
            humanize::significant(others, 3),
            humanize::pluralised(usable as u64, "core")
        ));
    }
}

/// The share of its cores that others took from threads, where cores that these leave idle are taken first.
fn contended_share(others: f64, usable: usize, threads: usize) -> f64 {
    let idle = usable.saturating_sub(threads) as f64;
    (others - idle).max(0.0) / threads.max(1) as f64
}

/// Processor time that other programs used over all rounds of an engine.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OthersCpuTime {
    counted_ns: u64,
    others_ns: u64,
}

impl OthersCpuTime {
    /// Adds a round.
    pub(super) fn add(&mut self, round: Option<CpuContention>) {
        if let Some(round) = round {
            self.counted_ns += round.counted_ns;
            self.others_ns += round.others_ns + round.stolen_ns;
        }
    }

    /// A figure of an engine with so many threads; 0 on a card, whose figures need no core.
    pub(super) fn marked(self, figure: MeasuredValue, threads: usize) -> MeasuredValue {
        self.marked_on(figure, processors(), threads)
    }

    fn marked_on(self, figure: MeasuredValue, processors: usize, threads: usize) -> MeasuredValue {
        if threads == 0 {
            return figure;
        }
        let others = self.others_ns as f64 / self.counted_ns.max(1) as f64;
        figure.widened_for_load(contended_share(others, processors, threads))
    }
}

/// How many processors the machine has, whichever of them this process may use.
fn processors() -> usize {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let is_processor = |line: &&str| {
        let number = line.strip_prefix("cpu");
        number.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    stat.lines().filter(is_processor).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roofs::devices::RoofDevice;
    use powerband_core::domain::roofs::{Access, ComputeRoof, Level, MemoryRoof};
    use powerband_core::domain::work::NumberFormat;

    const QUIET: MeasuredValue = MeasuredValue {
        value: 100e9,
        low: 99e9,
        high: 100e9,
        repetitions: 4,
    };

    fn roofs() -> Roofs {
        let compute = |threads| ComputeRoof {
            numbers: NumberFormat::F32,
            threads,
            vector_bits: 256,
            code: "AVX2".to_owned(),
            per_s: QUIET,
        };
        let copy = MemoryRoof {
            level: Level::Memory,
            access: Access::Copy,
            threads: 1,
            working_set_bytes: 1 << 30,
            code: "AVX2".to_owned(),
            per_s: QUIET,
        };
        Roofs {
            compute: vec![compute(1), compute(2)],
            memory: vec![copy],
            ..RoofDevice::processor().unmeasured()
        }
    }

    #[test]
    fn what_is_measured_beside_constant_load_is_not_quiet() {
        let mut beside = roofs();
        mark_contended(&mut beside, 1.0, 2);
        // One thread had a core to itself; two had not, and memory is shared.
        assert!(!beside.compute[0].per_s.is_noisy());
        assert!(beside.compute[1].per_s.is_noisy() && beside.memory[0].per_s.is_noisy());
        assert_eq!(beside.compute[1].per_s.value, 100e9);
        assert!(
            beside.notes[0].contains("used about 1.00 of 2 cores"),
            "{:?}",
            beside.notes
        );
        let mut alone = roofs();
        mark_contended(&mut alone, 0.01, 2);
        assert_eq!(alone.compute, roofs().compute);
        assert!(alone.notes.is_empty());
    }

    #[test]
    fn an_engine_beside_constant_load_is_not_quiet() {
        let mut beside = OthersCpuTime::default();
        beside.add(None);
        beside.add(Some(CpuContention {
            counted_ns: 1_000,
            others_ns: 500,
            stolen_ns: 100,
            ..CpuContention::default()
        }));
        assert!(beside.marked_on(QUIET, 2, 2).is_noisy());
        assert_eq!(beside.marked_on(QUIET, 2, 1), QUIET);
        assert_eq!(OthersCpuTime::default().marked_on(QUIET, 2, 2), QUIET);
        assert_eq!(beside.marked_on(QUIET, 2, 0), QUIET);
    }
}
