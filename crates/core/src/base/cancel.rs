//! A flag that one thread raises and another looks at between steps.
//!
//! Raised by Ctrl-C (`cli`) or by a button; read by `runner` while it waits for a worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A cheap, shareable "please stop" that never goes back to "go on".
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    own: Arc<AtomicBool>,
    /// What stops the whole stops this part of it too.
    above: Option<Arc<Self>>,
}

impl CancelToken {
    /// Asks all holders of a copy to stop.
    pub fn cancel(&self) {
        self.own.store(true, Ordering::Relaxed);
    }

    /// Whether this, or the whole that it is a part of, is to stop.
    pub fn is_cancelled(&self) -> bool {
        self.own.load(Ordering::Relaxed)
            || self
                .above
                .as_ref()
                .is_some_and(|above| above.is_cancelled())
    }

    /// A token for one part of the work: raised with this one, or alone.
    pub fn part(&self) -> Self {
        Self {
            own: Arc::default(),
            above: Some(Arc::new(self.clone())),
        }
    }

    /// The bare flag, for a signal handler that can do nothing but set it.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_one_flag() {
        let token = CancelToken::default();
        let copy = token.clone();
        assert!(!copy.is_cancelled());
        token.cancel();
        assert!(copy.is_cancelled());
    }

    #[test]
    fn a_part_stops_alone_or_with_the_whole() {
        let whole = CancelToken::default();
        let (first, second) = (whole.part(), whole.part());
        first.cancel();
        assert!(first.is_cancelled() && !second.is_cancelled() && !whole.is_cancelled());
        whole.cancel();
        assert!(second.is_cancelled());
    }
}
