//! Experiments on a case: what limits it, what was tried, what was not, and what the model says beside.

use super::document::Block;
use crate::analysis::limits::Limits;
use crate::analysis::limits::bound::Basis;
use crate::analysis::limits::experiments::{self, ExperimentAnswer};
use crate::tables::{self, view::TableView};
use powerband_core::base::humanize;
use powerband_core::domain::session::Session;

/// Findings of the model that are shown.
const FINDINGS: usize = 4;

/// The case, its experiments, and what the model says of it where it was profiled.
pub fn of_case(
    session: &Session,
    answer: &ExperimentAnswer,
    model: Option<&Limits>,
) -> Vec<Vec<Block>> {
    let median = answer.median_ns.map_or_else(
        || "not measured".to_owned(),
        |ns| format!("{} a run", humanize::duration_ns(ns)),
    );
    let head = format!(
        "{}, {}, {}: {median}",
        session.model_of(answer.case.setup).name,
        answer.label,
        answer.case.point
    );
    let mut sections = vec![vec![Block::paragraph(head)]];
    sections.extend(conclusion_and_costs(answer));
    sections.extend(model.map(by_model));
    sections
}

/// The conclusion, the table, and what was not tried.
pub(super) fn conclusion_and_costs(answer: &ExperimentAnswer) -> Vec<Vec<Block>> {
    let conclusion = match &answer.conclusion {
        Ok(found) => vec![
            Block::paragraph(&found.sentence),
            Block::paragraph(format!("By experiment; the rule: {}.", found.rule)),
        ],
        Err(reason) => vec![Block::paragraph(format!(
            "Not settled by experiment: {reason}."
        ))],
    };
    let view = TableView::new(tables::experiments::of_answer(answer));
    let view = view.columns(&tables::experiments::ON_TERMINAL);
    let failures = answer.rows.iter();
    let failures =
        failures.filter_map(|row| Some(format!("{}: {}", row.change, row.trouble.as_ref()?)));
    let costs = [view.to_block()].into_iter().chain(Block::list(failures));
    let untried = answer.untried.iter();
    let untried = untried.map(|one| format!("{}: {}", one.change, one.reason));
    let untried = Block::titled_list("Not tried", untried);
    vec![conclusion, costs.collect(), untried]
}

/// What the model says beside the experiments.
fn by_model(limits: &Limits) -> Vec<Block> {
    let disagreement = experiments::disagreement(&limits.findings);
    let findings = limits.findings.iter();
    let findings = findings.filter(|finding| finding.basis == Basis::Model);
    let findings = findings.take(FINDINGS).map(|finding| finding.full_text());
    let said = disagreement.into_iter().chain(findings);
    Block::titled_list("By the model", said.chain(limits.abstained.iter().cloned()))
}
