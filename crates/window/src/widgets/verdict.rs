//! A verdict as a word in its colour, with a sign for readers who do not see the colour.

use eframe::egui::{Response, Ui};

use super::label;
use crate::theme;
use powerband_findings::analysis::verdict::{Call, Verdict};

/// Shows it; its grounds are on hover.
pub(crate) fn pill(ui: &mut Ui, verdict: &Verdict) -> Response {
    word(ui, verdict.call).on_hover_text(grounds(verdict))
}

/// The verdict without its reasons, for several comparisons.
pub(crate) fn word(ui: &mut Ui, call: Call) -> Response {
    let roles = theme::roles(ui);
    let (sign, color) = match call {
        Call::Faster => ("▲", roles.good),
        Call::Slower => ("▼", roles.bad),
        Call::Same => ("=", roles.quiet),
        Call::Inconclusive => ("?", roles.unsure),
    };
    label::pill(ui, &format!("{sign} {call}"), color)
}

fn grounds(verdict: &Verdict) -> String {
    let rule = match verdict.call {
        Call::Faster | Call::Slower => "The whole interval lies beyond the noise floor.",
        Call::Same => "The interval lies within the noise floor.",
        Call::Inconclusive => "The measurements do not decide it.",
    };
    let floor = verdict.floor.map_or_else(String::new, |floor| {
        format!(
            " Noise floor ±{:.1} %: 1 %, or the difference between rounds of one setup; 5 % after one start of a worker.",
            floor * 100.0
        )
    });
    match &verdict.reason {
        Some(reason) => format!("{rule}{floor}\n{reason}."),
        None => format!("{rule}{floor}"),
    }
}
