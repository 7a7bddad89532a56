//! The work of what ran, from the shapes that a profiler recorded beside it.
//!
//! ONNX Runtime records types and sizes of what goes into a node and comes out of it. PyTorch records what went
//! into an operator, and a kernel belongs to the operator around the call that launched it: the innermost one
//! whose cost is known. Where an operator launched several kernels, all its work goes to the longest, if that
//! takes at least half of their time: the others rearrange or gather what it computes. Otherwise nothing is
//! known of any, and neither where they convolve by Winograd's method or by Fourier transforms, which need fewer
//! operations than the sizes say. Without kernels, the operators that have none within them whose cost is known have the work.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::reading::by_id::ById;
use powerband_core::domain::slice_args;
use powerband_core::domain::trace::{SliceKind, Trace};
use powerband_core::domain::trace_nesting::{each_within, is_operator_or_call};
use powerband_core::domain::work::{NumberFormat, Work};
use powerband_core::work::operators::{self, NoAttributes, OperatorCall};
use powerband_core::work::torch::{self, TorchCall};
use powerband_core::work::{Element, Operand, bytes};

/// Stands for no slice.
const NONE: u32 = u32::MAX;

/// Arguments that work follows from.
const INPUTS: [&str; 6] = [
    "bytes",
    "input dims",
    "input type",
    "concrete inputs",
    "input_type_shape",
    "output_type_shape",
];

/// Whether work follows from an argument of that name.
pub(crate) fn is_input(key: &[u8]) -> bool {
    // Most keys are of no such length.
    matches!(key.len(), 5 | 10 | 15..=17)
        && INPUTS
            .iter()
            .any(|known| key.eq_ignore_ascii_case(known.as_bytes()))
}

/// The work of slices, by their index.
pub(crate) type SliceWork = FxHashMap<u32, Work>;

/// What is known of the work of a trace's slices, by the importer that read it.
pub(crate) fn of_trace(trace: &Trace, format: &str) -> SliceWork {
    match format {
        _ if !trace.has_shapes() => SliceWork::default(),
        "onnxruntime" => of_nodes(trace),
        "pytorch" => LaunchTree::new(trace).work(),
        _ => SliceWork::default(),
    }
}

/// The argument of that name.
fn argument<'a>(arguments: &'a str, name: &str) -> Option<&'a str> {
    let mut known = slice_args::pairs(arguments);
    let found = known.find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value)
}

/// Nodes of ONNX Runtime.
fn of_nodes(trace: &Trace) -> SliceWork {
    let mut known: FxHashMap<(u32, u32), Option<Work>> = FxHashMap::default();
    let mut found = SliceWork::default();
    for (index, slice) in trace.slices().enumerate() {
        if slice.kind != SliceKind::Kernel || slice.op == 0 {
            continue;
        }
        let key = (slice.op, slice.shapes);
        let work = *known.entry(key).or_insert_with(|| {
            let shapes = trace.shapes(slice.shapes);
            let tensors = |name| typed_shapes(argument(shapes, name).unwrap_or_default());
            let node = OperatorCall {
                op: trace.names.get(slice.op),
                attributes: &NoAttributes,
                inputs: &tensors("input_type_shape")?,
                outputs: &tensors("output_type_shape")?,
            };
            Some(operators::cost(&node)?.work())
        });
        if let Some(work) = work {
            found.insert(index as u32, work);
        }
    }
    found
}

/// Tensors as ONNX Runtime writes them: `[{float: [1, 3]}, {int64: [2]}]`. Nothing where one is of a type that
/// is not known.
fn typed_shapes(text: &str) -> Option<Vec<Option<Operand>>> {
    let tensors = text.split('{').skip(1).map(|tensor| {
        // An input that is left out.
        if tensor.trim_start().starts_with('}') {
            return Some(None);
        }
        let (name, rest) = tensor.split_once(':')?;
        let (_, rest) = rest.split_once('[')?;
        let (sizes, _) = rest.split_once(']')?;
        let element = Element::named(name.trim())?;
        Some(Some(Operand::new(&sizes_of(sizes)?, element)))
    });
    tensors.collect()
}

