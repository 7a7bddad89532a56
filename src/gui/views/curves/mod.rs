//! Curves: latency, throughput and efficiency against batch size, the best within a limit, one case's
//! samples, the table of all, what the shapes say, memory and energy, speed beside accuracy, and what the
//! engine made of the network.

mod cards;
mod claims;
mod graph;
mod imported;
mod shapes;
mod trade_off;

use eframe::egui::{Align, Layout, Sense, TextWrapMode, Ui, UiBuilder, vec2};

use crate::gui::icon;
use crate::gui::theme::{self, space};
use crate::gui::widgets::chart::{self, Look};
use crate::gui::widgets::data_table::{self, DataTable};
use crate::gui::widgets::{button, label, legend, marker, menu, segmented, tip};
use powerband_app::App;
use powerband_app::action::{Action, Curves, Sessions};
use powerband_app::curves::claims::{is_published, pin_details as published_words};
use powerband_app::curves::{APART, CHARTS};
use powerband_app::items::Item;
use powerband_app::sessions::{self, Pin};
use powerband_core::base::humanize::{self};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::plan::p99_samples;
use powerband_findings::analysis::batch_curve::{Efficiency, Statistic};
use powerband_findings::analysis::energy::EnergyKind;
use powerband_findings::analysis::peak;
use powerband_findings::chart::limit::limit_of;
use powerband_findings::chart::spec::{ChartSpec, SeriesId};

/// Least height of the charts.
const CHART: f32 = 240.0;
/// Height of what stands above them: that of a switch.
const CHART_HEAD: f32 = 32.0;

/// What an enlarged chart has of the window's height.
const ENLARGED: f32 = 0.66;
/// How a chart is enlarged, and made small again.
const ENLARGING: &str = "Double-click to see this chart alone, and again or Escape for all";

/// So many other series are listed beside a point.
const MOST_BESIDE: usize = 8;
/// Letters of their names.
const LONGEST_BESIDE: usize = 26;

/// Shows it.
pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if app.sessions.is_empty() {
        return empty(ui, actions);
    }
    let mut changes = Vec::new();
    head(ui, app, &mut changes);
    ui.add_space(space::MEDIUM);
    let before = changes.len();
    let drawn = &app.curves.drawn;
    super::scrolled(ui, |ui| {
        let left_out = chart::left_out(ui, "throughput");
        legend::show(ui, app, &left_out, &mut changes, actions);
        if drawn.apart > 0 {
            label::faint(ui, APART);
        }
        ui.add_space(space::SMALL);
        imported::show(ui, app);
        charts(ui, app, &mut changes, actions);
        ui.add_space(space::MEDIUM);
        cards::best(ui, app, &mut changes);
        cards::pinned(ui, app, &mut changes);
        if drawn.legend.iter().any(|entry| !is_published(entry.id)) {
            cases(ui, app, &mut changes, actions);
            ui.add_space(space::MEDIUM);
        }
        shapes::show(ui, app, &mut changes, actions);
        resources(ui, app, &mut changes, actions);
        trade_off::show(ui, app, &mut changes, actions);
        graph::show(ui, app, &mut changes, actions);
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

fn empty(ui: &mut Ui, actions: &mut Vec<Action>) {
    label::screen_title(ui, "Curves", "Latency and throughput against batch size");
    ui.add_space(ui.available_height() * 0.25);
    ui.vertical_centered(|ui| {
        let sentence =
            "Open one from the library, drop a file, or run a plan. Several can be open at once.";
        label::empty(ui, icon::CURVES, "No session is open", sentence);
        if button::primary(ui, Some(icon::OPEN), "Open files…").clicked() {
            actions.push(Action::Sessions(Sessions::Choose));
        }
        ui.add_space(space::SMALL);
        if button::plain(ui, None, "Benchmark ResNet-50").clicked() {
            actions.push(Action::Run(powerband_app::action::Run::StartFirst));
        }
    });
}

fn head(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>) {
    let options = &app.curves.options;
    let legend = &app.curves.drawn.legend;
    let setups = legend
        .iter()
        .filter(|entry| !is_published(entry.id))
        .count();
    let names: Vec<&str> = app
        .sessions
        .iter()
        .map(|open| open.session.name.as_str())
        .collect();
    let held = if setups == 0 && !legend.is_empty() {
        "not measured here".to_owned()
    } else {
        humanize::of_many(setups as u64, "setup")
    };
    let sentence = format!("{}, {held}", humanize::list(&names));
    super::head(ui, "Curves", &sentence, super::NARROW_HEAD, |ui| {
        super::in_order(ui, 2, |ui, place| match place {
            0 => statistics(ui, options.statistic, changes),
            _ => efficiencies(ui, options.efficiency, changes),
        });
    });
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
        Statistic::P99 => concat!(
            "99 of 100 samples are faster; shown from ",
            p99_samples!(),
            " samples on"
        ),
    }
}

fn charts(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>, actions: &mut Vec<Action>) {
    let drawn = &app.curves.drawn;
    if let Some(id) = app.curves.enlarged {
        let spec = match id {
            "throughput" => &drawn.throughput,
            "efficiency" => &drawn.efficiency,
            _ => &drawn.latency,
        };
        let height = (ui.ctx().content_rect().height() * ENLARGED).max(CHART);
        let size = (ui.available_width(), height);
        return chart_card(ui, size, id, spec, app, changes, actions);
    }
    let is_wide = ui.available_width() > 880.0;
    let count = if is_wide { 3.0 } else { 2.0 };
    let width = (ui.available_width() - (count - 1.0) * space::MEDIUM) / count;
    let height = (ui.ctx().content_rect().height() * 0.32).clamp(CHART, 430.0);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::MEDIUM;
        let size = (width, height);
        chart_card(ui, size, "latency", &drawn.latency, app, changes, actions);
        chart_card(
            ui,
            size,
            "throughput",
            &drawn.throughput,
            app,
            changes,
            actions,
        );
        if is_wide {
            chart_card(
                ui,
                size,
                "efficiency",
                &drawn.efficiency,
                app,
                changes,
                actions,
            );
        }
    });
    if !is_wide {
        ui.add_space(space::MEDIUM);
        let size = (ui.available_width(), CHART * 0.75);
        chart_card(
            ui,
            size,
            "efficiency",
            &drawn.efficiency,
            app,
            changes,
            actions,
        );
    }
}

