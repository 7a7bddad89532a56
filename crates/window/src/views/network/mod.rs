//! The network of a case as a picture, with a card of what is selected; or what the engine made of it in tables.

mod card;
mod engine_graph;

use eframe::egui::{ComboBox, Ui, vec2};

use super::kernels::choices;
use crate::icon;
use crate::theme::space;
use crate::widgets::network_canvas::{self, ViewRequests};
use crate::widgets::{button, field, label, segmented, tip, waiting};
use powerband_app::App;
use powerband_app::action::{Action, Network};
use powerband_app::network::{Direction, NetworkState};
use powerband_app::screen::Screen;
use powerband_app::shell::layout;
use powerband_app::why::{self, WhySubject};
use powerband_findings::analysis::network::modules::Item;
use powerband_findings::chart::layout::network::shapes;
use powerband_findings::chart::network::NetworkFigure;
use powerband_findings::chart::network_colours::NetworkColouring;

/// The least height of the picture.
const LEAST_HEIGHT: f32 = 220.0;
/// Below this width the card stands below the picture.
const NARROW: f32 = 620.0;
/// Height of the card there.
const CARD_BELOW: f32 = 170.0;
/// Where there is less room, the choices stand in two rows.
const ONE_ROW: f32 = 800.0;
/// Width of the search.
const SEARCH: f32 = 150.0;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(looking) = app.profile.why.looking else {
        return empty(ui, app, actions);
    };
    super::tabs::with_buttons(ui, super::NARROW_HEAD, |ui| {
        super::answer::report_button(ui, app, Screen::Network, actions);
    });
    ui.add_space(space::MEDIUM);
    if ui.available_width() < ONE_ROW {
        ui.horizontal_wrapped(|ui| subjects(ui, app, looking, actions));
        ui.horizontal_wrapped(|ui| choices(ui, app, actions));
    } else {
        ui.horizontal(|ui| {
            subjects(ui, app, looking, actions);
            choices(ui, app, actions);
        });
    }
    ui.add_space(space::SMALL);
    let state = &app.profile.network;
    if state.shows_tables {
        return super::scrolled(ui, |ui| engine_graph::show(ui, app, actions));
    }
    match (&state.found.result, &state.picture.result) {
        (Some(Err(reason)), _) => {
            label::trouble(ui, reason);
        }
        (Some(Ok(_)), Some(picture)) => body(ui, app, picture, actions),
        _ => waiting::show(ui, "Reading the network…"),
    }
}

/// What is shown, and what it is compared with.
fn subjects(ui: &mut Ui, app: &App, looking: WhySubject, actions: &mut Vec<Action>) {
    let room = (ui.available_width() * 0.2).clamp(120.0, 260.0);
    super::why::subject_choice(ui, app, looking, room, actions);
    if let Some(after) = looking.profile_ref() {
        let mut changes = Vec::new();
        choices::before_choice(ui, app, after, room.min(150.0), &mut changes);
        actions.extend(changes.into_iter().map(Action::Kernels));
    }
}

/// How it is shown.
fn choices(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let state = &app.profile.network;
    modes(ui, state, actions);
    if !state.shows_tables {
        colouring(ui, state, actions);
        search(ui, state, actions);
    }
}

fn empty(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    super::tabs::leave_room(ui);
    ui.add_space(ui.available_height() * 0.2);
    ui.vertical_centered(|ui| {
        let sentence = why::what_helps(&app.shared.sessions);
        label::empty(ui, icon::KERNELS, "No network yet", sentence);
        ui.add_space(space::MEDIUM);
        if app.shared.has_machine()
            && button::labelled(ui, Some(icon::OPEN), "Open files…").clicked()
        {
            actions.push(Action::Sessions(powerband_app::action::Sessions::Choose));
        }
    });
}

/// What is shown of the network.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Mode {
    Engine,
    File,
    Tables,
}

fn modes(ui: &mut Ui, state: &NetworkState, actions: &mut Vec<Action>) {
    let shown = match (state.shows_tables, state.view.is_engine) {
        (true, _) => Mode::Tables,
        (false, true) => Mode::Engine,
        (false, false) => Mode::File,
    };
    let choices = [
        (
            Mode::Engine,
            "Engine".to_owned(),
            "As the engine runs it: fused nodes are one, and what did not run is not there",
        ),
        (
            Mode::File,
            "File".to_owned(),
            "As the file has it, with a box around the nodes that ran as one",
        ),
        (
            Mode::Tables,
            "Tables".to_owned(),
            "What the engine fused, folded and added, in tables",
        ),
    ];
    if let Some(taken) = segmented::show(ui, "What is shown of the network", shown, &choices) {
        actions.push(Action::Network(match taken {
            Mode::Engine => Network::Engine(true),
            Mode::File => Network::Engine(false),
            Mode::Tables => Network::Tables(true),
        }));
    }
}

