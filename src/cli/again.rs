//! `powerband bench --again`: two sessions measured once more, in turns, and compared.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::args::BenchArgs;
use super::bench::{FinishedRun, measure, origin, place, status, target};
use super::{Context, output};
use powerband_core::domain::again::{SessionPart, request_for};
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows;
use powerband_findings::analysis::comparison::{self, ComparedSide, Comparison};
use powerband_findings::export;
use powerband_findings::report::{self, in_short};
use powerband_planning::form::Draft;
use powerband_runner::again;

/// Measures and compares.
pub(super) fn run(
    context: &Context,
    args: &BenchArgs,
    before: &Path,
    after: &Path,
) -> anyhow::Result<ExitCode> {
    let (before, after) = (super::measured(before)?, super::measured(after)?);
    let parts = [&before, &after].map(SessionPart::all);
    let mut request = request_for(parts[0], parts[1])?;
    request = args.plan.request(Draft::of_request(&request))?;
    let target = target(args)?;
    request.programs = origin(args, &request.setups);
    let place = place(context, args)?;
    let prepared = again::prepare_again(&place, &request, parts[0], parts[1])?;
    let measured = measure(context, prepared, &target)?;
    let told = answer(args, &measured);
    status(&measured, told)
}

/// The session, then its pairs.
fn answer(args: &BenchArgs, measured: &FinishedRun) -> anyhow::Result<()> {
    let comparisons = pairs(&measured.session);
    if args.json {
        let mut document = export::json::session(&measured.session);
        let documents = comparisons.iter().map(export::comparison::document);
        document["comparisons"] = json!(documents.collect::<Vec<_>>());
        return output::document(&document);
    }
    let mut sections = report::session::sections(&measured.session, false);
    let comparisons = comparisons.iter();
    sections.extend(comparisons.flat_map(|one| in_short::comparison(one, false)));
    output::sections(&sections)
}

/// Each setup of the session before against the one that follows it, which is of the session after.
fn pairs(session: &Session) -> Vec<Comparison> {
    let rows = case_rows::case_rows(session);
    let side = |setup| ComparedSide {
        session,
        rows: &rows,
        setup,
        point: None,
    };
    let firsts = (0..session.plan.setups.len()).step_by(2);
    firsts
        .map(|setup| comparison::compare_setups(&side(setup), &side(setup + 1)))
        .collect()
}
