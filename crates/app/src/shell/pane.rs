//! The places for screens in the window.

/// A place for a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pane {
    /// The pane that is always there.
    Main,
    /// The pane at the right of the main one.
    Right,
    /// The pane below the others.
    Below,
}

impl Pane {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Main, Self::Right, Self::Below];

    /// Where it is, as in *Show Why below*.
    pub fn place(self) -> &'static str {
        match self {
            Self::Main => "in the main pane",
            Self::Right => "at the right",
            Self::Below => "below",
        }
    }
}
