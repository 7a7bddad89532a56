//! What requests to a language model took, apart for the prompt and for the tokens after it.

use serde::{Deserialize, Serialize};

/// The requests of one round, token by token. Each request is a run: its time from the prompt to the last token is
/// a sample of the round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generation {
    /// Tokens of the prompts of one request, all sequences of its batch together; padding is not counted.
    pub prompt_tokens: u64,
    /// Tokens that one request makes, all sequences of its batch together.
    pub new_tokens: u64,
    /// Sequences of one request.
    pub sequences: u64,
    /// From the start of each request to its first token, in nanoseconds.
    #[serde(with = "crate::base::serde_u64_list")]
    pub first_token_ns: Vec<u64>,
    /// From each token to the next, in nanoseconds: of the first request, then of the second, and so on.
    #[serde(with = "crate::base::serde_u64_list")]
    pub later_token_ns: Vec<u64>,
    /// Keys and values that are kept when the last token was made, in bytes, where the engine knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_bytes: Option<u64>,
}

/// Statistics of a time, as a program states them, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatedTimes {
    /// The mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<f64>,
    /// The median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_ns: Option<f64>,
    /// The shortest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_ns: Option<f64>,
    /// The longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<f64>,
    /// The 90th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p90_ns: Option<f64>,
    /// The 95th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_ns: Option<f64>,
    /// The 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<f64>,
}

impl StatedTimes {
    /// The one that stands for all: the median where it is stated, else the mean.
    pub fn typical_ns(&self) -> Option<f64> {
        self.median_ns.or(self.mean_ns)
    }

    /// What of this is stated, by its name.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let all = [
            ("median", self.median_ns),
            ("mean", self.mean_ns),
            ("min", self.min_ns),
            ("p90", self.p90_ns),
            ("p95", self.p95_ns),
            ("p99", self.p99_ns),
            ("max", self.max_ns),
        ];
        all.into_iter().filter_map(|(name, ns)| Some((name, ns?)))
    }

    /// Takes in what is not known yet.
    pub fn fill(&mut self, other: Self) {
        self.mean_ns = self.mean_ns.or(other.mean_ns);
        self.median_ns = self.median_ns.or(other.median_ns);
        self.min_ns = self.min_ns.or(other.min_ns);
        self.max_ns = self.max_ns.or(other.max_ns);
        self.p90_ns = self.p90_ns.or(other.p90_ns);
        self.p95_ns = self.p95_ns.or(other.p95_ns);
        self.p99_ns = self.p99_ns.or(other.p99_ns);
    }
}

/// What a program states of requests to a language model, in the measures that are also made here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatedGeneration {
    /// From the start of a request to its first token.
    #[serde(default)]
    pub first_token: StatedTimes,
    /// A request's time after its first token, over the tokens that came then.
    #[serde(default)]
    pub per_token: StatedTimes,
    /// From one token to the next, each one by itself.
    #[serde(default)]
    pub between_tokens: StatedTimes,
    /// Tokens of a prompt, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<f64>,
    /// Tokens that a request makes, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_tokens: Option<f64>,
    /// Tokens of prompts a second, while prompts are processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefill_tokens_per_s: Option<f64>,
    /// Tokens a second after the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decode_tokens_per_s: Option<f64>,
    /// Tokens that all requests together made, a second of the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens_per_s: Option<f64>,
    /// The same with the tokens of their prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens_per_s: Option<f64>,
    /// Requests that ended, a second of the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_s: Option<f64>,
    /// Requests under way at once, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<f64>,
    /// The most memory that was in use, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<f64>,
    /// Energy of a token, in joules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joules_per_token: Option<f64>,
}

impl StatedGeneration {
    /// The three times, each with its name.
    pub fn times(&self) -> [(&'static str, StatedTimes); 3] {
        [
            ("time to first token", self.first_token),
            ("time per output token", self.per_token),
            ("time between tokens", self.between_tokens),
        ]
    }

    /// Everything else that is stated: its name, the number, and its unit.
    pub fn rates(&self) -> impl Iterator<Item = (&'static str, f64, &'static str)> {
        let all = [
            ("prompt tokens", self.prompt_tokens, ""),
            ("new tokens", self.new_tokens, ""),
            ("prefill tokens/s", self.prefill_tokens_per_s, "tokens/s"),
            ("decode tokens/s", self.decode_tokens_per_s, "tokens/s"),
            ("output tokens/s", self.output_tokens_per_s, "tokens/s"),
            ("total tokens/s", self.total_tokens_per_s, "tokens/s"),
            ("requests/s", self.requests_per_s, "requests/s"),
            ("mean concurrency", self.concurrency, ""),
            ("memory", self.memory_bytes.map(|bytes| bytes / 1e6), "MB"),
            ("energy of a token", self.joules_per_token, "J"),
        ];
        all.into_iter()
            .filter_map(|(name, value, unit)| Some((name, value?, unit)))
    }

    /// Takes in what is not known yet.
    pub fn fill(&mut self, other: Self) {
        self.first_token.fill(other.first_token);
        self.per_token.fill(other.per_token);
        self.between_tokens.fill(other.between_tokens);
        let fields = [
            (&mut self.prompt_tokens, other.prompt_tokens),
            (&mut self.new_tokens, other.new_tokens),
            (&mut self.prefill_tokens_per_s, other.prefill_tokens_per_s),
            (&mut self.decode_tokens_per_s, other.decode_tokens_per_s),
            (&mut self.output_tokens_per_s, other.output_tokens_per_s),
            (&mut self.total_tokens_per_s, other.total_tokens_per_s),
            (&mut self.requests_per_s, other.requests_per_s),
            (&mut self.concurrency, other.concurrency),
            (&mut self.memory_bytes, other.memory_bytes),
            (&mut self.joules_per_token, other.joules_per_token),
        ];
        for (own, of_other) in fields {
            *own = own.or(of_other);
        }
    }

    /// Whether it states nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stated_has_its_name_and_unit() {
        let mut stated = StatedGeneration {
            decode_tokens_per_s: Some(118.9),
            memory_bytes: Some(2e9),
            ..StatedGeneration::default()
        };
        stated.first_token.median_ns = Some(5e7);
        assert_eq!(
            stated.first_token.named().collect::<Vec<_>>(),
            [("median", 5e7)]
        );
        let rates: Vec<_> = stated.rates().collect();
        assert_eq!(
            rates,
            [
                ("decode tokens/s", 118.9, "tokens/s"),
                ("memory", 2000.0, "MB")
            ]
        );
        assert!(!stated.is_empty() && StatedGeneration::default().is_empty());
    }

    #[test]
    fn another_file_of_a_run_adds_what_is_not_known() {
        let mut one = StatedGeneration {
            new_tokens: Some(128.0),
            ..StatedGeneration::default()
        };
        let mut other = StatedGeneration {
            new_tokens: Some(1.0),
            requests_per_s: Some(2.0),
            ..StatedGeneration::default()
        };
        other.per_token.mean_ns = Some(3.0);
        one.fill(other);
        assert_eq!(
            (one.new_tokens, one.requests_per_s),
            (Some(128.0), Some(2.0))
        );
        assert_eq!(one.per_token.typical_ns(), Some(3.0));
    }
}
