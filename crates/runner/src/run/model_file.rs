//! Model files that change, or vanish, while a run goes on. A session names the hash of its model, so nothing else is
//! measured under that name: a worker that would load another file is not started, or is ended again.

use std::path::PathBuf;

use super::ActiveRun;
use powerband_core::base::humanize;
use powerband_core::domain::event::RunEvent;
use powerband_onnx::seen_file::SeenFiles;
use powerband_onnx::source;
use powerband_worker::engines::EngineError;
use powerband_worker::remote::files::ModelFiles;
use powerband_worker::supervisor::WorkerError;

/// So many digits of a hash are enough to tell two files apart.
const DIGITS: usize = 12;

/// Whether the files are those that the run was prepared with; else how they changed.
pub(super) fn check(model: &mut ModelFiles) -> Result<(), String> {
    if model.sha256.is_empty() || model.seen.are_untouched() {
        return Ok(());
    }
    let paths = || std::iter::once(&model.file).chain(&model.data);
    let seen = SeenFiles::now(paths().map(PathBuf::as_path));
    let file = model.file.display();
    match source::hash_of(paths()) {
        Ok(sha256) if sha256 == model.sha256 => {
            model.seen = seen;
            Ok(())
        }
        Ok(sha256) => Err(format!(
            "the model file {file} changed after the run had begun: its SHA-256 was {}… and is {}… now. Measure it in a run of its own",
            digits(&model.sha256),
            digits(&sha256)
        )),
        Err(error) => Err(format!(
            "the model file {file} cannot be read any more ({error})"
        )),
    }
}

fn digits(sha256: &str) -> &str {
    sha256.get(..DIGITS).unwrap_or(sha256)
}

impl ActiveRun<'_, '_> {
    /// Before a model is loaded, and after it: whether it is the one that the session names.
    pub(super) fn check_model(&mut self, setup: usize) -> Result<(), WorkerError> {
        if !self.loads_the_file(setup) {
            return Ok(());
        }
        let Some(model) = self.request.models.get_mut(setup) else {
            return Ok(());
        };
        check(model).map_err(|reason| WorkerError::Refused(EngineError::Failed(reason)))
    }

    /// Before a visit: a program that reads the file each time it is started ends the case, and a worker that has
    /// loaded the file goes on, with a warning.
    pub(super) fn check_loaded_model(&mut self, setup: usize) -> Result<(), WorkerError> {
        if !self.runs_in_worker(setup) {
            return self.check_model(setup);
        }
        let file = self.model(setup);
        // Said once, and not hashed again.
        if self.changed_models.contains(&file) {
            return Ok(());
        }
        if let Err(error) = self.check_model(setup) {
            let text = format!(
                "{}. Workers that had loaded it go on, with the model that this session names.",
                humanize::capitalised(&error.to_string())
            );
            self.tell(RunEvent::Warned { text });
            self.changed_models.insert(file);
        }
        Ok(())
    }

    /// Whether what the setup runs comes from its model's file, and not from a module of Python.
    fn loads_the_file(&self, setup: usize) -> bool {
        let setup = self.request.beginning.plan.setups.get(setup);
        setup.is_some_and(|setup| !setup.options.contains_key("module"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn model_at(path: &Path) -> ModelFiles {
        ModelFiles {
            file: path.to_owned(),
            data: Vec::new(),
            sha256: source::hash_of([path]).unwrap(),
            seen: SeenFiles::now([path]),
        }
    }

    #[test]
    fn only_other_contents_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.onnx");
        fs::write(&path, "first").unwrap();
        let mut model = model_at(&path);
        // The same bytes in another file, as a build writes them.
        fs::remove_file(&path).unwrap();
        fs::write(&path, "first").unwrap();
        assert_eq!(check(&mut model), Ok(()));
        assert!(model.seen.are_untouched());
        fs::write(&path, "second").unwrap();
        let changed = check(&mut model).unwrap_err();
        for word in ["changed after the run had begun", &model.sha256[..12]] {
            assert!(changed.contains(word), "{changed}");
        }
        fs::remove_file(&path).unwrap();
        let gone = check(&mut model).unwrap_err();
        assert!(gone.contains("cannot be read any more"), "{gone}");
        fs::write(&path, "first").unwrap();
        assert_eq!(check(&mut model), Ok(()), "it is back");
    }
}
