//! What the command palette offers beyond its commands: whatever depends on what is open, planned or kept.
//!
//! To add something: a line in the file of what it is about.

mod compare;
mod curves;
mod history;
mod journey;
mod kernels;
mod library;
mod machine;
mod plan;
mod run;
mod sessions;
mod timeline;
mod window;

use super::App;
use super::action::{Action, Shell};
use super::screen::Screen;

/// Something that can be done now.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// What people read.
    pub title: String,
    /// What it takes, in this order.
    pub actions: Vec<Action>,
}

/// Everything that can be done now.
pub fn all_entries(app: &App) -> Vec<Offered> {
    [
        window::entries,
        machine::entries,
        plan::entries,
        run::entries,
        sessions::entries,
        curves::entries,
        compare::entries,
        history::entries,
        journey::entries,
        kernels::entries,
        timeline::entries,
        library::entries,
    ]
    .into_iter()
    .flat_map(|entries| entries(app))
    .collect()
}

/// A request, and the screen on which it is seen what becomes of it.
fn seen_on(screen: Screen, title: impl Into<String>, action: Action) -> Offered {
    Offered {
        title: title.into(),
        actions: vec![Action::Go(screen), action],
    }
}

/// The cursor in a field of a screen, by the field's name.
fn typed_on(screen: Screen, title: &str, field: &str) -> Offered {
    seen_on(
        screen,
        title,
        Action::Shell(Shell::Cursor(field.to_owned())),
    )
}

/// A request that is seen wherever the user is.
fn anywhere(title: impl Into<String>, action: Action) -> Offered {
    Offered {
        title: title.into(),
        actions: vec![action],
    }
}
