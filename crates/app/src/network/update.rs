//! Actions on the picture of a network, and what was read of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Direction, NetworkSubject, PictureKey, work};
use crate::action::{Action, Curves, Kernels, Network};
use crate::doors::ProfileDoor;
use crate::kernels::SelectedRow;
use crate::parts::layer::Layer;
use crate::screen::Screen;
use crate::sessions::series;
use crate::shared::Shared;
use crate::why::WhySubject;
use powerband_findings::analysis::breakdown::BreakdownLevel;
use powerband_findings::analysis::network::modules::Item;

impl ProfileDoor {
    pub(crate) fn network(&mut self, change: Network, shared: &mut Shared) {
        let state = &mut self.network;
        match change {
            Network::Engine(is_engine) => {
                state.view.is_engine = is_engine;
                state.shows_tables = false;
            }
            Network::Tables(is_shown) => state.shows_tables = is_shown,
            Network::Colouring(colouring) => state.colouring = colouring,
            Network::Toggle(module) => {
                if !state.view.open.remove(&module) {
                    state.view.open.insert(module);
                }
                state.selected = Some(Item::Module(module));
            }
            Network::OpenAll => {
                let modules = state.network().map_or(0, |found| found.tree.modules.len());
                state.view.open = (1..modules).collect();
            }
            Network::Fold => state.fold(),
            Network::Select(item) => self.select_item(item, shared),
            Network::Slowest(direction) => {
                let items = state.slowest();
                self.step_through(&items, direction, shared);
            }
            Network::Zoom => {
                state.shows_tables = false;
                state.n_zoomed += 1;
                if let Some(item) = state.selected {
                    state.uncover(item);
                }
            }
            Network::Search(text) => {
                state.search = text;
                state.search_nodes();
            }
            Network::Found(direction) => {
                let items: Vec<Item> = state.matches.iter().copied().map(Item::Node).collect();
                self.step_through(&items, direction, shared);
            }
            Network::Free(item) => {
                if !state.free.remove(&item) {
                    state.free.insert(item);
                }
            }
            Network::FreeNothing => state.free.clear(),
        }
        self.draw_network_if_wanted(shared);
        self.read_weight_if_wanted(shared);
    }

    /// Selects the item of a list that comes next to the selected one, and brings it into view.
    fn step_through(&mut self, items: &[Item], direction: Direction, shared: &mut Shared) {
        let selected = self.network.selected;
        let now = items.iter().position(|item| Some(*item) == selected);
        let next = match (now, direction) {
            (None, Direction::Next) => items.first(),
            (None, Direction::Previous) => items.last(),
            (Some(now), Direction::Next) => items.get(now + 1).or_else(|| items.first()),
            (Some(now), Direction::Previous) => match now {
                0 => items.last(),
                _ => items.get(now - 1),
            },
        };
        if let Some(next) = next {
            self.select_item(Some(*next), shared);
            self.network.n_shown += 1;
        }
    }

    pub(crate) fn clear_item(&mut self, layer: Layer, shared: &mut Shared) -> bool {
        let is_shown = shared.screen == Screen::Network;
        if layer == Layer::Filter && is_shown && !self.network.search.is_empty() {
            self.network.search.clear();
            self.network.search_nodes();
            return true;
        }
        let is_selected = layer == Layer::Selection && is_shown && self.network.selected.is_some();
        if is_selected {
            self.network(Network::Select(None), shared);
        }
        is_selected
    }

    /// Selects an item; where it ran as one node, that of the kernels screen, which lights it everywhere.
    fn select_item(&mut self, item: Option<Item>, shared: &mut Shared) {
        let state = &mut self.network;
        state.selected = item;
        if let Some(item) = item {
            state.uncover(item);
        }
        let network = state.network().cloned();
        let time = item.and_then(|item| {
            let network = network.as_ref()?;
            Some(network.own_time(item)?.name.clone())
        });
        if let (Some(pick), Some(_)) = (
            self.network_subject().and_then(|one| one.profile_ref()),
            &time,
        ) {
            if self.kernels.looking != Some(pick) {
                self.kernels(Kernels::Look(pick), shared);
            }
            self.kernels(Kernels::Level(BreakdownLevel::Kernel), shared);
            self.kernels(Kernels::Select(time.map(SelectedRow::Kernel)), shared);
        } else if self.kernels.selected_kernel().is_some() {
            self.kernels(Kernels::Select(None), shared);
        }
        self.network.selected = item;
        self.mark_item();
    }

    fn network_subject(&self) -> Option<WhySubject> {
        self.why.looking
    }

