//! The run is captured once as a graph and replayed.

use super::derivation::Derivation;
use super::subject::{DerivedSetup, ExperimentSubject};
use powerband_core::domain::experiment::ExperimentChange;
use powerband_planning::engine_options::pytorch;

/// What starting each kernel by itself costs.
pub(super) const GRAPH_CAPTURE: Derivation = Derivation {
    change: ExperimentChange::GraphCapture,
    derive,
};

const CAPTURES: &str = "reduce-overhead";

fn derive(subject: &ExperimentSubject<'_>) -> Result<DerivedSetup, String> {
    if subject.is_on_processor() {
        return Err(
            "graphs are captured of work on cards, and the case runs on the processor".to_owned(),
        );
    }
    match subject.setup.engine.as_str() {
        "torch" => {
            let modes = pytorch::modes(subject.setup);
            if modes
                .iter()
                .any(|word| ["script", "tensorrt"].contains(word))
            {
                return Err("PyTorch captures graphs with mode=compile alone".to_owned());
            }
            if subject.option("compile_mode") == Some(CAPTURES) {
                return Err(format!("compile_mode={CAPTURES} captures it already"));
            }
            let mut words: Vec<&str> = modes.into_iter().filter(|word| *word != "eager").collect();
            if !words.contains(&"compile") {
                words.push("compile");
            }
            // What compiling brings besides is in both.
            let compiled = subject.with("mode", &words.join("+"))?;
            let setup = compiled.clone().with("compile_mode", CAPTURES);
            let is_compiled = compiled == *subject.setup;
            Ok(DerivedSetup {
                setup,
                control: (!is_compiled).then_some(compiled),
                point: None,
            })
        }
        "ort" => {
            let provider = subject.option("provider").unwrap_or_default();
            let key = match (subject.setup.device.split(':').next(), provider) {
                (Some("cuda"), "" | "cuda") => "ep.enable_cuda_graph",
                (Some("cuda"), "tensorrt") => "ep.trt_cuda_graph_enable",
                _ => {
                    return Err(
                        "the provider of ONNX Runtime that computes has no option for it"
                            .to_owned(),
                    );
                }
            };
            if subject.option(key) == Some("1") {
                return Err(format!("{key}=1 captures it already"));
            }
            subject.with(key, "1").map(DerivedSetup::without_control)
        }
        _ => Err(format!("{} has no option for it", subject.engine_title())),
    }
}
