//! The cost of PyTorch's operators, by the shapes that its profiler records.
//!
//! Only inputs are recorded. What comes out follows from them for products, attention and what works element
//! by element; for convolutions and pooling from the window as well, which newer versions record; reductions
//! make at most as much as they read, so that their bytes are an interval.

use super::{
    BATCH_NORM, Cost, Element, LAYER_NORM, Operand, RMS_NORM, SOFTMAX, attention, bytes,
    convolution, elements, product,
};
use crate::domain::work::NumberFormat;

/// An operator as it was called.
#[derive(Clone, Copy, Debug)]
pub struct TorchCall<'a> {
    /// Its name, without `aten::`.
    pub op: &'a str,
    /// Tensors that went in, by place; nothing where something else did.
    pub inputs: &'a [Option<Operand>],
    /// Other inputs as text, by place; empty where they were not recorded.
    pub values: &'a [String],
    /// What comes out of a convolution of these sizes, where other events of the trace say so.
    pub made: Option<&'a [usize]>,
}

/// What a call costs; nothing where there is no rule for it, or where the shapes do not say.
pub fn cost(call: &TorchCall<'_>) -> Option<Cost> {
    let found = call.convolution().or_else(|| call.product());
    let found = found.or_else(|| call.attention());
    let found = found.or_else(|| call.normalisation());
    let found = found.or_else(|| call.copy());
    let found = found.or_else(|| call.each_element());
    found.or_else(|| call.reduction())
}

/// Whether an operator is half of a convolution's way back, whose other half recorded the shapes together
/// with it in the operator around both.
pub fn is_half_of_backward(op: &str) -> bool {
    op.contains("convolution_backward_") || op.contains("conv2d_backward_")
}

/// The sizes that the way back of a convolution records: input, weights and result.
pub fn convolution_backward<'a>(call: &'a TorchCall<'_>) -> Option<[&'a Operand; 3]> {
    let order = match call.op {
        "cudnn_convolution_backward"
        | "miopen_convolution_backward"
        | "mkldnn_convolution_backward" => [0, 2, 1],
        "convolution_backward" => [1, 2, 0],
        _ => return None,
    };
    let [x, w, made] = order.map(|place| call.input(place));
    Some([x?, w?, made?])
}

