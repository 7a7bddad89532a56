//! Kinds of ONNX's operators: what only moves, and how many operations an element takes.

use super::{BATCH_NORM, LAYER_NORM, RMS_NORM, SOFTMAX};

/// Operators that look at the same bytes in another way.
pub(super) fn is_view(op: &str) -> bool {
    matches!(
        op,
        "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Identity" | "Dropout"
    )
}

/// Operators that move bytes, or make them out of little, and compute nothing.
pub(super) fn is_move(op: &str) -> bool {
    matches!(
        op,
        "Transpose"
            | "Concat"
            | "QLinearConcat"
            | "Expand"
            | "Tile"
            | "Pad"
            | "Cast"
            | "CastLike"
            | "DepthToSpace"
            | "SpaceToDepth"
            | "ReorderInput"
            | "ReorderOutput"
            | "MemcpyToHost"
            | "MemcpyFromHost"
            | "ConstantOfShape"
            | "Range"
            | "OneHot"
            | "EyeLike"
            | "Trilu"
            | "Where"
            | "NonZero"
            | "IsNaN"
            | "IsInf"
            | "Not"
            | "And"
            | "Or"
            | "Xor"
            | "Equal"
            | "Greater"
            | "GreaterOrEqual"
            | "Less"
            | "LessOrEqual"
            | "BitShift"
            | "BitwiseAnd"
            | "BitwiseOr"
            | "BitwiseXor"
            | "BitwiseNot"
            | "ReverseSequence"
            | "Compress"
            | "Unique"
            | "Shape"
            | "Size"
            | "Constant"
    )
}

/// Operations for each element that comes out, of operators that work element by element.
pub(super) fn each_output(op: &str) -> Option<u64> {
    Some(match op {
        "Add" | "Sub" | "Mul" | "Div" | "Pow" | "Mod" | "Max" | "Min" | "PRelu" | "QLinearAdd"
        | "QLinearMul" | "Abs" | "Acos" | "Acosh" | "Asin" | "Asinh" | "Atan" | "Atanh"
        | "Ceil" | "Celu" | "Clip" | "Cos" | "Cosh" | "CumSum" | "Elu" | "Erf" | "Exp"
        | "FastGelu" | "Floor" | "Gelu" | "HardSigmoid" | "HardSwish" | "LeakyRelu" | "Log"
        | "Mish" | "Neg" | "QLinearLeakyRelu" | "QLinearSigmoid" | "QuickGelu" | "Reciprocal"
        | "Relu" | "Round" | "Selu" | "Silu" | "ApproxGelu" | "Shrink" | "Sigmoid" | "Sign"
        | "Sin" | "Sinh" | "Softplus" | "Softsign" | "Sqrt" | "Swish" | "Tan" | "Tanh"
        | "ThresholdedRelu" => 1,
        "BiasGelu" | "BatchNormalization" => BATCH_NORM,
        "RotaryEmbedding" => 3,
        "QLinearSoftmax" | "Softmax" | "LogSoftmax" => SOFTMAX,
        "AddSoftmax" => SOFTMAX + 1,
        "LayerNormalization"
        | "GroupNormalization"
        | "GroupNorm"
        | "InstanceNormalization"
        | "MeanVarianceNormalization" => LAYER_NORM,
        "SkipLayerNormalization" | "EmbedLayerNormalization" => LAYER_NORM + 1,
        "RMSNormalization"
        | "RmsNormalization"
        | "SimplifiedLayerNormalization"
        | "LpNormalization" => RMS_NORM,
        "SkipSimplifiedLayerNormalization" => RMS_NORM + 1,
        "LRN" => 4,
        _ => return None,
    })
}

/// Operations for each element that goes in, of operators that bring many together.
pub(super) fn each_input(op: &str) -> Option<u64> {
    Some(match op {
        "ReduceL2" | "ReduceSumSquare" | "ReduceLogSumExp" | "GlobalLpPool" => 2,
        "DynamicQuantizeLinear" => 3,
        "QuantizeLinear"
        | "DequantizeLinear"
        | "GlobalAveragePool"
        | "GlobalMaxPool"
        | "QLinearGlobalAveragePool"
        | "ArgMax"
        | "ArgMin"
        | "TopK"
        | "Hardmax"
        | "QLinearReduceMean" => 1,
        name if name.starts_with("Reduce") => 1,
        _ => return None,
    })
}
