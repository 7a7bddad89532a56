//! Options of a setup, for the help beside its field.

use powerband_planning::engine_options;
use powerband_planning::engine_options::Key;

/// Help for a setup as it is spelled so far.
#[derive(Debug)]
pub struct SetupHelp {
    /// What people call its engine.
    pub engine: &'static str,
    /// Keys that the spelling has.
    pub named: Vec<&'static Key>,
    /// Keys that it could have besides.
    pub others: Vec<&'static Key>,
}

/// Help for a spelling such as `ort:cpu,threads=2`; nothing where its engine is not known.
pub fn setup_help(spec: &str) -> Option<SetupHelp> {
    let mut parts = spec.split(',');
    let head = parts.next().unwrap_or_default();
    let id = head.split(':').next().unwrap_or_default().trim();
    let engine = engine_options::find(id)?;
    let written: Vec<&str> = parts
        .map(|part| part.split('=').next().unwrap_or_default().trim())
        .collect();
    let keys = engine.keys().iter().chain(engine_options::COMMON_KEYS);
    let (named, others) = keys.partition(|key| written.iter().any(|name| key.covers(name)));
    Some(SetupHelp {
        engine: engine.title(),
        named,
        others,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(keys: &[&Key]) -> Vec<&'static str> {
        keys.iter().map(|key| key.name).collect()
    }

    #[test]
    fn keys_of_the_spelling_come_first() {
        let help = setup_help("ort:cpu, threads=2,ep.device_type=CPU,nonsense=1").expect("help");
        assert_eq!(names(&help.named), ["threads", "ep.*"]);
        assert!(names(&help.others).contains(&"memory"));
        assert!(!names(&help.others).contains(&"threads"));
    }

    #[test]
    fn an_engine_alone_has_every_key_before_it() {
        let help = setup_help(" rten").expect("help");
        assert!(help.named.is_empty());
        assert!(!help.others.is_empty());
        assert!(setup_help("nobody:cpu").is_none());
    }
}
