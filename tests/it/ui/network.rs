//! The network as a picture: walked through by keys, searched, folded, and selected together with other screens.

use std::path::Path;
use std::sync::Arc;

use powerband_app::App;
use powerband_app::action::{Action, Kernels, Network, Sessions, Shell, Why};
use powerband_app::kernels::{ProfileRef, SelectedRow};
use powerband_app::network::Direction;
use powerband_app::screen::Screen;
use powerband_app::why::WhySubject;
use powerband_findings::analysis::breakdown::BreakdownLevel;
use powerband_findings::analysis::network::modules::{Item, ModuleKind};
use powerband_findings::analysis::network::{NodeTimes, TimedNetwork};
use powerband_findings::analysis::verdict::Call;
use powerband_findings::chart::network_colours::NetworkColouring;
use powerband_onnx::network;
use powerband_store::session_file;

use super::Desk;
use super::pictures::{Album, THEMES};
use crate::networks_compared::with_a_slower_version;
use crate::support::Home;

const EXAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/sessions/resnet50-what-limits-it.ron"
);

/// Frames until the network is drawn, or until it is known why it is not.
pub(super) fn drawn(desk: &mut Desk) {
    desk.until("a network", |app| {
        let state = &app.profile.network;
        let is_busy = state.found.busy().is_some() || state.picture.busy().is_some();
        let is_there = match &state.found.result {
            Some(Ok(_)) => state.picture.result.is_some(),
            Some(Err(_)) => true,
            None => app.profile.why.looking.is_none(),
        };
        is_there && !is_busy
    });
    desk.steps(2);
}

/// The example's network is shown, searched, selected and reckoned without a part.
pub(super) fn fill_in(app: &mut App) {
    let session = session_file::read(Path::new(EXAMPLE))
        .expect("the example")
        .session;
    let graph = network::of_profile(&session, 0, &app.shared.place.paths.cache).expect("a graph");
    let times = NodeTimes::of_profile(&session, 0, &[]);
    let timed = TimedNetwork::new(&graph, times).expect("a network");
    let modules = timed.tree.modules.iter().enumerate().skip(1);
    let mut timed_modules = modules.filter(|(_, module)| module.time_ns > 0.0);
    let module = timed_modules.next().expect("a module with a time").0;
    let module = Item::Module(module);
    let state = &mut app.profile.network;
    state.found.result = Some(Ok(Arc::new(timed)));
    state.selected = Some(module);
    "conv".clone_into(&mut state.search);
    state.matches = vec![1];
    state.free.insert(module);
    app.shared.screen = Screen::Network;
}

/// The example with a profile, on its network.
fn desk() -> Desk {
    let home = Home::new();
    let path = home.path("example.ron");
    std::fs::copy(EXAMPLE, &path).expect("the example");
    let mut desk = Desk::with(home, vec![path]);
    desk.until("everything is looked up", |app| {
        let is_looked_up = app.shared.machine.engines.is_some() && app.library.is_scanned;
        is_looked_up && !app.shared.machine.is_looking && app.shared.sessions.len() == 1
    });
    desk.act(Action::Go(Screen::Network));
    drawn(&mut desk);
    desk
}

fn selected_time(app: &App) -> f64 {
    let state = &app.profile.network;
    let network = state.network().expect("a network");
    let item = state.selected.expect("an item");
    network.own_time(item).expect("a time").time_ns
}

