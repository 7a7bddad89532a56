//! Why: what limits a case, how that is known, and how much is left.

mod answer;
mod evidence;
mod experiments;
mod findings;
mod nodes;

pub(super) use nodes::sign;

use eframe::egui::{ComboBox, RichText, Ui};

use crate::icon;
use crate::shell::strip;
use crate::theme::{self, space};
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::{button, field, label, sketch, tip, waiting};
use powerband_app::App;
use powerband_app::action::{Action, Roofs, RunAction, Sessions, Why};
use powerband_app::screen::Screen;
use powerband_app::why::{self, WhyResult, WhySubject};
use powerband_findings::chart::wall_time::WallBar;

/// Commands that bring in what the screen is about.
const COMMANDS: [&str; 3] = [
    "powerband roofs",
    "powerband bench resnet50 --profile",
    "powerband why resnet50 --setup ort:cpu --batch 1",
];
/// Most height of the table of steps.
const LIGHT: f32 = 360.0;
/// Below this width findings stand below the roofline.
const NARROW: f32 = 700.0;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(looking) = app.profile.why.looking else {
        return empty(ui, app, actions);
    };
    super::tabs::with_buttons(ui, super::NARROW_HEAD, |ui| {
        super::in_order(ui, 2, |ui, place| match place {
            0 => ask_button(ui, app, actions),
            _ => super::answer::report_button(ui, app, Screen::Why, actions),
        });
    });
    ui.add_space(space::MEDIUM);
    choices(ui, app, looking, actions);
    ui.add_space(space::MEDIUM);
    super::scrolled(ui, |ui| match &app.profile.why.found.result {
        Some(found) => body(ui, app, found, actions),
        None => waiting::show(ui, "Looking for limits…"),
    });
}

fn empty(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    super::tabs::leave_room(ui);
    ui.add_space(ui.available_height() * 0.2);
    ui.vertical_centered(|ui| {
        let sentence = why::what_helps(&app.shared.sessions);
        label::empty(ui, icon::WHY, "Nothing to explain yet", sentence);
        for command in COMMANDS {
            let color = theme::roles(ui).text;
            ui.label(
                RichText::new(command)
                    .font(theme::numbers(12.5))
                    .color(color),
            );
        }
        ui.add_space(space::MEDIUM);
        if app.shared.has_machine()
            && button::labelled(ui, Some(icon::OPEN), "Open files…").clicked()
        {
            actions.push(Action::Sessions(Sessions::Choose));
        }
    });
}

/// Measures experiments on the case that is shown.
fn ask_button(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if !app.shared.has_machine() {
        return;
    }
    let pin = why::case_to_ask(app);
    let allowed = pin.map(|_| ());
    let response = button::plain_if(ui, allowed, Some(icon::RUN), "Run experiments");
    let response = match allowed {
        Ok(()) => response.on_hover_text(
            "Measure the case beside itself with one thing changed at a time: threads, neighbours, precision, optimisation. It takes about half a minute.",
        ),
        Err(_) => response,
    };
    if let (true, Ok(pin)) = (response.clicked(), pin) {
        actions.push(Action::Run(RunAction::Why(pin, None)));
    }
}

/// The choice of what is explained, and drawn as a network.
pub(super) fn subject_choice(
    ui: &mut Ui,
    app: &App,
    looking: WhySubject,
    room: f32,
    actions: &mut Vec<Action>,
) {
    let combo = ComboBox::from_id_salt("why-subject")
        .width(room)
        .truncate()
        .selected_text(why::name(&app.shared.sessions, looking));
    let choices = |ui: &mut Ui| {
        for subject in why::subjects(&app.shared.sessions) {
            let name = why::name(&app.shared.sessions, subject);
            if ui.selectable_label(subject == looking, name).clicked() {
                actions.push(Action::Why(Why::Look(subject)));
            }
        }
    };
    let response = field::within(ui, room, |ui| combo.show_ui(ui, choices));
    let response = response.response.accessible_name("What is explained");
    response.on_hover_text(why::name(&app.shared.sessions, looking));
}

fn choices(ui: &mut Ui, app: &App, looking: WhySubject, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let room = (ui.available_width() - 180.0).clamp(80.0, 520.0);
        subject_choice(ui, app, looking, room, actions);
        // Beside the choice, so that nothing below moves when it begins and ends.
        if let Some(measuring) = &app.settings.roofs.measuring {
            ui.add_space(space::MEDIUM);
            let about = format!(
                "What this machine reaches is measured, for this case and then for others: {}",
                measuring.what
            );
            label::quiet(ui, "Roofs").on_hover_text(about);
            strip::progress_bar(ui, measuring.share);
            if button::labelled(ui, Some(icon::STOP), "Stop measuring").clicked() {
                actions.push(Action::Roofs(Roofs::Stop));
            }
        }
    });
}

