//! Bars, and the bars of a comparison.

use eframe::egui::{
    self, Align2, CornerRadius, Label, Rect, Response, RichText, Sense, Stroke, Ui, WidgetInfo,
    accesskit::Role, pos2, vec2,
};

use super::table;
use crate::gui::theme::{self, space, text};
use crate::gui::widgets::chart_canvas::{area, rect};
use crate::gui::widgets::menu;
use powerband_app::App;
use powerband_app::action::{Action, Kernels};
use powerband_app::items::MenuTarget;
use powerband_app::kernels::{KernelsResult, KernelsState, SelectedRow};
use powerband_core::base::humanize;
use powerband_findings::analysis::kernel_comparison::KernelComparison;
use powerband_findings::chart::area::Area;
use powerband_findings::chart::breakdown::Bar;
use powerband_findings::chart::layout::bars;

/// Height of a bar with the space below it.
const BAR: f32 = 24.0;
/// For a bar's name at most.
const NAME: f32 = 330.0;
/// For its numbers, and for the first of them.
const NUMBERS: f32 = 140.0;
const SHARE: f32 = 54.0;

/// Bars, the longest first.
pub(super) fn bars(
    ui: &mut Ui,
    app: &App,
    found: &KernelsResult,
    changes: &mut Vec<Kernels>,
    actions: &mut Vec<Action>,
) {
    let state = &app.profile.kernels;
    let breakdown = found.breakdown(state.level);
    ui.spacing_mut().item_spacing.y = 0.0;
    heads(
        ui,
        "Share",
        &format!("Time {}", state.times.unit(breakdown.runs)),
    );
    for bar in &state.drawn.bars {
        let meaning = bar.row.and_then(|row| state.row_meaning(row));
        let response = one_bar(ui, bar, hand(state, meaning.as_ref()));
        let response = match bar.row.and_then(|row| breakdown.rows.get(row)) {
            Some(row) => response.on_hover_text(table::in_full(breakdown, row, state.times)),
            None => response.on_hover_text("All rows of the table below without a bar"),
        };
        offer(&response, app, meaning.as_ref(), actions);
        opened(&response, meaning, changes);
    }
}

/// The action of a click on a bar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowAction {
    /// It stands for several rows.
    Nothing,
    /// It can be opened.
    Opens,
    /// The same, and it is selected.
    IsSelected,
}

fn hand(state: &KernelsState, meaning: Option<&SelectedRow>) -> RowAction {
    match meaning {
        None => RowAction::Nothing,
        meaning if meaning == state.selected() => RowAction::IsSelected,
        Some(_) => RowAction::Opens,
    }
}

/// The menu of a row.
pub(super) fn offer(
    response: &Response,
    app: &App,
    meaning: Option<&SelectedRow>,
    actions: &mut Vec<Action>,
) {
    if let Some(row) = meaning {
        menu::of_item(response, app, &MenuTarget::Row(row.clone()), actions);
    }
}

fn opened(response: &Response, meaning: Option<SelectedRow>, changes: &mut Vec<Kernels>) {
    if response.clicked() {
        changes.extend(meaning.map(SelectedRow::opened));
    }
}

/// What stands above the numbers of the bars.
fn heads(ui: &mut Ui, first: &str, second: &str) {
    let (line, _) = ui.allocate_exact_size(vec2(ui.available_width(), 18.0), Sense::hover());
    let color = theme::roles(ui).faint;
    let at = |right: f32| pos2(right, line.center().y);
    for (words, right) in [
        (first, line.right() - NUMBERS + SHARE),
        (second, line.right()),
    ] {
        let font = theme::text_font(text::CAPTION);
        let painter = ui.painter();
        painter.text(at(right), Align2::RIGHT_CENTER, words, font, color);
    }
}

/// The parts of a bar's line: its name, the bar, its numbers.
fn parts(ui: &mut Ui, name: &str, hand: RowAction) -> (Rect, Rect, Rect, Response) {
    let sense = match hand {
        RowAction::Nothing => Sense::hover(),
        RowAction::Opens | RowAction::IsSelected => Sense::click(),
    };
    let (line, response) = ui.allocate_exact_size(vec2(ui.available_width(), BAR), sense);
    response.widget_info(|| match hand {
        RowAction::Nothing => WidgetInfo::labeled(Role::Label, true, name),
        _ => WidgetInfo::selected(Role::Button, true, hand == RowAction::IsSelected, name),
    });
    if hand == RowAction::IsSelected {
        let roles = theme::roles(ui);
        ui.painter().rect_filled(line, 3.0, roles.raised);
        let bar = Rect::from_min_size(line.min + vec2(0.0, 4.0), vec2(2.0, line.height() - 8.0));
        ui.painter().rect_filled(bar, 1.0, roles.accent);
    }
    let names = (line.width() * bars::NAMES as f32).min(NAME);
    let (left, right) = (line.left() + names, line.right() - NUMBERS);
    let part = |from: f32, to: f32| Rect::from_x_y_ranges(from..=to.max(from), line.y_range());
    (
        part(line.left() + space::SMALL, left - space::MEDIUM),
        part(left, right - space::SMALL),
        part(right, line.right()),
        response,
    )
}

