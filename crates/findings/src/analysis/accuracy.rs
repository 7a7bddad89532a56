//! The accuracy of a setup against the reference, as text.

use std::collections::BTreeSet;

use powerband_core::base::humanize;
use powerband_core::domain::accuracy::{Accuracy, HitCount};

/// In a line: `cosine 0.99998 at worst, same choice for 64 of 64`; or why it is not known.
pub fn in_short(accuracy: &Accuracy) -> String {
    let mut parts = Vec::new();
    if let Some(distance) = &accuracy.distance {
        parts.push(format!("cosine {} at worst", cosine(distance.worst_cosine)));
        parts.push(format!(
            "largest error {}",
            humanize::value(distance.max_error)
        ));
    }
    let hits = |name: &str, hits: HitCount| format!("{name} {} of {}", hits.hits, hits.of);
    parts.extend(
        accuracy
            .same_choice
            .map(|found| hits("same choice for", found)),
    );
    parts.extend(accuracy.top1.map(|found| hits("top-1 right for", found)));
    parts.extend(accuracy.top5.map(|found| hits("top-5 right for", found)));
    let no_choice = accuracy.no_choice.as_ref();
    parts.extend(no_choice.map(|why| format!("same choice not known: {why}")));
    parts.extend(accuracy.trouble.clone());
    parts.join(", ")
}

/// Why columns of shares have a dash, each reason once.
pub fn not_told<'a>(accuracies: impl Iterator<Item = &'a Accuracy>) -> Vec<String> {
    let reasons: BTreeSet<&str> = accuracies
        .filter_map(|found| found.no_choice.as_deref())
        .collect();
    let sentence = |reason| format!("Same choice, top-1 and top-5 are not known: {reason}");
    reasons.into_iter().map(sentence).collect()
}

/// A cosine nearer to 1 than this is 1 up to the rounding of 32-bit floats.
const ROUNDING: f64 = 5e-10;

/// Whether a cosine differs from 1 by rounding alone.
pub fn is_one(cosine: f64) -> bool {
    1.0 - cosine <= ROUNDING
}

/// A cosine with enough digits to show its distance from 1: `0.99998`, `0.97`.
pub fn cosine(cosine: f64) -> String {
    if is_one(cosine) {
        return "1".to_owned();
    }
    let distance = 1.0 - cosine;
    // Two digits of the distance, rounded down, so that what is not 1 never reads as 1.
    let digits = (1.0 - distance.abs().log10().floor()).clamp(2.0, 9.0);
    let scale = 10_f64.powf(digits);
    format!(
        "{:.*}",
        digits as usize,
        // What is a whole number but for the last bit of a float stays it.
        (cosine * scale + 1e-6).floor() / scale
    )
}

/// A share of hits: `98.4 %`.
pub fn percent(hits: HitCount) -> Option<String> {
    let share = hits.share()? * 100.0;
    Some(if hits.hits == hits.of {
        "100 %".to_owned()
    } else {
        format!("{share:.1} %")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::accuracy::OutputDistance;

    #[test]
    fn a_cosine_that_is_not_one_does_not_read_as_one() {
        assert_eq!(cosine(1.0), "1");
        assert_eq!(cosine(0.999_999_6), "0.99999960");
        assert_eq!(cosine(0.999_78), "0.99978");
        assert_eq!(cosine(0.97), "0.970");
        assert_eq!(cosine(-0.5), "-0.50");
    }

    #[test]
    fn a_line_has_what_is_known() {
        let accuracy = Accuracy {
            distance: Some(OutputDistance {
                max_error: 0.0123,
                worst_cosine: 0.999_78,
                ..OutputDistance::default()
            }),
            same_choice: Some(HitCount { hits: 63, of: 64 }),
            ..Accuracy::default()
        };
        assert_eq!(
            in_short(&accuracy),
            "cosine 0.99978 at worst, largest error 0.0123, same choice for 63 of 64"
        );
        let lost = Accuracy {
            trouble: Some("it does not run".to_owned()),
            ..Accuracy::default()
        };
        assert_eq!(in_short(&lost), "it does not run");
        let map = Accuracy {
            no_choice: Some("the output is a map".to_owned()),
            ..Accuracy::default()
        };
        assert_eq!(in_short(&map), "same choice not known: the output is a map");
        assert_eq!(
            percent(HitCount { hits: 63, of: 64 }).as_deref(),
            Some("98.4 %")
        );
        assert_eq!(percent(HitCount { hits: 0, of: 0 }), None);
    }
}
