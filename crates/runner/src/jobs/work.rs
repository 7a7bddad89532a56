//! What happens in a job: its share of the plan is measured there as any run is, with its journal in the folder of the
//! jobs.

use std::path::Path;

use super::record::{IN_FOLDER, JobRecord};
use crate::prepare;
use crate::record::{SessionTarget, record};
use powerband_core::base::atomic_file;
use powerband_core::base::ending::Ending;
use powerband_core::base::paths::Paths;
use powerband_core::control::Control;
use powerband_core::domain::request::ProgramTrust;
use powerband_core::domain::request::RunRequest;
use powerband_store::installation::Installation;
use powerband_worker::remote::serve;

/// Measures one part of a detached run, and saves it in the folder.
pub fn work(
    place: &Installation,
    folder: &Path,
    number: usize,
    ending: &Ending,
) -> Result<(), String> {
    let unreadable = |error| format!("{} cannot be read: {error}", folder.display());
    let job = JobRecord::read(&folder.join(IN_FOLDER)).map_err(unreadable)?;
    let part = job.parts.get(number).ok_or("the run has no such part")?;
    let node = format!("{}\n{}\n", serve::host(), serve::user());
    let node_file = job.file_of(number, ".node");
    atomic_file::write_bytes(&node_file, node.as_bytes())
        .map_err(|error| format!("{} cannot be written: {error}", node_file.display()))?;
    let request = RunRequest {
        // The user typed them, or allowed them, when the run was submitted.
        programs: ProgramTrust::Typed,
        energy: part.energy,
        name: Some(job.beginning.name.clone()),
        ..RunRequest::from_plan(&part.plan)
    };
    let mut prepared = prepare::prepare(place, &request).map_err(|error| error.to_string())?;
    prepared.job = std::env::var("SLURM_JOB_ID").ok();
    let paths = Paths {
        library: job.file_of(number, ""),
        ..place.paths.clone()
    };
    let target = SessionTarget::File {
        path: job.file_of(number, ".ron"),
        may_replace: false,
    };
    ending.set_saving(true);
    let control = Control::new(ending.token());
    let recorded = record(prepared, &paths, &target, &control, &mut |_, _| ());
    ending.set_saving(false);
    recorded.saved.map(drop)
}
