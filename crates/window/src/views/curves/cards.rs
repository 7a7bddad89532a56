//! The cards between charts and table: the best batch within the limit, and the pinned case's samples.

use eframe::egui::{Align, CursorIcon, Id, Label, Layout, Rangef, RichText, Sense, Ui, vec2};

use super::{react, title};
use crate::icon;
use crate::theme::{self, size, space, text};
use crate::widgets::chart::{self, ChartOptions};
use crate::widgets::{button, label, lanes, marker, segmented};
use powerband_app::App;
use powerband_app::action::{Action, Curves};
use powerband_app::curves::Pinned;
use powerband_app::curves::best::Best;
use powerband_app::sessions::{LIVE, Pin};
use powerband_core::base::humanize;
use powerband_findings::analysis::case_outliers;
use powerband_findings::analysis::energy::EnergyKind;
use powerband_findings::chart::spec::{Axis, ChartSpec};

/// Width of one setup's best.
const BEST: f32 = 218.0;
/// Setups whose best is shown; the rings on the charts show all.
const MOST: usize = 12;
/// Height of the charts of memory and energy.
const RESOURCE: f32 = 190.0;
/// Height of what stands above them, at most.
const HEAD: f32 = 44.0;
/// Height of a sentence below them.
const LINE: f32 = 26.0;
/// Height of the pinned case's charts.
const SAMPLES: f32 = 170.0;

/// For each setup the best batch within the limit.
pub(super) fn best(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>) {
    let drawn = &app.curves.drawn;
    let (Some(limit), false) = (app.curves.options.limit_ns, drawn.best.is_empty()) else {
        return;
    };
    theme::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.vertical(|ui| {
            ui.horizontal(|ui| {
                let statistic = app.curves.options.statistic.noun();
                let title = format!("Best within {}", humanize::duration_ns(limit));
                label::card_title(ui, &title);
                let rule = format!(
                    "The highest throughput whose {statistic} is within the limit, with 95 % confidence"
                );
                label::faint(
                    ui,
                    &match drawn.best.len().saturating_sub(MOST) {
                        0 => rule,
                        more => format!("{rule}; {more} more setups have rings on the charts"),
                    },
                );
            });
            ui.add_space(space::TINY);
            let columns = ((ui.available_width() / BEST) as usize).max(1);
            let shown = &drawn.best[..drawn.best.len().min(MOST)];
            ui.spacing_mut().item_spacing.y = space::MEDIUM;
            for row in shown.chunks(columns) {
                ui.horizontal_top(|ui| {
                    ui.spacing_mut().item_spacing.x = space::SMALL;
                    for best in row {
                        let size = vec2(BEST - space::SMALL, 0.0);
                        let down = Layout::top_down(Align::LEFT);
                        ui.allocate_ui_with_layout(size, down, |ui| of_one(ui, best, changes));
                    }
                });
            }
        });
    });
    ui.add_space(space::MEDIUM);
}

fn of_one(ui: &mut Ui, best: &Best, changes: &mut Vec<Curves>) {
    ui.set_width(BEST - space::SMALL);
    ui.spacing_mut().item_spacing.y = space::HAIR;
    ui.spacing_mut().interact_size.y = 18.0;
    ui.horizontal(|ui| {
        marker::inline(ui, best.colour);
        ui.add(Label::new(&best.name).truncate());
    });
    let Some((pin, batch, words)) = &best.case else {
        label::quiet(ui, &best.note);
        return;
    };
    // A point of several dimensions has no room in the size of one number.
    let size = if pin.case.point.others().next().is_some() {
        text::CARD
    } else {
        text::BIG
    };
    let big = RichText::new(batch).font(theme::numbers(size));
    let response = ui.add(Label::new(big).sense(Sense::click()));
    let response = response.accessible_name(format!("{}: {batch}, {words}", best.name));
    if response.on_hover_cursor(CursorIcon::PointingHand).clicked() {
        changes.push(Curves::Pin(Some(*pin)));
    }
    let words = RichText::new(words).font(theme::numbers(text::CAPTION));
    let words = words.color(theme::roles(ui).quiet);
    ui.add(Label::new(words).truncate());
    if !best.note.is_empty() {
        label::faint(ui, &best.note);
    }
}

