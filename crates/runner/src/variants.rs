//! The models of their own that setups run in place of the plan's: other files, or the same network
//! rewritten. `prepare` asks for them before anything is measured.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::case_inputs::NetworkInputs;
use crate::precision::{self, ConvertedModel};
use crate::prepare_error::PrepareError;
use powerband_core::domain::input_sizes::InputAxis;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::model::Port;
use powerband_core::domain::setup::Setup;
use powerband_onnx::batch_axis::BatchAxes;
use powerband_onnx::source::ModelFile;
use powerband_onnx::{inspect, source};
use powerband_planning::engine_options;
use powerband_planning::transport::SetupMachine;
use powerband_store::installation::Installation;
use powerband_worker::engines::{self, Requirement};

/// The setups of a plan, and what was found for them.
pub(super) struct ChosenSetups {
    /// The setups.
    pub setups: Vec<Setup>,
    /// Each one's library, where its engine has one; or why it cannot run here.
    pub runtimes: Vec<Result<Option<PathBuf>, String>>,
    pub made_up: bool,
    /// What is to be said of them.
    pub notes: Vec<String>,
    /// The machines of those that do not run here, by their places.
    pub machines: BTreeMap<usize, SetupMachine>,
}

/// A model that one setup runs in place of the plan's.
pub(super) struct Variant {
    /// Its file.
    pub file: ModelFile,
    /// Its inputs.
    pub ports: Vec<Port>,
    /// Which dimensions of its inputs are the batch, as the user would say it.
    pub batch_axis: Vec<InputAxis>,
}

impl Variant {
    /// It as the network that a setup's cases feed.
    pub(super) fn network(&self) -> NetworkInputs<'_> {
        NetworkInputs {
            proto: &self.file.proto,
            ports: &self.ports,
            batch_axis: &self.batch_axis,
        }
    }
}

/// The models of their own that setups have, by the setup's place in the plan: others than the plan's, or
/// the same in other numbers. A model that cannot be rewritten is the reason why its setup does not run.
pub(super) fn variants(
    place: &Installation,
    model: &ModelFile,
    sizes: &InputSizes,
    chosen: &mut ChosenSetups,
) -> Result<BTreeMap<usize, Variant>, PrepareError> {
    let mut variants = BTreeMap::new();
    for (setup, spec) in chosen.setups.iter().enumerate() {
        let own = spec.own_model();
        let own = own.map(|name| source::open(name, &place.paths.cache));
        let own = own.transpose()?;
        let recipe = engine_options::rewrite_recipe(spec).unwrap_or_default();
        if recipe.is_plain() {
            if let Some(file) = own {
                let variant = Variant {
                    ports: inspect::inputs(&file.proto)?,
                    file,
                    batch_axis: sizes.batch_axis.clone(),
                };
                variants.insert(setup, variant);
            }
            continue;
        }
        let original = own.as_ref().unwrap_or(model);
        // Ranges are found with the library that the setup runs on.
        let place = with_runtime(place, spec, chosen.runtimes.get(setup));
        match precision::convert(&place, original, &recipe, sizes) {
            Ok(ConvertedModel { file, notes }) => {
                let notes = notes.iter().map(|note| format!("{spec}: {note}"));
                chosen.notes.extend(notes);
                // Once the batch is fixed, its dimensions have no names any more.
                let before = inspect::inputs(&original.proto)?;
                let axes = BatchAxes::find(&before, &sizes.batch_axis)?;
                let variant = Variant {
                    ports: inspect::inputs(&file.proto)?,
                    file,
                    batch_axis: axes.as_chosen(),
                };
                variants.insert(setup, variant);
            }
            Err(reason) => {
                let reason = format!("the model cannot be rewritten to {recipe}: {reason}");
                if let Some(runtime) = chosen.runtimes.get_mut(setup) {
                    *runtime = Err(reason);
                }
            }
        }
    }
    Ok(variants)
}

/// The same place, with the library that was found for a setup of ONNX Runtime.
pub(super) fn with_runtime(
    place: &Installation,
    setup: &Setup,
    found: Option<&Result<Option<PathBuf>, String>>,
) -> Installation {
    let is_ort =
        engines::find(&setup.engine).is_some_and(|e| e.needs() == Requirement::OnnxRuntime);
    let library = found
        .and_then(|found| found.clone().ok()?)
        .filter(|_| is_ort);
    Installation {
        onnxruntime: library.or_else(|| place.onnxruntime.clone()),
        ..place.clone()
    }
}
