//! What the command palette offers beyond its commands, and how the subjects spell it.

use crate::action::{Action, Shell};
use crate::screen::Screen;

/// Something that can be done now.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// What people read.
    pub title: String,
    /// What it takes, in this order.
    pub actions: Vec<Action>,
}

/// A request, and the screen on which it is seen what becomes of it.
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

/// A request that is seen wherever the user is.
pub(crate) fn anywhere(title: impl Into<String>, action: Action) -> Offered {
    Offered {
        title: title.into(),
        actions: vec![action],
    }
}
