//! A slip in a setup's text, and what is meant.

use super::respell;
use crate::engine_options::{self, Takes};
use powerband_core::base::near_miss::near_miss;
use powerband_core::domain::spelling::Spelling;

/// A slip, and the text without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What is written.
    pub wrong: String,
    /// What is meant.
    pub meant: String,
    /// The whole text with it.
    pub spec: String,
}

/// What a text with a fault means, where one word is almost right.
pub fn fix(text: &str) -> Option<Fix> {
    let spelling = Spelling::parse(text);
    engine(&spelling)
        .or_else(|| missing_key_fix(&spelling))
        .or_else(|| key(&spelling))
        .or_else(|| value(&spelling))
}

fn engine(spelling: &Spelling) -> Option<Fix> {
    let wrong = &spelling.setup.engine;
    if engine_options::find(wrong).is_some() {
        return None;
    }
    let meant = near_miss(wrong, &engine_options::offered_ids().collect::<Vec<_>>())?;
    let mut fixed = spelling.clone();
    meant.clone_into(&mut fixed.setup.engine);
    Some(fixed_as(wrong, meant, &fixed))
}

/// A value without its key: `fp16` for `precision=fp16`.
fn missing_key_fix(spelling: &Spelling) -> Option<Fix> {
    let engine = engine_options::find(&spelling.setup.engine)?;
    for (place, part) in spelling.unread.iter().enumerate() {
        let takes_it = |key: &&engine_options::Key| {
            !matches!(key.takes, Takes::Switch(..)) && key.choices().contains(&part.as_str())
        };
        let mut keys = engine_options::keys_of(engine).filter(takes_it);
        let Some(key) = keys.next().filter(|_| keys.next().is_none()) else {
            continue;
        };
        let mut fixed = spelling.clone();
        fixed.unread.remove(place);
        respell::set(&mut fixed.setup, key.name, part);
        return Some(fixed_as(part, &format!("{}={part}", key.name), &fixed));
    }
    None
}

fn key(spelling: &Spelling) -> Option<Fix> {
    let engine = engine_options::find(&spelling.setup.engine)?;
    let known: Vec<&str> = engine_options::keys_of(engine)
        .map(|key| key.name)
        .collect();
    let mut given = spelling.setup.options.iter();
    let is_unknown = |name: &str| engine_options::keys_of(engine).all(|key| !key.covers(name));
    let (wrong, value) = given.find(|(name, _)| is_unknown(name))?;
    let meant = near_miss(wrong, &known)?;
    let mut fixed = spelling.clone();
    fixed.setup.options.remove(wrong);
    let options = &mut fixed.setup.options;
    options
        .entry(meant.to_owned())
        .or_insert_with(|| value.clone());
    Some(fixed_as(wrong, meant, &fixed))
}

fn value(spelling: &Spelling) -> Option<Fix> {
    engine_options::check(&spelling.setup).err()?;
    let engine = engine_options::find(&spelling.setup.engine)?;
    let mut given = spelling.setup.options.iter();
    given.find_map(|(name, value)| {
        let key = engine_options::keys_of(engine).find(|key| key.covers(name))?;
        let is_closed = !matches!(key.takes, Takes::OneOr(..));
        let (wrong, meant) = key.near_miss_value(value).filter(|_| is_closed)?;
        let words = value.split('+').map(str::trim);
        let words = words.map(|word| if word == wrong { meant } else { word });
        let mut fixed = spelling.clone();
        let value = words.collect::<Vec<_>>().join("+");
        fixed.setup.options.insert(name.clone(), value);
        Some(fixed_as(wrong, meant, &fixed))
    })
}

fn fixed_as(wrong: &str, meant: &str, fixed: &Spelling) -> Fix {
    Fix {
        wrong: wrong.to_owned(),
        meant: meant.to_owned(),
        spec: fixed.text(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_put_right_and_the_rest_stays() {
        for (text, meant, spec) in [
            ("otr:cpu,threads=2", "ort", "ort:cpu,threads=2"),
            ("ort,precison=fp16", "precision", "ort:cpu,precision=fp16"),
            (
                "ort,opt=extendd,threads=2",
                "extended",
                "ort:cpu,opt=extended,threads=2",
            ),
            (
                "torch,mode=fp16+complie",
                "compile",
                "torch:cpu,mode=fp16+compile",
            ),
            ("ort,fp16", "precision=fp16", "ort:cpu,precision=fp16"),
        ] {
            let found = fix(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.meant.as_str(), found.spec.as_str()), (meant, spec));
        }
        for right in [
            "ort:cpu,precision=float16",
            "ort,threads=x",
            "ort,",
            "caffe",
        ] {
            assert_eq!(fix(right), None, "{right}");
        }
    }
}
