//! The tables: of one profile, and of two.

use eframe::egui::{self, Ui};

use crate::theme;
use crate::views::rows_card;
use crate::widgets::data_table::{self, ColumnBars, DataTable};
use crate::widgets::label;
use powerband_app::App;
use powerband_app::action::Action;
use powerband_app::kernels::KernelsResult;
use powerband_core::base::humanize;
use powerband_findings::analysis::breakdown::{Breakdown, BreakdownLevel, BreakdownRow};
use powerband_findings::analysis::category::Category;
use powerband_findings::analysis::kernel_comparison::{
    self as comparison, KernelComparison, KernelEntry,
};
use powerband_findings::analysis::profile_runs::Times;
use powerband_findings::chart::breakdown::category_fill;
use powerband_findings::chart::colours::Fill;

/// Most height of a table.
const HEIGHT: f32 = 620.0;
/// Names of a row's side that are listed on hover.
const NAMES: usize = 8;
/// Longest line of a whole name on hover.
const LINE: usize = 110;

/// The table of one profile.
pub(super) fn broken_down(
    ui: &mut Ui,
    app: &App,
    found: &KernelsResult,
    actions: &mut Vec<Action>,
) {
    let breakdown = found.breakdown(app.profile.kernels.level);
    let id = match app.profile.kernels.level {
        BreakdownLevel::Category => "categories",
        BreakdownLevel::Operator | BreakdownLevel::Kernel => "kernels",
    };
    let title = match app.profile.kernels.level {
        BreakdownLevel::Category => "Categories",
        BreakdownLevel::Operator => "Operators",
        BreakdownLevel::Kernel => "Kernels",
    };
    let times = app.profile.kernels.times;
    let longest = breakdown.rows.first().map_or(1.0, |row| row.share);
    let places = &app.profile.kernels.drawn.rows;
    let roles = theme::roles(ui);
    let bar = |row: usize| {
        let row = breakdown.rows.get(*places.get(row)?)?;
        let share = (row.share / longest) as f32;
        Some((share, roles.fill(category_fill(row.category))))
    };
    shown(ui, app, (id, title), actions, Some(&bar), |place| {
        let row = breakdown.rows.get(place)?;
        let words = in_full(breakdown, row, times);
        Some((row.category, row.short.clone(), words))
    });
}

/// The table of two profiles.
pub(super) fn compared(
    ui: &mut Ui,
    app: &App,
    found: &KernelComparison,
    actions: &mut Vec<Action>,
) {
    shown(ui, app, ("changes", "Changes"), actions, None, |place| {
        let row = found.rows.get(place)?;
        Some((row.category, row.title.clone(), members(row)))
    });
}

/// A table whose rows have the spot of their category, and more about them under the pointer.
fn shown(
    ui: &mut Ui,
    app: &App,
    (id, title): (&'static str, &str),
    actions: &mut Vec<Action>,
    bars: Option<&dyn Fn(usize) -> Option<(f32, egui::Color32)>>,
    about: impl Fn(usize) -> Option<(Category, String, String)>,
) {
    let state = &app.profile.kernels;
    let places = &state.drawn.rows;
    rows_card(ui, |ui| {
        let head = |ui: &mut Ui| {
            ui.add_space(10.0);
            label::card_title(ui, title);
        };
        if !data_table::tools(ui, app, id, actions, head) {
            return;
        }
        let lead = |ui: &mut Ui, row: usize| {
            if let Some((category, _, words)) = places.get(row).and_then(|place| about(*place)) {
                dot(ui, category_fill(category)).on_hover_text(words);
            }
        };
        let name = |row: usize| {
            let found = places.get(row).and_then(|place| about(*place));
            found.map_or_else(String::new, |(_, name, _)| format!("Open {name}"))
        };
        let table = DataTable {
            id,
            height: HEIGHT,
            selected: state.drawn.selected,
            name: Some(&name),
            lead: Some(&lead),
            bars: bars.map(|bar| ColumnBars { key: "share", bar }),
            ..DataTable::default()
        };
        let touched = table.show(ui, app, actions);
        let clicked = touched.clicked.and_then(|row| places.get(row));
        let meaning = clicked.and_then(|place| state.row_meaning(*place));
        actions.extend(meaning.map(|meaning| Action::Kernels(meaning.opened())));
    });
}

/// A spot in the colour of a category.
fn dot(ui: &mut Ui, fill: Fill) -> egui::Response {
    let color = theme::roles(ui).fill(fill);
    let (rect, response) = ui.allocate_exact_size(egui::vec2(8.0, 16.0), egui::Sense::hover());
    let spot = egui::Rect::from_center_size(rect.center(), egui::vec2(8.0, 8.0));
    ui.painter().rect_filled(spot, 2.0, color);
    response
}

/// A row with its whole name.
pub(super) fn in_full(breakdown: &Breakdown, row: &BreakdownRow, times: Times) -> String {
    let mut text = folded(&row.name);
    if breakdown.level != BreakdownLevel::Category {
        text.push_str(&format!("\n{}", row.category.title()));
    }
    if !row.ops.is_empty() && breakdown.level == BreakdownLevel::Kernel {
        text.push_str(&format!(", for {}", row.ops.join(", ")));
    }
    if !row.places.is_empty() {
        text.push_str(&format!("\non {}", row.places.join(", ")));
    }
    let total = humanize::duration_ns(row.total_ns as f64);
    let calls = humanize::pluralised(row.calls, "call");
    text.push_str(&format!("\n{}, ", humanize::percent(row.share)));
    if times.divisor(breakdown.runs) > 1.0 {
        let shown = breakdown.shown_ns(row.total_ns as f64, times);
        let unit = times.unit(breakdown.runs);
        text.push_str(&format!("{} {unit}, ", humanize::duration_ns(shown)));
    }
    text.push_str(&format!("{total} in {calls}"));
    if breakdown.level != BreakdownLevel::Kernel {
        text.push_str(&format!(
            ", {}",
            humanize::pluralised(row.names as u64, "name")
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

/// The kernels of both sides of a row.
pub(super) fn members(row: &comparison::KernelDiffRow) -> String {
    let side = |title: &str, members: &[KernelEntry]| {
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
