//! The outliers of a case: how many, how far off, and when they came. They stay in every number.

use powerband_core::base::humanize;
use powerband_core::domain::case::Case;
use powerband_core::stats::outliers::{Outliers, Severity};

/// The definition of outliers.
pub const EXPLAINED: &str = "Mild: beyond 1.5 interquartile ranges from the quartiles; severe: beyond 3 (Tukey, 1977). By z-score: further than 3.5 from the median, in units of the median absolute deviation (Iglewicz & Hoaglin, 1993). They are counted and shown, never removed.";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaseOutliers {
    /// Beyond 1.5 interquartile ranges, not beyond 3.
    pub mild: u64,
    /// Beyond 3.
    pub severe: u64,
    /// With a modified z-score beyond 3.5.
    pub by_z_score: u64,
    /// When each severe one began, in nanoseconds since the run began.
    pub severe_at_ns: Vec<u64>,
    /// The same in nanoseconds of measuring: the rounds of the case end to end.
    pub severe_after_ns: Vec<u64>,
}

/// Finds the outliers of a case.
pub fn case_outliers(case: &Case) -> CaseOutliers {
    let values: Vec<f64> = case.samples_ns().map(|ns| ns as f64).collect();
    let outliers = Outliers::classify(&values);
    let begins = begins_ns(case);
    let severe = outliers.tukey.iter();
    let severe = severe.filter(|outlier| outlier.severity == Severity::Severe);
    let severe: Vec<(u64, u64)> = severe
        .filter_map(|outlier| begins.get(outlier.index).copied())
        .collect();
    CaseOutliers {
        mild: outliers.n_mild(),
        severe: outliers.n_severe(),
        by_z_score: outliers.by_z_score,
        severe_at_ns: severe.iter().map(|(at, _)| *at).collect(),
        severe_after_ns: severe.iter().map(|(_, after)| *after).collect(),
    }
}

/// About when each sample began, in the run and of the measuring: the samples of a round follow one another.
fn begins_ns(case: &Case) -> Vec<(u64, u64)> {
    let mut begins = Vec::with_capacity(case.n_samples() as usize);
    let mut before_ns = 0;
    for round in &case.rounds {
        let mut within_ns = 0;
        for sample in &round.samples_ns {
            begins.push((round.started_ns + within_ns, before_ns + within_ns));
            within_ns += sample;
        }
        before_ns += round.spent_ns;
    }
    begins
}

/// When the first and the last severe outlier came, on the time axis of *Latency over time*.
fn when(severe_after_ns: &[u64]) -> String {
    let first = severe_after_ns.iter().min();
    let Some((first, last)) = first.zip(severe_after_ns.iter().max()) else {
        return String::new();
    };
    let [from, to] = [first, last].map(|ns| humanize::duration_ns(*ns as f64));
    if severe_after_ns.len() == 1 {
        format!("; the severe one after {from} of measuring")
    } else if from == to {
        format!("; the severe ones after about {from} of measuring")
    } else {
        format!("; the first severe one after {from} of measuring, the last after {to}")
    }
}

/// The outliers as text.
pub fn sentence(case: &Case) -> String {
    let found = case_outliers(case);
    if found.mild + found.severe == 0 {
        return format!(
            "No outliers among {} samples.",
            humanize::count(case.n_samples())
        );
    }
    format!(
        "Outliers: {} mild and {} severe of {} samples ({} by z-score){}.",
        humanize::count(found.mild),
        humanize::count(found.severe),
        humanize::count(case.n_samples()),
        humanize::count(found.by_z_score),
        when(&found.severe_after_ns),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{measure, session};
    use powerband_core::domain::case::CaseKey;
    use powerband_core::domain::point::Point;

    #[test]
    fn outliers_come_with_their_time() {
        let mut session = session(&["tract:cpu"], &[1]);
        let calm: Vec<u64> = (0..40).map(|i| 1_000_000 + (i % 7) * 10_000).collect();
        let mut hit = calm.clone();
        hit[10] = 9_000_000;
        measure(&mut session, 0, 1, &[&calm, &hit]);
        let case = session
            .case(CaseKey {
                setup: 0,
                point: Point::of_batch(1),
            })
            .unwrap();
        let found = case_outliers(case);
        assert_eq!((found.mild, found.severe, found.by_z_score), (0, 1, 1));
        // The second round began after a second; ten runs of a millisecond came before.
        let at = found.severe_at_ns[0];
        assert!((1_010_000_000..1_011_000_000).contains(&at), "{at}");
        let words = sentence(case);
        assert!(words.contains("0 mild and 1 severe of 80"), "{words}");
        // The first round took 40 runs of about a millisecond.
        let after = found.severe_after_ns[0];
        assert!((50_000_000..53_000_000).contains(&after), "{after}");
        let told = format!(
            "; the severe one after {} of measuring.",
            humanize::duration_ns(after as f64)
        );
        assert!(words.ends_with(&told), "{words}");
    }

    #[test]
    fn of_several_the_first_and_the_last_are_told() {
        assert_eq!(when(&[]), "");
        assert_eq!(
            when(&[3_200_000_000, 170_000_000, 180_000_000]),
            "; the first severe one after 170 ms of measuring, the last after 3.20 s"
        );
        assert_eq!(
            when(&[170_000_000, 170_000_001]),
            "; the severe ones after about 170 ms of measuring"
        );
    }

    #[test]
    fn a_calm_case_has_none() {
        let mut session = session(&["tract:cpu"], &[1]);
        measure(&mut session, 0, 1, &[&[5; 9], &[5; 9]]);
        let case = session
            .case(CaseKey {
                setup: 0,
                point: Point::of_batch(1),
            })
            .unwrap();
        assert_eq!(sentence(case), "No outliers among 18 samples.");
    }
}
