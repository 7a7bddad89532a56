//! The messages of an ONNX file, as the format's own description, onnx.proto, names and numbers them.
//!
//! Repeated numbers are written one by one, as that description has it, except in the data of a tensor, which it
//! calls packed: strict readers refuse anything else. Either form is read. A number of a node's setting is
//! written even where it is zero, because readers take one that is not there for the operator's default.
//!
//! What is never looked into is kept as the bytes that came, so that a network that was read and is written
//! again has lost nothing that this version of the format knows: types of sequences and maps, how a network is
//! trained, how it is spread over devices.

use prost::{Enumeration, Message, Oneof};

/// A named setting of a node: one of its values is filled; `type` says which.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub s: Option<Vec<u8>>,
    #[prost(message, optional, tag = "5")]
    pub t: Option<TensorProto>,
    /// A graph: the body of a loop or a branch.
    #[prost(message, optional, tag = "6")]
    pub g: Option<GraphProto>,
    #[prost(float, repeated, packed = "false", tag = "7")]
    pub floats: Vec<f32>,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub strings: Vec<Vec<u8>>,
    #[prost(message, repeated, tag = "10")]
    pub tensors: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    pub graphs: Vec<GraphProto>,
    /// What it is for, for people.
    #[prost(string, tag = "13")]
    pub doc_string: String,
    /// A type.
    #[prost(message, optional, tag = "14")]
    pub tp: Option<TypeProto>,
    /// Types.
    #[prost(message, repeated, tag = "15")]
    pub type_protos: Vec<TypeProto>,
    /// Which of the values is filled.
    #[prost(enumeration = "attribute_proto::AttributeType", tag = "20")]
    pub r#type: i32,
    /// In a function: the setting of the caller that it stands for.
    #[prost(string, tag = "21")]
    pub ref_attr_name: String,
    #[prost(message, optional, tag = "22")]
    pub sparse_tensor: Option<SparseTensorProto>,
    /// Sparse tensors.
    #[prost(message, repeated, tag = "23")]
    pub sparse_tensors: Vec<SparseTensorProto>,
}

/// Within an attribute.
pub mod attribute_proto {
    use super::Enumeration;

    /// Which value an attribute has.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
    #[repr(i32)]
    pub enum AttributeType {
        /// Old files do not say.
        Undefined = 0,
        /// `f`.
        Float = 1,
        /// `i`.
        Int = 2,
        /// `s`.
        String = 3,
        /// `t`.
        Tensor = 4,
        /// `g`.
        Graph = 5,
        /// `floats`.
        Floats = 6,
        /// `ints`.
        Ints = 7,
        /// `strings`.
        Strings = 8,
        /// `tensors`.
        Tensors = 9,
        /// `graphs`.
        Graphs = 10,
        /// `sparse_tensor`.
        SparseTensor = 11,
        /// `sparse_tensors`.
        SparseTensors = 12,
        /// `tp`.
        TypeProto = 13,
        /// `type_protos`.
        TypeProtos = 14,
    }
}

/// A value that goes along an edge of the graph.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ValueInfoProto {
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its type, where the file states it.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
    /// What it is, for people.
    #[prost(string, tag = "3")]
    pub doc_string: String,
    /// What other programs noted.
    #[prost(message, repeated, tag = "4")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// One operation.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    /// The values that it takes; an empty name is one that is left out.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// The values that it makes.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Its name; may be empty.
    #[prost(string, tag = "3")]
    pub name: String,
    /// The operator.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// Its settings.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// What it does, for people.
    #[prost(string, tag = "6")]
    pub doc_string: String,
    /// Whose operator it is; empty for ONNX itself.
    #[prost(string, tag = "7")]
    pub domain: String,
    /// Which of several functions of one name.
    #[prost(string, tag = "8")]
    pub overload: String,
    /// What other programs noted.
    #[prost(message, repeated, tag = "9")]
    pub metadata_props: Vec<StringStringEntryProto>,
    /// How it is spread over devices, as it came.
    #[prost(bytes = "vec", repeated, tag = "10")]
    pub device_configurations: Vec<Vec<u8>>,
}

/// A whole file.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// Version of the format.
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    /// The program that wrote it.
    #[prost(string, tag = "2")]
    pub producer_name: String,
    /// Which of its versions.
    #[prost(string, tag = "3")]
    pub producer_version: String,
    /// Whose model it is.
    #[prost(string, tag = "4")]
    pub domain: String,
    /// Which version of it.
    #[prost(int64, tag = "5")]
    pub model_version: i64,
    /// What it is, for people.
    #[prost(string, tag = "6")]
    pub doc_string: String,
    /// The network.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// The sets of operators that it is written in.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// What other programs noted.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
    /// How it is trained, as it came.
    #[prost(bytes = "vec", repeated, tag = "20")]
    pub training_info: Vec<Vec<u8>>,
    /// Operators that the file itself defines.
    #[prost(message, repeated, tag = "25")]
    pub functions: Vec<FunctionProto>,
    /// Devices that it is meant for, as it came.
    #[prost(bytes = "vec", repeated, tag = "26")]
    pub configuration: Vec<Vec<u8>>,
}

