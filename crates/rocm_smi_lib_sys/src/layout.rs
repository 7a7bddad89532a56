//! Lists of clocks as the library answers them, whichever version it is.
//!
//! Up to ROCm 5 the list is `{ u32 num_supported; u32 current; u64 frequency[32]; }`. ROCm 6 put a
//! `bool has_deep_sleep` before it and made it one longer. The version that the library reports does
//! not tell which one it is: Debian's builds number themselves 1.0 throughout. The content does: what
//! can be read as the one can never be read as the other.

use std::ptr;

use crate::bindings::{
    RSMI_MAX_NUM_FREQUENCIES, rsmi_frequencies_t, rsmi_pcie_bandwidth_t, rsmi_status_t,
    rsmi_status_t_RSMI_STATUS_UNEXPECTED_DATA,
};

/// The most clocks in the current layout.
const MOST: usize = RSMI_MAX_NUM_FREQUENCIES as usize;

/// The same in the old one.
const MOST_OLD: usize = 32;

/// The slowest clock that there is, in hertz.
const SLOWEST_HZ: u64 = 1_000_000;

/// Room for an answer in any layout. The old library writes all the clocks that the driver lists, even
/// where these are more than its own type holds, so there is room for many more.
#[repr(C, align(8))]
pub struct Answer([u8; Self::SIZE]);

impl Answer {
    const SIZE: usize = 2048;

    /// Room in which nothing was written yet.
    pub fn new() -> Self {
        Self([0; Self::SIZE])
    }

    /// Where the library may write.
    pub fn as_mut_ptr<T>(&mut self) -> *mut T {
        const { assert!(size_of::<T>() <= Self::SIZE && align_of::<T>() <= 8) };
        ptr::from_mut(self).cast()
    }

    fn u32_at(&self, offset: usize) -> u32 {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&self.0[offset..offset + 4]);
        u32::from_ne_bytes(bytes)
    }

    fn u64_at(&self, offset: usize) -> u64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.0[offset..offset + 8]);
        u64::from_ne_bytes(bytes)
    }

    /// The list of clocks in it.
    pub fn frequencies(&self) -> Result<rsmi_frequencies_t, rsmi_status_t> {
        let layout = Layout::of(self).ok_or(rsmi_status_t_RSMI_STATUS_UNEXPECTED_DATA)?;
        let mut list = rsmi_frequencies_t {
            has_deep_sleep: layout.deep_sleep.is_some_and(|offset| self.0[offset] != 0),
            num_supported: self.u32_at(layout.count),
            current: self.u32_at(layout.count + 4),
            frequency: [0; MOST],
        };
        for (index, clock) in list.frequency.iter_mut().take(layout.most).enumerate() {
            *clock = self.u64_at(layout.clocks + 8 * index);
        }
        Ok(list)
    }

    /// The list of speeds of the bus in it, with the lanes that follow.
    pub fn bandwidth(&self) -> Result<rsmi_pcie_bandwidth_t, rsmi_status_t> {
        let transfer_rate = self.frequencies()?;
        let layout = Layout::of(self).ok_or(rsmi_status_t_RSMI_STATUS_UNEXPECTED_DATA)?;
        let mut lanes = [0; MOST];
        for (index, lanes) in lanes.iter_mut().take(layout.most).enumerate() {
            *lanes = self.u32_at(layout.clocks + 8 * layout.most + 4 * index);
        }
        Ok(rsmi_pcie_bandwidth_t {
            transfer_rate,
            lanes,
        })
    }
}

/// Where things are in an answer.
struct Layout {
    deep_sleep: Option<usize>,
    /// The number of clocks; which one is the current follows it.
    count: usize,
    clocks: usize,
    most: usize,
}

const OLD: Layout = Layout {
    deep_sleep: None,
    count: 0,
    clocks: 8,
    most: MOST_OLD,
};

const NEW: Layout = Layout {
    deep_sleep: Some(0),
    count: 4,
    clocks: 16,
    most: MOST,
};

impl Layout {
    /// The layout of an answer that makes sense. In the current layout the first number is 0 or 1, which
    /// the old one takes for "no clocks" or "one clock, and the current is not the first".
    fn of(answer: &Answer) -> Option<&'static Self> {
        if OLD.fits(answer) && answer.u64_at(OLD.clocks) >= SLOWEST_HZ {
            return Some(&OLD);
        }
        (answer.0[0] <= 1 && NEW.fits(answer)).then_some(&NEW)
    }

    /// Whether there are no more clocks than it holds, and the current one is among them.
    fn fits(&self, answer: &Answer) -> bool {
        let count = answer.u32_at(self.count);
        count as usize <= self.most && answer.u32_at(self.count + 4) < count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNEXPECTED: rsmi_status_t = rsmi_status_t_RSMI_STATUS_UNEXPECTED_DATA;

    /// An answer whose first numbers are given, followed by clocks of 100 MHz, 200 MHz and so on.
    fn answer(numbers: &[u32], layout: &Layout) -> Answer {
        let mut answer = Answer::new();
        for (index, number) in numbers.iter().enumerate() {
            answer.0[4 * index..4 * index + 4].copy_from_slice(&number.to_ne_bytes());
        }
        for index in 0..layout.most {
            let clock = 100_000_000 * (index as u64 + 1);
            let at = layout.clocks + 8 * index;
            answer.0[at..at + 8].copy_from_slice(&clock.to_ne_bytes());
            let at = layout.clocks + 8 * layout.most + 4 * index;
            answer.0[at..at + 4]
                .copy_from_slice(&(u32::try_from(index).unwrap() + 1).to_ne_bytes());
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
    fn a_single_clock_is_told_apart() {
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
            assert_eq!(impossible.err(), Some(UNEXPECTED), "{numbers:?}");
        }
        for numbers in [
            [0, 34, 0],
            [0, 3, 3],
            [1, 3, u32::MAX],
            [1, 0, 0],
            [0, 0, 0],
        ] {
            let impossible = answer(&numbers, &NEW).frequencies();
            assert_eq!(impossible.err(), Some(UNEXPECTED), "{numbers:?}");
        }
        assert_eq!(Answer::new().frequencies().err(), Some(UNEXPECTED));
        assert_eq!(Answer::new().bandwidth().err(), Some(UNEXPECTED));
        let mut slow = answer(&[3, 1], &OLD);
        slow.0[8..16].copy_from_slice(&999_999_u64.to_ne_bytes());
        assert_eq!(
            slow.frequencies().err(),
            Some(UNEXPECTED),
            "no clock is that slow"
        );
    }

    #[test]
    fn lanes_follow_the_clocks() {
        for answer in [answer(&[3, 1], &OLD), answer(&[0, 3, 1], &NEW)] {
            let bus = answer.bandwidth().unwrap();
            assert_eq!(bus.transfer_rate.current, 1);
            assert_eq!(bus.lanes[..3], [1, 2, 3]);
        }
        assert_eq!(answer(&[0, 33, 1], &NEW).bandwidth().unwrap().lanes[32], 33);
    }

    #[test]
    fn the_declarations_have_these_layouts() {
        assert_eq!(size_of::<rsmi_frequencies_t>(), 280);
        assert_eq!(
            std::mem::offset_of!(rsmi_frequencies_t, num_supported),
            NEW.count
        );
        assert_eq!(
            std::mem::offset_of!(rsmi_frequencies_t, frequency),
            NEW.clocks
        );
        assert_eq!(std::mem::offset_of!(rsmi_pcie_bandwidth_t, lanes), 280);
        assert_eq!(size_of::<rsmi_pcie_bandwidth_t>(), 416);
    }
}
