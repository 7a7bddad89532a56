//! How close the outputs of two sides are to the reference.

use super::super::accuracy;
use super::super::side::ComparedSide;
use super::{Better, ComparedMetric, SAME_CHOICE, TOP_1, WORST_COSINE, compared_if, metric};
use powerband_core::domain::accuracy::{Accuracy, HitCount};

/// How close the outputs of both sides are to the reference, where both were compared with the same one.
pub(super) fn accuracy_metrics(
    before: &ComparedSide<'_>,
    after: &ComparedSide<'_>,
) -> Vec<ComparedMetric> {
    let of_side = |side: &ComparedSide<'_>| side.session.accuracies.get(&side.setup).cloned();
    let (Some(first), Some(second)) = (of_side(before), of_side(after)) else {
        return Vec::new();
    };
    let is_alike = (&first.reference, &first.inputs) == (&second.reference, &second.inputs);
    let both = |pick: &dyn Fn(&Accuracy) -> Option<f64>| (pick(&first), pick(&second));
    let share = |hits: Option<HitCount>| hits.and_then(HitCount::share);
    let percent = |share: f64| match share {
        1.0 => "100 %".to_owned(),
        _ => format!("{:.1} %", share * 100.0),
    };
    let cosine = both(&|found| found.distance.map(|distance| distance.worst_cosine));
    let choice = both(&|found| share(found.same_choice));
    let top1 = both(&|found| share(found.top1));
    let metrics = [
        metric(WORST_COSINE, None, Better::Higher, cosine, accuracy::cosine),
        metric(SAME_CHOICE, None, Better::Higher, choice, percent),
        metric(TOP_1, None, Better::Higher, top1, percent),
    ];
    let is_known = |metric: &ComparedMetric| metric.before.is_some() || metric.after.is_some();
    let why = second.trouble.as_ref().or(first.trouble.as_ref());
    let values = [cosine, choice, top1];
    let metrics = metrics
        .into_iter()
        .zip(values)
        .map(|(metric, (before, after))| {
            // What got as bad as it can has a gain too, which is none or below.
            let gain = before
                .zip(after)
                .filter(|(before, after)| *before > 0.0 && after.is_finite());
            ComparedMetric {
                gain: gain.map(|(before, after)| after / before),
                note: why.cloned(),
                ..metric
            }
        });
    let known = metrics.filter(is_known);
    let apart = "compared with another reference, or for other inputs";
    known
        .map(|metric| compared_if(is_alike, metric, apart))
        .collect()
}
