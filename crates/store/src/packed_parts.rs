//! A packed file whose parts are made and packed by several threads: from texts by number to one gzip stream, as any
//! tool unpacks it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use flate2::{Compress, Compression, Crc, FlushCompress};

/// What a gzip stream begins with: no name, no time, packed fast, on any system.
const BEGINNING: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff];
/// An empty block that is the last one.
const LAST_BLOCK: [u8; 2] = [3, 0];
/// Most threads that make parts.
const MOST_WORKERS: usize = 4;
/// Room that is made for packed bytes at once.
const ROOM: usize = 64 << 10;

/// Writes parts that are made by number.
pub(super) fn pack_parts<W: Write>(
    mut out: W,
    parts: usize,
    make: impl Fn(usize) -> String + Sync,
) -> io::Result<W> {
    out.write_all(&BEGINNING)?;
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let mut sum = Crc::new();
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(MOST_WORKERS);
        for _ in 0..workers.min(MOST_WORKERS) {
            let (sender, next, make) = (sender.clone(), &next, &make);
            let work = move || {
                loop {
                    let part = next.fetch_add(1, Ordering::Relaxed);
                    // The receiver is gone where writing failed.
                    if part >= parts || sender.send((part, pack(&make(part)))).is_err() {
                        return;
                    }
                }
            };
            thread::Builder::new()
                .name("pack".to_owned())
                .spawn_scoped(scope, work)?;
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut written = 0;
        for (part, packed) in receiver {
            waiting.insert(part, packed);
            while let Some(packed) = waiting.remove(&written) {
                let (bytes, part_sum) = packed?;
                out.write_all(&bytes)?;
                sum.combine(&part_sum);
                written += 1;
            }
        }
        Ok::<(), io::Error>(())
    })?;
    out.write_all(&LAST_BLOCK)?;
    out.write_all(&sum.sum().to_le_bytes())?;
    out.write_all(&sum.amount().to_le_bytes())?;
    Ok(out)
}

/// Packs a part so that another one can follow.
fn pack(text: &str) -> io::Result<(Vec<u8>, Crc)> {
    let mut sum = Crc::new();
    sum.update(text.as_bytes());
    let mut packer = Compress::new(Compression::fast(), false);
    let mut bytes = Vec::new();
    loop {
        let rest = text.as_bytes().get(packer.total_in() as usize..);
        bytes.reserve(ROOM);
        packer.compress_vec(rest.unwrap_or_default(), &mut bytes, FlushCompress::Sync)?;
        // Where there is room left, nothing waits for more.
        if bytes.len() < bytes.capacity() {
            return Ok((bytes, sum));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn parts_are_unpacked_in_their_order_as_one_stream() {
        let text = |part: usize| format!("{part};").repeat(part % 7 * 30_000);
        for parts in [0, 1, 40] {
            let packed = pack_parts(Vec::new(), parts, text).unwrap();
            let mut unpacked = String::new();
            let mut stream = flate2::bufread::GzDecoder::new(packed.as_slice());
            stream.read_to_string(&mut unpacked).unwrap();
            assert!(stream.into_inner().is_empty());
            assert_eq!(unpacked, (0..parts).map(text).collect::<String>());
        }
    }

    #[test]
    fn a_full_disk_ends_it() {
        let mut room = [0_u8; 100];
        let text = |part: usize| format!("{part};").repeat(1000);
        assert!(pack_parts(room.as_mut_slice(), 40, text).is_err());
    }
}
