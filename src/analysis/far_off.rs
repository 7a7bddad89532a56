//! Samples of a case that are far from the others: how many, how far, and when they came. They stay in
//! every number.

use crate::base::humanize;
use crate::domain::case::Case;
use crate::stats::outliers::{Outliers, Severity};

/// What is behind the words, in a sentence or two.
pub const EXPLAINED: &str = "Mild: beyond 1.5 interquartile ranges from the quartiles; severe: beyond 3 (Tukey, 1977). By z-score: further than 3.5 from the median, in units of the median absolute deviation (Iglewicz & Hoaglin, 1993). They are counted and shown, never removed.";

/// So many times are written out.
const TIMES: usize = 4;

/// A case's samples that are far from the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FarOff {
    /// Beyond 1.5 interquartile ranges, not beyond 3.
    pub mild: u64,
    /// Beyond 3.
    pub severe: u64,
    /// With a modified z-score beyond 3.5.
    pub by_z_score: u64,
    /// When each severe one began, in nanoseconds since the run began.
    pub severe_at_ns: Vec<u64>,
}

/// Looks for them.
pub fn of(case: &Case) -> FarOff {
    let values: Vec<f64> = case.samples_ns().map(|ns| ns as f64).collect();
    let outliers = Outliers::of(&values);
    let begins = begins_ns(case);
    let severe = outliers.tukey.iter();
    let severe = severe.filter(|outlier| outlier.severity == Severity::Severe);
    FarOff {
        mild: outliers.n_mild(),
        severe: outliers.n_severe(),
        by_z_score: outliers.by_z_score,
        severe_at_ns: severe
            .filter_map(|outlier| begins.get(outlier.index).copied())
            .collect(),
    }
}

/// About when each sample began: the samples of a round follow one another.
fn begins_ns(case: &Case) -> Vec<u64> {
    let mut begins = Vec::with_capacity(case.n_samples() as usize);
    for round in &case.rounds {
        let mut at = round.started_ns;
        for sample in &round.samples_ns {
            begins.push(at);
            at += sample;
        }
    }
    begins
}

/// The same in words.
pub fn sentence(case: &Case) -> String {
    let found = of(case);
    if found.mild + found.severe == 0 {
        return format!(
            "No outliers among {} samples.",
            humanize::count(case.n_samples())
        );
    }
    let mut times: Vec<String> = found
        .severe_at_ns
        .iter()
        .take(TIMES)
        .map(|&at| humanize::stopwatch(at as f64 / 1e9))
        .collect();
    if found.severe_at_ns.len() > TIMES {
        times.push("…".to_owned());
    }
    let when = if times.is_empty() {
        String::new()
    } else {
        format!(", severe ones {} into the run", times.join(", "))
    };
    format!(
        "Outliers: {} mild and {} severe of {} samples ({} by z-score){when}.",
        humanize::count(found.mild),
        humanize::count(found.severe),
        humanize::count(case.n_samples()),
        humanize::count(found.by_z_score),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{measure, session};
    use crate::domain::case::CaseKey;

    #[test]
    fn outliers_come_with_their_time() {
        let mut session = session(&["tract:cpu"], &[1]);
        let calm: Vec<u64> = (0..40).map(|i| 1_000_000 + (i % 7) * 10_000).collect();
        let mut hit = calm.clone();
        hit[10] = 9_000_000;
        measure(&mut session, 0, 1, &[&calm, &hit]);
        let case = session.case(CaseKey { setup: 0, batch: 1 }).unwrap();
        let found = of(case);
        assert_eq!((found.mild, found.severe, found.by_z_score), (0, 1, 1));
        // The second round began after a second; ten runs of a millisecond came before.
        let at = found.severe_at_ns[0];
        assert!((1_010_000_000..1_011_000_000).contains(&at), "{at}");
        let words = sentence(case);
        assert!(words.contains("0 mild and 1 severe of 80"), "{words}");
    }

    #[test]
    fn a_calm_case_has_none() {
        let mut session = session(&["tract:cpu"], &[1]);
        measure(&mut session, 0, 1, &[&[5; 9], &[5; 9]]);
        let case = session.case(CaseKey { setup: 0, batch: 1 }).unwrap();
        assert_eq!(sentence(case), "No outliers among 18 samples.");
    }
}
