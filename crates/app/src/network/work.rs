//! Reads the graph of a network and joins it with times, on a background thread.

use std::sync::Arc;

use super::{NetworkResult, PictureKey};
use crate::why::WhySubject;
use powerband_core::base::paths::Paths;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::network::{NodeTimes, TimedNetwork};
use powerband_findings::chart::layout::network::NetworkLayout;
use powerband_findings::chart::network::{NetworkColours, NetworkFigure};
use powerband_onnx::network;
use powerband_store::{roofs_file, settings};

/// The network of a profile with its times; of a session without one, that of its first case.
pub(super) fn find(subject: WhySubject, session: &Session, paths: &Paths) -> NetworkResult {
    let (graph, times) = if let Some(profile) = subject.profile {
        let graph = network::of_profile(session, profile, &paths.cache)?;
        let roofs = roofs_file::for_session(session, paths);
        (graph, NodeTimes::of_profile(session, profile, &roofs))
    } else {
        let case = session.cases.first().ok_or("the session has no case")?;
        let graph = network::of_case(session, case.key(), &paths.cache)?;
        (graph, NodeTimes::of_examination(session, case.setup))
    };
    Ok(Arc::new(TimedNetwork::new(&graph, times)?))
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
        colours: Arc::new(NetworkColours::new(&network, key.colouring, &rules)),
        network,
        selected: None,
    }
}
