//! A table of the application as it is arranged: its tools above, its rows below; it has no state.

use eframe::egui::{self, Align, Id, Label, Layout, Popup, PopupCloseBehavior, RichText, Ui};

use super::table::{self, ColumnSpec, Table};
use super::{button, field, flags, label, verdict};
use crate::gui::icon;
use crate::gui::theme::{self, space};
use powerband_app::App;
use powerband_app::action::Action;
use powerband_app::tables::{self, action::Change, palette};
use powerband_core::base::humanize;
use powerband_findings::tables::Head;
use powerband_findings::tables::cell::{Cell, Sign, Tone};
use powerband_findings::tables::view::View;

/// Most rows that determine the widths.
const MEASURED: usize = 40;
/// Room beside the text of a cell.
const PADDING: f32 = 24.0;
/// The narrowest and the widest column that does not grow.
const WIDTHS: (f32, f32) = (52.0, 240.0);
/// Width of the field that filters.
const FILTER: f32 = 140.0;

/// Paints what stands before the words of a row, by its place in the whole table.
type Lead<'a> = &'a dyn Fn(&mut Ui, usize);

/// How a table is shown.
pub(crate) struct DataTable<'a> {
    /// Which of the application's tables.
    pub id: &'static str,
    /// Most height that it takes; more is scrolled.
    pub height: f32,
    /// The selected row, by its place in the whole table.
    pub selected: Option<usize>,
    /// The name of a row; `None` where rows cannot be clicked.
    pub name: Option<&'a dyn Fn(usize) -> String>,
    /// What stands before the words of the first column.
    pub lead: Option<Lead<'a>>,
}

/// What the user did with rows, by their places in the whole table.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// The row that was clicked.
    pub clicked: Option<usize>,
    /// The row under the pointer.
    pub hovered: Option<usize>,
}

impl DataTable<'_> {
    /// Shows its rows.
    pub(crate) fn show(&self, ui: &mut Ui, app: &App, actions: &mut Vec<Action>) -> Touched {
        let Some(view) = app.tables.view(self.id) else {
            return Touched::default();
        };
        let columns = columns(ui, self.id, app.tables.version(self.id), view);
        let sort = app.tables.sort(self.id);
        let keys: Vec<&str> = view.heads().map(|head| head.key).collect();
        let table = Table {
            id: self.id,
            columns: &columns,
            sort: sort.and_then(|(key, falls)| {
                let place = keys.iter().position(|shown| shown == key)?;
                Some((place, *falls))
            }),
            sorts: true,
            rows: view.len(),
            selected: self.selected.and_then(|row| view.shown(row)),
            height: self.height,
        };
        let first_words = columns.iter().position(|column| !column.is_number);
        let paint = |ui: &mut Ui, row: usize, column: usize| {
            if let (Some(lead), true, Some(source)) =
                (self.lead, first_words == Some(column), view.source(row))
            {
                lead(ui, source);
            }
            let is_number = columns.get(column).is_some_and(|column| column.is_number);
            paint_cell(ui, &view.cell(row, column), is_number);
        };
        let touched = match self.name {
            Some(name) => {
                let name = |row| view.source(row).map(name).unwrap_or_default();
                table.show_clickable(ui, name, paint)
            }
            None => table.show(ui, paint),
        };
        if let Some(key) = touched.sorted.and_then(|place| keys.get(place)) {
            let sort = Change::Sort((*key).to_owned());
            actions.push(Action::Table(self.id, sort));
        }
        Touched {
            clicked: touched.clicked.and_then(|row| view.source(row)),
            hovered: touched.hovered.and_then(|row| view.source(row)),
        }
    }
}

/// The tools of a table, at its upper right: filter, columns, copy, export. Where the filter leaves no
/// row, a button below them clears it, and the result is false.
pub(crate) fn tools(
    ui: &mut Ui,
    app: &App,
    id: &'static str,
    actions: &mut Vec<Action>,
    title: impl FnOnce(&mut Ui),
) -> bool {
    let Some((view, kind)) = app.tables.view(id).zip(tables::find(id)) else {
        return false;
    };
    let words = app.tables.words(id);
    let mut change = |change| actions.push(Action::Table(id, change));
    ui.horizontal(|ui| {
        title(ui);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = space::TINY;
            let named = |what: &str| format!("{what} {}", kind.title);
            if button::small_icon(ui, icon::EXPORT, &named("Export")).clicked() {
                change(Change::Export(None));
            }
            if button::small_icon(ui, icon::COPY, &named("Copy")).clicked() {
                change(Change::Copy);
            }
            let response = button::small_icon(ui, icon::COLUMNS, &named("Columns of"));
            Popup::menu(&response)
                .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
                .show(|ui| chooser(ui, view, &mut change));
            if kind.filters {
                let name = palette::filter_name(kind);
                let (_, typed) = field::search(ui, &name, words, "Filter", FILTER);
                if let Some(words) = typed {
                    change(Change::Filter(words));
                }
            }
            let all = humanize::of_many(view.all_rows() as u64, kind.row);
            let count = if view.len() == view.all_rows() {
                all
            } else {
                format!("{} of {all}", humanize::count(view.len() as u64))
            };
            label::faint(ui, &count);
        });
    });
    if !view.is_empty() || words.is_empty() {
        return !view.is_empty();
    }
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        label::quiet(ui, &format!("No {} matches these words.", kind.row));
        if button::plain(ui, None, "Clear the filter").clicked() {
            change(Change::Filter(String::new()));
        }
    });
    false
}

