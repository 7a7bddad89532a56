//! Actions on this machine: searching engines, installing one, and setting its location; and their results.

use crate::doors::SettingsDoor;
use crate::shared::{FollowUp, Shared};
use std::path::PathBuf;
use std::sync::Arc;

use super::{EngineState, Installing, PathSetting, work};
use crate::action::{Action, MachineAction};
use crate::notices::NoticeLevel;
use crate::{Ask, WindowRequest};
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::environment::Environment;

impl SettingsDoor {
    pub(crate) fn machine(&mut self, machine: MachineAction, shared: &mut Shared) {
        match machine {
            MachineAction::Rescan => self.look_for_engines(shared),
            MachineAction::InstallOnnxRuntime => self.install(shared),
            MachineAction::StopInstall => {
                if let Some(installing) = &self.machine.installing {
                    installing.cancel.cancel();
                }
            }
            MachineAction::Choose(pointed) => {
                shared.outputs.push(WindowRequest::Ask(Ask::Point(pointed)));
            }
            MachineAction::Point(pointed, path) => self.point(pointed, path, shared),
        }
    }

    fn install(&mut self, shared: &Shared) {
        if self.machine.installing.is_some() {
            return;
        }
        let cancel = CancelToken::default();
        self.machine.installing = Some(Installing {
            step: "Looking for pip".to_owned(),
            share: None,
            cancel: cancel.clone(),
        });
        let (place, flavor) = (shared.place.clone(), self.machine.flavor());
        let backend = Arc::clone(&shared.backend);
        let broken = |door: &mut Self, why, shared: &mut Shared| door.installed(Err(why), shared);
        shared.jobs.spawn_or_for("install", broken, move |outlet| {
            work::install(&place, &*backend, flavor, &cancel, outlet);
        });
    }

    /// Searches engines; searches again afterwards where the location has changed.
    pub(crate) fn look_for_engines(&mut self, shared: &Shared) {
        if self.machine.is_looking {
            self.machine.looks_again = true;
            return;
        }
        self.machine.is_looking = true;
        let (place, backend) = (shared.place.clone(), Arc::clone(&shared.backend));
        let broken = |door: &mut Self, why, shared: &mut Shared| {
            door.survey_is_over(shared);
            shared.notify(NoticeLevel::Trouble, why);
        };
        shared.jobs.spawn_or_for("survey", broken, move |outlet| {
            work::survey(&place, &*backend, outlet);
        });
    }

    /// Sets a location from now on; `None` for the first one found.
    fn point(&mut self, pointed: PathSetting, path: Option<PathBuf>, shared: &mut Shared) {
        if let Some(missing) = path.as_ref().filter(|path| !path.exists()) {
            let words = format!(
                "{} does not exist; the setting is unchanged",
                missing.display()
            );
            shared.notify(NoticeLevel::Trouble, words);
            return;
        }
        pointed.of_place(&mut shared.place).clone_from(&path);
        let file = shared.place.paths.settings.clone();
        shared.jobs.spawn("settings", move |outlet| {
            work::keep_pointed(&file, pointed, path, outlet);
        });
        self.look_for_engines(shared);
    }

    pub(super) fn environment_known(&mut self, environment: Environment, shared: &mut Shared) {
        self.machine.environment = Some(environment);
        shared.follow_ups.push_back(FollowUp::PastDurationsWanted);
    }

    pub(super) fn engines_found(&mut self, engines: Vec<EngineState>, shared: &Shared) {
        self.machine.engines = Some(engines);
        self.survey_is_over(shared);
    }

    fn survey_is_over(&mut self, shared: &Shared) {
        self.machine.is_looking = false;
        if std::mem::take(&mut self.machine.looks_again) {
            self.look_for_engines(shared);
        }
    }

    pub(super) fn installed(&mut self, result: Result<String, String>, shared: &mut Shared) {
        self.machine.installing = None;
        match result {
            Ok(version) => {
                shared.notify(
                    NoticeLevel::Done,
                    format!("{version} is installed and loads"),
                );
                self.look_for_engines(shared);
            }
            Err(reason) => shared.notify_with_button(
                NoticeLevel::Trouble,
                format!("ONNX Runtime was not installed: {reason}"),
                "Try again",
                Action::Machine(MachineAction::InstallOnnxRuntime),
            ),
        }
    }
}