/// `1, 3, 224` or `1×3×224`.
fn sizes_of(text: &str) -> Option<Vec<usize>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    let sizes = text.split([',', '×']).map(|size| size.trim().parse().ok());
    sizes.collect()
}

/// The parts of a list that are no parts of a list within it.
fn parts(text: &str) -> Vec<&str> {
    let inner = text.strip_prefix('[').unwrap_or(text);
    let inner = inner.strip_suffix(']').unwrap_or(inner);
    let (mut depth, mut begin, mut parts) = (0_i32, 0, Vec::new());
    for (at, letter) in inner.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(inner[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    if !inner.trim().is_empty() {
        parts.push(inner[begin..].trim());
    }
    parts
}

/// What an operator of PyTorch was called with.
struct Recorded {
    inputs: Vec<Option<Operand>>,
    values: Vec<String>,
}

impl Recorded {
    /// From its arguments; `element` is what its tensors consist of where no types were recorded.
    fn new(arguments: &str, element: Option<Element>) -> Option<Self> {
        let dims = argument(arguments, "Input Dims")?;
        // A single tensor of three dimensions is written as people read sizes.
        let dims = if dims.contains('×') {
            vec![dims]
        } else {
            parts(dims)
        };
        let types = argument(arguments, "Input type")
            .map(parts)
            .unwrap_or_default();
        let tensor = |(place, text): (usize, &&str)| {
            let inner = text.strip_prefix('[').unwrap_or(text);
            let inner = inner.strip_suffix(']').unwrap_or(inner);
            let dims = sizes_of(inner)?;
            let element = match types.get(place) {
                Some(name) => Element::named(name)?,
                None if dims.is_empty() => return None,
                None => element?,
            };
            Some(Operand::new(&dims, element))
        };
        let values = argument(arguments, "Concrete Inputs").map(parts);
        let values = values.unwrap_or_default().into_iter();
        Some(Self {
            inputs: dims.iter().enumerate().map(tensor).collect(),
            values: values
                .map(|value| value.trim_matches('"').to_owned())
                .collect(),
        })
    }

    fn call<'a>(&'a self, op: &'a str, made: Option<&'a [usize]>) -> TorchCall<'a> {
        TorchCall {
            op,
            inputs: &self.inputs,
            values: &self.values,
            made,
        }
    }
}

/// The name of an operator without its library.
fn bare_operator(name: &str) -> &str {
    name.strip_prefix("aten::").unwrap_or(name)
}

/// What a kernel computes with, by its name: libraries write the type into it.
fn element_of(kernel: &str) -> Option<Element> {
    let has = |words: &[&str]| words.iter().any(|word| kernel.contains(word));
    if has(&["BFloat16", "bf16"]) {
        return Element::named("bfloat16");
    }
    if has(&["Half", "half", "h884", "fp16", "f16", "hgemm"]) {
        return Element::named("half");
    }
    has(&[
        "<float", "float,", "float>", "sgemm", "scudnn", "fp32", "f32",
    ])
    .then_some(Element::F32)
}

/// Whether a kernel belongs to a method of convolution that needs fewer operations than the sizes say.
fn saves_operations(kernel: &str) -> bool {
    ["winograd", "Winograd", "fft"]
        .iter()
        .any(|method| kernel.contains(method))
}

/// Output sizes of convolutions by the sizes of input and weights.
type ConvolutionOutputs = FxHashMap<(Vec<usize>, Vec<usize>), Option<Vec<usize>>>;

/// Operators of PyTorch and their launches.
struct LaunchTree<'a> {
    trace: &'a Trace,
    /// The slice around each operator and call, by its index; [`NONE`] around all others.
    outer: Vec<u32>,
    /// Calls by what they share with what they launched.
    calls: ById<u32>,
    /// What convolutions made, by the shapes that their ways back recorded.
    made: ConvolutionOutputs,
    /// The cost of operators by their name, their shapes and what their tensors consist of: most recur.
    costs: FxHashMap<(u32, u32, Option<Element>), Option<Work>>,
    /// What kernels compute with, by their name.
    elements: FxHashMap<u32, Option<Element>>,
}

