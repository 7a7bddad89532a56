//! What experiments say, as text on a terminal and as a document.

use powerband_core::base::humanize;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::limits::experiments::Answer;
use powerband_findings::export::experiments as documents;
use powerband_findings::tables::{self, view::View};
use serde_json::Value;

/// The conclusion first, then what was tried, what was not, and what the model says.
pub(super) fn text(session: &Session, answer: &Answer) -> String {
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
    text.push_str(&experiments(answer));
    text
}

/// The conclusion, the table, and what was not tried.
pub(super) fn experiments(answer: &Answer) -> String {
    let mut text = match &answer.conclusion {
        Ok(found) => format!(
            "{}\nBy experiment; the rule: {}.\n",
            found.sentence, found.rule
        ),
        Err(reason) => format!("No conclusion by experiment: {reason}.\n"),
    };
    if !answer.rows.is_empty() {
        text.push('\n');
        let view = View::new(tables::experiments::of_answer(answer));
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
pub(super) fn document(_session: &Session, answer: &Answer) -> Value {
    documents::document(answer)
}
