//! The engine `ort`: ONNX Runtime. What a setup may say; what computes is in `providers`.

pub mod providers;

use self::providers::{Provider, ProviderRequest};
use super::key::{Key, MOST, ON_OFF, TRUE_FALSE, Takes, always, may_name_a_file};
use super::versions::names_path;
use super::{EngineOptions, TASK, check_task, copies, positive, streams};
use powerband_core::domain::setup::Setup;

/// The options of ONNX Runtime.
pub struct OnnxRuntime;

impl EngineOptions for OnnxRuntime {
    fn id(&self) -> &'static str {
        "ort"
    }

    fn title(&self) -> &'static str {
        "ONNX Runtime"
    }

    fn keys(&self) -> &'static [Key] {
        KEYS
    }

    fn check(&self, setup: &Setup) -> Result<(), String> {
        check_task(setup)?;
        let options = OrtOptions::from_setup(setup)?;
        if options.pinning && (copies(setup)? > 1 || streams(setup)? > 1) {
            return Err(
                "pinning=on would put every copy on the same processors; leave copies= and streams= out"
                    .to_owned(),
            );
        }
        match ProviderChoice::from_setup(setup)? {
            ProviderChoice::BuiltIn(provider, wanted) if provider.word == "cpu" => {
                if let Some((name, _)) = wanted.options.first() {
                    return Err(format!(
                        "ep.{name} has no effect on the provider cpu; say which provider= it is for"
                    ));
                }
                if options.strict {
                    return Err(
                        "strict=true has an effect with another provider than cpu only".to_owned(),
                    );
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

const OPTIMISATION_LEVELS: [&str; 4] = ["none", "basic", "extended", "all"];

/// The keys of a setup.
const KEYS: &[Key] = &[
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

/// How far a graph is optimised before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptimisationLevel {
    /// Not at all.
    None,
    /// What changes no result.
    Basic,
    /// Operators are fused.
    Extended,
    /// Everything, layouts too.
    All,
}

/// A setup as options of ONNX Runtime.
#[derive(Debug)]
pub struct OrtOptions {
    /// How far the graph is optimised.
    pub level: OptimisationLevel,
    /// Threads within an operator.
    pub threads: Option<usize>,
    /// Operators that may run at the same time.
    pub inter_threads: Option<usize>,
    /// Whether operators run at the same time.
    pub parallel: Option<bool>,
    /// Whether threads that wait stay awake.
    pub spinning: Option<bool>,
    /// Whether each thread stays on a processor of its own.
    pub pinning: bool,
    /// Whether memory of a known shape is set aside in one piece.
    pub memory_pattern: Option<bool>,
    /// Whether a node on the CPU is an error.
    pub strict: bool,
}

impl OrtOptions {
    /// Reads the options of a setup.
    pub fn from_setup(setup: &Setup) -> Result<Self, String> {
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
}

/// What a setup asks to compute with: a provider that is built in, or one of a plug-in.
pub enum ProviderChoice {
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
    /// Reads what a setup says of its provider.
    pub fn from_setup(setup: &Setup) -> Result<Self, String> {
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

fn level(setup: &Setup) -> Result<OptimisationLevel, String> {
    match setup.options.get("opt").map_or("all", String::as_str) {
        "none" => Ok(OptimisationLevel::None),
        "basic" => Ok(OptimisationLevel::Basic),
        "extended" => Ok(OptimisationLevel::Extended),
        "all" => Ok(OptimisationLevel::All),
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
