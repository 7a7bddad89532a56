//! `powerband report`: one or two sessions as a document.

use std::ffi::OsStr;
use std::path::{Component, Path};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};

use super::args::ReportArgs;
use super::compare::earlier_sessions;
use super::export::check_target;
use super::{Context, export_page, output};
use crate::result_page;
use powerband_app::backend::PageSource;
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
    if let Some(page) = &args.page {
        check_page(args, page)?;
    }
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
    let mut document = layout.write(&material);
    if let Some(page) = &args.page {
        document.page = Some(relative_address(&args.to, page)?);
        let sources = args
            .sessions()
            .into_iter()
            .zip([Some(first), second].into_iter().flatten());
        let sources: Vec<PageSource> = sources
            .map(|(path, session)| PageSource {
                session: Arc::new(session),
                path: Some(path.to_path_buf()),
                timelines: Vec::new(),
            })
            .collect();
        export_page::save(context, &sources, page, false)?;
    }
    let folder = files::write(&document, &args.to)?;
    let beside = folder.map_or_else(String::new, |folder| {
        format!(", its pictures to {}", folder.display())
    });
    output::note(&format!("Saved to {}{beside}", args.to.display()));
    Ok(ExitCode::SUCCESS)
}

/// Fails where a page cannot be written beside the report.
fn check_page(args: &ReportArgs, page: &Path) -> anyhow::Result<()> {
    if !export_page::is_page(page) {
        bail!("{}: a page is a .html file", page.display());
    }
    for session in args.sessions() {
        check_target(session, page)?;
    }
    if relative_address(&args.to, page)? == relative_address(&args.to, &args.to)? {
        bail!("--page and --to name one file; name another for the page");
    }
    result_page::check_viewer()
}

/// The address of a file for a document in another: the way from its folder, with each name escaped.
fn relative_address(document: &Path, file: &Path) -> anyhow::Result<String> {
    let folder = |path: &Path| {
        let folder = path.parent().unwrap_or(path);
        let folder = Path::new(".").join(folder);
        let found = folder.canonicalize();
        found.with_context(|| format!("cannot find the folder of {}", path.display()))
    };
    let [from, to] = [folder(document)?, folder(file)?];
    let shared = from.components().zip(to.components());
    let shared = shared.take_while(|(own, other)| own == other).count();
    if shared == 0 {
        bail!(
            "{} and {} are on two drives, so that one cannot link to the other; write both on one",
            document.display(),
            file.display()
        );
    }
    let up = from.components().skip(shared).map(|_| "..".to_owned());
    let down = to.components().skip(shared).map(Component::as_os_str);
    let names = down.chain(file.file_name()).map(escaped_name);
    let steps: Vec<String> = up.chain(names).collect();
    Ok(steps.join("/"))
}

/// A name of a file in an address: all but letters, digits and a few signs as percent and two digits.
fn escaped_name(name: &OsStr) -> String {
    let bytes = name.as_encoded_bytes().iter();
    let letters = bytes.map(|byte| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(*byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    letters.collect()
}

fn source<'a>(session: &'a Session, path: &Path) -> ReportedSession<'a> {
    // A report is read on other machines, where this folder does not exist.
    let file = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    ReportedSession::new(session, file, session_file::plan_text(&session.plan).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_from_the_report_to_the_page() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("a/b")).unwrap();
        std::fs::create_dir_all(at("c d")).unwrap();
        for (report, page, address) in [
            ("r.html", "p.html", "p.html"),
            ("a/r.html", "a/b/../p.html", "p.html"),
            ("a/b/r.html", "p.html", "../../p.html"),
            ("a/r.html", "c d/50 %.html", "../c%20d/50%20%25.html"),
            ("r.html", "a/x:(é)?#.html", "a/x%3A%28%C3%A9%29%3F%23.html"),
        ] {
            let found = relative_address(&at(report), &at(page)).unwrap();
            assert_eq!(found, address);
        }
        assert!(relative_address(&at("r.html"), &at("none/p.html")).is_err());
    }
}
