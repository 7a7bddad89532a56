//! The charts over batch sizes: side by side, stacked, one of them alone, or a row for each model.

use eframe::egui::{Align, Layout, TextWrapMode, Ui, UiBuilder, vec2};

use super::{react, title, trade_off};
use crate::icon;
use crate::theme::{self, space};
use crate::widgets::chart::{self, ChartOptions};
use crate::widgets::{button, field, label, segmented};
use powerband_app::App;
use powerband_app::action::{Action, Curves};
use powerband_app::curves::claims::is_published;
use powerband_app::curves::models::is_alone;
use powerband_app::sessions;
use powerband_core::base::humanize;
use powerband_core::domain::plan::p99_samples;
use powerband_core::domain::point::BATCH;
use powerband_findings::analysis::batch_curve::{Efficiency, Statistic};
use powerband_findings::analysis::peak;
use powerband_findings::chart::layout::labels::OmittedLabel;
use powerband_findings::chart::limit::limit_of;
use powerband_findings::chart::spec::{AxisScale, ChartSpec, SeriesId};

/// Least height of the charts.
const CHART: f32 = 240.0;
/// The same of those of one model among several.
const CHART_OF_MODEL: f32 = 200.0;
/// Height of what stands above them: that of a switch.
const CHART_HEAD: f32 = 32.0;
/// Width from which on three charts stand side by side.
const WIDE: f32 = 960.0;
/// Width of the field for the latency limit.
const LIMIT_FIELD: f32 = 76.0;

/// What an enlarged chart has of the window's height.
const ENLARGED: f32 = 0.66;

/// The charts over batch sizes: latency, throughput, efficiency.
struct BatchCharts<'a> {
    /// The model that they are of, where each has its own.
    model: Option<&'a str>,
    latency: &'a ChartSpec,
    throughput: &'a ChartSpec,
    efficiency: &'a ChartSpec,
}

/// One chart: what it is, by its id, and the name by which its zoom is kept.
struct Card<'a> {
    id: &'static str,
    name: String,
    spec: &'a ChartSpec,
    size: (f32, f32),
}

impl BatchCharts<'_> {
    fn card(&self, place: usize, size: (f32, f32)) -> Card<'_> {
        let (id, spec) = match place {
            0 => ("latency", self.latency),
            1 => ("throughput", self.throughput),
            _ => ("efficiency", self.efficiency),
        };
        Card {
            id,
            name: name_of(id, self.model),
            spec,
            size,
        }
    }
}

fn name_of(id: &str, model: Option<&str>) -> String {
    model.map_or_else(|| id.to_owned(), |model| format!("{id} of {model}"))
}

pub(super) fn show(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>, actions: &mut Vec<Action>) {
    let drawn = &app.curves.drawn;
    models(ui, app, changes);
    if let Some(id) = app.curves.shown_alone() {
        return single_chart(ui, id, app, changes, actions);
    }
    if drawn.by_model.is_empty() {
        let all = BatchCharts {
            model: None,
            latency: &drawn.latency,
            throughput: &drawn.throughput,
            efficiency: &drawn.efficiency,
        };
        return batch_charts(ui, &all, CHART, app, changes, actions);
    }
    for (place, charts) in drawn.by_model.iter().enumerate() {
        if place > 0 {
            ui.add_space(space::MEDIUM);
        }
        label::card_title(ui, &charts.name);
        ui.add_space(space::TINY);
        let of_model = BatchCharts {
            model: Some(&charts.name),
            latency: &charts.latency,
            throughput: &charts.throughput,
            efficiency: &charts.efficiency,
        };
        batch_charts(ui, &of_model, CHART_OF_MODEL, app, changes, actions);
    }
}

/// What the charts have no room for, for the legend above them.
pub(super) fn left_out(ui: &Ui, app: &App) -> Vec<OmittedLabel> {
    let by_model = &app.curves.drawn.by_model;
    if by_model.is_empty() {
        return chart::left_out(ui, "throughput");
    }
    let names = by_model.iter();
    let names = names.map(|charts| name_of("throughput", Some(&charts.name)));
    names.flat_map(|name| chart::left_out(ui, &name)).collect()
}

