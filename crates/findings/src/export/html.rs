//! A report as one HTML file that needs nothing else: no font, no request to any host. Its only script shows values
//! under the pointer and hides series; without it nothing is missing but that.
//!
//! Its look follows the reader's: light or dark as the system has it, and black on white on paper.

use super::plain_text::{reason_marks, shown};
use super::style::{Preset, Style, Theme};
use super::svg;
use crate::chart::figure::Drawing;
use crate::report::document::{
    Align, Block, ChecklistItem, Document, NoteLevel, ReportCell, ReportFigure, ReportTable,
    ReportText, TextSpan, Tone,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use powerband_core::base::humanize;
use sha2::{Digest as _, Sha256};

/// The style sheet of the page.
const STYLE: &str = include_str!("../../../../assets/report.css");

/// What its figures do under the pointer.
const SCRIPT: &str = include_str!("../../../../assets/report.js");

/// What the tables of a fragment need; everything else is the page's.
const FRAGMENT_STYLE: &str = ".powerband td,.powerband th{text-align:left;padding:2px 8px}\
.powerband .number{text-align:right;white-space:nowrap}.powerband .good,.powerband .bad{font-weight:bold}\
.powerband img{max-width:100%;background:#fff}";
/// What a page has beside the report.
#[derive(Clone, Copy, Debug)]
pub struct PageExtras<'a> {
    /// The sources of its own scripts, as a policy names them.
    pub scripts: &'a str,
    /// At the end of the head, as HTML.
    pub head: &'a str,
    /// Before and behind the report, as HTML.
    pub beside: [&'a str; 2],
}

const REPORT_ALONE: PageExtras<'static> = PageExtras {
    scripts: "",
    head: "",
    beside: ["", ""],
};

/// The whole file.
pub fn write(document: &Document) -> String {
    write_with(document, REPORT_ALONE)
}

/// The whole file, with more than the report in it.
pub fn write_with(document: &Document, extras: PageExtras<'_>) -> String {
    let mut page = String::with_capacity(256 * 1024);
    let title = escaped(&document.title);
    page.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    let hash = BASE64.encode(Sha256::digest(SCRIPT));
    // Even a smuggled-in picture could not make a request, and a smuggled-in script does not run.
    put(
        &mut page,
        format_args!(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-{hash}'{}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n",
            extras.scripts
        ),
    );
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n");
    page.push_str("<meta name=\"generator\" content=\"Powerband\">\n");
    page.push_str("<link rel=\"icon\" href=\"data:,\">\n");
    put(
        &mut page,
        format_args!(
            "<title>{title}</title>\n<style>\n{STYLE}</style>\n{}</head>\n<body>\n{}<main>\n",
            extras.head, extras.beside[0]
        ),
    );
    put(
        &mut page,
        format_args!(
            "<header>\n<h1 dir=\"auto\">{title}</h1>\n<p class=\"about\" dir=\"auto\">{}</p>\n",
            escaped(&document.subtitle)
        ),
    );
    if let Some(address) = &document.page {
        put(
            &mut page,
            format_args!(
                "<p class=\"about\"><a href=\"{}\">Interactive page</a></p>\n",
                escaped(address)
            ),
        );
    }
    page.push_str("</header>\n");
    contents(&mut page, document);
    let mut place = BlockCounts::default();
    for block in &document.blocks {
        match block {
            Block::Heading(..) => place.section += 1,
            Block::Figure(_) => place.figure += 1,
            _ => {}
        }
        write_block(&mut page, block, place);
    }
    put(
        &mut page,
        format_args!(
            "</main>\n<footer>{}</footer>\n<script>{SCRIPT}</script>\n{}</body>\n</html>\n",
            escaped(&document.footer),
            extras.beside[1]
        ),
    );
    page
}

/// Sections with a figure below them, as a part of another page: a notebook's.
pub fn fragment(sections: &[Vec<Block>], figure: Option<&Drawing>) -> String {
    let mut part = format!("<div class=\"powerband\"><style>{FRAGMENT_STYLE}</style>\n");
    let is_empty = |block: &&Block| matches!(block, Block::Table(table) if table.rows.is_empty());
    for block in sections.iter().flatten().filter(|block| !is_empty(block)) {
        write_block(&mut part, block, BlockCounts::default());
    }
    if let Some(drawing) = figure {
        // As a picture it shares no names of elements with other figures of the page.
        let picture = svg::write(drawing, &Style::new(Preset::Screen, Theme::Light));
        let picture = picture
            .replace('%', "%25")
            .replace('#', "%23")
            .replace('<', "%3C")
            .replace('>', "%3E");
        put(
            &mut part,
            format_args!(
                "<img alt=\"{}\" src=\"data:image/svg+xml,{}\">\n",
                escaped(drawing.title()),
                escaped(&picture)
            ),
        );
    }
    part.push_str("</div>\n");
    part
}

