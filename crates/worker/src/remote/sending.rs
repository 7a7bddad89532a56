//! Sends a file to another machine over the connection that is open: compressed, whole or not at all.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use super::link::{Link, finished_or_not};
use super::{RemoteError, UploadProgress};
use crate::process;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::humanize;
use powerband_core::domain::event::UploadKind;
use powerband_planning::transport::script::{last_line, quoted};

/// Sending may take long, but not for ever.
const SEND_LIMIT: Duration = Duration::from_hours(2);

/// A file that is to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UploadArchive<'a> {
    /// The file here.
    pub file: &'a Path,
    /// Its folder over there, which is made where it is not there.
    pub folder: &'a str,
    /// Its name there.
    pub name: &'a str,
    /// Whether it can be started.
    pub is_program: bool,
    /// What it is.
    pub what: UploadKind,
}

/// Sends it; `told` hears how far it is.
pub(crate) fn send(
    link: &Link,
    parcel: &UploadArchive<'_>,
    cancel: &CancelToken,
    told: &mut dyn FnMut(UploadProgress),
) -> Result<(), RemoteError> {
    let unreadable = |error: io::Error| {
        RemoteError::Unfit(format!("{} cannot be read: {error}", parcel.file.display()))
    };
    let mut file = File::open(parcel.file).map_err(unreadable)?;
    let total_bytes = file.metadata().map_err(unreadable)?.len();
    let done = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&done);
    let progress = |done_bytes| UploadProgress {
        what: parcel.what,
        done_bytes,
        total_bytes,
    };
    told(progress(0));
    let spec = link.command(&taking(parcel, total_bytes));
    let finished = process::run_fed(
        &spec,
        SEND_LIMIT,
        cancel,
        move |stdin| {
            let mut packed = GzEncoder::new(stdin, Compression::fast());
            let mut chunk = vec![0; 256 << 10];
            loop {
                let read = file.read(&mut chunk)?;
                if read == 0 {
                    break;
                }
                packed.write_all(&chunk[..read])?;
                counted.fetch_add(read as u64, Ordering::Relaxed);
            }
            packed.finish()?.flush()
        },
        &mut || told(progress(done.load(Ordering::Relaxed))),
    );
    let finished = finished_or_not(finished, cancel)?;
    if finished.stdout.lines().any(|line| line == "whole") {
        told(progress(total_bytes));
        return Ok(());
    }
    let reason = last_line(&finished.stderr);
    let what = parcel.what;
    if finished.stderr.contains("No space left") || finished.stderr.contains("quota") {
        let size = humanize::bytes(total_bytes);
        let UploadArchive { folder, .. } = parcel;
        return Err(RemoteError::Unfit(format!(
            "there is no space for {what} in {folder} over there, which needs {size} ({reason}); powerband machines clean {} removes what was sent before",
            link.machine.name
        )));
    }
    if finished.stdout.is_empty() && finished.how.contains("255") {
        return Err(link.lost(&finished.stderr));
    }
    Err(RemoteError::Unfit(format!(
        "{what} did not arrive whole in {} over there: {reason}",
        parcel.folder
    )))
}

/// The line of shell that takes a file in: under another name until all of it is there.
fn taking(parcel: &UploadArchive<'_>, bytes: u64) -> String {
    let folder = quoted(parcel.folder);
    let name = quoted(parcel.name);
    let mode = if parcel.is_program { 700 } else { 600 };
    format!(
        "umask 077; mkdir -p {folder} && cd {folder} || exit 1; p={name}.$$.part; \
         gzip -dc > \"$p\" && [ \"$(wc -c < \"$p\")\" -eq {bytes} ] && chmod {mode} \"$p\" && mv \"$p\" {name} && echo whole; \
         rm -f \"$p\""
    )
}

/// SHA-256 of a file, in hexadecimal.
pub fn sha256(file: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut file = File::open(file)?;
    let mut chunk = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        hasher.update(&chunk[..read]);
    }
    let digest = hasher.finalize();
    let bytes: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(bytes.concat())
}
