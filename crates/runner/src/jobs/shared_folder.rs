//! The folder that nodes share: the program and all files of a plan lie there by their hashes, each once.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::record;
use powerband_core::base::clock;
use powerband_core::base::paths::Paths;
use powerband_core::domain::fill::Fill;
use powerband_core::domain::plan::Plan;
use powerband_core::domain::setup::{CALIBRATION_KEY, MODEL_KEY};
use powerband_onnx::source;
use powerband_worker::remote::sending::sha256;

/// The folder beside those of the jobs in which files lie.
const SENT: &str = "sent";

/// The folder, and where built-in networks are kept here.
pub(super) struct SharedFolder<'a> {
    folder: PathBuf,
    networks: &'a Path,
}

impl<'a> SharedFolder<'a> {
    /// The one in the folder of jobs.
    pub(super) fn in_folder(jobs: &Path, paths: &'a Paths) -> Self {
        Self {
            folder: jobs.join(SENT),
            networks: &paths.cache,
        }
    }

    /// The program as the nodes see it.
    pub(super) fn program(&self, file: &Path) -> Result<PathBuf, String> {
        let hash = sha256(file).map_err(|error| unreadable(file, &error))?;
        let to = self
            .folder
            .join(format!("powerband-{}", hash.get(..16).unwrap_or(&hash)));
        self.copy(file, &to)?;
        Ok(to)
    }

    /// The same plan with the files that lie there.
    pub(super) fn plan(&self, plan: &Plan) -> Result<Plan, String> {
        let mut plan = Plan {
            model: self.model(&plan.model)?,
            ..plan.clone()
        };
        for fill in plan.inputs.values_mut() {
            if let Fill::File(file) = fill {
                *file = self.file(file)?;
            }
        }
        if let Some(samples) = plan
            .judging
            .as_mut()
            .and_then(|judging| judging.samples.as_mut())
        {
            *samples = self.samples(samples)?;
        }
        for setup in &mut plan.setups {
            if let Some(model) = setup.options.get_mut(MODEL_KEY) {
                *model = self.model(model)?;
            }
            if let Some(samples) = setup.options.get_mut(CALIBRATION_KEY) {
                *samples = self.samples(samples)?;
            }
        }
        Ok(plan)
    }

    /// A network, with the weights beside it.
    fn model(&self, name: &str) -> Result<String, String> {
        let model = source::open(name, self.networks).map_err(|error| error.to_string())?;
        let own = self.folder.join("models").join(&model.sha256);
        let beside = model.path.parent().unwrap_or_else(|| Path::new(""));
        for data in &model.data {
            self.copy(data, &own.join(data.strip_prefix(beside).unwrap_or(data)))?;
        }
        let to = own.join(model.path.file_name().unwrap_or_default());
        self.copy(&model.path, &to)?;
        Ok(to.display().to_string())
    }

    /// Samples: a file of numbers, or what refers to files beside it and stays where it is (a folder, a list).
    fn samples(&self, name: &str) -> Result<String, String> {
        let path = Path::new(name);
        let is_list = path.extension().is_some_and(|end| end == "csv");
        if !(is_list || path.is_dir()) {
            return self.file(name);
        }
        let absolute = std::path::absolute(path).map_err(|error| unreadable(path, &error))?;
        Ok(absolute.display().to_string())
    }

    /// A file of numbers, which keeps its ending.
    fn file(&self, name: &str) -> Result<String, String> {
        let file = Path::new(name);
        let hash = sha256(file).map_err(|error| unreadable(file, &error))?;
        let to = self.folder.join("inputs").join(hash);
        let to = to.with_extension(file.extension().unwrap_or_default());
        self.copy(file, &to)?;
        Ok(to.display().to_string())
    }

    /// Copies a file, under another name until all of it is there; nothing where it is there.
    fn copy(&self, from: &Path, to: &Path) -> Result<(), String> {
        if to.exists() {
            return Ok(());
        }
        let copied = || {
            fs::create_dir_all(to.parent().unwrap_or(&self.folder))?;
            let part = to.with_extension(format!("{:x}.part", clock::entropy()));
            fs::copy(from, &part)?;
            fs::rename(&part, to)
        };
        copied().map_err(|error: io::Error| format!("{} cannot be written: {error}", to.display()))
    }
}

fn unreadable(file: &Path, error: &io::Error) -> String {
    format!("{} cannot be read: {error}", file.display())
}

/// What lies in the shared folder of the data folder with its bytes, and removes it, where no detached run needs it any
/// more.
///
/// Nothing else is in the folder of jobs then: no record, and no run that is being submitted.
pub fn remove_sent(paths: &Paths) -> io::Result<Vec<(PathBuf, u64)>> {
    let jobs = record::folder(paths);
    let folder = jobs.join(SENT);
    if !folder.exists() || fs::read_dir(jobs)?.count() > 1 {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut open = vec![folder.clone()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let facts = entry.metadata()?;
            if facts.is_dir() {
                open.push(entry.path());
            } else {
                found.push((entry.path(), facts.len()));
            }
        }
    }
    fs::remove_dir_all(folder)?;
    found.sort();
    Ok(found)
}
