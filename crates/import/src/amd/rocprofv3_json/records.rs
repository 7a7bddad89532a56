//! What the records of a JSON file of rocprofv3 hold, as far as it is taken. A field of another kind
//! than expected counts as missing.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::reading::lines;

/// A whole number, also one in text or in an object such as `{"handle": 5}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Num(pub Option<u64>);

impl Num {
    /// The number; 0 where there is none.
    pub(crate) fn or_zero(self) -> u64 {
        self.0.unwrap_or(0)
    }
}

/// A number with decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Real(pub Option<f64>);

/// A text; numbers are written out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text(pub String);

/// A JSON value, reduced to a number or a text.
#[derive(Debug)]
enum AnyValue {
    Whole(u64),
    Real(f64),
    Text(String),
    Nothing,
}

impl<'de> Deserialize<'de> for AnyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyVisitor)
    }
}

struct AnyVisitor;

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = AnyValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_u64<E>(self, value: u64) -> Result<AnyValue, E> {
        Ok(AnyValue::Whole(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<AnyValue, E> {
        Ok(u64::try_from(value).map_or(AnyValue::Real(value as f64), AnyValue::Whole))
    }

    fn visit_f64<E>(self, value: f64) -> Result<AnyValue, E> {
        Ok(AnyValue::Real(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<AnyValue, E> {
        Ok(AnyValue::Text(value.to_owned()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<AnyValue, E> {
        Ok(AnyValue::Nothing)
    }

    fn visit_unit<E>(self) -> Result<AnyValue, E> {
        Ok(AnyValue::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<AnyValue, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(AnyValue::Nothing)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AnyValue, A::Error> {
        let mut found = AnyValue::Nothing;
        while let Some(key) = map.next_key::<Text>()? {
            match key.0.as_str() {
                "handle" | "value" => found = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }
}

impl<'de> Deserialize<'de> for Num {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match AnyValue::deserialize(deserializer)? {
            AnyValue::Whole(value) => Some(value),
            AnyValue::Real(value) => {
                (value >= 0.0 && value < u64::MAX as f64).then_some(value as u64)
            }
            AnyValue::Text(text) => match text.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => lines::whole_number(&text),
            },
            AnyValue::Nothing => None,
        }))
    }
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match AnyValue::deserialize(deserializer)? {
            AnyValue::Whole(value) => Some(value as f64),
            AnyValue::Real(value) => Some(value),
            AnyValue::Text(text) => lines::number(&text),
            AnyValue::Nothing => None,
        }))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match AnyValue::deserialize(deserializer)? {
            AnyValue::Whole(value) => value.to_string(),
            AnyValue::Real(value) => value.to_string(),
            AnyValue::Text(text) => text,
            AnyValue::Nothing => String::new(),
        }))
    }
}

/// What a call and what it started have in common.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Correlation {
    /// The tool's own number.
    pub internal: Num,
    /// The program's number.
    pub external: Num,
}

/// Sizes along x, y and z.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Dim3 {
    pub x: Num,
    pub y: Num,
    pub z: Num,
}

impl Dim3 {
    /// The sizes as text: `64x1x1`.
    pub(super) fn dims_text(self) -> String {
        let [x, y, z] = [self.x, self.y, self.z].map(Num::or_zero);
        format!("{x}x{y}x{z}")
    }
}

#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Dispatch {
    pub agent_id: Num,
    pub queue_id: Num,
    pub kernel_id: Num,
    /// Scratch memory of each work-item.
    pub private_segment_size: Num,
    /// Memory of each work-group.
    pub group_segment_size: Num,
    /// Work-items of a group.
    pub workgroup_size: Dim3,
    /// Work-items together.
    pub grid_size: Dim3,
}

