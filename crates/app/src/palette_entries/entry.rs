//! An entry of the command palette beyond its commands.

use crate::action::{Action, Shell};
use crate::screen::Screen;

/// Something that can be done now.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// Its title.
    pub title: String,
    /// What it takes, in this order.
    pub actions: Vec<Action>,
}

/// An action, and the screen that shows its effect.
pub(crate) fn seen_on(screen: Screen, title: impl Into<String>, action: Action) -> Offered {
    Offered {
        title: title.into(),
        actions: vec![Action::Go(screen), action],
    }
}

/// The cursor in a field of a screen, by the field's name.
pub(crate) fn typed_on(screen: Screen, title: &str, field: &str) -> Offered {
    seen_on(
        screen,
        title,
        Action::Shell(Shell::Cursor(field.to_owned())),
    )
}

/// An action whose effect every screen shows.
pub(crate) fn anywhere(title: impl Into<String>, action: Action) -> Offered {
    Offered {
        title: title.into(),
        actions: vec![action],
    }
}
