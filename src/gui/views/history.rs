//! History: one case through the sessions of the library, and where it changed.

use eframe::egui::{ComboBox, Ui};

use crate::gui::icon;
use crate::gui::theme::space;
use crate::gui::widgets::chart::{self, Look};
use crate::gui::widgets::table::{self, ColumnSpec, Table};
use crate::gui::widgets::{button, flags, label, tip, verdict, waiting};
use powerband_app::App;
use powerband_app::action::{Action, History, Sessions};
use powerband_app::history::{self, Followed, Following};
use powerband_app::sessions::LIVE;
use powerband_core::base::humanize;
use powerband_findings::analysis::history::Point;

const COLUMNS: [ColumnSpec; 7] = [
    ColumnSpec::words("When", 130.0),
    ColumnSpec::words("Session", 150.0).growing(),
    ColumnSpec::numbers("Median", 90.0).with_help("Half of the runs took less"),
    ColumnSpec::numbers("± 95 %", 70.0)
        .with_help("Measured again, the median would most likely lie within; from resampling whole rounds, with Student's t for their small number"),
    ColumnSpec::numbers("Since the last", 110.0)
        .with_help("Latency in the session before divided by this one: above 1 is faster. The sessions did not take turns, so whatever changed on the machine is in it; it is over the rounds, and may differ from the quotient of the two medians"),
    ColumnSpec::words("Verdict", 120.0),
    ColumnSpec::words("What changed", 180.0),
];

/// Shows it.
pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(following) = app.history.following else {
        return empty(ui, app, actions);
    };
    head(ui, app, actions);
    ui.add_space(space::MEDIUM);
    choices(ui, app, following, actions);
    ui.add_space(space::MEDIUM);
    super::scrolled(ui, |ui| match &app.history.result {
        Some(found) => body(ui, found, actions),
        None => waiting::show(ui, "Reading the sessions that have this case…"),
    });
}

fn empty(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    label::screen_title(ui, "History", "One case through all sessions");
    ui.add_space(ui.available_height() * 0.25);
    ui.vertical_centered(|ui| {
        label::empty(
            ui,
            icon::HISTORY,
            "Nothing to follow yet",
            history::what_helps(&app.sessions),
        );
        if button::primary(ui, Some(icon::OPEN), "Open files…").clicked() {
            actions.push(Action::Sessions(Sessions::Choose));
        }
    });
}

fn head(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let sentence = "One case through the sessions of the library, oldest first";
    super::head(ui, "History", sentence, super::NARROW_HEAD, |ui| {
        let allowed = app
            .history
            .result
            .as_ref()
            .map(|_| ())
            .ok_or("the case is still being looked for");
        if button::plain_if(ui, allowed, Some(icon::COPY), "Copy the table").clicked() {
            actions.push(Action::History(History::CopyTable));
        }
    });
}

fn choices(ui: &mut Ui, app: &App, following: Following, actions: &mut Vec<Action>) {
    let Some(open) = app.sessions.get(following.session) else {
        return;
    };
    let mut follow = |following| actions.push(Action::History(History::Follow(following)));
    ui.horizontal(|ui| {
        let combo = ComboBox::from_id_salt("history-setup")
            .width((ui.available_width() - 180.0).min(460.0))
            .truncate()
            .selected_text(app.sessions.series_name(following.session, following.setup));
        let response = combo.show_ui(ui, |ui| {
            for other in app.sessions.iter().filter(|other| other.id != LIVE) {
                for setup in 0..other.session.plan.setups.len() {
                    let is_it = (other.id, setup) == (following.session, following.setup);
                    let name = app.sessions.series_name(other.id, setup);
                    if ui.selectable_label(is_it, name).clicked() {
                        follow(Following {
                            session: other.id,
                            setup,
                            batch: history::nearest(other, following.batch),
                        });
                    }
                }
            }
        });
        response.response.accessible_name("Setup to follow");
        let combo = ComboBox::from_id_salt("history-batch")
            .width(110.0)
            .selected_text(format!("Batch {}", following.batch));
        let response = combo.show_ui(ui, |ui| {
            for &batch in &open.session.plan.batches {
                let is_it = batch == following.batch;
                if ui
                    .selectable_label(is_it, format!("Batch {batch}"))
                    .clicked()
                {
                    follow(Following { batch, ..following });
                }
            }
        });
        response.response.accessible_name("Batch size to follow");
    });
}

