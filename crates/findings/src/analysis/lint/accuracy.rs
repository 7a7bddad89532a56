//! Impossible or implausible accuracies.

use super::{Check, Finding, plain};
use powerband_core::domain::claim::{Figure, Metric, Published};

/// Accuracies against what an accuracy can be.
pub(crate) const CHECK: Check = Check {
    id: "accuracy",
    title: "Accuracy",
    sentence: "An accuracy is below 100 %, and the first of five guesses is right no more often than one of the five.",
    find,
};

fn find(published: &Published) -> Vec<Finding> {
    let figures: Vec<Figure> = published
        .placed()
        .into_iter()
        .map(|placed| placed.figure)
        .filter(|figure| figure.metric == Metric::Accuracy)
        .collect();
    let mut found: Vec<Finding> = figures.iter().filter_map(too_much).collect();
    found.extend(faultless(&figures));
    let of = |note: &'static str| figures.iter().filter(move |figure| figure.note == note);
    for one in of("top-1") {
        found.extend(of("top-5").filter_map(|five| turned(one, five)));
    }
    found
}

fn too_much(figure: &Figure) -> Option<Finding> {
    (plain(figure)?.low > 1.0).then(|| {
        Finding::contradiction(name(figure))
            .claimed(figure.words())
            .follows("no accuracy exceeds 100 %")
            .sum(format!("{} > 100 %", figure.words()))
    })
}

/// Accuracies of 100 %, all in one finding.
fn faultless(figures: &[Figure]) -> Option<Finding> {
    let is_whole = |figure: &&Figure| {
        let bounds = plain(figure);
        bounds.is_some_and(|bounds| bounds.low <= 1.0 && bounds.high > 1.0)
    };
    let whole: Vec<String> = figures
        .iter()
        .filter(is_whole)
        .map(|figure| format!("{} {}", name(figure), figure.words()))
        .collect();
    (!whole.is_empty()).then(|| {
        Finding::doubt("without a fault")
            .claimed(whole.join(", "))
            .follows("a network without errors was most likely compared with itself, or with too few inputs")
            .sum("100 % − 100 % = 0 %, no input that could show a loss")
    })
}

fn turned(one: &Figure, five: &Figure) -> Option<Finding> {
    let is_one = one.subject == five.subject && one.batch == five.batch;
    (is_one && plain(one)?.low > plain(five)?.high).then(|| {
        Finding::contradiction(name(one))
            .claimed(format!("top-1 {}, top-5 {}", one.words(), five.words()))
            .follows("top-5 includes top-1")
            .sum(format!("{} > {}", one.words(), five.words()))
    })
}

fn name(figure: &Figure) -> String {
    let words = [figure.subject.as_str(), figure.note.as_str(), "accuracy"];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(" ")
}
