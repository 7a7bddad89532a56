//! Commands about this machine and its engines.

use super::Pointed;
use crate::action::{Action, Machine};
use crate::command::entry::{Command, command};

/// These commands.
pub(crate) const ALL: &[Command] = &[
    command("rescan", "Look for engines again", "", |_| {
        Ok(Action::Machine(Machine::Rescan))
    }),
    command(
        "install-onnxruntime",
        "Install ONNX Runtime",
        "",
        |app| match &app.machine.installing {
            Some(_) => Err("it is being installed"),
            None => Ok(Action::Machine(Machine::InstallOnnxRuntime)),
        },
    ),
    command("stop-install", "Stop installing", "", |app| {
        let going_on = app
            .machine
            .installing
            .as_ref()
            .ok_or("nothing is being installed");
        going_on.map(|_| Action::Machine(Machine::StopInstall))
    }),
    command(
        "choose-onnxruntime",
        "Choose the library of ONNX Runtime…",
        "",
        |_| Ok(Action::Machine(Machine::Choose(Pointed::OnnxRuntime))),
    ),
    command(
        "choose-python",
        "Choose a Python interpreter…",
        "",
        |_| Ok(Action::Machine(Machine::Choose(Pointed::Python))),
    ),
];
