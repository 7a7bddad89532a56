//! History: one case over the sessions of the library, where it changed, and which cases of its session moved most.

use eframe::egui::{Ui, vec2};

use super::answer;
use super::compare::IN_TURNS;
use crate::icon;
use crate::theme::space;
use crate::widgets::chart::{self, ChartOptions};
use crate::widgets::choice::{Choice, ChoiceRow};
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::{button, label, segmented, tip, waiting};
use powerband_app::App;
use powerband_app::action::{Action, History, RunAction, Sessions};
use powerband_app::history::{self, Followed, Following};
use powerband_app::screen::Screen;
use powerband_app::sessions::{LIVE, OpenSession};
use powerband_core::base::humanize;
use powerband_findings::analysis::history::HistoryPoint;
use powerband_findings::chart::spec::ChartSpec;

/// Least width of a small chart, and its height.
const SMALL_CHART: (f32, f32) = (360.0, 150.0);

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(following) = app.compare.history.following else {
        return empty(ui, app, actions);
    };
    answer::header(ui, app, Screen::History, actions);
    ui.add_space(space::MEDIUM);
    choices(ui, app, following, actions);
    ui.add_space(space::MEDIUM);
    super::scrolled(ui, |ui| match &app.compare.history.found.result {
        Some(found) => body(ui, app, found, actions),
        None => waiting::show(ui, "Reading the sessions that have this case…"),
    });
}

fn empty(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    super::tabs::leave_room(ui);
    ui.add_space(ui.available_height() * 0.25);
    ui.vertical_centered(|ui| {
        label::empty(
            ui,
            icon::HISTORY,
            "No case to follow",
            history::empty_help(&app.shared.sessions),
        );
        if app.shared.has_machine()
            && button::primary(ui, Some(icon::OPEN), "Open files…").clicked()
        {
            actions.push(Action::Sessions(Sessions::Choose));
        }
    });
}

fn choices(ui: &mut Ui, app: &App, following: Following, actions: &mut Vec<Action>) {
    let Some(open) = app.shared.sessions.get(following.session) else {
        return;
    };
    let mut all = false;
    let mut taken = None;
    let mut follow = |following| actions.push(Action::History(History::Follow(following)));
    ui.horizontal_wrapped(|ui| {
        let sessions = &app.shared.sessions;
        let saved = sessions.iter().filter(|other| other.id != LIVE);
        let choices = saved.flat_map(|other| {
            let setups = 0..other.session.plan.setups.len();
            setups.map(move |setup| (other, setup))
        });
        let choices: Vec<(&OpenSession, usize)> = choices.collect();
        let choice = Choice {
            name: "Setup to follow",
            shown: &sessions.series_name(following.session, following.setup),
            width: (ui.available_width() - 350.0).clamp(80.0, 460.0),
        };
        let rows = || {
            let rows = choices.iter().map(|(other, setup)| ChoiceRow {
                name: sessions.series_name(other.id, *setup),
                colour: Some(sessions.colour(other.id, *setup)),
                is_chosen: (other.id, *setup) == (following.session, following.setup),
            });
            rows.collect()
        };
        if let (_, Some(taken)) = choice.show(ui, rows)
            && let Some((other, setup)) = choices.get(taken)
        {
            follow(Following {
                session: other.id,
                setup: *setup,
                point: history::point_or_first(other, following.point),
            });
        }
        let name = "Batch size to follow";
        if let Some(point) = answer::point_choice(ui, name, following.point, &open.session) {
            follow(Following { point, ..following });
        }
        let shows_all = app.compare.history.shows_all_cases;
        let choices = [
            (false, "one case".to_owned(), "The case that is picked"),
            (
                true,
                "all cases".to_owned(),
                "And all cases of its session, worst first",
            ),
        ];
        taken = segmented::show(ui, "Cases over time", shows_all, &choices);
        if let Some(only) = &app.compare.history.only {
            let sessions = humanize::pluralised(only.len() as u64, "selected session");
            label::quiet(ui, &format!("Through {sessions}"));
            if button::labelled(ui, None, "All sessions").clicked() {
                all = true;
            }
        }
    });
    if all {
        actions.push(Action::History(History::Only(None)));
    }
    if let Some(taken) = taken {
        actions.push(Action::History(History::AllCases(taken)));
    }
}

fn body(ui: &mut Ui, app: &App, found: &Followed, actions: &mut Vec<Action>) {
    ui.spacing_mut().item_spacing.y = space::MEDIUM;
    answer::show(ui, &found.headline, |ui| again(ui, app, actions));
    answer::notes(ui, &found.troubles, &[]);
    super::card(ui, |ui| {
        label::card_title(ui, "Median latency")
            .on_hover_text("One point per session with its 95 % interval, and a line at each level; a word marks where the level changed, and sessions that are faster or slower than their level");
        if !found.chart.is_empty() {
            let look = ChartOptions {
                height: 260.0,
                highlighted: None,
                zooms: true,
                crosshair: false,
            };
            let touched = chart::show(ui, "history", &found.chart, look);
            let place = touched.hovered.map(|(_, place)| place as usize);
            if let Some(point) = place.and_then(|place| found.history.points.get(place)) {
                tip::show_text(&touched.response, point_tooltip(point));
            }
        }
    });
    levels(ui, app, found, actions);
    if app.compare.history.shows_all_cases {
        all_cases(ui, app, found.following, actions);
    }
    super::rows_card(ui, |ui| {
        if !data_table::tools(ui, app, "history", actions, |ui| {
            table_title(ui, "Sessions");
        }) {
            return;
        }
        let points = &found.history.points;
        let name = |row: usize| {
            let point: Option<&HistoryPoint> = points.get(row);
            let name = point.map_or("", |point| &point.name);
            let moment = point.map(|point| humanize::moment(&point.created));
            format!("Session {name}, {}", moment.unwrap_or_default())
        };
        let table = DataTable {
            id: "history",
            height: 520.0,
            name: Some(&name),
            ..DataTable::default()
        };
        let clicked = table.show(ui, app, actions).clicked;
        let clicked = clicked.and_then(|row| points.get(row));
        let file = clicked.and_then(|point| found.files.get(point.source)?.clone());
        if let Some(file) = file {
            actions.push(Action::Sessions(Sessions::Open(vec![file])));
        }
    });
}

