//! Why something cannot be measured.

use powerband_core::base::plain_text::harmless;
use powerband_core::domain::again::NotAgain;
use powerband_onnx::input_values::ValuesError;
use powerband_onnx::inspect::InspectError;
use powerband_onnx::shapes::ShapeError;
use powerband_onnx::source::SourceError;
use powerband_planning::engine_options::CheckError;

/// Why what was asked for cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// A setup makes no sense.
    #[error(transparent)]
    Setup(#[from] CheckError),
    /// A plan from a file would run programs, or load libraries, that its user may not know.
    #[error(
        "this plan is from a file and runs programs that were not started from this folder before:\n{}\nIt was not \
         started. Read these lines; if you know what they do, add --allow-commands",
        programs_text(.0)
    )]
    Programs(Vec<String>),
    /// There is no such model.
    #[error(transparent)]
    Model(#[from] SourceError),
    /// The model cannot be understood.
    #[error(transparent)]
    Inspect(#[from] InspectError),
    /// A shape makes no sense.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// Inputs cannot be filled as was asked for.
    #[error(transparent)]
    Values(#[from] ValuesError),
    /// Rounds cannot be added with another model.
    #[error(
        "{0} is not the file any more that this session measured, so rounds cannot be added; measure it anew"
    )]
    OtherModel(String),
    /// Rounds cannot be added on another machine.
    #[error(
        "this session was measured on another machine or kernel, so rounds cannot be added here; measure it anew"
    )]
    OtherMachine,
    /// Two sessions cannot be measured again, in turns.
    #[error(transparent)]
    NotAgain(#[from] NotAgain),
    /// The inputs for comparing outputs cannot be used.
    #[error("{0}")]
    Samples(String),
    /// No case can be a request to a language model.
    #[error("{0}")]
    Requests(String),
    /// The profiler that is wanted is not here.
    #[error("{0}")]
    Profiler(String),
    /// A machine is not known.
    #[error("{0}")]
    Machine(String),
    /// No engine is named, and none is here.
    #[error("no engine can run here: {0}")]
    NoEngine(String),
}

/// A line each, with nothing in it that a terminal obeys.
fn programs_text(lines: &[String]) -> String {
    let shown = lines.iter().map(|line| {
        let one_line = line.replace('\n', "\n        ");
        format!("    {}", harmless(&one_line))
    });
    shown.collect::<Vec<_>>().join("\n")
}
