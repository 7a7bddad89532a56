//! What the engine made of a network in tables: graph optimisations, execution providers, and the slowest nodes.

use std::cell::RefCell;

use eframe::egui::{Align, ComboBox, Layout, Ui, vec2};

use crate::theme::{self, size, space};
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::label;
use powerband_app::App;
use powerband_app::action::{Action, Curves};
use powerband_app::curves::graph::{GraphCard, GraphChoice};
use powerband_app::items;
use powerband_app::screen::Screen;
use powerband_app::tables;
use powerband_core::base::humanize;
use powerband_findings::analysis::graph::ExaminedGraph;

/// Rows of a table before it scrolls.
const ROWS: usize = 8;
/// The left table's share of the width.
const WIDE: f32 = 0.58;
/// Below this width the tables stand below each other.
const NARROW: f32 = 800.0;

/// Shows it, where a session has an examination.
pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let drawn = &app.curves.drawn.graph;
    let Some(shown) = &drawn.shown else {
        let sentence = "No open session has the graph of an engine. Measure with ONNX Runtime to see what it made of the network.";
        label::quiet(ui, sentence);
        return;
    };
    theme::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.vertical(|ui| {
            header(ui, drawn, shown, actions);
            body(ui, app, &drawn.graph, actions);
        });
    });
    ui.add_space(space::MEDIUM);
}

fn header(ui: &mut Ui, drawn: &GraphCard, shown: &GraphChoice, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        label::card_title(ui, "Engine graph");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let combo = ComboBox::from_id_salt("graph-setup")
                .width((ui.available_width() - space::SMALL).min(320.0))
                .truncate()
                .selected_text(&shown.name);
            let response = combo.show_ui(ui, |ui| {
                for choice in &drawn.choices {
                    let is_it = choice == shown;
                    if ui.selectable_label(is_it, &choice.name).clicked() && !is_it {
                        actions.push(Action::Curves(Curves::Examined(choice.id)));
                    }
                }
            });
            response
                .response
                .accessible_name("Setup whose graph is shown");
        });
    });
}

fn body(ui: &mut Ui, app: &App, graph: &ExaminedGraph, actions: &mut Vec<Action>) {
    label::quiet(ui, &graph.in_short);
    if let Some(fallback) = &graph.fallback {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = space::SMALL;
            label::pill(ui, "fallback", theme::roles(ui).bad);
            label::quiet(ui, fallback);
        });
    }
    for note in &graph.notes {
        label::faint(ui, note);
    }
    ui.add_space(space::SMALL);
    // Both sides of a row may return actions.
    let asked = RefCell::new(Vec::new());
    let shown = |id: &'static str, empty: &'static str| {
        let asked = &asked;
        move |ui: &mut Ui| table(ui, app, id, empty, &mut asked.borrow_mut())
    };
    let patterns = shown("patterns", "No node was fused, removed or added.");
    let operators = shown("operators", "No nodes are known.");
    let slowest = shown("slowest", "No times are known.");
    let providers = shown("providers", "No providers are known.");
    side_by_side(
        ui,
        |ui| {
            patterns(ui);
            if graph.unchanged > 0 {
                let nodes = humanize::pluralised(graph.unchanged, "node");
                label::faint(ui, &format!("{nodes} unchanged"));
            }
        },
        operators,
    );
    ui.add_space(space::SMALL);
    side_by_side(
        ui,
        |ui| {
            slowest(ui);
            if !graph.slowest.is_empty() {
                label::faint(ui, &format!("Over {}", graph.times_of));
            }
        },
        |ui| {
            providers(ui);
            copies(ui, graph);
        },
    );
    actions.append(&mut asked.borrow_mut());
}

/// Two things side by side where there is room, the left one wider.
fn side_by_side(ui: &mut Ui, left: impl FnOnce(&mut Ui), right: impl FnOnce(&mut Ui)) {
    let whole = ui.available_width();
    if whole < NARROW {
        left(ui);
        ui.add_space(space::SMALL);
        right(ui);
        return;
    }
    let wide = ((whole - space::LARGE) * WIDE).floor();
    let widths = [wide, whole - space::LARGE - wide];
    let contents = [Box::new(left) as Box<dyn FnOnce(&mut Ui)>, Box::new(right)];
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::LARGE;
        for (content, width) in contents.into_iter().zip(widths) {
            let down = Layout::top_down(Align::LEFT);
            ui.allocate_ui_with_layout(vec2(width, 0.0), down, |ui| {
                ui.set_width(width);
                content(ui);
            });
        }
    });
}

/// One of the tables, or a text in its place.
fn table(ui: &mut Ui, app: &App, id: &'static str, empty: &str, actions: &mut Vec<Action>) {
    let title = tables::find(id).map_or("", |kind| kind.title);
    if app.shared.tables.view(id).is_none() {
        label::caption(ui, title);
        label::quiet(ui, empty);
        return;
    }
    let caption = |ui: &mut Ui| {
        label::caption(ui, title);
    };
    if data_table::tools(ui, app, id, actions, caption) {
        let name = |row: usize| match shown_in_kernels(app, id, row) {
            Some(_) => format!("Kernels of {}", row_name(app, id, row)),
            None => row_name(app, id, row),
        };
        let leads_on = shown_in_kernels(app, id, 0).is_some();
        let table = DataTable {
            id,
            height: size::ROW * (ROWS + 1) as f32,
            name: leads_on.then_some(&name),
            ..DataTable::default()
        };
        let clicked = table.show(ui, app, actions).clicked;
        actions.extend(
            clicked
                .and_then(|row| shown_in_kernels(app, id, row))
                .unwrap_or_default(),
        );
    }
}

fn row_name(app: &App, table: &str, row: usize) -> String {
    let item = items::of_row(app, table, row).pop();
    item.map_or_else(String::new, |item| items::name(app, &item))
}

/// What shows a row among the kernels of the setup's profile, where it has one.
fn shown_in_kernels(app: &App, table: &str, row: usize) -> Option<Vec<Action>> {
    let item = items::of_row(app, table, row).pop()?;
    let groups = items::menu(app, &item).into_iter().flatten();
    let mut ways = groups.filter(|offered| {
        let first = offered.actions.first();
        first == Some(&Action::Go(Screen::Kernels))
    });
    ways.next().map(|way| way.actions)
}

/// Copies between devices and changes of memory layout.
fn copies(ui: &mut Ui, graph: &ExaminedGraph) {
    ui.add_space(space::TINY);
    count_label(
        ui,
        graph.copies,
        "copies between devices",
        "copy between devices",
    );
    count_label(
        ui,
        graph.layout_changes,
        "changes of memory layout",
        "change of memory layout",
    );
}

/// How many there are, and how long they take.
fn count_label(ui: &mut Ui, (count, share): (u64, f64), many: &str, one: &str) {
    let words = match count {
        0 => format!("No {many}"),
        1 => format!("1 {one}, {} of the time", humanize::percent(share)),
        _ => format!(
            "{} {many}, {} of the time",
            humanize::count(count),
            humanize::percent(share)
        ),
    };
    label::quiet_line(ui, &words);
}
