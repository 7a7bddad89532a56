//! Actions on reports.

use std::fs;

use super::work::{self, ReportSource};
use super::{ReportSubject, ReportTarget};
use crate::action::{Action, Shell};
use crate::shared::Shared;
use crate::{Ask, WindowRequest};
use powerband_findings::report::answer::ScreenAnswer;
use powerband_store::library;

impl Shared {
    /// Writes a report, with the answers of the screens that are shown first.
    pub(crate) fn report(
        &mut self,
        subject: ReportSubject,
        target: ReportTarget,
        answers: Vec<ScreenAnswer>,
    ) {
        let Some(first) = self.sessions.get(subject.first) else {
            return;
        };
        let second = subject.second.and_then(|id| self.sessions.get(id));
        let last = second.unwrap_or(first);
        let name = format!("{}.html", library::safe(&last.session.name));
        let is_preview = target == ReportTarget::Preview;
        let path = match target {
            ReportTarget::Ask => {
                let ask = Ask::SaveReport(subject, self.export_path(&name));
                self.outputs.push(WindowRequest::Ask(ask));
                return;
            }
            ReportTarget::Preview => self.place.paths.cache.join("reports").join(name),
            ReportTarget::File(path) if path.extension().is_none() => path.with_extension("html"),
            ReportTarget::File(path) => path,
        };
        let earlier = second.map(|after| self.earlier(&first.session, &after.session));
        let (first, second) = (
            ReportSource::from_open(first),
            second.map(ReportSource::from_open),
        );
        if !is_preview {
            self.exports_to(&path);
        }
        let paths = self.place.paths.clone();
        let work = move || {
            if let Some(folder) = path.parent().filter(|_| is_preview) {
                // Writing says whether that worked.
                drop(fs::create_dir_all(folder));
            }
            let second = second.as_ref().zip(earlier.as_ref());
            work::write(&first, second, &answers, &paths, &path)
        };
        self.jobs
            .spawn_then("report", work, move |app, written| match written {
                Ok((_, path)) if is_preview => {
                    app.shared.then(Action::Shell(Shell::OpenFile(path)));
                }
                written => app.shared.file_written(written),
            });
    }
}
