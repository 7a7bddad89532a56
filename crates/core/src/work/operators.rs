//! The cost of ONNX's operators and of ONNX Runtime's own ones, by shapes.

use super::operator_kinds::{each_input, each_output, is_move, is_view};
use super::{Cost, Operand, attention, bytes, convolution, elements, product};
use crate::domain::work::NumberFormat;

/// Attributes of a node, where they are known.
pub trait Attributes {
    /// Whether an attribute that is not there is left out on purpose, and not merely unknown.
    fn are_known(&self) -> bool;
    /// A whole number.
    fn int(&self, name: &str) -> Option<i64>;
    /// Several.
    fn ints(&self, name: &str) -> Option<&[i64]>;
    /// A text.
    fn text(&self, name: &str) -> Option<&str>;
}

/// The attributes of a node in a profile, which are unknown.
#[derive(Clone, Copy, Debug)]
pub struct NoAttributes;

impl Attributes for NoAttributes {
    fn are_known(&self) -> bool {
        false
    }

    fn int(&self, _name: &str) -> Option<i64> {
        None
    }

    fn ints(&self, _name: &str) -> Option<&[i64]> {
        None
    }

    fn text(&self, _name: &str) -> Option<&str> {
        None
    }
}

/// A node: its operator, what goes in and what comes out. What is left out is nothing.
#[derive(Clone, Copy)]
pub struct OperatorCall<'a> {
    /// The operator, without its domain.
    pub op: &'a str,
    /// Its attributes.
    pub attributes: &'a dyn Attributes,
    /// What goes in.
    pub inputs: &'a [Option<Operand>],
    /// What comes out.
    pub outputs: &'a [Option<Operand>],
}

/// What a node costs; nothing where there is no rule for it, or where the shapes do not say.
pub fn cost(node: &OperatorCall<'_>) -> Option<Cost> {
    let mut cost = node.move_cost();
    let (operations, between) = node.operations(&mut cost)?;
    cost.operations = operations;
    cost.high = cost.high.saturating_add(between);
    Some(cost)
}

