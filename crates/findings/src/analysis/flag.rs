//! A flag: a warning about a case.

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Worth knowing.
    Amber,
    /// The case's numbers are not reliable.
    Red,
}

/// A warning about a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Its name, the same everywhere.
    pub name: &'static str,
    /// How much it matters.
    pub weight: Weight,
    /// What was seen.
    pub evidence: String,
    /// What to do about it.
    pub advice: String,
}

impl Flag {
    /// What was seen and what to do about it, in sentences.
    pub fn words(&self) -> String {
        let (name, evidence, advice) = (self.name, &self.evidence, &self.advice);
        format!("{name}: {evidence}. What to do: {advice}.")
    }
}
