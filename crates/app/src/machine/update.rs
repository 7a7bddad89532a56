//! Actions on this machine: searching engines, installing one, and setting its location; and their results.

use std::path::PathBuf;

use super::{EngineState, Installing, PathSetting, work};
use crate::action::{Action, MachineAction};
use crate::notices::NoticeLevel;
use crate::{App, Ask, WindowRequest};
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::environment::Environment;

impl App {
    pub(crate) fn machine(&mut self, machine: MachineAction) {
        match machine {
            MachineAction::Rescan => self.look_for_engines(),
            MachineAction::InstallOnnxRuntime => self.install(),
            MachineAction::StopInstall => {
                if let Some(installing) = &self.settings.machine.installing {
                    installing.cancel.cancel();
                }
            }
            MachineAction::Choose(pointed) => {
                self.shared
                    .outputs
                    .push(WindowRequest::Ask(Ask::Point(pointed)));
            }
            MachineAction::Point(pointed, path) => self.point(pointed, path),
        }
    }

    fn install(&mut self) {
        if self.settings.machine.installing.is_some() {
            return;
        }
        let cancel = CancelToken::default();
        self.settings.machine.installing = Some(Installing {
            step: "Looking for pip".to_owned(),
            share: None,
            cancel: cancel.clone(),
        });
        let (place, flavor) = (self.shared.place.clone(), self.settings.machine.flavor());
        let broken = |app: &mut Self, why| app.installed(Err(why));
        self.shared.jobs.spawn_or("install", broken, move |outlet| {
            work::install(&place, flavor, &cancel, outlet);
        });
    }

    /// Searches engines; searches again afterwards where the location has changed.
    pub(crate) fn look_for_engines(&mut self) {
        if self.settings.machine.is_looking {
            self.settings.machine.looks_again = true;
            return;
        }
        self.settings.machine.is_looking = true;
        let place = self.shared.place.clone();
        let broken = |app: &mut Self, why| {
            app.survey_is_over();
            app.shared.notify(NoticeLevel::Trouble, why);
        };
        self.shared.jobs.spawn_or("survey", broken, move |outlet| {
            work::survey(&place, outlet);
        });
    }

    /// Sets a location from now on; `None` for the first one found.
    fn point(&mut self, pointed: PathSetting, path: Option<PathBuf>) {
        if let Some(missing) = path.as_ref().filter(|path| !path.exists()) {
            let words = format!(
                "{} does not exist; the setting is unchanged",
                missing.display()
            );
            self.shared.notify(NoticeLevel::Trouble, words);
            return;
        }
        pointed.of_place(&mut self.shared.place).clone_from(&path);
        let file = self.shared.place.paths.settings.clone();
        self.shared.jobs.spawn("settings", move |outlet| {
            work::keep_pointed(&file, pointed, path, outlet);
        });
        self.look_for_engines();
    }

    pub(super) fn environment_known(&mut self, environment: Environment) {
        self.settings.machine.environment = Some(environment);
        self.learn_if_wanted();
    }

    pub(super) fn engines_found(&mut self, engines: Vec<EngineState>) {
        self.settings.machine.engines = Some(engines);
        self.survey_is_over();
    }

    fn survey_is_over(&mut self) {
        self.settings.machine.is_looking = false;
        if std::mem::take(&mut self.settings.machine.looks_again) {
            self.look_for_engines();
        }
    }

    pub(super) fn installed(&mut self, result: Result<String, String>) {
        self.settings.machine.installing = None;
        match result {
            Ok(version) => {
                self.shared.notify(
                    NoticeLevel::Done,
                    format!("{version} is installed and loads"),
                );
                self.look_for_engines();
            }
            Err(reason) => self.shared.notify_with_button(
                NoticeLevel::Trouble,
                format!("ONNX Runtime was not installed: {reason}"),
                "Try again",
                Action::Machine(MachineAction::InstallOnnxRuntime),
            ),
        }
    }
}
