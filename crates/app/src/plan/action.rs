//! What can be asked for about the plan.

use std::path::PathBuf;

use super::Requests;
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
