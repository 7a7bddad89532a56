//! Reads the graph of a network and joins it with times, on a background thread.

use std::sync::Arc;

use super::{NetworkResult, NetworkSubject, PictureKey};
use powerband_core::base::paths::Paths;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::network::compared::NetworkSide;
use powerband_findings::analysis::network::{NodeTimes, TimedNetwork};
use powerband_findings::analysis::sampled_difference::SampleOrder;
use powerband_findings::analysis::start_times::StartTimes;
use powerband_findings::chart::layout::network::NetworkLayout;
use powerband_findings::chart::network::{NetworkFigure, coloured};
use powerband_onnx::network;
use powerband_store::{roofs_file, settings};

/// The network of a profile with its times, against another one where one is chosen; of a session without a profile,
/// that of its first case.
pub(super) fn find(key: &NetworkSubject, paths: &Paths) -> NetworkResult {
    let session = &key.session.0;
    let Some(profile) = key.subject.profile else {
        let case = session.cases.first().ok_or("the session has no case")?;
        let graph = network::of_case(session, case.key(), &paths.cache)?;
        let times = NodeTimes::of_examination(session, case.setup);
        return Ok(Arc::new(TimedNetwork::new(&graph, times)?));
    };
    let graph = network::of_profile(session, profile, &paths.cache)?;
    let roofs = roofs_file::for_session(session, paths);
    let times = NodeTimes::of_profile(session, profile, &roofs);
    let Some((pick, before)) = &key.before else {
        return Ok(Arc::new(TimedNetwork::new(&graph, times)?));
    };
    let before = &before.0;
    let of_before = |reason: String| format!("The profile before cannot be drawn: {reason}");
    let graph_before =
        network::of_profile(before, pick.profile, &paths.cache).map_err(of_before)?;
    let roofs = roofs_file::for_session(before, paths);
    let starts = |session: &Session, profile: usize| {
        let profile = session.profiles.get(profile);
        StartTimes::of_profile(profile.ok_or("there is no such profile")?)
    };
    let before = NetworkSide {
        network: &graph_before,
        times: NodeTimes::of_profile(before, pick.profile, &roofs),
        starts: starts(before, pick.profile),
    };
    let after = NetworkSide {
        network: &graph,
        times,
        starts: starts(session, profile),
    };
    let order = if pick.session == key.subject.session {
        SampleOrder::InTurns
    } else {
        SampleOrder::Apart
    };
    Ok(Arc::new(TimedNetwork::compared(before, after, order)?))
}

/// Lays the picture out, and colours it.
pub(super) fn draw(key: &PictureKey, paths: &Paths) -> NetworkFigure {
    let network = Arc::clone(&key.network);
    let own = settings::read(&paths.settings);
    let own = own.map(|settings| settings.categories).unwrap_or_default();
    let rules = Rules::with_user_rules(&own);
    NetworkFigure {
        title: network.title.clone(),
        layout: Arc::new(NetworkLayout::new(&network, &key.view)),
        colours: Arc::new(coloured(&network, key.colouring, &rules)),
        network,
        selected: None,
    }
}