impl<'a> LaunchTree<'a> {
    fn new(trace: &'a Trace) -> Self {
        let (mut outer, mut calls) = (vec![NONE; trace.len()], Vec::new());
        each_within(trace, is_operator_or_call, |index, around| {
            outer[index as usize] = around.copied().unwrap_or(NONE);
            let slice = trace.slice(index as usize);
            if slice.kind == SliceKind::Call && slice.link != 0 {
                calls.push((slice.link as i64, index));
            }
            index
        });
        let mut launched = Self {
            trace,
            outer,
            calls: ById::of_last(calls),
            made: ConvolutionOutputs::default(),
            costs: FxHashMap::default(),
            elements: FxHashMap::default(),
        };
        launched.made = launched.made_by_convolutions();
        launched
    }

    /// Results of convolutions, where all ways back with the same input and weights had the same.
    fn made_by_convolutions(&self) -> ConvolutionOutputs {
        let mut made = ConvolutionOutputs::default();
        let mut seen: FxHashSet<(u32, u32)> = FxHashSet::default();
        for slice in self.trace.slices() {
            let is_new = slice.kind == SliceKind::Operator
                && slice.shapes != 0
                && seen.insert((slice.name, slice.shapes));
            let name = bare_operator(self.trace.names.get(slice.name));
            if !is_new || !name.ends_with("convolution_backward") {
                continue;
            }
            let recorded = Recorded::new(self.trace.shapes(slice.shapes), Some(Element::F32));
            let Some(recorded) = recorded else {
                continue;
            };
            let call = recorded.call(name, None);
            if let Some([x, w, out]) = torch::convolution_backward(&call) {
                let key = (x.dims.clone(), w.dims.clone());
                let known = made.entry(key).or_insert_with(|| Some(out.dims.clone()));
                if known.as_ref().is_some_and(|known| *known != out.dims) {
                    *known = None;
                }
            }
        }
        made
    }

    /// The slice around an operator or a call.
    fn enclosing(&self, index: u32) -> Option<u32> {
        let around = self.outer.get(index as usize).copied();
        around.filter(|around| *around != NONE)
    }

    /// The cost of an operator by what was recorded of it.
    fn cost(&mut self, index: u32, element: Option<Element>) -> Option<Work> {
        let slice = self.trace.slice(index as usize);
        let key = (slice.name, slice.shapes, element);
        if let Some(known) = self.costs.get(&key) {
            return *known;
        }
        let name = bare_operator(self.trace.names.get(slice.name));
        if torch::is_half_of_backward(name) {
            // The operator around it recorded the shapes of both halves.
            let around = self.enclosing(index)?;
            let name_around = self.trace.slice(around as usize).name;
            let name_around = bare_operator(self.trace.names.get(name_around));
            let is_whole = name_around.ends_with("convolution_backward");
            return is_whole.then(|| self.cost(around, element))?;
        }
        let work = self.cost_of_shapes(name, slice.shapes, element);
        self.costs.insert(key, work);
        work
    }

    fn cost_of_shapes(&self, name: &str, shapes: u32, element: Option<Element>) -> Option<Work> {
        let recorded = Recorded::new(self.trace.shapes(shapes), element)?;
        let sizes = |place: usize| {
            let operand = recorded.inputs.get(place).and_then(Option::as_ref);
            operand.map(|operand| operand.dims.clone())
        };
        let made = sizes(0).zip(sizes(1));
        let made = made.and_then(|key| self.made.get(&key)?.as_deref());
        let call = recorded.call(name, made);
        Some(torch::cost(&call)?.work())
    }

