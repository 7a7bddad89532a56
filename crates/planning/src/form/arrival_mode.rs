//! How requests arrive.

use serde::{Deserialize, Serialize};

/// How requests arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArrivalMode {
    /// Closed loop: each when the previous one ends.
    #[default]
    OneByOne,
    /// Open loop, Poisson.
    AtRandom,
    /// Open loop, fixed rate.
    Evenly,
}
