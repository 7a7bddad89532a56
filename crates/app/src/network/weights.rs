//! The values of the largest constant of the selected node, read from the file in the background.

use super::{NetworkState, WeightKey};
use crate::doors::ProfileDoor;
use crate::screen::Screen;
use crate::shared::Shared;
use powerband_core::domain::network::NetworkWeight;
use powerband_findings::analysis::network::NodeFate;
use powerband_findings::analysis::network::modules::Item;
use powerband_findings::chart::weight_values::WeightFigure;
use powerband_onnx::network::weight_values;

impl NetworkState {
    /// The largest constant of the selected node, where the file that is measured has it.
    fn selected_weight(&self) -> Option<&NetworkWeight> {
        let Item::Node(node) = self.selected? else {
            return None;
        };
        let node = self.network()?.nodes.get(node)?;
        let weights = node.node.weights.iter().rev();
        let largest = weights.max_by_key(|weight| weight.bytes);
        largest.filter(|_| node.fate != NodeFate::OnlyBefore)
    }
}

impl ProfileDoor {
    /// The constant is read while the network is shown; another one after it.
    pub(super) fn read_weight_if_wanted(&mut self, shared: &Shared) {
        let key = self.wanted_weight(shared);
        let weight = &mut self.network.weight;
        weight.keep_if(|known| Some(known) == key.as_ref());
        let Some(key) = key.filter(|key| weight.needs(key) && weight.busy().is_none()) else {
            return;
        };
        let cache = shared.place.paths.cache.clone();
        let work = move |key: &WeightKey| {
            let read = weight_values::read(&key.model, &key.weight, &cache);
            let name = &key.weight.name;
            Some(read.map(|read| WeightFigure::new(name, read.count, &read.values)))
        };
        shared.derive(
            self,
            "network-weight",
            |door| &mut door.network.weight,
            key,
            work,
            |door, shared| door.read_weight_if_wanted(shared),
        );
    }

    /// The constant to be shown; none of a built-in network, whose weights are random.
    fn wanted_weight(&self, shared: &Shared) -> Option<WeightKey> {
        let weight = self.network.selected_weight()?.clone();
        let subject = self.why.looking?;
        let session = &shared.sessions.get(subject.session)?.session;
        let case = match subject.profile {
            Some(profile) => session.profiles.get(profile)?.case?,
            None => session.cases.first()?.key(),
        };
        let model = session.model_of(case.setup).clone();
        let is_wanted = shared.shows(Screen::Network) && !weight_values::are_random(&model);
        is_wanted.then_some(WeightKey { model, weight })
    }
}
