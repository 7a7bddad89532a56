//! Commands about this machine and its engines.

use super::PathSetting;
use crate::action::{Action, MachineAction};
use crate::command::entry::{Command, command};

pub(crate) const ALL: &[Command] = &[
    command("rescan", "Look for engines again", "", |_| {
        Ok(Action::Machine(MachineAction::Rescan))
    }),
    command(
        "install-onnxruntime",
        "Install ONNX Runtime",
        "",
        |app| match &app.shared.machine.installing {
            Some(_) => Err("it is being installed"),
            None => Ok(Action::Machine(MachineAction::InstallOnnxRuntime)),
        },
    ),
    command("stop-install", "Stop installing", "", |app| {
        let going_on = app
            .shared
            .machine
            .installing
            .as_ref()
            .ok_or("nothing is being installed");
        going_on.map(|_| Action::Machine(MachineAction::StopInstall))
    }),
    command(
        "choose-onnxruntime",
        "Choose the library of ONNX Runtime…",
        "",
        |_| {
            Ok(Action::Machine(MachineAction::Choose(
                PathSetting::OnnxRuntime,
            )))
        },
    ),
    command(
        "choose-python",
        "Choose a Python interpreter…",
        "",
        |_| Ok(Action::Machine(MachineAction::Choose(PathSetting::Python))),
    ),
];
