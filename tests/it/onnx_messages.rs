//! The messages of ONNX files: as onnx.proto has them, and nothing lost on the way.

use std::collections::{BTreeMap, BTreeSet};

use powerband_onnx::pb;
use prost::Message as _;

/// What onnx.proto says of each field, from the descriptors of the Python package `onnx`.
const FIELDS: &str = include_str!("../fixtures/onnx/fields.txt");

/// Our messages.
const SOURCE: &str = include_str!("../../crates/onnx/src/pb.rs");

/// A field of a message: its number, and what it holds.
fn field(number: u64, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for mut rest in [number << 3 | 2, content.len() as u64] {
        while rest >= 128 {
            bytes.push((rest & 127) as u8 | 128);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
    bytes.extend_from_slice(content);
    bytes
}

/// What is said of a field: number, type, whether it is repeated, whether it is packed, and whether it is one
/// of several of which one is filled.
type Said = (u32, String, bool, bool, bool);

/// The fields of each message and the numbers of each enumeration.
#[derive(Default)]
struct Described {
    fields: BTreeMap<String, BTreeMap<String, Said>>,
    enums: BTreeMap<String, BTreeMap<String, u32>>,
}

/// What onnx.proto says; the messages that a field holds by its place.
fn standard() -> Described {
    let mut described = Described::default();
    for line in FIELDS.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["enum", name, value, number] => {
                let known = described.enums.entry(name.to_owned()).or_default();
                known.insert(
                    value.replace('_', "").to_lowercase(),
                    number.parse().expect("a well-formed table"),
                );
            }
            [message, field, number, label, kind, _, packed, oneof] => {
                let said = (
                    number.parse().expect("a well-formed table"),
                    kind.to_owned(),
                    label == "repeated",
                    packed == "packed",
                    oneof != "-",
                );
                let known = described.fields.entry(message.to_owned()).or_default();
                known.insert(field.to_owned(), said);
            }
            _ => panic!("{line}"),
        }
    }
    described
}

/// `tensor_shape_proto` as `TensorShapeProto`.
fn camel(snake: &str) -> String {
    let words = snake.split('_').map(|word| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    });
    words.collect()
}

