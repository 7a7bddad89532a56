//! The ranks of a job, and which of them the others wait for.

use super::document::Block;
use crate::analysis::last_rank;
use crate::tables::{self, view::TableView};
use powerband_core::domain::profile::Profile;

/// Longest name of a collective, in characters.
const NAME: usize = 52;

/// Nothing for a profile of one process.
pub fn blocks(profile: &Profile) -> Vec<Block> {
    let Some(job) = &profile.job else {
        return Vec::new();
    };
    let ranks = TableView::new(tables::ranks::of_ranks(job)).without_empty_columns();
    let collectives = TableView::new(tables::collectives::of_collectives(job)).shortened(NAME);
    let sentences = last_rank::job_sentences(job).into_iter();
    let sentences = sentences.map(|sentence| Block::paragraph(format!("{sentence}.")));
    let tables = [
        Some(ranks.to_block()),
        (!job.collectives.is_empty()).then(|| collectives.to_block()),
    ];
    sentences.chain(tables.into_iter().flatten()).collect()
}
