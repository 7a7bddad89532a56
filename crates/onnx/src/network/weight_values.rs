//! The values of a constant of a file, for the card of the node that reads it.

use std::path::Path;

use half::{bf16, f16};

use super::measured_file;
use super::value_texts::weight;
use crate::pb::tensor_proto::DataType;
use crate::pb::{ModelProto, TensorProto};
use crate::{external, proto};
use powerband_core::domain::model::ModelRef;
use powerband_core::domain::network::NetworkWeight;

/// Values that are read at most.
const MOST: usize = 4 << 20;

/// The values of a constant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightValues {
    /// How many the constant has.
    pub count: u64,
    /// They, or of a large constant as many as are read, evenly spread.
    pub values: Vec<f64>,
}

/// Whether the weights of a model are random numbers: those of built-in networks are.
pub fn are_random(model: &ModelRef) -> bool {
    measured_file::built_in(model).is_some()
}

/// Reads a constant of the file that was measured.
///
/// # Errors
///
/// Where the file is gone or another one now, or has no numbers for the constant.
pub fn read(
    model: &ModelRef,
    wanted: &NetworkWeight,
    cache: &Path,
) -> Result<WeightValues, String> {
    let file = measured_file::open(model, cache)?;
    let found = tensor_of_weight(&file.proto, wanted);
    let mut tensor = found.ok_or("the file has no such constant")?;
    if external::is_external(&tensor) && tensor.raw_data.is_empty() {
        let read = external::read_tensor(&tensor, &file.path);
        tensor.raw_data = read.map_err(|error| error.to_string())?;
    }
    values(&tensor, MOST)
}

/// The tensor of that name and shape: other functions may have one of the same name.
fn tensor_of_weight(model: &ModelProto, wanted: &NetworkWeight) -> Option<TensorProto> {
    let graph = model.graph.as_ref()?;
    let all = proto::all_graphs(graph)
        .into_iter()
        .flat_map(proto::constants);
    let functions = model.functions.iter();
    let functions = functions.flat_map(|function| proto::constant_nodes(&function.node));
    let mut all = all.chain(functions);
    let found = all.find(|(name, tensor)| *name == wanted.name && weight(name, tensor) == *wanted);
    found.map(|(_, tensor)| tensor.clone())
}

/// Types whose values are read.
const READ: [DataType; 8] = [
    DataType::Float,
    DataType::Double,
    DataType::Float16,
    DataType::Bfloat16,
    DataType::Int8,
    DataType::Uint8,
    DataType::Int32,
    DataType::Int64,
];

/// At most so many values of a tensor, evenly spread.
fn values(tensor: &TensorProto, most: usize) -> Result<WeightValues, String> {
    let count = proto::tensor_elements(tensor);
    let n_read = count.min(most as u64);
    let places = (0..n_read).map(|place| {
        let place = u128::from(place) * u128::from(count) / u128::from(n_read);
        usize::try_from(place).ok()
    });
    let kind = DataType::try_from(tensor.data_type).unwrap_or_default();
    if !READ.contains(&kind) {
        let kind = proto::type_name(tensor.data_type);
        return Err(format!("values of type {kind} are not read"));
    }
    let value = |place: Option<usize>| match tensor.raw_data[..] {
        [] => typed_value(tensor, kind, place?),
        _ => raw_value(&tensor.raw_data, kind, place?),
    };
    let values: Option<Vec<f64>> = places.map(value).collect();
    let values = values.ok_or_else(|| {
        let kind = proto::type_name(tensor.data_type);
        format!("the file has other numbers than {count} of type {kind}")
    })?;
    Ok(WeightValues { count, values })
}

/// A value of those that are stored as they lie in memory.
fn raw_value(bytes: &[u8], kind: DataType, place: usize) -> Option<f64> {
    let width = usize::try_from(proto::element_bits(kind as i32)?).ok()? / 8;
    let start = place.checked_mul(width)?;
    let bytes = bytes.get(start..start.checked_add(width)?)?;
    Some(match kind {
        DataType::Float => f32::from_le_bytes(bytes.try_into().ok()?).into(),
        DataType::Double => f64::from_le_bytes(bytes.try_into().ok()?),
        DataType::Float16 => f16::from_le_bytes(bytes.try_into().ok()?).to_f64(),
        DataType::Bfloat16 => bf16::from_le_bytes(bytes.try_into().ok()?).to_f64(),
        DataType::Int8 => i8::from_le_bytes(bytes.try_into().ok()?).into(),
        DataType::Uint8 => u8::from_le_bytes(bytes.try_into().ok()?).into(),
        DataType::Int32 => i32::from_le_bytes(bytes.try_into().ok()?).into(),
        DataType::Int64 => i64::from_le_bytes(bytes.try_into().ok()?) as f64,
        _ => return None,
    })
}