/// Where a bar is in its line.
fn bar_room(line: Rect) -> Area {
    area(line.shrink2(vec2(0.0, 5.0)))
}

fn one_bar(ui: &mut Ui, bar: &Bar, hand: RowAction) -> Response {
    let words = format!("{}, {}", bar.name, humanize::percent(bar.share));
    let (name, room, numbers, response) = parts(ui, &words, hand);
    put_name(ui, name, &bar.name, &response);
    if bar.row.is_some() {
        let color = theme::roles(ui).fill(bar.colour);
        let filled = rect(bars::from_left(bar_room(room), bar.length));
        let strength = if response.hovered() { 1.0 } else { 0.85 };
        ui.painter().rect_filled(
            filled,
            CornerRadius::same(2),
            color.gamma_multiply(strength),
        );
    }
    put_numbers(
        ui,
        numbers,
        &humanize::percent(bar.share),
        &humanize::duration_ns(bar.ns),
    );
    response
}

fn put_name(ui: &mut Ui, rect: Rect, name: &str, response: &Response) {
    let roles = theme::roles(ui);
    let color = if response.hovered() {
        roles.accent
    } else {
        roles.text
    };
    let words = RichText::new(name).color(color);
    let label = Label::new(words).truncate().selectable(false);
    let mut inner = ui.new_child(
        egui::UiBuilder::new()
            .max_rect(rect)
            .layout(egui::Layout::left_to_right(egui::Align::Center)),
    );
    inner.add(label);
}

fn put_numbers(ui: &Ui, rect: Rect, first: &str, second: &str) {
    let roles = theme::roles(ui);
    let font = theme::numbers(12.0);
    let middle = rect.center().y;
    let painter = ui.painter();
    let at = pos2(rect.left() + SHARE, middle);
    painter.text(at, Align2::RIGHT_CENTER, first, font.clone(), roles.text);
    painter.text(
        pos2(rect.right(), middle),
        Align2::RIGHT_CENTER,
        second,
        font,
        roles.quiet,
    );
}

/// The largest differences: faster to the left, slower to the right.
pub(super) fn changes(
    ui: &mut Ui,
    app: &App,
    comparison: &KernelComparison,
    changes: &mut Vec<Kernels>,
    actions: &mut Vec<Action>,
) {
    let state = &app.profile.kernels;
    let drawn = &state.drawn.changes;
    let selected = state.drawn.selected;
    let selected = selected.and_then(|row| state.drawn.rows.get(row));
    let roles = theme::roles(ui);
    if drawn.is_empty() {
        super::label::quiet(ui, "These rows have no difference.");
        return;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let unit = comparison.per().unwrap_or("in total");
    heads(ui, "Of change", &humanize::capitalised(unit));
    for step in drawn {
        let meaning = state.row_meaning(step.row);
        // The selected kernel may be any of the row's.
        let hand = match selected {
            Some(row) if *row == step.row => RowAction::IsSelected,
            _ => RowAction::Opens,
        };
        let words = format!("{}, {}", step.name, humanize::time_change(step.ns));
        let (name, room, numbers, response) = parts(ui, &words, hand);
        put_name(ui, name, &step.name, &response);
        let middle = room.center().x;
        let bar = rect(bars::from_middle(bar_room(room), step.length));
        let color = if step.ns < 0.0 { roles.good } else { roles.bad };
        ui.painter()
            .vline(middle, room.y_range(), Stroke::new(1.0, roles.line));
        let strength = if response.hovered() { 1.0 } else { 0.85 };
        ui.painter()
            .rect_filled(bar, CornerRadius::same(2), color.gamma_multiply(strength));
        let row = comparison.rows.get(step.row);
        let share = row.and_then(|row| comparison.contribution(row));
        let share = share.map_or_else(String::new, humanize::percent);
        put_numbers(ui, numbers, &share, &humanize::time_change(step.ns));
        let response = match row {
            Some(row) => response.on_hover_text(table::members(row)),
            None => response,
        };
        offer(&response, app, meaning.as_ref(), actions);
        opened(&response, meaning, changes);
    }
}
