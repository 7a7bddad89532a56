//! Another engine, or another provider of the same one.

use super::derivation::Derivation;
use super::subject::{DerivedSetup, ExperimentSubject};
use powerband_core::domain::experiment::ExperimentChange;
use powerband_core::domain::setup::Setup;
use powerband_worker::engines;

/// Other kernels for the same network on the same device.
pub(super) const ANOTHER_ENGINE: Derivation = Derivation {
    change: ExperimentChange::AnotherEngine,
    derive,
};

/// What is tried instead of an engine on a kind of device: another engine, and the kind of device that it calls it.
const OTHERS: [[&str; 4]; 6] = [
    ["ort", "cpu", "rten", "cpu"],
    ["rten", "cpu", "ort", "cpu"],
    ["torch", "cpu", "ort", "cpu"],
    ["ort", "cuda", "ort", "tensorrt"],
    ["ort", "tensorrt", "ort", "cuda"],
    ["ort", "rocm", "ort", "migraphx"],
];

fn derive(subject: &ExperimentSubject<'_>) -> Result<DerivedSetup, String> {
    let own = subject.setup;
    let (kind, number) = match own.device.split_once(':') {
        Some((kind, number)) => (kind, format!(":{number}")),
        None => (own.device.as_str(), String::new()),
    };
    let mut others = OTHERS.iter();
    let found = others.find(|other| other[..2] == [own.engine.as_str(), kind]);
    let Some([.., engine, device]) = found else {
        return Err("no other engine for this device is known; compare it with a setup of your choice in bench".to_owned());
    };
    let here = own.clone().without_machine();
    let mut setup = Setup {
        engine: (*engine).to_owned(),
        device: format!("{device}{number}"),
        // It stays on the machine of the case.
        options: own.options.clone(),
    };
    setup
        .options
        .retain(|key, _| !here.options.contains_key(key));
    if let Some(threads) = subject.threads.filter(|_| kind == "cpu") {
        setup = setup.with("threads", threads.to_string());
    }
    for key in ["model", "precision", "task"] {
        if let Some(value) = subject.option(key) {
            setup = setup.with(key, value);
        }
    }
    engines::check(&setup).map_err(|error| error.to_string())?;
    Ok(DerivedSetup::without_control(setup))
}
