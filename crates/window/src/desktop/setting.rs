//! The desktop's settings that the window follows.

/// The desktop's colour scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// Either is fine.
    Any,
    /// Light on dark.
    Dark,
    /// Dark on light.
    Light,
}

/// A setting of the desktop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DesktopSetting {
    /// The colour scheme.
    Scheme(Scheme),
    /// Whether motion is reduced.
    ReducedMotion(bool),
}
