//! A report as a value: headings, paragraphs, tables, figures and the rest, with no word of how they
//! are written. Text is plain text; the writer escapes it.

use std::sync::Arc;

use crate::chart::figure::Drawing;
use crate::tables::ColumnHead;
use crate::tables::cell::Cell as Value;
pub use crate::tables::cell::Tone;
use powerband_core::base::humanize;

/// A stretch of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextSpan {
    /// As it is.
    Plain(String),
    /// Strong.
    Strong(String),
    /// Emphasised.
    Emphasis(String),
    /// Code: what is typed or named exactly so.
    Code(String),
}

/// Text with emphasis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportText {
    /// Its stretches, in order.
    pub spans: Vec<TextSpan>,
}

impl ReportText {
    /// Adds plain text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.spans.push(TextSpan::Plain(text.into()));
        self
    }

    /// Adds strong text.
    #[must_use]
    pub fn strong(mut self, text: impl Into<String>) -> Self {
        self.spans.push(TextSpan::Strong(text.into()));
        self
    }

    /// Adds emphasised text.
    #[must_use]
    pub(crate) fn emphasis(mut self, text: impl Into<String>) -> Self {
        self.spans.push(TextSpan::Emphasis(text.into()));
        self
    }

    /// Adds code.
    #[must_use]
    pub fn code(mut self, text: impl Into<String>) -> Self {
        self.spans.push(TextSpan::Code(text.into()));
        self
    }

    /// The text without emphasis.
    pub fn plain_text(&self) -> String {
        let words = self.spans.iter().map(|span| match span {
            TextSpan::Plain(text)
            | TextSpan::Strong(text)
            | TextSpan::Emphasis(text)
            | TextSpan::Code(text) => text.as_str(),
        });
        words.collect()
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.plain_text().is_empty()
    }
}

impl From<&str> for ReportText {
    fn from(text: &str) -> Self {
        Self::default().text(text)
    }
}

impl From<&String> for ReportText {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<String> for ReportText {
    fn from(text: String) -> Self {
        Self::default().text(text)
    }
}

/// On which side the cells of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// The head of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportColumn {
    /// What it holds.
    pub title: String,
    /// In which unit; nothing for words and counts, and where the cells name their own.
    pub unit: Option<String>,
    /// On which side its cells stand.
    pub align: Align,
}

impl ReportColumn {
    /// The head of a column whose cells name their own units.
    pub(crate) fn of_head(head: &ColumnHead) -> Self {
        Self {
            title: head.title.to_owned(),
            unit: None,
            align: if head.is_number {
                Align::Right
            } else {
                Align::Left
            },
        }
    }
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportCell {
    pub text: ReportText,
    pub tone: Tone,
    /// Why there is a dash, where the reason is known.
    pub why: Option<String>,
}

impl ReportCell {
    /// A cell with a text or a number.
    pub fn new(text: impl Into<ReportText>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// The same in a tone.
    #[must_use]
    pub(crate) fn toned(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }

    /// Something that is not known, and why.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self {
            text: humanize::UNKNOWN.into(),
            tone: Tone::Plain,
            why: Some(why.into()).filter(|why: &String| !why.is_empty()),
        }
    }

    /// Whether there is anything but a dash.
    fn is_known(&self) -> bool {
        let words = self.text.plain_text();
        !words.is_empty() && words != humanize::UNKNOWN
    }

    /// What is known, or why it is not.
    pub fn known(text: Option<String>, why: impl Into<String>) -> Self {
        match text {
            Some(text) => Self::new(text),
            None => Self::unknown(why),
        }
    }
}