fn body(ui: &mut Ui, found: &Followed, actions: &mut Vec<Action>) {
    super::card(ui, |ui| {
        label::card_title(ui, "Median latency")
            .on_hover_text("A point for each session with its 95 % interval; a word where it got faster or slower than in the session before");
        label::quiet(ui, &found.history.trend);
        if !found.chart.is_empty() {
            let look = Look {
                height: 260.0,
                highlighted: None,
                zooms: false,
            };
            let touched = chart::show(ui, "history", &found.chart, look);
            let place = touched.hovered.map(|(_, place)| place as usize);
            if let Some(point) = place.and_then(|place| found.history.points.get(place)) {
                tip::words(&touched.response, told(point));
            }
        }
        for trouble in &found.troubles {
            label::faint(ui, trouble);
        }
    });
    ui.add_space(space::MEDIUM);
    super::rows_card(ui, |ui| {
        let table = Table {
            id: "history",
            columns: &COLUMNS,
            sort: None,
            sorts: false,
            rows: found.history.points.len(),
            selected: None,
            height: 520.0,
        };
        let name = |row| {
            let point: Option<&Point> = found.history.points.get(row);
            let name = point.map_or("", |point| &point.name);
            let moment = point.map(|point| humanize::moment(&point.created));
            format!("Session {name}, {}", moment.unwrap_or_default())
        };
        let touched = table.show_clickable(ui, name, |ui, row, column| {
            if let Some(point) = found.history.points.get(row) {
                cell(ui, point, column);
            }
        });
        let clicked = touched
            .clicked
            .and_then(|row| found.history.points.get(row));
        let file = clicked.and_then(|point| found.files.get(point.source)?.clone());
        if let Some(file) = file {
            actions.push(Action::Sessions(Sessions::Open(vec![file])));
        }
    });
}

/// What a point says under the hand.
fn told(point: &Point) -> String {
    let mut lines = vec![point.name.clone(), humanize::moment(&point.created)];
    lines.extend(point.row.median_words());
    if let Some(interval) = point.row.ci95_ns {
        lines.push(format!(
            "95 % interval {} to {}",
            humanize::duration_ns(interval.low),
            humanize::duration_ns(interval.high)
        ));
    }
    lines.extend(point.since_last.as_ref().map(|pair| {
        let call = pair.verdict.call.name();
        format!("{call} against the session before")
    }));
    lines.join("\n")
}

fn cell(ui: &mut Ui, point: &Point, column: usize) {
    let last = point.since_last.as_ref();
    match column {
        0 => {
            table::words(ui, &humanize::moment(&point.created));
        }
        1 => {
            let hover = format!("{}\nClick to open this session", point.name);
            table::words_about(ui, &point.name, hover);
        }
        2 => {
            table::known(ui, point.row.median_words(), "It was not measured");
            flags::mark(ui, &point.row.flags);
        }
        3 => {
            let words = point.row.uncertainty_words();
            table::known(ui, words, "An interval needs two rounds");
        }
        4 => {
            let ratio = last.and_then(|pair| pair.ratio);
            let why_not = match last {
                None => "No session before it has this case",
                Some(_) => "Numbers that must not be compared have no ratio; why is at the verdict",
            };
            table::known(ui, ratio.map(|ratio| ratio.words()), why_not);
        }
        5 => {
            if let Some(pair) = last {
                verdict::pill(ui, &pair.verdict);
            }
        }
        _ => {
            let names: Vec<&str> = point.changed.iter().map(|changed| changed.what).collect();
            let details: Vec<String> = point
                .changed
                .iter()
                .map(|changed| format!("{}: {} → {}", changed.what, changed.before, changed.after))
                .collect();
            let response = label::quiet_line(ui, &names.join(", "));
            if !details.is_empty() {
                response.on_hover_text(details.join("\n"));
            }
        }
    }
}
