//! About where the time of a profile went.

use super::{Command, command};
use crate::action::{Action, Kernels};
use crate::command_guards::timeline_of_profile;
use crate::kernels::Shape;
use powerband_findings::analysis::breakdown::Level;

/// These commands.
pub(super) const ALL: &[Command] = &[
    command("kernels-category", "Kernels: by category", "", |_| {
        Ok(Action::Kernels(Kernels::Level(Level::Category)))
    }),
    command("kernels-operator", "Kernels: by operator", "", |_| {
        Ok(Action::Kernels(Kernels::Level(Level::Operator)))
    }),
    command("kernels-kernel", "Kernels: by kernel", "", |_| {
        Ok(Action::Kernels(Kernels::Level(Level::Kernel)))
    }),
    command("kernels-shape", "Kernels: bars or treemap", "", |app| {
        let next = match app.kernels.shape {
            Shape::Bars => Shape::Treemap,
            Shape::Treemap => Shape::Bars,
        };
        Ok(Action::Kernels(Kernels::Shape(next)))
    }),
    command("kernels-alone", "Kernels: compare with nothing", "", |_| {
        Ok(Action::Kernels(Kernels::Before(None)))
    }),
    command(
        "kernels-timeline",
        "Kernels: the timeline of this profile",
        "",
        timeline_of_profile,
    ),
];
