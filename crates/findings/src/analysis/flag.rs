//! A flag: a warning about a case.

/// Severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlagSeverity {
    /// Worth knowing.
    Amber,
    /// The case's numbers are not reliable.
    Red,
}

/// How far a flag's rule is exceeded.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleExcess {
    /// Grows with it, so that the worst of several cases is found.
    pub size: f64,
    /// With its unit: `25.9 %`.
    pub text: String,
}

impl RuleExcess {
    /// A share of one.
    pub fn share(size: f64) -> Self {
        Self {
            size,
            text: format!("{:.1} %", size * 100.0),
        }
    }
}

/// A warning about a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Flag {
    /// Its name, the same everywhere.
    pub name: &'static str,
    /// Severity.
    pub weight: FlagSeverity,
    /// Evidence.
    pub evidence: String,
    /// Advice.
    pub advice: String,
    /// How far its rule is exceeded, where that is one number.
    pub excess: Option<RuleExcess>,
}

impl Flag {
    /// The same with how far its rule is exceeded.
    #[must_use]
    pub fn with_excess(mut self, extent: RuleExcess) -> Self {
        self.excess = Some(extent);
        self
    }

    /// What was seen and what to do about it, in sentences.
    pub fn full_text(&self) -> String {
        let (name, evidence, advice) = (self.name, &self.evidence, &self.advice);
        format!("{name}: {evidence}. What to do: {advice}.")
    }
}
