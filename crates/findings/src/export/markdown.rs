//! A report as Markdown with the tables, task lists and fences of GitHub's flavour.
//!
//! Its figures are files beside it.

use super::plain_text::{reason_marks, shown};
use crate::report::document::{
    Align, Block, ChecklistItem, Document, NoteLevel, ReportFigure, ReportTable, ReportText,
    TextSpan, Tone,
};
use powerband_core::base::humanize;

/// The whole file, whose figures lie in a folder beside it.
pub fn write(document: &Document, folder: &str) -> String {
    let mut parts = vec![
        format!("# {}", escaped(&document.title)),
        escaped(&document.subtitle),
    ];
    let link = |address: &String| format!("[Interactive page]({address})");
    parts.extend(document.page.as_ref().map(link));
    parts.extend(document.blocks.iter().map(|block| written(block, folder)));
    if !document.footer.is_empty() {
        parts.push(format!("---\n\n{}", escaped(&document.footer)));
    }
    parts.retain(|part| !part.is_empty());
    let mut text = parts.join("\n\n");
    text.push('\n');
    text
}

/// What a figure's file is called.
pub fn file_of(figure: &ReportFigure) -> String {
    format!("{}.svg", figure.stem)
}

/// Text that says what it says whatever stands in it, on one line.
pub fn escaped(text: &str) -> String {
    at_line_start(&inline(text))
}

/// The same in the middle of a line.
fn inline(text: &str) -> String {
    let flat = flat(text);
    let mut out = String::with_capacity(flat.len() + 16);
    let mut rest = flat.as_str();
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '#' => {
                out.push('\\');
                out.push(character);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // No mentions, no links.
            '@' if calls_somebody(&out, after) => out.push_str("&#64;"),
            ':' if after.starts_with("//") => out.push_str("\\:"),
            '.' if out.to_ascii_lowercase().ends_with("www") => out.push_str("\\."),
            other => out.push(other),
        }
        rest = after;
    }
    out
}

/// Whether a sign at this place would make a mention or an address of what is around it.
fn calls_somebody(before: &str, after: &str) -> bool {
    let is_within_word = before.ends_with(|c: char| c.is_ascii_alphanumeric());
    let word = after.split(' ').next().unwrap_or_default();
    !is_within_word || word.contains('.')
}

/// What would begin a list or underline a heading at the start of a line does not.
fn at_line_start(text: &str) -> String {
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (before, after) = text.split_at(digits);
    let mut signs = after.chars();
    let is_special = match signs.next() {
        Some('-' | '+') if digits == 0 => ends(signs.as_str()) || after.starts_with("--"),
        Some('=') => digits == 0,
        Some('.' | ')') => digits > 0 && ends(signs.as_str()),
        _ => false,
    };
    if is_special {
        return format!("{before}\\{after}");
    }
    text.to_owned()
}

/// One line, without spaces at its ends.
fn flat(text: &str) -> String {
    let shown = shown(text);
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Something typed, in as many backticks as it takes.
fn code(text: &str, in_table: bool) -> String {
    let text = flat(text);
    if text.is_empty() {
        return String::new();
    }
    let ticks = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    // Tables are cut at their bars before anything else is read.
    let text = if in_table {
        text.replace('|', "\\|")
    } else {
        text
    };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// The most backticks in a row.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|character| character != '`').map(str::len);
    runs.max().unwrap_or(0)
}

fn fenced(language: &str, text: &str) -> String {
    let text = shown(text);
    let fence = "`".repeat((longest_run(&text) + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}", text.trim_end())
}

fn spans(text: &ReportText, in_table: bool) -> String {
    // Spaces stand outside the signs, which would be no signs otherwise.
    let around = |sign: &str, text: &str| {
        let inner = inline(text);
        let space = |is: bool| if is { " " } else { "" };
        let before = space(text.starts_with(char::is_whitespace));
        if inner.is_empty() {
            return before.to_owned();
        }
        let after = space(text.ends_with(char::is_whitespace));
        format!("{before}{sign}{inner}{sign}{after}")
    };
    let parts = text.spans.iter().map(|span| match span {
        TextSpan::Plain(text) => around("", text),
        TextSpan::Strong(text) => around("**", text),
        TextSpan::Emphasis(text) => around("*", text),
        TextSpan::Code(text) => code(text, in_table),
    });
    at_line_start(parts.collect::<String>().trim())
}

fn written(block: &Block, folder: &str) -> String {
    match block {
        Block::Heading(level, text) => {
            format!("{} {}", "#".repeat(usize::from(*level)), escaped(text))
        }
        Block::Paragraph(text) => spans(text, false),
        Block::List(items) => lines(items.iter().map(|item| format!("- {}", spans(item, false)))),
        Block::Numbered(items) => {
            let numbered = items.iter().zip(1..);
            lines(numbered.map(|(item, number)| format!("{number}. {}", spans(item, false))))
        }
        Block::Checks(checks) => lines(checks.iter().map(check)),
        Block::Facts(facts) => facts_table(facts),
        Block::Table(table) => table_text(table),
        Block::Figure(figure) => picture(figure, folder),
        Block::Code(language, text) => fenced(language, text),
        Block::Folded(title, language, text) => format!(
            "<details><summary>{}</summary>\n\n{}\n\n</details>",
            escaped(title),
            fenced(language, text)
        ),
        Block::Note(weight, text) => {
            let word = match weight {
                NoteLevel::Remark => "NOTE",
                NoteLevel::Warning => "WARNING",
            };
            format!("> [!{word}]\n> {}", spans(text, false))
        }
        Block::Quote(text) => {
            let shown = shown(text);
            let quoted = shown.trim_end().lines().map(|line| match escaped(line) {
                line if line.is_empty() => ">".to_owned(),
                line => format!("> {line}\\"),
            });
            lines(quoted).trim_end_matches('\\').to_owned()
        }
    }
}

fn lines(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join("\n")
}

fn check(check: &ChecklistItem) -> String {
    let text = spans(&check.text, false);
    match check.is_ticked {
        Some(true) => format!("- [x] {text}"),
        Some(false) => format!("- [ ] {text}"),
        None => format!("- {} {text}", humanize::UNKNOWN),
    }
}

fn picture(figure: &ReportFigure, folder: &str) -> String {
    let at = format!("{folder}/{}", file_of(figure));
    format!(
        "![{}]({})\n\n*{}*",
        escaped(&figure.alt),
        address(&at),
        escaped(&figure.caption.plain_text())
    )
}

/// A path as a link takes it: everything but plain letters as the bytes that it is.
fn address(path: &str) -> String {
    let bytes = path.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    });
    bytes.collect()
}