/// Memory of each batch, and the estimate for larger ones.
pub(super) fn memory(
    ui: &mut Ui,
    width: f32,
    app: &App,
    changes: &mut Vec<Curves>,
    actions: &mut Vec<Action>,
) {
    let drawn = &app.curves.drawn;
    resource(ui, width, lines_of_headroom(app), |ui| {
        ui.horizontal(|ui| {
            // As high as the head of the card beside it.
            ui.set_min_height(size::CONTROL);
            title::show(ui, "memory", &drawn.memory.title, "", app, changes);
        });
        if drawn.memory.is_empty() {
            return nothing(
                ui,
                "Memory is not available: no device or engine reported it for these cases.",
            );
        }
        let touched = chart::show(ui, "memory", &drawn.memory, chart_options(app, RESOURCE));
        react(touched, app, &drawn.memory, changes, actions);
        for headroom in drawn.headroom.iter().take(MOST) {
            ui.horizontal(|ui| {
                ui.set_height(LINE - ui.spacing().item_spacing.y);
                marker::inline(ui, headroom.colour);
                label::quiet_line_about(ui, &headroom.limit, &headroom.sentence);
            });
        }
    });
}

/// Energy of an item.
pub(super) fn energy(
    ui: &mut Ui,
    width: f32,
    app: &App,
    changes: &mut Vec<Curves>,
    actions: &mut Vec<Action>,
) {
    let drawn = &app.curves.drawn;
    resource(ui, width, lines_of_headroom(app), |ui| {
        ui.horizontal(|ui| {
            title::show(ui, "energy", &drawn.energy.title, "", app, changes);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let kinds: Vec<(EnergyKind, String, &str)> = EnergyKind::ALL
                    .iter()
                    .map(|kind| (*kind, kind.to_string(), kind.sentence()))
                    .collect();
                let taken = segmented::show(ui, "Energy", app.curves.options.energy, &kinds);
                changes.extend(taken.map(Curves::Energy));
            });
        });
        if drawn.energy.is_empty() {
            let why = drawn
                .no_energy
                .as_deref()
                .unwrap_or("idle power was not read");
            return nothing(ui, &format!("Not available: {why}."));
        }
        let touched = chart::show(
            ui,
            "energy",
            &drawn.energy,
            chart_options(app, RESOURCE + LINE * lines_of_headroom(app) as f32),
        );
        react(touched, app, &drawn.energy, changes, actions);
    });
}

fn resource(ui: &mut Ui, width: f32, lines: usize, content: impl FnOnce(&mut Ui)) {
    theme::card(ui).show(ui, |ui| {
        ui.set_width(width - 34.0);
        ui.set_min_height(RESOURCE + HEAD + LINE * lines as f32);
        ui.vertical(content);
    });
}

/// Sentences below the chart of memory: the one beside it is so much higher.
fn lines_of_headroom(app: &App) -> usize {
    app.curves.drawn.headroom.len().min(MOST)
}

fn chart_options(app: &App, height: f32) -> ChartOptions {
    ChartOptions {
        height,
        highlighted: app.curves.highlighted,
        zooms: true,
        crosshair: true,
    }
}

fn nothing(ui: &mut Ui, words: &str) {
    label::in_the_middle(ui, RESOURCE, words);
}

/// The times of a pinned case that are shown as numbers.
const NUMBERS: [&str; 6] = [
    "min_ms",
    "median_ms",
    "p90_ms",
    "p99_ms",
    "max_ms",
    "iqr_ms",
];

/// The samples of the pinned case: latency distribution and latency over time.
pub(super) fn pinned(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>) {
    let is_new = is_new_pin(ui, app.curves.pin);
    let Some(pin) = app.curves.pin else {
        return;
    };
    let card = theme::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.vertical(|ui| {
            ui.horizontal(|ui| {
                marker::inline(ui, app.shared.sessions.colour(pin.session, pin.case.setup));
                label::card_title(ui, &humanize::capitalised(&pin.case.point.to_string()));
                label::quiet_line(
                    ui,
                    &app.shared.sessions.series_name(pin.session, pin.case.setup),
                );
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    if button::small_icon(ui, icon::CLOSE, "Unpin").clicked() {
                        changes.push(Curves::Pin(None));
                    }
                });
            });
            numbers(ui, app, pin);
            match app
                .curves
                .pinned
                .as_ref()
                .filter(|charts| charts.pin == pin)
            {
                Some(charts) => samples(ui, app, charts, changes),
                None => {
                    ui.allocate_space(vec2(1.0, SAMPLES));
                }
            }
        });
    });
    // The clicked row may be far below: scroll to the card once.
    if is_new {
        ui.scroll_to_rect(card.response.rect, None);
    }
    ui.add_space(space::MEDIUM);
}

