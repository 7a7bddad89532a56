//! Commands about the roofs of this machine.

use crate::action::{Action, Roofs};
use crate::command::entry::{Command, command};
use crate::doors::SettingsDoor;
use crate::shared::Shared;

pub(crate) const ALL: &[Command] = &[
    command("measure-roofs", "Measure roofs", "", |app| {
        can_measure(&app.settings, &app.shared).map(|()| Action::Roofs(Roofs::Measure))
    }),
    command("measure-roofs-again", "Measure roofs again", "", |app| {
        can_measure(&app.settings, &app.shared).map(|()| Action::Roofs(Roofs::Again))
    }),
    command("stop-roofs", "Stop measuring roofs", "", |app| {
        let going_on = app
            .settings
            .roofs
            .measuring
            .as_ref()
            .ok_or("no roofs are being measured");
        going_on.map(|_| Action::Roofs(Roofs::Stop))
    }),
];

/// Why roofs cannot be measured now: two that measure at once disturb each other.
pub fn can_measure(settings: &SettingsDoor, shared: &Shared) -> Result<(), &'static str> {
    if shared.is_running {
        return Err("a run is in progress");
    }
    match &settings.roofs.measuring {
        Some(_) => Err("they are being measured"),
        None => Ok(()),
    }
}
