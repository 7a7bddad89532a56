//! Impossible or implausible accuracies.

use super::{LintCheck, LintFinding, base_bounds};
use powerband_core::domain::claim::{ClaimMetric, ClaimedFigure, Published};

/// Accuracies against what an accuracy can be.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "accuracy",
    title: "Accuracy",
    sentence: "An accuracy is below 100 %, and the first of five guesses is right no more often than one of the five.",
    find,
};

fn find(published: &Published) -> Vec<LintFinding> {
    let figures: Vec<ClaimedFigure> = published
        .placed_figures()
        .into_iter()
        .map(|placed| placed.figure)
        .filter(|figure| figure.metric == ClaimMetric::Accuracy)
        .collect();
    let mut found: Vec<LintFinding> = figures.iter().filter_map(above_maximum).collect();
    found.extend(faultless(&figures));
    let of = |note: &'static str| figures.iter().filter(move |figure| figure.note == note);
    for one in of("top-1") {
        found.extend(of("top-5").filter_map(|five| top1_above_top5(one, five)));
    }
    found
}

fn above_maximum(figure: &ClaimedFigure) -> Option<LintFinding> {
    (base_bounds(figure)?.low > 1.0).then(|| {
        LintFinding::contradiction(name(figure))
            .claimed(figure.value_text())
            .follows("no accuracy exceeds 100 %")
            .sum(format!("{} > 100 %", figure.value_text()))
    })
}

/// Accuracies of 100 %, all in one finding.
fn faultless(figures: &[ClaimedFigure]) -> Option<LintFinding> {
    let is_whole = |figure: &&ClaimedFigure| {
        let bounds = base_bounds(figure);
        bounds.is_some_and(|bounds| bounds.low <= 1.0 && bounds.high > 1.0)
    };
    let whole: Vec<String> = figures
        .iter()
        .filter(is_whole)
        .map(|figure| format!("{} {}", name(figure), figure.value_text()))
        .collect();
    (!whole.is_empty()).then(|| {
        LintFinding::doubt("without a fault")
            .claimed(whole.join(", "))
            .follows("a network without errors was most likely compared with itself, or with too few inputs")
            .sum("100 % − 100 % = 0 %, no input that could show a loss")
    })
}

fn top1_above_top5(one: &ClaimedFigure, five: &ClaimedFigure) -> Option<LintFinding> {
    let is_one = one.subject == five.subject && one.batch == five.batch;
    (is_one && base_bounds(one)?.low > base_bounds(five)?.high).then(|| {
        LintFinding::contradiction(name(one))
            .claimed(format!(
                "top-1 {}, top-5 {}",
                one.value_text(),
                five.value_text()
            ))
            .follows("top-5 includes top-1")
            .sum(format!("{} > {}", one.value_text(), five.value_text()))
    })
}

fn name(figure: &ClaimedFigure) -> String {
    let words = [figure.subject.as_str(), figure.note.as_str(), "accuracy"];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(" ")
}
