//! A request from outside that the program ends, as a signal brings it.
//!
//! Raised by `cli`, which hears the signals; seen by runs as a token, and by the window, which is woken up for it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::cancel::CancelToken;

/// Wakes a thread that does not look by itself.
type Waker = Box<dyn Fn() + Send + Sync>;

/// The request that the program ends, and whether something has to be saved first.
#[derive(Clone, Default)]
pub struct Ending {
    token: CancelToken,
    is_saving: Arc<AtomicBool>,
    waker: Arc<OnceLock<Waker>>,
}

impl Ending {
    /// Asks the program to end.
    pub fn ask(&self) {
        self.token.cancel();
        if let Some(wake) = self.waker.get() {
            wake();
        }
    }

    /// Whether the program was asked to end.
    pub fn is_asked(&self) -> bool {
        self.token.is_cancelled()
    }

    /// What work looks at that is to stop.
    pub fn token(&self) -> CancelToken {
        self.token.clone()
    }

    /// Sets what is called to wake the thread; only the first call counts.
    pub fn wake_with(&self, wake: impl Fn() + Send + Sync + 'static) {
        drop(self.waker.set(Box::new(wake)));
    }

    /// Says whether there is something that ends by itself once it was asked to, and saves what it has.
    pub fn set_saving(&self, is_saving: bool) {
        self.is_saving.store(is_saving, Ordering::Relaxed);
    }

    /// Whether something will end by itself, and save what it has.
    pub fn is_saving(&self) -> bool {
        self.is_saving.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ending")
            .field("is_asked", &self.is_asked())
            .field("is_saving", &self.is_saving())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_wakes_and_cancels() {
        let ending = Ending::default();
        let woken = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&woken);
        ending.wake_with(move || seen.store(true, Ordering::Relaxed));
        ending.set_saving(true);
        let copy = ending.clone();
        assert!(!copy.is_asked() && copy.is_saving());
        copy.ask();
        assert!(ending.token().is_cancelled() && woken.load(Ordering::Relaxed));
    }
}
