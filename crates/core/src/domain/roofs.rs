//! Roofs: the most that a device of this machine was measured to reach, and what engines reach on it.

use std::fmt;

use serde::{Deserialize, Serialize};

pub use super::measured::{MeasuredValue, NOISY};
use super::setup::Setup;
use super::work::NumberFormat;

/// The version of how roofs are measured; those of another version are measured again.
pub const METHOD: u32 = 1;
/// The device of the processor's roofs.
pub const PROCESSOR: &str = "cpu";

/// Options of a setup that decide what its engine reaches; all of `ep.` do as well.
const DECIDING: [&str; 8] = [
    "library",
    "mode",
    "precision",
    "provider",
    "python",
    "runtime",
    "tf32",
    "threads",
];
/// Words of `mode=` that say what is computed with.
const ARITHMETIC: [&str; 4] = ["amp-bf16", "amp-fp16", "bf16", "fp16"];

/// Options of a setup that runs on another machine, whose roofs are not those of this one.
const ELSEWHERE: [&str; 2] = ["via", "where"];

/// Whether a setup computes on this machine.
pub fn is_here(setup: &Setup) -> bool {
    !ELSEWHERE.iter().any(|key| setup.options.contains_key(*key))
}

/// The setup that measures what a setup's engine reaches: without options that do not change it, such as
/// copies, tasks and compilers.
pub fn roof_setup(setup: &Setup) -> Setup {
    let device = match setup.device.as_str() {
        device if device == PROCESSOR || device.contains(':') => device.to_owned(),
        device => format!("{device}:0"),
    };
    let decides = |key: &str| DECIDING.contains(&key) || key.starts_with("ep.");
    let options = setup.options.iter().filter(|(key, _)| decides(key));
    let options = options.filter_map(|(key, value)| {
        if key != "mode" {
            return Some((key.clone(), value.clone()));
        }
        let words = value.split('+').map(str::trim);
        let words: Vec<&str> = words.filter(|word| ARITHMETIC.contains(word)).collect();
        (!words.is_empty()).then(|| (key.clone(), words.join("+")))
    });
    let mut roof = Setup {
        engine: setup.engine.clone(),
        device,
        options: options.collect(),
    };
    // PyTorch computes convolutions in TF32 by itself and plain products not: a roof is the faster of the two.
    if roof.engine == "torch"
        && roof.device.starts_with("cuda:")
        && !roof.options.contains_key("mode")
    {
        let tf32 = roof.options.entry("tf32".to_owned());
        tf32.or_insert_with(|| "on".to_owned());
    }
    roof
}

