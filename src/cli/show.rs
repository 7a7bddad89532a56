//! `powerband show`: a saved session as a table or as JSON.

use std::process::ExitCode;

use super::args::ShowArgs;
use super::output;
use powerband_core::domain::session::Session;
use powerband_findings::chart::figure::{self, Drawing, FigureInputs};
use powerband_findings::export::{html, json};
use powerband_findings::report;
use powerband_store::session_file;

pub(super) fn run(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let opened = session_file::read(&args.session)?;
    if let Some(version) = opened.newer {
        output::note(&format!(
            "{} was written by a newer Powerband (session version {version}); it is shown as far as this one \
             understands it, and will not be written to.",
            args.session.display()
        ));
    }
    if args.html {
        let sections = report::session::sections(&opened.session, args.detail.verbose);
        let figure = chart(&opened.session);
        output::answer(&html::fragment(&sections, figure.as_ref()))?;
    } else if args.json {
        output::document(&json::session(&opened.session))?;
    } else {
        let sections = report::session::sections(&opened.session, args.detail.verbose);
        output::sections(&sections)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The curves of a sweep, or the times of a single case; nothing where there are neither.
fn chart(session: &Session) -> Option<Drawing> {
    let name = match session.plan.points.as_slice() {
        [_] => "distribution",
        _ => "throughput",
    };
    let drawing = figure::find(name).ok()?.make(&FigureInputs::new(session));
    drawing.ok().filter(|drawing| !drawing.is_empty())
}