#[test]
fn the_slowest_nodes_are_gone_through_and_lit_on_other_screens() {
    let mut desk = desk();
    desk.see("resnet50 has 175 nodes");
    let slower = Action::Network(Network::Slowest(Direction::Next));
    desk.act(slower.clone());
    let first = selected_time(desk.app());
    let selected = desk
        .app()
        .profile
        .kernels
        .selected_kernel()
        .map(str::to_owned);
    let state = &desk.app().profile.network;
    let network = state.network().expect("a network");
    let time = network.own_time(state.selected.expect("an item"));
    assert_eq!(selected.as_deref(), time.map(|time| time.name.as_str()));
    desk.act(slower);
    assert!(selected_time(desk.app()) <= first);
    desk.act(Action::Network(Network::Slowest(Direction::Previous)));
    assert!((selected_time(desk.app()) - first).abs() < 1e-9);
    drawn(&mut desk);
    desk.see("Without it");
    desk.act(Action::Back);
    assert_eq!(desk.app().profile.network.selected, None);
}

#[test]
fn modules_open_and_the_file_has_more_nodes_than_the_engine() {
    let mut desk = desk();
    let n_items = |desk: &Desk| {
        let picture = desk.app().profile.network.picture.result.as_ref();
        picture.expect("a picture").layout.items().len()
    };
    desk.act(Action::Network(Network::OpenAll));
    drawn(&mut desk);
    let engine = n_items(&desk);
    desk.act(Action::Network(Network::Engine(false)));
    drawn(&mut desk);
    assert!(n_items(&desk) > engine);
    desk.act(Action::Network(Network::Fold));
    drawn(&mut desk);
    let page = n_items(&desk);
    assert!(page < engine);
    let network = desk.app().profile.network.network().cloned().expect("one");
    let layers = network.tree.modules.iter();
    let layer = layers.clone().position(|module| module.name == "layer1");
    desk.act(Action::Network(Network::Toggle(layer.expect("a layer"))));
    drawn(&mut desk);
    assert_ne!(n_items(&desk), page);
    assert!(
        network
            .tree
            .modules
            .iter()
            .any(|module| matches!(module.kind, ModuleKind::Fused(_)))
    );
    desk.act(Action::Network(Network::Tables(true)));
    desk.steps(2);
    desk.see("Graph optimisations");
}

#[test]
fn nodes_are_searched_and_found_inside_closed_modules() {
    let mut desk = desk();
    desk.act(Action::Network(Network::Search(
        "layer3.4.conv2".to_owned(),
    )));
    assert_eq!(desk.app().profile.network.matches.len(), 1);
    desk.act(Action::Network(Network::Found(Direction::Next)));
    drawn(&mut desk);
    let state = &desk.app().profile.network;
    let picture = state.picture.result.as_ref().expect("a picture");
    let item = state.selected.expect("an item");
    let network = state.network().expect("a network");
    // As the engine runs it, the node is in the group that it was fused into.
    assert!(picture.layout.area_of(network, item).is_some());
    let Item::Node(node) = item else {
        panic!("no node")
    };
    assert_eq!(network.nodes[node].node.op, "Conv");
    desk.see("1 match");
}

#[test]
fn a_network_whose_file_is_gone_says_so() {
    let home = Home::new();
    let path = home.path("example.ron");
    let text = std::fs::read_to_string(EXAMPLE).expect("the example");
    let renamed = text.replace("name: \"resnet50\"", "name: \"mine\"");
    std::fs::write(&path, renamed).expect("a session");
    let mut desk = Desk::with(home, vec![path.clone()]);
    desk.until("the session is open", |app| app.shared.sessions.len() == 1);
    desk.act(Action::Go(Screen::Network));
    drawn(&mut desk);
    desk.see("is gone");
    desk.act(Action::Sessions(Sessions::CloseAll));
    desk.steps(3);
    desk.see("No network yet");
}