/// Text that says what it says whatever stands in it. Characters that change the direction or the look
/// of what follows them are shown as what cannot be shown.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for character in shown(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.push_str(&text.to_string());
}

/// The sections, to jump to; nothing where there is hardly any.
fn contents(page: &mut String, document: &Document) {
    let headings = document.blocks.iter().filter_map(|block| match block {
        Block::Heading(level, text) => Some((*level, text)),
        _ => None,
    });
    let sections: Vec<(usize, &String)> = headings
        .enumerate()
        .filter(|(_, (level, _))| *level == 2)
        .map(|(place, (_, text))| (place + 1, text))
        .collect();
    if sections.len() < 4 {
        return;
    }
    page.push_str("<nav aria-label=\"Sections\"><ul>\n");
    for (place, text) in sections {
        put(
            page,
            format_args!("<li><a href=\"#s{place}\">{}</a></li>\n", escaped(text)),
        );
    }
    page.push_str("</ul></nav>\n");
}

/// How many headings and figures there were so far.
#[derive(Clone, Copy, Default)]
struct BlockCounts {
    section: usize,
    figure: usize,
}

fn write_block(page: &mut String, block: &Block, place: BlockCounts) {
    match block {
        Block::Heading(level, text) => {
            let level = (*level).clamp(2, 6);
            put(
                page,
                format_args!(
                    "<h{level} id=\"s{}\" dir=\"auto\">{}</h{level}>\n",
                    place.section,
                    escaped(text)
                ),
            );
        }
        Block::Paragraph(text) => put(page, format_args!("<p dir=\"auto\">{}</p>\n", spans(text))),
        Block::List(items) => list(page, "ul", items),
        Block::Numbered(items) => list(page, "ol", items),
        Block::Checks(checks) => write_checks(page, checks),
        Block::Facts(facts) => write_facts(page, facts),
        Block::Table(table) => write_table(page, table),
        Block::Figure(figure) => write_figure(page, figure, place.figure),
        Block::Code(_, text) => put(
            page,
            format_args!("<pre><code>{}</code></pre>\n", escaped(text)),
        ),
        Block::Folded(title, _, text) => put(
            page,
            format_args!(
                "<details><summary>{}</summary><pre><code>{}</code></pre></details>\n",
                escaped(title),
                escaped(text)
            ),
        ),
        Block::Note(weight, text) => {
            let (class, word) = match weight {
                NoteLevel::Remark => ("remark", "Note"),
                NoteLevel::Warning => ("warning", "Warning"),
            };
            put(
                page,
                format_args!(
                    "<p class=\"note {class}\" dir=\"auto\"><strong>{word}.</strong> {}</p>\n",
                    spans(text)
                ),
            );
        }
        Block::Quote(text) => put(
            page,
            format_args!(
                "<blockquote dir=\"auto\">{}</blockquote>\n",
                escaped(text.trim_end())
            ),
        ),
    }
}

fn spans(text: &ReportText) -> String {
    let parts = text.spans.iter().map(|span| match span {
        TextSpan::Plain(text) => escaped(text),
        TextSpan::Strong(text) => format!("<strong>{}</strong>", escaped(text)),
        TextSpan::Emphasis(text) => format!("<em>{}</em>", escaped(text)),
        TextSpan::Code(text) => format!("<code>{}</code>", escaped(text)),
    });
    parts.collect()
}

fn list(page: &mut String, tag: &str, items: &[ReportText]) {
    put(page, format_args!("<{tag}>\n"));
    for item in items {
        put(
            page,
            format_args!("<li dir=\"auto\">{}</li>\n", spans(item)),
        );
    }
    put(page, format_args!("</{tag}>\n"));
}

fn write_checks(page: &mut String, checks: &[ChecklistItem]) {
    page.push_str("<ul class=\"checks\">\n");
    for check in checks {
        let (mark, words) = match check.is_ticked {
            Some(true) => ("☑", "yes"),
            Some(false) => ("☐", "no"),
            None => (humanize::UNKNOWN, "not known"),
        };
        put(
            page,
            format_args!(
                "<li dir=\"auto\"><span class=\"mark\" role=\"img\" aria-label=\"{words}\">{mark}</span> {}</li>\n",
                spans(&check.text)
            ),
        );
    }
    page.push_str("</ul>\n");
}

fn write_facts(page: &mut String, facts: &[(String, ReportText)]) {
    page.push_str("<dl>\n");
    for (name, text) in facts {
        put(
            page,
            format_args!(
                "<dt>{}</dt><dd dir=\"auto\">{}</dd>\n",
                escaped(name),
                spans(text)
            ),
        );
    }
    page.push_str("</dl>\n");
}

