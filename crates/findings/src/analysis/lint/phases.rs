//! Phases that do not add up to the step that they are the phases of.

use super::{LintCheck, LintFinding};
use powerband_core::base::humanize;
use powerband_core::domain::claim::{ClaimedPhases, Published, with_unit};
use powerband_core::domain::written::WrittenBounds;

/// The sum of the phases against the whole.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "phases",
    title: "Phases",
    sentence: "The phases of a step add up to the step.",
    find,
};

fn find(published: &Published) -> Vec<LintFinding> {
    published.phases.iter().filter_map(finding).collect()
}

fn finding(phases: &ClaimedPhases) -> Option<LintFinding> {
    let sum = WrittenBounds::sum(phases.parts.iter().map(|part| part.value.bounds()));
    if phases.parts.is_empty() || sum.meets(phases.total.bounds()) {
        return None;
    }
    let sum: f64 = phases.parts.iter().map(|part| part.value.value()).sum();
    let rest = phases.total.value() - sum;
    let unit = &phases.unit;
    let parts: Vec<String> = phases
        .parts
        .iter()
        .map(|part| part.value.to_string())
        .collect();
    let named: Vec<String> = phases
        .parts
        .iter()
        .map(|part| format!("{} {}", part.name, part.value))
        .collect();
    let share = humanize::significant(100.0 * rest.abs() / phases.total.value(), 2);
    let amount = humanize::significant(rest.abs(), 2);
    let (finding, words) = if rest > 0.0 {
        (
            LintFinding::doubt(phases.of.as_str()),
            format!(
                "{amount} {unit}, {share} % of it, are not accounted for, and rounding does not explain them"
            ),
        )
    } else {
        (
            LintFinding::contradiction(phases.of.as_str()),
            format!("the phases take {amount} {unit} more than the whole, {share} %"),
        )
    };
    Some(
        finding
            .claimed(format!(
                "{}: {}",
                with_unit(&phases.total, unit),
                named.join(", ")
            ))
            .follows(words)
            .sum(format!(
                "{} − ({}) = {}{amount} {unit}",
                phases.total,
                parts.join(" + "),
                if rest < 0.0 { "−" } else { "" },
            )),
    )
}
