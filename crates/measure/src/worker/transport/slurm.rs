//! Slurm: one allocation for all workers of a run, each of them a step in it, so that setups take turns on one node.
//!
//! `salloc` holds the allocation for as long as the command that it runs here reads its standard input, which ends with
//! this program: the allocation is given back in every ending.

use super::{Options, Share, Transport, script::last_line};
use powerband_core::base::process_spec::ProcessSpec;

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

    fn around(&self, _target: &str, share: Share<'_>, line: &str) -> ProcessSpec {
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
        options: &Options,
        name: &str,
        line: &str,
    ) -> Option<ProcessSpec> {
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
        words.extend(["/bin/sh", "-c", line].map(ToOwned::to_owned));
        Some(ProcessSpec::new("salloc").args(words))
    }

    fn queue_query(&self, name: &str) -> Option<ProcessSpec> {
        let name = format!("--name={name}");
        Some(ProcessSpec::new("squeue").args([
            "--me",
            "--noheader",
            &name,
            "--states=PENDING",
            "--format=%r|%S|%Q",
        ]))
    }

    fn queue_words(&self, answer: &str) -> Option<String> {
        let line = answer.lines().find(|line| line.contains('|'))?;
        let mut parts = line.split('|').map(str::trim);
        let reason = parts.next()?;
        let start = parts
            .next()
            .filter(|start| *start != "N/A" && !start.is_empty());
        let start = start.map_or_else(
            || "start unknown".to_owned(),
            |start| format!("expected start {start}"),
        );
        Some(format!("waiting in the queue of Slurm: {reason}, {start}"))
    }

    fn trouble(&self, _target: &str, stderr: &str) -> String {
        let says = |words: &str| {
            stderr
                .lines()
                .map(str::trim)
                .rfind(|line| line.contains(words))
        };
        if let Some(line) = says("DUE TO TIME LIMIT") {
            return format!(
                "the time of the allocation is over ({line}); slurm.time= asks for more, and --more goes on in a new allocation"
            );
        }
        if let Some(line) = says("DUE TO PREEMPTION") {
            return format!(
                "another job took the node ({line}); --more goes on in a new allocation"
            );
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn words(spec: &ProcessSpec) -> String {
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
            words(&held),
            "--job-name=powerband-1 --nodes=1 --partition=gpu --exclusive --gres=gpu:1 /bin/sh -c hold"
        );
        let step = words(&Slurm.around("gpu", Share::Join(Path::new("17")), "work"));
        assert!(step.starts_with("--jobid=17 --overlap"), "{step}");
        assert!(Slurm.check("-x").is_err() && Slurm.check("gpu").is_ok());
    }

    #[test]
    fn the_queue_is_told_in_words() {
        let told = Slurm
            .queue_words("Resources|2026-11-26T08:00:00|4294\n")
            .unwrap();
        assert!(
            told.contains("Resources") && told.contains("08:00"),
            "{told}"
        );
        assert!(
            Slurm
                .queue_words("Priority|N/A|1\n")
                .unwrap()
                .contains("unknown")
        );
        assert_eq!(Slurm.queue_words("\n"), None);
    }

    #[test]
    fn what_ends_a_job_is_said() {
        let told = |stderr: &str| Slurm.trouble("", stderr);
        let time = "slurmstepd: error: *** STEP 5.0 ON n1 CANCELLED AT 2026 DUE TO TIME LIMIT ***";
        assert!(told(time).contains("slurm.time="));
        let never = "salloc: error: Job submit/allocate failed: Requested node configuration is not available";
        assert!(told(never).ends_with("Requested node configuration is not available"));
    }
}