/// A note: a word and what stands for it.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct StringStringEntryProto {
    /// The word.
    #[prost(string, tag = "1")]
    pub key: String,
    /// What stands for it.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// Which tensors hold the scale and the zero point of another.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct TensorAnnotation {
    /// Of which.
    #[prost(string, tag = "1")]
    pub tensor_name: String,
    /// Each by its role.
    #[prost(message, repeated, tag = "2")]
    pub quant_parameter_tensor_names: Vec<StringStringEntryProto>,
}

/// A network, or the body of a loop or a branch.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    /// What is done, in an order in which it can be done.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    #[prost(string, tag = "2")]
    pub name: String,
    /// Weights and other constants.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// What it is, for people.
    #[prost(string, tag = "10")]
    pub doc_string: String,
    /// What it takes; old files have the weights among it.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// What it makes.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
    /// What is known of the values between.
    #[prost(message, repeated, tag = "13")]
    pub value_info: Vec<ValueInfoProto>,
    /// Scales and zero points.
    #[prost(message, repeated, tag = "14")]
    pub quantization_annotation: Vec<TensorAnnotation>,
    /// Constants that are mostly zero.
    #[prost(message, repeated, tag = "15")]
    pub sparse_initializer: Vec<SparseTensorProto>,
    /// What other programs noted.
    #[prost(message, repeated, tag = "16")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// A constant: its shape, its type, and its numbers in one of several fields or in another file.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    /// Its type, one of `DataType`.
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    /// Which piece of a larger tensor it is.
    #[prost(message, optional, tag = "3")]
    pub segment: Option<tensor_proto::Segment>,
    /// Its numbers, where they are 32-bit floats or complex.
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    /// Its numbers, where they are small.
    #[prost(int32, repeated, tag = "5")]
    pub int32_data: Vec<i32>,
    /// Its texts.
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub string_data: Vec<Vec<u8>>,
    /// Its numbers, where they are 64-bit integers.
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    #[prost(string, tag = "8")]
    pub name: String,
    /// Its numbers as they lie in memory, least byte first.
    #[prost(bytes = "vec", tag = "9")]
    pub raw_data: Vec<u8>,
    /// Its numbers, where they are 64-bit floats or complex.
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
    /// Its numbers, where they are unsigned.
    #[prost(uint64, repeated, tag = "11")]
    pub uint64_data: Vec<u64>,
    /// What it is, for people.
    #[prost(string, tag = "12")]
    pub doc_string: String,
    /// Where its numbers are, if they are in another file.
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<StringStringEntryProto>,
    /// Whether they are.
    #[prost(enumeration = "tensor_proto::DataLocation", optional, tag = "14")]
    pub data_location: Option<i32>,
    /// What other programs noted.
    #[prost(message, repeated, tag = "16")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// Within a tensor.
pub mod tensor_proto {
    use super::{Enumeration, Message};

    /// Which piece of a larger tensor one is.
    #[derive(Clone, Copy, PartialEq, Eq, Message)]
    pub struct Segment {
        /// The first element.
        #[prost(int64, tag = "1")]
        pub begin: i64,
        /// The one after the last.
        #[prost(int64, tag = "2")]
        pub end: i64,
    }

    /// What a tensor is made of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
    #[repr(i32)]
    pub enum DataType {
        /// None is stated.
        Undefined = 0,
        /// 32-bit floats.
        Float = 1,
        /// Unsigned bytes.
        Uint8 = 2,
        /// Signed bytes.
        Int8 = 3,
        /// Unsigned, 16 bits.
        Uint16 = 4,
        /// Signed, 16 bits.
        Int16 = 5,
        /// Signed, 32 bits.
        Int32 = 6,
        /// Signed, 64 bits.
        Int64 = 7,
        String = 8,
        /// True or false, a byte each.
        Bool = 9,
        /// 16-bit floats of IEEE 754.
        Float16 = 10,
        /// 64-bit floats.
        Double = 11,
        /// Unsigned, 32 bits.
        Uint32 = 12,
        /// Unsigned, 64 bits.
        Uint64 = 13,
        /// Two 32-bit floats.
        Complex64 = 14,
        /// Two 64-bit floats.
        Complex128 = 15,
        /// 16-bit floats with the exponent of 32-bit ones.
        Bfloat16 = 16,
        /// 8-bit floats, 4 bits of exponent.
        Float8e4m3fn = 17,
        /// The same without a negative zero.
        Float8e4m3fnuz = 18,
        /// 8-bit floats, 5 bits of exponent.
        Float8e5m2 = 19,
        /// The same without infinities and a negative zero.
        Float8e5m2fnuz = 20,
        /// Unsigned, two in a byte.
        Uint4 = 21,
        /// Signed, two in a byte.
        Int4 = 22,
        /// 4-bit floats, two in a byte.
        Float4e2m1 = 23,
        /// Powers of two.
        Float8e8m0 = 24,
        /// Unsigned, four in a byte.
        Uint2 = 25,
        /// Signed, four in a byte.
        Int2 = 26,
        /// 6-bit floats, 2 bits of exponent.
        Float6e2m3 = 27,
        /// 6-bit floats, 3 bits of exponent.
        Float6e3m2 = 28,
    }