fn colouring(ui: &mut Ui, state: &NetworkState, actions: &mut Vec<Action>) {
    let drawn = state.picture.result.as_ref();
    let shown = drawn.map_or(state.colouring, |picture| picture.colours.colouring);
    let combo = ComboBox::from_id_salt("network-colouring").selected_text(shown.title());
    let choices = |ui: &mut Ui| {
        let known = NetworkColouring::ALL.into_iter();
        let network = state.network();
        let is_for = |choice: &NetworkColouring| network.is_some_and(|found| choice.is_for(found));
        for choice in known.filter(is_for) {
            if ui
                .selectable_label(choice == shown, choice.title())
                .clicked()
            {
                actions.push(Action::Network(Network::Colouring(choice)));
            }
        }
    };
    let response = field::within(ui, 120.0, |ui| combo.show_ui(ui, choices));
    let response = response.response.accessible_name("Colours by");
    response.on_hover_text("What nodes are coloured by");
}

fn search(ui: &mut Ui, state: &NetworkState, actions: &mut Vec<Action>) {
    let hint = "Name, operator, shape";
    let (response, typed) = field::search(ui, "Search nodes", &state.search, hint, SEARCH);
    if let Some(text) = typed {
        actions.push(Action::Network(Network::Search(text)));
    }
    let is_entered =
        response.lost_focus() && ui.input(|input| input.key_pressed(eframe::egui::Key::Enter));
    if !state.search.trim().is_empty() {
        let n_found = state.matches.len() as u64;
        label::quiet(
            ui,
            &powerband_core::base::humanize::pluralised(n_found, "match"),
        );
        let previous = button::small_icon(ui, icon::UP, "Previous match").clicked();
        let next = button::small_icon(ui, icon::DOWN, "Next match").clicked() || is_entered;
        if n_found > 0 && (next || previous) {
            let direction = if next {
                Direction::Next
            } else {
                Direction::Previous
            };
            actions.push(Action::Network(Network::Found(direction)));
            if is_entered {
                response.request_focus();
            }
        }
    }
}

fn body(ui: &mut Ui, app: &App, picture: &NetworkFigure, actions: &mut Vec<Action>) {
    let room = ui.available_size() - vec2(space::EDGE, 0.0);
    if room.x < NARROW {
        let height = (room.y - CARD_BELOW - space::MEDIUM).max(LEAST_HEIGHT);
        drawing(ui, app, picture, room.x, height, actions);
        ui.add_space(space::MEDIUM);
        return card::show(ui, app, picture, actions);
    }
    let side = app.shared.size_of(&layout::SIDE).min(room.x / 2.0);
    let height = room.y.max(LEAST_HEIGHT);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::MEDIUM;
        let width = room.x - side - space::MEDIUM;
        ui.vertical(|ui| drawing(ui, app, picture, width, height, actions));
        ui.vertical(|ui| {
            ui.set_width(side);
            ui.set_max_height(height);
            card::show(ui, app, picture, actions);
        });
    });
}

fn drawing(
    ui: &mut Ui,
    app: &App,
    picture: &NetworkFigure,
    width: f32,
    height: f32,
    actions: &mut Vec<Action>,
) {
    let state = &app.profile.network;
    ui.set_width(width);
    let top = ui.cursor().top();
    ui.horizontal(|ui| {
        for (icon, name, change) in [
            (icon::FIT, "Fold to a page", Network::Fold),
            (icon::FOLD, "Open every module", Network::OpenAll),
        ] {
            if button::small_icon(ui, icon, name).clicked() {
                actions.push(Action::Network(change));
            }
        }
        let slowest = button::small_icon(ui, icon::TIMER, "Next slowest node (J)");
        if slowest.clicked() && !state.slowest().is_empty() {
            actions.push(Action::Network(Network::Slowest(Direction::Next)));
        }
        let zoomed = button::small_icon(ui, icon::ZOOM, "Zoom to what is selected");
        if zoomed.clicked() && state.selected.is_some() {
            actions.push(Action::Network(Network::Zoom));
        }
        label::quiet_line(ui, &picture.sentence());
    });
    network_canvas::legend(ui, picture);
    let height = height - (ui.cursor().top() - top);
    let requests = ViewRequests {
        n_shown: state.n_shown,
        n_zoomed: state.n_zoomed,
    };
    let requests = Some(requests).filter(|_| state.picture.busy().is_none());
    let touched = network_canvas::show(ui, "network", picture, height, requests);
    if let Some(item) = touched.hovered.filter(|_| touched.response.hovered()) {
        let text = match item {
            Item::Node(node) => shapes::node_tooltip(&picture.network, node),
            Item::Module(module) => shapes::module_tooltip(&picture.network, module),
        };
        tip::show_text(&touched.response, text);
    }
    let changes = [
        touched.toggled.map(Network::Toggle),
        touched.selected.map(|item| Network::Select(Some(item))),
        touched.is_left.then_some(Network::Select(None)),
    ];
    let changes = changes.into_iter().flatten();
    actions.extend(changes.map(Action::Network));
}