    /// The innermost operator around a call whose cost is known.
    fn operator(&mut self, call: u32, element: Option<Element>) -> Option<(u32, Work)> {
        let mut at = call;
        while let Some(around) = self.enclosing(at) {
            at = around;
            if self.trace.slice(at as usize).kind == SliceKind::Operator
                && let Some(work) = self.cost(at, element)
            {
                return Some((at, work));
            }
        }
        None
    }

    fn work(mut self) -> SliceWork {
        let mut found = SliceWork::default();
        // Kernels of each operator.
        let mut kernels: BTreeMap<u32, Vec<(u32, Work)>> = BTreeMap::new();
        let mut has_kernels = false;
        let trace = self.trace;
        for (index, slice) in trace.slices().enumerate() {
            if !slice.kind.is_work() {
                continue;
            }
            has_kernels = true;
            let index = index as u32;
            if let Some(work) = self.copy_work(index) {
                found.insert(index, work);
                continue;
            }
            let Some(&call) = self.calls.get(slice.link as i64) else {
                continue;
            };
            let element = self.elements.entry(slice.name);
            let element = *element.or_insert_with(|| element_of(trace.names.get(slice.name)));
            if let Some((operator, work)) = self.operator(call, element) {
                kernels.entry(operator).or_default().push((index, work));
            }
        }
        for launched in kernels.into_values() {
            let kernel = |index: u32| self.trace.slice(index as usize);
            let time = |index: u32| kernel(index).duration_ns;
            let name = |index: u32| self.trace.names.get(kernel(index).name);
            if launched
                .iter()
                .any(|(index, _)| saves_operations(name(*index)))
            {
                continue;
            }
            let all = launched.iter().map(|(index, _)| time(*index));
            let all: u64 = all.fold(0, u64::saturating_add);
            let longest = launched.iter().max_by_key(|(index, _)| time(*index));
            if let Some((index, work)) = longest
                && time(*index).saturating_mul(2) >= all
            {
                found.insert(*index, *work);
            }
        }
        if !has_kernels {
            self.add_host_operators(&mut found);
        }
        found
    }

    /// Copies and sets whose bytes were recorded. A copy within a device reads and writes there.
    fn copy_work(&self, index: u32) -> Option<Work> {
        let slice = self.trace.slice(index as usize);
        if slice.kind == SliceKind::Kernel {
            return None;
        }
        let moved: u64 = argument(self.trace.shapes(slice.shapes), "bytes")?
            .replace([',', ' '], "")
            .parse()
            .ok()?;
        let is_within = self.trace.names.get(slice.name).contains("DtoD");
        let moved = moved.saturating_mul(if is_within { 2 } else { 1 });
        let moved = bytes(moved, Element::named("int8")?);
        Some(Work {
            operations: 0,
            numbers: NumberFormat::F32,
            low_bytes: moved,
            high_bytes: moved,
        })
    }