/// The columns of a table: which are shown, in which order.
fn chooser(ui: &mut Ui, view: &View, change: &mut impl FnMut(Change)) {
    ui.set_max_height(420.0);
    egui::ScrollArea::vertical().show(ui, |ui| {
        ui.set_min_width(220.0);
        let shown: Vec<&str> = view.heads().map(|head| head.key).collect();
        let hidden = view.all_heads().iter();
        let hidden = hidden.filter(|head| !shown.contains(&head.key));
        for head in view.heads().chain(hidden) {
            ui.horizontal(|ui| choice(ui, head, shown.contains(&head.key), change));
        }
        ui.add_space(space::TINY);
        if button::plain(ui, Some(icon::UNDO), "Reset").clicked() {
            change(Change::Reset);
        }
    });
}

/// A column to be shown or hidden, and moved where it is shown.
fn choice(ui: &mut Ui, head: &Head, is_shown: bool, change: &mut impl FnMut(Change)) {
    let key = || head.key.to_owned();
    let mut is_on = is_shown;
    let mut response = field::check(ui, &mut is_on, head.title);
    if !head.help.is_empty() {
        response = response.on_hover_text(head.help);
    }
    if response.changed() {
        change(Change::Column(key(), is_on));
    }
    if !is_shown {
        return;
    }
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        for (sign, side, by) in [(icon::RIGHT, "right", 1), (icon::LEFT, "left", -1)] {
            let name = format!("Move {} to the {side}", head.title);
            if button::small_icon(ui, sign, &name).clicked() {
                change(Change::Move(key(), by));
            }
        }
    });
}

/// The columns with widths that suit their cells, measured when the table was made anew or arranged.
fn columns(ui: &Ui, id: &'static str, version: u64, view: &View) -> Vec<ColumnSpec> {
    let memory = Id::unique(("table-widths", id));
    let known: Option<(u64, Vec<f32>)> = ui.data(|data| data.get_temp(memory));
    let widths = match known {
        Some((of, widths)) if of == version => widths,
        _ => {
            let widths: Vec<f32> = (0..view.heads().len())
                .map(|column| width(ui, view, column))
                .collect();
            ui.data_mut(|data| data.insert_temp(memory, (version, widths.clone())));
            widths
        }
    };
    let first_words = view.heads().position(|head| !head.is_number);
    let columns = view.heads().zip(widths).enumerate();
    columns
        .map(|(place, (head, width))| ColumnSpec {
            title: head.title,
            help: head.help,
            width,
            grows: Some(place) == first_words,
            is_number: head.is_number,
        })
        .collect()
}

fn width(ui: &Ui, view: &View, column: usize) -> f32 {
    let Some(head) = view.heads().nth(column) else {
        return WIDTHS.0;
    };
    let measure = |text: &str, font| {
        let color = egui::Color32::PLACEHOLDER;
        let galley = ui.painter().layout_no_wrap(text.to_owned(), font, color);
        galley.size().x
    };
    let font = || {
        if head.is_number {
            theme::numbers(12.5)
        } else {
            theme::words(13.0)
        }
    };
    let cells = (0..view.len().min(MEASURED)).map(|row| {
        let cell = view.cell(row, column);
        let sign = match cell.sign {
            Some(Sign::Verdict(_)) => 26.0,
            Some(Sign::Flags(_)) => 20.0,
            None => 0.0,
        };
        measure(cell.shown_text(), font()) + sign
    });
    // Room for the arrow of a sorted column.
    let title = measure(head.title, theme::words(theme::text::CAPTION)) + 12.0;
    let widest = cells.fold(title, f32::max);
    (widest + PADDING).clamp(WIDTHS.0, WIDTHS.1).ceil()
}

fn paint_cell(ui: &mut Ui, cell: &Cell, is_number: bool) {
    if let Some(Sign::Verdict(found)) = &cell.sign {
        verdict::pill(ui, found);
        return;
    }
    let text = cell.shown_text();
    let response = if is_number {
        let response = table::number(ui, text);
        if let Some(Sign::Flags(raised)) = &cell.sign {
            flags::mark(ui, raised);
        }
        response
    } else {
        if let Some(Sign::Flags(raised)) = &cell.sign {
            flags::mark(ui, raised);
        }
        let words = RichText::new(text).color(color(ui, cell.tone));
        let label = Label::new(words).truncate().selectable(false);
        ui.add(label.show_tooltip_when_elided(cell.note.is_empty()))
    };
    if !cell.note.is_empty() {
        response.on_hover_text(humanize::capital(&cell.note));
    }
}

fn color(ui: &Ui, tone: Tone) -> egui::Color32 {
    let roles = theme::roles(ui);
    match tone {
        Tone::Plain => roles.text,
        Tone::Good => roles.good,
        Tone::Bad => roles.bad,
        Tone::Open => roles.unsure,
    }
}
