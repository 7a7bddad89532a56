//! Progress of reading a file, and cancelling it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::ImportError;
use powerband_core::base::cancel::CancelToken;

/// Progress of reading, and its cancellation.
#[derive(Debug, Default)]
pub struct ReadProgress<'a> {
    /// Raised to cancel the reading.
    pub cancel: CancelToken,
    /// Where the bytes that were read are counted; of the file itself, not of what it unpacks to.
    pub progress: Option<&'a AtomicU64>,
}

impl ReadProgress<'_> {
    /// Tells how far reading came, and asks whether it should go on.
    pub fn tick(&self, bytes: u64) -> Result<(), ImportError> {
        if let Some(progress) = self.progress {
            progress.store(bytes, Ordering::Relaxed);
        }
        if self.cancel.is_cancelled() {
            return Err(ImportError::Cancelled);
        }
        Ok(())
    }
}
