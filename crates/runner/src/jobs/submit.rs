//! Submitting a run: the program and the files of the plan are laid down by their hashes, the plan is divided by kinds of node, and
//! Slurm is asked for the jobs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::record::{self, JobPart, JobRecord};
use super::shared_folder::SharedFolder;
use crate::run::PreparedRun;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::clock;
use powerband_core::base::paths::Paths;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::plan::Plan;
use powerband_core::domain::point::Point;
use powerband_planning::transport::script::{last_line, quoted};
use powerband_planning::transport::{self, SetupMachine, slurm};
use powerband_store::library;
use powerband_worker::process;
use powerband_worker::slurm as queue;

/// How long Slurm may take to accept a job.
const LIMIT: Duration = Duration::from_mins(1);

/// How a run is to be detached.
#[derive(Clone, Debug, Default)]
pub struct DetachOptions {
    /// The folder in which the jobs get one of their own; in the data folder where none is given.
    pub folder: Option<PathBuf>,
    /// The number of tasks of an array over which the points of the sweep are spread.
    pub tasks: usize,
    /// Whether each case is measured long enough for its energy.
    pub energy: bool,
    /// The session that the rounds are added to.
    pub more: Option<PathBuf>,
    /// Whether its cases that ended badly are tried again.
    pub retries: bool,
}

/// Setups that ask for the same kind of node.
struct NodeGroup {
    machine: SetupMachine,
    setups: Vec<usize>,
}

/// Submits a run. What was laid down and submitted before a failure is taken back.
pub fn submit(
    paths: &Paths,
    run: &PreparedRun,
    detaching: &DetachOptions,
) -> Result<JobRecord, String> {
    let plan = &run.beginning.plan;
    let kinds = kinds(run)?;
    for kind in &kinds {
        let SetupMachine {
            target, options, ..
        } = &kind.machine;
        if let Some(reason) = queue::time_refusal(target, options, &CancelToken::default()) {
            return Err(reason);
        }
    }
    let tasks = detaching.tasks.clamp(1, plan.points.len().max(1));
    if kinds.len() * tasks > 1 && !(plan.ladder.is_empty() && plan.experiments.is_none()) {
        return Err(
            "steps and experiments are measured in turns on one node: give all setups the same slurm options, and leave --array out"
                .to_owned(),
        );
    }
    let parent = detaching
        .folder
        .clone()
        .unwrap_or_else(|| record::folder(paths));
    let unwritable = |error: io::Error| format!("{} cannot be written: {error}", parent.display());
    let parent = std::path::absolute(&parent).map_err(unwritable)?;
    let created = &run.beginning.created;
    let name = format!(
        "{}-{}-{:04x}",
        library::safe(&run.beginning.name),
        clock::file_stamp(created),
        clock::entropy() & 0xffff
    );
    let folder = parent.join(&name);
    fs::create_dir_all(&folder).map_err(unwritable)?;
    let shared = SharedFolder::in_folder(&parent, paths);
    let mut record = JobRecord {
        folder: folder.clone(),
        beginning: run.beginning.clone(),
        parts: Vec::new(),
        more: detaching.more.clone(),
        retries: detaching.retries,
    };
    let submit = |record: &mut JobRecord| {
        let program = shared.program(&run.program)?;
        let mut plan = shared.plan(&record.beginning.plan)?;
        if let Some(earlier) = &run.earlier {
            plan.measure = plan.measure.for_rounds(earlier.rounds);
        }
        divide(record, &plan, &kinds, tasks, detaching.energy);
        // Jobs may begin before their numbers are known.
        record.write(paths).map_err(unwritable)?;
        submit_jobs(record, &kinds, &program)?;
        record.write(paths).map_err(unwritable)
    };
    if let Err(reason) = submit(&mut record) {
        cancel(&record);
        record.remove(paths).unwrap_or_default();
        return Err(reason);
    }
    Ok(record)
}

/// Setups by what they ask Slurm for.
fn kinds(run: &PreparedRun) -> Result<Vec<NodeGroup>, String> {
    let mut kinds: Vec<NodeGroup> = Vec::new();
    for setup in 0..run.beginning.plan.setups.len() {
        let machine = run.machines.get(&setup);
        let Some(machine) = machine.filter(|machine| machine.transport.is_scheduled()) else {
            let label = run.beginning.plan.label(setup).unwrap_or_default();
            return Err(format!(
                "{label} does not run in a job of Slurm: add where=slurm to it, or leave --detach out"
            ));
        };
        let is_same = |kind: &&mut NodeGroup| {
            let other = &kind.machine;
            (&other.name, &other.options, &other.remote_program)
                == (&machine.name, &machine.options, &machine.remote_program)
        };
        match kinds.iter_mut().find(is_same) {
            Some(kind) => kind.setups.push(setup),
            None => kinds.push(NodeGroup {
                machine: machine.clone(),
                setups: vec![setup],
            }),
        }
    }
    Ok(kinds)
}

