//! The options of a setup for ONNX Runtime, read once.

use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};

use super::providers::{self, Provider, ProviderRequest};
use crate::engines::key::{MOST, ON_OFF, TRUE_FALSE};
use crate::engines::programs::{always, may_name_a_file};
use crate::engines::runtimes::names_path;
use crate::engines::{Key, TASK, Takes, positive};
use powerband_core::domain::setup::Setup;
use powerband_devices::cores::Cores;

/// ONNX Runtime's name for the processors of its pool.
const AFFINITIES: &str = "session.intra_op_thread_affinities";
const OPTIMISATION_LEVELS: [&str; 4] = ["none", "basic", "extended", "all"];

/// The keys of a setup.
pub(crate) const KEYS: &[Key] = &[
    Key::new(
        "opt",
        Takes::One(&OPTIMISATION_LEVELS),
        "graph optimisation",
    )
    .with_default("all")
    .with_control(3, "Graph optimisation"),
    Key::new("threads", Takes::Count(MOST), "threads within an operator")
        .with_default("ONNX Runtime's choice, the physical cores")
        .with_control(2, "Threads"),
    TASK,
    Key::new(
        "parallel",
        ON_OFF,
        "operators that do not need each other run at the same time",
    )
    .with_default("off"),
    Key::new(
        "inter_threads",
        Takes::Count(MOST),
        "operators that may run at the same time, with parallel=on",
    ),
    Key::new("spinning", ON_OFF, "threads that wait for work stay awake").with_default("on"),
    Key::new(
        "pinning",
        ON_OFF,
        "each thread stays on a processor of its own; needs threads=",
    )
    .with_default("off"),
    Key::new(
        "memory_pattern",
        ON_OFF,
        "memory of a shape that was seen is set aside in one piece",
    )
    .with_default("on"),
    Key::new(
        "provider",
        Takes::OneOr(&providers::WORDS, "a plug-in's own name"),
        "what computes on the device",
    )
    .with_default("the device's own"),
    Key::new(
        "ep.*",
        Takes::Text("as the provider spells it", "1"),
        "an option of the provider, for example ep.device_type=CPU",
    )
    .running(may_name_a_file),
    Key::new(
        "library",
        Takes::Path("a path"),
        "register the provider from this plug-in library first (ONNX Runtime 1.22 or newer)",
    )
    .running(always),
    Key::new(
        "strict",
        TRUE_FALSE,
        "a node that the provider leaves to the CPU is an error, not a flag",
    )
    .with_default("false"),
    Key::new(
        "runtime",
        Takes::Path("a version or a path"),
        "which ONNX Runtime library, of several",
    )
    .running(names_path),
];

/// A setup as options of ONNX Runtime.
#[derive(Debug)]
pub(super) struct OrtOptions {
    level: GraphOptimizationLevel,
    /// Threads within an operator.
    pub threads: Option<usize>,
    inter_threads: Option<usize>,
    parallel: Option<bool>,
    spinning: Option<bool>,
    /// Whether each thread stays on a processor of its own.
    pub pinning: bool,
    memory_pattern: Option<bool>,
    /// Whether a node on the CPU is an error.
    pub strict: bool,
}

impl OrtOptions {
    /// Reads the options of a setup.
    pub(super) fn from_setup(setup: &Setup) -> Result<Self, String> {
        let options = Self {
            level: level(setup)?,
            threads: positive(setup, "threads")?,
            inter_threads: positive(setup, "inter_threads")?,
            parallel: switch(setup, "parallel")?,
            spinning: switch(setup, "spinning")?,
            pinning: switch(setup, "pinning")?.unwrap_or(false),
            memory_pattern: switch(setup, "memory_pattern")?,
            strict: switch(setup, "strict")?.unwrap_or(false),
        };
        if options.inter_threads.is_some() && options.parallel != Some(true) {
            return Err("inter_threads has an effect with parallel=on only".to_owned());
        }
        if options.pinning && options.threads.is_none() {
            return Err("pinning=on needs threads=, which says how many there are".to_owned());
        }
        Ok(options)
    }

    /// Applies the options to a session builder.
    pub(super) fn apply_to(&self, mut builder: SessionBuilder) -> ort::Result<SessionBuilder> {
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
        if let Some(pinned) = self.pinned_pool() {
            builder = builder.with_config_entry(AFFINITIES, pinned)?;
        }
        if let Some(pattern) = self.memory_pattern {
            builder = builder.with_memory_pattern(pattern)?;
        }
        Ok(builder)
    }

    /// The processors of the threads of its pool as ONNX Runtime wants them, counted from 1; the thread that
    /// calls it is none of the pool. Nothing where threads are not pinned, or there is none beside that one.
    fn pinned_pool(&self) -> Option<String> {
        let cores = self.pinned_cores().ok()?;
        let pool: Vec<String> = cores
            .iter()
            .skip(1)
            .map(|core| (core + 1).to_string())
            .collect();
        (!pool.is_empty()).then(|| pool.join(";"))
    }

    /// A processor for each thread, that of the calling one first; none where threads are not pinned.
    pub(super) fn pinned_cores(&self) -> Result<Vec<usize>, String> {
        let threads = self.threads.filter(|_| self.pinning).unwrap_or(0);
        let mut cores = Cores::here().one_by_one();
        if cores.len() < threads {
            return Err(format!(
                "pinning=on gives each of {threads} threads a processor of its own, and there are {} that this process may use",
                cores.len()
            ));
        }
        cores.truncate(threads);
        Ok(cores)
    }
}

/// What a setup asks to compute with: a provider that is built in, or one of a plug-in.
pub(crate) enum ProviderChoice {
    /// One of ONNX Runtime's own.
    BuiltIn(&'static Provider, ProviderRequest),
    /// One that a library brings.
    PlugIn {
        /// Its path.
        library: String,
        /// What the provider calls itself, where the setup says.
        name: Option<String>,
        /// Options that go to it as they are.
        wanted: ProviderRequest,
    },
}

impl ProviderChoice {
    pub(super) fn from_setup(setup: &Setup) -> Result<Self, String> {
        match setup.options.get("library") {
            Some(library) => Ok(Self::PlugIn {
                library: library.clone(),
                name: setup.options.get("provider").cloned(),
                wanted: providers::provider_request(setup),
            }),
            None => Ok(Self::BuiltIn(
                providers::provider_of_setup(setup)?,
                providers::provider_request(setup),
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
        OrtOptions::from_setup(&spec.parse().unwrap())
            .err()
            .unwrap_or_default()
    }

    #[test]
    fn switches_are_read_and_faults_named() {
        let setup = "ort,parallel=on,inter_threads=2,spinning=false,strict=true,memory_pattern=off";
        let options = OrtOptions::from_setup(&setup.parse().unwrap()).unwrap();
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
