//! One thing that is given two values, and ranges that do not hold what is said to be in them.

use super::{LintCheck, LintFinding, LintSeverity, base_bounds};
use powerband_core::domain::claim::{ClaimedExtreme, ClaimedFigure, PlacedFigure, Published};

/// Every figure against all others of the same thing.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "values",
    title: "One thing, one value",
    sentence: "One thing has one value wherever it is stated, and the best and the worst are the ends of the range.",
    find,
};

fn find(published: &Published) -> Vec<LintFinding> {
    let placed = published.placed_figures();
    let mut found = Vec::new();
    for (place, first) in placed.iter().enumerate() {
        for second in &placed[place + 1..] {
            found.extend(two_values(first, second));
        }
        found.extend(
            placed
                .iter()
                .filter_map(|range| outside(&first.figure, &range.figure)),
        );
    }
    found
}

/// What identifies the figure among those of its metric.
fn is_one_thing(first: &ClaimedFigure, second: &ClaimedFigure) -> bool {
    let is_batch_known = first.batch.is_some() && second.batch.is_some();
    let is_one_batch = first.batch == second.batch || !is_batch_known;
    // Speed depends on the batch, so that a figure without one cannot be compared.
    let is_comparable = is_batch_known
        || !first.metric.is_speed()
        || (first.value.is_range() && first.batch == second.batch);
    first.metric == second.metric
        && first.subject == second.subject
        && first.note == second.note
        && first.value.is_range() == second.value.is_range()
        && is_one_batch
        && is_comparable
}

/// Two values of one thing.
fn two_values(first: &PlacedFigure, second: &PlacedFigure) -> Option<LintFinding> {
    let (a, b) = (&first.figure, &second.figure);
    if !is_one_thing(a, b) {
        return None;
    }
    let (pa, pb) = (base_bounds(a)?, base_bounds(b)?);
    // Ranges have two ends, and each has to agree; a range's bounds are half a digit beyond its ends.
    let is_same = if a.value.is_range() {
        let near = |x: f64, y: f64, slack: f64| (x - y).abs() <= slack;
        let slack = |figure: &ClaimedFigure| figure.value.bounds().high - figure.value.high();
        let slack = (slack(a) * a.scale()?).max(slack(b) * b.scale()?);
        near(pa.low, pb.low, 2.0 * slack) && near(pa.high, pb.high, 2.0 * slack)
    } else {
        pa.meets(pb)
    };
    if is_same {
        return None;
    }
    let where_it_stands = |placed: &PlacedFigure| {
        let batch = placed.figure.batch;
        let batch = batch.map_or_else(
            || "no batch size stated".to_owned(),
            |batch| format!("batch {batch}"),
        );
        match (
            placed.figure.metric.is_speed() || placed.figure.batch.is_some(),
            placed.place.is_empty(),
        ) {
            (true, true) => format!(" ({batch})"),
            (true, false) => format!(" ({}, {batch})", placed.place),
            (false, true) => String::new(),
            (false, false) => format!(" ({}, no batch size stated)", placed.place),
        }
    };
    let known = a.batch == b.batch;
    let finding = LintFinding {
        weight: if known {
            LintSeverity::Contradiction
        } else {
            LintSeverity::Doubt
        },
        ..LintFinding::doubt(figure_description(a))
    };
    let words = if known {
        "one thing cannot have both values"
    } else {
        "the two are far apart, and the document does not state what differs between them"
    };
    Some(
        finding
            .claimed(format!(
                "{}{}; {}{}",
                a.value_text(),
                where_it_stands(first),
                b.value_text(),
                where_it_stands(second)
            ))
            .follows(words)
            .sum(format!("{} ≠ {}", a.value_text(), b.value_text())),
    )
}

fn figure_description(figure: &ClaimedFigure) -> String {
    let words = [
        figure.subject.as_str(),
        figure.metric.title(),
        figure.note.as_str(),
    ];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(", ")
}

/// The best or the worst of all, against the range of all.
fn outside(figure: &ClaimedFigure, range: &ClaimedFigure) -> Option<LintFinding> {
    let extreme = figure.extreme?;
    let is_of_all = range.value.is_range()
        && range.subject.is_empty()
        && range.batch.is_none()
        && range.metric == figure.metric
        && (range.note.is_empty() || range.note == figure.note);
    let (own, bounds) = (base_bounds(figure)?, base_bounds(range)?);
    if !is_of_all || figure.value.is_range() {
        return None;
    }
    let better_high = figure.metric.is_better_high()?;
    let at_top = better_high == (extreme == ClaimedExtreme::Best);
    let (end, name) = if at_top {
        (range.value.high(), "up")
    } else {
        (range.value.low(), "down")
    };
    let slack = bounds.high - range.value.high() * range.scale()?;
    let end = end * range.scale()?;
    if own.low <= end + slack && end - slack <= own.high {
        return None;
    }
    let word = if extreme == ClaimedExtreme::Best {
        "best"
    } else {
        "worst"
    };
    Some(
        LintFinding::contradiction(format!("range of {}", figure.metric.title()))
            .claimed(format!(
                "{} in all; {} ({}) is the {word}",
                range.value_text(),
                figure.value_text(),
                super::subject_text(figure),
            ))
            .follows(format!(
                "the range goes {name} beyond the stated {word}, so one of the two is wrong"
            ))
            .sum(format!("{} ≠ {}", range.value_text(), figure.value_text())),
    )
}
