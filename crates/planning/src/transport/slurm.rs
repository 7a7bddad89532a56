//! Slurm: one allocation for all workers of a run, each of them a step in it, so that setups take turns on one node.
//!
//! `salloc` holds the allocation for as long as the command that it runs here reads its standard input, which ends with
//! this program: the allocation is given back in every ending.

use super::{SchedulerOptions, Share, Transport, script::last_line};
use powerband_core::base::process_spec::ProcessSpec;

/// Runs a command with this standard input, and ends it soon after that is closed: a request that still waits in the
/// queue reads nothing, and would outlive this program.
const GUARDED: &str = "exec 3<&0; \"$@\" <&3 3<&- & p=$!; \
    { cat; sleep 0.3; kill $p; } <&3 >/dev/null 2>&1 & w=$!; exec 3<&-; wait $p; s=$?; kill $w 2>/dev/null; exit $s";

/// The scheduler.
#[derive(Debug)]
pub struct Slurm;

impl Transport for Slurm {
    fn id(&self) -> &'static str {
        "slurm"
    }

    fn form(&self) -> &'static str {
        "slurm or slurm:PARTITION"
    }

    fn check(&self, target: &str) -> Result<(), String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,".contains(c);
        if target.starts_with('-') || !target.chars().all(is_plain) {
            return Err(format!(
                "where=slurm:{target} is no name of a partition; write where=slurm or where=slurm:PARTITION"
            ));
        }
        Ok(())
    }

    fn shell_command(&self, _target: &str, share: Share<'_>, line: &str) -> ProcessSpec {
        let job = match share {
            Share::Join(job) => job.display().to_string(),
            Share::None | Share::Begin(_) => String::new(),
        };
        ProcessSpec::new("srun").args([
            format!("--jobid={job}").as_str(),
            "--overlap",
            "--nodes=1",
            "--ntasks=1",
            "--unbuffered",
            "--cpu-bind=none",
            "--",
            "/bin/sh",
            "-c",
            line,
        ])
    }

    fn allocation(
        &self,
        target: &str,
        options: &SchedulerOptions,
        name: &str,
        line: &str,
    ) -> Option<ProcessSpec> {
        let mut words = request_words(target, options, name);
        words.extend(["/bin/sh", "-c", line].map(ToOwned::to_owned));
        let guarded = ProcessSpec::new("/bin/sh").args(["-c", GUARDED, "guard", "salloc"]);
        Some(guarded.args(words))
    }

    fn is_scheduled(&self) -> bool {
        true
    }

    fn trouble(&self, _target: &str, stderr: &str) -> String {
        let says = |words: &str| {
            stderr
                .lines()
                .map(str::trim)
                .rfind(|line| line.contains(words))
        };
        let error = says("error:").unwrap_or_else(|| last_line(stderr));
        match error
            .rsplit_once("error:")
            .map_or(error, |(_, said)| said.trim())
        {
            "" => "Slurm ended the job without a word".to_owned(),
            said => format!("Slurm says: {said}"),
        }
    }
}

/// What a node is asked for with: by `salloc` for a run that waits here, by `sbatch` for a detached one.
pub fn request_words(target: &str, options: &SchedulerOptions, name: &str) -> Vec<String> {
    let mut words = vec![format!("--job-name={name}"), "--nodes=1".to_owned()];
    if !target.is_empty() {
        words.push(format!("--partition={target}"));
    }
    for (key, value) in options {
        // A flag such as exclusive has no value.
        words.push(match value.as_str() {
            "" | "on" => format!("--{key}"),
            value => format!("--{key}={value}"),
        });
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn command_line(spec: &ProcessSpec) -> String {
        let words = spec.args.iter().map(|word| word.to_string_lossy());
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn options_of_a_setup_reach_salloc_and_steps_join_its_job() {
        let options = [
            ("gres".to_owned(), "gpu:1".to_owned()),
            ("exclusive".to_owned(), "on".to_owned()),
        ];
        let held = Slurm
            .allocation("gpu", &options.into(), "powerband-1", "hold")
            .unwrap();
        assert_eq!(
            command_line(&held).split_once("guard ").unwrap().1,
            "salloc --job-name=powerband-1 --nodes=1 --partition=gpu --exclusive --gres=gpu:1 /bin/sh -c hold"
        );
        let step = command_line(&Slurm.shell_command("gpu", Share::Join(Path::new("17")), "work"));
        assert!(step.starts_with("--jobid=17 --overlap"), "{step}");
        assert!(Slurm.check("-x").is_err() && Slurm.check("gpu").is_ok());
    }

    #[test]
    fn what_ends_a_job_is_said() {
        let told = |stderr: &str| Slurm.trouble("", stderr);
        let never = "salloc: error: Job submit/allocate failed: Requested node configuration is not available";
        assert!(told(never).ends_with("Requested node configuration is not available"));
    }
}
