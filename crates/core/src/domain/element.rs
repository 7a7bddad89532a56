//! Element types of tensors, as files and workers write them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Element types that an input or output may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ElementType {
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
    /// 16-bit IEEE float.
    F16,
    /// Signed integers.
    I8,
    /// 16 bits.
    I16,
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
    /// Unsigned, 8 bits.
    U8,
    /// True or false, one byte each.
    Bool,
}

impl ElementType {
    /// Bytes of one element.
    pub fn size(self) -> u64 {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::F16 | Self::I16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }

    /// Whether its elements are floats.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64 | Self::F16)
    }

    /// The least and the greatest whole number that it holds; nothing for floats.
    pub fn whole_numbers(self) -> Option<(f64, f64)> {
        Some(match self {
            Self::F32 | Self::F64 | Self::F16 => return None,
            Self::I8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
            Self::I16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
            Self::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
            Self::I64 => (i64::MIN as f64, i64::MAX as f64),
            Self::U8 => (0.0, f64::from(u8::MAX)),
            Self::Bool => (0.0, 1.0),
        })
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "float32",
            Self::F64 => "float64",
            Self::F16 => "float16",
            Self::I8 => "int8",
            Self::I16 => "int16",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::U8 => "uint8",
            Self::Bool => "bool",
        })
    }
}