    /// The item of the kernel that is selected elsewhere, where the same profile is shown.
    pub(crate) fn mark_item(&mut self) {
        let kernel = self.kernels.selected_kernel().map(str::to_owned);
        let shown = self
            .network_subject()
            .and_then(|subject| subject.profile_ref());
        let state = &mut self.network;
        if let Some(name) = kernel.filter(|_| shown.is_some() && shown == self.kernels.looking) {
            let network = state.network().cloned();
            let is_it = |item: Item| {
                let time = network.as_ref().and_then(|network| network.own_time(item));
                time.is_some_and(|time| time.name == name)
            };
            if !state.selected.is_some_and(is_it)
                && let Some(item) = state.item_of_time(&name)
            {
                state.selected = Some(item);
                state.uncover(item);
                state.n_shown += 1;
            }
        }
        state.find_neighbours();
        let network = state.network().cloned();
        if let Some(picture) = &mut state.picture.result {
            // A picture of the network before has other items.
            let is_its = network.is_some_and(|network| Arc::ptr_eq(&network, &picture.network));
            picture.selected = state.selected.filter(|_| is_its);
        }
    }

    /// The network is read while it is shown.
    pub(crate) fn read_network_if_wanted(&mut self, shared: &Shared) {
        let subject = self.network_subject();
        self.network
            .found
            .keep_if(|shown| Some(shown.subject) == subject);
        if self.network.found.result.is_none() {
            self.network.picture.drop_result();
        }
        let open = subject.and_then(|subject| shared.sessions.get(subject.session));
        let (Some(subject), Some(open)) = (subject, open) else {
            return;
        };
        let own = subject.profile_ref();
        let before = self
            .kernels
            .before
            .filter(|before| own.is_some_and(|own| own != *before));
        let before = before.and_then(|before| {
            let open = shared.sessions.get(before.session)?;
            Some((before, open.snapshot()))
        });
        let key = NetworkSubject {
            subject,
            session: open.snapshot(),
            before,
        };
        if shared.shows(Screen::Network) && self.network.found.needs(&key) {
            let paths = shared.place.paths.clone();
            let work = move |key: &NetworkSubject| Some(work::find(key, &paths));
            shared.derive(
                self,
                "network",
                |door| &mut door.network.found,
                key,
                work,
                Self::network_read,
            );
        }
        self.read_weight_if_wanted(shared);
    }

    /// A network that was read again and is the same keeps its view.
    fn network_read(&mut self, shared: &mut Shared) {
        let Some(subject) = self.network_subject() else {
            return;
        };
        let state = &mut self.network;
        let read = state.network().cloned();
        let known = state.shown.take().filter(|(shown, _)| *shown == subject);
        let known = known.map(|(_, network)| network);
        let same = known.filter(|known| read.as_ref() == Some(known));
        if let Some(same) = same {
            state.found.result = Some(Ok(Arc::clone(&same)));
            state.shown = Some((subject, same));
        } else {
            state.picture.drop_result();
            (state.selected, state.free) = (None, BTreeSet::new());
            state.view.is_engine = read.as_ref().is_some_and(|read| !read.times.is_empty());
            state.colour_changes(read.as_deref());
            state.shown = read.map(|read| (subject, read));
            state.fold();
            state.search_nodes();
            self.show_graph_of_subject(shared);
        }
        self.mark_item();
        self.draw_network_if_wanted(shared);
        self.read_weight_if_wanted(shared);
    }

    /// The tables below the picture are of the same setup.
    fn show_graph_of_subject(&self, shared: &mut Shared) {
        let Some(subject) = self.network_subject() else {
            return;
        };
        let Some(open) = shared.sessions.get(subject.session) else {
            return;
        };
        let profile = subject
            .profile
            .and_then(|place| open.session.profiles.get(place));
        let setup = profile
            .and_then(|profile| profile.case)
            .map(|case| case.setup);
        let examined = setup.filter(|setup| open.session.examinations.contains_key(setup));
        if let Some(setup) = examined {
            let series = series(subject.session, setup);
            shared.then(Action::Curves(Curves::Examined(series)));
        }
    }

    fn draw_network_if_wanted(&mut self, shared: &Shared) {
        let Some(network) = self.network.network() else {
            return;
        };
        let key = PictureKey {
            network: Arc::clone(network),
            view: self.network.view.clone(),
            colouring: self.network.colouring,
            category_rules: shared.category_rules,
        };
        if !self.network.picture.needs(&key) {
            return self.mark_item();
        }
        let paths = shared.place.paths.clone();
        let work = move |key: &PictureKey| Some(work::draw(key, &paths));
        shared.derive(
            self,
            "network-picture",
            |door| &mut door.network.picture,
            key,
            work,
            Self::network_drawn,
        );
    }

    fn network_drawn(&mut self, shared: &mut Shared) {
        self.mark_item();
        self.draw_network_if_wanted(shared);
    }
}
