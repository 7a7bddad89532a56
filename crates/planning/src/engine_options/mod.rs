//! What a setup may say to each engine: its options, and what makes no sense about them.
//!
//! Checks, help, completion and the controls of *Plan* read this list; a worker has the engine itself, in a file of the
//! same name. To add an engine: a file here and a line in [`ALL`], a file there and a line in its list.

mod check;
pub mod command;
mod common;
mod fake;
mod info;
mod key;
pub mod onnxruntime;
mod programs;
pub mod pytorch;
pub mod rten;
#[cfg(test)]
mod tests;
pub mod versions;

pub use check::{
    CheckError, check, key_conflict, keys_of, offered_ids, setup_fault, why_not_value,
};
pub use common::{
    BackgroundWork, COMMON_KEYS, TASK, background_work, check_cpu_alone, check_task, copies, cores,
    devices, memory_limit, positive, rewrite_recipe, streams,
};
pub use fake::{Fake, number};
pub use info::{EngineInfo, OfferedEnvironment};
pub use key::{Key, Takes};
pub use programs::{program_lines, programs};

use powerband_core::domain::setup::Setup;

/// Every engine. Help, `--setup` and the engines page read this list.
pub const ALL: &[&dyn EngineOptions] = &[
    &onnxruntime::OnnxRuntime,
    &rten::Rten,
    &pytorch::PyTorch,
    &command::CommandEngine,
    &Fake,
];

/// More workers or threads than this are a slip of the finger.
const MOST_COPIES: usize = 64;

/// The key with which a setup says whose clock times its runs.
pub const CLOCK_KEY: &str = "clock";

/// The key with which a setup asks for several workers.
pub const COPIES_KEY: &str = "copies";

/// The key with which a setup names the devices of its copies.
pub const DEVICES_KEY: &str = "devices";

/// The key with which a setup asks for several threads in one worker.
pub const STREAMS_KEY: &str = "streams";

/// The key with which a setup asks for other numbers.
pub const PRECISION_KEY: &str = "precision";

/// What a setup may say to an engine.
pub trait EngineOptions: Sync {
    /// What a setup calls it.
    fn id(&self) -> &'static str;

    /// What people call it.
    fn title(&self) -> &'static str;

    /// Options beyond those that every engine has.
    fn keys(&self) -> &'static [Key];

    /// Whether users see it in lists; numbers of an engine that is not offered are made up.
    fn is_offered(&self) -> bool {
        true
    }

    /// Whether it can run a network by its name alone, without further options.
    fn stands_alone(&self) -> bool {
        true
    }

    /// Whether it can run any ONNX file, and not only networks that it knows by name.
    fn takes_files(&self) -> bool {
        true
    }

    /// Refuses options that make no sense, before anything is started.
    fn check(&self, setup: &Setup) -> Result<(), String>;
}

/// The options of the engine that a setup names.
pub fn find(id: &str) -> Option<&'static dyn EngineOptions> {
    ALL.iter().copied().find(|engine| engine.id() == id)
}
