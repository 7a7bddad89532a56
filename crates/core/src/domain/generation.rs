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
