//! Actions on tables.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::action::TableChange;
use super::find;
use crate::action::{Action, RunAction};
use crate::notices::NoticeLevel;
use crate::parts::layer::Layer;
use crate::shared::Shared;
use crate::{Ask, WindowRequest};
use powerband_core::base::{atomic_file, humanize};
use powerband_findings::tables::view::TableView;

impl Shared {
    /// Arranges, copies or exports a table.
    pub(crate) fn table(&mut self, id: &'static str, change: TableChange) {
        match change {
            TableChange::Copy => self.copy_table(id),
            TableChange::Export(path) => self.export_table(id, path),
            change => {
                // Rows in another order are read one by one, and not left by themselves.
                if let (TableChange::Sort(_), "run") = (&change, id) {
                    self.then(Action::Run(RunAction::Follow(false)));
                }
                self.tables.change(id, &change);
            }
        }
    }

    /// Clears the selection of a table on the screen; in its layer, the filter of one.
    pub(crate) fn clear_rows(&mut self, layer: Layer) -> bool {
        let (id, change) = match layer {
            Layer::Selection => (
                self.tables.selected_on(self.screen),
                TableChange::SelectNone,
            ),
            Layer::Filter => (
                self.tables.filtered(self.screen),
                TableChange::Filter(String::new()),
            ),
            _ => return false,
        };
        if let Some(id) = id {
            self.tables.change(id, &change);
        }
        id.is_some()
    }

    pub(super) fn copy_table(&mut self, id: &str) {
        let Some((view, kind)) = self.tables.view(id).zip(find(id)) else {
            return;
        };
        let view = self.chosen_rows(id, view);
        let rows = humanize::pluralised(view.len() as u64, kind.row);
        let text = view.to_tsv();
        self.outputs.push(WindowRequest::Copy(text));
        self.notify(NoticeLevel::Done, format!("Copied {rows} to the clipboard"));
    }

    /// The selected rows of a table, or all of them where none is selected.
    fn chosen_rows(&self, id: &str, view: &TableView) -> TableView {
        let view = view.clone();
        match self.tables.selected(id) {
            Some(rows) => view.only(rows),
            None => view,
        }
    }

    pub(super) fn export_table(&mut self, id: &'static str, path: Option<PathBuf>) {
        let Some(view) = self.tables.view(id) else {
            return;
        };
        let view = self.chosen_rows(id, view);
        let Some(path) = path else {
            let path = self.export_path(&format!("{id}.csv"));
            self.outputs
                .push(WindowRequest::Ask(Ask::SaveTable(id, path)));
            return;
        };
        self.exports_to(&path);
        let work = move || match write(&view, &path) {
            Ok(()) => Ok((format!("The table is in {}", path.display()), path)),
            Err(why) => Err(format!(
                "The table was not written to {}: {why}",
                path.display()
            )),
        };
        self.jobs.spawn_then("export-table", work, |app, written| {
            app.shared.file_written(written);
        });
    }
}

/// Writes it as the ending of the file says: `.tsv` and `.json`, else with commas.
fn write(view: &TableView, path: &Path) -> Result<(), String> {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    let text = match ending.as_deref().and_then(std::ffi::OsStr::to_str) {
        Some("tsv") => view.to_tsv(),
        Some("json") => format!("{:#}\n", view.to_json()),
        _ => view.to_csv(),
    };
    let written = atomic_file::write(path, |file| file.write_all(text.as_bytes()));
    written.map_err(|error| error.to_string())
}
