//! Kernels: the time of a profile, and the difference to another one.

mod cards;
pub(super) mod choices;
mod counters;
mod drawing;
mod instances;
mod job;
mod table;
mod treemap;

use eframe::egui::{Button, ComboBox, Rect, RichText, Stroke, Ui};

use crate::icon;
use crate::theme::{self, space};
use crate::widgets::{button, field, figure, label, segmented, waiting};
use powerband_app::App;
use powerband_app::action::{Action, Kernels, Sessions};
use powerband_app::figures;
use powerband_app::kernels::words::{self, THRESHOLDS, least_share};
use powerband_app::kernels::{self, BreakdownChart, KernelsResult, KernelsState};
use powerband_app::screen::Screen;
use powerband_core::base::humanize;
use powerband_findings::analysis::breakdown::BreakdownLevel;
use powerband_findings::analysis::profile_runs::{ProfileRuns, Times};

/// Commands that bring a profile in.
const COMMANDS: [&str; 2] = [
    "powerband import trace.json.gz",
    "powerband bench resnet50 --profile",
];

/// Width of the count and the tools at the head of a table.
const TABLE_TOOLS: f32 = 200.0;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(looking) = app.profile.kernels.looking else {
        return empty(ui, app, actions);
    };
    let mut changes = Vec::new();
    header(ui, app, &mut changes, actions);
    ui.add_space(space::MEDIUM);
    choices::show(ui, app, &mut changes);
    ui.add_space(space::TINY);
    super::limit_line::show(ui, app, looking, actions);
    ui.add_space(space::SMALL);
    let looked = app.profile.kernels.instances.looked.as_ref();
    let whole = ui.available_rect_before_wrap();
    super::scrolled(ui, |ui| {
        match &app.profile.kernels.found.result {
            Some(found) => body(ui, app, found, &mut changes, actions),
            None => waiting::show(ui, "Adding up…"),
        }
        if looked.is_some() {
            // What the panel covers can be scrolled above it.
            ui.add_space(instances::height(whole));
        }
    });
    if let Some(looked) = looked {
        instances::panel(ui, app, looked, whole, &mut changes, actions);
    }
    super::each(changes, Action::Kernels, actions);
}

