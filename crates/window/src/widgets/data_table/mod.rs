//! A table of the application as it is arranged: its tools above, its rows below; it has no state.

mod widths;

use std::cell::RefCell;

use eframe::egui::accesskit::Role;
use eframe::egui::{
    self, Align, Event, Id, Key, Label, Layout, Popup, PopupCloseBehavior, RichText, Ui, WidgetInfo,
};

use super::handle::{self, Grows};
use super::table::{self, ColumnSpec, TableLayout};
use super::{button, field, flags, label, menu, verdict};
use crate::icon;
use crate::theme::{self, size, space};
use crate::widgets::long_tip;
use powerband_app::App;
use powerband_app::action::{Action, Shell};
use powerband_app::items::{self, MenuTarget};
use powerband_app::palette_entries::{Groups, Offered, anywhere};
use powerband_app::tables::selection::SelectionMode;
use powerband_app::tables::{self, action::TableChange, palette};
use powerband_core::base::humanize;
use powerband_findings::tables::ColumnHead;
use powerband_findings::tables::cell::{Cell, Sign, Tone};
use powerband_findings::tables::view::TableView;

/// The least height of a table that was made lower.
const LEAST_HEIGHT: f32 = 96.0;
/// Most letters of a value in a menu.
const LONGEST: usize = 32;
/// Width of the list of columns, and the height from which on it scrolls.
const CHOOSER: (f32, f32) = (240.0, 380.0);
const TAIL: f32 = 34.0;
/// Width of the field that filters.
const FILTER: f32 = 140.0;

/// Paints what stands before the words of a row, by its place in the whole table.
type RowLead<'a> = &'a dyn Fn(&mut Ui, usize);

/// How a table is shown.
#[derive(Default)]
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
    pub lead: Option<RowLead<'a>>,
    /// What stands at the end of a row: a small button.
    pub tail: Option<RowLead<'a>>,
    /// A column whose numbers are bars too.
    pub bars: Option<ColumnBars<'a>>,
}

/// Bars behind the numbers of a column.
pub(crate) struct ColumnBars<'a> {
    /// The column.
    pub key: &'static str,
    /// The bar of a row by its place in the whole table: its part of the width, and its colour.
    pub bar: &'a dyn Fn(usize) -> Option<(f32, egui::Color32)>,
}

/// Width of a column with bars.
const BARS: f32 = 220.0;
/// How much of the ground shows through a bar, so that the number on it is read.
const BAR_OPACITY: f32 = 0.45;

impl ColumnBars<'_> {
    fn paint(&self, ui: &Ui, row: usize) {
        if let Some((share, color)) = (self.bar)(row) {
            let cell = ui.max_rect().shrink2(egui::vec2(4.0, 5.0));
            let width = cell.width() * share.clamp(0.0, 1.0);
            let bar = cell.with_max_x(cell.left() + width.max(1.0));
            ui.painter()
                .rect_filled(bar, 2.0, color.gamma_multiply(BAR_OPACITY));
        }
    }
}

/// What the user did with rows, by their places in the whole table.
#[derive(Debug, Default)]
pub(crate) struct RowInput {
    /// The row that was clicked.
    pub clicked: Option<usize>,
    /// The row under the pointer.
    pub hovered: Option<usize>,
    /// Whether the user scrolled the rows.
    pub is_scrolled: bool,
}

