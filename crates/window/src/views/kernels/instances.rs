//! The instances of the selected kernel, at the foot of the screen: how long each took, in each step, and each by itself.

use eframe::egui::{
    Align, Area, Id, Label, Layout, Order, Rect, RichText, ScrollArea, Sense, Ui, UiBuilder, vec2,
};

use crate::icon;
use crate::theme::{self, space, text};
use crate::widgets::chart::{self, ChartOptions};
use crate::widgets::data_table::{self, ColumnBars, DataTable};
use crate::widgets::{button, label, waiting};
use powerband_app::App;
use powerband_app::action::{Action, Kernels};
use powerband_app::kernels::instances::{InstanceChoice, InstanceSearch, InstancesLookup};
use powerband_app::kernels::{KernelsResult, KernelsState};
use powerband_core::base::humanize;
use powerband_findings::analysis::breakdown::BreakdownLevel;
use powerband_findings::analysis::instances::{Instances, PerStep, Spread};
use powerband_findings::chart::samples;

/// What the panel has of the height of the screen, and its least and most.
const SHARE: f32 = 0.44;
const HEIGHT: (f32, f32) = (220.0, 340.0);
/// Width of the histogram with its numbers.
const NUMBERS: f32 = 300.0;
/// Up to this width the table stands below the numbers.
const NARROW: f32 = 640.0;
/// Height of the histogram.
const HISTOGRAM: f32 = 130.0;
/// Height of the tools above the table.
const TOOLS: f32 = 64.0;
/// Height of a line of numbers, and width of a number.
const LINE: f32 = 20.0;
const NUMBER: f32 = 78.0;
/// Letters of a long name on the panel.
const NAME: usize = 240;

/// How high the panel is on a screen.
pub(super) fn height(screen: Rect) -> f32 {
    (screen.height() * SHARE).clamp(HEIGHT.0, HEIGHT.1)
}

/// The panel at the foot of the screen, over the rest, so that nothing moves when it opens.
pub(super) fn panel(
    ui: &Ui,
    app: &App,
    looked: &InstancesLookup,
    screen: Rect,
    changes: &mut Vec<Kernels>,
    actions: &mut Vec<Action>,
) {
    let place = screen.with_min_y(screen.bottom() - height(screen));
    let place = place.with_max_x(place.right() - space::EDGE);
    let area = Area::new(Id::unique("kernels-instances"))
        .order(Order::Middle)
        .fixed_pos(place.min)
        .constrain_to(screen);
    area.show(ui.ctx(), |ui| {
        ui.set_max_size(place.size());
        ui.set_width(place.width());
        let frame = theme::card(ui).shadow(ui.visuals().popup_shadow);
        frame.show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.set_height(ui.available_height());
            heading(ui, looked, changes);
            ui.add_space(space::TINY);
            content(ui, app, looked, changes, actions);
        });
    });
}

fn heading(ui: &mut Ui, looked: &InstancesLookup, changes: &mut Vec<Kernels>) {
    ui.horizontal(|ui| {
        label::card_title(ui, "Instances");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if button::small_icon(ui, icon::CLOSE, "Close the instances").clicked() {
                changes.push(Kernels::Select(None));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let name = humanize::shorten_middle(&looked.kernel, NAME);
                let words = RichText::new(name).size(12.0).color(theme::roles(ui).quiet);
                let name = Label::new(words).truncate().selectable(true);
                ui.add(name.show_tooltip_when_elided(false))
                    .on_hover_text(&looked.kernel);
            });
        });
    });
}