fn body(ui: &mut Ui, app: &App, found: &WhyResult, actions: &mut Vec<Action>) {
    let drawings = |ui: &mut Ui, actions: &mut Vec<Action>| {
        roofline(ui, app, found, actions);
        wall_time_parts(ui, found);
    };
    ui.spacing_mut().item_spacing.y = space::MEDIUM;
    if let Some(answer) = &found.answer {
        answer::cards(ui, answer);
    }
    if ui.available_width() < NARROW {
        drawings(ui, actions);
        findings::cards(ui, app, found, actions);
    } else {
        super::columns(ui, app, actions, |ui, is_side, actions| {
            if is_side {
                findings::cards(ui, app, found, actions);
            } else {
                drawings(ui, actions);
            }
        });
    }
    if let Some(tried) = &found.tried {
        experiments::card(ui, app, tried, actions);
    }
    nodes::table(ui, app, found, actions);
    floors_table(ui, app, found, actions);
}

/// Nodes below the lines that limit them; or what is missing for that.
fn roofline(ui: &mut Ui, app: &App, found: &WhyResult, actions: &mut Vec<Action>) {
    super::card(ui, |ui| {
        label::card_title(ui, "Roofline").on_hover_text(
            "Each point is a node. Its area is its share of the time; the bar through it is what is not known of its bytes. Nodes below the slanted lines wait for memory, nodes below the level ones compute.",
        );
        if found.roofline.dots.is_empty() {
            return no_points(ui, found);
        }
        let touched = sketch::roofline(ui, "roofline", &found.roofline);
        let words = touched
            .hovered
            .and_then(|node| found.roofline.node_text(node));
        if let Some(words) = words.filter(|_| touched.response.hovered()) {
            tip::show_text(&touched.response, words);
        }
        if let Some(node) = touched.clicked {
            let again = app.profile.why.selected == Some(node);
            let node = Some(node).filter(|_| !again);
            actions.push(Action::Why(Why::Select(node)));
        } else if touched.is_left && app.profile.why.selected.is_some() {
            actions.push(Action::Why(Why::Select(None)));
        }
        if !found.roofline.note.is_empty() {
            label::faint(ui, &found.roofline.note);
        }
    });
}

fn no_points(ui: &mut Ui, found: &WhyResult) {
    let sentence = if found.limits.is_none() && found.tried.is_some() {
        "The engine of this case has no profiler here, so no node has a place on a roofline."
    } else if found.limits.is_none() {
        "The session has no profile, so no node has a place here. Profile the case, or run experiments, which come with a profile."
    } else {
        "The arithmetic of no node of this profile is known, so none has a place here."
    };
    label::quiet(ui, sentence);
}

/// The wall time in parts that add up; or why it cannot be taken apart.
fn wall_time_parts(ui: &mut Ui, found: &WhyResult) {
    if found.limits.is_none() {
        return;
    }
    super::card(ui, |ui| {
        label::card_title(ui, "Wall time")
            .on_hover_text("The time of a run in parts that add up to it");
        match &found.wall {
            Ok(bar) => wall_bar(ui, bar),
            Err(reason) => {
                label::quiet(ui, &format!("Not taken apart: {reason}."));
            }
        }
    });
}

fn wall_bar(ui: &mut Ui, bar: &WallBar) {
    let (response, part) = sketch::wall(ui, "wall-time", bar);
    if let Some(part) = part.and_then(|part| bar.parts.get(part)) {
        tip::show_text(&response, format!("{}\n{}", part.summary_text(), part.help));
    }
}

/// The table of lower bounds per item, for steps taken and not taken.
fn floors_table(ui: &mut Ui, app: &App, found: &WhyResult, actions: &mut Vec<Action>) {
    if found.light.is_empty() {
        return;
    }
    super::rows_card(ui, |ui| {
        let title = |ui: &mut Ui| {
            ui.add_space(10.0);
            label::card_title(ui, "Speed of light").on_hover_text(
                "The least that this network can take here, for each step that was taken and each that was not, and what it can still bring",
            );
        };
        if data_table::tools(ui, app, "light", actions, title) {
            let table = DataTable {
                id: "light",
                height: LIGHT,
                ..DataTable::default()
            };
            table.show(ui, app, actions);
        }
    });
}