fn table_title(ui: &mut Ui, title: &str) {
    ui.add_space(10.0);
    label::card_title(ui, title);
}

/// Where the level changed; a click opens the first session of the new level.
fn levels(ui: &mut Ui, app: &App, found: &Followed, actions: &mut Vec<Action>) {
    let changes = &found.history.changes;
    if changes.is_empty() {
        return;
    }
    super::rows_card(ui, |ui| {
        let title = |ui: &mut Ui| table_title(ui, "Changes of the level");
        if !data_table::tools(ui, app, "levels", actions, title) {
            return;
        }
        let point = |row: usize| found.history.points.get(changes.get(row)?.place);
        let name = |row: usize| {
            let point = point(row);
            let name = point.map_or("", |point| &point.name);
            format!("Change at session {name}")
        };
        let table = DataTable {
            id: "levels",
            height: 240.0,
            name: Some(&name),
            ..DataTable::default()
        };
        let clicked = table.show(ui, app, actions).clicked.and_then(point);
        let file = clicked.and_then(|point| found.files.get(point.source)?.clone());
        if let Some(file) = file {
            actions.push(Action::Sessions(Sessions::Open(vec![file])));
        }
    });
}

/// All cases of the session, worst first, as a table and as small charts; a click follows one.
fn all_cases(ui: &mut Ui, app: &App, following: Following, actions: &mut Vec<Action>) {
    let Some(all) = &app.compare.history.movers.result else {
        return waiting::show(ui, "Reading the sessions that have these cases…");
    };
    answer::notes(ui, &all.troubles, &[]);
    let mut taken = None;
    super::rows_card(ui, |ui| {
        let title = |ui: &mut Ui| table_title(ui, "All cases");
        if !data_table::tools(ui, app, "movers", actions, title) {
            return;
        }
        let name = |row: usize| {
            let case = all.movers.get(row).map(|one| &one.case);
            case.map_or_else(String::new, |case| {
                format!("Case {} {}", case.setup, case.point)
            })
        };
        let table = DataTable {
            id: "movers",
            height: 320.0,
            name: Some(&name),
            ..DataTable::default()
        };
        taken = table.show(ui, app, actions).clicked;
    });
    let columns = (ui.available_width() / SMALL_CHART.0).floor().max(1.0);
    let width = (ui.available_width() - space::MEDIUM * (columns - 1.0)) / columns;
    for (row, charts) in all.charts.chunks(columns as usize).enumerate() {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = space::MEDIUM;
            for (place, chart) in charts.iter().enumerate() {
                ui.allocate_ui(vec2(width, SMALL_CHART.1), |ui| {
                    small_chart(ui, row * columns as usize + place, chart);
                });
            }
        });
    }
    let taken = taken.and_then(|row| all.movers.get(row));
    if let Some(mover) = taken {
        actions.push(Action::History(History::Follow(Following {
            setup: mover.key.setup,
            point: mover.key.point,
            ..following
        })));
    }
}

fn small_chart(ui: &mut Ui, place: usize, spec: &ChartSpec) {
    super::card(ui, |ui| {
        label::card_title(ui, &spec.title);
        let look = ChartOptions {
            height: SMALL_CHART.1,
            highlighted: None,
            zooms: false,
            crosshair: false,
        };
        chart::show(ui, &format!("history of case {place}"), spec, look);
    });
}

/// Measures the last two sessions in one run, where they can be measured here.
fn again(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let sides = app.compare.history.sides_to_measure_again();
    let Some(sides) = sides.ok().filter(|_| app.shared.has_machine()) else {
        return;
    };
    ui.add_space(space::SMALL);
    let allowed = app.bench.can_start();
    let title = "Measure the last two again, in turns";
    let button = button::plain_if(ui, allowed, Some(icon::AGAIN), title);
    if button.on_hover_text(IN_TURNS).clicked() {
        let again = RunAction::AgainInHistory(Box::new(sides));
        actions.push(Action::Run(again));
    }
}

/// The tooltip of a point.
fn point_tooltip(point: &HistoryPoint) -> String {
    let mut lines = vec![point.name.clone(), humanize::moment(&point.created)];
    lines.extend(point.row.median_text());
    if let Some(interval) = point.row.ci95_ns {
        lines.push(format!(
            "95 % interval {} to {}",
            humanize::duration_ns(interval.low),
            humanize::duration_ns(interval.high)
        ));
    }
    lines.extend(point.vs_earlier.as_ref().map(|one| {
        let sessions = humanize::pluralised(one.sessions as u64, "earlier session");
        format!("{} vs. {sessions}", one.verdict.call)
    }));
    if !point.notes.is_empty() {
        lines.push(point.notes.clone());
    }
    lines.join("\n")
}
