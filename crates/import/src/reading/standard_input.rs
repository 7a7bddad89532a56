//! Standard input as a file: its bytes are looked at to recognise the format and then read from the beginning,
//! so they are kept in a temporary file for as long as that takes.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::ImportError;
use crate::reading::limits::Limits;
use crate::reading::read_progress::ReadProgress;

/// Its name in messages, and as the name of a profile.
pub const NAME: &str = "standard input";
/// Read at once.
const CHUNK: usize = 1 << 20;
/// Chunks that may wait to be written.
const WAITING: usize = 4;
/// Time between two checks for cancelling while it waits for bytes.
const LOOK: Duration = Duration::from_millis(100);

/// Whether a path means standard input: `-`, or what systems call it where that is no regular file.
pub fn is_standard_input(path: &Path) -> bool {
    let names = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
    path == Path::new("-") || names.iter().any(|name| path == Path::new(name)) && !path.is_file()
}

/// Reads all of it into a temporary file.
pub fn keep(limits: Limits, watch: &ReadProgress<'_>) -> Result<NamedTempFile, ImportError> {
    let failed = |source| ImportError::Io {
        path: NAME.into(),
        source,
    };
    let mut file = NamedTempFile::new().map_err(failed)?;
    // A read cannot be broken off, so it is another thread that waits in it.
    let (sender, chunks) = sync_channel(WAITING);
    thread::Builder::new()
        .name("standard-input".to_owned())
        .spawn(move || read_all(&sender))
        .map_err(failed)?;
    let mut bytes = 0;
    while let Some(chunk) = next(&chunks, bytes, watch)? {
        bytes += chunk.len() as u64;
        if bytes > limits.unpacked {
            return Err(ImportError::TooLarge {
                path: NAME.into(),
                how: "holds",
                limit_mb: limits.unpacked / 1_000_000,
            });
        }
        file.write_all(&chunk).map_err(failed)?;
    }
    Ok(file)
}

fn read_all(sender: &SyncSender<io::Result<Vec<u8>>>) {
    let mut input = io::stdin().lock();
    loop {
        let mut chunk = vec![0; CHUNK];
        let read = match input.read(&mut chunk) {
            Ok(0) => return,
            Ok(n) => {
                chunk.truncate(n);
                Ok(chunk)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_over = read.is_err();
        // Without a receiver the rest is not needed.
        if sender.send(read).is_err() || is_over {
            return;
        }
    }
}

/// The next chunk, for as long as it is wanted; nothing at the end.
fn next(
    chunks: &Receiver<io::Result<Vec<u8>>>,
    so_far: u64,
    watch: &ReadProgress<'_>,
) -> Result<Option<Vec<u8>>, ImportError> {
    loop {
        watch.tick(so_far)?;
        match chunks.recv_timeout(LOOK) {
            Ok(Ok(chunk)) => return Ok(Some(chunk)),
            Ok(Err(source)) => {
                return Err(ImportError::Io {
                    path: NAME.into(),
                    source,
                });
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_a_few_names_and_files_keep_theirs() {
        assert!(is_standard_input(Path::new("-")));
        assert!(!is_standard_input(Path::new("./-")) && !is_standard_input(Path::new("/dev/null")));
    }

    #[test]
    fn who_waits_for_bytes_can_be_stopped() {
        let (sender, chunks) = sync_channel(1);
        let watch = ReadProgress::default();
        sender.send(Ok(vec![1, 2])).unwrap();
        assert_eq!(next(&chunks, 0, &watch).unwrap(), Some(vec![1, 2]));
        watch.cancel.cancel();
        assert!(matches!(
            next(&chunks, 2, &watch),
            Err(ImportError::Cancelled)
        ));
        let watch = ReadProgress::default();
        drop(sender);
        assert_eq!(next(&chunks, 2, &watch).unwrap(), None);
    }
}
