//! What can be asked for about figures.

use std::path::PathBuf;
use std::sync::Arc;

use super::Shown;

/// About figures as pictures.
#[derive(Clone, Debug, PartialEq)]
pub enum Figures {
    /// Copies the picture of the figure that was last under the hand, or of the first one.
    CopyNear,
    /// Saves that figure.
    SaveNear,
    /// Copies the picture of this one.
    Copy(Arc<Shown>),
    /// Saves this one; asks where, unless that is said.
    Save(Arc<Shown>, Option<PathBuf>),
}
