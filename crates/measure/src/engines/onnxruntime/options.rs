//! The options of a setup for ONNX Runtime, read once.

use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};

use super::providers::{self, Provider, Wanted};
use crate::engines::{Key, positive};
use powerband_core::domain::setup::Setup;

const OPTIMISATION_LEVELS: [&str; 4] = ["none", "basic", "extended", "all"];
const SWITCH: &str = "on, off";

/// The keys of a setup.
pub(crate) const KEYS: &[Key] = &[
    Key {
        name: "opt",
        values: "none, basic, extended, all",
        help: "graph optimisation (default: all)",
    },
    Key {
        name: "threads",
        values: "1 to 4096",
        help: "threads within an operator (default: ONNX Runtime's choice, the physical cores)",
    },
    Key {
        name: "parallel",
        values: SWITCH,
        help: "operators that do not need each other run at the same time (default: off)",
    },
    Key {
        name: "inter_threads",
        values: "1 to 4096",
        help: "operators that may run at the same time, with parallel=on",
    },
    Key {
        name: "spinning",
        values: SWITCH,
        help: "threads that wait for work stay awake (default: on)",
    },
    Key {
        name: "memory_pattern",
        values: SWITCH,
        help: "memory of a shape that was seen is set aside in one piece (default: on)",
    },
    Key {
        name: "provider",
        values: "cpu, cuda, rocm, tensorrt, migraphx, openvino, xnnpack, directml, coreml, webgpu, or a plug-in's own name",
        help: "what computes on the device (default: the device's own)",
    },
    Key {
        name: "ep.*",
        values: "as the provider spells it",
        help: "an option of the provider, for example ep.device_type=CPU",
    },
    Key {
        name: "library",
        values: "a path",
        help: "register the provider from this plug-in library first (ONNX Runtime 1.22 or newer)",
    },
    Key {
        name: "strict",
        values: "true, false",
        help: "a node that the provider leaves to the CPU is an error, not a flag (default: false)",
    },
    Key {
        name: "runtime",
        values: "a version or a path",
        help: "which ONNX Runtime library, of several",
    },
];

/// A setup as options of ONNX Runtime.
#[derive(Debug)]
pub(super) struct Options {
    level: GraphOptimizationLevel,
    /// Threads within an operator.
    pub threads: Option<usize>,
    inter_threads: Option<usize>,
    parallel: Option<bool>,
    spinning: Option<bool>,
    memory_pattern: Option<bool>,
    /// Whether a node on the CPU is an error.
    pub strict: bool,
}

impl Options {
    /// Reads a setup; what makes no sense is said.
    pub(super) fn of(setup: &Setup) -> Result<Self, String> {
        let options = Self {
            level: level(setup)?,
            threads: positive(setup, "threads")?,
            inter_threads: positive(setup, "inter_threads")?,
            parallel: switch(setup, "parallel")?,
            spinning: switch(setup, "spinning")?,
            memory_pattern: switch(setup, "memory_pattern")?,
            strict: switch(setup, "strict")?.unwrap_or(false),
        };
        if options.inter_threads.is_some() && options.parallel != Some(true) {
            return Err("inter_threads has an effect with parallel=on only".to_owned());
        }
        Ok(options)
    }

    /// Tells a session that is to be.
    pub(super) fn tell(&self, mut builder: SessionBuilder) -> ort::Result<SessionBuilder> {
        builder = builder.with_optimization_level(self.level)?;
        if let Some(threads) = self.threads {
            builder = builder.with_intra_threads(threads)?;
        }
        if let Some(parallel) = self.parallel {
            builder = builder.with_parallel_execution(parallel)?;
        }
        if let Some(threads) = self.inter_threads {
            builder = builder.with_inter_threads(threads)?;
        }
        if let Some(spinning) = self.spinning {
            builder = builder.with_intra_op_spinning(spinning)?;
            builder = builder.with_inter_op_spinning(spinning)?;
        }
        if let Some(pattern) = self.memory_pattern {
            builder = builder.with_memory_pattern(pattern)?;
        }
        Ok(builder)
    }
}

/// What a setup asks to compute with: a provider that is built in, or one of a plug-in.
pub(crate) enum Computes {
    /// One of ONNX Runtime's own.
    BuiltIn(&'static Provider, Wanted),
    /// One that a library brings.
    PlugIn {
        /// Its path.
        library: String,
        /// What the provider calls itself, where the setup says.
        name: Option<String>,
        /// Options that go to it as they are.
        wanted: Wanted,
    },
}

impl Computes {
    /// What a setup asks for.
    pub(super) fn of(setup: &Setup) -> Result<Self, String> {
        match setup.options.get("library") {
            Some(library) => Ok(Self::PlugIn {
                library: library.clone(),
                name: setup.options.get("provider").cloned(),
                wanted: providers::wanted(setup),
            }),
            None => Ok(Self::BuiltIn(
                providers::provider_of_setup(setup)?,
                providers::wanted(setup),
            )),
        }
    }
}

fn level(setup: &Setup) -> Result<GraphOptimizationLevel, String> {
    match setup.options.get("opt").map_or("all", String::as_str) {
        "none" => Ok(GraphOptimizationLevel::Disable),
        "basic" => Ok(GraphOptimizationLevel::Level1),
        "extended" => Ok(GraphOptimizationLevel::Level2),
        "all" => Ok(GraphOptimizationLevel::All),
        other => Err(format!(
            "opt={other} is no level of optimisation; there are {}",
            OPTIMISATION_LEVELS.join(", ")
        )),
    }
}

/// `on` or `off`, in the ways in which people say so.
fn switch(setup: &Setup, key: &str) -> Result<Option<bool>, String> {
    let Some(text) = setup.options.get(key) else {
        return Ok(None);
    };
    match text.as_str() {
        "on" | "true" | "yes" | "1" => Ok(Some(true)),
        "off" | "false" | "no" | "0" => Ok(Some(false)),
        _ => Err(format!("{key}={text} is neither on nor off")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(spec: &str) -> String {
        Options::of(&spec.parse().unwrap())
            .err()
            .unwrap_or_default()
    }

    #[test]
    fn switches_are_read_and_faults_named() {
        let setup = "ort,parallel=on,inter_threads=2,spinning=false,strict=true,memory_pattern=off";
        let options = Options::of(&setup.parse().unwrap()).unwrap();
        assert_eq!(
            (options.parallel, options.spinning),
            (Some(true), Some(false))
        );
        assert!(options.strict);
        assert!(fault("ort,spinning=perhaps").contains("spinning=perhaps"));
        assert!(fault("ort,inter_threads=2").contains("parallel=on"));
        assert!(fault("ort,opt=most").contains("extended"));
    }
}