impl From<Value> for ReportCell {
    fn from(value: Value) -> Self {
        match value.text {
            Some(text) => Self::new(text).toned(value.tone),
            None => Self::unknown(value.note),
        }
    }
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportTable {
    /// The heads of its columns.
    pub columns: Vec<ReportColumn>,
    /// Its rows, each with a cell for each column.
    pub rows: Vec<Vec<ReportCell>>,
    /// What was left out, why, and where to find it.
    pub remarks: Vec<String>,
}

impl ReportTable {
    /// A table of words and numbers: the columns named first are words, the others numbers, each with
    /// its unit or an empty text.
    pub fn new(words: &[&str], numbers: &[(&str, &str)]) -> Self {
        let of = |title: &str, unit: &str, align: Align| ReportColumn {
            title: title.to_owned(),
            unit: Some(unit.to_owned()).filter(|unit| !unit.is_empty()),
            align,
        };
        let words = words.iter().map(|title| of(title, "", Align::Left));
        let numbers = numbers
            .iter()
            .map(|(title, unit)| of(title, unit, Align::Right));
        Self {
            columns: words.chain(numbers).collect(),
            ..Self::default()
        }
    }

    /// Adds a column of words at the end.
    #[must_use]
    pub(crate) fn and_words(mut self, title: &str) -> Self {
        self.columns.push(ReportColumn {
            title: title.to_owned(),
            unit: None,
            align: Align::Left,
        });
        self
    }

    /// Takes the first so many rows of a list, and says how many more there are and where.
    #[must_use]
    pub fn filled(
        mut self,
        rows: impl ExactSizeIterator<Item = Vec<ReportCell>>,
        most: usize,
        what: &str,
        elsewhere: &str,
    ) -> Self {
        let more = rows.len().saturating_sub(most);
        self.rows.extend(rows.take(most));
        if more > 0 {
            let more = humanize::pluralised(more as u64, what);
            self.remarks
                .push(format!("{more} left out here; {elsewhere}."));
        }
        self
    }

    /// Leaves out columns without values; where they share one reason, it stands below.
    #[must_use]
    pub(crate) fn without_empty_columns(mut self) -> Self {
        let mut kept = Vec::new();
        let mut gone: Vec<(String, Vec<String>)> = Vec::new();
        for (place, column) in self.columns.iter().enumerate() {
            let cells: Vec<&ReportCell> =
                self.rows.iter().filter_map(|row| row.get(place)).collect();
            let mut reasons: Vec<&str> = cells.iter().filter_map(|c| c.why.as_deref()).collect();
            reasons.dedup();
            let is_told = cells.iter().any(|cell| cell.is_known()) || reasons.len() > 1;
            kept.push(is_told);
            if let ([reason], false) = (&reasons[..], is_told) {
                let title = column.title.clone();
                match gone.iter_mut().find(|(known, _)| known == reason) {
                    Some((_, titles)) => titles.push(title),
                    None => gone.push(((*reason).to_owned(), vec![title])),
                }
            }
        }
        self.remarks
            .extend(gone.into_iter().map(|(reason, titles)| {
                let reason = reason.trim_end_matches('.');
                format!("Not known: {} ({reason}).", titles.join(", "))
            }));
        let keep = |place: usize| kept.get(place).copied().unwrap_or(true);
        retain_places(&mut self.columns, keep);
        for row in &mut self.rows {
            retain_places(row, keep);
        }
        self
    }

