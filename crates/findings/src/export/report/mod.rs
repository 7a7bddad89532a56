//! A report as a file, and the pictures beside it where it needs any.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::style::Style;
use super::{html, markdown, svg};
use crate::report::document::{Block, Document, ReportFigure};
use powerband_core::base::atomic_file;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One file that needs nothing else.
    Html,
    /// Text, with pictures in a folder beside it.
    Markdown,
}

/// Why a report was not written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The file name has no known ending.
    #[error("{}: a report is a .html or a .md file", .0.display())]
    Ending(PathBuf),
    /// The system refuses.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// What was to be written.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl Format {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Html, Self::Markdown];

    /// The endings of its files, the usual one first.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Html => &["html", "htm"],
            Self::Markdown => &["md", "markdown"],
        }
    }

    /// The format of a file name's ending.
    pub fn from_path(path: &Path) -> Result<Self, ReportError> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let ending = ending.unwrap_or_default().to_ascii_lowercase();
        let mut all = Self::ALL.into_iter();
        all.find(|format| format.endings().contains(&ending.as_str()))
            .ok_or_else(|| ReportError::Ending(path.to_path_buf()))
    }
}

/// Writes a report, in the format that its file's ending says. Gives the folder of its pictures, where
/// it has one.
pub fn write(document: &Document, path: &Path) -> Result<Option<PathBuf>, ReportError> {
    match Format::from_path(path)? {
        Format::Html => {
            save(path, &html::write(document))?;
            Ok(None)
        }
        Format::Markdown => {
            let folder = folder_of(path);
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let figures = figures(document);
            for figure in &figures {
                let picture = svg::write(&figure.drawing, &Style::default());
                fs::create_dir_all(&folder).map_err(|source| ReportError::Io {
                    path: folder.clone(),
                    source,
                })?;
                save(&folder.join(markdown::file_of(figure)), &picture)?;
            }
            save(path, &markdown::write(document, &name))?;
            Ok((!figures.is_empty()).then_some(folder))
        }
    }
}

/// `report.md` has its pictures in `report.files`.
fn folder_of(path: &Path) -> PathBuf {
    path.with_extension("files")
}

fn figures(document: &Document) -> Vec<&ReportFigure> {
    let figures = document.blocks.iter().filter_map(|block| match block {
        Block::Figure(figure) => Some(figure),
        _ => None,
    });
    figures.collect()
}

fn save(path: &Path, text: &str) -> Result<(), ReportError> {
    atomic_file::write_bytes(path, text.as_bytes()).map_err(|source| ReportError::Io {
        path: path.to_path_buf(),
        source,
    })
}

#[cfg(test)]
mod tests;