/// Says that the charts are of several models, and offers to keep these apart.
fn models(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>) {
    let models = &app.curves.drawn.models;
    if models.len() < 2 {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = space::SMALL;
        let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
        let only = (0..models.len()).find(|place| is_alone(models, *place));
        let words = match only {
            Some(place) => format!("1 of {} models: {}", models.len(), names[place]),
            None => format!("{} models: {}", models.len(), humanize::list(&names)),
        };
        label::quiet(ui, &words);
        if only.is_some() {
            if button::labelled(ui, None, "Show every model").clicked() {
                changes.push(Curves::ShowAll);
            }
            return;
        }
        let is_grouped = app.curves.groups_by_model;
        let (words, help) = if is_grouped {
            ("Together in one chart", "All models in the same charts")
        } else {
            ("Group by model", "Charts of its own for each model")
        };
        let response = button::labelled(ui, None, words).on_hover_text(help);
        if response.clicked() {
            changes.push(Curves::GroupByModel(!is_grouped));
        }
    });
    ui.add_space(space::SMALL);
}

fn batch_charts(
    ui: &mut Ui,
    charts: &BatchCharts<'_>,
    least: f32,
    app: &App,
    changes: &mut Vec<Curves>,
    actions: &mut Vec<Action>,
) {
    let all = ui.available_width();
    let share = ui.ctx().content_rect().height() * 0.32;
    let height = share.clamp(least, 430.0_f32.min(least * 1.8));
    if app.curves.stacked {
        for place in 0..3 {
            if place > 0 {
                ui.add_space(space::MEDIUM);
            }
            chart_card(
                ui,
                &charts.card(place, (all, height)),
                app,
                changes,
                actions,
            );
        }
        return;
    }
    let count = if all > WIDE { 3 } else { 2 };
    let width = (all - (count - 1) as f32 * space::MEDIUM) / count as f32;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::MEDIUM;
        for place in 0..count {
            chart_card(
                ui,
                &charts.card(place, (width, height)),
                app,
                changes,
                actions,
            );
        }
    });
    if count == 2 {
        ui.add_space(space::MEDIUM);
        let size = (ui.available_width(), CHART * 0.75);
        chart_card(ui, &charts.card(2, size), app, changes, actions);
    }
}

/// One chart in the place of those over batch sizes.
fn single_chart(
    ui: &mut Ui,
    id: &'static str,
    app: &App,
    changes: &mut Vec<Curves>,
    actions: &mut Vec<Action>,
) {
    let drawn = &app.curves.drawn;
    let pinned = app.curves.pinned.as_ref();
    let spec = match id {
        "throughput" => &drawn.throughput,
        "efficiency" => &drawn.efficiency,
        "memory" => &drawn.memory,
        "energy" => &drawn.energy,
        "trade-off" => &drawn.trade_off.chart,
        "histogram" => pinned.map_or(&drawn.latency, |pinned| &pinned.histogram),
        "strip" => pinned.map_or(&drawn.latency, |pinned| &pinned.strip),
        _ => &drawn.latency,
    };
    let height = (ui.ctx().content_rect().height() * ENLARGED).max(CHART);
    let card = Card {
        id,
        name: id.to_owned(),
        spec,
        size: (ui.available_width(), height),
    };
    chart_card(ui, &card, app, changes, actions);
}

fn chart_card(
    ui: &mut Ui,
    card: &Card<'_>,
    app: &App,
    changes: &mut Vec<Curves>,
    actions: &mut Vec<Action>,
) {
    let (spec, (width, height)) = (card.spec, card.size);
    theme::card(ui).show(ui, |ui| {
        ui.set_width(width - 34.0);
        ui.vertical(|ui| {
            chart_head(ui, card, app, changes);
            if spec.is_empty() {
                nothing(ui, height, &why_nothing(app, card.id));
                return;
            }
            let look = ChartOptions {
                height,
                highlighted: app.curves.highlighted,
                zooms: true,
                crosshair: !matches!(card.id, "trade-off" | "histogram" | "strip"),
            };
            let touched = chart::show(ui, &card.name, spec, look);
            if !spec.has_points() {
                // Failures have their marks at the foot, where nothing may cover them.
                let place = touched.response.rect;
                let place = place.with_max_y(place.center().y);
                let inside = UiBuilder::new().max_rect(place);
                nothing(
                    &mut ui.new_child(inside),
                    place.height(),
                    &why_nothing(app, card.id),
                );
            }
            if let Some(y) = touched.limit {
                changes.push(Curves::DragLimit(limit_of(spec, y)));
            } else if touched.let_go {
                // The axis stayed fixed during the drag, and may now make room for the limit.
                changes.push(Curves::Limit(app.curves.options.limit_ns));
            }
            match card.id {
                "histogram" | "strip" => {}
                "trade-off" => trade_off::react(&touched, app, changes),
                _ => react(touched, app, spec, changes, actions),
            }
        });
    });
}