/// Memory and energy, where they were reported.
fn resources(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>, actions: &mut Vec<Action>) {
    let drawn = &app.curves.drawn;
    let is_known = !drawn.memory.is_empty() || !drawn.energy.is_empty();
    if !is_known && app.curves.options.energy == EnergyKind::default() {
        return;
    }
    let width = (ui.available_width() - space::MEDIUM) / 2.0;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::MEDIUM;
        cards::memory(ui, width, app, changes, actions);
        cards::energy(ui, width, app, changes, actions);
    });
    ui.add_space(space::MEDIUM);
}

fn chart_card(
    ui: &mut Ui,
    (width, height): (f32, f32),
    id: &str,
    spec: &ChartSpec,
    app: &App,
    changes: &mut Vec<Curves>,
    actions: &mut Vec<Action>,
) {
    theme::card(ui).show(ui, |ui| {
        ui.set_width(width - 34.0);
        ui.vertical(|ui| {
            chart_head(ui, id, &spec.title, app, changes);
            if spec.is_empty() {
                nothing(ui, height, &why_nothing(app, id));
                return;
            }
            let look = Look {
                height,
                highlighted: app.curves.highlighted,
                zooms: false,
                crosshair: true,
            };
            let touched = chart::show(ui, id, spec, look);
            if !spec.has_points() {
                // Failures have their marks at the foot, where nothing may cover them.
                let place = touched.response.rect;
                let place = place.with_max_y(place.center().y);
                let inside = UiBuilder::new().max_rect(place);
                nothing(
                    &mut ui.new_child(inside),
                    place.height(),
                    &why_nothing(app, id),
                );
            }
            if let Some(y) = touched.limit {
                changes.push(Curves::DragLimit(limit_of(&app.curves.drawn.latency, y)));
            } else if touched.let_go {
                // The axis stayed fixed during the drag, and may now make room for the limit.
                changes.push(Curves::Limit(app.curves.options.limit_ns));
            }
            react(touched, app, spec, changes, actions);
        });
    });
}