/// The numbers at the left and the table at the right, each scrolling by itself; in a narrow screen below each other.
fn content(
    ui: &mut Ui,
    app: &App,
    looked: &InstancesLookup,
    changes: &mut Vec<Kernels>,
    actions: &mut Vec<Action>,
) {
    let room = ui.available_size();
    if room.x <= NARROW {
        let rows = ScrollArea::vertical().max_height(room.y);
        rows.show(ui, |ui| {
            summary(ui, app, looked, changes);
            table(ui, app, looked, room.y, changes, actions);
        });
        return;
    }
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::MEDIUM;
        ui.allocate_ui(vec2(NUMBERS, room.y), |ui| {
            ui.vertical(|ui| {
                let rows = ScrollArea::vertical().max_height(room.y);
                rows.show(ui, |ui| {
                    ui.set_width(NUMBERS - space::MEDIUM);
                    summary(ui, app, looked, changes);
                });
            });
        });
        ui.vertical(|ui| table(ui, app, looked, room.y, changes, actions));
    });
}

fn summary(ui: &mut Ui, app: &App, looked: &InstancesLookup, changes: &mut Vec<Kernels>) {
    let state = &app.profile.kernels;
    side(ui, state, looked);
    match &looked.progress {
        InstanceSearch::Looking => {
            ui.set_min_height(HISTOGRAM);
            waiting::show(ui, "Reading the timeline…");
        }
        InstanceSearch::Missing(reason) => missing(ui, state, looked, reason),
        InstanceSearch::Found(found) => instances(ui, found),
    }
    if app.profile.graph_of_profile(&app.shared).is_some()
        && button::labelled(ui, Some(icon::JOURNEY), "Nodes in the graph").clicked()
    {
        changes.push(Kernels::Graph);
    }
}

/// Each instance; a click shows it on the timeline.
fn table(
    ui: &mut Ui,
    app: &App,
    looked: &InstancesLookup,
    height: f32,
    changes: &mut Vec<Kernels>,
    actions: &mut Vec<Action>,
) {
    let InstanceSearch::Found(found) = &looked.progress else {
        return;
    };
    let all = found.spread.count;
    let head = |ui: &mut Ui| {
        if all > found.longest.len() as u64 {
            let (most, all) = (found.longest.len() as u64, all);
            let [most, all] = [most, all].map(humanize::count);
            label::quiet_line(ui, &format!("The longest {most} of {all}"));
        }
    };
    if !data_table::tools(ui, app, "instances", actions, head) {
        return;
    }
    let name = |row: usize| {
        let start = found.longest.get(row).map_or(0, |one| one.start_ns);
        let start = humanize::duration_ns(start as f64);
        format!("Instance at {start} on the timeline")
    };
    let longest = found.spread.max_ns.max(1.0);
    let fill = theme::roles(ui).series(0);
    let bar = |row: usize| {
        let one = found.longest.get(row)?;
        Some(((one.duration_ns as f64 / longest) as f32, fill))
    };
    let table = DataTable {
        id: "instances",
        height: height - TOOLS,
        name: Some(&name),
        bars: Some(ColumnBars {
            key: "duration_ms",
            bar: &bar,
        }),
        ..DataTable::default()
    };
    let clicked = table.show(ui, app, actions).clicked;
    if let Some(one) = clicked.and_then(|row| found.longest.get(row)) {
        changes.push(Kernels::Instance(InstanceChoice::At(one.start_ns)));
    }
}

/// Whose instances they are, where two profiles are shown.
fn side(ui: &mut Ui, state: &KernelsState, looked: &InstancesLookup) {
    if state.before.is_none() {
        return;
    }
    let words = if state.before == Some(looked.pick) {
        "In the profile before"
    } else {
        "In the profile after"
    };
    label::quiet_line(ui, words);
}

fn instances(ui: &mut Ui, found: &Instances) {
    let spec = samples::of_instances(&found.durations_ns);
    let look = ChartOptions {
        height: HISTOGRAM,
        highlighted: None,
        zooms: false,
        crosshair: false,
    };
    chart::show(ui, "instances", &spec, look);
    let count = humanize::count(found.spread.count);
    label::pair(ui, "Instances", &count);
    ui.add_space(space::SMALL);
    numbers(ui, &found.spread, found.per_step.as_ref());
    if found.per_step.is_none() {
        label::quiet(ui, "The file does not mark steps or runs.");
    }
}

