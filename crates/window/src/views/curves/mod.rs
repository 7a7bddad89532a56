//! Curves: latency, throughput and efficiency against batch size, the best within a limit, one case's
//! samples, the table of all, what the shapes say, memory and energy, speed beside accuracy, and what the
//! engine made of the network.

mod cards;
mod charts;
mod claims;
mod dimensions;
mod imported;
mod map;
mod shapes;
mod title;
mod trade_off;
mod two_pins;

use std::collections::BTreeSet;

use eframe::egui::Ui;

use crate::icon;
use crate::theme::space;
use crate::widgets::chart;
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::{button, label, legend, marker, menu, segmented, tip};
use powerband_app::App;
use powerband_app::action::{Action, Curves, Sessions};
use powerband_app::curves::APART;
use powerband_app::curves::claims::{is_published, pin_details as published_words};
use powerband_app::items::MenuTarget;
use powerband_app::sessions::{self, Pin};
use powerband_core::base::humanize::{self};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::plan::p99_samples;
use powerband_core::domain::point::Point;
use powerband_findings::analysis::batch_curve::{Efficiency, Statistic};
use powerband_findings::analysis::energy::EnergyKind;
use powerband_findings::analysis::peak;
use powerband_findings::chart::spec::{ChartSpec, SeriesId};

/// So many other series are listed beside a point.
const MOST_BESIDE: usize = 8;
/// Letters of their names.
const LONGEST_BESIDE: usize = 26;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if app.shared.sessions.is_empty() {
        return empty(ui, app, actions);
    }
    let mut changes = Vec::new();
    header(ui, app, &mut changes);
    ui.add_space(space::MEDIUM);
    let before = changes.len();
    let drawn = &app.curves.drawn;
    super::scrolled(ui, |ui| {
        let left_out = charts::left_out(ui, app);
        legend::show(ui, app, &left_out, &mut changes, actions);
        if drawn.apart > 0 {
            label::faint(ui, APART);
        }
        ui.add_space(space::SMALL);
        imported::show(ui, app);
        dimensions::show(ui, app, &mut changes);
        if app.curves.shows_curves() {
            charts::show(ui, app, &mut changes, actions);
            ui.add_space(space::MEDIUM);
        }
        map::show(ui, app, &mut changes, actions);
        cards::best(ui, app, &mut changes);
        if !two_pins::show(ui, app, &mut changes, actions) {
            cards::pinned(ui, app, &mut changes);
        }
        if drawn.legend.iter().any(|entry| !is_published(entry.id)) {
            cases(ui, app, &mut changes, actions);
            ui.add_space(space::MEDIUM);
        }
        shapes::show(ui, app, &mut changes, actions);
        resources(ui, app, &mut changes, actions);
        trade_off::show(ui, app, &mut changes, actions);
        claims::show(ui, app, actions);
    });
    let is_touched = changes[before..]
        .iter()
        .any(|change| matches!(change, Curves::Highlight(_)));
    if !is_touched && app.curves.highlighted.is_some() {
        changes.push(Curves::Highlight(None));
    }
    super::each(changes, Action::Curves, actions);
}

fn empty(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    label::screen_title(ui, "Curves", "Latency and throughput against batch size");
    ui.add_space(ui.available_height() * 0.25);
    ui.vertical_centered(|ui| {
        let sentence =
            "Open one from the library, drop a file, or run a plan. Several can be open at once.";
        label::empty(ui, icon::CURVES, "No session is open", sentence);
        if !app.shared.has_machine() {
            return;
        }
        if button::primary(ui, Some(icon::OPEN), "Open files…").clicked() {
            actions.push(Action::Sessions(Sessions::Choose));
        }
        ui.add_space(space::SMALL);
        if button::labelled(ui, None, "Benchmark ResNet-50").clicked() {
            actions.push(Action::Run(powerband_app::action::RunAction::StartFirst));
        }
    });
}

fn header(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>) {
    let options = &app.curves.options;
    let legend = &app.curves.drawn.legend;
    let drawn = app.curves.drawn_sessions();
    let measured = legend.iter().filter(|entry| !is_published(entry.id));
    let measured = measured.map(|entry| sessions::of_series(entry.id));
    let setups = measured.filter(|(session, _)| drawn.contains(session));
    let setups = setups.collect::<BTreeSet<_>>().len();
    let open = app.shared.sessions.iter();
    let open = open.filter(|open| drawn.is_empty() || drawn.contains(&open.id));
    let names: Vec<&str> = open.map(|open| open.session.name.as_str()).collect();
    // A session without curves, such as an imported profile, stands nowhere here.
    let of_legend = legend.iter().map(|entry| sessions::of_series(entry.id).0);
    let more = of_legend.filter(|session| !drawn.is_empty() && !drawn.contains(session));
    let more = more.collect::<BTreeSet<_>>().len();
    let held = if setups == 0 && !legend.is_empty() {
        "not measured here".to_owned()
    } else {
        humanize::pluralised(setups as u64, "setup")
    };
    let more = match more {
        0 => String::new(),
        more => format!(
            "; {} more open, in the legend",
            humanize::count(more as u64)
        ),
    };
    let sentence = format!("{}, {held}{more}", humanize::list(&names));
    super::screen_header(ui, "Curves", &sentence, super::NARROW_HEAD, |ui| {
        super::in_order(ui, 3, |ui, place| match place {
            0 => statistics(ui, options.statistic, changes),
            1 => efficiencies(ui, options.efficiency, changes),
            _ => arrangement(ui, app.curves.stacked, changes),
        });
    });
}

