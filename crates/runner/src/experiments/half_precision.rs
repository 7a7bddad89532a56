//! Half precision.

use super::derivation::Derivation;
use super::subject::{DerivedSetup, ExperimentSubject};
use powerband_core::domain::experiment::ExperimentChange;
use powerband_planning::engine_options::pytorch;

/// Half the bytes, and on most cards twice the arithmetic.
pub(super) const HALF_PRECISION: Derivation = Derivation {
    change: ExperimentChange::HalfPrecision,
    derive,
};

/// Words of PyTorch's `mode=` that choose numbers.
const ARITHMETIC: [&str; 4] = ["amp-bf16", "amp-fp16", "fp16", "bf16"];

fn derive(subject: &ExperimentSubject<'_>) -> Result<DerivedSetup, String> {
    match subject.setup.engine.as_str() {
        "torch" => {
            let mut words = pytorch::modes(subject.setup);
            if let Some(word) = words.iter().find(|word| ARITHMETIC.contains(word)) {
                return Err(format!("it computes in {word} already"));
            }
            words.retain(|word| *word != "eager");
            let trains = subject.option("task") == Some("train");
            words.push(match (trains, subject.is_on_processor()) {
                (true, _) => "amp-bf16",
                (false, true) => "bf16",
                (false, false) => "fp16",
            });
            subject
                .with("mode", &words.join("+"))
                .map(DerivedSetup::without_control)
        }
        "rten" => Err("rten computes in 32-bit floats alone".to_owned()),
        _ => subject.with_precision("fp16"),
    }
}
