//! The instances of the selected kernel, at the right of the screen: how long each took, and in each step.

use eframe::egui::{
    Align, Area, Id, Label, Layout, Order, Rect, RichText, ScrollArea, Sense, Ui, UiBuilder, vec2,
};

use crate::gui::icon;
use crate::gui::theme::{self, space, text};
use crate::gui::widgets::chart::{self, ChartOptions};
use crate::gui::widgets::{button, label, waiting};
use powerband_app::App;
use powerband_app::action::Kernels;
use powerband_app::kernels::instances::{InstanceChoice, InstanceSearch, InstancesLookup};
use powerband_app::kernels::{KernelsResult, KernelsState};
use powerband_core::base::humanize;
use powerband_findings::analysis::breakdown::BreakdownLevel;
use powerband_findings::analysis::instances::{Instances, PerStep, Spread};
use powerband_findings::chart::samples;

/// Width of the panel.
pub(super) const WIDTH: f32 = 300.0;
/// The least width of a screen on which it stands beside the rest, whose cards then still stand in one row.
pub(super) const BESIDE: f32 = 1_180.0;
/// Height of the histogram.
const HISTOGRAM: f32 = 160.0;
/// Height of a line of numbers, and width of a number.
const LINE: f32 = 20.0;
const NUMBER: f32 = 78.0;
/// Letters of a long name on the panel.
const NAME: usize = 240;

/// The panel at the right of the screen, which scrolls by itself: beside the rest where there is room, else over it,
/// so that nothing moves when it opens.
pub(super) fn panel(
    ui: &Ui,
    app: &App,
    looked: &InstancesLookup,
    screen: Rect,
    changes: &mut Vec<Kernels>,
) {
    let place = screen.with_min_x(screen.right() - WIDTH);
    let area = Area::new(Id::unique("kernels-instances"))
        .order(Order::Middle)
        .fixed_pos(place.min)
        .constrain_to(screen);
    area.show(ui.ctx(), |ui| {
        // An area is as high as its content was, and that may have become more.
        ui.set_max_height(place.height());
        ui.set_width(WIDTH);
        let rows = ScrollArea::vertical().max_height(place.height());
        rows.show(ui, |ui| card(ui, app, looked, changes));
    });
}

fn card(ui: &mut Ui, app: &App, looked: &InstancesLookup, changes: &mut Vec<Kernels>) {
    let state = &app.profile.kernels;
    super::super::card(ui, |ui| {
        ui.horizontal(|ui| {
            label::card_title(ui, "Instances");
            let right = Layout::right_to_left(Align::Center);
            ui.with_layout(right, |ui| {
                if button::small_icon(ui, icon::CLOSE, "Close the instances").clicked() {
                    changes.push(Kernels::Select(None));
                }
            });
        });
        let roles = theme::roles(ui);
        let name = humanize::shorten_middle(&looked.kernel, NAME);
        let words = RichText::new(name).size(12.0).color(roles.quiet);
        label::copyable(ui, words).on_hover_text(&looked.kernel);
        side(ui, state, looked);
        ui.add_space(space::SMALL);
        match &looked.progress {
            InstanceSearch::Looking => {
                ui.set_min_height(HISTOGRAM);
                waiting::show(ui, "Reading the timeline…");
            }
            InstanceSearch::Missing(reason) => missing(ui, state, looked, reason),
            InstanceSearch::Found(found) => instances(ui, found, changes),
        }
        if app.profile.graph_of_profile(&app.shared).is_some()
            && button::labelled(ui, Some(icon::JOURNEY), "Nodes in the graph").clicked()
        {
            changes.push(Kernels::Graph);
        }
    });
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

fn instances(ui: &mut Ui, found: &Instances, changes: &mut Vec<Kernels>) {
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
    ui.add_space(space::SMALL);
    let buttons = [
        ("First on the timeline", InstanceChoice::First),
        ("Longest on the timeline", InstanceChoice::Longest),
    ];
    for (name, which) in buttons {
        if button::labelled(ui, Some(icon::TIMELINE), name).clicked() {
            changes.push(Kernels::Instance(which));
        }
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
