//! A document as text on a terminal: a line for each paragraph, item and note, and tables in columns.

use crate::report::document::{Align, Block, ChecklistItem, ReportTable, ReportText, TextSpan};
use powerband_core::base::humanize;

/// Sections with an empty line between them; those without blocks are left out.
pub fn sections(sections: &[Vec<Block>]) -> String {
    let texts: Vec<String> = sections.iter().map(|section| write(section)).collect();
    let texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    texts.join("\n")
}

/// Blocks, one below the other.
pub fn write(blocks: &[Block]) -> String {
    blocks.iter().map(block_text).collect()
}

fn block_text(block: &Block) -> String {
    match block {
        Block::Heading(_, text) | Block::Quote(text) => format!("{text}\n"),
        // What is emphasised as a whole is a remark on the table above.
        Block::Paragraph(text) if matches!(text.spans[..], [TextSpan::Emphasis(_)]) => {
            line("·", text)
        }
        Block::Paragraph(text) => format!("{}\n", text.plain_text()),
        Block::List(items) => items.iter().map(|item| line("·", item)).collect(),
        Block::Numbered(items) => {
            let numbered = items.iter().zip(1..);
            numbered
                .map(|(item, number)| line(&format!("{number}."), item))
                .collect()
        }
        Block::Checks(checks) => checks.iter().map(check).collect(),
        Block::Facts(facts) => facts_text(facts),
        Block::Table(table) => table_text(table),
        Block::Figure(figure) => format!("{}\n", figure.caption.plain_text()),
        Block::Code(_, text) => indented(text),
        Block::Folded(title, _, text) => format!("{title}\n{}", indented(text)),
        Block::Note(_, text) => line("!", text),
    }
}

fn line(sign: &str, text: &ReportText) -> String {
    format!("{sign} {}\n", text.plain_text())
}

fn check(check: &ChecklistItem) -> String {
    let sign = match check.is_ticked {
        Some(true) => "[x]",
        Some(false) => "[ ]",
        None => "[?]",
    };
    line(sign, &check.text)
}

fn indented(text: &str) -> String {
    let lines = text.lines().flat_map(|line| ["    ", line, "\n"]);
    lines.collect()
}

/// Names and what is known of them, below each other.
fn facts_text(facts: &[(String, ReportText)]) -> String {
    let widths = facts.iter().map(|(name, _)| name.chars().count());
    let width = widths.max().unwrap_or(0);
    let lines = facts.iter();
    let lines: Vec<String> = lines
        .map(|(name, text)| format!("{name:<width$}  {}\n", text.plain_text()))
        .collect();
    lines.concat()
}

/// Empty without rows.
fn table_text(table: &ReportTable) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let heads: Vec<(&str, bool)> = table
        .columns
        .iter()
        .map(|column| (column.title.as_str(), column.align == Align::Right))
        .collect();
    let rows: Vec<Vec<String>> = table
        .rows
        .iter()
        .map(|row| row.iter().map(|cell| cell.text.plain_text()).collect())
        .collect();
    let remarks = table.remarks.iter().map(|remark| format!("· {remark}\n"));
    humanize::aligned(&heads, &rows) + &remarks.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::{NoteLevel, ReportCell};

    #[test]
    fn each_block_has_its_lines() {
        let mut table = ReportTable::new(&["Setup"], &[("Median", "")]);
        table.rows.push(vec![
            ReportCell::new("ort:cpu"),
            ReportCell::unknown("it crashed"),
        ]);
        let first = vec![
            Block::Heading(2, "Limits".to_owned()),
            Block::Facts(vec![
                ("Wall time".to_owned(), "9 ms".into()),
                ("Gaps".to_owned(), "none".into()),
            ]),
            Block::List(vec!["a".into(), "b".into()]),
        ];
        let second = vec![
            Block::Table(table),
            Block::Paragraph(ReportText::default().emphasis("of 3 rounds")),
            Block::Note(
                NoteLevel::Warning,
                ReportText::from("noisy: ").code("ort:cpu"),
            ),
            Block::Code("", "one\ntwo".to_owned()),
        ];
        assert_eq!(
            sections(&[first, Vec::new(), second]),
            "Limits\nWall time  9 ms\nGaps       none\n· a\n· b\n\n\
             Setup    Median\nort:cpu       –\n· of 3 rounds\n! noisy: ort:cpu\n    one\n    two\n"
        );
    }
}
