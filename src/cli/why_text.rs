//! What experiments say, as text on a terminal and as a document.

use powerband_core::base::humanize;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::limits::Limits;
use powerband_findings::analysis::limits::bound::Basis;
use powerband_findings::analysis::limits::experiments::{self, ExperimentAnswer};
use powerband_findings::export::{experiments as documents, limits as model_documents};
use powerband_findings::tables::{self, view::TableView};
use serde_json::{Value, json};

/// Findings of the model that are shown.
const FINDINGS: usize = 4;

/// The conclusion first, then what was tried, what was not, and what the model says.
pub(super) fn text(session: &Session, answer: &ExperimentAnswer, model: Option<&Limits>) -> String {
    let median = answer.median_ns.map_or_else(
        || "not measured".to_owned(),
        |ns| format!("{} a run", humanize::duration_ns(ns)),
    );
    let mut text = format!(
        "{}, {}, {}: {median}\n\n",
        session.model_of(answer.case.setup).name,
        answer.label,
        answer.case.point
    );
    text.push_str(&experiments_text(answer));
    text.push_str(&model.map(by_model).unwrap_or_default());
    text
}

/// What the model says beside the experiments.
fn by_model(limits: &Limits) -> String {
    let mut text = "\nBy the model\n".to_owned();
    let disagreement = experiments::disagreement(&limits.findings);
    let findings = limits.findings.iter();
    let findings = findings.filter(|finding| finding.basis == Basis::Model);
    let findings = findings.take(FINDINGS).map(|finding| finding.full_text());
    let said = disagreement.into_iter().chain(findings);
    for sentence in said.chain(limits.abstained.iter().cloned()) {
        text.push_str(&format!("· {sentence}\n"));
    }
    text
}

/// The conclusion, the table, and what was not tried.
pub(super) fn experiments_text(answer: &ExperimentAnswer) -> String {
    let mut text = match &answer.conclusion {
        Ok(found) => format!(
            "{}\nBy experiment; the rule: {}.\n",
            found.sentence, found.rule
        ),
        Err(reason) => format!("Not settled by experiment: {reason}.\n"),
    };
    if !answer.rows.is_empty() {
        text.push('\n');
        let view = TableView::new(tables::experiments::of_answer(answer));
        text.push_str(&view.columns(&tables::experiments::ON_TERMINAL).to_text());
    }
    for row in &answer.rows {
        if let Some(trouble) = &row.trouble {
            text.push_str(&format!("· {}: {trouble}\n", row.change));
        }
    }
    if !answer.untried.is_empty() {
        text.push_str("\nNot tried\n");
        for untried in &answer.untried {
            text.push_str(&format!("· {}: {}\n", untried.change, untried.reason));
        }
    }
    text
}

/// The same as one document.
pub(super) fn document(answer: &ExperimentAnswer, model: Option<&Limits>) -> Value {
    let mut document = documents::document(answer);
    let disagreement = model.and_then(|model| experiments::disagreement(&model.findings));
    document["model"] = json!(model.map(model_documents::document));
    document["disagreement"] = json!(disagreement);
    document
}