/// The title of a chart, and at its right the switch of its axis.
fn chart_head(ui: &mut Ui, id: &str, title: &str, app: &App, changes: &mut Vec<Curves>) {
    let options = &app.curves.options;
    let size = vec2(ui.available_width(), CHART_HEAD);
    // As high with a switch as without, so that neighbouring charts align.
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_height(CHART_HEAD);
        match id {
            "latency" => {
                limit_button(ui, app, changes);
                let taken = axis(ui, "Latency axis", options.log_y, "times");
                changes.extend(taken.map(Curves::LogLatency));
            }
            "throughput" => {
                let taken = axis(ui, "Throughput axis", options.log_throughput, "rates");
                changes.extend(taken.map(Curves::LogThroughput));
            }
            _ => {}
        }
        let turned = if app.curves.enlarged.is_some() {
            Some(Curves::Enlarge(None))
        } else {
            let known = CHARTS.iter().find(|(known, _)| *known == id);
            known.map(|(id, _)| Curves::Enlarge(Some(id)))
        };
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.style_mut().wrap_mode = Some(TextWrapMode::Truncate);
            let shown = label::card_title(ui, title);
            let sentence = match id {
                "efficiency" => options.efficiency.sentence(),
                _ => "",
            };
            let words = format!("{sentence}\n{ENLARGING}");
            let double = ui.interact(shown.rect, shown.id.with("double"), Sense::CLICK);
            if double.on_hover_text(words.trim()).double_clicked() {
                changes.extend(turned);
            }
        });
    });
}

/// Whether an axis is logarithmic; the answer is what was chosen instead.
fn axis(ui: &mut Ui, name: &str, is_logarithmic: bool, of: &str) -> Option<bool> {
    let linear = format!("Linear: equal steps for equal {of}, from zero");
    let choices = [
        (
            true,
            "log".to_owned(),
            "Logarithmic: equal steps for equal ratios, for orders of magnitude",
        ),
        (false, "linear".to_owned(), linear.as_str()),
    ];
    segmented::show(ui, name, is_logarithmic, &choices)
}

fn nothing(ui: &mut Ui, height: f32, words: &str) {
    ui.allocate_ui(vec2(ui.available_width(), height), |ui| {
        ui.centered_and_justified(|ui| label::quiet(ui, words));
    });
}

/// Why a chart is empty.
fn why_nothing(app: &App, id: &str) -> String {
    let options = &app.curves.options;
    let shown = || app.curves.drawn.legend.iter().filter(|entry| entry.shown);
    let is_measured = |series: SeriesId| {
        let (session, setup) = sessions::of_series(series);
        let curves = app.sessions.get(session).into_iter();
        let mut curves = curves.flat_map(|open| open.findings.curves.iter());
        curves.any(|curve| curve.setup == setup && !curve.points.is_empty())
    };
    if shown().next().is_none() && !app.curves.hidden.is_empty() {
        return "Every series is hidden. Click one in the legend.".to_owned();
    }
    if !shown().any(|entry| is_measured(entry.id)) {
        return "No case was measured.".to_owned();
    }
    let words = match (id, options.statistic, options.efficiency) {
        ("latency", Statistic::P99, _) => {
            concat!(
                "No case has the ",
                p99_samples!(),
                " samples that p99 needs. The publish preset takes them."
            )
        }
        ("latency", statistic, _) => {
            let name = statistic.to_string().to_lowercase();
            return format!("No case has a {name}.");
        }
        ("throughput", ..) | (_, _, Efficiency::OfBest) => "No case has a throughput.",
        (_, _, Efficiency::OfPeak) => {
            let why = no_peak(app);
            return why.map_or_else(
                || "The peak is not available.".to_owned(),
                |why| format!("The peak is not available: {why}."),
            );
        }
        (_, _, Efficiency::Busy) => {
            "Utilisation is not available: no device reported it during these cases."
        }
        (_, _, Efficiency::Scaling) => "Scaling compares batch sizes; only one was measured.",
    };
    words.to_owned()
}

/// Why no peak is known.
fn no_peak(app: &App) -> Option<String> {
    let shown = app.curves.drawn.legend.iter().filter(|entry| entry.shown);
    let mut shown = shown.filter(|entry| !is_published(entry.id));
    shown.find_map(|entry| {
        let (session, setup) = sessions::of_series(entry.id);
        let session = &app.sessions.get(session)?.session;
        match peak::peak_of_setup(session, setup) {
            Err(why) => Some(why),
            Ok(_) if session.model_of(setup).macs.is_none() => {
                Some("the operations of the network could not be counted".to_owned())
            }
            Ok(_) => None,
        }
    })
}

fn limit_button(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>) {
    if app.curves.options.limit_ns.is_some() {
        if button::small_icon(ui, icon::CLOSE, "Remove the latency limit").clicked() {
            changes.push(Curves::Limit(None));
        }
    } else if button::small_icon(ui, icon::LIMIT, "Set a latency limit").clicked() {
        changes.push(Curves::Limit(app.suggested_limit_ns()));
    }
}