fn empty(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    super::tabs::leave_room(ui);
    ui.add_space(ui.available_height() * 0.2);
    ui.vertical_centered(|ui| {
        let sentence = if app.shared.sessions.is_empty() {
            "Open a session with a profile, import a profiler's file, or profile a run."
        } else {
            "What is open has no profile. Import a profiler's file, or profile a run."
        };
        label::empty(ui, icon::KERNELS, "No profile yet", sentence);
        for command in COMMANDS {
            let roles = theme::roles(ui);
            ui.label(
                RichText::new(command)
                    .font(theme::numbers(12.5))
                    .color(roles.text),
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

fn header(ui: &mut Ui, app: &App, changes: &mut Vec<Kernels>, actions: &mut Vec<Action>) {
    super::tabs::with_buttons(ui, super::NARROW_HEAD, |ui| {
        super::in_order(ui, 2, |ui, place| match place {
            0 => timeline(ui, app, changes),
            _ => super::answer::report_button(ui, app, Screen::Kernels, actions),
        });
    });
}

fn timeline(ui: &mut Ui, app: &App, changes: &mut Vec<Kernels>) {
    let allowed = kernels::commands::timeline_of_profile(app).map(|_| ());
    if button::plain_if(ui, allowed, Some(icon::TIMELINE), "Timeline").clicked() {
        changes.push(Kernels::Timeline);
    }
}

fn body(
    ui: &mut Ui,
    app: &App,
    found: &KernelsResult,
    changes: &mut Vec<Kernels>,
    actions: &mut Vec<Action>,
) {
    cards::summary(ui, app, found, changes);
    let tools = |ui: &mut Ui, changes: &mut Vec<Kernels>| controls(ui, app, found, changes);
    theme::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.vertical(|ui| {
            tools(ui, changes);
            if app.profile.kernels.shows_nothing() {
                return left_out(ui, &app.profile.kernels, changes);
            }
            if has_bars_in_table(app, found) {
                return;
            }
            ui.add_space(space::SMALL);
            let drawn = ui.scope(|ui| match &found.comparison {
                Some(comparison) => drawing::changes(ui, app, comparison, changes, actions),
                None => treemap::show(ui, app, found, changes, actions),
            });
            offer_figure(ui, app, found, drawn.response.rect);
        });
    });
    if !app.profile.kernels.shows_nothing() {
        ui.add_space(space::MEDIUM);
        let table = ui.scope(|ui| match &found.comparison {
            Some(comparison) => table::compared(ui, app, comparison, actions),
            None => table::broken_down(ui, app, found, actions),
        });
        if has_bars_in_table(app, found) {
            // Beside the tools of the table, not over them.
            let place = table.response.rect;
            let place = place.with_max_x(place.right() - TABLE_TOOLS);
            offer_figure(ui, app, found, place);
        }
    }
    remarks(ui, found);
    ui.add_space(space::MEDIUM);
    cards::particulars(ui, app, found, changes, actions);
    ui.add_space(space::MEDIUM);
}

/// Whether the bars stand in the table, and nothing is drawn above it.
fn has_bars_in_table(app: &App, found: &KernelsResult) -> bool {
    found.comparison.is_none() && app.profile.kernels.shape == BreakdownChart::Bars
}

/// What is drawn of the rows can be copied and exported.
fn offer_figure(ui: &mut Ui, app: &App, found: &KernelsResult, place: Rect) {
    figure::offer(ui, "kernels", place, || {
        figures::of_kernels(&app.profile.kernels, found)
    });
}

/// A text in place of bars and table where there are no rows, usually because of the filter.
fn left_out(ui: &mut Ui, state: &KernelsState, changes: &mut Vec<Kernels>) {
    ui.add_space(space::LARGE);
    ui.vertical_centered(|ui| {
        label::quiet(ui, &words::nothing_left(state.filter()));
        if state.filter().is_none() {
            return;
        }
        ui.add_space(space::SMALL);
        if button::labelled(ui, None, "Clear the filter").clicked() {
            changes.push(Kernels::AllRows);
        }
    });
    ui.add_space(space::LARGE);
}

fn controls(ui: &mut Ui, app: &App, found: &KernelsResult, changes: &mut Vec<Kernels>) {
    let state = &app.profile.kernels;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = space::SMALL;
        if found.comparison.is_none() {
            let levels = [
                (
                    BreakdownLevel::Category,
                    "Category".to_owned(),
                    "A row for each category, by rules below",
                ),
                (
                    BreakdownLevel::Operator,
                    "Operator".to_owned(),
                    "A row for each operator of the network or the framework",
                ),
                (
                    BreakdownLevel::Kernel,
                    "Kernel".to_owned(),
                    "A row for each kernel, node or copy by its whole name",
                ),
            ];
            let level = segmented::show(ui, "Rows", state.level, &levels);
            changes.extend(level.map(Kernels::Level));
            let shapes = [
                (BreakdownChart::Bars, "Bars".to_owned(), ""),
                (
                    BreakdownChart::Treemap,
                    "Treemap".to_owned(),
                    "Areas are shares of the time",
                ),
            ];
            let shape = segmented::show(ui, "Drawn as", state.shape, &shapes);
            changes.extend(shape.map(Kernels::Shape));
        }
        times(ui, app, found, changes);
        let width = 230.0;
        let (_, typed) = field::search(
            ui,
            "Filter",
            &state.filter().words,
            "Words, * for anything",
            width,
        );
        changes.extend(typed.map(Kernels::Filter));
        let combo = ComboBox::from_id_salt("kernels-over").width(108.0);
        let response = combo
            .selected_text(least_share(state.filter().over))
            .show_ui(ui, |ui| {
                for share in THRESHOLDS.map(|percent| percent / 100.0) {
                    if ui
                        .selectable_label(state.filter().over == share, least_share(share))
                        .clicked()
                    {
                        changes.push(Kernels::Over(share));
                    }
                }
            });
        response.response.accessible_name("Least share");
        if let Some(words) = in_sight(app, found) {
            label::quiet_line(ui, &words);
        }
    });
    within(ui, state, changes);
}

/// Whether times are those of a run or a step, or in total; where the number of runs is known.
fn times(ui: &mut Ui, app: &App, found: &KernelsResult, changes: &mut Vec<Kernels>) {
    let state = &app.profile.kernels;
    let runs = |pick| state.runs(&app.shared.sessions, pick);
    let after = runs(found.wanted.after);
    let known: Option<ProfileRuns> = match found.wanted.before {
        Some(before) => runs(before).and(after),
        None => after,
    };
    if known.is_none() {
        return;
    }
    let choices = [
        (
            Times::PerRun,
            choices::unit(known).to_owned(),
            "Each time divided by the number of runs or steps in its profile",
        ),
        (Times::Total, "Total".to_owned(), "Times of whole profiles"),
    ];
    let chosen = segmented::show(ui, "Times", state.times, &choices);
    changes.extend(chosen.map(Kernels::Times));
}

/// The row whose kernels alone are listed, and the way back from it.
fn within(ui: &mut Ui, state: &KernelsState, changes: &mut Vec<Kernels>) {
    let Some(within) = &state.filter().within else {
        return;
    };
    let roles = theme::roles(ui);
    ui.add_space(space::TINY);
    let words = format!("{} ×", within.title());
    let chip = Button::new(RichText::new(&words).color(roles.text))
        .corner_radius(13)
        .fill(roles.raised)
        .stroke(Stroke::new(1.0, roles.accent));
    let response = ui.add(chip).accessible_name(&words);
    if response.on_hover_text("Back to all rows").clicked() {
        changes.push(Kernels::Within(None));
    }
}

/// Share of the time that passes the filter; nothing where all does, since the table below has their number.
fn in_sight(app: &App, found: &KernelsResult) -> Option<String> {
    let drawn = &app.profile.kernels.drawn;
    if let Some(comparison) = &found.comparison {
        let (some, all) = (drawn.rows.len(), comparison.rows.len());
        let rows = humanize::pluralised(all as u64, "row");
        return (some < all).then(|| format!("{some} of {rows}"));
    }
    let shown = &drawn.shown;
    let breakdown = found.breakdown(app.profile.kernels.level);
    let rows = humanize::pluralised(breakdown.rows.len() as u64, "row");
    let share = breakdown.share_of_all(shown.total_ns as f64);
    (shown.hidden > 0).then(|| {
        format!(
            "{} of {rows}, {} of the time",
            shown.rows.len(),
            humanize::percent(share)
        )
    })
}

fn remarks(ui: &mut Ui, found: &KernelsResult) {
    let compared = found
        .comparison
        .iter()
        .flat_map(|comparison| &comparison.notes);
    let noted = found
        .profile()
        .into_iter()
        .flat_map(|profile| &profile.notes);
    let all: Vec<&String> = compared.chain(noted).chain(&found.objections).collect();
    if all.is_empty() {
        return;
    }
    ui.add_space(space::SMALL);
    for remark in all {
        ui.horizontal_top(|ui| {
            let color = theme::roles(ui).faint;
            ui.label(button::glyph(icon::INFO).size(13.0).color(color));
            label::quiet(ui, remark);
        });
    }
}
