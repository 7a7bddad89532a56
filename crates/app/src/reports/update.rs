//! Actions on reports.

use std::fs;

use super::work::{self, ReportSource};
use super::{ReportSubject, ReportTarget};
use crate::action::{Action, Shell};
use crate::{App, Ask, WindowRequest};
use powerband_store::library;

impl App {
    /// Writes a report.
    pub(crate) fn report(&mut self, subject: ReportSubject, target: ReportTarget) {
        let Some(first) = self.shared.sessions.get(subject.first) else {
            return;
        };
        let second = subject.second.and_then(|id| self.shared.sessions.get(id));
        let last = second.unwrap_or(first);
        let name = format!("{}.html", library::safe(&last.session.name));
        let is_preview = target == ReportTarget::Preview;
        let path = match target {
            ReportTarget::Ask => {
                let ask = Ask::SaveReport(subject, self.shared.export_path(&name));
                self.shared.outputs.push(WindowRequest::Ask(ask));
                return;
            }
            ReportTarget::Preview => self.shared.place.paths.cache.join("reports").join(name),
            ReportTarget::File(path) if path.extension().is_none() => path.with_extension("html"),
            ReportTarget::File(path) => path,
        };
        let answers = self.screen_answers(subject);
        let earlier = second.map(|after| self.shared.earlier(&first.session, &after.session));
        let (first, second) = (
            ReportSource::from_open(first),
            second.map(ReportSource::from_open),
        );
        if !is_preview {
            self.shared.exports_to(&path);
        }
        let paths = self.shared.place.paths.clone();
        let work = move || {
            if let Some(folder) = path.parent().filter(|_| is_preview) {
                // Writing says whether that worked.
                drop(fs::create_dir_all(folder));
            }
            let second = second.as_ref().zip(earlier.as_ref());
            work::write(&first, second, &answers, &paths, &path)
        };
        self.shared
            .jobs
            .spawn_then("report", work, move |app, written| match written {
                Ok((_, path)) if is_preview => app.act(Action::Shell(Shell::OpenFile(path))),
                written => app.shared.file_written(written),
            });
    }
}
