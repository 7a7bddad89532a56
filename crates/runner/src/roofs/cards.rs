//! Cards: which setups measure one, and what of that is the card's own roof.

use super::clpeak;
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::roofs::{Access, ComputeRoof, Level, MemoryRoof, Roofs};
use powerband_core::domain::setup::Setup;

/// Bytes that a copy through an engine goes through.
const COPIED: u64 = 1 << 30;

/// PyTorch in the numbers that cards are fast with, and ONNX Runtime.
pub(super) fn usual_setups(device: &str) -> Vec<Setup> {
    let spelled = [
        format!("torch:{device}"),
        format!("torch:{device},mode=fp16"),
        format!("torch:{device},mode=bf16"),
        format!("ort:{device}"),
    ];
    spelled
        .iter()
        .filter_map(|setup| setup.parse().ok())
        .collect()
}

/// Adds what `clpeak` measures of this card, where it is installed.
pub(super) fn add_clpeak(roofs: &mut Roofs, cancel: &CancelToken) {
    let Some(program) = clpeak::find() else {
        return;
    };
    match clpeak::measure(&program, cancel) {
        Err(reason) => roofs.notes.push(format!("{reason}.")),
        Ok(devices) => {
            let mut alike = devices
                .into_iter()
                .filter(|device| is_same(&device.name, &roofs.name));
            match (alike.next(), alike.next()) {
                (Some(device), None) => {
                    roofs.compute.extend(device.compute);
                    roofs.memory.extend(device.memory);
                }
                (Some(_), Some(_)) => roofs.notes.push(
                    "clpeak measured several cards of this name, and does not say which is which."
                        .to_owned(),
                ),
                _ => roofs
                    .notes
                    .push("clpeak measured no card of this name.".to_owned()),
            }
        }
    }
}

/// Whether `OpenCL`'s name of a card and its driver's mean the same: either may have the maker's name before it.
fn is_same(opencl: &str, driver: &str) -> bool {
    let plain = |name: &str| name.to_lowercase();
    let (opencl, driver) = (plain(opencl), plain(driver));
    !opencl.is_empty() && (opencl.contains(&driver) || driver.contains(&opencl))
}

/// Makes the best products and the best copy of its engines the card's own roofs: no code of ours runs there.
pub(super) fn take_best(roofs: &mut Roofs) {
    let through = "matrix product through ";
    roofs.compute.retain(|roof| !roof.code.starts_with(through));
    roofs.memory.retain(|roof| roof.access != Access::Copy);
    let mut compute: Vec<ComputeRoof> = Vec::new();
    for engine in &roofs.engines {
        let Some(per_s) = engine.product_per_s else {
            continue;
        };
        let roof = ComputeRoof {
            numbers: engine.numbers,
            threads: 0,
            vector_bits: 0,
            code: format!("{through}{}", engine.version),
            per_s,
        };
        match compute
            .iter_mut()
            .find(|known| known.numbers == roof.numbers)
        {
            Some(known) if known.per_s.value >= per_s.value => {}
            Some(known) => *known = roof,
            None => compute.push(roof),
        }
    }
    roofs.compute.extend(compute);
    let copies = roofs.engines.iter();
    let copies = copies.filter_map(|engine| Some((engine, engine.copy_per_s?)));
    let best = copies.max_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let best = best.map(|(engine, per_s)| MemoryRoof {
        level: Level::Memory,
        access: Access::Copy,
        threads: 0,
        code: format!("copy through {}", engine.version),
        working_set_bytes: COPIED,
        per_s,
    });
    roofs.memory.extend(best);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roofs::devices::RoofDevice;
    use powerband_core::domain::roofs::{EngineRoof, MeasuredValue};
    use powerband_core::domain::telemetry::{DeviceKind, WatchedDevice};
    use powerband_core::domain::work::NumberFormat;

    fn measured(value: f64) -> MeasuredValue {
        MeasuredValue {
            value,
            low: value * 0.99,
            high: value,
            repetitions: 5,
        }
    }

    fn engine(setup: &str, numbers: NumberFormat, product: f64, copy: f64) -> EngineRoof {
        EngineRoof {
            engine: "torch".to_owned(),
            version: "PyTorch 2.9".to_owned(),
            setup: setup.to_owned(),
            threads: 0,
            numbers,
            product_per_s: Some(measured(product)),
            copy_per_s: Some(measured(copy)),
            launch_ns: None,
        }
    }

    #[test]
    fn a_card_has_the_best_of_its_engines() {
        let watched = WatchedDevice::new("nvml", DeviceKind::Nvidia, 0, "0000:43:00.0", "Card");
        let mut roofs = RoofDevice::card(&watched).unwrap().unmeasured();
        roofs.engines = vec![
            engine("torch:cuda:0", NumberFormat::F32, 50e12, 2.9e12),
            engine("ort:cuda:0", NumberFormat::F32, 45e12, 2.7e12),
            engine("torch:cuda:0,mode=fp16", NumberFormat::F16, 600e12, 2.8e12),
        ];
        // Twice is as good as once.
        take_best(&mut roofs);
        take_best(&mut roofs);
        let best = |numbers| roofs.compute_at(numbers, 0).map(|roof| roof.per_s.value);
        assert_eq!(best(NumberFormat::F32), Some(50e12));
        assert_eq!(best(NumberFormat::F16), Some(600e12));
        assert_eq!(roofs.compute.len(), 2);
        let copy = roofs.memory_at(Level::Memory, Access::Copy, 0).unwrap();
        assert!((copy.per_s.value - 2.9e12).abs() < 1.0);
        assert_eq!(roofs.memory.len(), 1);
    }

    #[test]
    fn opencl_may_leave_the_maker_out() {
        assert!(is_same("NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3"));
        assert!(is_same("GeForce RTX 4090", "NVIDIA GeForce RTX 4090"));
        assert!(!is_same("", "Card"));
        assert!(!is_same("pthread-Example CPU", "NVIDIA H100"));
    }
}
