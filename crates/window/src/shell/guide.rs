//! The guide's page of the screen that is shown, over the window.

use std::sync::LazyLock;

use eframe::egui::text::{LayoutJob, TextFormat};
use eframe::egui::{self, FontId, Id, Label, Margin, Modal, RichText, ScrollArea, Ui, vec2};

use crate::theme::{self, space, text};
use crate::widgets::{button, label};
use powerband_app::App;
use powerband_app::action::{Action, Shell};
use powerband_app::screen::Screen;

/// Width of a page, and its part of the window's height.
const WIDTH: f32 = 640.0;
const HEIGHT: f32 = 0.72;

/// The page of each screen.
const PAGES: [(Screen, &str); 14] = [
    (Screen::Home, include_str!("../../../../docs/home.md")),
    (Screen::Plan, include_str!("../../../../docs/plan.md")),
    (Screen::Run, include_str!("../../../../docs/run.md")),
    (Screen::Curves, include_str!("../../../../docs/curves.md")),
    (Screen::Compare, include_str!("../../../../docs/compare.md")),
    (Screen::Fleet, include_str!("../../../../docs/machines.md")),
    (Screen::History, include_str!("../../../../docs/history.md")),
    (Screen::Journey, include_str!("../../../../docs/journey.md")),
    (Screen::Kernels, include_str!("../../../../docs/kernels.md")),
    (Screen::Network, include_str!("../../../../docs/network.md")),
    (Screen::Why, include_str!("../../../../docs/why.md")),
    (
        Screen::Timeline,
        include_str!("../../../../docs/timeline.md"),
    ),
    (Screen::Library, include_str!("../../../../docs/library.md")),
    (
        Screen::Settings,
        include_str!("../../../../docs/settings.md"),
    ),
];

/// The blocks of each page, read once.
static BLOCKS: LazyLock<Vec<(Screen, Vec<GuideBlock>)>> = LazyLock::new(|| {
    let pages = PAGES.iter();
    pages
        .map(|(screen, page)| (*screen, blocks(page)))
        .collect()
});

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
enum GuideBlock {
    Title(String),
    Heading(String),
    Paragraph(String),
    Item(String),
    /// The cells of a row of a table.
    Row(Vec<String>),
    Code(String),
}

/// Shows it while it is open.
pub(crate) fn show(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    if !app.shared.window.guide_open {
        return;
    }
    let mut pages = BLOCKS.iter();
    let Some((_, page)) = pages.find(|(screen, _)| *screen == app.shared.screen) else {
        return;
    };
    let id = Id::unique("guide");
    let area = Modal::default_area(id).anchor(egui::Align2::CENTER_CENTER, vec2(0.0, 0.0));
    let frame = theme::card(ui).inner_margin(Margin::same(22));
    let room = ui.ctx().content_rect().size();
    let modal = Modal::new(id).area(area).frame(frame).show(ui.ctx(), |ui| {
        ui.set_width(WIDTH.min(room.x - 90.0));
        ScrollArea::vertical()
            .max_height(room.y * HEIGHT)
            .show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = space::SMALL;
                for block in page {
                    paint(ui, block);
                }
            });
        ui.add_space(space::SMALL);
        button::labelled(ui, None, "Close the guide").clicked()
    });
    if modal.inner || modal.backdrop_response.clicked() {
        actions.push(Action::Shell(Shell::Guide(false)));
    }
}

fn paint(ui: &mut Ui, block: &GuideBlock) {
    let roles = theme::roles(ui);
    match block {
        GuideBlock::Title(words) => {
            let words = RichText::new(words).size(text::SCREEN).color(roles.text);
            ui.add(Label::new(words.family(theme::semibold())).wrap());
        }
        GuideBlock::Heading(words) => {
            ui.add_space(space::SMALL);
            label::card_title(ui, words);
        }
        GuideBlock::Paragraph(words) => {
            ui.add(Label::new(inline(ui, words)).wrap().selectable(true));
        }
        GuideBlock::Item(words) => {
            ui.horizontal_top(|ui| {
                ui.label("•");
                ui.add(Label::new(inline(ui, words)).wrap().selectable(true));
            });
        }
        GuideBlock::Row(cells) => {
            let (first, rest) = cells
                .split_first()
                .map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
            let words = format!("**{}**  {}", first.replace("**", ""), rest.join("  ·  "));
            ui.add(Label::new(inline(ui, &words)).wrap().selectable(true));
        }
        GuideBlock::Code(lines) => {
            let code = RichText::new(lines).font(theme::numbers(12.0));
            ui.add(Label::new(code.color(roles.quiet)).wrap().selectable(true));
        }
    }
}

