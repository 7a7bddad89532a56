//! Optimisation steps: what each one gained, and what it cost.

use super::document::{Block, ReportText};
use super::material::ReportedSession;
use super::{numbers, pairs};
use crate::analysis::accuracy;
use crate::analysis::journey::{self, Journey, StepResult};
use crate::analysis::limits::speed_of_light;
use crate::tables::{self, view::TableView};
use powerband_core::base::humanize;
use powerband_core::domain::point::Point;

/// So many steps are shown.
const MOST_STEPS: usize = 40;
/// Most remarks.
const MOST_REMARKS: usize = 12;

/// The optimisation steps of a session: its ladder, or its setups at the smallest point that most of them have.
pub fn journey_of_report(source: &ReportedSession<'_>) -> Journey {
    let points = &source.session.plan.points;
    let measured_at = |point: Point| source.measured().filter(|row| row.point == point).count();
    let most = points.iter().map(|point| measured_at(*point)).max();
    let point = points
        .iter()
        .find(|point| Some(measured_at(**point)) == most)
        .copied();
    let point = point.unwrap_or_else(|| source.session.plan.first_point());
    let setups = source.session.plan.setups.len();
    if source.session.plan.ladder.is_empty() && setups > MOST_STEPS {
        let mut few = source.session.clone().into_owned();
        few.plan.setups.truncate(MOST_STEPS);
        let mut journey = journey::compare_steps(&few, &source.rows, point);
        let more = humanize::pluralised((setups - MOST_STEPS) as u64, "setup");
        let told = format!("{more} left out here; {}", source.full_table_hint());
        journey.remarks.insert(0, told);
        return journey;
    }
    journey::compare_steps(&source.session, &source.rows, point)
}

/// What a section about them is called.
pub(crate) fn title(journey: &Journey) -> &'static str {
    if journey.is_ladder {
        "Optimisation steps"
    } else {
        "Setup by setup"
    }
}

/// Whether there is a second step.
pub(crate) fn has_steps(journey: &Journey) -> bool {
    journey
        .steps
        .iter()
        .filter(|step| step.row.is_some())
        .count()
        > 1
}

/// The figures of optimisation steps: two steps need one.
pub fn figures(journey: &Journey) -> &'static [&'static str] {
    if !has_steps(journey) || journey.steps.len() >= MOST_STEPS {
        &[]
    } else if journey.is_ladder && journey.steps.len() > 2 {
        &["journey", "journey-start"]
    } else {
        &["journey-start"]
    }
}

/// The table of steps, then what to know about them.
pub fn blocks(source: &ReportedSession<'_>, journey: &Journey) -> Vec<Block> {
    if journey.steps.len() < 2 {
        return Vec::new();
    }
    let view =
        TableView::new(tables::steps::of_journey(journey)).columns(&tables::steps::IN_REPORT);
    let table = view
        .to_document(MOST_STEPS, "step", &source.full_table_hint())
        .without_empty_columns();
    let mut blocks = vec![Block::Table(table), pairs::over_rounds()];
    blocks.extend(remarks(journey));
    blocks.extend(speed_of_light(source, journey));
    blocks
}

/// The least that the network can take here for each step, where any is known.
fn speed_of_light(source: &ReportedSession<'_>, journey: &Journey) -> Vec<Block> {
    let session = &source.session;
    let rows = speed_of_light::light_rows_of_cases(session, &source.rows, journey, &session.roofs);
    if rows.iter().all(|row| row.floor_ns.is_none()) {
        return Vec::new();
    }
    let view = TableView::new(tables::speed_of_light::of_rows(&rows));
    let table = view
        .to_document(MOST_STEPS, "step", &source.full_table_hint())
        .without_empty_columns();
    let reasons = rows.iter().filter_map(|row| {
        let reason = row.reason.as_ref()?;
        Some(with_full_stop(&format!("{}: {reason}", row.title)))
    });
    let head = "The speed of light: the least time of an item on this machine, by the network's operations and weights against measured roofs.";
    let mut blocks = vec![Block::paragraph(head), Block::Table(table)];
    blocks.extend(Block::list(reasons.take(MOST_REMARKS)));
    blocks
}

