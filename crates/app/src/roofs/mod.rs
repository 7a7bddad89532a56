//! What this machine's devices and engines reach, as far as it is kept, and measuring it.

pub(crate) mod action;
pub mod commands;
pub(crate) mod palette;
mod update;
mod work;

use crate::backend::Backend;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::humanize;
use powerband_core::domain::roofs::Roofs;
use powerband_findings::tables::roofs::noise_words;

/// Progress of measuring roofs.
#[derive(Clone, Debug)]
pub struct MeasuringRoofs {
    /// What is measured now.
    pub what: String,
    /// Share done.
    pub share: f32,
    /// Ends it.
    pub cancel: CancelToken,
}

/// The roofs of this machine.
#[derive(Debug, Default)]
pub struct RoofsState {
    /// Those that hold, the processor's first; nothing until they were read.
    pub kept: Option<Vec<Roofs>>,
    /// Why others have to be measured again, a sentence each.
    pub stale: Vec<String>,
    /// Measuring in progress.
    pub measuring: Option<MeasuringRoofs>,
    /// Whether the user ended that: it does not begin by itself again.
    pub is_declined: bool,
}

impl RoofsState {
    /// What measuring them promises, where nothing is kept; with so many engines on this machine, where that is known.
    pub fn invitation(engines: Option<usize>, backend: &dyn Backend) -> String {
        let (least, most) = backend.roof_seconds(engines.unwrap_or(1));
        let beyond = if engines.is_none() { " or more" } else { "" };
        format!(
            "The peak arithmetic and bandwidth of the processor and of each engine: what a measured time is compared with. Takes {} to {}{beyond}; close other programs first.",
            humanize::clock_time(least),
            humanize::clock_time(most)
        )
    }

    /// Whether any are kept that hold.
    pub fn has_any(&self) -> bool {
        self.kept.as_ref().is_some_and(|kept| !kept.is_empty())
    }

    /// What to do about noise, and why some have to be measured again.
    pub fn warnings(&self) -> Vec<String> {
        let kept = self.kept.iter().flatten();
        let noisy = kept.filter_map(noise_words);
        self.stale.iter().cloned().chain(noisy).collect()
    }
}
