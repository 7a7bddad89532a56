//! The tables: of one profile, and of two.

use eframe::egui::{self, Ui};

use crate::gui::theme;
use crate::gui::widgets::table::{self, ColumnSpec, Table};
use powerband_app::App;
use powerband_app::action::Kernels;
use powerband_app::kernels::{Found, words};
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_findings::analysis::breakdown::{Breakdown, Level, Row};
use powerband_findings::analysis::kernel_comparison::{
    self as comparison, Change, Comparison, Member,
};
use powerband_findings::chart::breakdown::{share_words, signed};
use powerband_findings::chart::colours::Fill;

/// Most height of a table.
const HEIGHT: f32 = 620.0;
/// Names of a row's side that are listed on hover.
const NAMES: usize = 8;
/// Longest line of a whole name on hover.
const LINE: usize = 110;

const SHARE: ColumnSpec =
    ColumnSpec::numbers(words::OF_NAMES[2], 62.0).with_help("Of all times that are added up");
const TOTAL: ColumnSpec =
    ColumnSpec::numbers(words::OF_NAMES[3], 76.0).with_help("All calls together");
const PER_RUN: ColumnSpec = ColumnSpec::numbers(words::OF_NAMES[4], 76.0)
    .with_help("All calls of a run of the network together");
const CALLS: ColumnSpec = ColumnSpec::numbers(words::OF_NAMES[5], 66.0);
const MEAN: ColumnSpec = ColumnSpec::numbers(words::OF_NAMES[6], 74.0).with_help("Of a call");
const SHORTEST: ColumnSpec = ColumnSpec::numbers(words::OF_NAMES[7], 74.0);
const LONGEST: ColumnSpec = ColumnSpec::numbers(words::OF_NAMES[8], 74.0);

const OF_CATEGORIES: [ColumnSpec; 9] = [
    ColumnSpec::words(words::OF_CATEGORIES[0], 200.0).growing(),
    ColumnSpec::numbers(words::OF_CATEGORIES[1], 74.0).with_help("How many names it has"),
    SHARE,
    TOTAL,
    PER_RUN,
    CALLS,
    MEAN,
    SHORTEST,
    LONGEST,
];
const OF_NAMES: [ColumnSpec; 9] = [
    ColumnSpec::words(words::OF_NAMES[0], 200.0).growing(),
    ColumnSpec::words(words::OF_NAMES[1], 180.0),
    SHARE,
    TOTAL,
    PER_RUN,
    CALLS,
    MEAN,
    SHORTEST,
    LONGEST,
];
const OF_TWO: [ColumnSpec; 8] = [
    ColumnSpec::words(words::OF_TWO[0], 200.0).growing(),
    ColumnSpec::words(words::OF_TWO[1], 84.0).with_help("On both sides, or on one only"),
    ColumnSpec::words(words::OF_TWO[2], 92.0).with_help("What both sides have in common: the whole name, the name without sizes and types, the operator, or the category"),
    ColumnSpec::numbers(words::OF_TWO[3], 76.0),
    ColumnSpec::numbers(words::OF_TWO[4], 76.0),
    ColumnSpec::numbers(words::OF_TWO[5], 92.0).with_help("After without before; all of them add up to the whole difference"),
    ColumnSpec::numbers(words::OF_TWO[6], 78.0).with_help("The share of the whole difference; below zero where a row goes the other way"),
    ColumnSpec::words(words::OF_TWO[7], 180.0),
];

/// The table of one profile.
pub(crate) fn broken_down(ui: &mut Ui, app: &App, found: &Found, changes: &mut Vec<Kernels>) {
    let state = &app.kernels;
    let breakdown = found.at(state.level);
    let columns: &[ColumnSpec] = match state.level {
        Level::Category => &OF_CATEGORIES,
        Level::Operator | Level::Kernel => &OF_NAMES,
    };
    let rows = &state.drawn.table;
    framed(
        ui,
        columns,
        state.sort,
        rows.len(),
        changes,
        |ui, at, column| {
            if let Some(row) = rows.get(at).and_then(|place| breakdown.rows.get(*place)) {
                cell(ui, breakdown, row, column);
            }
        },
    );
}

fn framed(
    ui: &mut Ui,
    columns: &[ColumnSpec],
    sort: Option<(usize, bool)>,
    rows: usize,
    changes: &mut Vec<Kernels>,
    cell: impl FnMut(&mut Ui, usize, usize),
) {
    let table = Table {
        id: "kernels",
        columns,
        sort,
        sorts: true,
        rows,
        selected: None,
        height: HEIGHT,
    };
    let touched = crate::gui::views::rows_card(ui, |ui| table.show(ui, cell));
    changes.extend(touched.sorted.map(Kernels::Sort));
}

