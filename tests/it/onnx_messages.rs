//! The messages of ONNX files: those that another program's reader knows, and nothing lost on the way.

use powerband::onnx::{pb, zoo};
use prost::Message as _;

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

#[test]
fn another_reader_finds_everything_in_what_is_written() {
    let network = zoo::find("resnet18@cifar").expect("a built-in network");
    let bytes = zoo::build(network).encode_to_vec();
    let theirs = tract_onnx::pb::ModelProto::decode(bytes.as_slice()).expect("an ONNX file");
    assert_eq!(theirs.encode_to_vec(), bytes);
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
        Some(pb::type_proto::Value::SequenceType(_))
    ));
    assert_eq!(read.encode_to_vec(), model);
}
