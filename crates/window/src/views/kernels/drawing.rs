//! The bars of a comparison; those of one profile stand in its table.

use eframe::egui::{Rect, Response, Sense, Ui, WidgetInfo, accesskit::Role, vec2};

use super::table;
use crate::theme::{self, space};
use crate::widgets::long_tip;
use crate::widgets::menu;
use crate::widgets::sketch::{Sketch, laid_out};
use powerband_app::App;
use powerband_app::action::{Action, Kernels};
use powerband_app::items::MenuTarget;
use powerband_app::kernels::SelectedRow;
use powerband_core::base::humanize;
use powerband_findings::analysis::kernel_comparison::KernelComparison;
use powerband_findings::chart::area::Area;
use powerband_findings::chart::layout::bars::{self, BarRow};

/// What is below a bar.
struct BarTarget {
    /// What a click opens; nothing where it stands for several rows.
    meaning: Option<SelectedRow>,
    is_selected: bool,
    name: String,
    tooltip: String,
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
    if drawn.is_empty() {
        super::label::quiet(ui, "These rows have no difference.");
        return;
    }
    let mut rows = BarRow::of_changes(drawn);
    for (row, step) in rows.iter_mut().zip(drawn) {
        let share = comparison.rows.get(step.row);
        let share = share.and_then(|row| comparison.contribution(row));
        row.numbers[0] = share.map_or_else(String::new, humanize::percent);
    }
    let unit = comparison.per().unwrap_or("in total");
    let heads = ["Of change".to_owned(), humanize::capitalised(unit)];
    let targets = drawn.iter().map(|step| BarTarget {
        meaning: state.row_meaning(step.row),
        // The selected kernel may be any of the row's.
        is_selected: selected == Some(&step.row),
        name: format!("{}, {}", step.name, humanize::time_change(step.ns)),
        tooltip: comparison
            .rows
            .get(step.row)
            .map_or_else(String::new, table::members),
    });
    show(ui, app, &(heads, rows), targets, changes, actions);
}

/// Shows bars below the heads of their numbers, and what is selected or under the pointer on a ground of its own.
fn show(
    ui: &mut Ui,
    app: &App,
    figure: &([String; 2], Vec<BarRow>),
    targets: impl Iterator<Item = BarTarget>,
    changes: &mut Vec<Kernels>,
    actions: &mut Vec<Action>,
) {
    let id = ui.scope_id().with("bars");
    let laid_out = laid_out(ui, id, figure, |width, letters| {
        let (heads, rows) = figure;
        let height = bars::height(rows.len(), heads, letters);
        let area = Area::new(space::SMALL.into(), 0.0, width, height);
        (height as f32, bars::lay_out(rows, heads, area, letters))
    });
    let (height, placed) = &laid_out.placed;
    let size = vec2(ui.available_width(), *height);
    let (field, _) = ui.allocate_exact_size(size, Sense::hover());
    let painter = ui.painter_at(field);
    let sketch = Sketch::new(ui, &painter, field.min.to_vec2());
    let roles = theme::roles(ui);
    for (place, (row, target)) in placed.rows.iter().zip(targets).enumerate() {
        let line = Rect::from_x_y_ranges(field.x_range(), sketch.rect(*row).y_range());
        let sense = match &target.meaning {
            Some(_) => Sense::click(),
            None => Sense::hover(),
        };
        let response = ui.interact(line, id.with(place), sense);
        let is_selected = target.is_selected;
        response.widget_info(|| match &target.meaning {
            Some(_) => WidgetInfo::selected(Role::Button, true, is_selected, &target.name),
            None => WidgetInfo::labeled(Role::Label, true, &target.name),
        });
        if is_selected || response.hovered() && target.meaning.is_some() {
            painter.rect_filled(line, 3.0, roles.raised);
        }
        if is_selected {
            let strip = Rect::from_min_size(line.min, vec2(2.0, line.height()));
            painter.rect_filled(strip.shrink2(vec2(0.0, 4.0)), 1.0, roles.accent);
        }
        let response = long_tip::on_hover(response, &target.tooltip);
        offer(&response, app, target.meaning.as_ref(), actions);
        if response.clicked() {
            changes.extend(target.meaning.map(SelectedRow::opened));
        }
    }
    sketch.paint(&placed.items);
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