impl DataTable<'_> {
    /// Shows its rows.
    pub(crate) fn show(&self, ui: &mut Ui, app: &App, actions: &mut Vec<Action>) -> RowInput {
        self.show_with(ui, app, None, actions)
    }

    /// The same with a row that is scrolled into view, by its place in the whole table.
    pub(crate) fn show_with(
        &self,
        ui: &mut Ui,
        app: &App,
        in_view: Option<usize>,
        actions: &mut Vec<Action>,
    ) -> RowInput {
        let Some(view) = app.shared.tables.view(self.id) else {
            return RowInput::default();
        };
        let columns = self.columns(ui, app, view);
        let sort = app.shared.tables.sort(self.id);
        let keys: Vec<&str> = view.heads().map(|head| head.key).collect();
        let asked = RefCell::new(Vec::new());
        let of_cell = |ui: &mut Ui, row: usize, column: usize| {
            let mut groups = vec![offered(app, self.id, view, row, column)];
            let items = view.source(row).map(|row| items::of_row(app, self.id, row));
            let items = items.unwrap_or_default();
            groups.extend(of_items(app, &items));
            menu::entries(ui, &groups, &mut asked.borrow_mut());
        };
        let marked = self.selected.and_then(|row| view.shown(row));
        let rows = app.shared.tables.selected(self.id);
        let is_selected = |row: usize| {
            let source = view.source(row);
            let is_one = source
                .zip(rows)
                .is_some_and(|(row, rows)| rows.contains(&row));
            is_one || marked == Some(row)
        };
        let table = TableLayout {
            id: self.id,
            columns: &columns,
            sort: sort.and_then(|(key, falls)| {
                let place = keys.iter().position(|shown| shown == key)?;
                Some((place, *falls))
            }),
            rows: view.len(),
            is_selected: &is_selected,
            height: self.height(app),
            in_view: in_view.and_then(|row| view.shown(row)),
            menu: &of_cell,
        };
        let first_words = columns.iter().position(|column| !column.is_number);
        let paint = |ui: &mut Ui, row: usize, column: usize| {
            if column == keys.len() {
                if let (Some(tail), Some(source)) = (self.tail, view.source(row)) {
                    tail(ui, source);
                }
                return;
            }
            if let (Some(lead), true, Some(source)) =
                (self.lead, first_words == Some(column), view.source(row))
            {
                lead(ui, source);
            }
            self.paint_bar(ui, view.source(row), keys.get(column).copied());
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
        actions.append(&mut asked.borrow_mut());
        self.edge(ui, app, view.len(), actions);
        if let Some((place, width)) = touched.resized
            && let Some(key) = keys.get(place)
        {
            let width = TableChange::Width((*key).to_owned(), width);
            actions.push(Action::Table(self.id, width));
        }
        if let Some(key) = touched.sorted.and_then(|place| keys.get(place)) {
            let sort = TableChange::Sort((*key).to_owned());
            actions.push(Action::Table(self.id, sort));
        }
        self.keys(ui, app, touched.focused, actions);
        RowInput {
            clicked: self.clicked(ui, app, touched.clicked, actions),
            hovered: touched.hovered.and_then(|row| view.source(row)),
            is_scrolled: touched.is_scrolled,
        }
    }
}

impl DataTable<'_> {
    /// The bar of a cell in the column that has them.
    fn paint_bar(&self, ui: &Ui, row: Option<usize>, key: Option<&str>) {
        if let (Some(bars), Some(row)) = (&self.bars, row)
            && key == Some(bars.key)
        {
            bars.paint(ui, row);
        }
    }

    /// Its columns, with the widths that the user chose.
    fn columns(&self, ui: &Ui, app: &App, view: &TableView) -> Vec<ColumnSpec> {
        let bars = self.bars.as_ref().map_or(0.0, |_| BARS / 2.0);
        let room = ui.available_width() - self.tail.map_or(0.0, |_| TAIL) - bars;
        let widths = app.shared.tables.widths(self.id);
        let mut columns =
            widths::columns(ui, self.id, app.shared.tables.version(self.id), view, room);
        for (column, head) in columns.iter_mut().zip(view.heads()) {
            if self.bars.as_ref().is_some_and(|bars| bars.key == head.key) {
                column.width = BARS.min(room / 4.0).max(column.width);
            }
            if let Some(width) = widths.and_then(|widths| widths.get(head.key)) {
                column.width = *width;
                column.grows = false;
            }
        }
        columns.extend(self.tail.map(|_| ColumnSpec::text_column("", TAIL)));
        columns
    }

    /// Its most height: what the user chose, else the usual one.
    fn height(&self, app: &App) -> f32 {
        let chosen = app.shared.remembered.sizes.get(&self.part());
        chosen.map_or(self.height, |height| height.max(LEAST_HEIGHT))
    }

    /// Names its height in the settings.
    fn part(&self) -> String {
        format!("table {}", self.id)
    }

    /// The lower edge, where more rows than fit make a height worth changing.
    fn edge(&self, ui: &Ui, app: &App, rows: usize, actions: &mut Vec<Action>) {
        let now = self.height(app);
        let all = rows as f32 * size::ROW;
        if all <= now && now <= self.height {
            return;
        }
        let shown = ui.min_rect();
        let title = tables::find(self.id).map_or("the table", |kind| kind.title);
        let name = format!("Height of {title}");
        let part = self.part();
        if let Some(height) = handle::show(ui, &part, &name, Grows::Down, shown, now) {
            let height = height.chosen().map(|height| height.max(LEAST_HEIGHT));
            actions.push(Action::Shell(Shell::Resize(part, height)));
        }
    }
}