/// The instances in a few numbers: each, and all of a step or a run together.
fn numbers(ui: &mut Ui, each: &Spread, per_step: Option<&PerStep>) {
    let time = |ns: f64| humanize::duration_ns(ns);
    if let Some(found) = per_step {
        let head = |words: &str| RichText::new(words).size(text::CAPTION);
        row(ui, &head(""), &[head("each"), head(found.title())]);
    }
    let of = |spread: &Spread| {
        [
            spread.min_ns,
            spread.median_ns,
            spread.p90_ns,
            spread.max_ns,
        ]
    };
    let names = ["Shortest", "Median", "90 % at most", "Longest"];
    let together = per_step.map(|found| of(&found.spread));
    for (place, (name, ns)) in names.into_iter().zip(of(each)).enumerate() {
        let both = [Some(ns), together.map(|together| together[place])];
        let both: Vec<RichText> = both
            .into_iter()
            .flatten()
            .map(|ns| digits(&time(ns)))
            .collect();
        row(ui, &RichText::new(name), &both);
    }
    let Some(found) = per_step else {
        return;
    };
    let single = |ui: &mut Ui, name: String, ns: f64| {
        row(
            ui,
            &RichText::new(name),
            &[RichText::new(""), digits(&time(ns))],
        );
    };
    single(ui, format!("First {}", found.word), found.first_ns);
    if let Some(later) = found.later_ns {
        single(ui, format!("Median of later {}s", found.word), later);
    }
    let count = humanize::pluralised(found.spread.count, found.word);
    let outside = humanize::pluralised(found.outside, "instance");
    let words = match found.outside {
        0 => count,
        _ => format!("{count}; {outside} in none"),
    };
    label::quiet_line(ui, &words);
}

fn digits(words: &str) -> RichText {
    RichText::new(words).font(theme::numbers(12.0))
}

/// A name, and numbers below each other at the right.
fn row(ui: &mut Ui, name: &RichText, numbers: &[RichText]) {
    let roles = theme::roles(ui);
    let (line, _) = ui.allocate_exact_size(vec2(ui.available_width(), LINE), Sense::hover());
    let mut place = |words: RichText, place: Rect, layout: Layout| {
        let builder = UiBuilder::new().max_rect(place).layout(layout);
        ui.scope_builder(builder, |ui| ui.add(Label::new(words).truncate()));
    };
    let left = Layout::left_to_right(Align::Center);
    let right = Layout::right_to_left(Align::Center);
    place(name.clone().color(roles.quiet), line, left);
    for (behind, number) in numbers.iter().rev().enumerate() {
        let end = line.right() - NUMBER * behind as f32;
        let room = Rect::from_x_y_ranges(end - NUMBER..=end, line.y_range());
        place(number.clone().color(roles.text), room, right);
    }
}

/// Where there is only a sum, what is known of it.
fn missing(ui: &mut Ui, state: &KernelsState, looked: &InstancesLookup, reason: &str) {
    label::quiet(ui, &format!("No instances to show: {reason}."));
    let rows = state.found.result.iter().flat_map(|found: &KernelsResult| {
        let after = found.wanted.after == looked.pick;
        let rows = found
            .breakdown(BreakdownLevel::Kernel)
            .rows
            .iter()
            .filter(move |_| after);
        rows.filter(|row| row.name == looked.kernel)
    });
    for row in rows.take(1) {
        ui.add_space(space::SMALL);
        let time = |ns: f64| humanize::duration_ns(ns);
        let known = [
            ("Calls", Some(humanize::count(row.calls))),
            ("Total", Some(time(row.total_ns as f64))),
            ("Mean", row.mean_ns().map(time)),
            ("Shortest", row.min_ns.map(|ns| time(ns as f64))),
            ("Longest", row.max_ns.map(|ns| time(ns as f64))),
        ];
        for (name, value) in known {
            if let Some(value) = value {
                label::pair(ui, name, &value);
            }
        }
    }
}
