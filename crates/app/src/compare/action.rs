//! Actions on the comparison.

use super::Pick;

/// Actions on the comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Compare {
    /// What it is compared with.
    Before(Pick),
    /// What is compared.
    After(Pick),
    /// Turns it round.
    Swap,
}