/// How the charts stand.
fn arrangement(ui: &mut Ui, is_stacked: bool, changes: &mut Vec<Curves>) {
    if !ui.layout().prefer_right_to_left() {
        // In a narrow window, where the buttons stand below the title.
        ui.end_row();
    }
    let choices = [
        (
            false,
            "side by side".to_owned(),
            "The charts beside each other",
        ),
        (
            true,
            "stacked".to_owned(),
            "One chart below the other, over the whole width",
        ),
    ];
    let taken = segmented::show(ui, "Charts", is_stacked, &choices);
    changes.extend(taken.map(Curves::Stack));
}

fn statistics(ui: &mut Ui, chosen: Statistic, changes: &mut Vec<Curves>) {
    let choices: Vec<(Statistic, String, &str)> = Statistic::ALL
        .iter()
        .map(|statistic| {
            (
                *statistic,
                statistic.to_string(),
                statistic_help(*statistic),
            )
        })
        .collect();
    let taken = segmented::show(ui, "Latency", chosen, &choices);
    changes.extend(taken.map(Curves::Statistic));
}

fn efficiencies(ui: &mut Ui, chosen: Efficiency, changes: &mut Vec<Curves>) {
    let choices: Vec<(Efficiency, String, &str)> = Efficiency::ALL
        .iter()
        .map(|kind| (*kind, kind.to_string(), kind.sentence()))
        .collect();
    let taken = segmented::show(ui, "Efficiency", chosen, &choices);
    changes.extend(taken.map(Curves::Efficiency));
}

fn statistic_help(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Median => "Half of all samples are faster; outliers hardly change it",
        Statistic::Mean => "Total time divided by the number of samples; outliers change it",
        Statistic::P90 => "90 of 100 samples are faster; shown from 64 samples on",
        Statistic::P99 => concat!(
            "99 of 100 samples are faster; shown from ",
            p99_samples!(),
            " samples on"
        ),
    }
}

/// Memory and energy, where they were reported.
fn resources(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>, actions: &mut Vec<Action>) {
    let drawn = &app.curves.drawn;
    let is_known = !drawn.memory.is_empty() || !drawn.energy.is_empty();
    if !is_known && app.curves.options.energy == EnergyKind::default() {
        return;
    }
    let alone = app.curves.shown_alone();
    let width = (ui.available_width() - space::MEDIUM) / 2.0;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::MEDIUM;
        // One that is shown alone stands above.
        if alone != Some("memory") {
            cards::memory(ui, width, app, changes, actions);
        }
        if alone != Some("energy") {
            cards::energy(ui, width, app, changes, actions);
        }
    });
    ui.add_space(space::MEDIUM);
}

pub(super) fn react(
    touched: chart::ChartInput,
    app: &App,
    spec: &ChartSpec,
    changes: &mut Vec<Curves>,
    actions: &mut Vec<Action>,
) {
    let pin_of = |(series, tag): (SeriesId, u64)| {
        let (session, setup) = sessions::of_series(series);
        let point = app.curves.point_at(&app.shared.sessions, series, tag);
        let point = point.unwrap_or_else(|| Point::of_batch(tag as usize));
        Pin {
            session,
            case: CaseKey { setup, point },
        }
    };
    let item = touched.hovered.map(|point| {
        if is_published(point.0) {
            MenuTarget::Series(point.0)
        } else {
            MenuTarget::Case(pin_of(point))
        }
    });
    let pinned = app.curves.pin.map(MenuTarget::Case);
    menu::of_hovered(&touched.response, app, item, pinned, actions);
    if let Some(point) = touched.hovered {
        changes.push(Curves::Highlight(Some(point.0)));
        if menu::is_open(&touched.response) {
            return;
        }
        let pin = pin_of(point);
        let words =
            published_words(&app.shared.sessions, pin).unwrap_or_else(|| hover_words(app, pin));
        tip::show(&touched.response, |ui| {
            hover(ui, &words);
            other_series(ui, spec, point);
        });
    } else if let Some(reason) = touched.failed {
        tip::show_text(&touched.response, reason);
    }
    // Published numbers have no samples.
    let clicked = touched.clicked.filter(|point| !is_published(point.0));
    if let Some(point) = clicked {
        let is_second = touched.response.ctx.input(|input| input.modifiers.shift);
        changes.push(pinned_by(app, pin_of(point), is_second));
    }
}

