//! Optimisation of the graph is off.

use super::derivation::Derivation;
use super::subject::{DerivedSetup, ExperimentSubject};
use powerband_core::domain::experiment::ExperimentChange;
use powerband_planning::engine_options::pytorch;

/// What fusing and folding bring: fewer nodes to start, and fewer bytes between them.
pub(super) const OPTIMISATION_OFF: Derivation = Derivation {
    change: ExperimentChange::OptimisationOff,
    derive,
};

/// Words of PyTorch's `mode=` that make other code of a network.
const COMPILERS: [&str; 3] = ["compile", "script", "tensorrt"];

fn derive(subject: &ExperimentSubject<'_>) -> Result<DerivedSetup, String> {
    if subject.setup.engine == "torch" {
        let mut words = pytorch::modes(subject.setup);
        let n_words = words.len();
        words.retain(|word| !COMPILERS.contains(word));
        if words.len() == n_words {
            return Err("it runs eagerly, which optimises nothing across operators".to_owned());
        }
        if words.is_empty() {
            words.push("eager");
        }
        let mut eager = subject.with("mode", &words.join("+"))?;
        eager.options.remove("compile_mode");
        return Ok(DerivedSetup::without_control(eager));
    }
    if subject.option("opt") == Some("none") {
        return Err("it is off already".to_owned());
    }
    subject
        .with("opt", "none")
        .map(DerivedSetup::without_control)
}
