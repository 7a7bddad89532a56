//! The engine `command`: any command that runs the network by itself, timed from outside, or believed
//! where it prints figures of its own.
//!
//! The worker runs it.

use std::path::Path;

use super::{Engine, EngineError, EngineInfo, LoadRequest, LoadedModel};
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::setup::Setup;
use powerband_planning::engine_options::command::{CommandEngine, FigurePattern, PROTOCOL};

impl Engine for CommandEngine {
    fn worker(&self, setup: &Setup, _runtime: Option<&Path>) -> Option<ProcessSpec> {
        let line = setup.options.get("run")?;
        let speaks = setup
            .options
            .get("speaks")
            .is_some_and(|what| what == PROTOCOL);
        speaks.then(|| ProcessSpec {
            ends_with_parent: true,
            ..ProcessSpec::new("sh").args(["-c", &format!("exec {line}")])
        })
    }

    fn probe(&self, _runtime: Option<&Path>) -> Result<EngineInfo, EngineError> {
        Ok(EngineInfo {
            version: "any command".to_owned(),
            devices: ["cpu", "cuda:0", "rocm:0"].map(ToOwned::to_owned).into(),
            ..EngineInfo::default()
        })
    }

    fn outside(&self, request: &LoadRequest<'_>) -> Option<Result<Outside, EngineError>> {
        let line = request.setup.options.get("run")?;
        let model = request.model.display().to_string();
        let figures = FigurePattern::from_setup(request.setup).map_err(EngineError::Unsupported);
        Some(figures.map(|figures| Outside {
            line: line.replace("{model}", &quoted(&model)),
            figures,
        }))
    }

    fn load(&self, _request: &LoadRequest<'_>) -> Result<Box<dyn LoadedModel>, EngineError> {
        Err(EngineError::Unsupported(
            "a command is run by the worker, and loads nothing here".to_owned(),
        ))
    }
}

/// As one word for the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A command that runs the network.
#[derive(Clone, Debug)]
pub struct Outside {
    /// A line for the shell, in which `{batch}` still stands.
    pub line: String,
    /// How figures are found in what it prints; nothing for its time from outside.
    pub figures: Option<FigurePattern>,
}

impl Outside {
    /// The line for a batch size.
    pub fn line(&self, batch: usize) -> String {
        self.line.replace("{batch}", &batch.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_gets_its_batch_and_its_model() {
        let setup: Setup = "command,run=\"run {model} -b {batch}\"".parse().unwrap();
        let request = LoadRequest {
            setup: &setup,
            model: Path::new("/tmp/it's.onnx"),
            runtime: None,
        };
        let outside = CommandEngine.outside(&request).unwrap().unwrap();
        assert_eq!(outside.line(8), r"run '/tmp/it'\''s.onnx' -b 8");
    }
}
