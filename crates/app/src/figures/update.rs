//! Copying and saving the picture of a figure, drawn and written on a background thread.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::action::FigureAction;
use crate::figures::{Picture, ShownFigure};
use crate::notices::NoticeLevel;
use crate::shared::Shared;
use crate::{Ask, FigureWish, WindowRequest};
use powerband_core::base::{atomic_file, paths};
use powerband_findings::export::figure_file::{self, FileKind};
use powerband_findings::export::style::{Preset, Style, Theme};
use powerband_findings::export::{svg, tree};
use powerband_store::library;

/// Pixels for each of the picture's own: sharp where it is pasted into a text.
const SCALE: f64 = 2.0;

impl Shared {
    /// Copies or saves a figure, with where its numbers come from.
    pub(crate) fn figures(&mut self, change: FigureAction, sources: String) {
        match change {
            FigureAction::CopyNear => self.outputs.push(WindowRequest::Figure(FigureWish::Copy)),
            FigureAction::SaveNear => self.outputs.push(WindowRequest::Figure(FigureWish::Save)),
            FigureAction::Copy(shown) => {
                let shown = with_sources(shown, sources);
                let work = move || picture(&shown);
                self.jobs.spawn_then("picture", work, |app, drawn| {
                    app.shared.picture_drawn(drawn);
                });
            }
            FigureAction::Save(shown, None) => {
                let shown = with_sources(shown, sources);
                let name = format!("{}.png", library::safe(&file_name(&shown)));
                let ask = Ask::SaveFigure(shown, self.export_path(&name));
                self.outputs.push(WindowRequest::Ask(ask));
            }
            FigureAction::Save(shown, Some(path)) => {
                self.exports_to(&path);
                let work = move || match save(&shown, &path) {
                    Ok(path) => Ok((format!("Saved to {}", path.display()), path)),
                    Err(why) => Err(format!("The figure was not saved: {why}.")),
                };
                self.jobs.spawn_then("save-figure", work, |app, written| {
                    app.shared.file_written(written);
                });
            }
        }
    }

    fn picture_drawn(&mut self, drawn: Result<Picture, String>) {
        match drawn {
            Ok(picture) => {
                self.outputs
                    .push(WindowRequest::CopyPicture(Arc::new(picture)));
                self.notify(NoticeLevel::Done, "Copied the picture to the clipboard");
            }
            Err(why) => self.notify(
                NoticeLevel::Trouble,
                format!("The picture was not copied: {why}."),
            ),
        }
    }

    /// A path to begin with for a picture or a report: where the last one went, else the documents.
    pub(crate) fn export_path(&self, name: &str) -> PathBuf {
        let last = self.remembered.export_folder.clone();
        last.unwrap_or_else(paths::documents).join(name)
    }

    /// Remembers where a picture or a report goes, for the next one.
    pub(crate) fn exports_to(&mut self, path: &Path) {
        let folder = path.parent().filter(|folder| folder.is_absolute());
        if let Some(folder) = folder {
            self.remembered.export_folder = Some(folder.to_path_buf());
        }
    }
}

fn with_sources(mut shown: Arc<ShownFigure>, sources: String) -> Arc<ShownFigure> {
    Arc::make_mut(&mut shown).about = sources;
    shown
}

/// What a figure is called, and of which network it is.
fn file_name(shown: &ShownFigure) -> String {
    let title = shown.drawing.title();
    match shown.about.split(" · ").next() {
        None | Some("") => title.to_owned(),
        Some(network) => format!("{title}, {network}"),
    }
}

fn style(shown: &ShownFigure) -> Style {
    let theme = if shown.is_dark {
        Theme::Dark
    } else {
        Theme::Light
    };
    Style::new(Preset::Screen, theme)
}

fn picture(shown: &ShownFigure) -> Result<Picture, String> {
    let svg = svg::write_about(&shown.drawing, &shown.about, &style(shown));
    let (width, height, rgba) = tree::rgba(&svg, SCALE)?;
    Ok(Picture {
        width,
        height,
        rgba,
    })
}

/// Writes what the name of the file asks for; a name without an ending asks for PNG.
fn save(shown: &ShownFigure, path: &Path) -> Result<PathBuf, String> {
    let path = match path.extension() {
        Some(_) => path.to_path_buf(),
        None => path.with_extension(FileKind::Png.ending()),
    };
    let kind = FileKind::from_path(&path)?;
    let bytes = figure_file::bytes(&shown.drawing, &shown.about, &style(shown), SCALE, kind)?;
    atomic_file::write_bytes(&path, &bytes)
        .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_findings::chart::figure::Drawing;

    #[test]
    fn a_figure_is_saved_as_its_name_says() {
        let folder = tempfile::tempdir().unwrap();
        let shown = ShownFigure {
            drawing: Drawing::Chart(Box::default()),
            is_dark: true,
            about: "resnet50 · a machine · a day".to_owned(),
        };
        for (name, begins) in [
            ("a.svg", b"<svg".as_slice()),
            ("b", b"\x89PNG"),
            ("c.pdf", b"%PDF"),
        ] {
            let path = save(&shown, &folder.path().join(name)).unwrap();
            assert!(std::fs::read(path).unwrap().starts_with(begins), "{name}");
        }
        let odd = save(&shown, &folder.path().join("a.docx")).unwrap_err();
        assert!(odd.contains(".svg"), "{odd}");
        let nowhere = save(&shown, &folder.path().join("no/a.svg")).unwrap_err();
        assert!(nowhere.contains("cannot be written"), "{nowhere}");
        let picture = picture(&shown).unwrap();
        assert_eq!(picture.rgba.len(), picture.width * picture.height * 4);
    }
}
