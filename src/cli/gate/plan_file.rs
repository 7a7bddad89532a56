//! What a gate is to measure, from the command line and from a file that is checked in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;

use super::limits;
use crate::cli::args::{GateArgs, time};
use crate::cli::output;
use powerband_core::domain::plan::PresetName;
use powerband_core::domain::request::{ProgramTrust, RunRequest};
use powerband_findings::analysis::gate::GateLimit;
use powerband_planning::form::Draft;
use powerband_store::gate_plan;

/// The file that is read where it is there and no other one is named.
const USUAL: &str = "powerband.ron";
/// Rounds before the first look.
const PLANNED_ROUNDS: u32 = 5;
/// How long measuring may take where nothing is said.
const USUAL_BUDGET: Duration = Duration::from_mins(5);

/// What a gate measures.
#[derive(Debug)]
pub(super) struct GatePlan {
    /// The model, rounds and trust, without sides and points.
    pub(super) request: RunRequest,
    pub(super) base: Option<String>,
    pub(super) new: Option<String>,
    pub(super) setup: Option<String>,
    pub(super) build: Option<String>,
    pub(super) batch: Option<String>,
    /// Inputs on which outputs are compared.
    pub(super) samples: Option<PathBuf>,
    pub(super) budget: Duration,
    pub(super) limits: Vec<GateLimit>,
}

impl GatePlan {
    /// What the arguments say, and the file where they do not.
    pub(super) fn from_args(args: &GateArgs) -> anyhow::Result<Self> {
        let usual = Path::new(USUAL);
        let path = args.plan.as_deref();
        let path = path.or_else(|| usual.exists().then_some(usual));
        if let Some(path) = path {
            output::note(&format!("The plan is {}", path.display()));
        }
        let file = path.map(gate_plan::read).transpose()?.unwrap_or_default();
        // What a plan names lies beside it.
        let folder = path.and_then(Path::parent);
        let samples = file.samples.as_ref();
        let samples = samples
            .map(|samples| folder.map_or_else(|| samples.clone(), |folder| folder.join(samples)));
        let commits = args.base_ref.is_some() || args.bisect.is_some();
        let budget = file.budget.as_deref().map(time).transpose();
        let budget = budget.map_err(|reason| anyhow::anyhow!("budget: {reason}"))?;
        if file
            .rounds
            .is_some_and(|rounds| !(2..=1_000).contains(&rounds))
        {
            bail!("rounds in the plan have to be from 2 to 1000");
        }
        let of_file =
            |typed: &Option<String>, file: &Option<String>| typed.is_none() && file.is_some();
        let is_of_file = if commits {
            of_file(&args.setup, &file.setup) || of_file(&args.build, &file.build)
        } else {
            of_file(&args.base, &file.base) || of_file(&args.new, &file.new)
        };
        let Some(model) = args.model.clone().or(file.model) else {
            bail!(
                "MODEL is missing: powerband gate resnet50 --base SETUP --new SETUP, or a plan; there is no {USUAL} here; see powerband gate --help"
            );
        };
        let plan = Self {
            request: RunRequest {
                preset: PresetName::Quick,
                rounds: Some(args.rounds.or(file.rounds).unwrap_or(PLANNED_ROUNDS)),
                programs: match (is_of_file, args.allow_commands) {
                    (true, false) => ProgramTrust::File,
                    (true, true) => ProgramTrust::Allowed,
                    // Its folder is another one each time, so that it is not remembered.
                    (false, _) if commits => ProgramTrust::Allowed,
                    (false, _) => ProgramTrust::Typed,
                },
                ..args
                    .turns
                    .request(Draft::of_request(&RunRequest::new(&model)))?
            },
            base: args.base.clone().or(file.base).filter(|_| !commits),
            new: args.new.clone().or(file.new).filter(|_| !commits),
            setup: args.setup.clone().or(file.setup),
            build: args.build.clone().or(file.build),
            batch: args.batch.clone().or(file.batch),
            samples: args.samples.clone().or(samples),
            budget: args.budget.or(budget).unwrap_or(USUAL_BUDGET),
            limits: limits::limits(file.limits, &args.limits)?,
        };
        if commits && plan.setup.is_none() {
            bail!(
                "--setup is missing: say what is measured of each commit, for example --setup \"{{dir}}/target/release/run {{model}}\""
            );
        }
        let names_folder = |text: &String| text.contains("{dir}");
        if commits && !plan.setup.as_ref().is_some_and(names_folder) {
            bail!(
                "--setup has no {{dir}}: both commits would be measured in the same files; {{dir}} is the folder of each"
            );
        }
        if !commits && (plan.base.is_none() || plan.new.is_none()) {
            bail!("say what is compared: --base and --new, or --base-ref for a commit");
        }
        Ok(plan)
    }
}
