//! Which counters fit a filter.

use super::category::has_all_words;
use powerband_core::domain::profile::Counter;

/// Whether a counter or its kernel has every word somewhere in its name.
pub fn matches_text(counter: &Counter, words: &str) -> bool {
    has_all_words(&format!("{} {}", counter.kernel, counter.name), words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_both_names() {
        let counter = Counter {
            kernel: "void f<int>(float*)".to_owned(),
            name: "L2CacheHit".to_owned(),
            unit: "%".to_owned(),
            launches: 2,
            sum: 151.5,
        };
        assert!(matches_text(&counter, "cache*") || matches_text(&counter, "L2CacheHit"));
        assert!(!matches_text(&counter, "waves"));
    }
}
