//! Actions on reports.

use std::path::PathBuf;

use super::ReportSubject;
use super::work::{self, ReportSource};
use crate::{App, Ask, WindowRequest};
use powerband_store::library;

impl App {
    /// Writes a report to a file; without a path it asks for one.
    pub(crate) fn report(&mut self, subject: ReportSubject, path: Option<PathBuf>) {
        let Some(first) = self.shared.sessions.get(subject.first) else {
            return;
        };
        let second = subject.second.and_then(|id| self.shared.sessions.get(id));
        let Some(path) = path else {
            let last = second.unwrap_or(first);
            let name = format!("{}.html", library::safe(&last.session.name));
            let ask = Ask::SaveReport(subject, self.shared.export_path(&name));
            self.shared.outputs.push(WindowRequest::Ask(ask));
            return;
        };
        let path = if path.extension().is_none() {
            path.with_extension("html")
        } else {
            path
        };
        let answer = self.screen_answer(subject);
        let earlier = second.map(|after| self.shared.earlier(&first.session, &after.session));
        let (first, second) = (
            ReportSource::from_open(first),
            second.map(ReportSource::from_open),
        );
        self.shared.exports_to(&path);
        let paths = self.shared.place.paths.clone();
        let work = move || {
            let second = second.as_ref().zip(earlier.as_ref());
            work::write(&first, second, answer.as_ref(), &paths, &path)
        };
        self.shared.jobs.spawn_then("report", work, |app, written| {
            app.shared.file_written(written);
        });
    }
}
