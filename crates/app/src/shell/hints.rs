//! Five hints for who opens the window for the first time. They stand on *Home*, one after the other, and
//! once closed they stay away.

use crate::action::{Action, Sessions, Shell};
use crate::shared::Shared;

/// What can be tried, by the label of its button.
pub type Trial = (&'static str, fn() -> Action);

/// One hint.
#[derive(Clone, Copy)]
pub struct Hint {
    /// What it says.
    pub text: &'static str,
    /// What can be tried.
    pub trial: Option<Trial>,
}

/// Every hint, in order.
pub const ALL: [Hint; 5] = [
    Hint {
        text: "The button below measures ResNet-50 with the engines that are here; the first curve is there within a minute. Bench measures your own model.",
        trial: None,
    },
    Hint {
        text: "Drop files anywhere on the window: ONNX models, sessions, traces and statistics of other profilers.",
        trial: Some(("Open files…", || Action::Sessions(Sessions::Choose))),
    },
    Hint {
        text: "The right button or the menu key has what can be done with a point, a row, a series or a session: pin, compare, hide, open in Kernels.",
        trial: Some(("Open an example", || {
            Action::Sessions(Sessions::OpenExample(0))
        })),
    },
    Hint {
        text: "Ctrl+K finds every action by a few letters, with its keys beside it.",
        trial: Some(("Find a command", || Action::Shell(Shell::Palette(true)))),
    },
    Hint {
        text: "Alt+← goes back to where you were. The right button on the rail shows a second screen at the right.",
        trial: None,
    },
];

impl Shared {
    /// The hint that is shown, and its place; nothing once they are closed.
    pub fn hint(&self) -> Option<(usize, Hint)> {
        let place = self.remembered.hint;
        ALL.get(place).map(|hint| (place, *hint))
    }
}
