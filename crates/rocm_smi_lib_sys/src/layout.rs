//! Lists of clocks as the library answers them, whichever version it is.
//!
//! Up to ROCm 5 the list is `{ u32 num_supported; u32 current; u64 frequency[32]; }`. ROCm 6 put a
//! `bool has_deep_sleep` before it and made it one longer. The version that the library reports does
//! not say which one it is: Debian's builds number themselves 1.0 throughout. The content does: an answer
//! that fits one layout never fits the other.

use crate::header::{MAX_CLOCKS, Status, UNEXPECTED_DATA, rsmi_frequencies};

/// The slowest clock that there is, in hertz.
const SLOWEST_HZ: u64 = 1_000_000;

/// Room for an answer in any layout. The old library writes all the clocks that the driver lists, even
/// where these are more than its own type holds, so there is room for many more.
#[repr(C, align(8))]
pub struct ClockAnswer([u8; Self::SIZE]);

impl ClockAnswer {
    const SIZE: usize = 2048;

    /// Room in which nothing was written yet.
    pub fn new() -> Self {
        Self([0; Self::SIZE])
    }

    fn u32_at(&self, offset: usize) -> u32 {
        u32::from_ne_bytes(self.bytes_at(offset))
    }

    fn u64_at(&self, offset: usize) -> u64 {
        u64::from_ne_bytes(self.bytes_at(offset))
    }

    fn bytes_at<const N: usize>(&self, offset: usize) -> [u8; N] {
        std::array::from_fn(|index| self.0[offset + index])
    }

    /// The list of clocks in it.
    pub fn frequencies(&self) -> Result<rsmi_frequencies, Status> {
        let layout = Layout::detect(self).ok_or(UNEXPECTED_DATA)?;
        let mut list = rsmi_frequencies {
            has_deep_sleep: layout.has_deep_sleep && self.0[0] != 0,
            num_supported: self.u32_at(layout.count),
            current: self.u32_at(layout.count + 4),
            frequency: [0; MAX_CLOCKS],
        };
        for (index, clock) in list.frequency.iter_mut().take(layout.most).enumerate() {
            *clock = self.u64_at(layout.clocks + 8 * index);
        }
        Ok(list)
    }
}

/// Where things are in an answer.
struct Layout {
    /// Whether the first byte says that the card can sleep.
    has_deep_sleep: bool,
    /// The number of clocks; which one is the current follows it.
    count: usize,
    clocks: usize,
    most: usize,
}

const OLD: Layout = Layout {
    has_deep_sleep: false,
    count: 0,
    clocks: 8,
    most: 32,
};

const NEW: Layout = Layout {
    has_deep_sleep: true,
    count: 4,
    clocks: 16,
    most: MAX_CLOCKS,
};

impl Layout {
    /// The layout of an answer that makes sense. In the current layout the first number is 0 or 1, which
    /// the old one takes for "no clocks" or "one clock, and the current is not the first".
    fn detect(answer: &ClockAnswer) -> Option<&'static Self> {
        if OLD.fits(answer) && answer.u64_at(OLD.clocks) >= SLOWEST_HZ {
            return Some(&OLD);
        }
        (answer.0[0] <= 1 && NEW.fits(answer)).then_some(&NEW)
    }

    /// Whether there are no more clocks than it holds, and the current one is among them.
    fn fits(&self, answer: &ClockAnswer) -> bool {
        let count = answer.u32_at(self.count);
        count as usize <= self.most && answer.u32_at(self.count + 4) < count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer whose first numbers are given, followed by clocks of 100 MHz, 200 MHz and so on.
    fn answer(numbers: &[u32], layout: &Layout) -> ClockAnswer {
        let mut answer = ClockAnswer::new();
        for (index, number) in numbers.iter().enumerate() {
            answer.0[4 * index..4 * index + 4].copy_from_slice(&number.to_ne_bytes());
        }
        for index in 0..layout.most {
            let clock = 100_000_000 * (index as u64 + 1);
            let at = layout.clocks + 8 * index;
            answer.0[at..at + 8].copy_from_slice(&clock.to_ne_bytes());
        }
        answer
    }

    #[test]
    fn both_layouts_are_understood() {
        for current in 0..3 {
            let old = answer(&[3, current], &OLD).frequencies().unwrap();
            let new = answer(&[0, 3, current], &NEW).frequencies().unwrap();
            for list in [&old, &new] {
                assert_eq!((list.num_supported, list.current), (3, current));
                assert_eq!(list.frequency[..2], [100_000_000, 200_000_000]);
                assert!(!list.has_deep_sleep);
            }
        }
        let asleep = answer(&[1, 33, 0], &NEW).frequencies().unwrap();
        assert!(asleep.has_deep_sleep);
        assert_eq!(asleep.num_supported, 33);
        assert_eq!(asleep.frequency[32], 3_300_000_000);
    }

    #[test]
    fn a_single_clock_is_read_in_both_layouts() {
        let old = answer(&[1, 0], &OLD).frequencies().unwrap();
        assert_eq!((old.num_supported, old.current), (1, 0));
        assert_eq!(old.frequency[0], 100_000_000);
        let new = answer(&[1, 1, 0], &NEW).frequencies().unwrap();
        assert_eq!(
            (new.has_deep_sleep, new.num_supported, new.current),
            (true, 1, 0)
        );
        assert_eq!(new.frequency[0], 100_000_000);
        let new = answer(&[1, 2, 0], &NEW).frequencies().unwrap();
        assert_eq!((new.num_supported, new.current), (2, 0));
    }

    #[test]
    fn no_answer_has_both_layouts() {
        for count in 1..=32 {
            for current in 0..count {
                assert!(answer(&[0, count, current], &NEW).frequencies().is_ok());
                let old = answer(&[count, current], &OLD);
                assert!(!(old.0[0] <= 1 && NEW.fits(&old)), "{count} {current}");
                for deep_sleep in 0..2 {
                    let new = answer(&[deep_sleep, count, current], &NEW);
                    assert!(!OLD.fits(&new), "{deep_sleep} {count} {current}");
                }
            }
        }
    }

    #[test]
    fn impossible_values_are_an_error() {
        for numbers in [
            [33, 0],
            [3, 3],
            [3, u32::MAX],
            [1, u32::MAX],
            [0, 0],
            [u32::MAX, 0],
        ] {
            let impossible = answer(&numbers, &OLD).frequencies();
            assert_eq!(impossible.err(), Some(UNEXPECTED_DATA), "{numbers:?}");
        }
        for numbers in [
            [0, 34, 0],
            [0, 3, 3],
            [1, 3, u32::MAX],
            [1, 0, 0],
            [0, 0, 0],
        ] {
            let impossible = answer(&numbers, &NEW).frequencies();
            assert_eq!(impossible.err(), Some(UNEXPECTED_DATA), "{numbers:?}");
        }
        assert_eq!(
            ClockAnswer::new().frequencies().err(),
            Some(UNEXPECTED_DATA)
        );
        let mut slow = answer(&[3, 1], &OLD);
        slow.0[8..16].copy_from_slice(&999_999_u64.to_ne_bytes());
        assert_eq!(
            slow.frequencies().err(),
            Some(UNEXPECTED_DATA),
            "no clock is that slow"
        );
    }

    #[test]
    fn the_declarations_have_these_layouts() {
        assert_eq!(size_of::<rsmi_frequencies>(), 280);
        assert_eq!(
            std::mem::offset_of!(rsmi_frequencies, num_supported),
            NEW.count
        );
        assert_eq!(
            std::mem::offset_of!(rsmi_frequencies, frequency),
            NEW.clocks
        );
    }
}
