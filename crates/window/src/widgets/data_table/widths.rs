//! How wide the columns of a table are: as their cells need, and less where there is no room.

use eframe::egui::{self, Id, Ui};

use super::ColumnSpec;
use crate::theme;
use powerband_findings::tables::ColumnHead;
use powerband_findings::tables::cell::{Cell, Sign, SortKey};
use powerband_findings::tables::view::TableView;

/// Rows that the widths of words are measured by.
const MEASURED: usize = 40;
/// Rows that the widths of numbers are measured by.
const NUMBERS: usize = 1_000;
/// So many of the longest texts are laid out.
const LAID_OUT: usize = 8;
/// Room beside the text of a cell.
const PADDING: f32 = 20.0;
/// The widest column that does not grow.
const WIDEST: f32 = 240.0;
/// What the first column of words keeps where there is no room for all.
const FIRST_WORDS: f32 = 132.0;
/// What another column of words keeps then.
const WORDS: f32 = 92.0;

/// The width that suits a column, and the least that it can do with.
type Widths = (f32, f32);

/// The columns with widths that suit their cells; where there is no room for that, other words give way
/// first, then the titles of numbers, then the words that rows are known by.
pub(super) fn columns(
    ui: &Ui,
    id: &'static str,
    version: u64,
    view: &TableView,
    room: f32,
) -> Vec<ColumnSpec> {
    let first_words = view.heads().position(|head| !head.is_number);
    let mut widths = measured(ui, id, version, view);
    let is_words: Vec<bool> = view.heads().map(|head| !head.is_number).collect();
    let mut missing = widths.iter().map(|(suits, _)| suits).sum::<f32>() - room;
    let turn = |place: usize| match is_words[place] {
        true if Some(place) == first_words => 2,
        true => 0,
        false => 1,
    };
    for now in 0..=2 {
        for (place, (width, least)) in widths.iter_mut().enumerate().rev() {
            if missing > 0.0 && turn(place) == now {
                let given = missing.min((*width - *least).max(0.0));
                *width -= given;
                missing -= given;
            }
        }
    }
    let columns = view.heads().zip(widths).enumerate();
    columns
        .map(|(place, (head, (width, _)))| ColumnSpec {
            title: head.title,
            help: head.help,
            width,
            grows: Some(place) == first_words,
            is_number: head.is_number,
        })
        .collect()
}

/// Widths are measured when the table was made anew or arranged.
fn measured(ui: &Ui, id: &'static str, version: u64, view: &TableView) -> Vec<Widths> {
    let memory = Id::unique(("table-widths", id));
    let known: Option<(u64, Vec<Widths>)> = ui.data(|data| data.get_temp(memory));
    if let Some((_, widths)) = known.filter(|(of, _)| *of == version) {
        return widths;
    }
    let first_words = view.heads().position(|head| !head.is_number);
    let heads = view.heads().enumerate();
    let widths: Vec<Widths> = heads
        .map(|(place, head)| {
            let (title, cells) = text_widths(ui, view, place, head);
            let suits = (title.max(cells) + PADDING).min(WIDEST).ceil();
            let least = match first_words {
                Some(first) if first == place => FIRST_WORDS,
                _ if head.is_number || is_whole(view, place) => cells + PADDING,
                _ => WORDS,
            };
            (suits, least.min(suits))
        })
        .collect();
    ui.data_mut(|data| data.insert_temp(memory, (version, widths.clone())));
    widths
}

/// Whether a column holds what says nothing once it is cut: verdicts and moments.
fn is_whole(view: &TableView, column: usize) -> bool {
    let mut cells = (0..view.len().min(MEASURED)).map(|row| view.cell(row, column));
    cells.any(|cell| {
        matches!(cell.sign, Some(Sign::Verdict(_))) || matches!(cell.rank, Some(SortKey::Words(_)))
    })
}

/// How wide the title and the widest cell of a column are.
fn text_widths(ui: &Ui, view: &TableView, column: usize, head: &ColumnHead) -> (f32, f32) {
    let measure = |text: &str, font| {
        let color = egui::Color32::PLACEHOLDER;
        let galley = ui.painter().layout_no_wrap(text.to_owned(), font, color);
        galley.size().x
    };
    let font = || {
        if head.is_number {
            theme::numbers(12.5)
        } else {
            theme::text_font(13.0)
        }
    };
    let sign = |cell: &Cell| match cell.sign {
        Some(Sign::Verdict(_)) => 26.0,
        Some(Sign::Flags(_)) => 20.0,
        None => 0.0,
    };
    // Numbers are never cut off: the longest of all counts.
    let rows = if head.is_number { NUMBERS } else { MEASURED };
    let cells = (0..view.len().min(rows)).map(|row| view.cell(row, column));
    let length = |cell: &Cell| (cell.shown_text().chars().count(), sign(cell) as usize);
    let mut longest: Vec<Cell> = cells.collect();
    longest.sort_by_key(|cell| std::cmp::Reverse(length(cell)));
    let cells = longest.iter().take(LAID_OUT);
    let cells = cells.map(|cell| measure(cell.shown_text(), font()) + sign(cell));
    // Room for the arrow of a sorted column.
    let title = measure(head.title, theme::text_font(theme::text::CAPTION)) + 12.0;
    (title, cells.fold(0.0, f32::max))
}