    /// Why there are dashes, each reason once, in the order in which a reader meets them.
    pub fn reasons(&self) -> Vec<&str> {
        let mut reasons: Vec<&str> = Vec::new();
        for why in self
            .rows
            .iter()
            .flatten()
            .filter_map(|cell| cell.why.as_deref())
        {
            if !reasons.contains(&why) {
                reasons.push(why);
            }
        }
        reasons
    }
}

fn retain_places<T>(list: &mut Vec<T>, keep: impl Fn(usize) -> bool) {
    let mut place = 0;
    list.retain(|_| {
        place += 1;
        keep(place - 1)
    });
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportFigure {
    /// What its file is called, without its ending.
    pub stem: String,
    /// What it shows, in a sentence.
    pub caption: ReportText,
    /// Its alternative text.
    pub alt: String,
    /// What is drawn.
    pub drawing: Arc<Drawing>,
}

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteLevel {
    /// Worth knowing.
    Remark,
    /// The reader must know it before using the numbers.
    Warning,
}

/// An item that is ticked or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChecklistItem {
    /// Whether it is ticked; nothing where that is not known.
    pub is_ticked: Option<bool>,
    /// What it is, and on what grounds.
    pub text: ReportText,
}

/// A piece of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A heading; 2 for a section, 3 for a part of it.
    Heading(u8, String),
    /// A paragraph.
    Paragraph(ReportText),
    /// Items in no order.
    List(Vec<ReportText>),
    /// Items that are counted.
    Numbered(Vec<ReportText>),
    /// Items that are ticked or not.
    Checks(Vec<ChecklistItem>),
    /// What is known of something, name by name.
    Facts(Vec<(String, ReportText)>),
    /// A table.
    Table(ReportTable),
    /// A figure.
    Figure(ReportFigure),
    /// Lines to be typed or read as they are, in a language.
    Code(&'static str, String),
    /// The same, folded under a title.
    Folded(String, &'static str, String),
    /// A note or a warning.
    Note(NoteLevel, ReportText),
    /// The user's text, with its line breaks.
    Quote(String),
}

impl Block {
    pub fn paragraph(text: impl Into<ReportText>) -> Self {
        Self::Paragraph(text.into())
    }

    /// Items in no order; nothing where there are none.
    pub fn list<T: Into<ReportText>>(items: impl IntoIterator<Item = T>) -> Option<Self> {
        let items: Vec<ReportText> = items.into_iter().map(T::into).collect();
        (!items.is_empty()).then_some(Self::List(items))
    }

    /// Items below a heading; nothing where there are none.
    pub fn titled_list<T: Into<ReportText>>(
        title: &str,
        items: impl IntoIterator<Item = T>,
    ) -> Vec<Self> {
        let heading = |items| vec![Self::Heading(3, title.to_owned()), items];
        Self::list(items).map(heading).unwrap_or_default()
    }
}

/// A whole report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// What it is called.
    pub title: String,
    /// What it is about: model, machine, day.
    pub subtitle: String,
    /// The address of an interactive page of the same sessions, with what addresses escape escaped.
    pub page: Option<String>,
    /// Its pieces, in order.
    pub blocks: Vec<Block>,
    /// The program that wrote it.
    pub footer: String,
}

impl Document {
    /// Adds a section's heading.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(2, text.into()));
    }

    /// Adds a section with its heading; nothing where the section is empty.
    pub fn section(&mut self, title: &str, blocks: Vec<Block>) {
        if !blocks.is_empty() {
            self.heading(title);
            self.blocks.extend(blocks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(most: usize) -> ReportTable {
        let rows = vec![
            vec![
                ReportCell::new("a"),
                ReportCell::new("1"),
                ReportCell::unknown("too few"),
                ReportCell::default(),
            ],
            vec![
                ReportCell::new("b"),
                ReportCell::unknown("crashed"),
                ReportCell::unknown("too few"),
                ReportCell::default(),
            ],
            vec![
                ReportCell::new("c"),
                ReportCell::unknown("crashed"),
                ReportCell::unknown("too few"),
                ReportCell::default(),
            ],
        ];
        let heads = [("Median", "ms"), ("p99", "ms"), ("Remarks", "")];
        ReportTable::new(&["Setup"], &heads).filled(rows.into_iter(), most, "case", "see x.ron")
    }

    #[test]
    fn a_long_table_says_what_it_leaves_out() {
        let cut = table(1);
        assert_eq!(cut.rows.len(), 1);
        assert_eq!(cut.remarks, ["2 cases left out here; see x.ron."]);
        assert!(table(3).remarks.is_empty());
    }

    #[test]
    fn columns_of_nothing_go_and_reasons_are_told_once() {
        let left = table(3).without_empty_columns();
        assert_eq!(left.columns.len(), 2);
        assert!(left.rows.iter().all(|row| row.len() == 2));
        assert_eq!(left.reasons(), ["crashed"]);
        assert_eq!(left.remarks, ["Not known: p99 (too few)."]);
    }
}
