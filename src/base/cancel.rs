//! A flag that one side raises and the other looks at between steps.
//!
//! Raised by Ctrl-C (`cli`), later by a button; read by `runner` while it waits for a worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A cheap, shareable "please stop" that never goes back to "go on".
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Asks everyone who holds a copy to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The bare flag, for a signal handler that can do nothing but set it.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
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
}