/// A value of those that have a field of their type.
fn typed_value(tensor: &TensorProto, kind: DataType, place: usize) -> Option<f64> {
    let small = tensor.int32_data.get(place).copied();
    Some(match kind {
        DataType::Float => tensor.float_data.get(place).copied()?.into(),
        DataType::Double => tensor.double_data.get(place).copied()?,
        DataType::Float16 => f16::from_bits(small? as u16).to_f64(),
        DataType::Bfloat16 => bf16::from_bits(small? as u16).to_f64(),
        DataType::Int8 | DataType::Uint8 | DataType::Int32 => small?.into(),
        DataType::Int64 => tensor.int64_data.get(place).copied()? as f64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pb::{GraphProto, NodeProto, StringStringEntryProto, tensor_proto::DataLocation};
    use crate::{file, source};

    fn tensor(kind: DataType, count: i64) -> TensorProto {
        TensorProto {
            name: "w".to_owned(),
            dims: vec![count],
            data_type: kind as i32,
            ..TensorProto::default()
        }
    }

    fn raw(kind: DataType, bytes: &[u8]) -> TensorProto {
        TensorProto {
            raw_data: bytes.to_vec(),
            ..tensor(kind, 2)
        }
    }

    #[test]
    fn every_type_is_read_from_bytes_and_from_its_field() {
        use DataType::{Bfloat16, Double, Float, Float16, Int8, Int32, Int64, Uint8};
        let ints = |kind: DataType, ints: [i32; 2]| TensorProto {
            int32_data: ints.to_vec(),
            ..tensor(kind, 2)
        };
        let floats = TensorProto {
            float_data: vec![1.5, -2.0],
            ..tensor(Float, 2)
        };
        let doubles = TensorProto {
            double_data: vec![0.1, -2.0],
            ..tensor(Double, 2)
        };
        let double_bytes = [0.1_f64, -2.0].map(f64::to_le_bytes).concat();
        let longs = TensorProto {
            int64_data: vec![3, -4],
            ..tensor(Int64, 2)
        };
        let bytes: Vec<u8> = [3_i64, -4]
            .iter()
            .flat_map(|one| one.to_le_bytes())
            .collect();
        let cases = [
            (floats, [1.5, -2.0]),
            (raw(Float, &[0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0]), [1.5, -2.0]),
            (raw(Double, &double_bytes), [0.1, -2.0]),
            (doubles, [0.1, -2.0]),
            (raw(Float16, &[0, 0x3e, 0, 0xc0]), [1.5, -2.0]),
            (ints(Float16, [0x3e00, 0xc000]), [1.5, -2.0]),
            (raw(Bfloat16, &[0xc0, 0x3f, 0, 0xc0]), [1.5, -2.0]),
            (ints(Bfloat16, [0x3fc0, 0xc000]), [1.5, -2.0]),
            (raw(Int8, &[0xff, 7]), [-1.0, 7.0]),
            (ints(Int8, [-1, 7]), [-1.0, 7.0]),
            (raw(Uint8, &[0xff, 7]), [255.0, 7.0]),
            (
                raw(Int32, &[1, 1, 0, 0, 0xff, 0xff, 0xff, 0xff]),
                [257.0, -1.0],
            ),
            (raw(Int64, &bytes), [3.0, -4.0]),
            (longs, [3.0, -4.0]),
        ];
        for (tensor, expect) in cases {
            let found = values(&tensor, MOST).unwrap();
            assert_eq!(
                (found.count, &found.values[..]),
                (2, &expect[..]),
                "{tensor:?}"
            );
        }
    }

    #[test]
    fn of_many_values_some_are_read_evenly_and_missing_ones_are_an_error() {
        let bytes: Vec<u8> = (0..100).collect();
        let many = TensorProto {
            raw_data: bytes,
            ..tensor(DataType::Uint8, 100)
        };
        let found = values(&many, 4).unwrap();
        assert_eq!(
            (found.count, found.values),
            (100, vec![0.0, 25.0, 50.0, 75.0])
        );
        let short = values(&tensor(DataType::Float, i64::MAX), 4).unwrap_err();
        assert!(
            short.ends_with("9223372036854775807 of type float"),
            "{short}"
        );
        assert!(values(&raw(DataType::String, &[1, 2]), 4).is_err());
        assert_eq!(
            values(&tensor(DataType::Float, 0), 4),
            Ok(WeightValues::default())
        );
    }

    #[test]
    fn a_constant_beside_the_file_is_read_as_long_as_the_file_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.onnx");
        let entry = |key: &str, value: &str| StringStringEntryProto {
            key: key.to_owned(),
            value: value.to_owned(),
        };
        let far = TensorProto {
            external_data: vec![entry("location", "net.data"), entry("offset", "1")],
            data_location: Some(DataLocation::External as i32),
            ..tensor(DataType::Int8, 5000)
        };
        let graph = GraphProto {
            node: vec![NodeProto::default()],
            initializer: vec![far.clone()],
            ..GraphProto::default()
        };
        let proto = ModelProto {
            graph: Some(graph),
            ..ModelProto::default()
        };
        file::save(&path, &proto).unwrap();
        std::fs::write(folder.path().join("net.data"), vec![0xff; 5001]).unwrap();
        let name = path.to_str().unwrap();
        let mut model = ModelRef {
            name: "net".to_owned(),
            file: name.to_owned(),
            sha256: source::open(name, folder.path()).unwrap().sha256,
            ..ModelRef::default()
        };
        let wanted = weight("w", &far);
        let found = read(&model, &wanted, folder.path()).unwrap();
        assert_eq!((found.count, found.values), (5000, vec![-1.0; 5000]));
        let other = NetworkWeight {
            bytes: 3,
            ..wanted.clone()
        };
        assert!(read(&model, &other, folder.path()).is_err());
        model.sha256.clear();
        let refused = read(&model, &wanted, folder.path()).unwrap_err();
        assert!(refused.contains("is another file now"), "{refused}");
    }
}
