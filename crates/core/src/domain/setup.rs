//! A setup: one way to run a model, and its one-line spelling `ENGINE[:DEVICE][,key=value]…`.
//!
//! Which keys an engine knows is the engine's business; here is only the grammar.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The engine whose times are made up, for tests.
pub const MADE_UP_ENGINE: &str = "fake";
/// The engine that is always there, for where no other was found.
pub const LAST_RESORT: &str = "rten";

/// The option by which a setup runs a model of its own in place of the plan's.
pub const MODEL_KEY: &str = "model";
/// The samples that ranges of int8 are found with.
pub const CALIBRATION_KEY: &str = "calibration";

/// The option by which a setup says on which processors it runs.
pub const CORES_KEY: &str = "cores";

/// The option by which a setup has a neighbour on the other processors.
pub const NEIGHBOUR_KEY: &str = "neighbour";

/// The option by which a setup says on which machine it runs.
pub const WHERE_KEY: &str = "where";
/// The option by which a setup gives the words that lead to its machine.
pub const VIA_KEY: &str = "via";
/// The option by which a setup names this program on its machine.
pub const PROGRAM_KEY: &str = "remote_program";
/// What keys begin with that are a scheduler's own options.
pub const SLURM_KEYS: &str = "slurm.";

/// The option by which a setup names a loop of a Python program, which is measured there.
pub const LOOP_KEY: &str = "loop";
/// The engine that runs commands, and loops of Python programs.
pub const COMMAND: &str = "command";

/// The key with which a setup says what its runs are.
pub const TASK_KEY: &str = "task";
/// The task of a language model: whole requests, token by token.
pub const GENERATE: &str = "generate";
/// This machine, as `where=` calls it.
pub const HERE: &str = "here";

/// One way to run a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Setup {
    /// Identifier of the engine: `ort`, `rten`.
    pub engine: String,
    /// Where it runs: `cpu`, `cuda:0`.
    pub device: String,
    /// Options by key, in alphabetical order.
    pub options: BTreeMap<String, String>,
}

/// Why a spelling is not a setup.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// Nothing before the first comma or colon.
    #[error(
        "the setup \"{0}\" names no engine; write ENGINE[:DEVICE][,key=value]…, for example ort:cpu,threads=2"
    )]
    NoEngine(String),
    /// A part after a comma without `=`.
    #[error("\"{part}\" in the setup \"{spec}\" is not key=value; for example threads=2")]
    NotKeyValue {
        /// The whole spelling.
        spec: String,
        /// The part at fault.
        part: String,
    },
    /// The same key twice.
    #[error("the setup \"{spec}\" gives {key} twice")]
    Twice {
        /// The whole spelling.
        spec: String,
        /// The repeated key.
        key: String,
    },
    /// A quote that nothing closes.
    #[error("the setup \"{0}\" opens a quote and does not close it")]
    OpenQuote(String),
}

/// Whether an option says on which machine a setup runs.
fn is_of_machine(key: &str) -> bool {
    [WHERE_KEY, VIA_KEY, PROGRAM_KEY].contains(&key) || key.starts_with(SLURM_KEYS)
}

impl Setup {
    /// Whether its runs are requests to a language model.
    pub fn is_generate_task(&self) -> bool {
        self.options.get(TASK_KEY).map(String::as_str) == Some(GENERATE)
    }

    /// Whether its runs are those of a loop in a Python program.
    pub fn is_python_loop(&self) -> bool {
        self.engine == COMMAND && self.options.contains_key(LOOP_KEY)
    }

    /// Whether it asks for another machine.
    pub fn is_elsewhere(&self) -> bool {
        let place = self.options.get(WHERE_KEY);
        self.options.contains_key(VIA_KEY) || place.is_some_and(|place| place != HERE)
    }

    /// The same with another value of an option.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        self.options.insert(key.to_owned(), value.into());
        self
    }

    /// The same without what says on which machine it runs: equal for one setup on several machines.
    #[must_use]
    pub fn without_machine(mut self) -> Self {
        self.options.retain(|key, _| !is_of_machine(key));
        self
    }

    /// The options that say on which machine it runs; equal for setups that share one, or a node of a scheduler.
    pub fn machine_options(&self) -> Vec<(&str, &str)> {
        let options = self.options.iter();
        let own = options.filter(|(key, value)| is_of_machine(key) && value.as_str() != HERE);
        own.map(|(key, value)| (key.as_str(), value.as_str()))
            .collect()
    }

    /// The machine that it asks for, as `where=` or `via=` spells it; nothing for this one.
    pub fn machine_asked_for(&self) -> Option<&str> {
        let asked = self.options.get(WHERE_KEY);
        asked
            .or_else(|| self.options.get(VIA_KEY))
            .map(String::as_str)
    }

    /// Whether something is meant to disturb its runs.
    pub fn has_neighbour(&self) -> bool {
        self.options.contains_key(NEIGHBOUR_KEY)
    }

    /// The model that it runs in place of the plan's, as the user names it.
    pub fn own_model(&self) -> Option<&str> {
        self.options.get(MODEL_KEY).map(String::as_str)
    }
}

