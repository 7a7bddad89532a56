//! A model in two files, for tests.

use std::fs;
use std::path::{Path, PathBuf};

use crate::external::is_external;
use crate::file;
use crate::infer::testing::TestGraph;
use crate::pb::tensor_proto::DataType;
use crate::pb::{StringStringEntryProto, TensorProto};

/// `net.onnx` with a list of three integers and 5,000 floats in `net.onnx.data`, from bytes 0 and 4096 on.
pub fn two_files(folder: &Path) -> PathBuf {
    let far = |name: &str, kind: DataType, length: i64, place: [(&str, usize); 2]| {
        let entry = |(key, value): (&str, String)| StringStringEntryProto {
            key: key.to_owned(),
            value,
        };
        let numbers = place.map(|(key, value)| (key, value.to_string()));
        let location = ("location", "net.onnx.data".to_owned());
        TensorProto {
            name: name.to_owned(),
            dims: vec![length],
            data_type: kind as i32,
            external_data: [location].into_iter().chain(numbers).map(entry).collect(),
            data_location: Some(1),
            ..Default::default()
        }
    };
    let mut model = TestGraph::new(&[("x", &[5000])])
        .node("Add", "x w", "y", &[])
        .node("Mystery", "y n", "z", &[])
        .model();
    if let Some(graph) = &mut model.graph {
        graph.initializer = vec![
            far("n", DataType::Int64, 3, [("offset", 0), ("length", 24)]),
            far(
                "w",
                DataType::Float,
                5000,
                [("offset", 4096), ("length", 20_000)],
            ),
        ];
    }
    let mut bytes: Vec<u8> = [1_i64, 2, 3]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    bytes.resize(4096, 0);
    bytes.resize(24_096, 7);
    fs::write(folder.join("net.onnx.data"), bytes).unwrap();
    let path = folder.join("net.onnx");
    file::save(&path, &model).unwrap();
    path
}

/// Writes something else about where its last tensor is.
pub fn changed(path: &Path, key: &str, value: &str) {
    let mut model = file::load(path).unwrap();
    let tensors = model
        .graph
        .iter_mut()
        .flat_map(|graph| &mut graph.initializer);
    for tensor in tensors.filter(|tensor| is_external(tensor) && tensor.name == "w") {
        for entry in &mut tensor.external_data {
            if entry.key == key {
                value.clone_into(&mut entry.value);
            }
        }
    }
    file::save(path, &model).unwrap();
}
