//! What the controls of a setup offer on this machine: engines, devices, keys and their values.

use std::collections::{BTreeMap, BTreeSet};

use super::form::{Alternative, Control};
use crate::shared::Shared;
use powerband_core::domain::setup::{Setup, WHERE_KEY};
use powerband_core::domain::telemetry::DeviceKind;
use powerband_planning::engine_options::{self, EngineOptions, Key};
use powerband_planning::form::respell;

/// Keys whose controls are always shown, in their order; that of the machine, where machines have names, is the first.
fn front_keys(engine: &dyn EngineOptions, has_machines: bool) -> Vec<&'static Key> {
    let is_machine = |key: &Key| has_machines && key.name == WHERE_KEY;
    let mut keys: Vec<&'static Key> = engine_options::keys_of(engine)
        .filter(|key| key.rank > 0 || is_machine(key))
        .collect();
    keys.sort_by_key(|key| key.rank);
    keys.dedup_by_key(|key| key.rank);
    keys
}

/// What the text has of a key: of a family, `name=value` of each.
fn value_of(setup: &Setup, key: &Key) -> String {
    let Some(family) = key.family() else {
        return setup.options.get(key.name).cloned().unwrap_or_default();
    };
    let own = setup.options.iter();
    let own = own.filter_map(|(name, value)| Some((name.strip_prefix(family)?, value)));
    let pairs: Vec<String> = own.map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join(", ")
}

impl Shared {
    /// Controls of a setup: those that are always shown, or those behind *More*. Of several keys for one place,
    /// the engine's own is the one in front.
    pub fn controls(&self, setup: &Setup, in_front: bool) -> Vec<Control> {
        let Some(engine) = engine_options::find(&setup.engine) else {
            return Vec::new();
        };
        let front = self.front_keys(engine);
        let keys: Vec<&'static Key> = if in_front {
            front
        } else {
            let is_in_front = |key: &Key| front.iter().any(|one| one.name == key.name);
            let more = engine_options::keys_of(engine);
            more.filter(|key| !is_in_front(key)).collect()
        };
        keys.into_iter()
            .map(|key| Control {
                key,
                value: value_of(setup, key),
                why_not: engine_options::key_conflict(setup, key),
            })
            .collect()
    }

    fn front_keys(&self, engine: &dyn EngineOptions) -> Vec<&'static Key> {
        front_keys(engine, !self.place.machines.is_empty())
    }

    /// How many of the keys behind *More* a setup has.
    pub fn given_behind_more(&self, setup: &Setup) -> usize {
        let Some(engine) = engine_options::find(&setup.engine) else {
            return 0;
        };
        let front = self.front_keys(engine);
        let is_given = |key: &&Key| setup.options.keys().any(|name| key.covers(name));
        let is_in_front = |key: &&Key| front.iter().any(|one| one.name == key.name);
        let more = engine_options::keys_of(engine).filter(|key| !is_in_front(key));
        more.filter(is_given).count()
    }

    /// Engines that a setup may have.
    pub fn engine_choices(&self, current: &str) -> Vec<Alternative> {
        let offered = engine_options::ALL
            .iter()
            .filter(|engine| engine.is_offered() || engine.id() == current);
        offered
            .map(|engine| {
                let setup = Setup {
                    engine: engine.id().to_owned(),
                    device: "cpu".to_owned(),
                    options: [].into(),
                };
                let state = self.machine.ready().find(|state| state.id == engine.id());
                Alternative {
                    value: engine.id().to_owned(),
                    title: engine.title().to_owned(),
                    help: state.map_or_else(String::new, |state| state.title.clone()),
                    why_not: self.machine.refusal(&setup),
                }
            })
            .collect()
    }

    /// Devices that a setup may name: those that its engine knows, here or elsewhere.
    pub fn device_choices(&self, setup: &Setup) -> Vec<Alternative> {
        let mut names = vec!["cpu".to_owned()];
        let own = self.machine.engines.iter().flatten();
        let own = own.filter(|state| state.id == setup.engine);
        for info in own.filter_map(|state| state.info.as_ref()) {
            names.extend(info.devices.iter().cloned());
            let kinds = info.usual_providers.keys().map(String::as_str);
            let missing = info.lacks.keys();
            let missing = missing.filter_map(|lack| lack.strip_prefix("device="));
            for kind in kinds.chain(missing) {
                match self.cards(kind).len() {
                    0 | 1 => names.push(kind.to_owned()),
                    n => names.extend((0..n).map(|place| format!("{kind}:{place}"))),
                }
            }
        }
        names.push(setup.device.clone());
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
            .into_iter()
            .map(|device| {
                let with = Setup {
                    device: device.clone(),
                    ..setup.clone()
                };
                Alternative {
                    title: device.clone(),
                    help: self.card_of(&device).unwrap_or_default(),
                    why_not: self.why_not(setup, &with),
                    value: device,
                }
            })
            .collect()
    }

    /// Values that a key of a setup may have, where they are a list. The default comes first where it is no
    /// word of the list.
    pub fn value_choices(&self, setup: &Setup, key: &Key) -> Vec<Alternative> {
        let words = key.choices();
        let mut choices = Vec::new();
        if !words.contains(&key.default) {
            let title = if key.default.is_empty() {
                "not set"
            } else {
                key.default
            };
            choices.push(Alternative {
                value: String::new(),
                title: title.to_owned(),
                help: String::new(),
                why_not: None,
            });
        }
        choices.extend(words.into_iter().map(|word| Alternative {
            value: word.to_owned(),
            title: word.to_owned(),
            help: String::new(),
            why_not: self.why_not_value(setup, key, word),
        }));
        if key.name == WHERE_KEY {
            let named = self.place.machines.iter();
            choices.extend(named.map(|machine| Alternative {
                value: machine.name.clone(),
                title: machine.name.clone(),
                help: format!("{}{}", machine.place, machine.via),
                why_not: self.why_not_value(setup, key, &machine.name),
            }));
        }
        choices
    }

    /// Why a key of a setup cannot have a value; nothing where it can.
    pub fn why_not_value(&self, setup: &Setup, key: &Key, value: &str) -> Option<String> {
        let mut with = setup.clone();
        respell::set(&mut with, key.name, value);
        self.why_not(setup, &with)
    }

    /// Why a setup cannot be made into another one: it makes no sense, or cannot run here. Nothing where
    /// that holds already.
    pub fn why_not(&self, now: &Setup, then: &Setup) -> Option<String> {
        if let Some(reason) = engine_options::setup_fault(then) {
            return Some(reason).filter(|_| engine_options::setup_fault(now).is_none());
        }
        let refusal = self.machine.refusal(then)?;
        self.machine.refusal(now).is_none().then_some(refusal)
    }

    /// Cards of a kind of device: their names by their numbers.
    fn cards(&self, kind: &str) -> BTreeMap<usize, &str> {
        let wanted = match kind {
            "cuda" => DeviceKind::Nvidia,
            "rocm" => DeviceKind::Amd,
            _ => return BTreeMap::new(),
        };
        let found = self.machine.devices.iter().flat_map(|(found, _)| found);
        let found = found.filter(|device| device.kind == wanted);
        let named = found.map(|device| (device.number, device.name.as_str()));
        named.collect()
    }

    /// The name of the card that a device is.
    fn card_of(&self, device: &str) -> Option<String> {
        let (kind, number) = device.split_once(':').unwrap_or((device, "0"));
        let cards = self.cards(kind);
        let card = cards.get(&number.parse::<usize>().ok()?)?;
        Some((*card).to_owned())
    }
}