impl OperatorCall<'_> {
    fn input(&self, index: usize) -> Option<&Operand> {
        self.inputs.get(index)?.as_ref()
    }

    fn output(&self, index: usize) -> Option<&Operand> {
        self.outputs.get(index)?.as_ref()
    }

    /// How many elements come out.
    fn made(&self) -> Option<u64> {
        Some(self.output(0)?.elements())
    }

    /// Everything read and written once, and no operations.
    fn move_cost(&self) -> Cost {
        let each = |operands: &[Option<Operand>]| -> Vec<u64> {
            let sizes = operands.iter().map(|operand| operand.as_ref());
            sizes
                .map(|operand| operand.map_or(0, Operand::bytes))
                .collect()
        };
        let (reads, writes) = (each(self.inputs), each(self.outputs));
        let moved = reads.iter().chain(&writes);
        Cost {
            operations: 0,
            numbers: self.numbers(),
            high: moved.fold(0, |sum: u64, &bytes| sum.saturating_add(bytes)),
            reads,
            writes,
            is_view: is_view(self.op),
        }
    }

    /// What is computed with.
    fn numbers(&self) -> NumberFormat {
        let is_quantised = self.op.starts_with("QLinear")
            || self.op.contains("Integer")
            || matches!(self.op, "QGemm" | "QAttention" | "DynamicQuantizeMatMul");
        if is_quantised {
            return NumberFormat::Int8;
        }
        let floats = self.inputs.iter().chain(self.outputs).flatten();
        let mut floats = floats.filter_map(|operand| operand.element.numbers);
        let is_scaled = matches!(
            self.op,
            "QuantizeLinear" | "DequantizeLinear" | "MatMulNBits" | "DynamicQuantizeLinear"
        );
        let first = if is_scaled {
            floats.find(|numbers| *numbers != NumberFormat::Int8)
        } else {
            floats.next()
        };
        first.unwrap_or(NumberFormat::F32)
    }

    /// Operations, and bytes that have to be between inputs and outputs where everything is written once.
    /// Corrects what is moved of the inputs and outputs.
    fn operations(&self, cost: &mut Cost) -> Option<(u64, u64)> {
        let none = Some((0, 0));
        let floats = |count: u64| {
            let is_float = |operand: &Operand| operand.element.numbers.is_some();
            let is_float = self
                .inputs
                .iter()
                .chain(self.outputs)
                .flatten()
                .any(is_float);
            Some((if is_float { count } else { 0 }, 0))
        };
        if is_view(self.op) {
            return none;
        }
        if let Some(each) = each_output(self.op) {
            self.gather_rows(cost);
            return floats(self.made()?.saturating_mul(each));
        }
        if let Some(each) = each_input(self.op) {
            return floats(self.input(0)?.elements().saturating_mul(each));
        }
        if let Some(inner) = turned(self.op) {
            return self.turned_product(inner);
        }
        match self.op {
            "Conv" | "FusedConv" | "NhwcFusedConv" | "ConvInteger" => self.convolve(1, false),
            "QLinearConv" => self.convolve(3, false),
            "ConvTranspose" => self.convolve(1, true),
            "MatMul"
            | "MatMulInteger"
            | "MatMulIntegerToFloat"
            | "DynamicQuantizeMatMul"
            | "FusedMatMul"
            | "FusedMatMulActivation"
            | "MatMulNBits"
            | "Gemm"
            | "FusedGemm" => self.multiply(1, cost),
            "QLinearMatMul" | "QGemm" => self.multiply(3, cost),
            "Sum" | "Mean" => {
                let sums = (self.inputs.len() as u64).saturating_sub(1);
                floats(self.made()?.saturating_mul(sums))
            }
            "MaxPool" | "AveragePool" | "LpPool" | "QLinearAveragePool" => floats(self.pool()?),
            "Resize" | "Upsample" => {
                let made = self.made()?;
                let taken = bytes(made.min(self.input(0)?.elements()), self.input(0)?.element);
                *cost.reads.first_mut()? = taken;
                let is_smooth = self
                    .attributes
                    .text("mode")
                    .is_some_and(|mode| mode != "nearest");
                floats(if is_smooth { made } else { 0 })
            }
            "LSTM" => self.recurrent(4),
            "GRU" => self.recurrent(3),
            "RNN" => self.recurrent(1),
            "Einsum" => self.einsum(),
            "Attention" if self.input(1)?.dims.len() == 2 => self.packed_attention(),
            "Attention" | "MultiHeadAttention" => self.attend(false),
            "GroupQueryAttention" => self.attend(true),
            "Gather" | "GatherElements" | "GatherND" => self.gather(cost),
            "Slice" | "Split" | "SplitToSequence" => slice(cost),
            "ScatterND" | "ScatterElements" | "Scatter" => self.scatter(cost),
            "Shape" | "Size" => {
                cost.reads.fill(0);
                cost.high = cost.writes.iter().sum();
                none
            }
            op if is_move(op) => none,
            _ => None,
        }
    }

    /// A convolution whose weights are the input with this index.
    fn convolve(&self, weights: usize, is_transposed: bool) -> Option<(u64, u64)> {
        let (x, w, made) = (self.input(0)?, self.input(weights)?, self.made()?);
        // Where weights were packed beforehand, the profile leaves them out, and another input is here.
        if w.dims.len() != x.dims.len() || w.dims.len() < 3 {
            return None;
        }
        let places = if is_transposed { x.elements() } else { made };
        let added = match self.op {
            "QLinearConv" => self.input(8).is_some(),
            "ConvInteger" => false,
            _ => self.input(2).is_some(),
        };
        let added = u64::from(added) + u64::from(self.op == "FusedConv" && self.input(3).is_some());
        let sums = made.saturating_mul(added);
        Some((convolution(places, &w.dims).saturating_add(sums), 0))
    }

    /// A matrix product whose second factor is the input with this index.
    fn multiply(&self, second: usize, cost: &mut Cost) -> Option<(u64, u64)> {
        let (a, out) = (self.input(0)?, self.output(0)?);
        let rank = a.dims.len();
        let flag = self.attributes.int("transA");
        let rows = *out.dims.get(out.dims.len().checked_sub(2)?).unwrap_or(&1);
        let is_gemm = matches!(self.op, "Gemm" | "FusedGemm" | "QGemm");
        let is_swapped = match flag {
            Some(flag) => flag != 0,
            None if self.attributes.are_known() || !is_gemm => false,
            // Square matrices look alike, and then both ways cost the same.
            None => a.dims.first() != Some(&rows) && a.dims.get(1) == Some(&rows),
        };
        let inner = if is_swapped {
            *a.dims.get(rank.checked_sub(2)?)?
        } else {
            *a.dims.last()?
        };
        let made = out.elements();
        // Where weights were packed beforehand, the profile leaves them out.
        let columns = *out.dims.last()?;
        let weights = (inner as u64).saturating_mul(columns as u64);
        let has_factor = self.op == "MatMulNBits" && self.attributes.are_known()
            || self.input(second).is_some_and(|b| {
                b.elements() >= weights || b.dims.len() == 1 && columns != b.dims[0]
            });
        if !has_factor && !self.attributes.are_known() {
            let bits = if self.op == "MatMulNBits" {
                4
            } else if cost.numbers == NumberFormat::Int8 {
                8
            } else {
                a.element.bits
            };
            let packed = weights.saturating_mul(bits).div_ceil(8);
            cost.reads.push(packed);
            cost.high = cost.high.saturating_add(packed);
        }
        let has_bias = is_gemm && self.input(2).is_some();
        let sums = if has_bias { made } else { 0 };
        Some((product(made, inner as u64).saturating_add(sums), 0))
    }

    /// A product whose factors are turned on the way in, as rten has it: what is recorded are the factors as they
    /// were before. Sizes of factors and result together say how many pairs each element comes from.
    fn turned_product(&self, inner: &str) -> Option<(u64, u64)> {
        let is_product = matches!(inner, "MatMul" | "FusedMatMul");
        let [a, b, out] = [self.input(0)?, self.input(1)?, self.output(0)?];
        let [.., _, _] = out.dims[..] else {
            return None;
        };
        let made = out.elements();
        let many = elements(&out.dims[..out.dims.len() - 2]);
        let pairs = u128::from(a.elements()) * u128::from(b.elements());
        let squared = pairs.checked_div(u128::from(made) * u128::from(many))?;
        let inner = squared.isqrt();
        // Where one factor serves many products, the sizes do not say it.
        let fits = inner * inner * u128::from(made) * u128::from(many) == pairs;
        (is_product && fits).then(|| (product(made, inner as u64), 0))
    }

    /// Comparisons or sums of a pooling. Without its window each value that goes in counts once.
    fn pool(&self) -> Option<u64> {
        let window = self.attributes.ints("kernel_shape");
        let Some(window) = window.filter(|window| !window.is_empty()) else {
            return Some(self.input(0)?.elements());
        };
        let window = window.iter().map(|&size| size.max(0) as u64);
        Some(
            self.made()?
                .saturating_mul(window.fold(1, u64::saturating_mul)),
        )
    }

    /// A recurrent layer of so many gates: steps × batch × inputs in, weights of inputs and of what is kept.
    fn recurrent(&self, gates: u64) -> Option<(u64, u64)> {
        let [x, w, again] = [self.input(0)?, self.input(1)?, self.input(2)?];
        let (&[first, second, _], &[ways, _, _], &[_, _, hidden]) =
            (&x.dims[..], &w.dims[..], &again.dims[..])
        else {
            return None;
        };
        let steps = (first as u64).saturating_mul(second as u64);
        let products = product(steps, w.elements().saturating_add(again.elements()));
        let kept = elements(&[ways, hidden]).saturating_mul(gates);
        Some((products.saturating_add(steps.saturating_mul(kept)), 0))
    }

    /// A sum over products of elements, where the equation names every dimension by a letter.
    fn einsum(&self) -> Option<(u64, u64)> {
        let equation: String = self
            .attributes
            .text("equation")?
            .split_whitespace()
            .collect();
        let (from, _) = equation.split_once("->").unwrap_or((&equation, ""));
        if equation.contains('.') {
            return None;
        }
        let mut sizes: Vec<(char, usize)> = Vec::new();
        for (term, operand) in from.split(',').zip(self.inputs) {
            let dims = &operand.as_ref()?.dims;
            if term.chars().count() != dims.len() {
                return None;
            }
            for (letter, &size) in term.chars().zip(dims) {
                match sizes.iter_mut().find(|(known, _)| *known == letter) {
                    Some((_, known)) => *known = size.max(*known),
                    None => sizes.push((letter, size)),
                }
            }
        }
        let all: Vec<usize> = sizes.iter().map(|(_, size)| *size).collect();
        let all = elements(&all);
        let made = self.made()?;
        let count = match from.split(',').count() {
            1 => all.saturating_sub(made),
            2 if all > made => product(all, 1),
            2 => all,
            _ => return None,
        };
        Some((count, 0))
    }

    /// Attention with a product before it, as ONNX Runtime has it: input, and weights of queries, keys and
    /// values in one.
    fn packed_attention(&self) -> Option<(u64, u64)> {
        let [x, w] = [self.input(0)?, self.input(1)?];
        let (&[batch, length, _], &[inner, columns]) = (&x.dims[..], &w.dims[..]) else {
            return None;
        };
        let out = self.made()?;
        let rows = elements(&[batch, length]);
        let before = product(rows.saturating_mul(columns as u64), inner as u64);
        let past = self.input(4).and_then(|past| past.dims.get(3).copied());
        let is_causal = self.attributes.int("unidirectional") == Some(1);
        let keys = (length + past.unwrap_or(0)) as u64;
        let seen = if is_causal { keys / 2 } else { keys };
        let scores = attention(out, out, seen);
        Some((before.saturating_add(scores), self.scores(rows, keys, x)))
    }

    /// Attention of given queries, keys and values.
    fn attend(&self, is_causal: bool) -> Option<(u64, u64)> {
        let [query, key, out] = [self.input(0)?, self.input(1)?, self.output(0)?];
        let is_causal = is_causal || self.attributes.int("is_causal") == Some(1);
        let length_of = |operand: &Operand| operand.dims.iter().rev().nth(1).copied();
        let rows = match query.dims[..] {
            [batch, length, _] | [batch, _, length, _] => elements(&[batch, length]),
            _ => return None,
        };
        let queries = length_of(query)? as u64;
        let keys = match self.output(1).map(|present| &present.dims[..]) {
            Some(&[_, _, all, _]) => {
                // A buffer for the longest text has more places than there are keys.
                let past = self.input(if self.op == "MultiHeadAttention" {
                    6
                } else {
                    3
                });
                let is_shared = past.is_some_and(|past| past.dims.get(2) == Some(&all));
                if is_shared && queries < all as u64 {
                    return None;
                }
                all
            }
            _ if key.dims.len() == 5 => *key.dims.get(1)?,
            _ => length_of(key)?,
        } as u64;
        // In a causal one, a query sees half of those that came with it.
        let seen = if is_causal {
            keys.saturating_sub(queries.min(keys) / 2)
        } else {
            keys
        };
        // Queries may come with their keys and values in one tensor; results have the width of values.
        let asked = out.elements().min(query.elements());
        Some((
            attention(asked, out.elements(), seen),
            self.scores(rows, keys, query),
        ))
    }

    /// Bytes of the scores, where they are written and read once.
    fn scores(&self, rows: u64, keys: u64, like: &Operand) -> u64 {
        let heads = self.attributes.int("num_heads").or_else(|| {
            let own = like.dims.get(1).filter(|_| like.dims.len() == 4);
            own.map(|&heads| heads as i64)
        });
        let heads = heads.map_or(0, |heads| heads.max(0) as u64);
        let count = rows.saturating_mul(keys).saturating_mul(heads);
        bytes(count, like.element).saturating_mul(2)
    }

    /// Rows of tables, which are read as far as they are needed.
    fn gather_rows(&self, cost: &mut Cost) {
        if self.op == "EmbedLayerNormalization" {
            let written = cost.writes.first().copied().unwrap_or(0);
            for read in cost.reads.iter_mut().skip(2).take(3) {
                *read = written.min(*read);
            }
            cost.high = cost.reads.iter().chain(&cost.writes).sum();
        }
    }

    /// Elements of a tensor by their places: what is not asked for is not read.
    fn gather(&self, cost: &mut Cost) -> Option<(u64, u64)> {
        let table = self.input(0)?;
        let taken = bytes(self.made()?, table.element);
        *cost.reads.first_mut()? = taken.min(table.bytes());
        cost.high = cost.reads.iter().chain(&cost.writes).sum();
        Some((0, 0))
    }

    /// Elements put into a tensor, which at best is the one that comes out.
    fn scatter(&self, cost: &mut Cost) -> Option<(u64, u64)> {
        let updates = self.input(2)?.bytes();
        *cost.reads.first_mut()? = 0;
        *cost.writes.first_mut()? = updates;
        Some((0, 0))
    }
}