impl DataTable<'_> {
    /// Selects by a click with Ctrl or Shift; the answer is the row whose own action is asked for.
    fn clicked(
        &self,
        ui: &Ui,
        app: &App,
        clicked: Option<usize>,
        actions: &mut Vec<Action>,
    ) -> Option<usize> {
        let row = app.shared.tables.view(self.id)?.source(clicked?)?;
        let mut change = |change| actions.push(Action::Table(self.id, change));
        let marked = self.name.and(self.selected);
        let memory = Id::unique(("table-anchor", self.id));
        let held = ui.input(|input| input.modifiers);
        if held.shift {
            let last: Option<usize> = ui.data(|data| data.get_temp(memory));
            change(TableChange::Select(row, SelectionMode::To, marked.or(last)));
            return None;
        }
        if held.command {
            change(TableChange::Select(row, SelectionMode::Toggle, marked));
            return None;
        }
        ui.data_mut(|data| data.insert_temp(memory, row));
        let rows = app.shared.tables.selected(self.id);
        if self.name.is_some() {
            if rows.is_some() {
                change(TableChange::SelectNone);
            }
            return Some(row);
        }
        // A click on a row that does nothing else selects it, and again not.
        let is_it_alone = rows.is_some_and(|rows| rows.len() == 1 && rows.contains(&row));
        change(if is_it_alone {
            TableChange::SelectNone
        } else {
            TableChange::Select(row, SelectionMode::Only, None)
        });
        None
    }

    /// Ctrl+C copies the selected rows, Shift and an arrow selects one more or less.
    fn keys(&self, ui: &Ui, app: &App, focused: Option<usize>, actions: &mut Vec<Action>) {
        if ui.ctx().text_edit_focused() {
            return;
        }
        let (copies, by) = ui.input(|input| {
            let copies = input.events.contains(&Event::Copy);
            let pressed = |key| input.modifiers.shift_only() && input.key_pressed(key);
            let by = i8::from(pressed(Key::ArrowDown)) - i8::from(pressed(Key::ArrowUp));
            (copies, by)
        });
        let mut change = |change| actions.push(Action::Table(self.id, change));
        if app.shared.tables.active() == Some(self.id) {
            if copies {
                change(TableChange::Copy);
            }
            if by != 0 {
                change(TableChange::Extend(by));
            }
            return;
        }
        // The keyboard moves on from a row with Shift held: a selection begins there.
        let view = app.shared.tables.view(self.id);
        let Some((view, row)) = view.zip(focused).filter(|_| by != 0) else {
            return;
        };
        let next = row.checked_add_signed(isize::from(by));
        let next = next.and_then(|next| view.source(next));
        if let (Some(row), Some(next)) = (view.source(row), next) {
            change(TableChange::Select(row, SelectionMode::Only, None));
            change(TableChange::Select(next, SelectionMode::To, None));
        }
    }
}

/// Entries of the context menu of a cell.
fn offered(
    app: &App,
    id: &'static str,
    view: &TableView,
    row: usize,
    column: usize,
) -> Vec<Offered> {
    let copy = |title: &str, text: String| anywhere(title, Action::Shell(Shell::Copy(text)));
    let mut offered = vec![copy("Copy the row", view.row_tsv(row))];
    let rows = app.shared.tables.selected(id).filter(|rows| rows.len() > 1);
    if let Some(rows) = rows {
        let title = format!(
            "Copy the {} selected rows",
            humanize::count(rows.len() as u64)
        );
        offered.push(anywhere(title, Action::Table(id, TableChange::Copy)));
    }
    let Some((head, kind)) = view.heads().nth(column).zip(tables::find(id)) else {
        return offered;
    };
    let change = |change| Action::Table(id, change);
    let key = || head.key.to_owned();
    if let Some(text) = view.cell(row, column).text {
        offered.insert(0, copy("Copy the value", text.clone()));
        if kind.filters && app.shared.tables.filter_text(id) != text {
            let words = humanize::shorten(&text, LONGEST);
            let filter = change(TableChange::Filter(text));
            offered.push(anywhere(format!("Filter by “{words}”"), filter));
        }
    }
    let sort = change(TableChange::Sort(key()));
    let hide = change(TableChange::Column(key(), false));
    offered.extend([
        anywhere(format!("Sort by {}", head.title), sort),
        anywhere(format!("Hide {}", head.title), hide),
    ]);
    offered
}

