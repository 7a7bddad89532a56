//! Reports of open sessions, written in the background.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::compare::update::EarlierSource;
use crate::sessions::OpenSession;
use powerband_core::base::paths::Paths;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::category::Rules;
use powerband_findings::export::report as files;
use powerband_findings::report::Layout;
use powerband_findings::report::answer::ScreenAnswer;
use powerband_findings::report::material::{ReportInputs, ReportedSession};
use powerband_store::{session_file, settings};

/// A session with its file.
pub(crate) struct ReportSource {
    session: Arc<Session>,
    path: Option<PathBuf>,
}

impl ReportSource {
    /// What a thread needs of an open session.
    pub(crate) fn from_open(open: &OpenSession) -> Self {
        Self {
            session: Arc::clone(&open.session),
            path: open.path.clone(),
        }
    }

    fn source(&self) -> ReportedSession<'_> {
        let name = self.path.as_deref().and_then(Path::file_name);
        let plan = session_file::plan_text(&self.session.plan).ok();
        let name = name.map(|name| name.to_string_lossy().into_owned());
        ReportedSession::new(&self.session, name, plan)
    }
}

/// Writes a report with the usual layout, with the answers of its screens first.
pub(crate) fn write(
    first: &ReportSource,
    second: Option<(&ReportSource, &EarlierSource)>,
    answers: &[ScreenAnswer],
    paths: &Paths,
    path: &Path,
) -> Result<(String, PathBuf), String> {
    let written = Layout::choose(None, second.is_some()).and_then(|layout| {
        let own = settings::read(&paths.settings);
        let rules = Rules::with_user_rules(&own.map(|own| own.categories).unwrap_or_default());
        let earlier = second.map(|(after, earlier)| earlier.read(&first.session, &after.session));
        let mut document = layout.write(&ReportInputs {
            first: first.source(),
            second: second.map(|(after, _)| after.source()),
            earlier: earlier.unwrap_or_default(),
            rules: &rules,
            title: None,
        });
        document.put_answers_first(answers);
        files::write(&document, path).map_err(|error| error.to_string())
    });
    let folder = written.map_err(|reason| format!("The report was not written: {reason}"))?;
    let mut text = format!("The report is in {}", path.display());
    if let Some(folder) = folder {
        text.push_str(&format!(", its pictures in {}", folder.display()));
    }
    Ok((text, path.to_path_buf()))
}
