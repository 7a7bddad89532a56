//! Actions on the plan.

use std::path::PathBuf;

use super::matrix::MatrixEdit;
use crate::sessions::Pin;
use powerband_core::domain::plan::{PresetName, Profiler};
use powerband_planning::form::{ArrivalMode, PlanField};

/// A change of the plan.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanEdit {
    /// The text of a field.
    Text(PlanField, String),
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
    /// A setup's engine. Options that it does not know are left out.
    Engine(usize, String),
    /// A setup's device.
    Device(usize, String),
    /// The value of a key of a setup; empty, or the default, for none.
    Key(usize, String, String),
    /// Puts a slip in a setup's spelling right.
    Fix(usize),
    /// Asks for the file or folder that a key of a setup names.
    ChoosePath(usize, String),
    /// Shows every key of a setup, or of none.
    More(Option<usize>),
    /// A change of the matrix, or the setups that it makes.
    Matrix(MatrixEdit),
    /// A setup's colour; nothing for the next in turn.
    Colour(usize, Option<usize>),
    /// Adds a size of a dimension or takes it out.
    ToggleSize(String, usize),
    /// Whether all setups measure whole requests to a language model, or one step of it.
    WholeRequests(bool),
    /// Whether the setups are optimisation steps.
    Journey(bool),
    /// The preset.
    Preset(PresetName),
    /// How requests arrive.
    Requests(ArrivalMode),
    /// Whether every case is measured long enough for its energy.
    Energy(bool),
    /// Whether machines are measured at the same time, or one after the other.
    MachinesAtOnce(bool),
    /// Whether outputs are compared with the float network.
    Accuracy(bool),
    /// The profiler of each case, after all measurements.
    Profile(Option<Profiler>),
    /// In how many starts each case is profiled.
    ProfileStarts(u32),
    /// The plan of the large button on *Home*, to change.
    First,
    /// Everything anew.
    Clear,
    /// The step before.
    Undo,
    /// The step after.
    Redo,
    /// Saves the plan under its name.
    Keep,
    /// Uses a saved plan.
    Use(PathBuf),
    /// Uses a built-in plan, by its name, as far as this machine can run it.
    Ladder(&'static str),
    /// A plan of the setup of a case over its batch size and larger ones.
    LargerBatches(Pin),
    /// Throws a saved plan away.
    Forget(PathBuf),
}