/// A record of any domain.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Record {
    /// The domain, by number.
    pub kind: Num,
    /// The function or direction, by number within the domain.
    pub operation: Num,
    pub thread_id: Num,
    /// What it has in common with others.
    pub correlation_id: Correlation,
    pub start_timestamp: Num,
    pub end_timestamp: Num,
    /// The launch, for kernels.
    pub dispatch_info: Dispatch,
    /// The stream, for what runs on a device.
    pub stream_id: Num,
    /// The queue, for scratch memory.
    pub queue_id: Num,
    /// The device, for memory.
    pub agent_id: Num,
    /// Where a copy comes from.
    pub src_agent_id: Num,
    /// Where it goes.
    pub dst_agent_id: Num,
    /// How much is copied.
    pub bytes: Num,
    /// Where memory begins.
    pub address: Text,
    /// How much memory is taken.
    pub allocation_size: Num,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct CounterRecord {
    pub dispatch_data: DispatchData,
    /// Counter values, for each part of the device.
    pub records: Vec<CounterValue>,
    pub stream_id: Num,
}

/// A launch with its times.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct DispatchData {
    pub dispatch_info: Dispatch,
    /// What it has in common with others.
    pub correlation_id: Correlation,
    pub start_timestamp: Num,
    pub end_timestamp: Num,
}

/// A counter value in a part of a device.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct CounterValue {
    pub counter_id: Num,
    pub value: Real,
}

/// A processor or a card.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct AgentRecord {
    /// What records call it.
    pub id: Num,
    /// 1 for a processor, 2 for a card.
    pub r#type: Num,
    /// What tables call it.
    pub node_id: Num,
    pub cu_count: Num,
    /// Cores of a processor.
    pub cpu_cores_count: Num,
    pub name: Text,
    /// What is printed on the box.
    pub product_name: Text,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Symbol {
    /// What launches call it.
    pub kernel_id: Num,
    /// As the user wants it.
    pub formatted_kernel_name: Text,
    /// As it is in the source.
    pub demangled_kernel_name: Text,
    /// As the machine code calls it.
    pub kernel_name: Text,
}

impl Symbol {
    /// The best of its names; the first symbol of a file is none and is called 0.
    pub(super) fn name(self) -> Option<String> {
        let names = [
            self.formatted_kernel_name.0,
            self.demangled_kernel_name.0,
            self.kernel_name.0,
        ];
        names
            .into_iter()
            .find(|name| !name.is_empty() && name != "0")
    }
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct CounterInfo {
    /// What values call it.
    pub id: Num,
    pub name: Text,
}

/// A domain with its functions.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct KindNames {
    pub kind: Text,
    pub operations: Vec<Text>,
}

/// A text and the number that records have in its place.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct KeyedText {
    pub key: Num,
    pub value: Text,
}

/// Texts of a process.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Strings {
    /// Domains, by number.
    pub buffer_records: Vec<KindNames>,
    /// What markers say.
    pub marker_api: Vec<KeyedText>,
    /// What the program calls its launches.
    pub correlation_id: ExternalNames,
}

/// What the program calls its launches.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct ExternalNames {
    /// Texts by the program's number.
    pub external: Vec<KeyedText>,
}

/// How a process was profiled.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Metadata {
    pub pid: Num,
    /// Its command line.
    pub command: Vec<Text>,
    pub config: Config,
}

/// Options that matter for reading.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Config {
    /// Streams were not recorded.
    pub group_by_queue: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_another_kind_count_as_missing() {
        let record: Record = serde_json::from_str(
            r#"{"kind": "11", "thread_id": null, "operation": [1, 2], "agent_id": {"handle": 18446744073709551615, "x": {}},
                "start_timestamp": -5, "end_timestamp": 1.5e3, "address": {"handle": "0xff"}, "more": {"a": [1]}}"#,
        )
        .unwrap();
        assert_eq!(record.kind, Num(Some(11)));
        assert_eq!((record.thread_id, record.operation), (Num(None), Num(None)));
        assert_eq!(record.agent_id, Num(Some(u64::MAX)));
        assert_eq!(record.start_timestamp, Num(None));
        assert_eq!(record.end_timestamp, Num(Some(1500)));
        assert_eq!(record.address.0, "0xff");
    }
}