impl TorchCall<'_> {
    fn input(&self, place: usize) -> Option<&Operand> {
        self.inputs.get(place)?.as_ref()
    }

    /// Whole numbers that were recorded as text: `[2, 2]`, `2`.
    fn list(&self, place: usize) -> Option<Vec<usize>> {
        let text = self.values.get(place)?.trim();
        let inner = text.trim_start_matches('[').trim_end_matches(']');
        let numbers = inner.split(',').map(|number| number.trim().parse().ok());
        numbers.collect()
    }

    /// Everything that goes in read once, and a result of these elements.
    fn cost(&self, operations: u64, made: u64, element: Element) -> Cost {
        let reads: Vec<u64> = self
            .inputs
            .iter()
            .map(|input| input.as_ref().map_or(0, Operand::bytes))
            .collect();
        let written = bytes(made, element);
        let high = reads
            .iter()
            .fold(written, |sum, &bytes| sum.saturating_add(bytes));
        Cost {
            operations: if element.numbers.is_some() {
                operations
            } else {
                0
            },
            numbers: element.numbers.unwrap_or(NumberFormat::F32),
            reads,
            writes: vec![written],
            high,
            is_view: false,
        }
    }

    fn convolution(&self) -> Option<Cost> {
        if let Some([x, w, made]) = convolution_backward(self) {
            let each = convolution(made.elements(), &w.dims);
            let element = made.element;
            let mut cost = self.cost(each, x.elements(), element);
            // Which of both ways back were wanted is not recorded; newer versions do both in one operator.
            cost.high = cost.high.saturating_add(w.bytes());
            return Some(cost);
        }
        let (stride, padding, dilation) = match self.op {
            "conv1d"
            | "conv2d"
            | "conv3d"
            | "convolution"
            | "_convolution"
            | "convolution_overrideable"
            | "cudnn_convolution_relu" => (3, 4, 5),
            "cudnn_convolution" => (3, 2, 4),
            "miopen_convolution" | "mkldnn_convolution" => (4, 3, 5),
            "_conv_depthwise2d" | "thnn_conv2d" | "_slow_conv2d_forward" => (4, 5, 6),
            _ => return None,
        };
        let [x, w] = [self.input(0)?, self.input(1)?];
        let is_transposed = matches!(self.op, "convolution" | "_convolution")
            && self.values.get(6).is_some_and(|flag| flag == "True");
        if is_transposed || w.dims.len() < 3 || x.dims.len() != w.dims.len() {
            return None;
        }
        let spatial = x.dims.get(2..)?;
        let list = |place, otherwise: usize| {
            let list = self.list(place);
            let known = list.filter(|list| list.len() == spatial.len() || list.len() == 1);
            move |axis: usize| {
                known.as_ref().map_or(Some(otherwise), |known| {
                    known.get(axis).or_else(|| known.first()).copied()
                })
            }
        };
        let dims = if let Some(made) = self.made {
            made.to_vec()
        } else {
            self.list(stride).filter(|list| !list.is_empty())?;
            let (stride, padding, dilation) =
                (list(stride, 1), list(padding, 0), list(dilation, 1));
            let mut dims = vec![*x.dims.first()?, *w.dims.first()?];
            for (axis, &size) in spatial.iter().enumerate() {
                let reach = dilation(axis)?.checked_mul(w.dims[axis + 2].checked_sub(1)?)?;
                let room = size.checked_add(padding(axis)?.checked_mul(2)?)?;
                let places = room.checked_sub(reach)?.checked_sub(1)?;
                dims.push(places.checked_div(stride(axis)?)? + 1);
            }
            dims
        };
        let made = elements(&dims);
        Some(self.cost(convolution(made, &w.dims), made, x.element))
    }

    fn product(&self) -> Option<Cost> {
        let (first, second, is_linear) = match self.op {
            "mm" | "bmm" | "matmul" | "_scaled_mm" | "mv" => (0, 1, false),
            "addmm" | "addmm_" | "baddbmm" | "baddbmm_" | "_addmm_activation" | "addmv" => {
                (1, 2, false)
            }
            "linear" | "mkldnn_linear" | "_mkl_linear" => (0, 1, true),
            _ => return None,
        };
        let [a, b] = [self.input(first)?, self.input(second)?];
        let inner = *a.dims.last()?;
        let (columns, pairs) = match (&b.dims[..], is_linear) {
            ([inputs], _) => (1, *inputs),
            ([outputs, inputs], true) | ([.., inputs, outputs], false) => {
                (*outputs as u64, *inputs)
            }
            _ => return None,
        };
        if pairs != inner {
            return None;
        }
        let rows = a.elements().checked_div(inner as u64)?;
        // Where a matrix meets many, it stays and they are read.
        let many = match &b.dims[..] {
            [many @ .., _, _] if a.dims.len() <= 2 => elements(many),
            _ => 1,
        };
        let made = rows.saturating_mul(columns).saturating_mul(many);
        let sums = u64::from(first == 1 || is_linear && self.input(2).is_some());
        let operations = product(made, inner as u64).saturating_add(made.saturating_mul(sums));
        Some(self.cost(operations, made, a.element))
    }

    fn attention(&self) -> Option<Cost> {
        let (causal, keys_at) = match self.op {
            "scaled_dot_product_attention" => (5, 1),
            "_scaled_dot_product_flash_attention" | "_scaled_dot_product_cudnn_attention" => {
                (if self.op.contains("cudnn") { 6 } else { 4 }, 1)
            }
            "_scaled_dot_product_flash_attention_for_cpu" => (4, 1),
            "_scaled_dot_product_efficient_attention" => (6, 1),
            "_flash_attention_forward" => (8, 2),
            "_efficient_attention_forward" => (usize::MAX, 2),
            _ => return None,
        };
        let [query, key, value] = [self.input(0)?, self.input(1)?, self.input(2)?];
        if [query, key, value]
            .iter()
            .any(|operand| operand.dims.len() < 3)
        {
            return None;
        }
        let along = |operand: &Operand| {
            let place = operand.dims.len() - 1 - keys_at;
            operand.dims.get(place).copied()
        };
        let keys = along(key)? as u64;
        let width = (*query.dims.last()?).max(1) as u64;
        let results = (query.elements() / width).saturating_mul(*value.dims.last()? as u64);
        // A query of a causal one sees half of the keys that came with it. Counted low where that was not
        // recorded.
        let is_full = self.values.get(causal).is_some_and(|flag| flag == "False");
        let seen = if is_full {
            keys
        } else {
            keys.saturating_sub((along(query)? as u64).min(keys) / 2)
        };
        let operations = attention(query.elements(), results, seen);
        let mut cost = self.cost(operations, results, query.element);
        let scores = bytes(
            (query.elements() / width).saturating_mul(keys),
            query.element,
        );
        cost.high = cost.high.saturating_add(scores.saturating_mul(2));
        Some(cost)
    }

    fn normalisation(&self) -> Option<Cost> {
        let each = match self.op {
            "rms_norm" | "_fused_rms_norm" => RMS_NORM,
            "batch_norm"
            | "native_batch_norm"
            | "cudnn_batch_norm"
            | "miopen_batch_norm"
            | "_batch_norm_impl_index"
            | "_native_batch_norm_legit"
            | "_native_batch_norm_legit_no_training" => BATCH_NORM,
            "_softmax" | "softmax" | "_log_softmax" | "log_softmax" => SOFTMAX,
            "_softmax_backward_data" | "_log_softmax_backward_data" => 3,
            "layer_norm"
            | "native_layer_norm"
            | "native_group_norm"
            | "group_norm"
            | "cudnn_batch_norm_backward"
            | "miopen_batch_norm_backward"
            | "native_batch_norm_backward"
            | "native_layer_norm_backward" => LAYER_NORM,
            _ => return None,
        };
        let x = self.input(0)?;
        let made = x.elements();
        Some(self.cost(made.saturating_mul(each), made, x.element))
    }

    /// What moves or fills and computes nothing.
    fn copy(&self) -> Option<Cost> {
        let x = self.input(0)?;
        Some(match self.op {
            "copy_" | "_copy_from" => {
                let from = self.input(1)?;
                let mut cost = self.cost(0, x.elements(), x.element);
                *cost.reads.first_mut()? = 0;
                cost.high = from.bytes().saturating_add(x.bytes());
                cost
            }
            "zero_" | "fill_" => {
                let mut cost = self.cost(0, x.elements(), x.element);
                cost.reads.fill(0);
                cost.high = x.bytes();
                cost
            }
            "embedding" => {
                let width = *x.dims.get(1)? as u64;
                let made = self.input(1)?.elements().saturating_mul(width);
                let mut cost = self.cost(0, made, x.element);
                *cost.reads.first_mut()? = bytes(made, x.element).min(x.bytes());
                cost.high = cost.reads.iter().chain(&cost.writes).sum();
                cost
            }
            "index_select" | "gather" => {
                let at = self.input(2)?;
                let made = match (self.op, x.elements()) {
                    ("gather", _) => at.elements(),
                    // One row for each place, along a dimension that is recorded as text.
                    (_, all) => {
                        let along: usize = self.values.get(1)?.parse().ok()?;
                        let size = *x.dims.get(along)? as u64;
                        all.checked_div(size)?.saturating_mul(at.elements())
                    }
                };
                let mut cost = self.cost(0, made, x.element);
                *cost.reads.first_mut()? = bytes(made, x.element).min(x.bytes());
                cost.high = cost.reads.iter().chain(&cost.writes).sum();
                cost
            }
            "masked_fill_" | "masked_fill" | "where" | "triu" | "tril" | "flip" | "roll" => {
                let first = if self.op == "where" {
                    self.input(1)?
                } else {
                    x
                };
                self.cost(0, first.elements(), first.element)
            }
            _ => return None,
        })
    }

    /// Operators whose result has the common sizes of what goes in.
    fn each_element(&self) -> Option<Cost> {
        let plain = self.op.strip_suffix('_').unwrap_or(self.op);
        let each = match plain {
            "add" | "sub" | "rsub" | "mul" | "div" | "pow" | "maximum" | "minimum"
            | "remainder" | "relu" | "gelu" | "sigmoid" | "silu" | "tanh" | "exp" | "log"
            | "sqrt" | "rsqrt" | "sin" | "cos" | "erf" | "neg" | "abs" | "reciprocal" | "clamp"
            | "clamp_min" | "clamp_max" | "threshold" | "hardtanh" | "hardswish"
            | "hardsigmoid" | "leaky_relu" | "elu" | "softplus" | "mish" | "square"
            | "native_dropout" | "dropout" | "round" | "floor" | "threshold_backward"
            | "gelu_backward" | "silu_backward" | "sigmoid_backward" | "tanh_backward"
            | "hardtanh_backward" | "cumsum" => 1,
            "addcmul" | "addcdiv" | "lerp" => 3,
            _ => return None,
        };
        let first = self.inputs.iter().flatten().next()?;
        let mut dims = Vec::new();
        for operand in self.inputs.iter().flatten() {
            dims = common(&dims, &operand.dims)?;
        }
        let is_in_place = self.op.ends_with('_');
        let made = if is_in_place {
            first.elements()
        } else {
            elements(&dims)
        };
        // Floats win over whole numbers, and tensors over what has one element.
        let floats = self.inputs.iter().flatten();
        let widest = floats
            .max_by_key(|operand| (operand.element.numbers.is_some(), !operand.dims.is_empty()));
        let element = if is_in_place {
            first.element
        } else {
            widest?.element
        };
        Some(self.cost(made.saturating_mul(each), made, element))
    }

    /// Operators that make at most as much as they read.
    fn reduction(&self) -> Option<Cost> {
        match self.op {
            "sum"
            | "mean"
            | "max"
            | "min"
            | "amax"
            | "amin"
            | "argmax"
            | "argmin"
            | "prod"
            | "var_mean"
            | "std"
            | "var"
            | "norm"
            | "linalg_vector_norm"
            | "topk"
            | "max_pool2d_with_indices"
            | "max_pool2d"
            | "avg_pool2d"
            | "adaptive_avg_pool2d"
            | "_adaptive_avg_pool2d"
            | "mse_loss" => {}
            _ => return None,
        }
        let x = self.input(0)?;
        let mut cost = self.cost(x.elements(), 0, x.element);
        let places = if self.op.contains("indices") { 8 } else { 0 };
        let most = x
            .bytes()
            .saturating_add(x.elements().saturating_mul(places));
        cost.high = cost.high.saturating_add(most);
        Some(cost)
    }
}

