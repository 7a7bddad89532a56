//! The walk through a JSON file of rocprofv3: each list is read record by record and never held whole.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::RocprofV3Reader;
use super::records::{
    AgentRecord, CounterInfo, CounterRecord, Metadata, Record, Strings, Symbol, Text,
};

/// The file: an object with one key that matters.
pub(super) struct FileSeed<'r, 'a>(pub &'r mut RocprofV3Reader<'a>);

impl<'de> DeserializeSeed<'de> for FileSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FileSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Text>()? {
            if key.0 == "rocprofiler-sdk-tool" {
                map.next_value_seed(ProcessesSeed(&mut *self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// A list of processes; early files have one process in place of the list.
struct ProcessesSeed<'r, 'a>(&'r mut RocprofV3Reader<'a>);

impl<'de> DeserializeSeed<'de> for ProcessesSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ProcessesSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a process or a list of them")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut index = 0;
        loop {
            self.0.begin(index);
            if list.next_element_seed(ProcessSeed(&mut *self.0))?.is_none() {
                return Ok(());
            }
            index += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.begin(0);
        ProcessSeed(self.0).visit_map(map)
    }
}

struct ProcessSeed<'r, 'a>(&'r mut RocprofV3Reader<'a>);

impl<'de> DeserializeSeed<'de> for ProcessSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ProcessSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a process")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reading = self.0;
        while let Some(key) = map.next_key::<Text>()? {
            if !reading.wants(&key.0) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            match key.0.as_str() {
                "metadata" => reading.metadata(map.next_value::<Metadata>()?),
                "agents" => {
                    map.next_value_seed(EachSeed::new(|agent: AgentRecord| reading.agent(&agent)))?;
                }
                "counters" => {
                    map.next_value_seed(EachSeed::new(|info: CounterInfo| {
                        reading.counter_info(info);
                    }))?;
                }
                "strings" => reading.strings(map.next_value::<Strings>()?),
                "kernel_symbols" => {
                    map.next_value_seed(EachSeed::new(|symbol: Symbol| reading.symbol(symbol)))?;
                    reading.symbols_end();
                }
                "buffer_records" | "callback_records" => {
                    map.next_value_seed(DomainsSeed(&mut *reading))?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// Lists of records, one a domain.
struct DomainsSeed<'r, 'a>(&'r mut RocprofV3Reader<'a>);

impl<'de> DeserializeSeed<'de> for DomainsSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for DomainsSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lists of records")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reading = self.0;
        while let Some(key) = map.next_key::<Text>()? {
            match key.0.as_str() {
                "kernel_dispatch" | "kernel_dispatches" => {
                    map.next_value_seed(EachSeed::new(|record: Record| reading.kernel(&record)))?;
                }
                "memory_copy" | "memory_copies" => {
                    map.next_value_seed(EachSeed::new(|record: Record| reading.copy(&record)))?;
                }
                "memory_allocation" | "memory_allocations" => {
                    map.next_value_seed(EachSeed::new(|record: Record| {
                        reading.allocation(&record);
                    }))?;
                }
                "scratch_memory" => {
                    map.next_value_seed(EachSeed::new(|record: Record| reading.scratch(&record)))?;
                }
                "counter_collection" => {
                    let each = |record: CounterRecord| reading.counters(&record);
                    map.next_value_seed(EachSeed::new(each))?;
                }
                api if api.ends_with("_api") => {
                    map.next_value_seed(EachSeed::new(|record: Record| reading.call(&record)))?;
                }
                other => {
                    let mut skipped = 0;
                    map.next_value_seed(EachSeed::new(|_: IgnoredAny| skipped += 1))?;
                    reading.skip(other, skipped);
                }
            }
        }
        Ok(())
    }
}

/// Each element of a list; anything but a list has none.
struct EachSeed<T, F> {
    each: F,
    of: PhantomData<T>,
}

impl<T, F: FnMut(T)> EachSeed<T, F> {
    fn new(each: F) -> Self {
        Self {
            each,
            of: PhantomData,
        }
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> DeserializeSeed<'de> for EachSeed<T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> Visitor<'de> for EachSeed<T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element()? {
            (self.each)(element);
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// What was left out, in words.
pub(crate) fn skipped_words(skipped: &BTreeMap<String, u64>) -> String {
    let words: Vec<String> = skipped
        .iter()
        .map(|(domain, records)| format!("{records} of {domain}"))
        .collect();
    words.join(", ")
}
