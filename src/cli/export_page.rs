//! `powerband export SESSION... --to FILE.html`: sessions with their timelines as a page.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;

use super::args::ExportArgs;
use super::{Context, output};
use crate::page_contents::PageContents;
use crate::result_page;
use powerband_app::backend::PageSource;
use powerband_core::base::{atomic_file, humanize};
use powerband_findings::analysis::category::Rules;
use powerband_store::session_file;

/// Whether the name of a file asks for a page.
pub(super) fn is_page(to: &Path) -> bool {
    to.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("html"))
}

pub(super) fn not_written(to: &Path) -> String {
    format!("{} cannot be written", to.display())
}

pub(super) fn run(context: &Context, args: &ExportArgs) -> anyhow::Result<ExitCode> {
    result_page::check_viewer()?;
    let sources = sources(args.sessions.iter().map(PathBuf::as_path))?;
    save(context, &sources, &args.to, args.anonymous)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of some sessions.
pub(super) fn save(
    context: &Context,
    sources: &[PageSource],
    to: &Path,
    is_anonymous: bool,
) -> anyhow::Result<()> {
    let contents = PageContents::find(sources);
    let facts = contents.facts();
    for note in &facts.notes {
        output::note(note);
    }
    let private = if is_anonymous {
        ", without paths and the known names of users and machines; check notes and names yourself"
            .to_owned()
    } else {
        format!("; {}", facts.private)
    };
    output::note(&format!("In it: {}{private}", facts.contents));
    let rules = Rules::with_user_rules(&context.settings.categories);
    let page = result_page::write(&contents.bundle(is_anonymous)?, &rules)?;
    atomic_file::write_bytes(to, page.as_bytes()).with_context(|| not_written(to))?;
    let size = humanize::bytes(page.len() as u64);
    output::note(&format!("Saved to {}, {size}", to.display()));
    Ok(())
}

/// The sessions in some files.
pub(super) fn sources<'a>(
    paths: impl Iterator<Item = &'a Path>,
) -> anyhow::Result<Vec<PageSource>> {
    let read = paths.map(|path| {
        Ok(PageSource {
            session: Arc::new(session_file::read(path)?.session),
            path: Some(path.to_path_buf()),
            timelines: Vec::new(),
        })
    });
    read.collect()
}
