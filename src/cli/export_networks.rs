//! What `powerband export --chart network` reads beside the session: the graphs of one profile or two, and the steps of
//! their timelines.

use std::path::Path;

use anyhow::anyhow;

use super::Context;
use super::args::ExportArgs;
use powerband_core::domain::network::Network;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::step_difference::StepTimes;
use powerband_findings::chart::figure::FigureInputs;
use powerband_import as import;
use powerband_import::reading::read_progress::ReadProgress;
use powerband_import::reading::source::Limits;
use powerband_onnx::network;
use powerband_store as store;

/// The graph of a profile, and that of the profile that it is compared with.
pub(super) struct Networks {
    graph: Network,
    before: Option<(Network, [Result<StepTimes, String>; 2])>,
}

impl Networks {
    pub(super) fn read(
        context: &Context,
        args: &ExportArgs,
        material: &FigureInputs<'_>,
    ) -> anyhow::Result<Self> {
        let cache = &context.paths.cache;
        let graph = |session: &Session, profile: usize| {
            network::of_profile(session, profile, cache)
                .map_err(|reason| anyhow!("network cannot be drawn: {reason}"))
        };
        let after = material.after.session;
        let before = material.before.as_ref().map(|part| part.session);
        let is_compared = before.is_some() || args.profile_before.is_some();
        let place = material.profile_before;
        let before_path = args.against.first().unwrap_or(&args.session);
        let before = before.unwrap_or(after);
        Ok(Self {
            graph: graph(after, material.profile)?,
            before: if is_compared {
                let steps = [
                    steps(before_path, before, place),
                    steps(&args.session, after, material.profile),
                ];
                Some((graph(before, place)?, steps))
            } else {
                None
            },
        })
    }

    pub(super) fn fill_in<'a>(&'a self, material: &mut FigureInputs<'a>) {
        material.network = Some(&self.graph);
        let before = self.before.as_ref();
        material.network_before = before.map(|(graph, steps)| (graph, steps.clone()));
    }
}

/// What each name took in each step of a profile's timeline.
fn steps(path: &Path, session: &Session, place: usize) -> Result<StepTimes, String> {
    let profile = session
        .profiles
        .get(place)
        .ok_or("there is no such profile")?;
    let name = profile.trace_file.as_ref();
    let name = name.ok_or_else(|| format!("{} has no timeline", profile.name))?;
    let file = store::trace_file::found(Some(path), name)
        .ok_or_else(|| format!("the timeline of {} is missing: {name}", profile.name))?;
    let read = import::read(&file, Limits::default(), &ReadProgress::default());
    let read = read.map_err(|error| format!("{}: {error}", file.display()))?;
    StepTimes::of_profile(profile, Ok(&read.trace))
}
