//! How often the window paints during a run: seldom enough to use at most a hundredth of the time of the
//! measured processor.
//!
//! With a GPU a frame is cheap; without one it takes tens of milliseconds of all cores. The cost of a
//! frame is taken from frames that follow each other at once, because the process does nothing else in
//! between.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// It never paints more often than this during a run,
const SHORTEST: Duration = Duration::from_millis(250);
/// and never more seldom.
const LONGEST: Duration = Duration::from_millis(1_500);
/// Frames may take one part in this many of the time.
const SHARE: u64 = 100;
/// Frames that follow upon each other faster than this.
const AT_ONCE: Duration = Duration::from_millis(120);
/// Frames whose cost is remembered.
const KEPT: usize = 15;

/// The time between two frames, read by requests for the next one.
#[derive(Clone, Debug)]
pub(super) struct Pace(Arc<AtomicU64>);

impl Pace {
    pub(super) fn get(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(SHORTEST.as_nanos() as u64)))
    }
}

/// Processor time of recent frames, from which the repaint interval follows.
#[derive(Debug, Default)]
pub(crate) struct RepaintThrottle {
    pace: Pace,
    /// When the last frame began: on the clock, and in time of the processor.
    last: Option<(u64, u64)>,
    costs: VecDeque<u64>,
}

impl RepaintThrottle {
    /// Of the pace that another thread reads.
    pub(super) fn new(pace: Pace) -> Self {
        Self {
            pace,
            ..Self::default()
        }
    }

    /// A frame begins: the time, and that of the processor that the process has used, in nanoseconds.
    pub(super) fn frame(&mut self, now_ns: u64, used_ns: u64) {
        let Some((then, before)) = self.last.replace((now_ns, used_ns)) else {
            return;
        };
        if now_ns.saturating_sub(then) > AT_ONCE.as_nanos() as u64 {
            return;
        }
        if self.costs.len() == KEPT {
            self.costs.pop_front();
        }
        self.costs.push_back(used_ns.saturating_sub(before));
        let mut sorted: Vec<u64> = self.costs.iter().copied().collect();
        sorted.sort_unstable();
        let cost = Duration::from_nanos(sorted[sorted.len() / 2].saturating_mul(SHARE));
        let pace = cost.clamp(SHORTEST, LONGEST);
        self.pace.0.store(pace.as_nanos() as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// The pace after frames that began this long after each other and took so much.
    fn pace(frames: &[(u64, u64)]) -> Duration {
        let pace = Pace::default();
        let mut calm = RepaintThrottle::new(pace.clone());
        let (mut now, mut used) = (0, 0);
        calm.frame(now, used);
        for (after, cost) in frames {
            now += after * MS;
            used += cost * MS;
            calm.frame(now, used);
        }
        pace.get()
    }

    #[test]
    fn a_frame_takes_a_hundredth_of_the_time() {
        assert_eq!(pace(&[]), SHORTEST);
        assert_eq!(pace(&[(16, 1), (16, 1)]), SHORTEST, "a card draws");
        assert_eq!(
            pace(&[(16, 8), (16, 8), (16, 8)]),
            Duration::from_millis(800)
        );
        assert_eq!(pace(&[(60, 70), (60, 70)]), LONGEST);
    }

    #[test]
    fn what_others_do_between_frames_is_not_the_frames() {
        // A second in which files were read is no frame.
        assert_eq!(pace(&[(1_000, 900), (16, 2), (16, 2)]), SHORTEST);
        // One that was slow for a reason of its own does not count.
        assert_eq!(pace(&[(16, 2), (16, 2), (100, 90), (16, 2)]), SHORTEST);
        // What was long ago is forgotten.
        let mut frames = vec![(16, 12); 20];
        frames.extend(vec![(16, 1); 20]);
        assert_eq!(pace(&frames), SHORTEST);
    }
}
