//! The fleet: one setup on several machines, the odd one out, and what differs there.

use eframe::egui::Ui;

use super::answer;
use crate::icon;
use crate::theme::space;
use crate::widgets::chart::{self, ChartOptions};
use crate::widgets::choice::{Choice, ChoiceRow};
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::{button, field, label, tip, waiting};
use powerband_app::App;
use powerband_app::action::{Action, Curves, Fleet, Sessions};
use powerband_app::fleet::{self, CaseChoice, FoundFleet};
use powerband_app::screen::Screen;
use powerband_core::base::humanize;
use powerband_findings::analysis::fleet::{Effects, FleetCase, FleetMachine};

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(found) = &app.compare.fleet.found.result else {
        if app.compare.fleet.found.busy().is_some() {
            super::tabs::leave_room(ui);
            return waiting::show(ui, "Comparing the machines…");
        }
        return empty(ui, app, actions);
    };
    let Some(case) = app.compare.fleet.shown() else {
        return empty(ui, app, actions);
    };
    answer::header(ui, app, Screen::Fleet, actions);
    ui.add_space(space::MEDIUM);
    choices(ui, app, found, case, actions);
    ui.add_space(space::MEDIUM);
    super::scrolled(ui, |ui| {
        ui.spacing_mut().item_spacing.y = space::MEDIUM;
        answer::show(ui, &app.compare.fleet.drawn.headline, |_| {});
        let notes = found.fleet.remarks.iter();
        let notes: Vec<&str> = notes.map(String::as_str).collect();
        answer::notes(ui, &[], &notes);
        medians(ui, app, case, actions);
        machines_of_case(ui, app, found, case, actions);
        effects(ui, app, actions);
        table(ui, app, actions, "machines", "Machines");
    });
}

fn empty(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    super::tabs::leave_room(ui);
    if app.compare.fleet.only.is_some() || app.shared.sessions.len() > 1 {
        ui.add_space(space::MEDIUM);
        ui.horizontal(|ui| which_sessions(ui, app, actions));
    }
    ui.add_space(ui.available_height() * 0.2);
    ui.vertical_centered(|ui| {
        let helps = fleet::empty_help(&app.shared.sessions, app.compare.fleet.each_session);
        label::empty(ui, icon::FLEET, "No case of several machines", helps);
        if !app.shared.has_machine() {
            return;
        }
        if button::labelled(ui, Some(icon::PLAN), "Plan setups with where=").clicked() {
            actions.push(Action::Go(Screen::Plan));
        }
        ui.add_space(space::TINY);
        if button::primary(ui, Some(icon::OPEN), "Open files…").clicked() {
            actions.push(Action::Sessions(Sessions::Choose));
        }
    });
}

/// Which case is shown, and of which sessions.
fn choices(
    ui: &mut Ui,
    app: &App,
    found: &FoundFleet,
    case: &FleetCase,
    actions: &mut Vec<Action>,
) {
    let several = found.fleet.has_several_models();
    ui.horizontal_wrapped(|ui| {
        let cases = &found.fleet.cases;
        let choice = Choice {
            name: "Case on several machines",
            shown: &case.name(several),
            width: (ui.available_width() - 60.0).min(460.0),
        };
        let rows = || {
            let rows = cases.iter().map(|other| ChoiceRow {
                name: other.name(several),
                colour: None,
                is_chosen: CaseChoice::from_case(other) == CaseChoice::from_case(case),
            });
            rows.collect()
        };
        if let (_, Some(taken)) = choice.show(ui, rows)
            && let Some(taken) = cases.get(taken)
        {
            let taken = CaseChoice::from_case(taken);
            actions.push(Action::Fleet(Fleet::Show(taken)));
        }
        let fleet = &app.compare.fleet;
        if fleet.only.is_some() || fleet.is_of_run() || app.shared.sessions.len() > 1 {
            which_sessions(ui, app, actions);
        }
    });
}

fn which_sessions(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if app.compare.fleet.is_of_run() {
        label::quiet_line(ui, "Of the run in progress");
        return;
    }
    if let Some(only) = &app.compare.fleet.only {
        let sessions = humanize::pluralised(only.len() as u64, "selected session");
        label::quiet_line(ui, &format!("Of {sessions}"));
        if button::labelled(ui, None, "All open sessions").clicked() {
            actions.push(Action::Fleet(Fleet::Only(None)));
        }
    }
    let mut each = app.compare.fleet.each_session;
    let check = field::check(ui, &mut each, "Each session is a machine");
    let about = "A session without where= does not say which machine it was measured on. Sessions of the same processor and cards count as one machine unless this is checked.";
    if check.on_hover_text(about).changed() {
        actions.push(Action::Fleet(Fleet::EachSession(each)));
    }
}