    /// Operators on the host, where nothing was launched.
    fn add_host_operators(&mut self, found: &mut SliceWork) {
        let trace = self.trace;
        let operators = trace.slices().enumerate();
        let operators = operators.filter(|(_, slice)| slice.kind == SliceKind::Operator);
        let known: BTreeMap<u32, Work> = operators
            .filter_map(|(index, _)| Some((index as u32, self.cost(index as u32, None)?)))
            .collect();
        let mut around: FxHashSet<u32> = FxHashSet::default();
        for &index in known.keys() {
            let mut at = index;
            while let Some(outer) = self.enclosing(at) {
                // What is around this one was gone through already.
                if !around.insert(outer) {
                    break;
                }
                at = outer;
            }
        }
        found.extend(
            known
                .into_iter()
                .filter(|(index, _)| !around.contains(index)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::summary;
    use crate::testing::fixture;

    #[test]
    fn lists_are_read_as_they_are_kept() {
        let shapes = typed_shapes("[{float: [1, 3, 4]}, {int64: []}]").unwrap();
        let shapes: Vec<Vec<usize>> = shapes.into_iter().flatten().map(|one| one.dims).collect();
        assert_eq!(shapes, [vec![1, 3, 4], vec![]]);
        assert_eq!(typed_shapes("[{string: [1]}]"), None);
        assert_eq!(parts("[[4, 3], [], [2, 2]]"), ["[4, 3]", "[]", "[2, 2]"]);
        assert_eq!(parts("[]"), [""; 0]);
        let mut arguments = slice_args::ArgsText::default();
        arguments.add("Input Dims", "4×197×768");
        arguments.add("Input type", "[float]");
        let recorded = Recorded::new(arguments.text(), None).unwrap();
        assert_eq!(recorded.inputs[0].as_ref().unwrap().dims, [4, 197, 768]);
    }

    #[test]
    fn kernels_say_what_they_compute_with() {
        for (name, bits) in [
            ("void cudnn::detail::dgrad_engine<float, 512, 6>", Some(32)),
            ("volta_scudnn_128x64_relu", Some(32)),
            ("turing_h884gemm", Some(16)),
            ("Cijk_Alik_Bljk", None),
        ] {
            assert_eq!(element_of(name).map(|element| element.bits), bits, "{name}");
        }
    }

    /// Share of the kernels' time whose work is known, and operations of the kernels of one operator.
    fn known(name: &str, op: &str) -> (f64, u64) {
        let imported = fixture(name);
        let profile = summary::profile(&imported, "");
        let kernels: Vec<_> = profile.of_kind(SliceKind::Kernel).collect();
        let time = |has_work: bool| -> u64 {
            let counted = kernels
                .iter()
                .filter(|total| !has_work || total.work.is_some());
            counted.map(|total| total.total_ns).sum()
        };
        let of_op = kernels.iter().filter(|total| total.op == op);
        let operations = of_op
            .filter_map(|total| total.work)
            .map(|work| work.operations);
        (time(true) as f64 / time(false) as f64, operations.sum())
    }

    /// ViT-B/16 with four pictures of 197 places: in each of 12 layers four products of 768 × 768 and two of
    /// 768 × 3072 over 788 rows with their biases, and one more of 4 rows.
    #[test]
    fn products_of_a_vision_transformer_are_those_of_its_layers() {
        let (share, products) = known("kineto/mi300-vit-nsfw-inference.json.gz", "aten::addmm");
        let product = |rows: u64, inner: u64, columns: u64| rows * columns * (2 * inner + 1);
        let layer = 4 * product(788, 768, 768) + product(788, 768, 3072) + product(788, 3072, 768);
        assert_eq!(products, 12 * layer + product(4, 768, 768));
        assert!(share > 0.95, "{share}");
    }

    /// ResNet-50 has 4,087,136,256 multiply-accumulates in its 53 convolutions, and the trace six steps with 32
    /// pictures. 13 of the convolutions, all of 56 × 56 × 64 × 64 × 9 products or as many, ran by Winograd's
    /// method, which needs fewer.
    #[test]
    fn convolutions_of_a_training_are_the_published_ones() {
        let name = "kineto/resnet50-v100-train.pt.trace.json.gz";
        let (share, forward) = known(name, "aten::cudnn_convolution");
        let published = 2 * 6 * 32 * 4_087_136_256_u64;
        let by_other_methods = 2 * 6 * 32 * 13 * (56 * 56 * 64 * 64 * 9);
        assert_eq!(forward, published - by_other_methods);
        assert!(share > 0.6, "{share}");
    }

    /// ONNX Runtime's own profile of a `SqueezeNet`: shapes of all nodes are in it.
    #[test]
    fn nodes_of_a_runtime_have_work() {
        let (share, convolutions) = known("onnxruntime/squeezenet-cpu-ort1.31.json", "Conv");
        assert!(convolutions > 0);
        assert!(share > 0.95, "{share}");
    }

    #[test]
    fn without_shapes_nothing_is_known() {
        for name in [
            "alexnet-cuda.trace.json.gz",
            "mi210-gpu-only-resnet-like.json.gz",
        ] {
            let (share, _) = known(&format!("kineto/{name}"), "");
            assert_eq!(share, 0.0, "{name}");
        }
    }
}
