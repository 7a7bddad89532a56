//! The card of what an engine made of the network: what happened to its nodes, who ran them, and which
//! took longest.

use eframe::egui::{Align, ComboBox, Layout, Ui, vec2};

use crate::gui::theme::{self, size, space};
use crate::gui::widgets::label;
use crate::gui::widgets::table::{self, ColumnSpec, Table};
use powerband_app::App;
use powerband_app::action::Curves;
use powerband_app::curves::graph::{Choice, GraphCard};
use powerband_core::base::humanize;
use powerband_findings::analysis::graph::Graph;

/// Rows of a table before it scrolls.
const ROWS: usize = 8;
/// What the left of two tables has of the width.
const WIDE: f32 = 0.58;
/// Below this width the tables stand one below the other.
const NARROW: f32 = 800.0;

const PATTERNS: [ColumnSpec; 3] = [
    ColumnSpec::numbers("Times", 58.0),
    ColumnSpec::words("In the file", 150.0)
        .growing()
        .with_help("Operators of the file, each once, in the order in which they come"),
    ColumnSpec::words("Became", 164.0).with_help(
        "The one node that stands for them; gone: worked out beforehand, or doing nothing",
    ),
];

const OPERATORS: [ColumnSpec; 3] = [
    ColumnSpec::words("Operator", 120.0).growing(),
    ColumnSpec::numbers("In the file", 84.0),
    ColumnSpec::numbers("After", 64.0).with_help("Nodes that ran"),
];

const PROVIDERS: [ColumnSpec; 4] = [
    ColumnSpec::words("Provider", 100.0).growing(),
    ColumnSpec::numbers("Nodes", 60.0),
    ColumnSpec::numbers("Of nodes", 78.0),
    ColumnSpec::numbers("Of time", 78.0).with_help(TIME),
];

const SLOWEST: [ColumnSpec; 5] = [
    ColumnSpec::words("Node", 120.0).growing(),
    ColumnSpec::words("Operator", 104.0),
    ColumnSpec::words("Provider", 76.0),
    ColumnSpec::numbers("Mean time", 82.0).with_help(TIME),
    ColumnSpec::numbers("Share", 62.0).with_help("Of the time of all nodes"),
];

/// What the time of a node is, and is not.
const TIME: &str = "From a run of its own in which every node is timed, which costs time: it says where the time goes, and not how much a run takes. Where a device works on by itself, it is the time that starting the work took.";

/// Shows it, where a session has an examination.
pub(super) fn show(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>) {
    let drawn = &app.curves.drawn.graph;
    let Some(shown) = &drawn.shown else {
        return;
    };
    theme::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.vertical(|ui| {
            head(ui, drawn, shown, changes);
            body(ui, &drawn.graph);
        });
    });
    ui.add_space(space::MEDIUM);
}

fn head(ui: &mut Ui, drawn: &GraphCard, shown: &Choice, changes: &mut Vec<Curves>) {
    ui.horizontal(|ui| {
        label::card_title(ui, "What the engine made of the network");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let combo = ComboBox::from_id_salt("graph-setup")
                .width((ui.available_width() - space::SMALL).min(320.0))
                .truncate()
                .selected_text(&shown.name);
            let response = combo.show_ui(ui, |ui| {
                for choice in &drawn.choices {
                    let is_it = choice == shown;
                    if ui.selectable_label(is_it, &choice.name).clicked() && !is_it {
                        changes.push(Curves::Examined(choice.id));
                    }
                }
            });
            response
                .response
                .accessible_name("Setup whose graph is shown");
        });
    });
}

fn body(ui: &mut Ui, graph: &Graph) {
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
    beside(ui, |ui| patterns(ui, graph), |ui| operators(ui, graph));
    ui.add_space(space::SMALL);
    beside(ui, |ui| slowest(ui, graph), |ui| providers(ui, graph));
}