fn medians(ui: &mut Ui, app: &App, case: &FleetCase, actions: &mut Vec<Action>) {
    let spec = &app.compare.fleet.drawn.chart;
    super::card(ui, |ui| {
        label::card_title(ui, "Median by machine")
            .on_hover_text("One point per machine with its 95 % interval, and the median of the machines' medians as a line; a crossed ring marks a machine without a number");
        if spec.is_empty() {
            return;
        }
        let look = ChartOptions {
            height: 260.0,
            highlighted: None,
            zooms: true,
            crosshair: false,
        };
        let touched = chart::show(ui, "fleet", spec, look);
        let machine = |tag: u64| case.machines.get(tag as usize);
        let hovered = touched.hovered.and_then(|(_, tag)| machine(tag));
        if let Some(reason) = &touched.failed {
            tip::show_text(&touched.response, reason);
        } else if let Some(machine) = hovered {
            tip::show_text(&touched.response, machine_tooltip(machine));
        }
        let clicked = touched.clicked.and_then(|(_, tag)| machine(tag));
        pin(app, clicked, actions);
    });
}

/// The tooltip of a machine.
fn machine_tooltip(machine: &FleetMachine) -> String {
    let mut lines = vec![machine.name.clone()];
    lines.extend(machine.row.median_text());
    if let Some(ratio) = machine.ratio {
        let ratio = humanize::ratio(ratio);
        lines.push(format!("{ratio} the fleet's median"));
    }
    if machine.is_odd {
        lines.push("odd one out".to_owned());
    }
    lines.join("\n")
}

/// Pins the case of a machine that was clicked.
fn pin(app: &App, machine: Option<&FleetMachine>, actions: &mut Vec<Action>) {
    let found = app.compare.fleet.found.result.as_ref();
    let case = machine.and_then(|machine| found?.pin(machine));
    if let Some(case) = case {
        let pin = (app.curves.pin != Some(case)).then_some(case);
        actions.push(Action::Curves(Curves::Pin(pin)));
    }
}

fn machines_of_case(
    ui: &mut Ui,
    app: &App,
    found: &FoundFleet,
    case: &FleetCase,
    actions: &mut Vec<Action>,
) {
    super::rows_card(ui, |ui| {
        let title = |ui: &mut Ui| {
            ui.add_space(10.0);
            label::card_title(ui, "Machines of this case");
        };
        if !data_table::tools(ui, app, "fleet", actions, title) {
            return;
        }
        let name = |row: usize| {
            let machine = case.machines.get(row);
            format!("Case on {}", machine.map_or("", |machine| &machine.name))
        };
        let pinned = case.machines.iter().position(|machine| {
            let own = found.pin(machine);
            own.is_some() && own == app.curves.pin
        });
        let table = DataTable {
            id: "fleet",
            height: 420.0,
            selected: pinned,
            name: Some(&name),
            ..DataTable::default()
        };
        let clicked = table.show(ui, app, actions).clicked;
        pin(app, clicked.and_then(|row| case.machines.get(row)), actions);
    });
}

/// What the setup brings on each machine, and each machine with the setup.
fn effects(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let all = &app.compare.fleet.drawn.effects;
    if all.is_empty() {
        return;
    }
    super::card(ui, |ui| {
        label::card_title(ui, "Setup and machine")
            .on_hover_text("Two setups that both ran on two machines: what the setup brings, and what the machine brings");
        for effects in all {
            label::quiet(ui, &said(effects));
        }
    });
    table(ui, app, actions, "fleet-effects", "Parts of the difference");
}

fn said(effects: &Effects) -> String {
    let [first, second] = &effects.setups;
    format!("{first} to {second}: {}", effects.sentence())
}

fn table(ui: &mut Ui, app: &App, actions: &mut Vec<Action>, id: &'static str, title: &str) {
    super::rows_card(ui, |ui| {
        let head = |ui: &mut Ui| {
            ui.add_space(10.0);
            label::card_title(ui, title);
        };
        if !data_table::tools(ui, app, id, actions, head) {
            return;
        }
        let table = DataTable {
            id,
            height: 420.0,
            ..DataTable::default()
        };
        table.show(ui, app, actions);
    });
}
