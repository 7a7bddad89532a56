//! Actions on figures.

use std::path::PathBuf;
use std::sync::Arc;

use powerband_findings::chart::figure::Drawing;

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

/// A figure as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownFigure {
    /// The figure, with the options that were chosen.
    pub drawing: Drawing,
    /// Whether the window is dark.
    pub is_dark: bool,
    /// Where its numbers come from; the application fills that in.
    pub about: String,
}
