//! Actions on the comparison.

use super::side::SideChoice;

/// Actions on the comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Compare {
    /// What it is compared with.
    Before(SideChoice),
    /// What is compared.
    After(SideChoice),
    /// Turns it round.
    Swap,
}
