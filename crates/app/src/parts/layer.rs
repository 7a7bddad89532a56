//! What lies over what: the order in which *back* closes.

/// What *back* closes, the innermost first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    /// What lies over the window.
    Overlay,
    /// A question before a run.
    Question,
    /// The log and the notices.
    Messages,
    /// A zoomed chart.
    Zoom,
    /// What is selected.
    Selection,
    /// What rows are filtered by.
    Filter,
    /// The search in the library.
    Library,
}

impl Layer {
    pub(crate) const ALL: [Self; 7] = [
        Self::Overlay,
        Self::Question,
        Self::Messages,
        Self::Zoom,
        Self::Selection,
        Self::Filter,
        Self::Library,
    ];
}