/// The common sizes of two, by the rules of `NumPy`.
fn common(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |dims: &[usize], index: usize| {
        (index + dims.len())
            .checked_sub(rank)
            .map_or(1, |index| dims[index])
    };
    let sizes = (0..rank).map(|index| match (at(a, index), at(b, index)) {
        (1, size) | (size, 1) => Some(size),
        (left, right) => (left == right).then_some(left),
    });
    sizes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost_of(op: &str, dims: &[&[usize]], values: &[&str]) -> Option<Cost> {
        let operand = |dims: &&[usize]| Some(Operand::new(dims, Element::F32));
        let inputs: Vec<Option<Operand>> = dims.iter().map(operand).collect();
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        cost(&TorchCall {
            op,
            inputs: &inputs,
            values: &values,
            made: None,
        })
    }

    /// 4 pictures, 768 windows of 16 × 16 × 3 at 14 × 14 places: 4 · 768 · 196 · 768 multiply-accumulates.
    #[test]
    fn convolutions_need_their_window() {
        let dims: &[&[usize]] = &[&[4, 3, 224, 224], &[768, 3, 16, 16], &[768]];
        let found = cost_of(
            "conv2d",
            dims,
            &["", "", "", "[16, 16]", "[0, 0]", "[1, 1]", "1"],
        );
        let found = found.unwrap();
        let macs = 4 * 768 * 196 * 768_u64;
        assert_eq!(found.operations, 2 * macs);
        assert_eq!(found.writes, [4 * 768 * 196 * 4]);
        assert_eq!(cost_of("conv2d", dims, &[]), None);
        let stem = cost_of(
            "cudnn_convolution",
            &[&[1, 3, 224, 224], &[64, 3, 7, 7]],
            &["", "", "[3, 3]", "[2, 2]", "[1, 1]", "1"],
        );
        assert_eq!(stem.unwrap().operations, 2 * 64 * 112 * 112 * 147);
    }

    #[test]
    fn products_and_attention() {
        let linear = cost_of("linear", &[&[4, 197, 768], &[3072, 768], &[3072]], &[]).unwrap();
        let made = 4 * 197 * 3072;
        assert_eq!(linear.operations, made * (2 * 768 + 1));
        let added = cost_of("addmm", &[&[3072], &[788, 768], &[768, 3072]], &[]).unwrap();
        assert_eq!(added.operations, linear.operations);
        let bmm = cost_of("bmm", &[&[48, 197, 64], &[48, 64, 197]], &[]).unwrap();
        assert_eq!(bmm.operations, 2 * 48 * 197 * 197 * 64);
        assert_eq!(cost_of("mm", &[&[2, 3], &[4, 5]], &[]), None);
        let heads: &[usize] = &[4, 12, 197, 64];
        let dims = [heads; 3];
        let full = ["", "", "", "", "", "False"];
        let found = cost_of("scaled_dot_product_attention", &dims, &full).unwrap();
        assert_eq!(found.operations, 2 * 2 * 4 * 12 * 197 * 197 * 64);
        let scores = 4 * 12 * 197 * 197 * 4_u64;
        let moved = 4 * (4 * 12 * 197 * 64 * 4_u64);
        assert_eq!(
            (found.work().low_bytes, found.high),
            (moved, moved + 2 * scores)
        );
    }

    #[test]
    fn sums_copies_and_reductions() {
        let add = cost_of("add", &[&[2, 3, 4], &[4]], &[]).unwrap();
        assert_eq!(
            (add.operations, add.work().low_bytes),
            (24, 4 * (24 + 4 + 24))
        );
        let copy = cost_of("copy_", &[&[10], &[10]], &[]).unwrap();
        assert_eq!((copy.operations, copy.work().low_bytes), (0, 80));
        let sum = cost_of("sum", &[&[10]], &[]).unwrap();
        assert_eq!(
            (sum.operations, sum.work().low_bytes, sum.high),
            (10, 40, 80)
        );
        let table = cost_of("embedding", &[&[1000, 8], &[3]], &[]).unwrap();
        assert_eq!(table.work().low_bytes, 3 * 4 + 2 * 3 * 8 * 4);
        assert_eq!(cost_of("nll_loss", &[&[10]], &[]), None);
    }
}
