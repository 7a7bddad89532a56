//! What a screen answers, as the first section of its report.

use std::sync::Arc;

use super::document::{Block, Document, ReportFigure, ReportTable, ReportText};
use crate::analysis::headline::{Change, Headline};
use crate::chart::figure::Drawing;
use powerband_core::base::humanize;

/// Most reasons and most changes.
const MOST: usize = 12;

/// The answer of a screen with what it rests on.
#[derive(Clone, Debug)]
pub struct ScreenAnswer {
    /// What is compared, name by name.
    pub sides: Vec<(String, String)>,
    pub headline: Headline,
    /// What it draws, each with its title.
    pub drawings: Vec<(&'static str, Drawing)>,
    /// Its table as it is arranged.
    pub table: Option<ReportTable>,
}

impl Document {
    /// Puts the answers of screens before everything else.
    pub fn put_answers_first(&mut self, answers: &[ScreenAnswer]) {
        let mut blocks: Vec<Block> = answers.iter().flat_map(ScreenAnswer::blocks).collect();
        blocks.append(&mut self.blocks);
        self.blocks = blocks;
    }
}

impl ScreenAnswer {
    fn blocks(&self) -> Vec<Block> {
        let found = &self.headline;
        let mut blocks = vec![Block::Heading(2, found.title.clone())];
        let facts = facts(self);
        if !facts.is_empty() {
            blocks.push(Block::Facts(facts));
        }
        if !found.sentence.is_empty() {
            blocks.push(Block::paragraph(found.sentence.clone()));
        }
        blocks.extend(Block::list(found.reasons.iter().take(MOST).cloned()));
        let times = found.time_differences.iter().take(MOST).cloned();
        blocks.extend(Block::titled_list("Where the time went", times));
        let changes = found.changes.iter().take(MOST);
        let changes = changes.map(|Change { what, text }| format!("{what}: {text}"));
        blocks.extend(Block::titled_list(found.changes_title, changes));
        blocks.extend(self.drawings.iter().filter_map(figure));
        let table = self.table.clone();
        blocks.extend(table.map(|table| Block::Table(table.without_empty_columns())));
        blocks
    }
}

/// What is compared, then the ratio with its interval and verdicts.
fn facts(answer: &ScreenAnswer) -> Vec<(String, ReportText)> {
    let found = &answer.headline;
    let sides = answer.sides.iter().cloned();
    let mut facts: Vec<(String, ReportText)> = sides
        .map(|(name, side)| (name, ReportText::from(side)))
        .collect();
    if let Some(ratio) = &found.ratio {
        let interval = found.interval.as_ref();
        let interval = interval.map_or_else(String::new, |interval| format!(", {interval}"));
        let text = ReportText::default().strong(ratio.clone()).text(interval);
        facts.push(("Ratio".to_owned(), text));
    }
    let verdicts = found.verdicts.iter();
    let verdicts = verdicts.map(|(call, holds_for)| {
        let text = format!("{call} {holds_for}");
        text.trim().to_owned()
    });
    let verdicts: Vec<String> = verdicts.collect();
    if !verdicts.is_empty() {
        facts.push(("Verdict".to_owned(), verdicts.join(", ").into()));
    }
    facts
}

fn figure((title, drawing): &(&'static str, Drawing)) -> Option<Block> {
    if matches!(drawing, Drawing::Chart(spec) if spec.is_empty()) {
        return None;
    }
    let caption = format!("{}.", humanize::capitalised(title));
    Some(Block::Figure(ReportFigure {
        stem: format!("answer-{}", title.to_lowercase().replace([' ', '.'], "-")),
        alt: caption.clone(),
        caption: caption.into(),
        drawing: Arc::new(drawing.clone()),
    }))
}
