//! What can be asked for about the run.

use crate::sessions::SessionId;
use powerband_core::domain::case::CaseKey;

/// About the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// Measures the plan.
    Start,
    /// Measures ResNet-50 on the best that is here, with the quick preset: see `runner::first`.
    StartFirst,
    /// Rests after the visit that is going on.
    Pause,
    /// Goes on.
    Resume,
    /// Adds so many rounds to an open session, in its own file.
    More(SessionId, u32),
    /// Ends the run; what was measured is kept.
    Stop,
    /// Leaves a case out; asked a second time, ends its worker at once.
    Skip(CaseKey),
    /// Leaves out the case that is being measured.
    SkipCurrent,
    /// Saves what interrupted runs left behind.
    Recover,
    /// Begins a run although another program is measuring.
    Anyway(Box<Self>),
}
