//! `powerband show`: a saved session as a table or as JSON.

use std::process::ExitCode;

use super::args::ShowArgs;
use super::output;
use powerband_findings::export::json;
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
    if args.json {
        output::document(&json::session(&opened.session))?;
    } else {
        let sections = report::session::sections(&opened.session, args.detail.verbose);
        output::sections(&sections)?;
    }
    Ok(ExitCode::SUCCESS)
}
