//! Break-even: when faster runs have made up for a longer set-up.

use super::case_pair::CasePair;
use super::case_rows::CaseRow;
use super::verdict::Call;
use powerband_core::domain::case::{CaseKey, CaseStart};
use powerband_core::domain::session::Session;

/// Loading and compiling the model, preparing the case and its first run, in nanoseconds.
pub(super) fn preparation_ns(session: &Session, case: CaseKey) -> Option<f64> {
    let report = session.reports.get(case.setup)?.as_ref()?;
    let opening = session.case(case)?.opening.as_ref()?;
    Some(CaseStart::of_first(report, opening).set_up_ns() as f64)
}

/// Runs after which faster runs have made up for a longer set-up; nothing where it takes no longer, or
/// where the runs are not significantly faster.
pub(super) fn pays_after(pair: &CasePair, before_ns: f64, after_ns: f64) -> Option<f64> {
    if pair.verdict.call != Call::Faster || pair.is_per_item() || after_ns <= before_ns {
        return None;
    }
    let median = |row: &CaseRow| row.latency_ns.as_ref().map(|times| times.median);
    let saved_ns = median(&pair.before)? - median(&pair.after)?;
    (saved_ns > 0.0).then(|| ((after_ns - before_ns) / saved_ns).ceil())
}
