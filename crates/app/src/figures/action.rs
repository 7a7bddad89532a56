//! Actions on figures.

use std::path::PathBuf;
use std::sync::Arc;

use super::ShownFigure;

/// Actions on figures as pictures.
#[derive(Clone, Debug, PartialEq)]
pub enum FigureAction {
    /// Copies the picture of the figure last under the pointer, or of the first one.
    CopyNear,
    /// Saves that figure.
    SaveNear,
    /// Copies the picture of this one.
    Copy(Arc<ShownFigure>),
    /// Saves this one; without a path it asks for one.
    Save(Arc<ShownFigure>, Option<PathBuf>),
}