fn cell(ui: &mut Ui, breakdown: &Breakdown, row: &Row, column: usize) {
    let time = |ns: Option<f64>| ns.map_or_else(|| UNKNOWN.to_owned(), humanize::duration_ns);
    let whole = |ns: Option<u64>| time(ns.map(|ns| ns as f64));
    let total = row.total_ns as f64;
    let untold = "The file does not tell";
    match column {
        0 => {
            dot(
                ui,
                powerband_findings::chart::breakdown::colour(row.category),
            );
            table::words_about(ui, &row.short, in_full(breakdown, row));
        }
        1 if breakdown.level == Level::Category => {
            table::number(ui, &humanize::count(row.names as u64));
        }
        1 => {
            let words = row.ops.join("\n");
            let response = table::words(ui, row.category.title());
            if !words.is_empty() {
                response.on_hover_text(words);
            }
        }
        2 => {
            table::number(ui, &share_words(row.share));
        }
        3 => {
            table::number(ui, &time(Some(total)));
        }
        4 => {
            let per_run = breakdown.per_run(total);
            let response = table::number(ui, &time(per_run));
            if per_run.is_none() {
                response.on_hover_text("It is not known how many runs the profile covers");
            }
        }
        5 => {
            table::number(ui, &humanize::count(row.calls));
        }
        6 => {
            table::number(ui, &time(row.mean_ns()));
        }
        _ => {
            let ns = if column == 7 { row.min_ns } else { row.max_ns };
            let response = table::number(ui, &whole(ns));
            if ns.is_none() {
                response.on_hover_text(untold);
            }
        }
    }
}

/// A spot in the colour of a category.
fn dot(ui: &mut Ui, fill: Fill) {
    let color = theme::roles(ui).fill(fill);
    let (rect, _) = ui.allocate_exact_size(egui::vec2(8.0, 16.0), egui::Sense::hover());
    let spot = egui::Rect::from_center_size(rect.center(), egui::vec2(8.0, 8.0));
    ui.painter().rect_filled(spot, 2.0, color);
}

/// A row with its whole name.
pub(crate) fn in_full(breakdown: &Breakdown, row: &Row) -> String {
    let mut text = folded(&row.name);
    if breakdown.level != Level::Category {
        text.push_str(&format!("\n{}", row.category.title()));
    }
    if !row.ops.is_empty() && breakdown.level == Level::Kernel {
        text.push_str(&format!(", for {}", row.ops.join(", ")));
    }
    if !row.places.is_empty() {
        text.push_str(&format!("\non {}", row.places.join(", ")));
    }
    let total = humanize::duration_ns(row.total_ns as f64);
    let calls = humanize::of_many(row.calls, "call");
    text.push_str(&format!("\n{}, {total} in {calls}", share_words(row.share)));
    if breakdown.level != Level::Kernel {
        text.push_str(&format!(
            ", {}",
            humanize::of_many(row.names as u64, "name")
        ));
    }
    text
}

/// A long name in lines of its own.
fn folded(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let lines = letters.chunks(LINE).take(NAMES);
    let mut text: Vec<String> = lines.map(|line| line.iter().collect()).collect();
    if letters.len() > LINE * NAMES {
        text.push("…".to_owned());
    }
    text.join("\n")
}

/// The table of two profiles.
pub(super) fn compared(ui: &mut Ui, app: &App, found: &Comparison, changes: &mut Vec<Kernels>) {
    let rows = &app.kernels.drawn.table;
    let sort = app.kernels.sort;
    framed(ui, &OF_TWO, sort, rows.len(), changes, |ui, at, column| {
        if let Some(row) = rows.get(at).and_then(|place| found.rows.get(*place)) {
            compared_cell(ui, found, row, column);
        }
    });
}

fn compared_cell(ui: &mut Ui, found: &Comparison, row: &comparison::Row, column: usize) {
    let side = |members: &[Member], ns: f64| {
        if members.is_empty() {
            UNKNOWN.to_owned()
        } else {
            humanize::duration_ns(ns)
        }
    };
    match column {
        0 => {
            dot(
                ui,
                powerband_findings::chart::breakdown::colour(row.category),
            );
            table::words_about(ui, &row.title, members(row));
        }
        1 => {
            let roles = theme::roles(ui);
            let change = row.change();
            let color = match change {
                Change::Changed => roles.quiet,
                Change::Appeared => roles.bad,
                Change::Went => roles.good,
            };
            let words = egui::RichText::new(change.title()).color(color);
            ui.add(egui::Label::new(words).selectable(false));
        }
        2 => {
            table::words(ui, row.matched.title());
        }
        3 => {
            table::number(ui, &side(&row.before, row.before_ns()));
        }
        4 => {
            table::number(ui, &side(&row.after, row.after_ns()));
        }
        5 => {
            table::number(ui, &signed(row.difference_ns()));
        }
        6 => {
            let share = found.contribution(row);
            let words = share.map(|share| share_words(share).replace('-', "−"));
            let response = table::number(ui, words.as_deref().unwrap_or(UNKNOWN));
            if words.is_none() {
                response.on_hover_text("The two are as good as equal");
            }
        }
        _ => {
            table::words(ui, row.category.title());
        }
    }
}

/// What stands on either side of a row.
pub(super) fn members(row: &comparison::Row) -> String {
    let side = |title: &str, members: &[Member]| {
        let mut lines = vec![title.to_owned()];
        if members.is_empty() {
            lines.push("  nothing".to_owned());
        }
        lines.extend(members.iter().take(NAMES).map(|member| {
            let time = humanize::duration_ns(member.ns);
            format!("  {time}  {}", humanize::shorten(&member.name, LINE))
        }));
        if members.len() > NAMES {
            lines.push(format!("  and {} more", members.len() - NAMES));
        }
        lines.join("\n")
    };
    format!(
        "{}\n{}",
        side("Before", &row.before),
        side("After", &row.after)
    )
}
