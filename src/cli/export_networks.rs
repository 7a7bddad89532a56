//! What `powerband export --chart network` reads beside the session: the graphs of one profile or two.

use anyhow::anyhow;

use super::Context;
use super::args::ExportArgs;
use powerband_core::domain::network::Network;
use powerband_core::domain::session::Session;
use powerband_findings::chart::figure::FigureInputs;
use powerband_onnx::network;

/// The graph of a profile, and that of the profile that it is compared with.
pub(super) struct Networks {
    graph: Network,
    before: Option<Network>,
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
        let is_compared = before.is_some() || args.against_profile.is_some();
        let place = material.profile_before;
        let before = before.unwrap_or(after);
        let before = is_compared.then(|| graph(before, place));
        Ok(Self {
            graph: graph(after, material.profile)?,
            before: before.transpose()?,
        })
    }

    pub(super) fn fill_in<'a>(&'a self, material: &mut FigureInputs<'a>) {
        material.network = Some(&self.graph);
        material.network_before = self.before.as_ref();
    }
}
