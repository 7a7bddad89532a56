//! `powerband repeat`: the plan of a session once more, and whether it says the same.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::json;

use super::args::RepeatArgs;
use super::bench::{FinishedRun, measure};
use super::compare::earlier_sessions;
use super::{Context, REGRESSION, TROUBLE, output};
use powerband_core::domain::request::{ProgramTrust, RunRequest};
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows;
use powerband_findings::analysis::comparison::{self, CasePair, ComparedSide, Comparison};
use powerband_findings::analysis::reproduced::Repetition;
use powerband_findings::export;
use powerband_findings::report::document::Block;
use powerband_findings::report::in_short;
use powerband_runner::prepare;
use powerband_runner::record::SessionTarget;

/// Measures again and compares.
pub(super) fn run(context: &Context, args: &RepeatArgs) -> anyhow::Result<ExitCode> {
    let before = super::measured(&args.session)?;
    if !before.plan.can_run() {
        bail!(
            "{} was not measured by Powerband, so it has no plan to run again",
            args.session.display()
        );
    }
    let target = SessionTarget::of_file(args.out.clone(), false);
    target.check()?;
    let request = RunRequest {
        programs: if args.allow_commands {
            ProgramTrust::Allowed
        } else {
            ProgramTrust::File
        },
        name: Some(format!("{}, again", before.name)),
        ..RunRequest::from_plan(&before.plan)
    };
    let prepared = prepare::prepare(&context.place(), &request)?;
    let now = &prepared.beginning.model;
    if now.sha256 != before.model.sha256 {
        output::note(&format!(
            "{} is another file than the session was measured with.",
            now.name
        ));
    }
    let measured = measure(context, prepared, &target)?;
    let found = compare(context, &before, &measured.session);
    answer(args, &found)?;
    if let Some(reason) = &measured.unsaved {
        bail!("{reason}");
    }
    Ok(status(&measured, &found))
}

fn compare(context: &Context, before: &Session, after: &Session) -> Comparison {
    let earlier = earlier_sessions(context, before, after);
    let rows = [before, after].map(case_rows::case_rows);
    let side = |session, rows| ComparedSide {
        session,
        rows,
        setup: 0,
        point: None,
    };
    let sides = (side(before, &rows[0]), side(after, &rows[1]));
    comparison::compare_sessions_with_earlier(&sides.0, &sides.1, &earlier)
}

fn answer(args: &RepeatArgs, found: &Comparison) -> anyhow::Result<()> {
    if args.json {
        let cases = found.pairs.iter().map(|pair| {
            json!({
                "setup": pair.after.setup_spec,
                "point": pair.after_point,
                "result": Repetition::of_pair(pair),
            })
        });
        return output::document(&json!({
            "cases": cases.collect::<Vec<_>>(),
            "comparison": export::comparison::document(found),
        }));
    }
    let mut sections = in_short::comparison(found, args.detail.verbose);
    sections.push(Vec::from_iter(Block::list(found.pairs.iter().map(line))));
    output::sections(&sections)
}

fn line(pair: &CasePair) -> String {
    let (setup, point) = (&pair.after.setup_label, pair.after_point);
    format!("{setup} {point}: {}", Repetition::of_pair(pair).text())
}

fn status(measured: &FinishedRun, found: &Comparison) -> ExitCode {
    let results: Vec<Repetition> = found.pairs.iter().map(Repetition::of_pair).collect();
    let is_unknown = |one: &Repetition| matches!(one, Repetition::NotComparable(_));
    let is_lone = !(found.only_before.is_empty() && found.only_after.is_empty());
    if measured.cancelled || is_lone || results.is_empty() || results.iter().any(is_unknown) {
        return ExitCode::from(TROUBLE);
    }
    let is_other = |one: &Repetition| matches!(one, Repetition::Faster | Repetition::Slower);
    if results.iter().any(is_other) {
        return ExitCode::from(REGRESSION);
    }
    ExitCode::SUCCESS
}