/// What a click on a case does: with Shift it is pinned beside the first.
fn pinned_by(app: &App, pin: Pin, is_second: bool) -> Curves {
    if is_second {
        Curves::PinSecond(Some(pin))
    } else {
        Curves::Pin((app.curves.pin != Some(pin)).then_some(pin))
    }
}

fn hover_words(app: &App, pin: Pin) -> Vec<(String, String)> {
    let mut cases = app.curves.drawn.cases.iter();
    let source = cases.position(|case| case.pin == pin);
    let Some((view, source)) = app.shared.tables.view("cases").zip(source) else {
        return Vec::new();
    };
    let row = view.row(source);
    let cells = row.iter();
    let mut words: Vec<(String, String)> = cells
        .map(|(head, cell)| (head.title.to_owned(), cell.shown_text().to_owned()))
        .collect();
    if app.curves.options.efficiency == Efficiency::OfPeak
        && let Some(open) = app.shared.sessions.get(pin.session)
        && let Ok(peak) = peak::peak_of_setup(&open.session, pin.case.setup)
    {
        words.push((String::new(), format!("The peak is {}.", peak.description)));
    }
    let outcome = row
        .iter()
        .filter(|(head, _)| head.key == "flags_and_outcome");
    let remarks = outcome.filter(|(_, cell)| !cell.note.is_empty());
    words.extend(remarks.map(|(_, cell)| (String::new(), cell.note.clone())));
    words
}

/// What the other series say at the same batch size.
fn other_series(ui: &mut Ui, spec: &ChartSpec, (series, tag): (SeriesId, u64)) {
    let others = spec.values_at(tag);
    let others: Vec<_> = others.iter().filter(|(one, _)| one.id != series).collect();
    if others.is_empty() {
        return;
    }
    ui.add_space(space::TINY);
    let (size, what) = (humanize::count(tag), &spec.y.title);
    let along = match spec.x.title.as_str() {
        "batch size" => "batch",
        other => other,
    };
    label::faint(ui, &format!("Beside it at {along} {size}, {what}"));
    for (one, value) in others.iter().take(MOST_BESIDE) {
        ui.horizontal(|ui| {
            ui.set_width(260.0);
            marker::inline(ui, one.colour);
            label::pair(ui, &humanize::shorten(&one.name, LONGEST_BESIDE), value);
        });
    }
    if others.len() > MOST_BESIDE {
        let more = humanize::pluralised((others.len() - MOST_BESIDE) as u64, "more series");
        label::faint(ui, &format!("and {more}"));
    }
}

fn hover(ui: &mut Ui, words: &[(String, String)]) {
    ui.set_max_width(320.0);
    for (name, value) in words {
        if name.is_empty() {
            label::quiet(ui, value);
        } else {
            ui.horizontal(|ui| {
                ui.set_width(260.0);
                label::pair(ui, name, value);
            });
        }
    }
}

fn cases(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>, actions: &mut Vec<Action>) {
    let cases = &app.curves.drawn.cases;
    super::rows_card(ui, |ui| {
        let title = |ui: &mut Ui| {
            ui.add_space(10.0);
            label::card_title(ui, "Cases");
        };
        if !data_table::tools(ui, app, "cases", actions, title) {
            return;
        }
        let name = |row: usize| {
            let case = cases.get(row).map(|case| case.pin);
            case.map_or_else(String::new, |pin| case_name(app, pin))
        };
        let lead = |ui: &mut Ui, row: usize| {
            if let Some(case) = cases.get(row) {
                marker::inline(ui, case.colour);
            }
        };
        let pinned = app.curves.pin;
        let table = DataTable {
            id: "cases",
            height: (ui.ctx().content_rect().height() * 0.42).max(240.0),
            selected: pinned.and_then(|pin| cases.iter().position(|case| case.pin == pin)),
            name: Some(&name),
            lead: Some(&lead),
            ..DataTable::default()
        };
        let touched = table.show(ui, app, actions);
        if let Some(case) = touched.clicked.and_then(|row| cases.get(row)) {
            changes.push(pinned_by(app, case.pin, false));
        }
        if let Some(case) = touched.hovered.and_then(|row| cases.get(row)) {
            let series = sessions::series(case.pin.session, case.pin.case.setup);
            changes.push(Curves::Highlight(Some(series)));
        }
    });
}

/// The name of a row.
fn case_name(app: &App, pin: Pin) -> String {
    let name = app.shared.sessions.series_name(pin.session, pin.case.setup);
    format!("Case of {name}, {}", pin.case.point)
}