/// Divides the plan: a part for each kind of node and task.
fn divide(record: &mut JobRecord, plan: &Plan, kinds: &[NodeGroup], tasks: usize, energy: bool) {
    let length = plan.points.len().div_ceil(tasks).max(1);
    let chunks: Vec<&[Point]> = plan.points.chunks(length).collect();
    for (number, kind) in kinds.iter().enumerate() {
        for (task, points) in (0..).zip(&chunks) {
            let setups = kind.setups.iter().filter_map(|&at| plan.setups.get(at));
            let looks = kind.setups.iter().map(|&at| plan.looks.get(at).cloned());
            let share = Plan {
                setups: setups.map(transport::over_there).collect(),
                looks: looks.map(Option::unwrap_or_default).collect(),
                points: points.to_vec(),
                ..plan.clone()
            };
            record.parts.push(JobPart {
                job: String::new(),
                task: (chunks.len() > 1).then_some(task),
                machine: kind.machine.name.clone(),
                setups: kind.setups.clone(),
                plan: share,
                energy,
                log: record.folder.join(format!("log-{number}-{task}.txt")),
            });
        }
    }
}

/// Asks for a job for each kind of node, and notes the numbers.
fn submit_jobs(
    record: &mut JobRecord,
    kinds: &[NodeGroup],
    sent_program: &Path,
) -> Result<(), String> {
    let per_kind = record.parts.len() / kinds.len().max(1);
    for (number, kind) in kinds.iter().enumerate() {
        let first = number * per_kind;
        let program = kind.machine.remote_program.clone();
        let program = program.unwrap_or_else(|| sent_program.display().to_string());
        let script = record.folder.join(format!("job-{number}.sh"));
        let text = script_text(&kind.machine.before, &program, &record.folder, first);
        fs::write(&script, text)
            .map_err(|error| format!("{} cannot be written: {error}", script.display()))?;
        let name = format!("powerband-{}", library::safe(&record.beginning.name));
        let target = &kind.machine.target;
        let mut words = slurm::request_words(target, &kind.machine.options, &name);
        let task = if per_kind > 1 { "%a" } else { "0" };
        let log = record.folder.join(format!("log-{number}-{task}.txt"));
        words.extend(["--parsable".to_owned(), "--no-requeue".to_owned()]);
        words.push(format!("--output={}", log.display()));
        words.push(format!("--chdir={}", record.folder.display()));
        if per_kind > 1 {
            words.push(format!("--array=0-{}", per_kind - 1));
        }
        words.push(script.display().to_string());
        let spec = ProcessSpec::new("sbatch").args(words);
        let finished = process::run_to_end(&spec, LIMIT, &CancelToken::default())
            .map_err(|error| format!("sbatch cannot be started: {error}"))?;
        let job = finished.stdout.trim().split(';').next().unwrap_or_default();
        if !finished.success || job.is_empty() {
            let said = last_line(&finished.stderr);
            let said = said.rsplit_once("error: ").map_or(said, |(_, said)| said);
            return Err(format!("Slurm says: {said}"));
        }
        for part in record.parts.iter_mut().skip(first).take(per_kind) {
            job.clone_into(&mut part.job);
        }
    }
    Ok(())
}

/// What a node runs.
fn script_text(before: &str, program: &str, folder: &Path, first: usize) -> String {
    let shell = if before.trim().is_empty() {
        "#!/bin/sh".to_owned()
    } else {
        format!("#!/bin/bash -l\n{{\n{before}\n}} || exit")
    };
    let program = quoted(program);
    let folder = quoted(&folder.display().to_string());
    format!(
        "{shell}\nexec {program} remote job {folder} \"$(({first} + ${{SLURM_ARRAY_TASK_ID:-0}}))\"\n"
    )
}

/// Cancels what Slurm still has of a run.
pub fn cancel(record: &JobRecord) -> Option<String> {
    let jobs: Vec<&str> = record
        .jobs()
        .into_iter()
        .filter(|job| !job.is_empty())
        .collect();
    if jobs.is_empty() {
        return None;
    }
    let spec = ProcessSpec::new("scancel").args(jobs);
    match process::run_to_end(&spec, LIMIT, &CancelToken::default()) {
        Ok(finished) if finished.success => None,
        Ok(finished) => Some(format!("Slurm says: {}", last_line(&finished.stderr))),
        Err(error) => Some(format!("scancel cannot be started: {error}")),
    }
}
