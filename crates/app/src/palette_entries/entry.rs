//! An entry of a menu, or of the command palette beyond its commands.

use crate::action::{Action, Shell};
use crate::screen::Screen;

/// Something that can be done.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// Its title.
    pub title: String,
    /// What it takes, in this order.
    pub actions: Vec<Action>,
    /// Why it cannot be done now; menus show it greyed, the palette leaves it out.
    pub why_not: Option<String>,
}

/// The entries of a menu, with a line between two groups.
pub type Groups = Vec<Vec<Offered>>;

impl Offered {
    /// The same where it can be done, else greyed with the reason.
    #[must_use]
    pub fn only_if(mut self, allowed: Result<(), impl Into<String>>) -> Self {
        self.why_not = allowed.err().map(Into::into);
        self
    }
}

/// An action, and the screen that shows its effect.
pub(crate) fn seen_on(screen: Screen, title: impl Into<String>, action: Action) -> Offered {
    all_of(title, vec![Action::Go(screen), action])
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
pub fn anywhere(title: impl Into<String>, action: Action) -> Offered {
    all_of(title, vec![action])
}

/// Several actions, in this order.
pub(crate) fn all_of(title: impl Into<String>, actions: Vec<Action>) -> Offered {
    Offered {
        title: title.into(),
        actions,
        why_not: None,
    }
}
