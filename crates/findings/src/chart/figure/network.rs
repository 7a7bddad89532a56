//! The picture of the network that a profile is of.

use std::sync::Arc;

use super::make::profile;
use super::{Drawing, FigureInputs};
use crate::analysis::category::Rules;
use crate::analysis::limits;
use crate::analysis::network::{NodeTimes, TimedNetwork};
use crate::chart::network::{NetworkColouring, NetworkFigure};

/// The network of a profile as the engine ran it.
pub(super) fn network(material: &FigureInputs<'_>) -> Result<Drawing, String> {
    profile(&material.after, material.profile)?;
    let session = material.after.session;
    let network = material
        .network
        .ok_or("the graph of its network was not read")?;
    let roofs = limits::roofs_for(session, material.roofs);
    let times = NodeTimes::of_profile(session, material.profile, roofs);
    let timed = Arc::new(TimedNetwork::new(network, times)?);
    let standard = Rules::default();
    let rules = material.rules.unwrap_or(&standard);
    let picture = NetworkFigure::that_fits(timed, NetworkColouring::Time, rules, true);
    Ok(Drawing::Network(Box::new(picture)))
}
