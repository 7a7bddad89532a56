//! What packets of a trace leave to those behind them: texts by number, defaults, and how clocks relate.

use rustc_hash::FxHashMap;

use crate::reading::protobuf::{FieldValue, Fields, field_bytes};
use powerband_core::domain::trace::Names;

/// The clock of a file that names none.
const BOOT_TIME: u64 = 6;
/// Clocks that mean something within their sequence alone.
const OF_SEQUENCE: std::ops::Range<u64> = 64..128;

/// What numbers stand for, by the field that has the texts in `InternedData`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InternedTable {
    Categories,
    EventNames,
    ArgNames,
    ArgTexts,
}

/// The packets of one writer.
#[derive(Debug, Default)]
pub(super) struct PacketSequence {
    /// Nothing is missing that its packets refer to.
    pub is_whole: bool,
    pub clock: Option<u64>,
    pub track: Option<u64>,
    tables: [FxHashMap<u64, u32>; 4],
}

impl PacketSequence {
    /// Takes texts in, each once for all sequences.
    pub(super) fn take_texts(&mut self, message: &[u8], texts: &mut Names) {
        for (field, value) in Fields::new(message) {
            let table = match field {
                1 => InternedTable::Categories,
                2 => InternedTable::EventNames,
                3 => InternedTable::ArgNames,
                29 => InternedTable::ArgTexts,
                _ => continue,
            };
            let number = number_of(value.bytes(), 1);
            let text = FieldValue::Bytes(field_bytes(value.bytes(), 2)).text();
            if let Some(table) = self.tables.get_mut(table as usize) {
                table.insert(number, texts.number(&text));
            }
        }
    }

    /// What a number stands for, as a number of all texts; 0 where it is not known.
    pub(super) fn number(&self, table: InternedTable, number: u64) -> u32 {
        let table = self.tables.get(table as usize);
        let known = table.and_then(|table| table.get(&number));
        known.copied().unwrap_or_default()
    }

    /// The same as text.
    pub(super) fn text<'a>(&self, table: InternedTable, number: u64, texts: &'a Names) -> &'a str {
        texts.get(self.number(table, number))
    }

    /// Takes defaults in.
    pub(super) fn take_defaults(&mut self, message: &[u8]) {
        for (field, value) in Fields::new(message) {
            match field {
                58 => self.clock = Some(value.number()),
                11 => self.track = Some(number_of(value.bytes(), 11)),
                _ => {}
            }
        }
    }
}

/// The number of a field; 0 where there is none.
pub(super) fn number_of(message: &[u8], wanted: u32) -> u64 {
    let found = Fields::new(message).find(|(field, _)| *field == wanted);
    found.map_or(0, |(_, value)| value.number())
}

/// Clocks, by what they add to reach the one that the trace counts by.
#[derive(Debug, Default)]
pub(super) struct TraceClocks {
    /// The one that the trace counts by.
    reference: Option<u64>,
    offsets: FxHashMap<(u64, u64), i64>,
    scales: FxHashMap<(u64, u64), ClockScale>,
    /// Times that were taken as they stand, since nothing says how their clock relates to others.
    pub unrelated: u64,
    pub related: u64,
}

/// How a clock counts.
#[derive(Debug)]
struct ClockScale {
    unit_ns: u64,
    /// Its last value, where each time is counted from the one before.
    last_ns: Option<u64>,
}

/// A clock at the moment of a snapshot.
struct ClockReading {
    key: (u64, u64),
    value_ns: i64,
}

impl TraceClocks {
    /// Takes in what several clocks showed at the same moment.
    pub(super) fn take_snapshot(&mut self, sequence: u64, message: &[u8]) {
        let mut readings = Vec::new();
        let mut primary = None;
        for (field, value) in Fields::new(message) {
            match field {
                1 => readings.push(self.reading(sequence, value.bytes())),
                2 => primary = Some(value.number()),
                _ => {}
            }
        }
        let reference = *self
            .reference
            .get_or_insert_with(|| primary.unwrap_or(BOOT_TIME));
        let same = readings
            .iter()
            .find(|reading| reading.key == (0, reference));
        let now = same.map(|reading| reading.value_ns).or_else(|| {
            readings.iter().find_map(|reading| {
                let offset = self.offsets.get(&reading.key)?;
                Some(reading.value_ns.wrapping_add(*offset))
            })
        });
        for reading in readings {
            if let Some(now) = now {
                let offset = now.wrapping_sub(reading.value_ns);
                self.offsets.insert(reading.key, offset);
            }
        }
    }