    /// Where the numbers of a tensor are.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
    #[repr(i32)]
    pub enum DataLocation {
        /// In the message.
        Default = 0,
        /// In another file.
        External = 1,
    }
}

/// A constant that is mostly zero.
#[derive(Clone, PartialEq, Message)]
pub struct SparseTensorProto {
    /// What is not zero.
    #[prost(message, optional, tag = "1")]
    pub values: Option<TensorProto>,
    /// Where that stands.
    #[prost(message, optional, tag = "2")]
    pub indices: Option<TensorProto>,
    #[prost(int64, repeated, packed = "false", tag = "3")]
    pub dims: Vec<i64>,
}

/// A shape.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct TensorShapeProto {
    /// Its dimensions, outermost first.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<tensor_shape_proto::Dimension>,
}

/// Within a shape.
pub mod tensor_shape_proto {
    use super::Message;

    /// One dimension.
    #[derive(Clone, PartialEq, Eq, Message)]
    pub struct Dimension {
        /// Its size, where anything is said of it.
        #[prost(oneof = "dimension::DimensionValue", tags = "1, 2")]
        pub value: Option<dimension::DimensionValue>,
        /// What it counts, such as a batch.
        #[prost(string, tag = "3")]
        pub denotation: String,
    }

    /// Within a dimension.
    pub mod dimension {
        use super::super::Oneof;

        /// The size of a dimension.
        #[derive(Clone, PartialEq, Eq, Oneof)]
        pub enum DimensionValue {
            #[prost(int64, tag = "1")]
            DimValue(i64),
            /// A name: open, and the same wherever it stands.
            #[prost(string, tag = "2")]
            DimParam(String),
        }
    }
}

/// The type of a value.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct TypeProto {
    /// Which kind of value it is.
    #[prost(oneof = "type_proto::TypeValue", tags = "1, 4, 5, 7, 8, 9")]
    pub value: Option<type_proto::TypeValue>,
    /// What it stands for, such as an image.
    #[prost(string, tag = "6")]
    pub denotation: String,
}

/// Within a type.
pub mod type_proto {
    use super::{Message, Oneof, TensorShapeProto};

    /// A tensor's type.
    #[derive(Clone, PartialEq, Eq, Message)]
    pub struct Tensor {
        /// What it is made of, one of `DataType`.
        #[prost(int32, tag = "1")]
        pub elem_type: i32,
        /// Its shape, where it is stated.
        #[prost(message, optional, tag = "2")]
        pub shape: Option<TensorShapeProto>,
    }

    /// Kinds of values; all but tensors as they came.
    #[derive(Clone, PartialEq, Eq, Oneof)]
    pub enum TypeValue {
        #[prost(message, tag = "1")]
        TensorType(Tensor),
        /// A list.
        #[prost(bytes, tag = "4")]
        SequenceType(Vec<u8>),
        /// A dictionary.
        #[prost(bytes, tag = "5")]
        MapType(Vec<u8>),
        /// Something that only its makers know.
        #[prost(bytes, tag = "7")]
        OpaqueType(Vec<u8>),
        #[prost(bytes, tag = "8")]
        SparseTensorType(Vec<u8>),
        /// A value that may be missing.
        #[prost(bytes, tag = "9")]
        OptionalType(Vec<u8>),
    }
}

/// A set of operators and its version.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct OperatorSetIdProto {
    /// Whose operators; empty for ONNX itself.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// Which version.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// An operator that the file itself defines.
#[derive(Clone, PartialEq, Message)]
pub struct FunctionProto {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// What it takes.
    #[prost(string, repeated, tag = "4")]
    pub input: Vec<String>,
    /// What it makes.
    #[prost(string, repeated, tag = "5")]
    pub output: Vec<String>,
    /// Settings without a default.
    #[prost(string, repeated, tag = "6")]
    pub attribute: Vec<String>,
    /// What it does.
    #[prost(message, repeated, tag = "7")]
    pub node: Vec<NodeProto>,
    /// What it is for, for people.
    #[prost(string, optional, tag = "8")]
    pub doc_string: Option<String>,
    /// The sets of operators that it is written in.
    #[prost(message, repeated, tag = "9")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// Whose operator it is.
    #[prost(string, optional, tag = "10")]
    pub domain: Option<String>,
    /// Settings with their defaults.
    #[prost(message, repeated, tag = "11")]
    pub attribute_proto: Vec<AttributeProto>,
    /// What is known of its values.
    #[prost(message, repeated, tag = "12")]
    pub value_info: Vec<ValueInfoProto>,
    /// Which of several of one name.
    #[prost(string, optional, tag = "13")]
    pub overload: Option<String>,
    /// What other programs noted.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
}
