//! Roofs: the most that a device of this machine was measured to reach, and what engines reach on it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::work::Numbers;

/// The version of how roofs are measured; those of another version are measured again.
pub const METHOD: u32 = 1;
/// The device of the processor's roofs.
pub const PROCESSOR: &str = "cpu";

/// A figure that was measured several times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The figure that is used.
    pub value: f64,
    /// The lowest of the repetitions that it was taken from.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// How many.
    pub repetitions: u32,
}

impl Measured {
    /// The distance from lowest to highest as a share of the figure.
    pub fn spread(self) -> f64 {
        if self.value > 0.0 {
            (self.high - self.low) / self.value
        } else {
            f64::INFINITY
        }
    }
}

/// Where bytes come from and go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    /// The second cache, which each core has for itself.
    L2,
    /// The third cache, which cores share.
    L3,
    /// Main memory, or the memory of a card.
    Memory,
}

/// What is done with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Access {
    /// Read alone.
    Read,
    /// Read, and written elsewhere; both are counted.
    Copy,
    /// Written alone.
    Write,
}

/// The most arithmetic of a kind that was reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComputeRoof {
    /// What is computed with.
    pub numbers: Numbers,
    /// Threads that computed; 0 for a card.
    pub threads: usize,
    /// Width of the best vectors in bits; 0 for a card.
    #[serde(default)]
    pub vector_bits: u32,
    /// What computed: `AVX-512`, `AVX-512 VNNI`, `matrix product through PyTorch`.
    pub code: String,
    /// Operations a second.
    pub per_s: Measured,
}

/// The most bytes a second that were reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryRoof {
    /// Where the bytes lie.
    pub level: Level,
    /// What is done with them.
    pub access: Access,
    /// Threads that moved them; 0 for a card.
    pub threads: usize,
    /// Bytes that were gone through again and again, of all threads together.
    pub working_set_bytes: u64,
    /// Bytes a second.
    pub per_s: Measured,
}

/// What an engine reaches, measured through the engine itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineRoof {
    /// The engine: `ort`.
    pub engine: String,
    /// The engine and its version as it reports them: `ONNX Runtime 1.31.0`.
    pub version: String,
    /// The setup that measured it, as it is spelled.
    pub setup: String,
    /// Threads that it computed with, where known; 0 for a card.
    pub threads: usize,
    /// What the product was computed with.
    pub numbers: Numbers,
    /// Operations a second of its best large product.
    pub product_per_s: Option<Measured>,
    /// Bytes a second of a large copy, read and written.
    pub copy_per_s: Option<Measured>,
    /// Time that one more node costs that does nothing, in nanoseconds.
    pub launch_ns: Option<Measured>,
}

/// When they have to be measured again: where any of this changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoofConditions {
    /// The version of how they are measured.
    pub method: u32,
    /// The driver of a card.
    #[serde(default)]
    pub driver: Option<String>,
    /// The power limit of a card in watts.
    #[serde(default)]
    pub power_limit_w: Option<f64>,
    /// The library that computed on a card.
    #[serde(default)]
    pub library: Option<String>,
    /// Threads that this process may use.
    #[serde(default)]
    pub threads: usize,
}

/// What was measured of one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roofs {
    /// The device as setups spell it: `cpu`, `cuda:0`.
    pub device: String,
    /// What its maker calls it.
    pub name: String,
    /// What distinguishes it from another of its kind: a serial number, or the place on the bus.
    #[serde(default)]
    pub card: Option<String>,
    /// When they were measured, RFC 3339 in UTC.
    pub measured: String,
    /// What they hold for.
    pub conditions: RoofConditions,
    /// The clock while computing, in MHz, where it can be read.
    #[serde(default)]
    pub clock_mhz: Option<f64>,
    /// The highest temperature meanwhile, in °C, where it can be read.
    #[serde(default)]
    pub temperature_c: Option<f64>,
    /// Arithmetic: the best code for each kind of numbers and number of threads.
    pub compute: Vec<ComputeRoof>,
    /// Bandwidths: each level, access and number of threads.
    pub memory: Vec<MemoryRoof>,
    /// What engines reach.
    #[serde(default)]
    pub engines: Vec<EngineRoof>,
    /// What could not be measured, and why.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl Roofs {
    /// The highest arithmetic roof for these numbers with at most so many threads.
    pub fn compute_at(&self, numbers: Numbers, threads: usize) -> Option<&ComputeRoof> {
        let fits = |roof: &&ComputeRoof| roof.numbers == numbers && roof.threads <= threads;
        let found = self.compute.iter().filter(fits);
        found.max_by(|a, b| a.per_s.value.total_cmp(&b.per_s.value))
    }

    /// The highest bandwidth of a level with at most so many threads.
    pub fn memory_at(&self, level: Level, access: Access, threads: usize) -> Option<&MemoryRoof> {
        let fits = |roof: &&MemoryRoof| {
            roof.level == level && roof.access == access && roof.threads <= threads
        };
        let found = self.memory.iter().filter(fits);
        found.max_by(|a, b| a.per_s.value.total_cmp(&b.per_s.value))
    }

    /// What an engine reaches with so many threads and these numbers.
    pub fn engine_at(&self, engine: &str, numbers: Numbers, threads: usize) -> Option<&EngineRoof> {
        self.engines.iter().find(|roof| {
            roof.engine == engine && roof.numbers == numbers && roof.threads == threads
        })
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::L2 => "L2 cache",
            Self::L3 => "L3 cache",
            Self::Memory => "memory",
        })
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Copy => "copy",
            Self::Write => "write",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compute(threads: usize, value: f64) -> ComputeRoof {
        ComputeRoof {
            numbers: Numbers::F32,
            threads,
            vector_bits: 256,
            code: "AVX2".to_owned(),
            per_s: Measured {
                value,
                low: value * 0.98,
                high: value,
                repetitions: 5,
            },
        }
    }

    #[test]
    fn the_best_is_often_not_at_all_threads() {
        let roofs = Roofs {
            device: PROCESSOR.to_owned(),
            name: "a processor".to_owned(),
            card: None,
            measured: "2026-01-01T00:00:00Z".to_owned(),
            conditions: RoofConditions::default(),
            clock_mhz: None,
            temperature_c: None,
            compute: vec![compute(1, 1e11), compute(4, 3e11), compute(8, 2.8e11)],
            memory: Vec::new(),
            engines: Vec::new(),
            notes: Vec::new(),
        };
        let at = |threads| {
            let found = roofs.compute_at(Numbers::F32, threads)?;
            Some(found.threads)
        };
        assert_eq!((at(2), at(4), at(8)), (Some(1), Some(4), Some(4)));
        assert_eq!(at(0), None);
        assert!((compute(1, 1e11).per_s.spread() - 0.02).abs() < 1e-9);
    }
}