fn facts_table(facts: &[(String, ReportText)]) -> String {
    let rows = facts
        .iter()
        .map(|(name, text)| format!("| {} | {} |", escaped(name), spans(text, true)));
    format!("| | |\n|:--|:--|\n{}", lines(rows))
}

fn table_text(table: &ReportTable) -> String {
    let reasons = table.reasons();
    let marks = reason_marks(&reasons);
    let heads = table.columns.iter().map(|column| match &column.unit {
        Some(unit) => format!("{} ({})", escaped(&column.title), escaped(unit)),
        None => escaped(&column.title),
    });
    let heads: Vec<String> = heads.collect();
    let sides = table.columns.iter().map(|column| match column.align {
        Align::Left => ":--",
        Align::Right => "--:",
    });
    let sides: Vec<&str> = sides.collect();
    let mut text = vec![row_text(&heads), format!("|{}|", sides.join("|"))];
    text.extend(table.rows.iter().map(|row| {
        let cells = row.iter().map(|cell| {
            let mark = cell
                .why
                .as_deref()
                .map_or_else(String::new, |why| marks.mark_for(why));
            let words = spans(&cell.text, true) + &mark;
            // What is coloured elsewhere is bold here.
            match cell.tone {
                Tone::Good | Tone::Bad if !words.is_empty() && !words.contains('*') => {
                    format!("**{words}**")
                }
                _ => words,
            }
        });
        row_text(&cells.collect::<Vec<_>>())
    }));
    let below = marks
        .remarks()
        .into_iter()
        .chain(table.remarks.iter().cloned());
    let below: Vec<String> = below.map(|line| format!("*{}*", escaped(&line))).collect();
    if !below.is_empty() {
        text.push(String::new());
        text.push(below.join("\\\n"));
    }
    text.join("\n")
}

fn row_text(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    use super::*;
    use crate::export::plain_text::testing::odd_texts;
    use crate::report::document::ReportCell;

    fn events(markdown: &str) -> Vec<Event<'_>> {
        Parser::new_ext(
            markdown,
            Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH,
        )
        .collect()
    }

    /// The words that are read, and whether anything else is there.
    fn visible_text(markdown: &str) -> (String, bool) {
        let mut words = String::new();
        let mut is_plain = true;
        for event in events(markdown) {
            match event {
                Event::Text(text) | Event::Code(text) => words.push_str(&text),
                Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph) => {}
                _ => is_plain = false,
            }
        }
        (words, is_plain)
    }

    #[test]
    fn escaped_text_says_the_same_and_is_nothing_but_text() {
        for text in odd_texts(5_000) {
            let escaped = escaped(&text);
            let (words, is_plain) = visible_text(&escaped);
            assert!(is_plain, "{text:?} became {escaped:?}");
            assert_eq!(words, flat(&text), "{text:?} became {escaped:?}");
        }
    }

    #[test]
    fn typed_text_comes_back() {
        for text in odd_texts(5_000) {
            let text = text.replace(char::is_whitespace, " ");
            if flat(&text).is_empty() {
                continue;
            }
            let written = code(&text, false);
            let (words, is_plain) = visible_text(&written);
            assert!(is_plain, "{text:?} became {written:?}");
            assert_eq!(words, flat(&text), "{text:?} became {written:?}");
        }
    }

    #[test]
    fn a_table_keeps_its_cells_whatever_is_in_them() {
        for text in odd_texts(2_000) {
            let cells = vec![
                ReportCell::new(text.as_str()),
                ReportCell::new(ReportText::default().code(text.as_str())),
                ReportCell::new("end"),
            ];
            let table = ReportTable::new(&["A", "B", "C"], &[]);
            let written = table_text(&table.filled([cells].into_iter(), 9, "row", ""));
            let found = events(&written);
            let cells = found
                .iter()
                .filter(|event| matches!(event, Event::Start(Tag::TableCell)));
            assert_eq!(cells.count(), 6, "{text:?} became {written}");
            let (words, _) = visible_text(&written);
            let flat = flat(&text);
            assert_eq!(
                words,
                format!("ABC{flat}{flat}end"),
                "{text:?} became {written}"
            );
        }
    }

    #[test]
    fn fences_are_longer_than_what_they_hold() {
        let text = "a\n````\nb";
        let written = fenced("sh", text);
        let found = events(&written);
        let code: String = found
            .iter()
            .filter_map(|event| match event {
                Event::Text(text) => Some(text.as_ref()),
                _ => None,
            })
            .collect();
        assert_eq!(code.trim_end(), text);
    }

    #[test]
    fn a_path_is_an_address() {
        assert_eq!(address("a b(1).files/x.svg"), "a%20b%281%29.files/x.svg");
    }
}
