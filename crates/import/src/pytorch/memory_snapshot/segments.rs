//! Segments of a device as the allocator of PyTorch had them: what is reserved, used, and free between blocks.

use crate::Imported;
use crate::pytorch::memory_snapshot::{MemoryAction, MemoryRecord};
use powerband_core::base::humanize;

/// All segments of a device.
#[derive(Debug, Default)]
pub(super) struct DeviceSegments {
    /// Blocks in use: address, bytes asked for, and the number of the stack's name.
    pub(super) in_use: Vec<(i64, i64, u32)>,
    n_segments: u64,
    reserved: i64,
    /// What blocks in use take, with what sizes are rounded up by.
    taken: i64,
    /// What was asked for.
    requested: i64,
    free: i64,
    /// The part of it in segments that have a block in use, so that they cannot be given back to the device.
    free_beside_used: i64,
    largest_free: i64,
}

impl DeviceSegments {
    /// Adds a segment, whose numbers go by their keys.
    pub(super) fn add(
        &mut self,
        number: impl Fn(&str) -> Option<i64>,
        blocks: impl Iterator<Item = MemoryRecord>,
    ) {
        let number = |key: &str| number(key).unwrap_or_default().max(0);
        self.n_segments += 1;
        self.reserved = self.reserved.saturating_add(number("total_size"));
        let mut address = number("address");
        let (mut free, mut is_used) = (0_i64, false);
        for block in blocks {
            // Older snapshots have no addresses of blocks, which lie one behind the other.
            if block.address >= 0 {
                address = block.address;
            }
            if block.action == MemoryAction::Active {
                is_used = true;
                let requested = block.time_or_requested.unwrap_or(block.size).max(0);
                self.taken = self.taken.saturating_add(block.size);
                self.requested = self.requested.saturating_add(requested);
                self.in_use.push((address, requested, block.stack));
            } else {
                free = free.saturating_add(block.size);
                self.largest_free = self.largest_free.max(block.size);
            }
            address = address.saturating_add(block.size);
        }
        self.free = self.free.saturating_add(free);
        if is_used {
            self.free_beside_used = self.free_beside_used.saturating_add(free);
        }
    }

    /// Reports them, and how much more was reserved at most.
    pub(super) fn facts(&self, device: &str, reserved_beyond_end: i64, into: &mut Imported) {
        if self.n_segments == 0 {
            return;
        }
        let bytes = |value: i64| humanize::bytes(value.unsigned_abs());
        let most = self.reserved.saturating_add(reserved_beyond_end.max(0));
        let most = match reserved_beyond_end {
            1.. => format!(", {} at most", bytes(most)),
            _ => String::new(),
        };
        into.fact(
            &format!("{device} reserved at the end"),
            format!(
                "{} in {}{most}",
                bytes(self.reserved),
                humanize::pluralised(self.n_segments, "segment")
            ),
        );
        into.fact(
            &format!("{device} in use at the end"),
            format!(
                "{}, and {} that sizes were rounded up by",
                bytes(self.requested),
                bytes(self.taken.saturating_sub(self.requested).max(0))
            ),
        );
        let share = self.free as f64 / self.reserved.max(1) as f64;
        into.fact(
            &format!("{device} free in segments"),
            format!(
                "{}, {} of what is reserved; {} of it in segments in use, which are fragmented; largest free block {}",
                bytes(self.free),
                humanize::percent(share),
                bytes(self.free_beside_used),
                bytes(self.largest_free)
            ),
        );
    }
}
