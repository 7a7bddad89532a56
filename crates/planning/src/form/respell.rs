//! A setup's text after one of its controls was changed.

use crate::engine_options::{self, Key, Takes};
use powerband_core::domain::setup::Setup;
use powerband_core::domain::spelling::Spelling;

/// The text with another engine. Options that it does not know, or that make no sense with it, are left out.
pub fn with_engine(text: &str, id: &str) -> String {
    let before = Spelling::parse(text);
    let Some(engine) = engine_options::find(id) else {
        return text.to_owned();
    };
    let known = |name: &String| engine_options::keys_of(engine).any(|key| key.covers(name));
    let mut left: Vec<(String, String)> = before.setup.options.into_iter().collect();
    left.retain(|(name, _)| known(name));
    let mut setup = Setup {
        engine: id.to_owned(),
        device: before.setup.device,
        options: [].into(),
    };
    if engine_options::check(&setup).is_err() {
        "cpu".clone_into(&mut setup.device);
    }
    if engine_options::check(&setup).is_err() {
        // It needs options, and which of these are right shows only with them.
        setup.options.extend(left.drain(..));
    }
    // An option may need another one, so that they are tried until none is added.
    while let Some(place) = left.iter().position(|option| is_valid(&setup, option)) {
        let (name, value) = left.remove(place);
        setup.options.insert(name, value);
    }
    Spelling {
        setup,
        unread: before.unread,
    }
    .text()
}

fn is_valid(setup: &Setup, (name, value): &(String, String)) -> bool {
    let mut with = setup.clone();
    with.options.insert(name.clone(), value.clone());
    engine_options::check(&with).is_ok()
}

/// The text with another device.
pub fn with_device(text: &str, device: &str) -> String {
    let mut spelling = Spelling::parse(text);
    device.clone_into(&mut spelling.setup.device);
    spelling.text()
}

/// The text with another value of a key. Without a value, or with the default, the key is left out.
pub fn with_key(text: &str, name: &str, value: &str) -> String {
    let mut spelling = Spelling::parse(text);
    set(&mut spelling.setup, name, value);
    spelling.text()
}

/// Gives a key of a setup a value; the default, or nothing, leaves it out. A family of keys takes
/// `name=value` of each, with commas between.
pub fn set(setup: &mut Setup, name: &str, value: &str) {
    let key = key_of(&setup.engine, name);
    if let Some(family) = key.and_then(Key::family).filter(|_| name.ends_with('*')) {
        setup.options.retain(|given, _| !given.starts_with(family));
        let pairs = value.split(',').filter_map(|pair| pair.split_once('='));
        let pairs = pairs.map(|(name, value)| (name.trim(), value.trim()));
        let named = pairs.filter(|(name, _)| !name.is_empty());
        let options = named.map(|(name, value)| (format!("{family}{name}"), value.to_owned()));
        setup.options.extend(options);
        return;
    }
    let is_default = key.is_some_and(|key| key.default == value);
    if value.is_empty() || is_default {
        setup.options.remove(name);
    } else {
        setup.options.insert(name.to_owned(), value.to_owned());
    }
}

/// A key of an engine, by its name or by one of its family.
pub fn key_of(engine: &str, name: &str) -> Option<&'static Key> {
    let engine = engine_options::find(engine)?;
    let mut keys = engine_options::keys_of(engine);
    keys.find(|key| key.name == name || key.covers(name))
}

/// A key of any engine, by its name.
pub fn any_key(name: &str) -> Option<&'static Key> {
    let engines = engine_options::ALL.iter();
    let mut keys = engines.flat_map(|engine| engine_options::keys_of(*engine));
    keys.find(|key| key.name == name)
}

/// Whether a key names a folder, and not a file.
pub fn names_folder(name: &str) -> bool {
    any_key(name).is_some_and(|key| matches!(key.takes, Takes::Folder(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_engine_keeps_what_makes_sense_with_it() {
        let text = "ort:cpu,opt=none,precision=int8,ranges=percentile,threads=2";
        for (id, after) in [
            (
                "rten",
                "rten:cpu,opt=none,precision=int8,ranges=percentile,threads=2",
            ),
            ("torch", "torch:cpu,threads=2"),
            ("ort", text),
        ] {
            assert_eq!(with_engine(text, id), after);
        }
        assert_eq!(with_engine("ort:cuda,thr", "rten"), "rten:cpu,thr");
        assert_eq!(with_engine("torch:cuda:0", "ort"), "ort:cuda:0");
        assert_eq!(
            with_engine("ort:cpu,copies=2", "command"),
            "command:cpu,copies=2"
        );
    }

    #[test]
    fn a_control_rewrites_the_text_canonically() {
        assert_eq!(
            with_key("ort,threads=2", "opt", "none"),
            "ort:cpu,opt=none,threads=2"
        );
        assert_eq!(
            with_key("ort:cpu,opt=none", "opt", "all"),
            "ort:cpu",
            "the default"
        );
        assert_eq!(with_key("ort:cpu,threads=2", "threads", ""), "ort:cpu");
        assert_eq!(with_device("ort,thr", "cuda"), "ort:cuda,thr");
        let provider = "device_type=GPU, x = 1";
        let text = with_key("ort:cpu,ep.y=2", "ep.*", provider);
        assert_eq!(text, "ort:cpu,ep.device_type=GPU,ep.x=1");
    }
}
