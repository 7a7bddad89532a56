//! Arguments of `gate`.

use std::path::PathBuf;
use std::time::Duration;

use super::idle::{IdleArgs, time};
use super::plan::{FieldOptions, TurnFields};
use powerband_findings::analysis::gate::GateLimit;

/// Arguments of `gate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Both sides are measured in one run, in turns. After five rounds, and then after each further
one, the interval of each point's latency is held against the limit: all of it beyond is a
failure, none of it beyond passes, and else another round is measured, until the budget is
used up. The interval may be looked at so often: it is wrong at 5 % of points at most.

  powerband gate resnet50 --base ort --new ort,threads=4
  powerband gate resnet50 --base \"python old.py {model}\" --new \"python new.py {model}\"
  powerband gate resnet50 --base-ref origin/main --build \"cargo build --release\" \\
      --setup \"{dir}/target/release/run {model}\" --limit latency=3 --limit throughput=5
  powerband gate resnet50 --base ort --new ort,opt=basic --limit \"peak memory=5\" \\
      --limit \"set-up time=20\" --limit \"same choice=1\" --limit \"kernel conv=10\"
  powerband gate --plan powerband.ron --markdown \"$GITHUB_STEP_SUMMARY\"
  powerband gate resnet50 --bisect v1.2..main --build \"make\" --setup \"{dir}/run {model}\"

Exit status: 0 passed, or not settled within the budget; 1 something got worse by more than its
limit; 2 nothing to compare, or a side could not be built or measured.")]
pub(crate) struct GateArgs {
    /// A built-in network or an ONNX file, as bench has it.
    pub model: Option<String>,
    /// The side before: a setup, or a command, in which {model} is the file and {batch} the batch size.
    #[arg(long, value_name = "SETUP|COMMAND", requires = "new", conflicts_with_all = ["base_ref", "setup"])]
    pub base: Option<String>,
    /// The side after.
    #[arg(long, value_name = "SETUP|COMMAND", requires = "base")]
    pub new: Option<String>,
    /// The commit before, measured in a folder of its own; the work tree is not touched.
    #[arg(long, value_name = "REF")]
    pub base_ref: Option<String>,
    /// The commit after [default: HEAD].
    #[arg(long, value_name = "REF", requires = "base_ref")]
    pub new_ref: Option<String>,
    /// Of commits: builds one, in its folder.
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,
    /// Of commits: what is measured of each, a setup or a command in which {dir} is its folder.
    #[arg(long, value_name = "SETUP|COMMAND")]
    pub setup: Option<String>,
    /// Find the commit that made something slower than its limit, between one that is fast and one that is slow.
    #[arg(long, value_name = "GOOD..BAD", conflicts_with_all = ["base", "new", "base_ref", "new_ref", "junit", "markdown"])]
    pub bisect: Option<String>,
    /// Exit with 125 where this commit cannot be judged: it does not build, cannot be measured or stays open. For git bisect run.
    #[arg(long, requires = "base_ref", conflicts_with = "bisect")]
    pub git_bisect: bool,
    /// Batch sizes: 1,8, or 1..64 for the powers of two between [default: 1,2,4,8,16].
    #[arg(long, value_name = "LIST")]
    pub batch: Option<String>,
    /// By how many per cent a metric of compare may get worse [default: latency=1]: throughput, peak memory, energy per item,
    /// set-up time, same choice, or a kernel, as in "kernel conv=5".
    #[arg(long = "limit", value_name = "METRIC=PERCENT", value_parser = limit)]
    pub limits: Vec<GateLimit>,
    /// Rounds before it is looked at for the first time [default: 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub rounds: Option<u32>,
    #[command(flatten)]
    pub turns: FieldOptions<TurnFields>,
    #[command(flatten)]
    pub idle: IdleArgs,
    /// Of limits of same choice, worst cosine and top-1: inputs of your own, as bench has them [default: made-up ones].
    #[arg(long, value_name = "PATH")]
    pub samples: Option<PathBuf>,
    /// How long measuring may take, as in 90s; builds, a profile and comparing outputs come besides [default: 5min].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub budget: Option<Duration>,
    /// What is not said here is read from this file [default: powerband.ron, where it is there].
    #[arg(long, value_name = "FILE.ron")]
    pub plan: Option<PathBuf>,
    /// Run the commands that the plan names.
    #[arg(long)]
    pub allow_commands: bool,
    /// Write the result as JUnit XML.
    #[arg(long, value_name = "FILE.xml")]
    pub junit: Option<PathBuf>,
    /// Append the result to this file as Markdown, for the summary of a job or a comment.
    #[arg(long, value_name = "FILE.md")]
    pub markdown: Option<PathBuf>,
    /// Where to write the session [default: the library].
    #[arg(long, value_name = "FILE.ron", conflicts_with = "bisect")]
    pub out: Option<PathBuf>,
    /// Print one JSON document on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,
}

/// A metric with its limit, as in `latency=3`.
fn limit(text: &str) -> Result<GateLimit, String> {
    let (metric, percent) = text.split_once('=').unwrap_or((text, ""));
    let number = percent.trim().trim_end_matches('%').trim().parse::<f64>();
    match number {
        Ok(percent) if (0.0..=1_000.0).contains(&percent) => Ok(GateLimit {
            metric: metric.trim().to_lowercase(),
            percent,
        }),
        _ => Err(
            "write a metric and by how many per cent it may get worse, as in latency=3".to_owned(),
        ),
    }
}
