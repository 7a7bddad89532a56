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

/// An engine and a kind of device, and the engine and the kind of device that are tried instead.
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
    for key in ["copies", "streams"] {
        if let Some(several) = subject.option(key).filter(|several| *several != "1") {
            return Err(format!(
                "{key}={several} shares each batch; ask about the setup without {key}="
            ));
        }
    }
    let (kind, number) = match own.device.split_once(':') {
        Some((kind, number)) => (kind, format!(":{number}")),
        None => (own.device.as_str(), String::new()),
    };
    let mut others = OTHERS.iter();
    let found = others.find(|other| other[..2] == [own.engine.as_str(), kind]);
    let Some([.., engine, device]) = found else {
        return Err(
            "there is no other engine for this device; compare setups with bench".to_owned(),
        );
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
    for key in ["model", "precision", "task", "cores", "memory"] {
        if let Some(value) = subject.option(key) {
            setup = setup.with(key, value);
        }
    }
    engines::check(&setup).map_err(|error| error.to_string())?;
    Ok(DerivedSetup::without_control(setup))
}
