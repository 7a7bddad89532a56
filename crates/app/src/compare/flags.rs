//! The flags of the cases that are compared.

use powerband_findings::analysis::comparison::CasePair;
use powerband_findings::analysis::flags::FlagSeverity;
use powerband_findings::analysis::remarks;

/// A flag, with how many of the compared cases have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaisedFlag {
    /// Its name.
    pub name: &'static str,
    /// How much it matters where it matters most.
    pub weight: FlagSeverity,
    /// Of how many cases.
    pub cases: usize,
    /// What it means for their numbers.
    pub meaning: &'static str,
    /// What to do about it.
    pub advice: String,
}

/// The flags of both sides' cases.
pub(super) fn raised_flags(pairs: &[CasePair]) -> Vec<RaisedFlag> {
    let rows = pairs.iter().flat_map(|pair| [&pair.before, &pair.after]);
    let flags = remarks::flagged_cases(rows).into_iter();
    let mut raised: Vec<RaisedFlag> = flags
        .map(|flag| RaisedFlag {
            name: flag.name,
            weight: flag.weight,
            cases: flag.cases.len(),
            meaning: flag.meaning(),
            advice: flag.advice.to_owned(),
        })
        .collect();
    raised.sort_by_key(|flag| std::cmp::Reverse(flag.weight));
    raised
}