impl FromStr for Setup {
    type Err = SetupError;

    fn from_str(spec: &str) -> Result<Self, SetupError> {
        let parts =
            split_outside_quotes(spec).ok_or_else(|| SetupError::OpenQuote(spec.to_owned()))?;
        let target = parts.first().map(|part| part.trim()).unwrap_or_default();
        let (engine, device) = target.split_once(':').unwrap_or((target, "cpu"));
        if engine.is_empty() || device.is_empty() || engine.contains('=') {
            return Err(SetupError::NoEngine(spec.to_owned()));
        }
        let mut options = BTreeMap::new();
        for part in parts.iter().skip(1) {
            let not_a_pair = || SetupError::NotKeyValue {
                spec: spec.to_owned(),
                part: part.clone(),
            };
            let (key, value) = part.split_once('=').ok_or_else(not_a_pair)?;
            let key = key.trim();
            if key.is_empty() {
                return Err(not_a_pair());
            }
            let value = unquoted(value.trim()).to_owned();
            if options.insert(key.to_owned(), value).is_some() {
                return Err(SetupError::Twice {
                    spec: spec.to_owned(),
                    key: key.to_owned(),
                });
            }
        }
        Ok(Self {
            engine: engine.to_owned(),
            device: device.to_owned(),
            options,
        })
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.engine, self.device)?;
        for (key, value) in &self.options {
            if value.contains([',', ' ']) {
                write!(f, ",{key}=\"{value}\"")?;
            } else {
                write!(f, ",{key}={value}")?;
            }
        }
        Ok(())
    }
}

/// Parts between commas that stand outside double quotes; nothing where a quote stays open.
fn split_outside_quotes(spec: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for c in spec.chars() {
        quoted ^= c == '"';
        match parts.last_mut() {
            Some(part) if c != ',' || quoted => part.push(c),
            _ => parts.push(String::new()),
        }
    }
    (!quoted).then_some(parts)
}

fn unquoted(value: &str) -> &str {
    value
        .strip_prefix('"')
        .and_then(|v| v.strip_suffix('"'))
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_come_back() {
        for spec in [
            "ort:cpu",
            "tract:cpu,threads=2",
            "ort:cuda:0,opt=none,precision=fp16",
        ] {
            assert_eq!(spec.parse::<Setup>().unwrap().to_string(), spec);
        }
        assert_eq!("tract".parse::<Setup>().unwrap().to_string(), "tract:cpu");
    }

    #[test]
    fn a_setup_is_the_same_on_every_machine() {
        let bare = |spec: &str| spec.parse::<Setup>().unwrap().without_machine().to_string();
        assert_eq!(
            bare("ort,threads=2,where=slurm:gpu,slurm.time=5"),
            "ort:cpu,threads=2"
        );
        assert_eq!(bare("ort,via=sh,remote_program=/opt/powerband"), "ort:cpu");
        let asked = |spec: &str| {
            let setup: Setup = spec.parse().unwrap();
            setup.machine_asked_for().map(str::to_owned)
        };
        assert_eq!(asked("ort,where=rack").as_deref(), Some("rack"));
        assert_eq!(asked("ort,via=sh").as_deref(), Some("sh"));
        assert_eq!(asked("ort"), None);
    }

    #[test]
    fn quotes_protect_commas() {
        let setup: Setup = "command,run=\"python a.py --n 1,2\"".parse().unwrap();
        assert_eq!(setup.options["run"], "python a.py --n 1,2");
        assert_eq!(setup.to_string().parse::<Setup>().unwrap(), setup);
    }

    #[test]
    fn faults_are_named() {
        let fault = |spec: &str| spec.parse::<Setup>().unwrap_err().to_string();
        assert!(fault("").contains("names no engine"));
        assert!(fault(":cpu").contains("names no engine"));
        assert!(fault("ort,fast").contains("\"fast\""));
        assert!(fault("ort,a=1,a=2").contains("a twice"));
        assert!(fault("ort,a=\"1").contains("quote"));
    }
}