fn write_table(page: &mut String, table: &ReportTable) {
    let reasons = table.reasons();
    let marks = reason_marks(&reasons);
    page.push_str("<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>");
    for column in &table.columns {
        let class = side(column.align);
        let unit = column.unit.as_ref().map_or_else(String::new, |unit| {
            format!(" <span class=\"unit\">{}</span>", escaped(unit))
        });
        put(
            page,
            format_args!(
                "<th scope=\"col\"{class}>{}{unit}</th>",
                escaped(&column.title)
            ),
        );
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        page.push_str("<tr>");
        for (cell, column) in row.iter().zip(&table.columns) {
            write_cell(page, cell, column.align, &|why| marks.mark_for(why));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
    let remarks = marks
        .remarks()
        .into_iter()
        .chain(table.remarks.iter().cloned());
    let remarks: Vec<String> = remarks.map(|remark| escaped(&remark)).collect();
    if !remarks.is_empty() {
        put(
            page,
            format_args!("<p class=\"below\">{}</p>\n", remarks.join("<br>")),
        );
    }
}

fn side(align: Align) -> &'static str {
    match align {
        Align::Left => "",
        Align::Right => " class=\"number\"",
    }
}

fn write_cell(page: &mut String, cell: &ReportCell, align: Align, mark: &dyn Fn(&str) -> String) {
    let tone = match cell.tone {
        Tone::Plain => "",
        Tone::Good => " good",
        Tone::Bad => " bad",
        Tone::Open => " open",
    };
    let align = match align {
        Align::Left => "word",
        Align::Right => "number",
    };
    let (title, mark) = match &cell.why {
        Some(why) => (format!(" title=\"{}\"", escaped(why)), mark(why)),
        None => (String::new(), String::new()),
    };
    put(
        page,
        format_args!(
            "<td class=\"{align}{tone}\" dir=\"auto\"{title}>{}{mark}</td>",
            spans(&cell.text)
        ),
    );
}

/// Both looks of a figure; the page shows the one that suits its own.
fn write_figure(page: &mut String, figure: &ReportFigure, number: usize) {
    page.push_str("<figure>\n");
    for (class, letter, theme) in [
        ("on-light", 'l', Theme::Light),
        ("on-dark", 'd', Theme::Dark),
    ] {
        let picture = svg::write(&figure.drawing, &Style::new(Preset::Screen, theme));
        // Pictures reuse the same element names; on a page each name must be unique.
        let prefix = format!("f{number}{letter}-");
        let picture = picture
            .replace(" id=\"", &format!(" id=\"{prefix}"))
            .replace("url(#", &format!("url(#{prefix}"));
        put(
            page,
            format_args!("<div class=\"{class}\">{}</div>\n", picture.trim_end()),
        );
    }
    put(
        page,
        format_args!(
            "<figcaption dir=\"auto\">{}</figcaption>\n</figure>\n",
            spans(&figure.caption)
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::figure::Bars;
    use crate::export::plain_text::testing::odd_texts;

    /// What a browser makes of escaped text.
    fn read_back(text: &str) -> String {
        text.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&#39;", "'")
            .replace("&amp;", "&")
    }

    #[test]
    fn escaped_text_says_the_same_and_is_nothing_but_text() {
        for text in odd_texts(5_000) {
            let escaped = escaped(&text);
            assert!(
                !escaped.contains(['<', '>', '"', '\'']),
                "{text:?} became {escaped:?}"
            );
            assert_eq!(read_back(&escaped), shown(&text), "{text:?}");
        }
    }

    #[test]
    fn whatever_it_is_given_the_page_has_the_same_elements() {
        let page = |text: &str| {
            let mut document = Document {
                title: text.to_owned(),
                subtitle: text.to_owned(),
                page: Some(text.to_owned()),
                footer: text.to_owned(),
                blocks: Vec::new(),
            };
            let rows = vec![vec![ReportCell::new(text), ReportCell::unknown(text)]];
            document.blocks.extend([
                Block::Heading(2, text.to_owned()),
                Block::Paragraph(
                    ReportText::from(text)
                        .strong(text)
                        .emphasis(text)
                        .code(text),
                ),
                Block::Facts(vec![(text.to_owned(), text.into())]),
                Block::Table(ReportTable::new(&[text], &[(text, text)]).filled(
                    rows.into_iter(),
                    9,
                    text,
                    text,
                )),
                Block::Code("sh", text.to_owned()),
                Block::Folded(text.to_owned(), "ron", text.to_owned()),
                Block::Note(NoteLevel::Warning, text.into()),
                Block::Quote(text.to_owned()),
            ]);
            write(&document)
        };
        let part = |text: &str| {
            let blocks = vec![vec![Block::Paragraph(text.into())]];
            let bars = Drawing::Bars(Box::new(Bars {
                title: text.to_owned(),
                bars: Vec::new(),
            }));
            fragment(&blocks, Some(&bars))
        };
        let tags = |page: &str| page.matches('<').count();
        let plain_part = tags(&part("word"));
        let plain = tags(&page("word"));
        for text in odd_texts(300).into_iter().filter(|text| !text.is_empty()) {
            assert_eq!(tags(&page(&text)), plain, "{text:?}");
            assert_eq!(tags(&part(&text)), plain_part, "{text:?}");
        }
    }
}