/// The title of a chart, and at its right the switch of its axis.
fn chart_head(ui: &mut Ui, card: &Card<'_>, app: &App, changes: &mut Vec<Curves>) {
    let options = &app.curves.options;
    let size = vec2(ui.available_width(), CHART_HEAD);
    // As high with a switch as without, so that neighbouring charts align.
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_height(CHART_HEAD);
        match card.id {
            "latency" => {
                limit_controls(ui, app, changes);
                let taken = axis(ui, "Latency axis", options.log_y, "times");
                changes.extend(taken.map(Curves::LogLatency));
            }
            "throughput" => {
                let taken = axis(
                    ui,
                    "Throughput axis",
                    card.spec.y.scale == AxisScale::Log10,
                    "rates",
                );
                changes.extend(taken.map(Curves::LogThroughput));
            }
            _ => {}
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.style_mut().wrap_mode = Some(TextWrapMode::Truncate);
            let sentence = match card.id {
                "efficiency" => options.efficiency.sentence(),
                _ => "",
            };
            title::show(ui, card.id, &card.spec.title, sentence, app, changes);
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
    label::in_the_middle(ui, height, words);
}

/// Why a chart is empty.
fn why_nothing(app: &App, id: &str) -> String {
    let options = &app.curves.options;
    let shown = || app.curves.drawn.legend.iter().filter(|entry| entry.shown);
    let is_measured = |series: SeriesId| {
        let (session, setup) = sessions::of_series(series);
        let curves = app.shared.sessions.get(session).into_iter();
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
        ("latency", Statistic::P90, _) => {
            "No case has the 64 samples that p90 needs. The standard preset takes them."
        }
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
        ("efficiency", _, Efficiency::OfBest) if app.curves.drawn.throughput.has_points() => {
            "A share of the best compares batch sizes; only one was measured."
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
        (_, _, Efficiency::Scaling) if app.curves.drawn.axes.x != BATCH => {
            "Scaling compares batch sizes, so it is not drawn over another dimension."
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
        let session = &app.shared.sessions.get(session)?.session;
        match peak::peak_of_setup(session, setup) {
            Err(why) => Some(why),
            Ok(_) if session.model_of(setup).macs.is_none() => {
                Some("the operations of the network could not be counted".to_owned())
            }
            Ok(_) => None,
        }
    })
}

/// The limit, to be typed, and what suggests or removes it. Both have their room whether there is a limit or not.
fn limit_controls(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>) {
    let limit = app.curves.options.limit_ns;
    if limit.is_none() {
        if button::small_icon(ui, icon::LIMIT, "Set a latency limit").clicked() {
            changes.push(Curves::Limit(app.shared.sessions.suggested_limit_ns()));
        }
    } else if button::small_icon(ui, icon::CLOSE, "Remove the latency limit").clicked() {
        changes.push(Curves::Limit(None));
    }
    let typed = field::within(ui, LIMIT_FIELD, |ui| {
        let id = ui.scope_id().with("limit");
        let shown = limit.map_or_else(String::new, humanize::duration_ns);
        field::draft(ui, id, "Latency limit", &shown, "limit", 1, false)
    });
    // A number alone is in the unit of the axis; what is no time leaves the limit as it was.
    let unit = app.curves.drawn.latency.y.title.split(' ').next();
    let typed = typed.and_then(|text| {
        let with_unit = format!("{} {}", text.trim(), unit.unwrap_or("ms"));
        humanize::parse_duration_ns(&text).or_else(|| humanize::parse_duration_ns(&with_unit))
    });
    changes.extend(typed.map(|limit| Curves::Limit(Some(limit))));
}