/// The operator within one of rten's that turns its inputs first.
fn turned(op: &str) -> Option<&str> {
    op.strip_prefix("TransformInputs(")?.strip_suffix(')')
}

/// Parts of a tensor: as much is read as is written.
fn slice(cost: &mut Cost) -> Option<(u64, u64)> {
    let written: u64 = cost.writes.iter().sum();
    let first = cost.reads.first_mut()?;
    *first = written.min(*first);
    cost.high = cost.reads.iter().chain(&cost.writes).sum();
    Some((0, 0))
}

#[cfg(test)]
mod tests {
    use super::super::Element;
    use super::*;

    fn cost_of(op: &str, inputs: &[&[usize]], outputs: &[&[usize]]) -> Option<Cost> {
        let operands = |dims: &[&[usize]]| -> Vec<Option<Operand>> {
            let each = dims.iter().map(|dims| Operand::new(dims, Element::F32));
            each.map(Some).collect()
        };
        cost(&OperatorCall {
            op,
            attributes: &NoAttributes,
            inputs: &operands(inputs),
            outputs: &operands(outputs),
        })
    }

    #[track_caller]
    fn check(op: &str, inputs: &[&[usize]], outputs: &[&[usize]], expect: (u64, u64, u64)) {
        let work = cost_of(op, inputs, outputs).unwrap().work();
        let found = (work.operations, work.low_bytes, work.high_bytes);
        assert_eq!(found, expect, "{op}");
    }

