//! Arguments of `why`.

use std::path::PathBuf;

use super::PointArgs;
use super::plan::{CaseFields, FieldOptions};
use powerband_core::domain::experiment::ExperimentChange;
use powerband_core::domain::plan::PresetName;

/// Arguments of `why`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
  powerband why resnet50 --setup ort,threads=2 --batch 1     experiments on a case
  powerband why r50.ron --setup ort --batch 8                the same on a case of a session of this machine
  powerband why why-r50.ron                                  what experiments said that were made before

Each experiment changes one thing: half the threads, a neighbour that streams memory or computes on
otherwise idle cores, half precision, no optimisation, pinned threads, and more. The changed setups are
measured in turns with the case, so what they cost has an interval. What cannot be tried says why.

Exit status: 0 fine, 2 an error, or the case could not be measured.")]
pub(crate) struct WhyArgs {
    /// A session, a built-in network, or an ONNX file.
    #[arg(value_name = "SESSION|MODEL")]
    pub subject: String,
    /// The setup that is asked about: of a session its spelling, its label, or its number from 1
    /// [default: the only one of a session; ort where it is installed, else rten, of a model].
    #[arg(long, value_name = "SETUP")]
    pub setup: Option<String>,
    #[command(flatten)]
    pub point: PointArgs,
    /// Preset: quick (20 s for all experiments), standard (2 minutes), publish (10 minutes) [default: quick].
    #[arg(long, value_name = "NAME")]
    pub preset: Option<PresetName>,
    /// Turns of each experiment, instead of as many as the preset has time for.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: Option<u32>,
    /// These changes only, by their names in the JSON document: half-threads,streaming-neighbour.
    #[arg(long, value_name = "CHANGES", value_delimiter = ',', value_parser = change)]
    pub only: Vec<ExperimentChange>,
    /// Do not measure the roofs that the model needs where there are none yet.
    #[arg(long)]
    pub no_roofs: bool,
    /// Measure nothing: show what limits the case by the experiments of the session, or by its profile.
    #[arg(long, conflicts_with_all = ["out", "force", "rounds", "preset", "only", "no_roofs", "allow_commands", "dim", "shape", "input", "batch-axis"])]
    pub show: bool,
    /// Run the commands, and load the libraries, that the session names, as bench has it.
    #[arg(long)]
    pub allow_commands: bool,
    #[command(flatten)]
    pub fed: FieldOptions<CaseFields>,
    /// Where to write the session with the experiments [default: the library].
    #[arg(long, value_name = "FILE.ron")]
    pub out: Option<PathBuf>,
    /// Replace the session file if it is there.
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Print one JSON document on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,
}

impl WhyArgs {
    /// How long each experiment is measured.
    pub(crate) fn preset(&self) -> PresetName {
        self.preset.unwrap_or(PresetName::Quick)
    }

    /// Whether anything is said of how to measure, so that kept experiments do not answer.
    pub(crate) fn is_to_measure(&self) -> bool {
        self.out.is_some()
            || self.rounds.is_some()
            || self.preset.is_some()
            || !self.only.is_empty()
            || self.no_roofs
            || self.allow_commands
            || self.fed.is_given()
    }
}

fn change(text: &str) -> Result<ExperimentChange, String> {
    let mut all = ExperimentChange::ALL.into_iter();
    all.find(|change| change.id() == text).ok_or_else(|| {
        let names = ExperimentChange::ALL.map(ExperimentChange::id).join(", ");
        format!("there is no change {text}; there are {names}")
    })
}
