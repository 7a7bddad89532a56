//! What of a device's roofs people look at first: the peak, the bandwidth of memory, and what each engine reaches.

use powerband_core::base::humanize;
use powerband_core::domain::roofs::{Access, EngineRoof, Level, MeasuredValue, Roofs};
use powerband_core::domain::work::NumberFormat;

/// One of them, in words.
#[derive(Clone, Debug, PartialEq)]
pub struct RoofFact {
    /// What it is: `fp32 peak`.
    pub name: String,
    /// How much: `254 GFLOP/s`, `86.9 % of peak`.
    pub value: String,
    /// What it was measured with.
    pub note: String,
    /// Whether its repetitions lie too far apart to explain anything by it.
    pub is_noisy: bool,
}

impl RoofFact {
    fn new(name: impl Into<String>, value: String, what: &str, measured: MeasuredValue) -> Self {
        let is_noisy = measured.is_noisy();
        let spread = humanize::uncertainty(measured.spread());
        let mut note = what.to_owned();
        if measured.repetitions > 1 {
            note = format!("{note}; spread {spread}");
        }
        if is_noisy {
            note.push_str(", which is too much: close other programs and measure again");
        }
        Self {
            name: name.into(),
            value,
            note,
            is_noisy,
        }
    }
}

/// The facts of a device, its own first, then an engine each.
pub fn roof_facts(roofs: &Roofs) -> Vec<RoofFact> {
    let mut facts = Vec::new();
    if let Some(peak) = roofs.compute_at(NumberFormat::F32, usize::MAX) {
        let what = format!("{}{}", peak.code, with_threads(peak.threads));
        let value = humanize::with_prefix(peak.per_s.value, "FLOP/s");
        facts.push(RoofFact::new("fp32 peak", value, &what, peak.per_s));
    }
    if let Some(copy) = roofs.memory_at(Level::Memory, Access::Copy, usize::MAX) {
        let what = format!("{}{}", copy.code, with_threads(copy.threads));
        let value = humanize::with_prefix(copy.per_s.value, "B/s");
        facts.push(RoofFact::new("Memory copy", value, &what, copy.per_s));
    }
    let mut best: Vec<(&EngineRoof, MeasuredValue)> = Vec::new();
    let plain = roofs
        .engines
        .iter()
        .filter(|roof| roof.numbers == NumberFormat::F32);
    for (roof, product) in plain.filter_map(|roof| Some((roof, roof.product_per_s?))) {
        match best
            .iter_mut()
            .find(|(known, _)| known.version == roof.version)
        {
            Some(known) if known.1.value >= product.value => {}
            Some(known) => *known = (roof, product),
            None => best.push((roof, product)),
        }
    }
    facts.extend(
        best.into_iter()
            .map(|(roof, product)| engine_fact(roofs, roof, product)),
    );
    facts
}

/// An engine's best product, as a share of the peak that was measured with as many threads.
fn engine_fact(roofs: &Roofs, roof: &EngineRoof, product: MeasuredValue) -> RoofFact {
    let reached = humanize::with_prefix(product.value, "FLOP/s");
    let what = format!("{reached} in a large product{}", with_threads(roof.threads));
    let peak = roofs.compute_at(roof.numbers, roof.threads);
    match peak.filter(|peak| peak.per_s.value > 0.0) {
        Some(peak) => {
            let share = humanize::percent(product.value / peak.per_s.value);
            let peak = humanize::with_prefix(peak.per_s.value, "FLOP/s");
            let what = format!("{what}, of the measured peak {peak}");
            RoofFact::new(&roof.version, format!("{share} of peak"), &what, product)
        }
        None => RoofFact::new(&roof.version, reached, &what, product),
    }
}

fn with_threads(threads: usize) -> String {
    match threads {
        0 => String::new(),
        threads => format!(" with {}", humanize::pluralised(threads as u64, "thread")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::roofs::{ComputeRoof, MemoryRoof, RoofConditions};

    fn measured(value: f64, low: f64) -> MeasuredValue {
        MeasuredValue {
            value,
            low,
            high: value,
            repetitions: 3,
        }
    }

    fn engine(version: &str, threads: usize, product: f64) -> EngineRoof {
        EngineRoof {
            engine: "ort".to_owned(),
            version: version.to_owned(),
            setup: format!("ort:cpu,threads={threads}"),
            threads,
            numbers: NumberFormat::F32,
            product_per_s: Some(measured(product, product)),
            copy_per_s: None,
            launch_ns: None,
        }
    }

    #[test]
    fn an_engine_is_a_share_of_the_peak_with_as_many_threads() {
        let compute = |threads, value| ComputeRoof {
            numbers: NumberFormat::F32,
            threads,
            vector_bits: 256,
            code: "AVX2".to_owned(),
            per_s: measured(value, value * 0.8),
        };
        let mut roofs = Roofs {
            device: "cpu".to_owned(),
            name: "Example 9000".to_owned(),
            card: None,
            measured: "2026-01-01T00:00:00Z".to_owned(),
            conditions: RoofConditions::default(),
            clock_mhz: None,
            temperature_c: None,
            compute: vec![compute(1, 100e9), compute(2, 200e9)],
            memory: vec![MemoryRoof {
                level: Level::Memory,
                access: Access::Copy,
                threads: 1,
                working_set_bytes: 1 << 30,
                code: "AVX".to_owned(),
                per_s: measured(20e9, 19.9e9),
            }],
            engines: vec![
                engine("A 1.0", 1, 90e9),
                engine("A 1.0", 2, 150e9),
                engine("B 2.0", 1, 50e9),
            ],
            notes: Vec::new(),
        };
        let facts = roof_facts(&roofs);
        let values: Vec<(&str, &str)> = facts
            .iter()
            .map(|fact| (fact.name.as_str(), fact.value.as_str()))
            .collect();
        assert_eq!(
            values,
            [
                ("fp32 peak", "200 GFLOP/s"),
                ("Memory copy", "20.0 GB/s"),
                ("A 1.0", "75.0 % of peak"),
                ("B 2.0", "50.0 % of peak"),
            ]
        );
        assert!(facts[0].is_noisy && facts[0].note.contains("measure again"));
        assert!(!facts[1].is_noisy && facts[1].note.contains("1 thread"));
        assert!(facts[2].note.contains("of the measured peak 200 GFLOP/s"));
        roofs.compute.clear();
        assert_eq!(roof_facts(&roofs)[1].value, "150 GFLOP/s");
    }
}
