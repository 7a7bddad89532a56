//! `powerband report`: one or two sessions as a document.

use std::path::Path;
use std::process::ExitCode;

use super::args::ReportArgs;
use super::compare::earlier_sessions;
use super::{Context, output};
use powerband_core::domain::session::Session;
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::earlier_sessions::EarlierSessions;
use powerband_findings::export::report::{self as files, Format};
use powerband_findings::report::Layout;
use powerband_findings::report::material::{ReportInputs, ReportedSession};
use powerband_store::session_file;

pub(super) fn run(context: &Context, args: &ReportArgs) -> anyhow::Result<ExitCode> {
    // Checked before anything is read: a mistyped ending should fail at once.
    Format::from_path(&args.to)?;
    let layout =
        Layout::choose(args.layout.as_deref(), args.after.is_some()).map_err(anyhow::Error::msg)?;
    let first = session_file::read(&args.session)?.session;
    let second = args.after.as_deref().map(session_file::read).transpose()?;
    let second = second.map(|opened| opened.session);
    let rules = Rules::with_user_rules(&context.settings.categories);
    for objection in &rules.errors {
        output::note(&format!("In the settings, {objection}"));
    }
    let earlier = second
        .as_ref()
        .map_or_else(EarlierSessions::default, |after| {
            earlier_sessions(context, &first, after)
        });
    let material = ReportInputs {
        earlier,
        first: source(&first, &args.session),
        second: second
            .as_ref()
            .zip(args.after.as_deref())
            .map(|(session, path)| source(session, path)),
        rules: &rules,
        title: args.title.clone(),
    };
    layout.check(&material).map_err(anyhow::Error::msg)?;
    let document = layout.write(&material);
    let folder = files::write(&document, &args.to)?;
    let beside = folder.map_or_else(String::new, |folder| {
        format!(", its pictures to {}", folder.display())
    });
    output::note(&format!("Saved to {}{beside}", args.to.display()));
    Ok(ExitCode::SUCCESS)
}

fn source<'a>(session: &'a Session, path: &Path) -> ReportedSession<'a> {
    // A report is read on other machines, where this folder does not exist.
    let file = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    ReportedSession::new(session, file, session_file::plan_text(&session.plan).ok())
}
