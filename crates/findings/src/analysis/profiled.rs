//! A profile in a sentence.

use super::breakdown::{self, BreakdownLevel};
use super::category::Rules;
use powerband_core::base::humanize;
use powerband_core::domain::profile::Profile;
use powerband_core::domain::trace::SliceKind;

/// The same with whose profile it is.
pub fn named_profile_text(profile: &Profile) -> String {
    format!("{}: {}", profile.name, profile_text(profile))
}

/// What ran, for how long, and what took longest: kernels where there are any, else operators.
pub fn profile_text(profile: &Profile) -> String {
    let (kind, word) = match profile.of_kind(SliceKind::Kernel).next() {
        Some(_) => (SliceKind::Kernel, "kernel"),
        None => (SliceKind::Operator, "operator"),
    };
    if profile.of_kind(kind).next().is_none() {
        return if profile.counters.is_empty() {
            "profiled: no kernels or operators recorded".to_owned()
        } else {
            "profiled: hardware counters, without times".to_owned()
        };
    }
    let summed = profile.summed_ns(kind);
    let calls = profile.of_kind(kind).map(|total| total.calls).sum();
    let found = breakdown::profile_breakdown(profile, &Rules::default(), BreakdownLevel::Kernel);
    let longest = found.rows.first().map_or_else(String::new, |row| {
        let name = humanize::shorten(&row.name, 60);
        format!("; {name} takes {}", humanize::percent(row.share))
    });
    format!(
        "profiled: {} in {}{longest}",
        humanize::pluralised(calls, &format!("{word} call")),
        humanize::duration_ns(summed as f64),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::profile::Total;

    #[test]
    fn the_longest_is_named() {
        let total = |name: &str, total_ns| Total {
            work: None,
            kind: SliceKind::Kernel,
            name: name.to_owned(),
            op: String::new(),
            place: String::new(),
            calls: 2,
            total_ns,
            min_ns: None,
            max_ns: None,
        };
        let profile = Profile {
            totals: vec![total("conv", 3_000_000), total("gemm", 1_000_000)],
            ..Profile::default()
        };
        assert_eq!(
            profile_text(&profile),
            "profiled: 4 kernel calls in 4.00 ms; conv takes 75.0 %"
        );
        assert!(profile_text(&Profile::default()).contains("no kernels or operators"));
    }
}
