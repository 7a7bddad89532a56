//! Actions on this machine: searching engines, installing one, and setting its location; and their results.

use crate::shared::{FollowUp, Shared};
use std::path::PathBuf;
use std::sync::Arc;

use super::{EngineState, Installing, PathSetting, work};
use crate::action::{Action, MachineAction};
use crate::notices::NoticeLevel;
use crate::{App, Ask, WindowRequest};
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::environment::Environment;

impl Shared {
    pub(crate) fn machine(&mut self, machine: MachineAction) {
        match machine {
            MachineAction::Rescan => self.look_for_engines(),
            MachineAction::InstallOnnxRuntime => self.install_onnxruntime(),
            MachineAction::StopInstall => {
                if let Some(installing) = &self.machine.installing {
                    installing.cancel.cancel();
                }
            }
            MachineAction::Choose(pointed) => {
                self.outputs.push(WindowRequest::Ask(Ask::Point(pointed)));
            }
            MachineAction::Point(pointed, path) => self.use_path(pointed, path),
        }
    }

    fn install_onnxruntime(&mut self) {
        if self.machine.installing.is_some() {
            return;
        }
        let cancel = CancelToken::default();
        self.machine.installing = Some(Installing {
            step: "Looking for pip".to_owned(),
            share: None,
            cancel: cancel.clone(),
        });
        let (place, flavor) = (self.place.clone(), self.machine.flavor());
        let backend = Arc::clone(&self.backend);
        let broken = |app: &mut App, why| app.shared.onnxruntime_installed(Err(why));
        self.jobs.spawn_or("install", broken, move |outlet| {
            work::install(&place, &*backend, flavor, &cancel, outlet);
        });
    }

    /// Searches engines; searches again afterwards where the location has changed.
    pub(crate) fn look_for_engines(&mut self) {
        if self.machine.is_looking {
            self.machine.looks_again = true;
            return;
        }
        self.machine.is_looking = true;
        let (place, backend) = (self.place.clone(), Arc::clone(&self.backend));
        let broken = |app: &mut App, why| {
            app.shared.survey_is_over();
            app.shared.notify(NoticeLevel::Trouble, why);
        };
        self.jobs.spawn_or("survey", broken, move |outlet| {
            work::survey(&place, &*backend, outlet);
        });
    }

    /// Sets a location from now on; `None` for the first one found.
    fn use_path(&mut self, pointed: PathSetting, path: Option<PathBuf>) {
        if let Some(missing) = path.as_ref().filter(|path| !path.exists()) {
            let words = format!(
                "{} does not exist; the setting is unchanged",
                missing.display()
            );
            self.notify(NoticeLevel::Trouble, words);
            return;
        }
        pointed.of_place(&mut self.place).clone_from(&path);
        let file = self.place.paths.settings.clone();
        self.jobs.spawn("settings", move |outlet| {
            work::keep_pointed(&file, pointed, path, outlet);
        });
        self.look_for_engines();
    }

    pub(super) fn environment_known(&mut self, environment: Environment) {
        self.machine.environment = Some(environment);
        self.follow_ups.push_back(FollowUp::PastDurationsWanted);
    }

    pub(super) fn engines_found(&mut self, engines: Vec<EngineState>) {
        self.machine.engines = Some(engines);
        self.survey_is_over();
    }

    fn survey_is_over(&mut self) {
        self.machine.is_looking = false;
        if std::mem::take(&mut self.machine.looks_again) {
            self.look_for_engines();
        }
    }

    pub(super) fn onnxruntime_installed(&mut self, result: Result<String, String>) {
        self.machine.installing = None;
        match result {
            Ok(version) => {
                self.notify(
                    NoticeLevel::Done,
                    format!("{version} is installed and loads"),
                );
                self.look_for_engines();
            }
            Err(reason) => self.notify_with_button(
                NoticeLevel::Trouble,
                format!("ONNX Runtime was not installed: {reason}"),
                "Try again",
                Action::Machine(MachineAction::InstallOnnxRuntime),
            ),
        }
    }
}
