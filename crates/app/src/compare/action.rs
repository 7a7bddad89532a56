//! What can be asked for about the comparison.

use super::Pick;

/// About the comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Compare {
    /// What it is compared with.
    Before(Pick),
    /// What is compared.
    After(Pick),
    /// Turns it round.
    Swap,
}