/// Two things side by side where there is room, the left one wider.
fn beside(ui: &mut Ui, left: impl FnOnce(&mut Ui), right: impl FnOnce(&mut Ui)) {
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

fn patterns(ui: &mut Ui, graph: &Graph) {
    label::caption(ui, "What happened to its nodes");
    if graph.patterns.is_empty() {
        label::quiet(ui, "None was fused, left out or added.");
        return;
    }
    shown(
        ui,
        "patterns",
        &PATTERNS,
        graph.patterns.len(),
        |ui, row, column| {
            let Some(pattern) = graph.patterns.get(row) else {
                return;
            };
            match column {
                0 => {
                    table::number(ui, &humanize::count(pattern.count));
                }
                1 if pattern.from.is_empty() => {
                    label::quiet_line(ui, "added");
                }
                1 => {
                    let from = pattern.from.join(" + ");
                    table::words(ui, &from);
                }
                _ => match &pattern.to {
                    Some(to) => {
                        table::words(ui, to);
                    }
                    None => {
                        label::quiet_line(ui, "gone");
                    }
                },
            }
        },
    );
    if graph.unchanged > 0 {
        let nodes = humanize::of_many(graph.unchanged, "node");
        label::faint(ui, &format!("{nodes} stayed as in the file"));
    }
}

fn operators(ui: &mut Ui, graph: &Graph) {
    label::caption(ui, "Nodes by operator");
    shown(
        ui,
        "operators",
        &OPERATORS,
        graph.operators.len(),
        |ui, row, column| {
            let Some(operator) = graph.operators.get(row) else {
                return;
            };
            match column {
                0 => table::words(ui, &operator.name),
                1 => table::number(ui, &humanize::count(operator.before)),
                _ => table::number(ui, &humanize::count(operator.after)),
            };
        },
    );
}

fn providers(ui: &mut Ui, graph: &Graph) {
    label::caption(ui, "Who ran them");
    shown(
        ui,
        "providers",
        &PROVIDERS,
        graph.providers.len(),
        |ui, row, column| {
            let Some(share) = graph.providers.get(row) else {
                return;
            };
            match column {
                0 => table::words(ui, &share.provider),
                1 => table::number(ui, &humanize::count(share.nodes)),
                2 => table::number(ui, &percent(share.share_of_nodes)),
                _ => table::number(ui, &percent(share.share_of_time)),
            };
        },
    );
    ui.add_space(space::TINY);
    told(
        ui,
        graph.copies,
        "copies between devices",
        "copy between devices",
    );
    told(
        ui,
        graph.layout_changes,
        "changes of memory layout",
        "change of memory layout",
    );
}

/// How many there are, and how long they take.
fn told(ui: &mut Ui, (count, share): (u64, f64), many: &str, one: &str) {
    let words = match count {
        0 => format!("No {many}"),
        1 => format!("1 {one}, {} of the time", percent(share)),
        _ => format!(
            "{} {many}, {} of the time",
            humanize::count(count),
            percent(share)
        ),
    };
    label::quiet_line(ui, &words);
}

fn slowest(ui: &mut Ui, graph: &Graph) {
    let runs = humanize::of_many(u64::from(graph.runs), "run");
    label::caption(ui, &format!("Where the time goes, over {runs}"));
    if graph.slowest.is_empty() {
        label::quiet(ui, "No times are known.");
        return;
    }
    shown(
        ui,
        "slowest",
        &SLOWEST,
        graph.slowest.len(),
        |ui, row, column| {
            let Some(node) = graph.slowest.get(row) else {
                return;
            };
            match column {
                0 => table::words(ui, &node.name),
                1 => table::words(ui, &node.op),
                2 => table::words(ui, &node.provider),
                3 => table::number(ui, &humanize::duration_ns(node.time_ns as f64)),
                _ => table::number(ui, &percent(node.share)),
            };
        },
    );
}

fn shown(
    ui: &mut Ui,
    id: &str,
    columns: &[ColumnSpec],
    rows: usize,
    cell: impl FnMut(&mut Ui, usize, usize),
) {
    // The slowest are few, and all of them are seen.
    let most = if id == "slowest" { rows } else { ROWS };
    let table = Table {
        id,
        columns,
        sort: None,
        sorts: false,
        rows,
        selected: None,
        height: most as f32 * size::ROW + 1.0,
    };
    table.show(ui, cell);
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        percent if percent <= 0.0 => "0 %".to_owned(),
        percent if percent < 0.1 => "< 0.1 %".to_owned(),
        percent => format!("{} %", humanize::value(percent)),
    }
}