/// The times of the pinned case, each below its name.
fn numbers(ui: &mut Ui, app: &App, pin: Pin) {
    let mut cases = app.curves.drawn.cases.iter();
    let source = cases.position(|case| case.pin == pin);
    let Some((view, source)) = app.shared.tables.view("cases").zip(source) else {
        return;
    };
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = space::LARGE;
        for key in NUMBERS {
            let head = view.all_heads().iter().find(|head| head.key == key);
            let cell = view.value_of(source, key);
            let shown = ui.vertical(|ui| {
                label::caption(ui, head.map_or("", |head| head.title));
                label::number(ui, cell.shown_text(), text::CARD);
            });
            let help = head.map_or("", |head| head.help);
            let words = [help, &cell.note].map(humanize::capitalised);
            let words = words.join("\n").trim().to_owned();
            if !words.is_empty() {
                shown.response.on_hover_text(words);
            }
        }
    });
}

/// Whether another case was pinned while the screen was looked at.
fn is_new_pin(ui: &Ui, pin: Option<Pin>) -> bool {
    let id = Id::unique("pinned");
    let now = ui.ctx().cumulative_frame_nr();
    let last = ui.data(|data| data.get_temp::<(u64, Option<Pin>)>(id));
    ui.data_mut(|data| data.insert_temp(id, (now, pin)));
    last.is_some_and(|(frame, before)| frame + 1 >= now && before != pin)
}

fn samples(ui: &mut Ui, app: &App, charts: &Pinned, changes: &mut Vec<Curves>) {
    if let Some(told) = &charts.told {
        let color = theme::roles(ui).quiet;
        label::copyable(ui, RichText::new(told).color(color));
        return;
    }
    if charts.histogram.is_empty() {
        let is_measured_now = charts.pin.session == LIVE;
        label::quiet(
            ui,
            if is_measured_now {
                "Its samples are shown when the run ends."
            } else {
                "This case has no samples."
            },
        );
        return;
    }
    label::quiet(ui, &charts.outliers).on_hover_text(case_outliers::EXPLAINED);
    for line in &charts.parts {
        label::quiet(ui, line);
    }
    let width = ui.available_width();
    // One that is shown alone stands above.
    let alone = app.curves.shown_alone();
    let strip = ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::MEDIUM;
        let left = width * 0.38;
        if alone != Some("histogram") {
            let words = "Latency distribution";
            titled_chart(
                ui,
                left,
                words,
                "histogram",
                &charts.histogram,
                app,
                changes,
            );
        }
        if alone == Some("strip") {
            return None;
        }
        let words = "Latency over time; drag and Ctrl+scroll to zoom";
        let rest = width - left - space::MEDIUM;
        Some(titled_chart(
            ui,
            rest,
            words,
            "strip",
            &charts.strip,
            app,
            changes,
        ))
    });
    let (time, moved) = strip
        .inner
        .map_or((None, None), |(time, moved)| (Some(time), moved));
    if !charts.lanes.is_empty() {
        ui.add_space(space::SMALL);
        label::caption(ui, "Device telemetry over the same time");
        match moved {
            Some(seen) => lanes::show(ui, &charts.lanes.seen(seen), time),
            None => lanes::show(ui, &charts.lanes, time),
        };
    }
}

/// A chart with words above; where its plot is, and its time where that was moved.
fn titled_chart(
    ui: &mut Ui,
    width: f32,
    words: &str,
    id: &str,
    spec: &ChartSpec,
    app: &App,
    changes: &mut Vec<Curves>,
) -> (Rangef, Option<Axis>) {
    let shown = ui.allocate_ui(vec2(width, SAMPLES + 20.0), |ui| {
        ui.vertical(|ui| {
            ui.set_width(width);
            let shown = label::caption(ui, words);
            title::enlarges(ui, &shown, id, "", app, changes);
            let look = ChartOptions {
                height: SAMPLES,
                highlighted: None,
                zooms: true,
                crosshair: false,
            };
            let touched = chart::show(ui, id, spec, look);
            (touched.response.rect.x_range(), touched.moved)
        })
        .inner
    });
    shown.inner
}
