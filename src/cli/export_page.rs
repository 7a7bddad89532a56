//! `powerband export SESSION... --to FILE.html`: sessions with their timelines as a page.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;

use super::args::ExportArgs;
use super::export_timelines::trace;
use super::{Context, output};
use crate::result_page;
use powerband_core::base::{atomic_file, humanize, system};
use powerband_core::domain::anonymous::PrivateNames;
use powerband_core::domain::session::Session;
use powerband_core::domain::trace::Trace;
use powerband_findings::analysis::category::Rules;
use powerband_store::bundle::Bundle;
use powerband_store::{packed_trace, session_file, trace_file};

/// Whether the name of a file asks for a page.
pub(super) fn is_page(to: &Path) -> bool {
    to.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("html"))
}

pub(super) fn not_written(to: &Path) -> String {
    format!("{} cannot be written", to.display())
}

pub(super) fn run(context: &Context, args: &ExportArgs) -> anyhow::Result<ExitCode> {
    result_page::check_viewer()?;
    let mut sessions = Vec::new();
    let mut traces = BTreeMap::new();
    for path in &args.sessions {
        let mut session = session_file::read(path)?.session;
        take_timelines(path, &mut session, &mut traces)?;
        sessions.push(session);
    }
    let mut names = PrivateNames::of_user(&system::machine_name());
    for session in &sessions {
        names.learn(session);
    }
    let what = contents_text(&sessions, &traces);
    if args.anonymous {
        output::note(&format!(
            "In it: {what}, without paths and the names of users and machines"
        ));
        for session in &mut sessions {
            let clean = names.session_without(session);
            *session = clean.context("a session cannot be made anonymous")?;
        }
        for trace in traces.values_mut() {
            *trace = names.trace_without(trace);
        }
    } else {
        output::note(&format!("In it: {what}; {}", names.in_sessions(&sessions)));
    }
    let pack = |(name, trace): (String, Trace)| Ok((name, packed_trace::pack(&trace)?));
    let timelines = traces.into_iter().map(pack).collect::<io::Result<_>>()?;
    let rules = Rules::with_user_rules(&context.settings.categories);
    let bundle = Bundle {
        sessions,
        timelines,
    };
    let page = result_page::write(&bundle, &rules)?;
    atomic_file::write_bytes(&args.to, page.as_bytes()).with_context(|| not_written(&args.to))?;
    let size = humanize::bytes(page.len() as u64);
    output::note(&format!("Saved to {}, {size}", args.to.display()));
    Ok(ExitCode::SUCCESS)
}

/// Reads the timelines of a session, and calls each by a name that no other of the page has.
fn take_timelines(
    path: &Path,
    session: &mut Session,
    traces: &mut BTreeMap<String, Trace>,
) -> anyhow::Result<()> {
    for profile in &mut session.profiles {
        let Some(name) = profile.trace_file.take() else {
            continue;
        };
        let Some(file) = trace_file::found(Some(path), &name) else {
            output::note(&format!(
                "{name} does not lie beside {}; this timeline is left out",
                path.display()
            ));
            continue;
        };
        let name = format!("timeline {}", traces.len() + 1);
        traces.insert(name.clone(), trace(&file)?);
        profile.trace_file = Some(name);
    }
    Ok(())
}

fn contents_text(sessions: &[Session], traces: &BTreeMap<String, Trace>) -> String {
    let sessions = humanize::pluralised(sessions.len() as u64, "session");
    match traces.len() as u64 {
        0 => sessions,
        timelines => format!(
            "{sessions}, {}",
            humanize::pluralised(timelines, "timeline")
        ),
    }
}