/// `DimValue` as `dim_value`.
fn snake(camel: &str) -> String {
    let mut text = String::new();
    for letter in camel.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

/// What our source says.
fn ours() -> Described {
    let mut described = Described::default();
    let (mut modules, mut current, mut attribute) = (Vec::<String>::new(), String::new(), None);
    let mut in_enum = false;
    for line in SOURCE.lines() {
        let indent = (line.len() - line.trim_start().len()) / 4;
        let line = line.trim();
        let word = |prefix: &str| {
            let rest = line.strip_prefix(prefix)?;
            rest.split([' ', '(', ':', '<']).next().map(str::to_owned)
        };
        if let Some(name) = word("pub mod ") {
            modules.truncate(indent);
            modules.push(camel(&name));
        } else if let Some(name) = word("pub struct ").or_else(|| word("pub enum ")) {
            modules.truncate(indent);
            in_enum = line.starts_with("pub enum");
            // The alternatives of a field belong to the message that the field is in.
            let own = (!["DimensionValue", "TypeValue"].contains(&name.as_str())).then_some(name);
            let path: Vec<&str> = modules.iter().chain(&own).map(String::as_str).collect();
            current = path.join(".");
        } else if let Some(inside) = line.strip_prefix("#[prost(") {
            attribute = Some(inside.trim_end_matches(")]").to_owned());
        } else if let Some(said) = attribute.take() {
            let name = word("pub ").map_or_else(
                || snake(line.split('(').next().expect("a well-formed table")),
                |name| name.trim_start_matches("r#").to_owned(),
            );
            let parts: Vec<&str> = said.split(", ").collect();
            let tag = parts.iter().find_map(|part| part.strip_prefix("tag = \""));
            let Some(tag) = tag else {
                continue;
            };
            let kind = parts[0].split(' ').next().expect("a well-formed table");
            let repeated = parts.contains(&"repeated");
            let is_number = matches!(kind, "float" | "double" | "int32" | "int64" | "uint64");
            let packed = repeated && is_number && !parts.contains(&"packed = \"false\"");
            let kind = kind.replace("enumeration", "enum");
            let tag = tag
                .trim_end_matches('"')
                .parse()
                .expect("a well-formed table");
            let known = described.fields.entry(current.clone()).or_default();
            known.insert(name, (tag, kind, repeated, packed, in_enum));
        } else if let Some((name, number)) = line.trim_end_matches(',').split_once(" = ")
            && in_enum
        {
            let known = described.enums.entry(current.clone()).or_default();
            known.insert(
                name.to_lowercase(),
                number.parse().expect("a well-formed table"),
            );
        }
    }
    described
}

#[test]
fn messages_are_those_of_the_standard() {
    let (standard, ours) = (standard(), ours());
    assert_eq!(ours.enums, standard.enums);
    let mut kept = BTreeSet::new();
    for (message, fields) in &ours.fields {
        let mut wanted = standard.fields[message].clone();
        for (name, said) in &mut wanted {
            // A message that is never looked into is kept as bytes, which look the same in a file.
            if said.1 == "message" && fields.get(name).is_some_and(|ours| ours.1 == "bytes") {
                "bytes".clone_into(&mut said.1);
                kept.insert(format!("{message}.{name}"));
            }
        }
        assert_eq!(fields, &wanted, "{message}");
    }
    assert_eq!(ours.fields.len(), 16, "{:?}", ours.fields.keys());
    assert_eq!(kept.len(), 8, "{kept:?}");
}

#[test]
fn a_setting_of_zero_is_written() {
    let zero = pb::AttributeProto {
        name: "axis".to_owned(),
        i: Some(0),
        ..Default::default()
    };
    let bytes = [field(1, b"axis"), vec![0x18, 0]].concat();
    assert_eq!(zero.encode_to_vec(), bytes);
    assert_eq!(pb::AttributeProto::decode(bytes.as_slice()), Ok(zero));
}

#[test]
fn lists_of_numbers_are_written_one_by_one_and_read_in_both_forms() {
    let attribute = pb::AttributeProto {
        ints: vec![1, 300],
        floats: vec![1.0],
        ..Default::default()
    };
    let plain = [0x3d, 0, 0, 0x80, 0x3f, 0x40, 1, 0x40, 0xac, 2];
    assert_eq!(attribute.encode_to_vec(), plain);
    let packed = [field(7, &1.0_f32.to_le_bytes()), field(8, &[1, 0xac, 2])].concat();
    for bytes in [&plain[..], &packed] {
        assert_eq!(pb::AttributeProto::decode(bytes), Ok(attribute.clone()));
    }
    let tensor = pb::TensorProto {
        dims: vec![2, 1],
        float_data: vec![1.0],
        int64_data: vec![1, 2],
        ..Default::default()
    };
    let sizes = [8, 2, 8, 1].to_vec();
    let data = [field(4, &1.0_f32.to_le_bytes()), field(7, &[1, 2])].concat();
    assert_eq!(tensor.encode_to_vec(), [sizes, data.clone()].concat());
    let packed = [field(1, &[2, 1]), data].concat();
    assert_eq!(
        pb::TensorProto::decode(packed.as_slice()),
        Ok(tensor.clone())
    );
    let one_by_one = [8, 2, 8, 1, 0x25, 0, 0, 0x80, 0x3f, 0x38, 1, 0x38, 2];
    assert_eq!(pb::TensorProto::decode(&one_by_one[..]), Ok(tensor));
}

#[test]
fn what_is_never_looked_into_is_kept() {
    // A value that is a sequence of tensors, and one that may be missing.
    let sequence = field(4, &field(1, &field(1, b"elements")));
    let optional = field(9, &field(1, b"what it may be"));
    let values = [sequence, optional].map(|kind| {
        let value = [field(1, b"value"), field(2, &kind)].concat();
        field(13, &value)
    });
    let note = [field(1, b"namespace"), field(2, b"layers.0")].concat();
    let node = [
        field(1, b"x"),
        field(4, b"Identity"),
        field(9, &note),
        field(10, b"on two devices"),
    ];
    let graph = [field(1, &node.concat()), values.concat(), field(16, &note)].concat();
    let model = [
        field(7, &graph),
        field(20, b"how it was trained"),
        field(26, b"devices"),
    ]
    .concat();
    let read = pb::ModelProto::decode(model.as_slice()).expect("a model");
    let graph = read.graph.as_ref().expect("a graph");
    assert_eq!(graph.node[0].metadata_props[0].key, "namespace");
    assert!(matches!(
        graph.value_info[0]
            .r#type
            .as_ref()
            .and_then(|kind| kind.value.as_ref()),
        Some(pb::type_proto::TypeValue::SequenceType(_))
    ));
    assert_eq!(read.encode_to_vec(), model);
}
