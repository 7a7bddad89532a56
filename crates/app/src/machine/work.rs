//! Background work for this machine: searching devices and engines, and installing ONNX Runtime.

use std::path::{Path, PathBuf};

use super::{EVERYWHERE, PathSetting, describe};
use crate::backend::{Backend, InstallProgress};
use crate::jobs::Outlet;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::humanize;
use powerband_store::installation::Installation;
use powerband_store::settings;

/// Searches devices and engines of this machine.
pub(crate) fn survey(place: &Installation, backend: &dyn Backend, outlet: &Outlet) {
    let environment = backend.environment();
    outlet.send(|app| app.shared.environment_known(environment));
    if let Some(watch) = &place.watch {
        let found = backend.devices(&watch.places);
        outlet.send(|app| app.shared.machine.devices = Some(found));
    }
    let found = backend.engines(place);
    let missing = backend.missing_profilers();
    outlet.send(|app| app.shared.machine.missing_profilers = missing);
    let engines = describe(&found);
    outlet.send(|app| app.shared.engines_found(engines));
}

/// Fetches the ONNX Runtime that suits this machine's card, or else the one that runs everywhere.
pub(crate) fn install(
    place: &Installation,
    backend: &dyn Backend,
    flavor: &str,
    cancel: &CancelToken,
    outlet: &Outlet,
) {
    let fetch = |flavor: &str| {
        let mut tell = |step: InstallProgress| {
            let (words, share) = step_words(step);
            outlet.send(move |app| {
                if let Some(installing) = &mut app.shared.machine.installing {
                    installing.step = words;
                    installing.share = share;
                }
            });
        };
        backend.install_onnxruntime(place, flavor, cancel, &mut tell)
    };
    let mut installed = fetch(flavor);
    if let (Err(reason), true) = (&installed, flavor != EVERYWHERE && !cancel.is_cancelled()) {
        outlet.failed(format!(
            "ONNX Runtime for this GPU was not installed: {reason}. Installing the CPU build instead."
        ));
        installed = fetch(EVERYWHERE);
    }
    outlet.send(|app| app.shared.onnxruntime_installed(installed));
}

fn step_words(step: InstallProgress) -> (String, Option<f32>) {
    match step {
        InstallProgress::Begins => ("Installing with pip…".to_owned(), None),
        InstallProgress::Downloaded { bytes, total } => {
            let of = total
                .map(|total| format!(" of {}", humanize::bytes(total)))
                .unwrap_or_default();
            let share = total.map(|total| bytes as f32 / total.max(1) as f32);
            (
                format!("Downloading, {}{of}", humanize::bytes(bytes)),
                share,
            )
        }
        InstallProgress::Unpacking => ("Unpacking…".to_owned(), Some(1.0)),
        InstallProgress::Checking => ("Checking…".to_owned(), Some(1.0)),
    }
}

/// Saves the location of a library or interpreter in the settings.
pub(crate) fn keep_pointed(
    file: &Path,
    pointed: PathSetting,
    path: Option<PathBuf>,
    outlet: &Outlet,
) {
    let kept = settings::read(file).and_then(|mut settings| {
        *pointed.of_settings(&mut settings) = path;
        settings::write(file, &settings)
    });
    if let Err(reason) = kept {
        outlet.failed(format!(
            "{} is used until Powerband closes, because the setting was not saved: {reason}",
            pointed.title()
        ));
    }
}
