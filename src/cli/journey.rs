//! `powerband journey`, also `powerband steps`: the optimisation steps of a session with gains and costs.

use std::process::ExitCode;

use anyhow::{anyhow, bail};
use serde_json::{Value, json};

use super::args::JourneyArgs;
use super::output;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_core::stats::joint::Statement;
use powerband_findings::analysis::accuracy;
use powerband_findings::analysis::case_pair::OVER_ROUNDS;
use powerband_findings::analysis::case_rows;
use powerband_findings::analysis::journey::{self, Journey, StepResult};
use powerband_findings::analysis::limits::speed_of_light::{self, LightRow};
use powerband_findings::export::comparison::pair;
use powerband_findings::export::terminal;
use powerband_findings::report::in_short;
use powerband_findings::tables::{self, view::TableView};

/// Prints the steps of a session.
pub(super) fn run(args: &JourneyArgs) -> anyhow::Result<ExitCode> {
    let session = super::measured(&args.session)?;
    if args.point.is_given() && !session.plan.ladder.is_empty() {
        bail!(
            "{} has a ladder, whose steps have points of their own; leave --batch and --at out",
            args.session.display()
        );
    }
    let points = &session.plan.points;
    let named = args.point.one_of(points.iter().copied());
    let named = named.map_err(|reason| anyhow!("{}: {reason}", args.session.display()))?;
    let point = named.unwrap_or_else(|| session.plan.first_point());
    let (journey, light) = steps_and_floors(&session, point);
    if args.json {
        output::document(&document(&journey, &light))?;
    } else {
        output::answer(&text(&journey, &light))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The steps, and the least that the network can take here for each, and for steps that were not taken.
fn steps_and_floors(session: &Session, point: Point) -> (Journey, Vec<LightRow>) {
    let rows = case_rows::case_rows(session);
    let journey = journey::compare_steps(session, &rows, point);
    let light = speed_of_light::light_rows_of_cases(session, &rows, &journey, &session.roofs);
    (journey, light)
}

/// The steps of a session whose plan has a ladder; nothing for one without.
pub(super) fn of_ladder(session: &Session) -> Option<String> {
    let is_ladder = !session.plan.ladder.is_empty();
    is_ladder.then(|| {
        let (journey, light) = steps_and_floors(session, Point::of_batch(1));
        text(&journey, &light)
    })
}

fn text(journey: &Journey, light: &[LightRow]) -> String {
    let view =
        TableView::new(tables::steps::of_journey(journey)).columns(&tables::steps::ON_TERMINAL);
    let mut text = view.to_text();
    let failures = journey.steps.iter().filter_map(|step| {
        let trouble = step.why_not_measured.as_ref()?;
        Some(format!("· {} was not measured: {trouble}\n", step.title))
    });
    let accuracies = journey
        .steps
        .iter()
        .filter_map(|step| step.accuracy.as_ref());
    let unknown = accuracy::not_told(accuracies);
    let remarks = journey.remarks.iter().chain(&unknown);
    let remarks = remarks.map(|remark| format!("· {remark}\n"));
    let basis = std::iter::once(format!("· {OVER_ROUNDS}\n"));
    let said: String = basis.chain(failures).chain(remarks).collect();
    text.push('\n');
    text.push_str(&said);
    let light = terminal::write(&in_short::speed_of_light(light));
    [text, light]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

fn document(journey: &Journey, light: &[LightRow]) -> Value {
    let steps: Vec<Value> = journey.steps.iter().map(step).collect();
    json!({
        "is_ladder": journey.is_ladder,
        "steps": steps,
        "remarks": journey.remarks,
        "speed_of_light": light,
    })
}

fn step(step: &StepResult) -> Value {
    let row = step.row.as_ref();
    json!({
        "title": step.title,
        "setup": row.map(|row| row.setup_spec.clone()),
        "batch": step.case.point.batch(),
        "point": step.case.point,
        "median_ms": row.and_then(|row| Some(row.latency_ns.as_ref()?.median / 1e6)),
        "throughput_per_s": row.and_then(|row| row.throughput_per_s),
        "trouble": step.why_not_measured,
        "rank": step.rank.as_ref().map(Statement::candidates),
        "over_before": step.vs_previous.as_ref().map(pair),
        "over_start": step.vs_baseline.as_ref().map(pair),
        "preparation_ms": step.cost.preparation_ns.map(|ns| ns / 1e6),
        "pays_after_runs": step.cost.break_even_runs,
        "memory_bytes": step.cost.memory.map(|need| need.bytes),
        "accuracy": step.accuracy,
    })
}