/// What to know about the steps.
fn remarks(journey: &Journey) -> Option<Block> {
    let remarks = journey.remarks.iter();
    let mut told: Vec<String> = remarks.map(|remark| with_full_stop(remark)).collect();
    let more = told.len().saturating_sub(MOST_REMARKS);
    told.truncate(MOST_REMARKS);
    if more > 0 {
        let more = humanize::pluralised(more as u64, "more remark");
        told.push(format!("{more} like these."));
    }
    Block::list(told)
}

/// A sentence with its full stop.
pub fn with_full_stop(sentence: &str) -> String {
    if sentence.ends_with(['.', '!', '?']) {
        return sentence.to_owned();
    }
    format!("{sentence}.")
}

/// The steps of a case study: a heading and a few lines for each.
pub fn step_blocks(
    source: &ReportedSession<'_>,
    journey: &Journey,
    first_number: usize,
) -> Vec<Block> {
    let mut blocks = Vec::new();
    let steps = journey.steps.iter().skip(1).take(MOST_STEPS);
    for (step, number) in steps.zip(first_number..) {
        let heading = if journey.is_ladder {
            format!("Step {number}: {}", step.title)
        } else {
            step.title.clone()
        };
        blocks.push(Block::Heading(3, heading));
        let spec = source.session.setup_spec(step.case.setup);
        let point = step.case.point;
        let others = point.others();
        let others = others.map(|(name, size)| format!(" --sweep {name}={size}"));
        let code = format!("--setup {spec} --batch {}", point.batch());
        blocks.push(Block::Code("", code + &others.collect::<String>()));
        blocks.push(Block::List(results(step)));
    }
    let more = journey.steps.len().saturating_sub(MOST_STEPS + 1);
    if more > 0 {
        let more = humanize::pluralised(more as u64, "step");
        blocks.push(Block::paragraph(format!(
            "{more} left out here; {}.",
            source.full_table_hint()
        )));
    }
    blocks.extend(remarks(journey));
    blocks.extend(speed_of_light(source, journey));
    blocks
}

fn results(step: &StepResult) -> Vec<ReportText> {
    let Some(row) = &step.row else {
        let trouble = step
            .why_not_measured
            .as_deref()
            .unwrap_or("it was not measured");
        return vec![format!("Not measured: {}", with_full_stop(trouble)).into()];
    };
    let mut told = Vec::new();
    if let Some(median) = numbers::median_with_uncertainty(row) {
        let rate = numbers::rate(row).map_or_else(String::new, |rate| format!(", {rate} items/s"));
        told.push(
            ReportText::from("Latency: ")
                .strong(median)
                .text(format!(" at {}{rate}", row.point)),
        );
    }
    let gains = [
        ("vs. previous", &step.vs_previous),
        ("vs. baseline", &step.vs_baseline),
    ];
    for (name, pair) in gains {
        let Some(pair) = pair else {
            continue;
        };
        let gain = numbers::gain(pair).unwrap_or_else(|| {
            let reason = pair.verdict.reason.clone();
            format!("not known: {}", reason.unwrap_or_default())
        });
        told.push(format!("{name}: {gain}").into());
    }
    told.extend(costs(step).map(ReportText::from));
    if let Some(found) = &step.accuracy {
        told.push(format!("Accuracy: {}", accuracy::in_short(found)).into());
    }
    told
}

fn costs(step: &StepResult) -> impl Iterator<Item = String> {
    let cost = &step.cost;
    let break_even = cost.break_even_runs.map_or_else(String::new, |runs| {
        let runs = humanize::pluralised(runs as u64, "run");
        format!(", break-even after {runs}")
    });
    let ready = cost
        .preparation_ns
        .map(|ns| format!("Set-up time: {}{break_even}", humanize::duration_ns(ns)));
    let memory = cost
        .memory
        .map(|need| format!("Memory: {}", humanize::bytes(need.bytes as u64)));
    ready.into_iter().chain(memory)
}