pub(super) fn react(
    touched: chart::Touched,
    app: &App,
    spec: &ChartSpec,
    changes: &mut Vec<Curves>,
    actions: &mut Vec<Action>,
) {
    let pin_of = |(series, tag): (SeriesId, u64)| {
        let (session, setup) = sessions::of_series(series);
        Pin {
            session,
            case: CaseKey {
                setup,
                batch: tag as usize,
            },
        }
    };
    let item = touched.hovered.map(|point| {
        if is_published(point.0) {
            Item::Series(point.0)
        } else {
            Item::Case(pin_of(point))
        }
    });
    menu::of_hovered(&touched.response, app, item, actions);
    if let Some(point) = touched.hovered {
        changes.push(Curves::Highlight(Some(point.0)));
        if menu::is_open(&touched.response) {
            return;
        }
        let pin = pin_of(point);
        let words = published_words(&app.sessions, pin).unwrap_or_else(|| hover_words(app, pin));
        tip::show(&touched.response, |ui| {
            hover(ui, &words);
            beside(ui, spec, point);
        });
    } else if let Some(reason) = touched.failed {
        tip::words(&touched.response, reason);
    }
    // Published numbers have no samples.
    let clicked = touched.clicked.filter(|point| !is_published(point.0));
    if let Some(point) = clicked {
        let pin = pin_of(point);
        changes.push(Curves::Pin((app.curves.pin != Some(pin)).then_some(pin)));
    }
}

fn hover_words(app: &App, pin: Pin) -> Vec<(String, String)> {
    let mut cases = app.curves.drawn.cases.iter();
    let source = cases.position(|case| case.pin == pin);
    let Some((view, source)) = app.tables.view("cases").zip(source) else {
        return Vec::new();
    };
    let row = view.row(source);
    let cells = row.iter();
    let mut words: Vec<(String, String)> = cells
        .map(|(head, cell)| (head.title.to_owned(), cell.shown_text().to_owned()))
        .collect();
    if app.curves.options.efficiency == Efficiency::OfPeak
        && let Some(open) = app.sessions.get(pin.session)
        && let Ok(peak) = peak::peak_of_setup(&open.session, pin.case.setup)
    {
        words.push((String::new(), format!("The peak is {}.", peak.told)));
    }
    let outcome = row
        .iter()
        .filter(|(head, _)| head.key == "flags_and_outcome");
    let remarks = outcome.filter(|(_, cell)| !cell.note.is_empty());
    words.extend(remarks.map(|(_, cell)| (String::new(), cell.note.clone())));
    words
}

/// What the other series say at the same batch size.
fn beside(ui: &mut Ui, spec: &ChartSpec, (series, tag): (SeriesId, u64)) {
    let others = spec.values_at(tag);
    let others: Vec<_> = others.iter().filter(|(one, _)| one.id != series).collect();
    if others.is_empty() {
        return;
    }
    ui.add_space(space::TINY);
    let (batch, what) = (humanize::count(tag), &spec.y.title);
    label::faint(ui, &format!("Beside it at batch {batch}, {what}"));
    for (one, value) in others.iter().take(MOST_BESIDE) {
        ui.horizontal(|ui| {
            ui.set_width(260.0);
            marker::inline(ui, one.colour);
            label::pair(ui, &humanize::shorten(&one.name, LONGEST_BESIDE), value);
        });
    }
    if others.len() > MOST_BESIDE {
        let more = humanize::of_many((others.len() - MOST_BESIDE) as u64, "more series");
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
            tail: None,
        };
        let touched = table.show(ui, app, actions);
        if let Some(case) = touched.clicked.and_then(|row| cases.get(row)) {
            let pin = (pinned != Some(case.pin)).then_some(case.pin);
            changes.push(Curves::Pin(pin));
        }
        if let Some(case) = touched.hovered.and_then(|row| cases.get(row)) {
            let series = sessions::series(case.pin.session, case.pin.case.setup);
            changes.push(Curves::Highlight(Some(series)));
        }
    });
}

/// The name of a row.
fn case_name(app: &App, pin: Pin) -> String {
    let name = app.sessions.series_name(pin.session, pin.case.setup);
    let batch = humanize::count(pin.case.batch as u64);
    format!("Case of {name}, batch {batch}")
}
