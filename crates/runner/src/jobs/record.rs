//! What is remembered of a detached run: a small file in the data folder, and a copy in the folder that its jobs work
//! in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use powerband_core::base::paths::Paths;
use powerband_core::base::{atomic_file, regular_file};
use powerband_core::domain::event::RunStart;
use powerband_core::domain::plan::Plan;

/// The record's name in the folder of its jobs.
pub(super) const IN_FOLDER: &str = "job.json";

/// A detached run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
    /// The folder that its jobs work in.
    pub folder: PathBuf,
    /// The plan as the user made it, and what was known when it was submitted.
    pub beginning: RunStart,
    /// Its jobs, or tasks of arrays, each with its share of the plan.
    pub parts: Vec<JobPart>,
    /// The session that its rounds are added to; nothing for a session of its own.
    #[serde(default)]
    pub more: Option<PathBuf>,
    /// Whether cases of that session that ended badly are tried again.
    #[serde(default)]
    pub retries: bool,
}

/// A job, or a task of an array, with its share of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobPart {
    /// Slurm's number of the job or the array.
    pub job: String,
    /// The task of an array.
    pub task: Option<u32>,
    /// What the setups call the machine.
    pub machine: String,
    /// The places of its setups in the whole plan.
    pub setups: Vec<usize>,
    /// Its share, as it is measured there.
    pub plan: Plan,
    /// Whether each case is measured long enough for its energy.
    pub energy: bool,
    /// What Slurm and the program write into.
    pub log: PathBuf,
}

impl JobPart {
    /// What Slurm calls it: `17`, or `17_3` for a task of an array.
    pub fn label(&self) -> String {
        match self.task {
            Some(task) => format!("{}_{task}", self.job),
            None => self.job.clone(),
        }
    }
}

impl JobRecord {
    /// What it is called: by the number of its first job.
    pub fn id(&self) -> &str {
        self.parts.first().map_or("", |part| &part.job)
    }

    /// Every number of Slurm that belongs to it, once.
    pub fn jobs(&self) -> Vec<&str> {
        let mut jobs: Vec<&str> = Vec::new();
        for part in &self.parts {
            if !jobs.contains(&part.job.as_str()) {
                jobs.push(&part.job);
            }
        }
        jobs
    }

    /// A file of one part in the folder of the jobs.
    pub fn file_of(&self, part: usize, end: &str) -> PathBuf {
        self.folder.join(format!("part-{part}{end}"))
    }

    /// Writes it into the data folder and into the folder of its jobs.
    pub(super) fn write(&self, paths: &Paths) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self)?;
        atomic_file::write_bytes(&self.folder.join(IN_FOLDER), &text)?;
        atomic_file::write_bytes(&self.path(paths)?, &text)
    }

    /// Forgets it, with the folder of its jobs.
    pub(super) fn remove(&self, paths: &Paths) -> io::Result<()> {
        fs::remove_dir_all(&self.folder)?;
        fs::remove_file(self.path(paths)?)
    }

    fn path(&self, paths: &Paths) -> io::Result<PathBuf> {
        let name = self.folder.file_name();
        let name = name.ok_or_else(|| io::Error::other("the folder of the jobs has no name"))?;
        let mut name = name.to_os_string();
        name.push(".json");
        Ok(folder(paths).join(name))
    }

    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let file = regular_file::open(path)?;
        Ok(serde_json::from_reader(io::BufReader::new(file))?)
    }
}

/// Where records are, and the folders of jobs where no other one is asked for.
pub fn folder(paths: &Paths) -> PathBuf {
    paths.library.with_file_name("jobs")
}

/// Every record, the oldest first. Files that are no record are passed over.
pub fn all(paths: &Paths) -> Vec<JobRecord> {
    let entries = fs::read_dir(folder(paths)).into_iter().flatten();
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let records = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let mut records: Vec<JobRecord> = records
        .filter_map(|path| JobRecord::read(&path).ok())
        .collect();
    records.sort_by(|a, b| a.beginning.created.cmp(&b.beginning.created));
    records
}

/// The record that a number of Slurm, or the name of a folder, means.
pub fn find(paths: &Paths, id: &str) -> Result<JobRecord, String> {
    let is_meant = |record: &JobRecord| {
        record.jobs().contains(&id) || record.folder.file_name().is_some_and(|name| name == id)
    };
    let mut meant: Vec<JobRecord> = all(paths).into_iter().filter(is_meant).collect();
    match (meant.pop(), meant.is_empty()) {
        (Some(record), true) => Ok(record),
        (None, _) => Err(format!(
            "there is no detached run {id}; powerband jobs lists them"
        )),
        (Some(_), false) => Err(format!(
            "several detached runs have the number {id}; give the name of its folder"
        )),
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::testing::session;

    /// A job that measures these setups.
    pub(in crate::jobs) fn part(setups: &[usize]) -> JobPart {
        JobPart {
            job: "17".to_owned(),
            task: None,
            machine: "slurm".to_owned(),
            setups: setups.to_vec(),
            plan: session("part", "net.onnx", &["fake"], &[1]).plan,
            energy: false,
            log: PathBuf::new(),
        }
    }
}
