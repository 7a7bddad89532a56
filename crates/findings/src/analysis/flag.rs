//! A flag: a warning about a case.

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Worth knowing.
    Amber,
    /// The case's numbers are not reliable.
    Red,
}

/// How far a flag's rule is exceeded.
#[derive(Clone, Debug, PartialEq)]
pub struct Extent {
    /// Grows with it, so that the worst of several cases is found.
    pub size: f64,
    /// With its unit: `25.9 %`.
    pub text: String,
}

impl Extent {
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
    /// How much it matters.
    pub weight: Weight,
    /// What was seen.
    pub evidence: String,
    /// What to do about it.
    pub advice: String,
    /// How far its rule is exceeded, where that is one number.
    pub extent: Option<Extent>,
}

impl Flag {
    /// The same with how far its rule is exceeded.
    #[must_use]
    pub fn to_extent(mut self, extent: Extent) -> Self {
        self.extent = Some(extent);
        self
    }

    /// What was seen and what to do about it, in sentences.
    pub fn words(&self) -> String {
        let (name, evidence, advice) = (self.name, &self.evidence, &self.advice);
        format!("{name}: {evidence}. What to do: {advice}.")
    }
}