    #[test]
    fn products_count_two_for_each_pair() {
        let moved = 4 * (2 * 3 + 3 * 5 + 2 * 5);
        check(
            "MatMul",
            &[&[2, 3], &[3, 5]],
            &[&[2, 5]],
            (60, moved, moved),
        );
        // Weights that were packed beforehand are no input any more, and are read all the same.
        check("MatMul", &[&[2, 3]], &[&[2, 5]], (60, moved, moved));
        let with_bias = moved + 20;
        check(
            "Gemm",
            &[&[2, 3], &[5]],
            &[&[2, 5]],
            (60, with_bias, with_bias),
        );
        let conv = 4 * (3 * 64 + 4 * 3 * 9 + 4 * 64);
        let made = 2 * 4 * 64 * 27;
        let dims: &[&[usize]] = &[&[1, 3, 8, 8], &[4, 3, 3, 3]];
        check("Conv", dims, &[&[1, 4, 8, 8]], (made, conv, conv));
        assert_eq!(
            cost_of("Conv", &[&[1, 3, 8, 8], &[4]], &[&[1, 4, 8, 8]]),
            None
        );
    }

    #[test]
    fn views_move_nothing_at_best_and_gathers_what_they_pick() {
        check("Reshape", &[&[2, 3]], &[&[6]], (0, 0, 48));
        check("Transpose", &[&[2, 3]], &[&[3, 2]], (0, 48, 48));
        check("Gather", &[&[1000, 4], &[2]], &[&[2, 4]], (0, 72, 72));
        check("Slice", &[&[1000, 4]], &[&[2, 4]], (0, 64, 64));
        check("Softmax", &[&[2, 3]], &[&[2, 3]], (30, 48, 48));
        check("Relu", &[&[6]], &[&[6]], (6, 48, 48));
    }