/// What a setup computes its products with.
pub fn numbers_of(setup: &Setup) -> NumberFormat {
    let option = |key: &str| setup.options.get(key).map_or("", String::as_str);
    match option("precision") {
        "fp16" => return NumberFormat::F16,
        "int8" => return NumberFormat::Int8,
        _ => {}
    }
    let mut words = option("mode").split('+').map(str::trim);
    words
        .find_map(|word| match word {
            "amp-bf16" | "bf16" => Some(NumberFormat::Bf16),
            "amp-fp16" | "fp16" => Some(NumberFormat::F16),
            _ => None,
        })
        .unwrap_or(NumberFormat::F32)
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
    pub numbers: NumberFormat,
    /// Threads that computed; 0 for a card.
    pub threads: usize,
    /// Width of the best vectors in bits; 0 for a card.
    #[serde(default)]
    pub vector_bits: u32,
    /// What computed: `AVX-512`, `AVX-512 VNNI`, `matrix product through PyTorch`.
    pub code: String,
    /// Operations a second.
    pub per_s: MeasuredValue,
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
    /// What moved them: `AVX-512, non-temporal`; empty for a card.
    #[serde(default)]
    pub code: String,
    /// Bytes a second.
    pub per_s: MeasuredValue,
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
    pub numbers: NumberFormat,
    /// Operations a second of its best large product.
    pub product_per_s: Option<MeasuredValue>,
    /// Bytes a second of a large copy, read and written.
    pub copy_per_s: Option<MeasuredValue>,
    /// Time that one more node costs that does nothing, in nanoseconds.
    pub launch_ns: Option<MeasuredValue>,
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

impl RoofConditions {
    /// Why what was measured under these conditions no longer holds under others; nothing where it does.
    pub fn changed(&self, now: &Self) -> Option<String> {
        if self.method != now.method {
            let (then, now) = (self.method, now.method);
            return Some(format!(
                "they were measured by method {then}, and this program has method {now}"
            ));
        }
        if self.threads != now.threads {
            return Some(format!(
                "Powerband could use {} threads then and can use {} now",
                self.threads, now.threads
            ));
        }
        let texts = [
            ("driver", &self.driver, &now.driver),
            ("library", &self.library, &now.library),
        ];
        for (what, then, now) in texts {
            // What cannot be read now is no change.
            if let Some(now) = now.as_ref().filter(|now| then.as_ref() != Some(now)) {
                let then = then.as_deref().unwrap_or("unknown");
                return Some(format!("the {what} was {then} and is {now}"));
            }
        }
        let limits = (self.power_limit_w, now.power_limit_w);
        match limits {
            (Some(then), Some(now)) if (then - now).abs() >= 1.0 => {
                Some(format!("the power limit was {then:.0} W and is {now:.0} W"))
            }
            _ => None,
        }
    }
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
    /// The highest temperature while they were measured, in °C, where it can be read.
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
    /// The arithmetic roofs: what our own loops reached, or an engine's product where that was faster with as many
    /// threads.
    pub fn compute_roofs(&self) -> Vec<ComputeRoof> {
        let mut roofs = self.compute.clone();
        for roof in &mut roofs {
            for engine in &self.engines {
                let is_alike = (engine.numbers, engine.threads) == (roof.numbers, roof.threads);
                let product = engine.product_per_s.filter(|_| is_alike);
                if let Some(product) = product.filter(|at| at.value > roof.per_s.value) {
                    roof.per_s = product;
                    roof.code = format!("matrix product through {}", engine.version);
                    roof.vector_bits = 0;
                }
            }
        }
        roofs
    }

    /// The bandwidths: what our own loops reached, or an engine's copy where that was faster with as many threads.
    pub fn memory_roofs(&self) -> Vec<MemoryRoof> {
        let mut roofs = self.memory.clone();
        let is_copy =
            |roof: &&mut MemoryRoof| (roof.level, roof.access) == (Level::Memory, Access::Copy);
        for roof in roofs.iter_mut().filter(is_copy) {
            for engine in &self.engines {
                let copy = engine.copy_per_s.filter(|_| engine.threads == roof.threads);
                if let Some(copy) = copy.filter(|at| at.value > roof.per_s.value) {
                    roof.per_s = copy;
                    roof.code = format!("copy through {}", engine.version);
                }
            }
        }
        roofs
    }

    /// The arithmetic roof for these numbers with at most so many threads.
    pub fn compute_at(&self, numbers: NumberFormat, threads: usize) -> Option<ComputeRoof> {
        let roofs = self.compute_roofs().into_iter();
        let roofs = roofs.filter(|roof| roof.numbers == numbers);
        at_threads(roofs, threads, |roof| (roof.threads, roof.per_s))
    }

    /// The bandwidth of a level with at most so many threads.
    pub fn memory_at(&self, level: Level, access: Access, threads: usize) -> Option<MemoryRoof> {
        let roofs = self.memory_roofs().into_iter();
        let roofs = roofs.filter(|roof| roof.level == level && roof.access == access);
        at_threads(roofs, threads, |roof| (roof.threads, roof.per_s))
    }

    /// What the engine of a setup reaches, measured with the setup itself, or with as many threads and the
    /// same numbers.
    pub fn engine_for(&self, setup: &Setup, threads: Option<usize>) -> Option<&EngineRoof> {
        let wanted = roof_setup(setup);
        let spelled = wanted.to_string();
        let itself = self.engines.iter().find(|roof| roof.setup == spelled);
        itself.or_else(|| {
            let option = |key: &str| wanted.options.get(key);
            let plain = ["provider", "library", "runtime", "python", "tf32"];
            // Another provider or library reaches something else.
            if plain.into_iter().any(|key| option(key).is_some()) {
                return None;
            }
            self.engine_at(&wanted.engine, numbers_of(&wanted), threads?)
        })
    }

    /// The largest spread of what was measured, as a share.
    pub fn spread(&self) -> Option<f64> {
        let compute = self.compute.iter().map(|roof| roof.per_s);
        let memory = self.memory.iter().map(|roof| roof.per_s);
        let engines = self.engines.iter().flat_map(|roof| {
            let figures = [roof.product_per_s, roof.copy_per_s];
            figures.into_iter().flatten()
        });
        let all = compute.chain(memory).chain(engines);
        all.map(MeasuredValue::spread).reduce(f64::max)
    }

    /// What an engine reaches with so many threads and these numbers.
    pub fn engine_at(
        &self,
        engine: &str,
        numbers: NumberFormat,
        threads: usize,
    ) -> Option<&EngineRoof> {
        self.engines.iter().find(|roof| {
            roof.engine == engine && roof.numbers == numbers && roof.threads == threads
        })
    }
}

/// The highest with at most so many threads. Where what was measured with the most of these is noisy, it is that: the
/// figure of fewer threads does not stand in for it.
fn at_threads<R>(
    roofs: impl Iterator<Item = R>,
    threads: usize,
    of_roof: impl Fn(&R) -> (usize, MeasuredValue),
) -> Option<R> {
    let all: Vec<R> = roofs.filter(|roof| of_roof(roof).0 <= threads).collect();
    let most = all.iter().map(|roof| of_roof(roof).0).max()?;
    let is_noisy = |roof: &R| {
        let (own, per_s) = of_roof(roof);
        own == most && per_s.is_noisy()
    };
    let is_unknown = all.iter().any(is_noisy);
    let left = all
        .into_iter()
        .filter(|roof| !is_unknown || of_roof(roof).0 == most);
    left.max_by(|a, b| of_roof(a).1.value.total_cmp(&of_roof(b).1.value))
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

    fn setup(spec: &str) -> Setup {
        spec.parse().unwrap()
    }

    #[test]
    fn a_roof_is_measured_without_what_does_not_change_it() {
        let of = |spec: &str| roof_setup(&setup(spec)).to_string();
        assert_eq!(of("ort,copies=2,opt=none,threads=2"), "ort:cpu,threads=2");
        assert_eq!(
            of("torch:cuda,mode=channels-last+amp-fp16+compile,task=train"),
            "torch:cuda:0,mode=amp-fp16"
        );
        assert_eq!(of("torch,mode=compile"), "torch:cpu");
        assert_eq!(of("torch:cuda,mode=compile"), "torch:cuda:0,tf32=on");
        assert_eq!(of("torch:cuda:1,tf32=off"), "torch:cuda:1,tf32=off");
        assert_eq!(of("torch:rocm"), "torch:rocm:0");
        assert_eq!(of("ort,ep.x=1,model=a.onnx"), "ort:cpu,ep.x=1");
        assert!(is_here(&setup("ort")) && !is_here(&setup("ort,where=ssh:host")));
        let numbers = |spec: &str| numbers_of(&setup(spec));
        assert_eq!(numbers("ort,precision=int8"), NumberFormat::Int8);
        assert_eq!(numbers("torch,mode=eager+bf16"), NumberFormat::Bf16);
        assert_eq!(numbers("rten"), NumberFormat::F32);
    }

    fn per_s(value: f64, low: f64) -> MeasuredValue {
        MeasuredValue {
            value,
            low,
            high: value,
            repetitions: 4,
        }
    }

    fn roofs() -> Roofs {
        let compute = |threads, value| ComputeRoof {
            numbers: NumberFormat::F32,
            threads,
            vector_bits: 512,
            code: "AVX-512".to_owned(),
            per_s: per_s(value, value * 0.99),
        };
        let copy = |threads, value| MemoryRoof {
            level: Level::Memory,
            access: Access::Copy,
            threads,
            working_set_bytes: 1 << 30,
            code: "AVX-512".to_owned(),
            per_s: per_s(value, value * 0.99),
        };
        Roofs {
            device: PROCESSOR.to_owned(),
            name: String::new(),
            card: None,
            measured: String::new(),
            conditions: RoofConditions::default(),
            clock_mhz: None,
            temperature_c: None,
            compute: vec![compute(1, 150e9), compute(2, 259e9)],
            memory: vec![copy(1, 10e9), copy(2, 15e9)],
            engines: vec![EngineRoof {
                engine: "torch".to_owned(),
                version: "PyTorch 2".to_owned(),
                setup: "torch:cpu".to_owned(),
                threads: 2,
                numbers: NumberFormat::F32,
                product_per_s: Some(per_s(282e9, 280e9)),
                copy_per_s: Some(per_s(16e9, 15.9e9)),
                launch_ns: None,
            }],
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_roof_is_not_below_what_an_engine_reached() {
        let roofs = roofs();
        let peak = |threads| roofs.compute_at(NumberFormat::F32, threads).unwrap();
        assert_eq!((peak(1).per_s.value, peak(2).per_s.value), (150e9, 282e9));
        assert_eq!(peak(2).code, "matrix product through PyTorch 2");
        let copy = roofs.memory_at(Level::Memory, Access::Copy, 2).unwrap();
        assert_eq!(copy.per_s.value, 16e9);
        assert_eq!(
            roofs.compute[1].per_s.value, 259e9,
            "what was measured is kept"
        );
    }

    #[test]
    fn fewer_threads_do_not_stand_in_for_a_noisy_roof() {
        let mut roofs = roofs();
        roofs.engines.clear();
        roofs.compute[1].per_s = per_s(120e9, 60e9);
        roofs.memory[1].per_s = per_s(9e9, 5e9);
        let peak = roofs.compute_at(NumberFormat::F32, 2).unwrap();
        assert_eq!((peak.threads, peak.per_s.is_noisy()), (2, true));
        let copy = roofs.memory_at(Level::Memory, Access::Copy, 7).unwrap();
        assert_eq!((copy.threads, copy.per_s.is_noisy()), (2, true));
        // A quiet one that is lower gives way to what fewer threads reach.
        roofs.memory[1].per_s = per_s(9e9, 8.9e9);
        let copy = roofs.memory_at(Level::Memory, Access::Copy, 2).unwrap();
        assert_eq!(copy.threads, 1);
    }

    #[test]
    fn conditions_that_changed_are_named() {
        let then = RoofConditions {
            method: METHOD,
            driver: Some("550.1".to_owned()),
            power_limit_w: Some(300.0),
            library: None,
            threads: 8,
        };
        assert_eq!(then.changed(&then), None);
        let reason = |now: RoofConditions| then.changed(&now).unwrap();
        let now = || then.clone();
        assert!(
            reason(RoofConditions {
                method: METHOD + 1,
                ..now()
            })
            .contains("method")
        );
        assert!(
            reason(RoofConditions {
                threads: 4,
                ..now()
            })
            .contains("4 now")
        );
        let driver = Some("560.2".to_owned());
        assert!(reason(RoofConditions { driver, ..now() }).contains("is 560.2"));
        let power_limit_w = Some(250.0);
        assert!(
            reason(RoofConditions {
                power_limit_w,
                ..now()
            })
            .contains("250 W")
        );
        let library = Some("cuBLAS 13".to_owned());
        assert!(reason(RoofConditions { library, ..now() }).contains("unknown"));
        let unread = RoofConditions {
            driver: None,
            power_limit_w: None,
            ..now()
        };
        assert_eq!(then.changed(&unread), None);
    }

    fn compute(threads: usize, value: f64) -> ComputeRoof {
        ComputeRoof {
            numbers: NumberFormat::F32,
            threads,
            vector_bits: 256,
            code: "AVX2".to_owned(),
            per_s: MeasuredValue {
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
            let found = roofs.compute_at(NumberFormat::F32, threads)?;
            Some(found.threads)
        };
        assert_eq!((at(2), at(4), at(8)), (Some(1), Some(4), Some(4)));
        assert_eq!(at(0), None);
        assert!((compute(1, 1e11).per_s.spread() - 0.02).abs() < 1e-9);
    }
}
