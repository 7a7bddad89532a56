//! A figure as the bytes of a file: which kinds there are, and what each is for.

use std::path::Path;

use super::style::Style;
use super::{figure_data, svg, tree};
use crate::chart::figure::Drawing;

/// Smallest and largest number of pixels for one of the picture's own.
pub const SCALES: (f64, f64) = (1.0, 4.0);

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Vectors for pages of the web.
    Svg,
    /// Pixels.
    Png,
    /// Vectors for papers.
    Pdf,
    /// The numbers as a table.
    Csv,
    /// The numbers as a document.
    Json,
}

impl FileKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Svg, Self::Png, Self::Pdf, Self::Csv, Self::Json];

    /// How names of such files end.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }

    /// What it is in words.
    pub fn title(self) -> &'static str {
        match self {
            Self::Svg => "SVG picture",
            Self::Png => "PNG picture",
            Self::Pdf => "PDF page",
            Self::Csv => "CSV table",
            Self::Json => "JSON document",
        }
    }

    /// The kind that the name of a file asks for.
    pub fn from_path(path: &Path) -> Result<Self, String> {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        let ending = ending.to_ascii_lowercase();
        let found = Self::ALL.into_iter().find(|kind| kind.ending() == ending);
        found.ok_or_else(|| {
            let known: Vec<String> = Self::ALL
                .iter()
                .map(|kind| format!(".{}", kind.ending()))
                .collect();
            format!(
                "{} does not say what to write; end its name with one of {}",
                path.display(),
                known.join(", ")
            )
        })
    }
}

/// The bytes of a file with a figure. `scale` counts for PNG only.
pub fn bytes(
    drawing: &Drawing,
    about: &str,
    style: &Style,
    scale: f64,
    kind: FileKind,
) -> Result<Vec<u8>, String> {
    match kind {
        FileKind::Svg => Ok(svg::write_about(drawing, about, style).into_bytes()),
        FileKind::Png => tree::png(&svg::write_about(drawing, about, style), scale),
        FileKind::Pdf => tree::pdf(&svg::write_about(drawing, about, style)),
        FileKind::Csv => Ok(figure_data::table(drawing).to_csv().into_bytes()),
        FileKind::Json => serde_json::to_vec_pretty(&figure_data::document(drawing, about))
            .map_err(|error| format!("the document cannot be written: {error}")),
    }
}
