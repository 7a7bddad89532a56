//! What the hardware counted as rows of a table, for the window, the command line and reports.

use super::category::has_all;
use super::kernel_name::KernelName;
use powerband_core::base::humanize;
use powerband_core::domain::profile::Counter;

/// Digits of what was counted.
const DIGITS: usize = 4;

/// What the columns are called.
pub const TITLES: [&str; 5] = ["Kernel", "Counter", "Launches", "Sum", "A launch"];

/// A row: the kernel in short, the counter, launches, their sum, and what a launch adds to it.
pub fn cells(counter: &Counter) -> [String; 5] {
    let number = |value: f64| {
        let digits = humanize::significant(value, DIGITS);
        format!("{digits} {}", counter.unit).trim_end().to_owned()
    };
    [
        KernelName::of(&counter.kernel).short(),
        counter.name.clone(),
        humanize::count(counter.launches),
        number(counter.sum),
        number(counter.a_launch()),
    ]
}

/// Whether a counter or its kernel has every word somewhere in its name.
pub fn has(counter: &Counter, words: &str) -> bool {
    has_all(&format!("{} {}", counter.kernel, counter.name), words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_unit() {
        let counter = Counter {
            kernel: "void f<int>(float*)".to_owned(),
            name: "L2CacheHit".to_owned(),
            unit: "%".to_owned(),
            launches: 2,
            sum: 151.5,
        };
        assert_eq!(
            cells(&counter)[1..],
            ["L2CacheHit", "2", "151.5 %", "75.75 %"]
        );
        assert!(has(&counter, "cache*") || has(&counter, "L2CacheHit"));
        assert!(!has(&counter, "waves"));
        let plain = Counter {
            unit: String::new(),
            ..counter
        };
        assert_eq!(cells(&plain)[3], "151.5");
    }
}
