//! The engine `tract` in a build without it: known by name, and never available.

use std::path::Path;

use super::{
    Engine, EngineError, EngineInfo, Key, LoadRequest, LoadedModel, THREADS, check_cpu_alone,
};
use powerband_core::domain::setup::Setup;

/// What is needed.
const LACK: &str = "this Powerband was built without tract; `cargo build --release --features tract` builds one with it";

/// The engine.
pub(super) struct Tract;

impl Engine for Tract {
    fn id(&self) -> &'static str {
        "tract"
    }

    fn title(&self) -> &'static str {
        "tract"
    }

    fn keys(&self) -> &'static [Key] {
        &[THREADS]
    }

    fn is_built(&self) -> bool {
        false
    }

    fn check(&self, setup: &Setup) -> Result<(), String> {
        check_cpu_alone(setup)
    }

    fn probe(&self, _runtime: Option<&Path>) -> Result<EngineInfo, EngineError> {
        Err(EngineError::Unsupported(LACK.to_owned()))
    }

    fn load(&self, _request: &LoadRequest<'_>) -> Result<Box<dyn LoadedModel>, EngineError> {
        Err(EngineError::Unsupported(LACK.to_owned()))
    }
}