/// Menu entries for the items of a row. With several items, each entry ends with the item's name.
fn of_items(app: &App, items: &[MenuTarget]) -> Groups {
    let several = items.len() > 1;
    items
        .iter()
        .flat_map(|item| {
            let name = several.then(|| items::name(app, item));
            let mut groups = items::menu(app, item);
            for offered in groups.iter_mut().flatten() {
                if let Some(name) = &name {
                    offered.title = format!("{}: {name}", offered.title);
                }
            }
            groups
        })
        .collect()
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
    let Some((view, kind)) = app.shared.tables.view(id).zip(tables::find(id)) else {
        return false;
    };
    let words = app.shared.tables.filter_text(id);
    let mut change = |change| actions.push(Action::Table(id, change));
    ui.horizontal(|ui| {
        title(ui);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = space::TINY;
            let named = |what: &str| format!("{what} {}", kind.title);
            if app.shared.has_machine()
                && button::small_icon(ui, icon::EXPORT, &named("Export")).clicked()
            {
                change(TableChange::Export(None));
            }
            if button::small_icon(ui, icon::COPY, &named("Copy")).clicked() {
                change(TableChange::Copy);
            }
            let response = button::small_icon(ui, icon::COLUMNS, &named("Columns of"));
            Popup::menu(&response)
                .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
                .show(|ui| chooser(ui, view, &mut change));
            if kind.filters {
                let name = palette::filter_name(kind);
                let (_, typed) = field::search(ui, &name, words, "Filter", FILTER);
                if let Some(words) = typed {
                    change(TableChange::Filter(words));
                }
            }
            let all = humanize::pluralised(view.all_rows() as u64, kind.row);
            let count = if view.len() == view.all_rows() {
                all
            } else {
                format!("{} of {all}", humanize::count(view.len() as u64))
            };
            let selected = app.shared.tables.selected(id).map(|rows| rows.len());
            let count = match selected {
                Some(rows) => format!("{} selected of {count}", humanize::count(rows as u64)),
                None => count,
            };
            ui.add_space(space::SMALL);
            label::faint(ui, &count);
        });
    });
    if !view.is_empty() || words.is_empty() {
        return !view.is_empty();
    }
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        label::quiet(ui, &format!("No {} matches these words.", kind.row));
        if button::labelled(ui, None, "Clear the filter").clicked() {
            change(TableChange::Filter(String::new()));
        }
    });
    false
}

/// The columns of a table: which are shown, in which order.
fn chooser(ui: &mut Ui, view: &TableView, change: &mut impl FnMut(TableChange)) {
    ui.set_width(CHOOSER.0);
    let rows = egui::ScrollArea::vertical().max_height(CHOOSER.1);
    rows.show(ui, |ui| {
        let shown: Vec<&str> = view.heads().map(|head| head.key).collect();
        let hidden = view.all_heads().iter();
        let hidden = hidden.filter(|head| !shown.contains(&head.key));
        for head in view.heads().chain(hidden) {
            ui.horizontal(|ui| choice(ui, head, shown.contains(&head.key), change));
        }
    });
    ui.add_space(space::TINY);
    if button::labelled(ui, Some(icon::UNDO), "Reset").clicked() {
        change(TableChange::Reset);
    }
}

/// A column to be shown or hidden, and moved where it is shown.
fn choice(ui: &mut Ui, head: &ColumnHead, is_shown: bool, change: &mut impl FnMut(TableChange)) {
    let key = || head.key.to_owned();
    let mut is_on = is_shown;
    let mut response = field::check(ui, &mut is_on, head.title);
    if !head.help.is_empty() {
        response = response.on_hover_text(head.help);
    }
    if response.changed() {
        change(TableChange::Column(key(), is_on));
    }
    if !is_shown {
        return;
    }
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        for (sign, side, by) in [(icon::RIGHT, "right", 1), (icon::LEFT, "left", -1)] {
            let name = format!("Move {} to the {side}", head.title);
            if button::small_icon(ui, sign, &name).clicked() {
                change(TableChange::Move(key(), by));
            }
        }
    });
}

fn paint_cell(ui: &mut Ui, cell: &Cell, is_number: bool) {
    if let Some(Sign::Verdict(found)) = &cell.sign {
        verdict::pill(ui, found);
        return;
    }
    let text = cell.shown_text();
    let note = humanize::capitalised(&cell.note);
    let flags = |ui: &mut Ui| {
        if let Some(Sign::Flags(raised)) = &cell.sign {
            flags::mark(ui, raised);
        }
    };
    let (response, hover) = if is_number {
        let response = table::number(ui, text);
        flags(ui);
        (response, note)
    } else {
        flags(ui);
        let known = cell.text.is_some().then(|| color(ui, cell.tone));
        let color = known.unwrap_or_else(|| theme::roles(ui).faint);
        let shown = label::fitted(ui, text, ui.available_width());
        let label = Label::new(RichText::new(&shown).color(color));
        let label = label.truncate().selectable(false);
        let response = ui.add(label.show_tooltip_when_elided(false));
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
        // Programs read names that were cut before.
        let full = cell.plain.as_deref().unwrap_or(text);
        let is_cut = shown.contains('…') && !note.contains(full);
        let full = if is_cut { full } else { "" };
        (response, format!("{full}\n{note}").trim().to_owned())
    };
    if !hover.is_empty() {
        long_tip::on_hover(response, &hover);
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