    /// Queries and keys of 12 heads, 128 words of 64 values, before they are turned.
    #[test]
    fn factors_that_are_turned_on_the_way_in_are_followed() {
        let words: &[usize] = &[1, 128, 12, 64];
        let found = cost_of(
            "TransformInputs(FusedMatMul)",
            &[words, words],
            &[&[1, 12, 128, 128]],
        );
        assert_eq!(found.unwrap().operations, 2 * 12 * 128 * 128 * 64);
        let odd = cost_of("TransformInputs(MatMul)", &[&[3], &[5]], &[&[2, 2]]);
        assert_eq!(odd, None);
    }

    /// Steps × batch × 4 gates × hidden × (inputs + hidden), two each, and one function a gate.
    #[test]
    fn recurrent_layers_count_their_steps() {
        let dims: &[&[usize]] = &[&[10, 2, 3], &[1, 20, 3], &[1, 20, 5]];
        let products = 2 * 10 * 2 * 20 * (3 + 5);
        let moved = 4 * (60 + 60 + 100 + 100);
        let expect = (products + 10 * 2 * 20, moved, moved);
        check("LSTM", dims, &[&[10, 1, 2, 5]], expect);
    }

    #[test]
    fn what_is_not_known_has_no_cost() {
        for op in [
            "If",
            "Loop",
            "Scan",
            "Mystery",
            "Einsum",
            "NonMaxSuppression",
        ] {
            assert_eq!(cost_of(op, &[&[2, 2], &[2, 2]], &[&[2, 2]]), None, "{op}");
        }
    }
}