    fn reading(&mut self, sequence: u64, message: &[u8]) -> ClockReading {
        let (mut clock, mut value, mut is_incremental, mut unit_ns) = (0, 0, false, 1);
        for (field, number) in Fields::new(message) {
            match field {
                1 => clock = number.number(),
                2 => value = number.number(),
                3 => is_incremental = number.number() != 0,
                4 => unit_ns = number.number().max(1),
                _ => {}
            }
        }
        let key = clock_key(sequence, clock);
        let value_ns = u64::wrapping_mul(value, unit_ns);
        let last_ns = is_incremental.then_some(value_ns);
        if unit_ns > 1 || is_incremental {
            self.scales.insert(key, ClockScale { unit_ns, last_ns });
        }
        ClockReading {
            key,
            value_ns: value_ns as i64,
        }
    }

    /// A time of a packet as the trace counts; nothing where it cannot be known.
    pub(super) fn time_ns(&mut self, sequence: u64, clock: Option<u64>, time: u64) -> Option<i64> {
        let reference = self.reference.unwrap_or(BOOT_TIME);
        let clock = clock.unwrap_or(reference);
        let key = clock_key(sequence, clock);
        let time_ns = match self.scales.get_mut(&key) {
            None => time,
            Some(scale) => {
                let time_ns = time.wrapping_mul(scale.unit_ns);
                match &mut scale.last_ns {
                    None => time_ns,
                    Some(last_ns) => {
                        *last_ns = last_ns.wrapping_add(time_ns);
                        *last_ns
                    }
                }
            }
        };
        let time_ns = time_ns as i64;
        let offset = self.offsets.get(&key);
        match offset {
            Some(offset) => {
                self.related += 1;
                Some(time_ns.wrapping_add(*offset))
            }
            None if clock == reference => {
                self.related += 1;
                Some(time_ns)
            }
            None if clock < OF_SEQUENCE.start => {
                self.unrelated += 1;
                Some(time_ns)
            }
            None => None,
        }
    }
}

/// A clock, with its sequence where it means something there alone.
fn clock_key(sequence: u64, clock: u64) -> (u64, u64) {
    let sequence = if OF_SEQUENCE.contains(&clock) {
        sequence
    } else {
        0
    };
    (sequence, clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A snapshot of clocks: number, value, whether it is incremental, unit.
    fn snapshot(clocks: &[[u8; 4]]) -> Vec<u8> {
        let one = |clock: &[u8; 4]| {
            let [id, value, incremental, unit] = *clock;
            [
                0x0a,
                8,
                0x08,
                id,
                0x10,
                value,
                0x18,
                incremental,
                0x20,
                unit,
            ]
        };
        clocks.iter().flat_map(one).collect()
    }

    #[test]
    fn clocks_are_related_by_snapshots() {
        let mut clocks = TraceClocks::default();
        assert_eq!(clocks.time_ns(1, None, 5), Some(5));
        clocks.take_snapshot(
            1,
            &snapshot(&[[6, 100, 0, 1], [3, 40, 0, 1], [64, 10, 1, 10]]),
        );
        assert_eq!(clocks.time_ns(1, Some(3), 50), Some(110));
        // Tens of nanoseconds, each counted from the one before.
        assert_eq!(clocks.time_ns(1, Some(64), 1), Some(110));
        assert_eq!(clocks.time_ns(1, Some(64), 2), Some(130));
        // The clock of a sequence is another one in another sequence.
        assert_eq!(clocks.time_ns(2, Some(64), 2), None);
        // A snapshot without the reference is related by a clock that was seen with it.
        clocks.take_snapshot(2, &snapshot(&[[3, 60, 0, 1], [65, 1, 0, 1]]));
        assert_eq!(clocks.time_ns(2, Some(65), 2), Some(121));
        assert_eq!(clocks.unrelated, 0);
        assert_eq!(clocks.time_ns(2, Some(5), 9), Some(9));
        assert_eq!(clocks.unrelated, 1);
    }

    #[test]
    fn numbers_stand_for_texts_until_they_are_cleared() {
        let (mut sequence, mut texts) = (PacketSequence::default(), Names::default());
        sequence.take_texts(
            b"\x0a\x05\x08\x01\x12\x01a\x12\x05\x08\x01\x12\x01b",
            &mut texts,
        );
        let text = |table| sequence.text(table, 1, &texts);
        assert_eq!(text(InternedTable::Categories), "a");
        assert_eq!(text(InternedTable::EventNames), "b");
        assert_eq!(text(InternedTable::ArgNames), "");
    }
}