/// The blocks of a page. Sentences that stand on lines of their own become one paragraph; pictures are left out.
fn blocks(page: &str) -> Vec<GuideBlock> {
    let mut blocks = Vec::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut lines = page.lines();
    let end = |paragraph: &mut Vec<&str>, blocks: &mut Vec<GuideBlock>| {
        if !paragraph.is_empty() {
            blocks.push(GuideBlock::Paragraph(paragraph.join(" ")));
            paragraph.clear();
        }
    };
    while let Some(line) = lines.next() {
        let block = if line.starts_with("```") {
            let code: Vec<&str> = lines
                .by_ref()
                .take_while(|line| !line.starts_with("```"))
                .collect();
            Some(GuideBlock::Code(code.join("\n")))
        } else if let Some(words) = line.strip_prefix("# ") {
            Some(GuideBlock::Title(words.to_owned()))
        } else if let Some(words) = heading(line) {
            Some(GuideBlock::Heading(words.to_owned()))
        } else if let Some(words) = line.strip_prefix("- ") {
            Some(GuideBlock::Item(words.to_owned()))
        } else if line.starts_with('|') {
            row(line)
        } else {
            if line.is_empty() {
                end(&mut paragraph, &mut blocks);
            } else if !line.starts_with("![") {
                paragraph.push(line);
            }
            continue;
        };
        end(&mut paragraph, &mut blocks);
        blocks.extend(block);
    }
    end(&mut paragraph, &mut blocks);
    blocks
}

fn heading(line: &str) -> Option<&str> {
    line.strip_prefix("## ")
        .or_else(|| line.strip_prefix("### "))
}

/// The cells of a row; nothing of the line between head and body.
fn row(line: &str) -> Option<GuideBlock> {
    let cells = line.trim_matches('|').split('|').map(str::trim);
    let cells: Vec<String> = cells.map(str::to_owned).collect();
    let is_rule = |cell: &String| cell.chars().all(|letter| matches!(letter, '-' | ':'));
    (!cells.iter().all(is_rule)).then_some(GuideBlock::Row(cells))
}

/// Text with its emphasis, and links by their words alone.
fn inline(ui: &Ui, words: &str) -> LayoutJob {
    let roles = theme::roles(ui);
    let mut job = LayoutJob::default();
    for (part, style) in styled(&without_links(words)) {
        let font = match style {
            GuideStyle::Strong => FontId::new(text::BODY, theme::semibold()),
            GuideStyle::Code => theme::numbers(12.0),
            GuideStyle::Plain | GuideStyle::Emphasis => theme::text_font(text::BODY),
        };
        let color = match style {
            GuideStyle::Plain => roles.quiet,
            _ => roles.text,
        };
        job.append(&part, 0.0, TextFormat::simple(font, color));
    }
    job
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GuideStyle {
    Plain,
    Strong,
    Emphasis,
    Code,
}

/// The parts between the signs of emphasis. Within code a star is a star.
fn styled(words: &str) -> Vec<(String, GuideStyle)> {
    const SIGNS: [(&str, GuideStyle); 3] = [
        ("`", GuideStyle::Code),
        ("**", GuideStyle::Strong),
        ("*", GuideStyle::Emphasis),
    ];
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = words;
    while let Some(letter) = rest.chars().next() {
        let opened = SIGNS.iter().find_map(|(sign, style)| {
            let inside = rest.strip_prefix(sign)?;
            let (inside, after) = inside.split_once(sign)?;
            (!inside.is_empty()).then_some((inside, after, *style))
        });
        if let Some((inside, after, style)) = opened {
            parts.push((std::mem::take(&mut plain), GuideStyle::Plain));
            parts.push((inside.to_owned(), style));
            rest = after;
        } else {
            plain.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    parts.push((plain, GuideStyle::Plain));
    parts.retain(|(part, _)| !part.is_empty());
    parts
}

/// Links by their words: `[the words](page.md)` is `the words`.
fn without_links(words: &str) -> String {
    let mut text = String::new();
    let mut rest = words;
    while let Some((before, link)) = rest.split_once('[') {
        text.push_str(before);
        let parts = link
            .split_once("](")
            .and_then(|(name, target)| Some((name, target.split_once(')')?.1)));
        if let Some((name, after)) = parts {
            text.push_str(name);
            rest = after;
        } else {
            text.push('[');
            rest = link;
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_becomes_blocks() {
        let page = "# Title\n\n![picture](a.png)\nOne.\nTwo.\n\n- item\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```\nx\ny\n```\n";
        let own = str::to_owned;
        assert_eq!(
            blocks(page),
            [
                GuideBlock::Title(own("Title")),
                GuideBlock::Paragraph(own("One. Two.")),
                GuideBlock::Item(own("item")),
                GuideBlock::Row(vec![own("a"), own("b")]),
                GuideBlock::Row(vec![own("1"), own("2")]),
                GuideBlock::Code(own("x\ny")),
            ]
        );
    }

    #[test]
    fn emphasis_and_links_are_read() {
        let words = without_links("see [the page](a.md#b) and [x]");
        assert_eq!(words, "see the page and [x]");
        let parts = styled("**Rows** are `a*b` or *bars*, 2 * 3");
        let parts: Vec<(&str, GuideStyle)> = parts
            .iter()
            .map(|(part, style)| (part.as_str(), *style))
            .collect();
        assert_eq!(
            parts,
            [
                ("Rows", GuideStyle::Strong),
                (" are ", GuideStyle::Plain),
                ("a*b", GuideStyle::Code),
                (" or ", GuideStyle::Plain),
                ("bars", GuideStyle::Emphasis),
                (", 2 * 3", GuideStyle::Plain),
            ]
        );
    }
}
