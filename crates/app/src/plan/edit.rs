//! Applies changes of the plan to the draft.

use std::mem::Discriminant;

use super::action::PlanEdit;
use super::{Draft, DraftSetup, parse_batches, respell, show_batches, slips, sweeps};

/// A text field: which change typing in it makes, of which setup and of which key.
pub(super) type Typing = (Discriminant<PlanEdit>, usize, String);

/// The field where it is one letter of many, which are undone together.
pub(super) fn typing(edit: &PlanEdit) -> Option<Typing> {
    let setup = match edit {
        PlanEdit::Spec(setup, _) | PlanEdit::Label(setup, _) => *setup,
        PlanEdit::Key(setup, key, _) if is_typed(key) => {
            return Some((std::mem::discriminant(edit), *setup, key.clone()));
        }
        PlanEdit::Name(_)
        | PlanEdit::Model(_)
        | PlanEdit::Batches(_)
        | PlanEdit::Sweeps(_)
        | PlanEdit::Rounds(_)
        | PlanEdit::Rate(_)
        | PlanEdit::Samples(_)
        | PlanEdit::Shapes(_)
        | PlanEdit::BatchAxis(_)
        | PlanEdit::Fills(_) => 0,
        _ => return None,
    };
    Some((std::mem::discriminant(edit), setup, String::new()))
}

/// Whether values of a key are typed, and not chosen.
fn is_typed(name: &str) -> bool {
    respell::any_key(name).is_some_and(|key| key.choices().is_empty())
}

/// Carries a change out.
pub(super) fn apply(draft: &mut Draft, edit: PlanEdit) {
    match edit {
        PlanEdit::Name(name) => {
            draft.name = name;
            draft.name_goes_with_model = false;
        }
        PlanEdit::Model(model) => {
            if draft.name_goes_with_model && draft.model != model {
                draft.name.clear();
                draft.name_goes_with_model = false;
            }
            draft.model = model;
        }
        PlanEdit::Batches(batches) => draft.batches = batches,
        PlanEdit::ToggleBatch(batch) => toggle_batch(draft, batch),
        PlanEdit::Sweeps(sweeps) => draft.sweeps = sweeps,
        PlanEdit::ToggleSize(dimension, size) => sweeps::toggle(draft, &dimension, size),
        PlanEdit::Preset(preset) => {
            draft.preset = preset;
            draft.rules = None;
        }
        PlanEdit::Rounds(rounds) => {
            draft.rounds = rounds;
            draft.rules = None;
        }
        PlanEdit::Requests(requests) => draft.requests = requests,
        PlanEdit::Rate(rate) => draft.rate = rate,
        PlanEdit::Energy(energy) => draft.energy = energy,
        PlanEdit::Accuracy(accuracy) => draft.accuracy = accuracy,
        PlanEdit::Profile(profile) => draft.profile = profile,
        PlanEdit::Samples(samples) => draft.samples = samples,
        PlanEdit::Journey(journey) => draft.journey = journey,
        PlanEdit::Shapes(shapes) => draft.shapes = shapes,
        PlanEdit::BatchAxis(axis) => draft.batch_axis = axis,
        PlanEdit::Fills(fills) => draft.fills = fills,
        PlanEdit::Clear => *draft = Draft::default(),
        edit => apply_to_setups(&mut draft.setups, edit),
    }
}

fn apply_to_setups(setups: &mut Vec<DraftSetup>, edit: PlanEdit) {
    match edit {
        PlanEdit::Add(spec) => setups.push(DraftSetup {
            spec,
            ..DraftSetup::default()
        }),
        PlanEdit::Duplicate(index) => {
            if let Some(setup) = setups.get(index).cloned() {
                setups.insert(
                    index + 1,
                    DraftSetup {
                        colour: None,
                        ..setup
                    },
                );
            }
        }
        PlanEdit::Remove(index) if index < setups.len() => {
            setups.remove(index);
        }
        PlanEdit::Move(from, to) if from < setups.len() && to < setups.len() => {
            let setup = setups.remove(from);
            setups.insert(to, setup);
        }
        PlanEdit::Spec(index, spec) => respell(setups, index, |_| spec),
        PlanEdit::Engine(index, id) => {
            respell(setups, index, |spec| respell::with_engine(spec, &id));
        }
        PlanEdit::Device(index, device) => {
            respell(setups, index, |spec| respell::with_device(spec, &device));
        }
        PlanEdit::Key(index, key, value) => {
            respell(setups, index, |spec| respell::with_key(spec, &key, &value));
        }
        PlanEdit::Fix(index) => respell(setups, index, |spec| {
            slips::fix(spec).map_or_else(|| spec.to_owned(), |fix| fix.spec)
        }),
        PlanEdit::Label(index, label) => {
            if let Some(setup) = setups.get_mut(index) {
                setup.label = label;
            }
        }
        PlanEdit::Colour(index, colour) => {
            if let Some(setup) = setups.get_mut(index) {
                setup.colour = colour;
            }
        }
        _ => {}
    }
}

fn respell(setups: &mut [DraftSetup], index: usize, spec: impl FnOnce(&str) -> String) {
    if let Some(setup) = setups.get_mut(index) {
        setup.spec = spec(&setup.spec);
    }
}

fn toggle_batch(draft: &mut Draft, batch: usize) {
    let mut batches = parse_batches(&draft.batches).unwrap_or_default();
    match batches.iter().position(|&have| have == batch) {
        Some(place) => {
            batches.remove(place);
        }
        None => batches.push(batch),
    }
    batches.sort_unstable();
    draft.batches = show_batches(&batches);
}
