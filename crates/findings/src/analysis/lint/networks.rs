//! A number of parameters that is that of the same network for another data set.

use super::{LintCheck, LintFinding, base_bounds};
use powerband_core::base::humanize;
use powerband_core::domain::claim::{ClaimMetric, ClaimedFigure, Published};
use powerband_core::domain::networks::BUILT_IN;
use powerband_core::domain::written::WrittenBounds;

/// What is stated of a network for a data set, against the built-in one for it.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "networks",
    title: "Parameters of a network",
    sentence: "A network for small pictures has fewer parameters than the one for ImageNet.",
    find,
};

fn find(published: &Published) -> Vec<LintFinding> {
    let placed = published.placed_figures();
    placed
        .iter()
        .filter_map(|placed| finding(&placed.figure))
        .collect()
}

/// Its letters and digits: `resnet18` of `ResNet-18`.
fn plain_name(name: &str) -> String {
    let kept = name.chars().filter(char::is_ascii_alphanumeric);
    kept.collect::<String>().to_lowercase()
}

fn finding(figure: &ClaimedFigure) -> Option<LintFinding> {
    if figure.metric != ClaimMetric::Parameters || figure.value.is_range() {
        return None;
    }
    let network = plain_name(&figure.subject);
    let (own, other) = match plain_name(&figure.note).as_str() {
        "cifar" | "cifar10" => (format!("{network}@cifar"), network),
        "imagenet" | "imagenet1k" => (network.clone(), format!("{network}@cifar")),
        // Without its data set it may be either.
        _ => return None,
    };
    let count = |name: &str| Some(BUILT_IN.get(name)?.parameters);
    let (own_count, other_count) = (count(&own)?, count(&other)?);
    let stated = base_bounds(figure)?;
    let may_be = |count: u64| stated.meets(WrittenBounds::exactly(count as f64));
    // Variants of a network have counts of their own, so only a count of the other data set is a finding.
    if may_be(own_count) || !may_be(other_count) {
        return None;
    }
    let (own_words, other_words) = (humanize::count(own_count), humanize::count(other_count));
    Some(
        LintFinding::contradiction(format!("{}, parameters, {}", figure.subject, figure.note))
            .claimed(format!("{} parameters", figure.value_text()))
            .follows(format!(
                "{own} has {own_words}; {} is the count of {other}, {other_words}",
                figure.value_text()
            ))
            .sum(format!("{} ≠ {own_words}", figure.value_text())),
    )
}
