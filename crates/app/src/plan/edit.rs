//! Changes of a plan, and what each of them does.

use std::mem::Discriminant;
use std::path::PathBuf;

use super::{Draft, DraftSetup, Requests, parse_batches, show_batches};
use powerband_core::domain::plan::{PresetName, Profiler};

/// A change of the plan.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanEdit {
    /// Name of the session.
    Name(String),
    /// The model.
    Model(String),
    /// Asks for an ONNX file.
    ChooseModel,
    /// Another setup at the end.
    Add(String),
    /// The same setup once more, below.
    Duplicate(usize),
    /// Takes a setup out.
    Remove(usize),
    /// Moves a setup to another place.
    Move(usize, usize),
    /// A setup's spelling.
    Spec(usize, String),
    /// A setup's name.
    Label(usize, String),
    /// A setup's colour; nothing for the next in turn.
    Colour(usize, Option<usize>),
    /// The batch sizes.
    Batches(String),
    /// Adds a batch size or takes it out.
    ToggleBatch(usize),
    /// Whether each setup is a step on the one before.
    Journey(bool),
    /// The preset.
    Preset(PresetName),
    /// The rounds.
    Rounds(String),
    /// When runs start.
    Requests(Requests),
    /// How many requests arrive in a second.
    Rate(String),
    /// Whether each case is measured long enough for its energy.
    Energy(bool),
    /// Whether outputs are compared with the network in floats.
    Accuracy(bool),
    /// Who watches each case once more, after everything was measured.
    Profile(Option<Profiler>),
    /// The user's own inputs for that.
    Samples(String),
    /// The shapes.
    Shapes(String),
    /// The batch axis.
    BatchAxis(String),
    /// What the large button at the beginning measures, to be changed.
    First,
    /// Everything anew.
    Clear,
    /// The step before.
    Undo,
    /// The step after.
    Redo,
    /// Keeps the plan under its name.
    Keep,
    /// Makes a kept plan the plan.
    Use(PathBuf),
    /// Makes a plan that comes ready the plan, as far as it can be made here; by its name.
    Ladder(&'static str),
    /// Throws a kept plan away.
    Forget(PathBuf),
}

/// A text field: which change typing in it makes, and of which setup.
pub(super) type Typing = (Discriminant<PlanEdit>, usize);

/// The field where it is one letter of many, which are undone together.
pub(super) fn typing(edit: &PlanEdit) -> Option<Typing> {
    let setup = match edit {
        PlanEdit::Spec(setup, _) | PlanEdit::Label(setup, _) => *setup,
        PlanEdit::Name(_)
        | PlanEdit::Model(_)
        | PlanEdit::Batches(_)
        | PlanEdit::Rounds(_)
        | PlanEdit::Rate(_)
        | PlanEdit::Samples(_)
        | PlanEdit::Shapes(_)
        | PlanEdit::BatchAxis(_) => 0,
        _ => return None,
    };
    Some((std::mem::discriminant(edit), setup))
}

/// Carries a change out.
pub(super) fn apply(draft: &mut Draft, edit: PlanEdit) {
    match edit {
        PlanEdit::Name(name) => draft.name = name,
        PlanEdit::Model(model) => draft.model = model,
        PlanEdit::Batches(batches) => draft.batches = batches,
        PlanEdit::ToggleBatch(batch) => toggle_batch(draft, batch),
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
        PlanEdit::Spec(index, spec) => {
            if let Some(setup) = setups.get_mut(index) {
                setup.spec = spec;
            }
        }
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