#[test]
fn two_profiles_are_compared_in_the_picture() {
    let home = Home::new();
    let path = with_a_slower_version(&home);
    let mut desk = Desk::with(home, vec![path]);
    desk.until("the session is open", |app| app.shared.sessions.len() == 1);
    desk.act(Action::Go(Screen::Network));
    drawn(&mut desk);
    let looking = desk.app().profile.why.looking.expect("a subject");
    desk.act(Action::Why(Why::Look(WhySubject {
        profile: Some(1),
        ..looking
    })));
    let before = ProfileRef {
        session: looking.session,
        profile: 0,
    };
    desk.act(Action::Kernels(Kernels::Before(Some(before))));
    drawn(&mut desk);
    let colouring = |desk: &Desk| {
        let picture = desk.app().profile.network.picture.result.as_ref();
        picture.expect("a picture").colours.colouring
    };
    assert_eq!(colouring(&desk), NetworkColouring::Difference);
    desk.see("slower · +");
    let network = desk
        .app()
        .profile
        .network
        .network()
        .cloned()
        .expect("a network");
    let comparison = network.comparison.as_ref().expect("a comparison");
    let slower = comparison.block_of.iter().find(|(_, block)| {
        let starts = comparison.blocks[**block].starts;
        starts.is_some_and(|starts| starts.call == Call::Slower)
    });
    let (item, _) = slower.expect("a slower node");
    desk.act(Action::Network(Network::Select(Some(*item))));
    drawn(&mut desk);
    desk.see("Verdict");
    desk.click("End the comparison");
    drawn(&mut desk);
    assert_eq!(colouring(&desk), NetworkColouring::Time);
}

/// The guide's pictures: by time with the slowest node selected, and by limit.
#[test]
fn the_example_is_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk();
    for (colouring, (theme, word)) in [NetworkColouring::Time, NetworkColouring::Limit]
        .into_iter()
        .zip(THEMES)
    {
        desk.act(Action::Network(Network::Colouring(colouring)));
        desk.act(Action::Network(Network::Slowest(Direction::Next)));
        desk.act(Action::Shell(Shell::Theme(theme)));
        drawn(&mut desk);
        album.take(&mut desk, &format!("network-resnet50-{word}"));
    }
    album.close();
}

#[test]
fn another_subject_is_another_picture_and_a_selection_elsewhere_is_lit() {
    let home = Home::new();
    let path = home.path("example.ron");
    let mut session = session_file::read(Path::new(EXAMPLE))
        .expect("the example")
        .session;
    let mut other = session.profiles[0].clone();
    for total in &mut other.totals {
        total.total_ns *= 2;
    }
    other.name = "twice".to_owned();
    session.profiles.push(other);
    super::write(&path, &session);
    let mut desk = Desk::with(home, vec![path]);
    desk.until("the session is open", |app| app.shared.sessions.len() == 1);
    desk.act(Action::Go(Screen::Network));
    drawn(&mut desk);
    let total = |desk: &Desk| {
        let picture = desk.app().profile.network.picture.result.as_ref();
        picture.expect("a picture").network.total_ns()
    };
    let before = total(&desk);
    let looking = desk.app().profile.why.looking.expect("a subject");
    let profile = session.profiles.len() - 1;
    desk.act(Action::Why(Why::Look(WhySubject {
        profile: Some(profile),
        ..looking
    })));
    drawn(&mut desk);
    assert!((total(&desk) / before - 2.0).abs() < 1e-6);
    // What is selected on Kernels is selected here.
    let state = &desk.app().profile.network;
    let slowest = state.slowest()[0];
    let network = state.network().expect("a network");
    let name = network.own_time(slowest).expect("a time").name.clone();
    desk.act(Action::Kernels(Kernels::Level(BreakdownLevel::Kernel)));
    desk.act(Action::Kernels(Kernels::Select(Some(SelectedRow::Kernel(
        name,
    )))));
    assert_eq!(desk.app().profile.network.selected, Some(slowest));
    // A session that is saved is the same network, and keeps what is open.
    desk.act(Action::Network(Network::OpenAll));
    drawn(&mut desk);
    let open = desk.app().profile.network.view.open.len();
    let id = looking.session;
    desk.act(Action::Sessions(Sessions::Reload(id)));
    drawn(&mut desk);
    assert_eq!(desk.app().profile.network.view.open.len(), open);
}
