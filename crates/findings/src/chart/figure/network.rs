//! The picture of the network that a profile is of.

use std::sync::Arc;

use super::make::profile;
use super::{Drawing, FigureInputs};
use crate::analysis::category::Rules;
use crate::analysis::limits;
use crate::analysis::network::compared::NetworkSide;
use crate::analysis::network::{NodeTimes, TimedNetwork};
use crate::analysis::sampled_difference::SampleOrder;
use crate::analysis::start_times::StartTimes;
use crate::chart::network::NetworkFigure;
use crate::chart::network_colours::NetworkColouring;

/// The network of a profile as the engine ran it; with another profile, what is different.
pub(super) fn network(material: &FigureInputs<'_>) -> Result<Drawing, String> {
    profile(&material.after, material.profile)?;
    let session = material.after.session;
    let network = material
        .network
        .ok_or("the graph of its network was not read")?;
    let roofs = limits::roofs_for(session, material.roofs);
    let times = NodeTimes::of_profile(session, material.profile, roofs);
    let (timed, colouring) = if let Some(graph) = material.network_before {
        let part = material.before.as_ref().unwrap_or(&material.after);
        let profiles = [
            profile(part, material.profile_before)?,
            profile(&material.after, material.profile)?,
        ];
        let order = match &material.before {
            None => SampleOrder::InTurns,
            Some(_) => SampleOrder::Apart,
        };
        let [before, after] = profiles.map(StartTimes::of_profile);
        let before = NetworkSide {
            network: graph,
            times: NodeTimes::of_profile(
                part.session,
                material.profile_before,
                limits::roofs_for(part.session, material.roofs),
            ),
            starts: before,
        };
        let after = NetworkSide {
            network,
            times,
            starts: after,
        };
        let timed = TimedNetwork::compared(before, after, order)?;
        (timed, NetworkColouring::Difference)
    } else {
        (TimedNetwork::new(network, times)?, NetworkColouring::Time)
    };
    let standard = Rules::default();
    let rules = material.rules.unwrap_or(&standard);
    let picture = NetworkFigure::that_fits(Arc::new(timed), colouring, rules, true);
    Ok(Drawing::Network(Box::new(picture)))
}
