//! Which counters fit a filter.

use super::category::has_all;
use powerband_core::domain::profile::Counter;

/// Whether a counter or its kernel has every word somewhere in its name.
pub fn has(counter: &Counter, words: &str) -> bool {
    has_all(&format!("{} {}", counter.kernel, counter.name), words)
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
        assert!(has(&counter, "cache*") || has(&counter, "L2CacheHit"));
        assert!(!has(&counter, "waves"));
    }
}
